#!/usr/bin/env bash
# In short:  a sketch of quantiles refuses 2^31 alone, and takes it as -2147483648 from an array.
# Package:   datasketches 5.2.0 with numpy 2.4.6 (PyPI), Apache DataSketches.
# One would guess: kll_ints_sketch holds whole numbers, or refuses those that are too large for it, as its update(2**31) does with a TypeError.
# What happens: update() of a numpy array takes 64-bit integers and keeps the low 32 bits of each. 2^33 + 5 becomes 5, a time in milliseconds any
#   number of either sign. Nothing is raised, and the count is right. quantiles_ints_sketch and req_ints_sketch do the same; kll_doubles_sketch keeps
#   the numbers.
# Why it matters: quantiles of a sample or a sketch are where a sort or a shuffle by ranges is cut. With 64-bit identifiers, times or byte offsets all
#   borders lie between -2^31 and 2^31, so one partition gets every row; as a statistic of latencies in nanoseconds the median and the maximum are
#   plain wrong, and a test with single values raises an error instead.
# Source:    the signatures that the TypeError names: update(item: int) and update(array: ndarray[dtype=int32]), printed below.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: datasketches==5.2.0 numpy==2.4.6; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import datasketches
import numpy as np

milliseconds = np.arange(1_700_000_000_000, 1_700_000_100_000, 100)
seen = {}
for name in ("kll_ints_sketch", "kll_doubles_sketch"):
    sketch = getattr(datasketches, name)(200)
    sketch.update(milliseconds)
    seen[name] = sketch.n, int(sketch.get_min_value()), int(sketch.get_max_value())
    print(f"{name:18} {len(milliseconds)} times from {milliseconds[0]} to {milliseconds[-1]} -> {sketch.n} values from {seen[name][1]} to {seen[name][2]}")
try:
    datasketches.kll_ints_sketch(200).update(int(milliseconds[0]))
    refused = False
except TypeError as error:
    refused = True
    print("update() of the first one alone:", str(error).splitlines()[0])
    print("\n".join(line for line in str(error).splitlines() if "update(self" in line))
low = milliseconds.astype(np.int32)
sys.exit(not (refused and seen == {"kll_ints_sketch": (1000, low.min(), low.max()), "kll_doubles_sketch": (1000, milliseconds[0], milliseconds[-1])}))
PYTHON
