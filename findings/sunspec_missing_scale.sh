#!/usr/bin/env bash
# In short:  power ten times too high while a scale factor is missing.
# Package:   pysunspec2 1.3.7 (PyPI), the SunSpec Alliance's own library for meters and inverters.
# One would guess: `cvalue`, the value with its scale applied, is None or an error while the scale factor is unknown.
# What happens: it returns the raw register. With the factor's register "not implemented" (0x8000), or not read yet, 2345 (tenths of a watt)
#   is reported as 2345 W instead of 234.5 W. Setting `cvalue` in the same state raises ModelError; only reading is silent.
# Why it matters: power is wrong by a power of ten for as long as one register is missing, in the middle of a series that is right otherwise, and the
#   raw number has the type and the unit of a true one. Ask for `W_SF.value is not None` first.
# Source: sunspec2/device.py, Point.get_value and Point.set_value.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q pysunspec2==1.3.7; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import struct
import sys

import sunspec2.device

seen = []
for name, register in (("-1", 0xFFFF), ("not implemented", 0x8000), ("not read yet", None)):
    inverter = sunspec2.device.Model(103)
    inverter.points["W"].set_mb(struct.pack(">h", 2345))
    if register is not None:
        inverter.points["W_SF"].set_mb(struct.pack(">H", register))
    seen.append(inverter.points["W"].cvalue)
    print(f"W = 2345, W_SF {name}: cvalue = {seen[-1]} {inverter.points['W'].pdef['units']}")
try:
    inverter.points["W"].cvalue = 234.5
    raised = False
except sunspec2.device.ModelError as error:
    raised = True
    print(f"setting cvalue: {error}")
sys.exit(not (seen == [234.5, 2345, 2345] and raised))
PYTHON
