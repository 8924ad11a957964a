#!/usr/bin/env bash
# In short:  the mean of two positive 32-bit counts is negative.
# Package:   scipp 26.8.0 with numpy 2.4.6 (PyPI), labelled arrays of measurements with units, made for detectors that count.
# One would guess: a sum of 32-bit integers is taken in 64 bits, as numpy's is, and a mean, which is a 64-bit float, in floats. The help of sum() says
#   that sums of 32-bit floats are taken in double precision.
# What happens: the sum is taken in 32 bits and wraps, and the mean is that sum divided: two counts of 2000000000 have the sum -294967296 and the mean
#   -147483648. groupby().sum() and groupby().mean() do the same in each group. Nothing is raised. 64-bit counts are right.
# Why it matters: counts of a long run, times in milliseconds and power in milliwatts fit 32 bits one by one, and their sums don't. Three large counts
#   give a positive sum that is merely too small, which looks like a weak signal.
# Source:    scipp.sum and its help; numpy.sum of the same array beside it.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: scipp==26.8.0 numpy==2.4.6; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
import scipp

seen = []
for name in ("int32", "int64"):
    for values in ([2_000_000_000] * 2, [2_000_000_000] * 3):
        array = scipp.array(dims=["hit"], values=np.array(values, dtype=name), unit="counts")
        grouped = scipp.DataArray(array, coords={"run": scipp.array(dims=["hit"], values=[1] * len(values))}).groupby("run")
        results = scipp.sum(array).value, scipp.mean(array).value, grouped.mean("hit").values[0]
        seen.append([int(result) for result in results])
        numbers = np.array(values, dtype=name)
        print(f"{len(values)} counts of 2000000000 in {name}: sum {seen[-1][0]}, mean {seen[-1][1]}, of a group {seen[-1][2]}; numpy: {numbers.sum()}, {numbers.mean():.0f}")
wrapped = [[-294967296, -147483648, -147483648], [1705032704, 568344234, 568344234]]
sys.exit(seen != [*wrapped, [4 * 10**9, 2 * 10**9, 2 * 10**9], [6 * 10**9, 2 * 10**9, 2 * 10**9]])
PYTHON
