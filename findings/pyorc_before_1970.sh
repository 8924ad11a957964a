#!/usr/bin/env bash
# In short:  a predicate hides rows of ORC files, as the statistics are one second late.
# Package:   pyorc 0.12.0 (PyPI).
# One would guess: a predicate (a "search argument") makes reading cheaper; it never hides a row that matches.
# What happens: for a time before 1970 with a fraction of a second the writer stores statistics that are one second too late, beside a value that
#   is right. A predicate skips every stripe by these numbers: `t == x` and `t <= x` return none of 3000 rows that hold x.
# Why it matters: the rows are in the file and a full read shows them. In a file that is sorted by time each stripe is skipped wrongly near its
#   lower end only, so the loss is some rows of a range, never noticed without a full read beside it.
# Source: pyorc.Column.statistics and the `predicate` argument of pyorc.Reader, both printed below; values of 1970 and later are right.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: pyorc==0.12.0; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import datetime
import io
import sys

import pyorc

seen = []
for year in (1960, 1980):
    moment = datetime.datetime(year, 1, 1, 0, 0, 0, 500_000, tzinfo=datetime.timezone.utc)
    file = io.BytesIO()
    with pyorc.Writer(file, "struct<t:timestamp>") as writer:
        for _ in range(3000):
            writer.write((moment,))
    value = next(iter(pyorc.Reader(file)))[0]
    least = pyorc.Reader(file)[1].statistics["minimum"]
    column = pyorc.PredicateColumn(pyorc.TypeKind.TIMESTAMP, "t")
    rows = {name: len(list(pyorc.Reader(file, predicate=test))) for name, test in (("==", column == moment), ("<=", column <= moment))}
    everything = len(list(pyorc.Reader(file)))
    seen.append((value == moment, least - moment, rows["=="], rows["<="], everything))
    print(f"written {moment}, read {value}, minimum in the statistics {least}")
    print(f"  rows without a predicate {everything}, with t == x {rows['==']}, with t <= x {rows['<=']}")
second, none = datetime.timedelta(seconds=1), datetime.timedelta(0)
sys.exit(seen != [(True, second, 0, 0, 3000), (True, none, 3000, 3000, 3000)])
PYTHON
