#!/usr/bin/env bash
# In short:  one NaN among the keys, and a join loses all keys behind it.
# Package:   petl 1.7.30 (PyPI), tables for extraction and loading, with a sort that works on disk.
# One would guess: a row whose key is NaN has no partner, and all others have theirs, as hashjoin() of the same package has it.
# What happens: join(), leftjoin(), outerjoin() and antijoin() sort both tables and merge them. NaN is neither less nor more than any key, so the merge
#   ends at it: 1, NaN, 2, 3 joined with 1, 2, 3 has one row of three. leftjoin() has them with None, and antijoin() ("rows without a partner") lists the
#   rows 2 and 3, which have one. hashjoin(), hashleftjoin() and hashantijoin() are right. Nothing is raised.
# Why it matters: NaN is what an empty cell becomes where a column is converted to numbers. How many rows are lost depends on where the NaN was in the
#   input, so each delivery loses another part; the rows that antijoin() names are then inserted once more, or deleted.
# Source:    petl/transform/joins.py (iterjoin, iterantijoin: both sides are advanced by < of their keys) and comparison.py, Comparable.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q petl==1.7.30; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import petl

cells = [["meter", "kWh"], ["1", 10], ["", 20], ["2", 30], ["3", 40]]
readings = petl.convert(cells, "meter", lambda cell: float(cell or "nan"))
places = [["meter", "place"], [1.0, "cellar"], [2.0, "roof"], [3.0, "garage"]]
seen = {}
for name in ("join", "hashjoin", "leftjoin", "hashleftjoin", "antijoin", "hashantijoin"):
    rows = list(getattr(petl, name)(readings, places, key="meter"))[1:]
    seen[name] = [row[1] for row in rows if len(row) == 2 or row[2] is not None]
    print(f"{name:12}: {rows}")
expected = {"join": [10], "hashjoin": [10, 30, 40], "leftjoin": [10], "hashleftjoin": [10, 30, 40], "antijoin": [20, 30, 40], "hashantijoin": [20]}
sys.exit(seen != expected)
PYTHON
