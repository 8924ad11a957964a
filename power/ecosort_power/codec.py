"""Dataclasses to JSON and back. Every stored document is a dataclass, so that reading one checks its shape."""

from __future__ import annotations

import dataclasses
import enum
import json
import types
import typing
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from ecosort.durable import write_durably

from ecosort_power.encoding import SPELLED
from ecosort_power.errors import UsageError
from ecosort_power.nesting import parse_json

T = TypeVar("T")


def encode(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, dict):
        return {str(k): encode(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(v) for v in value]
    return value


def _decode_union(options: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None:
        if type(None) in options:
            return None
        raise ValueError(f"{where} is missing")
    return _decode(next(o for o in options if o is not type(None)), value, where)


def _decode_container(kind: Any, origin: Any, value: Any, where: str) -> Any:
    arguments = typing.get_args(kind)
    if origin is dict:
        if not isinstance(value, dict):
            raise ValueError(f"{where} is not an object")
        return {k: _decode(arguments[1], v, f"{where}.{k}") for k, v in value.items()}
    if not isinstance(value, list):
        raise ValueError(f"{where} is not a list")
    items = [_decode(arguments[0], v, f"{where}[{i}]") for i, v in enumerate(value)]
    return tuple(items) if origin is tuple else items


def _decode(kind: Any, value: Any, where: str) -> Any:
    if kind is Any:
        return value
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _decode_union(typing.get_args(kind), value, where)
    if origin in (list, tuple, dict):
        return _decode_container(kind, origin, value, where)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return decode(kind, value, where)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(value)
    if kind is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"{where} is not {kind.__name__}: {value!r}")
    return value


def decode(kind: type[T], value: Any, where: str = "document") -> T:
    """Builds `kind` from JSON data. ValueError names the part that does not fit; unknown keys are ignored."""
    if not isinstance(value, dict):
        raise ValueError(f"{where} is not an object")
    arguments = {}
    for name, wanted, is_needed in _members(kind):  # type: ignore[arg-type]
        if name in value:
            arguments[name] = _decode(wanted, value[name], f"{where}.{name}")
        elif is_needed:
            raise ValueError(f"{where}.{name} is missing")
    return kind(**arguments)


@cache  # it compiles the text of each annotation, which takes longer than all else that is done with a line of a log
def _members(kind: type) -> list[tuple[str, Any, bool]]:
    """Returns name and type of each member, and whether it must be there."""
    hints, missing = typing.get_type_hints(kind), dataclasses.MISSING
    return [(f.name, hints[f.name], f.default is missing and f.default_factory is missing) for f in dataclasses.fields(kind)]


def document_text(value: Any) -> str:
    """A stored document as text."""
    return json.dumps(encode(value), indent=1, allow_nan=False) + "\n"


def rows_text(value: Any) -> str:
    """A document with one line per object of its lists, so that a change shows which of them changed."""
    return _rows(encode(value), "\n") + "\n"


def _rows(value: Any, line_break: str) -> str:
    """`line_break` ends a line and indents the next one like this value."""
    inner, one_line = line_break + " ", partial(json.dumps, allow_nan=False)
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        return f"[{inner}{f',{inner}'.join(map(one_line, value))}{line_break}]"
    if isinstance(value, dict) and any(isinstance(member, (dict, list)) for member in value.values()):
        members = (f"{one_line(name)}: {_rows(member, inner)}" for name, member in value.items())
        return f"{{{inner}{f',{inner}'.join(members)}{line_break}}}"
    return one_line(value)


def replace_text(path: Path, text: str) -> None:
    """Writes a file so that a reader, or a crash, sees the old one or the new one and nothing between."""
    write_durably(path, text.encode("utf-8", SPELLED))


def write_json(path: Path, value: Any) -> None:
    """Writes a document, whole or not at all."""
    replace_text(path, document_text(value))


def write_rows(path: Path, value: Any) -> None:
    """Writes a document with many objects, as rows_text has it, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, rows_text(value))


def read_json(path: Path) -> Any:
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    except ValueError as error:
        raise UsageError(f"{path} is no JSON, so it is no result of these programs: {error}") from error


def load(kind: type[T], path: Path) -> T:
    try:
        return decode(kind, read_json(path))
    except ValueError as error:
        raise UsageError(f"{path} is not what it should be: {error}") from error
