#!/usr/bin/env bash
# In short:  one missing reading, and the column of numbers is written as a text.
# Package:   influx-line 1.0.0 (PyPI), which writes the line protocol of InfluxDB; line-protocol-parser 2.0.1 (PyPI) reads it.
# One would guess: a field whose value is None is left out, which is how the protocol says that there is none, or is refused.
# What happens: it is written as w="", an empty text. Beside it a NaN is written as nan, which the protocol has not: the reader refuses this line, and takes
#   the other one.
# Why it matters: the type of a field is that of its first value. If a series begins with a gap, the field is of text, and the database refuses each number
#   behind it; if the gap comes later its line is refused with all its other fields. A reader that does not check has "" among the numbers, which sorts
#   behind them or counts as 0. A series without a gap passes every test.
# Source:    influx_line.py, InfluxLine.add_field (`value = ''`); InfluxDB, "Line protocol" (types of fields).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: --no-deps influx-line==1.0.0 line-protocol-parser==2.0.1; } >&2 || exit 2
"$dir/venv/bin/python" -W ignore - <<'PYTHON'
import sys

from influx_line import InfluxLine
from line_protocol_parser import LineFormatError, parse_line

seen = []
for value in (230.5, None, float("nan")):
    line = InfluxLine("power")
    line.add_field("w", value)
    line.add_field("hz", 50.0)
    line.set_timestamp(1)
    try:
        seen.append(parse_line(str(line))["fields"]["w"])
    except LineFormatError as error:
        seen.append("refused")
    print(f"{value} -> {line} -> {seen[-1]!r}")
sys.exit(seen != [230.5, "", "refused"])
PYTHON
