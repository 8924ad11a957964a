"""The words of the program's command line for a request, and sizes and names of files as arguments give them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ecosort import checks
from ecosort.errors import BadInput, OutputExists
from ecosort.keys import LETTERS
from ecosort.manual import commands

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Size = int | str  # bytes, or a text with a unit, such as "512MiB"

_BINARY = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50, "EiB": 1 << 60}
UNITS = _BINARY | {"kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15, "EB": 10**18}

# The word for each member of a request that is not its option's word as it is, or that several options set; the catalog of the
# program has the others. A function makes the value of the member; True: without one.
_OF_VALUES: dict[str, Any] = {
    "keys": "--by={}",
    "nulls_first": "--nulls=first",
    "strict": "--strict",
    "date_format": "--date-format={}",
    "bad_rows": "--bad-rows={}",
}
_OF_ROWS: dict[str, dict[str, Any]] = {
    "records": {"record_size": "--record-size={}", "keys": "--key={}", "reverse": "--reverse"},
    "lines": {
        "keys": "--key={}",
        "ordering": ("--{}", lambda letters: [_ordering(letter) for letter in letters]),
        "separator": ("--field-separator={}", lambda byte: r"\0" if byte == "\0" else byte),
        "terminator": ("--zero-terminated", lambda byte: byte == "\0"),
        "stable": "--stable",
        "header_lines": "--header={}",
        "header_mark": "--header-mark={}",
        "random_source": "--random-source={}",
    },
    "csv": _OF_VALUES
    | {
        "delimiter": "--delimiter={}",
        "quote": ("--quote={}", lambda byte: byte or "none"),
        "header": ("--no-header", lambda is_there: not is_there),
        "comment": "--comment={}",
        "skip_lines": "--skip={}",
    },
    "jsonl": _OF_VALUES | {"allow_missing": "--allow-missing"},
}
_OF_ALL: dict[str, Any] = {
    "place.output": "--output={}",
    "place.kind": ("--resumable", lambda kind: kind == "resumable"),
    "means.memory_bytes": "--memory={}B",
    "means.temp_directories": "--temp={}",
    "compression.assumed_ratio": ("--assume-ratio={:.3f}", lambda thousandths: thousandths / 1000),
    "verification.reread": "--verify=reread",
}
_ELSEWHERE = ("inputs", "input_order", "compression.decompress", "compression.output")
MEMBERS = {form: {*of_rows} for form, of_rows in _OF_ROWS.items()}


def words_of(request: Mapping[str, Any], goal: str | None = None) -> list[str]:
    """Returns COMMAND OPTIONS... INPUT... for the members of a request; the program refuses options that do not go together.

    >>> words_of({"inputs": ["-"], "lines": {"ordering": "nr"}, "means": {"memory_bytes": 65536}})
    ['lines', '--numeric-sort', '--reverse', '--memory=65536B', '-']
    """
    form = next(form for form in _OF_ROWS if form in request)
    is_lines, is_packed = form == "lines", form in ("csv", "jsonl")  # which decompress by themselves
    words = [*_command(request, form), *row_words(request, form)]
    for part, value in request.items():
        members = {f"{part}.{name}": member for name, member in value.items()} if isinstance(value, Mapping) else {part: value}
        for name, member in members.items() if part != form else ():
            is_usual = name == "place.output" and is_lines and member == "-"  # where it writes to anyway
            if name not in _ELSEWHERE and not is_usual:
                words += _words(_OF_ALL.get(name) or _word_of(form if is_lines else words[0], name), member)
    compression = request.get("compression", {})
    if compression.get("decompress", False) != is_packed:
        words.append(f"--decompress={'never' if is_packed else 'auto'}")
    if compression.get("output", "none") != ("auto" if is_packed else "none"):
        words.append(f"--compress-output={compression.get('output', 'none')}")
    words += [f"--goal={goal}"] if goal else []
    return [*words, *(f"./{path}" if path[:1] in ("-", "+") and path != "-" else path for path in request["inputs"])]


def _word_of(command: str, member: str) -> str:
    """Returns the word for a member that has no line above, by the catalog of the program."""
    for option in commands()[command].options:
        if option.sets == member:
            unit = "B" if member.endswith("_bytes") else ""
            return option.names[-1] + (f"={{}}{unit}" if option.takes_value else "")
    raise BadInput(f"request: {member}: there is no such member, or no option of the program for it")


def _command(request: Mapping[str, Any], form: str) -> list[str]:
    is_in_place = request.get("place", {}).get("kind") == "in_place"
    order = request.get("input_order", "any")
    if order not in ("any", "sorted", "believed") or (order == "believed" and form != "lines"):
        raise BadInput(f"input_order is 'any' or 'sorted', of lines also 'believed', not {order!r}")
    if form == "records":
        return ["inplace" if is_in_place else "sort" if order == "any" else "merge"]
    if form == "lines" and order == "sorted":
        return ["merge", "--lines"]
    return [form, *["--merge"] * (order != "any"), *["--inplace"] * is_in_place]


def row_words(request: Mapping[str, Any], form: str) -> list[str]:
    """Returns what says the keys and what the rows are."""
    words: list[str] = []
    for name, member in request[form].items():
        if name not in _OF_ROWS[form]:
            raise BadInput(f"request: {form}.{name}: there is no such member, or no option of the program for it")
        words += _words(_OF_ROWS[form][name], member)
    return words


def _words(word: str | tuple[str, Callable[[Any], Any]], value: Any) -> list[str]:
    if isinstance(word, tuple):
        return _words(word[0], word[1](value))
    values = value if isinstance(value, list | tuple) else [value]
    return [word.format(item) for item in values if item is not None and item is not False]


def _ordering(letter: str) -> str:
    option = next(name for name, its_letter in LETTERS.items() if its_letter == letter).replace("_", "-")
    return f"{option}{'-sort' if letter in 'ghMnRV' else ''}"


def path_word(path: Path, name: str = "a file") -> str:
    """A name that is no option and no standard stream, whatever it begins with; from `name`."""
    text = checks.path(path, name)
    if not text or "\0" in text:
        raise BadInput(f"{text!r} is no name of a file")
    return f"./{text}" if text[0] in "-+" else text


def path_words(paths: Path | Iterable[Path], name: str = "src") -> list[str]:
    """One path or several, from `name`."""
    if isinstance(paths, str | bytes | os.PathLike):
        return [path_word(paths, name)]
    if not isinstance(paths, Iterable):
        raise checks.no_such(name, "the name of a file (a str, bytes or a path), or several of them", paths)
    words = [path_word(path, f"each of {name}") for path in paths]
    if not words:
        raise BadInput("no input: name a file at least")
    return words


def bytes_of(size: Size, name: str) -> int:
    """Returns the bytes of memory or space that `name` gives."""
    if not isinstance(size, str):
        return checks.whole_number(size, name, "a positive number of bytes, or a text such as '512MiB'")
    found = re.fullmatch(r"(\d+)([A-Za-z]*)", size)
    if found is None or found[2] not in UNITS or int(found[1]) == 0:
        raise BadInput(f"{name}: {size!r} is no size such as 512MiB or 2GB")
    return int(found[1]) * UNITS[found[2]]


def output(path: Path, overwrite: bool) -> str:
    """Raises OutputExists. A file that appears later is replaced when the sort is done."""
    word = path_word(path, "dst")
    if not checks.truth(overwrite, "overwrite") and os.path.lexists(word):
        raise OutputExists(word)
    return word


def places_in(words: Sequence[str], line: str) -> dict[str, str]:
    """Returns where a command with these words writes, and which argument names it: of several places those that a `line` of it
    names.
    """
    temps = [word.removeprefix("--temp=") for word in words if word.startswith("--temp=")]
    outputs = [word.removeprefix("--output=") for word in words if word.startswith("--output=") and word != "--output=-"]
    if words[0] in ("inplace", "resume") or "--inplace" in words:
        return {os.path.dirname(words[-1]) or ".": ""}  # noqa: PTH120  # as it was named
    if not temps and not outputs:
        temps = [os.environ.get("TMPDIR") or "."]
    places = dict.fromkeys(temps, "temp") | {os.path.dirname(output) or ".": "dst" for output in outputs}  # noqa: PTH120
    named = {place: argument for place, argument in places.items() if f"'{place.rstrip('/')}/" in line}
    return named or places
