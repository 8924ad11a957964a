"""The bound on the size of a part: what it says, and what chance says."""

from __future__ import annotations

import numpy as np
import pytest
from ecosort.cluster.sampling import failure_bound, rows_by_range, sampled_rows


def largest_parts(parts: int, rows: int, trials: int, width: float) -> list[float]:
    """The largest part over the mean, in each trial. A sample is drawn of each of `rows` pieces of the input, whose keys are
    anything between 0 and 1 for a width of 1, and more and more like the place in the input for smaller ones."""
    drawn = np.random.default_rng(parts)
    places = np.arange(rows) / rows * (1 - width)
    found = []
    for _ in range(trials):
        sample = np.sort(places + drawn.random(rows) * width)
        splitters = sample[rows // parts :: rows // parts][: parts - 1]
        everything = np.concatenate([[0.0], share_below(splitters, width), [1.0]])
        found.append(float(np.diff(everything).max() * parts))
    return found


def share_below(keys: np.ndarray, width: float) -> np.ndarray:
    """Returns the share of all rows: place + uniform(0, width), where the place is uniform between 0 and 1 - width."""
    if width == 1:
        return keys
    low, high = min(width, 1 - width), max(width, 1 - width)
    rising = np.minimum(keys, low) ** 2 / (2 * low * high)
    level = np.clip(keys - low, 0, high - low) / high
    falling = (low**2 - np.clip(1 - keys, 0, low) ** 2) / (2 * low * high) * (keys > high)
    return rising + level + falling


@pytest.mark.parametrize("parts", [2, 5, 40])
@pytest.mark.parametrize("width", [1.0, 0.3], ids=["any place", "nearly sorted"])
def test_parts_are_too_large_no_more_often_than_the_bound_says(parts: int, width: float) -> None:
    rows = sampled_rows(parts, failure=0.05)
    trials = 4000 // parts
    assert sum(largest > 1.1 for largest in largest_parts(parts, rows, trials, width)) <= 0.05 * trials


def test_a_small_sample_does_make_parts_too_large() -> None:
    """So that the test above can fail."""
    few = sampled_rows(5, failure=0.05) // 20 // 5 * 5
    assert sum(largest > 1.1 for largest in largest_parts(5, few, 300, 1.0)) > 0.2 * 300


@pytest.mark.parametrize("parts", [2, 7, 100, 1000])
@pytest.mark.parametrize("ranges", [1, 60])
def test_the_sample_is_the_smallest_that_keeps_the_bound(parts: int, ranges: int) -> None:
    rows = sampled_rows(parts, ranges)
    assert rows % parts == 0
    assert failure_bound(rows // parts, parts, ranges) <= 1e-6 < failure_bound(rows // parts - 1, parts, ranges)


def test_one_part_needs_no_sample() -> None:
    assert sampled_rows(1) == 0


def test_ranges_give_rows_by_their_bytes_and_never_too_few() -> None:
    assert rows_by_range(100, [0, 100, 300, 0, 600]) == [0, 10, 30, 0, 60]
    assert rows_by_range(7, [10, 10, 10]) == [3, 3, 3]
    assert rows_by_range(7, [0]) == [0]
