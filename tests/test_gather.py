"""Large records are not stored in runs: their keys are sorted, and each is read once from where it lies in the input. The tests
compare with what Python sorts, and try what may go wrong on that way.
"""

import os
import random
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sort_support import Run, expected, faults, listing, read_json, refused, stops, succeeded

KIB, MIB = 1024, 1024 * 1024
GATHERED = "keys first, then each record once"
CHANGED = "changed while it was read"
MEMORY = ("--memory", "3MiB", "--gather")
rng = random.Random(52)


def some_records(size: int, count: int, kinds: int = 256) -> bytes:
    """Keys repeat where they have few kinds of bytes; what is behind the key tells equal ones apart."""
    return b"".join(bytes(rng.randrange(kinds) for _ in range(10)) + rng.randbytes(54) + bytes(size - 64) for _ in range(count))


def sort(run: Run, place: Path, size: int, *words: str, way: str = "always") -> dict[str, Any]:
    fixed = ("-o", "out", "--record-size", str(size), "--stats", "stats")
    succeeded(run("sort", *(words or ("in",)), *fixed, *MEMORY, way, cwd=place))
    return read_json(place / "stats")


@pytest.mark.parametrize(
    ("size", "kinds"), [(12 * KIB, 256), (12_289, 2), (16 * KIB, 256), (16 * KIB, 2), (20_000, 1), (65_535, 2)]
)
def test_the_output_is_that_of_runs(run: Run, tmp_path: Path, size: int, kinds: int) -> None:
    """Sizes of whole units are read right into their place, others are not. Equal keys keep their order."""
    data = some_records(size, 6 * MIB // size, kinds)
    (tmp_path / "in").write_bytes(data)
    stats = sort(run, tmp_path, size, "in", "--verify", "reread")
    assert (tmp_path / "out").read_bytes() == expected(data, size)
    assert (stats["plan"]["shape"], stats["runs"], stats["plan"]["temp_bytes"]) == (GATHERED, 0, 0)
    assert sort(run, tmp_path, size, way="never")["plan"]["shape"] in ("two passes", "more than two passes")
    assert (tmp_path / "out").read_bytes() == expected(data, size)


@pytest.mark.parametrize(("size", "most"), [(16 * KIB, 2.3), (256 * KIB, 2.05)])
def test_the_plan_says_what_is_moved_to_the_byte(run: Run, tmp_path: Path, size: int, most: float) -> None:
    (tmp_path / "in").write_bytes(some_records(size, 8 * MIB // size))
    stats = sort(run, tmp_path, size)
    told = (stats["bytes_read"], stats["bytes_written"])
    assert told == (stats["plan"]["bytes_read"], stats["plan"]["bytes_written"])
    assert sum(told) <= most * stats["input_bytes"]


def test_several_inputs_and_keys_anywhere(run: Run, tmp_path: Path) -> None:
    """Some inputs are empty. Of the key one field is at the end of the record, and descends; others lie among each other."""
    size = 30_000
    keys = ["29996:u32:desc", "29900:13:nocase", "29990:2"]
    parts = [rng.randbytes(size * count).translate(bytes(b % 3 for b in range(256))) for count in (0, 70, 0, 1, 150, 0)]
    for number, part in enumerate(parts):
        (tmp_path / str(number)).write_bytes(part)
    words = [word for key in keys for word in ("--key", key)]
    stats = sort(run, tmp_path, size, *map(str, range(len(parts))), *words)
    assert stats["plan"]["shape"] == GATHERED
    gathered = (tmp_path / "out").read_bytes()
    sort(run, tmp_path, size, *map(str, range(len(parts))), *words, way="never")
    assert gathered == (tmp_path / "out").read_bytes()


def test_a_header_stays_in_front(run: Run, tmp_path: Path) -> None:
    size, head = 16 * KIB, b"what the records are"
    data = some_records(size, 300)
    (tmp_path / "in").write_bytes(head + data)
    assert sort(run, tmp_path, size, "in", "--skip-bytes", str(len(head)))["plan"]["shape"] == GATHERED
    assert (tmp_path / "out").read_bytes() == head + expected(data, size)


@pytest.mark.parametrize(
    ("size", "count", "words"),
    [
        (4096, 2000, ()),  # most of such a record would be read twice
        (4097, 2000, ()),
        (8192, 1000, ()),
        (16 * KIB, 1, ()),
        (16 * KIB, 0, ()),
        (16 * KIB, 400, ("--unique",)),
        (16 * KIB, 400, ("--limit", "3")),
        (16 * KIB, 400, ("--key", "0:9000")),
    ],
)
def test_what_is_sorted_in_runs(run: Run, tmp_path: Path, size: int, count: int, words: tuple[str, ...]) -> None:
    data = some_records(size, count)
    (tmp_path / "in").write_bytes(data)
    assert sort(run, tmp_path, size, "in", *words)["plan"]["shape"] != GATHERED
    keys = ["0:9000"] if "0:9000" in words else []
    assert (tmp_path / "out").read_bytes() == expected(data, size, keys)[: 3 * size if "--limit" in words else None]


def test_words_of_the_option(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(some_records(16 * KIB, 400))
    words = ("sort", "in", "-o", "out", "--record-size", "16384", *MEMORY)
    refused(run(*words, "sometimes", cwd=tmp_path), 2, "--gather", "auto")
    refused(run(*words, "always", "--resumable", cwd=tmp_path), 2, "--gather cannot be combined with --resumable")
    done = run("plan", *words, "auto", cwd=tmp_path)
    assert "where they lie, because a read" in done.stdout or "in runs, because" in done.stdout, done
    assert "as asked" in run("plan", *words, "always", cwd=tmp_path).stdout


# --- what may go wrong ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with the input and nothing else, whose last record comes last."""
    (tmp_path / "place").mkdir()
    data = bytearray(some_records(16 * KIB, 500))
    data[LAST : LAST + 10] = b"\xff" * 10
    (tmp_path / "place" / "in").write_bytes(data)
    return tmp_path / "place"


LAST = 499 * 16 * KIB
SORT = ("sort", "in", "-o", "out", "--record-size", "16384", *MEMORY, "always", "--io", "pool")


def write_in_keys(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(LAST + 5)
        file.write(b"\0")


def write_behind_keys(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(LAST + 12_000)
        file.write(b"other")


def shrink(path: Path) -> None:
    os.truncate(path, 100 * 16 * KIB)


def hidden(change: Callable[[Path], None]) -> Callable[[Path], None]:
    """The times of the file say nothing."""

    def change_and_hide(path: Path) -> None:
        before = path.stat()
        change(path)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    return change_and_hide


@pytest.mark.parametrize("change", [write_in_keys, write_behind_keys, shrink, hidden(write_in_keys), hidden(shrink)])
def test_an_input_that_changes_between_the_passes(
    ecosort: Path, tmp_path: Path, place: Path, change: Callable[[Path], None]
) -> None:
    """Stopped after the keys were read: the change is noticed, and nothing is written."""
    command = [*faults(tmp_path, "pread64:signal=STOP:when=540"), str(ecosort), *SORT]
    process = subprocess.Popen(command, cwd=place, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert stops(process)
    change(place / "in")
    process.send_signal(signal.SIGCONT)
    _, told = process.communicate(timeout=60)
    assert (process.returncode, CHANGED in told, "'in'" in told) == (3, True, True), told
    assert listing(place) == [str(place / "in")]


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("pread64:error=EIO:when=100", ["cannot read 'in'", "Input/output error"]),
        ("pread64:error=EIO:when=700", ["cannot read 'in'", "Input/output error"]),
        ("pwrite64:error=ENOSPC:when=2", ["cannot write", "No space left"]),
        ("fallocate:error=ENOSPC:when=1", ["cannot reserve", "No space left"]),
    ],
)
def test_calls_that_fail(ecosort: Path, tmp_path: Path, place: Path, rule: str, says: list[str]) -> None:
    command = [*faults(tmp_path, rule), str(ecosort), *SORT]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=60)
    refused(done, 3, *says)
    assert listing(place) == [str(place / "in")]


@pytest.mark.parametrize("when", [100, 700])
def test_a_signal_ends_it(ecosort: Path, tmp_path: Path, place: Path, when: int) -> None:
    command = [*faults(tmp_path, f"pread64:signal=STOP:when={when}"), str(ecosort), *SORT]
    process = subprocess.Popen(command, cwd=place, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert stops(process)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert listing(place) == [str(place / "in")]


def test_calls_that_are_interrupted(ecosort: Path, tmp_path: Path, place: Path) -> None:
    data = (place / "in").read_bytes()
    command = [*faults(tmp_path, "pread64:error=EINTR:when=20+2"), str(ecosort), *SORT]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=60)
    succeeded(done)
    assert (place / "out").read_bytes() == expected(data, 16 * KIB)
