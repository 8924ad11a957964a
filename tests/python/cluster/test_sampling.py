"""The bound on the size of a part: what it says, and what chance says."""

from __future__ import annotations

import numpy as np
import pytest
from ecosort.cluster.sampling import failure_bound, rows_by_range, sampled_rows


def largest_parts(parts: int, rows: int, trials: int) -> list[float]:
    """The largest part over the mean, in each trial: splitters at every rows/parts-th of `rows` uniform numbers."""
    drawn = np.random.default_rng(parts)
    found = []
    for _ in range(trials):
        sample = np.sort(drawn.random(rows))
        splitters = sample[rows // parts :: rows // parts][: parts - 1]
        found.append(float(np.diff(np.concatenate([[0.0], splitters, [1.0]])).max() * parts))
    return found


@pytest.mark.parametrize("parts", [2, 5, 40])
def test_parts_are_too_large_no_more_often_than_the_bound_says(parts: int) -> None:
    rows = sampled_rows(parts, failure=0.05)
    too_large = sum(largest > 1.1 for largest in largest_parts(parts, rows, 2000))
    assert too_large <= 0.05 * 2000
    # The bound is no better than it must be: with a quarter of the sample, parts do get too large.
    assert sum(largest > 1.1 for largest in largest_parts(parts, rows // 4 // parts * parts, 300)) > 0.1 * 300


@pytest.mark.parametrize("parts", [2, 7, 100, 1000])
def test_the_sample_is_the_smallest_that_keeps_the_bound(parts: int) -> None:
    rows = sampled_rows(parts)
    assert rows % parts == 0
    assert failure_bound(rows // parts, parts) <= 1e-6 < failure_bound(rows // parts - 1, parts)


def test_one_part_needs_no_sample() -> None:
    assert sampled_rows(1) == 0


def test_rows_are_drawn_by_the_bytes_of_ranges() -> None:
    sizes = [0, 100, 300, 0, 600]
    counts = rows_by_range(100_000, sizes, seed=1)
    assert sum(counts) == 100_000
    assert counts[0] == counts[3] == 0
    assert counts[1] == pytest.approx(10_000, abs=500)
    assert counts[2] == pytest.approx(30_000, abs=800)
    assert rows_by_range(100_000, sizes, seed=1) == counts != rows_by_range(100_000, sizes, seed=2)


def test_counts_of_ranges_vary_as_independent_draws_do() -> None:
    """The variance of a binomial count is n p (1 - p); a fixed share for each range would have none."""
    counts = [rows_by_range(1000, [1, 3], seed)[0] for seed in range(2000)]
    assert float(np.mean(counts)) == pytest.approx(250, abs=2)
    assert float(np.var(counts)) == pytest.approx(1000 * 0.25 * 0.75, rel=0.15)
