"""Says how a Parquet file is written, so that a sorted copy of it is like it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_NAMES = {"UNCOMPRESSED": "none", "LZ4_RAW": "lz4", "LZO": "snappy"}  # no one writes LZO any more


@dataclass(frozen=True)
class ParquetForm:
    """The codec of each column (by its path), columns with dictionaries, the rows of a row group, whether pages have an index."""

    codecs: tuple[tuple[str, str], ...] = ()
    dictionaries: tuple[str, ...] | None = None  # None: of all columns where they pay
    group_rows: int | None = None
    has_page_index: bool = False

    def options(self) -> dict[str, Any]:
        """Returns those of pyarrow's writer."""
        different = {codec for _, codec in self.codecs}
        codec: Any = dict(self.codecs) if len(different) > 1 else next(iter(different), "snappy")
        # The writer makes a dictionary of any column until it is too long, which is a third of its work where no value repeats.
        dictionaries = True if self.dictionaries is None else list(self.dictionaries)
        return {"compression": codec, "use_dictionary": dictionaries, "write_page_index": self.has_page_index}


def form_of(metadata: Any) -> ParquetForm:
    """Takes the codecs from the first row group of a file, and the rows from the largest one."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    if not groups:
        return ParquetForm()
    columns = [groups[0].column(number) for number in range(groups[0].num_columns)]
    codecs = tuple((column.path_in_schema, _codec(column.compression)) for column in columns)
    dictionaries = tuple(column.path_in_schema for column in columns if column.has_dictionary_page)
    rows = max(group.num_rows for group in groups)
    return ParquetForm(codecs, dictionaries, rows or None, bool(columns) and all(column.has_offset_index for column in columns))


def _codec(name: str) -> str:
    return _NAMES.get(name, name.lower())
