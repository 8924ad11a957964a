#!/usr/bin/env bash
# In short:  a sort that returns other numbers than it was given.
# Package:   quill-sort 7.5.0 with numpy 2.4.6 beside it (PyPI).
# One would guess: a sort returns the elements that it was given, in another order.
# What happens: where numpy can be imported, a list that holds integers and floats is converted to 64-bit floats as a whole and comes back
#   so. Integers above 2^53 become other numbers, and several different ones become the same. Short lists, and all lists on a machine without
#   numpy, are sorted by Python itself and keep every element, so small tests pass.
# Why it matters: identifiers, nanosecond timestamps and counters are damaged by a few floats (or a NaN for "missing") in the list. An order
#   check of the result passes; only a checksum of the contents notices.
# Source: the package's own README says "promoted to float64" for mixed lists; quill/_core.py, the np.asarray branch.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: quill-sort==7.5.0 numpy==2.4.6; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import random
import sys

from quill import quill_sorted

seen = []
for integers in (20, 1000):
    given = [2**60 + i for i in range(integers)] + [i + 0.5 for i in range(integers // 10)]
    random.Random(1).shuffle(given)
    result = quill_sorted(list(given))
    in_order = all(a <= b for a, b in zip(result, result[1:]))
    seen.append((len(result) == len(given), in_order, len(set(result))))
    print(f"{len(set(given))} different numbers in; {len(result)} out, {len(set(result))} different; in order: {in_order}; the largest: {result[-1]!r}")
sys.exit(not (seen[0] == (True, True, 22) and seen[1][:2] == (True, True) and seen[1][2] < 200))
PYTHON
