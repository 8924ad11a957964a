#!/usr/bin/env bash
# In short:  DuckDB and DataFusion lose rows with NaN, depending on the row group.
# Packages:  duckdb 2.0.1 and datafusion 55.0.0, with a file from pyarrow 25.0.1 (PyPI).
# One would guess: a query returns the same rows from a Parquet file as from the same table in memory.
# What happens: both engines order NaN above every number, so `x > 5` and `x = NaN` accept NaN. The Parquet format keeps NaN out of
#   the minimum and maximum of a row group, and both engines skip a row group by these two numbers alone. All rows with NaN in a group whose numbers are
#   small are lost. In DuckDB even isnan(x) finds none of them.
# Why it matters: how many rows a filter returns depends on the row group into which the writer put them. A sort by x before writing
#   moves NaN beside the large numbers, so the sorted and the unsorted copy of one table give different counts.
# Source: apache/parquet-format, src/main/thrift/parquet.thrift, ColumnOrder: "When looking for NaN values, min and max should be ignored".
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q duckdb==2.0.1 datafusion==55.0.0 pyarrow==25.0.1; } >&2 || exit 2
cd "$dir" && venv/bin/python - <<'PYTHON'
import sys

import datafusion
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

nan = float("nan")
table = pa.table({"x": [1.0, nan, 2.0, 10.0, 11.0, 12.0, 3.0, nan, 4.0]})
pq.write_table(table, "rows.parquet", row_group_size=3)
context = datafusion.SessionContext()
context.register_parquet("file", "rows.parquet")
context.register_record_batches("memory", [table.to_batches()])


def count(engine, place, where):
    if engine == "duckdb":
        source = "'rows.parquet'" if place == "file" else '"table"'
        return duckdb.sql(f"select count(*) from {source} where {where}").fetchall()[0][0]
    return context.sql(f"select count(*) as n from {place} where {where}").to_pydict()["n"][0]


seen = {}
for engine in ("duckdb", "datafusion"):
    for where in ("x > 5", "x = 'nan'::double", "isnan(x)"):
        seen[engine, where] = counts = tuple(count(engine, place, where) for place in ("memory", "file"))
        print(f"{engine:10} where {where:18} rows from memory {counts[0]}, from the file {counts[1]}")
expected = {
    ("duckdb", "x > 5"): (5, 3), ("duckdb", "x = 'nan'::double"): (2, 0), ("duckdb", "isnan(x)"): (2, 0),
    ("datafusion", "x > 5"): (5, 3), ("datafusion", "x = 'nan'::double"): (2, 0), ("datafusion", "isnan(x)"): (2, 2),
}
sys.exit(seen != expected)
PYTHON
