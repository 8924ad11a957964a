#!/usr/bin/env bash
# In short:  an external sort that is limited to 1 MB takes 20 MB of rows into memory at once.
# Package:   csvsort 1.6.1 (PyPI), which sorts CSV files "on disk rather than in memory".
# One would guess: max_size, "the maximum size (in MB) of CSV file to load in memory at once", bounds the rows by their size.
# What happens: a row counts with the size of Python's list of its fields, 72 bytes for two columns, and its texts count nothing. 4000 rows of 5 kB
#   (20 MB) are one piece for max_size=1, sorted in memory as a whole; the same bytes in short rows make many pieces. With the default of 100 (MB) the
#   limit is a number of rows: 1.4 million with two columns, however long they are.
# Why it matters: it is taken because memory is short, and works until the rows are long; then the machine runs out of it. How many pieces there are
#   decides the order of equal keys as well: one piece keeps the order of the input, several order ties by the rest of the row.
# Source:    csvsort.csvsplit: current_size += sys.getsizeof(row).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q csvsort==1.6.1; } >&2 || exit 2
cd "$dir" && "$dir/venv/bin/python" - <<'PYTHON'
import csv
import os
import random
import sys

import csvsort

random.seed(1)
split, pieces = csvsort.csvsplit, []
csvsort.csvsplit = lambda *words, **more: note(split(*words, **more))


def note(result):
    names = result[0] if isinstance(result, tuple) else result
    pieces.append([os.path.getsize(name) for name in names])
    return result


def sort(name, rows, limit):
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([["id", "text"], *rows])
    csvsort.csvsort(name, [0], output_filename="out", max_size=limit, parallel=False)
    with open("out", newline="") as file:
        return list(csv.reader(file))[1:]


sort("long", [(random.randrange(10**9), "t" * 5000) for _ in range(4000)], 1)
sort("short", [(random.randrange(10**9), "t" * 50) for _ in range(40000)], 1)
for name, sizes in zip(("long", "short"), pieces):
    print(f"max_size=1 (MB), {name} rows, {os.path.getsize(name) / 1e6:.1f} MB: {len(sizes)} piece(s), the largest of {max(sizes) / 1e6:.1f} MB")
ties = [(i % 3, random.randrange(10**6)) for i in range(3000)]
orders = [sort("ties", ties, limit) for limit in (100, 0.01)]
print(f"equal keys in {len(pieces[2])} piece and in {len(pieces[3])}: the {'same' if orders[0] == orders[1] else 'other'} order")
sys.exit(not (len(pieces[0]) == 1 and max(pieces[0]) > 19e6 and len(pieces[1]) > 2 and orders[0] != orders[1]))
PYTHON
