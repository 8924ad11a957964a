#!/usr/bin/env bash
# In short:  a set point that is read as 0.29 and written back as it is becomes 0.28.
# Package:   minimalmodbus 2.1.1 with pyserial 3.5 (PyPI), Modbus for meters and controllers.
# One would guess: read_register(..., number_of_decimals=2) and write_register() with the same 2 are each other's inverse: 0.29 is the register 29.
# What happens: the value is multiplied by 100 as a float and cut off: 0.29 * 100 is 28.999999999999996, so 28 is written. Of the 65536 values that a
#   register can hold, 4586 are one less behind it. Read and written again, 1.16 becomes 1.15, 1.14, 1.13 and 1.12, where it stays. With one decimal all are
#   right; nothing is raised.
# Why it matters: limits of power, tariffs and set points are read, compared and written back. A program that restores a setting after each run lowers it,
#   and one that checks what it wrote finds a difference and tries again. Values such as 0.25, 21.5 and 50 pass every test.
# Source:    minimalmodbus.py, _num_to_two_bytes: `int(float(value) * multiplier)`; the device below is simulated, and checks what it gets.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: minimalmodbus==2.1.1 pyserial==3.5; } >&2 || exit 2
cd "$dir" && venv/bin/python - <<'PYTHON'
import sys

import minimalmodbus
import serial


def crc(message):
    value = 0xFFFF
    for byte in message:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xA001 if value & 1 else 0)
    return value.to_bytes(2, "little")


class Device(serial.Serial):
    """A device with one register, at the place of a serial port."""

    def __init__(self):
        super().__init__(baudrate=115200)
        self.is_open, self.register, self.answer = True, 0, b""

    def close(self):
        pass

    def reset_input_buffer(self):
        self.answer = b""

    reset_output_buffer = reset_input_buffer

    def write(self, request):
        assert crc(request[:-2]) == request[-2:] and request[1] in (3, 6)
        if request[1] == 3:
            answer = request[:2] + b"\x02" + self.register.to_bytes(2, "big")
        else:
            self.register, answer = int.from_bytes(request[4:6], "big"), request[:-2]
        self.answer = answer + crc(answer)
        return len(request)

    def read(self, _size=1):
        return self.answer


device = Device()
instrument = minimalmodbus.Instrument(device, 1)


def after(register, decimals):
    device.register = register
    instrument.write_register(0, instrument.read_register(0, decimals), decimals, functioncode=6)
    return device.register


counts = [sum(after(register, decimals) != register for register in range(600)) for decimals in (1, 2)]
print("of the registers 0 to 599, changed by reading and writing: with one decimal {}, with two {}".format(*counts))
registers = [116]
while len(registers) < 6:
    registers.append(after(registers[-1], 2))
print("1.16, read and written again and again:", *(register / 100 for register in registers))
sys.exit(counts != [0, 37] or registers != [116, 115, 114, 113, 112, 112])
PYTHON
