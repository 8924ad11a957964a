"""Python's values as bytes that compare as the values do, and any bytes as a line of text that compares as they do.

The bytes of ordered() are never the beginning of those of another value, so they can follow one another.
"""

from __future__ import annotations

import operator
import struct
from typing import Any

from ecosort.errors import BadInput

INVERTED = bytes(255 - i for i in range(256))

_SIGN = 1 << 63


def line_of(data: bytes) -> bytes:
    """Without newlines: 0a becomes 0b 01, and 0b becomes 0b 02. Neither changes the order."""
    return data.replace(b"\x0b", b"\x0b\x02").replace(b"\n", b"\x0b\x01")


def from_line(line: bytes) -> bytes:
    """Returns what line_of() was given."""
    return line.replace(b"\x0b\x01", b"\n").replace(b"\x0b\x02", b"\x0b") if b"\x0b" in line else line


def ordered(value: Any) -> bytes:
    """Orders a str by code points, bytes, an int of 64 bits, a float (NaN last, -0.0 as 0.0), a tuple of these. Else BadInput."""
    if isinstance(value, str):
        return _text(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes | bytearray | memoryview):
        return _text(bytes(value))
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, tuple):
        return b"".join(map(ordered, value))
    return _integer(value)


def kind_of(value: Any) -> Any:
    """Values of different kinds have no order among each other."""
    if isinstance(value, tuple):
        return tuple(map(kind_of, value))
    for kind in (str, float):
        if isinstance(value, kind):
            return kind.__name__
    return "bytes" if isinstance(value, bytes | bytearray | memoryview) else "int"


def _text(data: bytes) -> bytes:
    return data.replace(b"\0", b"\0\xff") + b"\0\0"


def _number(value: float) -> bytes:
    if value != value:  # NaN
        return b"\xff" * 8
    (bits,) = struct.unpack(">Q", struct.pack(">d", value + 0.0))
    return struct.pack(">Q", bits ^ (2 * _SIGN - 1) if bits & _SIGN else bits | _SIGN)


def _integer(value: Any) -> bytes:
    try:
        return struct.pack(">Q", operator.index(value) + _SIGN)
    except TypeError:
        what = type(value).__name__
        raise BadInput(f"a key is a str, bytes, int, float or a tuple of these, not {what}") from None
    except struct.error:
        raise BadInput(f"a key of more than 64 bits: {value}; give it as bytes, or as a float") from None
