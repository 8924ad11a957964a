#!/usr/bin/env bash
# In short:  in the night in which summer time ends two readings an hour apart have one time, and sorted by it the counter runs back.
# Package:   amshan 2.1.1 with construct 2.10.70 (PyPI), the P1 and HAN ports of electricity meters.
# One would guess: the letter behind the time of a P1 telegram (S for summer, W for winter) is used: it is there to tell these hours apart.
# What happens: the first twelve digits become a datetime without a zone, and the letter is dropped. 02:30 S and 02:30 W, an hour apart, are equal. The same
#   package gives times of the other protocol (DLMS) their zone.
# Why it matters: one hour of the year is there twice. Sorted by time its readings are interleaved, so the counter falls and the energy of some intervals is
#   negative; a table with the time as its key loses the first of each pair. No other night shows it.
# Source:    han/dlde.py, _parse_p1_datetime; DSMR 5.0.2 P1, "TST" (YYMMDDhhmmssX).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: --no-deps amshan==2.1.1 construct==2.10.70; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

from han import dlde

rows = []
for time, kwh in (("020000S", "100.000"), ("023000S", "100.500"), ("020000W", "101.000"), ("023000W", "101.500")):
    found = dlde.decode_p1_readout_content(f"0-0:1.0.0(261025{time})\r\n1-0:1.8.0({kwh}*kWh)\r\n".encode())
    rows.append((found["meter_datetime"], found["active_power_import_total"]))
    print(f"261025{time} {kwh} kWh -> {rows[-1][0].isoformat()} {rows[-1][1]} Wh")
counter = [wh for _, wh in sorted(rows, key=lambda row: row[0])]
print("counter, sorted by time:", counter, "rows of different times:", len(dict(rows)))
sys.exit((counter, len(dict(rows)), rows[0][0].tzinfo) != ([100000, 101000, 100500, 101500], 2, None))
PYTHON
