#!/usr/bin/env bash
# In short:  a meter with current transformers reports 1.234 A, and 12.34 A are read.
# Package:   amshan 2.1.1 with construct 2.10.70 (PyPI), the meters of Norway and Sweden (HAN port) by Aidon, Kaifa and Kamstrup.
# One would guess: Kamstrup's meters behind transformers (type number 685...) send milliamperes, the others hundredths of an ampere; the package has a table
#   of scales for each of the two and chooses by the type number in the message.
# What happens: the type number is looked for under 1.1.96.1.1.256, a code that cannot be sent, as its last part is a byte. It is never found, so the table
#   for transformers is never used, and each current is ten times too high. The type number is in the result, under "meter_type". Power, energy and voltage
#   have the same scale in both tables and are right.
# Why it matters: large consumers have such meters. The current of a phase decides on load limits and fuses, and power that is computed from current and
#   voltage is ten times what the same message says in watts. A test with the meter of a household passes.
# Source:    han/kamstrup.py, _normalize_parsed_items (the code), _field_scaling_ct_meter and _field_scaling_standard (-3 and -2).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: --no-deps amshan==2.1.1 construct==2.10.70; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

from han import kamstrup


def message(meter_type):
    """Returns a list of Kamstrup with a type number, 1234 for the current of phase 1, 690 W and 230 V."""

    def item(code, value):
        return bytes.fromhex(f"09 06 01 01 {code} FF") + value

    items = [
        b"\x0a\x0eKamstrup_V0001",
        item("60 01 01", b"\x0a" + bytes([len(meter_type)]) + meter_type.encode()),
        item("01 07 00", b"\x06" + (690).to_bytes(4, "big")),
        item("1F 07 00", b"\x06" + (1234).to_bytes(4, "big")),
        item("20 07 00", b"\x12" + (230).to_bytes(2, "big")),
    ]
    head = bytes.fromhex("E6 E7 00 0F 00 00 00 00 0C 07 EA 01 0F 04 0C 00 00 FF 80 00 00 02") + bytes([2 * len(items) - 1])
    return head + b"".join(items)


seen = []
for meter_type in ("6841121BN243101040", "6851121BN243101040"):
    found = kamstrup.decode_frame_content(message(meter_type))
    seen.append([found[name] for name in ("meter_type", "current_l1", "active_power_import", "voltage_l1")])
    print("{}: {} A, {} W, {} V".format(*seen[-1]))
print("scale of the current in the table for transformers:", kamstrup._field_scaling_ct_meter["1.1.31.7.0.255"])
sys.exit(seen != [["6841121BN243101040", 12.34, 690, 230], ["6851121BN243101040", 12.34, 690, 230]])
PYTHON
