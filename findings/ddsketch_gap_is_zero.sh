#!/usr/bin/env bash
# In short:  a missing reading counts as a reading of 0 in every percentile.
# Package:   ddsketch 3.0.1 (PyPI), Datadog's sketch of quantiles.
# One would guess: NaN is refused, as infinity is (an OverflowError), or left out.
# What happens: a value that is neither above nor below the smallest number that the sketch keeps apart from 0 counts as 0, and NaN is neither. 40 readings
#   of 230 and 60 gaps have the median 0; count is 100, and sum and avg are NaN from the first gap on, which is the only trace.
# Why it matters: percentiles are read far more often than avg. A meter or a probe that fails makes the machine look faster, or thriftier: the more is
#   missing the better the median. Merged with the sketches of other machines, one with gaps lowers the percentiles of all.
# Source:    ddsketch/ddsketch.py, BaseDDSketch.add: two comparisons, and what fits neither is counted as zero.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q ddsketch==3.0.1; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

from ddsketch import DDSketch

seen = []
for gaps in (0, 30, 60):
    sketch = DDSketch(relative_accuracy=0.01)
    for watts in [230.0] * 40 + [float("nan")] * gaps:
        sketch.add(watts)
    quartiles = [round(sketch.get_quantile_value(quantile)) for quantile in (0.25, 0.5, 0.75)]
    seen.append(quartiles)
    print(f"40 readings of 230 and {gaps} gaps: count {sketch.count:.0f}, quartiles {quartiles}, avg {sketch.avg}")
try:
    sketch.add(float("inf"))
    refuses_infinity = False
except OverflowError as error:
    refuses_infinity = True
    print("infinity:", error)
sys.exit(not (seen == [[228] * 3, [0, 228, 228], [0, 0, 228]] and refuses_infinity))
PYTHON
