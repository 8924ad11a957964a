"""Without --record-size and --key, `sort`, `inplace` and `plan` take only what looks like the records of the Sort Benchmark: text
whose size happens to be a multiple of 100 would be torn line by line."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from sort_support import MIB, Require, Run, expected, listing, make_records, mounted, refused, succeeded

LINES = b"".join(b"%09d\n" % (7919 * i % 100_000) for i in range(40_000))  # 400,000 bytes
ANY = ("--record-size", "100", "--key", "0:10")
Make = Callable[[str, int], bytes]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.log"
    path.write_bytes(LINES)
    return path


@pytest.mark.parametrize(
    "command",
    [["sort"], ["plan", "sort"], ["sort", "--resumable"], ["plan", "sort", "--resumable"], ["sort", "--memory", "2MiB"]],
    ids=" ".join,
)
def test_text_is_refused_with_the_commands_that_may_be_meant(run: Run, notes: Path, command: list[str]) -> None:
    done = run(*command, notes.name, "-o", "out", cwd=notes.parent)
    refused(done, 2, "'notes.log'", "ecosort lines notes.log -o", "ecosort sort --record-size 100 --key 0:10 notes.log -o")
    assert listing(notes.parent) == [str(notes)]


@pytest.mark.parametrize("command", [["inplace"], ["plan", "inplace"]], ids=" ".join)
def test_text_is_refused_in_place(run: Run, require: Require, tmp_path: Path, command: list[str]) -> None:
    require("loop_mount")
    with mounted(tmp_path, "ext4", 64 * MIB) as drive:
        (drive.root / "notes").write_bytes(LINES)
        done = run(*command, "notes", cwd=drive.root)
        refused(done, 2, "'notes'", "ecosort lines notes -o notes", "ecosort inplace --record-size 100 --key 0:10 notes")
        assert (drive.root / "notes").read_bytes() == LINES
        succeeded(run("inplace", "-q", *ANY, "notes", cwd=drive.root))
        assert (drive.root / "notes").read_bytes() == expected(LINES)


def test_text_from_a_pipe_is_refused_before_anything_is_written(ecosort: Path, tmp_path: Path) -> None:
    for output in ("-", "out"):
        done = subprocess.run([ecosort, "sort", "-", "-o", output], input=LINES, cwd=tmp_path, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1), done
        assert b"ecosort lines -" in done.stderr
        assert b"--record-size 100 --key 0:10 -" in done.stderr
    assert listing(tmp_path) == []


@pytest.mark.parametrize("words", [["--record-size", "100"], ["--key", "0:10"], list(ANY)], ids=" ".join)
def test_whoever_names_the_format_may_sort_anything(run: Run, ecosort: Path, notes: Path, words: list[str]) -> None:
    succeeded(run("sort", *words, notes, "-o", notes.parent / "out"))
    assert (notes.parent / "out").read_bytes() == expected(LINES)
    assert run("plan", "sort", *words, notes, "-o", notes.parent / "out").returncode == 0
    done = subprocess.run([ecosort, "sort", *words, "-", "-o", "-"], input=LINES, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, expected(LINES))


@pytest.mark.parametrize(
    "flags", [[], ["-a"], ["-s"], ["-a", "-s"], ["-b123456789012345678901234567890"], ["-a", "-b77"]], ids=str
)
@pytest.mark.parametrize("count", [0, 1, 2, 9, 1001])
def test_what_gen_makes_passes(run: Run, ecosort: Path, tmp_path: Path, flags: list[str], count: int) -> None:
    succeeded(run("gen", *flags, count, "in", cwd=tmp_path))
    succeeded(run("sort", "in", "-o", "out", cwd=tmp_path))
    data = (tmp_path / "in").read_bytes()
    assert (tmp_path / "out").read_bytes() == expected(data)
    succeeded(run("sort", "out", "-o", "again", cwd=tmp_path))  # what is sorted looks the same
    done = subprocess.run([ecosort, "sort", "-", "-o", "-"], input=data, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, expected(data), b"")


@pytest.mark.parametrize("at", ["begin", "middle", "end", "second input"])
def test_a_file_is_looked_at_in_several_places(run: Run, ecosort: Path, tmp_path: Path, at: str) -> None:
    records = make_records(ecosort, "binary", 4000)
    wrong = {"begin": 0, "middle": 1998, "end": 3999, "second input": 0}[at] * 100
    torn = records[:wrong] + LINES[:100] + records[wrong + 100 :]
    (tmp_path / "good").write_bytes(records)
    (tmp_path / "torn").write_bytes(torn)
    inputs = ["good", "torn"] if at == "second input" else ["torn"]
    refused(run("sort", *inputs, "-o", "out", cwd=tmp_path), 2, "'torn' does not look like")
