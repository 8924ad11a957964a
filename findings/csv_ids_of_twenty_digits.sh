#!/usr/bin/env bash
# In short:  the numbers of a thousand SIM cards are read from a CSV file as one number.
# Packages:  pyarrow 26.0.1 and duckdb 2.0.0 (PyPI); pandas 3.1.1 for comparison.
# One would guess: digits that no integer type holds stay text, or are refused: a number that is read is the number of the file. pandas does so.
# What happens: WHAT
# Why it matters: WHY
# Source:    SOURCE
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --only-binary :all: pyarrow==26.0.1 duckdb==2.0.0 pandas==3.1.1; } >&2 || exit 2
venv/bin/python - <<'PYTHON'
import sys

import duckdb
import pandas
import pyarrow.csv

first = 89490200001234567000
with open("cards.csv", "w") as file:
    file.writelines(["iccid,mb\n", *(f"{first + i},{i}\n" for i in range(1000))])
arrow = pyarrow.csv.read_csv("cards.csv")["iccid"]
duck = duckdb.sql("select any_value(typeof(iccid)), count(distinct iccid) from 'cards.csv'").fetchone()
panda = pandas.read_csv("cards.csv")["iccid"]
print("1000 numbers of 20 digits, read as, different ones:")
print(f"  pyarrow {arrow.type} {len(arrow.unique())}; DuckDB {duck[0]} {duck[1]}; pandas {panda.dtype} {panda.nunique()}")
print("  groups:", duckdb.sql("select iccid, sum(mb) from 'cards.csv' group by iccid").fetchall())
sys.exit((str(arrow.type), len(arrow.unique()), *duck, panda.nunique()) != ("double", 1, "DOUBLE", 1, 1000))
PYTHON
