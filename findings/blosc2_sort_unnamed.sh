#!/usr/bin/env bash
# In short:  a sort without a named field returns the array in the order in which it was.
# Package:   blosc2 4.14.1 with numpy 2.4.6 (PyPI), compressed arrays.
# One would guess: sort() without `order=` sorts by the values, as argsort() of the same package does and says, or raises an error.
# What happens: it returns a copy in the order of the input, of plain numbers as well as of rows. Nothing is raised. Only sort(order="field") sorts.
# Why it matters: the array that comes back has the right length, type and sum. A merge, a search by halves or a median taken from its middle is
#   wrong, and a test whose data happen to be in order passes. numpy.sort, after which the call is named, sorts both.
# Source:    the docstrings of blosc2.sort ("Return a sorted array"; `order` is optional) and blosc2.argsort ("Plain arrays sort by their values").
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: blosc2==4.14.1 numpy==2.4.6; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import blosc2
import numpy as np

keys = np.array([3, 1, 2])
plain = blosc2.asarray(keys)
rows = blosc2.asarray(np.array([(3, 0), (1, 1), (2, 2)], dtype=[("key", "i8"), ("row", "i8")]))
seen = [
    ("numbers, sort():", blosc2.sort(plain)[:]),
    ("numbers, argsort():", keys[blosc2.argsort(plain)[:]]),
    ("rows, sort():", blosc2.sort(rows)[:]["key"]),
    ("rows, argsort():", keys[blosc2.argsort(rows)[:]]),
    ('rows, sort(order="key"):', blosc2.sort(rows, order="key")[:]["key"]),
]
for call, result in seen:
    print(f"{call:25}", *result)
sys.exit([list(result) for _, result in seen] != [[3, 1, 2], [1, 2, 3], [3, 1, 2], [1, 2, 3], [1, 2, 3]])
PYTHON
