"""When an energy counter looked at the energy, to better than the time between two readings: pure.

A counter looks every so often by a clock of its own, and each move was read within one reading of a look. If the clock is even,
look k was at a + n_k p for one moment a and one period p, and every move bounds both: it was after the reading before it, not
after its own. Each bound cuts a half plane off what (a, p) may be; what all of them leave is a small polygon, and with it the
moment of every look is known to a small part of the time between two readings. A clock that is not even leaves nothing, and then
nothing is narrowed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ecosort_power.integrate import Floats

FEWEST = 8  # moves, below which an uneven clock could look even
EVEN = 0.05  # of the period that is stated, the true one may be away from it
FINEST = 0.125  # of the time between two readings: no clock is more even than that
_HALVINGS = 24
_SLICES = 33  # of the polygon, the first and the last of which are corners


def narrowed(read_s: Floats, gaps_s: Floats, update_s: float) -> tuple[Floats, Floats] | None:
    """Moments of the looks that moves read at `read_s` show, each within `gaps_s` before it, and the length of time around each
    that is as uncertain as the polygon. None: the moves are too few, too far apart, or by no even clock."""
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


def _placed(counts: Floats, room: Callable[[float], tuple[float, float]], periods: Floats, gaps_s: Floats) -> tuple[Floats, Floats]:
    """Mean moment of each look over the polygon, cut into slices of one period each, and how long a rectangle of that spread is."""
    firsts, lasts = np.array([room(p) for p in periods]).T
    widths = np.maximum(lasts - firsts, 0.0)
    shares = widths / widths.sum()
    moments = (firsts + lasts)[:, None] / 2 + periods[:, None] * counts
    times = shares @ moments
    variance = shares @ np.square(moments - times) + shares @ np.square(widths) / 12
    return times, np.clip(np.sqrt(12 * variance), gaps_s * FINEST, gaps_s)


def _counts(middles_s: Floats, gap_s: float, update_s: float) -> Floats | None:
    """The number of the look that each move shows. None: it cannot be told."""
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
