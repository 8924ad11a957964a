"""Items of a stream in order, more of them than fit in memory."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader
from typing import Any

from ecosort.checks import no_such
from ecosort.errors import BadInput
from ecosort.options import request_of
from ecosort.ordered_bytes import INVERTED, from_line, kind_of, line_of, ordered
from ecosort.pipe import PIECE_BYTES, Output, fed
from ecosort.request import Request

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
    request = request_of(told | {"reverse": reverse and key is None}, "lines", ["-"], "-")
    if key is not None and not callable(key):
        raise no_such("key", "a function of an item", key)
    return _sorted_items(request, _iterable(items, "items"), _encoder(key, reverse), key is not None)


def _sorted_items(request: Request, items: Iterable[Any], encode: _Encode, has_key: bool) -> Iterator[Any]:
    kinds: list[type[str] | type[bytes]] = []  # of the first item

    def lines() -> Iterator[bytes]:
        for item in items:
            if not kinds:
                kinds.append(str if isinstance(item, str) else bytes)
            if not isinstance(item, kinds[0]):
                raise BadInput(f"items are either all str or all bytes, not {type(item).__name__}")
            data = item.encode("utf-8", "surrogatepass") if isinstance(item, str) else item
            yield line_of(encode(item, data)) + b"\n"

    with BufferedReader(Output(fed(request, lines())), PIECE_BYTES) as reader:
        for line in reader:
            data = from_line(line[:-1])
            if has_key:
                data = _without_key(data)
            yield data.decode("utf-8", "surrogatepass") if kinds[0] is str else data


def sorted_parts(records: Any, told: dict[str, Any]) -> Iterator[bytes]:
    """Sorts records of `record_size` bytes, which needs neither a call nor a copy for each key.

    `records` may also give several whole records at a time.
    """
    request = request_of(told, "records", ["-"], "-")
    return _sorted_parts(request, _iterable(records, "records"), told["record_size"])


def _sorted_parts(request: Request, records: Iterable[bytes], record_size: int) -> Iterator[bytes]:
    with BufferedReader(Output(fed(request, (_checked(record, record_size) for record in records))), PIECE_BYTES) as reader:
        while record := reader.read(record_size):
            yield record


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
