"""Finds when a counter looked: from moves that were read some time after it, against the true moments."""

from __future__ import annotations

import numpy as np
import pytest
from ecosort_power.integrate import Floats
from ecosort_power.looks import FEWEST, FINEST, narrowed

GAP = 1.0


def moves(looks: Floats, offset: float) -> Floats:
    """Returns when each look was read, by readings every GAP."""
    found: Floats = np.ceil((looks - offset) / GAP) * GAP + offset
    return found


def test_the_looks_of_an_even_clock_are_known_better_than_the_readings_tell() -> None:
    middle, wrong = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        looks = rng.uniform(0, 60) + 60 * rng.uniform(0.97, 1.03) * np.arange(20)
        found = narrowed(moves(looks, rng.random()), np.full(20, GAP), 60.0)
        assert found is not None
        assert np.all(np.abs(found.times_s - looks) <= found.holds_s + 1e-9)
        wrong.append((found.times_s - looks) / found.holds_s * 12**0.5)
        assert found.holds_s.min() >= GAP * FINEST
        assert found.holds_s.max() <= GAP
        middle.append(found.holds_s[8:12].max())
    assert np.sqrt(np.mean(np.square(wrong))) == pytest.approx(1.0, abs=0.2), "the spread that is stated is the true one"
    assert np.median(middle) < GAP / 4


def test_looks_of_one_clock_are_wrong_together() -> None:
    """The time between two of them is known better than where each is."""
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        looks = rng.uniform(0, 5) + 5 * rng.uniform(0.97, 1.03) * np.arange(12)
        clock = narrowed(moves(looks, rng.random()), np.full(12, GAP), 5.0)
        assert clock is not None
        between = clock.times_s[5] - clock.times_s[3] - (looks[5] - looks[3])
        found.append((between, clock.deviation_s([1.0, -1.0], [5, 3]), clock.deviation_s([1.0], [5])))
    true, stated, one = np.sqrt(np.mean(np.square(found), axis=0))
    assert true == pytest.approx(stated, rel=0.15)
    assert stated < one / 1.5


def test_looks_that_no_move_shows_are_counted() -> None:
    """Every third look passes a step of the counter, or every second one."""
    rng = np.random.default_rng(1)
    numbers = np.cumsum(rng.integers(1, 4, 40))
    looks = 3.0 + 5.1 * numbers
    found = narrowed(moves(looks, 0.3), np.full(40, GAP), 5.0)
    assert found is not None
    assert np.abs(found.times_s - looks).max() < GAP / 2


def test_a_clock_in_step_with_the_readings_is_known_to_one_reading_only() -> None:
    looks = 0.4 + 60.0 * np.arange(20)
    found = narrowed(moves(looks, 0.0), np.full(20, GAP), 60.0)
    assert found is not None
    assert found.holds_s.min() > 0.7 * GAP
    assert found.holds_s.max() == pytest.approx(GAP)


def test_an_uneven_clock_and_few_moves_narrow_nothing() -> None:
    rng = np.random.default_rng(2)
    looks = 60.0 * np.arange(20) + rng.normal(0, 1.5, 20)
    assert narrowed(moves(looks, 0.3), np.full(20, GAP), 60.0) is None
    assert narrowed(moves(looks[: FEWEST - 1], 0.3), np.full(FEWEST - 1, GAP), 60.0) is None


def test_readings_hardly_more_often_than_the_looks_narrow_nothing() -> None:
    looks = 0.2 + 1.5 * np.arange(20)
    assert narrowed(moves(looks, 0.0), np.full(20, GAP), 1.5) is None
