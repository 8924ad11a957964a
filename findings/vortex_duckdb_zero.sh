#!/usr/bin/env bash
# In short:  `x = 0` loses the rows of -0.0 once a table is a Vortex file, and `x < 0` returns them.
# Packages:  vortex-data 0.93.0, duckdb 2.0.1 and pyarrow 26.0.1 (PyPI).
# One would guess: `select ... where x = 0` finds the same rows in a table and in a Vortex file that holds this table and is queried as an Arrow
#   dataset.
# What happens: DuckDB hands `=` and `<` to the dataset and does not repeat them. Vortex compares floats by their total order, in which -0.0 lies
#   below 0.0: `x = 0` loses every row of -0.0, and `x < 0` returns them. `x >= 0` and `x <> 0` are right. With a filter of pyarrow (`field("x") ==
#   0`) the same rows are lost, and `x > 2` accepts NaN as well.
# Why it matters: neither program is wrong by its own rules, and each passes its own tests. Two neighbouring ranges, `x < 0` and `x >= 0`, share the
#   rows of -0.0, so a table that is split by ranges repeats rows, and a join or a deduplication by `x = 0` misses them. -0.0 comes from rounding
#   small negative numbers.
# Source:    vortex.dataset.VortexDataset (the `filter` of to_table and scanner); DuckDB's guide "SQL on Apache Arrow", which says that filters are
#   pushed into a dataset.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: vortex-data==0.93.0 duckdb==2.0.1 pyarrow==26.0.1; } >&2 || exit 2
cd "$dir" && venv/bin/python - <<'PYTHON'
import sys

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import vortex
import vortex.io

table = pa.table({"x": [-0.0, 0.0, 1.0, 5.0, -5.0, float("nan")]})
vortex.io.write(vortex.array(table), "rows.vortex")
dataset = vortex.open("rows.vortex").to_dataset()
seen = {}
for where in ("x = 0", "x < 0", "x >= 0", "x <> 0"):
    seen[where] = tuple(duckdb.sql(f"select count(*) from {source} where {where}").fetchall()[0][0] for source in ('"table"', "dataset"))
x = pc.field("x")
for name, condition in (("pyarrow, x == 0", x == 0.0), ("pyarrow, x > 2", x > 2.0)):
    seen[name] = (table.filter(condition).num_rows, dataset.to_table(filter=condition).num_rows)
print("x: -0.0, 0.0, 1.0, 5.0, -5.0, NaN")
for where, (memory, file) in seen.items():
    print(f"{where:16} {memory} rows of the table, {file} of the file")
expected = {"x = 0": (2, 1), "x < 0": (1, 2), "x >= 0": (5, 5), "x <> 0": (4, 4), "pyarrow, x == 0": (2, 1), "pyarrow, x > 2": (1, 2)}
sys.exit(seen != expected)
PYTHON
