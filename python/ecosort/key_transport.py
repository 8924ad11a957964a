"""Carries keys of rows through the program: records where all are of one length, lines of text where they are not.

Behind each key is the number of its run, which comes back with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ecosort.arrow_keys import Column, Matrix, joined, matrix_of, texts_of
from ecosort.request import Request

_NUMBER_BYTES = 4


class KeyRecords:
    """Keys of `width` bytes. The sort is stable: equal keys come back in the order of the runs."""

    def __init__(self, columns: Sequence[Column], width: int, pipes: dict[str, Any]) -> None:
        self._columns = columns
        self._record = width + _NUMBER_BYTES
        self.request = Request(pipes | {"records": {"record_size": self._record, "keys": [f"0:{width}"]}})

    def keys(self, rows: Any) -> Matrix:
        """A record for each row, whose number is still to come."""
        return matrix_of(rows, self._columns, _NUMBER_BYTES)

    def order(self, keys: Matrix) -> Any:
        """Returns which row comes first, second, ...; stable."""
        return pa.array(stable_order(_words_of(_telling(keys[:, :-_NUMBER_BYTES]))))

    def message(self, keys: Matrix, run: int) -> memoryview:
        """Returns what is written to the program."""
        keys[:, -_NUMBER_BYTES:] = np.frombuffer(run.to_bytes(_NUMBER_BYTES, "big"), np.uint8)
        return keys.data.cast("B") if len(keys) else memoryview(b"")

    def runs_of(self, pieces: Iterator[bytes]) -> Iterator[NDArray[np.uint32]]:
        """The numbers of the runs in what comes back."""
        rest = b""
        for piece in pieces:
            rest += piece
            whole = len(rest) - len(rest) % self._record
            records = np.frombuffer(rest, np.uint8, whole).reshape(-1, self._record)
            yield np.ascontiguousarray(records[:, -_NUMBER_BYTES:]).view(">u4").ravel().astype(np.uint32)
            rest = rest[whole:]


class KeyLines:
    """Keys of any length, without newlines: 0a becomes 0b 01 and 0b becomes 0b 02. Equal keys are ordered by their runs."""

    def __init__(self, columns: Sequence[Column], pipes: dict[str, Any]) -> None:
        self._columns = columns
        self.request = Request(pipes | {"lines": {}})

    def keys(self, rows: Any) -> Any:
        """One for each row, without newlines."""
        return pc.replace_substring(pc.replace_substring(texts_of(rows, self._columns), b"\x0b", b"\x0b\x02"), b"\n", b"\x0b\x01")

    def order(self, keys: Any) -> Any:
        """Returns which row comes first, second, ...; stable."""
        return pc.sort_indices(keys)

    def message(self, keys: Any, run: int) -> memoryview:
        """Returns what the program gets: behind the key 28 bits of the run in bytes from 80 on, most significant first."""
        number = bytes(0x80 | run >> shift & 0x7F for shift in (21, 14, 7, 0))
        lines = joined([keys, pa.scalar(number + b"\n", pa.binary())])
        return memoryview(lines.buffers()[2] or b"")[: pc.sum(pc.binary_length(lines)).as_py() or 0]

    def runs_of(self, pieces: Iterator[bytes]) -> Iterator[NDArray[np.uint32]]:
        """The numbers of the runs in what comes back."""
        rest = b""
        for piece in pieces:
            data = np.frombuffer(rest + piece, np.uint8)
            ends = np.flatnonzero(data == ord("\n"))
            digits = data[ends[:, None] - np.arange(_NUMBER_BYTES, 0, -1)].astype(np.uint32) & 0x7F
            yield (digits << np.array([21, 14, 7, 0], np.uint32)).sum(axis=1, dtype=np.uint32)
            rest = data[ends[-1] + 1 if len(ends) else 0 :].tobytes()


def _telling(keys: Matrix) -> Matrix:
    """Without the bytes that are the same in every row."""
    differ = (keys[:: len(keys) // 64 + 1] != keys[:1]).any(axis=0)
    for at in np.flatnonzero(~differ):
        differ[at] = (keys[:, at] != keys[0, at]).any()
    places = np.flatnonzero(differ)
    is_one_piece = len(places) > 0 and places[-1] - places[0] + 1 == len(places)
    return keys[:, places[0] : places[-1] + 1] if is_one_piece else keys[:, places]


def _words_of(keys: Matrix) -> NDArray[np.uint64]:
    """Numbers that compare as the keys do: a row for each eight bytes of them, the first ones first."""
    rows, width = keys.shape
    words = np.zeros((rows, max(8, -(-width // 8) * 8)), np.uint8)
    words[:, :width] = keys
    return np.ascontiguousarray(words.view(">u8").astype(np.uint64).T)


def stable_order(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Returns which column comes first, second, ...: by the first row of numbers, where it is equal by the second, ...; stable.

    NumPy sorts by 16 bits several times as fast as by more, since it counts them. Two such sorts give the order by the 32 bits of
    the first number that differ most; columns that are equal there are sorted again. Where these are many, all are sorted by
    everything.
    """
    telling = words[0] - words[0].min()
    dropped = max(int(telling.max()).bit_length() - 2 * _DIGIT_BITS, 0)
    telling >>= np.uint64(dropped)
    order = _order_of_digits(telling)
    if dropped == 0 and len(words) == 1:
        return order
    equal = np.diff(telling[order]) == 0
    if not equal.any():
        return order
    if 4 * np.count_nonzero(equal) > len(order):
        return np.lexsort(words[::-1])
    places = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
    again = np.sort(order[places])
    order[places] = again[np.lexsort(words[::-1, again])]
    return order


_DIGIT_BITS = 16


def _order_of_digits(numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Orders numbers of 32 bits: stably by the lower digit, then by the upper one."""
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    upper = (numbers >> np.uint64(_DIGIT_BITS)).astype(np.uint16)
    return order[np.argsort(upper[order], kind="stable")] if upper.any() else order


def transport_of(schema: Any, columns: Sequence[Column], memory: int, threads: int | None, place: str) -> KeyRecords | KeyLines:
    """Returns what fits the columns. The program sorts the keys with `memory` bytes and runs in the directory `place`."""
    means: dict[str, Any] = {"memory_bytes": memory, "threads": threads or 0, "temp_directories": [place]}
    pipes = {"inputs": ["-"], "place": {"output": "-"}, "means": means}
    if any(column.is_text for column in columns):
        return KeyLines(columns, pipes)
    nothing = pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)
    width = matrix_of(nothing, columns).shape[1]
    return KeyRecords(columns, width, pipes)
