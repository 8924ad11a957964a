#!/usr/bin/env bash
# In short:  a meter at UTC has no zone, so its times are taken as local ones.
# Package:   dlms-cosem 25.1.0 (PyPI), the protocol of electricity meters.
# One would guess: a time stamp whose deviation from UTC is 0 minutes is read as a time at UTC, as one of -60 minutes is read as a time at UTC+1.
# What happens: 0 is treated as "not specified" (0x8000): the result has no zone. Python then takes it as local time of the machine that reads it.
# Why it matters: a meter in London or Lisbon has zone +1 in summer and none in winter; a meter that is set to UTC never has one. On a machine in
#   Berlin timestamp() is an hour early for half of the year, and the load curve of the October night overlaps itself. Only a comparison of a summer
#   time with a winter time raises an error; subtraction within a season, storing and plotting don't.
# Source:    dlms_cosem/time.py, utc_offset_minutes: `if offset_minutes:`.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: --no-deps dlms-cosem==25.1.0 attrs==25.4.0 python-dateutil==2.9.0.post0 six==1.17.0; } >&2 || exit 2
TZ=Europe/Berlin "$dir/venv/bin/python" - <<'PYTHON'
import datetime
import struct
import sys

from dlms_cosem.time import datetime_from_bytes

seen = {}
for name, month, hour, deviation in (("summer, -60", 7, 13, -60), ("winter, 0", 1, 12, 0), ("not specified", 1, 12, -0x8000)):
    octets = struct.pack(">HBBBBBBBhB", 2024, month, 15, 0xFF, hour, 0, 0, 0, deviation, 0)
    moment = datetime_from_bytes(octets)[0]
    seen[name] = moment.tzinfo is None, datetime.datetime.fromtimestamp(moment.timestamp(), datetime.timezone.utc).hour
    print(f"{name:14} -> {moment.isoformat()}, which this machine takes as {seen[name][1]}:00 UTC (true: 12:00)")
sys.exit(seen != {"summer, -60": (False, 12), "winter, 0": (True, 11), "not specified": (True, 11)})
PYTHON
