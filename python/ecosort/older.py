"""The functions of before sort(), for one release: each is sort() with a format, and a few options by other names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ecosort import checks
from ecosort.arrays import sort_array_file, sort_in_memory
from ecosort.errors import BadInput
from ecosort.keys import letters_of
from ecosort.options import Options, taken
from ecosort.report import Report
from ecosort.sorting import sort
from ecosort.streams import sorted_items, sorted_parts
from ecosort.tables import sorted_table
from ecosort.words import Path, path_word


def sort_file(src: Any, dst: Path, *, format: str = "records", verify: str = "always", **options: Any) -> Report:  # noqa: A002
    """Is sort(src, dst, format=format, ...), with verify="reread" in place of reread=True."""
    if format not in ("records", "lines", "csv", "jsonl"):
        raise BadInput(f"format is 'records', 'lines', 'csv' or 'jsonl', not {format!r}")
    if verify not in ("always", "reread"):
        raise checks.no_such("verify", "'always' or 'reread'", verify)
    return _file(src, dst, format=format, reread=verify == "reread", **options)


def sort_lines(
    src: Any, dst: Path, *, zero_terminated: bool = False, header: int = 0, merge: bool = False, **options: Any
) -> Report:
    """Is sort(src, dst, format="lines", ...); numeric=True and the like are letters of `ordering`, and header is header_lines."""
    letters = letters_of({name: options.pop(name) for name in [*options] if name not in Options.__dataclass_fields__})
    terminator = "\0" if checks.truth(zero_terminated, "zero_terminated") else "\n"
    header_lines = checks.whole_number(header, "header", "the number of lines that stay on top", least=0)
    order = "believed" if checks.truth(merge, "merge") else "any"
    options |= {"ordering": letters, "terminator": terminator, "header_lines": header_lines, "input_order": order}
    return _file(src, dst, format="lines", **options)


def sort_csv(src: Any, dst: Path, *, merge: bool = False, **options: Any) -> Report:
    """Is sort(src, dst, format="csv", ...), with merge=True in place of input_order="sorted"."""
    return _file(src, dst, format="csv", input_order="sorted" if checks.truth(merge, "merge") else "any", **options)


def sort_jsonl(src: Any, dst: Path, *, merge: bool = False, **options: Any) -> Report:
    """Is sort(src, dst, format="jsonl", ...), with merge=True in place of input_order="sorted"."""
    return _file(src, dst, format="jsonl", input_order="sorted" if checks.truth(merge, "merge") else "any", **options)


def sort_in_place(path: Path, *, record_size: int, by: Any, **options: Any) -> Report:
    """Is sort(path, in_place=True, format="records", ...)."""
    report: Report = sort(path_word(path, "path"), in_place=True, format="records", record_size=record_size, by=by, **options)
    return report


def sort_memmap(array: Any, dst: Path | None = None, *, by: Any = None, ascending: Any = True, **options: Any) -> Report:
    """Is sort(array, dst, ...) of an np.memmap or an .npy file; `ascending` in place of col(name).desc()."""
    return sort_array_file(array, dst, by, ascending, taken(Options(**options).checked(), "a file of an array"))


def sort_records(records: Any, record_size: int | None = None, *, by: Any = None, ascending: Any = True, **options: Any) -> Any:
    """Is sort(records, record_size=..., ...) of an array or a buffer; `ascending` in place of col(name).desc()."""
    return sort_in_memory(records, by, ascending, taken(Options(record_size=record_size, **options).checked(), "an array"))


def sort_table(table: Any, by: Any, **options: Any) -> Any:
    """Is sort(table, by=by, ...), where (name, "descending", "first") is a key, too."""
    return sorted_table(table, by, taken(Options(**options).checked(), "a table"))


def sorted_iter(items: Any, *, key: Any = None, **options: Any) -> Iterator[Any]:
    """Is sort(iter(items), by=key, ...)."""
    return sorted_items(items, key, taken(Options(**options).checked(), "items"))


def sorted_records(records: Any, record_size: int, *, by: Any, **options: Any) -> Iterator[bytes]:
    """Is sort(iter(records), record_size=record_size, by=by, ...)."""
    told = Options(record_size=record_size, **options).checked() | {"by": by, "record_size": record_size}
    return sorted_parts(records, taken(told, "records of an iterable"))


def _file(src: Any, dst: Path, **options: Any) -> Report:
    if dst is None:
        raise checks.no_such("dst", "the name of a file", dst)
    report: Report = sort(src, dst, **options)
    return report
