"""Writes a Parquet file whose row groups are encoded at the same time.

    encoded   | PAR1 pages footer |   | PAR1 pages footer |      each group as a file of its own, in memory
    file      | PAR1 pages                 pages footer |        in their order, with one footer

pyarrow's writer encodes one group after the other, with one thread.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from ecosort.parquet_footer import MAGIC, Footer

_THREADS = 2  # each has a group, and what it is encoded to


class GroupWriter:
    """Writes each batch as a row group. An error in a `with` block leaves the file without its end."""

    def __init__(self, file: BinaryIO, schema: Any, **options: Any) -> None:
        self._file = file
        self._schema = schema
        self._options = options
        self._footer = Footer(self._encoded(None))
        self._at = 0
        self._pool = ThreadPoolExecutor(_THREADS, "ecosort encode")
        self._encoding: deque[Future[memoryview]] = deque()

    def __enter__(self) -> GroupWriter:
        self._write(MAGIC)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if error is None:
                self._end()
        finally:
            self._pool.shutdown(cancel_futures=True)

    def write_batch(self, batch: Any) -> None:
        """Returns when it, and no more than one batch before, is still encoded. Raises what went wrong with one before."""
        given = [batch]
        self._encoding.append(self._pool.submit(lambda: self._encoded(given.pop())))
        if len(self._encoding) == _THREADS:
            self._append_first()

    def _encoded(self, batch: Any) -> memoryview:
        sink = pa.BufferOutputStream()
        with pq.ParquetWriter(sink, self._schema, **self._options) as writer:
            if batch is not None:
                writer.write_batch(batch, batch.num_rows)
        return memoryview(sink.getvalue()).cast("B")

    def _append_first(self) -> None:
        for part in self._footer.add(self._encoding.popleft().result(), self._at):
            self._write(part)

    def _end(self) -> None:
        while self._encoding:
            self._append_first()
        self._write(self._footer.tail())

    def _write(self, data: bytes | memoryview) -> None:
        self._at += len(data)
        self._file.write(data)
