#!/usr/bin/env bash
# In short:  one missing value, and the other identifiers of the column are read as their neighbours.
# Package:   tsfile 2.5.0 with pandas 3.1.1 and numpy 2.4.6 (PyPI), Apache TsFile, the columns of time series of IoTDB.
# One would guess: a column of 64-bit integers is read as such. Its type in the result is Int64, the one of pandas that knows missing values.
# What happens: to_dataframe() makes floats of a column with a missing value first, and Int64 of the floats. 9007199254740993 and ..994 and ..995 are read as
#   ..992, ..994 and ..996. Without a missing value, and row by row with TsFileReader, they are right, so the file has them. Nothing is raised.
# Why it matters: ids of messages and devices and times in nanoseconds have 17 to 19 digits. Neighbours share a key, a join misses or doubles them, the
#   order of two neighbours is lost; the type says Int64, and the mark of what is missing is right, so a look at the table finds nothing. A test without a gap,
#   or with short numbers, passes.
# Source:    tsfile.to_dataframe and TsFileReader.query_table, beside each other below.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: tsfile==2.5.0 numpy==2.4.6 pandas==3.1.1; } >&2 || exit 2
cd "$dir" && venv/bin/python - <<'PYTHON'
import sys

import pandas as pd
from tsfile import TsFileReader, dataframe_to_tsfile, to_dataframe


def read(name, ids):
    table = pd.DataFrame({"time": range(len(ids)), "id": pd.array(ids, dtype="Int64")})
    dataframe_to_tsfile(table, name, table_name="rows")
    reader, by_row = TsFileReader(name), []
    rows = reader.query_table("rows", ["id"], 0, 100)
    while rows.next():
        by_row.append(None if rows.is_null_by_index(2) else rows.get_value_by_index(2))
    rows.close()
    reader.close()
    column = to_dataframe(name)["id"]
    as_table = [None if pd.isna(value) else int(value) for value in column]
    print(f"written {ids}\n  row by row {by_row}\n  as a table {as_table}, type {column.dtype}")
    return by_row == ids, as_table, str(column.dtype)


first = 2**53 + 1
full, gap = read("full.tsfile", [first, first + 1, first + 2]), read("gap.tsfile", [first, first + 1, first + 2, None])
sys.exit(full != (True, [first, first + 1, first + 2], "Int64") or gap != (True, [first - 1, first + 1, first + 3, None], "Int64"))
PYTHON
