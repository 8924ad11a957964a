"""Wrong readings are named; right ones pass."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ecosort_power.quality import Window, defects_of
from ecosort_power.reading import Capabilities, Flag, Reading, screen

from .synthetic import COUNTING, WALL, counts, instants, step, ticks, window

BUSY = {"load_step": 0.8}


def codes(readings: list[Reading], w: Window, capabilities: Capabilities = WALL) -> set[tuple[str, bool]]:
    screened = [screen(r, capabilities) for r in readings]
    return {(d.code, d.fatal) for d in defects_of(screened, capabilities, w, "m")}


def good() -> list[Reading]:
    power, _ = step(10, 50, 100, 160)
    return instants(lambda t: power(t) + 0.01 * (t % 7), ticks(80, 180, 1.0))


def test_good_readings_have_no_defect() -> None:
    assert codes(good(), window(100, 160, **BUSY)) == set()


def test_a_gap_over_one_percent_is_fatal() -> None:
    readings = [r for r in good() if not 120 < r.mid_s < 124]
    assert ("gap", True) in codes(readings, window(100, 160))


def test_a_small_gap_is_a_warning() -> None:
    w = window(1000, 2000)
    readings = [r for r in instants(lambda t: 20 + 0.01 * (t % 7), ticks(980, 2020, 1.0)) if not 1500 < r.mid_s < 1503]
    assert codes(readings, w) == {("gap", False)}


def test_unanswered_readings_are_gaps() -> None:
    readings = [Reading(r.before_s, r.after_s, flags=(Flag.ERROR,)) if 120 < r.mid_s < 130 else r for r in good()]
    assert codes(readings, window(100, 160)) >= {("gap", True), ("error", False)}


@pytest.mark.parametrize(("value", "code"), [(float("nan"), "nan"), (9.91e37, "nan"), (0.0, "zero"), (-3.0, "negative")])
def test_a_meter_that_returns_only_rubbish_is_fatal(value: float, code: str) -> None:
    readings = [replace(r, watts=value) for r in good()]
    assert codes(readings, window(100, 160)) >= {(code, True), ("no-readings", True)}


def test_single_rubbish_values_leave_a_warning() -> None:
    readings = [replace(r, watts=float("nan")) if r.mid_s == 130 else r for r in good()]
    assert codes(readings, window(100, 160)) == {("nan", False)}


@pytest.mark.parametrize("value", [9.9e37, float("inf"), 55.0])
def test_a_saturated_reading_is_fatal(value: float) -> None:
    readings = [replace(r, watts=value) if r.mid_s == 130 else r for r in good()]
    assert ("saturated", True) in codes(readings, window(100, 160), replace(WALL, range_w=55.0))


def test_readings_must_reach_over_both_ends() -> None:
    late = [r for r in good() if r.mid_s > 100.5]
    early = [r for r in good() if r.mid_s < 159]
    assert ("coverage", True) in codes(late, window(100, 160))
    assert ("coverage", True) in codes(early, window(100, 160))


def test_the_tail_must_be_as_long_as_lag_and_window() -> None:
    slow = replace(WALL, lag_s=15.0, window_s=10.0)
    assert ("coverage", True) in codes(good(), window(100, 160), slow)


def test_one_value_all_the_time_is_stale_if_the_load_changed() -> None:
    readings = instants(lambda t: 42.0, ticks(80, 180, 1.0))
    assert ("stale", True) in codes(readings, window(100, 160, **BUSY))


def test_one_value_all_the_time_is_fine_if_nothing_happened() -> None:
    readings = instants(lambda t: 42.0, ticks(80, 180, 1.0))
    assert codes(readings, window(100, 160, load_step=0.01)) == set()


def test_a_coarse_meter_that_follows_the_load_is_not_stale() -> None:
    power, _ = step(10, 50, 100, 160)
    assert codes(instants(power, ticks(80, 180, 1.0)), window(100, 160, **BUSY)) == set()


def test_a_value_that_stays_after_the_run_is_stale() -> None:
    readings = [replace(r, watts=50.0) if r.mid_s > 130 else r for r in good()]
    assert ("stale", True) in codes(readings, window(100, 160, **BUSY))


def test_a_fine_meter_that_freezes_for_long_inside_the_run_is_stale() -> None:
    power = lambda t: 50 + (37 * t % 1) / 10 + t / 1e4  # noqa: E731
    readings = instants(power, ticks(80, 280, 0.9))
    frozen = [replace(r, watts=50.0123) if 120 < r.mid_s < 160 else r for r in readings]
    w = Window(80, 100, 260, 279)
    assert codes(readings, w, replace(WALL, period_s=0.9)) == set()
    assert ("stale", True) in codes(frozen, w, replace(WALL, period_s=0.9))


def frozen_plug(at_s: float, resolution: int = 1, counts_j: float | None = 3.6) -> list[Reading]:
    """A plug that shows 40 W and some, and a counter, every second; both stand still from a moment on until the run is over."""
    found = []
    for i in range(70):
        t = 80.0 + i
        shown = min(t, at_s) if t <= 126 else t
        watts = round(40 + 0.4 * ((i if shown == t else 7) * 37 % 11), resolution)
        joules = None if counts_j is None else counts_j * int(41 * shown / counts_j)
        idle = round(20.0 + int(shown) % 3 / 10, resolution)
        found.append(Reading(t, t, watts=watts if 100 <= shown <= 125 else idle, joules=joules))
    return found


FREEZES = window(100, 125, **BUSY)


def test_a_plug_that_freezes_with_its_counter_is_stale() -> None:
    plug = replace(WALL, counter=True, quantum_j=3.6)
    assert ("stale", True) in codes(frozen_plug(110.0), FREEZES, plug)
    assert ("stale", True) in codes(frozen_plug(99.0), FREEZES, plug)  # from before the run on
    assert codes(frozen_plug(200.0), FREEZES, plug) == set()
    coarse = replace(plug, quantum_j=3600.0)  # whose counter would not have moved, and whose power has coarse steps
    assert codes(frozen_plug(110.0, 0, 3600.0), FREEZES, coarse) == set()


def test_a_counter_alone_that_freezes_is_stale() -> None:
    readings = [replace(r, watts=None) for r in frozen_plug(110.0)]
    assert ("stale", True) in codes(readings, FREEZES, replace(COUNTING, quantum_j=3.6))


@pytest.mark.parametrize("busy", [{"load_step": 0.8, "late_swing": 0.4}, {"load_step": 0.8}, {"drive_step_bytes_s": 2e8}])
def test_a_lively_meter_of_fine_steps_that_stands_still_in_the_last_third_is_stale(busy: dict[str, float]) -> None:
    assert ("stale", True) in codes(frozen_plug(110.0, counts_j=None), window(100, 125, **busy))


def test_a_value_that_may_stand_still_in_the_last_third_is_believed() -> None:
    assert codes(frozen_plug(110.0, counts_j=None), window(100, 125, load_step=0.0)) == set()  # nothing happened
    assert codes(frozen_plug(110.0, 0, None), FREEZES) == set()  # steps of 1 W
    slow = [replace(r, watts=40.0 + int(r.mid_s) // 10 / 10) for r in frozen_plug(200.0, counts_j=None)]
    assert codes([replace(r, watts=20.0) if not 100 <= r.mid_s <= 125 else r for r in slow], FREEZES) == set()  # as it ever did


def test_a_load_that_changes_while_the_value_stands_still_is_stale_though_it_stood_still_before() -> None:
    slow = [replace(r, watts=40.0 + int(r.mid_s) // 4 / 10 if r.mid_s < 114 else 41.0) for r in frozen_plug(200.0, counts_j=None)]
    slow = [replace(r, watts=20.0) if not 100 <= r.mid_s <= 125 else r for r in slow]
    assert codes(slow, FREEZES) == set()
    assert ("stale", True) in codes(slow, window(100, 125, load_step=0.8, late_swing=0.5))


def test_a_meter_clock_that_stands_is_stale() -> None:
    readings = [replace(r, stamp="77", watts=50.0) if r.mid_s > 120 else replace(r, stamp=str(r.mid_s)) for r in good()]
    assert ("stale", True) in codes(readings, window(100, 160))


def test_a_counter_that_does_not_move_is_stale() -> None:
    assert ("stale", True) in codes(counts(lambda t: 5.0, ticks(80, 180, 1.0)), window(100, 160), COUNTING)
