"""The page of a report in a real browser: on phones and on wide screens."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from ecosort_power.report import html
from ecosort_power.report.content import gather
from ecosort_power.store import ResultDirectory
from ecosort_power.summary import summarize

from .peers.browser import Browser
from .stored import larger, reseal, write_result
from .support import Cli


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_result(tmp_path_factory.mktemp("stored") / "r")


@pytest.fixture(scope="module")
def page(result: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    (path.parent / "facts.toml").write_text('title = "Box <1>"\n')
    path.write_text(html.render(gather(ResultDirectory(result), path.parent / "facts.toml")), encoding="utf-8")
    return path


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


# Words of a figure that overlap each other or leave it.
CLASHES = """(() => { const found = [];
  for (const svg of document.querySelectorAll('figure svg')) {
    const frame = svg.getBoundingClientRect();
    const words = [...svg.querySelectorAll('text')].filter(e => !e.closest('[id$=simulated]'))
      .map(e => [e.textContent.trim(), e.getBoundingClientRect()]).filter(([t, b]) => t && b.width > 0);
    for (const [i, [text, b]] of words.entries()) {
      if (b.left < frame.left - 1 || b.right > frame.right + 1 || b.top < frame.top - 1 || b.bottom > frame.bottom + 1)
        found.push(['outside', text]);
      for (const [other, c] of words.slice(i + 1))
        if (b.left < c.right - 0.5 && c.left < b.right - 0.5 && b.top < c.bottom - 0.5 && c.top < b.bottom - 0.5)
          found.push([text, other]);
    } }
  return found; })()"""


@pytest.mark.parametrize(("runs", "factor", "spread"), [(1, 1.0, 0.0), (20, 1.0, 0.0), (5, 1234.0, 0.4)])
def test_no_words_of_a_figure_overlap(browser: Browser, tmp_path: Path, runs: int, factor: float, spread: float) -> None:
    """Also with many runs, with energies of seven digits, and with runs that differ much. The mean is beside its bar."""
    result = gather(ResultDirectory(write_result(tmp_path / "r", runs=runs)), None)
    many = [replace(r, energy=[larger(e, factor * (1 + i * spread)) for e in r.energy or []]) for i, r in enumerate(result.runs)]
    result = replace(result, runs=many, summary=summarize(result.session, many))
    (tmp_path / "page.html").write_text(html.render(result), encoding="utf-8")
    for width, mobile in ((400, True), (320, True), (1280, False)):
        browser.open((tmp_path / "page.html").as_uri(), width, 844, mobile)
        assert browser.evaluate(CLASHES) == []
        beside = browser.evaluate(BESIDE)
        assert len(beside) == 3
        assert all(1 < gap < 14 for gap in beside), beside
        assert browser.evaluate(ON_DOTS) == []


# From the end of each visible bar of the phases to the number beside it: the bars are the three filled paths of the axes.
BESIDE = """(() => {
  const svg = [...document.querySelectorAll('#phases svg')].find(s => s.getBoundingClientRect().width > 0);
  const bars = [...svg.querySelectorAll('[id*=patch_] path')].map(p => p.getBoundingClientRect()).filter(b => b.height > 12)
    .filter(b => b.height < 0.3 * svg.getBoundingClientRect().height);
  const words = [...svg.querySelectorAll('text')].filter(t => / J$/.test(t.textContent)).map(t => t.getBoundingClientRect());
  return bars.map(b => { const y = (b.top + b.bottom) / 2;
    const beside = words.find(w => w.top < y && y < w.bottom); return beside ? beside.left - b.right : -1; });
})()"""


# Numbers of the phases that cover the dot of a run.
ON_DOTS = """(() => {
  const svg = [...document.querySelectorAll('#phases svg')].find(s => s.getBoundingClientRect().width > 0);
  const words = [...svg.querySelectorAll('text')].filter(t => / J$/.test(t.textContent)).map(t => t.getBoundingClientRect());
  const dots = [...svg.querySelectorAll('g[clip-path] use')].map(d => d.getBoundingClientRect()).filter(d => d.width < 12);
  if (!dots.length) return ['no dots'];
  return words.filter(w => dots.some(d => d.left < w.right && w.left < d.right && d.top < w.bottom - 2 && w.top + 2 < d.bottom))
    .map(w => [w.left, w.top]); })()"""


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


# Finds what is cut off: boxes that are wider inside than outside, and cells that end outside the window.
CUT = """[...document.querySelectorAll('.scroll, td, .card, header')]
  .filter(e => e.getBoundingClientRect().width > 0)
  .filter(e => e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > innerWidth)
  .map(e => [e.tagName, e.textContent.slice(0, 30)])"""
# The cells of the first table, each with the name in front of it.
NAMED = """[...document.querySelector('table.numbers tbody tr').cells].map(td => getComputedStyle(td, '::before').content)"""


@pytest.mark.parametrize(("width", "mobile"), [(320, True), (400, True), (640, True), (768, True), (1280, False)])
def test_no_table_is_cut_off(browser: Browser, page: Path, width: int, mobile: bool) -> None:
    browser.open(page.as_uri(), width, 844, mobile)
    assert browser.evaluate(CUT) == []
    named = browser.evaluate(NAMED)
    assert (named[:3] == ['"run"', '"started"', '"seconds"']) is (width <= 860), named
    text = browser.evaluate("document.body.innerText")
    assert "null" not in text


def test_the_page_without_energy_says_why(browser: Browser, cli: Cli, tmp_path: Path) -> None:
    copy = write_result(tmp_path / "r", runs=1)
    session = json.loads((copy / "session.json").read_text())
    session.update(meters=[], headline=None, energy_reason="no meter was given (--time-only)")
    (copy / "session.json").write_text(json.dumps(session))
    run = json.loads((copy / "runs/01/run.json").read_text())
    run.update(energy=None, energy_reason="no meter was given (--time-only)")
    (copy / "runs/01/run.json").write_text(json.dumps(run))
    reseal(copy, "session.json", "runs/01/run.json")
    done = cli("report", "r", "--format", "html", "-o", "page.html")
    assert done.returncode == 0, done.stderr
    browser.open((tmp_path / "page.html").as_uri(), 390, 844, True)
    assert browser.complaints() == []
    text = browser.evaluate("document.body.innerText")
    assert "No energy" in text
    assert "no meter was given" in text
