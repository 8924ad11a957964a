"""Phases of several runs and of several meters add up, also where some of them have no number."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ecosort_power.combine import add_up
from ecosort_power.evaluate import MeterEnergy
from ecosort_power.report.content import gather
from ecosort_power.report.figures import figures
from ecosort_power.report.series import phase_joules, phase_names, split_alike
from ecosort_power.split import REST, PhaseEnergy, alike
from ecosort_power.store import ResultDirectory, Run
from ecosort_power.summary import summarize

from .stored import write_result

TOO_SHORT = "n/a (phase too short for this meter)"
KNOWN = [PhaseEnergy("run_formation", 6.0, 370.0, 12, None), PhaseEnergy("merge", 1.0, None, 2, TOO_SHORT)]
LONG = [*KNOWN, PhaseEnergy(REST, 2.0, 130.0, 0, "includes merge")]  # 500 J
SHORT = [
    replace(KNOWN[0], seconds=4.0, joules=None, samples=9, note=TOO_SHORT),
    KNOWN[1],
    PhaseEnergy(REST, 6.0, 400.0, 0, "includes run formation, merge"),
]


def test_a_phase_without_a_number_in_one_run_belongs_to_the_rest_in_all() -> None:
    first, second = alike([LONG, SHORT])
    assert [p.joules for p in first] == [None, None, 500.0]
    assert first[-1].seconds == 8.0
    assert first[-1].note == "includes run formation, merge"
    assert first[0].note == "n/a (without a number in 1 of 2 runs)"
    assert first[1].note == TOO_SHORT
    assert second[-1] == SHORT[-1]
    assert alike([LONG, LONG]) == [LONG, LONG]
    assert alike([[], []]) == [[], []]


def _meter(phases: list[PhaseEnergy]) -> MeterEnergy:
    joules = sum(p.joules or 0.0 for p in phases)
    return MeterEnergy(meter="m", joules=joules, seconds=10.0, source="power", samples=20, phases=phases)


def test_the_phases_of_added_meters_add_up_to_their_sum() -> None:
    both = add_up([_meter(LONG), _meter(SHORT)], "a+b")
    assert sum(p.joules or 0.0 for p in both.phases) == both.joules == 900.0
    assert both.phases[0].note == "n/a (without a number in 1 of 2 meters)"


@pytest.fixture
def mixed(tmp_path: Path) -> tuple[ResultDirectory, list[Run]]:
    """Runs of which the second has no number for its first phase."""
    directory = ResultDirectory(write_result(tmp_path / "r"))
    runs = directory.runs()
    energy = runs[1].energy_of("wall")
    assert energy is not None
    first, *others = energy.phases
    assert first.joules is not None
    grown = [replace(p, joules=(p.joules or 0.0) + first.joules) if p.name == REST else p for p in others]
    runs[1] = replace(runs[1], energy=[replace(energy, phases=[replace(first, joules=None, note=TOO_SHORT), *grown])])
    return directory, runs


def test_the_means_of_the_phases_add_up_to_the_mean_of_the_runs(mixed: tuple[ResultDirectory, list[Run]]) -> None:
    directory, runs = mixed
    energy = summarize(directory.session(), runs).energy
    assert energy is not None
    assert sum(p.joules.mean for p in energy.phases if p.joules is not None) == pytest.approx(energy.joules.mean)


def test_the_figure_of_the_phases_shows_what_the_table_says(mixed: tuple[ResultDirectory, list[Run]]) -> None:
    directory, runs = mixed
    shown = split_alike(runs, "wall")
    names = phase_names(shown, "wall")
    first = directory.runs()[0].energy_of("wall")
    assert first is not None
    assert first.phases[0].name not in names
    for run, drawn in zip(runs, shown, strict=True):
        energy = run.energy_of("wall")
        assert energy is not None
        assert sum(phase_joules(drawn, "wall", n) or 0.0 for n in names) == pytest.approx(energy.joules)
    result = replace(gather(directory, None), runs=runs, summary=summarize(directory.session(), runs))
    assert [f.name for f in figures(result)] == ["power", "phases", "runs"]
