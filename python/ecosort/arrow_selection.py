"""Chooses which of the sorted rows of a table go out: the first of each value of the keys, and the first ones of all."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ecosort.arrow_input import plain_schema
from ecosort.arrow_keys import columns_of, texts_of
from ecosort.report import Report

_MOST_ROWS = 2**63 - 1  # that pyarrow can count


class Selection:
    """Serves one sort, and counts what it leaves out. `limit` None: all rows."""

    def __init__(self, by: Any, *, unique: bool, limit: int | None) -> None:
        self._by = by
        self._unique = unique
        self._limit = None if limit is None else min(limit, _MOST_ROWS)
        self._rows = self._dropped = self._written = 0
        self._last: Any = None  # the key of the row before

    def first_of_run(self, order: Any) -> Any:
        """Leaves out what comes behind `limit` rows of its own run, unless some of these may be dropped as equal."""
        self._rows += len(order)
        return order if self._unique or self._limit is None else order.slice(0, self._limit)

    def chosen(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Reads all batches, so that all rows are compared with their keys, also those behind the limit."""
        for batch in batches:
            rows = self._without_equals(batch) if self._unique else batch
            room = rows.num_rows if self._limit is None else self._limit - self._written
            some = rows.slice(0, min(room, rows.num_rows))
            self._written += some.num_rows
            if some.num_rows:
                yield some

    def report(self, of_keys: Report) -> Report:
        """Returns that of the sort of the keys, with what was left out."""
        beyond = self._rows - self._dropped - self._written
        return dataclasses.replace(of_keys, records=self._rows, dropped=self._dropped, beyond_limit=beyond)

    def _without_equals(self, batch: Any) -> Any:
        keys = key_values(batch, self._by)
        both = keys if self._last is None else pa.concat_arrays([self._last, keys])
        differs = pc.not_equal(both[1:], both[:-1]).to_numpy(zero_copy_only=False)
        is_new = np.append(True, differs) if self._last is None else differs
        self._last = both[-1:]
        self._dropped += int(np.count_nonzero(~is_new))
        plain = plain_schema(batch.schema, keeps_dictionaries=True)  # pyarrow filters no views
        rows = batch if plain.equals(batch.schema) else batch.cast(plain)
        return rows.filter(pa.array(is_new)).cast(batch.schema)


def key_values(batch: Any, by: Any) -> Any:
    """One binary value for each row, which compares as its keys do."""
    plain = plain_schema(batch.schema)
    names = list(dict.fromkeys(column.name for column in columns_of(plain, by)))
    keys = batch.select(names)
    keys = keys.cast(plain_schema(keys.schema))
    return texts_of(keys, columns_of(keys.schema, by)).cast(pa.binary())
