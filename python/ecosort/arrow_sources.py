"""Makes a schema, and batches of rows of it, of what sort_table() is given."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from ecosort.arrow_files import open_file
from ecosort.arrow_writing import ParquetForm
from ecosort.errors import BadInput
from ecosort.kept_memory import KeptMemory
from ecosort.remote.addresses import is_remote
from ecosort.remote.s3_inputs import objects_of
from ecosort.words import path_word, path_words

_PATHS = (str, bytes, os.PathLike)
_WANTED = "give a Table, a RecordBatchReader, a Dataset, a DataFrame, a LazyFrame, batches, or paths of Parquet or Feather files"


@dataclass(frozen=True)
class Source:
    """`batches` is called once, with the bytes of a run. Metadata of batches may differ from those of the schema.

    Batches of files may come from another thread, and take `page_bytes`.
    """

    schema: Any
    batches: Callable[[int, KeptMemory], Iterator[Any]]
    page_bytes: int = 0
    is_of_files: bool = False
    form: ParquetForm = field(default_factory=ParquetForm)  # of the first file


def source_of(table: Any) -> Source:
    """Raises BadInput."""
    if isinstance(table, _PATHS):
        return _of_files(files_at(path_word(table)))
    if hasattr(table, "__arrow_c_stream__"):
        return _of_streams([table])
    if hasattr(table, "scanner"):  # a Dataset: as little ahead as it can
        return _of_streams([table.scanner(batch_readahead=0, fragment_readahead=0, use_threads=False).to_reader()])
    if hasattr(table, "to_reader"):  # a Scanner
        return _of_streams([table.to_reader()])
    if hasattr(table, "collect_batches"):  # a LazyFrame; its columns are those of no rows, because it may have no batch
        return _of_streams(chain([table.head(0).collect()], table.collect_batches()))
    if hasattr(table, "collect"):  # an older one
        return _of_streams([table.collect()])
    if isinstance(table, Mapping | io.IOBase | pa.NativeFile) or not isinstance(
        table, Iterable
    ):  # the lines of a file are no paths
        raise _no_stream(table)
    return _of_items(iter(table))


def _of_items(items: Iterator[Any]) -> Source:
    """Paths or batches."""
    first = next(items, None)
    if first is None:
        raise BadInput(f"there are no batches to sort: their columns are not known; {_WANTED}")
    if isinstance(first, _PATHS):
        return _of_files([file for path in path_words([first, *items], "table") for file in files_at(path)])
    return _of_streams(chain([first], items))


def _of_streams(streams: Iterable[Any]) -> Source:
    """One behind the other, in the thread of the caller, to which they may be bound."""
    given = iter(streams)
    first = _open_stream(next(given))

    def batches(run_bytes: int, kept: KeptMemory) -> Iterator[Any]:
        yield from first
        for number, stream in enumerate(given, 2):
            reader = _open_stream(stream)
            _demand_alike(first.schema, reader.schema, "the first batch", f"batch {number}")
            yield from reader

    return Source(first.schema, batches)


def _open_stream(table: Any) -> Any:
    if not hasattr(table, "__arrow_c_stream__"):
        raise _no_stream(table)
    _demand_true_values(table)
    try:
        return pa.RecordBatchReader.from_stream(table)
    except OverflowError:  # of pandas, whose read_csv() makes objects of long numbers
        name = next((name for name in table.columns if _overflows(table[name])), None)
        raise BadInput(
            f"column {name!r} has whole numbers beyond 64 bits, as objects; cast it: "
            f"df.astype({{{name!r}: pandas.ArrowDtype(pyarrow.decimal128(38, 0))}}), or to str to sort it as text"
        ) from None
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise BadInput(f"pyarrow cannot read the stream of this {type(table).__name__}: {error}; cast its columns") from None


# Types whose values Arrow streams lack, and what to do.
_LOST = {
    "TIME WITH TIME ZONE": "which DuckDB exports without its zone: first SET arrow_lossless_conversion = true, or cast it",
    "UHUGEINT": "which DuckDB exports as a signed number: cast it to HUGEINT, DECIMAL or VARCHAR",
    "Int128": "for which pyarrow has no type: cast it to pl.Decimal(38, 0)",
    "UInt128": "for which pyarrow has no type: cast it to pl.Decimal(38, 0)",
}


def _demand_true_values(table: Any) -> None:
    """Asks relations of DuckDB and frames of Polars for their types: streams show other values, or none."""
    if type(table).__module__.partition(".")[0] not in ("duckdb", "_duckdb", "polars"):
        return
    for name, kind in zip(getattr(table, "columns", ()), getattr(table, "dtypes", ()), strict=False):
        if why := _LOST.get(str(kind)):
            raise BadInput(f"column {name!r} is of type {kind}, {why}")


def _overflows(column: Any) -> bool:
    try:
        pa.array(column, from_pandas=True)
    except OverflowError:
        return True
    except pa.ArrowException:
        pass
    return False


def _no_stream(table: Any) -> BadInput:
    return BadInput(f"a {type(table).__name__} gives no Arrow stream; {_WANTED}")


def _of_files(paths: Sequence[str]) -> Source:
    page_bytes = 0
    schema: Any = None
    form = ParquetForm()
    for path in paths:
        with open_file(path) as file:
            form = form if schema else file.form()
            schema = schema or file.schema
            _demand_alike(schema, file.schema, f"'{paths[0]}'", f"'{path}'")
            page_bytes = max(page_bytes, file.page_bytes())

    def batches(run_bytes: int, kept: KeptMemory) -> Iterator[Any]:
        for path in paths:
            with open_file(path) as file:
                yield from file.batches(run_bytes, kept)

    return Source(schema, batches, page_bytes, is_of_files=True, form=form)


def files_at(path: str) -> list[str]:
    """The path itself, or the files below the directory in the order of their names, without hidden ones and `_SUCCESS`."""
    if is_remote(path):
        return objects_of(path)
    if not Path(path).is_dir():
        return [path]
    found: list[str] = []
    for place, directories, files in os.walk(path, onerror=_cannot_list):
        directories[:] = sorted(name for name in directories if not name.startswith((".", "_")))
        if any("=" in name for name in directories):
            raise BadInput(
                f"the directories in '{place}' name values of columns ('{directories[0]}'); "
                f"give pyarrow.dataset.dataset({path!r}, partitioning='hive')"
            )
        found += [f"{place}/{name}" for name in sorted(files) if not name.startswith((".", "_"))]
    if not found:
        raise BadInput(f"there are no files in '{path}'")
    return found


def _cannot_list(error: OSError) -> None:
    raise BadInput(f"'{error.filename}' cannot be read: {error.strerror}")


def _demand_alike(schema: Any, other: Any, first: str, name: str) -> None:
    """Raises BadInput where two of several tables do not have the same columns."""
    if schema.names != other.names:
        raise BadInput(f"{name} has the columns {', '.join(other.names)}, and {first} has {', '.join(schema.names)}")
    for one, two in zip(schema, other, strict=True):
        if _without_places(one.type) != _without_places(two.type):
            raise BadInput(f"column {two.name!r} of {name} is {two.type}, and that of {first} {one.type}; cast one of them")


def _without_places(kind: Any) -> Any:
    """pandas gives places of a dictionary as few bits as its values need."""
    return pa.dictionary(pa.int32(), kind.value_type, kind.ordered) if pa.types.is_dictionary(kind) else kind
