"""The simulator against published sorts, and its documentation against itself."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from conftest import ROOT
from ecosort.cluster.planner import plan_shape
from ecosort.cluster.rates import Rates, rates_from_text
from ecosort.cluster.simulator import predict
from ecosort_bench.cluster_predictions import chart_svg, markdown
from ecosort_bench.published_sorts import published

from ecosort import BadInput

# Its paper names the drives, and no rate that was measured of them.
WITHOUT_RATES = "FDS MinuteSort Indy, 1470 GB, by its drives"


def test_published_sorts_come_out_within_a_quarter() -> None:
    differences = {one.name: one.predicted().seconds / one.seconds - 1 for one in published()}
    assert differences.pop(WITHOUT_RATES) < -0.25
    assert {name: difference for name, difference in differences.items() if abs(difference) > 0.25} == {}


def test_the_committed_predictions_are_those_of_the_simulator() -> None:
    assert (ROOT / "docs" / "cluster-predictions.md").read_text() == markdown(), "run: make cluster-tables"
    assert (ROOT / "docs" / "charts" / "cluster.svg").read_text() == chart_svg(), "run: make cluster-tables"
    ElementTree.fromstring(chart_svg())


def test_the_slowest_resource_decides() -> None:
    shape = plan_shape(10**12, nodes=10, workers_per_node=4, memory_bytes=1 << 32)
    rates = Rates(input_read=1000, temp_write=500, temp_read=1000, output_write=250, network=10_000)
    partition, reduce = predict(shape, rates).stages
    assert (partition.limit, partition.seconds) == ("writing", pytest.approx(10**5 / 500, rel=0.01))
    assert (reduce.limit, reduce.seconds) == ("writing", pytest.approx(10**5 / 250, rel=0.01))
    assert predict(shape, replace(rates, network=100)).stages[1].limit == "network"
    assert predict(shape, replace(rates, one_drive=True)).stages[0].seconds == pytest.approx(300, rel=0.01)


def test_tasks_that_differ_take_longer_than_equal_ones() -> None:
    shape = plan_shape(10**12, nodes=10, workers_per_node=4, memory_bytes=1 << 32)
    rates = Rates(input_read=1000, output_write=1000)
    assert predict(shape, replace(rates, spread=0.3)).seconds > predict(shape, rates).seconds * 1.02


def test_rates_are_told_in_megabytes_per_second() -> None:
    assert rates_from_text("read=500,network=1250.5") == Rates(input_read=500, network=1250.5, one_drive=True)
    with pytest.raises(BadInput, match="'speed=3' is none of read=MB/s"):
        rates_from_text("speed=3")
