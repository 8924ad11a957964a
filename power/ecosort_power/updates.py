"""From raw readings to the values that the meter really produced: pure functions.

A meter is usually read at its own moments, which are not the moments when it has a new value. Three repairs, none of
which changes a value: unusable readings are left out, repeated values of a slow meter are reduced to its updates, and the
arrival times of a meter that states its cycle length are freed from transport jitter.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ecosort_power.integrate import Sample
from ecosort_power.reading import Capabilities, Flag, PowerKind, Reading

# A cycle end is known to be no later than its arrival. Over this many neighbours the earliest arrival is taken as undelayed;
# short enough that the drift between the two clocks (under 100 ppm) stays below a millisecond or so.
JITTER_NEIGHBOURS = 25


def power_samples(readings: Sequence[Reading], capabilities: Capabilities) -> list[Sample]:
    """The power values in the meter's time: lag removed, and an average that is much shorter than the reading period
    moved to the middle of its window."""
    shift = capabilities.lag_s or 0.0
    if capabilities.power is PowerKind.AVERAGE and is_spot(capabilities):
        shift += (capabilities.window_s or 0.0) / 2
    samples = [Sample(r.mid_s - shift, r.watts, r.interval_s) for r in readings if r.usable and r.watts is not None]
    if any(s.interval_s is not None for s in samples):
        return _ascending(remove_jitter(samples))
    return _ascending(updates(_ascending(samples), capabilities))


def counter_samples(readings: Sequence[Reading], capabilities: Capabilities) -> list[Sample]:
    """The counter at the moments when it moved. A counter that stands still is known only to have ended by then."""
    lag = capabilities.lag_s or 0.0
    samples = _ascending([Sample(r.mid_s - lag, r.joules) for r in readings if r.usable and r.joules is not None])
    moved = samples[:1] + [b for a, b in pairwise(samples) if b.value != a.value]
    if samples and moved[-1] is not samples[-1]:
        moved.append(samples[-1])
    return moved


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


def is_spot(capabilities: Capabilities) -> bool:
    """True if an average covers so little of the time between two values that it is a spot value."""
    return capabilities.window_s is not None and capabilities.window_s < 0.5 * capabilities.effective_period_s


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
    if period is None or period < 1.5 * capabilities.period_s or len(samples) < 2:
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
