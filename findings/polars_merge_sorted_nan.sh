#!/usr/bin/env bash
# In short:  the merge of two sorted tables puts NaN before larger numbers, eagerly, and behind them, lazily.
# Package:   polars 2.1.0 (PyPI).
# One would guess: two frames that Polars' own sort() put in order are merged by merge_sorted() into what sort() of both would be, as its page says
#   of sorted frames; and a LazyFrame gives what a DataFrame gives.
# What happens: sort() has NaN behind all numbers. The eager merge compares in a way for which NaN is never greater: where the frame on the right has a
#   NaN, it comes before whatever is left of the other one. 0.5 3.0 4.0 and 1.0 2.0 NaN give 0.5 1.0 2.0 NaN 3.0 4.0; with the frames changed
#   about, or lazily, the result is right.
# Why it matters: whether the result is in order depends on which of the two inputs has the gap, and on `.lazy()`. It is read on as sorted: a join_asof
#   or a search by halves in it goes wrong, and a merge of the result with a third frame as well.
# Source:    polars.DataFrame.merge_sorted ("The output of this operation will also be sorted. It is the callers responsibility that the frames are sorted
#   by that key"); polars-ops, merge_sorted.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: polars==2.1.0; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import polars as pl

whole = pl.DataFrame({"x": [4.0, 0.5, 3.0]}).sort("x")
gap = pl.DataFrame({"x": [2.0, float("nan"), 1.0]}).sort("x")
right = pl.concat([whole, gap]).sort("x")
print("sort() of both:", *right["x"])
seen = []
for name, a, b in (("the NaN on the left", gap, whole), ("the NaN on the right", whole, gap)):
    eager, lazy = a.merge_sorted(b, key="x"), a.lazy().merge_sorted(b.lazy(), key="x").collect()
    print(f"{name}: merge_sorted", *eager["x"], "; lazily", *lazy["x"])
    seen += [eager.equals(right), lazy.equals(right)]
sys.exit(seen != [True, True, False, True])
PYTHON
