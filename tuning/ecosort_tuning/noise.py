"""Judges what can be said about two sets of measurements on a machine that drifts. Pure.

Two questions are asked of every difference, and both must say yes: does the bootstrap interval of the ratio leave out 1, and
would chance alone have done this less than once in twenty (exact sign test of pairs, rank test of sets)? The interval alone is
too narrow for a handful of runs: that of three pairs reaches from the least to the greatest, which holds the true median three
times in four only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, erfc, sqrt

import numpy as np
from ecosort_measure.paired import RESAMPLES, Interval, median_interval, ratios

CHANCE = 0.05
# Up to so many ways to divide the runs the rank test counts all of them.
_EXACT_DIVISIONS = 20_000


@dataclass(frozen=True, slots=True)
class Judgement:
    """A ratio of medians with its 95 % interval, and how probable so great a difference is by chance."""

    interval: Interval
    chance: float

    @property
    def seen(self) -> bool:
        return self.chance < CHANCE and not self.interval.low <= 1.0 <= self.interval.high


def judge_pairs(over: Sequence[float], under: Sequence[float]) -> Judgement:
    """Judges values that belong together pair by pair: the ratios over/under."""
    found = ratios(over, under)
    return Judgement(median_interval(found), sign_test(found))


def judge_sets(over: Sequence[float], under: Sequence[float]) -> Judgement:
    """Judges two sets whose values do not belong together: the ratio of their medians, over/under."""
    return Judgement(ratio_of_medians(over, under), rank_test(over, under))


def sign_test(values: Sequence[float]) -> float:
    """Two-sided probability that ratios fall so unevenly around 1; those that are 1 say nothing."""
    above, below = sum(v > 1 for v in values), sum(v < 1 for v in values)
    n = above + below
    if n == 0:
        return 1.0
    tail = sum(comb(n, k) for k in range(min(above, below) + 1)) / 2**n
    return float(min(1.0, 2 * tail))


def _ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    ranks = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end + 1 < len(order) and values[order[end + 1]] == values[order[begin]]:
            end += 1
        for i in order[begin : end + 1]:
            ranks[i] = (begin + end) / 2 + 1
        begin = end + 1
    return ranks


def rank_test(a: Sequence[float], b: Sequence[float]) -> float:
    """Two-sided probability of rank sums so far apart (Mann, Whitney): all divisions of few runs, else the normal one."""
    ranks = _ranks([*a, *b])
    n, m = len(a), len(b)
    middle = n * (n + m + 1) / 2
    distance = abs(sum(ranks[:n]) - middle)
    if comb(n + m, n) <= _EXACT_DIVISIONS:
        sums = [sum(chosen) for chosen in combinations(ranks, n)]
        return sum(abs(s - middle) >= distance - 1e-9 for s in sums) / len(sums)
    spread = sum((r - (n + m + 1) / 2) ** 2 for r in ranks) / (n + m)  # of the ranks, ties included
    deviation = sqrt(n * m * spread / (n + m - 1))
    return 1.0 if deviation == 0 else erfc(max(0.0, distance - 0.5) / deviation / sqrt(2))


def ratio_of_medians(over: Sequence[float], under: Sequence[float], seed: int = 1) -> Interval:
    """median(over) / median(under) and its percentile bootstrap interval; each set is resampled by itself."""
    generator = np.random.default_rng(seed)

    def medians(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        found = np.asarray(values, dtype=np.float64)
        return np.asarray(np.median(generator.choice(found, size=(RESAMPLES, len(found))), axis=1))

    resampled = np.sort(medians(over) / medians(under))
    low, high = resampled[int(0.025 * RESAMPLES)], resampled[int(0.975 * RESAMPLES) - 1]
    return Interval(float(np.median(over) / np.median(under)), float(low), float(high), min(len(over), len(under)))
