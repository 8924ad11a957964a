"""The energy of a run by phases: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ecosort_power.integrate import EnergyCurve
from ecosort_power.quality import FEW_SAMPLES, MIN_SAMPLES, Window
from ecosort_power.reading import Capabilities
from ecosort_power.updates import is_smeared

# A window longer than this smears phases beyond repair, whatever their length.
MAX_SPLIT_WINDOW_S = 60.0
# The phase name of what is left over.
REST = "rest"


@dataclass(frozen=True, slots=True)
class Span:
    """A phase of the run, or one of several stretches of it."""

    name: str
    begin_s: float
    end_s: float


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


def split(
    power: EnergyCurve | None,
    counter: EnergyCurve | None,
    joules: float,
    capabilities: Capabilities,
    window: Window,
    spans: Sequence[Span],
) -> list[PhaseEnergy]:
    """Energy per phase name. The phases that have a number and the rest add up to the total.

    The one of counter and power that has more values splits; it is scaled to the total, which the counter gives if there is one.
    """
    if not spans:
        return []
    names = list(dict.fromkeys(s.name for s in spans))
    window_s = capabilities.window_s or 0.0
    if window_s > MAX_SPLIT_WINDOW_S:
        note = f"n/a (the meter averages over {window_s:g} s: totals only)"
        return [PhaseEnergy(n, _seconds(spans, n), None, 0, note) for n in names]
    curve = max((c for c in (power, counter) if c is not None), key=lambda c: len(c.times_s))
    shift = window_s / 2 if curve is power and is_smeared(capabilities) else 0.0
    begin, end = window.begin_s + shift, window.end_s + shift
    own_total = curve.between(begin, end) if curve.begin_s <= begin and end <= curve.end_s else 0.0
    if not own_total:
        return [PhaseEnergy(n, _seconds(spans, n), None, 0, "n/a (the readings do not cover it)") for n in names]
    scale = joules / own_total
    result = [_phase(curve, n, [s for s in spans if s.name == n], shift, scale, capabilities) for n in names]
    return [*result, _rest(result, joules, window)]


def _rest(phases: Sequence[PhaseEnergy], joules: float, window: Window) -> PhaseEnergy:
    """Returns what no phase accounts for: start, exit, the sync of the harness, and phases too short to have a number."""
    known = [p for p in phases if p.joules is not None]
    seconds, rest = window.seconds - sum(p.seconds for p in known), joules - sum(p.joules or 0.0 for p in known)
    return PhaseEnergy(REST, seconds, rest, 0, _includes(phases))


def _includes(phases: Sequence[PhaseEnergy]) -> str | None:
    lumped = [p.name.replace("_", " ") for p in phases if p.joules is None]
    return f"includes {', '.join(lumped)}" if lumped else None


def alike(runs: Sequence[Sequence[PhaseEnergy]], what: str = "runs") -> list[list[PhaseEnergy]]:
    """The phases of several runs (or meters: `what`), split in the same way: what has no number in one of them belongs to the
    rest in all, so that sums and means of phases add up to those of the totals."""
    names = dict.fromkeys(p.name for phases in runs for p in phases if p.name != REST)
    without = {n: sum(not any(p.name == n and p.joules is not None for p in phases) for phases in runs) for n in names}
    notes = {n: f"n/a (without a number in {k} of {len(runs)} {what})" for n, k in without.items() if 0 < k < len(runs)}
    return [_lumped(phases, notes) for phases in runs]


def _lumped(phases: Sequence[PhaseEnergy], notes: Mapping[str, str]) -> list[PhaseEnergy]:
    moved = [p for p in phases if p.name in notes and p.joules is not None]
    kept = [replace(p, joules=None, note=notes[p.name]) if p.name in notes else p for p in phases if p.name != REST]
    rests = [p for p in phases if p.name == REST]
    return [*kept, *(_grown(r, moved, kept) for r in rests)]


def _grown(rest: PhaseEnergy, moved: Sequence[PhaseEnergy], others: Sequence[PhaseEnergy]) -> PhaseEnergy:
    if rest.joules is None or not moved:
        return rest
    seconds, joules = sum(p.seconds for p in moved), sum(p.joules or 0.0 for p in moved)
    return replace(rest, seconds=rest.seconds + seconds, joules=rest.joules + joules, note=_includes(others))


def _seconds(spans: Sequence[Span], name: str) -> float:
    return sum(s.end_s - s.begin_s for s in spans if s.name == name)


def _phase(
    curve: EnergyCurve, name: str, spans: Sequence[Span], shift_s: float, scale: float, capabilities: Capabilities
) -> PhaseEnergy:
    seconds = sum(s.end_s - s.begin_s for s in spans)
    samples = sum(curve.count(s.begin_s + shift_s, s.end_s + shift_s) for s in spans)
    if is_smeared(capabilities):  # overlapping averages are not independent
        samples = min(samples, int(seconds / (capabilities.window_s or 1.0)))
    if samples < MIN_SAMPLES:
        return PhaseEnergy(name, seconds, None, samples, "n/a (phase too short for this meter)")
    joules = sum(curve.between(s.begin_s + shift_s, s.end_s + shift_s) for s in spans) * scale
    note = f"only {samples} values" if samples < FEW_SAMPLES else None
    return PhaseEnergy(name, seconds, joules, samples, note)
