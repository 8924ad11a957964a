#!/usr/bin/env bash
# In short:  a filter finds other rows once the table is sorted by the column.
# Package:   chdb 4.4.0 (PyPI), ClickHouse 26.9 in the process.
# One would guess: the sort key of a table, or an index, decides how fast a filter is, and not which rows it returns.
# What happens: to skip parts of a table, NOT (x > 5) is turned into x <= 5. For a NaN the first is true and the second is false. A table without a key
#   returns the rows with NaN. One that is sorted by x loses those whose part has no other row to return, and so does one with a skip index minmax on x, and
#   a Parquet file, by the row groups. Which of them are lost depends on what lies beside them.
# Why it matters: "not above the limit" is how one asks for the gaps as well. The copy of a table with another ORDER BY, or one more index that was to make it
#   fast, returns another number of rows, and nothing says so. "isNaN(x) or x <= 5" is right everywhere, and so is a column without NaN.
# Source:    ClickHouse, src/Storages/MergeTree/KeyCondition.cpp, inverse_relations (a change of it for floats was closed without being merged).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: chdb==4.4.0; } >&2 || exit 2
cd "$dir" && venv/bin/python - <<'PYTHON'
import sys

from chdb import session

database = session.Session("files")


def ask(text):
    return str(database.query(text, "CSV")).strip()


ask("create database d engine = Atomic")
ask("create table d.plain (i UInt32, x Float64) engine = Memory")
ask("insert into d.plain values (1,1),(2,nan),(3,2),(4,10),(5,nan),(6,12),(7,3),(8,11),(9,4)")
ask("create table d.sorted (i UInt32, x Float64) engine = MergeTree order by x settings index_granularity = 1")
ask("create table d.indexed (i UInt32, x Float64, index a x type minmax granularity 1) engine = MergeTree order by i settings index_granularity = 3")
for name in ("sorted", "indexed"):
    ask(f"insert into d.{name} select * from d.plain")
ask("select * from d.plain into outfile 'rows.parquet' format Parquet settings output_format_parquet_row_group_size = 3")
filters = ("x <= 5", "not (x > 5)", "isNaN(x) or x <= 5")
seen = {}
for source in ("d.plain", "d.sorted", "d.indexed", "file('rows.parquet')"):
    seen[source] = [int(ask(f"select count() from {source} where {where}")) for where in filters]
    print(f"{source:21}", dict(zip(filters, seen[source])))
database.close()
sys.exit(list(seen.values()) != [[4, 6, 6], [4, 4, 6], [4, 5, 6], [4, 5, 6]])
PYTHON
