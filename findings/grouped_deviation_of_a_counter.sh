#!/usr/bin/env bash
# In short:  the standard deviation of a counter's values is 0.29, or 11, or 0, by the way in which it is asked for.
# Packages:  dask 2026.8.0, daft 0.7.26, pandas 3.1.1 and numpy 2.4.6 (PyPI), two tables for clusters and the one they follow.
# One would guess: the deviation of a column and that of its only group are one number, and it doesn't change if a constant is added to every value.
# What happens: what the parts of a cluster hand over is the sum and the sum of the squares, whose difference has no digits left where the values are large
#   beside their spread. Values from 1000000000 to 1000000001 (deviation 0.29): dask has std() right, and groupby().std() of four parts is 11; daft's
#   stddev() is 0, and NaN in a group. The same values without the constant are right everywhere.
# Why it matters: counters in Wh, times in seconds since 1970 and identifiers are such columns, and "deviation 0" reads as "no noise, no drift". Which of the
#   wrong numbers comes depends on the partitions. Tests with small numbers pass, and the textbook warns of it; the function of the same name beside it is right.
# Source:    dask/dataframe/groupby.py, _var_chunk and _var_agg; Daft, src/daft-local-plan/src/agg.rs (sum of squares). Both are known there.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: "dask[dataframe]==2026.8.0" daft==0.7.26 pandas==3.1.1 numpy==2.4.6; } >&2 || exit 2
cd "$dir" && DAFT_ANALYTICS_ENABLED=0 DO_NOT_TRACK=1 venv/bin/python - <<'PYTHON'
import sys
import warnings

import daft
import dask.dataframe
import numpy as np
import pandas as pd

warnings.simplefilter("ignore")
spread = np.random.default_rng(1).random(1000)
seen = {}
for start in (0.0, 1e9):
    table = pd.DataFrame({"meter": 1, "value": start + spread})
    parts = dask.dataframe.from_pandas(table, npartitions=4)
    frame, value = daft.from_pydict(table.to_dict("list")), daft.col("value")
    seen[start] = results = {
        "pandas": table.groupby("meter").value.std()[1],
        "dask": parts.value.std().compute(),
        "dask, by group": parts.groupby("meter").value.std().compute()[1],
        "daft": frame.agg(value.stddev()).to_pydict()["value"][0],
        "daft, by group": frame.groupby("meter").agg(value.stddev()).to_pydict()["value"][0],
    }
    print(f"values from {start:.0f}:", {name: round(float(result), 3) for name, result in results.items()})
near = {name for name, result in seen[1e9].items() if abs(result - 0.29) < 0.01}
small = all(abs(result - 0.29) < 0.01 for result in seen[0.0].values())
sys.exit(not (small and near == {"pandas", "dask"}))
PYTHON
