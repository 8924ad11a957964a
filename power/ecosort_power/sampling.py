"""Estimates what a meter's values leave unknown of the power that they stand for: pure, on arrays.

Between two instantaneous values the power is taken as a straight line. How wrong that is follows from the values themselves,
as in geostatistics, by a model with two parts:

    steps    a change of d watts lies anywhere between the two values it is seen between: uniform within +-d*h/2 joules. The edges
             of a run are such steps.
    rough    what changes from value to value and back (a square wave or spikes that are faster than the readings) does not shrink
             by drawing lines: the error is that of a random sample, sd * h * sqrt(n). Its variance is -mean(d_i * d_i+1), the
             covariance of neighbouring changes; it is zero where steps are far apart (autocorrelated values) and sd^2 where
             values are independent.

Both hold because the sampler reads at random moments within each period: at fixed ones a load that repeats with the period looks
constant. A few values cannot show that nothing happens between them; below FEW_SAMPLES an unseen power at the other end of the
range is allowed for, as long as n values miss it in one case of twenty ("rule of three").

A short mean over w seconds shows a change that lies in it by a value in between; where the rest of the change
lies is unknown within d (h - w) / 2, and two changes in a row in one direction may be one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ecosort_power.integrate import EnergyCurve, Floats
from ecosort_power.quality import FEW_SAMPLES
from ecosort_power.uncertainty import Error, normal, rectangular

Span = tuple[float, float]
Bools = NDArray[np.bool_]
MISSED = 0.05  # the chance that no value shows what an interval need not allow for
DOUBT = 0.5  # of the standard error of what is rough; without it too few intervals hold the truth where there are few values
WHOLE = 0.05  # of a value: a window of 5.0 s holds five values that are 1.01 s apart


def _kept(times_s: Floats, without: tuple[float, float] | None) -> Floats:
    """1 for the intervals that count, 0 for those that lie within `without`."""
    kept = np.ones(len(times_s) - 1)
    if without is not None:
        kept[(times_s[:-1] >= without[0]) & (times_s[1:] <= without[1])] = 0.0
    return kept


def unseen_share(values: int) -> float:
    """The longest share of the time that so many values at random moments all miss with the probability MISSED."""
    return float(1.0 - MISSED ** (1.0 / values))


def between_values(
    curve: EnergyCurve, first: int, last: int, without: Span | None = None, window_s: float = 0.0, edges: Sequence[Span] = ()
) -> Error:
    """Error of an instantaneous curve between two of its values, but for a stretch that is known otherwise. `window_s`: each
    value is a mean over so long, less than the time between two. `edges`: when the run began, and when it ended."""
    assert curve.watts is not None
    times, watts = curve.times_s[first : last + 1], curve.watts[first : last + 1]
    kept = _kept(times, without)
    lengths, steps = np.diff(times), np.diff(watts)
    halves = np.abs(steps) * lengths / 2 * kept
    blind = np.maximum(1.0 - window_s / lengths, 0.0)
    error = rectangular(halves * blind)
    if window_s > 0.0:
        error += rectangular(_in_one_window(halves * blind, steps))
    rough, degrees = _rough(lengths, steps, kept, _at(times, edges))
    if rough > 0.0:
        squares = 4 * float(np.square(halves).sum())
        error = error.scaled(max(1.0 - 2 * rough / squares, 0.0)) + normal(float(np.sqrt(rough)), degrees)
    inside = last - first - 1
    if 0 < inside < FEW_SAMPLES:
        unseen_j = unseen_share(inside) * inside * float(np.median(lengths)) * float(np.ptp(watts))
        error += rectangular(unseen_j * float(np.median(blind)) / (1 - MISSED) * bool(kept.any()))
    return error


def _at(times_s: Floats, spans: Sequence[Span]) -> Bools:
    """The intervals between two values that such a span touches."""
    found = np.zeros(len(times_s) - 1, dtype=bool)
    for begin, end in spans:
        found |= (times_s[:-1] <= end) & (times_s[1:] >= begin)
    return found


def _rough(lengths_s: Floats, steps_w: Floats, kept: Floats, edges: Bools) -> tuple[float, float]:
    """Variance in joules of what changes from value to value and back, and its degrees of freedom. What the edges of the run
    change is no part of it: they are left out, and the rest stands for them."""
    weights = (lengths_s[1:] + lengths_s[:-1]) / 2 * np.minimum(kept[1:], kept[:-1])
    plain = ~(edges[1:] | edges[:-1])
    squares = np.square(weights)
    if not bool(np.any(plain & (weights > 0))):
        plain = np.ones(len(weights), dtype=bool)
    products = (-steps_w[1:] * steps_w[:-1] * squares)[plain]
    rough = float(products.sum() * squares.sum() / squares[plain].sum()) if bool(squares[plain].any()) else 0.0
    rough = min(rough, _rough_by_distance(lengths_s, steps_w) * float(squares.sum()))
    if rough <= 0.0:
        return 0.0, 1.0
    seen = np.maximum(products, 0.0)
    return rough, float(seen.sum()) ** 2 / float(np.square(seen).sum())


def _in_one_window(halves_j: Floats, steps_w: Floats) -> Floats:
    """Returns what pairs of neighbouring changes add if each is one change inside a window: (a + b)^2 is a^2 + b^2 + 2 a b."""
    together = np.where(steps_w[1:] * steps_w[:-1] > 0, halves_j[1:] * halves_j[:-1], 0.0)
    found: Floats = np.sqrt(2 * together)
    return found


def _rough_by_distance(lengths_s: Floats, steps_w: Floats) -> float:
    """Variance of what is rough, from how far values that are close in time differ: the line through the mean squared differences
    of the nearer and of the farther neighbours, at distance zero, plus half its standard error. It tells apart a load that the
    readings resolve, though it goes to and fro, from one that they do not. Infinite where the distances are all the same."""
    near = lengths_s < 0.75 * lengths_s.mean()
    if min(int(near.sum()), int((~near).sum())) < 5:
        return float("inf")
    halves = np.square(steps_w) / 2
    (a, x), (b, y) = [(halves[side], float(lengths_s[side].mean())) for side in (near, ~near)]
    p, q = y / (y - x), x / (y - x)
    error = float(np.sqrt(p * p * a.var() / len(a) + q * q * b.var() / len(b)))
    return max(p * float(a.mean()) - q * float(b.mean()), 0.0) + DOUBT * error


def between_means(curve: EnergyCurve, first: int, last: int, window_s: float) -> Error:
    """Does the same for averages that overlap. Where a whole number of values goes into the window, they add up to the energy
    exactly; else their curve has kinks but no steps, and a line across a kink is wrong by a parabola.
    """
    assert curve.watts is not None
    lengths, steps = np.diff(curve.times_s[first : last + 1]), np.diff(curve.watts[first : last + 1])
    ratio = window_s / float(np.median(lengths))
    if abs(ratio - round(ratio)) < WHOLE:
        return Error()
    return rectangular(np.diff(steps) * lengths[1:] / 8)


def value_weights(curve: EnergyCurve, begin_s: float, end_s: float, without: tuple[float, float] | None) -> tuple[Floats, Floats]:
    """The power values inside [begin, end] and the seconds that each of them stands for."""
    times = curve.times_s
    lengths = np.diff(times) * _kept(times, without)
    if curve.watts is None:
        values, weights = curve.slopes(), lengths
        inside = (times[1:] > begin_s) & (times[:-1] < end_s)
    else:
        values = curve.watts
        weights = np.concatenate((lengths, [0.0])) / 2 + np.concatenate(([0.0], lengths)) / 2
        inside = (times >= begin_s) & (times <= end_s)
    return values[inside], weights[inside]
