#!/usr/bin/env bash
# In short:  three SIM cards are read from a CSV file as one: their numbers of 20 digits become floating-point numbers.
# Packages:  pyarrow 26.0.1 and duckdb 1.5.1 (PyPI); pandas 3.0.1 for comparison.
set -u
