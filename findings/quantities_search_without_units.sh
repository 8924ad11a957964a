#!/usr/bin/env bash
# In short:  1 km is put in front of 100 m by a search, and 1 km and 1 m are equal arrays.
# Package:   quantities 0.16.4 with numpy 2.4.6 (PyPI), numbers with units.
# One would guess: a search for 1 km among borders in metres converts it, or raises an error, as comparisons (`<`, `==`) and the method searchsorted do.
# What happens: NumPy's functions take the bare numbers: searchsorted, digitize, histogram, interp and array_equal compare the 1 of 1 km with
#   100 and 2000 m. interp at 1 km of a line from (0 m, 0) to (2000 m, 10) is 0.005 in place of 5. concatenate() makes 1, 100,
#   2000 of them, dimensionless. No error, no warning.
# Why it matters: which of the two ways is taken is a matter of how the call is written: borders.searchsorted(x) raises an error, numpy.searchsorted(borders, x)
#   does not. Partitions by borders, calibrations by a table and histograms are off by a factor when a source changes its unit, which is what the
#   package is there to prevent. maximum() and add() with other units raise an error, so one expects it of all.
# Source:    quantities/quantity.py: __array_prepare__ and __array_wrap__ check the units of NumPy's ufuncs; there is no __array_function__ for other functions.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: quantities==0.16.4 numpy==2.4.6; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import numpy
import quantities

metres, kilometres = (lambda *v: quantities.Quantity(v, "m")), (lambda *v: quantities.Quantity(v, "km"))
borders, one = metres(100.0, 2000.0), kilometres(1.0)
seen = {
    "1 km < 100 m": bool((one < metres(100.0))[0]),
    "searchsorted of 1 km in 100 m, 2000 m": int(numpy.searchsorted(borders, one)[0]),
    "digitize": int(numpy.digitize(one, borders)[0]),
    "interp at 1 km": float(numpy.interp(one, metres(0.0, 2000.0), [0.0, 10.0])[0]),
    "histogram of 1 km within 0, 500 and 2000 m": numpy.histogram(one, bins=[0.0, 500.0, 2000.0] * quantities.m)[0].tolist(),
    "concatenate": numpy.concatenate([one, borders]).tolist(),
    "array_equal of 1 km and 1 m": bool(numpy.array_equal(one, metres(1.0))),
}
for name, call in {"borders.searchsorted": borders.searchsorted, "maximum": lambda x: numpy.maximum(borders, x)}.items():
    try:
        seen[name] = str(call(one))
    except ValueError:
        seen[name] = "ValueError"
for name, value in seen.items():
    print(f"{name}: {value}")
sys.exit(list(seen.values()) != [False, 0, 0, 0.005, [1, 0], [1.0, 100.0, 2000.0], True, "ValueError", "ValueError"])
PYTHON
