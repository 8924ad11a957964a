#!/usr/bin/env bash
# In short:  behind one wild reading the moving average is a third of the load for ever, if one more package is installed.
# Package:   xarray 2026.9.0 with numbagg 0.9.6, numba 0.68.1 and numpy 2.4.6 (PyPI), labelled arrays and the fast functions that they use if they find them.
# One would guess: a window is an average of its own readings: once a wild one has left it, all is as before, and a package for speed changes no result.
# What happens: numbagg keeps one sum, adds the reading that comes and subtracts the one that goes. 3.4e38 swallows the others, and what is left of the sum
#   behind it is wrong by them, to the end of the series: 230 W become 76.67 W with a window of three, and NaN from the first infinite reading on. Without
#   numbagg, or with xarray.set_options(use_numbagg=False), they are 230 W. Nothing is raised or logged.
# Why it matters: 3.4e38 and infinity are what a register that is no float, or not ready, can be read as. One such reading changes each average behind it, days
#   later too, into one that looks like a lower load. The same script on a machine with other packages gives another result, and medians and maxima are right.
# Source:    xarray/computation/rolling.py, DataArrayRolling._array_reduce (use_numbagg); numbagg.move_mean. xarray's extra "accel" installs numbagg.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: xarray==2026.9.0 numpy==2.4.6; } >&2 || exit 2
cat > "$dir/average.py" <<'PYTHON'
import numpy as np
import xarray as xr

for wild in (231.0, 3.4e38, np.inf):
    watts = xr.DataArray(np.full(1000, 230.0), dims="second")
    watts[10] = wild
    window = watts.rolling(second=3)
    print(f"{wild:g}: {window.mean()[-1].item():.2f} {window.max()[-1].item():.0f}", end="  ")
PYTHON
alone=$("$dir/venv/bin/python" "$dir/average.py") || exit 1
"$dir/venv/bin/pip" install -q --only-binary :all: numbagg==0.9.6 numba==0.68.1 numpy==2.4.6 >&2 || exit 2
with=$("$dir/venv/bin/python" -W ignore "$dir/average.py") || exit 1
echo "1000 readings of 230 W but for the eleventh: average and maximum of the last three, by the eleventh"
echo "xarray alone:  $alone"
echo "with numbagg:  $with"
[ "$alone|$with" = "231: 230.00 230  3.4e+38: 230.00 230  inf: 230.00 230  |231: 230.00 230  3.4e+38: 76.67 230  inf: nan 230  " ]
