"""Row groups that are encoded at the same time become one file, in which every offset is right."""

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ecosort.parquet_footer import _Reader
from ecosort.parquet_groups import GroupWriter

ROWS = 1000
TABLE = pa.table(
    {
        "number": pa.array(range(ROWS)),
        "text": [None if i % 7 == 0 else f"t{i % 13}" for i in range(ROWS)],
        "list": [[i, i + 1] for i in range(ROWS)],
    },
    metadata={"of": "rows"},
)


def written(groups: int, **options: Any) -> bytes:
    file = io.BytesIO()
    with GroupWriter(file, TABLE.schema, sorting_columns=[pq.SortingColumn(0)], **options) as writer:
        for at in range(groups):
            begin, end = at * ROWS // groups, (at + 1) * ROWS // groups
            writer.write_batch(TABLE.slice(begin, end - begin).combine_chunks().to_batches()[0])
    return file.getvalue()


@pytest.mark.parametrize("groups", [0, 1, 20])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_dictionary": False, "compression": "none", "data_page_size": 100, "write_page_index": True},
        {"use_dictionary": ["text"], "compression": {"number": "zstd", "text": "gzip"}, "write_page_index": True},
    ],
    ids=["usual", "many pages", "by column"],
)
def test_all_rows_and_what_is_said_of_them_come_back(groups: int, options: dict[str, Any]) -> None:
    """Nothing is lost, and the file says of its groups what pyarrow's writer says."""
    file = pq.ParquetFile(io.BytesIO(written(groups, **options)))
    whole = io.BytesIO()
    pq.write_table(TABLE, whole, **options)
    assert file.schema_arrow.equals(pq.ParquetFile(whole).schema_arrow, check_metadata=True)
    assert file.read().equals(TABLE.slice(0, ROWS if groups else 0))
    assert file.metadata.num_row_groups == groups
    for number in range(groups):
        group = file.metadata.row_group(number)
        assert group.sorting_columns == (pq.SortingColumn(0),)
        assert file.read_row_group(number).num_rows == group.num_rows == ROWS // groups


def test_the_index_of_pages_points_at_pages() -> None:
    """pyarrow reads files by their row groups, and would not notice it."""
    groups = 3
    data = written(groups, data_page_size=100, write_page_index=True)
    metadata = pq.ParquetFile(io.BytesIO(data)).metadata
    size = int.from_bytes(data[-8:-4], "little")
    groups_of, columns_of, place, locations, first = 4, 1, 4, 1, 1  # numbers of fields in parquet.thrift
    for number, group in enumerate(_Reader(data[-8 - size : -8]).struct()[groups_of].value[1]):
        for column, chunk in enumerate(group[columns_of].value[1]):
            begin, length = chunk[place].value, chunk[place + 1].value
            pages = _Reader(data[begin : begin + length]).struct()[locations].value[1]
            assert pages[0][first].value == metadata.row_group(number).column(column).data_page_offset


def test_an_error_of_the_encoder_is_raised_and_ends_nothing() -> None:
    file = io.BytesIO()
    wrong = pa.record_batch({"other": [1]})
    with pytest.raises(ValueError, match="schema"), GroupWriter(file, TABLE.schema) as writer:
        writer.write_batch(wrong)
    assert file.getvalue() == b"PAR1"
