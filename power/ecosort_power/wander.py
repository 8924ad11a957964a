"""What stretches of idle energy that overlap say of how the idle power wanders: pure.

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
    """Of stretches of `reach` values each in `values` of them, all of them means over the last `smear` values, if that is more
    than one: their mean square as a share of the variance of a stretch of independent values, and its degrees of freedom."""
    if values > MOST:
        values, reach, smear = MOST, reach * MOST / values, smear * MOST / values
    sums = _sums(values, reach) - reach / values
    if smear > 1.0:
        sums = sums @ (_sums(values + ceil(smear), smear)[:values] / smear)
    products = sums @ sums.T
    trace = float(np.trace(products))
    return trace / len(sums) / reach, trace**2 / float(np.square(products).sum())


def _sums(values: int, reach: float) -> Floats:
    """Row i: how much of each value lies between i and i + reach."""
    begins = np.arange(int(values - reach + 1e-9) + 1)[:, None]
    cells = np.arange(values)[None, :]
    found: Floats = np.clip(np.minimum(cells + 1, begins + reach) - np.maximum(cells, begins), 0.0, 1.0)
    return found
