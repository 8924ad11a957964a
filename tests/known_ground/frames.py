#!/usr/bin/env python3
"""Shows what sort_table() does with values that Arrow streams of others lack: the right order, or one line that says why not.

And what these libraries believe of the order that our Parquet files claim. Runs with the packages of tuning/setup/peers.lock.
"""

import functools
import io
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = ROOT / ".venv-peers" / "bin" / "python"
if Path(sys.prefix) != PYTHON.parent.parent:
    program = os.environ.get("ECOSORT_PROGRAM", str(ROOT / "build" / "ecosort"))
    own = {"PYTHONPATH": str(ROOT / "python"), "ECOSORT_PROGRAM": program}
    os.execve(PYTHON, [str(PYTHON), *sys.argv], {**os.environ, **own})

import datafusion  # noqa: E402
import duckdb  # noqa: E402
import pandas as pd  # noqa: E402
import polars as pl  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

import ecosort  # noqa: E402

LONG = [99999999999999999999, 5, 123456789012345678901234]


def refused(work: Callable[[], Any], *words: str) -> None:
    try:
        work()
    except ecosort.BadInput as error:
        text = str(error)
        assert "\n" not in text, text
        assert all(word in text for word in words), text
    else:
        raise AssertionError(f"nothing was refused: {words}")


def column(table: Any, by: str = "a") -> list[Any]:
    return [int(value) for value in ecosort.sort_table(table, by=by).read_all().column(by).to_pylist()]


def whole_numbers_beyond_64_bits() -> None:
    frame = pd.read_csv(io.StringIO("\n".join(["a", *map(str, LONG)])))
    assert str(frame.dtypes["a"]) == "object", "read_csv() makes them of long ids"
    refused(lambda: ecosort.sort_table(frame, by="a"), "column 'a'", "decimal128(38, 0)")
    assert column(frame.astype({"a": pd.ArrowDtype(pa.decimal128(38, 0))})) == sorted(LONG)
    numbers = pl.DataFrame({"a": LONG}, schema={"a": pl.Int128})
    for table in (numbers, numbers.lazy()):
        refused(functools.partial(ecosort.sort_table, table, by="a"), "column 'a'", "Int128", "pl.Decimal(38, 0)")
    assert column(numbers.cast(pl.Decimal(38, 0))) == sorted(LONG)
    assert column(duckdb.sql(f"select unnest({LONG})::hugeint a")) == sorted(LONG)


def types_of_duckdb() -> None:
    refused(lambda: ecosort.sort_table(duckdb.sql("select '7'::bignum a"), by="a"), "column 'a'", "bignum", "cannot be a key")
    for kind, value in (("timetz", "'12:00:00+01'"), ("uhugeint", 2**128 - 1)):
        relation = duckdb.sql(f"select {value}::{kind} a, 1 b")
        for by in "ab":
            refused(functools.partial(ecosort.sort_table, relation, by=by), "column 'a'", "DuckDB exports")


def readers_believe_our_claim() -> None:
    """Polars knows that the column is sorted, and DataFusion leaves its sort out; without the claim neither does."""
    rows = pa.table({"a": [3, 1, None, 2], "n": [0, 1, 2, 3]})
    with tempfile.TemporaryDirectory() as place:
        ours, plain = f"{place}/ours.parquet", f"{place}/plain.parquet"
        ecosort.sort(rows, ours, by="a")
        assert ecosort.check_table(ours).by == (("a", "ascending", "last"),)
        pq.write_table(pq.read_table(ours), plain)
        seen = []
        for path in (ours, plain):
            context = datafusion.SessionContext()
            context.register_parquet("t", path)
            plan = context.sql("select * from t order by a").execution_plan().display_indent()
            seen.append((pl.read_parquet(path)["a"].flags["SORTED_ASC"], "SortExec" in plan))
        assert seen == [(True, False), (False, True)], seen


if __name__ == "__main__":
    for check in (whole_numbers_beyond_64_bits, types_of_duckdb, readers_believe_our_claim):
        check()
        print(f"{check.__name__}: as it should be")
