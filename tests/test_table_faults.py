"""Calls that fail while tables are sorted: each ends the sort with exit 3, its reason, and nothing left behind."""

import gzip
import random
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from sort_support import Require, listing

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


def rows_of(name: str) -> bytes:
    rng = random.Random(4)
    numbers = [rng.randrange(10**7) for _ in range(100_000)]
    if "jsonl" in name:
        return b"".join(b'{"n": %d, "text": "%d"}\n' % (number, rng.getrandbits(120)) for number in numbers)
    text = b"".join(b'%d,"%d, %d"\n' % (number, rng.getrandbits(60), number) for number in numbers)
    return gzip.compress(text, 1) if name.endswith(".gz") else text


def behind_loading(ecosort: Path, directory: Path, fault: str) -> str:
    """The fault with its number counted from the program's own calls on: loading its libraries takes some, too."""
    if not fault.startswith("pread64"):
        return fault
    trace = directory / "trace"
    loading = ["strace", "-f", "-q", "-o", trace, "-e", "trace=pread64", ecosort, "--version"]
    subprocess.run(loading, stdout=subprocess.DEVNULL, check=True)
    own = trace.read_text().count("pread64(")
    trace.unlink()
    return re.sub(r"when=(\d+)", lambda when: f"when={int(when.group(1)) + own}", fault)


@pytest.mark.parametrize(("fault", "says"), FAULTS)
@pytest.mark.parametrize("sort", SORTS.values(), ids=list(SORTS))
def test_failed_calls_leave_nothing(ecosort: Path, tmp_path: Path, require: Require, sort: Sort, fault: str, says: str) -> None:
    require("strace")
    (tmp_path / sort.name).write_bytes(rows_of(sort.name))
    before = listing(tmp_path)
    fault = behind_loading(ecosort, tmp_path, fault)
    trace = ["strace", "-f", "-q", "-o", "/dev/null", "-e", f"trace={fault.split(':')[0]}", "-e", f"inject={fault}"]
    words = [*sort.words, "--io", "pool", sort.name, "-o", sort.output]
    done = subprocess.run([*trace, str(ecosort), *words], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3, done.stderr
    assert says in done.stderr
    assert listing(tmp_path) == before
