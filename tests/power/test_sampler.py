"""When a meter is read: at a random moment of each period where a value stands for a moment, else at equal distances."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise

import pytest
from ecosort_power.meters.base import Meter, parse_spec
from ecosort_power.quality import Window, gap_list
from ecosort_power.reading import Capabilities, PowerKind, Reading
from ecosort_power.sampler import Sampler, spread_s

from .synthetic import AVERAGING, COUNTING, WALL


class Instant(Meter):
    def open(self) -> Capabilities:
        return WALL

    def read(self) -> Reading:
        now = time.monotonic()
        return Reading(now, now, watts=20.0)

    def close(self) -> None:
        """Nothing is open."""


def moments(spread: float, period: float = 0.02, count: int = 60) -> list[float]:
    """Where in its period each reading lies, in periods since the first."""
    sampler = Sampler("m", Instant(parse_spec("instant:")), replace(WALL, period_s=period, spread_s=spread))
    sampler.begin_segment(None)
    sampler.start()
    try:
        time.sleep(count * period)
        return [r.mid_s for r in sampler.end_segment()]
    finally:
        sampler.stop()


def distances(times: list[float]) -> list[float]:
    return [b - a for a, b in pairwise(times)]


def test_readings_of_moments_are_at_random_distances() -> None:
    times = moments(0.02)
    found = sorted(distances(times))
    assert len(times) == pytest.approx(60, abs=12)  # one per period, all the same
    assert found[len(found) // 10] < 0.012
    assert found[-len(found) // 10] > 0.025


def test_readings_of_averages_are_at_equal_distances() -> None:
    found = sorted(distances(moments(0.0)))
    assert found[len(found) // 4] == pytest.approx(0.02, abs=0.006)
    assert found[len(found) // 2] == pytest.approx(0.02, abs=0.006)


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
    assert gap_list(readings, WALL, window) == [(4.5, 6.5)]
    assert gap_list([*readings[:2], *readings[4:]], replace(WALL, spread_s=1.0), window) == []
    assert gap_list([readings[0], readings[4], readings[5]], replace(WALL, spread_s=1.0), window) == [(0.5, 4.5)]
