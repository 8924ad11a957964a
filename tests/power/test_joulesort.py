"""`joulesort`: a whole entry by one command, with the real sorter and a toy meter; every size here is a rehearsal."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import forked
import pytest
from capabilities import only_in_soak
from ecosort_power.errors import RunError, UsageError
from ecosort_power.evaluate import least_seconds
from ecosort_power.joulesort.classes import parse_class
from ecosort_power.joulesort.length import (
    FIRST,
    MARGIN,
    MOST_SHARE,
    Enough,
    Stopwatch,
    enough_for,
    margin_of,
    stopwatch_in,
    with_spread,
)
from ecosort_power.joulesort.state import TRIAL, alone_in, locked
from ecosort_power.reading import Capabilities, Scope
from sort_support import slowed

from .measured import ATTEMPTS, Measured, only_gaps
from .support import BUILD, Cli, cli_env, load, toy_meter, wait_for

RECORDS = 200_000  # two passes of 16 MiB
METER = toy_meter("counter", "0.02", settings="update=0.02")
QUICK = ("--idle", "0.3", "--pause", "0.1", "--settle", "0")
ENVIRONMENT = {"ECOSORT_PROGRAM": str(BUILD / "ecosort")}


def slow(directory: Path) -> dict[str, str]:
    """With a program whose sorts are long enough for METER, which needs runs of 0.06 s, on any machine."""
    return {"ECOSORT_PROGRAM": str(slowed(BUILD / "ecosort", directory, 0.2))}


@pytest.mark.parametrize(
    ("records", "names"),
    [
        (10**8, ("10^8", "1e8", "100M", "100000000")),
        (10**9, ("10^9", "1e9", "1G", "1000000000")),
        (10**10, ("10^10", "1e10", "10G", "10000000000")),
        (10**12, ("10^12", "1e12", "1T", "1000000000000")),
    ],
)
def test_a_class_has_few_names(records: int, names: tuple[str, ...]) -> None:
    assert [parse_class(n) for n in names] == [records] * len(names)


@pytest.mark.parametrize(
    "text",
    ["", "10^7", "1e11", "100", "1M", "10GB", "1 e8", "10**8", "1e8.0", "-1e8", "0x5f5e100", "100m", "1E8", "1g", " 1e8", "1t"],
)
def test_anything_else_is_no_class(text: str) -> None:
    with pytest.raises(UsageError, match=r"10\^8 .*100M"):
        parse_class(text)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "say which class"),
        (["10GB"], "is no class"),
        (["1e8", "--runs", "3"], "at least 5 runs"),
        (["--records", "1000", "--", "-o", "x"], "leave -o to joulesort"),
        (["--records", "1000", "--", "--compress=auto"], "leave --compress=auto out: the runs of an entry are never compressed"),
        (["--records", "1000", "--", "--memory", "1byte"], "--memory"),
        (["--records", "1000", "--category", "best"], "daytona"),
    ],
)
def test_what_cannot_be_is_one_clear_line_and_makes_nothing(cli: Cli, tmp_path: Path, words: list[str], text: str) -> None:
    done = cli("joulesort", "--meter", METER, "--dir", "e", *words, env=ENVIRONMENT)
    assert done.returncode == 2
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "e/data").exists() or not list((tmp_path / "e/data").iterdir())


def test_a_class_that_does_not_fit_is_refused_before_anything_is_generated(cli: Cli, ecosort: Path, tmp_path: Path) -> None:
    """10^12 records are 100 TB; no one runs the tests on so large a drive."""
    for size, data in (("1e12", "100000.0 GB for the input input.dat"), ("1e10", "1000.0 GB for the input skewed.dat")):
        if size == "1e10" and shutil.disk_usage(tmp_path).free > 4e12:
            continue
        done = cli("joulesort", size, "--meter", METER, "--dir", size, env=ENVIRONMENT)
        assert done.returncode == 3
        assert re.search(r"the class 10\^1[02] does not fit: .* GB free; nothing was generated\. .*--data", done.stderr)
        assert data in done.stderr
        assert done.stderr.count("\n") == 1
        assert list(tmp_path.iterdir()) == []  # nothing is left that would prevent the same command


def test_after_a_refusal_for_lack_of_space_the_same_command_goes_on(ecosort: Path, cli: Cli, tmp_path: Path) -> None:
    """A directory as earlier versions left it, with the questions and an empty directory of data, is no stranger's either."""
    (tmp_path / "e/data").mkdir(parents=True)
    (tmp_path / "e/lock").touch()
    (tmp_path / "e/submission.toml").write_text('hardware = "one board"\n')
    words = ("joulesort", "--records", str(10**13), "--meter", METER, "--dir", "e", *QUICK)
    (tmp_path / "e/data/trial-of-length-999999999-x").mkdir()  # of one that was killed
    first, second = cli(*words, env=ENVIRONMENT), cli(*words, env=ENVIRONMENT)
    assert (first.returncode, second.returncode) == (3, 3)
    assert "does not fit" in first.stderr
    assert "does not fit" in second.stderr
    assert (tmp_path / "e/submission.toml").read_text() == 'hardware = "one board"\n'
    (tmp_path / "e/notes.txt").touch()
    assert "is not empty (notes.txt)" in cli(*words, env=ENVIRONMENT).stderr


def test_a_sort_too_short_for_the_meter_is_refused_with_a_number_that_is_enough(ecosort: Path, cli: Cli, tmp_path: Path) -> None:
    words = ("joulesort", "--meter", "sim:#period=0.1", "--dir", "e", "--runs", "1", "--category", "indy", *QUICK, "--records")
    place = tmp_path.with_name(f"{tmp_path.name}-program")
    place.mkdir()
    environment = {"ECOSORT_PROGRAM": str(slowed(ecosort, place, 0.0, seconds_per_mb=0.2))}
    said = r"a sort of [\d ]+ records is too short for meter sim, which needs runs of 1 s .*--records (\d+) or more"
    records = 2000
    while (done := cli(*words, str(records), env=environment)).returncode == 2:
        found = re.search(said, done.stderr)
        assert found is not None, done.stderr
        assert "nothing was made" in done.stderr
        assert list(tmp_path.iterdir()) == []
        assert records < int(found[1]) < 1_000_000
        records = 2 * int(found[1])  # a machine that is busy with tests now may be faster later
    assert records > 2000
    assert "the run is too short" not in done.stdout + done.stderr
    assert "1 s: " not in done.stderr
    assert load(tmp_path / "e/result/runs/01/run.json")["marks"]["synced_s"] > 0


@only_in_soak
def test_as_many_records_as_the_meter_needs(ecosort: Path, cli: Cli, tmp_path: Path) -> None:
    """Killed when they are chosen, it goes on with as many."""
    meter = toy_meter("counter", "0.002", settings="update=0.002")
    words = ("joulesort", "--meter", meter, "--records", "auto", "--runs", "1", "--category", "indy", *QUICK)
    state = tmp_path / "joulesort-rehearsal-auto-indy/state.json"
    with (tmp_path / "log").open("wb") as log:
        program = [sys.executable, "-m", "ecosort_power", *words]
        child = subprocess.Popen(program, cwd=tmp_path, env=cli_env(**ENVIRONMENT), stdout=log, stderr=log)
    wait_for(state.exists, 60)
    child.kill()
    child.wait(60)
    said = (tmp_path / "log").read_text()
    found = re.search(r"rehearsing with ([\d ]+) records", said)
    assert found is not None, said
    assert said.count("finding out") == 1
    records = int(found[1].replace(" ", ""))
    assert 10**6 <= records <= 10**8
    again = cli(*words, env=ENVIRONMENT)
    assert "finding out" not in again.stderr
    assert load(state)["request"]["records"] == records
    assert load(state.parent / "result/session.json")["records"] == records


def test_what_a_killed_trial_left_is_removed(tmp_path: Path) -> None:
    dead, alive = tmp_path / f"{TRIAL}999999999-x", tmp_path / f"{TRIAL}{os.getpid()}-x"
    for path in (dead, alive):
        path.mkdir()
        (path / "input.dat").touch()
    stopwatch_in(tmp_path, [])
    assert list(tmp_path.iterdir()) == [alive]


def sorts_at(rate: float, fixed: float, room: float = 1e12) -> Stopwatch:
    """A machine that sorts so many records per second, after so many seconds."""
    return lambda n, limit: min(fixed + n / rate, limit) if n <= room else None


@pytest.mark.parametrize("rate", [1e5, 3e6, 2e8])
@pytest.mark.parametrize("fixed", [0.0, 0.2])
@pytest.mark.parametrize("wanted", [0.05, 1.0, 10.0, 600.0])
@pytest.mark.parametrize("records", [1, 10**5, 10**6, 10**8, 10**10])
def test_a_number_that_is_named_is_enough_and_not_far_more(rate: float, fixed: float, wanted: float, records: int) -> None:
    found = enough_for(wanted, records, sorts_at(rate, fixed))
    takes = fixed + records / rate
    if found is None:
        assert takes >= wanted
        return
    assert takes < wanted * MARGIN
    assert fixed + found.records / rate >= wanted
    if found.records > FIRST:
        assert found.records / rate <= 4 * wanted
    assert enough_for(wanted, found.records, sorts_at(rate, fixed)) is None


def test_the_margin_grows_with_what_the_lengths_of_the_sorts_differ_by() -> None:
    assert margin_of([10.0]) == margin_of([10.0, 10.0, 10.0]) == MARGIN
    assert margin_of([9.0, 10.0, 11.0]) == pytest.approx(1 / (1 - 4.303 * 0.1 * (4 / 3) ** 0.5))
    assert margin_of([2.0, 10.0, 30.0]) == pytest.approx(1 / (1 - MOST_SHARE))


@pytest.mark.parametrize(("spread", "least"), [(0.02, 0.97), (0.1, 0.97), (0.15, 0.95)])
def test_runs_of_a_busy_machine_are_long_enough_for_the_meter(spread: float, least: float) -> None:
    """The lengths of sorts differ by a normal share; `auto` aims so high that hardly any run is too short."""
    rng = random.Random(4)
    sorts: Stopwatch = lambda n, limit: min(n / 1e6 * max(rng.gauss(1.0, spread), 0.2), limit)  # noqa: E731
    long_enough = 0
    for _ in range(400):
        first = enough_for(10.0, 0, sorts)
        assert first is not None
        chosen = with_spread(10.0, first, sorts)
        long_enough += sum(chosen.records / 1e6 * rng.gauss(1.0, spread) >= 10.0 for _ in range(5))
    assert long_enough / 2000 >= least


def test_a_number_that_is_clearly_enough_stays() -> None:
    assert with_spread(10.0, Enough(20_000_000, 10**6, 1.0), sorts_at(1e6, 0.0)).records == 20_000_000
    with pytest.raises(RunError, match="no room for a sort"):
        with_spread(10.0, Enough(20_000_000, 10**6, 1.0), sorts_at(1e6, 0.0, room=1e6))


def test_without_room_it_is_said() -> None:
    with pytest.raises(RunError, match="no room for a sort that takes 60 s"):
        enough_for(60.0, 10**5, sorts_at(1e6, 0.0, room=1e7))


@pytest.mark.parametrize(
    ("capabilities", "seconds"),
    [
        (Capabilities("a plug", Scope.WALL, 1.0), 10.0),
        (Capabilities("a slow one", Scope.WALL, 1.0, update_s=60.0), 600.0),
        (Capabilities("a counter", Scope.WALL, 1.0, power=None, counter=True, update_s=5.0), 15.0),
        (Capabilities("a coarse one", Scope.WALL, 1.0, power=None, counter=True, quantum_j=3600.0), 1440.0),
        (Capabilities("a plug with a coarse one", Scope.WALL, 1.0, counter=True, quantum_j=3600.0), 10.0),
        (Capabilities("a plug with a fine one", Scope.WALL, 1.0, counter=True, quantum_j=0.1), 3.0),
    ],
)
def test_the_shortest_run_of_a_meter(capabilities: Capabilities, seconds: float) -> None:
    assert least_seconds(capabilities) == seconds


def test_a_meter_that_cannot_be_opened_is_said_before_anything_is_made(ecosort: Path, cli: Cli, tmp_path: Path) -> None:
    done = cli("joulesort", "--records", "1000", "--meter", "exec:/nonexistent", *QUICK, env=ENVIRONMENT)
    assert done.returncode == 3
    assert "/nonexistent is not installed" in done.stderr
    assert list(tmp_path.iterdir()) == []


def words_of_entry(*more: str) -> list[str]:
    words = ["joulesort", "--records", str(RECORDS), "--runs", "2", "--meter", METER, "--dir", "e", *QUICK, "--ambient", "22.5"]
    return [*words, *more, "--", "--memory", "16MiB"]


def call(directory: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return forked.run("ecosort_power", words_of_entry(*more), cwd=directory, env=cli_env(**slow(directory)))


def interrupted_entry(directory: Path, mark: pytest.Mark) -> Measured | None:
    """SIGKILL while the input is made, in the second run, and before the skewed run; then the same command to its end. A busy
    machine makes gaps in the readings: those runs are measured again, as a person would have them measured."""
    if not (BUILD / "ecosort").exists():
        return None
    entry = directory / "e"
    moments: list[Callable[[], bool]] = [
        lambda: (entry / "data/input.dat.begun").exists() or (entry / "data/input.dat").exists(),
        lambda: (entry / "result/runs/02/events.jsonl").exists(),
        lambda: (entry / "data/skewed.dat").exists() or (entry / "data/skewed.dat.begun").exists(),
    ]
    for i, moment in enumerate(moments):
        env, quiet = cli_env(**slow(directory)), subprocess.DEVNULL
        child = forked.Process("ecosort_power", words_of_entry(), cwd=directory, env=env, stdout=quiet, stderr=quiet)
        wait_for(moment, 60)
        child.kill()
        child.wait(60)
        if i == 1:
            shutil.copytree(entry / "result", directory / "before")
            (directory / "input").write_text(str((entry / "data/input.dat").stat().st_mtime_ns))
    done = call(directory)
    for _ in range(ATTEMPTS):
        if done.returncode != 1 or not only_gaps(entry / "result"):
            break
        done = call(directory, "--repeat-invalid")
    return Measured(directory, done)


@pytest.mark.measured(by=interrupted_entry)
def test_an_entry_that_is_killed_again_and_again_goes_on(cli: Cli, ecosort: Path, measured: Measured) -> None:
    done, entry = measured.done, measured.path / "e"
    assert done.returncode == 0, done.stdout + done.stderr
    assert str((entry / "data/input.dat").stat().st_mtime_ns) == (measured.path / "input").read_text()  # made once
    first, before = (p / "runs/01/run.json" for p in (entry / "result", measured.path / "before"))
    if "01.invalid-1" not in {p.name for p in (entry / "result/runs").iterdir()}:
        assert first.read_bytes() == before.read_bytes()
    assert (entry / "result/runs/02.interrupted-1").is_dir()
    for result in ("result", "skewed"):
        checked = cli("check", entry / result)
        assert "the seal holds" in checked.stdout
    assert "no defect" in done.stdout
    found = load(entry / "result/entry.json")
    session = load(entry / "result/session.json")
    assert found["generated"]["checksum"] == session["input_checksum"] == session["input_report"]["checksum"]
    assert found["skewed"]["problem"] is None
    assert found["skewed"]["seconds"] > 0
    assert found["skewed"]["seal"] == json.loads((entry / "skewed/seal.jsonl").read_text().splitlines()[-1])["hash"]


@pytest.mark.measured(by=interrupted_entry)
def test_another_room_temperature_does_not_get_into_a_sealed_entry(ecosort: Path, measured: Measured) -> None:
    again = call(measured.path, "--ambient", "18")
    assert "AMBIENT    stays 22.5 C, as was said when the entry was begun; to say 18 C begin another" in again.stdout
    assert "ambient temperature: 22.5 C" in (measured.path / "e/submission.md").read_text()


@pytest.mark.measured(by=interrupted_entry)
def test_the_submission_has_every_field_and_guesses_none(cli: Cli, ecosort: Path, measured: Measured) -> None:
    entry = measured.path / "e"
    text = (entry / "submission.md").read_text()
    version = subprocess.run([ecosort, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    for wanted in (
        "Category: Daytona",
        "algorithm: EcoSort, two passes: ",
        f"generator: {version}: {slow(measured.path)['ECOSORT_PROGRAM']} gen -a -c {RECORDS}",
        "ambient temperature: 22.5 C",
        "| read by a computer with a synchronised clock | ",
        "clock: ",
        "operating system: ",
        "exact command: `",
        f"| input | unsorted | {RECORDS} | ",
        f"| output of run 2 | in order | {RECORDS} | ",
        "a run on skewed keys (gensort -s) | kept | ",
        "power factor: MISSING",
        "complete hardware: MISSING",
        "meter calibrated: MISSING",
        "it is a rehearsal",
        "digest (SHA-256): ",
        f"-s -c {RECORDS}",
    ):
        assert wanted in text, wanted
    assert "would be number" not in text
    assert re.search(r"^- attempts set aside: .*\b02\.interrupted-1", text, re.MULTILINE)
    assert len(re.findall(r"^\| \d \| \d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d \| ", text, re.MULTILINE)) == 2
    assert "<h2>Skewed keys</h2>" in (entry / "submission.html").read_text()
    assert (entry / "figures/runs.pdf").exists()


@pytest.mark.measured(by=interrupted_entry)
def test_answers_are_filled_in_without_another_run(ecosort: Path, tmp_path: Path, measured: Measured) -> None:
    shutil.copytree(measured.path / "e/result", tmp_path / "e/result")
    for name in ("state.json", "submission.toml"):
        shutil.copy(measured.path / "e" / name, tmp_path / "e" / name)
    shutil.copytree(measured.path / "e/skewed", tmp_path / "e/skewed")
    state = (tmp_path / "e/state.json").read_text().replace(str(measured.path), str(tmp_path))
    (tmp_path / "e/state.json").write_text(state)
    (tmp_path / "e/submission.toml").write_text('hardware = "one board"\npower_factor = 0.93\n')
    seal = (tmp_path / "e/result/seal.jsonl").read_bytes()
    done = call(tmp_path)
    assert "measuring" not in done.stderr
    text = (tmp_path / "e/submission.md").read_text()
    assert "complete hardware: one board" in text
    assert "power factor: 0.93" in text
    assert (tmp_path / "e/result/seal.jsonl").read_bytes().startswith(seal)


@pytest.mark.measured(by=interrupted_entry)
def test_another_command_does_not_go_on_with_the_same_directory(ecosort: Path, measured: Measured) -> None:
    done = call(measured.path, "--category", "indy")
    assert done.returncode == 2
    assert "category was 'daytona' and is 'indy' now" in done.stderr


def test_two_at_once_are_kept_apart(tmp_path: Path) -> None:
    with locked(tmp_path / "e"), pytest.raises(UsageError, match="another joulesort works"), locked(tmp_path / "e"):
        pass


def test_two_at_once_do_not_sort_in_one_directory(tmp_path: Path) -> None:
    with alone_in(tmp_path), pytest.raises(UsageError, match="another joulesort sorts in"), alone_in(tmp_path):
        pass
    with alone_in(tmp_path):
        pass


@pytest.mark.parametrize("name", ["input.dat", "skewed.dat", "output.dat", "output.dat.begun"])
def test_files_that_were_there_before_the_entry_are_kept(ecosort: Path, cli: Cli, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("of somebody else")
    done = cli("joulesort", "--records", "1000", "--meter", "sim:", "--data", ".", "--dir", "e", *QUICK, env=ENVIRONMENT)
    assert done.returncode == 2
    assert f"{name} is there already" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "of somebody else"


def test_an_input_that_was_changed_is_not_sorted(ecosort: Path, tmp_path: Path, cli: Cli) -> None:
    words = ("joulesort", "--records", "20000", "--runs", "1", "--dir", "e", "--category", "indy", *QUICK)
    done = cli(*words, "--meter", METER, env=slow(tmp_path))
    assert (tmp_path / "e/result").exists(), done.stderr
    assert re.search(r"\n0\.002 GB of input, 0\.00\d+ GB with runs and output; sorts: 1; idle .*\ngenerating", done.stderr)
    shutil.rmtree(tmp_path / "e/result")
    path = tmp_path / "e/data/input.dat"
    data = bytearray(path.read_bytes())
    data[5] ^= 1
    path.write_bytes(data)
    done = cli(*words, "--meter", METER, env=slow(tmp_path))
    assert done.returncode == 3
    assert "input.dat was changed" in done.stderr


def test_ecosort_joulesort_is_the_same_command(ecosort: Path) -> None:
    env = cli_env(PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    done = subprocess.run([ecosort, "joulesort", "10GB", "--meter", "x:"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "'10GB' is no class of the benchmark" in done.stderr
