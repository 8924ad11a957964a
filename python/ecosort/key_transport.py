"""How keys of rows go through the program: records where all are of one length, lines of text where they are not.

Behind each key stands the number of its run, which comes back with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ecosort.arrow_keys import Column, Matrix, joined, matrix_of, texts_of
from ecosort.words import resources

_NUMBER_BYTES = 4


class Records:
    """Keys of `width` bytes. The sort is stable: equal keys come back in the order of the runs."""

    def __init__(self, columns: Sequence[Column], width: int, words: list[str]) -> None:
        self._columns = columns
        self._record = width + _NUMBER_BYTES
        self.words = ["sort", "--output=-", f"--record-size={self._record}", f"--key=0:{width}", *words]

    def keys(self, rows: Any) -> Matrix:
        """One for each row."""
        return matrix_of(rows, self._columns)

    def order(self, keys: Matrix) -> Any:
        """Which row comes first, second, ...; stable."""
        telling = keys[:, (keys != keys[:1]).any(axis=0)]  # without the bytes that are the same in every row
        rows, width = telling.shape
        words = np.zeros((rows, max(8, -(-width // 8) * 8)), np.uint8)
        words[:, :width] = telling
        numbers = words.view(">u8").astype(np.uint64).T  # the last one decides first
        order = np.argsort(numbers[0], kind="stable") if len(numbers) == 1 else np.lexsort(numbers[::-1])
        return pa.array(order)

    def message(self, keys: Matrix, run: int) -> memoryview:
        """What is written to the program."""
        records = np.empty((len(keys), self._record), np.uint8)
        records[:, :-_NUMBER_BYTES] = keys
        records[:, -_NUMBER_BYTES:] = np.frombuffer(run.to_bytes(_NUMBER_BYTES, "big"), np.uint8)
        return records.data.cast("B") if len(keys) else memoryview(b"")

    def runs_of(self, pieces: Iterator[bytes]) -> Iterator[NDArray[np.uint32]]:
        """The numbers of the runs in what comes back."""
        rest = b""
        for piece in pieces:
            rest += piece
            whole = len(rest) - len(rest) % self._record
            records = np.frombuffer(rest, np.uint8, whole).reshape(-1, self._record)
            yield np.ascontiguousarray(records[:, -_NUMBER_BYTES:]).view(">u4").ravel().astype(np.uint32)
            rest = rest[whole:]


class Lines:
    """Keys of any length, without newlines: 0a becomes 0b 01 and 0b becomes 0b 02. Equal keys are ordered by their runs."""

    def __init__(self, columns: Sequence[Column], words: list[str]) -> None:
        self._columns = columns
        self.words = ["lines", *words]

    def keys(self, rows: Any) -> Any:
        """One for each row, without newlines."""
        return pc.replace_substring(pc.replace_substring(texts_of(rows, self._columns), b"\x0b", b"\x0b\x02"), b"\n", b"\x0b\x01")

    def order(self, keys: Any) -> Any:
        """Which row comes first, second, ...; stable."""
        return pc.sort_indices(keys)

    def message(self, keys: Any, run: int) -> memoryview:
        """What is written to the program: behind the key 28 bits of the run in bytes from 80 on, most significant first."""
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


def transport_of(schema: Any, columns: Sequence[Column], memory: int, threads: int | None, place: str) -> Records | Lines:
    """What fits the columns. The program sorts the keys with `memory` bytes and runs in the directory `place`."""
    if any(column.is_text for column in columns):
        return Lines(columns, resources(memory, threads, place, "parallel"))
    nothing = pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)
    width = matrix_of(nothing, columns).shape[1]
    return Records(columns, width, resources(memory, threads, place))
