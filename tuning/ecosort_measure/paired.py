"""Statistics of interleaved runs.

Shared drives drift by a factor of two within minutes, so times of different programs are only compared within a round: a
ratio per round, the median of the ratios, and a bootstrap interval over the rounds.
"""

import functools
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
    count = len(values)
    chosen = np.sort(np.array(values)[_choices(count, seed)], axis=1)
    medians = np.sort((chosen[:, (count - 1) // 2] + chosen[:, count // 2]) / 2)
    low, high = float(medians[int(0.025 * RESAMPLES)]), float(medians[int(0.975 * RESAMPLES) - 1])
    return Interval(statistics.median(values), low, high, count)


@functools.cache
def _choices(count: int, seed: int) -> npt.NDArray[np.intp]:
    """Draws the values of each sample, by number, as random.Random.choices would: so they were drawn for the committed pages."""
    _, (*key, position), _ = random.Random(seed).getstate()
    generator = np.random.RandomState()
    generator.set_state(("MT19937", np.array(key, np.uint32), position, 0, 0.0))
    return (generator.random_sample((RESAMPLES, count)) * count).astype(np.intp)
