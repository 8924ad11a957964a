#!/usr/bin/env bash
# In short:  a constant current of 433 uA is 3 to 390 uA for some samples, if a read of the port returns less than four bytes.
# Package:   ppk2-api 0.9.2 with pyserial 3.5 (PyPI), the Power Profiler Kit II of Nordic Semiconductor, a meter of small currents.
# One would guess: get_samples() takes the bytes as they come and keeps the rest of a sample for the next call, as its field `remainder` says; the samples do not
#   depend on where the stream is cut.
# What happens: where the stream is cut behind four bytes or more they do not. A call with one to three bytes of a new sample takes these as a whole sample, with
#   zeros for the rest. The next call begins with the wrong byte, and the range of the meter, which is in the lost byte, is another. The filter
#   for changes of the range then spoils the samples behind. The number of samples is right. No error is raised.
# Why it matters: get_data() returns what is waiting, so how much it is depends on the load of the computer and on the rate of polling. The mean current of the
#   read is up to two thirds too low, and a test with recorded blocks passes.
# Source:    ppk2_api/ppk2_api.py, get_samples: the first sample is made of `remainder + buf[0:4 - len]` without a look at its length.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: --no-deps ppk2-api==0.9.2 pyserial==3.5; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import os
import pty
import sys

from ppk2_api.ppk2_api import PPK2_API

stream = (1 << 14 | 1000).to_bytes(4, "little") * 6  # six samples of range 1


def read(cuts):
    """Returns the samples of the stream, handed over in pieces of these lengths."""
    meter = PPK2_API(os.ttyname(pty.openpty()[1]))
    meter.current_vdd = 3300
    samples, place = [], 0
    for cut in cuts:
        samples += meter.get_samples(stream[place : place + cut])[0]
        place += cut
    return [round(sample) for sample in samples]


seen = []
for cuts in ([24], [6, 18], [10, 14], [2, 22], [1, 23], [9, 1, 14]):
    samples = read(cuts)
    seen.append(samples)
    print(f"pieces of {cuts} bytes: {samples} uA, mean {sum(samples) / len(samples):.0f}")
right = [433] * 6
sys.exit(not (seen[:3] == [right] * 3 and all(found != right and len(found) == 6 for found in seen[3:]) and min(seen[4]) == 3))
PYTHON
