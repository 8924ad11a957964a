#!/usr/bin/env bash
# In short:  of 1000 readings of 230 W, no part is at or below 230 W, and all of them are at or below 230.0001 W.
# Package:   fastdigest 0.12.0 (PyPI), a t-digest for Python in Rust; numpy 2.4.6 beside it.
# One would guess: cdf(x), by its README "the rank (cumulative probability)", is the part of readings at or below x, or counts those equal to x by half,
#   as the reference implementation and Redis do.
# What happens: readings that are equal to x count as none. With 999 readings of 230 W and one of 1000 W cdf(230) is 0.0 and cdf(230.0001) is 0.999. With one of
#   230 W and 999 of 1000 W cdf(1000) is 0.001, though no reading is higher.
# Why it matters: loads, temperatures and voltages that are rounded have few values, and the question is asked for just these: "which part of the time is the load at
#   most 230 W?" The answer is 0 percent for a constant load, and the rest by 1 - cdf(x) is 100 percent. quantile(0.5) is 230, so back and
#   forth does not agree: cdf(quantile(0.5)) is 0.
# Source:    fastdigest.TDigest.cdf, printed below.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: fastdigest==0.12.0 numpy==2.4.6; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import numpy
from fastdigest import TDigest

seen = []
for name, readings in {
    "1000 of 230 W": [230.0] * 1000,
    "999 of 230 W, one of 1000 W": [230.0] * 999 + [1000.0],
    "10 of 0 W, 980 of 230 W, 10 of 500 W": [0.0] * 10 + [230.0] * 980 + [500.0] * 10,
    "one of 230 W, 999 of 1000 W": [230.0] + [1000.0] * 999,
}.items():
    digest, true = TDigest.from_values(readings), numpy.array(readings)
    asked = digest.quantile(0.5)
    values = [digest.cdf(asked), digest.cdf(asked + 0.0001), float(numpy.mean(true <= asked))]
    print(f"{name}: quantile(0.5) {asked}, cdf of it {values[0]:.3f}, of 0.0001 more {values[1]:.3f}; at or below it are {values[2]:.3f}")
    seen.append([round(value, 2) for value in values])
sys.exit(seen != [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.01, 0.99, 0.99], [0.0, 1.0, 1.0]])
PYTHON
