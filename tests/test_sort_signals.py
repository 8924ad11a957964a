"""A sort that is interrupted or killed leaves nothing: no output, no name, no space."""

import random
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from capabilities import SOAK, require
from pairs import turns
from sort_support import (
    BACKENDS,
    CHANGES,
    MIB,
    FileSystem,
    changes_of,
    expected,
    faults,
    listing,
    make_records,
    mounted,
    stops,
    wait_until,
)

RECORDS = 100_000
TIMES = 100 if SOAK else 4  # random moments per signal and backend


@dataclass(frozen=True)
class Place:
    ecosort: Path
    directory: Path
    drive: FileSystem
    sorted: bytes
    counted: dict[str, int] = field(default_factory=dict)

    @property
    def out(self) -> Path:
        return self.drive.root / "out"

    def command(self, backend: str) -> list[str | Path]:
        return [self.ecosort, "sort", self.directory / "in", "-o", self.out, "--memory", "2MiB", "--io", backend]

    def changes(self, backend: str) -> int:
        """Counts the moments at which a sort can be interrupted."""
        if backend not in self.counted:
            self.counted[backend] = changes_of(self.directory, *self.command(backend))
            self.out.unlink()
        return self.counted[backend]

    def moments(self, seed: str, backend: str) -> list[int]:
        return random.Random(seed).sample(range(1, self.changes(backend) + 1), TIMES)

    def start(self, backend: str, *signals: str, **options: Any) -> subprocess.Popen[str]:
        """A sort that gets the signals at its changes: "TERM:when=4"."""
        words = [*faults(self.directory, *(f"{CHANGES}:signal={text}" for text in signals)), *self.command(backend)]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)

    def run(self, backend: str, *signals: str, **options: Any) -> tuple[int, str]:
        return end(self.start(backend, *signals, **options))

    def check_and_clear(self, free_before: int, is_complete: bool) -> None:
        if is_complete:
            assert self.out.read_bytes() == self.sorted
            self.out.unlink()
        assert listing(self.drive.root) == []
        wait_until(lambda: self.drive.free_bytes() == free_before, what="the space")


def end(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, text = process.communicate(timeout=60)
    return process.returncode, text


@pytest.fixture(scope="module")
def place(ecosort: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """An input, and a drive for the runs and the output whose free space can be counted."""
    require("loop_mount")
    directory = tmp_path_factory.mktemp("signals")
    data = make_records(ecosort, "ascii", RECORDS)
    (directory / "in").write_bytes(data)
    with mounted(directory, "ext4", 128 * MIB) as drive:
        yield Place(ecosort, directory, drive, expected(data))


@pytest.mark.parametrize(
    ("number", "backend"), turns([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], BACKENDS), indirect=["backend"]
)
def test_interrupted_at_any_moment(place: Place, backend: str, number: signal.Signals) -> None:
    free, hits = place.drive.free_bytes(), 0
    for moment in place.moments(f"{backend}{number}", backend):
        code, text = place.run(backend, f"{number.name.removeprefix('SIG')}:when={moment}")
        is_complete = place.out.exists()  # what is done listens no longer, and may yet be ended
        if code != 0 and not (is_complete and code == -number):
            assert (code, text) == (128 + number, f"ecosort: interrupted by signal {int(number)} ({signal.strsignal(number)})\n")
            hits += 1
        place.check_and_clear(free, is_complete)
    assert hits >= TIMES // 2


def test_killed_at_any_moment(place: Place, backend: str) -> None:
    """No handler runs, and yet the space comes back: the files had no name before they were complete."""
    free, hits = place.drive.free_bytes(), 0
    for moment in place.moments(backend, backend):
        code, text = place.run(backend, f"KILL:when={moment}")
        assert text == ""
        assert code in (0, -signal.SIGKILL)
        hits += code != 0
        # Killed between publishing and its end, the sort leaves the whole output.
        is_complete = place.out.exists()
        assert is_complete or code != 0
        place.check_and_clear(free, is_complete)
    assert hits >= TIMES // 2


def test_an_older_output_survives_interruption(place: Place) -> None:
    moment = place.changes("pool") // 3  # which sorts and removes the output, where it is asked first
    for number in ("TERM", "KILL"):
        place.out.write_bytes(b"an older output")
        code, _ = place.run("pool", f"{number}:when={moment}")
        assert code != 0
        assert place.out.read_bytes() == b"an older output"
        assert listing(place.drive.root) == [str(place.out)]
    place.out.unlink()


def test_a_second_signal_changes_nothing(place: Place) -> None:
    free = place.drive.free_bytes()
    code, text = place.run("pool", "TERM:when=8", "INT:when=8", "HUP:when=9", "TERM:when=10")
    assert code in (128 + signal.SIGTERM, 128 + signal.SIGINT, 128 + signal.SIGHUP)
    assert text.count("\n") == 1
    place.check_and_clear(free, is_complete=False)


def test_under_nohup_a_hangup_is_ignored(place: Place) -> None:
    free = place.drive.free_bytes()
    # nohup does this.
    code, _ = place.run("pool", "HUP:when=1+10", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert code == 0
    place.check_and_clear(free, is_complete=True)


def test_in_the_background_an_ignored_interrupt_stays_ignored(place: Place) -> None:
    """A shell without job control starts background jobs with SIGINT ignored."""
    free = place.drive.free_bytes()
    code, _ = place.run("pool", "INT:when=1+10", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert code == 0
    place.check_and_clear(free, is_complete=True)


def test_stopped_and_continued(place: Place, backend: str) -> None:
    """Ctrl-Z and fg, or a frozen control group: nothing is lost by it."""
    free, times = place.drive.free_bytes(), 0
    process = place.start(backend, f"STOP:when=3+{place.changes(backend) // 8}")
    while stops(process):
        times += 1
        process.send_signal(signal.SIGCONT)
    assert end(process) == (0, "")
    assert times >= 5
    place.check_and_clear(free, is_complete=True)
