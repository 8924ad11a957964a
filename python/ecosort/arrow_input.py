"""Batches in pieces of a bounded size, and with types of which pyarrow gathers rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from ecosort.errors import BadInput
from ecosort.kept_memory import KeptMemory

_CAST_ROWS = 4096


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


def plain_schema(schema: Any, *, keeps_dictionaries: bool = False) -> Any:
    """The schema with plain types: pyarrow gathers no rows of others."""
    return pa.schema([field.with_type(plain_type(field.type, keeps_dictionaries)) for field in schema], schema.metadata)


def parquet_schema(schema: Any) -> Any:
    """The schema with dictionaries of plain values: pyarrow writes no Parquet of those of views, as Polars has them."""
    fields = [field.with_type(plain_type(field.type, True)) if _holds_dictionary(field.type) else field for field in schema]
    return pa.schema(fields, schema.metadata)


def plain_type(kind: Any, keeps_dictionaries: bool = False) -> Any:
    """Texts and binary in place of views of them, as Polars has them, and values in place of dictionaries."""
    if pa.types.is_dictionary(kind):
        values = plain_type(kind.value_type)
        return pa.dictionary(kind.index_type, values, kind.ordered) if keeps_dictionaries else values
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    make = next((make for is_kind, make in _NESTED if is_kind(kind)), None)
    if make is None:
        return kind
    fields = (kind.field(i) for i in range(kind.num_fields))
    return make(kind, [field.with_type(plain_type(field.type, keeps_dictionaries)) for field in fields])


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
    """The batches with the types of a schema, some rows at a time: the size of a slice of views is only known from its copy.

    By way of dictionaries without views: pyarrow takes no values out of others within lists.
    """
    for batch in batches:
        without_views = plain_schema(batch.schema, keeps_dictionaries=True)
        for at in range(0, batch.num_rows, _CAST_ROWS):
            yield batch.slice(at, _CAST_ROWS).cast(without_views).cast(schema)


def _holds_dictionary(kind: Any) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return _holds_dictionary(kind.storage_type)
    return pa.types.is_dictionary(kind) or any(_holds_dictionary(kind.field(i).type) for i in range(kind.num_fields))


def pieces_of(batches: Iterable[Any], size_bytes: int, kept: KeptMemory, most_rows: int | None = None) -> Iterator[Any]:
    """Batches joined or cut so that each has about `size_bytes`, and one row at least; and `most_rows` where it has room."""
    held: list[Any] = []
    size = rows = 0
    for batch in _cut(batches, size_bytes // 4):
        rest = batch
        while rest.num_rows:
            part = rest if most_rows is None else rest.slice(0, most_rows - rows)
            if held and size + part.nbytes > size_bytes:
                yield _joined(held, kept)
                size = rows = 0
                continue
            held.append(part)
            size, rows = size + part.nbytes, rows + part.num_rows
            rest = rest.slice(part.num_rows)
            if rows == most_rows:
                yield _joined(held, kept)
                size = rows = 0
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
