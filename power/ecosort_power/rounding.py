"""What rounding to the steps of a meter hides: pure, on arrays.

    held       a power that stays at one level is wrong by the same amount all the time: anywhere within half a step, times the
               whole time at that level
    passed     where both neighbouring levels are visited too, the power moves through the steps, and the values are wrong
               independently of each other
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
    value_s: float  # the time that one value stands for

    @staticmethod
    def of(levels: Ints, weights_s: Floats) -> _Visits:
        begins = np.concatenate(([0], np.flatnonzero(np.diff(levels)) + 1))
        return _Visits(levels[begins], np.add.reduceat(weights_s, begins), float(weights_s.max()))

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
    """Of values that are rounded to steps of `quantum_w`, each standing for its weight in seconds, in order of time. `sure`: the
    part of them that holds nothing of the idle machine, where the rest may."""
    if quantum_w <= 0.0 or len(values) == 0:
        return Rounding()
    levels, which = np.unique(np.rint(values / quantum_w), return_inverse=True)
    seconds = np.bincount(which, weights=weights_s)
    squares = np.bincount(which, weights=weights_s * weights_s)
    passed = np.isin(levels - 1, levels) & np.isin(levels + 1, levels)
    sides = _sides(levels, passed, quantum_w, *(sure if sure is not None else (values, weights_s)))
    quarter_j = seconds * quantum_w / 4
    halves = np.where(sides == 0, 2 * quarter_j, quarter_j)[~passed]
    independent = float(squares[passed].sum()) * quantum_w**2 / 12
    return Rounding(float((sides * quarter_j).sum()), rectangular(halves) + normal(float(np.sqrt(independent))))


def _sides(levels: Floats, passed: Bools, quantum_w: float, values: Floats, weights_s: Floats) -> Ints:
    """`_Visits.side` of each level, 0 for those that the power passed."""
    if len(values) == 0:
        return np.zeros(len(levels), dtype=np.int64)
    visits = _Visits.of(np.rint(values / quantum_w).astype(np.int64), weights_s)
    return np.array([0 if through else visits.side(int(level)) for level, through in zip(levels, passed, strict=True)])
