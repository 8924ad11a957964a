"""sort_table against an oracle of Python's, with many runs, and its bound of memory."""

import datetime
import decimal
import gc
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ecosort.arrow_merge
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from capabilities import SOAK, only_in_soak
from conftest import ROOT
from ecosort.arrow_files import open_file
from ecosort.kept_memory import KeptMemory
from sort_support import MIB, listing, mounted

from ecosort import BadInput, IoFailed, NotEnoughMemory, NotEnoughSpace, sort, sort_table
from python.support import child_pids

ROWS = 20_000
FEW_BYTES = 128 << 10  # that sort a table, if pyarrow may take what it takes


@pytest.fixture(autouse=True)
def many_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes many runs of small tables, which takes less memory than may be given."""
    monkeypatch.setattr(ecosort.arrow_merge, "LEAST_MEMORY", FEW_BYTES)


KEYS = ["small", "float", "half", "text", "blob", "fixed", "date", "stamp", "money", "flag", "big"]


@pytest.fixture(scope="session")
def table() -> Any:
    generator = random.Random(1)

    def column(kind: Any, value: Callable[[], object], nulls: float = 0.1) -> Any:
        return pa.array([None if generator.random() < nulls else value() for _ in range(ROWS)], kind)

    floats = [0.0, -0.0, math.nan, math.inf, -math.inf, -1.5, 2.5]
    return pa.table(
        {
            "small": column(pa.int16(), lambda: generator.randrange(-3, 3)),
            "float": column(pa.float64(), lambda: generator.choice([*floats, generator.gauss(0, 1)])),
            "half": column(pa.float32(), lambda: generator.choice(floats)),
            "text": column(pa.string(), lambda: "".join(generator.choices("\0\n\x0b\x01aé", k=generator.randrange(4)))),
            "blob": column(pa.large_binary(), lambda: bytes(generator.choices([0, 10, 11, 255], k=generator.randrange(4)))),
            "fixed": column(pa.binary(2), lambda: generator.randbytes(2)),
            "date": column(pa.date32(), lambda: datetime.date(1969 + generator.randrange(3), 1, 1)),
            "stamp": column(
                pa.timestamp("us", "UTC"), lambda: datetime.datetime.fromtimestamp(generator.randrange(-9, 9), datetime.UTC)
            ),
            "money": column(pa.decimal128(10, 2), lambda: decimal.Decimal(generator.randrange(-99, 99)) / 100),
            "flag": column(pa.bool_(), lambda: generator.random() < 0.5),
            "big": column(pa.uint64(), lambda: generator.choice([0, 2**63, 2**64 - 1])),
            "list": pa.array([[k] * (k % 4) for k in range(ROWS)]),
            "number": pa.array(range(ROWS)),
        }
    )


def oracle(table: Any, by: list[tuple[str, str, str]]) -> list[int]:
    """By stable sorts, of which the one by the first key comes last; NaN is the largest number."""
    places = list(range(table.num_rows))
    for name, order, nulls in reversed(by):
        column = [None if value is None else (value != value, value) for value in table[name].to_pylist()]
        absent = [place for place in places if column[place] is None]
        present = [place for place in places if column[place] is not None]
        present.sort(key=column.__getitem__, reverse=order == "descending")
        places = absent + present if nulls == "first" else present + absent
    return places


@pytest.mark.parametrize("seed", range(12))
def test_the_order_is_that_of_the_values_and_stable(table: Any, seed: int, temp: Path) -> None:
    generator = random.Random(seed)
    names = [KEYS[seed % len(KEYS)], *generator.sample(KEYS, 2)]
    by = [
        (name, generator.choice(["ascending", "descending"]), generator.choice(["first", "last"]))
        for name in dict.fromkeys(names)
    ]
    done = sort_table(table, by, memory=generator.choice(["6MiB", "32MiB"]), temp=temp).read_all()
    done.validate(full=True)
    expected = oracle(table, by)
    assert done["number"].to_pylist() == expected, by
    assert done.schema == table.schema
    assert done["list"].to_pylist() == [[k] * (k % 4) for k in expected]
    del done
    gc.collect()


def test_no_rows_and_one_row() -> None:
    empty = pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int8())})
    for by in ("a", "b"):
        assert sort_table(empty, by).read_all().equals(empty)
    one = pa.table({"a": ["x"]})
    assert sort_table(one, ["a"]).read_all().equals(one)


def test_slices_are_sorted_as_they_are(table: Any) -> None:
    part = table.slice(777, 501)
    for by in ("text", "small", "flag", "blob"):
        expected = part.take(pa.array(oracle(part, [(by, "ascending", "last")])))
        assert sort_table(part, by).read_all()["number"].equals(expected["number"])


def test_readers_and_batches_are_streams_too(table: Any) -> None:
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=97))
    assert sort_table(reader, "number").read_all()["number"].to_pylist() == list(range(ROWS))
    batch = table.to_batches()[0]
    assert sort_table(batch, [("number", "descending")]).read_all()["number"].to_pylist() == list(reversed(range(ROWS)))


def test_views_as_polars_has_them_come_back_as_views() -> None:
    texts = [None if k % 7 == 0 else f"{(k * 7919) % 10_007:05} is too long to lie in the view itself" for k in range(10_007)]
    view = pa.string_view()
    views = pa.table(
        {
            "text": pa.array(texts).cast(view),
            "blob": pa.array([text and text.encode() for text in texts]).cast(pa.binary_view()),
            "nested": pa.array([[{"a": text}, None] for text in texts], pa.list_(pa.struct([("a", view)]))),
            "sizes": pa.array([[text, "short"] for text in texts], pa.list_(view, 2)),
            "large": pa.array([[text] for text in texts], pa.large_list(view)),
            "map": pa.array([[("key", text)] for text in texts], pa.map_(view, view)),
        }
    ).slice(3)
    kept = [text for text in texts[3:] if text is not None]
    for by in ("text", "blob"):
        done = sort_table(views, [(by, "descending", "first")], memory="8MiB").read_all()
        done.validate(full=True)
        assert done.schema == views.schema
        ordered = [None] * (len(texts) - 3 - len(kept)) + sorted(kept, reverse=True)
        assert done["text"].to_pylist() == ordered
        assert [row[0]["a"] for row in done["nested"].to_pylist()] == ordered
        assert [row[0] for row in done["sizes"].to_pylist()] == ordered
        assert [row[0] for row in done["large"].to_pylist()] == ordered
        assert [row[0][1] for row in done["map"].to_pylist()] == ordered


def test_views_are_dropped_as_equal_and_nulls_come_where_the_option_says() -> None:
    views = pa.table({"a": pa.array([1, 1, None]), "s": pa.array(["x", "y", "z"], pa.string_view())})
    assert sort(views, by=[("a", "descending")], nulls_first=True, unique=True, limit=2**64).read_all().to_pydict() == {
        "a": [None, 1],
        "s": ["z", "x"],
    }


def test_a_type_that_a_file_cannot_have_is_refused_before_anything_is_sorted(here: Path) -> None:
    intervals = pa.table({"a": [1], "i": pa.array([(1, 2, 3)], pa.month_day_nano_interval())})
    with pytest.raises(BadInput, match=r"a file \.parquet cannot have these columns: .*; cast them"):
        sort(intervals, "out.parquet", by="a")
    assert listing(here) == []


def test_few_long_values_of_a_dictionary_are_read_a_few_rows_at_a_time(here: Path) -> None:
    """Pages of a dictionary are small, whatever the rows take in memory."""
    pq.write_table(pa.table({"a": [str(number % 20) * 8000 for number in range(2000)]}), "in.parquet")
    with open_file("in.parquet") as file:
        assert max(batch.nbytes for batch in file.batches(4 << 20, KeptMemory(1 << 30))) < 100_000


def test_unions_are_sorted_along() -> None:
    kinds, numbers = pa.array([0, 1, 0], pa.int8()), pa.array([3, 2, 1])
    for union in (
        pa.UnionArray.from_sparse(kinds, [numbers, pa.array(["c", "b", "a"])]),
        pa.UnionArray.from_dense(kinds, pa.array([0, 0, 1], pa.int32()), [pa.array([3, 1]), pa.array(["b"])]),
    ):
        assert sort_table(pa.table({"a": numbers, "union": union}), "a").read_all()["union"].to_pylist() == [1, "b", 3]


def test_a_column_of_which_no_rows_can_be_gathered_is_refused_at_once() -> None:
    column = pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["a"]))
    with pytest.raises(BadInput, match=r"column 'other' of type run_end_encoded.* cannot be sorted"):
        sort_table(pa.table({"a": [2, 1], "other": column}), "a")


def test_a_damaged_page_of_a_file_with_checksums_is_noticed(here: Path) -> None:
    pq.write_table(pa.table({"a": range(100_000)}), "in.parquet", use_dictionary=False, write_page_checksum=True)
    data = bytearray((here / "in.parquet").read_bytes())
    data[len(data) // 2] ^= 1
    (here / "in.parquet").write_bytes(data)
    with pytest.raises(IoFailed, match=r"cannot read 'in\.parquet'"):
        sort_table("in.parquet", "a").read_all()


def test_a_stream_that_nobody_reads_is_given_up(table: Any, temp: Path) -> None:
    reader = sort_table(table, "text", memory="6MiB", temp=temp)
    assert len(child_pids()) == 1
    reader.read_next_batch()
    del reader
    gc.collect()
    assert child_pids() == []
    unread = sort_table(table, "small", memory="6MiB", temp=temp)
    del unread
    gc.collect()
    assert child_pids() == []


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("absent", "no columns are called 'absent'"),
        ("SMALL:number", "no columns.*; did you mean 'small'"),
        ([], "by is empty"),
        ("list", "'list' of type list.* cannot be a key"),
        ([("small", "up")], "'ascending' or 'descending'"),
        ([("small", "ascending", "nowhere")], "'first' or 'last'"),
        ([("small", "ascending", "last", "x")], "'x'.* is no key"),
        ([()], "is no key; name a column"),
        ([3], "is no key; name a column"),
    ],
)
def test_wrong_keys_are_refused(table: Any, by: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        sort_table(table, by)
    assert child_pids() == []


def test_what_is_no_table_is_refused(here: Path) -> None:
    with pytest.raises(BadInput, match="a dict gives no Arrow stream"):
        sort_table({}, "a")
    with pytest.raises(BadInput, match="'absent' cannot be read as Parquet"):
        sort_table("absent", "a")
    (here / "text").write_text("a,b\n")
    with pytest.raises(BadInput, match="'text' cannot be read as Parquet") as raised:
        sort_table("text", "a")
    assert "\n" not in str(raised.value)


def test_memory_that_sorts_no_table_is_refused_with_what_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"a": [3, 1, 2]})
    assert sort_table(table, "a", memory=FEW_BYTES).read_all()["a"].to_pylist() == [1, 2, 3]
    monkeypatch.undo()
    for memory in ("1MiB", (128 << 20) - 1):
        with pytest.raises(NotEnoughMemory, match="give at least 128MiB") as raised:
            sort_table(table, "a", memory=memory)
        assert raised.value.need_bytes == 128 << 20
    assert sort_table(table, "a", memory="128MiB").read_all()["a"].to_pylist() == [1, 2, 3]


def test_runs_of_rows_lie_in_one_directory(here: Path) -> None:
    (here / "a").mkdir()
    (here / "b").mkdir()
    table = pa.table({"a": [3, 1, 2]})
    with pytest.raises(BadInput, match=r"temp is one directory, not \['a', 'b'\]"):
        sort_table(table, "a", temp=["a", "b"])  # type: ignore[arg-type]
    assert sort_table(table, "a", temp=["b"]).read_all()["a"].to_pylist() == [1, 2, 3]  # type: ignore[arg-type]


def test_a_table_too_long_for_the_memory_is_refused(table: Any) -> None:
    with pytest.raises(NotEnoughMemory, match="more than 16 runs") as raised:
        sort_table(table, "small", memory="2MiB")
    assert raised.value.have_bytes == 2 * MIB
    assert child_pids() == []


def test_a_drive_without_room_for_the_runs(table: Any, here: Path, require: Callable[[str], None]) -> None:
    require("root")
    with mounted(here, "tmpfs", MIB) as system:
        with pytest.raises(NotEnoughSpace, match="cannot write a run") as raised:
            sort_table(table, "small", memory="6MiB", temp=system.root)
        assert listing(system.root) == []
    assert (raised.value.places, raised.value.exit_code) == ((str(system.root),), 3)
    assert MIB // 2 <= (raised.value.have_bytes or 0) <= MIB
    assert child_pids() == []


def test_a_damaged_run_is_noticed(table: Any, temp: Path) -> None:
    """The run file is this process's own: another handle to it overwrites a byte."""
    reader = sort_table(table, "small", memory="6MiB", temp=temp)
    (own,) = [entry for entry in Path("/proc/self/fd").iterdir() if os.path.realpath(entry).startswith(f"{temp}/")]
    with own.open("r+b", buffering=0) as file:
        file.seek(file.seek(0, 2) - 2000)
        file.write(b"damage!")
    with pytest.raises(IoFailed, match="damaged at byte"):
        reader.read_all()
    del reader
    gc.collect()


PEAK = """
import os, sys, threading, time
import ecosort

def kib(pid):
    try:
        return int(next(line for line in open(f"/proc/{pid}/status") if line.startswith("VmRSS")).split()[1])
    except (OSError, StopIteration):
        return 0

peak = 0
def watch():
    global peak
    while True:
        children = open(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read().split()
        peak = max(peak, sum(map(kib, [os.getpid(), *children])))
        time.sleep(0.005)

threading.Thread(target=watch, daemon=True).start()
rows, last = 0, ""
for batch in ecosort.sort_table("one_group.parquet", ["text"], memory=sys.argv[1], temp="."):
    values = batch["text"]
    assert last <= values[0].as_py()
    rows, last = rows + batch.num_rows, values[-1].as_py()
print(rows, peak >> 10)
"""


def rows_and_peak_mib(memory: str) -> list[int]:
    """Sorts one_group.parquet in a process of its own, and returns its rows and its peak."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, memory],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
    )
    assert done.stderr == ""
    return [int(word) for word in done.stdout.split()]


@only_in_soak  # the next one has fewer bytes and more decoders
def test_one_row_group_larger_than_the_memory_keeps_to_it(here: Path) -> None:
    """Python and the program take the memory and 64 MiB at most, with half of that to pyarrow itself. 260 MB."""
    parts = 80
    with pq.ParquetWriter("one_group.parquet", pa.schema({"text": pa.string(), "x": pa.float64()})) as writer:
        generator = random.Random(3)
        words = pa.array([f"{generator.getrandbits(256):080x}" * 4 for _ in range(10_000)])
        part = pa.table({"text": words, "x": pa.array(range(10_000), pa.float64())})
        writer.write_table(pa.concat_tables([part] * parts), row_group_size=parts * 10_000)
    assert pq.ParquetFile("one_group.parquet").metadata.num_row_groups == 1
    rows, peak_mib = rows_and_peak_mib("128MiB")
    assert rows == parts * 10_000
    assert peak_mib <= 128 + 64


def columns_of_texts(count: int, rows: int) -> pa.Table:
    """With few different ones, which Parquet writes as a dictionary, and with many."""
    generator = np.random.default_rng(7)
    numbers = [generator.integers(0, 1 << (13 if column % 2 else 52), rows) for column in range(count)]
    texts = [pa.array(column).cast(pa.string()) for column in numbers]
    return pa.table({"text": texts[0], "id": range(rows), **{f"text {column}": texts[column] for column in range(1, count)}})


def test_one_row_group_of_several_columns_keeps_to_it(here: Path) -> None:
    """Short texts: many rows in a run, and several decoders at a time. 150 MB of rows; 1 GB with ECOSORT_SOAK."""
    parts = 48 if SOAK else 7
    part = columns_of_texts(7, 200_000)
    pq.write_table(pa.concat_tables([part] * parts), "one_group.parquet", row_group_size=parts * 200_000)
    assert pq.ParquetFile("one_group.parquet").metadata.num_row_groups == 1
    rows, peak_mib = rows_and_peak_mib("128MiB")
    assert rows == parts * 200_000
    assert peak_mib <= 128 + 64


def test_a_file_of_many_columns_says_what_it_takes(here: Path) -> None:
    pq.write_table(columns_of_texts(40, 70_000), "one_group.parquet", row_group_size=70_000)
    with pytest.raises(NotEnoughMemory, match=r"to be read page by page.*give at least 1[0-9]+MiB") as told:
        sort_table("one_group.parquet", ["text"], memory="128MiB", temp=here)
    assert told.value.need_bytes is not None
    enough_mib = told.value.need_bytes >> 20
    rows, peak_mib = rows_and_peak_mib(f"{enough_mib}MiB")
    assert rows == 70_000
    assert peak_mib <= enough_mib + 64
