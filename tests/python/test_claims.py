"""The order that a Parquet file claims: written where it is true for every reader, and held against the rows."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecosort import BadInput, FalseClaim, check_table, sort


def table_of(rows: int) -> Any:
    rng = random.Random(1)
    return pa.table(
        {
            "list": pa.array([{"x": [i], "y": i} for i in range(rows)]),
            "a": pa.array([rng.choice([None, *range(50)]) for _ in range(rows)], pa.int16()),
            "t": pa.array([rng.choice(["", "a\0", "ab", "\u00e9", None]) for _ in range(rows)]).dictionary_encode(),
            "f": pa.array([rng.choice([-0.0, 0.0, 1.5, float("nan")]) for _ in range(rows)]),
        }
    )


def test_a_sorted_file_claims_its_keys_up_to_the_first_float(here: Path) -> None:
    by = [("a", "descending", "first"), "t", "f", "a2"]
    table = table_of(5000).append_column("a2", pa.array(range(5000)))
    sort(table, "out.parquet", by=by)
    claim = pq.ParquetFile("out.parquet").metadata.row_group(0).sorting_columns
    assert claim == (pq.SortingColumn(2, True, True), pq.SortingColumn(3, False, False)), "behind x and y"
    order = check_table("out.parquet")
    assert (order.by, order.rows) == ((("a", "descending", "first"), ("t", "ascending", "last")), 5000)
    assert order.is_throughout
    sort(table, "floats.parquet", by="f")
    with pytest.raises(BadInput, match="claims no order"):
        check_table("floats.parquet")


def test_what_stands_behind_a_day_is_not_claimed(here: Path) -> None:
    """Parquet keeps no time of a date64: rows of one day would come in an order that its file does not show."""
    days = pa.array([86_400_005, 86_400_001], pa.int64()).view(pa.date64())
    sort(pa.table({"a": days, "b": [1, 2]}), "out.parquet", by=["a", "b"])
    assert [key[0] for key in check_table("out.parquet").by] == ["a"]


def test_a_claim_by_a_column_that_there_is_not_is_refused(here: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), "in.parquet", sorting_columns=[pq.SortingColumn(7)])
    with pytest.raises(BadInput, match="claims an order by column 7, and has 1 column"):
        check_table("in.parquet")


@pytest.mark.parametrize("wrong", [1, 777, 999, 1001, 2500])
def test_a_false_claim_is_named_with_its_first_row(here: Path, wrong: int) -> None:
    """Also the first and the last row of a group, whose order to the next one nobody claims."""
    values = list(range(3000))
    values[wrong] = -1
    with pq.ParquetWriter("in.parquet", pa.schema([("a", pa.int64())]), sorting_columns=[pq.SortingColumn(0)]) as writer:
        for begin in range(0, 3000, 1000):
            writer.write_table(pa.table({"a": values[begin : begin + 1000]}))
    with pytest.raises(
        FalseClaim, match=f"in.parquet' claims to be sorted by a ascending last, and its row {wrong + 1} comes"
    ) as caught:
        check_table("in.parquet")
    assert caught.value.row == wrong


def test_no_group_claims_anything_of_the_next_one(here: Path) -> None:
    with pq.ParquetWriter("in.parquet", pa.schema([("a", pa.int64())]), sorting_columns=[pq.SortingColumn(0)]) as writer:
        for _ in range(2):
            writer.write_table(pa.table({"a": [1, 2, 3]}))
    order = check_table("in.parquet")
    assert (order.row_groups, order.is_throughout) == (2, False)
