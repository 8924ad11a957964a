#!/usr/bin/env bash
# In short:  one NaN in a Zarr chunk with the filter Delta turns the rest of the chunk into NaN.
# Package:   numcodecs 0.16.6 with numpy 2.4.6 (PyPI), the filters of Zarr arrays.
# One would guess: the filter Delta gives back what it was given, or refuses a type for which it cannot, as the only limit that its page names is a
#   too small integer type.
# What happens: floats are accepted, stored as differences and added up again. One NaN (or infinity) turns every later value of the chunk into NaN.
#   One large value takes the low digits of all that follow: 1, 1e20, 2, 3 comes back as 1, 1e20, 0, 1. Times in seconds and sums of small numbers
#   come back exactly as a rule, so a test passes.
# Why it matters: NaN is how a series of a meter or sensor marks a gap. A gap of one sample removes the rest of the chunk, often an hour or a day, on
#   the way to the disk; nothing is raised at writing or reading. A sorted column with NaN at its start is lost as a whole.
# Source:    numcodecs/delta.py: np.diff() at encoding, np.cumsum() at decoding; its notes speak of integer overflow only.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: numcodecs==0.16.6 numpy==2.4.6; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import numcodecs
import numpy as np

codec = numcodecs.Delta(dtype="f8")
seen = {}
for name, values in (
    ("watts", [230.5, 231.0, 229.5, 230.0, 228.5]),
    ("watts with a gap", [230.5, np.nan, 229.5, 230.0, 228.5]),
    ("one large value", [1.0, 1e20, 2.0, 3.0, 4.0]),
):
    given = np.array(values)
    seen[name] = back = codec.decode(codec.encode(given))
    print(f"{name + ':':17} {given} -> {back}")
same = {"watts": [230.5, 231.0, 229.5, 230.0, 228.5], "watts with a gap": [230.5] + [np.nan] * 4, "one large value": [1.0, 1e20, 0.0, 1.0, 2.0]}
sys.exit(not all(np.array_equal(seen[name], values, equal_nan=True) for name, values in same.items()))
PYTHON
