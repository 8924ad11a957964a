"""Finds when an energy counter looked at the energy, to better than the time between two readings: pure.

A counter looks every so often by a clock of its own, and each move was read within one reading of a look. If the clock is even,
look k was at a + n_k p for one moment a and one period p, and every move bounds both: it was after the reading before it, not
after its own. Each bound cuts a half plane off what (a, p) may be; what all of them leave is a small polygon, and with it the
moment of every look is known to a small part of the time between two readings. A clock that is not even leaves nothing, and then
nothing is narrowed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ecosort_power.integrate import Floats

FEWEST = 8  # moves, below which an uneven clock could look even
EVEN = 0.05  # of the period that is stated, the true one may be away from it
FINEST = 0.125  # of the time between two readings: no clock is more even than that
_HALVINGS = 24
_SLICES = 33  # of the polygon, the first and the last of which are corners


@dataclass(frozen=True, slots=True)
class Looks:
    """Says when a counter looked, one entry a move."""

    times_s: Floats
    holds_s: Floats  # a moment anywhere in so long a stretch around each is as uncertain as it is by itself
    counts: Floats  # n_k
    covariance: Floats  # of a and p, that all of them have in common
    alone_s: Floats  # the part of `holds_s` that each has for itself: no clock is more even

    def deviation_s(self, weights: ArrayLike, looks: ArrayLike) -> float:
        """Standard deviation of the weighted sum of the moments of some looks, as far as they are wrong together: one early look
        of an even clock says that the others are early, too."""
        counts = self.counts[np.asarray(looks)]
        gradient = np.array([np.sum(weights), np.sum(np.asarray(weights) * counts)])
        return float(np.sqrt(max(gradient @ self.covariance @ gradient, 0.0)))


def narrowed(read_s: Floats, gaps_s: Floats, update_s: float) -> Looks | None:
    """The looks that moves read at `read_s` show, each within `gaps_s` before it. None: the moves are too few, too far apart, or
    by no even clock."""
    if len(read_s) < FEWEST or update_s <= 0.0:
        return None
    counts = _counts(read_s - gaps_s / 2, float(gaps_s.max()), update_s)
    if counts is None:
        return None
    after, before = read_s - gaps_s, read_s

    def room(period: float) -> tuple[float, float]:
        """Between these two was look 0, if the looks are so far apart."""
        return float((after - counts * period).max()), float((before - counts * period).min())

    middle = float(np.polyfit(counts, (after + before) / 2, 1)[0])
    away = 2 * float(gaps_s.max()) / float(counts[-1])
    periods = _even_periods(room, middle - away, middle + away)
    if periods is None:
        return None
    return _placed(counts, room, np.linspace(*periods, _SLICES), gaps_s)


def _placed(counts: Floats, room: Callable[[float], tuple[float, float]], periods: Floats, gaps_s: Floats) -> Looks:
    """Mean and spread over the polygon, cut into slices of one period each. All points of it are as likely."""
    firsts, lasts = np.array([room(p) for p in periods]).T
    widths = np.maximum(lasts - firsts, 0.0)
    shares = widths / widths.sum()
    points = np.array([(firsts + lasts) / 2, periods])
    mean = points @ shares
    away = points - mean[:, None]
    covariance: Floats = (shares * away) @ away.T
    covariance[0, 0] += shares @ np.square(widths) / 12
    factors = np.array([np.ones(len(counts)), counts])
    variances = np.sum(factors * (covariance @ factors), axis=0)
    holds = np.clip(np.sqrt(12 * np.maximum(variances, 0.0)), gaps_s * FINEST, gaps_s)
    return Looks(mean @ factors, holds, counts, covariance, gaps_s * FINEST)


def _counts(middles_s: Floats, gap_s: float, update_s: float) -> Floats | None:
    """The number of the look that each move shows. None: it is not known."""
    steps = np.rint(np.diff(middles_s) / update_s)
    if steps.min() < 1 or EVEN * float(steps.max()) + gap_s / update_s >= 0.5:
        return None
    counts: Floats = np.concatenate(([0.0], np.cumsum(steps)))
    return counts


def _even_periods(room: Callable[[float], tuple[float, float]], low: float, high: float) -> tuple[float, float] | None:
    """The shortest and the longest period that leave room: it is a concave function of the period."""

    def width(period: float) -> float:
        first, last = room(period)
        return last - first

    a, b = low, high
    for _ in range(_HALVINGS):
        third = (b - a) / 3
        a, b = (a + third, b) if width(a + third) < width(b - third) else (a, b - third)
    best = (a + b) / 2
    if width(best) <= 0.0:
        return None
    return _last_with_room(width, best, low), _last_with_room(width, best, high)


def _last_with_room(width: Callable[[float], float], inside: float, outside: float) -> float:
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if width(middle) > 0.0 else (inside, middle)
    return inside
