#!/usr/bin/env bash
# In short:  a meter's clock is right in winter by two packages; in summer one says summer time, and the other invalid.
# Package:   amshan 2.1.1 with construct 2.10.70, and dlms-cosem 25.1.0 (PyPI), which both read the 12 bytes of a meter's time (DLMS/COSEM).
# One would guess: the last byte is the status of the clock, with bit 0 for "invalid" and bit 7 for "summer time", bit 0 being the lowest.
# What happens: amshan counts from the highest one: 80 (summer time) is invalid_value, and 01 (invalid) is daylight_saving_active. Its own notes on these
#   fields speak of bit 0 and bit 1. dlms-cosem has it the other way round. The time itself is the same by both.
# Why it matters: a program that drops readings with an invalid time drops all of March to October, and keeps those after a power failure, when the clock
#   begins at a wrong date. A test with a message of winter, in which the byte is 0, passes.
# Source:    han/cosem.py, DateTime (a BitStruct, which begins with the highest bit); dlms_cosem/time.py, ClockStatus.from_bytes.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: --no-deps amshan==2.1.1 construct==2.10.70 dlms-cosem==25.1.0 attrs==25.4.0 python-dateutil==2.9.0.post0 six==1.17.0; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

from dlms_cosem.time import datetime_from_bytes
from han.cosem import DateTime

seen = []
for text in ("07 EA 01 0F 04 0C 00 00 00 FF C4 00", "07 EA 07 0F 03 0C 00 00 00 FF 88 80", "07 EA 07 0F 03 0C 00 00 00 FF 88 01"):
    one = DateTime.parse(b"\x0c" + bytes.fromhex(text))
    time, other = datetime_from_bytes(bytes.fromhex(text))
    fields = ("invalid_value", one.clock_status.invalid_value, other.invalid), ("daylight", one.clock_status.daylight_saving_active, other.daylight_saving_active)
    seen.append([one.datetime == time, *(bool(value) for field in fields for value in field[1:])])
    print(f"status {text[-2:]}, {time}: amshan, dlms-cosem: " + ", ".join(f"{name} {bool(a)}, {b}" for name, a, b in fields))
sys.exit(seen != [[True] + [False] * 4, [True, True, False, False, True], [True, False, True, True, False]])
PYTHON
