"""Fields of NumPy's arrays as keys of records. NumPy itself is not imported here: an array brings it along."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from ecosort.checks import is_left_out, no_such, several, truth
from ecosort.errors import BadInput
from ecosort.keys import Key

_SIZES = {"u": (1, 2, 4, 8), "i": (1, 2, 4, 8), "f": (4, 8)}
_REASONS = {
    "M": "NaT has no place among integers; sort a view as i8, where it comes first",
    "m": "NaT has no place among integers; sort a view as i8, where it comes first",
    "U": "its characters are numbers of 4 bytes; store it as bytes (S)",
    "O": "its values are not in the array but somewhere in memory",
    "c": "complex numbers have no order; name its parts as fields",
    "V": "it is not one value but several; name its fields",
    "f": "floating-point numbers of this size are not supported; convert it to f4 or f8",
}

Names = str | Sequence[str]
Directions = bool | Sequence[bool]


def keys_of(dtype: Any, by: Names | None, ascending: Directions) -> list[Key]:
    """The keys for fields of a structured dtype (None: all of them, in their order), or for the one value of a plain dtype.

    `ascending` is one for all or one for each. Raises BadInput, which names the field and the reason.
    """
    names = _names(dtype, by)
    if isinstance(ascending, str) or not isinstance(ascending, bool | Iterable):
        raise no_such("ascending", "True or False, or one of them for each field", ascending)
    directions = [ascending] * len(names) if isinstance(ascending, bool) else [truth(up, "ascending") for up in ascending]
    if len(directions) != len(names):
        raise BadInput(f"ascending has {len(directions)} values for {len(names)} fields; give one for each, or one for all")
    return [_key(dtype, name, not is_up) for name, is_up in zip(names, directions, strict=True)]


def _names(dtype: Any, by: Names | None) -> list[str | None]:
    if dtype.names is None:
        if not is_left_out(by):
            raise BadInput(f"by names fields, and an array of {dtype} has none; leave by out")
        return [None]
    names = list(dtype.names) if by is None else several(by, str, "by", "the name of a field, or several of them")
    if not names:
        raise BadInput(f"by is empty; name a field at least: {', '.join(dtype.names)}")
    for name in names:
        if name not in dtype.names:
            raise BadInput(f"no such field: {name!r}; there are {', '.join(dtype.names)}")
    return names


def _key(dtype: Any, name: str | None, is_descending: bool) -> Key:
    field, offset = (dtype, 0) if name is None else dtype.fields[name][:2]
    return Key(offset, field.itemsize, _type(field, name), is_descending)


def _type(field: Any, name: str | None) -> str:
    kind, size = field.kind, field.itemsize
    if field.shape:
        raise _unfit(field, name, "it is not one value but several; give it fields of its own")
    if kind == "b":
        return "u8"
    if kind == "S" and size > 0:
        return "bytes"
    if size not in _SIZES.get(kind, ()):
        raise _unfit(field, name, _REASONS.get(kind, "there is no key of this type"))
    order = {"<": "little", ">": "big"}.get(field.byteorder, sys.byteorder)
    return f"{kind}{8 * size}" + ("be" if order == "big" and size > 1 else "")


def _unfit(field: Any, name: str | None, reason: str) -> BadInput:
    what = f"an array of {field}" if name is None else f"field {name!r} ({field})"
    return BadInput(f"{what} cannot be a key: {reason}")
