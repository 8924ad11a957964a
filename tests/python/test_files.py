"""sort_file, sort_lines and sort_in_place: what they write, what they report, and how they stop."""

import gzip
import lzma
import os
import random
import struct
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from sort_support import MIB, expected, listing, mounted, wait_until

from ecosort import (
    BadInput,
    Cancelled,
    Key,
    KeyCounts,
    LineKey,
    Progress,
    Report,
    ValueKey,
    VerificationFailed,
    col,
    resume,
    sort,
    sort_csv,
    sort_file,
    sort_in_place,
    sort_jsonl,
    sort_lines,
)
from python.support import child_pids, interrupt_when_told, read_records, start_python, write_records


def test_records_are_sorted_by_typed_keys_and_reported(here: Path, temp: Path) -> None:
    made = write_records(here / "in", 100_000, 16)
    report = sort_file("in", "out", record_size=16, by=[Key(8, 1, "u8", descending=True), "0:i64"], memory="2MiB", temp=temp)
    assert read_records(here / "out", 16) == sorted(made, key=lambda r: (-r[8], struct.unpack("<q", r[:8])))
    assert isinstance(report, Report)
    assert (report.records, report.dropped, report.input_bytes, report.output_bytes) == (100_000, 0, 1_600_000, 1_600_000)
    assert report.runs > 1
    assert report.peak_temp_bytes > 0
    assert report.memory_limit_bytes == 2 * MIB
    assert report.phases[0].name == "run_formation"


def test_several_inputs_unique_and_reverse(here: Path) -> None:
    made = write_records(here / "a", 1000, 2) + write_records(here / "b", 1000, 2, seed=2)
    report = sort_file([here / "a", b"b"], "out", record_size=2, by="0:1", unique=True, reverse=True)
    firsts = {record[0]: record for record in reversed(made)}
    assert read_records(here / "out", 2) == [firsts[key] for key in sorted(firsts, reverse=True)]
    assert report.dropped == 2000 - len(firsts)


@pytest.mark.parametrize("name", ["-", "-n", "+1", "--help", "a b", "\udcff"])
def test_names_are_names_whatever_they_begin_with(here: Path, name: str) -> None:
    (here / name).write_bytes(b"b\na\n")
    sort_lines(name, f"{name}.out")
    sort_file(name, f"{name}.rec", record_size=2, by="0:1")
    assert (here / f"{name}.out").read_bytes() == (here / f"{name}.rec").read_bytes() == b"a\nb\n"


def test_lines_are_sorted_as_by_gnu_sort(here: Path) -> None:
    (here / "in").write_text("name,n\nb,10\na,9\nc,9\nB,1e1\n")
    sort_lines("in", "out", by=[LineKey(2, general_numeric=True, reverse=True), 1], separator=",", header=1)
    said = subprocess.run(
        ["sort", "-t,", "-k2,2gr", "-k1,1"], input="b,10\na,9\nc,9\nB,1e1\n", text=True, capture_output=True, env={"LC_ALL": "C"}
    )
    assert (here / "out").read_text() == "name,n\n" + said.stdout


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({"numeric": True, "reverse": True, "stable": True}, "-nrs"),
        ({"ignore_case": True, "unique": True}, "-fu"),
        ({"human_numeric": True}, "-h"),
        ({"month": True}, "-M"),
        ({"version": True}, "-V"),
        ({"dictionary_order": True, "ignore_leading_blanks": True}, "-db"),
        ({"ignore_nonprinting": True}, "-i"),
        ({"zero_terminated": True}, "-z"),
    ],
)
def test_each_option_is_that_of_gnu_sort(here: Path, options: dict[str, bool], flags: str) -> None:
    text = b" JAN\nfeb\nb 2\nB-2\n10K\n9\n\x01a\n1.10\n1.9\nB-2\n"
    (here / "in").write_bytes(text)
    sort_lines("in", "out", **options)  # type: ignore[arg-type]
    said = subprocess.run(["sort", flags], input=text, capture_output=True, env={"LC_ALL": "C"}, check=True)
    assert (here / "out").read_bytes() == said.stdout


def test_a_file_of_lines(here: Path) -> None:
    (here / "in").write_text("b 1\na 2\n")
    assert sort_file("in", "out", format="lines", by="2,2nr", memory="2MiB").records == 2
    assert (here / "out").read_text() == "a 2\nb 1\n"


def test_a_file_of_a_table(here: Path) -> None:
    (here / "in").write_text("n,t\n10,b\n9,a\n?,c\n")
    done = sort_file("in", "out", format="csv", by=ValueKey("n", "number", descending=True))
    assert (done.records, [key.unparsable for key in done.keys]) == (3, [1])
    assert (here / "out").read_text() == "n,t\n10,b\n9,a\n?,c\n"
    (here / "in").write_text('{"n": 10}\n{"n": "9"}\n')
    assert sort_file("in", "out2", format="jsonl", by="n:number", unique=True).records == 2
    assert (here / "out2").read_text() == '{"n": "9"}\n{"n": 10}\n'


def test_runs_are_compressed_when_told_so(here: Path) -> None:
    (here / "in").write_bytes(b"".join(struct.pack(">QQ", i * 7919 % 300_007, i) for i in range(300_000)))
    plain = sort_file("in", "plain", record_size=16, by="0:8", memory="2MiB")
    assert plain.runs > 1
    assert plain.run_compression is None
    done = sort_file("in", "out", record_size=16, by="0:8", memory="2MiB", compress="lz4", assume_ratio=1.5, goal="time")
    assert (here / "out").read_bytes() == (here / "plain").read_bytes()
    assert done.run_compression is not None
    assert (done.run_compression.asked, done.run_compression.transposed) == ("lz4", True)
    assert done.run_compression.stored_bytes < done.run_compression.plain_bytes
    assert done.peak_temp_bytes < plain.peak_temp_bytes
    assert done.bytes_written < plain.bytes_written


@pytest.mark.parametrize("form", ["lines", "csv", "jsonl"])
def test_so_are_those_of_rows(here: Path, form: Literal["lines", "csv", "jsonl"]) -> None:
    row, top = (b"%d,some text\n", b"n,t\n") if form == "csv" else (b'{"n": %d, "t": "some text"}\n', b"")
    (here / "in").write_bytes(top + b"".join(row % (i * 7919 % 200_003) for i in range(200_000)))
    by = "1,1" if form == "lines" else "n:integer"
    plain = sort_file("in", "plain", format=form, by=by, memory="2MiB", compress="none")
    done = sort_file("in", "out", format=form, by=by, memory="2MiB", compress="zstd:1", overwrite=True)
    assert (here / "out").read_bytes() == (here / "plain").read_bytes()
    assert plain.run_compression is None
    assert done.run_compression is not None
    assert done.run_compression.codec == "zstd:1"
    assert done.bytes_written < plain.bytes_written


@pytest.mark.parametrize(
    "wish",
    [
        {"compress": "gzip"},
        {"compress": "lz4 "},
        {"compress": "none", "assume_ratio": 2.0},
        {"compress": "lz4", "assume_ratio": 0.5},
    ],
)
def test_compression_that_there_is_not_is_refused(here: Path, wish: dict[str, object]) -> None:
    (here / "in").write_bytes(bytes(1600))
    with pytest.raises(BadInput):
        sort_file("in", "out", record_size=16, by="0:8", **wish)  # type: ignore[arg-type]
    assert not (here / "out").exists()


@pytest.mark.parametrize(
    "wish",
    [
        {"format": "csv", "by": "n", "record_size": 3},
        {"format": "csv", "by": Key(0, 1)},
        {"format": "jsonl", "by": "n", "reverse": True},
        {"format": "lines", "by": ValueKey("n")},
        {"record_size": 4, "by": ValueKey("n")},
        {"format": "parquet", "by": "n"},
    ],
)
def test_a_wish_that_is_not_of_the_format_is_refused(here: Path, wish: dict[str, object]) -> None:
    (here / "in").write_text("n\n1\n")
    with pytest.raises(BadInput):
        sort_file("in", "out", **wish)  # type: ignore[arg-type]


def test_progress_is_told_while_it_works(here: Path) -> None:
    """The input comes slowly, through a pipe with a name."""
    os.mkfifo("in")
    told: list[Progress] = []

    def feed() -> None:
        with Path("in").open("wb") as pipe:
            for _ in range(3):
                pipe.write(bytes(100_000))
                pipe.flush()
                threading.Event().wait(0.4)

    feeder = threading.Thread(target=feed)
    feeder.start()
    sort_file("in", "out", record_size=10, by="0:10", progress=told.append)
    feeder.join()
    assert len(told) >= 2
    assert told[-1].phase == "done"
    assert told[-1].percent == 100
    assert all(progress.bytes >= 0 for progress in told)


def sort_from_open_pipe(**options: object) -> None:
    os.mkfifo("in")
    keep = os.open("in", os.O_RDWR)
    try:
        sort_file("in", "out", record_size=10, by="0:10", **options)  # type: ignore[arg-type]
    finally:
        os.close(keep)


def test_an_exception_of_progress_ends_the_sort(here: Path) -> None:
    def progress(_: Progress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sort_from_open_pipe(progress=progress)
    assert child_pids() == []
    assert listing(here) == [str(here / "in")]


def test_a_sort_can_be_cancelled_by_another_thread(here: Path) -> None:
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    with pytest.raises(Cancelled):
        sort_from_open_pipe(cancel=cancel)
    assert child_pids() == []
    assert listing(here) == [str(here / "in")]


INTERRUPTED = """
import os, signal, subprocess, ecosort
from ecosort.manual import commands
commands()  # which a source tree asks of the program
class Started(subprocess.Popen):
    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        if IS_EARLY:
            os.kill(os.getpid(), signal.SIGINT)
subprocess.Popen = Started
os.mkfifo("in"); keep = os.open("in", os.O_RDWR)
print("ready", flush=True)
try:
    ecosort.sort_file("in", "out", record_size=10, by="0:10", temp=".")
except KeyboardInterrupt:
    children = open(f"/proc/self/task/{os.getpid()}/children").read()
    print("interrupted", children, os.listdir("."))
"""


def test_ctrl_c_ends_the_sort_and_leaves_nothing(here: Path) -> None:
    out, err = interrupt_when_told(start_python(INTERRUPTED.replace("IS_EARLY", "False"), here))
    assert (out, err) == ("interrupted  ['in']\n", "")


def test_ctrl_c_while_the_program_starts_leaves_nothing_either(here: Path) -> None:
    """No one knew the process yet: it went on."""
    out, err = start_python(INTERRUPTED.replace("IS_EARLY", "True"), here).communicate(timeout=60)
    assert (out, err) == ("ready\ninterrupted  ['in']\n", "")


def test_two_sorts_at_once_do_not_meet(here: Path) -> None:
    made = [write_records(here / f"in{i}", 100_000, 8, seed=i) for i in range(4)]
    reports: dict[int, Report] = {}

    def sort(i: int) -> None:
        reports[i] = sort_file(f"in{i}", f"out{i}", record_size=8, by="0:8", memory="2MiB", temp=here)

    threads = [threading.Thread(target=sort, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [reports[i].records for i in range(4)] == [100_000] * 4
    for i in range(4):
        assert read_records(here / f"out{i}", 8) == sorted(made[i])


def test_a_file_is_sorted_in_its_own_space(here: Path, require: Callable[[str], None]) -> None:
    require("xfs")
    with mounted(here, "xfs", 320 * MIB) as system:
        made = write_records(system.root / "in", 500_000, 16)
        report = sort_in_place(system.root / "in", record_size=16, by="0:8", memory="4MiB")
        assert report.records == 500_000
        assert read_records(system.root / "in", 16) == sorted(made, key=lambda record: record[:8])


def test_a_sort_in_place_that_was_interrupted_is_resumed(here: Path, require: Callable[[str], None]) -> None:
    require("xfs")
    with mounted(here, "xfs", 640 * MIB) as system:
        path = system.root / "in"
        data = random.Random(1).randbytes(2_000_000 * 16)
        path.write_bytes(data)
        cancel = threading.Event()
        threading.Thread(target=lambda: (wait_until(lambda: not path.exists()), cancel.set())).start()
        with pytest.raises(Cancelled) as raised:
            sort_in_place(path, record_size=16, by="0:8", memory="2MiB", threads=1, cancel=cancel)
        assert not path.exists()
        assert any("continue with" in note for note in raised.value.__notes__)
        resume(path)
        assert path.read_bytes() == expected(data, 16, ["0:8"])


def test_rows_of_csv_are_sorted_by_columns(here: Path) -> None:
    (here / "in").write_bytes(b"name;when\n'b;1';02.01.2024\na;31.12.1999\na;no\nc;\n")
    report = sort_csv(
        "in",
        "out",
        by=[ValueKey("when", "date", descending=True)],
        delimiter=";",
        quote="'",
        date_format="%d.%m.%Y",
        memory="2MiB",
    )
    assert (here / "out").read_bytes() == b"name;when\n'b;1';02.01.2024\na;31.12.1999\na;no\nc;\n"
    assert (report.records, report.keys) == (4, (KeyCounts("when:date:desc", 1, 1),))
    (here / "in2").write_bytes(b'2,"x\n,\n1,y\n2,z\n')
    sort_csv("in2", "out2", by="1", header=False, quote=None, nulls_first=True, unique=True, threads=1)
    assert (here / "out2").read_bytes() == b',\n1,y\n2,"x\n'
    with pytest.raises(BadInput, match="line 4, byte 42: column 'when': 'no' is no date"):
        sort_csv("in", "out3", by="when:date", delimiter=";", quote="'", date_format="%d.%m.%Y", strict=True)
    assert not (here / "out3").exists()
    (here / "in4").write_bytes(b"b\\|x||2\na\\\nx||1\n")
    sort_csv("in4", "out4", by="1", header=False, delimiter="||", quote=None, escape="\\")
    assert (here / "out4").read_bytes() == b"a\\\nx||1\nb\\|x||2\n"


def test_compressed_files_are_as_they_are_wished(here: Path) -> None:
    (here / "in.csv.gz").write_bytes(gzip.compress(b"n\n2\n1\n", mtime=ord('"')))  # a quote in what is no CSV
    assert sort_csv("in.csv.gz", "out", by="n", compress_output="xz", level=0).records == 2
    assert lzma.decompress((here / "out").read_bytes()) == b"n\n1\n2\n"
    (here / "in.jsonl").write_bytes(b'{"n": 2}\n{"n": 1}\n')
    sort_jsonl("in.jsonl", "out.gz", by="n", compress_output="none")
    assert (here / "out.gz").read_bytes() == b'{"n": 1}\n{"n": 2}\n'
    with pytest.raises(BadInput, match="is gzip data"):
        sort_csv("in.csv.gz", "none", by="n", decompress=False)
    sort_lines("in.csv.gz", "lines.gz", decompress=True, compress_output="auto")
    assert gzip.decompress((here / "lines.gz").read_bytes()) == b"1\n2\nn\n"
    sort_lines("in.csv.gz", "plain")
    assert (here / "plain").read_bytes() == b"1\n2\nn\n"
    sort_lines("in.csv.gz", "bytes", decompress=False)
    assert (here / "bytes").read_bytes().startswith(b"\x1f\x8b")
    with pytest.raises(BadInput, match="level"):
        sort_csv("in.csv.gz", "none", by="n", compress_output="xz", level=99)
    with pytest.raises(BadInput, match="decompress is True, False or None"):
        sort_csv("in.csv.gz", "none", by="n", decompress="never")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="strict is True or False"):
        sort_csv("in.csv.gz", "none", by="n", strict="no")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="ValueKey"):
        sort_csv("in.csv.gz", "none", by=3)  # type: ignore[arg-type]


def test_json_lines_are_sorted_by_paths(here: Path) -> None:
    (here / "a").write_text('{"n":[2]}\n\n{"n":[1.5]}\n')
    (here / "b").write_text('{"n":[2.0],"x":1}\n{"n":null}\n')
    report = sort_jsonl(["a", "b"], "out", by=ValueKey("n[0]", "number"), unique=True, nulls_first=True)
    assert (here / "out").read_text() == '{"n":null}\n{"n":[1.5]}\n{"n":[2]}\n'
    assert (report.records, report.dropped, report.blank_lines) == (4, 1, 1)
    assert report.keys == (KeyCounts("n[0]:number", 1, 0),)
    sort_jsonl(["out", "out"], "out2", by="n[0]:number", nulls_first=True, merge=True)
    assert (here / "out2").read_text() == "".join(2 * f"{line}\n" for line in ('{"n":null}', '{"n":[1.5]}', '{"n":[2]}'))
    with pytest.raises(VerificationFailed, match="b: line 2 is not in order"):
        sort_jsonl(["out", "b"], "out3", by="n[0]:number:desc", nulls_first=True, merge=True)
    with pytest.raises(BadInput, match="a: line 1, byte 5: path 'n': '\\[2\\]' is no integer"):
        sort_jsonl("a", "out3", by="n:integer", strict=True)
    with pytest.raises(BadInput, match="by is empty"):
        sort_jsonl("a", "out3", by=[])
    assert not (here / "out3").exists()


def test_a_path_that_no_line_has_is_refused_unless_it_is_allowed(here: Path) -> None:
    Path("in").write_text('{"name":"b"}\n{"name":"a"}\n')
    with pytest.raises(BadInput, match=r"no row has 'nmae'; did you mean 'name'\? There are: name$"):
        sort_jsonl("in", "out", by="nmae")
    assert not Path("out").exists()
    assert sort_jsonl("in", "out", by="nmae", allow_missing=True).keys[0].missing == 2
    assert Path("out").read_bytes() == Path("in").read_bytes()


def test_the_headers_of_all_files_go_out_once(here: Path) -> None:
    Path("a").write_text("sep=;\nx;y\n2;q\n")
    Path("b").write_text("sep=;\nx;y\n1;r\n")
    sort_csv(["a", "b"], "out", by="x")
    assert Path("out").read_text() == "sep=;\nx;y\n1;r\n2;q\n"
    sort_lines(["a", "b"], "out", header=2, overwrite=True)
    assert Path("out").read_text() == "sep=;\nx;y\n1;r\n2;q\n"
    Path("b").write_text("sep=;\nx;z\n1;r\n")
    with pytest.raises(BadInput, match="b: 'x;z' is in the header, where a has 'x;y'"):
        sort_lines(["a", "b"], "out2", header=2)


def test_columns_have_every_type_that_the_program_knows(here: Path) -> None:
    (here / "in.csv").write_text("net,city,size\n10.0.0.10,Zebra,L\n10.0.0.2,Äpfel,S\n10.0.0.2,apple,M\n")
    sort("in.csv", "ip.csv", by=[col("net").ip().desc(), col("size").list("L|M|S")])
    assert [line[:5] for line in (here / "ip.csv").read_text().splitlines()[1:]] == ["10.0.", "10.0.", "10.0."]
    assert [line[-1] for line in (here / "ip.csv").read_text().splitlines()[1:]] == ["L", "M", "S"]
    sort("in.csv", "de.csv", by=col("city").text("de"))
    assert [line.split(",")[1] for line in (here / "de.csv").read_text().splitlines()[1:]] == ["Äpfel", "apple", "Zebra"]
    (here / "in.txt").write_text("Zebra\nÄpfel\napple\n")
    sort("in.txt", "out.txt", collate="sv")
    assert (here / "out.txt").read_text() == "apple\nZebra\nÄpfel\n"
    assert str(col("price").number("decimal=,").desc()) == "price:number:decimal=,:desc"
    assert "uuid" in dir(col("id"))
    with pytest.raises(AttributeError, match="nubmer"):
        col("price").nubmer()
    with pytest.raises(BadInput, match="'nubmer' is no type of a key; there are text, nocase, number"):
        col("price").of("nubmer")
    with pytest.raises(BadInput, match="the type ip takes no argument; 'v4' was given"):
        col("net").ip("v4")
