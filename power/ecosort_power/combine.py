"""Several meters at once: the sum of power supplies, and which meter the headline is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ecosort_power.errors import UsageError
from ecosort_power.evaluate import MeterEnergy
from ecosort_power.reading import Scope
from ecosort_power.split import PhaseEnergy, alike
from ecosort_power.store import MeterRecord
from ecosort_power.uncertainty import NORMAL_95, Uncertainty

# From what sees most of the machine to what sees nothing of it.
_MEASURED = (Scope.WALL, Scope.PSU, Scope.BMC, Scope.BATTERY, Scope.UNKNOWN, Scope.BOARD, Scope.COMPONENT, Scope.PACKAGE)
_ORDER = (*_MEASURED, Scope.SIMULATED)


def sum_name(meters: Sequence[MeterRecord]) -> str:
    return "+".join(m.name for m in meters)


def headline(meters: Sequence[MeterRecord], summed: bool) -> str | None:
    """The sum if one is asked for, else the meter that sees most of the machine."""
    if not meters:
        return None
    if summed:
        scopes = {m.capabilities.scope for m in meters}
        if len(meters) < 2:
            raise UsageError("--sum needs at least two meters")
        if len({m.spec for m in meters}) < len(meters):
            raise UsageError("--sum adds different meters, one of these is named twice")
        if len(scopes) > 1:
            raise UsageError(f"--sum adds meters of one scope, these have: {', '.join(sorted(scopes))}")
        return sum_name(meters)
    return min(meters, key=lambda m: _ORDER.index(m.capabilities.scope)).name


def scope_of(meters: Sequence[MeterRecord], name: str | None) -> Scope:
    """Returns the scope of a meter or of a sum of meters. A simulated one is nowhere, whatever was said of it."""
    parts = [m.capabilities for m in meters if name is not None and m.name in name.split("+")]
    if any(c.simulated for c in parts):
        return Scope.SIMULATED
    return parts[0].scope if parts else Scope.UNKNOWN


def add_up(parts: Sequence[MeterEnergy], name: str) -> MeterEnergy:
    """The sum of meters that see different inputs of one machine. Uncertainties add linearly: supplies share their causes."""
    joules = [p.joules for p in parts]
    known = [j for j in joules if j is not None]
    total = sum(known) if len(known) == len(joules) else None
    return MeterEnergy(
        meter=name,
        joules=total,
        seconds=parts[0].seconds,
        source="sum",
        samples=min(p.samples for p in parts),
        gaps=[g for p in parts for g in p.gaps],
        uncertainty=_add_uncertainties(parts) if total is not None else None,
        phases=_add_phases(parts) if total is not None else [],
        idle_before_w=_add([p.idle_before_w for p in parts]),
        idle_after_w=_add([p.idle_after_w for p in parts]),
        peak_w=None,
    )


def _add(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) if len(known) == len(values) else None


def _add_uncertainties(parts: Sequence[MeterEnergy]) -> Uncertainty | None:
    each = [p.uncertainty for p in parts if p.uncertainty is not None]
    if len(each) != len(parts):
        return None
    names = ("quantum_j", "sampling_j", "idle_j", "timing_j", "gaps_j")
    parts_j = {name: sum(getattr(u, name) for u in each) for name in names}
    added = Uncertainty(instrument_j=_add([u.instrument_j for u in each]), coverage=1.0, **parts_j)
    known = sum(u.known_j for u in each)
    return replace(added, coverage=known / added.known_j if added.known_j > 0 else NORMAL_95)


def _add_phases(parts: Sequence[MeterEnergy]) -> list[PhaseEnergy]:
    result = []
    for same in zip(*alike([p.phases for p in parts], "meters"), strict=False):
        note = next((p.note for p in same if p.note), None)
        result.append(
            PhaseEnergy(same[0].name, same[0].seconds, _add([p.joules for p in same]), min(p.samples for p in same), note)
        )
    return result
