"""The energy of a run out of an energy curve, with its uncertainty: pure.

Values at the ends of a run are partly of the run and partly of the idle machine, and which part is not known. So the energy is
taken over a wider stretch, from a value before the run to one that holds nothing of it any more, and the idle energy of the
time outside is taken away:

    idle | T0 | a period | B  run  E | lag, window, a period | T1 | idle
           |<----------------- energy --------------------->|
    joules = energy(T0, T1) - idle before * (B - T0) - idle after * (T1 - E)

The place of each end between two values then makes no bias; the uncertainty includes what remains unknown. The idle power is that
of the readings before T0 and after T1, next to the run, and is carried with its own uncertainty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from ecosort_power.integrate import EnergyCurve, Floats
from ecosort_power.quality import Window
from ecosort_power.reading import Capabilities
from ecosort_power.rounding import rounding
from ecosort_power.sampling import between_means, between_values, value_weights
from ecosort_power.uncertainty import Error, normal, rectangular
from ecosort_power.updates import CounterMoves, is_smeared, repeats_values
from ecosort_power.wander import by_values, stretches

# No machine idles steadier than this share of its power from one second to the next. It counts only where the steps of a counter
# hide more than that.
STEADIEST = 0.01
# The wander is looked at over stretches so many times as long as the one that is taken away, too; not beside a counter, where
# what its steps hide would make the larger of the two too large. They hide the less the longer a stretch is: there it is this
# part of the idle time.
MEMORY = 2.0
BESIDE_COUNTER = 0.25


@dataclass(frozen=True, slots=True)
class Estimate:
    """Joules of the run, and the errors of them by cause."""

    joules: float
    begin: int  # the values that the energy was taken between
    end: int
    idle_before_w: float
    idle_after_w: float
    sampling: Error = field(default_factory=Error)
    quantum: Error = field(default_factory=Error)
    idle: Error = field(default_factory=Error)
    timing: Error = field(default_factory=Error)

    @property
    def error(self) -> Error:
        return self.sampling + self.quantum + self.idle + self.timing

    @property
    def half95_j(self) -> float:
        """Half width of the 95 % interval, without the instrument's own error."""
        error = self.error
        return error.coverage * error.sd


@dataclass(frozen=True, slots=True)
class Timing:
    """Says when the values of a curve, whose known lag is taken off, were true."""

    delay_s: float  # by how much they are late on average
    doubt_s: float  # half width of what is not known of that
    smear_s: float  # values that are closer in time than this are no independent ones
    reach_s: float  # after the end of the run so long, a value may still hold some of it


def timing_of(capabilities: Capabilities, power: bool) -> Timing:
    """A moving average is late by half its window; a lag that is not known is anything up to a period, or up to a second."""
    smear = (capabilities.window_s or 0.0) if power and is_smeared(capabilities) else 0.0
    unknown = capabilities.unknown_lag_s
    return Timing((smear + unknown) / 2, unknown / 2, smear, smear + unknown)


@dataclass(frozen=True, slots=True)
class _Side:
    """The idle machine on one side of the run."""

    watts: float
    outside_s: float  # idle time that is inside the wide stretch and is taken away
    error: Error  # of the energy that is taken away for it
    share: float  # outside_s / length of the idle stretch that it was measured over
    far: int = 0  # the value that this stretch ends with, away from the run


@dataclass(frozen=True, slots=True)
class _Wide:
    joules: float
    first: int
    last: int
    before: _Side
    after: _Side
    idle: Error
    lag: Error


def power_estimate(
    curve: EnergyCurve, capabilities: Capabilities, window: Window, without: tuple[float, float] | None = None
) -> Estimate | None:
    """From power values. `without`: a stretch inside the run whose energy, and error, is left out. None: they do not cover it."""
    wide = _wide(curve, timing_of(capabilities, True), capabilities.effective_period_s, window)
    if wide is None:
        return None
    timing, reach = wide.lag, timing_of(capabilities, True).reach_s
    if curve.watts is None:
        sampling = Error()
        if repeats_values(capabilities):  # the moment of each update is known to one reading
            steps = np.diff(curve.slopes()[max(wide.first - 1, 0) : wide.last + 1])
            timing += rectangular(steps * capabilities.period_s / 2)
    elif is_smeared(capabilities):
        sampling = between_means(curve, wide.first, wide.last, capabilities.window_s or 0.0)
    else:
        edges = [(edge, edge + reach) for edge in (window.begin_s, window.end_s)]
        sampling = between_values(curve, wide.first, wide.last, without, capabilities.window_s or 0.0, edges)
    # Values that are late hold the run until then; that some of them are idle values does not matter, their steps are the same.
    values, weights = value_weights(curve, window.begin_s, window.end_s + reach, without)
    sure = value_weights(curve, window.begin_s + reach, window.end_s, without) if reach > 0.0 else None
    rounded = rounding(values, weights, capabilities.quantum_w or 0.0, sure)
    return Estimate(
        wide.joules - (curve.between(*without) if without is not None else 0.0) + rounded.shift_j,
        wide.first,
        wide.last,
        wide.before.watts,
        wide.after.watts,
        sampling,
        rounded.error,
        wide.idle,
        timing,
    )


def counter_estimate(
    moves: CounterMoves, capabilities: Capabilities, window: Window, idle_w: tuple[float, float] | None = None
) -> Estimate | None:
    """Estimates from an energy counter that moved at these moments. `idle_w`: before and after, if its power values show it, for
    where the counter does not move often enough to show it. None: they do not cover the run.
    """
    wide = _wide(moves.curve, timing_of(capabilities, False), capabilities.effective_period_s, window, idle_w, moves)
    if wide is None:
        return None
    quantum, late = Error(), dict[int, float]()
    for side, index, sign in ((wide.before, wide.first, -1.0), (wide.after, wide.last, 1.0)):
        # The same value also ends the stretch that the idle power was measured over.
        for value, weight in ((index, 1.0 + side.share), (side.far, -side.share)):
            quantum += rectangular(moves.error_at(index, side.watts)[1] * weight)
            late[value] = late.get(value, 0.0) + sign * weight * side.watts
    timing = wide.lag + moves.late(late)
    return Estimate(wide.joules, wide.first, wide.last, wide.before.watts, wide.after.watts, Error(), quantum, wide.idle, timing)


def spliced_estimate(curve: EnergyCurve, moves: CounterMoves, capabilities: Capabilities, window: Window) -> Estimate | None:
    """From a coarse counter between its first and last move inside the run, and from the power values for the rest of the run.
    None: it moved less than twice, or the power values do not cover the run."""
    times = moves.curve.times_s
    inside = np.flatnonzero((times > window.begin_s) & (times < window.end_s) & ~moves.standing)
    if len(inside) < 2 or is_smeared(capabilities):
        return None
    i, j = int(inside[0]), int(inside[-1])
    begin, end = float(times[i]), float(times[j])
    if begin < curve.begin_s or end > curve.end_s:
        return None
    rest = power_estimate(curve, capabilities, window, (begin, end))
    if rest is None:
        return None
    quantum, timing = rest.quantum, rest.timing
    for index, moment in ((i, begin), (j, end)):
        hold, step = moves.error_at(index, _power_at(curve, moment))
        quantum, timing = quantum + rectangular(step), timing + rectangular(hold)
    joules = rest.joules + float(moves.curve.joules[j] - moves.curve.joules[i])
    return Estimate(
        joules, rest.begin, rest.end, rest.idle_before_w, rest.idle_after_w, rest.sampling, quantum, rest.idle, timing
    )


def _power_at(curve: EnergyCurve, time_s: float) -> float:
    i = curve.segment(time_s)
    return float((curve.joules[i + 1] - curve.joules[i]) / (curve.times_s[i + 1] - curve.times_s[i]))


def _wide(
    curve: EnergyCurve,
    timing: Timing,
    period_s: float,
    window: Window,
    idle_w: tuple[float, float] | None = None,
    moves: CounterMoves | None = None,
) -> _Wide | None:
    """`moves`: of the counter that the curve is of; its first and last reading are used only where there is no other value."""
    times = curve.times_s
    if curve.begin_s > window.begin_s or curve.end_s < window.end_s:
        return None
    lowest, first, last, highest = _ends(times, timing, period_s, window, moves)
    outside = (window.begin_s - float(times[first]) + timing.delay_s, float(times[last]) - window.end_s - timing.delay_s)
    flanks = (
        _flank(curve, lowest, first, outside[0], timing.smear_s, moves),
        _flank(curve, last, highest, outside[1], timing.smear_s, moves),
    )
    noise = _pooled([f for f in flanks if f is not None])
    hints = idle_w if idle_w is not None else (None, None)
    known = [f.watts if f is not None else None for f in flanks]
    before = flanks[0].side(outside[0], noise, lowest) if flanks[0] else _local(curve, first, -1, outside[0], hints[0], known[1])
    after = flanks[1].side(outside[1], noise, highest) if flanks[1] else _local(curve, last, 1, outside[1], hints[1], known[0])
    joules = float(curve.joules[last] - curve.joules[first]) - before.watts * outside[0] - after.watts * outside[1]
    step = after.watts - before.watts
    # Two values on each side do not show how the idle power wanders; then it may by as much as they differ.
    idle = before.error + after.error if noise is not None else rectangular([outside[0] * step, outside[1] * step])
    if noise is not None and all(flanks):  # one estimate of the wander serves both sides
        idle = normal(idle.sd, noise.degrees)
    return _Wide(joules, first, last, before, after, idle, rectangular(timing.doubt_s * step))


def _ends(
    times_s: Floats, timing: Timing, period_s: float, window: Window, moves: CounterMoves | None
) -> tuple[int, int, int, int]:
    """Returns where the idle power before begins and ends, and where that after the run does. What the machine did before the
    readings of this run is not idle.
    """
    moved = np.flatnonzero(~moves.standing) if moves is not None else np.arange(len(times_s))
    lowest, highest = (int(moved[0]), int(moved[-1])) if len(moved) else (0, len(times_s) - 1)
    first = max(int(np.searchsorted(times_s, window.begin_s - period_s, side="right")) - 1, 0)
    # The last reading must do where the readings end too early; what that leaves out is a defect of its own.
    end = window.end_s + timing.reach_s
    last = min(int(np.searchsorted(times_s, end + period_s)), highest if times_s[highest] >= end else len(times_s) - 1)
    lowest = max(lowest, int(np.searchsorted(times_s, window.first_s)))
    highest = min(highest, int(np.searchsorted(times_s, window.last_s, side="right")) - 1)
    return lowest, first, last, highest


@dataclass(frozen=True, slots=True)
class _Noise:
    """Says how the idle power wanders: variance of its energy per second, in W^2 s, and how well that is known."""

    per_second: float
    degrees: float
    hidden: float = 0.0  # what the steps of a counter had added to it


@dataclass(frozen=True, slots=True)
class _Flank:
    """The idle stretch before or after a run."""

    watts: float
    length_s: float
    smear_s: float  # its values are means over so long
    noise: _Noise | None  # None: it is too short

    def side(self, outside_s: float, noise: _Noise | None, far: int) -> _Side:
        share = abs(outside_s) / self.length_s
        if noise is None:
            return _Side(self.watts, outside_s, Error(), share, far)
        # The mean of `length_s` says only so much of another stretch: both wander. Averages that overlap count the time of one
        # window at each end with a weight that goes from 0 to 1 (1/3 in the square, not 1/2), and the two stretches share one
        # window.
        outside, smear = abs(outside_s), self.smear_s
        both = outside - smear / 6 + share * (outside * (1 - smear / (3 * self.length_s)) - smear / 3)
        error = normal(sqrt(noise.per_second * max(both, 0.0)), noise.degrees)
        return _Side(self.watts, outside_s, error, share, far)


def _flank(
    curve: EnergyCurve, first: int, last: int, outside_s: float, smear_s: float, moves: CounterMoves | None
) -> _Flank | None:
    """Mean power between two idle values, and how it wanders. None: there are not two values."""
    if last <= first:
        return None
    times, joules = curve.times_s[first : last + 1], curve.joules[first : last + 1]
    length = float(times[-1] - times[0])
    watts = float(joules[-1] - joules[0]) / length
    spacing = max(length / (last - first), smear_s)
    reach = max(abs(outside_s), spacing)
    # The steps of a counter add to the wander, and are counted elsewhere.
    added = moves.variance_between(first, last, watts) if moves is not None else None
    reaches = (reach, MEMORY * reach) if moves is None else (max(reach, BESIDE_COUNTER * length),)
    found = [_stretches(times, joules, smear_s, r, added) for r in reaches if length >= 2 * r]
    if not found and last - first >= 2:
        found = [_slopes(times, joules, spacing, added)]
    return _Flank(watts, length, smear_s, max(found, key=lambda n: n.per_second, default=None))


def _stretches(times_s: Floats, joules: Floats, smear_s: float, reach_s: float, added: float | None) -> _Noise:
    """The wander read off the energies of stretches of this length: as long as the one that is taken away, so that slow wander
    counts as it should, and longer ones, because a wander with memory moves the mean that the idle power is taken from as well.
    `added`: variance of each value of a counter."""
    values, length = len(times_s) - 1, float(times_s[-1] - times_s[0])
    watts = float(joules[-1] - joules[0]) / length
    count = int(np.searchsorted(times_s, times_s[-1] - reach_s + 1e-9, side="right"))
    energies = np.interp(times_s[:count] + reach_s, times_s, joules) - joules[:count] - watts * reach_s
    share, degrees = stretches(values, reach_s * values / length, smear_s * values / length)
    hidden = by_values(times_s, reach_s, count) * added if added is not None else 0.0
    square = float(np.mean(np.square(energies)))
    return _Noise((square - hidden) / share / reach_s, degrees, hidden / share / reach_s)


def _slopes(times_s: Floats, joules: Floats, spacing_s: float, added: float | None) -> _Noise:
    """Estimates from one value to the next where there are too few values."""
    values, length = len(times_s) - 1, float(times_s[-1] - times_s[0])
    slopes: Floats = np.diff(joules) / np.diff(times_s)
    degrees = max(length / spacing_s - 1, 1.0)
    share = degrees / (degrees + 1)
    hidden = 2.0 * (1 - values**-2) * (added or 0.0)
    square = float(slopes.var()) * spacing_s * spacing_s
    return _Noise((square - hidden) / share / spacing_s, degrees, hidden / share / spacing_s)


def _pooled(flanks: Sequence[_Flank]) -> _Noise | None:
    """Both sides are the same idle machine."""
    known = [f.noise for f in flanks if f.noise is not None]
    if not known:
        return None
    degrees = sum(n.degrees for n in known)
    wander = sum(n.per_second * n.degrees for n in known) / degrees
    least = min((STEADIEST * f.watts) ** 2 for f in flanks)
    return _Noise(max(wander, min(least, min(n.hidden for n in known))), max(degrees, 1.0))


def _local(curve: EnergyCurve, index: int, outwards: int, outside_s: float, hint_w: float | None, other_w: float | None) -> _Side:
    """Returns the idle power that the power values show where one side has a single value, else that of the other side, else the
    value itself; it may be as wrong as these differ.
    """
    neighbour = index + outwards
    inner = neighbour if 0 <= neighbour < len(curve.times_s) else index - outwards
    a, b = min(index, inner), max(index, inner)
    own = float((curve.joules[b] - curve.joules[a]) / (curve.times_s[b] - curve.times_s[a]))
    if curve.watts is not None:
        own = float(curve.watts[index])
    watts = next((w for w in (hint_w, other_w) if w is not None), own)
    against = other_w if other_w is not None else own
    return _Side(watts, outside_s, rectangular(outside_s * (watts - against)), 0.0)
