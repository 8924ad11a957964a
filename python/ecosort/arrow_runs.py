"""Sorted runs of rows in one unnamed file: batches of Arrow's IPC format, each with a checksum, read once from the front."""

from __future__ import annotations

import os
import tempfile
from array import array
from typing import Any

import numpy as np
import pyarrow as pa

from ecosort.errors import IoFailed, NotEnoughSpace, drive_full


class RunFile:
    """Keeps where the batches of all runs lie. Used by one thread."""

    def __init__(self, directory: str, schema: Any) -> None:
        self.directory = directory
        self.schema = schema
        try:
            self._file = tempfile.TemporaryFile(dir=directory, buffering=0)  # noqa: SIM115  # close() closes it
        except OSError as error:
            raise IoFailed(f"cannot create a file in '{directory}': {error.strerror}", error.errno) from None
        self._end = 0

    def close(self) -> None:
        """Gives up the file."""
        self._file.close()

    def count_in(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Counts in what it holds, which becomes free, too, where there was not enough space. An exit of an ExitStack."""
        if isinstance(error, NotEnoughSpace) and error.have_bytes is not None:
            error.have_bytes += os.fstat(self._file.fileno()).st_size

    def append(self, run: Run, batch: Any) -> None:
        """Writes a batch. Raises NotEnoughSpace or IoFailed."""
        data = memoryview(batch.serialize()).cast("B")
        run.add(self._end, data.nbytes, batch.num_rows, sum_of(data))
        self._end += data.nbytes
        try:
            while data.nbytes:
                data = data[self._file.write(data) :]
        except OSError as error:
            line = f"cannot write a run in '{self.directory}': {error.strerror}"
            if error.errno in _FULL:
                raise drive_full(line, {self.directory: "temp"}) from None
            raise IoFailed(line, error.errno) from None

    def read(self, offset: int, size: int, checksum: int) -> Any:
        """The batch that lies there. Raises IoFailed."""
        data = os.pread(self._file.fileno(), size, offset)
        if len(data) != size or sum_of(data) != checksum:
            raise IoFailed(f"a run in '{self.directory}' is damaged at byte {offset} (check the drive and the memory)")
        return pa.ipc.read_record_batch(pa.py_buffer(data), self.schema)


_FULL = (28, 122)  # ENOSPC, EDQUOT


class Run:
    """One sorted run and how far it was read."""

    def __init__(self, file: RunFile) -> None:
        self._file = file
        self._offsets, self._sizes, self._rows, self._checksums = array("Q"), array("Q"), array("Q"), array("Q")
        self._next = 0  # the first batch that was not read
        self._rest: Any = None  # what is left of the one before

    def add(self, offset: int, size: int, rows: int, checksum: int) -> None:
        """A batch behind those that are there."""
        for values, value in zip(
            (self._offsets, self._sizes, self._rows, self._checksums), (offset, size, rows, checksum), strict=True
        ):
            values.append(value)

    def bytes_to_read(self, rows: int) -> int:
        """Returns what must be read before so many rows can be taken."""
        size, at = 0, self._next
        rows -= self._rest.num_rows if self._rest else 0
        while rows > 0 and at < len(self._rows):
            size += self._sizes[at]
            rows -= self._rows[at]
            at += 1
        return size

    def take(self, rows: int) -> list[Any]:
        """The next so many rows. Raises IoFailed where there are fewer."""
        taken = []
        while rows > 0:
            if not self._rest:
                self._rest = self._read()
            part = self._rest.slice(0, rows)
            self._rest = self._rest.slice(part.num_rows) if part.num_rows < self._rest.num_rows else None
            rows -= part.num_rows
            taken.append(part)
        return taken

    def is_at_end(self) -> bool:
        """Returns whether every row was taken."""
        return not self._rest and self._next == len(self._rows)

    def _read(self) -> Any:
        if self._next == len(self._rows):
            raise IoFailed(f"a run in '{self._file.directory}' has fewer rows than keys (check the memory)")
        at = self._next
        self._next += 1
        return self._file.read(self._offsets[at], self._sizes[at], self._checksums[at])


_BLOCK_WORDS = 1 << 16
_FACTORS = np.random.default_rng(1).integers(1 << 64, size=_BLOCK_WORDS, dtype=np.uint64, endpoint=False) | np.uint64(1)
_STEP = int(_FACTORS[0])


def sum_of(data: Any) -> int:
    """Sums a buffer, whose length must be known otherwise: 64 bits, which every change of one word changes.

    Words times odd random numbers, added up modulo 2^64, block by block (multilinear hashing: Lemire and Kaser, "Strongly
    universal string hashing is fast", 2014).
    """
    view = memoryview(data).cast("B")
    words = np.frombuffer(view, "<u8", view.nbytes // 8)
    total = int.from_bytes(view[words.nbytes :], "little")
    for at in range(0, len(words), _BLOCK_WORDS):
        block = words[at : at + _BLOCK_WORDS]
        total = (total * _STEP + int(np.dot(block, _FACTORS[: len(block)]))) % (1 << 64)
    return total
