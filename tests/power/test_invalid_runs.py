"""A run that is not valid has no figure anywhere: not in its file, the summary, a report, a line of the terminal."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from ecosort_power.assemble import attach_energy
from ecosort_power.check import check
from ecosort_power.codec import write_json
from ecosort_power.errors import UsageError
from ecosort_power.evaluate import WITH_FIGURES, withheld
from ecosort_power.live import Tally, Together, format_line
from ecosort_power.quality import Defect
from ecosort_power.reading import Flag, Reading
from ecosort_power.report import csv, html, markdown, terminal
from ecosort_power.report import json as report_json
from ecosort_power.report.content import gather
from ecosort_power.session import describe_run
from ecosort_power.store import ResultDirectory, Run
from ecosort_power.summary import summarize
from rich.console import Console

from .stored import reseal, write_result


@pytest.fixture
def spoiled(tmp_path: Path) -> tuple[ResultDirectory, list[str]]:
    """Five runs, of which the third did not sort; and its figures, as a valid run would have had them."""
    directory = ResultDirectory(write_result(tmp_path / "r"))
    session, run = directory.session(), directory.runs()[2]
    energy = run.energy_of("wall")
    assert energy is not None
    assert energy.joules is not None
    figures = [repr(j)[:9] for j in (energy.joules, *(p.joules for p in energy.phases)) if j is not None]
    figures.append(f"{energy.joules:.1f}")
    bad = replace(run, defects=[Defect("validation", "the output is not sorted")])
    write_json(directory.run_path(3) / "run.json", attach_energy(session, bad, {"wall": directory.readings(3, "wall")}))
    write_json(directory.summary_path, summarize(session, directory.runs()))
    reseal(directory.path, "runs/03/run.json", "summary.json")
    return directory, figures


def third(directory: ResultDirectory) -> Run:
    return directory.runs()[2]


def test_its_file_has_the_reason_and_no_figure(spoiled: tuple[ResultDirectory, list[str]]) -> None:
    directory, _ = spoiled
    energy = third(directory).energy_of("wall")
    assert energy is not None
    assert (energy.joules, energy.uncertainty, energy.phases, energy.peak_w, energy.idle_before_w) == (None, None, [], None, None)
    assert energy.samples > 100


def test_no_report_shows_one(spoiled: tuple[ResultDirectory, list[str]]) -> None:
    directory, figures = spoiled
    session, runs = directory.session(), directory.runs()
    gathered = gather(directory, None)
    console = Console(width=200, no_color=True)
    with console.capture() as captured:
        console.print(terminal.render(gathered))
    texts = {
        "terminal": captured.get(),
        "csv": csv.render(session, runs),
        "json": report_json.render(gathered),
        "markdown": markdown.render(gathered),
        "html": re.sub(r"<svg.*?</svg>", "", html.render(gathered), flags=re.DOTALL),
        "line": describe_run(third(directory), session, "run 3/5"),
    }
    for name, text in texts.items():
        assert [f for f in figures if f in text.replace("\u202f", "").replace(" ", "")] == [], name
    assert "INVALID: the output is not sorted" in texts["line"]


def test_a_row_of_csv_is_empty_where_there_is_no_figure(spoiled: tuple[ResultDirectory, list[str]]) -> None:
    directory, _ = spoiled
    rows = csv.render(directory.session(), directory.runs()).splitlines()
    names, row = rows[0].split(","), rows[3].split(",")
    found = dict(zip(names, row, strict=True))
    assert found["valid"] == "False"
    assert {found[n] for n in names if "joule" in n or n in ("watts", "idle_before_w", "idle_after_w")} == {""}


def test_the_summary_is_of_the_other_runs(spoiled: tuple[ResultDirectory, list[str]]) -> None:
    directory, _ = spoiled
    runs = directory.runs()
    energy = summarize(directory.session(), runs).energy
    assert energy is not None
    joules = [e.joules for r in runs if r.valid and (e := r.energy_of("wall")) is not None and e.joules is not None]
    assert energy.records_per_joule is not None
    assert energy.records_per_joule.mean == pytest.approx(4e8 / sum(joules))
    assert energy.records_per_joule_runs == pytest.approx([1e8 / j for j in joules])
    assert energy.records_per_joule_instrument is not None


def test_check_agrees_that_there_is_none(spoiled: tuple[ResultDirectory, list[str]]) -> None:
    directory, _ = spoiled
    assert {d.code for d in check(directory) if d.meter == "wall"} == set()


def test_a_figure_that_was_put_there_is_found(spoiled: tuple[ResultDirectory, list[str]]) -> None:
    directory, _ = spoiled
    path = directory.run_path(3) / "run.json"
    document = json.loads(path.read_text())
    document["energy"][0]["joules"] = 700.0
    path.write_text(json.dumps(document))
    assert "energy-differs" in {d.code for d in check(directory)}


def test_the_headline_says_how_many_runs_are_valid_in_every_form(spoiled: tuple[ResultDirectory, list[str]]) -> None:
    directory, _ = spoiled
    result = gather(directory, None)
    assert result.summary.title.endswith("(at the wall), 4 of 5 runs valid")
    console = Console(width=200, no_color=True)
    with console.capture() as captured:
        console.print(terminal.render(result))
    for text in (
        captured.get().split("\n")[1],
        markdown.render(result).split("## ")[0],
        html.render(result).split("<section")[0],
    ):
        assert "4 of 5 runs valid" in text
    whole = summarize(result.session, [r for r in result.runs if r.valid] + [replace(third(directory), defects=[], energy=[])])
    assert "runs valid" not in whole.title


@pytest.mark.parametrize("code", sorted(WITH_FIGURES))
def test_a_note_with_watts_does_not_outlive_an_invalid_run(spoiled: tuple[ResultDirectory, list[str]], code: str) -> None:
    directory, _ = spoiled
    energy = directory.runs()[0].energy_of("wall")
    assert energy is not None
    noted = replace(energy, defects=[Defect(code, "3.1 W before the run", False), Defect("gap", "a gap", False)])
    assert [d.code for d in withheld(noted).defects] == ["gap"]


def test_no_page_says_null_of_an_invalid_run(spoiled: tuple[ResultDirectory, list[str]]) -> None:
    directory, _ = spoiled
    result = gather(directory, None)
    for text in (html.render(result), markdown.render(result)):
        assert "null" not in text


class Told:
    def __init__(self, readings: list[Reading]) -> None:
        self.readings = readings

    def since(self, count: int) -> list[Reading]:
        return self.readings[count:]


def test_the_live_line_shows_no_joules_of_a_saturated_meter() -> None:
    good = [Reading(t, t, watts=20.0) for t in (1.0, 2.0)]
    tally = Tally(Told([*good, Reading(3.0, 3.0, watts=99.0, flags=(Flag.SATURATED,))]), 0.0)
    tally.update()
    for shown in (tally, Together([tally])):
        shown.update()
        line = format_line("run 1/5", None, 3.0, shown)
        assert "INVALID" in line
        assert " J" not in line
    fine = Tally(Told(good), 0.0)
    fine.update()
    assert "20 J" in format_line("run 1/5", None, 2.0, fine)


def test_a_result_of_an_earlier_version_is_refused_in_one_line(tmp_path: Path) -> None:
    directory = ResultDirectory(write_result(tmp_path / "r"))
    path = directory.run_path(1) / "run.json"
    path.write_text(path.read_text().replace("ecosort.power.run/5", "ecosort.power.run/4"))
    with pytest.raises(UsageError, match="other rules; measure again") as caught:
        directory.runs()
    assert "\n" not in str(caught.value)


def test_outputs_that_were_checked_are_not_called_unchecked_where_no_run_is_valid(tmp_path: Path) -> None:
    """Runs that are too short for the meter were sorted and checked nevertheless."""
    directory = ResultDirectory(write_result(tmp_path / "r"))
    session, runs = directory.session(), directory.runs()
    short = [replace(r, defects=[Defect("too-short", "the run is too short")]) for r in runs]
    assert summarize(session, short).validated
    assert not summarize(session, [*short[1:], replace(short[0], validation=None)]).validated
