"""The energy of one run, from stored readings: pure, so that a stored result can be computed again at any time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ecosort_power.estimate import Estimate, counter_estimate, power_estimate, spliced_estimate
from ecosort_power.integrate import CounterResetError, EnergyCurve, arrays
from ecosort_power.quality import MIN_SAMPLES, Defect, Window, defects_of, gap_list, gap_seconds
from ecosort_power.reading import Capabilities, Reading
from ecosort_power.split import PhaseEnergy, Span, split
from ecosort_power.uncertainty import Uncertainty, rectangular
from ecosort_power.updates import (
    CounterMoves,
    counter_moves,
    keeps_own_time,
    power_curve,
    power_samples,
    shown_quantum_w,
    shown_update_s,
    states_updates,
)

# A counter alone must move by this many of its steps, and this often, during a run; with power values the two are combined.
MIN_QUANTA = 20
MIN_MOVES = 3
SMALL_BUSY_W = 50.0
SLACK = 0.5  # of a value
# A note says that the idle powers before and after the run differ by more than this share of what the run adds.
RESTLESS = 0.1
# Counter and power of one meter that differ by more than this, and more than is known of them, contradict each other.
COUNTER_TOLERANCE = 0.02
# A counter that differs from the power by more than this shows that one of the two stands still or is wrong; beyond one step at
# each end where it moved less often than this.
CONTRADICTION, CONTRADICTING_MOVES = 0.5, 10
# A run is looked for beside itself over so long: one value of a quick meter may be of anything.
SHORTEST_LOOK_S = 0.5
# ... and an end of it that has less than this share of what the run adds to the idle power is not where the run is.
QUIET = 0.25
LATE_UNKNOWN = (
    "it still shows the run {:g} s after its end, which is as much as is allowed for a lag that is not known; find it out "
    "(run --probe 60) or say it (#lag=SECONDS)"
)
LATE = "it still shows the run after its end, by a lag of {:g} s: its lag is longer (run --probe 60 measures it)"
EARLY = "it shows the run before its start, by a lag of {:g} s: its lag is shorter (run --probe 60 measures it)"
WRONG_CLOCK = "it shows the run before its start, by its times: its clock is wrong"
BUSY_BEFORE = "it shows the power of the run before its start, and less at its end: something else kept the machine busy"
# A load of so many of the processors adds at least this share to the power of a whole machine.
FOLLOWED_LOAD, FOLLOWED = 0.25, 0.02
COUNTER, POWER, BOTH = "counter", "power", "counter and power"


@dataclass(frozen=True, slots=True)
class MeterEnergy:
    """Holds what one meter says of one run. `joules` is None if a fatal defect forbids a number."""

    meter: str
    joules: float | None
    seconds: float
    source: str | None  # counter, power, counter and power, or None
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
class Curves:
    """Holds what a meter says over one run: its power values, and the moves of its counter."""

    power: EnergyCurve | None
    moves: CounterMoves | None

    @property
    def counter(self) -> EnergyCurve | None:
        return self.moves.curve if self.moves is not None else None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to the energy of the run."""

    source: str
    estimate: Estimate
    values: int  # new values inside the run


def evaluate(
    meter: str, readings: Sequence[Reading], capabilities: Capabilities, window: Window, spans: Sequence[Span]
) -> MeterEnergy:
    """Energy of the window and of its phases, with uncertainty and defects."""
    defects = defects_of(readings, capabilities, window, meter)
    stated = states_updates(readings, capabilities)
    capabilities = _as_shown(readings, capabilities, stated)
    try:
        curves = curves_of(readings, capabilities)
    except CounterResetError as error:
        defects.append(Defect("counter-reset", f"{meter}: {error}", True, meter))
        curves = Curves(None, None)
    if not stated and capabilities.update_s is None:
        # One value all the time, or one change: nothing distinguishes the power readings of this run from one old value.
        curves = replace(curves, power=None)
    found = candidates(curves, capabilities, window)
    defects += [
        d for d in doubts(meter, curves, found, capabilities, window, stated) if not _is_explained(d, defects, curves, window)
    ]
    best = choose(found)
    gaps = gap_list(readings, capabilities, window)
    if best is None or any(d.fatal for d in defects):
        inside = best.values if best is not None else _count(curves, window)
        return withheld(MeterEnergy(meter, None, window.seconds, None, inside, [list(g) for g in gaps], defects=defects))
    joules = best.estimate.joules
    return MeterEnergy(
        meter=meter,
        joules=joules,
        seconds=window.seconds,
        source=best.source,
        samples=best.values,
        gaps=[list(g) for g in gaps],
        uncertainty=_uncertainty(best.estimate, _spread_w(curves, window) * gap_seconds(gaps), capabilities, window),
        phases=split(curves.power, curves.counter, joules, capabilities, window, spans),
        idle_before_w=best.estimate.idle_before_w,
        idle_after_w=best.estimate.idle_after_w,
        peak_w=max((r.watts for r in readings if r.usable and r.watts is not None and _in(r, window)), default=None),
        counter_to_power=_ratio(found),
        defects=defects,
    )


# Notes that give watts or joules of the run.
WITH_FIGURES = frozenset({"not-idle", "counter-mismatch"})


def withheld(energy: MeterEnergy) -> MeterEnergy:
    """Keeps of the energy of a run that is not valid only why, and no figure, in its notes neither."""
    defects = [d for d in energy.defects if d.fatal or d.code not in WITH_FIGURES]
    return MeterEnergy(energy.meter, None, energy.seconds, None, energy.samples, gaps=energy.gaps, defects=defects)


def mean_watts(readings: Sequence[Reading], capabilities: Capabilities) -> float | None:
    """Mean power over a stretch of readings, e.g. of the idle machine."""
    try:
        curves = curves_of(readings, capabilities)
    except CounterResetError:
        return None
    curve = curves.power or curves.counter
    return None if curve is None else curve.mean_watts(curve.begin_s, curve.end_s)


def _as_shown(readings: Sequence[Reading], capabilities: Capabilities, stated: bool) -> Capabilities:
    """With what the readings show where the meter does not say it: how often there is a new value, and how fine it is."""
    if not stated:
        capabilities = replace(capabilities, update_s=shown_update_s(readings, capabilities))
    if capabilities.quantum_w is None:
        capabilities = replace(capabilities, quantum_w=shown_quantum_w(readings))
    return capabilities


def _in(reading: Reading, window: Window) -> bool:
    return window.begin_s <= reading.mid_s <= window.end_s


def curves_of(readings: Sequence[Reading], capabilities: Capabilities) -> Curves:
    """CounterResetError if the counter went back."""
    moves = counter_moves(readings, capabilities) if capabilities.counter else None
    return Curves(_power_curve(readings, capabilities), moves)


def _power_curve(readings: Sequence[Reading], capabilities: Capabilities) -> EnergyCurve | None:
    samples = power_samples(readings, capabilities) if capabilities.power is not None else []
    if len(samples) < 2:
        return None
    return power_curve(*arrays(samples), capabilities)


def candidates(curves: Curves, capabilities: Capabilities, window: Window) -> list[Candidate]:
    """Every way to the energy that has enough values: counter, power values, and a coarse counter together with power values."""
    power, found = _by_power(curves, capabilities, window), []
    if curves.moves is not None:
        idle = (power.estimate.idle_before_w, power.estimate.idle_after_w) if power is not None else None
        counted = counter_estimate(curves.moves, capabilities, window, idle)
        if counted is not None and _counts_enough(curves.moves, counted, capabilities, window, power is not None):
            found.append(Candidate(COUNTER, counted, curves.moves.count(window.begin_s, window.end_s)))
    if power is None:
        return found
    if curves.power is not None and curves.moves is not None:
        both = spliced_estimate(curves.power, curves.moves, capabilities, window)
        found += [Candidate(BOTH, both, power.values)] if both is not None else []
    return [*found, power]


def _by_power(curves: Curves, capabilities: Capabilities, window: Window) -> Candidate | None:
    """None if there are too few values. By the length of the run, not by the values that happen to lie in it: that chance goes
    together with the error at the ends, so that the runs that are left would be biased."""
    if curves.power is None or _has_few(curves.power, window):
        return None
    estimate = power_estimate(curves.power, capabilities, window)
    return Candidate(POWER, estimate, curves.power.count(window.begin_s, window.end_s)) if estimate is not None else None


def least_seconds(capabilities: Capabilities) -> float:
    """The shortest run that may have an energy by this meter, as far as is known before its first reading: by its power values
    or, if that is shorter, by its counter on a machine of SMALL_BUSY_W."""
    by_power = MIN_SAMPLES * capabilities.effective_period_s
    by_steps = MIN_QUANTA * (capabilities.quantum_j or 0.0) / SMALL_BUSY_W
    by_counter = max(MIN_MOVES * capabilities.effective_period_s, by_steps)
    if capabilities.power is None:
        return by_counter
    return min(by_power, by_counter) if capabilities.counter else by_power


def _counts_enough(moves: CounterMoves, counted: Estimate, capabilities: Capabilities, window: Window, with_power: bool) -> bool:
    """A counter alone must move often enough. Beside power values it must have moved on both sides of the run; then the smaller
    interval decides."""
    often = window.seconds >= (MIN_MOVES - SLACK) * (capabilities.update_s or 0.0)
    often = often and moves.count(window.begin_s, window.end_s) >= MIN_MOVES - 1
    steps = counted.joules / capabilities.quantum_j if capabilities.quantum_j else MIN_QUANTA
    if often and steps >= MIN_QUANTA:
        return True
    return with_power and not (moves.standing[counted.begin] or moves.standing[counted.end])


def choose(found: Sequence[Candidate]) -> Candidate | None:
    """The one of which most is known; a counter wins a tie, because it misses nothing between two readings."""
    return min(found, key=lambda c: c.estimate.half95_j, default=None)


def _ratio(found: Sequence[Candidate]) -> float | None:
    joules = {c.source: c.estimate.joules for c in found}
    return joules[COUNTER] / joules[POWER] if COUNTER in joules and joules.get(POWER) else None


def doubts(
    meter: str, curves: Curves, found: Sequence[Candidate], capabilities: Capabilities, window: Window, stated: bool
) -> list[Defect]:
    """Returns what is to be said of the energy, or why there is none."""
    texts: list[tuple[str, str, bool]] = []
    best = choose(found)
    if best is None:
        texts.append(("too-short", _too_short(curves, capabilities, window, stated), True))
    elif curves.moves is not None and best.source != COUNTER:
        moves = curves.moves.count(window.begin_s, window.end_s)
        what = "its power values are used" if best.source == POWER else "its power values give the rest"
        texts.append(("coarse-counter", f"its energy counter moved only {moves} times during the run; {what}", False))
    elif best.source == COUNTER and best.values < MIN_SAMPLES:
        text = f"its counter moved only {best.values} times during the run"
        texts.append(("few-values", text, False))
    if contradiction := _contradiction(curves, window):
        texts.append(("counter-mismatch", contradiction, True))
    ratio, known = None if contradiction else _ratio(found), sum(c.estimate.half95_j for c in found if c.source != BOTH)
    if ratio is not None and best is not None and abs(ratio - 1) > COUNTER_TOLERANCE + known / abs(best.estimate.joules):
        texts.append(("counter-mismatch", f"its energy counter gives {ratio:.3f} times what its power values add up to", False))
    if best is not None and (restless := _restless(best.estimate, window)) is not None:
        texts.append(("not-idle", restless, False))
    if best is not None and (unmoved := _unmoved(best.estimate, capabilities, window)) is not None:
        texts.append(("not-following", unmoved, False))
    if best is not None and (misplaced := _misplaced(curves, best.estimate, capabilities, window)) is not None:
        texts.append(("late", misplaced, True))
    elif capabilities.lag_s is None:
        text = "its lag is not known; `run --probe 60` measures it, until then phases may be shifted"
        texts.append(("lag-unknown", text, False))
    if curves.power is not None and best is not None and best.source == POWER and keeps_own_time(capabilities):
        text = (
            f"a load that repeats every {capabilities.effective_period_s:g} s looks constant to it within a run; the runs begin "
            "at random moments of that time, so that their deviation shows it and is part of the interval"
        )
        texts.append(("own-clock", text, False))
    return [Defect(code, f"{meter}: {text}", fatal, meter) for code, text, fatal in texts]


def _contradiction(curves: Curves, window: Window) -> str | None:
    """Why neither counter nor power is believed: each by itself looks like a measurement."""
    power, moves = curves.power, curves.moves
    moved = moves.count(window.begin_s, window.end_s) if moves is not None else 0
    if power is None or moves is None or moved < MIN_MOVES:
        return None
    begin = max(window.begin_s, power.begin_s, moves.curve.begin_s)
    end = min(window.end_s, power.end_s, moves.curve.end_s)
    if begin >= end:
        return None
    counted, added = moves.curve.between(begin, end), power.between(begin, end)
    ends = 0.0 if moved >= CONTRADICTING_MOVES else 2 * float(moves.step_j.max())
    if abs(counted - added) <= CONTRADICTION * added + ends:
        return None
    way = "less" if counted < added else "more"
    return (
        f"its energy counter goes up by far {way} than its power values add up to: one of the two stands still, or is of another "
        "unit or channel"
    )


def _misplaced(curves: Curves, estimate: Estimate, capabilities: Capabilities, window: Window) -> str | None:
    """Why the run cannot be where the meter shows it: by its lag, or the longest that is allowed for where that is not known, the
    power beside the run is still rather that of the run than of the idle machine. A lag that is known is doubted only where
    the other end of the run looks idle as well: drives may go on working after a run. Where the two powers are alike a wrong
    lag does no harm."""
    curve = curves.power if curves.power is not None else curves.counter
    if curve is None or curve.begin_s > window.begin_s or curve.end_s < window.end_s:
        return None
    period, lag = capabilities.effective_period_s, capabilities.lag_s
    length = 2 * period if lag is None else max(period, SHORTEST_LOOK_S)
    busy, idle = curve.mean_watts(window.begin_s, window.end_s), (estimate.idle_before_w, estimate.idle_after_w)

    def shows_run(watts: float | None, idle_w: float) -> bool:
        return watts is not None and watts > max((1 + RESTLESS) * idle_w, (idle_w + busy) / 2)

    def is_quiet(watts: float | None, idle_w: float) -> bool:
        return watts is not None and watts < idle_w + QUIET * (busy - idle_w)

    reach = capabilities.unknown_lag_s + (capabilities.window_s or 0.0) + period
    after = shows_run(_beside(curve, window.end_s + reach, length), idle[0])
    before = shows_run(_beside(curve, window.begin_s - period, -length), idle[1])
    if after and lag is None:
        return LATE_UNKNOWN.format(capabilities.unknown_lag_s)
    if after and is_quiet(_beside(curve, window.begin_s, length), idle[0]):
        return LATE.format(lag)
    if before and is_quiet(_beside(curve, window.end_s - period, -length), idle[1]):
        if lag:
            return EARLY.format(lag)
        return WRONG_CLOCK if keeps_own_time(capabilities) else BUSY_BEFORE
    return None


def _beside(curve: EnergyCurve, edge_s: float, length_s: float) -> float | None:
    """Mean power over so long after a moment or, if that is negative, before it, of values that lie wholly on that side."""
    times = curve.times_s
    if length_s > 0:
        at = int(np.searchsorted(times, edge_s))
        begin, end = (float(times[at]), min(float(times[at]) + length_s, curve.end_s)) if at < len(times) else (0.0, 0.0)
    else:
        at = int(np.searchsorted(times, edge_s, side="right")) - 1
        begin, end = (max(float(times[at]) + length_s, curve.begin_s), float(times[at])) if at >= 0 else (0.0, 0.0)
    return curve.mean_watts(begin, end) if end > begin else None


def _unmoved(estimate: Estimate, capabilities: Capabilities, window: Window) -> str | None:
    """A meter of the whole machine that a load of its processors does not move is another machine's, or shows the run at another
    time."""
    load, idle = window.load_step, (estimate.idle_before_w + estimate.idle_after_w) / 2
    if load is None or load < FOLLOWED_LOAD or not capabilities.scope.whole_system:
        return None
    if estimate.joules / window.seconds > (1 + FOLLOWED) * idle:
        return None
    return (
        f"it shows hardly more power during the run than beside it, although the run used {load:.0%} of the processors: is it "
        "this machine's meter, and is its lag right (ecosort-power probe)?"
    )


def _restless(estimate: Estimate, window: Window) -> str | None:
    """The energy rests on the machine being idle before and after the run alike, and on readings that show it."""
    before, after = estimate.idle_before_w, estimate.idle_after_w
    above = estimate.joules / window.seconds - min(before, after)
    if abs(after - before) <= RESTLESS * above:
        return None
    return (
        f"{before:.4g} W before the run, {after:.4g} W after it: the machine was not idle on both sides, or the meter is later "
        "than is known (`run --probe 60` measures its lag)"
    )


def _too_short(curves: Curves, capabilities: Capabilities, window: Window, stated: bool) -> str:
    values, needed = _count(curves, window), MIN_SAMPLES if curves.power is not None or curves.moves is None else MIN_MOVES
    text = f"the run is too short for this meter: {values} values in it, {needed} are needed"
    if values >= needed and curves.power is not None:  # by chance: its length is what counts
        spacing = curves.power.spacing_s
        text = (
            f"the run of {window.seconds:.3g} s is too short for this meter, which has a value every {spacing:.3g} s: "
            f"{(MIN_SAMPLES - SLACK) * spacing:.3g} s are needed"
        )
    if curves.moves is not None and capabilities.quantum_j and values >= needed:
        return f"the run is too short for this meter: its counter moves in steps of {capabilities.quantum_j:g} J"
    if curves.moves is not None and curves.power is None and capabilities.quantum_j:
        text += f", and one step of its counter is {capabilities.quantum_j:g} J: have the meter report its power (W) as well"
    if not stated and curves.moves is None:
        shown = f"about every {capabilities.update_s:.2g} s" if capabilities.update_s is not None else "hardly ever"
        text += f"; how often it updates is not known, and its value changes {shown} (--probe 60 or #update= settles it)"
    return text


def _count(curves: Curves, window: Window) -> int:
    if curves.power is not None:
        return curves.power.count(window.begin_s, window.end_s)
    return curves.moves.count(window.begin_s, window.end_s) if curves.moves is not None else 0


def _uncertainty(estimate: Estimate, gaps_j: float, capabilities: Capabilities, window: Window) -> Uncertainty:
    accuracy = capabilities.accuracy
    gaps = rectangular(gaps_j)
    return Uncertainty(
        instrument_j=None if accuracy is None else accuracy.gain * estimate.joules + accuracy.offset_w * window.seconds,
        quantum_j=estimate.quantum.sd,
        sampling_j=estimate.sampling.sd,
        idle_j=estimate.idle.sd,
        timing_j=estimate.timing.sd,
        gaps_j=gaps.sd,
        coverage=(estimate.error + gaps).coverage,
    )


def _is_explained(doubt: Defect, defects: Sequence[Defect], curves: Curves, window: Window) -> bool:
    """Says whether a doubt is explained: a run that is long enough has no energy because readings are missing beside it, which is
    reported already: the next one may well have them.
    """
    uncovered = any(d.code == "coverage" for d in defects)
    return doubt.code == "too-short" and uncovered and curves.power is not None and not _has_few(curves.power, window)


def _has_few(power: EnergyCurve, window: Window) -> bool:
    return window.seconds < (MIN_SAMPLES - SLACK) * power.spacing_s


def _spread_w(curves: Curves, window: Window) -> float:
    """Range of the power inside the window."""
    curve = curves.power or curves.counter
    if curve is None:
        return 0.0
    inside = (curve.times_s > window.begin_s) & (curve.times_s < window.end_s)
    watts = curve.watts[inside] if curve.watts is not None else curve.slopes()[inside[1:] & inside[:-1]]
    return float(watts.max() - watts.min()) if len(watts) else 0.0
