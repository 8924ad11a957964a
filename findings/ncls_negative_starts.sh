#!/usr/bin/env bash
# In short:  the range from 4 to 5 overlaps that from -5 to -1, and 3 to 6 does not overlap -3 to 8.
# Package:   ncls 0.0.71 with numpy 1.26.4 (PyPI), a nested containment list of intervals, also below PyRanges.
# One would guess: starts and ends are signed integers of 64 bits, so intervals below 0 overlap as others do, or are refused.
# What happens: a negative start is taken for a strand that is read backward: the interval is mirrored at 0, in the list and in a query. -5 to -1 is 1 to 5, and
#   -3 to 8 is -8 to 3. A query is answered with intervals far from it, and not with those that it lies in. Moved up by 100, all are answered right.
#   No error. Its author has said in a thread that negative positions are not meant; its README does not.
# Why it matters: times relative to an event, differences to a reference, and times before 1970 are negative. A join by overlap has rows too many and
#   too few, and tests with positive times pass.
# Source:    ncls/src/intervaldb.c, reorient_intervals, and "NEED TO CONVERT TO POSITIVE ORIENTATION" at a start below 0.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: ncls==0.0.71 numpy==1.26.4; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import numpy
from ncls import NCLS

CASES = [([(-5, -1), (3, 8)], (4, 5)), ([(-3, 8)], (3, 6)), ([(0, 11)], (-8, -4))]


def found(intervals, query, move):
    starts, ends = (numpy.array(column, dtype=numpy.int64) + move for column in zip(*intervals))
    index = NCLS(starts, ends, numpy.arange(len(intervals)))
    return sorted(intervals[row] for _, _, row in index.find_overlap(query[0] + move, query[1] + move))


same = []
for intervals, query in CASES:
    true = [one for one in intervals if one[0] < query[1] and query[0] < one[1]]
    seen, moved = found(intervals, query, 0), found(intervals, query, 100)
    same += [seen == true, moved == true]
    print(f"{query} in {intervals}: {seen}; all moved up by 100: {moved}; true: {true}")
sys.exit(same != [False, True] * 3)
PYTHON
