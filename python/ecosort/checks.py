"""Arguments of the wrong type are refused by name, before anything is started: what is wanted, and what was given."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import Any

from ecosort.errors import BadInput


def no_such(name: str, wanted: str, given: object) -> BadInput:
    """An error that shows the beginning of what was given, in one line."""
    text = repr(given).replace("\n", " ")
    return BadInput(f"{name} is {wanted}, not {text if len(text) <= 80 else text[:77] + '...'}")


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The nearest of the names, whatever the case of their letters, behind a message; nothing where none is near."""
    import difflib  # only errors need it

    folded = {known.lower(): known for known in names}
    near = difflib.get_close_matches(name.lower(), folded, 1)
    return f"; did you mean {folded[near[0]]!r}?" if near else ""


def whole_number(value: Any, name: str, wanted: str = "a positive number", least: int = 1) -> int:
    """Takes any type of whole numbers but bool."""
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if number < least:
        raise no_such(name, wanted, value)
    return number


def is_left_out(value: Any) -> bool:
    """Nothing, or an empty text or list."""
    return value is None or (isinstance(value, str | bytes | tuple | list) and not value)


def text(value: Any, name: str, wanted: str = "a text") -> str:
    """A str."""
    if not isinstance(value, str):
        raise no_such(name, wanted, value)
    return value


def one_byte(value: Any, name: str) -> str:
    """A str of one byte in UTF-8."""
    if not isinstance(value, str) or len(value.encode("utf-8", "surrogateescape")) != 1:
        raise no_such(name, "a text of one byte", value)
    return value


def truth(value: Any, name: str, wanted: str = "True or False") -> bool:
    """Python's or NumPy's."""
    if type(value).__name__ not in ("bool", "bool_") and not (isinstance(value, int) and value in (0, 1)):
        raise no_such(name, wanted, value)
    return bool(value)


def path(value: Any, name: str) -> str:
    """The text of a name."""
    if not isinstance(value, str | bytes | os.PathLike):
        raise no_such(name, "the name of a file (a str, bytes or a path)", value)
    return os.fsdecode(value)


def several(value: Any, kinds: Any, name: str, wanted: str) -> list[Any]:
    """One of these kinds, or an iterable of them."""
    if isinstance(value, kinds) and not isinstance(value, bool):
        return [value]
    if isinstance(value, bytes | bytearray) or not isinstance(value, Iterable):
        raise no_such(name, wanted, value)
    items = list(value)
    for item in items:
        if not isinstance(item, kinds) or isinstance(item, bool):
            raise no_such(name, wanted, item)
    return items
