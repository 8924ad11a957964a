"""sort(): one function for files, streams, tables, arrays and items. What `src` is decides who sorts it, and what comes out."""

from __future__ import annotations

import glob
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import IOBase, RawIOBase, TextIOBase
from itertools import chain
from pathlib import Path
from typing import Any

from ecosort import checks
from ecosort.arrays import sort_array_file, sort_in_memory
from ecosort.codec_names import is_named_tsv, split_codec
from ecosort.errors import BadInput, IoFailed
from ecosort.keys import ValueKey, kinds_in
from ecosort.options import Options, request_of, taken, takes
from ecosort.pipe import PIECE_BYTES, PipedSort, SortedReader, fed
from ecosort.process import Sort
from ecosort.report import Progress, Report
from ecosort.request import Request
from ecosort.streams import sorted_items, sorted_parts
from ecosort.tables import sorted_table, write_table
from ecosort.words import Path as FilePath
from ecosort.words import path_word, path_words

_PATHS = (str, bytes, os.PathLike)
_NOTHING = object()  # where there is no first item
_ENDINGS = {
    "lines": (".txt", ".log"),
    "csv": (".csv", ".tsv"),
    "jsonl": (".jsonl", ".ndjson"),
    "table": (".parquet", ".feather", ".arrow", ".ipc"),
    "array": (".npy",),
}
_TABLES = ("__arrow_c_stream__", "scanner", "to_reader", "collect_batches", "collect")


@takes(Options)
def sort(src: Any, dst: Any, options: Options) -> Any:
    """Sorts what does not fit in memory, stably, into `dst`, which is there only when it is complete and verified.

    `src` is
    - the name of a file, a pattern such as "part-*.csv", or a list or tuple of these. The format is `format`, else that of the
      names (.csv .tsv .jsonl .ndjson .txt .log, also with .gz and the like; .parquet .feather .arrow .ipc; .npy), else that of
      the keys: at(8).u64() is of records, field(2) of lines. A directory is one of Parquet or Feather files.
    - a file object that gives bytes; its format is `format`, or as its name or that of `dst` says.
    - a pandas or Polars DataFrame, an Arrow table or reader, a Dataset, a LazyFrame, or an iterable of batches.
    - a NumPy array of one dimension; with record_size also a bytearray or a memoryview.
    - any other iterable, such as iter(items): its str or bytes are items, with record_size records, with a format its rows.
      The names of files from Path.glob() are files.
    - a Request, which says everything itself.

    `by` are keys, the first of which decides first: col("price").number().desc() of CSV, JSON lines, tables and arrays,
    at(8).u64() of records, field(2).numeric() of lines; or their texts: "price:number:desc", "8:u64", "2,2n" (the text of a
    column of a table or an array is its name). Items are sorted as a whole, or by a function such as len.

    `dst` is the name of a file or a file object that takes bytes; then a Report is returned. Without `dst` comes what went in: of
    files and file objects a binary file object, of a table a RecordBatchReader with its schema, of an array one of its dtype and
    length (of a buffer a memoryview of bytes), of items an iterator; with unique=True there may be fewer.
    A table goes to a file .parquet, .feather, .arrow or .ipc; its Report is that of the sort of its keys.

    The options are those of Options, by name or as one value. Sizes are bytes or texts such as "512MiB". `memory` bounds all
    buffers, and the process takes at most 32 MiB more. What does not fit goes to unnamed files, which vanish even
    when the process is killed. Whatever is raised meanwhile, by `progress` or as KeyboardInterrupt, stops the sort.

    Thread-safety: may be called by several threads at once; what comes out is used by one thread at a time.

    Raises BadInput for wrong arguments and inputs, OutputExists, NotEnoughMemory, NotEnoughSpace, IoFailed, VerificationFailed,
    Cancelled; where a file object or an iterator comes out, it raises what goes wrong while it is read. A file object `dst` keeps
    what was written to it before an error.

    >>> from ecosort import col
    >>> from pathlib import Path
    >>> _ = Path("in.csv").write_text("name,price\\nink,10\\npen,2.50\\ncap,30\\n")
    >>> sort("in.csv", "out.csv", by=[col("price").number().desc(), "name"], memory="16MiB").records
    3
    >>> print(Path("out.csv").read_text(), end="")
    name,price
    cap,30
    ink,10
    pen,2.50
    >>> sort("out.csv", by="name").readlines()[1]
    b'cap,30\\n'
    >>> list(sort(iter(["pear", "fig", "apple"]), by=len))
    ['fig', 'pear', 'apple']
    """
    told = options.checked()
    dst = path_word(dst, "dst") if isinstance(dst, _PATHS) else dst
    _demand_open(src, "src", "readable")
    _demand_open(dst, "dst", "writable")
    if isinstance(src, Request):
        return _by_request(src, dst, told)
    if isinstance(src, _PATHS) or (isinstance(src, list | tuple) and _is_path(next(iter(src), ""))):
        return _sort_files(names_of(src), dst, told)
    if hasattr(src, "__array_interface__") or isinstance(src, bytearray | memoryview):
        return _sort_array(src, dst, told)
    if callable(getattr(src, "read", None)):
        names = [getattr(src, "name", None), dst]
        form = format_of(names, told)
        return _sort_stream(_pieces_of(src), form, dst, _as_named(names, form, told))
    if any(hasattr(src, name) for name in _TABLES):
        return _sort_table(src, dst, told)
    if isinstance(src, Mapping) or not isinstance(src, Iterable):
        raise checks.no_such("src", "the name of a file (a str, bytes or a path), a file, a table, an array or an iterable", src)
    return _sort_items(iter(src), dst, told)


def resume(
    path: FilePath, *, progress: Callable[[Progress], object] | None = None, cancel: threading.Event | None = None
) -> Report:
    """Continues with the sort of `path` in place, or into `path` with resumable=True, that was interrupted.

    Raises BadInput where there is neither a job nor a file of this name. Where the file is whole, the report is empty.
    """
    return Sort(["resume", path_word(path, "path")], progress=progress, cancel=cancel).wait()


def _demand_open(file: Any, name: str, wanted: str) -> None:
    """Refuses a file object that cannot be used before anything is sorted. Those that people write need not say what they can."""
    if not isinstance(file, IOBase):
        return
    if isinstance(file, TextIOBase) and not hasattr(file, "buffer"):
        raise BadInput(f"{name} is a file of text alone; give one of bytes, such as io.BytesIO()")
    if file.closed:
        raise BadInput(f"{name} is closed; open it again")
    if type(file).__module__ == "_io" and not getattr(file, wanted)():
        raise BadInput(f"{name} is not {wanted}; open it with another mode")


def _by_request(request: Request, dst: Any, told: dict[str, Any]) -> Report:
    others = [name for name in told if name not in ("goal", "progress", "cancel")]
    if others or dst is not None:
        raise BadInput(f"a Request has its own {others[0] if others else 'dst'}; besides it give goal, progress and cancel")
    if "-" in (*request.members["inputs"], request.members.get("place", {}).get("output")):
        raise BadInput("request: '-' is a standard stream; give sort() a file object and options instead")
    return Sort(request, **told).wait()


def _is_path(item: Any) -> bool:
    return isinstance(item, _PATHS) or not (isinstance(item, Iterable) or hasattr(item, "__arrow_c_stream__"))


def names_of(src: Any) -> list[str]:
    """Patterns become the names that match, in their order."""
    names: list[str] = []
    for name in path_words(src):
        if not glob.has_magic(name) or "://" in name or os.path.lexists(name):
            names.append(name)
            continue
        found = sorted(glob.glob(name, recursive=True))  # noqa: PTH207  # as it was written
        if not found:
            raise BadInput(f"no file matches '{name}'")
        names += [path_word(path) for path in found]
    return names


def format_of(names: Iterable[Any], told: dict[str, Any]) -> str:
    """Returns the format that is given, that of the first name that has one, or that of the keys. Raises BadInput."""
    if "format" in told:
        return str(told["format"])
    named = [os.fsdecode(name) for name in names if isinstance(name, _PATHS)]
    for name in named:
        if form := _format_in(name):
            return form
    kinds = kinds_in(told.get("by")) | ({"records"} if "record_size" in told else set())
    if len(kinds) == 1:
        return kinds.pop()
    what = f"the name '{named[0]}' does not say" if named else "nothing says"
    hint = "; items of a list are sorted as iter(items)" if named and not os.path.lexists(named[0]) else ""
    raise BadInput(f"{what} which format it is; give format='records', 'lines', 'csv' or 'jsonl'{hint}")


def _as_named(names: Sequence[Any], form: str, told: dict[str, Any]) -> dict[str, Any]:
    """Adds what names of a stream and its output say: a tab divides the columns of .tsv, lines of x.gz are compressed."""
    named = [os.fsdecode(name) for name in names if isinstance(name, _PATHS)]
    if form == "csv" and is_named_tsv(next(filter(_format_in, named), "")):
        return {"delimiter": "\t"} | told
    return {"decompress": True} | told if form == "lines" and any(split_codec(name)[1] for name in named) else told


def _format_in(name: str) -> str | None:
    if Path(name).is_dir():
        return "table"
    ending = Path(split_codec(name)[0]).suffix
    return next((form for form, endings in _ENDINGS.items() if ending.lower() in endings), None)


def _sort_files(names: list[str], dst: Any, told: dict[str, Any]) -> Any:
    formats = {_format_in(name) for name in names}
    if len(formats) > 1 and "format" not in told:
        raise BadInput("the names of src are of several formats; give format='records', 'lines', 'csv' or 'jsonl'")
    form = format_of(names, told)
    if form == "table":
        return _sort_table(names, dst, told)
    if form == "array":
        if len(names) > 1:
            raise BadInput("src: give one .npy file; arrays of several files are not joined")
        return _sort_array(names[0], dst, told)
    ending = Path(os.fsdecode(dst)).suffix.lower() if isinstance(dst, _PATHS) else ""
    if ending in (*_ENDINGS["table"], *_ENDINGS["array"]) and "format" not in told:
        raise BadInput(
            f"dst: a sort of {form} writes {form}, and the name '{os.fsdecode(dst)}' says {ending}; give it another ending"
        )
    if (dst is None and not told.get("in_place")) or callable(getattr(dst, "write", None)):
        return _from_pipe(PipedSort(_piped(told, form, names, "-"), goal=told.get("goal"), is_fed=False), dst)
    if told.get("in_place") and len(names) > 1:
        raise BadInput("src: a sort in place is of one file")
    listeners: dict[str, Any] = {name: told[name] for name in ("goal", "progress", "cancel") if name in told}
    return _by_request(request_of(told, form, names, dst), None, listeners)


def _piped(told: dict[str, Any], form: str, inputs: list[str], dst: Any) -> Request:
    """Returns the request of a sort from or to a pipe."""
    for name in ("progress", "cancel", "in_place", "resumable"):
        if name in told:
            raise BadInput(f"{name} is for sorts of files into a file, by their names")
    if "input_order" in told and inputs == ["-"]:
        raise BadInput("input_order: only files can be merged; give their names")
    return request_of(told, form, inputs, dst)


def _sort_stream(pieces: Iterable[Any], form: str, dst: Any, told: dict[str, Any]) -> Any:
    if form in ("table", "array"):
        raise BadInput(f"a {form} is read from files by their names; give these")
    is_read = dst is None or callable(getattr(dst, "write", None))
    sort = fed(_piped(told, form, ["-"], "-" if is_read else dst), pieces, goal=told.get("goal"), is_read=is_read)
    return _from_pipe(sort, dst) if is_read else sort.wait()


def _pieces_of(file: Any) -> Iterator[Any]:
    binary = getattr(file, "buffer", file)  # of a text file
    if binary is not file and _was_read(file):
        raise BadInput("src was read as text before, which takes more of the file than it gives; open it with mode 'rb'")
    while True:
        piece = binary.read(PIECE_BYTES)
        if not isinstance(piece, bytes | bytearray | memoryview):  # None: no one waits for what is still to come
            raise BadInput(
                f"src gives {type(piece).__name__} instead of bytes; open it with mode 'rb', so that it waits for data"
            )
        if not piece:
            return
        yield piece


def _was_read(text: Any) -> bool:
    """Returns whether a text file may hold what it has read of its binary one already."""
    if getattr(text, "newlines", None) is not None:
        return True
    try:
        return bool(text.seekable() and text.tell() != text.buffer.tell())
    except OSError:  # it is being read line by line
        return True


def _from_pipe(sort: PipedSort, dst: Any) -> Any:
    """Returns a reader, or a report when all was written to a file object."""
    reader = SortedReader(sort)
    if dst is None:
        return reader
    if hasattr(dst, "buffer"):  # a text file, which may hold text that comes first
        dst.flush()
    binary = getattr(dst, "buffer", dst)
    with reader:
        while rest := memoryview(reader.read(PIECE_BYTES)):
            while rest:  # an unbuffered file may take less than all
                count = binary.write(rest)
                if count == 0 or (count is None and isinstance(binary, RawIOBase)):
                    raise IoFailed("dst takes no more for now; give a file object that waits")
                rest = rest[len(rest) if count is None else count :]
        return reader.report


def _sort_items(items: Iterator[Any], dst: Any, told: dict[str, Any]) -> Any:
    first = next(items, _NOTHING)
    every = items if first is _NOTHING else chain([first], items)
    if isinstance(first, os.PathLike):
        return _sort_files(names_of(list(every)), dst, told)
    if any(hasattr(first, name) for name in _TABLES):
        return _sort_table(every, dst, told)
    if dst is not None or told.get("format", "records") != "records":
        form = format_of([dst], told)
        told = _as_named([dst], form, told)
        end = "\n\n" if told.get("paragraphs") else str(told.get("terminator", "\n"))
        return _sort_stream(_rows(every, form, end.encode()), form, dst, told)
    if "record_size" in told:
        return sorted_parts(every, taken(told, "records of an iterable"))
    by = told.pop("by", None)
    if by is not None and not callable(by):
        raise BadInput(f"by is a function of an item, such as len, not {by!r}; or say with format what the rows are")
    return sorted_items(every, by, taken(told, "items"))


def _rows(items: Iterable[Any], form: str, end: bytes) -> Iterator[bytes]:
    """Returns the bytes of a file with these rows, each with its end."""
    for item in items:
        if not isinstance(item, str | bytes):
            raise BadInput(f"rows are str or bytes, not {type(item).__name__}")
        try:
            row = item.encode("utf-8", "surrogateescape") if isinstance(item, str) else item
        except UnicodeEncodeError as error:
            raise BadInput(f"a row is no text that UTF-8 has: {error}") from None
        yield row if form == "records" or row.endswith(end) else row.removesuffix(end[:1]) + end


def _names_and_directions(by: Any) -> list[tuple[str, bool]] | None:
    """Returns the names of columns or fields, and whether they descend. Their types are their own."""
    if by is None:
        return None
    keys = checks.several(by, (str, ValueKey), "by", "the name of a column or col(...), or several of them")
    for key in keys:
        if isinstance(key, ValueKey) and key.type != "text":
            raise BadInput(f"by: the column {key.name!r} has a type of its own; leave .{key.type}() out")
    return [(str(key.name), key.descending) if isinstance(key, ValueKey) else (key, False) for key in keys]


def _sort_table(table: Any, dst: Any, told: dict[str, Any]) -> Any:
    by = _table_keys(told.get("by"), "first" if told.get("nulls_first") else "last")
    told = taken(told, "a table")
    return sorted_table(table, by, told) if dst is None else write_table(table, by, dst, told)


def _table_keys(by: Any, nulls: str) -> list[Any]:
    """Returns keys with their directions and where nulls come; a tuple may say so itself."""
    if not isinstance(by, tuple | list) or not any(isinstance(key, tuple | list) for key in by):
        return [(name, "descending" if is_down else "ascending", nulls) for name, is_down in _names_and_directions(by) or ()]
    keys: list[Any] = []
    for key in by:
        if isinstance(key, tuple | list):
            keys.append((*key, nulls) if len(key) == len(("name", "direction")) else key)
        else:
            keys += _table_keys(key, nulls)
    return keys


def _sort_array(array: Any, dst: Any, told: dict[str, Any]) -> Any:
    """Sorts the name of an .npy file or an np.memmap into a file or in place, other arrays and buffers in memory."""
    if isinstance(array, str) or dst is not None or told.get("in_place"):
        return sort_array_file(array, dst, *_fields(told.get("by")), taken(told, "a file of an array"))
    by, ascending = (told.get("by"), True) if "record_size" in told else _fields(told.get("by"))
    return sort_in_memory(array, by, ascending, taken(told, "an array"))


def _fields(by: Any) -> tuple[Any, Any]:
    keys = _names_and_directions(by)
    return (None, True) if keys is None else ([name for name, _ in keys], [not is_down for _, is_down in keys])
