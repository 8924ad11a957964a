#!/usr/bin/env bash
# In short:  a filter finds other rows once the column has an index.
# Package:   blosc2 4.14.1 with numpy 2.4.6 (PyPI), compressed arrays and their indexes.
# One would guess: an index makes a filter faster; the rows that it returns are the same.
# What happens: a column of floats with NaN and -0.0 in it. Without an index `x > 19000` returns no NaN and `x == 0` both zeros. With an index
#   of the kind PARTIAL, FULL or OPSI, which are sorted, `x > 19000` and `x >= 19000` return every row of NaN as well, as NaN lies behind the largest
#   number there. With one of the kind BUCKET `x == 0` loses rows of -0.0.
# Why it matters: an index is made later, when the data have grown, and nobody looks at the results again. A gap in a series of readings (NaN) then
#   counts as a reading above each threshold; rows of -0.0, which comes from rounding small negative numbers, disappear.
# Source:    blosc2.NDArray.create_index, which calls PARTIAL and OPSI "exact filtering"; src/blosc2/indexing.py.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: blosc2==4.14.1 numpy==2.4.6; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import blosc2
import numpy as np

x = np.arange(20000, dtype=np.float64)
x[::100], x[1::100], x[2::100] = np.nan, -0.0, 0.0
rows = np.zeros(len(x), dtype=[("x", "f8"), ("row", "i8")])
rows["x"] = x
filters = {"x > 19000": x > 19000, "x == 0": x == 0, "x < 5": x < 5}
print("kind of index ", *(f"{name:>10}" for name in filters))
print("numpy         ", *(f"{found.sum():10}" for found in filters.values()))
seen = {}
for kind in (None, "SUMMARY", "BUCKET", "PARTIAL", "FULL", "OPSI"):
    array = blosc2.asarray(rows)
    if kind:
        array.create_index("x", kind=blosc2.IndexKind[kind])
    seen[kind] = [len(blosc2.lazyexpr(name, array.fields).where(array).compute()[:]) for name in filters]
    print(f"{kind or 'no index':14}", *(f"{rows_found:10}" for rows_found in seen[kind]))
right = [int(found.sum()) for found in filters.values()]
with_nan = [right[0] + 200, right[1], right[2]]
same = all(seen[kind] == right for kind in (None, "SUMMARY")) and all(seen[kind] == with_nan for kind in ("PARTIAL", "FULL", "OPSI"))
sys.exit(not (same and seen["BUCKET"][1] < right[1]))
PYTHON
