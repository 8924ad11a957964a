"""How many rows must be sampled so that no part gets too large.

A sample is m bytes of the input, drawn independently and uniformly (a byte stands for the row that owns it), put in the order of
the rows; rows with equal keys are ordered by (source, offset), so that no two places of the input are equal. Splitter j of P - 1
is the one at rank j s, s = m / P. What lies between two splitters is then the distance of the order statistics j s and (j + 1) s
of m uniform numbers, which is distributed as Beta(s, m + 1 - s) (David, Nagaraja: Order Statistics, 2003, section 2.5), and

    Pr[Beta(s, m + 1 - s) > q]  =  Pr[Binomial(m, q) < s]  <=  exp(-m KL(s / m || q)),     q = (1 + excess) / P

by Chernoff's bound in its sharp form (Chernoff 1952; Hoeffding 1963, theorem 1). All P parts are fine but with P times that
probability. No distribution of the keys is assumed, and duplicates change nothing: ties are cut. A part can exceed the bound by
one row, because rows are not cut.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

EXCESS = 0.1  # a part may be so much larger than the mean,
FAILURE = 1e-6  # but with this probability


def failure_bound(per_part: int, parts: int, excess: float = EXCESS) -> float:
    """An upper bound of the probability that a part is larger than 1 + excess times the mean, with `per_part` samples each."""
    share, limit = 1 / parts, (1 + excess) / parts
    if parts == 1 or limit >= 1:
        return 0.0  # no part is larger than all there is
    divergence = share * math.log(share / limit) + (1 - share) * (math.log1p(-share) - math.log1p(-limit))
    return min(1.0, parts * math.exp(-per_part * parts * divergence))


def sampled_rows(parts: int, excess: float = EXCESS, failure: float = FAILURE) -> int:
    """The fewest rows, a multiple of `parts`, with which failure_bound() is at most `failure`; 0 where nothing can go wrong."""
    if failure_bound(1, parts, excess) == 0:
        return 0
    low, high = 0, 1
    while failure_bound(high, parts, excess) > failure:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if failure_bound(middle, parts, excess) <= failure else (middle, high)
    return high * parts


def rows_by_range(rows: int, range_bytes: Sequence[int], seed: int) -> list[int]:
    """How many of `rows` fall into each range when each is drawn independently, a range with the weight of its bytes."""
    drawn = random.Random(seed)
    counts, left = [], sum(range_bytes)
    for size in range_bytes:
        count = _binomial(rows, size / left, drawn) if left else 0
        counts.append(count)
        rows, left = rows - count, left - size
    return counts


def _binomial(trials: int, chance: float, drawn: random.Random) -> int:
    """Exactly distributed, in a logarithmic number of steps: the middle one of `trials` uniform numbers is Beta distributed, and
    says on which side of `chance` half of them are (Devroye: Non-Uniform Random Variate Generation, 1986, chapter X.4)."""
    count = 0
    while trials > 16 and 0 < chance < 1:
        middle = (trials + 1) // 2
        value = drawn.betavariate(middle, trials + 1 - middle)
        if value <= chance:
            count, trials, chance = count + middle, trials - middle, (chance - value) / (1 - value)
        else:
            trials, chance = middle - 1, chance / value
    return count + sum(drawn.random() < chance for _ in range(trials))
