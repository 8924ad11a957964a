#!/usr/bin/env bash
# In short:  the maximum of a list of gaps is minus infinity, and that of all lists NaN.
# Package:   awkward 2.14.0 with numpy 2.4.6 (PyPI), arrays of lists of different lengths.
# One would guess: max() treats NaN alike along each axis: it returns NaN, as its help says ("the same as NumPy's amax if all lists ... have the same
#   length"), as sum() and mean() do, and as the function nanmax() beside it, which skips NaN, suggests.
# What happens: the maximum of everything is NaN, but the maximum of each list skips NaN, and a list of nothing but NaN has the maximum -inf, its
#   minimum is inf. argmax() of a list skips NaN as well. numpy's maximum along the same axis of the same numbers is NaN.
# Why it matters: peaks per hour, per run or per customer are taken exactly so. An hour with a gap shows the peak of the rest, and a meter that was off
#   -inf, which no check for NaN finds; sorted, the broken hour is the lowest of all, and a sum over the peaks is -inf.
# Source:    the help of ak.max and ak.nanmax; both axes are printed below.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: awkward==2.14.0 awkward-cpp==57 numpy==2.4.6; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import awkward
import numpy as np

nan = np.nan
watts = [[230.0, nan, 231.0], [nan, nan, nan], [229.0, 228.0, 232.0]]
lists, table = awkward.Array(watts), np.array(watts)
seen = {}
for name in ("max", "min", "sum", "nanmax"):
    function = getattr(awkward, name)
    seen[name] = str(function(lists)), str(function(lists, axis=1).to_list())
    print(f"{name + '()':9} of all: {seen[name][0]:6} of each list: {seen[name][1]:22} numpy: {getattr(np, name)(table, axis=1) if name != 'nanmax' else ''}")
right = {
    "max": ("nan", "[231.0, -inf, 232.0]"),
    "min": ("nan", "[230.0, inf, 228.0]"),
    "sum": ("nan", "[nan, nan, 689.0]"),
    "nanmax": ("232.0", "[231.0, None, 232.0]"),
}
sys.exit(seen != right)
PYTHON
