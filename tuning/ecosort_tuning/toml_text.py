"""Writes TOML; the standard library only reads it. Tables, arrays of tables, and values of the kinds that a profile has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)  # with a point or an exponent, inf and nan: as TOML has them
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(_value(v) for v in value)}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    raise TypeError(f"TOML has no {type(value).__name__}")


def _key(name: str) -> str:
    bare = name and all(c.isascii() and (c.isalnum() or c in "_-") for c in name)
    return name if bare else json.dumps(name, ensure_ascii=False)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _lines(table: Mapping[str, Any], path: str) -> Iterator[str]:
    """Plain values first, tables after them; None is absent."""
    for name, value in table.items():
        if value is not None and not isinstance(value, dict) and not _is_tables(value):
            yield f"{_key(name)} = {_value(value)}"
    for name, value in table.items():
        full = f"{path}{_key(name)}"
        if isinstance(value, dict):
            yield from ("", f"[{full}]")
            yield from _lines(value, f"{full}.")
        elif _is_tables(value):
            for entry in value:
                yield from ("", f"[[{full}]]")
                yield from _lines(entry, f"{full}.")


def to_toml(document: Mapping[str, Any]) -> str:
    return "\n".join(_lines(document, "")) + "\n"
