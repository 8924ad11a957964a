#!/usr/bin/env bash
# In short:  an external sort (Python) drops everything after the first blank line.
# Package:   ext-sort 0.2.0 (PyPI), an external sort of files of lines.
# One would guess: a blank line is a line, and sorts first.
# What happens: its reader strips each line and takes an empty result as the end of the input. Everything after the first blank line (or
#   line of spaces) is dropped, and no error is reported. Blanks at the ends of all other lines are removed as well.
# Why it matters: a text of a million lines with one blank line in it comes out short, in perfect order.
# Source: ext_sort/sort.py, Deserializer.__next__ and ByteLineDeserializer.read.
# (A new pip refuses to install the package's command; the module is taken from the published archive.)
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" download -q --no-deps -d "$dir" ext-sort==0.2.0 && tar -xzf "$dir"/ext-sort-0.2.0.tar.gz -C "$dir"; } >&2 || exit 2
PYTHONPATH="$dir/ext-sort-0.2.0" "$dir/venv/bin/python" - <<'PYTHON'
import io
import sys

import ext_sort

text = b"m\nc  \n\nz\na\n"
result = io.BytesIO()
ext_sort.sort(io.BytesIO(text), result, chunk_size=2, workers_cnt=1)
print(f"in:  {text!r}\nout: {result.getvalue()!r}")
sys.exit(result.getvalue() != b"c\nm\n")
PYTHON
