#!/usr/bin/env bash
# In short:  999 readings of 230 W and one of 1000 W have a quarter of their values above 615 W.
# Package:   distogram 3.0.3 (PyPI), histograms of streams with quantiles, to be merged in a cluster.
# One would guess: a histogram with 100 bins is exact as long as there are fewer than 100 different values, and where it is not, one reading of a
#   thousand moves the quantiles by a thousandth.
# What happens: the two bins are exact, 999 times 230.0 and once 1000.0. But a quantile takes half of each bin's count as spread evenly up to the next
#   bin, wherever that is. So the 75 % quantile is 615.77, that of 90 % 846.77, and count_at(300) finds 586 readings of 999. Without the spike all
#   quantiles are 230. Of 700 readings of 0 W and 300 of 2000 W the median is 600 W. The count, the mean and the bounds are right.
# Why it matters: a supply voltage, a load that is switched, a machine at rest: most measured series have a few values that are very frequent. One spike
#   raises all quantiles above the median, and the borders for a sort by ranges are where no row is. Values that are spread, as in the README (a normal
#   distribution), pass every test: there one spike among a thousand moves the three below by less than 0.02.
# Source:    distogram/__init__.py, quantile (the mean of two neighbouring counts between two bins); README, Ben-Haim's and Tom-Tov's trapezoids.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q distogram==3.0.3; } >&2 || exit 2
cd "$dir" && venv/bin/python - <<'PYTHON'
import random
import sys

import distogram

random.seed(1)
noise = [random.gauss(230, 2) for _ in range(999)]
series = {
    "999 times 230": [230.0] * 999,
    "and one of 1000": [230.0] * 999 + [1000.0],
    "700 of 0, 300 of 2000": [0.0] * 700 + [2000.0] * 300,
    "999 around 230": noise,
    "and one of 1000 ": noise + [1000.0],
}
seen = {}
for name, values in series.items():
    histogram = distogram.Distogram()
    for value in values:
        histogram = distogram.update(histogram, value)
    ordered = sorted(values)
    seen[name] = [round(distogram.quantile(histogram, part), 2) for part in (0.5, 0.75, 0.9)]
    true = [round(ordered[int(len(ordered) * part)], 2) for part in (0.5, 0.75, 0.9)]
    bins = histogram.bins if len(histogram.bins) < 3 else f"{len(histogram.bins)} bins"
    print(f"{name:22} median, 75 %, 90 %: {seen[name]}; of the sorted list: {true}; {bins}; mean {distogram.mean(histogram):.2f}")
    if name == "and one of 1000":
        print(f"{'':22} readings up to 300: {distogram.count_at(histogram, 300):.0f}")
right = seen["999 times 230"] == [230, 230, 230] and all(abs(one - other) < 0.02 for one, other in zip(seen["999 around 230"], seen["and one of 1000 "]))
sys.exit(not (right and seen["and one of 1000"] == [230.77, 615.77, 846.77] and seen["700 of 0, 300 of 2000"] == [600, 1600, 2000]))
PYTHON
