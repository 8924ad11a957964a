#!/usr/bin/env bash
# In short:  the minimum and maximum of a recording leave out all that came before its last gap.
# Package:   pyjls 0.17.0 (the newest for Python 3.11) with numpy 2.4.6 (PyPI), the files of Joulescope, which measures current, voltage and power.
# One would guess: samples that were lost are NaN, and the statistics of a range either leave them out or are NaN. The help of fsr_statistics() says that
#   the statistics of a single range (length 1) are "sample-accurate".
# What happens: the mean is NaN, which is seen. The minimum and the maximum are numbers, and those of the samples behind the gap only, as if the comparison
#   began again there. A gap of 50 ms in a second hides the peak before it; with two gaps only the end is left. One lost sample alone is harmless: it takes a
#   gap that fills an entry of the summaries in the file.
# Why it matters: inrush, "peak current" and "lowest voltage" are read from these two. Samples that never arrived are such a gap: where the sample
#   numbers jump, the writer fills in NaN. The peak at the start is gone, and a plausible smaller one is shown. A recording without gaps passes every test.
# Source:    pyjls.Reader.fsr_statistics and its help; the same samples from Reader.fsr(), beside it below.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: pyjls==0.17.0 numpy==2.4.6; } >&2 || exit 2
cd "$dir" && venv/bin/python - <<'PYTHON'
import sys

import numpy as np
from pyjls import DataType, Reader, SignalType, Writer


def minimum_and_maximum(gaps):
    amperes = np.full(1_000_000, 1.0, dtype="float32")
    amperes[1000], amperes[2000], amperes[900_000] = 0.25, 8.0, 1.5
    for start, end in gaps:
        amperes[start:end] = np.nan
    with Writer("recording.jls") as writer:
        writer.source_def(source_id=1, name="meter")
        writer.signal_def(1, source_id=1, signal_type=SignalType.FSR, data_type=DataType.F32, sample_rate=1_000_000, name="current", units="A")
        writer.fsr_f32(1, 0, amperes)
    with Reader("recording.jls") as reader:
        _mean, _deviation, low, high = reader.fsr_statistics(1, 0, len(amperes), 1)[0].tolist()
        samples = reader.fsr(1, 0, len(amperes))
    return (low, high), (float(np.nanmin(samples)), float(np.nanmax(samples)))


cases = {"no gap": [], "one sample": [(50_000, 50_001)], "gap": [(500_000, 550_000)], "two gaps": [(500_000, 550_000), (920_000, 970_000)]}
seen = {}
for name, gaps in cases.items():
    seen[name], true = minimum_and_maximum(gaps)
    print(f"{name:11} minimum and maximum by fsr_statistics {seen[name]}, of the samples {true}")
    if true != (0.25, 8.0):
        sys.exit(1)
sys.exit(seen != {"no gap": (0.25, 8.0), "one sample": (0.25, 8.0), "gap": (1.0, 1.5), "two gaps": (1.0, 1.0)})
PYTHON
