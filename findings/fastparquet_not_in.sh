#!/usr/bin/env bash
# In short:  the filter `not in` loses the neighbours of what it excludes.
# Package:   fastparquet 2026.9.0 with pandas 3.1.1, numpy 2.4.6 and cramjam 2.14.0 (PyPI).
# One would guess: ("x", "not in", [5]) returns all rows but those of 5. Without `row_filter` it may return more, whole row groups; never fewer.
# What happens: a row group is skipped as a whole if its smallest OR its largest value is in the list. Of the groups 5 6 7, 8 9 5 and 1 5 9 the first
#   two are skipped, and 6, 7, 8 and 9 are lost; the third one comes whole. `row_filter=True` does not bring them back. The filter ("x", "!=", 5) of the same package is right.
# Why it matters: in a sorted file each value lies at the border of a row group at most twice, so what is lost is a group here and there: excluding one
#   customer, one day or one sensor removes a block of others. How many depends on how the file was cut, and shuffled small tests pass.
# Source:    fastparquet/api.py, filter_not_in.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: fastparquet==2026.9.0 pandas==3.1.1 numpy==2.4.6 cramjam==2.14.0; } >&2 || exit 2
cd "$dir" && "$dir/venv/bin/python" - <<'PYTHON'
import sys

import fastparquet
import pandas

values = [5, 6, 7, 8, 9, 5, 1, 5, 9]
fastparquet.write("groups.parquet", pandas.DataFrame({"x": values}), row_group_offsets=[0, 3, 6], stats=True)
file = fastparquet.ParquetFile("groups.parquet")
print("groups:                ", [group["x"].tolist() for group in file.iter_row_groups()])


def found(operator, value, row_filter):
    rows = file.to_pandas(filters=[("x", operator, value)], row_filter=row_filter)["x"].tolist()
    print(f"{operator:6} {value!s:4} row_filter={row_filter!s:5}", rows)
    return rows


whole, rows, unequal = found("not in", [5], False), found("not in", [5], True), found("!=", 5, True)
sys.exit(not (whole == [1, 5, 9] and rows == [1, 9] and unequal == [6, 7, 8, 9, 1, 9]))
PYTHON
