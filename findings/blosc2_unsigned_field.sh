#!/usr/bin/env bash
# In short:  a filter takes unsigned keys as negative when they are a field of a row.
# Package:   blosc2 4.14.1 with numpy 2.4.6 (PyPI), compressed arrays.
# One would guess: a filter compares unsigned 64-bit numbers as such, the same numbers alike in an array of their own and as a field of rows.
# What happens: in an array of their own they are compared right. As a field of a structured array every number from 2^63 on counts as negative: of 4
#   such keys `key > 9` finds none, and `key < 9` all of them. No error, no warning.
# Why it matters: hashes, 64-bit identifiers and positions in a packed order use the whole width, so half of the rows are on the wrong side of every
#   border, and a table that is split by ranges of such a key puts them into the first range. Counters and small identifiers pass every test.
# Source:    blosc2.lazyexpr with an array and with `array.fields`, both printed below beside numpy's answer.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: blosc2==4.14.1 numpy==2.4.6; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import blosc2
import numpy as np

keys = np.tile(np.array([1, 5, 2**63 + 1, 2**63 + 5, 2**64 - 9, 2**64 - 1], dtype=np.uint64), 2000)
rows = np.zeros(len(keys), dtype=[("key", "u8"), ("row", "i8")])
rows["key"] = keys
alone, field = blosc2.asarray(keys), blosc2.asarray(rows)
same = True
for words, right in (("key > 9", keys > 9), ("key < 9", keys < 9), ("key > 1000000000000000000", keys > 10**18)):
    in_array = int(blosc2.lazyexpr(words, {"key": alone}).compute()[:].sum())
    in_rows = int(blosc2.lazyexpr(words, field.fields).compute()[:].sum())
    signed = {"key > 9": 0, "key < 9": len(keys)}.get(words, 0)
    print(f"{words}: numpy {right.sum()}, in an array {in_array}, as a field of rows {in_rows}")
    same &= in_array == right.sum() and in_rows == signed
sys.exit(not same)
PYTHON
