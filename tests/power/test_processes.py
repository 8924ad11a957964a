"""No child survives the harness, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from ecosort_power.errors import MeterError, MeterGlitchError
from ecosort_power.transports.process import LineChild, session, spawn, stop

from .measured import Measured
from .support import QUICK, cli_env, fake_sort, toy_meter, wait_for


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def children_of(pid: int) -> list[int]:
    """All descendants, by the parent links of /proc."""
    parents: dict[int, int] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, front = [], {pid}
    while front:
        front = {p for p, parent in parents.items() if parent in front}
        found += front
    return found


# A shell whose child leaves its session and its parent: only the mark in its environment still shows where it is from.
ESCAPING = "(setsid sleep 600 &) ; sleep 600"


def start_run(tmp_path: Path, *command: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "ecosort_power", "run", "--meter", toy_meter(), *QUICK, "--no-validate", "--runs", "1"]
    with (tmp_path / "log").open("wb") as log:
        return subprocess.Popen([*words, "--out", "r", "--", *command], cwd=tmp_path, env=cli_env(), stdout=log, stderr=log)


def marked_with_same_session(pid: int) -> list[int]:
    environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    mark = next(e for e in environ if e.startswith(b"ECOSORT_POWER_SESSION="))
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                if mark in (path / "environ").read_bytes().split(b"\0"):
                    found.append(int(path.name))
            except OSError:
                continue
    return found


def running_command(harness: int) -> list[int]:
    """Meter, shell, sleeper and escaped sleeper, once the command runs."""
    family = [p for p in children_of(harness) if alive(p)]
    for pid in family:
        try:
            if b"sleep 600" in Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" "):
                marked = marked_with_same_session(pid)
                return marked if len(marked) >= 4 else []
        except (OSError, StopIteration):
            continue
    return []


@dataclass(frozen=True)
class Signalled:
    code: int
    before: list[bool]  # of each process of the measurement: did it live?
    survivors: list[int]
    said: str


def send_signal(directory: Path, mark: pytest.Mark, number: signal.Signals) -> Signalled:
    """The harness gets the signal while meter, shell, sleeper and escaped sleeper run."""
    harness = start_run(directory, "sh", "-c", ESCAPING)
    family = wait_for(lambda: running_command(harness.pid), 60)
    before = [alive(p) for p in family]
    harness.send_signal(number)
    code = harness.wait(60)
    deadline = time.monotonic() + 60
    while any(alive(p) for p in family) and time.monotonic() < deadline:
        time.sleep(0.05)
    return Signalled(code, before, [p for p in family if alive(p)], (directory / "log").read_text())


SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=pytest.mark.measured(by=partial(send_signal, number=n)), id=n.name) for n in SIGNALS]
)
def test_nothing_survives_a_signal_to_the_harness(measured: Signalled, number: signal.Signals) -> None:
    assert len(measured.before) >= 4
    assert all(measured.before)
    assert measured.survivors == []
    assert measured.code == (-number if number == signal.SIGKILL else 128 + number)
    if number != signal.SIGKILL:
        assert "--continue r" in measured.said


def test_a_direct_child_dies_with_its_parent_even_without_the_guard(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import os, signal
        from ecosort_power.transports.process import session, spawn
        session.start()
        session._guard.kill()
        print(spawn(["sleep", "600"]).pid, flush=True)
        signal.pause()
        """)
    parent = subprocess.Popen([sys.executable, "-c", script], env=cli_env(), stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert alive(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_for(lambda: not alive(pid))


@pytest.mark.measured(
    *("--meter", toy_meter(), "--no-validate", "--runs", "1"),
    command=fake_sort("--seconds", "0.8,0.4", "--orphan"),
    sound=False,
)
def test_a_command_that_leaves_processes_behind_is_invalid(measured: Measured) -> None:
    assert measured.done.returncode == 1
    assert "continued after its end" in measured.done.stdout


def test_stopping_ends_the_whole_group() -> None:
    child = spawn(["sh", "-c", "trap '' TERM; sleep 600 & echo $!; wait"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    inner = int(child.stdout.readline())
    stop(child, 0.2)
    child.stdout.close()
    wait_for(lambda: not alive(inner))
    assert child.returncode == -signal.SIGKILL


def test_lines_come_one_by_one_and_late_ones_time_out() -> None:
    child = LineChild(["sh", "-c", "printf 'a\\nb\\n'; sleep 600"])
    try:
        assert child.read_line(10) == "a"
        assert child.read_line(10) == "b"
        with pytest.raises(MeterGlitchError, match="did not answer"):
            child.read_line(0.1)
    finally:
        child.close()
    assert not alive(child.pid)


def test_the_end_of_a_child_is_told_with_its_last_words() -> None:
    child = LineChild(["sh", "-c", "echo one; echo broken pipe to meter >&2; exit 7"])
    assert child.read_line(10) == "one"
    with pytest.raises(MeterError, match=r"exit code 7: broken pipe to meter"):
        child.read_line(10)
    child.close()


def test_the_guard_ends_with_the_session() -> None:
    spawn(["true"]).wait()
    assert session._guard is not None
    pid = session._guard.pid
    session.end()
    assert not alive(pid)
    assert os.getpid()
