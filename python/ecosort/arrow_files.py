"""Files of tables: Parquet, and Feather, which is Arrow's IPC format."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ecosort.arrow_writing import ParquetForm, form_of
from ecosort.errors import BadInput, IoFailed
from ecosort.kept_memory import KeptMemory
from ecosort.remote.addresses import is_remote
from ecosort.remote.ranges import RemoteFile
from ecosort.text import first_line

_CHECK_BATCHES = 16
_BUFFER_BYTES = 64 << 10
_REMOTE_BUFFER_BYTES = 1 << 20  # each is a request
_COLUMN_BYTES = 9 << 18
_FEATHER_1, _IPC_FILE, _IPC_STREAM = b"FEA1", b"ARROW1", b"\xff\xff\xff\xff"


@dataclass(frozen=True)
class ParquetInput:
    """A file that is read page by page, however large its row groups are."""

    path: str
    file: Any

    @property
    def schema(self) -> Any:
        return self.file.schema_arrow

    def form(self) -> ParquetForm:
        """Returns how it was written."""
        return form_of(self.file.metadata)

    def page_bytes(self) -> int:
        """Returns what reading takes at a time: of each column pages and a dictionary, as long as most programs make them."""
        return max((sum(min(3 * size, _COLUMN_BYTES) for size in _column_sizes(group)) for group in self._groups()), default=0)

    def batches(self, run_bytes: int, kept: KeptMemory) -> Iterator[Any]:
        """Reads batches that are a small part of a run each."""
        return _telling(self.path, self._read(run_bytes // 64), kept)

    def _read(self, batch_bytes: int) -> Iterator[Any]:
        """Counts what rows take in memory, because pages of a dictionary say little about that. The first ones are looked at."""
        seen_bytes = max((_row_bytes(some) for some in islice(self.file.iter_batches(16, use_threads=False), 1)), default=0)
        for number, group in enumerate(self._groups()):
            told_bytes = group.total_byte_size // max(group.num_rows, 1) + 1
            rows = min(max(batch_bytes // max(told_bytes, seen_bytes), 1), 1 << 16)
            for batch in self.file.iter_batches(rows, row_groups=[number], use_threads=False):
                seen_bytes = max(seen_bytes, _row_bytes(batch))
                yield batch

    def _groups(self) -> list[Any]:
        metadata = self.file.metadata
        return [metadata.row_group(i) for i in range(metadata.num_row_groups)]


@dataclass(frozen=True)
class IpcInput:
    """A file or a stream of Arrow's, which is read batch by batch. It has no checksums: any byte of it may be damaged."""

    path: str
    reader: Any

    @property
    def schema(self) -> Any:
        return self.reader.schema

    def form(self) -> ParquetForm:
        return ParquetForm()

    def page_bytes(self) -> int:
        return 0

    def batches(self, run_bytes: int, kept: KeptMemory) -> Iterator[Any]:
        return _telling(self.path, map(_validated, self._read()), kept)

    def _read(self) -> Iterator[Any]:
        if isinstance(self.reader, pa.RecordBatchFileReader):
            return (self.reader.get_batch(number) for number in range(self.reader.num_record_batches))
        return iter(self.reader)


def _validated(batch: Any) -> Any:
    batch.validate(full=True)
    return batch


@contextmanager
def open_file(path: str) -> Iterator[ParquetInput | IpcInput]:
    """Opens a file as what its first bytes say. Raises BadInput."""
    try:
        remote = RemoteFile(path) if is_remote(path) else None
        begin = remote.read(8) if remote else _begin_of(path)
        if remote and begin.startswith((_IPC_FILE, _IPC_STREAM)):
            raise BadInput(f"'{path}' is Arrow's IPC format, which is read from files of this machine; fetch it first")
        if begin.startswith(_FEATHER_1):
            raise BadInput(f"'{path}' is of Feather's first version; give pyarrow.feather.read_table({path!r})")
        source = pa.PythonFile(remote, "r") if remote else pa.OSFile(os.fsencode(path))  # as str it takes UTF-8 only
        is_ipc = begin.startswith((_IPC_FILE, _IPC_STREAM))
        file = _open_ipc(source, begin) if is_ipc else _open_parquet(source, _REMOTE_BUFFER_BYTES if remote else _BUFFER_BYTES)
    except (OSError, pa.ArrowException) as error:
        why = getattr(error, "strerror", None) or first_line(error)
        raise BadInput(f"'{path}' cannot be read as Parquet or Feather: {why}") from None
    with source, file:
        yield ParquetInput(path, file) if isinstance(file, pq.ParquetFile) else IpcInput(path, file)


def _begin_of(path: str) -> bytes:
    with Path(path).open("rb") as plain:
        return plain.read(8)


def _open_parquet(source: Any, buffer_bytes: int) -> Any:
    return pq.ParquetFile(source, pre_buffer=False, buffer_size=buffer_bytes, page_checksum_verification=True)


def _open_ipc(source: Any, begin: bytes) -> Any:
    return pa.ipc.open_file(source) if begin.startswith(_IPC_FILE) else pa.ipc.open_stream(source)


def _row_bytes(batch: Any) -> int:
    return int(batch.nbytes // max(batch.num_rows, 1))


def _column_sizes(group: Any) -> Iterator[int]:
    return (group.column(i).total_uncompressed_size for i in range(group.num_columns))


def _telling(path: str, batches: Iterable[Any], kept: KeptMemory) -> Iterator[Any]:
    try:
        for number, batch in enumerate(batches):
            yield batch
            if number % _CHECK_BATCHES == 0:
                kept.check()
    except (OSError, pa.ArrowException) as error:
        raise IoFailed(f"cannot read '{path}': {error}") from None
