#!/usr/bin/env bash
# In short:  DuckDB orders "low", "medium", "high" as they are meant in a DataFrame, and by the alphabet in the Arrow table of the same rows.
# Packages:  duckdb 2.0.0, pyarrow 26.0.1, polars 2.1.0 and pandas 3.1.1 (PyPI).
# One would guess: an ordered category keeps its order on its way: Arrow's type says ordered=1, the table and the Parquet file have the levels in their order, and
#   pandas reads them back as they were.
# What happens: pandas apart, none of those that read the type uses the flag. DuckDB makes an ENUM of the DataFrame's column, and of the Arrow table's a VARCHAR. pyarrow's
#   sort_indices and polars' sort compare the texts; so does DuckDB with the Parquet file. All of these give high, low, medium.
# Why it matters: a query gives other rows first (ORDER BY, LIMIT, min, max) once its frame is handed over as Arrow, which is what pipelines do for speed, or
#   stored as Parquet between two steps. Levels whose alphabet is their order (A, B, C) pass every test.
# Source:    the format's Schema.fbs, DictionaryEncoding.isOrdered ("for ordered-categorical, for example, so users know whether the dictionary's order is
#   semantically meaningful"); pyarrow.DictionaryType.ordered; duckdb, "SQL on Arrow".
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --only-binary :all: duckdb==2.0.0 pyarrow==26.0.1 polars==2.1.0 pandas==3.1.1; } >&2 || exit 2
venv/bin/python - <<'PYTHON'
import sys

import duckdb
import pandas
import polars
import pyarrow.compute
import pyarrow.parquet

levels = ["low", "medium", "high"]
frame = pandas.DataFrame({"level": pandas.Categorical(["high", "low", "medium"], levels, ordered=True)})
frame.to_parquet("levels.parquet")
rows = pyarrow.parquet.read_table("levels.parquet")
column = rows["level"].combine_chunks()
query = "select level from {} order by level"


def of(source: str) -> list[str]:
    return [row[0] for row in duckdb.sql(query.format(source)).fetchall()]


as_meant = {
    "pandas": frame.sort_values("level")["level"].tolist(),
    "pandas, from Parquet": pandas.read_parquet("levels.parquet").sort_values("level")["level"].tolist(),
    "DuckDB, of the DataFrame": of("frame"),
}
by_alphabet = {
    "DuckDB, of the Arrow table": of("rows"),
    "DuckDB, of Parquet": of("'levels.parquet'"),
    "pyarrow": column.take(pyarrow.compute.sort_indices(column)).to_pylist(),
    "polars": polars.from_arrow(rows).sort("level")["level"].to_list(),
}
print("the type:", rows.schema.field("level").type)
for name, order in (as_meant | by_alphabet).items():
    print(f"{name}: {' '.join(order)}")
same = all(order == levels for order in as_meant.values()) and all(order == sorted(levels) for order in by_alphabet.values())
sys.exit(not (same and rows.schema.field("level").type.ordered))
PYTHON
