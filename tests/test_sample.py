"""`ecosort sample`: rows of a range with their places, drawn evenly, and splitters at the quantiles of many samples."""

import random
import subprocess
from pathlib import Path

import pytest
from partition_support import read_rows, records_of
from sort_support import Run, faults, key_function, listing, make_records, refused


def sample(run: Run, directory: Path, *words: object) -> list[tuple[bytes, int, int]]:
    done = run("sample", "records", *words, directory / "input", "-o", directory / "sample")
    assert (done.returncode, done.stderr) == (0, ""), done
    return read_rows(directory / "sample")


@pytest.mark.parametrize(
    ("size", "keys"), [(100, ["0:10"]), (16, ["8:8:desc", "0:2"]), (1, ["0:1"]), (5000, ["4000:3"])], ids=str
)
@pytest.mark.parametrize("count", [1, 7, 300, 100_000])
def test_rows_stand_where_it_says_and_are_in_order(run: Run, tmp_path: Path, size: int, keys: list[str], count: int) -> None:
    data = random.Random(size).randbytes(size * 2000).translate(b"ab\x00\xff" * 64)
    (tmp_path / "input").write_bytes(data)
    words = ["--record-size", size, *(word for key in keys for word in ("--key", key))]
    rows = sample(run, tmp_path, *words, "--count", count, "--source", 4)
    assert len(rows) == min(count, 2000)
    for row, source, offset in rows:
        assert (source, offset % size, data[offset : offset + size]) == (4, 0, row)
    key = key_function(size, keys)
    assert rows == sorted(rows, key=lambda row: (key(row[0]), row[1], row[2]))
    # One of each of `count` pieces of equal size.
    places = sorted(offset // size for _, _, offset in rows)
    pieces = len(rows)
    assert all(2000 * i // pieces <= place <= 2000 * (i + 1) // pieces for i, place in enumerate(places))


def test_a_range_gives_its_own_rows_alone(run: Run, tmp_path: Path) -> None:
    data = bytes(random.Random(8).randbytes(100 * 500))
    (tmp_path / "input").write_bytes(data)
    rows = sample(run, tmp_path, "--key", "0:10", "--count", 1000, "--from", 12_300, "--to", 20_000)
    assert sorted((offset, row) for row, _, offset in rows) == [
        (at, row) for row, at in records_of(data[12_300:20_000], 100, 12_300)
    ]
    assert sample(run, tmp_path, "--key", "0:10", "--count", 5, "--from", 500, "--to", 500) == []


def test_a_seed_draws_the_same_rows_and_another_one_others(run: Run, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(random.Random(9).randbytes(100 * 5000))
    words = ["--key", "0:10", "--count", 100]
    first = sample(run, tmp_path, *words, "--seed", 1)
    assert first == sample(run, tmp_path, *words, "--seed", 1)
    assert first != sample(run, tmp_path, *words, "--seed", 2)


def test_it_reads_little_of_a_large_file(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(make_records(ecosort, "ascii", 100_000))
    words: list[str | Path] = ["--count", "50", "--io", "pool", "-q", tmp_path / "input", "-o", tmp_path / "sample"]
    subprocess.run([*faults(tmp_path, "pread64"), ecosort, "sample", "records", *words], check=True)
    read = sum(int(line.rpartition("= ")[2]) for line in (tmp_path / "trace").read_text().splitlines())
    assert read <= 50 * 2 * 4096 + 64 * 1024  # what shows that the file is one of gensort's, too


def test_splitters_are_at_the_quantiles_of_all_samples(run: Run, tmp_path: Path) -> None:
    paths = []
    for source in range(3):
        (tmp_path / "input").write_bytes(random.Random(source).randbytes(16 * 1000))
        sample(run, tmp_path, "--record-size", 16, "--key", "0:16", "--count", 200, "--source", source)
        paths.append((tmp_path / "sample").rename(tmp_path / f"sample{source}"))
    everything = sorted(row for path in paths for row in read_rows(path))
    for parts in (1, 2, 7, 600, 1000):
        words = ["--record-size", 16, "--key", "0:16", "--merge", *paths, "--parts", parts]
        done = run("sample", "records", *words, "-o", tmp_path / "cut")
        assert (done.returncode, done.stderr) == (0, "")
        assert read_rows(tmp_path / "cut") == [everything[i * 600 // parts] for i in range(1, parts)]


def test_standard_output_gets_the_same_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(random.Random(1).randbytes(1000))
    words = ["sample", "records", "--key", "0:10", tmp_path / "input", "--count", 3, "-o"]
    assert run(*words, tmp_path / "sample").returncode == 0
    assert run(*words, "-").stdout == (tmp_path / "sample").read_text()


REFUSED = {
    "no count": (["input", "-o", "s"], "--count"),
    "no output": (["input", "--count", "1"], "no output"),
    "no input": (["--count", "1", "-o", "s"], "no input"),
    "two inputs": (["input", "input", "--count", "1", "-o", "s"], "name one file"),
    "parts without merge": (["input", "--count", "1", "--parts", "3", "-o", "s"], "--parts goes with --merge"),
    "no parts": (["--merge", "input", "-o", "s"], "--parts"),
    "too many parts": (["--merge", "input", "--parts", "70000", "-o", "s"], "65536"),
    "no samples": (["--merge", "--parts", "2", "-o", "s"], "no input"),
    "samples of standard input": (["--merge", "-", "--parts", "2", "-o", "s"], "no samples"),
    "a sample is the output": (["--merge", "input", "--parts", "2", "-o", "input"], "is a sample and would be replaced"),
    "merge with a range": (
        ["--merge", "input", "--parts", "2", "--from", "0", "-o", "s"],
        "--from cannot be combined with --merge",
    ),
    "merge of what is no sample": (["--merge", "input", "--parts", "2", "-o", "s"], "'input': line 1"),
    "half a record": (["odd", "--count", "1", "-o", "s"], "no multiple of the record size"),
    "the output is the input": (["input", "--count", "1", "-o", "input"], "input"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_is_refused_in_one_line(ecosort: Path, tmp_path: Path, kind: str) -> None:
    (tmp_path / "input").write_bytes(bytes(1000))
    (tmp_path / "odd").write_bytes(bytes(1001))
    before = listing(tmp_path)
    words, message = REFUSED[kind]
    done = subprocess.run([ecosort, "sample", "records", "--key", "0:10", *words], capture_output=True, text=True, cwd=tmp_path)
    refused(done, 2, message)
    assert listing(tmp_path) == before


@pytest.mark.parametrize("words", [["lines"], ["csv", "--by", "a"], ["jsonl", "--by", "a"]], ids=lambda words: words[0])
def test_a_sample_of_rows_does_not_replace_what_it_reads(run: Run, tmp_path: Path, words: list[str]) -> None:
    rows = b'{"a":1}\n' * 9 if words[0] == "jsonl" else b"a\n" * 9
    (tmp_path / "input").write_bytes(rows)
    (tmp_path / "link").symlink_to("input")
    for output in ("input", "link"):
        refused(run("sample", *words, tmp_path / "input", "--count", 3, "-o", tmp_path / output), 2, "is the input")
    refused(
        run("sample", *words, "--merge", "--parts", 3, "-o", tmp_path / "cut"),
        2,
        "no samples" if words == ["lines"] else "no input",
    )
    assert (tmp_path / "input").read_bytes() == rows
    assert sorted(path.name for path in tmp_path.iterdir()) == ["input", "link"]


@pytest.mark.parametrize("words", [["records", "--key", "0:1", "--record-size", 2], ["lines"], ["csv", "--by", "a"]], ids=str)
def test_all_formats_have_the_options_that_it_tells_of(run: Run, tmp_path: Path, words: list[object]) -> None:
    (tmp_path / "input").write_bytes(b"a\n" * 9)
    options = ["-q", "--threads", 2, *(["--memory", "64MiB"] if words[0] != "lines" else [])]
    done = run("sample", *words, *options, tmp_path / "input", "--count", 3, "-o", tmp_path / "sample")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_sample_is_no_file_of_splitters(run: Run, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(b"abcdefghi\n" * 300)
    (tmp_path / "out").mkdir()
    assert run("sample", "lines", tmp_path / "input", "--count", 3, "-o", tmp_path / "sample").returncode == 0
    places = ["--report", tmp_path / "report", "-o", tmp_path / "out"]
    told = refused(run("partition", "lines", tmp_path / "input", "--splitters", tmp_path / "sample", *places), 2)
    assert "is a sample, of 3 rows" in told
    assert "--merge" in told
    assert list((tmp_path / "out").iterdir()) == []
