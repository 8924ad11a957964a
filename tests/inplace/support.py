"""The tests of `inplace` and `resume` share drives to sort on, and jobs that are interrupted in a chosen step."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from capabilities import require
from sort_support import CHANGES, MIB, FileSystem, Run, faults, mounted, stops

KINDS = ("ext4", "xfs")
SMALL = ("--memory", "4MiB")  # makes several runs of a few megabytes
SIZES = {"ext4": 128 * MIB, "xfs": 320 * MIB}


@contextmanager
def drive_of(kind: str, directory: Path, size_bytes: int = 0, block_bytes: int = 0) -> Iterator[FileSystem]:
    """An empty drive; what a plain test machine cannot mount skips the test."""
    require("loop_mount")
    if kind != "ext4":
        require(kind)
    with mounted(directory, kind, size_bytes or SIZES[kind], block_bytes) as drive:
        yield drive


def job_directory(path: Path) -> Path:
    return path.with_name(path.name + ".ecosort")


def untouched(path: Path, data: bytes) -> None:
    assert path.read_bytes() == data
    assert not job_directory(path).exists()


def records_of(data: bytes, size: int = 100) -> list[bytes]:
    """The records in byte order: what is left when their order does not count."""
    return sorted(data[i : i + size] for i in range(0, len(data), size))


def plan_of(run: Run, path: Path, *words: str) -> dict[str, Any]:
    done = run("plan", "inplace", "--json", path, *words)
    assert done.returncode == 0, done
    plan = json.loads(done.stdout)
    assert isinstance(plan, dict)
    return plan


def with_faults(ecosort: Path, directory: Path, rule: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs the program to its end, or to what the rule makes of it."""
    command = [*faults(directory, rule), ecosort, *words, "--io", "pool"]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)


def signal_at_call(
    ecosort: Path, directory: Path, call: str, nth: int, number: signal.Signals, *words: str | Path
) -> subprocess.CompletedProcess[str]:
    """Runs the program, which gets the signal at its n-th call of that name."""
    return with_faults(ecosort, directory, f"{call}:signal={number.name.removeprefix('SIG')}:when={nth}", *words)


def signal_at_sync(
    ecosort: Path, directory: Path, nth: int, number: signal.Signals, *words: str | Path
) -> subprocess.CompletedProcess[str]:
    return signal_at_call(ecosort, directory, "fdatasync", nth, number, *words)


def killed_at_call(ecosort: Path, directory: Path, call: str, nth: int, *words: str | Path) -> bool:
    """Kills it at its n-th call of that name. False: it does not make so many."""
    done = with_faults(ecosort, directory, f"{call}:signal=KILL:when={nth}", *words)
    assert done.returncode in (0, -signal.SIGKILL), done
    return done.returncode != 0


# The begin of a job, and begin and end of its preparation and of its run formation, come before the event of this number.
FIRST_AFTER_THE_RUNS = 6


def killed_at_event(ecosort: Path, directory: Path, nth: int, *words: str | Path) -> bool:
    """Kills it before it writes its n-th event. False: it does not write so many."""
    return killed_at_call(ecosort, directory, "write", nth, *words, "--events", directory / "events")


_EVENTS_BEFORE: dict[tuple[str, ...], int] = {}  # the end of the last merge, in a job of these words that was killed there


def killed_in_merge(ecosort: Path, directory: Path, out: Path, *words: str | Path) -> None:
    """Kills a job before it reports the end of its last merge. How many there are before differs from run to run."""
    alike = tuple(word for word in words if isinstance(word, str))
    nth = _EVENTS_BEFORE.get(alike, FIRST_AFTER_THE_RUNS)
    for _ in range(60):
        nth += 1
        killed = killed_at_event(ecosort, directory, nth, *words)
        last = json.loads((directory / "events").read_text().splitlines()[-1])
        if killed and (last["event"], last["phase"]) == ("begin", "merge"):
            _EVENTS_BEFORE[alike] = nth - 1
            return
        if "merge" in begun_phases(directory / "events"):  # fewer merges than the time before
            nth -= 3
        shutil.rmtree(job_directory(out), ignore_errors=True)
        for left in (out, out.with_name(f"{out.name}.ecosort-done")):
            left.unlink(missing_ok=True)
    raise AssertionError("no kill hit the last merge")


def kill_at_sync(ecosort: Path, directory: Path, nth: int, *words: str | Path) -> bool:
    return killed_at_call(ecosort, directory, "fdatasync", nth, *words)


def interrupted_in_merge(ecosort: Path, run: Run, path: Path, directory: Path) -> Path:
    """An in-place job on a drive with little space, killed after some checkpoints of its second phase."""
    FileSystem("", path.parent, None).fill_until(plan_of(run, path, *SMALL)["needed_bytes"] + MIB)
    assert killed_at_call(ecosort, directory, "ftruncate", 30, "inplace", path, *SMALL, "-q")
    return path


def calls_of(ecosort: Path, directory: Path, call: str, *words: str | Path) -> int:
    """Counts how often the program makes this system call in a run to its end."""
    done = with_faults(ecosort, directory, call, *words, "--quiet")
    assert done.returncode == 0, done
    return (directory / "trace").read_text().count("\n")


def syncs_of(ecosort: Path, directory: Path, *words: str | Path) -> int:
    return calls_of(ecosort, directory, "fdatasync", *words)


@contextmanager
def stopped_after(ecosort: Path, directory: Path, call: str, nth: int, *words: str | Path) -> Iterator[subprocess.Popen[str]]:
    """The program, which stands still after its n-th system call of that name while the block runs, and continues at its end."""
    directory.mkdir(exist_ok=True)
    command = [*faults(directory, f"{call}:signal=STOP:when={nth}"), ecosort, *words, "--io", "pool", "--quiet"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert stops(process), process.communicate()
        yield process
        process.send_signal(signal.SIGCONT)
    except BaseException:
        process.kill()
        process.wait()
        raise


def take_all_space(directory: Path) -> Path:
    """A file that leaves no free block."""
    greedy = directory / "greedy"
    with greedy.open("wb") as file:
        size = 0
        for step in (MIB, 64 << 10, 4 << 10):
            with contextlib.suppress(OSError):
                while True:
                    os.posix_fallocate(file.fileno(), size, step)
                    size += step
    return greedy


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and standard error, at the end."""
    _, text = process.communicate(timeout=120)
    return process.returncode, text


PHASES = ("run_formation", "merge")


def begun_phases(events: Path) -> list[str]:
    lines = events.read_text().splitlines() if events.exists() else []
    return [line.split('"phase":"')[1].split('"')[0] for line in lines if '"event":"begin"' in line and '"phase":"' in line]


class Attempts:
    """Runs of the program that are killed or stopped at a chosen one of the calls that change the drive."""

    def __init__(self, ecosort: Path, directory: Path) -> None:
        self.ecosort, self.directory, self.events = ecosort, directory, directory / "events"
        self.begins: dict[str, int] = {}  # how many changes there are before each phase of a run to its end
        self.changes = 0

    def next_words(self) -> list[str | Path]:
        """Returns the command that begins the job, or resumes it where it is under way."""
        raise NotImplementedError

    def begin(self, what: str) -> subprocess.Popen[str]:
        """The next run, to which this happens at a change: ":signal=KILL:when=5"."""
        self.events.unlink(missing_ok=True)
        command = [*faults(self.directory, CHANGES + what), self.ecosort, *self.next_words(), "--events", self.events, "--quiet"]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def count(self) -> None:
        """Runs it to its end. Its writes are its events."""
        code, text = ended(self.begin(""))
        assert code == 0, text
        events = self.events.read_text().splitlines(keepends=True)
        calls = (self.directory / "trace").read_text().splitlines()
        for number, call in enumerate(calls):
            if call.startswith("write("):
                event = json.loads(events.pop(0))
                if event["event"] == "begin":
                    self.begins.setdefault(event["phase"], number)
        assert not events, events
        self.changes = len(calls)

    def changes_in(self, phase: str) -> range:
        """The changes of this phase, in a run to its end."""
        begin = self.begins[phase]
        return range(begin + 1, min([self.changes, *(other for other in self.begins.values() if other > begin)]) + 1)

    def reached(self) -> str:
        """The phase that the last run was in."""
        return (begun_phases(self.events) or ["before the first"])[-1]

    def moment(self, rng: random.Random, phase: str) -> int:
        """A change within this phase. A resumption does not repeat the phases that were complete."""
        done = self.begins.get(self.reached(), 0) if self.is_under_way() else 0
        return max(1, rng.choice(self.changes_in(phase)) - done)

    def is_under_way(self) -> bool:
        raise NotImplementedError


@dataclass
class Kills:
    """Counts how often a job was really killed, and where."""

    wanted: int
    rng: random.Random
    by_phase: Counter[str] = field(default_factory=Counter)
    in_resume: int = 0
    strikes: int = 0

    def are_enough(self) -> bool:
        total = sum(self.by_phase.values())
        least = min(self.by_phase[phase] for phase in PHASES)
        return total >= self.wanted and self.in_resume >= max(2, min(self.wanted // 5, 20)) and least >= 0.3 * total

    def strike(self, job: Attempts) -> tuple[int, str]:
        """Kills it at a random change, mostly of the phase that has seen fewer kills. Counts what ended by the signal."""
        self.strikes += 1
        assert self.strikes <= 20 * self.wanted, (self.by_phase, job.begins, job.changes)
        is_resumption = job.is_under_way()
        phase = min(PHASES, key=lambda name: self.by_phase[name])
        nth = self.rng.randint(1, job.changes) if self.rng.random() < 0.1 else job.moment(self.rng, phase)
        others = sum(self.by_phase.values()) - sum(self.by_phase[name] for name in PHASES)
        are_many = 4 * others > sum(self.by_phase.values())  # a resumption may check for long what was written before
        is_let_end = is_resumption and (are_many or phase == PHASES[0] != job.reached())  # only a new job has that phase
        code, text = ended(job.begin("" if is_let_end else f":signal=KILL:when={nth}"))
        if code == -signal.SIGKILL:
            self.by_phase[job.reached()] += 1
            self.in_resume += is_resumption
        return code, text

    def check(self, kind: str) -> None:
        total = sum(self.by_phase.values())
        shares = ", ".join(f"{name} {count} ({100 * count / total:.0f} %)" for name, count in self.by_phase.most_common())
        print(f"\n{kind}: {total} kills: {shares}; {self.in_resume} inside resume")
        assert total >= self.wanted
        assert all(self.by_phase[phase] >= 0.3 * total for phase in PHASES)
        assert self.in_resume >= max(2, min(self.wanted // 5, 20))


def ended_by_power_cut(job: Attempts, drive: FileSystem, nth: int) -> tuple[int, str]:
    """Runs it until this change; then the file system stops at once, and what it has not written by now is gone."""
    process = job.begin(f":signal=STOP:when={nth}")
    stops(process)
    subprocess.run(["xfs_io", "-x", "-c", "shutdown", drive.root], check=True)
    process.send_signal(signal.SIGCONT)
    end = ended(process)
    mount_again(drive)
    return end


def mount_again(drive: FileSystem) -> None:
    assert drive.image
    for _attempt in range(50):
        if subprocess.run(["umount", drive.root], capture_output=True, check=False).returncode == 0:
            break
        time.sleep(0.1)
    subprocess.run(["mount", "-o", "loop", drive.image, drive.root], check=True)
