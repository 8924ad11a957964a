#!/usr/bin/env bash
# In short:  a load of 7 kW is read as 446.4 W, and a counter of energy is back at 0 after 65.5 kWh.
# Package:   python-pzem 0.1.5 with minimalmodbus 2.1.1 and pyserial 3.5 (PyPI), the PZEM-014 and PZEM-016 meters of 10 A and 100 A.
# One would guess: current, power and energy, which the meter has in two registers of 16 bits each (the low one first), are read whole.
# What happens: only the low register is read. Power wraps at 6553.6 W, current at 65.536 A and energy at 65536 Wh. Further, energy is in hundreds of Wh,
#   although the table of registers in the package says "1Wh" beside it, and current is rounded to 0.1 A of the meter's 0.001 A: below 50 mA it is 0.
#   Voltage and frequency, which have one register, are right.
# Why it matters: the larger meter is for loads up to 23 kW. An oven, a heat pump or a car that charges is measured low by 6.5 kW or 13 kW, and the counter
#   falls about once a week in a household. A test with a lamp or a computer passes.
# Source:    pzem/pzem.py, registers ("power": (3, 2, 4), one register with two decimals); the addresses and units are in the meter's description.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --no-deps minimalmodbus==2.1.1 pyserial==3.5 python-pzem==0.1.5; } >&2 || exit 2
cd "$dir" && venv/bin/python - <<'PYTHON'
import sys

import serial
from pzem import PZEM_016


def crc(message):
    value = 0xFFFF
    for byte in message:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xA001 if value & 1 else 0)
    return value.to_bytes(2, "little")


class Meter(serial.Serial):
    """A meter with ten input registers, at the place of a serial port."""

    def __init__(self, volts, amperes, watts, watt_hours):
        super().__init__(baudrate=9600)
        self.is_open, self.answer = True, b""
        whole = [round(amperes * 1000), round(watts * 10), watt_hours]
        words = [word for value in whole for word in (value & 0xFFFF, value >> 16)]
        self.registers = [round(volts * 10), *words, 500, 100, 0]

    def _reconfigure_port(self, force_update=False):
        pass

    def open(self):
        self.is_open = True

    def close(self):
        self.is_open = False

    def reset_input_buffer(self):
        self.answer = b""

    reset_output_buffer = reset_input_buffer

    def write(self, request):
        assert request[1] == 4 and crc(request[:-2]) == request[-2:]
        first, count = (int.from_bytes(request[at : at + 2], "big") for at in (2, 4))
        data = b"".join(word.to_bytes(2, "big") for word in self.registers[first : first + count])
        self.answer = request[:2] + bytes([len(data)]) + data
        self.answer += crc(self.answer)
        return len(request)

    def read(self, _size=1):
        return self.answer


seen = []
for load in (230.0, 0.261, 60.0, 12345), (230.0, 0.04, 9.2, 65535), (230.0, 30.435, 7000.0, 65536), (230.0, 80.0, 18400.0, 1_000_000):
    meter = PZEM_016(Meter(*load))
    seen.append((meter.current, meter.power, meter.energy))
    print("on the meter: {} V, {} A, {} W, {} Wh".format(*load), f"; read: {meter.voltage} V, {meter.current} A, {meter.power} W, energy {meter.energy}")
sys.exit(seen != [(0.3, 60.0, 123.5), (0.0, 9.2, 655.4), (30.4, 446.4, 0), (14.5, 5292.8, 169.6)])
PYTHON
