"""Sorts of each kind by four threads, under ThreadSanitizer, which ends the program where two of them meet unordered.

`make races` runs this and the C++ tests of threads with the kernels of each level that this processor has.
"""

import random
import subprocess
from pathlib import Path

import pytest
from capabilities import require
from sort_support import MIB, expected, mounted, sanitizers

pytestmark = pytest.mark.skipif("thread" not in sanitizers(), reason="make races runs this, with ThreadSanitizer")
THREADS = ("--threads", "4", "--memory", "2MiB")
RECORDS, ROWS = 60_000, 40_000
BACKENDS = ("pool", "uring")


@pytest.fixture
def place(ecosort: Path, tmp_path: Path) -> Path:
    """A directory with records, lines, CSV and JSON lines."""
    subprocess.run([ecosort, "gen", "-a", str(RECORDS), tmp_path / "records"], check=True)
    values = random.Random(1)
    rows = [(number, f"name {values.randrange(500)}", values.randrange(10**9) / 100) for number in range(ROWS)]
    (tmp_path / "lines").write_text("".join(f"{price} {name}\n" for _, name, price in rows))
    (tmp_path / "rows.csv").write_text("number,name,price\n" + "".join(f"{n},{name},{price}\n" for n, name, price in rows))
    (tmp_path / "rows.jsonl").write_text("".join(f'{{"name":"{name}","price":{price}}}\n' for _, name, price in rows))
    return tmp_path


def run(ecosort: Path, place: Path, *words: str | Path) -> None:
    done = subprocess.run([ecosort, *words], cwd=place, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stderr[-8000:]


@pytest.mark.parametrize("io", BACKENDS)
def test_records(ecosort: Path, place: Path, io: str) -> None:
    for name, *options in (
        ("packed", "--compress=zstd", "--temp", "."),
        ("kept", "--resumable"),
        ("unique", "--unique", "--temp", "."),
    ):
        run(ecosort, place, "sort", *THREADS, "--io", io, *options, "records", "-o", name)
        assert (place / name).read_bytes() == expected((place / "records").read_bytes())
    run(ecosort, place, "merge", *THREADS, "--io", io, "packed", "kept", "-o", "merged")
    run(ecosort, place, "check", "merged")


@pytest.mark.parametrize("io", BACKENDS)
def test_rows(ecosort: Path, place: Path, io: str) -> None:
    by = ("--by", "name", "--by", "price:number:desc")
    run(ecosort, place, "lines", "--parallel", "4", "-S", "2M", "--io", io, "-T", ".", "lines", "-o", "sorted.lines")
    run(ecosort, place, "csv", *THREADS, "--io", io, "--temp", ".", *by, "rows.csv", "-o", "sorted.csv")
    run(ecosort, place, "jsonl", *THREADS, "--io", io, "--temp", ".", "--compress=zstd", *by, "rows.jsonl", "-o", "sorted.jsonl")
    run(ecosort, place, "shuffle", *THREADS, "--io", io, "--temp", ".", "--seed", "1", "lines", "-o", "shuffled")
    run(ecosort, place, "lines", "--parallel", "4", "-S", "2M", "shuffled", "-o", "again")
    assert (place / "again").read_bytes() == (place / "sorted.lines").read_bytes()


def test_in_place(ecosort: Path, place: Path) -> None:
    require("loop_mount")
    with mounted(place, "ext4", 64 * MIB) as drive:
        for name in ("records", "lines"):
            (drive.root / name).write_bytes((place / name).read_bytes())
        run(ecosort, drive.root, "inplace", "--memory", "2MiB", "--threads", "4", "records")
        assert (drive.root / "records").read_bytes() == expected((place / "records").read_bytes())
        run(ecosort, drive.root, "lines", "--inplace", "--parallel", "4", "-S", "4M", "lines")
        assert (drive.root / "lines").read_bytes() == b"".join(sorted((place / "lines").read_bytes().splitlines(keepends=True)))
