"""`ecosort --profile`: the sorter and ecosort-tune agree on the machine, the file, the settings and the prediction."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ecosort_measure.prediction import PROCESSOR
from ecosort_tuning.errors import UsageError
from ecosort_tuning.forecast import predict
from ecosort_tuning.machine import this_machine
from ecosort_tuning.model import factor_name, formation_share
from ecosort_tuning.profile import (
    SCHEMA,
    CpuModel,
    Drive,
    Kernels,
    PowerModel,
    Profile,
    Rate,
    Setting,
    TimeModel,
    default_path,
    write_profile,
)
from ecosort_tuning.resources import drive_times
from ecosort_tuning.runs import Work, comparisons, memory_bytes, requests

from .conftest import Tune

Run = Callable[..., subprocess.CompletedProcess[str]]


def rate(mode: str, read: float, write: float, block: int, depth: int) -> Rate:
    return Rate(mode, block, depth, read, write, 1e-3, 0.05, 0.02, 3)


RATES = [
    rate(mode, r * (1 + 0.2 * i + 0.1 * j), w * (1 + 0.1 * i + 0.2 * j), block, depth)
    for mode, r, w in (("read", 2.1e9, 0), ("write", 0, 1.1e9), ("mixed", 0.9e9, 0.8e9), ("random", 1.9e9, 0))
    for i, block in enumerate((256 << 10, 1 << 20, 4 << 20))
    for j, depth in enumerate((1, 4, 16))
]
DRIVE = Drive("temp", "/ssd/tmp", "/dev/nvme0n1", "ext4", "io_uring", True, 1 << 30, RATES)
KERNELS = Kernels(100, 64, {"extract": 8.2, "index_sort": 14.4, "gather": 36.2, "merge": 16.8}, 3)
FULL = Profile(
    SCHEMA,
    "2030-01-01T00:00:00Z",
    "0.1.0",
    this_machine(),
    [DRIVE],
    KERNELS,
    TimeModel({"run_formation": 1.2, "merge": 1.1}, 0.05, 9),
    CpuModel(0.03, 60e-9, 1e-10, 4e-9, 1e-10, 1e-5, 0.05, 9),
    PowerModel(21.0, 7.5, 0.8, 0.02, 9, "wall"),
    [Setting("--threads", "1", "it takes 0.9 of the time"), Setting("--request-depth", "5", 'so "quoted" \\ it is')],
    ["a warning"],
    {"drive": "nothing"},
)


@pytest.fixture
def place(tmp_path: Path, run: Run) -> Path:
    assert run("gen", "-a", "120000", "in", cwd=tmp_path).returncode == 0
    write_profile(tmp_path / "p.toml", FULL)
    return tmp_path


def plan_of(run: Run, place: Path, *words: str, **options: Any) -> dict[str, Any]:
    done = run("plan", "sort", "--json", *words, "in", "-o", "out", cwd=place, **options)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def sources(plan: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {v["option"]: (v["value"], v["source"]) for v in plan["here"]["values"]}


def test_the_plan_names_where_each_value_comes_from(run: Run, place: Path) -> None:
    plan = plan_of(run, place, "--profile", "p.toml", "--memory", "4MiB")
    found = sources(plan)
    assert found["--memory"] == ("4MiB", "option")
    assert found["--threads"] == ("1", "profile")
    assert found["--merge-threads"] == ("1", "default")
    assert found["--request-depth"] == ("5", "profile")
    assert found["--request-size"] == ("1MiB", "default")
    assert found["--run-records"] == (str(plan["run_records"]), "default")
    assert (plan["compute_threads"], plan["read_depth"]) == (1, 5)
    text = run("plan", "sort", "--profile", "p.toml", "in", "-o", "out", "--memory", "4MiB", cwd=place).stdout
    for line in ("--memory          4MiB                      option", "--threads         1                         profile"):
        assert line in text
    assert "profile             p.toml, of 2030-01-01T00:00:00Z" in text


def test_an_option_wins_over_the_profile(run: Run, place: Path) -> None:
    plan = plan_of(run, place, "--profile", "p.toml", "--threads", "2")
    assert sources(plan)["--threads"] == ("2", "option")
    assert sources(plan)["--request-depth"] == ("5", "profile")


def test_auto_threads_are_those_that_a_search_found(run: Run, place: Path) -> None:
    found = replace(FULL, setting=[Setting("--threads", "3", "it takes 0.9 of the time")])
    write_profile(place / "q.toml", found)
    assert sources(plan_of(run, place, "--profile", "q.toml", "--threads", "auto"))["--threads"] == ("3", "profile")
    assert sources(plan_of(run, place, "--no-profile", "--threads", "auto"))["--threads"][1] == "option"
    done = run("lines", "--profile", "q.toml", "--parallel", "auto", "in", "-o", "out", "--stats", "stats", cwd=place)
    assert (done.returncode, json.loads((place / "stats").read_text())["threads"]) == (0, 3)


def test_a_profile_may_say_that_runs_of_records_are_compressed(run: Run, place: Path) -> None:
    """Records are not, unless asked; what `auto` then does with them follows from themselves."""
    write_profile(place / "q.toml", replace(FULL, setting=[Setting("--compress", "auto", "it takes 0.8 of the time")]))
    words, profile = ("in", "--memory", "2MiB", "--progress", "none"), ("--profile", "q.toml")
    assert sources(plan_of(run, place, "--memory", "2MiB", *profile))["--compress"] == ("auto", "profile")
    assert sources(plan_of(run, place, "--memory", "2MiB", "--no-profile"))["--compress"] == ("none", "default")
    asked = {}
    for name, more in {"a": profile, "b": (*profile, "--compress=none"), "c": ("--no-profile",)}.items():
        done = run("sort", *words, "-o", name, "--stats", "s.json", *more, cwd=place)
        assert done.returncode == 0, done.stderr
        runs = json.loads((place / "s.json").read_text())["compression"]["runs"]
        asked[name] = runs and runs["asked"]
    assert asked == {"a": "auto", "b": None, "c": None}
    assert (place / "a").read_bytes() == (place / "b").read_bytes() == (place / "c").read_bytes()
    done = run("sort", "--resumable", *words, "-o", "d", "--stats", "s.json", *profile, cwd=place)
    assert done.returncode == 0, done.stderr
    assert json.loads((place / "s.json").read_text())["compression"]["runs"] is None, "a resumable job is asked by itself"


def test_the_sort_follows_the_profile_and_sorts_the_same_bytes(run: Run, place: Path) -> None:
    words = ("in", "--memory", "4MiB", "--progress", "none")
    assert run("sort", *words, "-o", "a", "--profile", "p.toml", "--stats", "s.json", cwd=place).returncode == 0
    assert run("sort", *words, "-o", "b", "--no-profile", "--stats", "t.json", "--threads", "2", cwd=place).returncode == 0
    assert (place / "a").read_bytes() == (place / "b").read_bytes()
    with_profile, without = (json.loads((place / name).read_text()) for name in ("s.json", "t.json"))
    assert (with_profile["threads"], with_profile["plan"]["read_depth"]) == (1, 5)
    assert (without["threads"], without["plan"]["read_depth"]) == (2, 16)


ROWS = {
    "lines": (["lines"], "--parallel"),
    "csv": (["csv", "--no-header", "--by", "1"], "--threads"),
    "jsonl": (["jsonl", "--by", "a"], "--threads"),
}


@pytest.mark.parametrize("command", ROWS)
def test_sorts_of_rows_follow_the_profile(run: Run, place: Path, command: str) -> None:
    words, threads = ROWS[command]
    row = '{{"a":{}}}' if command == "jsonl" else "{}"
    (place / "rows").write_text("".join(row.format(10**18 + number % 97) + "\n" for number in range(300_000)))
    found = {}
    for name, *more in (
        ("profile", "--profile", "p.toml"),
        ("option", "--profile", "p.toml", threads, "3"),
        ("none", "--no-profile", threads, "2"),
    ):
        done = run(*words, "rows", "-o", name, "--stats", "s.json", *more, cwd=place)
        assert done.returncode == 0, done.stderr
        found[name] = json.loads((place / "s.json").read_text())["threads"]
    assert found == {"profile": 1, "option": 3, "none": 2}
    assert (place / "profile").read_bytes() == (place / "option").read_bytes() == (place / "none").read_bytes()


# Joules by the profile decide, and without watts in it there is no such goal.
def test_energy_is_a_goal_where_the_profile_knows_watts(run: Run, place: Path) -> None:
    words = ("in", "--memory", "64MiB", "--compress=auto", "--goal=energy")
    plan = json.loads(run("plan", "sort", "--json", "--assume-size=10GB", *words[1:], "--profile", "p.toml", cwd=place).stdout)
    assert plan["compression"]["goal"] == "energy"
    assert "absent" in plan["here"]["prediction"]
    text = run("plan", "lines", "--assume-size=10GB", "-S", "64M", "--goal=energy", "--profile", "p.toml", cwd=place).stdout
    assert "where they save energy" in text
    write_profile(place / "no-watts.toml", replace(FULL, power=None))
    for command in (["sort", *words], ["lines", "in", "--goal=energy"], ["csv", "--by=1", "in", "--goal=energy"]):
        done = run(*command, "-o", "out", "--profile", "no-watts.toml", cwd=place)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "knows no watts" in done.stderr
        done = run(*command, "-o", "out", "--no-profile", cwd=place)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "needs a profile that knows watts" in done.stderr
    words = ("in", "-o", "out", "--compress=auto", "--goal=time", "--profile", "no-watts.toml")
    done = run("sort", *words, cwd=place)
    assert done.returncode == 0, done.stderr
    done = run("lines", "in", "-o", "out", "--resumable", "--goal=energy", "--profile", "p.toml", cwd=place)
    assert (done.returncode, "--goal energy cannot be combined with --resumable" in done.stderr) == (2, True)


def test_a_sort_tells_that_it_went_by_joules(run: Run, place: Path) -> None:
    assert run("gen", "-a", "1500000", "large", cwd=place).returncode == 0
    words = ("--memory", "64MiB", "--compress=auto", "--goal=energy", "--profile", "p.toml", "--stats", "s.json")
    done = run("sort", "large", "-o", "out", *words, cwd=place)
    assert done.returncode == 0, done.stderr
    told = json.loads((place / "s.json").read_text())["compression"]["runs"]
    assert told["goal"] == "energy"
    assert re.search(r"fewer joules by the model|would (not )?save \d+ % of the energy", told["because"])


@pytest.mark.parametrize("command", ROWS)
def test_sorts_of_rows_refuse_or_leave_a_strange_profile(run: Run, place: Path, command: str) -> None:
    words, _ = ROWS[command]
    (place / "rows").write_text('{"a":1}\n' if command == "jsonl" else "1\n")
    strange = replace(FULL, machine=replace(HERE, processor="Abacus 3000"))
    write_profile(place / "other.toml", strange)
    done = run(*words, "--profile", "other.toml", "rows", "-o", "out", cwd=place)
    assert (done.returncode, done.stderr.count("\n"), (place / "out").exists()) == (2, 1, False)
    assert "another machine: its processor is" in done.stderr
    done = run(*words, "rows", "-o", "out", cwd=place, env=configured(place, strange))
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert "it is not used" in done.stderr


def configured(place: Path, profile: Profile | str) -> dict[str, str]:
    path = place / "config/ecosort/profile.toml"
    if isinstance(profile, Profile):
        write_profile(path, profile)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(profile)
    return {**os.environ, "XDG_CONFIG_HOME": str(place / "config")}


def test_the_profile_of_the_configuration_directory_is_used(run: Run, place: Path) -> None:
    environment = configured(place, FULL)
    assert sources(plan_of(run, place, env=environment))["--threads"] == ("1", "profile")
    off = plan_of(run, place, "--no-profile", env=environment)
    assert sources(off)["--threads"][1] == "default"
    assert (off["here"]["profile"], "prediction" in off["here"]) == (None, False)
    home = {k: v for k, v in environment.items() if k != "XDG_CONFIG_HOME"} | {"HOME": str(place / "home")}
    write_profile(place / "home/.config/ecosort/profile.toml", FULL)
    assert sources(plan_of(run, place, env=home))["--threads"] == ("1", "profile")


HERE = this_machine()
STRANGERS = [
    ("installation", replace(HERE, machine_id="fedcba9876543210")),
    ("processor", replace(HERE, processor="Abacus 3000")),
    ("number of CPUs", replace(HERE, cpus=HERE.cpus + 1)),
    ("memory", replace(HERE, memory_bytes=HERE.memory_bytes * 2)),
]


@pytest.mark.parametrize(("what", "machine"), STRANGERS, ids=[what for what, _ in STRANGERS])
def test_the_profile_of_another_machine_is_refused(run: Run, place: Path, what: str, machine: Any) -> None:
    if what == "installation" and not HERE.machine_id:
        pytest.skip("this machine has no machine-id, and an unknown installation fits every one")
    write_profile(place / "other.toml", replace(FULL, machine=machine))
    before = sorted(p.name for p in place.iterdir())
    for command in ("sort", "plan sort"):
        done = run(*command.split(), "--profile", "other.toml", "in", "-o", "out", cwd=place)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"another machine: its {what} is" in done.stderr
        assert done.stderr.count("\n") == 1
    assert sorted(p.name for p in place.iterdir()) == before


def test_a_strange_profile_that_was_found_gives_one_notice_and_the_defaults(run: Run, place: Path) -> None:
    environment = configured(place, replace(FULL, machine=replace(HERE, processor="Abacus 3000")))
    words = ("sort", "in", "-o", "out", "--stats", "s.json", "--threads", "2")
    done = run(*words, cwd=place, env=environment)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert "another machine: its processor is Abacus 3000" in done.stderr
    assert "it is not used" in done.stderr
    assert json.loads((place / "s.json").read_text())["plan"]["read_depth"] == 16
    assert run(*words, "--quiet", cwd=place, env=environment).stderr == ""
    assert run(*words, "--no-profile", cwd=place, env=environment).stderr == ""
    plan = plan_of(run, place, env=environment)
    assert {source for _, source in sources(plan).values()} == {"default"}
    assert "Abacus" in plan["here"]["profile"]["unused_because"]


def test_an_unknown_installation_and_a_little_memory_less_fit(run: Run, place: Path) -> None:
    near = replace(HERE, machine_id="", memory_bytes=int(HERE.memory_bytes * 0.99))
    write_profile(place / "near.toml", replace(FULL, machine=near))
    assert sources(plan_of(run, place, "--profile", "near.toml"))["--threads"] == ("1", "profile")


def damaged(place: Path) -> dict[str, tuple[str, str]]:
    """By name: the text of a profile, and the reason to refuse it."""
    text = (place / "p.toml").read_text()
    return {
        "no TOML": ("speed = = 3", "is damaged: line 1"),
        "cut off": (text[: len(text) // 2].rsplit("\n", 1)[0] + "\nlatency_s", "is damaged: line"),
        "no profile": ('schema = "other/1"\n', "is no profile"),
        "empty": ("", "is no profile"),
        "newer": (text.replace(SCHEMA, "ecosort.profile/9"), "has the version 9, this program reads 2"),
        "no machine": (text.replace("[machine]", "[other]"), "profile.machine is missing"),
        "wrong type": (text.replace("cpus = ", 'cpus = "x" #'), "profile.machine.cpus is not a whole number"),
        "negative": (text.replace("per_record_s = ", "per_record_s = -1.0 #"), "profile.cpu.per_record_s is not a number from 0"),
        "not a number": (text.replace("idle_w = ", "idle_w = nan #"), "profile.power.idle_w is not a number from 0"),
        "rate without depth": (text.replace("depth = 4", "depths = 4", 1), "rates[1].depth is missing"),
        "unknown option": (text.replace('"--threads"', '"--output"'), "sets '--output', which no profile may"),
        "twice": (text.replace('"--threads"', '"--request-depth"'), "sets --request-depth twice"),
        "bad value": (text.replace('value = "5"', 'value = "999"'), "--request-depth: give a number from 1 to 256"),
        "no value": (text.replace('value = "5"', 'value = ""'), "is damaged"),
        "an option as value": (text.replace('value = "5"', 'value = "--json"'), "is damaged"),
    }


def test_a_damaged_profile_is_refused_as_a_whole(run: Run, place: Path) -> None:
    for name, (text, reason) in damaged(place).items():
        (place / "bad.toml").write_text(text)
        done = run("sort", "--profile", "bad.toml", "in", "-o", "out", cwd=place)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), name
        assert reason in done.stderr, name
        assert not (place / "out").exists(), name
        environment = configured(place, text)
        found = run("plan", "sort", "in", "-o", "out", "--json", cwd=place, env=environment)
        assert (found.returncode, found.stderr.count("\n")) == (0, 1), name
        assert {source for _, source in sources(json.loads(found.stdout)).values()} == {"default"}, name


def test_a_profile_that_cannot_be_read_is_refused(run: Run, place: Path) -> None:
    for name, reason in (("nowhere.toml", "does not exist"), (".", "cannot be read"), ("/dev/zero", "too large")):
        done = run("sort", "--profile", name, "in", "-o", "out", cwd=place)
        assert done.returncode == 2
        assert reason in done.stderr
    both = run("sort", "--profile", "p.toml", "--no-profile", "in", "-o", "out", cwd=place)
    assert (both.returncode, "exclude each other" in both.stderr) == (2, True)


def test_sorting_in_place_and_resumably_take_threads_only(run: Run, place: Path) -> None:
    done = run("plan", "inplace", "--profile", "p.toml", "--assume-size", "1GB", "--memory", "64MiB", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    values = {v["option"]: v["source"] for v in json.loads(done.stdout)["values"]}
    assert values == {"--memory": "option", "--threads": "profile", "--io": "default"}
    found = json.loads(done.stdout)["prediction"]
    assert found["bytes_moved"] >= 4e9
    assert found["seconds"] > 0
    assert "as an ordinary sort" in found["notes"][-1]
    text = run("plan", "inplace", "--profile", "p.toml", "--assume-size", "1GB", "--memory", "64MiB", cwd=place).stdout
    assert "as an ordinary sort" in text
    resumable = run("plan", "sort", "--resumable", "--profile", "p.toml", "in", "-o", "out", "--json", cwd=place)
    assert resumable.returncode == 0, resumable.stderr
    assert json.loads(resumable.stdout)["prediction"]["bytes_moved"] > 0
    assert {v["option"]: v["source"] for v in json.loads(resumable.stdout)["values"]}["--threads"] == "profile"
    assert run("sort", "--resumable", "-q", "--profile", "p.toml", "in", "-o", "out", cwd=place).returncode == 0
    before = run("check", "-q", "in", cwd=place).returncode
    assert before == 1
    if run("plan", "inplace", "in", cwd=place).returncode == 0:  # not every file system can
        assert run("inplace", "-q", "--profile", "p.toml", "in", cwd=place).returncode == 0
        assert run("check", "-q", "in", cwd=place).returncode == 0


def test_runs_that_were_found_with_other_memory_are_left_to_the_plan(run: Run, place: Path) -> None:
    setting = [Setting("--run-records", "20000", "of a search", 10 << 20), Setting("--threads", "1", "as well")]
    write_profile(place / "p.toml", replace(FULL, setting=setting))
    for memory, source in (("10MiB", "profile"), ("9MiB", "profile"), ("8MiB", "default"), ("12MiB", "default")):
        words = ("--profile", "p.toml", "--memory", memory)
        done = run("plan", "sort", *words, "--json", "in", "-o", "out", cwd=place)
        assert (done.returncode, done.stderr) == (0, "")
        found = sources(json.loads(done.stdout))
        assert found["--run-records"][1] == source, memory
        assert found["--threads"] == ("1", "profile")
    text = (place / "p.toml").read_text().replace("memory_bytes = 10485760", "memory_bytes = -1")
    (place / "p.toml").write_text(text)
    refused = run("sort", "--profile", "p.toml", "in", "-o", "out", cwd=place)
    assert (refused.returncode, "setting[0].memory_bytes is negative" in refused.stderr) == (2, True)


PLANS: list[tuple[str, ...]] = [
    ("--memory", "2MiB"),
    ("--memory", "3MiB", "--threads", "2", "--merge-threads", "1"),
    ("--memory", "8MiB", "--request-size", "64KiB"),
    ("--memory", "8MiB", "--run-records", "9000"),
    ("--memory", "256MiB"),
    ("--memory", "2MiB", "--record-size", "10", "--key", "0:4", "--request-depth", "3"),
]
PROFILES: dict[str, Profile] = {
    "full": FULL,
    "no power": replace(FULL, power=None),
    "no factors": replace(FULL, time=None),
    "factors in memory": replace(
        FULL, time=TimeModel({"run_formation": 1.2, "read_and_sort": 1.7, "merge_resident": 1.4}, 0.1, 9)
    ),
    "no kernels": replace(FULL, kernels=None),
    "two drives": replace(FULL, drive=[replace(DRIVE, role="output", rates=RATES[:5]), DRIVE]),
    "no mixed rates": replace(FULL, drive=[replace(DRIVE, rates=[r for r in RATES if r.mode != "mixed"])]),
}


def test_what_cannot_be_predicted_is_said_alike(run: Run, tune: Tune, ecosort: Path, place: Path) -> None:
    (place / "nothing").write_bytes(b"")
    words = ("plan", "sort", "--json", "--profile", "p.toml", "-o", "out")
    with (place / "in").open("rb") as source:
        piped = subprocess.Popen(["cat"], stdin=source, stdout=subprocess.PIPE)
        unknown = run(*words, "-", cwd=place, stdin=piped.stdout)
        piped.kill()
        piped.communicate()
    for done, reason in (
        (unknown, "the size of the input is not known"),
        (run(*words, "nothing", cwd=place), "there is nothing to sort"),
    ):
        assert json.loads(done.stdout)["here"]["prediction"] == {"absent": reason}
        (place / "plan.json").write_text(done.stdout)
        told = tune("predict", place / "plan.json", "--profile", place / "p.toml", env={"ECOSORT_PROGRAM": str(ecosort)})
        assert (told.returncode, told.stderr) == (2, f"ecosort-tune: {reason}\n")


@pytest.fixture
def found_program(ecosort: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECOSORT_PROGRAM", str(ecosort))


@pytest.mark.usefixtures("found_program")
@pytest.mark.parametrize("words", PLANS, ids=" ".join)
def test_a_plan_that_was_kept_is_predicted_as_when_it_is_made(run: Run, place: Path, words: tuple[str, ...]) -> None:
    """A profile may have any settings: those of the plan stay."""
    kept = plan_of(run, place, "--no-profile", *words)
    for name, profile in PROFILES.items():
        write_profile(place / "x.toml", replace(profile, setting=[]))
        assert predict(kept, profile) == plan_of(run, place, "--profile", "x.toml", *words)["here"]["prediction"], name


@pytest.mark.usefixtures("found_program")
@pytest.mark.parametrize("memory", ["64MiB", "200MiB", "8GiB"])
def test_a_large_plan_that_was_kept_is_made_again_whoever_chose_its_runs(run: Run, place: Path, memory: str) -> None:
    """A user's runs may have fewer buffers, though they are as large as the planner's own."""
    words = ("plan", "sort", "--json", "--assume-size", "4GB", "--memory", memory)
    write_profile(place / "x.toml", replace(FULL, setting=[]))
    for more in ((), ("--run-records", "100000")):
        kept, wanted = (
            json.loads(run(*words, *more, *models, cwd=place).stdout) for models in (("--no-profile",), ("--profile", "x.toml"))
        )
        assert predict(kept, FULL) == wanted["here"]["prediction"]


def close(seconds: float) -> Any:
    return pytest.approx(seconds, rel=1e-9)


@pytest.mark.parametrize("words", PLANS, ids=" ".join)
def test_the_sorter_predicts_by_the_terms_that_models_are_fitted_to(run: Run, place: Path, words: tuple[str, ...]) -> None:
    for name, profile in PROFILES.items():
        write_profile(place / "x.toml", profile)
        plan = plan_of(run, place, "--profile", "x.toml", *words)
        found, cpu, records = plan["here"]["prediction"], profile.cpu, plan["records"]
        assert cpu is not None
        moved = plan["bytes_read"] + plan["bytes_written"]
        terms = cpu.per_record_s * records + cpu.per_comparison_s * comparisons(plan, records) + cpu.per_byte_s * moved
        terms += cpu.fixed_s + cpu.per_memory_byte_s * memory_bytes(plan) + cpu.per_request_s * requests(plan)
        assert (found["cpu_s"], found["bytes_moved"], found["temp_bytes"]) == (close(terms), moved, plan["temp_bytes"]), name
        drive = next(d for d in profile.drive if d.role == "temp")
        share, factors = formation_share(profile.kernels), profile.time.factor if profile.time else {}
        for phase, part, threads in zip(
            found["phases"], (share, 1 - share), (plan["compute_threads"], plan["merge_threads"]), strict=True
        ):
            times = {**drive_times(drive, phase["name"], Work(**phase["work"]), plan), PROCESSOR: part * terms / threads}
            assert phase["times"] == {resource: close(seconds) for resource, seconds in times.items()}, name
            assert phase["factor"] == factors.get(factor_name(phase["name"], plan), factors.get(phase["name"], 1.0)), name
            assert phase["seconds"] == close(phase["factor"] * max(times.values())), name
            assert phase["bottleneck"] == max(times, key=lambda resource: times[resource]), name
        assert sum(p["work"]["bytes_read"] for p in found["phases"]) == plan["bytes_read"]
        assert sum(p["work"]["bytes_written"] for p in found["phases"]) == plan["bytes_written"]


def test_joules_are_predicted_where_there_is_a_power_model(run: Run, place: Path) -> None:
    words = ("--profile", "x.toml", "--memory", "2MiB")
    write_profile(place / "x.toml", FULL)
    found = plan_of(run, place, *words)["here"]["prediction"]
    assert found["joules"] == close(21.0 * found["seconds"] + 7.5 * found["cpu_s"] + 0.8 * found["bytes_moved"] / 1e9)
    write_profile(place / "x.toml", replace(FULL, power=None))
    without = plan_of(run, place, *words)["here"]["prediction"]
    assert without["joules"] is None
    assert any("no joules" in note for note in without["notes"])


def test_what_would_help_is_what_limits(run: Run, place: Path) -> None:
    for per_record_s, limit in ((1e-9, "drive"), (1e-3, "processor")):
        write_profile(place / "x.toml", replace(FULL, cpu=CpuModel(0.0, per_record_s, 0.0, 0.0, 0.0, 0.0, 0.05, 9)))
        found = plan_of(run, place, "--profile", "x.toml", "--memory", "2MiB")["here"]["prediction"]
        assert found["help_most"] == limit
        other = {"drive": "processor", "processor": "drive"}[limit]
        assert found["saved_s"][limit] > found["saved_s"][other] == pytest.approx(0.0)
        assert all((phase["bottleneck"] == PROCESSOR) == (limit == "processor") for phase in found["phases"])


def test_the_plan_tells_people_its_prediction(run: Run, place: Path) -> None:
    words = ("plan", "sort", "--profile", "p.toml", "--memory", "4MiB", "in", "-o", "out")
    text = run(*words, cwd=place).stdout
    for word in ("prediction", "run formation", "limited by", "CPU seconds", "bytes moved", " J\n", "most help: a faster"):
        assert word in text
    write_profile(place / "p.toml", replace(FULL, cpu=None))
    assert "no prediction       the profile has no model of the processor" in run(*words, cwd=place).stdout
    write_profile(place / "p.toml", replace(FULL, drive=[]))
    assert "no drive for sorted runs" in run(*words, cwd=place).stdout


@pytest.mark.parametrize("words", PLANS, ids=" ".join)
def test_the_predicted_bytes_are_those_that_are_moved(run: Run, place: Path, words: tuple[str, ...]) -> None:
    """Also at the ends: 120001 records end in the middle of a block."""
    assert run("gen", "-a", "120001", "in", cwd=place).returncode == 0
    if "--record-size" in words:
        (place / "in").write_bytes((place / "in").read_bytes()[:1_234_510])
    found = plan_of(run, place, "--profile", "p.toml", *words)["here"]["prediction"]
    done = run("sort", "--no-profile", *words, "--stats", "s.json", "in", "-o", "out", "--progress", "none", cwd=place)
    assert done.returncode == 0, done.stderr
    stats = json.loads((place / "s.json").read_text())
    assert stats["bytes_read"] + stats["bytes_written"] == found["bytes_moved"]
    assert stats["peak_temp_bytes"] == found["temp_bytes"]


def test_several_inputs_move_what_was_predicted(run: Run, place: Path) -> None:
    for name, records in (("one", 33_333), ("two", 1), ("three", 77_777)):
        assert run("gen", "-a", str(records), name, cwd=place).returncode == 0
    words = ("--memory", "2MiB", "--no-profile", "one", "two", "three", "-o", "out")
    plan = json.loads(run("plan", "sort", "--json", *words, cwd=place).stdout)
    assert run("sort", *words, "--stats", "s.json", cwd=place).returncode == 0
    stats = json.loads((place / "s.json").read_text())
    assert (stats["bytes_read"], stats["bytes_written"]) == (plan["bytes_read"], plan["bytes_written"])


def test_run_records_set_the_size_of_runs(run: Run, place: Path) -> None:
    words = ("--memory", "8MiB", "--no-profile")
    plain = plan_of(run, place, *words)
    plan = plan_of(run, place, *words, "--run-records", "7000")
    assert 6000 < plan["run_records"] <= 7000 < plain["run_records"]  # whole units of the input
    assert plan["runs"] > plain["runs"]
    for more in ((), ("--run-records", "7000"), ("--run-records", "7000", "--merge-threads", "1"), ("--merge-threads", "3")):
        assert run("sort", *words, *more, "in", "-o", "out", "--stats", "s.json", cwd=place).returncode == 0
        stats = json.loads((place / "s.json").read_text())
        assert stats["runs"] == (plan if "7000" in more else plain)["runs"]
        written = (place / "out").read_bytes()
        assert written == (place / "first").read_bytes() if more else (place / "first").write_bytes(written)
    assert plan_of(run, place, "--memory", "64MiB", "--run-records", "7000")["shape"] == "one pass"
    with (place / "in").open("rb") as stream:
        piped = run("sort", *words, "--run-records", "7000", "-", "-o", "piped", cwd=place, stdin=stream)
    assert piped.returncode == 0, piped.stderr
    assert (place / "piped").read_bytes() == (place / "first").read_bytes()


def test_run_records_that_do_not_fit_are_refused_in_one_line(run: Run, place: Path) -> None:
    for words, reason in (
        (("--run-records", "50000000"), "do not fit 8 MiB of memory: give at most "),
        (("--run-records", "4"), "are more than 16384 runs: give at least "),
        (("--run-records", "2"), "give at least 3"),
        (("--run-records", "x"), "not a whole number"),
        (("--merge-threads", "0"), "--merge-threads: give a number from 1 to "),
        (("--resumable", "--run-records", "9000"), "cannot be combined with --resumable"),
    ):
        done = run("sort", "--memory", "8MiB", "--no-profile", *words, "in", "-o", "out", cwd=place)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), words
        assert reason in done.stderr, done.stderr
    most = run("sort", "--memory", "8MiB", "--no-profile", "--run-records", "50000000", "in", "-o", "out", cwd=place).stderr
    assert plan_of(run, place, "--memory", "8MiB", "--no-profile", "--run-records", most.split()[-1])["runs"] > 1
    least = run("sort", "--memory", "8MiB", "--no-profile", "--run-records", "4", "in", "-o", "out", cwd=place).stderr
    assert plan_of(run, place, "--memory", "8MiB", "--no-profile", "--run-records", least.split()[-1])["runs"] > 1
    inplace = run("inplace", "--run-records", "9", "in", cwd=place)
    assert inplace.returncode == 2


def test_runs_of_a_profile_that_do_not_fit_this_memory_are_left_to_the_plan(run: Run, place: Path) -> None:
    setting = [Setting("--run-records", "39936", "of a search with more memory"), Setting("--threads", "1", "as well")]
    write_profile(place / "p.toml", replace(FULL, setting=setting))
    assert sources(plan_of(run, place, "--profile", "p.toml", "--memory", "11MiB"))["--run-records"] == ("39936", "profile")
    words = ("--profile", "p.toml", "--memory", "4MiB")
    found = sources(plan_of(run, place, *words))
    assert found["--run-records"][1] == "default"
    assert found["--threads"] == ("1", "profile")
    done = run("sort", *words, "in", "-o", "out", cwd=place)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert "do not fit 4 MiB of memory" in done.stderr


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 987_654)  # of no one in the list of users
    with pytest.raises(UsageError, match="no home directory; set XDG_CONFIG_HOME or HOME"):
        default_path()
    monkeypatch.setenv("XDG_CONFIG_HOME", "/etc/sorting")
    assert default_path() == Path("/etc/sorting/ecosort/profile.toml")
