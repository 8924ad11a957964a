"""Models are fitted to known coefficients and find them; predictions follow by arithmetic."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ecosort_tuning.errors import UsageError
from ecosort_tuning.forecast import predict, with_models
from ecosort_tuning.machine import this_machine
from ecosort_tuning.model import PHASES, fit_cpu, fit_power, fit_time, formation_share, processor_s
from ecosort_tuning.profile import SCHEMA, CpuModel, Drive, Kernels, Profile, Rate, read_profile, write_profile
from ecosort_tuning.resources import BOTH, READING, WRITING, drive_times
from ecosort_tuning.runs import Evidence, IdlePower, MeasuredRun, Phase, Work, comparisons, memory_bytes, read_evidence, requests

from .conftest import Tune

ROOT = Path(__file__).resolve().parents[2]
IDLE_W, CORE_W, GB_J = 21.0, 7.5, 0.8


def plan_of(records: int, runs: int, threads: int = 2, stored: float = 1.0) -> dict[str, Any]:
    size = records * 100
    kept = int(records * stored)
    return {
        "schema": "ecosort.plan/1",
        "records": records,
        "record_size_bytes": 100,
        "peak_memory_bytes": 536_000_000,
        "compute_threads": threads,
        "granule_bytes": 65536,
        "granule_records": 655,
        "merge_passes": 1,
        "merge_steps": [{"first_run": 0, "fan_in": runs}],
        "read_block_bytes": 1 << 20,
        "write_block_bytes": 1 << 20,
        "read_depth": 16,
        "write_depth": 16,
        "merge": {"block_bytes": 1 << 20, "output_block_bytes": 5 << 20},
        "stored_records": kept,
        "run_bytes": kept * 100,
        "remerged_bytes": 0,
        "temp_bytes": kept * 100,
        "bytes_read": size + kept * 100,
        "bytes_written": size + kept * 100,
    }


def run_of(records: int, runs: int, threads: int, seconds: float, cpu_s: float, joules: float | None = None) -> MeasuredRun:
    plan = plan_of(records, runs, threads)
    moved = Work(float(plan["bytes_read"]), float(plan["bytes_written"]))
    meter = None if joules is None else "wall"
    return MeasuredRun(records, threads, plan, seconds, cpu_s, moved, [], joules, meter)


def sizes() -> list[tuple[int, int, int]]:
    """Records, runs merged, threads."""
    return [(n * 10_000_000, runs, threads) for n in (1, 2, 4, 10) for runs in (8, 60, 400) for threads in (1, 2, 4)]


def measured(noise: float = 0.0, seed: int = 1) -> list[MeasuredRun]:
    """Runs of a machine whose coefficients are known."""
    generator = random.Random(seed)
    found = []
    for records, runs, threads in sizes():
        cpu_s = 0.05 + 60e-9 * records + 4e-9 * comparisons(plan_of(records, runs), records)
        cpu_s *= generator.lognormvariate(0, noise)
        gigabytes = 4 * records * 100 / 1e9
        seconds = max(cpu_s / threads, gigabytes / 2.0)
        joules = (IDLE_W * seconds + CORE_W * cpu_s + GB_J * gigabytes) * generator.lognormvariate(0, noise)
        found.append(run_of(records, runs, threads, seconds, cpu_s, joules))
    return found


def cpu_of(model: CpuModel, records: int, bytes_moved: float, plan: dict[str, Any]) -> float:
    """The seconds that a model says."""
    work = model.per_record_s * records + model.per_byte_s * bytes_moved + model.per_comparison_s * comparisons(plan, records)
    return model.fixed_s + work + model.per_memory_byte_s * memory_bytes(plan) + model.per_request_s * requests(plan)


def test_the_coefficients_of_the_processor_are_found() -> None:
    runs = measured()
    model = fit_cpu(runs)
    assert model.per_record_s == pytest.approx(60e-9, rel=1e-3)
    assert model.per_comparison_s == pytest.approx(4e-9, rel=1e-3)
    assert model.fixed_s == pytest.approx(0.05, rel=0.02)
    assert model.per_byte_s == 0.0, "bytes of equal records say nothing that their number does not"
    assert model.error < 1e-6


def test_one_slow_run_of_three_changes_nothing() -> None:
    runs = measured()
    slow = [replace(r, cpu_s=r.cpu_s * 1.6) for r in runs]
    found = fit_cpu([*runs, *slow, *runs])
    assert replace(found, error=0.0) == replace(fit_cpu(runs), error=0.0, runs=3 * len(runs))
    assert found.error < 1e-6, "the median run"


def test_noise_of_five_percent_leaves_predictions_within_five_percent() -> None:
    model = fit_cpu(measured(0.05, 3))
    for records, runs, _ in sizes():
        true = 0.05 + 60e-9 * records + 4e-9 * comparisons(plan_of(records, runs), records)
        found = cpu_of(model, records, 4.0 * records * 100, plan_of(records, runs))
        assert found == pytest.approx(true, rel=0.05)


def test_runs_of_one_size_give_a_model_of_their_own_size() -> None:
    runs = [run_of(10_000_000, 47, 2, 3.0, 1.1) for _ in range(3)]
    model = fit_cpu(runs)
    assert cpu_of(model, 10_000_000, 4e9, runs[0].plan) == pytest.approx(1.1)
    assert cpu_of(model, 20_000_000, 8e9, plan_of(20_000_000, 1)) == pytest.approx(2.2)


def test_memory_that_the_system_has_to_clear_is_told_from_work_on_records() -> None:
    """A virtual machine whose host takes free memory back is like this: 2 s for a GB of it, more than to sort a GB."""

    def sorted_with(records: int, memory: float) -> MeasuredRun:
        run = run_of(records, 40, 2, 3.0, 90e-9 * records + 2e-9 * memory)
        return replace(run, plan={**run.plan, "peak_memory_bytes": memory})

    model = fit_cpu([sorted_with(n, m) for n in (8_000_000, 30_000_000) for m in (1e8, 2.5e8, 1e9)])
    assert model.per_memory_byte_s == pytest.approx(2e-9, rel=1e-3)
    plan = {**plan_of(100_000_000, 40), "peak_memory_bytes": 2e9}
    assert cpu_of(model, 100_000_000, 4e10, plan) == pytest.approx(13.0, rel=1e-3)


def test_small_blocks_cost_what_each_request_costs() -> None:
    def sorted_in(records: int, block_bytes: int) -> MeasuredRun:
        run = run_of(records, 40, 2, 3.0, 1.0)
        plan = {**run.plan, "merge": {"block_bytes": block_bytes, "output_block_bytes": 5 << 20}}
        return replace(run, plan=plan, cpu_s=90e-9 * records + 80e-6 * requests(plan))

    runs = [sorted_in(n, block) for n in (8_000_000, 30_000_000) for block in (128 << 10, 256 << 10, 1 << 20)]
    model = fit_cpu([replace(r, plan={**r.plan, "peak_memory_bytes": 1e8 + i}) for i, r in enumerate(runs)])
    assert model.per_request_s == pytest.approx(80e-6, rel=1e-3)
    assert requests(runs[0].plan) == pytest.approx(800e6 / 2**20 + 760e6 / 2**20 + 760e6 / 2**17 + 800e6 / (5 << 20), rel=0.1)


def test_results_of_earlier_versions_are_still_evidence() -> None:
    """Their plans name neither the bytes of the runs nor those that are merged again."""
    named = plan_of(10_000_000, 47)
    earlier = {name: value for name, value in named.items() if name not in ("run_bytes", "remerged_bytes")}
    assert requests(earlier) == pytest.approx(requests(named), rel=0.01), "runs are whole run blocks there"
    assert fit_cpu(read_evidence([ROOT / "tuning" / "bench" / "results" / "headline.json"]).runs).runs > 0


def test_the_coefficients_of_energy_are_found() -> None:
    model = fit_power(Evidence(measured(), [IdlePower(IDLE_W, "wall")]))
    assert (model.idle_w, model.core_w, model.gb_j) == pytest.approx((IDLE_W, CORE_W, GB_J), rel=1e-6)
    noisy = fit_power(Evidence(measured(0.02, 7), [IdlePower(IDLE_W, "wall"), IdlePower(IDLE_W * 1.01, "wall")]))
    assert noisy.idle_w == pytest.approx(IDLE_W, rel=0.05)
    assert noisy.core_w == pytest.approx(CORE_W, rel=0.15)
    for run in measured():
        joules = noisy.idle_w * run.seconds + noisy.core_w * run.cpu_s + noisy.gb_j * run.work.bytes_moved / 1e9
        assert joules == pytest.approx(run.joules, rel=0.05)


def test_energy_that_cannot_be_told_apart_is_refused() -> None:
    same = [run_of(10_000_000, 47, 2, 3.0, 1.1, 80.0 + i) for i in range(9)]
    for evidence, reason in (
        (Evidence(same, [IdlePower(21.0, "wall")]), "do not tell idle power, watts per core and joules per GB apart"),
        (Evidence([replace(r, joules=None) for r in same], []), "no run has joules"),
        (Evidence([*same, replace(same[0], meter="rapl")], []), "several meters"),
    ):
        with pytest.raises(UsageError, match=reason):
            fit_power(evidence)


def test_no_coefficient_is_negative() -> None:
    """A machine that saves energy by computing cannot be; noise can look like it."""
    runs = [replace(r, joules=IDLE_W * r.seconds - 0.3 * r.cpu_s + GB_J * r.work.bytes_moved / 1e9) for r in measured()]
    model = fit_power(Evidence(runs, [IdlePower(IDLE_W, "wall")]))
    assert model.core_w == 0.0
    assert model.idle_w > 0
    assert model.error > 0


def rate(mode: str, read: float, write: float, block: int = 1 << 20, depth: int = 16) -> Rate:
    return Rate(mode, block, depth, read, write, 1e-3, 0.05, 0.02, 3)


RATES = [
    rate("read", 4e9, 0),
    rate("write", 0, 2e9),
    rate("mixed", 1.5e9, 1.5e9),
    rate("random", 3e9, 0),
    rate("read", 1e8, 0, depth=1),
]
DRIVE = Drive("temp", "/ssd", "/dev/nvme0n1", "ext4", "io_uring", True, 1 << 30, RATES)
CPU = CpuModel(0.0, 100e-9, 0.0, 0.0, 0.0, 0.0, 0.01, 9)


def profile(**changed: Any) -> Profile:
    return replace(Profile(SCHEMA, "2030-01-01", "0", this_machine(), [DRIVE], cpu=CPU), **changed)


def test_a_phase_takes_what_its_slowest_resource_takes() -> None:
    times = drive_times(DRIVE, "run_formation", Work(6e9, 3e9), plan_of(60_000_000, 9))
    assert times == pytest.approx({READING: 1.5, WRITING: 1.5, BOTH: 2.75})  # 3 GB each way, then 3 GB more to read
    assert drive_times(DRIVE, "merge", Work(6e9, 0), plan_of(60_000_000, 9)) == pytest.approx({READING: 2.0, WRITING: 0.0})


def test_measured_phases_say_how_much_longer_they_take_than_their_slowest_resource() -> None:
    plan = plan_of(30_000_000, 9)
    phases = [Phase("run_formation", 2.6, Work(3e9, 3e9)), Phase("merge", 2.1, Work(3e9, 3e9)), Phase("sync", 0.1, Work(0, 0))]
    runs = [replace(run_of(30_000_000, 9, 2, 5.0, 3.0), phases=phases)] * 3
    model = fit_time(runs, DRIVE, 0.5)
    assert model.factor == pytest.approx({"run_formation": 1.3, "merge": 1.1})
    assert model.error == pytest.approx(0.0)
    # Sorts in memory have factors of their own, once one was measured.
    in_memory = {**plan, "stored_records": 0}
    small = [Phase("read_and_sort", 3.0, Work(3e9, 3e9)), Phase("merge", 1.0, Work(3e9, 3e9))]
    both = fit_time([*runs, replace(runs[0], plan=in_memory, phases=small)], DRIVE, 0.5)
    assert both.factor == pytest.approx({"run_formation": 1.3, "merge": 1.1, "read_and_sort": 1.5, "merge_resident": 0.5})


def test_the_processor_time_of_both_phases_is_that_of_all_threads() -> None:
    run = run_of(30_000_000, 9, 4, 5.0, 8.0)
    assert [processor_s(run, phase, 0.25) for phase in PHASES] == pytest.approx([0.25 * 8.0 / 4, 0.75 * 8.0 / 4])


def test_records_that_are_merged_twice_are_compared_twice() -> None:
    plan = plan_of(6_550_000, 16)
    assert comparisons(plan, 6_550_000) == pytest.approx(4 * 6_550_000)
    assert comparisons({**plan, "merge_steps": []}, 6_550_000) == 0.0
    # Half of the stored run blocks once more, in a step of 8 runs: as many bytes more are written.
    steps = [{"first_run": 0, "fan_in": 8}, {"first_run": 0, "fan_in": 16}]
    stored = 6_550_000 / 655 * 65536
    twice = {**plan, "merge_steps": steps, "merge_passes": 2, "remerged_bytes": stored / 2}
    expected = pytest.approx(4 * 6_550_000 + 3 * 3_275_000, rel=1e-3)
    assert comparisons(twice, 6_550_000) == expected
    # Plans of earlier versions show it by what is written beyond output and runs.
    earlier = {**twice, "bytes_written": 655_000_000 + 1.5 * stored}
    del earlier["remerged_bytes"]
    assert comparisons(earlier, 6_550_000) == expected


def test_kernels_divide_the_processor_between_the_phases() -> None:
    kernels = Kernels(100, 64, {"extract": 3.0, "index_sort": 8.0, "gather": 9.0, "merge": 25.0, "granule_verify": 5.0}, 3)
    assert formation_share(kernels) == pytest.approx(0.4)
    assert formation_share(None) == 0.5


def stats_of(run: MeasuredRun) -> dict[str, Any]:
    phases = [("run_formation", 0.0, 0.6 * run.seconds), ("merge", 0.6 * run.seconds, run.seconds)]
    half = {"bytes_read": run.work.bytes_read / 2, "bytes_written": run.work.bytes_written / 2, "wait_s": 0.0}
    return {
        "schema": "ecosort.stats/1",
        "records": run.records,
        "threads": run.threads,
        "wall_s": run.seconds,
        "cpu_user_s": run.cpu_s,
        "cpu_system_s": 0.0,
        "bytes_read": run.work.bytes_read,
        "bytes_written": run.work.bytes_written,
        "phases": [{"name": name, "begin_s": begin, "end_s": end, **half} for name, begin, end in phases],
        "plan": dict(run.plan),
    }


@pytest.fixture
def kept(run: Callable[..., Any], tmp_path: Path) -> dict[str, Any]:
    """A plan that was kept in plan.json."""
    words = ("--no-profile", "--assume-size", "2GB", "--memory", "64MiB", "--threads", "2")
    (tmp_path / "plan.json").write_text(run("plan", "sort", "--json", *words, cwd=tmp_path).stdout)
    return dict(json.loads((tmp_path / "plan.json").read_text()))


def test_reports_of_the_sorter_make_a_model_on_the_command_line(
    tune: Tune, ecosort: Path, tmp_path: Path, kept: dict[str, Any]
) -> None:
    write_profile(tmp_path / "p.toml", profile(cpu=None))
    names = []
    for i, run in enumerate(measured()):
        names.append(f"{i}.json")
        (tmp_path / names[-1]).write_text(json.dumps(stats_of(run)))
    done = tune("fit", *names, "--profile", "p.toml")
    assert done.returncode == 0, done.stderr
    assert "60.0 ns per record + 4.00 ns per comparison" in done.stdout
    assert "no power: no run has joules" in done.stdout
    env = {"ECOSORT_PROGRAM": str(ecosort)}
    told = tune("predict", "plan.json", "--profile", "p.toml", "--json", env=env)
    assert told.returncode == 0, told.stderr
    expected = 0.05 + 60e-9 * 2e7 + 4e-9 * comparisons(kept, 20_000_000)
    assert json.loads(told.stdout)["cpu_s"] == pytest.approx(expected, rel=0.01)
    table = tune("predict", "plan.json", "--profile", "p.toml", env=env).stdout
    assert "limited by" in table
    assert "most by a faster" in table
    assert read_profile(tmp_path / "p.toml", this_machine()).cpu is not None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"schema": "x"}, "this is no plan of the sorter (schema 'x', not 'ecosort.plan/1'): ecosort plan sort --json"),
        ({"records": None}, "the plan lacks something: TypeError("),
        ({"keys": ["nonsense"]}, "the sort cannot be planned: key 'nonsense': no length"),
        ({"bytes_read": 17}, "another version of the sorter made this plan (its bytes_read differs): plan again"),
    ],
)
def test_a_plan_that_the_sorter_would_not_make_is_refused_in_one_line(
    tune: Tune, ecosort: Path, tmp_path: Path, kept: dict[str, Any], changed: dict[str, Any], said: str
) -> None:
    write_profile(tmp_path / "p.toml", profile())
    (tmp_path / "plan.json").write_text(json.dumps({**kept, **changed}))
    done = tune("predict", "plan.json", "--profile", "p.toml", env={"ECOSORT_PROGRAM": str(ecosort)})
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith(f"ecosort-tune: {said}")


def test_without_the_sorter_nothing_is_predicted(tune: Tune, tmp_path: Path, kept: dict[str, Any]) -> None:
    write_profile(tmp_path / "p.toml", profile())
    done = tune("predict", "plan.json", "--profile", "p.toml", env={"ECOSORT_PROGRAM": "", "PATH": "/nonexistent"})
    said = (
        "ecosort-tune: the program ecosort is neither in this package, nor in ECOSORT_PROGRAM, nor in PATH; "
        "install the wheel, or build it and set ECOSORT_PROGRAM to its path: it plans the sort\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_a_profile_without_models_says_what_to_do(tune: Tune, ecosort: Path, tmp_path: Path, kept: dict[str, Any]) -> None:
    write_profile(tmp_path / "p.toml", profile(cpu=None))
    done = tune("predict", "plan.json", "--profile", "p.toml", env={"ECOSORT_PROGRAM": str(ecosort)})
    assert (done.returncode, done.stderr) == (
        2,
        "ecosort-tune: the profile has no model of the processor: ecosort-tune fit RUNS...\n",
    )
    (tmp_path / "odd.json").write_text("{}")
    assert "neither a report of the sorter" in tune("fit", "odd.json", "--profile", "p.toml").stderr
    assert tune("predict", "odd.json", "--profile", "p.toml").returncode == 2


def test_a_bench_result_gives_its_cold_runs(tmp_path: Path) -> None:
    run = measured()[0]
    common = {"stage": "main", "wall_s": 1.0}
    runs = [
        {**common, "contender": "ecosort", "round": 0, "is_cold": True, "stats": stats_of(run)},
        {**common, "contender": "ecosort", "round": 1, "is_cold": False, "stats": stats_of(run)},
        {**common, "contender": "inplace", "round": 0, "is_cold": True, "stats": stats_of(run)},
        {**common, "contender": "gnu_sort", "round": 0, "is_cold": True, "stats": None},
    ]
    (tmp_path / "r.json").write_text(json.dumps({"schema": "ecosort.bench/1", "runs": runs}))
    assert len(read_evidence([tmp_path / "r.json"]).runs) == 1


def test_the_model_of_a_real_plan(
    run: Callable[..., Any], ecosort: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sorter's own plan and report: what is predicted from its runs is what they moved."""
    monkeypatch.setenv("ECOSORT_PROGRAM", str(ecosort))
    assert run("gen", "-a", "300000", "in", cwd=tmp_path).returncode == 0
    words = ("--memory", "8MiB", "in", "-o", "out")
    plan = json.loads(run("plan", "sort", "--json", *words, cwd=tmp_path).stdout)
    assert run("sort", "--stats", "stats.json", "--progress", "none", *words, cwd=tmp_path).returncode == 0
    evidence = read_evidence([tmp_path / "stats.json"])
    found = predict(plan, with_models(profile(cpu=None, absent={"power": "?"}), evidence))
    assert found["bytes_moved"] == evidence.runs[0].work.bytes_moved
    assert found["cpu_s"] == pytest.approx(evidence.runs[0].cpu_s, rel=1e-6)
    measured_phases = {p.name: p.work for p in evidence.runs[0].phases}
    for phase in found["phases"]:
        assert Work(**phase["work"]) == measured_phases[phase["name"]]
