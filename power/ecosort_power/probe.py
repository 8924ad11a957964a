"""Measures a meter: how often it really has a new value, its steps, how late it is and over how long it averages."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from ecosort_power.align import Fit, Load, fit
from ecosort_power.errors import InvalidResultError, MeterError, UsageError
from ecosort_power.load import Steps, run_pattern
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import MeterSpec, with_settings
from ecosort_power.reading import Capabilities, Reading
from ecosort_power.sampler import Sampler
from ecosort_power.transports.credentials import public_environment

# Fewer changes than this do not show how often the meter updates.
MIN_CHANGES = 20
PROBE_PERIOD_S = 0.05
TAIL_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Probe:
    """None: could not be seen, and `remarks` says why."""

    title: str
    readings: int
    failed: int
    reading_s: float  # time between two readings
    answer_s: float | None  # time one answer takes
    update_s: float | None
    quantum_w: float | None
    longest_still_s: float | None
    lag_s: float | None
    window_s: float | None
    correlation: float | None
    idle_w: float | None
    busy_w: float | None
    range_w: tuple[float, float] | None  # all but the lowest and the highest tenth of the values
    remarks: list[str]
    problem: str | None = None

    def timing(self) -> dict[str, str]:
        """The settings of a meter that say when its values were true."""
        found = {}
        if self.update_s is not None:
            found["update"] = f"{self.update_s:.3g}"
        if self.lag_s is not None:
            found["lag"] = f"{max(self.lag_s, 0.0):.3g}"
        if self.window_s is not None:
            found["window"] = f"{self.window_s:.3g}"
            if self.window_s > 2 * self.reading_s:
                found["power"] = "average"
        return found

    @property
    def settings(self) -> str:
        """Returns what to add to the meter's specification."""
        quantum = {"quantum": f"{self.quantum_w:.3g}"} if self.quantum_w is not None else {}
        return ",".join(f"{k}={v}" for k, v in {**self.timing(), **quantum}.items())

    def rows(self) -> list[tuple[str, str]]:
        def show(value: float | None, unit: str) -> str:
            return "not visible" if value is None else f"{value:.3g} {unit}"

        rows = [
            ("readings", f"{self.readings}, one per {self.reading_s:.3g} s, {self.failed} failed"),
            ("answer takes", show(None if self.answer_s is None else self.answer_s * 1000, "ms")),
            ("update period", show(self.update_s, "s")),
            ("quantum", show(self.quantum_w, "W")),
            ("staleness", f"{show(self.longest_still_s, 's')} at most without a new value"),
            ("lag", show(self.lag_s, "s")),
            ("averaging window", show(self.window_s, "s")),
            ("idle / busy", f"{show(self.idle_w, 'W')} / {show(self.busy_w, 'W')}"),
            ("follows the load", "no" if self.correlation is None else f"correlation {self.correlation:.3f}"),
        ]
        return rows + [("remark", r) for r in self.remarks]


def run_probe(spec: MeterSpec, seconds: float, load_command: str | None) -> Probe:
    """Reads the meter as fast as it allows while the load follows a pattern. Takes `seconds` and a quarter more."""
    if seconds < 5:
        raise UsageError("a probe takes at least 5 seconds (probe --seconds, run --probe)")
    meter = make_meter(spec)
    if meter.deferred:
        raise UsageError("a log cannot be probed; #offset=auto aligns it")
    capabilities = with_settings(meter.open(), spec)
    if "period" not in spec.settings and meter.paced:
        capabilities = replace(capabilities, period_s=PROBE_PERIOD_S)
    sampler = Sampler(spec.name, meter, capabilities)
    try:
        sampler.begin_segment(None)
        sampler.start()
        steps = run_pattern(seconds, load_command, public_environment([spec.settings]))
        time.sleep(TAIL_SHARE * seconds)
        readings = sampler.end_segment()
        if sampler.death is not None:
            raise MeterError(sampler.death)
    finally:
        sampler.stop()
    return analyse(readings, steps, capabilities, seconds)


def powers(readings: Sequence[Reading]) -> list[tuple[float, float]]:
    """(time, watts); counters give the mean power between two different readings."""
    direct = [(r.mid_s, r.watts) for r in readings if r.usable and r.watts is not None]
    if direct:
        return direct
    counted = [(r.mid_s, r.joules) for r in readings if r.usable and r.joules is not None]
    moved = counted[:1] + [b for a, b in pairwise(counted) if b[1] != a[1]]
    return [((a[0] + b[0]) / 2, (b[1] - a[1]) / (b[0] - a[0])) for a, b in pairwise(moved) if b[1] > a[1]]


def analyse(readings: Sequence[Reading], steps: Steps, capabilities: Capabilities, seconds: float) -> Probe:
    """All figures from the readings and the load as it was: pure."""
    points = powers(readings)
    usable = [r for r in readings if r.usable]
    remarks: list[str] = []
    changes = [b[0] for a, b in pairwise(points) if b[1] != a[1]]
    update = _update_period(changes, usable, remarks)
    # A new value shows its own moment; the same value read again later would look late.
    fresh = points[:1] + [b for a, b in pairwise(points) if b[1] != a[1]]
    slow = update is not None and update > 2 * _spacing(usable)
    found, problem = _fit(fresh if slow else points, steps, seconds)
    if found is not None and update is not None and update > 3 * _spacing(usable):
        remarks.append(f"its values are up to {update:.3g} s old when read")
    return Probe(
        title=capabilities.title,
        readings=len(usable),
        failed=len(readings) - len(usable),
        reading_s=_spacing(usable),
        answer_s=median(r.after_s - r.before_s for r in usable) if usable else None,
        update_s=update,
        quantum_w=_quantum([w for _, w in points], capabilities),
        longest_still_s=_longest_still(points),
        lag_s=found.lag_s if found else None,
        window_s=found.window_s if found else None,
        correlation=found.correlation if found else None,
        idle_w=found.idle_w if found else None,
        busy_w=found.idle_w + found.gain_w if found else None,
        range_w=_range(points),
        remarks=remarks,
        problem=problem,
    )


def _range(points: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    levels = sorted(w for _, w in points)
    return (levels[len(levels) // 10], levels[-1 - len(levels) // 10]) if levels else None


def _spacing(usable: Sequence[Reading]) -> float:
    return median(b.mid_s - a.mid_s for a, b in pairwise(usable)) if len(usable) > 1 else 0.0


def _update_period(changes: Sequence[float], usable: Sequence[Reading], remarks: list[str]) -> float | None:
    """The usual time between two changes. An update without a change makes some intervals multiples: the lower half counts."""
    if len(changes) < MIN_CHANGES:
        remarks.append(f"the value changed only {len(changes)} times: its update period cannot be seen")
        return None
    gaps = sorted(b - a for a, b in pairwise(changes))
    period = median(gaps[: max(len(gaps) // 2, 1)])
    if period < 1.5 * _spacing(usable):
        remarks.append("it has a new value at every reading: its update period is this or shorter")
    return period


def _quantum(watts: Sequence[float], capabilities: Capabilities) -> float | None:
    """The smallest step seen between two values."""
    if capabilities.power is None:
        return None
    levels = sorted(set(watts))
    steps = [b - a for a, b in pairwise(levels) if b - a > 1e-6]
    return min(steps) if len(steps) >= 2 else None


def _longest_still(points: Sequence[tuple[float, float]]) -> float | None:
    if not points:
        return None
    longest, since = 0.0, points[0]
    for time_s, watts in points:
        if watts != since[1]:
            since = (time_s, watts)
        longest = max(longest, time_s - since[0])
    return longest


def _fit(points: Sequence[tuple[float, float]], steps: Steps, seconds: float) -> tuple[Fit | None, str | None]:
    load = Load.from_steps(steps.edges_s, steps.levels)
    limit = TAIL_SHARE * seconds
    try:
        found = fit(load, [t for t, _ in points], [w for _, w in points], (-0.5, limit), (0.0, limit))
    except InvalidResultError as error:
        return None, str(error)
    if found.lag_s + found.window_s > 0.95 * limit:
        return None, f"its lag and window are longer than this probe can see ({limit:.0f} s): give --seconds {4 * seconds:.0f}"
    return found, None
