"""One sort whose inputs or output are addresses: the same bytes as with files, or no output and one line."""

import gzip
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ecosort.parquet import main as sort_parquet
from ecosort.remote import addresses, ranges
from ecosort.remote import sort as remote

from ecosort import IoFailed

from .cluster.s3_peer import Bucket, reached


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch, here: Path) -> Iterator[Bucket]:
    """One that AWS_* variables lead to."""
    with reached(monkeypatch) as held:
        yield held


@pytest.fixture
def words_of(run: Callable[..., Any], here: Path) -> Callable[..., list[str]]:
    """Gives words to the program, and returns those that it gives to ecosort-remote, or the line of its error."""
    tool = here / "bin" / "ecosort-remote"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    tool.chmod(0o755)

    def of(*words: str) -> list[str]:
        done = run(*words, env={**os.environ, "PATH": f"{tool.parent}:/usr/bin:/bin"})
        assert done.stderr.count("\n") == (done.returncode != 0)
        return str(done.stdout or done.stderr).splitlines()

    return of


def test_the_catalog_splits_the_words(words_of: Callable[..., list[str]]) -> None:
    """The name of the output says how it is compressed, and the program does not see it."""
    assert words_of("csv", "--by=x", "-qo", "s3://b/o.zst", "a", "s3://b/i.gz") == [
        "csv", "--by=x", "--quiet", "--output=s3://b/o.zst", "--compress-output=zstd", "--", "a", "s3://b/i.gz",
    ]  # fmt: skip
    assert words_of("lines", "-t", ",", "-k2,2n", "http://h/i") == [
        "lines", "--field-separator=,", "--key=2,2n", "--compress-output=none", "--", "http://h/i",
    ]  # fmt: skip
    assert words_of("csv", "--by", "x", "in", "-o", "https://h/o") == [
        "ecosort: 'https://h/o': nothing can be written over http; name a file or s3://BUCKET/KEY"
    ]
    assert "--resumable and --inplace are for files of this machine" in words_of(
        "sort", "--record-size=8", "--key=0:8", "--resumable", "s3://b/i", "-o", "o"
    )[0]  # fmt: skip
    assert words_of("merge", "--lines", "-n", "a", "s3://b/i", "-o", "s3://b/o") == [
        "merge", "--lines", "--numeric-sort", "--output=s3://b/o", "--compress-output=none", "--", "a", "s3://b/i",
    ]  # fmt: skip
    assert words_of("shuffle", "s3://b/i", "--csv", "-o-") == [
        "shuffle", "--csv", "--output=-", "--compress-output=none", "--", "s3://b/i",
    ]  # fmt: skip
    assert words_of("check", "csv", "s3://b/i", "--by=x") == ["check", "csv", "--by=x", "--", "s3://b/i"]
    assert words_of("check", "-o", "sum", "-i", "a", "s3://b/i") == ["check", "-o", "sum", "-i", "--", "a", "s3://b/i"]
    assert "fetch the file and its claim first" in words_of("check", "--claim", "s3://b/i")[0]
    for words in (["s3://b/i", "-o", "o"], ["i", "-o", "s3://b/o"]):
        assert "--claim cannot be combined with an address" in words_of("lines", "--claim", *words)[0]
    assert "runs of jobs are files of this machine" in words_of("merge", "--runs", "s3://b/i", "-o", "o")[0]
    assert "give its size with --assume-size" in words_of("plan", "csv", "--by=x", "s3://b/i", "-o", "o")[0]
    for output in (["-o", "s3://b/o"], ["--output=s3://b/o"]):
        assert words_of("plan", "lines", "i", *output) == [
            "ecosort: plan: 's3://b/o' is on no drive of this machine; name a file with -o"
        ]
    assert words_of("csv", "--by", "http://h", "none", "-o", "o") == ["ecosort: cannot read: none: No such file or directory"]


def test_objects_and_files_are_sorted_together(bucket: Bucket, here: Path) -> None:
    """Compressed or not, by a prefix, with the tab of names that end with .tsv."""
    bucket.objects |= {"d/a.tsv.bgz": gzip.compress(b"x\ty\n3\ta\n1\tb\n"), "d/b.tsv": b"x\ty\n2\tc\n"}
    Path("c.tsv").write_bytes(b"x\ty\n0\td\n")
    words = ["csv", "--by=x:integer", "--quiet", "--output=out.gz", "--compress-output=gzip"]
    assert remote.main([*words, "--", "s3://bucket/d/", "c.tsv"]) == 0
    assert gzip.decompress(Path("out.gz").read_bytes()) == b"x\ty\n0\td\n1\tb\n2\tc\n3\ta\n"


@pytest.mark.parametrize("other", ["s3://bucket/b.csv", "b.csv"])
def test_commas_and_tabs_by_name_do_not_mix(bucket: Bucket, capfd: Any, other: str) -> None:
    """They are refused as those of files are. The rows of one of them would have a single column."""
    bucket.objects |= {"a.tsv": b"x\ty\n1\ta\n", "b.csv": b"x,y\n2,b\n"}
    Path("b.csv").write_bytes(bucket.objects["b.csv"])
    assert remote.main(["csv", "--by=x", "--output=out", "--", "s3://bucket/a.tsv", other]) == 2
    said = f"s3://bucket/a.tsv and {other} have different delimiters by their names; name one"
    assert capfd.readouterr().err == f"ecosort: {said}\n"


def test_an_input_that_breaks_off_makes_no_output(bucket: Bucket, monkeypatch: Any, capfd: Any) -> None:
    """Its end would look like that of the input. What was there stays."""
    bucket.objects["in"] = b"b\na\n"
    Path("out").write_text("before")

    def broken(*_: object) -> Iterator[bytes]:
        yield b"b\n"
        raise IoFailed("'s3://bucket/in' cannot be read from byte 2 on: gone")

    monkeypatch.setattr(remote, "read_range", broken)
    assert remote.main(["lines", "--output=out", "--", "s3://bucket/in"]) == 3
    assert capfd.readouterr().err == "ecosort: 's3://bucket/in' cannot be read from byte 2 on: gone\n"
    assert sorted(path.name for path in Path().iterdir()) == ["out"]
    assert Path("out").read_text() == "before"


def test_a_replaced_file_keeps_its_mode(bucket: Bucket, capfd: Any) -> None:
    """Private rows became readable by all. What is lost is said, unless the sort is quiet."""
    bucket.objects["in"] = b"b\na\n"
    Path("out").write_bytes(b"before")
    Path("out").chmod(0o600)
    Path("other").hardlink_to("out")
    assert remote.main(["lines", "--output=out", "--", "s3://bucket/in"]) == 0
    assert Path("out").read_bytes() == b"a\nb\n"
    assert Path("out").stat().st_mode & 0o777 == 0o600
    lost = "its other names (1 hard link), where the old contents stay"
    assert capfd.readouterr().err.endswith(f"ecosort: could not keep of the replaced '{Path().resolve()}/out': {lost}\n")
    Path("other").unlink()
    Path("other").hardlink_to("out")
    assert remote.main(["lines", "--quiet", "--output=out", "--", "s3://bucket/in"]) == 0
    assert capfd.readouterr().err == ""


def test_a_request_that_breaks_off_is_made_again(bucket: Bucket, monkeypatch: Any) -> None:
    bucket.objects["in"] = b"".join(b"%d\n" % (n * 7919 % 1000) for n in range(1000))
    asked: list[int] = []
    whole = ranges._pieces

    def breaking(url: str, version: Any, begin: int, end: int) -> Iterator[bytes]:
        asked.append(begin)
        yield from whole(url, version, begin, min(begin + 1000, end))
        if begin + 1000 < end:
            raise addresses.Passing("broken")

    monkeypatch.setattr(ranges, "_pieces", breaking)
    assert remote.main(["lines", "--numeric-sort", "--output=out", "--", "s3://bucket/in"]) == 0
    assert Path("out").read_bytes() == b"".join(b"%d\n" % n for n in range(1000))
    assert asked == list(range(0, len(bucket.objects["in"]), 1000))


@pytest.mark.parametrize(
    ("key", "words", "code", "line"),
    [
        ("none", ["csv", "--by=x"], 2, "'s3://bucket/none' is not there"),
        ("in", ["csv", "--by=z"], 2, "s3://bucket/in: no column 'z'; there are: x, y"),
        ("", ["--by=x"], 2, "this program is a part of ecosort"),
    ],
)
def test_errors_are_one_line_with_the_address(
    bucket: Bucket, capfd: Any, key: str, words: list[str], code: int, line: str
) -> None:
    bucket.objects["in"] = b"x,y\n1,2\n"
    assert remote.main([*words, "--output=out", *(["--", f"s3://bucket/{key}"] if key else [])]) == code
    said = capfd.readouterr().err
    assert line in said
    assert said.count("\n") == 1
    assert list(Path().iterdir()) == []


def test_parquet_is_read_where_it_is(bucket: Bucket, here: Path) -> None:
    """By range requests, and by a prefix."""
    for name, values in (("p/a", [3, 1]), ("p/b", [2])):
        pq.write_table(pa.table({"x": values}), "one")
        bucket.objects[name] = Path("one").read_bytes()
    request = {"inputs": ["s3://bucket/p/"], "table": {"keys": ["x"]}, "place": {"output": "o.parquet"}}
    assert sort_parquet([json.dumps(request | {"reports": {"quiet": True}})]) == 0
    assert pq.read_table("o.parquet").column("x").to_pylist() == [1, 2, 3]


def test_records_of_several_inputs_are_whole(bucket: Bucket, capfd: Any) -> None:
    """They come through one pipe, in which a part of a record would move all others."""
    bucket.objects |= {"a": b"ddbb", "b": b"aac"}
    Path("c").write_bytes(b"cc")
    words = ["sort", "--record-size=2", "--key=0:2", "--quiet", "--output=out", "--"]
    assert remote.main([*words, "s3://bucket/a", "c"]) == 0
    assert Path("out").read_bytes() == b"bbccdd"
    assert remote.main([*words, "c", "s3://bucket/b"]) == 2
    assert capfd.readouterr().err == "ecosort: 's3://bucket/b' has 3 bytes, which are no whole records of 2 bytes\n"


def _written() -> None:
    Path("c").write_bytes(b"zz")


def _written_with_the_same_time() -> None:
    before = Path("c").stat().st_mtime_ns
    _written()
    os.utime("c", ns=(before, before))


def _replaced() -> None:
    shutil.copy2("c", "new")
    Path("new").replace("c")


def _longer() -> None:
    with Path("c").open("ab") as file:
        file.write(b"zz")


@pytest.mark.parametrize("inputs", [["c", "s3://bucket/a"], ["s3://bucket/a", "c"]], ids=["after it is read", "before"])
@pytest.mark.parametrize("change", [_written, _written_with_the_same_time, _replaced, _longer])
def test_a_file_that_changes_makes_no_output(
    bucket: Bucket, monkeypatch: Any, capfd: Any, inputs: list[str], change: Callable[[], None]
) -> None:
    """The program reads a pipe and cannot notice it: rows of before and after were mixed."""
    bucket.objects["a"] = b"ddbb"
    Path("c").write_bytes(b"cc")
    os.utime("c", (1, 1))
    whole = ranges.read_range

    def changing(*given: Any) -> Iterator[bytes]:
        time.sleep(0.02)  # the clock of the file system ticks
        change()
        yield from whole(*given)

    monkeypatch.setattr(remote, "read_range", changing)
    assert remote.main(["sort", "--record-size=2", "--key=0:2", "--quiet", "--output=out", "--", *inputs]) == 3
    assert capfd.readouterr().err == "ecosort: 'c' changed while it was read; sort it when nothing writes to it\n"
    assert not Path("out").exists()


def test_an_object_that_changes_ends_the_sort_as_a_file_does(bucket: Bucket, monkeypatch: Any, capfd: Any) -> None:
    """It ended with the code of wrong words, 2."""
    bucket.objects["in"] = b"b\na\n"

    def changed(url: str, *_: object) -> Iterator[bytes]:
        yield b"b\n"
        raise addresses.Changed(url)

    monkeypatch.setattr(remote, "read_range", changed)
    assert remote.main(["lines", "--output=out", "--", "s3://bucket/in"]) == 3
    assert capfd.readouterr().err == "ecosort: 's3://bucket/in' changed while it was read; sort it again\n"
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["shuffle", "--record-size=2", "--seed=7"],
        ["shuffle", "--seed=7", "--skip=1"],
        ["merge", "--record-size=2", "--key=0:2"],
        ["merge", "--lines"],
    ],
    ids=" ".join,
)
def test_other_commands_stream_as_well(bucket: Bucket, words: list[str]) -> None:
    """With the bytes that they make of files, of which each has a pipe."""
    contents = {"a": b"a\nc\n", "b": b"b\nd\n"}
    bucket.objects |= contents
    for name, content in contents.items():
        Path(name).write_bytes(content)
    assert remote.main([*words, "--quiet", "--output=of-addresses", "--", "s3://bucket/a", "s3://bucket/b"]) == 0
    assert remote.main([*words, "--quiet", "--output=of-files", "--", "a", "b"]) == 0
    assert Path("of-addresses").read_bytes() == Path("of-files").read_bytes() != b""


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["check", "lines", "--", "s3://bucket/in"], 0, "SUCCESS - all lines are in order"),
        (["check", "lines", "--reverse", "--", "s3://bucket/in"], 1, "First line out of order is line 2: b"),
        (["check", "records", "--record-size=2", "--key=0:2", "--", "s3://bucket/in"], 0, "Rows: 3"),
        (["check", "--", "s3://bucket/first", "s3://bucket/last"], 0, "Records: 3"),
    ],
)
def test_the_order_of_objects_is_checked(bucket: Bucket, capfd: Any, words: list[str], code: int, told: str) -> None:
    bucket.objects |= {"in": b"a\nb\nc\n", "first": b"a" * 100 + b"b" * 100, "last": b"c" * 100}
    assert remote.main(words) == code
    assert told in capfd.readouterr().err
