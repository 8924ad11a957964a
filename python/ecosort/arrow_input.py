"""What comes in, in pieces of a bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ecosort.errors import BadInput, IoFailed
from ecosort.kept_memory import KeptMemory

_CHECK_BATCHES = 16
_BUFFER_BYTES = 64 << 10


def check_schema(schema: Any) -> None:
    """Raises BadInput for what batches of a stream cannot carry by themselves."""
    for field in schema:
        if _holds_dictionary(field.type):
            raise BadInput(f"column {field.name!r} is encoded by a dictionary; cast it to the type of its values first")


def _holds_dictionary(kind: Any) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return _holds_dictionary(kind.storage_type)
    return pa.types.is_dictionary(kind) or any(_holds_dictionary(kind.field(i).type) for i in range(kind.num_fields))


@contextmanager
def open_parquet(path: str, run_bytes: int, kept: KeptMemory) -> Iterator[tuple[Any, Iterable[Any]]]:
    """The schema and the batches of a file, which is read page by page, however large its row groups are."""
    try:
        file = pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER_BYTES)
    except (OSError, pa.ArrowException) as error:
        raise BadInput(f"'{path}' cannot be read as Parquet: {error}") from None
    with file:
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        row_bytes = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0) + 1
        rows = min(max(run_bytes // 64 // row_bytes, 256), 1 << 16)
        yield file.schema_arrow, _telling(path, file.iter_batches(batch_size=rows, use_threads=False), kept)


def _telling(path: str, batches: Iterable[Any], kept: KeptMemory) -> Iterator[Any]:
    try:
        for number, batch in enumerate(batches):
            yield batch
            if number % _CHECK_BATCHES == 0:
                kept.check()
    except (OSError, pa.ArrowException) as error:
        raise IoFailed(f"cannot read '{path}': {error}") from None


def pieces_of(batches: Iterable[Any], size_bytes: int, kept: KeptMemory) -> Iterator[Any]:
    """Batches joined or cut so that each has about `size_bytes`, and one row at least."""
    held: list[Any] = []
    size = 0
    for batch in _cut(batches, size_bytes // 4):
        if held and size + batch.nbytes > size_bytes:
            yield _joined(held, kept)
            size = 0
        held.append(batch)
        size += batch.nbytes
    if held:
        yield _joined(held, kept)


def _cut(batches: Iterable[Any], most_bytes: int) -> Iterator[Any]:
    for batch in batches:
        waiting = [batch] if batch.num_rows else []
        while waiting:
            part = waiting.pop()
            if part.nbytes > most_bytes and part.num_rows > 1:
                half = part.num_rows // 2
                waiting += [part.slice(half), part.slice(0, half)]
            else:
                yield part


def _joined(held: list[Any], kept: KeptMemory) -> Any:
    joined = pa.concat_batches(held)
    held.clear()
    kept.check()
    return joined
