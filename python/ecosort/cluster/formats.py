"""Says as a request what a cluster sorts: the format, what its rows are, and how any two of them compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ecosort.errors import BadInput
from ecosort.program import answer_of
from ecosort.request import FORMATS, Request, Typed

if TYPE_CHECKING:
    from ecosort.manual import Option

_OF_DEFAULTS: dict[str, dict[str, Any]] = {"records": {"record_size": 100, "keys": ["0:10"]}, "csv": {"delimiter": ","}}


def options_of(name: str) -> list[Option]:
    """Options of a format that say what rows are and how they compare. What would need rows of several parts at once (--unique)
    is not among them."""
    from ecosort.manual import commands  # no task asks for them

    return [option for option in commands()[_command(name)].options if option.concerns == "rows"]


def _command(name: str) -> str:
    return "sort" if name == "records" else name


@dataclass(frozen=True)
class Format:
    """`rows` are the members of a request that say what rows of this format are, also what a request may leave to defaults and to
    names of files: slices and parts have other names.
    """

    name: str
    rows: Mapping[str, Any]

    @property
    def record_size(self) -> int:
        """Returns the size of records, in bytes; 1 for the others, whose ranges may begin at any byte."""
        return int(self.rows.get("record_size", 1))

    @property
    def row_end(self) -> bytes:
        """Returns what is behind a row that `sample` or `partition` reported; records have nothing there."""
        if self.name == "records":
            return b""
        return str(self.rows.get("terminator", "\n")).encode()

    def of_range(self, inputs: Sequence[str], output: str, **means: Any) -> Request:
        """Makes the request for `ecosort sample` or `partition`."""
        return Request({"inputs": [*inputs], self.name: dict(self.rows), "place": {"output": output}, "means": means})

    def of_part(self, inputs: Sequence[str], output: str, *, merges: bool = False, **means: Any) -> Request:
        """Makes the request for a sort, or for a merge, which refuses files that are not sorted. "-" is standard output."""
        request = self.of_range(inputs, output, **means)
        if self.name == "jsonl":
            request.members[self.name]["allow_missing"] = True  # one part may hold all rows that lack a value
        if merges:
            request.members["input_order"] = "sorted"
        return request


def format_from(told: Any) -> Format:
    """Reads what a journal or a manifest holds; an older one has words. Raises BadInput."""
    name = told["name"]
    if "words" in told:
        return format_of_words(name, told["words"])
    if not isinstance(told["rows"], dict):
        raise BadInput("rows of a format are an object")
    return format_of_rows(name, told["rows"])


def format_of_rows(name: str, rows: dict[str, Any]) -> Format:
    """Raises BadInput for what a cluster does not sort, and for a member that says anything else than rows and their order."""
    _demand_format(name)
    known = [option.sets.rpartition(".")[2] for option in options_of(name) if option.sets]
    if other := next((member for member in rows if member not in known), None):
        raise BadInput(f"{other} is no option of {name} in a cluster; it has {', '.join(dict.fromkeys(known))}")
    size = rows.get("record_size", 1)
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise BadInput(f"record_size is a number of bytes, not {size!r}")
    return Format(name, _OF_DEFAULTS.get(name, {}) | rows)


def format_of_words(name: str, words: Sequence[str]) -> Format:
    """Asks the program what `--option=value` and `--option` mean. Raises BadInput with its line, also where keys are missing."""
    _demand_format(name)
    given = {word.partition("=")[0] for word in words}
    if name == "records" and not {"--record-size", "--key"} <= given:
        raise BadInput("records want --record-size and --key; those of the Sort Benchmark are --record-size=100 --key=0:10")
    known = {option.names[-1]: option.takes_value for option in options_of(name)}
    for word in words:
        option, equals, _ = word.partition("=")
        if option not in known:
            raise BadInput(f"{option} is no option of {name} in a cluster; it has {', '.join(known)}")
        if known[option] and not equals:  # the next word would be taken for its value
            raise BadInput(f"{option} wants a value: {option}=VALUE")
    asked = Typed.from_json(answer_of("request", _command(name), *words, "--output=-", "--", "-"))
    return Format(name, _OF_DEFAULTS.get(name, {}) | asked.request.members[name])


def _demand_format(name: str) -> None:
    if name not in FORMATS:
        raise BadInput(f"format is one of {', '.join(FORMATS)}, not {name!r}")
