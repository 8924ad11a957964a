"""Writes what a Parquet file claims about the order of its rows, true by construction; holds claims against the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ecosort.arrow_files import ParquetInput, open_file
from ecosort.arrow_input import plain_schema
from ecosort.arrow_keys import Column, columns_of
from ecosort.arrow_selection import key_values
from ecosort.errors import BadInput, FalseClaim
from ecosort.words import Path, path_word

Key = tuple[str, str, str]  # name, ascending or descending, where nulls come: first or last


@dataclass(frozen=True)
class TableOrder:
    """The order that a file claims, which is that of its rows."""

    by: tuple[Key, ...]
    rows: int
    row_groups: int
    is_throughout: bool  # also from one row group to the next, of which no file claims anything


def claim_of(schema: Any, by: Any) -> list[Any] | None:
    """The claim of a file that is sorted by these keys, up to the first float: readers order NaN and -0.0 differently."""
    plain = plain_schema(schema)
    columns = columns_of(plain, by)[: _claimed_count(plain, by)]
    leaves = list(_leaves(schema))
    claim = [pq.SortingColumn(leaves.index(column.index), column.is_descending, column.nulls_first) for column in columns]
    return claim or None


def unclaimed(schema: Any, by: Any) -> list[str]:
    """Names the keys that the claim leaves out."""
    plain = plain_schema(schema)
    return [column.name for column in columns_of(plain, by)[_claimed_count(plain, by) :]]


def _claimed_count(plain: Any, by: Any) -> int:
    kinds = [plain.field(column.index).type for column in columns_of(plain, by)]
    before_float = sum(1 for _ in takewhile(lambda kind: not pa.types.is_floating(kind), kinds))
    # Parquet keeps the day of a date64 alone: what comes behind it is in no order among the times of one day.
    through_day = next((number for number, kind in enumerate(kinds, 1) if pa.types.is_date64(kind)), len(kinds))
    return min(before_float, through_day)


def checked_claim(table: Path) -> TableOrder:
    """Reads a Parquet file, and returns the order that it claims. FalseClaim names the first row that is out of it."""
    path = path_word(table)
    with open_file(path) as opened:
        if not isinstance(opened, ParquetInput):
            raise BadInput(f"'{path}' is Arrow's IPC format, which claims no order")
        file = opened.file
        groups = range(file.metadata.num_row_groups)
        claims = {tuple(file.metadata.row_group(group).sorting_columns) for group in groups}
        if len(claims) != 1 or claims == {()}:
            what = "different orders in its row groups" if len(claims) > 1 else "no order of its rows"
            raise BadInput(f"'{path}' claims {what}")
        columns = _claimed(path, file.schema_arrow, *claims)
        keys: tuple[Key, ...] = tuple((column.name, *_words_of(column)) for column in columns)
        is_throughout = _check_groups(path, file, columns, keys)
        return TableOrder(keys, file.metadata.num_rows, len(groups), is_throughout)


def _check_groups(path: str, file: Any, columns: Sequence[Column], keys: tuple[Key, ...]) -> bool:
    last, row, is_throughout = None, 0, True
    for group in range(file.metadata.num_row_groups):
        begin = row
        for read in file.iter_batches(row_groups=[group], columns=[column.name for column in columns], use_threads=False):
            values = key_values(read, keys)
            both = values if last is None else pa.concat_arrays([last, values])
            at = row + 1 - (len(both) - len(values))  # of the second one of `both`
            for place in pc.indices_nonzero(pc.less(both[1:], both[:-1])).to_pylist()[:2]:
                if at + place != begin:
                    raise FalseClaim(path, at + place, ", ".join(" ".join(key) for key in keys))
                is_throughout = False
            row += len(values)
            last = both[-1:]
    return is_throughout


def _claimed(path: str, schema: Any, claim: Sequence[Any]) -> list[Column]:
    leaves = list(_leaves(schema))
    for column in claim:
        if not 0 <= column.column_index < len(leaves):
            raise BadInput(f"'{path}' claims an order by column {column.column_index}, and has {len(leaves)} columns")
        if leaves.count(leaves[column.column_index]) > 1 or pa.types.is_nested(schema.field(leaves[column.column_index]).type):
            raise BadInput(f"'{path}' claims an order by what is within {schema.field(leaves[column.column_index]).name!r}")
    names = [schema.field(leaves[column.column_index]).name for column in claim]
    words = [("descending" if column.descending else "ascending", "first" if column.nulls_first else "last") for column in claim]
    return columns_of(plain_schema(schema), [(name, *both) for name, both in zip(names, words, strict=True)])


def _words_of(column: Column) -> tuple[str, str]:
    return ("descending" if column.is_descending else "ascending", "first" if column.nulls_first else "last")


def _leaves(schema: Any) -> Iterator[int]:
    """For each column of a Parquet file the field that it is of: nested fields have several."""
    for number, field in enumerate(schema):
        yield from [number] * _leaf_count(field.type)


def _leaf_count(kind: Any) -> int:
    if isinstance(kind, pa.BaseExtensionType):
        return _leaf_count(kind.storage_type)
    return sum(_leaf_count(kind.field(i).type) for i in range(kind.num_fields)) or 1
