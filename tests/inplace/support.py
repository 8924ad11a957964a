"""What the tests of `inplace` and `resume` share: drives to sort on, and jobs that are interrupted in a chosen step."""

import contextlib
import json
import os
import random
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
from sort_support import MIB, FileSystem, Run, mounted, strace, wait_until

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


def signal_at_sync(
    ecosort: Path, directory: Path, nth: int, number: signal.Signals, *words: str | Path, delay_us: int = 3000
) -> subprocess.CompletedProcess[str]:
    """Runs the program and sends it the signal at about its n-th fdatasync, each of them longer by `delay_us`."""
    require("strace")
    trace = directory / "trace"
    trace.unlink(missing_ok=True)
    command = [*strace(directory, "fdatasync", f"fdatasync:delay_enter={delay_us}"), ecosort, *words, "--io", "pool"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None:
        if trace.exists() and trace.read_text().count("fdatasync(") >= nth:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            for child in children.read_text().split() if children.exists() else []:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(child), number)
            break
        time.sleep(0.001)
    out, error = process.communicate(timeout=120)
    return subprocess.CompletedProcess(command, process.returncode, out, error)


def kill_at_sync(ecosort: Path, directory: Path, nth: int, *words: str | Path, delay_us: int = 3000) -> bool:
    """Kills it there. False: it was done before."""
    done = signal_at_sync(ecosort, directory, nth, signal.SIGKILL, *words, delay_us=delay_us)
    assert done.returncode in (0, -signal.SIGKILL, 128 + signal.SIGKILL), done
    return done.returncode != 0


def kill_at_call(ecosort: Path, directory: Path, call: str, nth: int, *words: str | Path) -> None:
    """Kills it at its n-th call, which is one of the coordinator's; the end must not come first."""
    require("strace")
    command = [*strace(directory, call, f"{call}:signal=SIGKILL:when={nth}"), ecosort, *words, "--io", "pool", "--quiet"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL), done


def interrupted_in_merge(ecosort: Path, run: Run, path: Path, directory: Path) -> Path:
    """An in-place job on a drive with little space, killed after some checkpoints of its second phase."""
    FileSystem("", path.parent, None).fill_until(plan_of(run, path, *SMALL)["needed_bytes"] + MIB)
    kill_at_call(ecosort, directory, "ftruncate", 30, "inplace", path, *SMALL)
    return path


def calls_of(ecosort: Path, directory: Path, call: str, *words: str | Path) -> int:
    """How often the program makes this system call in a run to its end."""
    require("strace")
    command = strace(directory, call)
    subprocess.run([*command, ecosort, *words, "--io", "pool", "--quiet"], check=True, stdin=subprocess.DEVNULL)
    return (directory / "trace").read_text().count(f"{call}(")


def syncs_of(ecosort: Path, directory: Path, *words: str | Path) -> int:
    return calls_of(ecosort, directory, "fdatasync", *words)


@contextmanager
def stopped_after(ecosort: Path, directory: Path, call: str, nth: int, *words: str | Path) -> Iterator[subprocess.Popen[str]]:
    """The program, which stands still after its n-th system call of that name while the block runs, and continues at its end."""
    require("strace")
    directory.mkdir(exist_ok=True)
    trace = directory / "trace"
    trace.unlink(missing_ok=True)
    command = [*strace(directory, call, f"{call}:signal=SIGSTOP:when={nth}"), ecosort, *words, "--io", "pool", "--quiet"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")

    def stands_still() -> bool:
        if not trace.exists() or "--- SIGSTOP" not in trace.read_text():
            return False
        tasks = [task for child in children.read_text().split() for task in Path(f"/proc/{child}/task").iterdir()]
        return all((task / "stat").read_text().rsplit(") ", 1)[1][0] in "tT" for task in tasks)

    try:
        wait_until(stands_still, what=f"call {nth} of {call}")
        yield process
        for child in children.read_text().split() if children.exists() else []:  # the block may have let it continue
            os.kill(int(child), signal.SIGCONT)
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


def wait_into_phase(process: subprocess.Popen[str], events: Path, phase: str, seconds: float) -> None:
    """Returns so long after the beginning of the phase, or when the process is done."""
    while process.poll() is None and phase not in begun_phases(events):
        time.sleep(0.001)
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.001)


class Attempts:
    """Runs of the program whose events are watched while they work."""

    def __init__(self, ecosort: Path, directory: Path) -> None:
        self.ecosort, self.events = ecosort, directory / "events"

    def begin(self, *words: str | Path) -> subprocess.Popen[str]:
        self.events.unlink(missing_ok=True)
        command = [self.ecosort, *words, "--events", self.events, "--quiet"]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def next_words(self) -> list[str | Path]:
        """What begins the job, or resumes it where it is under way."""
        raise NotImplementedError

    def go_on(self) -> subprocess.Popen[str]:
        return self.begin(*self.next_words())

    def seconds(self) -> float:
        """How long one takes that no one disturbs."""
        started = time.monotonic()
        code, text = ended(self.go_on())
        assert code == 0, text
        return time.monotonic() - started


@dataclass
class Kills:
    """How often a job was really killed, and where."""

    wanted: int
    rng: random.Random
    by_phase: Counter[str] = field(default_factory=Counter)
    in_resume: int = 0
    by_signal: int = 0

    def are_enough(self) -> bool:
        total = sum(self.by_phase.values())
        least = min(self.by_phase[phase] for phase in PHASES)
        return total >= self.wanted and self.in_resume >= max(2, min(self.wanted // 5, 20)) and least >= 0.3 * total

    def strike(self, process: subprocess.Popen[str], events: Path, seconds: float, is_resumption: bool) -> tuple[int, str]:
        """Kills it at a random moment, mostly of the phase that has seen fewer kills. Counts what ended by the signal."""
        if self.rng.random() < 0.1:
            time.sleep(self.rng.uniform(0, seconds))
        else:
            phase = min(PHASES, key=lambda name: self.by_phase[name])
            wait_into_phase(process, events, phase, self.rng.uniform(0, seconds / 2))
        process.kill()
        _, text = process.communicate(timeout=120)
        if process.returncode == -signal.SIGKILL:
            self.by_phase[(begun_phases(events) or ["before the first"])[-1]] += 1
            self.in_resume += is_resumption
            self.by_signal += 1
        return process.returncode, text

    def check(self, kind: str) -> None:
        total = sum(self.by_phase.values())
        shares = ", ".join(f"{name} {count} ({100 * count / total:.0f} %)" for name, count in self.by_phase.most_common())
        print(f"\n{kind}: {total} kills, {self.by_signal} ended by the signal: {shares}; {self.in_resume} inside resume")
        assert total == self.by_signal >= self.wanted
        assert all(self.by_phase[phase] >= 0.3 * total for phase in PHASES)
        assert self.in_resume >= max(2, min(self.wanted // 5, 20))


def cut_power(drive: FileSystem) -> None:
    """The file system stops at once: what it has not written by now is gone."""
    subprocess.run(["xfs_io", "-x", "-c", "shutdown", drive.root], check=True)


def mount_again(drive: FileSystem) -> None:
    assert drive.image
    for _attempt in range(50):
        if subprocess.run(["umount", drive.root], capture_output=True, check=False).returncode == 0:
            break
        time.sleep(0.1)
    subprocess.run(["mount", "-o", "loop", drive.image, drive.root], check=True)
