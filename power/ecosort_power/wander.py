"""Says what stretches of idle energy that overlap show of how the idle power wanders: pure.

The variance of the energy of a stretch is estimated from all stretches of that length in the idle readings, less their common
mean. They overlap and share that mean, so the mean square of them is too small, and rests on fewer independent values than there
are stretches. Both follow exactly from which values each stretch is a sum of, for a wander without memory: the mean square is a
quadratic form of independent values, its mean the trace of its matrix, and its degrees of freedom trace^2 / trace of the square
(Satterthwaite).
"""

from __future__ import annotations

from math import ceil

import numpy as np

from ecosort_power.integrate import Floats

MOST = 80  # values; the ratios of longer idle stretches are those of this many within a few per mille


def stretches(values: int, reach: float, smear: float) -> tuple[float, float]:
    """Judges stretches of `reach` values each in `values` of them, all of them means over the last `smear` values, if that is
    more than one: their mean square as a share of the variance of a stretch of independent values, and its degrees of freedom.
    """
    if values > MOST:
        values, reach, smear = MOST, reach * MOST / values, smear * MOST / values
    sums = _sums(values, reach) - reach / values
    if smear > 1.0:
        sums = sums @ (_sums(values + ceil(smear), smear)[:values] / smear)
    products = sums @ sums.T
    trace = float(np.trace(products))
    return trace / len(sums) / reach, trace**2 / float(np.square(products).sum())


def by_values(times_s: Floats, reach_s: float, count: int) -> float:
    """The mean square of what independent errors of variance 1 of the values at these times make of the energies of the first
    `count` stretches, each from one value on for `reach_s`, less their share of the energy of all. An end between two values is
    on the line between them."""
    values = len(times_s)
    if values > MOST:  # two ends, the second on a line, and nothing of the mean
        return 5 / 3
    ends = times_s[:count] + reach_s
    right = np.clip(np.searchsorted(times_s, ends), 1, values - 1)
    share = np.clip((ends - times_s[right - 1]) / (times_s[right] - times_s[right - 1]), 0.0, 1.0)
    weights, rows = np.zeros((count, values)), np.arange(count)
    np.add.at(weights, (rows, rows), -1.0)
    np.add.at(weights, (rows, right - 1), 1.0 - share)
    np.add.at(weights, (rows, right), share)
    of_all = reach_s / float(times_s[-1] - times_s[0])
    weights[:, -1] -= of_all
    weights[:, 0] += of_all
    return float(np.square(weights).sum() / count)


def _sums(values: int, reach: float) -> Floats:
    """Row i: how much of each value lies between i and i + reach."""
    begins = np.arange(int(values - reach + 1e-9) + 1)[:, None]
    cells = np.arange(values)[None, :]
    found: Floats = np.clip(np.minimum(cells + 1, begins + reach) - np.maximum(cells, begins), 0.0, 1.0)
    return found
