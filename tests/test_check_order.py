"""ecosort check FORMAT: order, equal keys, count and hash of files of any format, by any keys."""

import gzip
import json
import random
import struct
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


def stats_of(run: Run, tmp_path: Path, *words: str | Path | int, code: int = 0) -> dict[str, Any]:
    result = run(*words, "--stats", tmp_path / "stats")
    assert result.returncode == code, result.stderr
    found: dict[str, Any] = json.loads((tmp_path / "stats").read_text())
    return found


CASES: list[tuple[str, list[str], list[bytes], bytes]] = [
    ("csv", ["--by", "n:number"], [b"%d,x\n" % (n // 2) for n in range(1000)], b"n,t\n"),
    ("jsonl", ["--by", "n:number"], [b'{"n":%d}\n' % (n // 2) for n in range(1000)], b""),
    ("lines", ["-s", "-k1,1n"], [b"%d x\n" % (n // 2) for n in range(1000)], b""),
    ("records", ["--record-size", "9", "--key", "1:u64"], [b"x" + struct.pack("<Q", n // 2) for n in range(150_000)], b""),
]


@pytest.mark.parametrize(("name", "keys", "rows", "top"), CASES, ids=[case[0] for case in CASES])
def test_what_is_found(run: Run, tmp_path: Path, name: str, keys: list[str], rows: list[bytes], top: bytes) -> None:
    source = tmp_path / "in"

    def check(order: Sequence[bytes], *more: str, code: int = 0) -> dict[str, Any]:
        source.write_bytes(top + b"".join(order))
        return stats_of(run, tmp_path, "check", name, *keys, *more, source, code=code)

    found = check(rows)
    assert found["schema"] == "ecosort.check/1"
    assert (found["rows"], found["equal_keys"], found["rows_out_of_order"]) == (len(rows), len(rows) // 2, 0)
    assert found["is_in_order"]
    assert found["first_out_of_order"] is None

    found = check(rows, "--unique", code=1)
    number = 2 if name == "records" else 2 + top.count(b"\n")
    assert (found["rows_out_of_order"], found["first_out_of_order"]) == (0, number)

    swapped = rows.copy()
    swapped[7], swapped[500] = swapped[500], swapped[7]
    swapped[-1], swapped[-40] = swapped[-40], swapped[-1]
    found = check(swapped, code=1)
    assert not found["is_in_order"]
    assert found["rows_out_of_order"] == 4
    assert found["first_out_of_order"] == 9 + top.count(b"\n")

    mixed = rows.copy()
    random.Random(1).shuffle(mixed)
    source.write_bytes(top + b"".join(mixed))
    command = "sort" if name == "records" else name
    sort = stats_of(run, tmp_path, command, *keys, source, "-o", tmp_path / "out")
    assert stats_of(run, tmp_path, "check", name, *keys, tmp_path / "out")["hash"] == sort["hash"] == found["hash"]


def test_the_report_is_for_people(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("n\n1\n3\n2\n2\n")
    result = run("check", "csv", "--by", "n:number", tmp_path / "in")
    assert result.returncode == 1
    assert result.stderr.splitlines()[0] == "First row out of order is line 4: 2"
    assert result.stderr.splitlines()[1] == "Rows: 4"
    assert result.stderr.splitlines()[-1] == "ERROR - there are 1 rows out of order"
    assert run("check", "csv", "--by", "n:number", "--quiet", tmp_path / "in").stderr == ""


def test_records_behind_a_header(run: Run, tmp_path: Path) -> None:
    """The header stays in front, whatever its size and that of blocks; files with others are refused."""
    chance = random.Random(4)
    for skip in (1, 54, 4096, 70_001):
        head = chance.randbytes(skip)
        rows = [struct.pack("<IQ", n, chance.getrandbits(16)) for n in range(120_000)]
        (tmp_path / "a").write_bytes(head + b"".join(rows[:50_000]))
        (tmp_path / "b").write_bytes(head + b"".join(rows[50_000:]))
        words = ["--record-size", "12", "--key", "4:u64", "--skip-bytes", str(skip)]
        for memory in ("2MiB", "64MiB"):
            result = run("sort", *words, "--memory", memory, "--verify=reread", "a", "b", "-o", "out", cwd=tmp_path)
            assert result.returncode == 0, result.stderr
            data = (tmp_path / "out").read_bytes()
            assert data == head + b"".join(sorted(rows, key=lambda row: struct.unpack("<IQ", row)[1]))
        assert stats_of(run, tmp_path, "check", "records", *words, tmp_path / "out")["rows"] == len(rows)
        (tmp_path / "none").write_bytes(head)
        for without_records in (["none"], ["a", "--limit", "0"]):
            result = run("sort", *words, *without_records, "--memory", "2MiB", "--verify=reread", "-o", "out", cwd=tmp_path)
            assert (result.returncode, (tmp_path / "out").read_bytes() == head) == (0, True), result.stderr
    (tmp_path / "b").write_bytes(bytes(70_001))
    result = run("sort", *words, "a", "b", "-o", "out", cwd=tmp_path)
    assert result.returncode == 2
    assert "all files must begin alike" in result.stderr
    for more in (["--resumable", "a"], ["-"]):
        assert run("sort", *words, *more, "-o", "out", cwd=tmp_path).returncode == 2


def test_a_file_that_is_called_like_a_format(run: Run, tmp_path: Path) -> None:
    assert run("gen", 10, "lines", cwd=tmp_path).returncode == 0
    assert "Records: 10" in run("check", "lines", cwd=tmp_path).stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["csv"], "no key"),
        (["csv", "--by", "n", "--resumable"], "--resumable means nothing here"),
        (["lines", "-o", "out"], "--output means nothing here"),
        (["records", "--record-size", "7"], "the last 1 bytes are no whole record of 7 bytes"),
        (["lines", "in"], "one file"),
    ],
)
def test_what_cannot_be_checked(run: Run, tmp_path: Path, words: list[str], line: str) -> None:
    (tmp_path / "in").write_text("n\n1\n2\n3\n")
    result = run("check", *words, "in", cwd=tmp_path)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert line in result.stderr


def test_compressed_lines_are_told(run: Run, tmp_path: Path) -> None:
    """A whole archive is one row in order: without the line the success would mislead."""
    (tmp_path / "in.gz").write_bytes(gzip.compress(b"b\na\n", mtime=0))
    told = "in.gz (gzip): is compressed, and read as it is; for what is in it, give --decompress=auto"
    assert told in run("check", "lines", tmp_path / "in.gz").stderr
    unpacked = run("check", "lines", "--decompress=auto", tmp_path / "in.gz")
    assert unpacked.returncode == 1
    assert "Rows: 2\n" in unpacked.stderr
    assert "compressed" not in unpacked.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["b.json"], "name one request, or - for standard input"),
        (["--decompress"], "no such option: '--decompress' (see ecosort check --request --help)"),
    ],
)
def test_a_check_of_a_request_names_itself(run: Run, words: list[str], line: str) -> None:
    """It reads the words of `run`, which no one typed."""
    result = run("check", "--request", "a.json", *words)
    assert (result.returncode, result.stderr) == (2, f"ecosort: check --request: {line}\n")
