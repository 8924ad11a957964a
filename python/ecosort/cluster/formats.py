"""The formats that a cluster sorts, as words of the program: what each takes, and which command sorts, merges, samples it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ecosort.errors import BadInput
from ecosort.keys import LETTERS
from ecosort.manual import commands

_PART_OF_JSONL = "--allow-missing"  # one part may hold all rows that lack a value
_SORT = {"records": ("sort",), "lines": ("lines",), "csv": ("csv",), "jsonl": ("jsonl", _PART_OF_JSONL)}
FORMATS = tuple(_SORT)
_MERGE = {
    "records": ("merge",),
    "lines": ("lines", "--merge"),
    "csv": ("csv", "--merge"),
    "jsonl": ("jsonl", "--merge", _PART_OF_JSONL),
}


def _delimiter(text: str) -> str:
    """Writes several bytes so that none of them is a backslash which means something else."""
    return text if len(text) == 1 else "".join(f"\\x{byte:02x}" for byte in text.encode("utf-8", "surrogateescape"))


# The word for each member of a request that says what rows are. A function makes its value of the member; True: without one.
_OF_VALUES: dict[str, Any] = {
    "keys": "--by={}",
    "nulls_first": "--nulls=first",
    "strict": "--strict",
    "date_format": "--date-format={}",
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
        "collate": "--collate={}",
        "random_source": "--random-source={}",
    },
    "csv": _OF_VALUES
    | {
        "delimiter": ("--delimiter={}", _delimiter),
        "quote": ("--quote={}", lambda byte: byte or "none"),
        "escape": "--escape={}",
        "header": ("--no-header", lambda is_there: not is_there),
    },
    "jsonl": _OF_VALUES | {"allow_missing": "--allow-missing"},
}


def options_of(name: str) -> dict[str, bool]:
    """Options of a format, and whether a value follows: those that say what rows are and how they compare. What would need rows
    of several parts at once (--unique) is not among them."""
    options = commands()[_SORT[name][0]].options
    return {option.names[-1]: option.takes_value for option in options if option.concerns == "rows"}


@dataclass(frozen=True)
class Format:
    """A format with the words that say its keys. Words are `--option=value` or `--option`."""

    name: str
    words: tuple[str, ...]

    @property
    def record_size(self) -> int:
        """Returns the size of records, in bytes; 1 for the others, whose ranges may begin at any byte."""
        sizes = [word.partition("=")[2] for word in self.words if word.startswith("--record-size=")]
        return int(sizes[-1]) if sizes else 1

    @property
    def row_end(self) -> bytes:
        """Returns what is behind a row that `sample` or `partition` reported; records have nothing there."""
        if self.name == "records":
            return b""
        return b"\0" if "--zero-terminated" in self.words else b"\n"

    def sort_command(self) -> list[str]:
        return [*_SORT[self.name], *self.words]

    def to_standard_output(self) -> list[str]:
        """`lines` writes there when no output is given, and to a file of that name else."""
        return [] if self.name == "lines" else ["--output=-"]

    def merge_command(self) -> list[str]:
        """Takes files that are sorted, and refuses those that are not."""
        return [*_MERGE[self.name], *self.words]

    def threads(self, count: int) -> str:
        """The word that says how many threads compute."""
        return f"{'--parallel' if self.name == 'lines' else '--threads'}={count}"

    def node_command(self, command: str) -> list[str]:
        """Returns that of `sample` or `partition`."""
        return [command, self.name, *self.words]


def format_from(name: str, words: Sequence[str]) -> Format:
    """Raises BadInput for a word that this format does not have, and where keys are missing."""
    if name not in FORMATS:
        raise BadInput(f"format is one of {', '.join(FORMATS)}, not {name!r}")
    options = options_of(name)
    for word in words:
        option, equals, _ = word.partition("=")
        takes_value = options.get(option)
        if takes_value is None:
            raise BadInput(f"{option} is no option of {name} in a cluster; it has {', '.join(options)}")
        if takes_value != bool(equals):
            raise BadInput(f"{option} {'wants a value: ' + option + '=VALUE' if takes_value else 'takes no value'}")
    _demand_keys(name, words)
    return Format(name, tuple(words))


def _demand_keys(name: str, words: Sequence[str]) -> None:
    options = {word.partition("=")[0] for word in words}
    if name == "records":
        _demand_size(words)
    if name == "records" and not {"--record-size", "--key"} <= options:
        raise BadInput("records want --record-size and --key; those of the Sort Benchmark are --record-size=100 --key=0:10")
    if name in ("csv", "jsonl") and "--by" not in options:
        raise BadInput(f"{name} wants --by=NAME[:TYPE][:desc]")


def _demand_size(words: Sequence[str]) -> None:
    for word in words:
        option, _, value = word.partition("=")
        if option == "--record-size" and not (value.isdecimal() and 1 <= int(value) <= 1 << 20):
            raise BadInput(f"--record-size is a number of bytes from 1 to 1048576, not {value!r}")


def row_words(form: str, rows: Mapping[str, Any]) -> list[str]:
    """Returns what says the keys and what the rows are, for these members of a request."""
    words: list[str] = []
    for name, member in rows.items():
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
