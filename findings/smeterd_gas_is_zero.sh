#!/usr/bin/env bash
# In short:  the counter of gas is 0 where its meter sits at the second channel, and in each telegram that has none.
# Package:   smeterd 2.9.2 (PyPI), telegrams of Dutch and Belgian smart meters (DSMR, port P1).
# One would guess: what a telegram does not have is None, as the voltage and the total of electricity are; a counter is never made up.
# What happens: two kinds of fields have the default 0 instead: the counter of gas, and the power of each phase. Gas is looked for at channel 1 only. A meter
#   that was exchanged, or came after one of water, has another channel: its counter reads as 0, from a valid telegram that has it.
# Why it matters: the use of a day is the difference of two counters. One telegram without gas makes a use of minus all, and the next one a use of all
#   that was ever burnt. A phase of which nothing is known is one without load: 0 W. A telegram with all fields is right.
# Source:    smeterd/meter.py, P1Packet: get_float(..., 0) for keys['gas']['total'] and the watts, without a default for the others.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q smeterd==2.9.2 crcmod==1.7; } >&2 || exit 2
cd "$dir" && venv/bin/python - <<'PYTHON'
import sys

import crcmod.predefined
from smeterd.meter import P1Packet

checksum = crcmod.predefined.mkPredefinedCrcFun("crc16")
electricity = ["/ABC5METER", "", "1-3:0.2.8(50)", "0-0:1.0.0(260101120000W)", "1-0:1.8.1(002074.813*kWh)", "1-0:1.7.0(00.454*kW)"]
gas = ["0-{0}:24.1.0(003)", "0-{0}:24.2.1(260101120000W)(02347.813*m3)"]


def read(lines):
    text = "\r\n".join([*electricity, *lines, "!"]).encode()
    packet = P1Packet(text + b"%04X\r\n" % checksum(text))
    phase = packet["instantaneous"]["l1"]
    return packet["gas"]["total"], packet["kwh"]["high"]["consumed"], phase["volts"], phase["watts"]


cases = {
    "gas at channel 1": [line.format(1) for line in gas],
    "gas at channel 2, water at 1": ["0-1:24.1.0(007)", *(line.format(2) for line in gas)],
    "no gas": [],
    "with voltage and power": ["1-0:32.7.0(229.5*V)", "1-0:21.7.0(00.454*kW)", *(line.format(1) for line in gas)],
}
seen = {}
for name, lines in cases.items():
    seen[name] = read(lines)
    print(f"{name:29} gas {seen[name][0]}, electricity of tariff 2 {seen[name][1]}, voltage {seen[name][2]}, power of the phase {seen[name][3]}")
expected = [(2347.813, None, None, 0), (0, None, None, 0), (0, None, None, 0), (2347.813, None, 229.5, 454.0)]
sys.exit(list(seen.values()) != expected)
PYTHON
