#!/usr/bin/env bash
# In short:  a join of keys of 8 bits with keys of 64 bits finds 300 and 44 equal.
# Package:   pandas 3.1.1 with numpy 2.4.6 (PyPI).
# One would guess: keys of two widths are compared in the wider one, as merge() of pandas does it with signed keys.
# What happens: where one side is unsigned and the other is signed and has no negative key, the signed keys are cast to the unsigned type without a look
#   whether they fit: 300 becomes 44, and 259 becomes 3. reindex(), Series.map() and Index.get_indexer() do so where the unsigned side is the one that is
#   searched, join() where it is the left one, and merge() where it is the left one and both sides are sorted: the same rows, shuffled, give
#   another result. Keys of 16 bits do the same at 65536.
# Why it matters: narrow unsigned keys are what a Parquet file or a meter has (a device, a phase, a register), and a plain column of integers is 64 bits
#   wide and signed. Keys that have no partner get a wrong one, rows are doubled, nothing is raised. One negative key on the other side makes it right.
# Source:    pandas/core/indexes/base.py, Index._maybe_downcast_for_indexing: other.astype(self.dtype), which a note beside it doubts for such types.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: pandas==3.1.1 numpy==2.4.6; } >&2 || exit 2
cd "$dir" && venv/bin/python - <<'PYTHON'
import sys

import numpy as np
import pandas as pd


def results(kind):
    names = pd.DataFrame({"key": np.array([3, 7, 44], dtype=kind), "name": ["pump", "fan", "oven"]})
    rows = pd.DataFrame({"key": [3, 44, 259, 300], "watts": [10, 20, 30, 40]})
    shuffled = rows.iloc[[2, 0, 3, 1]]
    by_key = names.set_index("key")
    return {
        "merge, both sorted": len(names.merge(rows, on="key")),
        "merge, one shuffled": len(names.merge(shuffled, on="key")),
        "join": len(by_key.join(rows.set_index("key"), how="inner")),
        "map": rows["key"].map(by_key["name"]).tolist(),
        "reindex": by_key["name"].reindex(rows["key"]).notna().sum().item(),
    }


print("keys 3, 7, 44 and rows with 3, 44, 259, 300: two of them match")
seen = {kind: results(kind) for kind in ("uint8", "int64")}
for kind, result in seen.items():
    print(f"keys as {kind}:", result)
wide = pd.Series(["a"], index=np.array([1], dtype="uint16")).reindex([1, 65537]).tolist()
print("16 bits, 1 and 65537:", wide)
with_negative = pd.Series(["a"], index=np.array([44], dtype="uint8")).reindex([44, 300, -1]).isna().sum().item()
print("8 bits, 44, 300 and -1: without a partner:", with_negative)
right = {"merge, both sorted": 2, "merge, one shuffled": 2, "join": 2, "reindex": 2}
wrong = {"merge, both sorted": 4, "merge, one shuffled": 2, "join": 4, "map": ["pump", "oven"] * 2, "reindex": 4}
good = {key: value for key, value in seen["int64"].items() if key != "map"}
sys.exit(not (seen["uint8"] == wrong and good == right and wide == ["a", "a"] and with_negative == 2))
PYTHON
