"""Files into a file: records of fixed size, lines of text, and a file in its own space."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypedDict

from ecosort import checks
from ecosort.errors import BadInput
from ecosort.keys import Key, LineKey, ValueKey, line_key_words, record_key_words
from ecosort.process import Sort
from ecosort.report import Progress, Report
from ecosort.row_files import sort_csv, sort_jsonl
from ecosort.words import (
    Path,
    Size,
    compressed_files,
    flags,
    output,
    path_word,
    path_words,
    record_size_word,
    resources,
    runs,
    size_word,
)


class _Common(TypedDict):
    memory: Size | None
    threads: int | None
    temp: Path | Sequence[Path]
    compress: str | None
    assume_ratio: float | None
    goal: Literal["time", "energy"] | None
    overwrite: bool
    progress: Callable[[Progress], object] | None
    cancel: threading.Event | None


def sort_file(
    src: Path | Sequence[Path],
    dst: Path,
    *,
    record_size: int | None = None,
    by: str | Key | ValueKey | Iterable[str | Key | ValueKey] | None = None,
    format: Literal["records", "lines", "csv", "jsonl"] = "records",  # noqa: A002
    reverse: bool = False,
    unique: bool = False,
    memory: Size | None = None,
    threads: int | None = None,
    temp: Path | Sequence[Path] = (),
    compress: str | None = None,
    assume_ratio: float | None = None,
    goal: Literal["time", "energy"] | None = None,
    verify: Literal["always", "reread"] = "always",
    overwrite: bool = False,
    progress: Callable[[Progress], object] | None = None,
    cancel: threading.Event | None = None,
) -> Report:
    """Sorts the records of files into `dst`, which is there only when it is complete, verified and on stable storage.

    `record_size` in bytes and `by` must be given, but for files of the Sort Benchmark (100 bytes, key 0:10). `format="lines"`
    is sort_lines() with `by` as GNU sort's -k; "csv" and "jsonl" are sort_csv() and sort_jsonl() with their `by`. The order is
    stable. `memory` bounds all buffers (the process takes at most 32 MiB more); its default, as that of `threads`, is what the
    machine and control groups allow. Runs go beside `dst` or to the directories `temp`.

    `compress` says what runs are compressed with: "none", "lz4", "zstd", "zstd:LEVEL", or "auto": what pays (the default, but of
    records "none"). With `assume_ratio=R` only 1/R of their space is reserved. With `goal="energy"` "auto" takes what needs the
    fewest joules, by a profile of ecosort-tune that knows watts. Report.run_compression tells what came of it.

    `progress` is called about twice a second in this thread. Set `cancel` from another thread to stop (Cancelled). Whatever is
    raised meanwhile, by `progress` or as KeyboardInterrupt, stops the sort, and nothing is left behind; what is raised by the
    last call of `progress`, when the sort is done, leaves the output there. May be called by several threads at once.

    Raises BadInput, OutputExists, NotEnoughMemory, NotEnoughSpace, IoFailed, VerificationFailed.

    >>> import pathlib, struct
    >>> _ = pathlib.Path("in.dat").write_bytes(struct.pack("<6Q", 7, 1, 3, 2, 5, 3))
    >>> sort_file("in.dat", "out.dat", record_size=16, by="0:u64").records
    3
    >>> struct.unpack("<6Q", pathlib.Path("out.dat").read_bytes())
    (3, 2, 5, 3, 7, 1)
    """
    common = _Common(
        memory=memory,
        threads=threads,
        temp=temp,
        compress=compress,
        assume_ratio=assume_ratio,
        goal=goal,
        overwrite=overwrite,
        progress=progress,
        cancel=cancel,
    )
    keys = _keys(by)
    if format == "lines":
        _check_rows(format, record_size, verify, any(isinstance(key, Key | ValueKey) for key in keys))
        return sort_lines(src, dst, by=[str(key) for key in keys], reverse=reverse, unique=unique, **common)
    if format in ("csv", "jsonl"):
        _check_rows(format, record_size, verify, any(isinstance(key, Key) for key in keys))
        if reverse:
            raise BadInput(f"reverse is for records and lines; a key of {format} descends by itself")
        sort_rows = sort_csv if format == "csv" else sort_jsonl
        return sort_rows(src, dst, by=[key for key in keys if not isinstance(key, Key)], unique=unique, **common)
    if format != "records":
        raise BadInput(f"format is 'records', 'lines', 'csv' or 'jsonl', not {format!r}")
    record_keys = [key for key in keys if not isinstance(key, ValueKey)]
    if len(record_keys) < len(keys):
        raise BadInput("a ValueKey is for csv and jsonl; keys of records are Key, or texts OFFSET:LENGTH or OFFSET:TYPE")
    if (record_size is None) != (by is None):
        raise BadInput("give both record_size and by; only files of the Sort Benchmark need neither")
    words = [] if record_size is None else [record_size_word(record_size)]
    words += record_key_words(record_keys) if by is not None else []
    if verify not in ("always", "reread"):
        raise checks.no_such("verify", "'always' or 'reread'", verify)
    words += [*flags(reverse=reverse, unique=unique), f"--verify={verify}", *resources(memory, threads, temp)]
    words += runs(compress, assume_ratio, goal)
    return Sort(["sort", *words, output(dst, overwrite), *path_words(src)], progress=progress, cancel=cancel).wait()


def sort_lines(
    src: Path | Sequence[Path],
    dst: Path,
    *,
    by: int | str | LineKey | Iterable[int | str | LineKey] = (),
    separator: str | None = None,
    numeric: bool = False,
    general_numeric: bool = False,
    human_numeric: bool = False,
    month: bool = False,
    version: bool = False,
    ignore_case: bool = False,
    ignore_leading_blanks: bool = False,
    dictionary_order: bool = False,
    ignore_nonprinting: bool = False,
    reverse: bool = False,
    unique: bool = False,
    stable: bool = False,
    merge: bool = False,
    zero_terminated: bool = False,
    header: int = 0,
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
    """Sorts lines of text as GNU sort does in the C locale: `by` fields (numbers from 1, LineKey, texts of -k), else as a whole.

    `separator` is one byte between fields (default: where blanks begin). `stable`: lines with equal keys stay in input order
    instead of being compared as a whole. `merge`: the files are sorted already. `header` lines of each file, all
    alike, go out once and stay on top. Files are taken as
    they are, as sort does, unless `decompress` is True and `compress_output` and `level` say what `dst` is compressed with, as in
    sort_csv() ("auto": by the ending of its name). The rest is as in sort_file().

    >>> import pathlib
    >>> _ = pathlib.Path("in.csv").write_text("name,age\\nada,36\\nbob,7\\n")
    >>> sort_lines("in.csv", "out.csv", by=LineKey(2, numeric=True), separator=",", header=1).records
    3
    >>> print(pathlib.Path("out.csv").read_text(), end="")
    name,age
    bob,7
    ada,36
    """
    words = flags(
        numeric_sort=numeric,
        general_numeric_sort=general_numeric,
        human_numeric_sort=human_numeric,
        month_sort=month,
        version_sort=version,
        ignore_case=ignore_case,
        ignore_leading_blanks=ignore_leading_blanks,
        dictionary_order=dictionary_order,
        ignore_nonprinting=ignore_nonprinting,
        reverse=reverse,
        unique=unique,
        stable=stable,
        merge=merge,
        zero_terminated=zero_terminated,
    )
    words += [*line_key_words(by), *_layout(separator, header), *resources(memory, threads, temp, "parallel")]
    words += [*runs(compress, assume_ratio, goal), *compressed_files(decompress, compress_output, level)]
    return Sort(["lines", *words, output(dst, overwrite), *path_words(src)], progress=progress, cancel=cancel).wait()


def sort_in_place(
    path: Path,
    *,
    record_size: int,
    by: str | Key | Iterable[str | Key],
    reverse: bool = False,
    memory: Size | None = None,
    threads: int | None = None,
    space: Size | None = None,
    as_is: bool = False,
    progress: Callable[[Progress], object] | None = None,
    cancel: threading.Event | None = None,
) -> Report:
    """Sorts a file in its own space and a few percent more (`space`: at most so much), on ext4 with a journal or XFS.

    A file that begins as an archive or as compressed data does is refused unless `as_is` says that it holds records.
    Meanwhile the file is absent, and its records are in the directory `path`.ecosort. When this is interrupted no record is
    lost, and resume(path) continues. Otherwise as sort_file().
    """
    words = [
        record_size_word(record_size),
        *record_key_words(by),
        *flags(reverse=reverse, as_is=as_is),
        *resources(memory, threads),
    ]
    words += [f"--space={size_word(space, 'space')}"] if space is not None else []
    return Sort(["inplace", *words, path_word(path, "path")], progress=progress, cancel=cancel).wait()


def resume(path: Path, *, progress: Callable[[Progress], object] | None = None, cancel: threading.Event | None = None) -> Report:
    """Continues with the sort of `path` in place that was interrupted. Raises BadInput where there is none."""
    return Sort(["resume", path_word(path, "path")], progress=progress, cancel=cancel).wait()


def _layout(separator: str | None, header: int) -> list[str]:
    lines = checks.whole_number(header, "header", "the number of lines that stay on top", least=0)
    words = [f"--header={lines}"] if lines else []
    if separator is not None:
        words.append("--field-separator=" + (r"\0" if separator == "\0" else checks.text(separator, "separator")))
    return words


def _keys(by: str | Key | ValueKey | Iterable[str | Key | ValueKey] | None) -> list[str | Key | ValueKey]:
    return [] if by is None else checks.several(by, (str, Key, ValueKey), "by", "a key or a text, or several of them")


def _check_rows(name: str, record_size: int | None, verify: str, has_foreign_key: bool) -> None:
    if record_size is not None or verify != "always" or has_foreign_key:
        raise BadInput(f"record_size, a Key and verify='reread' are for records, not for {name}")
