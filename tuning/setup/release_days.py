#!/usr/bin/env python3
"""`release_days.py PYLOCK NAMES`: prints a comment for each package in NAMES (one a line), with the version and the day of its
release in PYLOCK, a lock file in the format of PEP 751."""

import sys
import tomllib
from pathlib import Path

lock, names = map(Path, sys.argv[1:])
wanted = {line for line in names.read_text().splitlines() if line and not line.startswith("#")}
for package in tomllib.loads(lock.read_text())["packages"]:
    if package["name"] in wanted:
        day = min(wheel["upload-time"] for wheel in package["wheels"]).date()
        print(f"# {package['name']} {package['version']}, released {day}")
