"""From raw readings to the values that the meter really produced: pure functions.

A meter is usually read at its own moments, which are not the moments when it has a new value. Three repairs, none of
which changes a value: unusable readings are left out, repeated values of a slow meter are reduced to its updates, and the
arrival times of a meter that states its cycle length are freed from transport jitter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ecosort_power.integrate import EnergyCurve, Floats, Sample, arrays, averages, instants, unwrap
from ecosort_power.looks import Looks, narrowed
from ecosort_power.reading import Capabilities, Flag, PowerKind, Reading
from ecosort_power.uncertainty import Error, normal, rectangular

# A cycle end is known to be no later than its arrival. Over this many neighbours the earliest arrival is taken as undelayed;
# short enough that the drift between the two clocks (under 100 ppm) stays below a millisecond or so.
JITTER_NEIGHBOURS = 25
# A counter that moves by more than this many of its steps at once has moved by several.
SINGLE_STEP = 1.5

Bools = NDArray[np.bool_]


def lateness_s(capabilities: Capabilities) -> float:
    """Returns how much later a power value is than its time: the lag, and half an average much shorter than the period."""
    spot = capabilities.power is PowerKind.AVERAGE and capabilities.reads_moments
    return (capabilities.lag_s or 0.0) + ((capabilities.window_s or 0.0) / 2 if spot else 0.0)


def power_samples(readings: Sequence[Reading], capabilities: Capabilities) -> list[Sample]:
    """The power values in the meter's time: lag removed, and an average that is much shorter than the reading period
    moved to the middle of its window."""
    shift = lateness_s(capabilities)
    samples = [Sample(r.mid_s - shift, r.watts, r.interval_s) for r in readings if r.usable and r.watts is not None]
    if any(s.interval_s is not None for s in samples):
        return _ascending(remove_jitter(samples))
    return _ascending(updates(_ascending(samples), capabilities))


def power_curve(times_s: Floats, watts: Floats, intervals_s: Floats | None, capabilities: Capabilities) -> EnergyCurve:
    """The energy under power values that are in the meter's time."""
    point_like = capabilities.reads_moments or is_smeared(capabilities)
    return instants(times_s, watts) if point_like else averages(times_s, watts, intervals_s)


@dataclass(frozen=True, slots=True)
class CounterMoves:
    """An energy counter at the moments when it moved. `standing` marks a first or last reading that was no move: there the
    counter is known only to have been somewhere within one step."""

    curve: EnergyCurve
    hold_s: Floats  # it moved within half of this before or after the time that stands for it
    step_j: Floats  # by how much it moved
    standing: Bools
    quantum_j: float
    update_s: float  # it looks at the energy this often; 0: not known
    looks: Looks | None = None  # of the moves, where these follow from an even clock

    def count(self, begin_s: float, end_s: float) -> int:
        """Counts how often it moved inside a stretch of time."""
        times = self.curve.times_s
        return int(np.count_nonzero((times > begin_s) & (times <= end_s) & ~self.standing))

    def error_at(self, index: int, watts: float) -> tuple[float, float]:
        """Half widths in joules of what one value leaves unknown at that power: by the moment of the move, and by its step."""
        step = float(self.step_j[index])
        if self.standing[index]:
            return 0.0, max(step, self.quantum_j) / 2
        hold = float(self.hold_s[index])
        width = self.quantum_j
        if step <= SINGLE_STEP * self.quantum_j:  # it has passed this step since it last looked
            looked = 0.0 if 0.0 < self.update_s < hold else max(hold, self.update_s)
            width = min(self.quantum_j, abs(watts) * looked)
        return abs(watts) * hold / 2, width / 2

    def late(self, weights_w: Mapping[int, float]) -> Error:
        """Error of an energy that grows by so many joules a second that these values are later."""
        moved = {index: w for index, w in weights_w.items() if not self.standing[index]}
        if self.looks is None or not moved:
            return rectangular([w * float(self.hold_s[index]) / 2 for index, w in moved.items()])
        weights, places = np.array(list(moved.values())), np.array(list(moved)) - 1  # the first reading comes before the moves
        alone = rectangular(weights * self.looks.alone_s[places] / 2)
        return normal(self.looks.deviation_s(weights, places)) + alone

    def variance_between(self, first: int, last: int, watts: float) -> float:
        """Mean variance in J^2 of the values from `first` to `last` at that power, by moment and step."""
        halves = [self.error_at(i, watts) for i in range(first, last + 1)]
        return sum(hold * hold + step * step for hold, step in halves) / 3 / len(halves)


def counter_moves(readings: Sequence[Reading], capabilities: Capabilities) -> CounterMoves | None:
    """None: the counter was read less than twice. CounterResetError if it went back."""
    samples = _ascending([Sample(r.mid_s, r.joules) for r in readings if r.usable and r.joules is not None])
    if len(samples) < 2:
        return None
    times, values, _ = arrays(samples)
    return moves_of(times, values, capabilities)


def moves_of(times_s: Floats, values_j: Floats, capabilities: Capabilities) -> CounterMoves:
    """The same from arrays of at least two readings."""
    steps = np.diff(values_j)
    if bool(np.any(steps < 0)):
        values_j = np.asarray(unwrap(values_j.tolist(), capabilities.wrap_j))
        steps = np.diff(values_j)
    moved = np.flatnonzero(steps) + 1
    gaps = np.diff(times_s)[moved - 1]
    holds = gaps
    if capabilities.update_s:  # what is read is so old at most; but a single step was passed at any time since the last reading
        single = np.abs(steps[moved - 1]) <= SINGLE_STEP * (capabilities.quantum_j or 0.0)
        holds = np.where(single & (capabilities.update_s < gaps), gaps, np.minimum(gaps, capabilities.update_s))
    # It moved between two readings; on average half way.
    times, sizes = times_s[moved] - holds / 2, steps[moved - 1]
    looks = narrowed(times_s[moved], gaps, capabilities.update_s) if capabilities.update_s else None
    if looks is not None:
        times, holds = looks.times_s, looks.holds_s
    usual = float(np.median(sizes)) if len(sizes) else 0.0
    ends = (times_s[:1], times_s[-1:])
    if len(moved) and moved[-1] == len(times_s) - 1:
        ends = (times_s[:1], times_s[:0])
    times = np.concatenate((ends[0], times, ends[1])) - (capabilities.lag_s or 0.0)
    values = np.concatenate((values_j[:1], values_j[moved], values_j[-1:][: len(ends[1])]))
    padding = (np.array([usual]), np.full(len(ends[1]), usual))
    standing = np.concatenate(([True], np.zeros(len(moved), dtype=bool), np.ones(len(ends[1]), dtype=bool)))
    return CounterMoves(
        EnergyCurve(times, values - values[0]),
        np.concatenate(([0.0], holds, np.zeros(len(ends[1])))),
        np.concatenate((padding[0], sizes, padding[1])),
        standing,
        capabilities.quantum_j or 0.0,
        capabilities.update_s or 0.0,
        looks,
    )


def shown_update_s(readings: Sequence[Reading], capabilities: Capabilities) -> float | None:
    """The update period that power readings give evidence of, for a meter that does not state it.

    A meter that is read ten times a second and has a new value every five seconds gives fifty readings and one value between
    two changes. The lower quartile of the times between changes is taken: a repeated value makes some of them multiples.
    None: it changed fewer than twice, so that nothing is shown.
    """
    samples = _ascending([Sample(r.mid_s, r.watts) for r in readings if r.usable and r.watts is not None])
    changes = [b.time_s for a, b in pairwise(samples) if b.value != a.value]
    between = sorted(b - a for a, b in pairwise(changes))
    if not between:
        return None
    shown = between[len(between) // 4]
    return capabilities.period_s if shown < 1.5 * capabilities.period_s else shown


def states_updates(readings: Sequence[Reading], capabilities: Capabilities) -> bool:
    """True if it is known that a new value comes how often: stated, given, probed, or told with each value."""
    return capabilities.update_s is not None or any(r.interval_s is not None for r in readings)


def repeats_values(capabilities: Capabilities) -> bool:
    """True if the meter is read clearly more often than it has a new value."""
    return capabilities.update_s is not None and capabilities.update_s >= 1.5 * capabilities.period_s


def keeps_own_time(capabilities: Capabilities) -> bool:
    """True if values are of moments that the meter chooses: it is not read at random moments (a log, a program, values that are
    sent), or that does not change them."""
    return capabilities.reads_moments and (repeats_values(capabilities) or capabilities.spread_s == 0.0)


def shown_quantum_w(readings: Sequence[Reading]) -> float:
    """The last decimal place that power readings show, up to a microwatt; 0 where they show more."""
    texts = {repr(r.watts) for r in readings if r.usable and r.watts is not None}
    places = max((len(t.partition(".")[2].rstrip("0")) if "e" not in t else 9 for t in texts), default=9)
    return float(10.0**-places) if places <= 6 else 0.0


def is_smeared(capabilities: Capabilities) -> bool:
    """True if averages overlap: the window is clearly longer than the time between two values."""
    return (
        capabilities.power is PowerKind.AVERAGE
        and capabilities.window_s is not None
        and capabilities.window_s > 1.5 * capabilities.effective_period_s
    )


def _ascending(samples: Sequence[Sample]) -> list[Sample]:
    result: list[Sample] = []
    for sample in samples:
        if not result or sample.time_s > result[-1].time_s:
            result.append(sample)
    return result


def updates(samples: Sequence[Sample], capabilities: Capabilities) -> list[Sample]:
    """Reduces repeated readings of a slow meter to one sample per update of the meter.

    The time of a change is known to one reading. A value that stays equal over several updates cannot be told from one that
    was not updated; there a sample is placed every `update_s` before the next change, with the value that was read there.
    """
    period = capabilities.update_s
    if period is None or not repeats_values(capabilities) or len(samples) < 2:
        return list(samples)
    changes = [samples[0]] + [b for a, b in pairwise(samples) if b.value != a.value]
    result = [changes[0]]
    for a, b in pairwise(changes):
        result.extend(_repeat(a, b.time_s, period, from_end=True))
        result.append(b)
    result.extend(_repeat(changes[-1], samples[-1].time_s + period / 2, period, from_end=False))
    return result


def _repeat(sample: Sample, until_s: float, period_s: float, from_end: bool) -> list[Sample]:
    count = int((until_s - sample.time_s) / period_s - 0.5)
    if from_end:
        times = [until_s - k * period_s for k in range(count, 0, -1)]
    else:
        times = [sample.time_s + k * period_s for k in range(1, count + 1)]
    return [Sample(t, sample.value) for t in times]


def remove_jitter(samples: Sequence[Sample]) -> list[Sample]:
    """Places each cycle where its stated lengths put it: arrival times minus the transport delay beyond the smallest one
    nearby. Stretches are handled apart where a cycle is missing."""
    result: list[Sample] = []
    stretch: list[Sample] = []
    for sample in samples:
        if stretch and not _follows(stretch, sample):
            result.extend(_straighten(stretch))
            stretch = []
        stretch.append(sample)
    result.extend(_straighten(stretch))
    return result


def _follows(stretch: Sequence[Sample], sample: Sample) -> bool:
    """False where a whole cycle may be missing before `sample`. A mere delay looks the same; it then starts a new stretch,
    whose other cycles put it right."""
    if sample.interval_s is None:
        return False
    drift = sample.time_s - stretch[-1].time_s - sample.interval_s
    return drift < 0.9 * sample.interval_s


def _straighten(stretch: Sequence[Sample]) -> list[Sample]:
    total = 0.0
    sums: list[float] = []
    for sample in stretch:
        total += sample.interval_s or 0.0
        sums.append(total)
    delays = [s.time_s - c for s, c in zip(stretch, sums, strict=True)]
    result = []
    for i, sample in enumerate(stretch):
        near = delays[max(0, i - JITTER_NEIGHBOURS) : i + JITTER_NEIGHBOURS + 1]
        result.append(Sample(sums[i] + min(near), sample.value, sample.interval_s))
    return result


def lost_count(readings: Sequence[Reading]) -> int:
    return sum(1 for r in readings if Flag.LOST in r.flags)
