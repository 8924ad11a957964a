"""Errors and the 95 % interval of their sum: pure.

An error is kept as its variance, its fourth cumulant, and how well the variance is known; all three add up for independent
errors. From variance and fourth cumulant (the excess kurtosis) follows how many standard deviations hold 95 %: 1.65 where one
rectangular error rules (a rounded constant power), 1.90 for two equal ones (the two ends of a run), 1.96 for many. Where
variances were estimated, the factor grows by Student's t with the effective degrees of freedom of the sum (Welch and
Satterthwaite: GUM, annex G.4). A part that is known badly but small does not widen the whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ecosort_power.statistics import t95

NORMAL_95 = 1.960
# 1.960 - 0.0694 x - 0.2768 x^2 goes through the exact factors of the normal, the triangular and the rectangular distribution
# (excess kurtosis x = 0, -0.6, -1.2); for three equal and for two unequal rectangles it is within 0.4 % of the exact one.
_BEND, _CURVE = -0.0694, -0.2768
_RECTANGLE = -1.2


@dataclass(frozen=True, slots=True)
class Error:
    """A sum of independent errors around zero; joules squared, and to the fourth.

    `doubt` is the sum of variance^2 / degrees of freedom of the variances that were estimated, 0 where all are known.
    """

    variance: float = 0.0
    fourth: float = 0.0
    doubt: float = 0.0

    def __add__(self, other: Error) -> Error:
        return Error(self.variance + other.variance, self.fourth + other.fourth, self.doubt + other.doubt)

    def scaled(self, variance_factor: float) -> Error:
        """The same shape with another variance."""
        return Error(self.variance * variance_factor, self.fourth * variance_factor**2, self.doubt * variance_factor**2)

    @property
    def sd(self) -> float:
        return sqrt(self.variance)

    @property
    def coverage(self) -> float:
        """Half width of the 95 % interval in standard deviations."""
        if self.variance <= 0.0:
            return NORMAL_95
        excess = max(self.fourth / self.variance**2, _RECTANGLE)
        known = NORMAL_95 + _BEND * excess + _CURVE * excess * excess
        if self.doubt <= 0.0:
            return known
        return known * _t95_between(max(self.variance**2 / self.doubt, 1.0)) / NORMAL_95


def rectangular(half_widths: ArrayLike) -> Error:
    """Independent errors, each anywhere within its half width with equal probability."""
    squares = np.square(np.asarray(half_widths, dtype=np.float64))
    return Error(float(squares.sum()) / 3, -2 / 15 * float(np.square(squares).sum()))


def normal(sd: float, degrees: float | None = None) -> Error:
    """A normal error, whose standard deviation was estimated with so many degrees of freedom. None: it is known."""
    return Error(sd**2, 0.0, 0.0 if degrees is None else sd**4 / max(degrees, 1.0))


def _t95_between(degrees: float) -> float:
    """For degrees of freedom that are no whole number, as those of pooled variances."""
    whole = int(degrees)
    return t95(whole) + (degrees - whole) * (t95(whole + 1) - t95(whole))


def total(errors: Iterable[Error]) -> Error:
    return sum(errors, Error())


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """Standard uncertainties of an energy in joules, one per cause, and the instrument's own limits of error apart."""

    instrument_j: float | None  # limits of error by the meter's data sheet; None: not known
    quantum_j: float  # steps of the power values or of the counter
    sampling_j: float  # what happened between two values
    idle_j: float  # the idle power that is taken away before and after the run
    timing_j: float  # lag that is not known, moments of updates between two readings
    gaps_j: float
    coverage: float = NORMAL_95  # half width of the 95 % interval of their sum in standard deviations

    @property
    def known_j(self) -> float:
        """Half width of the 95 % interval of all but the instrument's own error."""
        parts = (self.quantum_j, self.sampling_j, self.idle_j, self.timing_j, self.gaps_j)
        return self.coverage * sqrt(sum(p * p for p in parts))

    @property
    def total_j(self) -> float | None:
        """With the limits of the instrument, which are the same in every run and add linearly. None: they are not known."""
        return None if self.instrument_j is None else self.instrument_j + self.known_j
