"""What comes in, in pieces of a bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ecosort.errors import BadInput, IoFailed
from ecosort.kept_memory import KeptMemory

_CHECK_BATCHES = 16
_BUFFER_BYTES = 64 << 10
_CAST_ROWS = 4096
_COLUMN_BYTES = 9 << 18


def check_schema(schema: Any) -> None:
    """Raises BadInput for what batches of a stream cannot carry by themselves, and for rows that pyarrow cannot put together."""
    for field in schema:
        if _holds_dictionary(field.type):
            raise BadInput(f"column {field.name!r} is encoded by a dictionary; cast it to the type of its values first")
        if not _can_be_gathered(field.type):
            raise BadInput(f"column {field.name!r} of type {field.type} cannot be sorted: pyarrow gathers no rows of it; cast it")


def _can_be_gathered(kind: Any) -> bool:
    empty = pa.RecordBatch.from_arrays([pa.nulls(0, kind)], ["column"])
    try:
        pa.concat_batches([empty, empty]).take(pa.array([], pa.int64()))
    except pa.ArrowNotImplementedError:
        return False
    return True


def without_views(schema: Any) -> Any:
    """The schema with texts and binary in place of views of them, as Polars has them: pyarrow gathers no rows of views."""
    return pa.schema([field.with_type(_without_views(field.type)) for field in schema], schema.metadata)


def _without_views(kind: Any) -> Any:
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    make = next((make for is_kind, make in _NESTED if is_kind(kind)), None)
    if make is None:
        return kind
    return make(kind, [field.with_type(_without_views(field.type)) for field in (kind.field(i) for i in range(kind.num_fields))])


_NESTED: tuple[tuple[Any, Any], ...] = (
    (pa.types.is_struct, lambda _, fields: pa.struct(fields)),
    (pa.types.is_list, lambda _, fields: pa.list_(fields[0])),
    (pa.types.is_large_list, lambda _, fields: pa.large_list(fields[0])),
    (pa.types.is_fixed_size_list, lambda kind, fields: pa.list_(fields[0], kind.list_size)),
    (pa.types.is_map, lambda kind, fields: pa.map_(*_key_and_item(fields[0].type), keys_sorted=kind.keys_sorted)),
)


def _key_and_item(entry: Any) -> tuple[Any, Any]:
    return entry.field(0), entry.field(1)


def cast_to(schema: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """The batches with the types of a schema, some rows at a time: how long a slice of views is, only their copy tells."""
    for batch in batches:
        for at in range(0, batch.num_rows, _CAST_ROWS):
            yield batch.slice(at, _CAST_ROWS).cast(schema)


def _holds_dictionary(kind: Any) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return _holds_dictionary(kind.storage_type)
    return pa.types.is_dictionary(kind) or any(_holds_dictionary(kind.field(i).type) for i in range(kind.num_fields))


@dataclass(frozen=True)
class ParquetInput:
    """A file that is read page by page, however large its row groups are."""

    path: str
    file: Any

    @property
    def schema(self) -> Any:
        return self.file.schema_arrow

    def page_bytes(self) -> int:
        """What reading takes at a time: of each column pages and a dictionary, as long as most programs make them."""
        return max((sum(min(3 * size, _COLUMN_BYTES) for size in _column_sizes(group)) for group in self._groups()), default=0)

    def batches(self, run_bytes: int, kept: KeptMemory) -> Iterator[Any]:
        """Of a small part of a run each."""
        row_bytes = max((group.total_byte_size // max(group.num_rows, 1) for group in self._groups()), default=0) + 1
        rows = min(max(run_bytes // 64 // row_bytes, 256), 1 << 16)
        return _telling(self.path, self.file.iter_batches(batch_size=rows, use_threads=False), kept)

    def _groups(self) -> list[Any]:
        metadata = self.file.metadata
        return [metadata.row_group(i) for i in range(metadata.num_row_groups)]


@contextmanager
def open_parquet(path: str) -> Iterator[ParquetInput]:
    """Raises BadInput."""
    try:
        file = pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER_BYTES, page_checksum_verification=True)
    except (OSError, pa.ArrowException) as error:
        raise BadInput(f"'{path}' cannot be read as Parquet: {error}") from None
    with file:
        yield ParquetInput(path, file)


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


def open_stream(table: Any) -> Any:
    """The reader of whatever gives an Arrow stream. Raises BadInput."""
    try:
        return pa.RecordBatchReader.from_stream(table)
    except pa.ArrowException as error:
        raise BadInput(f"pyarrow cannot read the stream of this {type(table).__name__}: {error}; cast its columns") from None


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
