"""Finds what is wrong with a series of readings: pure functions that return defects.

A fatal defect makes the energy of the run invalid: the number is then not printed as a result. Others are warnings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from ecosort_power.integrate import find_gaps
from ecosort_power.plausible import implausible, jumps
from ecosort_power.reading import Capabilities, Flag, Reading, has_power
from ecosort_power.updates import shown_update_s

MAX_GAP_SHARE = 0.01  # of the run
MIN_SAMPLES = 10  # in a run or a phase, else no number
FEW_SAMPLES = 30  # below this a phase is printed with a warning, and values do not show how rough a load is
STALE_READINGS = 10  # fewer equal readings than this prove nothing
# A meter that resolves 0.1 % of its reading does not repeat a value this often by chance.
STUCK_READINGS = 30
FINE_RESOLUTION = 0.001
# The run must have loaded this share of the machine's processors before an unchanged reading is suspicious.
LOAD_STEP = 0.05
DRIVE_STEP_BYTES_S = 20e6  # ... or its drives moved this much more than around it
# A value that stands still to the end of the run, for a third of it or more, is doubted where the load changed by this much of
# the processors meanwhile; or nearly each value before was another one; or the energy counter would have moved.
LOAD_SWING = 0.25
LAST_SHARE = 1 / 3
STILL_READINGS = 5
STILL_UPDATES = 8
STILL_STEPS = 3
LIVELY = 0.8
SWING_RESOLUTION = 0.02
# A user who says how often the meter updates is believed if one value stays, unless its steps are finer than this share of it.
COARSE_RESOLUTION = 0.005


@dataclass(frozen=True, slots=True)
class Defect:
    code: str
    text: str
    fatal: bool = True
    meter: str | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """The moments of one run. The energy window is [begin, end]; readings cover [first, last]."""

    first_s: float
    begin_s: float
    end_s: float
    last_s: float
    load_step: float | None = None  # share of all processors in use inside the window and not around it, None: not known
    drive_step_bytes_s: float | None = None  # bytes per second that drives moved inside the window and not around it
    late_swing: float | None = None  # by what share of all processors the load changed in the last third of the window

    @property
    def seconds(self) -> float:
        return self.end_s - self.begin_s


def defects_of(readings: Sequence[Reading], capabilities: Capabilities, window: Window, meter: str) -> list[Defect]:
    """All that can be said from the readings of one meter over one run."""
    inside = [r for r in readings if window.begin_s <= r.mid_s <= window.end_s]
    found = [
        *_flags(inside, capabilities),
        *_reopened(readings, inside),
        *_gaps(readings, capabilities, window),
        *_stale(readings, capabilities, window),
        *_believed_constant(readings, capabilities, window),
        *(Defect(p.code, p.text) for p in (*implausible(inside, capabilities), jumps(readings, capabilities)) if p is not None),
    ]
    return [Defect(d.code, f"{meter}: {d.text}", d.fatal, meter) for d in found]


_FLAG_TEXT = {
    Flag.ERROR: "did not answer",
    Flag.NAN: "was not a number",
    Flag.ZERO: "was 0 W on a running machine",
    Flag.NEGATIVE: "was negative (a current sensor the wrong way round?)",
    Flag.LOST: "came after values that were lost on the way",
}


def _flags(inside: Sequence[Reading], capabilities: Capabilities) -> list[Defect]:
    counts = Counter(flag for r in inside for flag in r.flags)
    found = []
    if n := counts.pop(Flag.SATURATED, 0):
        limit = f" (its range ends at {capabilities.range_w:g} W)" if capabilities.range_w else ""
        found.append(Defect("saturated", f"{n} of {len(inside)} readings are saturated{limit}; choose a larger range"))
    if counts.pop(Flag.DEACTIVATED, 0):
        found.append(Defect("deactivated", "the meter calls its measurement deactivated; accepted by the user", False))
    counts.pop(Flag.REOPENED, 0)
    for flag, n in counts.items():
        everything = n == len(inside)
        text = f"{'every reading' if everything else f'{n} of {len(inside)} readings'} {_FLAG_TEXT[flag]}"
        found.append(Defect(flag.value, text, everything))
    return found


def _reopened(readings: Sequence[Reading], inside: Sequence[Reading]) -> list[Defect]:
    """A meter program that ended and was started again, or a connection that was lost and found: told also if it fell into the
    idle time beside the run."""
    last = [r for r in readings if Flag.REOPENED in r.flags]
    if not last:
        return []
    count = sum(Flag.REOPENED in r.flags for r in inside)
    text = (
        f"it was lost and begun again {len(last)} times, {count} of them during the run: {last[-1].raw or 'no reason is known'}"
    )
    return [Defect("reopened", text, False)]


def gap_list(readings: Sequence[Reading], capabilities: Capabilities, window: Window) -> list[tuple[float, float]]:
    """Stretches of the window without a usable reading for over two reading periods."""
    times = [r.mid_s for r in readings if r.usable]
    intervals = [r.interval_s for r in readings if r.usable and r.interval_s is not None]
    period = max([capabilities.period_s, *intervals])
    edges = times or [window.begin_s, window.end_s]
    return find_gaps(edges, window.begin_s, window.end_s, period, capabilities.spread_s)


def gap_seconds(gaps: Sequence[tuple[float, float]]) -> float:
    return sum(b - a for a, b in gaps)


def _gaps(readings: Sequence[Reading], capabilities: Capabilities, window: Window) -> list[Defect]:
    times = [r.mid_s for r in readings if r.usable]
    if not times:
        return [Defect("no-readings", "there is no usable reading in this run")]
    found = []
    late = times[0] - (capabilities.lag_s or 0.0) - window.begin_s
    early = window.end_s - (times[-1] - capabilities.settle_s)
    if late > 0:
        found.append(Defect("coverage", f"the readings begin {late:.2f} s after the start of the run"))
    if early > 0:
        found.append(Defect("coverage", f"the readings end {early:.2f} s before the end of the run and its tail"))
    gaps = gap_list(readings, capabilities, window)
    missing = gap_seconds(gaps)
    if missing > MAX_GAP_SHARE * window.seconds:
        longest = max(b - a for a, b in gaps)
        found.append(
            Defect(
                "gap",
                f"{missing:.2f} s of {window.seconds:.2f} s ({missing / window.seconds:.1%}) have no readings, "
                f"the longest gap is {longest:.2f} s; at most {MAX_GAP_SHARE:.0%} is allowed",
            )
        )
    elif gaps:
        found.append(Defect("gap", f"{missing:.2f} s without readings, counted into the uncertainty", False))
    return found


def _value(reading: Reading) -> tuple[float | None, float | None]:
    """Returns both, where there are both: a coarse counter stays for long while the power beside it moves."""
    return reading.joules, reading.watts


def _stale(readings: Sequence[Reading], capabilities: Capabilities, window: Window) -> list[Defect]:
    usable = [r for r in readings if r.usable]
    if len(usable) < STALE_READINGS:
        return []
    for check in (_stamp_stands, _counter_stands, _never_moves, _stuck_at_end, _stuck_inside, _still_at_last):
        text = check(usable, capabilities, window)
        if text is not None:
            return [Defect("stale", text)]
    return []


def _stamp_stands(readings: Sequence[Reading], capabilities: Capabilities, window: Window) -> str | None:
    """The meter's own clock or sequence number stands still, and its value with it."""
    stamped = [r for r in readings if r.stamp is not None]
    allowed = max(5 * capabilities.effective_period_s, 5.0)
    for _, group in groupby(stamped, key=lambda r: (r.stamp, _value(r))):
        same = list(group)
        stood = same[-1].mid_s - same[0].mid_s
        if stood > allowed and len(same) >= STALE_READINGS:
            return f"the meter's own time stamp stood still for {stood:.1f} s: it repeats an old value"
    return None


def _counter_stands(readings: Sequence[Reading], capabilities: Capabilities, window: Window) -> str | None:
    counters = [r for r in readings if r.joules is not None and window.begin_s <= r.mid_s <= window.end_s]
    if has_power(counters):  # it may be too coarse for this run; the power values then give the energy
        return None
    if len(counters) >= STALE_READINGS and counters[0].joules == counters[-1].joules:
        return "the energy counter did not move during the run"
    return None


def _load_text(window: Window) -> str | None:
    """Says what the run did that a meter must show; None: too little."""
    if window.load_step is not None and window.load_step >= LOAD_STEP:
        return f"it used {window.load_step:.0%} of the processors"
    if window.drive_step_bytes_s is not None and window.drive_step_bytes_s >= DRIVE_STEP_BYTES_S:
        return f"its drives moved {window.drive_step_bytes_s / 1e6:.0f} MB/s"
    return None


def _one_value(readings: Sequence[Reading], window: Window) -> str | None:
    """One value before, during and after a run that did change the load of the machine."""
    load = _load_text(window)
    if load is None or len({(r.watts, r.joules) for r in readings}) > 1:
        return None
    return f"all {len(readings)} readings before, during and after the run have one value, although {load}"


def _is_believed(readings: Sequence[Reading], capabilities: Capabilities) -> bool:
    """Power that stays is believed where its user says how often it is new; the meter's steps are its uncertainty."""
    return capabilities.update_given and readings[0].joules is None


def _never_moves(readings: Sequence[Reading], capabilities: Capabilities, window: Window) -> str | None:
    text = _one_value(readings, window)
    if text is None or _is_believed(readings, capabilities):
        return None
    return f"{text}: the meter repeats one value (if its steps are that coarse, say #update=SECONDS)"


def _believed_constant(readings: Sequence[Reading], capabilities: Capabilities, window: Window) -> list[Defect]:
    """A doubt where steps are so fine that the load should show."""
    usable = [r for r in readings if r.usable]
    text = _one_value(usable, window) if len(usable) >= STALE_READINGS else None
    if text is None or not _is_believed(usable, capabilities):
        return []
    quantum, watts = capabilities.quantum_w, abs(usable[0].watts or 0.0)
    if quantum is None or quantum >= COARSE_RESOLUTION * watts:
        return []
    return [Defect("constant", f"{text} and its steps are of {quantum:g} W: believed because of #update=", False)]


def _stuck_at_end(readings: Sequence[Reading], capabilities: Capabilities, window: Window) -> str | None:
    """The value of the busy run is still there at the end of the idle tail."""
    if window.load_step is None or window.load_step < LOAD_STEP:
        return None
    last = readings[-1]
    run = [r for r in readings if r.watts is not None]
    if last.watts is None or not run:
        return None
    idle = min(r.watts for r in run if r.watts is not None)
    tail_start = next((i for i in range(len(run) - 1, -1, -1) if run[i].watts != last.watts), -1) + 1
    same = run[tail_start:]
    after = [r for r in same if r.mid_s > window.end_s + capabilities.settle_s]
    quantum = capabilities.quantum_w or 0.0
    if len(after) < 3 or same[0].mid_s >= window.end_s or len(same) < STALE_READINGS:
        return None
    if last.watts - idle <= max(2 * quantum, 0.02 * last.watts):
        return None
    return (
        "the reading stayed at one value from inside the run to the end of the idle tail: the meter is stuck, or slower than is "
        "known (`run --probe 60` measures its lag)"
    )


def _stuck_inside(readings: Sequence[Reading], capabilities: Capabilities, window: Window) -> str | None:
    """A meter of fine resolution repeats itself for long."""
    watts = [r for r in readings if r.watts is not None]
    steps = [abs(b.watts - a.watts) for a, b in pairwise(watts) if a.watts != b.watts]  # type: ignore[operator]
    if len(steps) < STUCK_READINGS:  # its resolution is not known well enough
        return None
    # A meter that is slower than it says stands still all the time; it is judged by what it shows.
    period = max(capabilities.effective_period_s, shown_update_s(watts, capabilities) or 0.0)
    for value, group in groupby(watts, key=lambda r: r.watts):
        same = list(group)
        stood = same[-1].mid_s - same[0].mid_s
        fine = value is not None and min(steps) < FINE_RESOLUTION * value
        long = len(same) >= STUCK_READINGS and stood > 10 * period
        if fine and long and same[-1].mid_s > window.begin_s and same[0].mid_s < window.end_s:
            return f"the reading was exactly one value for {stood:.1f} s ({len(same)} readings): the meter is stuck"
    return None


def _still_at_last(readings: Sequence[Reading], capabilities: Capabilities, window: Window) -> str | None:
    """All values of the last third of a run are one, although others came before, and something says that they should differ."""
    lag = capabilities.lag_s or 0.0
    end = window.end_s + lag
    last = [r for r in readings if end - LAST_SHARE * window.seconds <= r.mid_s <= end]
    if len(last) < STILL_READINGS or len(set(map(_value, last))) > 1:
        return None
    moving = [r for r in readings if r.mid_s < last[0].mid_s]
    while moving and _value(moving[-1]) == _value(last[0]):
        moving.pop()
    why = _counter_would_move(moving, last, capabilities)
    if why is None and len([r for r in moving if r.mid_s >= window.begin_s]) >= 3:  # else the whole run is like that
        why = _should_show(moving, last, capabilities, window)
    if why is None:
        return None
    return f"all {len(last)} readings of the last third of the run have one value, {why}: the meter is stuck"


def _counter_would_move(moving: Sequence[Reading], last: Sequence[Reading], capabilities: Capabilities) -> str | None:
    counted = [(r.mid_s, r.joules) for r in (*moving, last[0]) if r.joules is not None]
    seconds = last[-1].mid_s - last[0].mid_s
    if last[0].joules is None or len(counted) < STILL_READINGS:
        return None
    watts = last[0].watts
    if watts is None:  # what the machine drew at first, before the run
        (start_s, start_j), (then_s, then_j) = counted[0], counted[STILL_READINGS - 1]
        watts = (then_j - start_j) / (then_s - start_s)
    largest = max(b - a for (_, a), (_, b) in pairwise(counted))
    if largest <= 0 or watts * seconds <= STILL_STEPS * max(capabilities.quantum_j or 0.0, largest):
        return None
    return "its energy counter as well, although its power would have moved it"


def _should_show(moving: Sequence[Reading], last: Sequence[Reading], capabilities: Capabilities, window: Window) -> str | None:
    """Why a meter of fine steps should have shown something in the last third; None: its steps are too coarse for it."""
    watts = [r.watts for r in moving if r.watts is not None]
    steps = [abs(b - a) for a, b in pairwise(watts) if a != b]
    if last[0].watts is None or not steps or _load_text(window) is None:
        return None
    if window.late_swing is not None and window.late_swing >= LOAD_SWING and min(steps) < SWING_RESOLUTION * last[0].watts:
        return f"although the load of the processors changed by {window.late_swing:.0%} in it"
    period = max(capabilities.effective_period_s, shown_update_s(moving, capabilities) or 0.0)
    lively = len(steps) >= LIVELY * (moving[-1].mid_s - moving[0].mid_s) / period
    long = last[-1].mid_s - last[0].mid_s > (STILL_UPDATES - 1.5) * period
    if lively and long and min(steps) < COARSE_RESOLUTION * last[0].watts:
        return "although nearly each one before differed"
    return None
