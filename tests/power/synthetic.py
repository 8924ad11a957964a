"""Readings of meters that never were, with a known energy: for tests of pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ecosort_power.quality import Window
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope

WALL = Capabilities(
    title="synthetic",
    scope=Scope.WALL,
    period_s=1.0,
    power=PowerKind.INSTANT,
    update_s=0.01,  # every reading is a new value
    lag_s=0.0,
    window_s=0.0,
    timing_source="given",
    spread_s=0.5,  # it is read at random moments; those of the tests are chosen
)
AVERAGING = replace(WALL, power=PowerKind.AVERAGE, window_s=1.0)
COUNTING = replace(WALL, power=None, counter=True)

Power = Callable[[float], float]


def ticks(begin: float, end: float, period: float, phase: float = 0.0) -> list[float]:
    count = int((end - begin - phase) / period) + 1
    return [begin + phase + i * period for i in range(count)]


def instants(power: Power, times: Sequence[float]) -> list[Reading]:
    return [Reading(t, t, watts=power(t)) for t in times]


def averages(energy: Power, times: Sequence[float], window: float, lag: float = 0.0) -> list[Reading]:
    """Moving averages over `window` from the cumulative energy; each reading is late by `lag`."""
    return [Reading(t, t, watts=(energy(t - lag) - energy(t - lag - window)) / window) for t in times]


def counts(energy: Power, times: Sequence[float], wrap: float | None = None, start: float = 0.0) -> list[Reading]:
    values = (start + energy(t) for t in times)
    return [Reading(t, t, joules=v % wrap if wrap else v) for t, v in zip(times, values, strict=True)]


def step(low: float, high: float, begin: float, end: float) -> tuple[Power, Power]:
    """Power that is `high` inside [begin, end], and its cumulative energy."""

    def power(t: float) -> float:
        return high if begin <= t < end else low

    def energy(t: float) -> float:
        return low * t + (high - low) * (min(max(t, begin), end) - begin)

    return power, energy


def window(begin: float, end: float, lead: float = 20.0, tail: float = 20.0, **busy: float) -> Window:
    return Window(begin - lead, begin, end, end + tail, **busy)
