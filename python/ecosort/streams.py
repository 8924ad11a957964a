"""Items of a stream in order, more of them than fit in memory."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from ecosort.checks import no_such
from ecosort.errors import BadInput
from ecosort.options import request_of
from ecosort.ordered_bytes import INVERTED, from_line, kind_of, line_of, ordered
from ecosort.pipe import PIECE_BYTES, PipedSort

Item = TypeVar("Item", str, bytes)
_Encode = Callable[[Any, bytes], bytes]


def sorted_items(items: Any, key: Callable[[Any], Any] | None, told: dict[str, Any]) -> Iterator[Any]:
    """Gives what sorted(items, key=key, reverse=reverse) gives, for str or for bytes (any, of any length). `told` are options.

    `key` gives a str, bytes, an int of 64 bits, a float (NaN comes last) or a tuple of these, of the same kinds for every item.
    str is ordered by code points. The order is stable, also with `reverse`.

    All items are read before the first one comes out. The sort takes `memory` and 32 MiB more, and this process some MiB and
    some times the longest item. What does not fit is in unnamed files in `temp` (default: $TMPDIR or the current directory),
    about as long as all items and keys, until the iterator ends or is closed. An item too long for `memory` raises
    NotEnoughMemory.
    """
    reverse = told.get("reverse", False)
    words = request_of(told | {"reverse": reverse and key is None}, "lines", ["-"], "-").words()
    if key is not None and not callable(key):
        raise no_such("key", "a function of an item", key)
    return _sorted_items(words, _iterable(items, "items"), _encoder(key, reverse), key is not None)


def _sorted_items(words: list[str], items: Iterable[Item], encode: _Encode, has_key: bool) -> Iterator[Item]:
    with PipedSort(words) as sort:
        is_text = _feed_lines(sort, items, encode)
        for line in _lines(sort):
            data = from_line(line)
            if has_key:
                data = _without_key(data)
            yield data.decode("utf-8", "surrogatepass") if is_text else data  # type: ignore[misc]  # the kind that came in


def sorted_parts(records: Any, told: dict[str, Any]) -> Iterator[bytes]:
    """Likewise for records of `record_size` bytes, which needs neither a call nor a copy for each key.

    `records` may also give several whole records at a time.
    """
    words = request_of(told, "records", ["-"], "-").words()
    return _sorted_parts(words, _iterable(records, "records"), told["record_size"])


def _sorted_parts(words: list[str], records: Iterable[bytes], record_size: int) -> Iterator[bytes]:
    with PipedSort(words) as sort:
        _feed(sort, (_checked(record, record_size) for record in records))
        rest = b""
        for piece in sort.pieces():
            rest += piece
            whole = len(rest) - len(rest) % record_size
            for at in range(0, whole, record_size):
                yield rest[at : at + record_size]
            rest = rest[whole:]


def _iterable(items: Any, name: str) -> Any:
    if not isinstance(items, Iterable) and not hasattr(items, "__getitem__"):
        raise no_such(name, "an iterable of what is sorted", items)
    return items


def _checked(record: bytes, record_size: int) -> bytes:
    if not isinstance(record, bytes | bytearray | memoryview):
        raise BadInput(f"records are bytes, not {type(record).__name__}")
    if record_size > 0 and len(record) % record_size:
        raise BadInput(f"{len(record)} bytes are no whole records of {record_size} bytes")
    return record


def _encoder(key: Callable[[Any], Any] | None, reverse: bool) -> _Encode:
    """From an item and its bytes: key | number | bytes | length of the key, which together compare as key and number do."""
    if key is None:
        return lambda _, data: data
    kind: Any = None
    number = 0

    def encode(item: Any, data: bytes) -> bytes:
        nonlocal kind, number
        value = key(item)
        if kind is None:
            kind = kind_of(value)
        elif kind_of(value) != kind:
            raise BadInput(f"key gave {value!r} after values of the kind {kind}; give keys of one kind")
        prefix = ordered(value).translate(INVERTED) if reverse else ordered(value)
        number += 1
        return b"".join((prefix, struct.pack(">Q", number), data, struct.pack(">Q", len(prefix))))

    return encode


def _without_key(data: bytes) -> bytes:
    (length,) = struct.unpack(">Q", data[-8:])
    return data[length + 8 : -8]


def _feed_lines(sort: PipedSort, items: Iterable[Item], encode: _Encode) -> bool:
    """Whether the items are text."""
    is_text: bool | None = None

    def lines() -> Iterator[bytes]:
        nonlocal is_text
        for item in items:
            if is_text is None:
                is_text = isinstance(item, str)
            if not isinstance(item, str if is_text else bytes):
                raise BadInput(f"items are either all str or all bytes, not {type(item).__name__}")
            data = item.encode("utf-8", "surrogatepass") if isinstance(item, str) else item
            yield line_of(encode(item, data)) + b"\n"

    _feed(sort, lines())
    return bool(is_text)


def _feed(sort: PipedSort, parts: Iterable[bytes]) -> None:
    buffer = bytearray()
    for part in parts:
        buffer += part
        if len(buffer) >= PIECE_BYTES:
            sort.write(buffer)
            buffer.clear()
    sort.write(buffer)
    sort.end_input()


def _lines(sort: PipedSort) -> Iterator[bytes]:
    rest: list[bytes] = []  # the pieces of the line that has no end yet
    for piece in sort.pieces():
        first, *others = piece.split(b"\n")
        rest.append(first)
        for other in others:
            yield b"".join(rest)
            rest = [other]
