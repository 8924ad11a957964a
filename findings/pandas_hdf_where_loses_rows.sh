#!/usr/bin/env bash
# In short:  one NaN, and a query of a stored table loses three rows of four.
# Package:   pandas 3.1.1 with tables 3.11.1 (PyTables) and numpy 2.4.6 (PyPI), tables in HDF5.
# One would guess: store.select("d", where="x > 50") returns the rows of df.query("x > 50"), as the index that pandas makes for a data column only
#   makes it faster.
# What happens: with 200,000 rows and a single NaN among them 22,000 of 100,000 rows come back; which way the query points decides: `x < 50` is
#   complete. The index keeps the smallest and the largest value of sorted pieces, NaN is the largest, and a search in these bounds for what
#   is above 50 ends early. Tables of 20,000 rows lose nothing, nor do those without an index. Nothing is raised.
# Why it matters: NaN is how a series marks a gap. Peaks, alarms and sums above a threshold are taken by such queries, and a test with a small table,
#   with `<`, or without gaps passes.
# Source:    pandas.HDFStore.append (data_columns, index=True); tables/index.py, search; the counts without an index are printed below.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: pandas==3.1.1 tables==3.11.1 numpy==2.4.6; } >&2 || exit 2
cd "$dir" && "$dir/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
import pandas as pd

readings = np.random.default_rng(1).random(200_000) * 100
seen = []
for gaps, rows, index in ((0, 200_000, True), (1, 200_000, True), (1, 20_000, True), (1, 200_000, False)):
    df = pd.DataFrame({"x": readings[:rows]})
    df.iloc[:gaps] = np.nan
    df.to_hdf("store.h5", key="d", mode="w", format="table", data_columns=["x"], index=index)
    with pd.HDFStore("store.h5") as store:
        counts = {where: (len(store.select("d", where=where)), len(df.query(where))) for where in ("x > 50", "x < 50", "x > 99")}
    told = ", ".join(f"`{where}` {found} of {all_}" for where, (found, all_) in counts.items())
    print(f"{rows} rows, {gaps} NaN, {'the index of pandas' if index else 'no index'}: {told}")
    seen.append([found == all_ for found, all_ in counts.values()] + [counts["x > 50"][0] * 3 < counts["x > 50"][1]])
whole, short = [True, True, True, False], [False, True, False, True]
sys.exit(seen != [whole, short, whole, whole])
PYTHON
