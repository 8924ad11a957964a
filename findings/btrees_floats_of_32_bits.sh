#!/usr/bin/env bash
# In short:  a sorted map of 64-bit integers to floats keeps seven digits of each float.
# Package:   BTrees 6.5 (PyPI), the sorted containers of ZODB.
# One would guess: LFBTree, whose keys have 64 bits, and family64.IF hold Python's floats, which have 64 bits as well.
# What happens: F is C's float of 32 bits in all of them; only the integers become wider. 16777217.0 is read back as 16777216.0, 0.1 as
#   0.10000000149011612 and 1700000000.5 (a time in seconds) as 1700000000.0, as are all times of the two minutes around it. Numbers that don't fit an
#   integer raise an error, floats are rounded silently. In OOBTree and LOBTree all are kept.
# Why it matters: an index by time or by a meter's reading is what such a map is for. A counter of energy in watt-hours stands still from 16,777,216 on,
#   as adding 1 to what was read is lost; sums drift, and a value that is looked for by == is not there. Powers of two and small numbers pass every test.
# Source:    BTrees/Interfaces.py, IIntegerFloatBTreeModule ("values are floats"); the values are printed below.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: BTrees==6.5; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

from BTrees import family64
from BTrees.LFBTree import LFBTree
from BTrees.LOBTree import LOBTree

numbers = [16777217.0, 0.1, 1700000000.5, 1700000060.5, 123456.789]
read = {}
for name, kind in (("LFBTree", LFBTree), ("family64.IF", family64.IF.BTree), ("LOBTree", LOBTree)):
    read[name] = list(kind(dict(enumerate(numbers))).values())
    print(f"{name:11}: {read[name]}")
meter = LFBTree({1: 16777210.0})
for _ in range(1000):
    meter[1] += 1
print(f"a counter at 16777210 that grows by 1 a thousand times: {meter[1]}")
sys.exit(not (read["LFBTree"] == read["family64.IF"] and read["LFBTree"][0] == 16777216.0 and read["LOBTree"] == numbers and meter[1] == 16777216.0))
PYTHON
