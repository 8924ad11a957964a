"""The energy of one run, from stored readings: pure, so that a stored result can be computed again at any time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from ecosort_power.integrate import CounterResetError, EnergyCurve, counter, smeared_total, tiles, trapezoid
from ecosort_power.quality import FEW_SAMPLES, MIN_SAMPLES, Defect, Window, defects_of, gap_list, gap_seconds
from ecosort_power.reading import Capabilities, PowerKind, Reading
from ecosort_power.updates import counter_samples, is_smeared, is_spot, power_samples, shown_update_s, states_updates

# A window longer than this smears phases beyond repair, whatever their length.
MAX_SPLIT_WINDOW_S = 60.0
# A counter must move by this many of its steps, and this often, during a run. Between two moves it is interpolated, and what that
# leaves unknown at both ends of the run is part of the uncertainty; under MIN_SAMPLES moves it is also said.
MIN_QUANTA = 20
MIN_MOVES = 3
# Counter and power of one meter that differ by more than this contradict each other.
COUNTER_TOLERANCE = 0.02
# The phase name of what is left over.
REST = "rest"


@dataclass(frozen=True, slots=True)
class Span:
    """A phase of the run, or one of several stretches of it."""

    name: str
    begin_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """Parts of the uncertainty of an energy, in joules. Limits add up; `sampling` is a standard error and counts twice."""

    instrument_j: float | None  # None: the accuracy of the meter is not known
    quantum_j: float
    sampling_j: float
    gaps_j: float
    timing_j: float

    @property
    def known_j(self) -> float:
        """All but the instrument's own accuracy, about 95 %."""
        return self.quantum_j + self.gaps_j + self.timing_j + 2 * self.sampling_j

    @property
    def total_j(self) -> float | None:
        return None if self.instrument_j is None else self.instrument_j + self.known_j


@dataclass(frozen=True, slots=True)
class PhaseEnergy:
    name: str
    seconds: float
    joules: float | None
    samples: int
    note: str | None = None

    @property
    def watts(self) -> float | None:
        return self.joules / self.seconds if self.joules is not None and self.seconds > 0 else None


@dataclass(frozen=True, slots=True)
class MeterEnergy:
    """What one meter says of one run. `joules` is None if a fatal defect forbids a number."""

    meter: str
    joules: float | None
    seconds: float
    source: str | None  # counter, power, or None
    samples: int
    gaps: list[list[float]] = field(default_factory=list)
    uncertainty: Uncertainty | None = None
    phases: list[PhaseEnergy] = field(default_factory=list)
    idle_before_w: float | None = None
    idle_after_w: float | None = None
    peak_w: float | None = None
    counter_to_power: float | None = None  # ratio of the two where the meter has both
    defects: list[Defect] = field(default_factory=list)

    @property
    def watts(self) -> float | None:
        return self.joules / self.seconds if self.joules is not None and self.seconds > 0 else None


@dataclass(frozen=True, slots=True)
class _Curves:
    """The energy curves of a meter over one run, and the total of each."""

    power: EnergyCurve | None
    counter: EnergyCurve | None
    power_j: float | None
    counter_j: float | None

    @property
    def total(self) -> tuple[EnergyCurve, float, str] | None:
        """The meter's own counter first: it misses nothing between two readings."""
        if self.counter is not None and self.counter_j is not None:
            return self.counter, self.counter_j, "counter"
        if self.power is not None and self.power_j is not None:
            return self.power, self.power_j, "power"
        return None


def evaluate(
    meter: str, readings: Sequence[Reading], capabilities: Capabilities, window: Window, spans: Sequence[Span]
) -> MeterEnergy:
    """Energy of the window and of its phases, with uncertainty and defects."""
    defects = defects_of(readings, capabilities, window, meter)
    stated = states_updates(readings, capabilities)
    if not stated:
        capabilities = replace(capabilities, update_s=shown_update_s(readings, capabilities))
    try:
        curves = _curves(readings, capabilities, window)
    except CounterResetError as error:
        defects.append(Defect("counter-reset", f"{meter}: {error}", True, meter))
        curves = _Curves(None, None, None, None)
    if not stated and capabilities.update_s is None:
        # One value all the time, or one change: nothing tells the power readings of this run from one old value.
        curves = replace(curves, power=None, power_j=None)
    curves, coarse = _without_coarse_counter(meter, curves, capabilities, window)
    inside = _count(curves.power if curves.counter_j is None else curves.counter, window.begin_s, window.end_s)
    defects += [*coarse, *_doubts(meter, curves, capabilities, inside, stated)]
    gaps = gap_list(readings, capabilities, window)
    best = curves.total
    if best is None or any(d.fatal for d in defects):
        return MeterEnergy(meter, None, window.seconds, None, inside, [list(g) for g in gaps], defects=defects)
    curve, joules, source = best
    return MeterEnergy(
        meter=meter,
        joules=joules,
        seconds=window.seconds,
        source=source,
        samples=inside,
        gaps=[list(g) for g in gaps],
        uncertainty=_uncertainty(curve, joules, capabilities, window, gaps, source),
        phases=_split(curves, joules, capabilities, window, spans),
        idle_before_w=_idle_before(curve, window.first_s, window.begin_s),
        idle_after_w=_idle_after(curve, window.end_s + capabilities.settle_s, window.last_s),
        peak_w=max((r.watts for r in readings if r.usable and r.watts is not None and _in(r, window)), default=None),
        counter_to_power=_ratio(curves),
        defects=defects,
    )


def mean_watts(readings: Sequence[Reading], capabilities: Capabilities) -> float | None:
    """Mean power over a stretch of readings, e.g. of the idle machine."""
    power = _power_curve(readings, capabilities)
    counted = counter_samples(readings, capabilities) if capabilities.counter else []
    try:
        curve = power or (counter(counted, capabilities.wrap_j) if len(counted) > 1 else None)
    except CounterResetError:
        return None
    return None if curve is None else curve.mean_watts(curve.begin_s, curve.end_s)


def _in(reading: Reading, window: Window) -> bool:
    return window.begin_s <= reading.mid_s <= window.end_s


def _curves(readings: Sequence[Reading], capabilities: Capabilities, window: Window) -> _Curves:
    power = _power_curve(readings, capabilities)
    counted = counter_samples(readings, capabilities) if capabilities.counter else []
    count = counter(counted, capabilities.wrap_j) if len(counted) > 1 else None
    return _Curves(power, count, _power_total(power, capabilities, window), _total(count, window.begin_s, window.end_s))


def _power_curve(readings: Sequence[Reading], capabilities: Capabilities) -> EnergyCurve | None:
    samples = power_samples(readings, capabilities) if capabilities.power is not None else []
    if len(samples) < 2:
        return None
    point_like = capabilities.power is PowerKind.INSTANT or is_spot(capabilities) or is_smeared(capabilities)
    return trapezoid(samples) if point_like else tiles(samples)


def _total(curve: EnergyCurve | None, begin_s: float, end_s: float) -> float | None:
    if curve is None or curve.begin_s > begin_s or curve.end_s < end_s:
        return None
    return curve.between(begin_s, end_s)


def _power_total(curve: EnergyCurve | None, capabilities: Capabilities, window: Window) -> float | None:
    if curve is None or not is_smeared(capabilities):
        return _total(curve, window.begin_s, window.end_s)
    smear = capabilities.window_s or 0.0
    if curve.begin_s >= window.begin_s or curve.end_s <= window.end_s + smear:
        return None
    return smeared_total(curve, window.begin_s, window.end_s, smear)


def _ratio(curves: _Curves) -> float | None:
    if not curves.power_j or curves.counter_j is None:
        return None
    return curves.counter_j / curves.power_j


def _without_coarse_counter(
    meter: str, curves: _Curves, capabilities: Capabilities, window: Window
) -> tuple[_Curves, list[Defect]]:
    """A counter that moves too seldom or in too large steps for this run gives way to the power values, if there are enough."""
    moves = _count(curves.counter, window.begin_s, window.end_s)
    steps = capabilities.quantum_j is not None and (curves.counter_j or 0.0) < MIN_QUANTA * capabilities.quantum_j
    if curves.counter_j is None or (moves >= MIN_SAMPLES and not steps):
        return curves, []
    if curves.power_j is None or _count(curves.power, window.begin_s, window.end_s) < MIN_SAMPLES:
        if not steps:
            return curves, []
        text = f"{meter}: the run is too short for this meter: its counter moves in steps of {capabilities.quantum_j:g} J"
        return curves, [Defect("too-short", text, True, meter)]
    text = f"{meter}: its energy counter moved only {moves} times during the run; its power values are used"
    return replace(curves, counter=None, counter_j=None), [Defect("coarse-counter", text, False, meter)]


def _doubts(meter: str, curves: _Curves, capabilities: Capabilities, inside: int, stated: bool) -> list[Defect]:
    found = []
    needed = MIN_SAMPLES if curves.counter_j is None else MIN_MOVES
    if inside < needed:
        text = f"{meter}: the run is too short for this meter: {inside} values in it, {needed} are needed"
        if not stated and curves.counter_j is None:
            shown = f"about every {capabilities.update_s:.2g} s" if capabilities.update_s is not None else "hardly ever"
            text += f"; how often it updates is not known, and its value changes {shown} (--probe 60 or #update= settles it)"
        found.append(Defect("too-short", text, True, meter))
    elif inside < MIN_SAMPLES:
        text = f"{meter}: its counter moved only {inside} times during the run: the energy is interpolated at both ends"
        found.append(Defect("few-values", text, False, meter))
    ratio = _ratio(curves)
    if ratio is not None and abs(ratio - 1) > COUNTER_TOLERANCE:
        text = f"{meter}: its energy counter gives {ratio:.3f} times what its power values add up to"
        found.append(Defect("counter-mismatch", text, False, meter))
    if capabilities.lag_s is None:
        text = f"{meter}: its lag is not known; `run --probe 60` measures it, until then phases may be shifted"
        found.append(Defect("lag-unknown", text, False, meter))
    return found


def _count(curve: EnergyCurve | None, begin_s: float, end_s: float) -> int:
    return 0 if curve is None else sum(1 for t in curve.times_s if begin_s < t <= end_s)


def _mean(curve: EnergyCurve, begin_s: float, end_s: float) -> float | None:
    begin_s, end_s = max(begin_s, curve.begin_s), min(end_s, curve.end_s)
    return curve.mean_watts(begin_s, end_s) if end_s > begin_s else None


def _idle_before(curve: EnergyCurve, first_s: float, begin_s: float) -> float | None:
    """Up to the last value before the run: between that and the next the run has begun."""
    return _mean(curve, first_s, max((t for t in curve.times_s if t <= begin_s), default=first_s))


def _idle_after(curve: EnergyCurve, end_s: float, last_s: float) -> float | None:
    return _mean(curve, min((t for t in curve.times_s if t >= end_s), default=last_s), last_s)


def _uncertainty(
    curve: EnergyCurve,
    joules: float,
    capabilities: Capabilities,
    window: Window,
    gaps: Sequence[tuple[float, float]],
    source: str,
) -> Uncertainty:
    begin, end = window.begin_s, window.end_s
    accuracy = capabilities.accuracy
    instrument = None if accuracy is None else accuracy.gain * joules + accuracy.offset_w * window.seconds
    power_quantum = (capabilities.quantum_w or 0.0) / 2 * window.seconds
    quantum = (capabilities.quantum_j or 0.0) if source == "counter" else power_quantum
    spread = _spread_w(curve, begin, end)
    # Without better knowledge the lag may be wrong by half a reading period: that much power enters or leaves at each end.
    timing = 0.5 * capabilities.effective_period_s if capabilities.lag_s is None else 0.0
    return Uncertainty(
        instrument_j=instrument,
        quantum_j=quantum,
        sampling_j=curve.sampling_error_j(begin, min(end, curve.end_s)),
        gaps_j=gap_seconds(gaps) * spread,
        timing_j=timing * (_edge_step_w(curve, begin) + _edge_step_w(curve, end)),
    )


def _spread_w(curve: EnergyCurve, begin_s: float, end_s: float) -> float:
    """Range of the power inside the window."""
    inside = [i for i, t in enumerate(curve.times_s) if begin_s < t < end_s]
    if curve.watts is not None:
        watts = [curve.watts[i] for i in inside]
    else:
        watts = [curve.mean_watts(curve.times_s[a], curve.times_s[b]) for a, b in pairwise(inside)]
    return max(watts) - min(watts) if watts else 0.0


def _edge_step_w(curve: EnergyCurve, time_s: float) -> float:
    """How much the power changes around `time_s`."""
    reach = 2 * (curve.end_s - curve.begin_s) / (len(curve.times_s) - 1)
    before = _mean(curve, time_s - reach, time_s)
    after = _mean(curve, time_s, time_s + reach)
    return abs(after - before) if before is not None and after is not None else 0.0


def _split(
    curves: _Curves, joules: float, capabilities: Capabilities, window: Window, spans: Sequence[Span]
) -> list[PhaseEnergy]:
    """Energy per phase name. The phases that have a number and the rest add up to the total.

    Of counter and power the one with more values splits; it is scaled to the total, which the counter gives if there is one.
    """
    if not spans:
        return []
    names = list(dict.fromkeys(s.name for s in spans))
    window_s = capabilities.window_s or 0.0
    if window_s > MAX_SPLIT_WINDOW_S:
        note = f"n/a (the meter averages over {window_s:g} s: totals only)"
        return [PhaseEnergy(n, _seconds(spans, n), None, 0, note) for n in names]
    curve = max((c for c in (curves.power, curves.counter) if c is not None), key=lambda c: len(c.times_s))
    shift = window_s / 2 if curve is curves.power and is_smeared(capabilities) else 0.0
    own_total = _total(curve, window.begin_s + shift, window.end_s + shift)
    if not own_total:
        return [PhaseEnergy(n, _seconds(spans, n), None, 0, "n/a (the readings do not cover it)") for n in names]
    scale = joules / own_total
    result = [_phase(curve, n, [s for s in spans if s.name == n], shift, scale, capabilities) for n in names]
    return [*result, _rest(result, joules, window)]


def _rest(phases: Sequence[PhaseEnergy], joules: float, window: Window) -> PhaseEnergy:
    """What no phase accounts for: start, exit, the sync of the harness, and phases too short to have a number."""
    known = [p for p in phases if p.joules is not None]
    lumped = [p.name for p in phases if p.joules is None]
    note = f"includes {', '.join(n.replace('_', ' ') for n in lumped)}" if lumped else None
    return PhaseEnergy(
        REST, window.seconds - sum(p.seconds for p in known), joules - sum(p.joules or 0.0 for p in known), 0, note
    )


def _seconds(spans: Sequence[Span], name: str) -> float:
    return sum(s.end_s - s.begin_s for s in spans if s.name == name)


def _phase(
    curve: EnergyCurve, name: str, spans: Sequence[Span], shift_s: float, scale: float, capabilities: Capabilities
) -> PhaseEnergy:
    seconds = sum(s.end_s - s.begin_s for s in spans)
    samples = sum(_count(curve, s.begin_s + shift_s, s.end_s + shift_s) for s in spans)
    if is_smeared(capabilities):  # overlapping averages are not independent
        samples = min(samples, int(seconds / (capabilities.window_s or 1.0)))
    if samples < MIN_SAMPLES:
        return PhaseEnergy(name, seconds, None, samples, "n/a (phase too short for this meter)")
    joules = sum(curve.between(s.begin_s + shift_s, s.end_s + shift_s) for s in spans) * scale
    note = f"only {samples} values" if samples < FEW_SAMPLES else None
    return PhaseEnergy(name, seconds, joules, samples, note)
