"""Tables of Arrow in order, larger than memory.

Batches are gathered until they fill a share of the memory. These rows are sorted and written as a run to an unnamed file; the
key of each row goes with the number of its run to the program. When the program gives the keys back in order, the numbers
behind them say from which run the next row is to be taken: every run is read once, from the front.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ecosort.checks import is_left_out, no_such, whole_number
from ecosort.errors import BadInput
from ecosort.extras import how_to_install
from ecosort.words import Path, Size, bytes_of, path_words

if TYPE_CHECKING:
    import pyarrow as pa


def sort_table(
    table: Any,
    by: str | Sequence[str | Sequence[str]],
    *,
    memory: Size = "256MiB",
    threads: int | None = None,
    temp: Path = "",
) -> pa.RecordBatchReader:
    """Sorts the rows of a table by columns, stably, and gives them out as a stream of record batches.

    `table` gives an Arrow stream, as a pyarrow Table or RecordBatchReader and a DataFrame of pandas or Polars do; or it is a
    Dataset of pyarrow, a LazyFrame of Polars, or several batches, tables or DataFrames in a list or from a generator. Or it is a
    path of a Parquet file, a Feather file (Arrow's IPC format), or a directory of these, or several paths. All files and batches
    have the same columns.

    `by` are names, or (name, "ascending" | "descending"[, "first" | "last"]), where the last word is for nulls (default: last).
    Keys can be integers, floats (NaN after all numbers, -0.0 equal to 0.0), decimals, booleans, dates, times, timestamps,
    durations, texts (by code points), binary and UUIDs, also in dictionaries, where the values count and not their places. Other
    columns may be of any type but those that are encoded by run ends. A column of dictionaries comes out with one for all rows;
    its places get more bits where the values of all batches need them. `threads` are the program's; up to three of Python's work
    beside them.

    Everything is read before this returns. Python with pyarrow and the program take `memory`, from 128 MiB on, and at most
    64 MiB more in all, however large the row groups of a Parquet file are; batches of other streams are their owner's, those of a
    Feather file are in memory one at a time, and the reader of a Dataset takes what it takes. Each
    column beyond some 14 takes up to 3 MiB more, and NotEnoughMemory tells how much `memory` a file of many columns needs. The
    rows, as long as Arrow has them in memory, and the keys are in unnamed files in `temp` (default: $TMPDIR or /tmp) until the
    stream ends or is forgotten. 256 MiB suffice for 12 GB, 1 GiB for 60 GB of rows; a longer table raises NotEnoughMemory.

    Raises BadInput, which names the column, and what sort_file() does; the stream does so, too.

    >>> import pyarrow as pa
    >>> table = pa.table({"city": ["Rom", None, "Oslo", "Bern"], "people": [2.8, 1.0, 0.7, 0.1]})
    >>> sort_table(table, [("city", "descending", "first")]).read_all()["city"].to_pylist()
    [None, 'Rom', 'Oslo', 'Bern']
    """
    try:
        from ecosort.arrow_merge import RowSort
        from ecosort.arrow_sources import source_of
    except ModuleNotFoundError as error:
        how = how_to_install("arrow", error.name or "pyarrow")
        raise BadInput(f"sort_table needs {error.name}, which is not installed; run: {how}") from None
    place, *others = path_words(temp, "temp") if not is_left_out(temp) else [tempfile.gettempdir()]
    if others:
        raise no_such("temp", "one directory", temp)
    if threads is not None:
        threads = whole_number(threads, "threads")
    return RowSort(bytes_of(memory, "memory"), threads, place).sort(source_of(table), by)
