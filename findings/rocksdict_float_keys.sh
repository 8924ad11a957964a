#!/usr/bin/env bash
# In short:  an ordered store has negative floats last, and backward.
# Package:   rocksdict 0.3.29 (PyPI), RocksDB as a dictionary of Python.
# One would guess: keys of one type come in their order, because the store is an ordered one and iterators start at a key. Integers of any size,
#   negative ones too, do come so.
# What happens: floats come with the positive ones first and then the negative ones, from the one next to zero downward: 0.5, 2.0, 10.0, -0.5, -2.0, -10.0.
#   An iterator that starts at -2.0 never meets -0.5, nor any positive key. No error is reported.
# Why it matters: a range of readings (temperatures, power that flows both ways, coordinates) is right as long as no value is negative; a user who takes
#   the store for a sorter of floats, or merges two of them, gets an order that is none.
# Source: the keys as they are stored, printed below by raw mode: a mark of the type, then the big-endian bits of IEEE 754, which are in order for one sign only.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: rocksdict==0.3.29; } >&2 || exit 2
"$dir/venv/bin/python" - "$dir" <<'PYTHON'
import sys

from rocksdict import Options, Rdict

numbers = [10, -2, 2**64, -(2**70), 0, 300, -129]
floats = [10.0, -2.0, 0.5, -0.5, 2.0, -10.0]
seen = []
for name, keys in (("integers", numbers), ("floats", floats)):
    store = Rdict(f"{sys.argv[1]}/{name}")
    for key in keys:
        store[key] = 0
    found = list(store.keys())
    seen.append(found)
    print(f"{name}: {found}")
    if name == "floats":
        seen.append(list(store.keys(from_key=-2.0)))
        print(f"  from -2.0 on: {seen[-1]}")
    store.close()
print("stored:", *(key.hex() for key in Rdict(f"{sys.argv[1]}/floats", Options(raw_mode=True)).keys()))
sys.exit(seen != [sorted(numbers), [0.5, 2.0, 10.0, -0.5, -2.0, -10.0], [-2.0, -10.0]])
PYTHON
