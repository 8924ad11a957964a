"""Columns of Arrow as bytes that compare as their values do: one key for each row of a batch.

A key of columns of fixed width is as long in every row: a matrix of bytes. Else it is a binary array, whose values are never the
beginning of one another. Each column begins with a byte that puts the nulls first or last; what follows is inverted where the
order is descending. -0.0 equals 0.0; NaN equals NaN and comes after all numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ecosort import checks
from ecosort.errors import BadInput

Matrix = NDArray[np.uint8]

# Width -> its unsigned integer, the bits of NaN, the bits of infinity.
_FLOATS: dict[int, Any] = {
    2: (np.uint16, 0x7E00, 0x7C00),
    4: (np.uint32, 0x7FC00000, 0x7F800000),
    8: (np.uint64, 0x7FF8 << 48, 0x7FF0 << 48),
}


@dataclass(frozen=True)
class Column:
    """A column to sort by."""

    name: str
    index: int
    is_descending: bool
    nulls_first: bool
    is_text: bool  # or binary: of no fixed width


def columns_of(schema: Any, by: str | Sequence[str | Sequence[str]]) -> list[Column]:
    """From names, or (name, "ascending" | "descending"[, "first" | "last"]). BadInput says why a column is no key."""
    if not isinstance(by, str | Iterable):
        raise checks.no_such("by", "the name of a column, or several names or tuples", by)
    wanted = [by] if isinstance(by, str) else list(by)
    if not wanted:
        raise BadInput("by is empty; name a column at least")
    return [_column(schema, key) for key in wanted]


def matrix_of(batch: Any, columns: Sequence[Column], spare: int = 0) -> Matrix:
    """The keys where no column is a text, with so many bytes behind each that have no value yet."""
    arrays = [_with_bytes(batch.column(column.index)) for column in columns]
    ends = np.cumsum([array.type.bit_width // 8 + 1 for array in arrays])
    matrix = np.empty((batch.num_rows, int(ends[-1]) + spare), np.uint8)
    for array, column, end in zip(arrays, columns, ends, strict=True):
        _fill(matrix[:, end - array.type.bit_width // 8 - 1 : end], array, column)
    return matrix


def texts_of(batch: Any, columns: Sequence[Column]) -> Any:
    """The keys where a column is a text."""
    parts: list[Any] = []
    for column in columns:
        array = batch.column(column.index)
        parts += _text(array, column) if column.is_text else [as_binary(matrix_of(batch, [column]))]
    return joined(parts)


def joined(parts: Sequence[Any]) -> Any:
    """Binary arrays, value by value behind one another."""
    return pc.binary_join_element_wise(*parts, pa.scalar(b"", pa.binary()))


def as_binary(matrix: Matrix) -> Any:
    """Each row as a value."""
    rows, width = matrix.shape
    offsets = pa.array(np.arange(0, (rows + 1) * width, width, dtype=np.int32) if width else np.zeros(rows + 1, np.int32))
    return pa.Array.from_buffers(pa.binary(), rows, [None, offsets.buffers()[1], pa.py_buffer(np.ascontiguousarray(matrix))])


def _column(schema: Any, key: Any) -> Column:
    words = [key] if isinstance(key, str) else list(key) if isinstance(key, tuple | list) else []
    if not 1 <= len(words) <= 3 or not all(isinstance(word, str) for word in words):
        raise BadInput(
            f"by: {key!r} is no key; name a column, or give (name, 'ascending' or 'descending', nulls 'first' or 'last')"
        )
    name, order, nulls = words + ["", "ascending", "last"][len(words) :]
    indices = schema.get_all_field_indices(name)
    if len(indices) != 1:
        hint = "" if indices else checks.did_you_mean(name.partition(":")[0], schema.names)
        raise BadInput(f"{len(indices) or 'no'} columns are called {name!r}; there are {', '.join(schema.names)}{hint}")
    if order not in ("ascending", "descending") or nulls not in ("first", "last"):
        raise BadInput(
            f"column {name!r}: the order is 'ascending' or 'descending', and nulls come 'first' or 'last', not {words[1:]}"
        )
    kind = _storage(schema.field(indices[0]).type)
    is_text = any(is_kind(kind) for is_kind in _TEXTS)
    if not is_text and not any(is_kind(kind) for is_kind in _FIXED):
        raise BadInput(
            f"column {name!r} of type {kind} cannot be a key; cast it to a number, a date, a decimal, a text or binary"
        )
    return Column(name, indices[0], order == "descending", nulls == "first", is_text)


_types = pa.types
_TEXTS = (
    _types.is_string,
    _types.is_large_string,
    _types.is_string_view,
    _types.is_binary,
    _types.is_large_binary,
    _types.is_binary_view,
)
_FIXED = (
    *(_types.is_integer, _types.is_floating, _types.is_boolean, _types.is_decimal, _types.is_date, _types.is_time),
    *(_types.is_timestamp, _types.is_duration, _types.is_fixed_size_binary),
)


def _storage(kind: Any) -> Any:
    """Takes a UUID for its 16 bytes; extensions of others may have an order that is not that of their storage."""
    return kind.storage_type if getattr(kind, "extension_name", "") == "arrow.uuid" else kind


def _with_bytes(array: Any) -> Any:
    """Booleans are bits in Arrow."""
    if _storage(array.type) != array.type:
        array = array.storage
    return array.cast(pa.uint8()) if _types.is_boolean(array.type) else array


def _fill(keys: Matrix, array: Any, column: Column) -> None:
    """The marker of nulls and the value, most significant byte first."""
    values = _raw(array)
    if not _types.is_fixed_size_binary(array.type):
        values = _big_endian(values, array.type)
    keys[:, 0] = column.nulls_first
    keys[:, 1:] = ~values if column.is_descending else values
    if array.null_count:
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        keys[~valid, 0] = not column.nulls_first
        keys[~valid, 1:] = 0


def _raw(array: Any) -> Matrix:
    """The bytes of the values as they are in memory."""
    width = array.type.bit_width // 8
    buffer = array.buffers()[1]
    if buffer is None:  # no rows, or nothing but nulls
        return np.zeros((len(array), width), np.uint8)
    flat = np.frombuffer(buffer, np.uint8, len(array) * width, array.offset * width)
    return flat.reshape(len(array), width)


def _big_endian(values: Matrix, kind: Any) -> Matrix:
    if _types.is_floating(kind):
        return _floats(values)
    turned = values[:, ::-1].copy()
    if not _types.is_unsigned_integer(kind):
        turned[:, 0] ^= 0x80
    return turned


def _floats(values: Matrix) -> Matrix:
    width = values.shape[1]
    kind, nan, infinity = _FLOATS[width]
    sign = kind(1 << (8 * width - 1))
    bits = np.ascontiguousarray(values).view(kind).ravel()
    size = bits & ~sign
    for is_special, value in ((size > infinity, nan), (size == 0, 0)):
        if is_special.any():
            bits = np.where(is_special, kind(value), bits)
    negative = np.negative(bits >> kind(8 * width - 1))  # all bits, or none
    turned: Matrix = (bits ^ (negative | sign)).byteswap().view(np.uint8).reshape(-1, width)
    return turned


def _text(array: Any, column: Column) -> list[Any]:
    """The marker of nulls, and the text up to 00 00, in which 00 is 00 ff."""
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    marker = (valid == column.nulls_first).astype(np.uint8).reshape(-1, 1)
    binary = array.cast(pa.binary()) if array.type != pa.binary() else array
    escaped = pc.replace_substring(pc.fill_null(binary, b""), b"\0", b"\0\xff")
    ended = joined([escaped, pa.scalar(b"\0\0", pa.binary())])
    return [as_binary(marker), _inverted(ended) if column.is_descending else ended]


def _inverted(array: Any) -> Any:
    _, offsets, data = array.buffers()
    return pa.Array.from_buffers(
        pa.binary(), len(array), [None, offsets, pa.py_buffer(~np.frombuffer(data, np.uint8))], -1, array.offset
    )
