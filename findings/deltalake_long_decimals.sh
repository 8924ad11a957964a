#!/usr/bin/env bash
# In short:  a table does not find the decimal that is in it, and deletes nothing where this row is to be deleted.
# Package:   deltalake 1.6.6 with pyarrow 26.0.1 and pandas 3.1.1 (PyPI), Delta Lake without Spark; polars 2.1.0 as a reader.
# One would guess: decimals are exact, so x = 123456789.0123456789 finds the row that was written with this value of decimal(38, 10).
# What happens: the smallest and the largest value of each file are kept in the log as JSON numbers, which are read as 64-bit floats:
#   123456789.01234567. A filter skips the file, as the value lies outside. Reading by pyarrow, pandas, SQL or Polars returns no row, and delete()
#   deletes none. Without a filter the row is there. 5.0000000001 is found in all ways.
# Why it matters: keys and amounts with more than 15 digits (rates, tokens, 20-digit identifiers) are exactly what decimals are for. A
#   request to delete somebody's data reports 0 rows, as if it had been done before, and an update of such a row changes nothing. Where a file holds many rows only its
#   smallest and largest are concerned, so tests pass.
# Source:    the statistics in _delta_log/*.json, printed below; deltalake.DeltaTable.to_pyarrow_dataset, to_pandas, delete.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: deltalake==1.6.6 pyarrow==26.0.1 pandas==3.1.1 numpy==2.4.6 polars==2.1.0; } >&2 || exit 2
cd "$dir" && "$dir/venv/bin/python" - <<'PYTHON'
import json
import pathlib
import sys
from decimal import Decimal

import deltalake
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds

seen = []
for text in ("5.0000000001", "123456789.0123456789"):
    key = Decimal(text)
    rows = pa.table({"x": pa.array([key], pa.decimal128(38, 10)), "n": [1]})
    deltalake.write_deltalake(text, rows)
    table = deltalake.DeltaTable(text)
    lines = [line for path in pathlib.Path(text, "_delta_log").glob("*.json") for line in path.read_text().splitlines()]
    [stats] = [json.loads(line)["add"]["stats"] for line in lines if '"add"' in line]
    found = {
        "all rows": table.to_pyarrow_table().num_rows,
        "pyarrow": table.to_pyarrow_dataset().to_table(filter=ds.field("x") == rows["x"][0]).num_rows,
        "pandas": len(table.to_pandas(filters=[("x", "=", key)])),
        "SQL": deltalake.QueryBuilder().register("t", table).execute(f"select * from t where x = {text}").read_all().num_rows,
        "Polars": pl.scan_delta(text).filter(pl.col("x") == pl.lit(key)).collect().height,
    }
    deleted = deltalake.DeltaTable(text).delete(f"x = {text}")["num_deleted_rows"]
    left = deltalake.DeltaTable(text).to_pyarrow_table().num_rows
    print(f"x = {text}: {found}; delete deletes {deleted}, {left} left")
    print("  in the log:", stats)
    seen.append((*found.values(), left))
sys.exit(seen != [(1, 1, 1, 1, 1, 0), (1, 0, 0, 0, 0, 1)])
PYTHON
