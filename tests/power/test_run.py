"""`ecosort-power run` with toy sorts and toy meters: results, failures, interruption."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ecosort_power.live import Display
from ecosort_power.meters.base import parse_spec
from ecosort_power.session import Measurement
from ecosort_power.store import Options, ResultDirectory

from .measured import Measured, copied, until_sound
from .support import BUILD, CHECK, PEERS, QUICK, Cli, HurriedClock, cli_env, fake_sort, load, toy_meter, wait_for


def known_joules(directory: Path, begin: float, end: float) -> float:
    """The true energy, from the log that the toy meter keeps of its own changes."""
    changes = [json.loads(line) for line in (directory / "truth.jsonl").read_text().splitlines()]
    total = 0.0
    for (t, watts), following in zip(changes, [*changes[1:], [float("inf"), 0.0]], strict=True):
        total += watts * max(0.0, min(end, following[0]) - max(begin, t))
    return total


COMPLETE = pytest.mark.measured(
    *("--meter", toy_meter(), *CHECK, "--runs", "2", "--input", "in", "--output", "out"),
    command=fake_sort(),
    files={"in": "input 1000"},
)


@COMPLETE
def test_two_runs_give_a_result_with_everything_in_it(measured: Measured) -> None:
    assert measured.done.returncode == 0, measured.done.stderr
    for text in ("records per joule (at the wall)", "instrument", "idle power", "run formation", "merge", "JouleSort", "CPU s"):
        assert text in measured.done.stdout
    for run in (measured.run(1), measured.run(2)):
        energy = run["energy"][0]
        truth = known_joules(measured.path, run["marks"]["start_s"], run["marks"]["synced_s"])
        stated = sum(energy["uncertainty"][k] for k in ("instrument_j", "quantum_j", "gaps_j", "timing_j"))
        assert abs(energy["joules"] - truth) <= stated + 2 * energy["uncertainty"]["sampling_j"]
        assert sum(p["joules"] or 0 for p in energy["phases"]) == pytest.approx(energy["joules"])
        assert run["validation"]["content_compared"]
        assert run["records"] == 1000
        assert run["harness_cpu_s"] > 0
    session = load(measured.result / "session.json")
    assert session["input_checksum"] == "3e8"
    assert session["idle_before_w"]["exec"] == pytest.approx(10.0, abs=0.5)
    assert session["idle_after_w"]["exec"] == pytest.approx(10.0, abs=0.5)
    summary = load(measured.result / "summary.json")
    assert summary["runs_valid"] == 2
    assert summary["energy"]["records_per_joule"]["sd"] is not None
    assert (measured.result / "runs/01/readings.exec.jsonl").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "row"),
    [(["lines"], "{}\n"), (["csv", "--by", "1", "--no-header"], "{},x\n"), (["jsonl", "--by", "n"], '{{"n": {}}}\n')],
)
def test_a_sort_of_rows_is_counted_and_split_and_not_taken_for_records(
    cli: Cli, ecosort: Path, tmp_path: Path, words: list[str], row: str
) -> None:
    """The validator of records cannot check it: where no other one is named, the result says that nothing was validated."""
    (tmp_path / "in").write_text("".join(row.format(1000 - i) for i in range(900)))
    command = [ecosort, words[0], "in", "-o", "out", *words[1:]]
    quick = ("--time-only", "--runs", "1", "--idle", "0", "--pause", "0", "--settle", "0", "--input", "in")
    done = cli("run", *quick, "--out", "r", "--", *command)
    assert done.returncode == 0, done.stderr
    run = load(tmp_path / "r/runs/01/run.json")
    assert run["records"] == 900
    assert "run_formation" in [s["name"] for s in run["spans"]]
    assert run["validation"] is None
    assert "unvalidated" in {d["code"] for d in run["defects"]}
    (tmp_path / "check.py").write_text("print('Records: 900\\nSUCCESS')")
    named = ("--check-command", f"{sys.executable} check.py", "--input-checksum", "1")
    done = cli("run", *quick, *named, "--out", "s", "--", *command)
    assert load(tmp_path / "s/runs/01/run.json")["validation"]["report"]["records"] == 900, done.stderr


@pytest.mark.measured("--meter", toy_meter("counter"), "--no-validate", "--runs", "1", command=fake_sort())
def test_a_counter_is_preferred(measured: Measured) -> None:
    assert measured.done.returncode == 0, measured.done.stderr
    run = measured.run()
    energy = run["energy"][0]
    # With or without power values at the ends: which interval is smaller depends on where the ends lie between two moves.
    assert energy["source"] in ("counter", "counter and power")
    truth = known_joules(measured.path, run["marks"]["start_s"], run["marks"]["synced_s"])
    assert energy["joules"] == pytest.approx(truth, rel=0.03)


def trouble(mode: str, *more: str, sound: bool = False) -> pytest.MarkDecorator:
    """A run with a toy meter that goes wrong during the toy sort. That it sticks shows only beside a processor that works."""
    words = ("--meter", toy_meter(mode), "--no-validate", "--runs", "1", *more)
    work = ("--seconds", "0.9,0.3", "--hard") if mode == "sticks" else ("--seconds", "1.2,0.5")
    return pytest.mark.measured(*words, command=fake_sort(*work), sound=sound)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(code, marks=trouble(mode), id=mode)
        for mode, code in [
            ("sticks", "stale"),
            ("saturates", "saturated"),
            ("nan", "gap"),
            ("zero", "gap"),
            ("gaps", "gap"),
            ("garbage", "gap"),
        ]
    ],
)
def test_a_bad_meter_makes_the_run_invalid_and_raw_data_stay(cli: Cli, measured: Measured, code: str) -> None:
    assert measured.done.returncode == 1, measured.done.stdout + measured.done.stderr
    energy = measured.run()["energy"][0]
    assert energy["joules"] is None
    assert code in {d["code"] for d in energy["defects"] if d["fatal"]}
    assert "INVALID" in measured.done.stdout
    assert (measured.result / "runs/01/readings.exec.jsonl").stat().st_size > 500
    assert load(measured.result / "summary.json")["energy"] is None
    assert cli("check", measured.result).returncode == 1


@pytest.mark.measured(
    *("--meter", toy_meter("dies", settings="timeout=2"), "--no-validate", "--runs", "1"),
    command=fake_sort("--seconds", "60,60"),
    sound=False,
)
def test_a_meter_that_dies_stops_the_run(measured: Measured) -> None:
    assert measured.done.returncode == 3
    assert "the toy meter is broken" in measured.done.stderr
    assert "r keeps all readings; continue with: ecosort-power run --continue r" in measured.done.stderr
    assert (measured.result / "runs/01/failure.txt").exists()
    assert (measured.result / "runs/01/readings.exec.jsonl").stat().st_size > 100


@pytest.mark.measured(
    *("--meter", "exec:/nonexistent", "--time-only", "--no-validate", "--runs", "1"), command=fake_sort("--seconds", "0.2,0.1")
)
def test_with_time_only_a_missing_meter_is_said_and_time_is_measured(cli: Cli, measured: Measured) -> None:
    assert measured.done.returncode == 0, measured.done.stderr
    run = measured.run()
    assert run["energy"] is None
    assert "/nonexistent" in run["energy_reason"]
    assert "no energy" in measured.done.stdout
    assert cli("check", measured.result).returncode == 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, marks=trouble(mode, "--time-only"), id=mode)
        for mode, text in [("sticks", "stuck"), ("dies", "is broken"), ("nan", "have no readings")]
    ],
)
def test_with_time_only_a_bad_meter_takes_the_energy_away_and_not_the_time(measured: Measured, text: str) -> None:
    assert measured.done.returncode == 0, measured.done.stderr
    run = measured.run()
    assert run["energy"] is None
    assert text in run["energy_reason"]
    assert (measured.result / "runs/01/readings.exec.jsonl").stat().st_size > 500
    summary = load(measured.result / "summary.json")
    assert summary["energy"] is None
    assert text in summary["energy_reason"]


@pytest.mark.measured(
    *("--meter", f"exec:{sys.executable} {PEERS / 'load_meter.py'}", "--probe", "6", "--no-validate", "--runs", "1"),
    command=fake_sort(),
)
def test_the_lag_is_probed_before_the_runs(measured: Measured) -> None:
    assert measured.done.returncode == 0, measured.done.stdout + measured.done.stderr
    session = load(measured.result / "session.json")
    assert float(session["probed"]["exec"]["lag"]) < 1
    capabilities = session["meters"][0]["capabilities"]
    assert capabilities["lag_s"] == float(session["probed"]["exec"]["lag"])
    assert "lag-unknown" not in (measured.result / "runs/01/run.json").read_text()


def watch_live_line(directory: Path, mark: pytest.Mark) -> Measured:
    """Returns what a terminal of 100 columns was sent, as if it were standard output; without its control sequences."""
    return until_sound(directory, watch_once)


def watch_once(directory: Path) -> Measured:
    words = [sys.executable, "-m", "ecosort_power", "run", "--meter", toy_meter(), *QUICK, "--no-validate", "--runs", "1"]
    master, slave = pty.openpty()
    env = {**cli_env(), "TERM": "xterm", "COLUMNS": "100"}
    harness = subprocess.Popen(
        [*words, "--out", "r", "--", *fake_sort("--seconds", "1.2,1.0")],
        cwd=directory,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=slave,
    )
    os.close(slave)
    seen = b""
    with contextlib.suppress(OSError):  # the terminal ends with the program
        while data := os.read(master, 4096):
            seen += data
    os.close(master)
    text = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", seen).decode()
    return Measured(directory, subprocess.CompletedProcess(words, harness.wait(60), text, ""))


@pytest.mark.measured(by=watch_live_line)
def test_the_live_line_shows_run_watts_and_joules(measured: Measured) -> None:
    shown = measured.done.stdout
    assert measured.done.returncode == 0, shown
    lines = re.findall(r"run 1/1   (run formation|merge)   0:0\d   (\d+\.\d) W   (\d+) J", shown)
    assert {"run formation", "merge"} == {phase for phase, _, _ in lines}, shown
    joules = [int(j) for _, _, j in lines]
    assert joules == sorted(joules)
    energy = measured.run()["energy"][0]["joules"]
    assert 0.5 * energy < joules[-1] < 1.2 * energy
    assert {float(w) for _, w, _ in lines} <= {10.0, 22.0, 30.0}


def test_an_output_that_is_a_pipe_is_not_removed(cli: Cli, tmp_path: Path) -> None:
    """Neither where it is one before the runs, nor where it became one meanwhile."""
    words = ("run", "--time-only", *QUICK, "--idle", "0", "--pause", "0", "--no-validate", "--output", "out", "--runs", "2")
    done = cli(*words, "--prepare", "mkfifo out", "--out", "r", "--", "true")
    assert "out: it is no regular file, and is not replaced" in done.stderr
    node = (tmp_path / "out").lstat()
    again = cli(*words, "--out", "r2", "--", "true")
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert "no regular file" in again.stderr
    assert (tmp_path / "out").lstat() == node
    (tmp_path / "out").unlink()
    (tmp_path / "out").symlink_to("old")
    assert cli(*words, "--out", "r3", "--", "sh", "-c", "test ! -e out && touch out").returncode in (0, 1)
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "old").exists()


UNMETERED = ("run", "--time-only", "--no-validate", "--idle", "0", "--pause", "0", "--settle", "0", "--out", "r")


@pytest.mark.parametrize(
    ("options", "words", "why"),
    [
        ("", "{ecosort} lines words -o words", "one file"),
        ("", "{ecosort} lines other words -o link", "one file"),
        ("--input other", "{ecosort} lines words other -o words", "one file"),
        ("", "{ecosort} sort --record-size 2 --key 0:1 words -o hard", "one file"),
        ("--output words", "{ecosort} inplace --record-size 2 --key 0:1 words", "one file"),
        ("--output words", "{ecosort} lines --check words", "COMMAND may read it"),
        ("--input hard --output words", "true", "one file"),
        ("--output words", "sort hard -o words", "COMMAND may read it"),
        ("--output words", "sort --files0-from=words -owords", "COMMAND may read it"),
        ("--output words", "sh -c 'sort words | sponge words'", "COMMAND may read it"),
    ],
)
def test_a_file_that_the_command_reads_is_not_removed(
    cli: Cli, ecosort: Path, tmp_path: Path, options: str, words: str, why: str
) -> None:
    """It was, before the first run, unless --input named it as well: the only copy, where no one had another."""
    (tmp_path / "words").write_text("b\na\n")
    (tmp_path / "other").write_text("c\n")
    (tmp_path / "link").symlink_to("words")
    (tmp_path / "hard").hardlink_to(tmp_path / "words")
    done = cli(*UNMETERED, *options.split(), "--", *shlex.split(words.format(ecosort=ecosort)))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert why in done.stderr
    assert (tmp_path / "words").read_text() == "b\na\n"
    assert not (tmp_path / "r").exists()


def test_one_run_sorts_a_file_in_place(cli: Cli, ecosort: Path, tmp_path: Path) -> None:
    """Its file was removed before the run, which then had no input."""
    (tmp_path / "words").write_text("b\na\n")
    done = cli(*UNMETERED, "--runs", "1", "--", ecosort, "lines", "words", "-o", "words")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "words").read_text() == "a\nb\n"


def test_auto_without_any_meter_says_why(cli: Cli, tmp_path: Path) -> None:
    done = cli("run", "--meter", "auto", "--time-only", *QUICK, "--no-validate", "--runs", "1", "--out", "r", "--", "true")
    assert done.returncode == 0, done.stderr
    reason = load(tmp_path / "r/runs/01/run.json")["energy_reason"]
    if reason is not None:  # this machine has none
        assert "rapl" in reason
        assert "ecosort-power meters" in reason


def test_a_meter_that_cannot_be_opened_is_an_error(cli: Cli, tmp_path: Path) -> None:
    done = cli("run", "--meter", "exec:/nonexistent/x", *QUICK, "--out", "r", "--", "true")
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "not installed" in done.stderr
    assert list(tmp_path.iterdir()) == []


SIDE_BY_SIDE = ("--meter", "package=" + toy_meter(settings="scope=package"), "--meter", "wall=" + toy_meter())


@pytest.mark.measured(*SIDE_BY_SIDE, "--no-validate", "--runs", "1", command=fake_sort())
def test_several_meters_are_kept_side_by_side_and_the_widest_is_the_headline(measured: Measured) -> None:
    assert measured.done.returncode == 0, measured.done.stderr
    assert load(measured.result / "session.json")["headline"] == "wall"
    assert "CPU PACKAGE ONLY" in measured.done.stdout
    assert {e["meter"] for e in measured.run()["energy"]} == {"wall", "package"}


SECOND = toy_meter(settings="scope=psu,timeout=9")
SUPPLIES = ("--meter", "a=" + toy_meter(settings="scope=psu"), "--meter", "b=" + SECOND, "--sum")


@pytest.mark.measured(*SUPPLIES, "--no-validate", "--runs", "1", command=fake_sort())
def test_power_supplies_are_added(measured: Measured) -> None:
    assert measured.done.returncode == 0, measured.done.stderr
    energy = {e["meter"]: e["joules"] for e in measured.run()["energy"]}
    assert energy["a+b"] == pytest.approx(energy["a"] + energy["b"])
    assert load(measured.result / "session.json")["headline"] == "a+b"
    assert "(power supplies)" in measured.done.stdout


def test_one_supply_is_not_added_to_itself(cli: Cli) -> None:
    done = cli("run", "--meter", "sim:", "--meter", "b=sim:", "--sum", *QUICK, "--out", "r", "--", "true")
    assert (done.returncode, "named twice" in done.stderr) == (2, True), done.stderr


def test_supplies_and_wall_are_not_added(cli: Cli) -> None:
    meters = ["--meter", "a=" + toy_meter(settings="scope=psu"), "--meter", "b=" + toy_meter(), "--sum"]
    done = cli("run", *meters, *QUICK, "--out", "r", "--", "true")
    assert done.returncode == 2
    assert "one scope" in done.stderr


@pytest.mark.measured("--meter", toy_meter(settings="scope=package"), "--no-validate", "--runs", "1", command=fake_sort())
def test_package_only_is_labelled_and_not_compared(measured: Measured) -> None:
    assert "(CPU PACKAGE ONLY)" in measured.done.stdout
    assert "not compared" in measured.done.stdout


def rejected(*arguments: str) -> pytest.MarkDecorator:
    """A run whose output or count the validation rejects."""
    words = ("--meter", toy_meter(), *CHECK, "--runs", "1", "--input", "in", "--output", "out")
    command = fake_sort("--seconds", "0.9,0.5", *arguments)
    return pytest.mark.measured(*words, command=command, files={"in": "input 1000"}, sound=False)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("not valid", marks=rejected("--bad-output"), id="bad output"),
        pytest.param("999 records, the input", marks=rejected("--records", "999"), id="lost record"),
    ],
)
def test_an_output_that_is_not_valid_makes_the_run_invalid(measured: Measured, text: str) -> None:
    assert measured.done.returncode == 1
    assert text in measured.done.stdout


LOOKS_FOR_OLD_OUTPUT = "import time, os; assert not os.path.exists('out'); time.sleep(0.8)"


@pytest.mark.measured(
    *("--meter", toy_meter(), *CHECK, "--runs", "1", "--output", "out"),
    command=[sys.executable, "-c", LOOKS_FOR_OLD_OUTPUT, "-o", "out"],
    files={"out": "sorted 5"},
    sound=False,
)
def test_the_old_output_is_removed_before_the_run(measured: Measured) -> None:
    assert measured.done.returncode == 1
    assert "left no output" in measured.done.stdout


@pytest.mark.measured(
    *("--meter", toy_meter(), "--no-validate", "--runs", "3"),
    command=fake_sort("--seconds", "0.1,0.1", "--exit", "3"),
    sound=False,
)
def test_a_command_that_fails_is_reported_with_its_last_words(measured: Measured) -> None:
    assert measured.done.returncode == 3
    assert "exit code 3: the toy sort fails as it should" in measured.done.stderr
    assert not (measured.result / "runs/02").exists()


# A continued measurement must leave these as they are: the first run, and the idle power from before it.
FINISHED = ("runs/01/run.json", "runs/01/readings.exec.jsonl", "idle-before.exec.jsonl")


def kill_and_continue(directory: Path, mark: pytest.Mark) -> Measured:
    return until_sound(directory, kill_and_continue_once)


def kill_and_continue_once(directory: Path) -> Measured:
    """Two runs; the harness gets SIGKILL in the second, then continues. What was finished by then is kept beside."""
    program = [sys.executable, "-m", "ecosort_power", "run"]
    words = [*program, "--meter", toy_meter(), *QUICK, "--no-validate", "--runs", "2", "--out", "r", "--", *fake_sort()]
    with (directory / "log").open("wb") as log:
        harness = subprocess.Popen(words, cwd=directory, env=cli_env(), stdout=log, stderr=log)
    wait_for(lambda: (directory / "r/runs/02/events.jsonl").exists(), 90)
    harness.send_signal(signal.SIGKILL)
    harness.wait(60)
    assert not (directory / "r/runs/02/run.json").exists()
    subprocess.run(["cp", "-a", "r", "before"], cwd=directory, check=True)
    (directory / "phase").unlink(missing_ok=True)
    again = [*program, "--continue", "r"]
    done = subprocess.run(again, cwd=directory, env=cli_env(), capture_output=True, text=True, timeout=120, check=False)
    return Measured(directory, done)


@pytest.mark.measured(by=kill_and_continue)
def test_an_interrupted_measurement_goes_on_where_it_was(cli: Cli, measured: Measured) -> None:
    assert measured.done.returncode == 0, measured.done.stdout + measured.done.stderr
    for name in FINISHED:
        assert (measured.result / name).read_bytes() == (measured.path / "before" / name).read_bytes()
    before = load(measured.path / "before/session.json")["idle_before_w"]
    assert load(measured.result / "session.json")["idle_before_w"] == before
    assert (measured.result / "runs/02.interrupted-1/readings.exec.jsonl").stat().st_size > 0
    assert load(measured.result / "summary.json")["runs_valid"] == 2
    checked = cli("check", measured.result)
    assert "DEFECT [unvalidated]" in checked.stdout
    assert checked.stdout.count("DEFECT") == 2, checked.stdout  # one per run, and no other
    assert "the seal holds" in checked.stdout
    moved = [json.loads(line) for line in (measured.result / "seal.jsonl").read_text().splitlines()]
    assert [(e["path"], e["to"]) for e in moved if e["what"] == "moved"] == [("runs/02", "runs/02.interrupted-1")]
    assert (measured.result / "seal.jsonl").read_bytes().startswith((measured.path / "before/seal.jsonl").read_bytes())


@pytest.mark.parametrize("words", [["--runs", "9"], ["--cold"], ["--meter", "rapl:"], ["--", "true"]])
def test_options_beside_continue_are_refused_and_not_ignored(cli: Cli, words: list[str]) -> None:
    done = cli("run", "--continue", "absent", *words)
    assert done.returncode == 2
    assert "leave away" in done.stderr


def test_a_directory_that_is_in_use_is_not_overwritten(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r/precious").write_text("x")
    done = cli("run", "--meter", toy_meter(), "--out", "r", "--", "true")
    assert done.returncode == 2
    assert "--continue" in done.stderr


def test_reports_of_the_sort_are_the_harness_own(cli: Cli) -> None:
    words = ["run", "--time-only", "--no-validate", *QUICK, "--runs", "1", "--out", "r"]
    done = cli(*words, "--", "ecosort", "sort", "--events", "mine", "in", "-o", "out")
    assert done.returncode == 2
    assert "leave --events" in done.stderr


NO_METER = ("--time-only", "--no-validate", "--out", "r")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["run", "--out", "r"], "no command"),
        (["run", "--meter", "voltcraft:x", "--out", "r", "--", "true"], "no meter of kind"),
        (["run", "--time-only", "--input", "absent", "--out", "r", "--", "true"], "is no file"),
        (["run", "--time-only", "--no-validate", "--out", "r", "--", "/nonexistent"], "cannot be started"),
        (["run", *NO_METER, "--prepare", "nonesuch x", "--", "true"], "nonesuch cannot be started"),
        (["run", *NO_METER, "--", str(BUILD / "ecosort"), "sortt", "in"], "no such command: 'sortt'; did you mean 'sort'?"),
        (["run", *NO_METER, "--", str(BUILD / "ecosort"), "sort", "--memori", "in", "-o", "x"], "no such option: '--memori'"),
        (["run", "--continue", "absent"], "no session.json"),
        (["report", "absent"], "no session.json"),
        (["check", "absent"], "no session.json"),
        (["probe", "csv:x"], "cannot be probed"),
        (["run", "--bogus"], "no such option"),
    ],
)
def test_bad_words_are_one_clear_line(cli: Cli, words: list[str], text: str) -> None:
    done = cli(*words)
    assert done.returncode == 2
    assert text in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="dropping the page cache needs root")
@pytest.mark.measured(
    *("--time-only", "--cold", "--input", "in", "--no-validate", "--runs", "1"), command=["true"], files={"in": "x" * 4_000_000}
)
def test_cold_takes_the_input_out_of_the_page_cache(measured: Measured) -> None:
    assert measured.done.returncode == 0, measured.done.stderr
    assert measured.run()["cold"]["cached_share"] < 0.001


def test_meters_says_why_and_what_would_help(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("flags : hypervisor\n")
    done = cli("meters", "--root", tmp_path)
    assert done.returncode == 1
    for text in ("virtual machine", "scope: CPU PACKAGE ONLY", "ipmi://USER@HOST", "fix:", "why:", "--time-only"):
        assert text in done.stdout
    listed = json.loads(cli("meters", "--root", tmp_path, "--json").stdout)
    assert all(not f["usable"] and f["why"] and f["fix"] for f in listed)


def test_configured_meters_are_tried(cli: Cli, tmp_path: Path) -> None:
    config = tmp_path / "meters.toml"
    config.write_text(f'[meters]\ntoy = "{toy_meter()}"\ndead = "exec:/nonexistent/meter"\naway = "redfish://u@127.0.0.1:1"\n')
    done = cli("meters", "--config", config)
    assert done.returncode == 0
    assert "--meter toy" in done.stdout
    assert "not installed" in done.stdout
    listed = {f["spec"]: f for f in json.loads(cli("meters", "--config", config, "--json").stdout)}
    assert listed["dead"]["fix"] == f"correct its line in {config}, then: ecosort-power meters"
    assert listed["away"]["scope"] == "bmc"
    assert "needs a password" in listed["away"]["why"]
    assert "#password-file=FILE" in listed["away"]["fix"]


@COMPLETE
def test_an_offline_log_is_attached_afterwards(cli: Cli, tmp_path: Path, measured: Measured) -> None:
    result = copied(measured, tmp_path / "r")
    rows = ["time,watts"]
    for i in (1, 2):
        offset = load(result / f"runs/0{i}/run.json")["marks"]["realtime_offset_s"]
        readings = (result / f"runs/0{i}/readings.exec.jsonl").read_text().splitlines()
        rows += [f"{json.loads(r)['after_s'] + offset:.4f},{json.loads(r)['watts']}" for r in readings]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    done = cli("attach", "r", "--meter", "log=csv:log.csv#scope=wall,lag=0,period=0.1,update=0.1,accuracy=1%")
    assert done.returncode == 0, done.stdout + done.stderr
    energy = {e["meter"]: e["joules"] for e in load(result / "runs/02/run.json")["energy"]}
    assert energy["log"] == pytest.approx(energy["exec"], rel=0.01)
    assert "the seal holds" in cli("check", "r").stdout


@COMPLETE
def test_a_log_that_lacks_a_run_changes_nothing(cli: Cli, tmp_path: Path, measured: Measured) -> None:
    result = copied(measured, tmp_path / "r")
    offset = load(result / "runs/01/run.json")["marks"]["realtime_offset_s"]
    readings = [json.loads(r) for r in (result / "runs/01/readings.exec.jsonl").read_text().splitlines()]
    rows = [f"{r['after_s'] + offset:.4f},{r['watts']}" for r in readings[: len(readings) // 2]]
    (tmp_path / "log.csv").write_text("\n".join(["time,watts", *rows]) + "\n")
    before = {p: p.read_bytes() for p in result.rglob("*") if p.is_file()}
    done = cli("attach", "r", "--meter", "log=csv:log.csv#scope=wall,update=0.1")
    assert (done.returncode, "has no rows for this run" in done.stderr) == (3, True), done.stderr
    assert {p: p.read_bytes() for p in result.rglob("*") if p.is_file()} == before


def measure_on_a_full_drive(directory: Path, mark: pytest.Mark) -> subprocess.CompletedProcess[str]:
    """In a mount namespace of its own, so that nothing stays mounted."""
    (directory / "small").mkdir()
    mount = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=16k tmpfs small && exec "$@"', "sh"]
    program = [sys.executable, "-m", "ecosort_power", "run", "--meter", toy_meter(), *QUICK, "--no-validate", "--runs", "1"]
    words = [*mount, *program, "--out", "small/r", "--", *fake_sort()]
    return subprocess.run(words, cwd=directory, env=cli_env(), capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(os.geteuid() != 0, reason="a full drive is mounted as root")
@pytest.mark.measured(by=measure_on_a_full_drive)
def test_a_full_drive_is_one_clear_line(measured: subprocess.CompletedProcess[str]) -> None:
    assert measured.returncode == 3, measured.stderr
    assert "No space left on device" in measured.stderr.splitlines()[-1]
    assert "Traceback" not in measured.stderr


def test_a_run_begins_at_a_random_moment_where_the_meter_keeps_its_own_clock(
    in_tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[tuple[float, float]] = []

    def latest(first_s: float, last_s: float) -> float:
        drawn.append((first_s, last_s))
        return last_s

    monkeypatch.setattr("ecosort_power.session.random.uniform", latest)
    clock = HurriedClock(0.02)
    meter = parse_spec(toy_meter(settings="update=0.8,period=0.05,lag=0,window=0"))
    options = Options(["true"], runs=1, meters=[meter.text], validate=False, idle_s=0, pause_s=20, settle_s=0)
    measurement = Measurement(ResultDirectory(in_tmp), options, [meter], None, Display(), clock)
    try:
        measurement.execute(None)
    finally:
        measurement.close()
    assert drawn == [(0.0, 0.8)]
    assert 20.8 in clock.waits


@pytest.mark.measured(
    *("--meter", toy_meter("follow", "0.1"), "--no-validate", "--runs", "5"),
    command=fake_sort("--seconds", "0.1,0.1"),
    sound=False,
)
def test_a_first_run_that_is_too_short_for_the_meter_is_the_last(measured: Measured) -> None:
    assert sorted(p.name for p in (measured.result / "runs").iterdir()) == ["01"]
    assert "the other 4 runs would be too short for the meter as well and are not started" in measured.done.stderr
    assert measured.done.returncode == 1
