"""Files of tables into a file: rows of CSV, and JSON lines."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from ecosort.checks import one_byte, text, truth
from ecosort.keys import ValueKey, value_key_words
from ecosort.process import Sort
from ecosort.report import Progress, Report
from ecosort.words import Path, Size, compressed_files, flags, output, path_words, resources, runs

_TAB = ("tab", r"\t")


def sort_csv(
    src: Path | Sequence[Path],
    dst: Path,
    *,
    by: str | ValueKey | Iterable[str | ValueKey],
    delimiter: str | None = None,
    quote: str | None = '"',
    header: bool = True,
    nulls_first: bool = False,
    strict: bool = False,
    date_format: str | None = None,
    unique: bool = False,
    merge: bool = False,
    decompress: bool | None = None,
    compress_output: str | None = None,
    level: int | None = None,
    memory: Size | None = None,
    threads: int | None = None,
    temp: Path | Sequence[Path] = (),
    compress: str | None = None,
    assume_ratio: float | None = None,
    goal: Literal["time", "energy"] | None = None,
    overwrite: bool = False,
    progress: Callable[[Progress], object] | None = None,
    cancel: threading.Event | None = None,
) -> Report:
    """Sorts rows of CSV (RFC 4180) by columns: `by` are ValueKey, or texts NAME[:TYPE][:desc].

    `delimiter` is one byte (default: that of a first line "sep=;", a tab where all files are named .tsv, else a comma);
    `quote=None`: quotes are bytes like others. The headers of all files must be alike. Values that are empty, or not of their
    key's type, stand behind the others (`nulls_first`: in front), and Report.keys counts them; `strict` refuses the latter, and
    rows that equal the header. `date_format` is like that of strptime (default: ISO 8601). `unique` keeps the first of the rows
    with equal keys; `merge`: the files are sorted already. Inputs
    that are compressed are decompressed, unless `decompress` is False; `compress_output` says what `dst` is compressed with
    ("gzip", "zstd", "lz4", "xz", "bzip2", "none"; default: by the ending of its name), and `level` how hard. The rest is as in
    sort_file().

    >>> import pathlib
    >>> _ = pathlib.Path("in.csv").write_text('name,price\\n"pen, red",2.50\\nink,10\\ncap,?\\n')
    >>> sort_csv("in.csv", "out.csv", by=ValueKey("price", "number", descending=True)).keys
    (KeyCounts(by='price:number:desc', missing=0, unparsable=1),)
    >>> print(pathlib.Path("out.csv").read_text(), end="")
    name,price
    ink,10
    "pen, red",2.50
    cap,?
    """
    words = [*value_key_words(by), f"--quote={'none' if quote is None else one_byte(quote, 'quote', ('none',))}"]
    words += [f"--delimiter={one_byte(delimiter, 'delimiter', _TAB)}"] if delimiter is not None else []
    words += _terms(nulls_first, date_format)
    words += flags(no_header=not truth(header, "header"), strict=strict, unique=unique, merge=merge)
    words += [*resources(memory, threads, temp), *runs(compress, assume_ratio, goal)]
    words += [*compressed_files(decompress, compress_output, level), output(dst, overwrite), *path_words(src)]
    return Sort(["csv", *words], progress=progress, cancel=cancel).wait()


def sort_jsonl(
    src: Path | Sequence[Path],
    dst: Path,
    *,
    by: str | ValueKey | Iterable[str | ValueKey],
    nulls_first: bool = False,
    strict: bool = False,
    allow_missing: bool = False,
    date_format: str | None = None,
    unique: bool = False,
    merge: bool = False,
    decompress: bool | None = None,
    compress_output: str | None = None,
    level: int | None = None,
    memory: Size | None = None,
    threads: int | None = None,
    temp: Path | Sequence[Path] = (),
    compress: str | None = None,
    assume_ratio: float | None = None,
    goal: Literal["time", "energy"] | None = None,
    overwrite: bool = False,
    progress: Callable[[Progress], object] | None = None,
    cancel: threading.Event | None = None,
) -> Report:
    """Sorts JSON lines by values within them: `by` are ValueKey, or texts PATH[:TYPE][:desc].

    A path is names with dots between them and [N] for arrays; names with other signs stand in double quotes. A value is compared
    by its text, whatever its type in JSON. Lines keep their bytes; blank ones are left out (Report.blank_lines). Values that are
    missing or null, or not of their key's type, are placed and counted as those of sort_csv(), and the rest is as there. A path
    that no line has is refused, unless `allow_missing` is True.

    >>> import pathlib
    >>> _ = pathlib.Path("in.jsonl").write_text('{"user": {"id": 10}}\\n{"user": {"id": "9"}}\\n{"user": null}\\n')
    >>> sort_jsonl("in.jsonl", "out.jsonl", by="user.id:number").keys
    (KeyCounts(by='user.id:number', missing=1, unparsable=0),)
    >>> print(pathlib.Path("out.jsonl").read_text(), end="")
    {"user": {"id": "9"}}
    {"user": {"id": 10}}
    {"user": null}
    """
    words = [*value_key_words(by), *_terms(nulls_first, date_format)]
    words += flags(strict=strict, allow_missing=allow_missing, unique=unique, merge=merge)
    words += [*resources(memory, threads, temp), *runs(compress, assume_ratio, goal)]
    words += [*compressed_files(decompress, compress_output, level), output(dst, overwrite), *path_words(src)]
    return Sort(["jsonl", *words], progress=progress, cancel=cancel).wait()


def _terms(nulls_first: bool, date_format: str | None) -> list[str]:
    words = ["--nulls=first"] if truth(nulls_first, "nulls_first") else []
    return words + ([f"--date-format={text(date_format, 'date_format')}"] if date_format is not None else [])
