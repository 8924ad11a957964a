#!/usr/bin/env bash
# In short:  an `IN` list of four numbers does not find -0.0, one of three does.
# Package:   datafusion 55.0.0 (PyPI).
# One would guess: `x IN (0.0, 5, 6, 7)` returns at least the rows that `x IN (0.0, 5, 6)` returns.
# What happens: up to three constants become a chain of `x = ...`, which takes -0.0 and 0.0 as equal. From four constants on the values are looked up
#   by their bits, and -0.0 is no member any more. NOT IN errs the other way and keeps the -0.0 row. (=, joins, GROUP BY and IN (SELECT ...) all take the two zeros
#   as equal; ORDER BY and RANK do not.)
# Why it matters: adding a value to a list of keys removes rows. -0.0 comes from rounding small negative numbers and from multiplying
#   zero by a negative number, so real columns hold it.
# Source: datafusion-optimizer, simplify_expressions/expr_simplifier.rs, THRESHOLD_INLINE_INLIST = 3.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q datafusion==55.0.0 pyarrow==25.0.1; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import datafusion
import pyarrow as pa

context = datafusion.SessionContext()
context.register_record_batches("t", [pa.table({"x": [-0.0, 0.0, -1.0, 1.0]}).to_batches()])
expected = {
    "x = 0.0": 2,
    "x IN (0.0, 5.0, 6.0)": 2,
    "x IN (0.0, 5.0, 6.0, 7.0)": 1,
    "x <> 0.0": 2,
    "x NOT IN (0.0, 5.0, 6.0, 7.0)": 3,
    "x IN (SELECT CAST(0.0 AS DOUBLE))": 2,
}
seen = {where: context.sql(f"select count(*) as n from t where {where}").to_pydict()["n"][0] for where in expected}
print("rows: -0.0, 0.0, -1.0, 1.0")
for where, rows in seen.items():
    print(f"where {where:34} {rows} rows")
sys.exit(seen != expected)
PYTHON
