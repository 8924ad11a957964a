"""From readings to joules: pure functions, no clock, no I/O.

Every kind of meter becomes one `EnergyCurve`, the cumulative energy as a function of time. The energy of any stretch
is then a difference of two values of that curve, so the phases of a run always add up to the run.

    instant values   trapezoid between the values            curve piecewise quadratic
    averages         each value holds over its own interval   curve piecewise linear
    counters         the counter itself, unwrapped            curve piecewise linear
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


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

    def __init__(self, times_s: ArrayLike, joules: ArrayLike, watts: ArrayLike | None = None) -> None:
        self.times_s: Floats = np.asarray(times_s, dtype=np.float64)
        self.joules: Floats = np.asarray(joules, dtype=np.float64)
        self.watts: Floats | None = np.asarray(watts, dtype=np.float64) if watts is not None else None
        if len(self.times_s) < 2 or len(self.times_s) != len(self.joules):
            raise ValueError("an energy curve needs at least two values")
        if not bool(np.all(np.diff(self.times_s) > 0)):
            raise ValueError("the times of an energy curve must ascend")

    @property
    def begin_s(self) -> float:
        return float(self.times_s[0])

    @property
    def end_s(self) -> float:
        return float(self.times_s[-1])

    @property
    def spacing_s(self) -> float:
        """Mean time between two values."""
        return (self.end_s - self.begin_s) / (len(self.times_s) - 1)

    def segment(self, time_s: float) -> int:
        """The interval that holds this moment; ValueError outside the readings."""
        if not self.begin_s <= time_s <= self.end_s:
            raise ValueError(f"time {time_s} lies outside the readings ({self.begin_s} to {self.end_s})")
        return min(int(np.searchsorted(self.times_s, time_s, side="right")) - 1, len(self.times_s) - 2)

    def at(self, time_s: float) -> float:
        i = self.segment(time_s)
        x = time_s - float(self.times_s[i])
        length = float(self.times_s[i + 1] - self.times_s[i])
        if self.watts is None:
            return float(self.joules[i] + (self.joules[i + 1] - self.joules[i]) * x / length)
        slope = (self.watts[i + 1] - self.watts[i]) / length
        return float(self.joules[i] + self.watts[i] * x + slope * x * x / 2)

    def between(self, begin_s: float, end_s: float) -> float:
        return self.at(end_s) - self.at(begin_s)

    def mean_watts(self, begin_s: float, end_s: float) -> float:
        return self.between(begin_s, end_s) / (end_s - begin_s)

    def slopes(self) -> Floats:
        """Mean power between neighbouring values."""
        found: Floats = np.diff(self.joules) / np.diff(self.times_s)
        return found

    def count(self, begin_s: float, end_s: float) -> int:
        """Counts its values after `begin_s` and not after `end_s`."""
        a, b = np.searchsorted(self.times_s, (begin_s, end_s), side="right")
        return int(b - a)


def instants(times_s: Floats, watts: Floats) -> EnergyCurve:
    """Instantaneous power values, joined by straight lines."""
    steps = (watts[1:] + watts[:-1]) / 2 * np.diff(times_s)
    return EnergyCurve(times_s, np.concatenate(([0.0], np.cumsum(steps))), watts)


def averages(times_s: Floats, watts: Floats, intervals_s: Floats | None = None) -> EnergyCurve:
    """Averages, each over the time since the value before it. Where the meter states the true length of its cycle (not NaN), the
    energy of the cycle is value x that length (E = sum of P_i * cycle_i), placed between the two arrivals."""
    elapsed = np.diff(times_s)
    lengths = elapsed
    if intervals_s is not None:
        stated = intervals_s[1:]
        # Shorter than this: cycles are missing here. The value stands for the whole stretch, and a gap says so.
        lengths = np.where(np.isnan(stated) | (stated < elapsed / 1.5), elapsed, stated)
    return EnergyCurve(times_s, np.concatenate(([0.0], np.cumsum(watts[1:] * lengths))))


def trapezoid(samples: Sequence[Sample]) -> EnergyCurve:
    times, values, _ = arrays(samples)
    return instants(times, values)


def tiles(samples: Sequence[Sample]) -> EnergyCurve:
    return averages(*arrays(samples))


def arrays(samples: Sequence[Sample]) -> tuple[Floats, Floats, Floats]:
    """Times, values and stated intervals (NaN where there is none)."""
    times = np.array([s.time_s for s in samples], dtype=np.float64)
    values = np.array([s.value for s in samples], dtype=np.float64)
    intervals = np.array([np.nan if s.interval_s is None else s.interval_s for s in samples], dtype=np.float64)
    return times, values, intervals


def unwrap(values: Sequence[float], wrap_j: float | None) -> list[float]:
    """Undoes the wrap-around of a counter. CounterResetError if it went back by less than half its range."""
    result = [values[0]] if len(values) else []
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


def find_gaps(
    times_s: Sequence[float], begin_s: float, end_s: float, period_s: float, spread_s: float = 0.0
) -> list[tuple[float, float]]:
    """Stretches of [begin, end] without a value that are longer than two periods, and than what the readings are spread by."""
    gaps = []
    for a, b in pairwise(times_s):
        if b - a > 2 * period_s + spread_s and b > begin_s and a < end_s:
            gaps.append((max(a, begin_s), min(b, end_s)))
    return gaps
