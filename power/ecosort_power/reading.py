"""Defines what a meter says: one reading, and the properties of the meter that a reading must be understood with.

Times are CLOCK_MONOTONIC seconds of this machine. Power is in watts, energy in joules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import isfinite

# SCPI instruments send 9.91e37 for "not a number" and 9.9e37 for an overrange (IEEE 488.2 / SCPI-99 7.2.1).
SCPI_NAN = 9.91e37
SCPI_INFINITY = 9.9e37
# A lag that is not known is anything up to this, or up to one period of the meter.
UNKNOWN_LAG_S = 1.0
# Idle values that are wanted on each side of a run, to take the idle energy away and to know how sure that is.
IDLE_VALUES = 4
# ... and how many if that does not take long: fans and small tasks come and go over some seconds.
MANY_IDLE_VALUES = 10
# A counter of large steps moves seldom when idle: it is waited for as long as a machine needs that idles at so many watts, and no
# longer than this.
SMALL_IDLE_W = 5.0
LONGEST_IDLE_S = 10.0


class Scope(StrEnum):
    """Says what part of the machine the meter sees."""

    WALL = "wall"  # all that comes out of the socket
    PSU = "psu"  # the power supplies' own measurement of their input or output
    BMC = "bmc"  # what the management controller reports for the system; its meaning differs by vendor
    BATTERY = "battery"  # what a laptop's battery gives while it is the only source: without the losses of a power supply
    BOARD = "board"  # the sum of a board's own rails: not what hangs on it, nor the losses before them
    PACKAGE = "package"  # processor package (and memory) only
    COMPONENT = "component"  # a board rail, a graphics card, a drive
    UNKNOWN = "unknown"
    SIMULATED = "simulated"  # nothing was measured, so it was measured nowhere

    @property
    def headline(self) -> str:
        return {
            Scope.WALL: "at the wall",
            Scope.PSU: "power supplies",
            Scope.BMC: "BMC",
            Scope.BATTERY: "from the battery, not the wall",
            Scope.BOARD: "RAILS OF THE BOARD ONLY, NOT WALL",
            Scope.PACKAGE: "CPU PACKAGE ONLY",
            Scope.COMPONENT: "ONE COMPONENT ONLY",
            Scope.UNKNOWN: "scope unknown",
            Scope.SIMULATED: "computed, measured nowhere",
        }[self]

    @property
    def whole_system(self) -> bool:
        return self in (Scope.WALL, Scope.PSU, Scope.BMC, Scope.BATTERY)


class PowerKind(StrEnum):
    """Says what one power value stands for."""

    INSTANT = "instant"  # the power at that moment
    AVERAGE = "average"  # the mean since the value before, or over `window_s`


class Flag(StrEnum):
    """Why a reading is no measurement, or is doubtful."""

    ERROR = "error"  # the meter did not answer, or answered with an error
    NAN = "nan"
    ZERO = "zero"  # a running machine never draws 0 W
    NEGATIVE = "negative"
    SATURATED = "saturated"
    DEACTIVATED = "deactivated"  # the meter says that it is not measuring; accepted by the user
    LOST = "lost"  # the meter says that values before this one were lost
    REOPENED = "reopened"  # the connection, or the meter's program, was lost and begun again after this


@dataclass(frozen=True, slots=True)
class Reading:
    """One answer of a meter, stamped before the question and after the answer."""

    before_s: float
    after_s: float
    watts: float | None = None
    joules: float | None = None  # a counter; only differences mean something
    interval_s: float | None = None  # true length of the interval that `watts` is the mean of
    stamp: str | None = None  # the meter's own clock or sequence number
    flags: tuple[Flag, ...] = ()
    raw: str | None = None  # the answer as it came, where it is short

    @property
    def mid_s(self) -> float:
        return (self.before_s + self.after_s) / 2

    @property
    def usable(self) -> bool:
        """True if it carries a value that may be integrated."""
        return (self.watts is not None or self.joules is not None) and Flag.ERROR not in self.flags


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Limits of error: `gain` (a fraction) of the reading plus `offset_w` watts."""

    gain: float
    offset_w: float = 0.0

    def text(self) -> str:
        parts = [f"{self.gain * 100:g} %"] if self.gain or not self.offset_w else []
        if self.offset_w:
            parts.append(f"{self.offset_w:g} W")
        return "±(" + " + ".join(parts) + ")"


_TERM = re.compile(
    r"""^\s*(?P<value>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*
        (?:(?P<percent>%)(?:\s*of\s*(?P<range>\d+(?:\.\d*)?)\s*W)?|(?P<watts>W))\s*$""",
    re.VERBOSE,
)


def parse_accuracy(text: str) -> Accuracy:
    """Understands sums of `1%`, `0.05% of 600W` and `0.5W`."""
    gain = offset = 0.0
    for term in text.split("+"):
        match = _TERM.match(term)
        if match is None:
            raise ValueError(f"accuracy {text!r} is not a sum of terms like 1%, 0.05% of 600W or 0.5W")
        value = float(match["value"])
        if match["watts"]:
            offset += value
        elif match["range"]:
            offset += value / 100 * float(match["range"])
        else:
            gain += value / 100
    if not isfinite(gain + offset):
        raise ValueError(f"accuracy {text[:40]!r} is no accuracy: its limits are infinite")
    return Accuracy(gain, offset)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Holds what is known of an opened meter. None always means "not known", never zero."""

    title: str
    scope: Scope
    period_s: float  # time between two readings (asked by us, or pushed by the meter)
    power: PowerKind | None = PowerKind.INSTANT  # None: gives no power values
    counter: bool = False  # readings carry an energy counter
    update_s: float | None = None  # time between two new values inside the meter
    lag_s: float | None = None
    window_s: float | None = None  # length of the meter's averaging window
    timing_source: str = "unknown"  # instrument, given, probed, unknown
    accuracy: Accuracy | None = None
    quantum_w: float | None = None
    quantum_j: float | None = None
    range_w: float | None = None  # readings from here on are saturated
    wrap_j: float | None = None  # the counter starts again at 0 after this
    update_given: bool = False  # `update_s` is the word of the user, or of the user's program
    simulated: bool = False  # no measurement: its results say so everywhere and are never ranked
    spread_s: float = 0.0  # the sampler reads at a random moment within this much of each period; 0: at equal distances
    identity: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what the user accepted, and doubts about this meter

    @property
    def effective_period_s(self) -> float:
        """Returns how often there is something new to read."""
        return max(self.period_s, self.update_s or 0.0)

    @property
    def settle_s(self) -> float:
        """Returns how long after the end of a run the readings still belong to it, as far as is known."""
        return (self.lag_s or 0.0) + (self.window_s or 0.0)

    @property
    def idle_stretch_s(self) -> float:
        """Returns how long the idle machine is wanted on each side: some values, many where that does not take long. A coarse
        counter takes long for each of them, and the moving averages of one window are one value.
        """
        step = IDLE_VALUES * (self.quantum_j or 0.0) / SMALL_IDLE_W
        many = MANY_IDLE_VALUES * max(self.effective_period_s, self.window_s or 0.0)
        return max(IDLE_VALUES * self.effective_period_s, min(max(step, many), LONGEST_IDLE_S))

    @property
    def unknown_lag_s(self) -> float:
        """Up to which a lag that is not known is allowed for; 0: it is known."""
        return 0.0 if self.lag_s is not None else max(self.effective_period_s, UNKNOWN_LAG_S)

    @property
    def lead_s(self) -> float:
        """Returns how long readings must have gone on before a run: up to two periods, and idle values before that."""
        return self.settle_s + 2 * self.effective_period_s + self.idle_stretch_s

    @property
    def tail_s(self) -> float:
        """Returns how long readings must continue after a run: lag, window and two periods, and idle values after that."""
        return self.settle_s + self.unknown_lag_s + 2 * self.effective_period_s + self.idle_stretch_s

    @property
    def reads_moments(self) -> bool:
        """True if a power value stands for a moment, or for so short a mean that it says nothing of most of the period."""
        spot = self.window_s is not None and self.window_s < 0.5 * self.effective_period_s
        return self.power is PowerKind.INSTANT or (self.power is PowerKind.AVERAGE and spot)


def _screen_watts(watts: float, capabilities: Capabilities) -> tuple[float | None, Flag | None]:
    if watts == float("inf"):
        return None, Flag.SATURATED
    if not isfinite(watts):
        return None, Flag.NAN
    if abs(watts) >= SCPI_INFINITY * 0.999:
        return None, Flag.NAN if watts >= SCPI_NAN * 0.9999 else Flag.SATURATED
    if watts == 0.0:
        return None, Flag.ZERO
    if watts < 0.0:
        return None, Flag.NEGATIVE
    if capabilities.range_w is not None and watts >= capabilities.range_w:
        return watts, Flag.SATURATED
    return watts, None


def screen(reading: Reading, capabilities: Capabilities) -> Reading:
    """Takes values away that cannot be a measurement and says so in the flags. `raw` keeps what came."""
    flags = list(reading.flags)
    watts, joules = reading.watts, reading.joules
    if watts is not None:
        watts, flag = _screen_watts(watts, capabilities)
        if flag is not None:
            flags.append(flag)
    if joules is not None and (not isfinite(joules) or abs(joules) >= SCPI_INFINITY * 0.999):
        joules = None
        flags.append(Flag.NAN)
    if watts == reading.watts and joules == reading.joules and len(flags) == len(reading.flags):
        return reading
    raw = reading.raw if reading.raw is not None else f"{reading.watts} W, {reading.joules} J"
    return replace(reading, watts=watts, joules=joules, flags=tuple(dict.fromkeys(flags)), raw=raw)


def has_power(readings: Iterable[Reading]) -> bool:
    return any(r.usable and r.watts is not None for r in readings)
