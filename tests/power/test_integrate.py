"""Integration against closed forms: constant, ramp, step, gap, counter wrap, averaging window, lag."""

from __future__ import annotations

from itertools import pairwise

import pytest
from ecosort_power.integrate import (
    CounterResetError,
    EnergyCurve,
    Sample,
    counter,
    find_gaps,
    tiles,
    trapezoid,
    unwrap,
)
from hypothesis import given
from hypothesis import strategies as st


def samples(values: list[float], period: float = 1.0, start: float = 0.0) -> list[Sample]:
    return [Sample(start + i * period, v) for i, v in enumerate(values)]


@pytest.mark.parametrize("curve", [trapezoid, tiles])
def test_constant_power_gives_power_times_time(curve) -> None:  # type: ignore[no-untyped-def]
    assert curve(samples([50.0] * 11)).between(1.3, 8.9) == pytest.approx(50.0 * 7.6)


def test_a_ramp_is_exact_by_trapezoid() -> None:
    ramp = trapezoid(samples([10.0 * i for i in range(11)]))
    assert ramp.between(2.5, 7.25) == pytest.approx(10 * (7.25**2 - 2.5**2) / 2)


def test_averages_count_with_their_own_interval() -> None:
    curve = tiles([Sample(0, 0), Sample(1, 10), Sample(3, 40), Sample(4, 20)])
    assert curve.between(0, 4) == pytest.approx(10 * 1 + 40 * 2 + 20 * 1)
    assert curve.between(2, 3.5) == pytest.approx(40 * 1 + 20 * 0.5)


def test_a_stated_cycle_length_makes_the_energy_of_the_cycle() -> None:
    curve = tiles([Sample(0, 0, 0.5), Sample(0.51, 100, 0.5), Sample(0.99, 100, 0.5)])
    assert curve.between(0, 0.99) == pytest.approx(100 * 1.0)


def test_a_counter_is_interpolated_at_the_marks() -> None:
    curve = counter([Sample(0, 1000), Sample(2, 1100), Sample(4, 1300)])
    assert curve.between(1, 3) == pytest.approx(50 + 100)


def test_a_counter_that_wraps_goes_on() -> None:
    curve = counter([Sample(0, 250_000), Sample(1, 262_000), Sample(2, 3_857), Sample(3, 20_000)], wrap_j=262_144.0)
    assert curve.between(0, 3) == pytest.approx(262_144 - 250_000 + 20_000)


def test_two_wraps_add_up() -> None:
    assert unwrap([90, 10, 95, 5], 100.0) == [90, 110, 195, 205]


@pytest.mark.parametrize(("values", "wrap"), [([100.0, 40.0], None), ([100.0, 90.0], 262_144.0)])
def test_a_counter_that_goes_back_without_a_wrap_is_refused(values: list[float], wrap: float | None) -> None:
    with pytest.raises(CounterResetError, match="went back"):
        unwrap(values, wrap)


def test_a_gap_is_found_and_clipped_to_the_window() -> None:
    assert find_gaps([0, 1, 2, 5.5, 6.5, 12], 3.0, 10.0, 1.0) == [(3.0, 5.5), (6.5, 10.0)]


def test_a_late_sample_within_two_periods_is_no_gap() -> None:
    assert find_gaps([0, 1, 2.9, 4], 0, 4, 1.0) == []


def test_outside_the_readings_there_is_no_energy() -> None:
    with pytest.raises(ValueError, match="outside"):
        trapezoid(samples([1.0, 1.0])).between(0.5, 1.5)


def test_times_must_ascend() -> None:
    with pytest.raises(ValueError, match="ascend"):
        EnergyCurve([0, 0], [0, 1])


@given(
    st.lists(st.floats(1, 500), min_size=3, max_size=30),
    st.lists(st.floats(0, 1), min_size=1, max_size=6),
    st.sampled_from([trapezoid, tiles, counter]),
)
def test_the_parts_of_a_window_add_up_to_the_window(values, cuts, kind) -> None:  # type: ignore[no-untyped-def]
    points = [Sample(i * 0.7, v) for i, v in enumerate(sorted(values) if kind is counter else values)]
    curve = kind(points)
    marks = [curve.begin_s, *sorted(c * curve.end_s for c in cuts), curve.end_s]
    parts = sum(curve.between(a, b) for a, b in pairwise(marks))
    assert parts == pytest.approx(curve.between(curve.begin_s, curve.end_s), rel=1e-9, abs=1e-6)


@given(st.lists(st.floats(0, 1000), min_size=2, max_size=40), st.floats(1500, 10_000))
def test_unwrapping_undoes_any_wrapping(steps: list[float], wrap: float) -> None:
    total, true, seen = 0.0, [], []
    for s in steps:
        total += min(s, wrap / 2 - 1)
        true.append(total)
        seen.append(total % wrap)
    back = unwrap(seen, wrap)
    assert [b - back[0] for b in back] == pytest.approx([t - true[0] for t in true], abs=1e-6)
