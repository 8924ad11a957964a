"""The benchmark judges by closed formulas, keeps what it measured, and its replay does what the sort did."""

import itertools
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
from capabilities import only_in_soak
from click.testing import CliRunner
from conftest import BUILD, ROOT
from pairs import turns

sys.path.insert(0, str(ROOT / "tuning" / "bench"))

from ecosort_bench import (
    arm_model,
    boxes,
    charts,
    cli,
    costs,
    cpu_floor,
    floors,
    inputs,
    kernel_loops,
    lines,
    long_keys,
    machine_limits,
    peers,
    report,
    tables,
    targets,
    text_stages,
)
from ecosort_bench.contenders import Contenders, Work
from ecosort_bench.runs import Bench
from ecosort_bench.schedule import schedule
from ecosort_bench.verdict import Verdict
from ecosort_measure import cold_run, floor_trace, paired
from ecosort_measure.results import ALIKE, Results, begin
from ecosort_power.codec import read_json, rows_text
from ecosort_power.errors import RunError, UsageError
from ecosort_power.validate import parse_report


def test_the_interval_of_two_values_reaches_from_one_to_the_other() -> None:
    # Resampled pairs of {1, 3} have the medians 1, 2, 3 with probability 1/4, 1/2, 1/4.
    assert paired.median_interval([1.0, 3.0]) == paired.Interval(2.0, 1.0, 3.0, 2)


def test_the_interval_of_equal_values_is_a_point() -> None:
    assert paired.median_interval([1.5] * 7) == paired.Interval(1.5, 1.5, 1.5, 7)


def test_the_interval_agrees_with_the_order_statistics() -> None:
    # For 15 values the binomial interval of the median at 95 % is from the 4th to the 12th value (96.5 %).
    interval = paired.median_interval([float(i) for i in range(1, 16)])
    assert interval.median == 8
    assert interval.low in (4, 5)
    assert interval.high in (11, 12)


def test_the_same_values_give_the_same_interval() -> None:
    values = [1.01, 1.04, 0.99, 1.2, 1.03]
    assert paired.median_interval(values) == paired.median_interval(values)


def test_ratios_are_taken_within_a_round() -> None:
    # A drive that slows down threefold changes both times and no ratio.
    assert paired.ratios([2, 6], [1, 3]) == [2, 2]
    with pytest.raises(ValueError, match="zip"):
        paired.ratios([1, 2], [1])


def test_contenders_are_interleaved_and_rare_ones_spread_evenly() -> None:
    slots = schedule({"ecosort": 6, "floor_a": 6, "gnu_sort": 2})
    counts = {name: sum(slot.contender == name for slot in slots) for name in ("ecosort", "floor_a", "gnu_sort")}
    assert counts == {"ecosort": 6, "floor_a": 6, "gnu_sort": 2}
    gnu_rounds = [slot.round for slot in slots if slot.contender == "gnu_sort"]
    assert gnu_rounds[1] - gnu_rounds[0] == 3
    beginners = {next(slot.contender for slot in slots if slot.round == round_) for round_ in range(6)}
    assert beginners == {"ecosort", "floor_a", "gnu_sort"}
    assert all(any(s.round == round_ and s.contender == "ecosort" for s in slots) for round_ in gnu_rounds)


def test_nobody_always_follows_the_same_contender() -> None:
    # With a fixed circle, `check` always came after writes and its floor always after reads.
    slots = schedule(dict.fromkeys(("gen", "write_floor", "check", "read_floor"), 5))
    before: dict[str, set[str]] = {}
    for earlier, later in itertools.pairwise(slots):
        before.setdefault(later.contender, set()).add(earlier.contender)
    assert all(len(names - {contender}) >= 2 for contender, names in before.items())
    two = [slot.contender for slot in schedule({"ecosort": 4, "floor_b": 4})]
    assert two == ["ecosort", "floor_b", "floor_b", "ecosort", "floor_b", "ecosort", "ecosort", "floor_b"]


def _run(contender: str, round_: int, wall_s: float, stage: str = "main") -> dict[str, Any]:
    return {
        "stage": stage,
        "round": round_,
        "contender": contender,
        "wall_s": wall_s,
        "cpu_user_s": 0.4,
        "cpu_system_s": 0.2 if contender == "ecosort" else 0.0,
        "peak_rss_bytes": 90 << 20,
        "bytes_read": 2_000_000_000,
        "bytes_written": 2_000_000_000,
        "is_cold": True,
        "checksum": "ab",
        "stats": {
            "io_idle_s": 0.01 * wall_s,
            "wall_s": wall_s,
            "peak_temp_bytes": 1_000_000_000,
            "phases": [{"name": "merge", "begin_s": 0, "end_s": 2, "bytes_read": 10**9, "bytes_written": 10**9, "wait_s": 0.1}],
        },
    }


def _results(path: Path, runs: list[dict[str, Any]]) -> Results:
    data = {
        "schema": "ecosort.bench/1",
        "commit": "0123456789abcdef",
        "dirty": False,
        "machine": {"processor": "P", "cpus": 2, "kernel": "6", "file_system": "ext4 rw"},
        "settings": {"records": 10_000_000, "memory_bytes": 64 << 20, "threads": 2},
        "command": "make bench",
        "runs": runs,
    }
    return Results(path, data)


def _verdict(results: Results, name: str) -> Verdict:
    return next(v for v in targets.verdicts(results) if name in v.name)


def test_a_floor_counts_with_thirty_rounds_or_an_interval_under_the_target(tmp_path: Path) -> None:
    def of(ratios: list[float]) -> Verdict:
        runs = [_run("ecosort", i, ratio) for i, ratio in enumerate(ratios)] + [
            _run("floor_a", i, 1.0) for i in range(len(ratios))
        ]
        return _verdict(_results(tmp_path / "r.json", runs), "floor (a)")

    assert of([1.02] * 4).word == "PASS"  # the interval is a point under the target
    assert of([1.0, 1.04, 1.04, 1.3]).word == "MISSED"  # so few rounds do not show it
    assert of([1.0, 1.04, 1.04] * 10).word == "PASS"
    assert of([1.06] * 40).word == "MISSED"


def test_what_was_not_measured_is_neither_passed_nor_missed(tmp_path: Path) -> None:
    verdicts = targets.verdicts(_results(tmp_path / "r.json", [_run("ecosort", 0, 1.0)]))
    words = {v.name: v.word for v in verdicts}
    assert words["GNU sort / EcoSort"] == "not measured"
    assert words["no request in flight"] == "PASS"
    assert words["process total"] == "PASS"


def test_cpu_is_compared_with_the_replay_of_the_same_round(tmp_path: Path) -> None:
    runs = [_run("ecosort", 0, 1.0), _run("floor_a", 0, 1.0)]
    assert _verdict(_results(tmp_path / "r.json", runs), "CPU over the replay").measured == "0.2 s/GB"


def test_results_survive_being_saved_and_find_their_runs(tmp_path: Path) -> None:
    results = _results(tmp_path / "deep" / "r.json", [_run("ecosort", 3, 1.5)])
    results.save()
    loaded = Results.load(results.path)
    assert loaded.data == results.data
    assert loaded.find("main", 3, "ecosort") == results.runs[0]
    assert loaded.find("main", 2, "ecosort") is None
    assert [path.name for path in results.path.parent.iterdir()] == ["r.json"]


def test_a_stored_result_has_one_line_per_run(tmp_path: Path) -> None:
    results = _results(tmp_path / "r.json", [_run("ecosort", round_, 1.5) for round_ in range(3)])
    results.save()
    lines = results.path.read_text().splitlines()
    begin_of_runs = lines.index(' "runs": [') + 1
    assert [json.loads(line.rstrip(",")) for line in lines[begin_of_runs : begin_of_runs + 3]] == results.runs
    assert lines[begin_of_runs + 3 :] == [" ]", "}"]


def test_the_committed_results_are_stored_as_the_benchmarks_store_them() -> None:
    committed = [*(ROOT / "tuning/bench/results").glob("*.json"), ROOT / "power/results/accuracy.json"]
    assert [path.name for path in committed if path.read_text() != rows_text(read_json(path))] == []


@pytest.mark.parametrize("name", ALIKE)
def test_a_result_is_continued_only_where_it_began(tmp_path: Path, name: str) -> None:
    stored = _results(tmp_path / "r.json", [_run("ecosort", 0, 1.0)])
    stored.save()
    fresh = {**stored.data, "dirty": True, "runs": []}
    assert begin(stored.path, fresh, continued=True) == stored.data
    assert begin(stored.path, fresh, continued=False) == fresh
    assert begin(tmp_path / "none.json", fresh, continued=True) == fresh
    with pytest.raises(UsageError, match=f"cannot be continued: its {name} was .*, now it is other"):
        begin(stored.path, {**fresh, name: "other"}, continued=True)


def test_the_numbers_of_the_page_are_those_of_the_committed_results() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tuning/bench/bench.py", "--check-tables"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_shows_a_result_and_a_changed_number_is_noticed(tmp_path: Path) -> None:
    results = _results(tmp_path / "r.json", [_run("ecosort", 0, 12.34), _run("floor_a", 0, 12.0)])
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{report.begin_of(results)}\n{report.end_of(results)}\n\nMore.\n")
    assert not report.page_agrees(page, results)
    report.write_page(page, results)
    assert report.page_agrees(page, results)
    text = page.read_text()
    assert text.startswith("# Title\n")
    assert text.endswith("\nMore.\n")
    assert "| EcoSort | 1 | 12.34 |" in text
    page.write_text(text.replace("12.34", "11.34"))
    assert not report.page_agrees(page, results)
    page.write_text("no markers")
    with pytest.raises(UsageError, match="no place"):
        report.page_agrees(page, results)


@pytest.mark.parametrize(("stored", "runs"), [(0, 0), (700_000, 3), (1_000_000, 1), (900_000, 7)])
@pytest.mark.parametrize("block", [4096, 65536])
def test_the_ideal_trace_moves_the_minimal_bytes(stored: int, runs: int, block: int) -> None:
    requests = [line.split() for line in floor_trace.lines(floor_trace.Shape(1_000_000, stored, runs, 1_000_000), block)]

    def pages(size: int) -> int:
        return -(-size // 4096) * 4096

    def moved(operation: str, role: str) -> int:
        return sum(int(r[4]) for r in requests if r[:2] == [operation, role])

    assert moved("read", "input") == moved("write", "output") == pages(1_000_000)
    assert moved("write", "run") == moved("read", "run") == pages(stored)
    blocks = [tuple(r[1:5]) for r in requests if r[:2] == ["write", "run"]]
    assert len(set(blocks)) == len(blocks)
    assert sorted(blocks) == sorted(tuple(r[1:5]) for r in requests if r[:2] == ["read", "run"])
    # Nothing is merged before all is read and all runs are written.
    merge = next(i for i, r in enumerate(requests) if r[5] == "0")
    assert all(r[:2] in (["read", "input"], ["write", "run"]) for r in requests[:merge])
    assert requests[-1][:2] == ["sync", "output"]


@pytest.mark.parametrize(("shape", "moved"), [((500_000, 0, 0, 0), "read input"), ((0, 0, 0, 500_000), "write output")])
def test_a_trace_of_one_direction_moves_nothing_else(shape: tuple[int, int, int, int], moved: str) -> None:
    requests = [line.split() for line in floor_trace.lines(floor_trace.Shape(*shape), 65536)]
    assert {" ".join(r[:2]) for r in requests[:-1]} == {moved}
    assert sum(int(r[4]) for r in requests) == -(-500_000 // 4096) * 4096
    assert requests[-1][:2] == ["sync", "output"]


def test_a_missed_target_says_what_stands_in_its_way(tmp_path: Path) -> None:
    times = {"ecosort": 2.0, "floor_a": 1.5, "floor_b": 1.0, "gnu_sort": 8.0, "stxxl_stream": 4.0}
    results = _results(tmp_path / "r.json", [_run(name, i, wall) for i in range(5) for name, wall in times.items()])
    missed = _verdict(results, "GNU sort")
    assert (missed.word, missed.obstacle) == ("MISSED", "floor (b), which computes nothing, is 8.0 times as fast as GNU sort")
    assert _verdict(results, "STXXL stream").obstacle == "floor (b), which computes nothing, is 4.0 times as fast as STXXL stream"
    # 0.6 CPU-seconds in 2 s on 2 processors.
    assert _verdict(results, "floor (b)").obstacle == (
        "the processors are 15 % busy; its own requests without computing take 1.50 of floor (b)"
    )
    results = _results(tmp_path / "r.json", [*results.runs, *(_run("floor_b_memory", i, 1.6) for i in range(5))])
    assert _verdict(results, "floor (b)").obstacle.endswith(
        "; through memory that no cache holds instead of the same few buffers the floor takes 1.60 of its time,"
        " of which the sort takes 1.25"
    )
    lines = report.what_stands_in_the_way(results)
    assert len([line for line in lines if "floor (a), the replay" in line and "floor (b), the best" in line]) == 1
    assert all(line in report.page_text(results) for line in lines)
    assert _verdict(results, "process total").obstacle == ""


def test_the_processor_time_of_a_sort_is_held_against_its_kernels_and_its_requests(tmp_path: Path) -> None:
    # 0.5 GB each: the sort takes 0.6 s of CPU, its requests 0.4 s.
    runs = [
        _run(contender, i, 1.0, case.stage) | {"input_bytes": 500_000_000}
        for i in range(5)
        for case in (cpu_floor.TEXT, cpu_floor.NUMBER)
        for contender in cpu_floor.CONTENDERS
    ]
    results = _results(tmp_path / "cpu.json", runs)
    results.data["settings"] |= {"lines_bytes": 500_000_000, "tables_bytes": 500_000_000}
    alone = {"kernels": {"enter": 0.1, "merge": 0.2}, "verification": {"granule_verify": 0.05}}
    busy = {"kernels": {"enter": 0.2, "merge": 0.3}, "verification": {"granule_verify": 0.1}}
    results.data["costs"] = {"text": costs.found(alone, busy, 0.5)}
    words = {v.name: (v.target, v.measured, v.word) for v in targets.verdicts(results)}
    assert words == {
        "CPU in all of lines of about 100 bytes": ("<= 1.1 s/GB", "1.2 s/GB", "MISSED"),
        "CPU in all of rows of CSV of 52 bytes by a number": ("<= 2 s/GB", "1.2 s/GB", "PASS"),
    }
    # Half of the input is stored, and verified when it comes back.
    assert _verdict(results, "lines of about 100 bytes").obstacle == (
        "enter 0.100, merge 0.200, run block verify 0.050 s/GB: 0.33 s/GB in all, each on its own on a machine that does nothing "
        "else; 0.55 s/GB while 2 threads compute them and the requests of the sort are replayed beside them; the requests alone "
        "take 0.80 s/GB: 1.35 s/GB together, before anything else is done"
    )
    page = report.page_text(results)
    assert "0.5 GB of lines, 0.5 GB of tables, 64 MiB" in page
    assert "records (" not in page
    assert "| EcoSort, --compress none: lines of about 100 bytes | 5 | 1.00 |" in page


@pytest.mark.parametrize("case", cpu_floor.CASES, ids=lambda case: case.kind)
def test_the_sorts_of_the_processor_compress_nothing_and_tell_their_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: cpu_floor.CpuCase
) -> None:
    monkeypatch.setattr(cold_run, "settle_memory", lambda _size: None)
    programs = Contenders(BUILD / "ecosort")
    results = _results(tmp_path / "result.json", [])
    results.data["settings"] |= {"records": 20_000, "memory_bytes": 2 << 20, "lines_bytes": 2_000_000, "tables_bytes": 2_000_000}
    results.data["input_checksums"] = {}
    results.data["costs"] = {kind.kind: {} for kind in cpu_floor.CASES}  # they take long
    bench = Bench(programs, results, tmp_path, print)
    text_stages.cpu(bench, 1, (case,))
    runs = {run["contender"]: run for run in results.runs}
    assert set(runs) == {"ecosort", "floor_a"}
    stats = runs["ecosort"]["stats"]
    assert cpu_floor.merged_runs(stats) > 1
    assert stats["compression"]["runs"] is None
    assert runs["floor_a"]["input_bytes"] >= 2_000_000 - 200
    assert not (tmp_path / case.stage).exists()


@pytest.fixture(scope="module")
def replay() -> Path:
    program = BUILD / "bench" / "ecosort_replay"
    assert program.exists(), f"{program} is not built: run make"
    return program


Call = Callable[..., subprocess.CompletedProcess[str]]


PACES = [
    ["--pace", "recorded"],
    ["--pace", "depth", "--read-depth", "4", "--write-depth", "4"],
    ["--pace", "depth", "--memory", "32MiB"],
]


@pytest.mark.parametrize(("pace", "backend"), turns(PACES, ["uring", "pool"]))
def test_the_replay_moves_the_bytes_of_the_sort(
    tmp_path: Path, run: Call, replay: Path, require: Callable[[str], None], backend: str, pace: list[str]
) -> None:
    if backend == "uring":
        require("io_uring")
    assert run("gen", "-a", "200000", "in", cwd=tmp_path).returncode == 0
    options = ["--memory", "8MiB", "--stats", "stats.json", "--trace", "trace", "--io", backend]
    sorted_ = run("sort", *options, "in", "-o", "out", cwd=tmp_path)
    assert sorted_.returncode == 0, sorted_.stderr
    stats = json.loads((tmp_path / "stats.json").read_text())
    (tmp_path / "out").unlink()
    (tmp_path / "temp").mkdir()
    files = ["--input", "in", "--temp", "temp", "--output", "out", "--io", backend]
    done = subprocess.run(
        [replay, "trace", *files, *pace], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    replayed = json.loads(done.stdout)
    assert replayed["bytes_read"] == stats["bytes_read"]
    assert abs(replayed["bytes_written"] - stats["bytes_written"]) < 4096
    assert replayed["requests"] == stats["requests"] == len((tmp_path / "trace").read_text().splitlines()) - 1
    assert replayed["io_backend"] == backend
    assert (tmp_path / "out").stat().st_size == 20_000_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "stats.json", "temp", "trace"]
    assert list((tmp_path / "temp").iterdir()) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no trace"),
        ("ecosort.trace/1\nread input 1 0 4096\n", ":2: six words"),
        ("ecosort.trace/1\nread input 1 0 4096 0\nchew input 1 0 4096 0\n", ":3: 'chew'"),
    ],
)
def test_the_replay_says_what_is_wrong_with_a_trace(tmp_path: Path, replay: Path, text: str, reason: str) -> None:
    (tmp_path / "trace").write_text(text)
    files = ["--input", "in", "--temp", ".", "--output", "out"]
    done = subprocess.run([replay, "trace", *files], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_trace_does_not_overwrite_the_input(tmp_path: Path, run: Call) -> None:
    assert run("gen", "-a", "100", "in", cwd=tmp_path).returncode == 0
    before = (tmp_path / "in").read_bytes()
    assert run("sort", "--trace", "in", "in", "-o", "out", cwd=tmp_path).returncode == 2
    assert (tmp_path / "in").read_bytes() == before


@pytest.mark.parametrize("kind", inputs.KINDS)
def test_inputs_have_the_order_they_are_named_after(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "in"
    checksum = inputs.make_input(Contenders(BUILD / "ecosort"), kind, 50_000, path, 8 << 20)
    content = path.read_bytes()
    keys = [content[i : i + 10] for i in range(0, len(content), 100)]
    assert len(keys) == 50_000
    assert {content[i + 98 : i + 100] for i in range(0, len(content), 100)} == {b"\r\n"}
    is_rising, is_falling = keys == sorted(keys), keys == sorted(keys, reverse=True)
    assert (is_rising, is_falling) == {
        "uniform": (False, False),
        "skewed": (False, False),
        "zipf": (False, False),
        "few": (False, False),
        "sorted": (True, False),
        "reverse": (False, True),
        "equal": (True, True),
    }[kind]
    commonest = Counter(keys).most_common(1)[0][1] / len(keys)
    if kind == "few":
        assert len(set(keys)) == inputs.DISTINCT_OF_FEW
        assert commonest < 0.02
    elif kind == "zipf":
        assert 10_000 < len(set(keys)) < 40_000
        assert 0.03 < commonest < 0.06
    report_ = subprocess.run([BUILD / "ecosort", "check", path], capture_output=True, text=True, timeout=60, check=False)
    assert parse_report(report_.stdout + report_.stderr, 0).checksum == checksum
    assert [p.name for p in tmp_path.iterdir()] == ["in"]


@pytest.mark.usefixtures("only_own_files_become_cold")
def test_a_whole_benchmark_runs_keeps_its_numbers_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold_run, "settle_memory", lambda _size: None)
    monkeypatch.setattr(floors, "BLOCK_SIZES", floors.BLOCK_SIZES[:2])
    monkeypatch.setattr(floors, "DEPTHS", floors.DEPTHS[:2])
    result = tmp_path / "result.json"
    words = ["--records", "100000", "--memory", "8MiB", "--rounds", "1", "--floor-rounds", "1"]
    words += ["--stage", "main", "--stage", "gen_check"]
    words += ["--contender", "gnu_sort=1", "--build", str(BUILD), "--dir", str(tmp_path), "--result", str(result)]
    done = CliRunner().invoke(cli.main, words)
    assert done.exit_code == 0, done.output
    data = json.loads(result.read_text())
    walls = [run["wall_s"] for run in data["runs"] if run["contender"] == "ecosort"]
    assert len(walls) >= 1
    assert f"{statistics.median(walls):.2f}" in done.stdout
    gnu = next(run for run in data["runs"] if run["contender"] == "gnu_sort")
    assert gnu["checksum"] == next(run for run in data["runs"] if run["contender"] == "ecosort")["checksum"]
    assert {"PASS", "MISSED"} & set(done.stdout.split())
    pool = [run for run in data["runs"] if run["contender"] == "ecosort_pool"]
    assert [run["checksum"] for run in pool] == [gnu["checksum"]]
    tools = {run["contender"]: run for run in data["runs"] if run["stage"] == "gen_check"}
    assert set(tools) == {"gen", "write_floor", "check", "read_floor", "read_floor_memory"}
    for written, read in (("gen", "check"), ("write_floor", "read_floor"), ("write_floor", "read_floor_memory")):
        assert 0 <= tools[written]["bytes_written"] - 10_000_000 < 1 << 20
        assert 0 <= tools[read]["bytes_read"] - 10_000_000 < 64 << 20, "cold: the program and its libraries are read, too"
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]

    del data["runs"][-1]
    result.write_text(json.dumps(data))
    again = CliRunner().invoke(cli.main, [*words, "--continue"])
    assert again.exit_code == 0, again.output
    assert again.stdout.count(" round ") == 1
    assert len(json.loads(result.read_text())["runs"]) == len(data["runs"]) + 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--memory", "64k"), "'64k' is no size such as 4MiB or 2GB"),
        (("--report", "--result", "nowhere.json"), "Error: nowhere.json does not exist\n"),
        (("--case", "csv", "--stage", "main"), "--case csv is about the lines: add --stage lines"),
        (("--stage", "main", "--contender", "gnu_sort=many"), "'gnu_sort=many': give one of ecosort, "),
    ],
)
def test_what_the_benchmark_does_not_understand_is_one_clear_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    command = [
        sys.executable,
        ROOT / "tuning/bench/bench.py",
        "--build",
        BUILD,
        "--dir",
        tmp_path,
        "--result",
        tmp_path / "r.json",
    ]
    done = subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert len(done.stderr.splitlines()) <= 4, "with how it is used"
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "r.json").exists()


def test_a_result_that_lacks_something_is_refused_with_its_name(tmp_path: Path) -> None:
    results = _results(tmp_path / "r.json", [_run("ecosort", 0, 1.0)])
    del results.runs[0]["is_cold"]
    results.save()
    with pytest.raises(UsageError, match=r"r\.json is damaged: KeyError\('is_cold'\)"):
        Results.load(results.path)


def test_an_option_of_several_commands_is_declared_once() -> None:
    """In ecosort_measure/options.py. --continue is two: of a directory, and of a result file."""
    sources = ("ecosort_measure/options.py", "ecosort_tuning/cli.py", "bench/ecosort_bench/cli.py")
    declared = Counter[str]()
    for name in sources:
        text = (ROOT / "tuning" / name).read_text()
        declared.update(re.findall(r'click\.option[,(]\s*(?:"-\w", )?"(--[a-z-]+)"', text))
    assert declared["--continue"] == 2
    assert {"--json", "--profile", "--memory", "--drive", "--floor-rounds"} <= declared.keys()
    assert [name for name, count in declared.items() if count > 1 and name != "--continue"] == []


def test_lines_are_judged_against_gnu_sort_and_records_against_stxxl(tmp_path: Path) -> None:
    seconds = {"lines_text": (1.0, 7.0), "lines_csv": (1.0, 3.0), "lines_small": (0.01, 0.02)}
    runs = []
    for stage, (ours, theirs) in seconds.items():
        for i in range(30):
            runs += [_run("ecosort", i, ours * (i + 1), stage), _run("gnu_sort", i, theirs * (i + 1), stage)]
            runs += [_run("floor_b", i, 0.5 * (i + 1), stage)] if stage == "lines_csv" else []
    for run in runs:
        run["input_bytes"] = 500_000_000  # 0.6 CPU seconds for it
    results = _results(tmp_path / "lines.json", runs)
    results.data["settings"]["lines_bytes"] = 400_000_000
    words = {v.name: (v.measured, v.word) for v in targets.verdicts(results) if v.passed is not None}
    assert words == {
        "lines, whole line: GNU sort / EcoSort": ("7.000 [7.000, 7.000], 30 pairs", "PASS"),
        "lines, -t, -k2,2n: GNU sort / EcoSort": ("3.000 [3.000, 3.000], 30 pairs", "MISSED"),
        "lines, whole line: CPU": ("1.2 s/GB", "PASS"),
        "lines, 1 MB: EcoSort / GNU sort": ("0.500 [0.500, 0.500], 30 pairs", "PASS"),
    }
    assert report.circumstances(results).startswith("0.4 GB of lines, ")
    assert "| floor (b): best replay, minimal bytes | 30 | 7.75 |" in report.page_text(results)
    obstacle = _verdict(results, "-k2,2n").obstacle
    assert obstacle.startswith("floor (b), which computes nothing, is 6.0 times as fast as GNU sort and takes 0.80 CPU s/GB; ")
    assert "EcoSort takes 2.00 of it" in obstacle


def test_peoples_data_are_judged_by_the_processor_and_by_what_is_moved(tmp_path: Path) -> None:
    runs = []
    for i in range(7):
        moved = {"stats": {"bytes_read": 200, "bytes_written": 110}, "input_bytes": 100}
        runs += [_run("ecosort", i, 1.0, "data_in_order") | moved]
        runs += [_run("gnu_sort", i, 5.0, "data_in_order") | {"cpu_user_s": 3.0}]
        runs += [_run("before", i, 1.5, "data_in_order") | {"cpu_user_s": 0.9}]
    results = _results(tmp_path / "data.json", runs)
    results.data["settings"]["lines_bytes"] = 100
    assert {v.name: (v.measured, v.word) for v in targets.verdicts(results)} == {
        "a log in order: CPU of GNU sort / EcoSort": ("5.000 [5.000, 5.000], 7 pairs", "PASS"),
        "a log in order: CPU before / EcoSort": ("1.500 [1.500, 1.500], 7 pairs", "MISSED"),
        "a log in order: bytes moved / input": ("3.1 ", "MISSED"),
    }
    assert "| EcoSort before | 7 | 1.50 |" in report.page_text(results)


@pytest.mark.parametrize("case", lines.ALL_CASES, ids=lambda case: case.stage)
def test_kinds_of_lines_are_made_and_sorted_by_both_with_the_same_result(tmp_path: Path, case: lines.Case) -> None:
    programs = Contenders(BUILD / "ecosort")
    size = case.bytes(2_000_000)
    work = Bench(programs, _results(tmp_path / "result.json", []), tmp_path, print).work
    work = replace(work, input=tmp_path / "in", memory_bytes=16 << 20)
    subprocess.run([programs.tool("make_lines"), case.input_kind, str(size), work.input], check=True)
    assert 0 <= work.input.stat().st_size - size < 200
    digests = set()
    for contender in ("ecosort", case.peer):
        if contender == "stxxl_ksort_u64" and not programs.has_stxxl():
            continue
        command, environment = lines.command(case, contender, programs, work)
        done = subprocess.run(command, capture_output=True, env={**os.environ, **environment}, check=True)
        if case.is_small:
            work.output.write_bytes(done.stdout)
        digests.add(lines.digest(work.output))
        work.output.unlink()
    assert len(digests) == 1


def test_what_a_cold_run_may_take_is_settled_after_the_caches_and_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr(cold_run, "drop_caches", lambda: done.append("caches") or True)
    monkeypatch.setattr(cold_run, "settle_memory", lambda size: done.append(f"memory {size}"))
    measured = cold_run.run_cold(["true"], tmp_path, {}, 12345)
    assert measured.is_cold
    assert done == ["caches", "memory 49380"], "four times as much"


@pytest.mark.parametrize(
    ("wanted", "free", "settled"),
    [(1 << 20, 64 << 30, 4 << 20), (2 << 30, 64 << 30, 5 << 30), (2 << 30, 6 << 30, 3 << 30), (2 << 30, 1 << 30, 2 << 30)],
)
def test_more_memory_is_settled_than_wanted_where_there_is_plenty(
    wanted: int, free: int, settled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"SC_AVPHYS_PAGES": free >> 12, "SC_PAGE_SIZE": 1 << 12}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
    assert cold_run.bytes_to_settle(wanted) == settled


def test_memory_is_settled_by_touching_every_page_once() -> None:
    script = """
import resource
from ecosort_measure.cold_run import settle_memory
settle_memory(100 << 20)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
    path = os.pathsep.join(map(str, (ROOT / "tuning", ROOT / "tuning/bench", ROOT / "python")))
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": path}, capture_output=True, check=True)
    assert int(done.stdout) >= 100 << 10, "KiB"


def test_settled_memory_does_not_count_as_that_of_the_command(tmp_path: Path) -> None:
    script = "import sys, pathlib; from ecosort_measure.cold_run import run_cold; "
    script += "print(run_cold(['true'], pathlib.Path(sys.argv[1]), {}, 50 << 20).peak_rss_bytes)"
    found = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True)
    assert int(found.stdout) < 100 << 20, "of 200 MiB"


def test_keys_that_begin_alike_are_judged_against_random_keys_of_their_length(tmp_path: Path) -> None:
    seconds = {"keys_dates": (1.1, 1.0), "keys_urls": (1.4, 1.0)}
    runs = []
    for stage, (alike, different) in seconds.items():
        for i in range(5):
            runs += [_run("ecosort", i, alike * (i + 1), stage), _run(long_keys.RANDOM, i, different * (i + 1), stage)]
    results = _results(tmp_path / "keys.json", runs)
    words = {v.name: (v.measured, v.word) for v in targets.verdicts(results)}
    assert words == {
        "keys: ISO timestamps with milliseconds / random keys of 24 bytes": ("1.100 [1.100, 1.100], 5 pairs", "PASS"),
        "keys: URLs of six shops / random keys of 64 bytes": ("1.400 [1.400, 1.400], 5 pairs", "MISSED"),
    }
    assert "| EcoSort: random keys of 24 bytes | 5 | 3.00 |" in report.page_text(results)


@pytest.mark.parametrize("key", long_keys.LONG_KEYS, ids=lambda key: key.input_kind)
def test_keys_that_begin_alike_are_made_and_sorted(tmp_path: Path, key: long_keys.LongKey) -> None:
    records = 50_000
    programs = Contenders(BUILD / "ecosort")
    bench = Bench(programs, _results(tmp_path / "result.json", []), tmp_path, print)
    for kind in (key.input_kind, long_keys.RANDOM_INPUT_KIND):
        work = replace(bench.work, input=tmp_path / kind, memory_bytes=2 << 20)
        subprocess.run([programs.tool("make_lines"), kind, str(records * 100), work.input], check=True)
        data = work.input.read_bytes()
        made = [data[at : at + 100] for at in range(0, len(data), 100)]
        assert len(data) == records * 100
        assert len({record[: key.bytes] for record in made}) > records * 0.99
        if kind == key.input_kind:  # twelve bytes do not tell them apart
            assert len({record[:12] for record in made}) < records / 5
        subprocess.run(long_keys.command(key, programs, work), check=True)
        assert work.output.read_bytes() == b"".join(sorted(made, key=lambda record: record[: key.bytes]))
        work.output.unlink()


def test_in_place_sorting_is_judged_against_the_sort_of_the_same_rounds(tmp_path: Path) -> None:
    seconds = {"ecosort": 10.0, "inplace": 11.0, "inplace_tight": 14.0}
    runs = [_run(name, i, time * (i + 1), "inplace") for name, time in seconds.items() for i in range(5)]
    results = _results(tmp_path / "inplace.json", runs)
    words = {v.name: (v.measured, v.word) for v in targets.verdicts(results)}
    assert words == {
        "in place, ample space / sort": ("1.100 [1.100, 1.100], 5 pairs", "PASS"),
        "in place, 2.4 % of spare space / sort": ("1.400 [1.400, 1.400], 5 pairs", "MISSED"),
    }
    assert "it moves 1.00 times the bytes of the sort" in _verdict(results, "2.4 %").obstacle
    text = report.page_text(results)
    assert text.startswith("<!-- benchmark inplace: begin")
    assert "| in place, ample space | 5 | 33.00 |" in text


def _table_run(case: str, contender: str, cpu: float, memory_bytes: int = 1 << 20) -> dict[str, Any]:
    run = _run(contender, 0, cpu)
    return run | {"stage": f"table_{case}", "cpu_user_s": cpu, "cpu_system_s": 0.0, "peak_rss_bytes": memory_bytes}


def test_tables_are_judged_by_the_processor_time_of_their_peers(tmp_path: Path) -> None:
    runs = [
        _table_run("csv_number", "ecosort", 2.0),
        _table_run("csv_number", "duckdb", 5.0),
        _table_run("csv_number", "lines", 2.0),
    ]
    results = _results(tmp_path / "r.json", runs)
    words = {verdict.name: verdict.word for verdict in targets.verdicts(results)}
    assert words["CSV by a number: CPU of DuckDB / EcoSort"] == "MISSED"  # 2.5, and 3 is asked
    assert words["CSV by a number: CPU of csv / lines"] == "PASS"
    assert "CSV by a text: CPU of DuckDB / EcoSort" not in words  # was not measured


@pytest.mark.parametrize(
    "case", [case for case in tables.CASES if case.words and not case.output_suffix], ids=lambda case: case.name
)
def test_the_output_of_a_table_is_known_by_its_rows_and_must_be_in_order(tmp_path: Path, case: tables.TableCase) -> None:
    programs = Contenders(BUILD / "ecosort")
    names = ("input", "output", "temp", "trace", "floor_trace", "stats")
    files = {name: tmp_path / name for name in names}
    work = Work(**files, memory_bytes=8 << 20, threads=2, floor_depth=1, floor_reserve=True, read_depth=1, write_depth=1)
    work.temp.mkdir()
    programs.call(programs.tool("make_lines"), case.input_kind, "300000", work.input)
    digests = set()
    for contender in (name for name in ("ecosort", "lines") if name in case.contenders):
        command, _ = tables.command(case, contender, programs, work)
        assert subprocess.run(command, capture_output=True, text=True, check=False).stderr == ""
        digests.add(tables.rows_digest(case, programs, work))
    assert len(digests) == 1
    shutil.copyfile(work.input, work.output)
    with pytest.raises(RunError, match="out of order"):
        tables.rows_digest(case, programs, work)


def test_peers_of_tables_that_are_not_there_are_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tables, "PEERS_PYTHON", tmp_path / "none")
    with pytest.raises(RunError, match="tuning/setup/deps peers"):
        tables.require_peers(tables.CSV_NUMBER)


def test_a_peer_is_compared_within_rounds_and_one_that_is_not_run_keeps_its_row(tmp_path: Path) -> None:
    runs = []
    for i in range(3):  # rounds that differ threefold
        sized = {"stage": "peers_csv_number", "input_bytes": 100_000_000, "cpu_system_s": 0.0}
        runs += [_run("ecosort", i, 1.0) | sized | {"cpu_user_s": 0.1 * 3**i}]
        runs += [_run("polars", i, 2.0) | sized | {"cpu_user_s": 0.5 * 3**i}]
    results = _results(tmp_path / "peers.json", runs)
    results.data["settings"]["tables_bytes"] = 100_000_000
    results.data |= {"started": "2026-11-29T09:00:00Z", "versions": {"polars": "2.1.0, 2026-10-25"}}
    results.data["absent"] = {"peers_csv_number": {"chdb": "it fails"}}
    text = report.page_text(results)
    assert "| Polars, whose memory has no bound | 2.1.0, 2026-10-25 | 3 | 15.00 | 5.00 [5.00, 5.00] | 2.00 |" in text
    assert "| chDB (ClickHouse) |  | not run: it fails |" in text
    assert ", measured 2026-11-29." in text
    assert _verdict(results, "CPU of Polars / EcoSort").word == "PASS"


def test_a_peer_that_loses_a_record_or_fails_is_not_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for slow in ("settle_memory", "sync_file_system"):
        monkeypatch.setattr(cold_run, slow, lambda _: None)
    monkeypatch.setattr(cold_run, "drop_caches", lambda: True)
    monkeypatch.setattr(peers, "CASES", (replace(peers.CASES[0], peers=("bsort", "crocsort", "rustbucket")),))
    sorts = f'"{BUILD / "ecosort"}" sort --quiet "$1" -o "$2.new"'
    for name, script in {
        "bsort": f'{sorts} && mv "$2.new" "$2"',
        "crocsort": f'{sorts} && head -c -100 "$2.new" >"$2"; rm "$2.new"',
        "rustbucket": 'echo "thread main panicked" >&2; echo "Error: no such key" >&2; exit 3',
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "run").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name / "run").chmod(0o755)
    results = _results(tmp_path / "result.json", [])
    results.data["settings"]["records"] = 2000
    results.data |= {"versions": {}, "input_checksums": {}}
    data = tmp_path / "data"
    text_stages.other_sorters(Bench(Contenders(BUILD / "ecosort", peer_dir=tmp_path), results, data, print), 2)
    assert Counter(run["contender"] for run in results.runs) == {"ecosort": 2, "bsort": 2}
    absent = results.data["absent"]["peers_records"]
    assert absent == {
        "crocsort": "peers_records: the output of crocsort has other rows than those before",
        "rustbucket": "Error: no such key",
    }


def test_a_sort_is_held_against_its_kernels_and_requests_together(tmp_path: Path) -> None:
    data = _results(tmp_path / "r.json", []).data | {"started": "2026-11-29T09:00:00Z", "two_copies_s_per_gb": 0.25}
    data["settings"] = {"bytes": 300_000_000, "memory_bytes": 64 << 20, "rounds": 3}
    data["runs"] = [{"kind": "text", "level": "avx2", "sort": 1.5, "kernels": 0.9, "requests": 0.1}]
    found = machine_limits.lines_of(data)
    assert "| lines of about 100 bytes | avx2 | 1.50 | 0.90 | 0.10 | 1.00 | 1.50 |" in found
    assert any(
        line.startswith("CPU s/GB, 0.3 GB each, 64MiB, 3 rounds; two copies in memory take 0.25 s/GB; P, ") for line in found
    )


def test_every_peer_is_pinned_with_the_day_of_its_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "PEERS_PYTHON", tmp_path / "bin" / "python")
    programs = Contenders(tmp_path / "ecosort")
    lock = (ROOT / "tuning/setup/peers.lock").read_text()
    for name in peers.PACKAGES:
        assert peers.version(name, programs) == "", "nothing is installed"
        assert "tuning/setup/deps peers" in peers.why_absent(name, programs)
        [version] = re.findall(rf"^{name}==(\S+)", lock, re.MULTILINE)
        (tmp_path / f"lib/python3.11/site-packages/{name}-{version}.dist-info").mkdir(parents=True)
        assert re.fullmatch(rf"{re.escape(version)}, 20\d\d-\d\d-\d\d", peers.version(name, programs))
    assert re.fullmatch(r"\d+\.\d+\.\d+, 20\d\d-\d\d-\d\d", peers.version("uutils_sort", programs))


@pytest.mark.parametrize("subject", charts.SUBJECTS, ids=lambda subject: subject.stage)
def test_the_chart_shows_the_medians_of_the_committed_results(subject: charts.Subject) -> None:
    text = (ROOT / "docs" / "charts" / "peers.svg").read_text()
    bars = charts.bars_of(subject, Results.load(ROOT / f"tuning/bench/results/{subject.result}.json"))
    assert [bar.name for bar in bars] == list(subject.shown.values())
    assert f">{subject.title}: time, s<" in text
    for bar in bars:
        assert f">{bar.name}<" in text
        assert f">{charts.label_of(bar.wall_s)}<" in text
        assert f">{charts.label_of(bar.cpu_s)}<" in text


def test_a_box_is_as_slow_as_the_slower_one_of_its_processor_and_its_link() -> None:
    per_cycle = {("neon", "cortex-a76"): 2.0, ("neon", "neoverse-n1"): 2.5, ("avx2", "gracemont"): 2.0, ("avx2", "znver4"): 2.0}
    counted = boxes.Counted({"neon": 1000.0, "avx2": 1000.0}, per_cycle)
    here = boxes.Here("znver4", 2.5, 2 * counted.seconds("avx2", "znver4", 2.5))
    rows = list(boxes.table(counted, here, lambda text: None))
    assert rows[2] == "| Raspberry Pi 5, PCIe 2.0 x1 | 2.00 | 417 | 104 | 465 | 45.1 | 10.3 |"
    assert rows[4].startswith("| RK3588, its four A76, PCIe 3.0 x4 | 2.00 | 435 | 109 | 59 |")
    assert rows[5].startswith("| Neoverse N1 of a server, PCIe 4.0 x4 | 2.50 | 308 | 77 |")


def test_boxes_are_corrected_only_by_a_machine_that_has_a_model() -> None:
    """Any machine was taken for a Zen 3."""
    assert boxes.processor_here("LLVM version 19\n  Host CPU: znver4\n") == "znver4"
    for version in ("  Host CPU: generic\n", "  Host CPU: cortex-a76\n", "no such line\n"):
        with pytest.raises(click.ClickException, match="no model of this machine"):
            boxes.processor_here(version)


def test_a_gracemont_takes_two_operations_for_32_bytes() -> None:
    """The copy gives its result to no one; what is stored, and words of 16 bytes or of general registers, is as it was."""
    trace = ["vpaddq\t%ymm1, %ymm2, %ymm3", "vmovdqu\t%ymm3, (%rdi)", "vpaddq\t%xmm1, %xmm2, %xmm3", "addq\t$8, %rdi"]
    copied = ["vpaddq\t%ymm1, %ymm2, %ymm15", "vmovdqu\t%ymm3, (%rdi)"]
    assert list(arm_model.in_halves(trace)) == [copied[0], trace[0], copied[1], *trace[1:]]


@only_in_soak
def test_the_loops_of_the_kernels_are_built_and_know_every_kernel_that_is_counted(tmp_path: Path) -> None:
    """No other test compiles them: a kernel that changes its form would end `make bench-arm`."""
    program = kernel_loops.build_program("x86_64", tmp_path)
    for kernel in kernel_loops.KERNELS:
        assert subprocess.run([program, kernel.name, "baseline", "1"], check=False).returncode == 0, kernel
