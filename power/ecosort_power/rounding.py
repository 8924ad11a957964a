"""Estimates what rounding to the steps of a meter hides: pure, on arrays.

    held       a power that stays at one level is wrong by the same amount all the time: anywhere within half a step, times the
               whole time at that level
    passed     where both neighbouring levels are visited too, the power moves through the steps. What it does within one visit of
               a level is not known: its mean is anywhere in the level, independently of other visits. In a row of steps in one
               direction it is known: from one edge of the level to the other, in the time that the moments of the edges show, to
               one value, at a speed that changes as the times of the neighbours do, but for a rest on the way
    last       of the levels that a power moves through, entered (or left) through one side only: if it changes no faster than it
               passed the level before, its mean lies in the half of the level that is on that side

So the energy at a last level is taken a quarter of a step nearer to that side, and is known to a quarter of a step instead of
half a step. A power that came to rest there has stayed longer than it took for the level before, and counts as held.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ecosort_power.integrate import Floats
from ecosort_power.uncertainty import Error, normal, rectangular

NOTHING = 1e-9  # of a value: what is known otherwise has no weight
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Rounding:
    """`shift_j` is to be added to the energy of the rounded values, and then is wrong by `error`."""

    shift_j: float = 0.0
    error: Error = field(default_factory=Error)


@dataclass(frozen=True, slots=True)
class _Visits:
    """The stretches of equal values, in order of time."""

    levels: Ints
    seconds: Floats
    squares: Floats  # sum of the squares of the times that its values stand for
    value_s: float  # the time that one value stands for

    @staticmethod
    def of(levels: Ints, weights_s: Floats) -> _Visits:
        begins = np.concatenate(([0], np.flatnonzero(np.diff(levels)) + 1))
        seconds, squares = np.add.reduceat(weights_s, begins), np.add.reduceat(weights_s * weights_s, begins)
        return _Visits(levels[begins], seconds, squares, float(weights_s.max()))

    def passing(self, passed: Bools) -> Error:
        """Error of the visits of levels that the power passed, for steps of 1 W."""
        steady = self._steady()
        free, through = passed & ~steady, passed & steady
        # At a speed that changes evenly the mean is off the middle of the level by 1/24 of what the neighbours' times differ by.
        times = np.concatenate((self.seconds[:1], self.seconds, self.seconds[-1:]))
        bends = np.abs(times[2:] - times[:-2])[through] / 24
        # A power may have rested, anywhere in the level, for as long as it stayed longer than at both neighbours.
        rests = np.maximum(self.seconds - np.maximum(times[2:], times[:-2]) - self.value_s, 0.0)[through] / 2
        edges = np.square(self.squares[through] / np.maximum(self.seconds[through], self.value_s * NOTHING))
        return (
            normal(float(np.sqrt((np.square(self.seconds[free]).sum() + edges.sum()) / 12)))
            + rectangular(bends)
            + rectangular(rests)
        )

    def _steady(self) -> Bools:
        """Visits within a row of single steps in one direction: the step into it, the one out of it, and those before and after
        them, but for where the row begins and ends, there or with a jump."""
        nothing = np.full(2, np.nan)
        steps = np.concatenate((nothing, np.diff(self.levels), nothing))
        before, into, out, after = (steps[k : k + len(self.levels)] for k in range(4))
        same = [np.isnan(other) | (np.abs(other) > 1) | (other == into) for other in (before, after)]
        found: Bools = (np.abs(into) == 1) & (into == out) & same[0] & same[1]
        return found

    def side(self, level: int) -> int:
        """-1 or +1: the level is the last one of a power that came from below or above, or left to there. 0: it is not."""
        at = np.flatnonzero(self.levels == level)
        if len(at) != 1:
            return 0
        found = [self._passing(int(at[0]), towards) for towards in (-1, 1)]
        return sum(found) if 0 in found else 0

    def _passing(self, visit: int, towards: int) -> int:
        """The same by the two visits before it (-1) or after it (+1)."""
        near, far = visit + towards, visit + 2 * towards
        if not 0 <= far < len(self.levels):
            return 0
        step = int(self.levels[near] - self.levels[visit])
        same_way = abs(step) == 1 and int(self.levels[far] - self.levels[near]) == step
        return step if same_way and self.seconds[visit] <= self.seconds[near] + self.value_s else 0


def rounding(values: Floats, weights_s: Floats, quantum_w: float, sure: tuple[Floats, Floats] | None = None) -> Rounding:
    """Estimates for values that are rounded to steps of `quantum_w`, each standing for its weight in seconds, in order of time.
    `sure`: the part of them that holds nothing of the idle machine, where the rest may.
    """
    if quantum_w <= 0.0 or len(values) == 0:
        return Rounding()
    rounded = np.rint(values / quantum_w).astype(np.int64)
    levels, which = np.unique(rounded, return_inverse=True)
    seconds = np.bincount(which, weights=weights_s)
    passed = np.isin(levels - 1, levels) & np.isin(levels + 1, levels)
    sides = _sides(levels, passed, quantum_w, *(sure if sure is not None else (values, weights_s)))
    quarter_j = seconds * quantum_w / 4
    halves = np.where(sides == 0, 2 * quarter_j, quarter_j)[~passed]
    visits = _Visits.of(rounded, weights_s)
    moving = visits.passing(np.isin(visits.levels, levels[passed]))
    return Rounding(float((sides * quarter_j).sum()), rectangular(halves) + moving.scaled(quantum_w**2))


def _sides(levels: Ints, passed: Bools, quantum_w: float, values: Floats, weights_s: Floats) -> Ints:
    """`_Visits.side` of each level, 0 for those that the power passed."""
    if len(values) == 0:
        return np.zeros(len(levels), dtype=np.int64)
    visits = _Visits.of(np.rint(values / quantum_w).astype(np.int64), weights_s)
    return np.array([0 if through else visits.side(int(level)) for level, through in zip(levels, passed, strict=True)])
