"""Computes how many rows must be sampled so that no part gets too large.

The input is cut into m pieces of equal size; of each, one byte is drawn uniformly and independently, which stands for the row
that owns it. Rows with equal keys are ordered by (source, offset), so that no two places of the input are equal. The sample is
put in the order of the rows, and of every s it has, s = m / P, one is a splitter. A part is too large if fewer than s other
samples fall into the stretch of q = (1 + excess) / P of all bytes that follows the sample it begins with. For one such sample the
number of others in that stretch is a sum of m - 1 independent variables of 0 or 1 with a mean of m q - 1 at least (its own piece
is missing); that it is below s has a probability of at most

    exp(-m KL((s + 1) / m || q - 1 / m))

by Hoeffding's theorem 1 (Probability Inequalities for Sums of Bounded Random Variables, 1963), which is Chernoff's bound for
variables that need not be distributed alike. A part begins with one of m samples or at the beginning: m + 1 times that is the
bound of all. No distribution of the keys is assumed, nor their places in the input; duplicates change nothing, because ties
are cut. A part can exceed the bound by one row, because rows are not cut.

Ranges get as many rows as their share of the bytes, rounded up; `ranges` more samples than m, all of which may be where they do
harm, make s larger by ranges / P.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

EXCESS = 0.1  # a part may be so much larger than the mean,
FAILURE = 1e-6  # but with this probability


def failure_bound(per_part: int, parts: int, ranges: int = 1, excess: float = EXCESS) -> float:
    """An upper bound of the probability that a part is larger than 1 + excess times the mean, with `per_part` samples each."""
    rows = per_part * parts
    wanted = (per_part + ranges / parts + 1) / rows
    there = (1 + excess) / parts - 1 / rows
    if parts == 1 or there >= 1:
        return 0.0  # no part is larger than all there is
    if wanted >= there:
        return 1.0
    divergence = wanted * math.log(wanted / there) + (1 - wanted) * (math.log1p(-wanted) - math.log1p(-there))
    return min(1.0, (rows + 1) * math.exp(-rows * divergence))


def sampled_rows(parts: int, ranges: int = 1, excess: float = EXCESS, failure: float = FAILURE) -> int:
    """The fewest rows, a multiple of `parts`, with which failure_bound() is at most `failure`; 0 where nothing can go wrong."""
    if failure_bound(10**9, parts, ranges, excess) == 0 and (parts == 1 or 1 + excess >= parts):
        return 0
    low, high = 0, 1
    while failure_bound(high, parts, ranges, excess) > failure:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if failure_bound(middle, parts, ranges, excess) <= failure else (middle, high)
    return high * parts


def rows_by_range(rows: int, range_bytes: Sequence[int]) -> list[int]:
    """Returns how many of `rows` each range gives, rounded up."""
    total = sum(range_bytes)
    return [-(-rows * size // total) if total else 0 for size in range_bytes]
