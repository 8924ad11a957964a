#!/usr/bin/env bash
# In short:  a search for a 64-bit identifier finds its neighbours as well, and `>` loses them.
# Package:   fitsio 1.4.2 with numpy 2.4.6 (PyPI), tables of the FITS format by NASA's CFITSIO.
# One would guess: a column of 64-bit whole numbers is compared with a whole number exactly, as it is written and read exactly.
# What happens: where("id == 9007199254740993") returns the row of 9007199254740992, too, and `id > 9007199254740992` leaves 9007199254740993 out. From 2^53 on
#   a number counts as the nearest 64-bit float: at 6e18, where the identifiers of star catalogues lie, all those within 512 are equal.
# Why it matters: identifiers of catalogues are packed positions on the sky, so neighbouring numbers are neighbouring objects. A search returns
#   somebody else's measurements besides the right ones, a split by ranges loses rows at its borders, and files of small numbers pass every test.
# Source:    `fitsio.FITS(...)[1].where`, which hands the words to CFITSIO's row filter (fits_find_rows).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: fitsio==1.4.2 numpy==2.4.6; } >&2 || exit 2
cd "$dir" && "$dir/venv/bin/python" - <<'PYTHON'
import sys

import fitsio
import numpy as np

rows = np.zeros(6, dtype=[("id", "i8")])
rows["id"] = [5, 2**53, 2**53 + 1, 6_000_000_000_000_000_000, 6_000_000_000_000_000_001, 6_000_000_000_000_000_300]
fitsio.write("table.fits", rows)
seen = []
with fitsio.FITS("table.fits") as file:
    print("read back exactly:", bool((file[1]["id"][:] == rows["id"]).all()))
    for words in ("id == 5", "id == 9007199254740993", "id > 9007199254740992", "id == 6000000000000000001"):
        seen.append([int(number) for number in rows["id"][file[1].where(words)]])
        print(f"{words}: {seen[-1]}")
large = [int(number) for number in rows["id"][3:]]
sys.exit(seen != [[5], [2**53, 2**53 + 1], large, large])
PYTHON
