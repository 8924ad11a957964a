#!/usr/bin/env python3
"""`make bench`: see ecosort_bench.cli, or run with --help."""

from ecosort_bench.cli import main

main()
