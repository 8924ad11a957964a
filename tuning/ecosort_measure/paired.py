"""Statistics of interleaved runs.

Shared drives drift by a factor of two within minutes, so times of different programs are only compared within a round: a
ratio per round, the median of the ratios, and a bootstrap interval over the rounds.
"""

import functools
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

RESAMPLES = 10_000


@dataclass(frozen=True)
class Interval:
    """A median with the 95 % interval of its bootstrap distribution."""

    median: float
    low: float
    high: float
    pairs: int


def ratios(numerators: Sequence[float], denominators: Sequence[float]) -> list[float]:
    """One ratio per pair; both sequences list the same rounds."""
    return [a / b for a, b in zip(numerators, denominators, strict=True)]


def median_interval(values: Sequence[float], seed: int = 1) -> Interval:
    """The median and its percentile bootstrap interval; the same values and seed give the same interval."""
    if not values:
        raise ValueError("no values")
    return _bootstrap(tuple(values), seed)


@functools.cache  # a page shows some of them several times
def _bootstrap(values: tuple[float, ...], seed: int) -> Interval:
    if len(set(values)) == 1:
        return Interval(values[0], values[0], values[0], len(values))
    generator = random.Random(seed)
    medians = sorted(statistics.median(generator.choices(values, k=len(values))) for _ in range(RESAMPLES))
    low, high = medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES) - 1]
    return Interval(statistics.median(values), low, high, len(values))
