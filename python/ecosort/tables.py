"""Tables of Arrow in order, larger than memory.

Batches are gathered until they fill a share of the memory. These rows are sorted and written as a run to an unnamed file; the
key of each row goes with the number of its run to the program. When the program gives the keys back in order, the numbers
behind them say from which run the next row is to be taken: every run is read once, from the front.
"""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from ecosort.ahead import ahead
from ecosort.array_files import new_file
from ecosort.checks import no_such
from ecosort.errors import BadInput
from ecosort.extras import how_to_install
from ecosort.remote.addresses import is_bucket
from ecosort.report import Report, with_notices
from ecosort.text import first_line
from ecosort.words import Path, path_word

if TYPE_CHECKING:
    import pyarrow as pa

    from ecosort.arrow_claims import TableOrder
    from ecosort.arrow_merge import RowSort
    from ecosort.arrow_sources import Source

_MEMORY_BYTES = 256 << 20


def sorted_table(table: Any, by: Any, told: dict[str, Any]) -> pa.RecordBatchReader:
    """Sorts the rows of a table by columns, stably, and gives them out as a stream of record batches. `told` are options.

    All files and batches have the same columns. `by` are names, or (name, "ascending" | "descending"[, "first" | "last"]), where
    the last word is for nulls (default: last). Keys can be integers, floats (NaN after all numbers, -0.0 equal to 0.0),
    decimals, booleans, dates, times, timestamps, durations, texts (by code points), binary and UUIDs, also in dictionaries, where
    the values count and not their places. Other columns may be of any type but those that are encoded by run ends. A column of
    dictionaries comes out with one for all rows; its places get more bits where the values of all batches need them. `threads`
    are the program's; up to three of Python's work beside them.

    Everything is read before this returns. Python with pyarrow and the program take `memory`, from 128 MiB on, and at most
    64 MiB more in all, however large the row groups of a Parquet file are; batches of other streams are their owner's, those of a
    Feather file are in memory one at a time, and the reader of a Dataset takes what it takes. Each
    column beyond some 14 takes up to 3 MiB more, and NotEnoughMemory says how much `memory` a file of many columns needs. The
    rows, as long as Arrow has them in memory, and the keys are in unnamed files in `temp` (default: $TMPDIR or /tmp) until the
    stream ends or is forgotten. 256 MiB, the default, suffice for 12 GB, 1 GiB for 60 GB of rows; a longer table raises
    NotEnoughMemory.
    """
    return _row_sort(told).sort(_source_of(table), by, **_selected(told))


def write_table(table: Any, by: Any, dst: Path, told: dict[str, Any], unclaimed_keys: list[str] | None = None) -> Report:
    """Sorts a table into a Parquet or Feather file. The report is that of the sort of its keys.

    A Parquet file claims its order (`sorting_columns`), so that readers may leave out a sort of theirs; `unclaimed_keys` gets the
    keys that it does not claim. One of Parquet files has
    the codecs, the page index and the rows of row groups of the first, the latter as far as the memory has room for them.
    """
    rows, source = _row_sort(told), _source_of(table)
    import pyarrow as pa
    import pyarrow.parquet as pq

    from ecosort.arrow_claims import claim_of, unclaimed
    from ecosort.arrow_input import parquet_schema

    writers = {".parquet": pq.ParquetWriter} | dict.fromkeys((".feather", ".arrow", ".ipc"), pa.ipc.new_file)
    suffix = pathlib.Path(path_word(dst, "dst")).suffix.lower()
    make = writers.get(suffix)
    if make is None:
        raise BadInput(f"dst: a table goes to a file {', '.join(writers)}, not to {os.fsdecode(dst)!r}")
    _demand_writable(make, source.schema if suffix != ".parquet" else parquet_schema(source.schema), suffix)
    notices: list[str] = []
    with _new_output(dst, told, notices) as descriptor, rows.sort(source, by, **_selected(told)) as batches:
        is_parquet = suffix == ".parquet"
        how = {"sorting_columns": claim_of(batches.schema, by), **source.form.options()} if is_parquet else {}
        if is_parquet and unclaimed_keys is not None:
            unclaimed_keys += unclaimed(batches.schema, by)
        schema = parquet_schema(batches.schema) if is_parquet else batches.schema
        groups = closing(ahead(rows.joined(batches, source.form.group_rows)))  # else the encoder, which is one thread, would wait
        with groups as joined, open(descriptor, "wb", closefd=False) as file, make(file, schema, **how) as writer:
            for batch in joined:
                written = batch if batch.schema.equals(schema) else batch.cast(schema)
                writer.write_batch(written, *([max(batch.num_rows, 1)] if is_parquet else []))
    return with_notices(rows.report(), notices)


def _demand_writable(make: Any, schema: pa.Schema, suffix: str) -> None:
    """Types of columns that a file cannot have show before anything is sorted; values may show only when they are written."""
    import pyarrow as pa

    try:
        with make(pa.BufferOutputStream(), schema):
            pass
    except pa.ArrowException as error:
        raise BadInput(f"a file {suffix} cannot have these columns: {first_line(error)}; cast them") from None


@contextmanager
def _new_output(dst: Path, told: dict[str, Any], notices: list[str]) -> Iterator[int]:
    """A descriptor of a file that becomes `dst` when the block ends without an error: a file, or an object of a bucket."""
    url = path_word(dst, "dst")
    if not is_bucket(url):
        with new_file(dst, told.get("overwrite", False), notices) as descriptor:
            yield descriptor
        return
    from ecosort.remote.uploads import demand_absent, demand_uploads, upload_file

    overwrite = told.get("overwrite", False)
    demand_uploads(url)
    if not overwrite:
        demand_absent(url)
    with tempfile.TemporaryFile(dir=(told.get("temp") or [None])[0]) as file:
        yield file.fileno()
        upload_file(url, file, overwrite=overwrite)


def check_table(path: Path) -> TableOrder:
    """Holds a Parquet file against the order that it claims (`sorting_columns`), and returns that.

    FalseClaim names the first wrong row; BadInput: the file claims no order.
    """
    with _needing_packages():
        from ecosort.arrow_claims import checked_claim
    return checked_claim(path)


@contextmanager
def _needing_packages() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        how = how_to_install("arrow", error.name or "pyarrow")
        raise BadInput(f"tables need {error.name}, which is not installed; run: {how}") from None


def _row_sort(told: dict[str, Any]) -> RowSort:
    with _needing_packages():
        from ecosort.arrow_merge import RowSort
    place, *others = told.get("temp") or [tempfile.gettempdir()]
    if others:
        raise no_such("temp", "one directory", [place, *others])
    return RowSort(told.get("memory", _MEMORY_BYTES), told.get("threads"), place)


def _selected(told: dict[str, Any]) -> dict[str, Any]:
    return {name: told[name] for name in ("unique", "limit") if name in told}


def _source_of(table: Any) -> Source:
    from ecosort.arrow_sources import source_of

    return source_of(table)
