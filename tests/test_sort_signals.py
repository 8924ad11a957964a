"""A sort that is interrupted or killed leaves nothing: no output, no name, no space."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from capabilities import SOAK, require
from pairs import turns
from sort_support import BACKENDS, MIB, FileSystem, expected, listing, make_records, mounted, wait_until

# Large enough that a sort of it takes a good part of a second in every phase.
RECORDS = 300_000
TIMES = 100 if SOAK else 4  # random moments per signal and backend
# A shared machine may sort four times as fast as it did when the time was taken; moments are then drawn from less of it.
MOST_TIMES = 4 * TIMES


@dataclass(frozen=True)
class Place:
    source: Path
    drive: FileSystem
    seconds: float  # that a sort takes at least
    sorted: bytes

    def moments(self, seed: str, hits: list[float]) -> Iterator[float]:
        """Seconds to wait: TIMES of them, and more while none is among the `hits`, which lay within a sort."""
        rng = random.Random(seed)
        for i in range(MOST_TIMES):
            if i >= TIMES and hits:
                return
            yield rng.uniform(0, self.seconds * 0.9 / (1 + i // TIMES))

    def words(self, backend: str) -> list[str]:
        return ["sort", str(self.source), "-o", str(self.drive.root / "out"), "--memory", "2MiB", "--io", backend]


@pytest.fixture(scope="module")
def place(ecosort: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """An input, and a drive for the runs and the output whose free space can be counted."""
    require("loop_mount")
    directory = tmp_path_factory.mktemp("signals")
    data = make_records(ecosort, "ascii", RECORDS)
    (directory / "in").write_bytes(data)
    with mounted(directory, "ext4", 128 * MIB) as drive:
        place = Place(directory / "in", drive, 0, b"")
        seconds = []
        for _ in range(3):
            begin = time.monotonic()
            subprocess.run([ecosort, *place.words("pool")], check=True)
            seconds.append(time.monotonic() - begin)
            (drive.root / "out").unlink()
        yield Place(place.source, drive, min(seconds), expected(data))


class Started:
    """A sort that has installed its signal handlers."""

    def __init__(self, ecosort: Path, place: Place, backend: str, directory: Path) -> None:
        events = directory / "events"
        events.unlink(missing_ok=True)
        command = [str(ecosort), *place.words(backend), "--events", str(events)]
        # Leaks are looked for at the end of a process; one that is killed meanwhile leaves a remark of the sanitizer.
        options = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS", ""), "detect_leaks=0"]))
        self.process = subprocess.Popen(
            command, env=os.environ | {"ASAN_OPTIONS": options}, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        wait_until(lambda: events.exists() and events.stat().st_size > 0, what="the beginning of the sort")

    def end(self) -> tuple[int, str]:
        assert self.process.stderr
        text = self.process.stderr.read()
        self.process.stderr.close()
        return self.process.wait(timeout=60), text


def check_and_clear(place: Place, free_before: int, is_complete: bool) -> None:
    out = place.drive.root / "out"
    if is_complete:
        assert out.read_bytes() == place.sorted
        out.unlink()
    assert listing(place.drive.root) == []
    wait_until(lambda: place.drive.free_bytes() == free_before, what="the space")


@pytest.mark.parametrize(
    ("number", "backend"), turns([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], BACKENDS), indirect=["backend"]
)
def test_interrupted_at_any_moment(ecosort: Path, place: Place, tmp_path: Path, backend: str, number: signal.Signals) -> None:
    free = place.drive.free_bytes()
    hits: list[float] = []
    for moment in place.moments(f"{backend}{number}", hits):
        started = Started(ecosort, place, backend, tmp_path)
        time.sleep(moment)
        started.process.send_signal(number)
        code, text = started.end()
        is_complete = (place.drive.root / "out").exists()  # what is done listens no longer, and may yet be ended
        if code != 0 and not (is_complete and code == -number):
            assert (code, text) == (128 + number, f"ecosort: interrupted by signal {int(number)} ({signal.strsignal(number)})\n")
            hits.append(moment)
        check_and_clear(place, free, is_complete)
    assert hits


def test_killed_at_any_moment(ecosort: Path, place: Place, tmp_path: Path, backend: str) -> None:
    """No handler runs, and yet the space comes back: the files had no name before they were complete."""
    free = place.drive.free_bytes()
    hits: list[float] = []
    for moment in place.moments(backend, hits):
        started = Started(ecosort, place, backend, tmp_path)
        time.sleep(moment)
        started.process.kill()
        code, text = started.end()
        assert text == ""
        assert code in (0, -signal.SIGKILL)
        if code != 0:
            hits.append(moment)
        # Killed between publishing and its end, the sort leaves the whole output.
        is_complete = (place.drive.root / "out").exists()
        assert is_complete or code != 0
        check_and_clear(place, free, is_complete)
    assert hits


def test_an_older_output_survives_interruption(ecosort: Path, place: Place, tmp_path: Path) -> None:
    out = place.drive.root / "out"
    for number in (signal.SIGTERM, signal.SIGKILL):
        out.write_bytes(b"an older output")
        started = Started(ecosort, place, "pool", tmp_path)
        time.sleep(place.seconds / 3)
        started.process.send_signal(number)
        code, _ = started.end()
        assert code != 0
        assert out.read_bytes() == b"an older output"
        assert listing(place.drive.root) == [str(out)]
    out.unlink()


def test_a_second_signal_changes_nothing(ecosort: Path, place: Place, tmp_path: Path) -> None:
    free = place.drive.free_bytes()
    started = Started(ecosort, place, "pool", tmp_path)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        started.process.send_signal(number)
    code, text = started.end()
    assert code in (128 + signal.SIGTERM, 128 + signal.SIGINT, 128 + signal.SIGHUP)
    assert text.count("\n") == 1
    check_and_clear(place, free, is_complete=False)


def test_under_nohup_a_hangup_is_ignored(ecosort: Path, place: Place) -> None:
    free = place.drive.free_bytes()
    process = subprocess.Popen(
        [ecosort, *place.words("pool")],
        stdin=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),  # what nohup does
    )
    while process.poll() is None:
        process.send_signal(signal.SIGHUP)
        time.sleep(0.05)
    assert process.returncode == 0
    check_and_clear(place, free, is_complete=True)


def test_in_the_background_an_ignored_interrupt_stays_ignored(ecosort: Path, place: Place) -> None:
    """A shell without job control starts background jobs with SIGINT ignored."""
    process = subprocess.Popen(
        [ecosort, *place.words("pool")], stdin=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)
    )
    time.sleep(place.seconds / 3)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0
    (place.drive.root / "out").unlink()


def test_stopped_and_continued(ecosort: Path, place: Place, tmp_path: Path, backend: str) -> None:
    """Ctrl-Z and fg, or a frozen control group: nothing is lost by it."""
    free = place.drive.free_bytes()
    started = Started(ecosort, place, backend, tmp_path)
    for _ in range(5):
        started.process.send_signal(signal.SIGSTOP)
        time.sleep(0.05)
        started.process.send_signal(signal.SIGCONT)
        time.sleep(0.05)
    assert started.end() == (0, "")
    check_and_clear(place, free, is_complete=True)
