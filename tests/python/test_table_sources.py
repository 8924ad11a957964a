"""sort_table takes files, directories, datasets, streams, batches; and columns that are encoded by dictionaries."""

import io
import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ecosort.arrow_merge
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from ecosort import BadInput, IoFailed, NotEnoughMemory, sort, sort_table
from python.support import child_pids

FEW_BYTES = 128 << 10  # that sort a table, if pyarrow may take what it takes


@pytest.fixture(autouse=True)
def many_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes many runs of small tables, which takes less memory than may be given."""
    monkeypatch.setattr(ecosort.arrow_merge, "LEAST_MEMORY", FEW_BYTES)


NUMBERS = [(k * 7919) % 1009 for k in range(1009)]
TABLE = pa.table({"n": NUMBERS, "text": [None if n % 11 == 0 else f"{n:04}" for n in NUMBERS]})
PARTS = [TABLE.slice(at, 300) for at in range(0, 1009, 300)]


def sorted_numbers(source: Any) -> list[int]:
    done = sort_table(source, "n", memory="6MiB").read_all()
    done.validate(full=True)
    numbers: list[int] = done["n"].to_pylist()
    assert done["text"].to_pylist() == [None if n % 11 == 0 else f"{n:04}" for n in numbers]
    return numbers


@pytest.fixture
def files(here: Path) -> list[Path]:
    """A table in four files of three formats, in a directory with others that programs leave there."""
    place = here / "place"
    (place / "more").mkdir(parents=True)
    for name in ("_SUCCESS", ".crc"):
        (place / name).touch()
    pq.write_table(PARTS[0], place / "a.parquet")
    pyarrow.feather.write_feather(PARTS[1], place / "b.feather")
    pyarrow.feather.write_feather(PARTS[2], place / "more" / "c.arrow", compression="uncompressed", chunksize=77)
    with pa.ipc.new_stream(place / "more" / "d.arrows", TABLE.schema) as stream:
        stream.write_table(PARTS[3], max_chunksize=50)
    return sorted(path for path in place.rglob("*.*") if path.is_file() and path.name != ".crc")


def test_files_in_a_list_and_in_a_directory(files: list[Path], here: Path) -> None:
    assert len(files) == 4
    for source in (files, tuple(map(str, files)), iter(files), [here / "place"], here / "place", "place", b"place"):
        assert sorted_numbers(source) == list(range(1009))
    for path, part in zip(files, PARTS, strict=True):
        assert sorted_numbers(path) == sorted(part["n"].to_pylist())


def test_datasets_and_scanners(files: list[Path]) -> None:
    dataset = pyarrow.dataset.dataset(files[:1]) if len(files) == 1 else pyarrow.dataset.dataset(str(files[0]))
    numbers = sorted(PARTS[0]["n"].to_pylist())
    assert sorted_numbers(dataset) == numbers
    assert sorted_numbers(dataset.scanner(filter=pyarrow.dataset.field("n") > 500)) == [n for n in numbers if n > 500]
    assert sorted_numbers(pyarrow.dataset.dataset(TABLE)) == list(range(1009))


def test_batches_of_any_kind_one_behind_the_other() -> None:
    def generated() -> Iterator[Any]:
        yield from PARTS[0].to_batches(max_chunksize=7)
        yield PARTS[1]
        yield pa.RecordBatchReader.from_batches(TABLE.schema, PARTS[2].to_batches())
        yield PARTS[3].replace_schema_metadata({"other": "metadata"})

    for source in (generated(), PARTS, TABLE.to_batches(max_chunksize=100)):
        assert sorted_numbers(source) == list(range(1009))


class Lazy:
    """Behaves as a LazyFrame of Polars: it gives no stream itself."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def head(self, count: int) -> "Lazy":
        return Lazy(self._table.slice(0, count))

    def collect(self) -> Any:
        return self._table


class LazyInBatches(Lazy):
    """A newer one."""

    def collect_batches(self) -> Iterator[Any]:
        return iter(PARTS if self._table.num_rows else [])


def test_lazy_frames() -> None:
    for kind in (Lazy, LazyInBatches):
        assert sorted_numbers(kind(TABLE)) == list(range(1009))
        assert sort_table(kind(TABLE.slice(0, 0)), "n").schema == TABLE.schema


def test_sources_that_do_not_fit_together_are_told(files: list[Path], here: Path) -> None:
    pq.write_table(pa.table({"n": ["1"], "text": ["x"]}), "other.parquet")
    pq.write_table(pa.table({"n": [1]}), "fewer.parquet")
    (here / "empty").mkdir()
    (here / "hive" / "year=2024").mkdir(parents=True)
    feather = bytearray(files[2].read_bytes())
    feather[0:6] = b"FEA1\0\0"
    (here / "old").write_bytes(feather)
    (here / "short").write_bytes(files[1].read_bytes()[:-40])
    for source, words in (
        ([files[0], "other.parquet"], r"column 'n' of 'other\.parquet' is string, and that of '.*a\.parquet' int64; cast"),
        ([files[0], "fewer.parquet"], r"'fewer\.parquet' has the columns n, and '.*a\.parquet' has n, text"),
        ([PARTS[0], pa.table({"n": [1]})], "batch 2 has the columns n, and the first batch has n, text"),
        ([files[0], PARTS[0]], "each of table is the name of a file"),
        ([PARTS[0], 5], "a int gives no Arrow stream; give a Table"),
        ([], "there are no batches to sort"),
        (iter(()), "there are no batches to sort"),
        ("empty", "there are no files in 'empty'"),
        ("hive", r"'year=2024'.*give pyarrow\.dataset\.dataset\('hive', partitioning='hive'\)"),
        ("old", r"first version; give pyarrow\.feather\.read_table"),
        ("short", "'short' cannot be read as Parquet or Feather: "),
        ("absent", "'absent' cannot be read as Parquet or Feather: No such file or directory"),
        ({"n": [1]}, "a dict gives no Arrow stream"),
        (io.BytesIO(b"PAR1"), "a BytesIO gives no Arrow stream; give .* paths of Parquet"),
        (5, "a int gives no Arrow stream"),
    ):
        with pytest.raises(BadInput, match=words) as raised:
            sort_table(source, "n").read_all()
        assert "\n" not in str(raised.value)
    assert child_pids() == []


def test_a_damaged_feather_file_is_noticed(here: Path) -> None:
    """Before its places of texts, which lead out of it now, are followed."""
    pyarrow.feather.write_feather(TABLE.slice(0, 200), "in.feather", compression="uncompressed")
    data = bytearray((here / "in.feather").read_bytes())
    at = data.index((4).to_bytes(4, "little") + (8).to_bytes(4, "little"))
    data[at : at + 4] = (1 << 28).to_bytes(4, "little")
    (here / "in.feather").write_bytes(data)
    with pytest.raises(IoFailed, match=r"cannot read 'in\.feather'"):
        sort_table("in.feather", "text").read_all()


# --- dictionaries

CITIES = ["Rom", "Oslo", "Bern", "Athen", "never"]


def encoded(values: list[str | None], dictionary: list[Any], kind: Any) -> Any:
    places = pa.array([None if value is None else dictionary.index(value) for value in values], kind.index_type)
    return pa.DictionaryArray.from_arrays(places, pa.array(dictionary, kind.value_type), ordered=kind.ordered)


@pytest.mark.parametrize("value", [pa.string(), pa.large_string(), pa.string_view(), pa.binary()])
@pytest.mark.parametrize("index", [pa.int8(), pa.uint32(), pa.int64()])
@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_a_dictionary_is_sorted_by_its_values_and_stays(value: Any, index: Any, order: str) -> None:
    """With its own order, and what no row has, as categories of pandas and Polars have them."""
    generator = random.Random(5)
    values = [generator.choice([*CITIES[:4], None]) for _ in range(5000)]
    kind = pa.dictionary(index, value, ordered=True)
    plain = pa.table({"city": pa.array(values).cast(value), "n": range(5000)})
    table = plain.set_column(0, "city", encoded(values, CITIES, pa.dictionary(index, pa.string(), ordered=True)).cast(kind))
    done = sort_table(table, [("city", order, "first")], memory="4MiB").read_all()
    done.validate(full=True)
    expected = sort_table(plain, [("city", order, "first")], memory="4MiB").read_all()
    assert done.schema == table.schema
    assert done["n"].equals(expected["n"])
    assert done["city"].to_pylist() == expected["city"].to_pylist()
    assert {tuple(chunk.dictionary.cast(pa.string()).to_pylist()) for chunk in done["city"].chunks} == {tuple(CITIES)}


def test_batches_with_dictionaries_of_their_own() -> None:
    """Row groups of Parquet and DataFrames have such; with more values in all than the places of one batch can have."""
    kind = pa.dictionary(pa.int8(), pa.string())
    generator = random.Random(7)
    batches, values = [], []
    for number in range(6):
        dictionary: list[Any] = [f"{k:03}" for k in range(40 * number, 40 * number + 90)] + [None]
        generator.shuffle(dictionary)
        some = [generator.choice(dictionary) for _ in range(400)]
        batches.append(pa.record_batch({"c": encoded(some, dictionary, kind), "v": some, "n": range(400)}))
        values += some
    for by in ("c", "v"):
        done = sort_table(batches, [(by, "descending", "first"), "n"], memory="6MiB").read_all()
        done.validate(full=True)
        expected = [None] * values.count(None) + sorted((value for value in values if value is not None), reverse=True)
        assert done["c"].to_pylist() == done["v"].to_pylist() == expected
        assert done["c"].type == pa.dictionary(pa.int32(), pa.string())
    few = sort_table(batches[:1], "c").read_all()
    assert few["c"].type == kind


def test_dictionaries_of_numbers_in_parquet_and_feather(here: Path) -> None:
    """Each row group has its own. -0.0 and NaN stay what they are."""
    numbers = [float("nan") if k % 97 == 0 else -0.0 if k % 89 == 0 else (k * 7919) % 501 / 4 - 60 for k in range(3000)]
    table = pa.table({"f": pa.chunked_array([pa.array(numbers[at : at + 500]) for at in range(0, 3000, 500)])})
    table = table.append_column("d", table["f"].dictionary_encode())
    pq.write_table(table, "in.parquet", row_group_size=500)
    pyarrow.feather.write_feather(table, "in.feather", chunksize=500)
    expected = sort_table(table.select(["f"]), "f").read_all()["f"]
    for source in (table, "in.parquet", "in.feather"):
        done = sort_table(source, "d", memory="6MiB").read_all()
        assert pa.types.is_dictionary(done["d"].type) is (source != "in.parquet")  # pyarrow keeps those of texts only there
        for column in ("f", "d"):
            assert list(map(repr, done[column].to_pylist())) == list(map(repr, expected.to_pylist()))


def test_dictionaries_of_views_go_to_parquet(here: Path) -> None:
    """Polars has such; pyarrow writes none. Other columns keep their types."""
    kind = pa.dictionary(pa.uint32(), pa.string_view())
    city = pa.array(["b", None, "a"]).dictionary_encode().cast(kind)
    table = pa.table(
        {"city": city, "s": pa.StructArray.from_arrays([city], ["x"]), "t": pa.array(["x", "y", "z"], pa.string_view())}
    )
    sort(table, "out.parquet", by="city")
    done = pq.read_table("out.parquet")
    assert done["city"].to_pylist() == ["a", "b", None]
    assert done["s"].to_pylist() == [{"x": "a"}, {"x": "b"}, {"x": None}]
    assert done["t"].type == pa.string_view()


@pytest.mark.parametrize("value", [pa.string(), pa.string_view()])
def test_dictionaries_within_lists_and_structs_are_carried(value: Any) -> None:
    kind = pa.dictionary(pa.int32(), value)
    rows = [[CITIES[k % 3]] * (k % 4) for k in range(500)]
    nested = pa.array(rows).cast(pa.list_(pa.dictionary(pa.int32(), pa.string()))).cast(pa.list_(kind))
    table = pa.table({"n": range(500), "l": nested, "s": pa.StructArray.from_arrays([nested], ["x"])})
    done = sort_table(table, [("n", "descending")], memory="4MiB").read_all()
    assert done.schema == table.schema
    assert done["l"].to_pylist() == rows[::-1]
    assert done["s"].to_pylist() == [{"x": row} for row in rows[::-1]]


def test_dictionaries_that_take_too_much_memory_together_are_refused() -> None:
    parts = [pa.table({"c": pa.array([f"{k:064}" for k in range(at, at + 4000)]).dictionary_encode()}) for at in (0, 4000)]
    with pytest.raises(NotEnoughMemory, match=r"the dictionaries of column 'c' have more than 256 KiB.*cast the column"):
        sort_table(parts, "c", memory="4MiB")
    assert child_pids() == []


def test_uuids_are_keys() -> None:
    """In the order of their digits, alone and behind a text; their type stays."""
    generator = random.Random(9)
    values = [None if k % 50 == 0 else uuid.UUID(int=generator.getrandbits(128)) for k in range(2000)]
    table = pa.table({"id": pa.array([value and value.bytes for value in values], pa.uuid()), "t": ["x"] * 2000})
    expected = sorted((value for value in values if value), key=str) + [None] * values.count(None)
    for by in (["id"], ["t", "id"]):
        done = sort_table(table, by, memory="4MiB").read_all()
        assert done.schema == table.schema
        assert done["id"].to_pylist() == expected
    done = sort_table(table.set_column(0, "id", table["id"].cast(pa.binary(16)).dictionary_encode()), "id").read_all()
    assert done["id"].to_pylist() == [value and value.bytes for value in expected]


def test_an_extension_whose_order_no_one_knows_is_no_key() -> None:
    """The order of its storage may be another one."""
    column = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([2, 1], pa.int8()))
    with pytest.raises(BadInput, match=r"column 'x' of type extension<arrow\.bool8> cannot be a key; cast it"):
        sort_table(pa.table({"x": column}), "x")
    done = sort_table(pa.table({"x": column, "n": [2, 1]}), "n").read_all()
    assert done["x"].combine_chunks().storage.to_pylist() == [1, 2]
