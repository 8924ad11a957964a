"""Calls that fail while tables are sorted: each ends the sort with exit 3, its reason, and nothing left behind."""

import functools
import gzip
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from pairs import turns
from sort_support import faults, listing

FAULTS = [
    ("pread64:error=EIO:when=1", "Input/output error"),
    ("pread64:error=EIO:when=3", "Input/output error"),
    ("pwrite64:error=EIO:when=1", "Input/output error"),
    ("pwrite64:error=ENOSPC:when=2", "No space left"),
    ("pwrite64:error=EIO:when=7", "Input/output error"),
    ("fsync:error=EIO:when=1", "Input/output error"),
    ("fdatasync:error=EIO:when=1", "Input/output error"),
]


@dataclass(frozen=True)
class Sort:
    """`name` holds the rows; `words` sort them."""

    name: str
    words: tuple[str, ...]
    output: str = "out"


SORTS = {
    "csv": Sort("in.csv", ("csv", "--no-header", "--by", "1:integer", "--memory", "2MiB")),
    "csv, packed runs": Sort("in.csv", ("csv", "--no-header", "--by", "2", "--memory", "2MiB", "--compress=zstd")),
    "csv.gz": Sort("in.csv.gz", ("csv", "--no-header", "--by", "1", "--memory", "16MiB"), "out.gz"),
    "csv.gz, runs": Sort("in.csv.gz", ("csv", "--no-header", "--by", "1", "--memory", "2MiB"), "out.csv"),
    "jsonl": Sort("in.jsonl", ("jsonl", "--by", "n:integer", "--memory", "2MiB")),
    "jsonl --unique": Sort("in.jsonl", ("jsonl", "--by", "n:integer", "--unique", "--memory", "2MiB")),
}


@functools.cache
def rows_of(name: str) -> bytes:
    rng = random.Random(4)
    numbers = [rng.randrange(10**7) for _ in range(100_000)]
    if "jsonl" in name:
        return b"".join(b'{"n": %d, "text": "%d"}\n' % (number, rng.getrandbits(120)) for number in numbers)
    text = b"".join(b'%d,"%d, %d"\n' % (number, rng.getrandbits(60), number) for number in numbers)
    return gzip.compress(text, 1) if name.endswith(".gz") else text


@pytest.mark.parametrize(("name", "fault", "says"), [(name, *fault) for fault, name in turns(FAULTS, list(SORTS), rounds=3)])
def test_failed_calls_leave_nothing(ecosort: Path, tmp_path: Path, name: str, fault: str, says: str) -> None:
    sort = SORTS[name]
    place = tmp_path / "place"
    place.mkdir()
    (place / sort.name).write_bytes(rows_of(sort.name))
    before = listing(place)
    command = [*faults(tmp_path, fault), str(ecosort), *sort.words, "--io", "pool", sort.name, "-o", sort.output]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3, done.stderr
    assert says in done.stderr
    assert listing(place) == before
