#!/usr/bin/env bash
# In short:  the numbers of a thousand SIM cards are read from a CSV file as one number.
# Packages:  pyarrow 26.0.1 (PyPI); polars 2.1.0, duckdb 2.0.0 and pandas 3.1.1 for comparison.
# One would guess: digits that fit no integer of 64 bits become a type that holds them, or stay text: polars and DuckDB take integers of 128 bits, pandas keeps
#   integers of Python. None of them changes a number.
# What happens: pyarrow.csv makes a column of doubles, because the next type that it tries after int64 is float64, and that reads all digits. It warns of
#   nothing. Doubles of 20 digits are 16384 apart, so that 1000 neighbouring numbers are one value. 19 digits below 2^63 are exact.
# Why it matters: the numbers of SIM cards (ICCID) have 19 or 20 digits, those of parcels (SSCC) 18 and 20 with their prefix 00, and 64-bit ids without a sign up to
#   20. Rows of different cards fall into one group, are joined with each other, and are dropped as duplicates; the column sorts in any order. Files
#   of short numbers pass every test, and one longer number in a block turns a whole column of ids into doubles.
# Source:    pyarrow.csv.ConvertOptions; Arrow C++, "Reading and Writing CSV files", "Type inference", which lists the types that are tried, and not what a double
#   loses.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --only-binary :all: pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.0 pandas==3.1.1; } >&2 || exit 2
venv/bin/python - <<'PYTHON'
import sys

import duckdb
import pandas
import polars
import pyarrow.csv

first = 89490200001234567000
with open("cards.csv", "w") as file:
    file.writelines(["iccid,mb\n", *(f"{first + i},{i}\n" for i in range(1000))])
arrow = pyarrow.csv.read_csv("cards.csv")
frame, text = polars.read_csv("cards.csv")["iccid"], pandas.read_csv("cards.csv")["iccid"]
duck = duckdb.sql("select any_value(typeof(iccid)), count(distinct iccid) from 'cards.csv'").fetchall()[0]
groups = arrow.group_by("iccid").aggregate([("mb", "sum")]).to_pylist()
print("1000 cards in a CSV file, their type and how many are different:")
print(f"  pyarrow {arrow['iccid'].type} {len(groups)}; polars {frame.dtype} {frame.n_unique()}; DuckDB {duck[0]} {duck[1]};", end=" ")
print(f"pandas {text.dtype} {text.nunique()}\n  by card, pyarrow: {groups}")
others = (frame.n_unique(), duck[1], text.nunique())
sys.exit((str(arrow["iccid"].type), len(groups), others) != ("double", 1, (1000, 1000, 1000)))
PYTHON
