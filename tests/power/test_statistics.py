"""Means, deviations, trends, ratios, the table of records."""

from __future__ import annotations

import pytest
from ecosort_power.reading import Scope
from ecosort_power.records import TABLE, class_name, standing
from ecosort_power.statistics import Sample, describe, ratio_ci95, t95, trend


def test_the_deviation_is_that_of_a_sample() -> None:
    found = describe([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0])
    assert (found.mean, found.n) == (5.0, 8)
    assert found.sd == pytest.approx((32 / 7) ** 0.5)


def test_one_run_has_no_deviation() -> None:
    assert describe([3.0]) == Sample(1, 3.0, None)
    assert describe([3.0]).ci95 is None


@pytest.mark.parametrize(("degrees", "value"), [(1, 12.706), (4, 2.776), (30, 2.042), (60, 2.000), (1000, 1.962)])
def test_quantiles_of_t(degrees: int, value: float) -> None:
    assert t95(degrees) == pytest.approx(value, abs=0.003)


def test_a_trend_is_told_from_noise() -> None:
    rising = trend([100, 102, 104.1, 105.9, 108])
    assert rising is not None
    assert rising.significant
    assert rising.slope == pytest.approx(2.0, abs=0.1)
    noise = trend([100, 103, 99, 102, 100])
    assert noise is not None
    assert not noise.significant
    assert trend([1, 2, 3]) is None


def test_a_ratio_comes_with_its_interval() -> None:
    found = ratio_ci95(describe([90, 91, 92]), describe([100, 101, 102]))
    assert found is not None
    ratio, low, high = found
    assert ratio == pytest.approx(91 / 101)
    assert low < ratio < high < 1


def test_the_place_in_the_table() -> None:
    found = standing(10**8, 50_000.0, Scope.WALL)
    assert found.rank == 2
    assert "number 2 of 5" in found.text
    assert "FAWNSort (2012) with 71 789" in found.text


@pytest.mark.parametrize(
    ("records", "scope", "text"),
    [
        (10**6, Scope.WALL, "no benchmark class"),
        (10**8, Scope.BMC, "the records at the wall"),
        (10**8, Scope.PACKAGE, "not compared"),
        (None, Scope.WALL, "no place"),
    ],
)
def test_no_rank_where_it_would_mislead(records: int | None, scope: Scope, text: str) -> None:
    found = standing(records, 50_000.0, scope)
    assert found.rank is None
    assert text in found.text


def test_joules_and_records_per_joule_of_the_table_agree() -> None:
    for r in TABLE:
        if r.kilojoules is not None:
            assert r.records / (r.kilojoules * 1000) == pytest.approx(r.records_per_joule, rel=0.01)
    assert class_name(10**9) == "10^9"
