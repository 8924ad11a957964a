"""Intervals of summed errors, and what the errors of sampling and rounding are, against closed forms and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from ecosort_power.integrate import EnergyCurve, instants
from ecosort_power.rounding import Rounding, rounding
from ecosort_power.sampling import between_means, between_values, value_weights
from ecosort_power.uncertainty import Uncertainty, normal, rectangular, total
from ecosort_power.wander import by_values, stretches

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("halves", [[1.0], [1.0, 1.0], [1.0, 0.5], [1.0, 0.1], [1.0, 1.0, 1.0], [3.0, 1.0, 1.0, 0.5]])
def test_95_percent_of_summed_rectangles_are_inside(halves: list[float]) -> None:
    error = rectangular(halves)
    drawn = (RNG.uniform(-1, 1, (400_000, len(halves))) * halves).sum(axis=1)
    assert float(np.mean(np.abs(drawn) <= error.coverage * error.sd)) == pytest.approx(0.95, abs=0.01)
    assert error.sd == pytest.approx(float(drawn.std()), rel=0.01)


def test_a_rectangle_with_normal_noise() -> None:
    error = rectangular(1.0) + normal(0.3)
    drawn = RNG.uniform(-1, 1, 400_000) + RNG.normal(0, 0.3, 400_000)
    assert float(np.mean(np.abs(drawn) <= error.coverage * error.sd)) == pytest.approx(0.95, abs=0.01)


def test_few_degrees_of_freedom_widen_a_normal_error() -> None:
    error = normal(1.0, 4)
    assert error.sd == 1.0
    assert error.coverage == pytest.approx(2.776)
    assert error.scaled(2.0).coverage == pytest.approx(2.776)
    assert normal(1.0).coverage == pytest.approx(1.96)
    assert total([]).sd == 0.0


def test_a_small_part_that_is_badly_known_does_not_widen_the_whole() -> None:
    """Welch and Satterthwaite: 1 J of a known deviation and 0.5 J with two degrees of freedom have 2 (1.25 / 0.25)^2 = 50."""
    assert (normal(1.0) + normal(0.5, 2)).coverage == pytest.approx(2.009, rel=1e-3)
    drawn = RNG.normal(0, 1, 400_000) + RNG.normal(0, 0.5, 400_000)
    variances = 1.0 + 0.25 * RNG.chisquare(2, 400_000) / 2
    halves = 2.009 * np.sqrt(variances)
    assert float(np.mean(np.abs(drawn) <= halves)) == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize(("values", "reach", "smear"), [(10, 3.3, 1.0), (40, 15.0, 1.0), (40, 12.0, 10.0)])
def test_stretches_that_overlap_have_the_mean_and_the_spread_that_is_computed(values: int, reach: float, smear: float) -> None:
    share, degrees = stretches(values, reach, smear)
    cells = RNG.normal(0, 1, (20_000, values + int(smear)))
    joules = np.cumsum(np.pad(cells, ((0, 0), (1, 0))), axis=1)
    if smear > 1.0:
        joules = np.cumsum(np.pad((joules[:, int(smear) :] - joules[:, : -int(smear)]) / smear, ((0, 0), (1, 0))), axis=1)
    times = np.arange(values + 1.0)
    begins = times[times + reach <= values + 1e-9]
    watts = (joules[:, values] - joules[:, 0]) / values
    found = []
    for row, mean in zip(joules[:, : values + 1], watts, strict=True):
        energies = np.interp(begins + reach, times, row) - row[: len(begins)] - mean * reach
        found.append(float(np.mean(np.square(energies))))
    assert np.mean(found) == pytest.approx(share * reach, rel=0.04)
    assert 2 * np.mean(found) ** 2 / np.var(found) == pytest.approx(degrees, rel=0.1)


@pytest.mark.parametrize(("values", "reach"), [(5, 1.9), (9, 2.0), (20, 4.7)])
def test_what_errors_of_single_values_add_to_stretches_of_energy(values: int, reach: float) -> None:
    """Independent errors, at even and at uneven times, against the mean square of many."""
    rng = np.random.default_rng(8)
    for times in (np.arange(values, dtype=float), np.cumsum(rng.uniform(0.6, 1.4, values))):
        count = int(np.searchsorted(times, times[-1] - reach + 1e-9, side="right"))
        found = []
        for _ in range(4000):
            error = rng.normal(size=values)
            mean = (error[-1] - error[0]) / (times[-1] - times[0])
            found.append(np.square(np.interp(times[:count] + reach, times, error) - error[:count] - mean * reach).mean())
        assert np.mean(found) == pytest.approx(by_values(times, reach, count), rel=0.06)


def test_the_interval_is_not_twice_the_deviation_where_rounding_rules() -> None:
    """A constant power rounded to 4 W over 100 s: anywhere within 200 J, so 95 % within 190 J."""
    error = rounding(np.full(100, 48.0), np.ones(100), 4.0).error
    assert error.coverage * error.sd == pytest.approx(190.0, rel=1e-3)


def test_rounding_of_two_levels_is_independent_between_them() -> None:
    values = np.tile([24.0, 48.0], 50)
    assert rounding(values, np.ones(100), 4.0).error.sd == pytest.approx(np.hypot(100, 100) / 3**0.5)


def test_rounding_of_a_power_that_moves_through_the_steps_averages_out() -> None:
    through = rounding(np.rint(np.linspace(10, 90, 1000)), np.ones(1000), 1.0).error
    assert through.sd < 0.1 * rounding(np.full(1000, 50.0), np.ones(1000), 1.0).error.sd


def test_without_a_quantum_there_is_no_rounding() -> None:
    assert rounding(np.ones(3), np.ones(3), 0.0) == Rounding()


def test_the_last_level_of_a_ramp_is_taken_on_the_side_that_it_was_entered_from() -> None:
    """A power that moves through the levels at one speed and ends somewhere within one: less wrong, and known better."""
    rng = np.random.default_rng(4)
    inside = 0
    for _ in range(200):
        first, last = rng.uniform(15, 25), rng.uniform(55, 65)
        true = np.linspace(first, last, 6000)
        shown = np.rint(true / 4) * 4
        found = rounding(shown, np.full(6000, 0.1), 4.0)
        error_j = 0.1 * float(shown.sum() - true.sum()) + found.shift_j
        inside += abs(error_j) < found.error.coverage * found.error.sd
        held = np.isin(shown, (shown[0], shown[-1])).sum() * 0.1 * 4.0 / 2  # if the power had come to rest at both of them
        assert found.error.sd < held
    assert 0.93 <= inside / 200 <= 1.0


def test_a_power_that_stays_within_a_level_that_it_passes_is_anywhere_in_it() -> None:
    """Through the levels at one speed it is known to a part of a value's time; where it rests on the way, to the whole level."""
    steady = rounding(np.rint(np.linspace(10, 90, 8000)), np.full(8000, 0.1), 1.0).error
    rest = np.concatenate((np.linspace(10, 50.3, 4000), np.full(600, 50.3), np.linspace(50.3, 90, 4000)))
    rested = rounding(np.rint(rest), np.full(len(rest), 0.1), 1.0).error
    assert steady.sd < 5.0
    assert rested.sd == pytest.approx(np.hypot(steady.sd, 60 / 12**0.5), rel=0.1)


def test_a_jump_before_and_after_a_row_of_steps_is_its_beginning_and_its_end() -> None:
    """The jump is as that of the idle machine to the run and back, where values that are late may hold some of both."""
    ramp, idle = np.rint(np.linspace(20, 60, 4000)), np.full(10, 8.0)
    alone, between = (rounding(v, np.full(len(v), 0.1), 1.0).error.sd for v in (ramp, np.concatenate((idle, ramp, idle))))
    assert between == pytest.approx(np.hypot(alone, 2.0 / 2 / 3**0.5), rel=0.05)


def test_each_visit_of_a_level_is_wrong_by_itself() -> None:
    """A power that goes up and down through three levels, ten values at each: what it does within one visit is not known."""
    values = np.repeat([49.0, 50.0, 51.0, 50.0] * 25, 10)
    visits = [k for k, v in enumerate(values[::10]) if v == 50.0]
    found = rounding(values, np.ones(len(values)), 1.0).error
    held = 2 * (250 / 2) ** 2 / 3  # 49 W and 51 W, which have no level beyond them
    assert found.sd == pytest.approx((held + len(visits) * 100 / 12) ** 0.5)


@pytest.mark.parametrize(
    ("levels", "shift_j"),
    [
        ([3] * 9 + [4] * 9 + [5] * 5, 9 * 0.25 - 5 * 0.25),  # up, and it ends
        ([5] * 5 + [4] * 9 + [3] * 9, -5 * 0.25 + 9 * 0.25),  # down
        ([4] * 9 + [5] * 9 + [6] * 30, 9 * 0.25),  # at the last it came to rest
        ([5] * 20, 0.0),
        ([5] * 9 + [9] * 9, 0.0),  # it jumped
        ([4] * 9 + [5] * 9 + [6] * 5 + [5] * 9 + [4] * 9 + [5] * 9 + [6] * 5, 0.0),  # it turned
    ],
)
def test_a_last_level_is_one_that_the_power_moved_into_no_faster_than_before(levels: list[int], shift_j: float) -> None:
    assert rounding(np.array(levels, dtype=float), np.ones(len(levels)), 1.0).shift_j == pytest.approx(shift_j)


def curve_of(watts: np.ndarray, spread: float = 0.0) -> EnergyCurve:
    times = np.arange(len(watts)) + spread * RNG.random(len(watts))
    return instants(times, watts)


def test_a_step_lies_anywhere_between_two_values() -> None:
    error = between_values(curve_of(np.array([10.0] * 40 + [50.0] * 40)), 0, 79)
    assert error.sd == pytest.approx(40 / 12**0.5)


def test_values_that_are_independent_err_as_a_random_sample() -> None:
    found = [between_values(curve_of(RNG.normal(50, 5, 500), 1.0), 0, 499).sd for _ in range(40)]
    assert float(np.mean(found)) == pytest.approx(5 * 500**0.5, rel=0.15)


def test_a_slow_wander_errs_less_than_independent_values() -> None:
    wander = np.cumsum(RNG.normal(0, 1, 500)) + 100
    assert between_values(curve_of(wander, 1.0), 0, 499).sd < 0.1 * wander.std() * 500**0.5


def test_a_few_values_do_not_show_that_nothing_happens_between_them() -> None:
    few, many = (between_values(curve_of(np.array([10.0] + [50.0] * n + [10.0])), 0, n + 1) for n in (12, 60))
    assert few.sd > 2 * many.sd


def test_what_is_known_otherwise_is_left_out() -> None:
    curve = curve_of(np.concatenate(([10.0], RNG.normal(50, 5, 98), [10.0])), 1.0)
    whole, ends = between_values(curve, 0, 99), between_values(curve, 0, 99, (curve.times_s[2], curve.times_s[97]))
    assert ends.sd < whole.sd
    _, weights = value_weights(curve, curve.begin_s, curve.end_s, (curve.times_s[2], curve.times_s[97]))
    assert float(weights.sum()) == pytest.approx(curve.end_s - curve.begin_s - (curve.times_s[97] - curve.times_s[2]))


def test_averages_that_overlap_a_whole_number_of_times_are_exact() -> None:
    curve = curve_of(np.array([10.0, 10, 20, 40, 60, 60, 60, 40, 20, 10]))
    assert between_means(curve, 0, 9, 5.0).sd == 0.0
    assert between_means(curve, 0, 9, 2.5).sd > 0.0


def test_the_instrument_adds_linearly_and_an_unknown_one_stays_unknown() -> None:
    known = Uncertainty(10.0, 3.0, 4.0, 0.0, 0.0, 0.0, coverage=2.0)
    assert known.known_j == pytest.approx(10.0)
    assert known.total_j == pytest.approx(20.0)
    assert Uncertainty(None, 3.0, 4.0, 0.0, 0.0, 0.0).total_j is None
