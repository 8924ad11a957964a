#!/usr/bin/env bash
# In short:  of 1000 binary serial numbers of meters 945 are left, and 01 and 30 31 are one identifier.
# Package:   smllib 1.7 (PyPI), SML, the protocol of German electricity meters.
# One would guess: an octet string (an identifier, a key) is returned as it is, or as hexadecimal digits, so different ones stay different.
# What happens: it is decoded as UTF-8, and bytes that are none are dropped. Where letters and digits remain they are the value; else it is the hexadecimal
#   text. C8 31 32 33 and 31 32 33 are both "123", and the byte 01 is "01", which is what the text 01 (30 31) is. Of 1000 random numbers of four bytes a
#   quarter comes as a text of less than eight characters.
# Why it matters: it is the key by which readings of several meters are sorted, grouped and joined. Two meters become one series whose counter jumps. The
#   type is str in each case, so nothing says which of the two forms a value has. Numbers that begin with 0A 01, and names of letters only, are right.
# Source:    smllib/builder/list_entry.py, SmlListEntryBuilder.build: decode(errors='ignore'), then isalnum().
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: --no-deps smllib==1.7; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import random
import sys

from smllib import SmlFrame


def read(identifier):
    """Returns the value of a list entry (OBIS 1-0:96.1.0) that has these bytes."""
    entry = bytes.fromhex("77 07 01 00 60 01 00 FF 01 01 01 01") + bytes([len(identifier) + 1]) + identifier + b"\x01"
    return SmlFrame(entry).get_obis()[0].value


seen = []
for text in ("0A 01 45 4D 48 00 00 01", "45 4D 48", "45 4D 48 FF", "C8 31 32 33", "31 32 33", "01", "30 31"):
    seen.append(read(bytes.fromhex(text)))
    print(f"{text:24} -> {seen[-1]!r}")
generator = random.Random(1)
numbers = {generator.randbytes(4) for _ in range(1000)}
values = [read(number) for number in numbers]
shorter = sum(len(value) < 8 for value in values)
print(f"{len(numbers)} numbers of four bytes: {len(set(values))} values, {shorter} of them shorter than eight digits")
expected = ["0a01454d48000001", "EMH", "EMH", "123", "123", "01", "01"]
sys.exit((seen, len(numbers), len(set(values)), shorter) != (expected, 1000, 945, 259))
PYTHON
