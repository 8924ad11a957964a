"""A request: what is sorted, by which keys, where the result goes, and with which means; its text is JSON, ecosort.request/1."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from ecosort.errors import BadInput

_SCHEMA = "ecosort.request/1"
FORMATS = ("records", "lines", "csv", "jsonl")


@dataclass(frozen=True)
class Request:
    """`members` are those of ecosort::Request in include/ecosort/request.hpp, as in its JSON, without what is as by default.

    Sizes are bytes; `inputs` and `place.output` "-" are standard streams. Options.request() makes one, and sort() takes it.

    >>> request = Request({"inputs": ["in.csv"], "csv": {"keys": ["price:number"]}, "place": {"output": "out"}})
    >>> request.to_json()
    '{"schema": "ecosort.request/1", "inputs": ["in.csv"], "csv": {"keys": ["price:number"]}, "place": {"output": "out"}}'
    """

    members: dict[str, Any]

    def to_json(self) -> str:
        """Returns one line. Names that are no UTF-8 are in base64. Raises BadInput for a text that is none."""
        try:
            return json.dumps({"schema": _SCHEMA} | coded(self.members))
        except UnicodeEncodeError as error:  # half of a surrogate pair
            raise BadInput(f"a name or a key cannot be handed to a program: {error}") from None

    @staticmethod
    def from_json(text: str) -> Request:
        """Raises BadInput for a text that is no request."""
        try:
            told = json.loads(text, object_hook=decoded)
        except ValueError as error:
            raise BadInput(f"request: is no JSON: {error}") from None
        if not isinstance(told, dict) or told.pop("schema", None) != _SCHEMA:
            raise BadInput(f'request: schema is not "{_SCHEMA}"')
        if sum(isinstance(told.get(form), dict) for form in FORMATS) != 1 or not isinstance(told.get("inputs"), list):
            raise BadInput("request: give inputs, and the rows in one of records, lines, csv and jsonl")
        return Request(told)


@dataclass(frozen=True)
class Typed:
    """A command as `ecosort request` reads its words: a request, options of `ecosort run`, whether it may be made resumable."""

    request: Request
    options: tuple[str, ...]
    resumable: bool

    @staticmethod
    def from_json(text: str) -> Typed:
        told = json.loads(text, object_hook=decoded)
        members = {name: value for name, value in told["request"].items() if name != "schema"}
        return Typed(Request(members), tuple(told["options"]), told["resumable"])


def coded(value: Any) -> Any:
    """Returns what JSON can hold of names and keys."""
    if isinstance(value, dict):
        return {name: coded(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [coded(item) for item in value]
    data = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else b""
    try:
        return data.decode() if isinstance(value, str) else value
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def decoded(members: dict[str, Any]) -> Any:
    """Takes each object of JSON, and returns a text for one that coded() made."""
    if [*members] != ["base64"]:
        return members
    return base64.b64decode(members["base64"], validate=True).decode("utf-8", "surrogateescape")
