"""The few statistics of a handful of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

# Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom.
_T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


def t95(degrees: float) -> float:
    """Rounds the degrees of freedom down: an interval that is rather too wide. Beyond 30 within 0.2 % of the table."""
    if degrees < 1:
        raise ValueError("at least one degree of freedom is needed")
    whole = int(degrees)
    return _T95[whole - 1] if whole <= len(_T95) else 1.96 + 2.5 / whole


@dataclass(frozen=True, slots=True)
class Sample:
    """Mean and sample standard deviation (n - 1) of a few values; the deviation of one value is not known."""

    n: int
    mean: float
    sd: float | None

    @property
    def ci95(self) -> float | None:
        """Half width of the 95 % interval of the mean."""
        return None if self.sd is None else t95(self.n - 1) * self.sd / sqrt(self.n)

    @property
    def includes_zero(self) -> bool:
        """True if the interval of a positive mean reaches to zero or below: these values say nothing of the mean."""
        return self.ci95 is not None and self.ci95 >= abs(self.mean)


def describe(values: Sequence[float]) -> Sample:
    n = len(values)
    mean = sum(values) / n
    sd = sqrt(sum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else None
    return Sample(n, mean, sd)


def ratio_of_totals(numerators: Sequence[float], denominators: Sequence[float]) -> Sample:
    """Sum of the numerators / sum of the denominators. The mean of the single ratios would count a short run as much as a long
    one. The deviation is that of the pairs around this ratio (delta method), so that `ci95` is its interval."""
    n, mean = len(numerators), sum(denominators) / len(denominators)
    ratio = sum(numerators) / sum(denominators)
    squares = sum((a - ratio * b) ** 2 for a, b in zip(numerators, denominators, strict=True))
    return Sample(n, ratio, sqrt(squares / (n - 1)) / mean if n > 1 else None)


@dataclass(frozen=True, slots=True)
class Trend:
    """Straight line through the runs, in units per run."""

    slope: float
    share_per_run: float  # slope relative to the mean
    significant: bool


def trend(values: Sequence[float]) -> Trend | None:
    """None for fewer than four runs: three points lie on a line too easily."""
    n = len(values)
    if n < 4:
        return None
    mean_x, mean = (n - 1) / 2, sum(values) / n
    sxx = sum((i - mean_x) ** 2 for i in range(n))
    slope = sum((i - mean_x) * (v - mean) for i, v in enumerate(values)) / sxx
    residual = sum((v - mean - slope * (i - mean_x)) ** 2 for i, v in enumerate(values))
    error = sqrt(residual / (n - 2) / sxx)
    return Trend(slope, slope / mean, abs(slope) > t95(n - 2) * error and abs(slope * (n - 1)) > 0.005 * abs(mean))


def ratio_ci95(a: Sample, b: Sample) -> tuple[float, float, float] | None:
    """Ratio of the means a/b with its 95 % interval (Welch degrees of freedom, delta method)."""
    if a.sd is None or b.sd is None or b.mean == 0 or a.mean == 0:
        return None
    va, vb = (a.sd / a.mean) ** 2 / a.n, (b.sd / b.mean) ** 2 / b.n
    ratio = a.mean / b.mean
    if va + vb == 0:
        return ratio, ratio, ratio
    degrees = (va + vb) ** 2 / (va**2 / (a.n - 1) + vb**2 / (b.n - 1))
    half = t95(max(degrees, 1.0)) * abs(ratio) * sqrt(va + vb)
    return ratio, ratio - half, ratio + half
