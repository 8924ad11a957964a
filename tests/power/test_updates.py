"""The meter's own values out of what was read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ecosort_power.integrate import Sample, tiles
from ecosort_power.reading import Reading
from ecosort_power.updates import counter_moves, power_samples, remove_jitter, updates

from .synthetic import AVERAGING, COUNTING, WALL


def test_unusable_readings_are_left_out() -> None:
    readings = [Reading(0, 0, watts=1.0), Reading(1, 1), Reading(2, 2, watts=3.0)]
    assert [s.time_s for s in power_samples(readings, WALL)] == [0, 2]


def test_the_lag_is_taken_off_the_time() -> None:
    assert power_samples([Reading(9.9, 10.1, watts=5.0)], replace(WALL, lag_s=2.0))[0].time_s == pytest.approx(8.0)


def test_a_short_average_counts_at_its_middle() -> None:
    short = replace(AVERAGING, window_s=0.2)
    assert power_samples([Reading(10, 10, watts=5.0)], short)[0].time_s == pytest.approx(9.9)


def test_a_slow_meter_read_often_gives_one_sample_per_update() -> None:
    slow = replace(WALL, period_s=0.5, update_s=2.0)
    read = [Sample(i * 0.5, float(10 + i // 4)) for i in range(16)]
    assert [s.time_s for s in updates(read, slow)] == pytest.approx([0, 2, 4, 6])


def test_equal_updates_in_a_row_are_kept_apart() -> None:
    """The average of the last update before a change must not stand for the whole stretch before it."""
    slow = replace(AVERAGING, period_s=0.5, update_s=2.0, window_s=2.0)
    values = [10.0] * 12 + [50.0] * 4 + [10.0] * 8
    found = updates([Sample(i * 0.5, v) for i, v in enumerate(values)], slow)
    curve = tiles(found)
    assert curve.between(2.0, 10.0) == pytest.approx(10 * 6 + 50 * 2, abs=1e-6)


def test_a_counter_moves_half_way_between_the_readings_around_its_move() -> None:
    readings = [Reading(t, t, joules=v) for t, v in [(0, 0.0), (1, 0.0), (2, 100.0), (3, 100.0), (4, 200.0), (5, 200.0)]]
    moves = counter_moves(readings, replace(COUNTING, update_s=None))
    assert moves is not None
    assert moves.curve.times_s.tolist() == [0, 1.5, 3.5, 5]
    assert moves.curve.joules.tolist() == [0, 100, 200, 200]
    assert moves.standing.tolist() == [True, False, False, True]
    assert moves.count(0, 5) == 2


def test_transport_jitter_does_not_move_cycles() -> None:
    delays = [0.0, 0.3, 0.1, 0.0, 0.4, 0.39, 0.0, 0.2]
    arrivals = [Sample(i * 0.5 + d, 100.0, 0.5) for i, d in enumerate(delays)]
    assert [s.time_s for s in remove_jitter(arrivals)] == pytest.approx([i * 0.5 for i in range(8)])


def test_a_lost_cycle_stays_a_gap() -> None:
    arrivals = [Sample(t, 100.0, 0.5) for t in (0, 0.5, 1.0, 2.5, 3.0)]
    assert [s.time_s for s in remove_jitter(arrivals)] == pytest.approx([0, 0.5, 1.0, 2.5, 3.0])
