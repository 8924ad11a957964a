#!/usr/bin/env bash
# In short:  the smallest integer of a column becomes a missing value.
# Package:   datatable 1.1.0 with numpy 2.4.6 (PyPI), tables with a fast radix sort.
# One would guess: a column of 8-bit integers from numpy holds -128 to 127, or the table refuses it.
# What happens: -128 is the mark for "missing" (as are -32768, -2147483648 and -2^63 in wider columns), and nobody asks whether a value of the input
#   has this pattern: it is None from then on, is left out of sums and counts, and sorts before all others in both directions. Its reader of CSV files
#   knows better: it takes a wider type for a column with such a number.
# Why it matters: readings of signed sensors saturate at exactly this value: an overload counts as a gap, the mean rises, and no row shows it. A file
#   that was written by a program and the same table from memory give different sums.
# Source:    datatable.Frame of a numpy array, printed below; the reader (fread) of the same numbers beside it.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: datatable==1.1.0 numpy==2.4.6; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import datatable
import numpy as np

seen = []
for name in ("int8", "int16", "int32", "int64"):
    least = int(np.iinfo(name).min)
    frame = datatable.Frame(x=np.array([5, least, -7], dtype=name))
    read = datatable.fread(text=f"x\n5\n{least}\n-7\n") if name != "int64" else None
    seen.append((frame.to_list()[0], frame.sum()[0, 0]))
    of_file = "" if read is None else f"(from a file: {read.to_list()[0]}, sum {read.sum()[0, 0]})"
    print(f"{name}: 5 {least} -7 -> {frame.to_list()[0]}, sum {frame.sum()[0, 0]}", of_file)
    order = frame[:, :, datatable.sort("x")].to_list()[0], frame[:, :, datatable.sort("x", reverse=True)].to_list()[0]
    print(f"       sorted {order[0]}, in reverse {order[1]}")
sys.exit(seen != [([5, None, -7], -2)] * 4)
PYTHON
