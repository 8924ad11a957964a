"""Reports of a stored result; the HTML page is opened in a real browser."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ecosort_power.live import Tally, Together, format_line
from ecosort_power.reading import Reading
from ecosort_power.report import html
from ecosort_power.report.series import MAX_BINS, PowerLine, _thin, added
from ecosort_power.store import ResultDirectory
from ecosort_power.summary import number, summarize

from .peers.browser import Browser
from .stored import write_result
from .support import Cli


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_result(tmp_path_factory.mktemp("stored") / "r")


@pytest.fixture(scope="module")
def page(result: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = ResultDirectory(result)
    session, runs = directory.session(), directory.runs()
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html.render(directory, session, runs, summarize(session, runs), {"title": "Box <1>"}), encoding="utf-8")
    return path


def test_the_summary_of_five_runs(result: Path) -> None:
    directory = ResultDirectory(result)
    summary = summarize(directory.session(), directory.runs())
    assert summary.ok
    assert summary.validated
    assert summary.energy is not None
    assert summary.energy.records_per_joule is not None
    assert summary.energy.records_per_joule.n == 5
    expected = (8.3 * 52 + 6.5 * 50) * 1.0
    assert summary.energy.joules.mean == pytest.approx(expected, rel=0.01)
    assert summary.energy.uncertainty_j == pytest.approx(0.0005 * expected + 0.02 * 102, rel=0.4)
    assert "number 1 of 5" in (summary.standing or "")
    assert sum(p.joules.mean for p in summary.energy.phases if p.joules) == pytest.approx(summary.energy.joules.mean)


def test_every_form_agrees(cli: Cli, result: Path) -> None:
    document = json.loads(cli("report", result, "--format", "json").stdout)
    mean = document["energy"]
    rows = list(csv.DictReader(io.StringIO(cli("report", result, "--format", "csv").stdout)))
    assert sum(float(r["joules"]) for r in rows) / 5 == pytest.approx(mean)
    assert number(mean) in cli("report", result).stdout
    markdown = cli("report", result, "--format", "markdown").stdout
    assert number(mean) in markdown
    assert "n = 5, t = 2.776" in markdown


def test_the_page_is_self_contained_and_escapes_what_it_shows(page: Path) -> None:
    text = page.read_text()
    assert "<script" not in text
    assert not re.search(r'(?:src|href)="(?!#)', text.replace('xlink:href="#', ""))
    assert "LMG95 &lt;lab &amp; bench&gt;" in text
    assert "Box &lt;1&gt;" in text
    assert "&lt;angle&gt; &amp;" in text
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert len(text) < 400_000


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Browser]:
    require: Callable[[str], None] = request.getfixturevalue("require")
    require("chromium")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


PLOTS = """[...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect())
  .filter(b => b.width > 0).map(b => [b.width, b.height])"""
# The smallest letters of the visible plots, in CSS pixels.
LETTERS = """Math.min(...[...document.querySelectorAll('figure svg text')].map(t => t.getBoundingClientRect().height)
  .filter(h => h > 0))"""
WIDER = """[...document.querySelectorAll('body *')]
  .filter(e => !e.closest('svg,.scroll') && e.getBoundingClientRect().right > innerWidth + 1).length"""


@pytest.mark.parametrize(("width", "mobile"), [(1280, False), (390, True), (320, True)])
def test_the_page_in_a_browser(browser: Browser, page: Path, width: int, mobile: bool) -> None:
    browser.open(page.as_uri(), width, 844, mobile)
    assert browser.complaints() == []
    plots = browser.evaluate(PLOTS)
    assert len(plots) == 3
    assert all(0.6 * min(width, 1000) < w <= width and h > 150 for w, h in plots)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate(WIDER) == 0
    assert browser.evaluate(LETTERS) >= (9 if width >= 390 else 7)
    assert browser.evaluate("document.querySelectorAll('svg path').length") > 30
    text = browser.evaluate("document.body.innerText")
    for wanted in ("records per joule", "at the wall", "validated", "Power over time", "Energy per phase", "MISSING"):
        assert wanted in text


def test_the_page_without_energy_says_why(browser: Browser, cli: Cli, tmp_path: Path) -> None:
    copy = write_result(tmp_path / "r", runs=1)
    session = json.loads((copy / "session.json").read_text())
    session.update(meters=[], headline=None, energy_reason="no meter was given (--time-only)")
    (copy / "session.json").write_text(json.dumps(session))
    run = json.loads((copy / "runs/01/run.json").read_text())
    run.update(energy=None, energy_reason="no meter was given (--time-only)")
    (copy / "runs/01/run.json").write_text(json.dumps(run))
    done = cli("report", "r", "--format", "html", "-o", "page.html")
    assert done.returncode == 0, done.stderr
    browser.open((tmp_path / "page.html").as_uri(), 390, 844, True)
    assert browser.complaints() == []
    text = browser.evaluate("document.body.innerText")
    assert "No energy" in text
    assert "no meter was given" in text


def test_a_faster_result_compares_as_lower(cli: Cli, result: Path, tmp_path: Path) -> None:
    write_result(tmp_path / "fast", factor=0.9)
    done = cli("compare", result, "fast")
    assert done.returncode == 0, done.stderr
    joules = next(line for line in done.stdout.splitlines() if line.startswith("joules "))
    assert "lower" in joules
    found = json.loads(cli("compare", result, "fast", "--json").stdout)
    row = next(r for r in found["rows"] if r["name"] == "joules")
    assert row["low"] < row["ratio"] < row["high"] < 1
    assert row["ratio"] == pytest.approx(0.9, abs=0.01)


def test_a_long_series_is_thinned_without_losing_its_peaks() -> None:
    points = [(i / 10, 50.0 + (i == 54_321) * 900) for i in range(100_000)]
    shown = _thin(points)
    assert len(shown) <= 2 * MAX_BINS
    assert max(w for _, w in shown) == 950.0
    assert [t for t, _ in shown] == sorted(t for t, _ in shown)


def test_the_line_of_several_meters_is_their_sum() -> None:
    a = PowerLine(1, [0.0, 1.0, 2.0, 3.0], [10.0, 10.0, 20.0, 20.0])
    b = PowerLine(1, [0.5, 2.5], [5.0, 15.0])
    assert added([a]) == a
    assert added([a, b]) == PowerLine(1, [1.0, 2.0], [17.5, 32.5])


class Source:
    """Stands for a sampler: the readings so far."""

    def __init__(self) -> None:
        self.readings: list[Reading] = []

    def since(self, count: int) -> list[Reading]:
        return self.readings[count:]


def test_the_live_line_of_power_supplies_shows_their_sum() -> None:
    sources = [Source(), Source()]
    together = Together([Tally(s, 0.0) for s in sources])
    sources[0].readings = [Reading(t, t, watts=50.0) for t in (1.0, 2.0)]
    together.update()
    assert together.watts is None  # of the other one nothing is known yet
    sources[1].readings = [Reading(t, t, watts=30.0) for t in (1.0, 3.0)]
    together.update()
    assert (together.watts, together.joules) == (80.0, pytest.approx(50 + 60))


def test_the_live_line_shows_phase_watts_and_joules() -> None:
    source = Source()
    tally = Tally(source, 10.0)
    source.readings = [Reading(t, t, watts=50.0) for t in (9.0, 10.0, 11.0)]
    tally.update()
    source.readings += [Reading(12.0, 12.0, watts=70.0)]
    tally.update()
    assert tally.joules == pytest.approx(50 + 60)
    assert (
        format_line("run 2/5: measuring", "run_formation", 65, tally)
        == "run 2/5: measuring   run formation   1:05   70.0 W   110 J"
    )
