"""When a counter looked: from moves that were read some time after it, against the true moments."""

from __future__ import annotations

import numpy as np
import pytest
from ecosort_power.integrate import Floats
from ecosort_power.looks import FEWEST, FINEST, narrowed

GAP = 1.0


def moves(looks: Floats, offset: float) -> Floats:
    """When each look was read, by readings every GAP."""
    found: Floats = np.ceil((looks - offset) / GAP) * GAP + offset
    return found


def test_the_looks_of_an_even_clock_are_known_better_than_the_readings_tell() -> None:
    middle = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        looks = rng.uniform(0, 60) + 60 * rng.uniform(0.97, 1.03) * np.arange(20)
        found = narrowed(moves(looks, rng.random()), np.full(20, GAP), 60.0)
        assert found is not None
        times, holds = found
        assert np.all(np.abs(times - looks) <= holds / 2 + 1e-9)
        assert holds.min() >= GAP * FINEST
        assert holds.max() <= GAP
        middle.append(holds[8:12].max())
    assert np.median(middle) < GAP / 4


def test_looks_that_no_move_shows_are_counted() -> None:
    """Every third look passes a step of the counter, or every second one."""
    rng = np.random.default_rng(1)
    numbers = np.cumsum(rng.integers(1, 4, 40))
    looks = 3.0 + 5.1 * numbers
    found = narrowed(moves(looks, 0.3), np.full(40, GAP), 5.0)
    assert found is not None
    assert np.abs(found[0] - looks).max() < GAP / 2


def test_a_clock_in_step_with_the_readings_is_known_to_one_reading_only() -> None:
    looks = 0.4 + 60.0 * np.arange(20)
    found = narrowed(moves(looks, 0.0), np.full(20, GAP), 60.0)
    assert found is not None
    assert found[1] == pytest.approx(np.full(20, GAP), abs=0.1)


def test_an_uneven_clock_and_few_moves_narrow_nothing() -> None:
    rng = np.random.default_rng(2)
    looks = 60.0 * np.arange(20) + rng.normal(0, 1.5, 20)
    assert narrowed(moves(looks, 0.3), np.full(20, GAP), 60.0) is None
    assert narrowed(moves(looks[: FEWEST - 1], 0.3), np.full(FEWEST - 1, GAP), 60.0) is None


def test_readings_hardly_more_often_than_the_looks_narrow_nothing() -> None:
    looks = 0.2 + 1.5 * np.arange(20)
    assert narrowed(moves(looks, 0.0), np.full(20, GAP), 1.5) is None
