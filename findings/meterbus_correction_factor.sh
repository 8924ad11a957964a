#!/usr/bin/env bash
# In short:  a meter's factor of 1000 is read over: 1000 kWh in place of 1000 MWh.
# Package:   pyMeterBus 0.8.5 (PyPI), the Meter-Bus (EN 13757) of heat, water and electricity meters.
# One would guess: a value with a correction factor in its unit (VIFE 7D: times 1000; 74: times 0.01) is multiplied by it, as it is by the power of
#   ten in the unit's first byte, or is refused.
# What happens: the factor is read over. 1000 kWh times 1000 is 1000 kWh, in `value` and in the JSON. With most units "UNKNOWN_ENHANCEMENT" is
#   beside it, with those of the extension tables (MWh, GJ, MW) nothing. In the same package the factor of a unit that the meter names by a text (VIF
#   FC) is used.
# Why it matters: meters behind current transformers and large heat meters need the factor, small ones don't, so a reader that was tried at a small
#   meter logs 1000 times too little, in the right unit. Added up with other meters in one table nothing shows it.
# Source:    meterbus/telegram_variable_data_record.py, _parse_vifx (the branch for 0xFC has the factors, the others have none); EN 13757-3, table of
#   the orthogonal VIFE.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: pyMeterBus==0.8.5; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import meterbus


def record(unit):
    """Returns the only record of an answer of a meter: 1000 as 32 bits, with these bytes of the unit."""
    header = "08 01 72 78 56 34 12 24 23 01 02 01 00 00 00"
    body = bytes.fromhex(f"{header} 04 {unit} E8 03 00 00")
    return meterbus.load(bytes([0x68, len(body), len(body), 0x68]) + body + bytes([sum(body) & 0xFF, 0x16])).records[0]


seen = {}
for unit, text in (("06", "kWh"), ("86 7D", "kWh, times 1000"), ("86 74", "kWh, times 0.01"), ("FB 01", "MWh"), ("FB 81 7D", "MWh, times 1000")):
    found = record(unit).interpreted
    seen[text] = int(found["value"]), "unit_enh" in found
    print(f"1000 {text:16} -> {found['value']} {found['unit']} {found.get('unit_enh', '')}")
expected = {
    "kWh": (10**6, False), "kWh, times 1000": (10**6, True), "kWh, times 0.01": (10**6, True), "MWh": (10**9, False), "MWh, times 1000": (10**9, False),
}
sys.exit(seen != expected)
PYTHON
