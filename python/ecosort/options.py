"""The options of ecosort.sort(), each with its type, and the request that they make."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, ParamSpec, Protocol, cast

from ecosort import checks
from ecosort.codec_names import split_codec
from ecosort.errors import BadInput
from ecosort.keys import AnyKey, keys_of
from ecosort.report import Progress
from ecosort.request import Request
from ecosort.words import Path, Size, bytes_of, output, path_word, path_words

Format = Literal["records", "lines", "csv", "jsonl", "table", "array"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """sort() takes these by name. Its members are called as those of a request, where these are not in bytes.

    An option of another format, or of another kind of `src`, is refused. Thread-safety: a value.

    >>> usual = Options(memory="64MiB", threads=2)
    >>> dataclasses.replace(usual, overwrite=True).memory
    '64MiB'
    """

    by: AnyKey | Iterable[Any] | Callable[[Any], Any] | None = None  # the first key decides first
    format: Format | None = None  # None: as the names of the files say

    record_size: int | None = None  # records: bytes
    reverse: bool = False  # records, lines, items: the largest first
    ordering: str = ""  # lines: letters of `sort`, bdfghiMnRrV, for keys that have none, and for the whole line
    separator: str | None = None  # lines: one byte between fields; None: where blanks begin
    terminator: str = "\n"  # lines: or "\0"
    stable: bool = False  # lines: those with equal keys stay in input order instead of being compared as a whole
    header_lines: int = 0  # lines: of each file; all are alike, and one stays in front
    record_lines: int = 0  # lines: so many belong together and are one row; 0: each is one
    paragraphs: bool = False  # lines: those up to an empty one belong together
    record_start: str = ""  # lines: one that begins so, and those up to the next such one, belong together
    header_mark: str = ""  # lines: those that a file begins with and that begin so are its header
    collate: str = ""  # lines: texts are in the order of this language, such as "de" or "sv", by ICU; "": of bytes
    random_source: str = ""  # lines: a file that decides the order of the letter R
    delimiter: str | None = None  # csv: 1 to 8 bytes; None: that of a line "sep=;", a tab for .tsv, else a comma
    quote: str | None = '"'  # csv: one byte; None: quotes mean nothing
    escape: str | None = None  # csv: one byte; a delimiter, quote or newline behind it belongs to the value
    header: bool = True  # csv: the first row of each file; all are alike, and it goes out once
    comment: str = ""  # csv: lines that begin so are no rows; those in front of the first file's rows stay there
    skip_lines: int = 0  # csv: of each file, no rows; those of the first file stay in front
    bad_rows: Path = "refuse"  # csv, jsonl: rows that cannot be read end the sort; "skip" drops them, a file gets them
    nulls_first: bool = False  # csv, jsonl, tables: values that are missing or unreadable go in front
    strict: bool = False  # csv, jsonl: a value that is not of its key's type is an error
    date_format: str = ""  # csv, jsonl: as that of strptime; "": ISO 8601
    allow_missing: bool = False  # jsonl: a path that no line has is no error
    unique: bool | Literal["row"] = False  # of rows with equal keys only the first one stays; "row": with equal bytes
    unique_by: AnyKey | Iterable[Any] = ()  # the same of rows that are equal in these first keys of the order
    count: bool | str = False  # of equal rows one goes out, their number in front; a text is the name of that column or member
    repeated: bool = False  # of equal rows one stays, and only where there are several
    singles: bool = False  # only rows without an equal one stay
    keep: Literal["first", "last"] = "first"  # of equal rows
    limit: int | None = None  # only so many rows go out, the first ones in order
    by_group: bool | int | None = None  # the limit is that of each group by the first keys: all but one, or so many
    input_order: Literal["any", "sorted", "believed"] = "any"  # "sorted": the files are merged; "believed" (lines): unchecked

    split: str = ""  # lines, csv, jsonl: "rows=N", "size=S", "files=N", "by=KEY"; dst is a pattern such as "out-{}.csv"
    claim: bool = False  # `dst`.claim.json says what the output holds and in which order; merges read it
    in_place: bool = False  # the one file is sorted in its own space, on ext4 with a journal or XFS
    resumable: bool = False  # a job in `dst`.ecosort survives crashes; resume(dst) continues
    space: Size | None = None  # in place: takes at most so much of the free space
    as_is: bool = False  # in place: also what looks like an archive or compressed data
    overwrite: bool = False  # replaces `dst` when the result is complete

    memory: Size | None = None  # of all buffers, in bytes or as "512MiB"; None: what the machine and control groups allow
    threads: int | None = None  # that compute; None: as many as there are processors
    temp: Path | Sequence[Path] = ()  # directories of runs; none: that of `dst`
    compress: str | None = None  # runs: "auto", "none", "lz4", "zstd:LEVEL", of rows "prefix"; None: "auto", of records "none"
    assume_ratio: float | None = None  # reserves only 1/assume_ratio of the space of runs
    goal: Literal["time", "energy"] | None = None  # of compress="auto"; energy wants a profile of ecosort-tune with watts
    decompress: bool | None = None  # inputs that are compressed; None: True for csv and jsonl, and lines whose names say so
    # "gzip", "zstd", "lz4", "xz", "bzip2", "bgzf", "none"; "auto" (None for csv, jsonl): by the ending of the name
    compress_output: str | None = None
    level: int | None = None  # of the output's compression
    reread: bool = False  # reads the output back from the device
    checksum: bool = False  # of records of 100 bytes: Report.checksum is that of valsort

    progress: Callable[[Progress], object] | None = None  # is called about twice a second in this thread
    cancel: threading.Event | None = None  # set it in another thread to stop

    def checked(self) -> dict[str, Any]:
        """Returns the options that are not as by default. Raises BadInput for one of a wrong type, by its name."""
        told = {}
        for option in dataclasses.fields(self):
            value = getattr(self, option.name)
            if value is option.default:
                continue
            if isinstance(option.default, bool) and option.name not in _CHECKS:
                value = checks.truth(value, option.name)
            elif option.name in _CHECKS and not (value is None and option.default is None):
                value = _CHECKS[option.name](value, option.name)
            if option.name == "by" or value != option.default:
                told[option.name] = value
        return told


def _number(wanted: str = "a positive number", least: int = 1) -> Callable[[Any, str], Any]:
    return lambda value, name: checks.whole_number(value, name, wanted, least)


def _matching(pattern: str, wanted: str) -> Callable[[Any, str], Any]:
    def check(value: Any, name: str) -> Any:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise checks.no_such(name, wanted, value)
        return value

    return check


def _byte(**words: str | None) -> Callable[[Any, str], Any]:
    """Checks one byte, a word for one, or None."""
    return lambda value, name: words[value] if value in [*words] else None if value is None else checks.one_byte(value, name)


def _delimiter(value: Any, name: str) -> str | None:
    if value is None or value in ("tab", r"\t"):
        return value and "\t"
    if not isinstance(value, str) or not 1 <= len(value.encode("utf-8", "surrogateescape")) <= 8:
        raise checks.no_such(name, "a text of 1 to 8 bytes", value)
    return value


def _thousandths(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1e6:
        raise checks.no_such(name, "a number", value)
    return round(float(value) * 1000)


def _whole_rows(value: Any, name: str) -> bool | str:
    return "row" if value == "row" else checks.truth(value, name, "True, False or 'row'")


def _by_group(value: Any, name: str) -> int | None:
    if value is False:
        return None
    return 0 if value is True else checks.whole_number(value, name, "True, or the number of keys that make groups", 1)


def _count(value: Any, name: str) -> bool | str:
    return value if isinstance(value, str) and value else checks.truth(value, name, "True, False or a name")


def _temp(value: Any, name: str) -> tuple[str, ...]:
    return () if checks.is_left_out(value) else tuple(path_words(value, name))


_CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "format": _matching("records|lines|csv|jsonl|table|array", "'records', 'lines', 'csv', 'jsonl', 'table' or 'array'"),
    "record_size": _number("a positive number of bytes"),
    "ordering": _matching("[bdfghiMnRrV]*", "letters of bdfghiMnRrV"),
    "separator": checks.one_byte,
    "terminator": _matching("[\n\0]", r"'\n' or '\0'"),
    "header_lines": _number("the number of lines that stay on top", least=0),
    "record_lines": _number("the number of lines that belong together", least=0),
    "header_mark": checks.text,
    "comment": checks.text,
    "skip_lines": _number("the number of lines in front of the header", least=0),
    "bad_rows": lambda value, name: value if value in ("refuse", "skip") else path_word(value, name),
    "split": checks.text,
    "record_start": checks.text,
    "collate": checks.text,
    "random_source": path_word,
    "delimiter": _delimiter,
    "quote": _byte(none=None),
    "escape": _byte(),
    "date_format": checks.text,
    "unique": _whole_rows,
    "count": _count,
    "keep": _matching("first|last", "'first' or 'last'"),
    "limit": _number("the number of rows to keep", least=0),
    "by_group": _by_group,
    "input_order": _matching("any|sorted|believed", "'any', 'sorted' or 'believed'"),
    "space": bytes_of,
    "memory": bytes_of,
    "threads": _number(),
    "temp": _temp,
    "compress": _matching(r"auto|none|prefix|lz4|zstd(:\d+)?", "'auto', 'none', 'prefix', 'lz4', 'zstd' or 'zstd:LEVEL'"),
    "assume_ratio": _thousandths,
    "goal": _matching("time|energy", "'time' or 'energy'"),
    "decompress": lambda value, name: checks.truth(value, name, "True, False or None"),
    "compress_output": checks.text,
    "level": _number(least=0),
}

# Sources that are no file of rows take these options; all others are refused.
TAKEN = {
    "a table": "format nulls_first unique limit memory threads temp overwrite",
    "an array": "format record_size reverse unique threads",
    "a file of an array": "format in_place memory threads temp overwrite progress cancel",
    "items": "reverse memory threads temp",
    "records of an iterable": "format record_size reverse unique limit memory threads temp",
}


def taken(told: dict[str, Any], kind: str) -> dict[str, Any]:
    """Returns the options, and raises BadInput for one that `kind` does not take."""
    others = [name for name in told if name not in ("by", *TAKEN[kind].split())]
    if others:
        raise BadInput(f"{others[0]} is no option of {kind}; it takes by, {TAKEN[kind].replace(' ', ', ')}")
    return told


_OF_VALUES = {"keys", "nulls_first", "strict", "date_format", "bad_rows"}
# The members of a request that describe its rows.
MEMBERS = {
    "records": {"record_size", "keys", "reverse"},
    "lines": {
        *("keys", "ordering", "separator", "terminator", "stable", "record_lines", "paragraphs", "record_start"),
        *("header_lines", "header_mark", "collate", "random_source"),
    },
    "csv": _OF_VALUES | {"delimiter", "quote", "escape", "header", "comment", "skip_lines"},
    "jsonl": _OF_VALUES | {"allow_missing"},
}
_MEMBERS = {
    "limit": "limit",
    "by_group": "by_group",
    "input_order": "input_order",
    "split": "place.split",
    "claim": "place.claim",
    "space": "place.space_bytes",
    "as_is": "place.as_is",
    "memory": "means.memory_bytes",
    "threads": "means.threads",
    "temp": "means.temp_directories",
    "compress": "compression.runs",
    "assume_ratio": "compression.assumed_ratio",
    "decompress": "compression.decompress",
    "compress_output": "compression.output",
    "level": "compression.level",
    "reread": "verification.reread",
    "checksum": "verification.checksum",
}
OF_ROWS = {"reverse", *(name for names in MEMBERS.values() for name in names)}


def request_of(told: dict[str, Any], form: str, inputs: Sequence[str], dst: Any) -> Request:
    """Makes the request of checked options. `inputs` and `dst` are words: "-" is a stream. Raises BadInput, OutputExists."""
    if form == "records" and ("record_size" in told) != ("by" in told):
        raise BadInput("give both record_size and by; only files of the Sort Benchmark need neither")
    foreign = next((name for name in told if name in OF_ROWS and name not in {*MEMBERS[form], "reverse"}), None)
    if foreign:
        raise BadInput(f"{foreign} is for {' and '.join(name for name in MEMBERS if foreign in MEMBERS[name])}, not for {form}")
    rows = {name: value for name, value in told.items() if name in MEMBERS[form]}
    if form != "records" or "by" in told:
        rows["keys"] = [str(key) for key in keys_of(form, told.get("by"))]
    if told.get("reverse") and form == "lines":
        rows["ordering"] = rows.get("ordering", "") + "r"
    elif told.get("reverse") and form != "records":
        raise BadInput(f"reverse is for records and lines; a key of {form} descends by itself: col(...).desc()")
    members: dict[str, Any] = {"inputs": [*inputs], form: rows, **_groups(told, form), "place": _place(told, form, dst)}
    # A request of lines decompresses nothing by itself, because GNU sort does not. Here a name that says so is taken at its word.
    is_packed = form == "lines" and any(split_codec(name)[1] for name in (*inputs, *([dst] if isinstance(dst, str) else [])))
    usual = {"decompress": True, "compress_output": "auto"} if form in ("csv", "jsonl") or is_packed else {}
    for name, value in (usual | told).items():
        part, _, member = _MEMBERS.get(name, "").partition(".")
        if member:
            members.setdefault(part, {})[member] = value
        elif part:
            members[part] = value
    return Request(members)


def _groups(told: dict[str, Any], form: str) -> dict[str, Any]:
    """Returns the members that say what becomes of equal rows."""
    if told.get("repeated") and told.get("singles"):
        raise BadInput("repeated and singles cannot be combined: nothing would stay")
    groups: dict[str, Any] = {}
    if "unique_by" in told:
        groups["by"] = [str(key) for key in keys_of(form, told["unique_by"], "unique_by")]
    groups |= {"whole_rows": True} if told.get("unique") == "row" else {}
    if isinstance(told.get("count"), str) and form not in ("csv", "jsonl"):
        raise BadInput(f"count is True for {form}: a name is for csv and jsonl, where the count is a column or a member")
    only = next((name for name in ("repeated", "singles") if told.get(name)), None)
    groups |= {"only": only} if only else {}
    groups |= {"keep": told["keep"]} if "keep" in told else {}
    groups |= {"count": True} if told.get("count") else {}
    groups |= {"count_name": told["count"]} if isinstance(told.get("count"), str) else {}
    return ({"unique": True} if told.get("unique") is True else {}) | ({"groups": groups} if groups else {})


def _place(told: dict[str, Any], form: str, dst: Any) -> dict[str, Any]:
    if told.get("in_place"):
        if dst is not None or told.get("resumable"):
            raise BadInput(
                "in_place=True cannot be combined with dst and resumable: the file is replaced, and resume() continues"
            )
        if form not in ("records", "lines"):
            raise BadInput(f"in_place is for records and lines, not for {form}")
        return {"kind": "in_place"}
    for name in ("space", "as_is"):
        if name in told:
            raise BadInput(f"{name} is for in_place=True")
    overwrite = told.get("overwrite", False)
    if told.get("bad_rows", "skip") not in ("refuse", "skip"):
        output(told["bad_rows"], overwrite)
    place = {} if dst is None else {"output": dst if dst == "-" else output(dst, overwrite, split=told.get("split"))}
    return place | ({"kind": "resumable"} if told.get("resumable") else {})


P = ParamSpec("P")


def made(kind: Callable[P, Any], options: Any, more: dict[str, Any]) -> Any:
    """The options with those that are given by name. A name that there is not is named as the caller typed it."""
    names = {field.name for field in dataclasses.fields(options or kind)}  # type: ignore[arg-type]
    for name in more:
        if name not in names:
            raise TypeError(f"there is no option {name!r}{checks.did_you_mean(name, names)}")
    return dataclasses.replace(options, **more) if options else kind(**more)  # type: ignore[call-arg]


class Sorts(Protocol[P]):
    """A function of what is sorted, where to, and options: as one value, by name, or both."""

    def __call__(self, src: Any, dst: Any = None, options: Any = None, *args: P.args, **more: P.kwargs) -> Any: ...


def takes(kind: Callable[P, Any]) -> Callable[[Callable[[Any, Any, Any], Any]], Sorts[P]]:
    """Makes a function of (src, dst, options of this dataclass) one that takes the options by name, too."""

    has_words = any(field.name == "words" for field in dataclasses.fields(kind))  # type: ignore[arg-type]

    def decorate(function: Callable[[Any, Any, Any], Any]) -> Sorts[P]:
        @functools.wraps(function)
        def call(src: Any, dst: Any = None, options: Any = None, **more: Any) -> Any:
            if has_words and isinstance(options, str | list | tuple):  # of ecosort.cluster.sort() before
                options, more["words"] = None, options
            if options is not None and not isinstance(options, cast("Any", kind)):
                raise checks.no_such("options", f"a value of {cast('Any', kind).__name__}", options)
            return function(src, dst, made(kind, options, more))

        own = inspect.signature(call, follow_wrapped=False).parameters
        parameters = [*(own[name] for name in ("src", "dst", "options")), *inspect.signature(kind).parameters.values()]
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return cast("Sorts[P]", call)

    return decorate
