#!/usr/bin/env bash
# In short:  an external sort drops every row without a reading, and all rows if the first one is without.
# Package:   diskcsvsort 0.1.1 (PyPI), which sorts CSV files on disk, in their place.
# One would guess: a sort returns the rows that it was given; rows whose key is NaN may be anywhere among them, or are refused.
# What happens: a file that is larger than the memory limit is parted into rows below, equal to and above its first key. NaN is none of the three, so its rows
#   go nowhere. If the first key is NaN, no row is anything to it: what is left is the header. A file within the limit is sorted in memory and
#   keeps all. The parts are put in the place of the input, so what is gone is gone. No error, no message.
# Why it matters: float() reads "nan" as NaN, and so do files have it where a program writes its floats as they are. The small file of a test keeps its
#   rows, the large one loses them, and how many depends on the order in which they came: one row, or all.
# Source:    diskcsvsort/csvsort.py, CSVSort._operators (lt, eq, gt) and _disk_sort.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q diskcsvsort==0.1.1; } >&2 || exit 2
cd "$dir" && venv/bin/python - <<'PYTHON'
import sys
from pathlib import Path

from diskcsvsort import CSVSort


def rows_left(watts, memory):
    path = Path("readings.csv")
    path.write_text("meter,watts\n" + "".join(f"{number},{value}\n" for number, value in enumerate(watts)))
    CSVSort(src=path, key=lambda row: float(row["watts"]), memory_limit=memory).apply()
    read = [float(line.split(",")[1]) for line in path.read_text().splitlines()[1:]]
    return len(read), all(one <= other for one, other in zip(read, read[1:]) if one == one and other == other)


readings = [str((number * 37) % 101) for number in range(100)]
cases = {
    "no gap": readings,
    "gap in the middle": [*readings[:50], "nan", *readings[50:]],
    "gap at the start": ["nan", *readings],
}
seen = {}
for name, watts in cases.items():
    small, large = rows_left(watts, 10**8), rows_left(watts, 4_000)
    seen[name] = small[0] - len(watts), large[0] - len(watts)
    print(f"{name}: {len(watts)} rows; sorted within the memory limit {small[0]}, beyond it {large[0]} (in order: {large[1]})")
sys.exit(seen != {"no gap": (0, 0), "gap in the middle": (0, -1), "gap at the start": (0, -101)})
PYTHON
