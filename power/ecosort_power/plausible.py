"""Readings that cannot be true of a running computer, whatever the meter says: pure functions that return (code, text)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ecosort_power.reading import Capabilities, Reading, Scope

# No computer that runs a sort draws less; a reading below it is another unit (kilowatts), or another device.
LEAST_W = 0.3
# What a meter calls the length of its cycles may exceed the time that went by only by the last cycle and this share.
INTERVAL_TOLERANCE = 0.02
_SMALL_SCOPES = (Scope.COMPONENT, Scope.PACKAGE, Scope.BOARD)


def implausible(inside: Sequence[Reading], capabilities: Capabilities) -> list[tuple[str, str]]:
    """What is wrong with the readings of one run; each is reason enough to refuse its energy."""
    usable = [r for r in inside if r.usable]
    found = (_too_low(usable, capabilities), _counts_too_little(usable, capabilities), _intervals(usable))
    return [problem for problem in found if problem is not None]


def _sees_little(capabilities: Capabilities) -> bool:
    """A drive or a rail may well draw less than 0.3 W."""
    return capabilities.scope in _SMALL_SCOPES


def _too_low(usable: Sequence[Reading], capabilities: Capabilities) -> tuple[str, str] | None:
    watts = [r.watts for r in usable if r.watts is not None]
    low = [w for w in watts if w < LEAST_W]
    if not low or _sees_little(capabilities):
        return None
    return "implausible", (
        f"{len(low)} of {len(watts)} readings are below {LEAST_W:g} W (down to {min(low):g} W): no running computer draws so "
        "little; is it the right unit, outlet or clamp? (a part of the machine: #scope=component)"
    )


def _counts_too_little(usable: Sequence[Reading], capabilities: Capabilities) -> tuple[str, str] | None:
    counted = [r for r in usable if r.joules is not None]
    if len(counted) < 2 or _sees_little(capabilities):
        return None
    seconds = counted[-1].mid_s - counted[0].mid_s
    joules = (counted[-1].joules or 0.0) - (counted[0].joules or 0.0)
    step = max(capabilities.quantum_j or 0.0, _largest_step(counted))  # it may be about to move
    if joules <= 0 or seconds <= 0 or joules + step >= LEAST_W * seconds:
        return None
    return (
        "implausible",
        f"the energy counter went up by {joules:g} J in {seconds:.1f} s: below {LEAST_W:g} W; is it the right unit?",
    )


def _largest_step(counted: Sequence[Reading]) -> float:
    return max((b.joules or 0.0) - (a.joules or 0.0) for a, b in pairwise(counted))


def _intervals(usable: Sequence[Reading]) -> tuple[str, str] | None:
    """Cycles that follow each other cannot be longer than the time between the first and the last of them."""
    cycles = [r for r in usable if r.interval_s is not None]
    if len(cycles) < 3:
        return None
    elapsed = cycles[-1].mid_s - cycles[0].mid_s
    claimed = sum(r.interval_s or 0.0 for r in cycles[1:])
    longest = max(r.interval_s or 0.0 for r in cycles)
    if claimed <= elapsed * (1 + INTERVAL_TOLERANCE) + longest:
        return None
    return "intervals", f"its intervals add up to {claimed:.2f} s in {elapsed:.2f} s: they overlap, or are in another unit"
