"""From readings to joules: pure functions, no clock, no I/O.

Every kind of meter becomes one `EnergyCurve`, the cumulative energy as a function of time. The energy of any stretch
is then a difference of two values of that curve, so the phases of a run always add up to the run.

    instant values   trapezoid between the values            curve piecewise quadratic
    averages         each value holds over its own interval   curve piecewise linear
    counters         the counter itself, unwrapped            curve piecewise linear

A meter whose averaging window W is longer than its update period shows the power smeared over W. Its curve gives the
true total only with a correction (`smeared_total`), because energy leaks over both ends of the run.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt


@dataclass(frozen=True, slots=True)
class Sample:
    """One new value of a meter. `time_s` is when it became true (the end of its interval, for an average)."""

    time_s: float
    value: float
    interval_s: float | None = None


class CounterResetError(ValueError):
    """An energy counter went backwards by something that is no wrap-around."""


class EnergyCurve:
    """Cumulative energy at ascending times; between two of them linear, or quadratic where the power is known."""

    def __init__(self, times_s: Sequence[float], joules: Sequence[float], watts: Sequence[float] | None = None) -> None:
        if len(times_s) < 2 or len(times_s) != len(joules):
            raise ValueError("an energy curve needs at least two values")
        if any(b <= a for a, b in pairwise(times_s)):
            raise ValueError("the times of an energy curve must ascend")
        self.times_s = tuple(times_s)
        self.joules = tuple(joules)
        self.watts = tuple(watts) if watts is not None else None

    @property
    def begin_s(self) -> float:
        return self.times_s[0]

    @property
    def end_s(self) -> float:
        return self.times_s[-1]

    def _segment(self, time_s: float) -> int:
        if not self.begin_s <= time_s <= self.end_s:
            raise ValueError(f"time {time_s} lies outside the readings ({self.begin_s} to {self.end_s})")
        return min(bisect_right(self.times_s, time_s) - 1, len(self.times_s) - 2)

    def at(self, time_s: float) -> float:
        i = self._segment(time_s)
        x = time_s - self.times_s[i]
        length = self.times_s[i + 1] - self.times_s[i]
        if self.watts is None:
            return self.joules[i] + (self.joules[i + 1] - self.joules[i]) * x / length
        slope = (self.watts[i + 1] - self.watts[i]) / length
        return self.joules[i] + self.watts[i] * x + slope * x * x / 2

    def between(self, begin_s: float, end_s: float) -> float:
        return self.at(end_s) - self.at(begin_s)

    def mean_watts(self, begin_s: float, end_s: float) -> float:
        return self.between(begin_s, end_s) / (end_s - begin_s)

    def sampling_error_j(self, begin_s: float, end_s: float) -> float:
        """Standard error of `between` from not knowing what happened between two values.

        Trapezoid: a step of size d somewhere in an interval of length h is misplaced with standard deviation
        d*h/sqrt(12). Linear pieces (averages, counters) are exact but for the two pieces that the ends cut, where a
        step at an unknown place moves at most f*(1-f)*h*d across the cut.
        """
        if self.watts is not None:
            total = 0.0
            for i in range(self._segment(begin_s), self._segment(end_s) + 1):
                step = self.watts[i + 1] - self.watts[i]
                total += (step * (self.times_s[i + 1] - self.times_s[i])) ** 2 / 12
            return sqrt(total)
        return sqrt(self._cut_error_j(begin_s) ** 2 + self._cut_error_j(end_s) ** 2)

    def _slope(self, i: int) -> float:
        return (self.joules[i + 1] - self.joules[i]) / (self.times_s[i + 1] - self.times_s[i])

    def _cut_error_j(self, time_s: float) -> float:
        i = self._segment(time_s)
        last = len(self.times_s) - 2
        step = abs(self._slope(min(i + 1, last)) - self._slope(max(i - 1, 0)))
        length = self.times_s[i + 1] - self.times_s[i]
        f = (time_s - self.times_s[i]) / length
        return f * (1 - f) * length * step


def trapezoid(samples: Sequence[Sample]) -> EnergyCurve:
    """Instantaneous power values, joined by straight lines."""
    joules = [0.0]
    for a, b in pairwise(samples):
        joules.append(joules[-1] + (a.value + b.value) / 2 * (b.time_s - a.time_s))
    return EnergyCurve([s.time_s for s in samples], joules, [s.value for s in samples])


def tiles(samples: Sequence[Sample]) -> EnergyCurve:
    """Averages, each over the time since the value before it. Where the meter states the true length of its cycle,
    the energy of the cycle is value x that length (E = sum of P_i * cycle_i), placed between the two arrivals."""
    joules = [0.0]
    for a, b in pairwise(samples):
        elapsed = b.time_s - a.time_s
        length = b.interval_s if b.interval_s is not None else elapsed
        if length < elapsed / 1.5:  # cycles are missing here: the value stands for the whole stretch, a gap says so
            length = elapsed
        joules.append(joules[-1] + b.value * length)
    return EnergyCurve([s.time_s for s in samples], joules)


def unwrap(values: Sequence[float], wrap_j: float | None) -> list[float]:
    """Undoes the wrap-around of a counter. CounterResetError if it went back by less than half its range."""
    result = [values[0]] if values else []
    turns = 0.0
    for a, b in pairwise(values):
        if b < a:
            if wrap_j is None or a - b < wrap_j / 2:
                raise CounterResetError(f"the energy counter went back from {a:g} J to {b:g} J")
            turns += wrap_j
        result.append(b + turns)
    return result


def counter(samples: Sequence[Sample], wrap_j: float | None = None) -> EnergyCurve:
    """An energy counter, interpolated between its readings."""
    values = unwrap([s.value for s in samples], wrap_j)
    return EnergyCurve([s.time_s for s in samples], [v - values[0] for v in values])


def smeared_total(curve: EnergyCurve, begin_s: float, end_s: float, window_s: float) -> float:
    """Total energy of [begin, end] from moving averages over `window_s`; `curve` has each value at the END of its
    window (lag removed).

    All the energy of the run has come out of the averages by end + W, mixed with idle power: the stretches of length W
    before and after the run enter with weights that rise and fall linearly, W/2 on average. With the idle power read off
    the last average before the run and the first average wholly after it:
        E = integral from begin to end + W of the averages - W/2 * (idle before + idle after)
    """
    mixed = curve.between(begin_s, end_s + window_s)
    half = min(window_s, 1.0) / 2  # the idle averages are read over a short stretch to keep noise out
    before = curve.mean_watts(max(begin_s - half, curve.begin_s), begin_s)
    after = curve.mean_watts(end_s + window_s, min(end_s + window_s + half, curve.end_s))
    return mixed - window_s / 2 * (before + after)


def find_gaps(times_s: Sequence[float], begin_s: float, end_s: float, period_s: float) -> list[tuple[float, float]]:
    """Stretches of [begin, end] longer than two periods without a value."""
    gaps = []
    for a, b in pairwise(times_s):
        if b - a > 2 * period_s and b > begin_s and a < end_s:
            gaps.append((max(a, begin_s), min(b, end_s)))
    return gaps
