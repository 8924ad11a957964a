"""A meter is read at a random moment of each period where a value stands for a moment, else at equal distances."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from ecosort_power.errors import MeterError
from ecosort_power.meters.base import Meter, parse_spec
from ecosort_power.quality import Window, defects_of, gap_list
from ecosort_power.reading import Capabilities, Flag, PowerKind, Reading
from ecosort_power.sampler import Sampler, spread_s

from .support import wait_for
from .synthetic import AVERAGING, COUNTING, WALL


class Instant(Meter):
    now: Callable[[], float] = staticmethod(time.monotonic)

    def open(self) -> Capabilities:
        return WALL

    def read(self) -> Reading:
        now = self.now()
        return Reading(now, now, watts=20.0)

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class SimulatedTime:
    """Stands for the module `time` and for the event that ends a sampler: it goes by for who waits, and ends him in time."""

    end_s: float
    now_s: float = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def is_set(self) -> bool:
        return self.now_s >= self.end_s

    def wait(self, seconds: float) -> None:
        self.now_s += seconds

    def set(self) -> None:
        self.now_s = self.end_s


def moments(monkeypatch: pytest.MonkeyPatch, spread: float, period: float = 0.02, count: int = 60) -> list[float]:
    """Returns when a sampler reads."""
    simulated = SimulatedTime(count * period)
    monkeypatch.setattr("ecosort_power.sampler.time", simulated)
    meter = Instant(parse_spec("instant:"))
    meter.now = simulated.monotonic
    sampler = Sampler("m", meter, replace(WALL, period_s=period, spread_s=spread))
    monkeypatch.setattr(sampler, "_stop", simulated)
    sampler.begin_segment(None)
    sampler.start()
    wait_for(simulated.is_set)
    found = sampler.end_segment()
    sampler.stop()
    return [r.mid_s for r in found]


def distances(times: list[float]) -> list[float]:
    return [b - a for a, b in pairwise(times)]


def test_readings_of_moments_are_at_random_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    times = moments(monkeypatch, 0.02)
    assert [int(t / 0.02) for t in times[:59]] == list(range(59))  # one per period, all the same
    found = sorted(distances(times))
    assert found[len(found) // 10] < 0.015  # 0.009 on average; equal distances are 0.02
    assert found[-len(found) // 10] > 0.025


def test_readings_of_averages_are_at_equal_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    found = distances(moments(monkeypatch, 0.0))
    assert len(found) >= 58
    assert found == pytest.approx([0.02] * len(found))


@pytest.mark.parametrize(
    ("capabilities", "paced", "spread"),
    [
        (replace(WALL, update_s=None), True, 1.0),
        (replace(WALL, period_s=5.0, power=PowerKind.AVERAGE, window_s=1.0), True, 5.0),  # it says nothing of most of the time
        (replace(WALL, update_s=1.0), True, 0.0),  # the meter chooses the moments
        (WALL, False, 0.0),  # the meter sends by itself
        (AVERAGING, True, 0.0),
        (COUNTING, True, 0.0),
    ],
)
def test_what_is_read_at_random_moments(capabilities: Capabilities, paced: bool, spread: float) -> None:
    assert spread_s(capabilities, paced) == spread


def test_random_distances_are_no_gaps() -> None:
    """Up to two periods lie between two readings, and three where one is missing."""
    times = [0.0, 1.9, 2.0, 4.0, 4.5, 6.9]
    readings = [Reading(t, t, watts=20.0) for t in times]
    window = Window(0.0, 0.5, 6.5, 7.0)
    assert gap_list(readings, replace(WALL, spread_s=1.0), window) == []
    assert gap_list(readings, replace(WALL, spread_s=0.0), window) == [(4.5, 6.5)]
    assert gap_list([*readings[:2], *readings[4:]], replace(WALL, spread_s=1.0), window) == []
    assert gap_list([readings[0], readings[4], readings[5]], replace(WALL, spread_s=1.0), window) == [(0.5, 4.5)]


class Forgetful(Instant):
    """A program that ends after every few readings."""

    left = 0

    def open(self) -> Capabilities:
        self.left = 10
        return WALL

    def read(self) -> Reading:
        self.left -= 1
        if self.left < 0:
            raise MeterError("meter.py ended with exit code 7")
        return super().read()


def test_a_meter_that_was_lost_and_begun_again_is_told_in_the_notes() -> None:
    meter = Forgetful(parse_spec("instant:"))
    sampler = Sampler("m", meter, replace(meter.open(), period_s=0.01, spread_s=0.0))
    sampler.begin_segment(None)
    sampler.start()
    wait_for(lambda: sum(Flag.REOPENED in r.flags for r in sampler.since(0)) >= 2)
    readings = sampler.end_segment()
    sampler.stop()
    again = [r for r in readings if Flag.REOPENED in r.flags]
    whole = Window(readings[0].mid_s, readings[0].mid_s, readings[-1].mid_s, readings[-1].mid_s)
    notes = [d for d in defects_of(readings, WALL, whole, "m") if d.code == "reopened"]
    assert [d.fatal for d in notes] == [False]
    count = len(again)
    assert f"m: it was lost and begun again {count} times, {count} of them during the run: meter.py ended with" in notes[0].text
    before = replace(whole, begin_s=readings[-1].mid_s + 1, end_s=readings[-1].mid_s + 2, last_s=readings[-1].mid_s + 3)
    assert "0 of them during the run" in next(d.text for d in defects_of(readings, WALL, before, "m") if d.code == "reopened")


def test_a_meter_that_cannot_be_begun_again_was_not() -> None:
    class Gone(Forgetful):
        def open(self) -> Capabilities:
            raise MeterError("gone")

    sampler = Sampler("m", Gone(parse_spec("instant:")), replace(WALL, period_s=0.01, spread_s=0.0))
    sampler.begin_segment(None)
    sampler.start()
    wait_for(lambda: len(sampler.since(0)) >= 3)
    readings = sampler.end_segment()
    sampler.stop()
    assert not any(Flag.REOPENED in r.flags for r in readings)
