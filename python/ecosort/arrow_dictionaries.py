"""Columns that are encoded by dictionaries, while their rows are sorted.

    batch         dictionary a b, places 0 1        dictionary b c, places 1 0        each batch may have its own
    here          values a b c                                                        one for all
    in the runs   0 1                               2 1                               whole numbers, as any other column

Where all batches have one dictionary it stays as it is, with its order and what no row has. Keys are the values, not the places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ecosort.arrow_input import plain_type
from ecosort.errors import BadInput, NotEnoughMemory

_PLACE = pa.int32()


class Dictionaries:
    """Puts the dictionaries of a table's columns together, except within lists, structs and maps. One thread stores batches."""

    def __init__(self, schema: Any, most_bytes: int) -> None:
        self._schema = schema
        self._columns = {
            index: _Values(field, most_bytes) for index, field in enumerate(schema) if pa.types.is_dictionary(field.type)
        }
        self.stored_schema = self._with_types(dict.fromkeys(self._columns, _PLACE))
        self.value_schema = self._with_types({index: column.plain_type for index, column in self._columns.items()})

    def stored(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Batches with places in place of values, and one schema. Raises BadInput and NotEnoughMemory."""
        for batch in batches:
            places = {index: column.places(batch.column(index)) for index, column in self._columns.items()}
            yield self._with_arrays(batch, places, self.stored_schema)

    def with_values(self, batch: Any, wanted: Iterable[int]) -> Any:
        """A stored batch in which the columns that are wanted have their values again."""
        for index in {*wanted} & self._columns.keys():
            field = self.value_schema.field(index)
            batch = batch.set_column(index, field, self._columns[index].plain.take(batch.column(index)))
        return batch

    def schema(self) -> Any:
        """Returns what came in, when all was stored, with larger places where there are too many values for them."""
        return self._with_types({index: column.encoded_type() for index, column in self._columns.items()})

    def encoded(self, batch: Any) -> Any:
        """A stored batch with dictionaries, and the types that the others came in with."""
        if self._columns:
            encoded = {index: column.encoded(batch.column(index)) for index, column in self._columns.items()}
            schema = self._with_types({index: array.type for index, array in encoded.items()}, batch.schema)
            batch = self._with_arrays(batch, encoded, schema)
        wanted = self.schema()
        return batch if batch.schema.equals(wanted) else batch.cast(wanted)

    def _with_types(self, types: dict[int, Any], schema: Any = None) -> Any:
        schema = schema or self._schema
        for index, kind in types.items():
            schema = schema.set(index, schema.field(index).with_type(kind))
        return schema

    @staticmethod
    def _with_arrays(batch: Any, arrays: dict[int, Any], schema: Any) -> Any:
        return pa.RecordBatch.from_arrays([arrays.get(at, column) for at, column in enumerate(batch.columns)], schema=schema)


class _Values:
    """The values of one column."""

    def __init__(self, field: Any, most_bytes: int) -> None:
        self._field = field
        self._most_bytes = most_bytes
        self.plain_type = plain_type(field.type.value_type)
        self.plain = pa.array([], self.plain_type)
        self._last: Any = None  # dictionary of a batch
        self._place_of: Any = None  # each of its values; None: where it is there

    def places(self, array: Any) -> Any:
        """Returns the places of the values of a batch, which are added where they are new."""
        dictionary = array.dictionary
        if self._last is None or not self._last.equals(dictionary):
            self._place_of = self._added(dictionary.cast(self.plain_type))
            self._last = dictionary
        indices = array.indices.cast(_PLACE)
        return indices if self._place_of is None else self._place_of.take(indices)

    def _added(self, values: Any) -> Any:
        if not len(self.plain):  # it stays as it is
            self.plain = values
            return None
        if values.equals(self.plain):
            return None
        found = self._found(values)
        new = pc.unique(values.filter(found.is_null()))
        if len(new):
            self._demand_room(new)
            self.plain = pa.concat_arrays([self.plain, new])
            found = self._found(values)
        return found

    def _found(self, values: Any) -> Any:
        try:
            return pc.index_in(values, value_set=self.plain)
        except pa.ArrowNotImplementedError:
            raise BadInput(
                f"column {self._field.name!r} has several dictionaries of {self.plain_type}; cast it to that type first"
            ) from None

    def _demand_room(self, new: Any) -> None:
        size = self.plain.nbytes + new.nbytes
        if size > self._most_bytes:
            line = (
                f"the dictionaries of column {self._field.name!r} have more than {self._most_bytes >> 10} KiB of values, which "
                "is too much for this memory; give more memory, or cast the column to the type of its values"
            )
            raise NotEnoughMemory(line, self._most_bytes, None)

    def encoded_type(self) -> Any:
        kind = self._field.type
        places = kind.index_type if len(self.plain) <= _most_places(kind.index_type) else _PLACE
        return pa.dictionary(places, kind.value_type, kind.ordered)

    def encoded(self, places: Any) -> Any:
        kind = self.encoded_type()
        return pa.DictionaryArray.from_arrays(
            places.cast(kind.index_type), self.plain.cast(kind.value_type), ordered=kind.ordered, safe=False
        )


def _most_places(kind: Any) -> int:
    bits: int = kind.bit_width
    return 1 << (bits if pa.types.is_unsigned_integer(kind) else bits - 1)
