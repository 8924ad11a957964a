"""Means, deviations, trends, ratios, the table of records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ecosort_power.reading import Scope
from ecosort_power.records import TABLE, Claim, class_name, standing
from ecosort_power.statistics import Sample, describe, ratio_ci95, ratio_of_totals, t95, trend


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


def test_records_per_joule_of_several_runs_is_total_by_total() -> None:
    """Runs of 100 and 300 J with 10^6 records each: 5 000 records per joule, not the mean of 10 000 and 3 333."""
    found = ratio_of_totals([1e6, 1e6], [100.0, 300.0])
    assert found.mean == 5000.0
    assert found.n == 2
    assert ratio_of_totals([1e6], [100.0]).sd is None


def test_the_interval_of_a_ratio_of_totals_is_that_of_the_joules() -> None:
    joules = [100.0, 101.0, 99.0, 102.0, 98.0]
    found, mean = ratio_of_totals([1e6] * 5, joules), describe(joules)
    assert found.ci95 is not None
    assert mean.ci95 is not None
    assert found.ci95 / found.mean == pytest.approx(mean.ci95 / mean.mean)


def claim(**changes: Any) -> Claim:
    """A claim that keeps all rules, but for the changes."""
    sound = Claim(10**8, 50_000.0, Scope.WALL, 5, complete=True, validated=True, cold=True, bytes=10**10)
    return replace(sound, **changes)


def test_the_place_in_the_table() -> None:
    found = standing(claim(remarks=("that exec measures at the wall is the user's word",)))
    assert found.rank == 2
    assert "number 2 of 5" in found.text
    assert "FAWNSort (2012) with 71 789" in found.text
    assert "the user's word" in found.text
    assert found.reasons == []


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"records": 100, "bytes": 10_000}, "100 records are no class"),
        ({"records": 10**8 + 1, "bytes": 10**10 + 100}, "100 000 001 records are no class"),
        ({"scope": Scope.BMC}, "not the wall"),
        ({"scope": Scope.UNKNOWN}, "scope unknown"),
        ({"scope": Scope.PACKAGE}, "not compared"),
        ({"records": None}, "number of records is not known"),
        ({"bytes": None}, "length of the records is not known"),
        ({"bytes": 2 * 10**10}, "not 100000000 records of 100"),
        ({"validated": False}, "validated"),
        ({"cold": False}, "page cache"),
        ({"runs_valid": 4}, "5 valid runs are needed, there are only 4"),
        ({"complete": False}, "not every planned run"),
        ({"simulated": True}, "SIMULATED"),
        ({"rehearsal": True}, "rehearsal"),
        ({"records_per_joule": None}, "no records per joule"),
    ],
)
def test_no_rank_where_a_rule_is_not_kept(changes: dict[str, Any], text: str) -> None:
    found = standing(claim(**changes))
    assert found.rank is None
    assert "number" not in found.text.replace("the number of records", "")
    assert any(text in reason for reason in found.reasons)
    assert text in found.text
    assert bool(found.entries) == ("records_per_joule" not in changes)


def test_joules_and_records_per_joule_of_the_table_agree() -> None:
    for r in TABLE:
        if r.kilojoules is not None:
            assert r.records / (r.kilojoules * 1000) == pytest.approx(r.records_per_joule, rel=0.01)
    assert class_name(10**9) == "10^9"
