"""sort(): what each kind of `src` and `dst` gives, which format is taken, and what is refused."""

import contextlib
import gzip
import io
import json
import lzma
import os
import pickle
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ecosort.cluster
import numpy as np
import pytest
from ecosort.codec_names import is_named_tsv, split_codec
from ecosort.options import MEMBERS
from sort_support import listing

from ecosort import (
    BadInput,
    LineKey,
    NotEnoughMemory,
    Options,
    OutputExists,
    Report,
    Request,
    at,
    col,
    field,
    find_program,
    sort,
)
from python.support import child_pids, is_sort, start_python, works_in

CSV = b"name,price\nink,10\npen,2.50\ncap,30\n"
BY_PRICE = b"name,price\ncap,30\nink,10\npen,2.50\n"


def pairs(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}Q", *numbers)


@pytest.mark.parametrize(
    ("name", "data", "options", "expected"),
    [
        ("in.csv", CSV, {"by": lambda: [col("price").number().desc(), "name"]}, BY_PRICE),
        ("in.csv.gz", gzip.compress(CSV, mtime=0), {"by": "price:number:desc"}, BY_PRICE),
        ("in.csv.bgz", gzip.compress(CSV, mtime=0), {"by": "price:number:desc"}, BY_PRICE),
        ("in.tsv.bgz", gzip.compress(b"a\tb\n2\tx\n10\ty\n", mtime=0), {"by": "a:number:desc"}, b"a\tb\n10\ty\n2\tx\n"),
        ("in.tsv", b"a\tb\n2\tx\n10\ty\n", {"by": "a:number:desc"}, b"a\tb\n10\ty\n2\tx\n"),
        ("in.JSONL", b'{"a":{"b":10}}\n{"a":{"b":9}}\n', {"by": lambda: col("a.b").number()}, b'{"a":{"b":9}}\n{"a":{"b":10}}\n'),
        ("in.txt", b"b 9\na 10\n", {}, b"a 10\nb 9\n"),
        ("in.txt.gz", gzip.compress(b"b 9\na 10\n", mtime=0), {}, b"a 10\nb 9\n"),
        ("in.log", b"b 9\na 10\n", {"by": [field(2).numeric()]}, b"b 9\na 10\n"),
        ("in.log", b"9\n10\n", {"ordering": "n", "reverse": True}, b"10\n9\n"),
        ("in", b"b 9\na 10\n", {"by": field(2).numeric().desc()}, b"a 10\nb 9\n"),
        ("in", pairs(1, 3, 2, 2), {"by": at(8).u64(), "record_size": 16}, pairs(2, 2, 1, 3)),
        ("in", pairs(1, 2), {"by": "0:u64:desc", "record_size": 8}, pairs(2, 1)),
        ("in.dat", CSV, {"format": "csv", "by": "name", "memory": 1 << 24}, b"name,price\ncap,30\nink,10\npen,2.50\n"),
    ],
)
def test_the_format_is_that_of_the_name_or_of_the_keys(
    here: Path, name: str, data: bytes, options: dict[str, Any], expected: bytes
) -> None:
    (here / name).write_bytes(data)
    # The program, which knows the types, is not there yet when the table above is made.
    options = {option: value() if callable(value) else value for option, value in options.items()}
    report = sort(name, "out", **options)
    assert isinstance(report, Report)
    assert (here / "out").read_bytes() == expected
    if name == "in.JSONL":
        assert report.records == 2
    with sort(here / name, **options) as reader:
        assert reader.read() == expected
        assert reader.read() == b""
        assert reader.report.hash == report.hash
    target = io.BytesIO()
    with (here / name).open("rb") as file:
        assert sort(file, target, **options).hash == report.hash
    assert target.getvalue() == expected
    with (here / name).open("rb") as file, (here / "text").open("w") as text:
        sort(file, text, Options(**options), unique=False)
    assert (here / "text").read_bytes() == expected
    with (here / name).open("rb") as file, pytest.raises(OutputExists):
        sort(file, "out", **options)


def test_patterns_and_lists_are_files(here: Path) -> None:
    for number in (3, 1, 2):
        Path(f"in{number}.txt").write_text(f"{number}\n")
    assert sort("in*.txt").read() == sort(["in1.txt", Path("in[23].txt")]).read() == b"1\n2\n3\n"
    assert sort(here.glob("in?.txt")).read() == b"1\n2\n3\n"
    Path("in[1].txt").write_text("a name\n")
    assert sort("in[1].txt").read() == b"a name\n"
    sort("in1.txt", "-")
    assert sort("-", format="lines").read() == Path("-").read_bytes() == b"1\n"
    sort(("in1.txt", "in2.txt"), "merged", input_order="sorted", format="lines")
    assert Path("merged").read_text() == "1\n2\n"
    with pytest.raises(BadInput, match=r"no file matches 'no\*'"):
        sort("no*")
    with pytest.raises(ecosort.VerificationFailed):
        sort("merged", "out", format="lines", by=field(1).numeric().desc(), input_order="sorted")


def test_items_come_out_as_they_went_in(here: Path, temp: Path) -> None:
    assert list(sort(iter(["b\n", "", "a"]))) == ["", "a", "b\n"]
    assert list(sort({b"b", b"a"}, reverse=True)) == [b"b", b"a"]
    assert list(sort((word for word in ["pear", "fig"]), by=len, temp=temp, memory="2MiB")) == ["fig", "pear"]
    assert list(sort(iter(()))) == []
    assert list(sort(iter([b"2b", b"1a"]), by="0:1", record_size=2)) == [b"1a", b"2b"]
    assert sort(iter(["n", "2", "1"]), "out.csv", by="n:number").records == 2
    assert Path("out.csv").read_text() == "n\n1\n2\n"
    assert sort(iter([b"2 x\n", b"10 y"]), by=field(1).numeric().desc(), format="lines").read() == b"10 y\n2 x\n"
    assert sort(iter(["b", "a\0", "c"]), format="lines", terminator="\0").read() == b"a\0b\0c\0"
    with pytest.raises(BadInput, match="NoneType"):
        list(sort(iter([None, "b", "a"])))


@pytest.mark.parametrize("how", [["dst.txt"], ["part-{}.txt", "split='rows=2'"]], ids=["file", "split"])
def test_what_a_killed_process_fed_is_no_whole_input(here: Path, how: list[str]) -> None:
    """The program sees the end of a pipe, as when all was written."""
    name, *more = how
    (here / name.replace("{}", "00001")).write_text("before\n")
    script = f"""
import os, signal, ecosort
def items():
    yield "b"
    yield "a" * 3_000_000
    os.kill(os.getpid(), signal.SIGKILL)
ecosort.sort(items(), {name!r}, format="lines", overwrite=True, {", ".join(more)})
"""
    start_python(script, here).wait(timeout=60)
    for _ in range(600):
        if not any(is_sort(process) and works_in(process, here) for process in Path("/proc").glob("[0-9]*")):
            break
        time.sleep(0.05)
    assert [path.read_text() for path in here.glob("*.txt")] == ["before\n"]
    assert not list(here.glob("*.split"))


def test_files_are_not_sorted_to_an_address(here: Path) -> None:
    """The program took it for the name of a file in a directory that is not there."""
    (here / "in.csv").write_text("a\n1\n")
    with pytest.raises(BadInput, match=r"'s3://b/k' is no file; the command line writes sorted files there: ecosort csv "):
        sort("in.csv", "s3://b/k", by="a")


def test_paragraphs_of_items_stay_apart() -> None:
    """Each got the end of a line only, so that all were one paragraph."""
    items = ["c", "b\nx\n", "a\ny\n\n"]
    assert sort(iter(items), format="lines", paragraphs=True).read() == b"a\ny\n\nb\nx\n\nc\n\n"


@pytest.mark.parametrize("function", [sort, ecosort.cluster.sort])
def test_a_sort_can_be_given_to_a_pool_of_processes(function: Any) -> None:
    assert pickle.loads(pickle.dumps(function)) is function


def test_arrays_and_buffers(here: Path) -> None:
    array = np.array([(3, 0.5), (1, 2.5), (2, 0.5)], dtype=[("id", "u4"), ("x", "f8")])
    assert sort(array, by=[col("x").desc(), "id"])["id"].tolist() == [1, 2, 3]
    assert sort(np.array([3, 1, 2]), reverse=True).tolist() == [3, 2, 1]
    assert bytes(sort(bytearray(b"pearplumkiwi"), record_size=4, by=at(0).bytes(4))) == b"kiwipearplum"
    np.save("in.npy", array)
    assert sort("in.npy", "out.npy", by=["x", col("id").desc()]).records == 3
    assert np.load("out.npy")["id"].tolist() == [3, 2, 1]
    sort(np.load("in.npy", mmap_mode="r"), "out.npy", by="id", overwrite=True)
    assert np.load("out.npy")["id"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["pipe.npy", "pipe.parquet"])
def test_an_output_that_python_writes_replaces_no_pipe(here: Path, name: str) -> None:
    """It gets its name by a call that replaces what is there."""
    pa = pytest.importorskip("pyarrow")
    os.mkfifo(name)
    np.save("in.npy", np.array([2, 1]))
    source = np.load("in.npy", mmap_mode="r") if name == "pipe.npy" else pa.table({"a": [2, 1]})
    with pytest.raises(BadInput, match=f"'{name}' cannot be the output: it is no regular file"):
        sort(source, name, by=None if name == "pipe.npy" else "a", overwrite=True)
    assert (here / name).is_fifo()


def test_tables_go_to_readers_and_files(here: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet, feather = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow.feather")
    city = pa.array(["Rom", None, "Oslo"]).dictionary_encode()
    table = pa.table({"city": city, "year": [753, 2000, 1048]})
    terms: dict[str, Any] = {"memory": "128MiB"}
    assert sort(table, by="city", **terms).read_all()["year"].to_pylist() == [1048, 753, 2000]
    assert sort(table, "out.parquet", by=[col("city").desc()], nulls_first=True, **terms).records == 3
    assert parquet.read_table("out.parquet")["year"].to_pylist() == [2000, 753, 1048]
    assert parquet.ParquetFile("out.parquet").num_row_groups == 1
    assert sort(["out.parquet"], "out.feather", by="year", **terms).records == 3
    assert feather.read_table("out.feather")["year"].to_pylist() == [753, 1048, 2000]
    batches = (batch for batch in table.to_batches())
    assert sort(batches, by=["year"], **terms).read_all()["year"].to_pylist() == [753, 1048, 2000]
    assert sort([table, table], by="year", **terms).read_all().num_rows == 6
    with pytest.raises(OutputExists):
        sort(table, "out.parquet", by="city", **terms)
    for options, said in (
        ({"by": col("year").number()}, r"'year' has a type of its own; leave \.number\(\) out"),
        ({"by": "year", "separator": ","}, "separator is no option of a table"),
        ({"by": "no"}, "no columns are called 'no'"),
        ({}, "by is empty"),
    ):
        with pytest.raises(BadInput, match=said):
            sort(table, "new.parquet", **terms, **options)
    with pytest.raises(TypeError, match=r"there is no option 'unque'; did you mean 'unique'\?"):
        sort(table, "new.parquet", by="year", unque=True)
    with pytest.raises(BadInput, match="options is a value of Options, not 'lines'"):
        sort(table, "new.parquet", "lines")
    with pytest.raises(BadInput, match=r"a table goes to a file \.parquet"):
        sort(table, "out.csv", by="year", **terms)
    assert listing(Path()) == ["out.feather", "out.parquet"]


@pytest.mark.parametrize(
    ("src", "dst", "options", "said"),
    [
        ("in", "out", {}, "the name 'in' does not say which format it is; give format="),
        (["in.csv", "in.txt"], "out", {"by": "a"}, "of several formats"),
        ("in.csv", "out.parquet", {"by": "a"}, "a sort of csv writes csv, and the name 'out.parquet' says .parquet"),
        ("in.csv", "out", {}, "by is empty"),
        ("in.csv", "out", {"by": at(0).u64()}, "is no key of csv"),
        ("in.csv", "out", {"by": "a", "separator": ","}, "separator is for lines, not for csv"),
        ("in.csv", "out", {"by": "a", "reverse": True}, r"col\(\.\.\.\)\.desc\(\)"),
        ("in.txt", "out", {"nulls_first": True}, "nulls_first is for csv and jsonl, not for lines"),
        ("in.txt", "out", {"ordering": "x"}, "ordering is letters of bdfghiMnRrV, not 'x'"),
        ("in.txt", "out", {"terminator": ";"}, "terminator is "),
        ("in.csv", "out", {"by": "a", "input_order": "believed"}, "of lines also 'believed'"),
        ("in.txt", "out", {"space": "1GiB"}, "space is for in_place=True"),
        ("in.txt", "out", {"in_place": True}, "in_place=True cannot be combined with dst"),
        (["in.txt", "in.txt"], None, {"in_place": True}, "a sort in place is of one file"),
        ("in.csv", None, {"by": "a", "in_place": True}, "in_place is for records and lines, not for csv"),
        (["b", "a"], None, {}, r"items of a list are sorted as iter\(items\)"),
        ("in.txt", None, {"resumable": True}, "resumable is for sorts of files into a file"),
        ("in.npy", None, {}, "either dst, or in_place"),
        ({"a": 1}, "out", {}, "src is the name of a file"),
        (iter(["b"]), None, {"by": "a"}, "by is a function of an item"),
        (iter(["b"]), None, {"unique": True}, "unique is no option of items"),
        (io.StringIO("b\n"), "out", {"format": "lines"}, "src is a file of text alone"),
        (io.BytesIO(b"b\n"), io.StringIO(), {"format": "lines"}, "dst is a file of text alone"),
        (io.BytesIO(b"b\n"), io.BufferedReader(io.BytesIO()), {"format": "lines"}, "dst is not writable"),
        (iter(["\ud800"]), "out", {"format": "lines"}, "a row is no text that UTF-8 has"),
        (io.BytesIO(b"b\n"), "out", {}, "give format="),
        (io.BytesIO(b"b\n"), "out", {"format": "lines", "progress": print}, "progress is for sorts of files"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(here: Path, src: Any, dst: Any, options: dict[str, Any], said: str) -> None:
    Path("in").write_text("a\n1\n")
    Path("in.csv").write_text("a\n1\n")
    Path("in.txt").write_text("a\n1\n")
    np.save("in.npy", np.array([2, 1]))
    before = listing(Path())
    with pytest.raises(BadInput, match=said) as raised:
        sort(src, dst, **options)
    assert "\n" not in str(raised.value)
    assert listing(Path()) == before
    assert child_pids() == []


def test_an_option_that_there_is_not_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="memry"):
        sort("in", "out", memry="1GiB")  # type: ignore[call-arg]
    with pytest.raises(BadInput, match="options is a value of Options"):
        sort("in", "out", {"memory": "1GiB"})
    with pytest.raises(BadInput, match="is no option of lines"):
        LineKey(2, numerical=True)


class Slow(io.RawIOBase):
    """Takes and gives little at a time, as pipes and sockets do without a buffer."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = data
        self.is_empty = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int | None:
        self.data += bytes(data[:7])
        return None if self.is_empty else len(data[:7])

    def read(self, size: int | None = -1) -> Any:
        piece, self.data = self.data[:7], self.data[7:]
        return piece or (None if self.is_empty else b"")


def test_file_objects_may_give_and_take_little_at_a_time() -> None:
    target = Slow()
    assert sort(Slow(b"b\na\n" * 20), target, format="lines").records == 40
    assert target.data == b"a\n" * 20 + b"b\n" * 20
    source = Slow(b"b\na\n" * 20)
    source.is_empty = True
    with pytest.raises(BadInput, match="src gives NoneType instead of bytes"):
        sort(source, io.BytesIO(), format="lines")
    target.is_empty = True
    with pytest.raises(ecosort.IoFailed, match="dst takes no more for now"):
        sort(io.BytesIO(b"b\na\n"), target, format="lines")
    target.write = lambda data: 0  # type: ignore[method-assign]
    with pytest.raises(ecosort.IoFailed, match="dst takes no more for now"):
        sort(io.BytesIO(b"b\na\n"), target, format="lines")
    text = io.TextIOWrapper(io.BytesIO())
    text.write("head\n")
    sort(io.BytesIO(b"b\na\n"), text, format="lines")
    assert text.buffer.getvalue() == b"head\na\nb\n"  # type: ignore[attr-defined]
    assert child_pids() == []


@pytest.mark.parametrize("took", [io.TextIOWrapper.readline, next, lambda text: text.read(2)])
def test_a_text_file_that_holds_rows_back_is_refused(here: Path, took: Any) -> None:
    """It reads more of its file than it gives: those rows would be lost."""
    Path("in.txt").write_text("head\nc\nb\na\n")
    with Path("in.txt").open() as text:
        took(text)
        with pytest.raises(BadInput, match="src was read as text before"):
            sort(text, "out.txt")
    with Path("in.txt").open() as text:
        assert sort(text, "out.txt").records == 4


def test_the_name_of_a_stream_or_its_output_says_what_the_rows_are(here: Path) -> None:
    assert sort(io.BytesIO(b"a\tb\n2\tx\n10\ty\n"), "out.tsv", by="a:number:desc").records == 2
    assert Path("out.tsv").read_text() == "a\tb\n10\ty\n2\tx\n"
    Path("in.log.gz").write_bytes(gzip.compress(b"b\na\n"))
    with Path("in.log.gz").open("rb") as file:
        assert sort(file).read() == b"a\nb\n"


@pytest.mark.parametrize("name", ["in.gz", b"in.gz", "in.csv.gz"])
@pytest.mark.parametrize("dst", [None, "out.txt"])
def test_a_file_object_of_lines_is_decompressed_as_its_name_is(here: Path, name: Any, dst: str | None) -> None:
    """The compressed bytes were sorted where its name says no format, such as in.gz."""
    Path("in.gz").write_bytes(gzip.compress(b"b\na\n"))
    Path("in.csv.gz").write_bytes(gzip.compress(b"b\na\n"))
    for options, expected in (({}, b"a\nb\n"), ({"decompress": False}, Path("in.gz").read_bytes() + b"\n")):
        for by_name in (True, False):
            with open(name, "rb") as file:  # noqa: PTH123  # a name of bytes
                done = sort(name if by_name else file, dst, Options(format="lines", overwrite=True, **options))  # type: ignore[arg-type]
            assert (done.read() if dst is None else Path(dst).read_bytes()) == expected


def test_a_process_that_is_forked_meanwhile_does_not_hold_a_sort_up() -> None:
    """It has the end of the pipe to the program, which would else wait for it to end, too."""
    waits, ends = os.pipe()

    def rows() -> Iterator[str]:
        yield "b"
        if os.fork() == 0:
            signal.alarm(20)
            os.close(ends)
            os.read(waits, 1)
            os._exit(0)
        yield "a"

    begin = time.monotonic()
    assert sort(rows(), format="lines").read() == b"a\nb\n"
    assert time.monotonic() - begin < 15
    os.close(waits)
    os.close(ends)
    os.wait()


def test_a_process_that_is_forked_cannot_read_the_sort_of_its_parent() -> None:
    """It got an empty output and a report of success."""
    with sort(io.BytesIO(b"b\na\n" * 100), format="lines") as reader:
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            with contextlib.suppress(BadInput):
                reader.read()
                os._exit(1)
            os._exit(reader.report is not None)
        assert os.waitpid(child, 0)[1] == 0
        assert reader.read() == b"a\n" * 100 + b"b\n" * 100


def test_no_file_of_a_split_or_of_rows_set_aside_is_replaced_unasked(here: Path) -> None:
    Path("in.csv").write_bytes(CSV)
    Path("k-00002.csv").write_text("mine")
    Path("k-notes.csv").write_text("mine")
    for dst, options in (("k-{}.csv", {"split": "rows=2"}), ("out.csv", {"bad_rows": "k-00002.csv"})):
        with pytest.raises(OutputExists, match=r"k-00002\.csv"):
            sort("in.csv", dst, by="name", **options)
        assert Path("k-00002.csv").read_text() == "mine"
    sort("in.csv", "k-{}.csv", by="name", split="rows=2", overwrite=True)
    assert Path("k-00002.csv").read_text() == "name,price\npen,2.50\n"
    Path("k-00001.csv").unlink()
    Path("k-00002.csv").unlink()
    with pytest.raises(OutputExists, match=r"k-manifest\.json"):
        sort("in.csv", "k-{}.csv", by="name", split="rows=2")
    Path("k-manifest.json").unlink()
    with pytest.raises(OutputExists, match=r"'k-notes\.csv' may be a file of the split; .* such as 'parts/k-\{\}\.csv'$"):
        sort("in.csv", "k-{}.csv", by="name", split="by=name")


@pytest.mark.parametrize("split", ["rows=2", "size=1kB", "files=2"])
def test_a_split_is_not_refused_for_files_that_it_does_not_write(here: Path, split: str) -> None:
    """Its numbers have five digits or more, and nothing else."""
    names = ["k-2024.csv", "k-2024-old.csv", "k-00001x.csv", "k-0000²1.csv"]
    for name in ("in.csv", *names):
        Path(name).write_bytes(CSV)
    sort("in.csv", "k-{}.csv", by="name", split=split)
    assert Path("k-00001.csv").exists()
    assert [Path(name).read_bytes() for name in names] == [CSV] * len(names)
    for name in Path().glob("k-*"):
        name.unlink()
    Path("k-100000.csv").write_bytes(CSV)
    with pytest.raises(OutputExists, match=r"k-100000\.csv"):
        sort("in.csv", "./k-{}.csv", by="name", split=split)


def test_a_reader_that_is_closed_stops_its_sort_and_one_that_fails_says_so(here: Path, temp: Path) -> None:
    Path("in.txt").write_bytes(b"".join(b"%07d\n" % (number * 7919 % 1_000_003) for number in range(500_000)))
    reader = sort("in.txt", memory="2MiB", temp=temp)
    assert reader.readline() == b"0000000\n"
    assert len(child_pids()) == 1
    reader.close()
    assert child_pids() == []
    with pytest.raises(NotEnoughMemory):
        sort("in.txt", memory="1KiB").read()
    with Path("in.txt").open("rb") as file, pytest.raises(NotEnoughMemory):
        sort(file, memory="1KiB")
    assert child_pids() == []


def test_blanks_that_a_key_skips_are_those_at_its_beginning(here: Path) -> None:
    """`sort -k2b,2` does so; b behind the end of a key does nothing."""
    Path("in.txt").write_text("x   b\ny a\n")
    sort("in.txt", "out", by=LineKey(2, ignore_leading_blanks=True))
    assert Path("out").read_text() == "y a\nx   b\n"
    assert str(field(2).letters("bn").to(3)) == "2b,3n"
    assert str(LineKey(2, last=3, character=4, reverse=True)) == "2.4,3r"


def test_groups_of_equal_rows(here: Path) -> None:
    """Each option goes to its member of the request, and comes out as a word of the program."""
    by = ["id", col("when").number().desc()]
    Path("in.csv").write_bytes(b"id,when\nb,1\na,1\nb,3\nb,2\nb,3\n")
    rows: dict[str, list[str]] = {}
    for name, options in {
        "newest": {"unique_by": "id"},
        "oldest": {"unique_by": col("id"), "keep": "last"},
        "whole": {"unique": "row", "count": True},
        "several": {"count": "n", "repeated": True},
        "once": {"singles": True},
    }.items():
        report = sort("in.csv", name, Options(by=by, format="csv", **options))  # type: ignore[arg-type]
        rows[name] = Path(name).read_text().split()[1:]
        assert report.records - report.dropped == len(rows[name])
        assert report.counted == {"whole": 5, "several": 2}.get(name, 0)
    assert rows == {
        "newest": ["a,1", "b,3"],
        "oldest": ["a,1", "b,1"],
        "whole": ["1,a,1", "2,b,3", "1,b,2", "1,b,1"],
        "several": ["2,b,3"],
        "once": ["a,1", "b,2", "b,1"],
    }
    for options, said in (
        ({"unique": "rows"}, "unique is True, False or 'row'"),
        ({"repeated": True, "singles": True}, "nothing would stay"),
        ({"unique_by": "when"}, "write 'id' in place of 'when'"),
        ({"unique_by": [5]}, "unique_by: 5 is no key of csv"),
    ):
        with pytest.raises(BadInput, match=said):
            sort("in.csv", "out", Options(by=by, **options))  # type: ignore[arg-type]


def test_the_first_rows_alone(here: Path) -> None:
    Path("in.csv").write_bytes(b"id,when\nb,1\na,1\nb,3\nb,2\na,4\n")
    by = ["id", col("when").number().desc()]
    for options, rows in (
        ({"limit": 0}, []),
        ({"limit": 2}, ["a,4", "a,1"]),
        ({"limit": 1, "by_group": True}, ["a,4", "b,3"]),
        ({"limit": 2, "by_group": 1}, ["a,4", "a,1", "b,3", "b,2"]),
    ):
        report = sort("in.csv", "out.csv", Options(by=by, overwrite=True, **options))  # type: ignore[arg-type]
        assert Path("out.csv").read_text().split()[1:] == rows
        assert (report.records, report.dropped, report.beyond_limit) == (5, 0, 5 - len(rows))
    with pytest.raises(BadInput, match="a limit by group needs a limit"):
        sort("in.csv", "out.csv", Options(by=by, overwrite=True, by_group=True))


def test_rows_of_several_lines_and_keys_of_mainframes(here: Path) -> None:
    Path("in").write_text("b\n1\na\n2\n")
    assert sort("in", "out", Options(format="lines", record_lines=2)).records == 2
    assert Path("out").read_text() == "a\n2\nb\n1\n"
    assert sort("in", "out", Options(format="lines", record_start="b", overwrite=True)).records == 1
    assert sort("in", "claimed", Options(format="lines", claim=True)).records == 4
    assert json.loads(Path("claimed.claim.json").read_text())["rows"] == 4
    Path("records").write_bytes(bytes.fromhex("002C 001D 000C"))
    by = ecosort.at(0).packed(2)
    sort("records", "sorted", Options(by=by, record_size=2))
    assert Path("sorted").read_bytes() == bytes.fromhex("001D 000C 002C")


def test_the_older_format_of_xz_is_read_by_its_name(here: Path) -> None:
    """The name in front of .lzma says the format, and the delimiter."""
    Path("in.tsv.lzma").write_bytes(lzma.compress(b"n\tx\n10\ta\n9\tb\n", lzma.FORMAT_ALONE))
    assert sort("in.tsv.lzma", "out", by="n:number").records == 2
    assert Path("out").read_bytes() == b"n\tx\n9\tb\n10\ta\n"
    assert (is_named_tsv("s3://b/in.tsv.lzma"), split_codec("in.csv.lzma")) == (True, ("in.csv", ".lzma"))
    assert (is_named_tsv("s3://b/IN.Tsv.GZ"), split_codec("IN.CSV.GZ")) == (True, ("IN.CSV", ".gz"))


def test_a_request_is_the_text_that_the_library_reads(here: Path) -> None:
    """The members that options become are among those that the library names."""
    schema = json.loads(subprocess.check_output([find_program(), "manual", "request"]))["properties"]
    for form, names in MEMBERS.items():
        assert names - {*schema[form]["properties"]} == set()
    Path("in\udcff").write_bytes(CSV)
    told = Request({"inputs": ["in\udcff"], "csv": {"keys": ["price:number:desc"], "quote": None}, "place": {"output": "out"}})
    assert json.loads(told.to_json())["inputs"] == [{"base64": "aW7/"}]
    assert Request.from_json(told.to_json()) == told
    assert sort(Request.from_json(told.to_json())).records == 3
    assert Path("out").read_bytes() == BY_PRICE
    for text, said in (
        ("{", "is no JSON"),
        ("[]", "schema"),
        ('{"schema": "ecosort.request/1", "inputs": []}', "one of records, lines, csv and jsonl"),
    ):
        with pytest.raises(BadInput, match=said):
            Request.from_json(text)
    for members, said in (
        ({"lines": {"key": 1}}, "lines.key: there is no such"),
        ({"means": {"memory": 1}}, "means.memory: there"),
    ):
        with pytest.raises(BadInput, match=said):
            sort(Request({"inputs": ["in\udcff"], "lines": {}, "place": {"output": "out2"}} | members))
    with pytest.raises(BadInput, match="a Request has its own memory"):
        sort(told, memory="1GiB")


def test_a_cluster_takes_the_same_arguments(here: Path) -> None:
    Path("in1.csv").write_bytes(CSV)
    Path("in2.csv").write_bytes(b"name,price\nbag,20\n")
    by = [col("price").number().desc()]
    assert ecosort.cluster.sort("in?.csv", "sorted", by=by, memory="16MiB", parts=1).rows == 4
    sort("in?.csv", "out", by=by)
    assert Path("sorted/part-00000").read_bytes() == Path("out").read_bytes()
    for options, said in (
        ({"by": by, "compress": "lz4"}, "compress is no option of a cluster"),
        ({"by": by, "separator": ","}, "separator is for lines, not for csv"),
        ({"by": by, "format": "table"}, "a cluster sorts records, lines, csv, jsonl, and no table"),
    ):
        with pytest.raises(BadInput, match=said):
            ecosort.cluster.sort("in1.csv", "other", **options)  # type: ignore[arg-type]
