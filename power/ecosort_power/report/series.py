"""Prepares what the plots show, as plain numbers: pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ecosort_power.reading import Capabilities, Reading
from ecosort_power.split import REST, alike
from ecosort_power.store import Run

# More points than this are not seen on a plot; each bin keeps its lowest and highest value, so that no peak is lost.
MAX_BINS = 400
# A counter read often gives noisy power; it is shown over stretches of at least this length.
COUNTER_STEP_S = 0.5


@dataclass(frozen=True, slots=True)
class PowerLine:
    """Power of one run over seconds since its start."""

    run: int
    seconds: list[float]
    watts: list[float]


@dataclass(frozen=True, slots=True)
class Shade:
    name: str
    begin_s: float
    end_s: float


def power_line(run: Run, readings: Sequence[Reading], capabilities: Capabilities) -> PowerLine:
    points = _points(readings, capabilities)
    shown = _thin([(t - run.marks.start_s, w) for t, w in points])
    return PowerLine(run.index, [t for t, _ in shown], [w for _, w in shown])


def added(lines: Sequence[PowerLine]) -> PowerLine:
    """The sum of what several meters saw of one run, at the moments of the first, as far as all of them reach."""
    first = lines[0]
    if len(lines) == 1 or min(len(line.seconds) for line in lines) < 2:
        return first if len(lines) == 1 else PowerLine(first.run, [], [])
    begin, end = max(line.seconds[0] for line in lines), min(line.seconds[-1] for line in lines)
    times = [t for t in first.seconds if begin <= t <= end]
    return PowerLine(first.run, times, [sum(_at(line, t) for line in lines) for t in times])


def _at(line: PowerLine, time_s: float) -> float:
    i = min(max(bisect_right(line.seconds, time_s), 1), len(line.seconds) - 1)
    a, b = line.seconds[i - 1], line.seconds[i]
    share = (time_s - a) / (b - a) if b > a else 0.0
    return line.watts[i - 1] + share * (line.watts[i] - line.watts[i - 1])


def _points(readings: Sequence[Reading], capabilities: Capabilities) -> list[tuple[float, float]]:
    late = (capabilities.lag_s or 0.0) + (capabilities.window_s or 0.0) / 2
    direct = [(r.mid_s - late, r.watts) for r in readings if r.usable and r.watts is not None]
    if direct:
        return direct
    kept: list[tuple[float, float]] = []
    for r in readings:
        if r.usable and r.joules is not None and (not kept or r.mid_s - kept[-1][0] >= COUNTER_STEP_S):
            kept.append((r.mid_s - late, r.joules))
    return [((a[0] + b[0]) / 2, (b[1] - a[1]) / (b[0] - a[0])) for a, b in pairwise(kept) if b[1] >= a[1]]


def _thin(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    if len(points) <= 2 * MAX_BINS:
        return points
    size = len(points) / MAX_BINS
    result: list[tuple[float, float]] = []
    for i in range(MAX_BINS):
        part = points[int(i * size) : int((i + 1) * size)]
        result += sorted({min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1])})
    return result


def shades(run: Run) -> list[Shade]:
    """The phases of a run, in seconds since its start."""
    start = run.marks.start_s
    return [Shade(s.name, s.begin_s - start, s.end_s - start) for s in run.spans]


def typical(runs: Sequence[Run]) -> Run:
    """The run whose time is in the middle: its phases are shaded."""
    return sorted(runs, key=lambda r: r.marks.seconds)[(len(runs) - 1) // 2]


def phase_names(runs: Sequence[Run], meter: str) -> list[str]:
    """Phases with a number, the rest last; none where there is nothing but the rest."""
    names = [p.name for r in runs if (e := r.energy_of(meter)) is not None for p in e.phases if p.joules is not None]
    ordered = [n for n in dict.fromkeys(names) if n != REST]
    return [*ordered, REST] if ordered and REST in names else ordered


def split_alike(runs: Sequence[Run], meter: str) -> list[Run]:
    """The runs with their energy by this meter split in the same way, as their summary is."""
    pairs = [(r, e) for r in runs if (e := r.energy_of(meter)) is not None]
    phases = alike([e.phases for _, e in pairs])
    return [replace(r, energy=[replace(e, phases=p)]) for (r, e), p in zip(pairs, phases, strict=True)]


def phase_joules(run: Run, meter: str, phase: str) -> float | None:
    energy = run.energy_of(meter)
    return next((p.joules for p in energy.phases if p.name == phase), None) if energy is not None else None
