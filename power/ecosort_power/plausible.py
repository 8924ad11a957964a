"""Readings that cannot be true of a running computer, whatever the meter says: pure functions that return what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ecosort_power.reading import Capabilities, Flag, Reading, Scope

# No computer that runs a sort draws less; a reading below it is another unit (kilowatts), or another device.
LEAST_W = 0.3
# Twice what a plug for 16 A at 240 V can carry, and more than any of the published machines of one meter drew. What is above it
# is another unit (milliwatts), another column, or a room of machines, whose meter has a range that can be stated: `#range=`.
MOST_W = 10_000.0
# A meter may claim cycles longer than the time that went by only by the last cycle and this share.
INTERVAL_TOLERANCE = 0.02
_SMALL_SCOPES = (Scope.COMPONENT, Scope.PACKAGE, Scope.BOARD)


@dataclass(frozen=True, slots=True)
class Implausible:
    """Says what is wrong. `seen` is what was read: for a person before the runs; a run that is refused has no figure."""

    code: str
    text: str
    seen: str

    def with_figure(self) -> str:
        return f"{self.text} (read: {self.seen})"


def implausible(inside: Sequence[Reading], capabilities: Capabilities) -> list[Implausible]:
    """Returns what is wrong with the readings of one run; each is reason enough to refuse its energy."""
    usable = [r for r in inside if r.usable]
    found = (
        _too_low(usable, capabilities),
        _too_high(usable, capabilities),
        _counts_wrongly(usable, capabilities),
        _intervals(usable),
    )
    return [problem for problem in found if problem is not None]


def ceiling_w(capabilities: Capabilities) -> float:
    """No power of this meter is believed above it: the range that it has, or that the user states, else that of any one meter."""
    return capabilities.range_w if capabilities.range_w is not None else MOST_W


def _sees_little(capabilities: Capabilities) -> bool:
    """A drive or a rail may well draw less than 0.3 W."""
    return capabilities.scope in _SMALL_SCOPES


def _too_low(usable: Sequence[Reading], capabilities: Capabilities) -> Implausible | None:
    watts = [r.watts for r in usable if r.watts is not None]
    low = [w for w in watts if w < LEAST_W]
    if not low or _sees_little(capabilities):
        return None
    text = (
        f"{len(low)} of {len(watts)} readings are below {LEAST_W:g} W: no running computer draws so little; is it the right "
        "unit, outlet or clamp? (a part of the machine: #scope=component)"
    )
    return Implausible("implausible", text, f"{min(low):g} W")


def _above(capabilities: Capabilities) -> str:
    if capabilities.range_w is not None:
        return f"above the {capabilities.range_w:g} W where its range ends: is it the right unit or column (#unit=, #watts=)?"
    return (
        f"above {MOST_W:g} W, the most that is believed of a meter that does not state its range: is it the right unit or column "
        "(#unit=, #watts=)? A meter that measures so much says up to where: #range=WATTS"
    )


def _too_high(usable: Sequence[Reading], capabilities: Capabilities) -> Implausible | None:
    # The check of saturation, elsewhere, reports what the sampler has flagged.
    watts = [r.watts for r in usable if r.watts is not None and Flag.SATURATED not in r.flags]
    high = [w for w in watts if w > ceiling_w(capabilities)]
    if not high:
        return None
    text = f"{len(high)} of {len(watts)} readings are {_above(capabilities)}"
    return Implausible("implausible", text, f"{max(high):g} W")


def _counts_wrongly(usable: Sequence[Reading], capabilities: Capabilities) -> Implausible | None:
    counted = [r for r in usable if r.joules is not None]
    if len(counted) < 2:
        return None
    seconds = counted[-1].mid_s - counted[0].mid_s
    joules = (counted[-1].joules or 0.0) - (counted[0].joules or 0.0)
    step = max(capabilities.quantum_j or 0.0, _largest_step(counted))  # it may be about to move
    if joules <= 0 or seconds <= 0:
        return None
    seen = f"{joules:g} J in {seconds:.1f} s"
    if joules + step < LEAST_W * seconds and not _sees_little(capabilities):
        text = f"its energy counter goes up by less than {LEAST_W:g} W would make it: is it the right unit?"
        return Implausible("implausible", text, seen)
    if joules - step > ceiling_w(capabilities) * seconds:
        return Implausible("implausible", f"its energy counter goes up by a power {_above(capabilities)}", seen)
    return None


def jumps(readings: Sequence[Reading], capabilities: Capabilities) -> Implausible | None:
    """A counter that began anew, where that looks like its wrap-around, or that was set: between two of its moves it went up by
    more than any power makes of it. Over all readings of a run, because those beside it count as well."""
    counted = [r for r in readings if r.usable and r.joules is not None]
    moved = [(a, b) for a, b in pairwise(counted) if a.joules != b.joules]
    slack_s, step_j = capabilities.update_s or 0.0, capabilities.quantum_j or 0.0
    for (before, _), (last, now) in pairwise(moved):
        joules = (now.joules or 0.0) - (last.joules or 0.0)
        joules += capabilities.wrap_j or 0.0 if joules < 0 else 0.0
        seconds = now.mid_s - before.mid_s + slack_s
        if joules - step_j > ceiling_w(capabilities) * seconds:
            text = f"its energy counter jumps by more than {ceiling_w(capabilities):g} W make of it: it began anew, or was set"
            return Implausible("counter-jump", text, f"{joules:g} J in {seconds:.1f} s")
    return None


def _largest_step(counted: Sequence[Reading]) -> float:
    return max((b.joules or 0.0) - (a.joules or 0.0) for a, b in pairwise(counted))


def _intervals(usable: Sequence[Reading]) -> Implausible | None:
    """Cycles that follow each other cannot be longer than the time between the first and the last of them."""
    cycles = [r for r in usable if r.interval_s is not None]
    if len(cycles) < 3:
        return None
    elapsed = cycles[-1].mid_s - cycles[0].mid_s
    claimed = sum(r.interval_s or 0.0 for r in cycles[1:])
    longest = max(r.interval_s or 0.0 for r in cycles)
    if claimed <= elapsed * (1 + INTERVAL_TOLERANCE) + longest:
        return None
    text = "its intervals add up to more than the time that went by: they overlap, or are in another unit"
    return Implausible("intervals", text, f"{claimed:.2f} s in {elapsed:.2f} s")
