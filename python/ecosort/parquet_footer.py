"""The footer of a Parquet file: says where its pages lie, and is changed here where they move.

It is a struct of Thrift's compact protocol. What is not changed is kept as it is, whatever it means.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_INTEGERS = (_I16, _I32, _I64)

# Numbers of fields, by the format's parquet.thrift.
_ROWS, _GROUPS = 3, 4  # of the file
_COLUMNS, _GROUP_OFFSET, _ORDINAL = 1, 5, 7  # of a row group
_CHUNK_OFFSET, _METADATA, _OFFSET_INDEX, _COLUMN_INDEX = 2, 3, 4, 6  # of a column in it; the length of an index is the next field
_PAGE_OFFSETS = (9, 10, 11)  # of its metadata: of data, index and dictionary
_LOCATIONS, _LOCATION = 1, 1  # of an index of offsets, and of a page in it

MAGIC = b"PAR1"
_TAIL_BYTES = 8  # the length of the footer, and the magic
_MOST_ORDINAL = (1 << 15) - 1


@dataclass
class _Field:
    kind: int
    value: Any  # of a list (kind, values)


class _Written(bytes):
    """A value as it is in the file."""


_Struct = dict[int, _Field]


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def struct(self) -> _Struct:
        fields: _Struct = {}
        number = 0
        while byte := self._byte():
            number = number + (byte >> 4) if byte >> 4 else self._integer()
            fields[number] = _Field(byte & 15, self._value(byte & 15))
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return None
        if kind in _INTEGERS:
            return self._integer()
        if kind == _STRUCT:
            return self.struct()
        if kind in (_LIST, _SET):
            return self._list()
        if kind == _MAP:
            raise ValueError("a footer has no maps")
        return self._bytes({_BYTE: 1, _DOUBLE: 8}.get(kind) or self._varint())

    def _list(self) -> tuple[int, list[Any]]:
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        kind = head & 15
        values = [self._bytes(1) if kind in (_TRUE, _FALSE) else self._value(kind) for _ in range(count)]
        return kind, values

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def _varint(self) -> int:
        number = shift = 0
        while (byte := self._byte()) & 0x80:
            number |= (byte & 0x7F) << shift
            shift += 7
        return number | byte << shift

    def _integer(self) -> int:
        number = self._varint()
        return number >> 1 ^ -(number & 1)


def _struct_bytes(fields: _Struct) -> bytes:
    out = bytearray()
    before = 0
    for number, field in sorted(fields.items()):
        step = number - before
        out += bytes([step << 4 | field.kind]) if step < 16 else bytes([field.kind]) + _integer_bytes(number)
        out += _value_bytes(field.kind, field.value)
        before = number
    return bytes(out + b"\0")


def _value_bytes(kind: int, value: Any) -> bytes:
    if isinstance(value, _Written):
        return value
    if kind in (_TRUE, _FALSE):
        return b""
    if kind in _INTEGERS:
        return _integer_bytes(value)
    if kind == _STRUCT:
        return _struct_bytes(value)
    if kind in (_LIST, _SET):
        of, values = value
        return _list_head(of, len(values)) + b"".join(one if of in (_TRUE, _FALSE) else _value_bytes(of, one) for one in values)
    return value if kind in (_BYTE, _DOUBLE) else _varint_bytes(len(value)) + value


def _list_head(kind: int, count: int) -> bytes:
    return bytes([count << 4 | kind]) if count < 15 else bytes([0xF0 | kind]) + _varint_bytes(count)


def _varint_bytes(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _integer_bytes(number: int) -> bytes:
    return _varint_bytes((number << 1) ^ (number >> 63))


def _move(fields: _Struct, number: int, by: int) -> None:
    """Moves what an offset points at; one that is 0 points at nothing."""
    if number in fields and fields[number].value:
        fields[number].value += by


class Footer:
    """The footer of a file whose row groups were each encoded as a file of their own. `empty`: such a file without any."""

    def __init__(self, empty: memoryview) -> None:
        self._fields = _fields_of(empty)
        self._groups: list[bytes] = []
        self._rows = 0

    def add(self, encoded: memoryview, at: int) -> Iterator[bytes | memoryview]:
        """Yields what of a file of one row group is to be written at this place: its pages, and their indexes."""
        fields = _fields_of(encoded)
        group = fields[_GROUPS].value[1][0]
        chunks = group[_COLUMNS].value[1]
        by = at - len(MAGIC)
        indexes = [(kind, chunk) for kind in (_COLUMN_INDEX, _OFFSET_INDEX) for chunk in chunks if kind in chunk]
        pages_end = min((chunk[kind].value for kind, chunk in indexes), default=_footer_place(encoded))
        yield encoded[len(MAGIC) : pages_end]
        at += pages_end - len(MAGIC)
        for kind, chunk in indexes:
            place, size = chunk[kind], chunk[kind + 1]
            index = encoded[place.value : place.value + size.value]
            moved = _moved(index, by) if kind == _OFFSET_INDEX else index
            place.value, size.value = at, len(moved)
            at += len(moved)
            yield moved
        self._take(group, chunks, by)
        self._rows += fields[_ROWS].value

    def _take(self, group: _Struct, chunks: list[_Struct], by: int) -> None:
        _move(group, _GROUP_OFFSET, by)
        for chunk in chunks:
            _move(chunk, _CHUNK_OFFSET, by)
            for number in _PAGE_OFFSETS:
                _move(chunk[_METADATA].value, number, by)
        if _ORDINAL in group:
            group[_ORDINAL].value = len(self._groups)
            if len(self._groups) > _MOST_ORDINAL:
                del group[_ORDINAL]
        self._groups.append(_struct_bytes(group))

    def tail(self) -> bytes:
        """Returns what ends the file."""
        groups = _Written(_list_head(_STRUCT, len(self._groups)) + b"".join(self._groups))
        data = _struct_bytes(self._fields | {_ROWS: _Field(_I64, self._rows), _GROUPS: _Field(_LIST, groups)})
        return data + len(data).to_bytes(4, "little") + MAGIC


def _footer_place(file: memoryview) -> int:
    return len(file) - _TAIL_BYTES - int.from_bytes(file[-_TAIL_BYTES : -len(MAGIC)], "little")


def _fields_of(file: memoryview) -> _Struct:
    return _Reader(bytes(file[_footer_place(file) : -_TAIL_BYTES])).struct()


def _moved(offset_index: memoryview, by: int) -> bytes:
    index = _Reader(bytes(offset_index)).struct()
    for page in index[_LOCATIONS].value[1]:
        _move(page, _LOCATION, by)
    return _struct_bytes(index)
