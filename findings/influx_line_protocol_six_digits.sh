#!/usr/bin/env bash
# In short:  a counter of energy keeps six digits on its way to InfluxDB: 123456.789 kWh is written as 123457.
# Package:   influx-line-protocol 0.1.5 (PyPI), which writes the line protocol of InfluxDB.
# One would guess: a float is written with as many digits as it needs to be read back, as repr() of Python and other writers do.
# What happens: it is written with "%g", six digits: 123456.789 is 123457, 1234567.8 is 1.23457e+06, and 99999.95 is 99999.9. A time in seconds with a
#   fraction (1700000000.5) is 1.7e+09. Whole numbers of the type int are written exactly. No error, no warning.
# Why it matters: power in watts looks right, and a new meter counts right. Beyond 10,000 kWh a counter has steps of 0.1, from 100,000 on of 1 and from a
#   million on of 10 kWh, and the load that is computed from its differences is 0 most of the time with a peak between: the older the meter, the worse.
# Source:    influx_line_protocol/metric.py, __parse_value: `"%g" % value`.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q influx-line-protocol==0.1.5; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

from influx_line_protocol import Metric


def written(value):
    metric = Metric("meter")
    metric.add_value("kWh", value)
    return str(metric).split("kWh=")[1]


pairs = {value: written(value) for value in (230.1, 99999.95, 123456.789, 1234567.8, 1700000000.5, 123456789)}
for value, text in pairs.items():
    print(f"{value!r:14} is written as {text}")
day = [written(123456.4 + hour * 0.25) for hour in range(8)]
loads = [float(after) - float(before) for before, after in zip(day, day[1:])]
print(f"a counter that grows by 0.25 each hour: {day}, differences {loads}")
sys.exit(list(pairs.values()) != ["230.1", "99999.9", "123457", "1.23457e+06", "1.7e+09", "123456789i"] or set(loads) != {0.0, 1.0})
PYTHON
