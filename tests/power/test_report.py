"""Reports of a stored result."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest
from ecosort_power.errors import UsageError
from ecosort_power.live import Tally, Together, format_line
from ecosort_power.quality import Defect
from ecosort_power.reading import PowerKind, Reading
from ecosort_power.report import csv as report_csv
from ecosort_power.report import html, markdown, terminal
from ecosort_power.report import json as report_json
from ecosort_power.report.content import Result, gather
from ecosort_power.report.rules import BROKEN, rules
from ecosort_power.report.sections import run_row, sections
from ecosort_power.report.series import MAX_BINS, PowerLine, _thin, added
from ecosort_power.report.style import PALETTE
from ecosort_power.report.text import short
from ecosort_power.report.write import write_report
from ecosort_power.store import ResultDirectory
from ecosort_power.summary import limits_of_runs, number, summarize
from ecosort_power.validate import CheckReport
from rich.console import Console

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


def broken_rules(result: Result) -> list[str]:
    return [rule.text for rule in rules(result) if rule.verdict == BROKEN]


def test_a_rule_of_joulesort_that_one_run_breaks_is_not_kept(result: Path) -> None:
    sound = gather(ResultDirectory(result), None)
    assert broken_rules(sound) == []
    first, *others = sound.runs
    failed = replace(first, defects=[Defect("exit-code", "the command ended with exit code 3")])
    six = replace(sound.session, options=replace(sound.session.options, runs=6))
    assert broken_rules(replace(sound, session=six, runs=[*sound.runs, failed])) == ["5 runs or more, all valid"]
    assert broken_rules(replace(sound, runs=others)) == ["5 runs or more, all valid"]
    assert broken_rules(replace(sound, runs=[replace(first, cold=None), *others])) == ["no input in the page cache"]
    unchecked = replace(sound, runs=[replace(first, validation=None), *others])
    assert broken_rules(unchecked) == ["every output validated against its input"]


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


def changed(result: Path, target: Path, session: Callable[[dict[str, Any]], None], run: Callable[[dict[str, Any]], None]) -> Path:
    """A copy with other documents, sealed as if they had been measured so."""
    copy = Path(shutil.copytree(result, target))
    for path, change in [(copy / "session.json", session), *((p, run) for p in copy.glob("runs/*/run.json"))]:
        document = json.loads(path.read_text())
        change(document)
        path.write_text(json.dumps(document))
        reseal(copy, path.relative_to(copy).as_posix())
    return copy


def keep(document: dict[str, Any]) -> None:
    """No change."""


def meter(spec: str, scope: str) -> Callable[[dict[str, Any]], None]:
    def change(session: dict[str, Any]) -> None:
        session["meters"][0].update(spec=spec)
        session["meters"][0]["capabilities"].update(scope=scope)

    return change


@pytest.mark.parametrize("form", ["terminal", "markdown", "html"])
def test_a_report_on_a_terminal_of_another_encoding(cli: Cli, result: Path, form: str) -> None:
    done = cli("report", result, "--format", form, env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "records per joule" in done.stdout


@pytest.mark.parametrize(
    ("path", "text"), [("/dev/zero", "no regular file"), ("/dev", "no regular file"), ("no", "No such file")]
)
def test_facts_that_cannot_be_read_are_said(cli: Cli, result: Path, path: str, text: str) -> None:
    done = cli("report", result, "--facts", path)
    assert (done.returncode, text in done.stderr, done.stderr.count("\n")) == (2, True, 1), done.stderr


UNRANKED: dict[str, tuple[str, Callable[[dict[str, Any]], None], Callable[[dict[str, Any]], None]]] = {
    "100 records": (
        "no class of the benchmark",
        lambda s: s.update(records=100, input_bytes=10_000),
        lambda r: r.update(records=100),
    ),
    "unvalidated": ("not every output was validated", keep, lambda r: r.update(validation=None)),
    "other content": ("not every output was validated", keep, lambda r: r["validation"].update(content_compared=False)),
    "warm": ("page cache was not emptied", lambda s: s["options"].update(cold=False), keep),
    "not really cold": ("page cache was not emptied", keep, lambda r: r["cold"].update(cached_share=0.5)),
    "a made-up 30 W": ("scope unknown", meter("exec:./thirty", "unknown"), keep),
    "a BMC": ("not the wall", meter("ipmi:local", "bmc"), keep),
    "six planned": ("not every planned run", lambda s: s["options"].update(runs=6), keep),
    "longer records": ("not 100000000 records of 100", lambda s: s.update(input_bytes=2 * 10**10), keep),
    "a rehearsal": ("rehearsal", lambda s: s["options"].update(rehearsal=True), keep),
}


def forms(result: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Returns what people read, each on one line."""
    found = gather(ResultDirectory(result), None)
    terminal.show(found)
    return [" ".join(text.split()) for text in (capsys.readouterr().out, markdown.render(found), html.render(found))]


@pytest.mark.parametrize("name", UNRANKED)
def test_the_table_stands_without_a_result_that_breaks_a_rule(
    result: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # figures take time and have no place
    reason, session, run = UNRANKED[name]
    copy = changed(result, tmp_path / "r", session, run)
    for text in forms(copy, capsys):
        assert "no place in the table" in text.lower()
        assert reason in text
        assert "would be number" not in text.lower()
        assert "THIS RESULT" not in text
        assert "FAWNSort" in text
    found = gather(ResultDirectory(copy), None)
    assert json.loads(report_json.render(found))["rank"] is None


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("exec:./meter#scope=wall", "that wall measures at the wall is the user's word"),
        ("exec:./meter", "is the word of the user's program or log"),
        ("ipmi://u@host#scope=wall", "that wall measures at the wall is the user's word"),
    ],
)
def test_a_place_that_rests_on_the_users_word_says_so(result: Path, tmp_path: Path, spec: str, words: str) -> None:
    text = markdown.render(gather(ResultDirectory(changed(result, tmp_path / "r", meter(spec, "wall"), keep)), None))
    assert "number 1 of 5" in text
    assert words in text


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


def test_the_figures_have_only_colours_of_the_palette(page: Path) -> None:
    """Hues come from the palette; what else there is are greys and the tinted ink of letters and lines."""
    figures = "".join(re.findall(r"<svg.*?</svg>", page.read_text(), re.DOTALL))
    hues = {c.upper() for c in re.findall(r"#[0-9a-fA-F]{6}", figures)} - {c.upper() for c in PALETTE}
    assert {c for c in hues if max(_rgb(c)) - min(_rgb(c)) > 40} == set()


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def test_figures_for_a_paper(cli: Cli, result: Path, tmp_path: Path) -> None:
    done = cli("report", result, "--format", "figures", "-o", "figures")
    assert done.returncode == 0, done.stderr
    names = {"power", "phases", "runs"}
    assert {p.name for p in (tmp_path / "figures").iterdir()} == {
        *(f"{n}.{kind}" for n in names for kind in ("svg", "pdf")),
        "captions.md",
        "figures.tex",
    }
    for name in names:
        svg = (tmp_path / f"figures/{name}.svg").read_text()
        assert "<text" not in svg  # letters are drawn: the same everywhere, whatever fonts there are
        pdf = (tmp_path / f"figures/{name}.pdf").read_bytes()
        assert pdf.startswith(b"%PDF-")
        assert b"/FontFile2" in pdf
        assert f"{{{name}.pdf}}" in (tmp_path / "figures/figures.tex").read_text()
    assert "Dashed: start and end of the energy window" in (tmp_path / "figures/captions.md").read_text()
    again = {p.name: p.read_bytes() for p in (tmp_path / "figures").iterdir()}
    cli("report", result, "--format", "figures", "-o", "figures")
    assert {p.name: p.read_bytes() for p in (tmp_path / "figures").iterdir()} == again
    assert cli("report", result, "--format", "figures").returncode == 2


def test_without_matplotlib_the_page_says_so_and_stands(result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = html.render(gather(ResultDirectory(result), None))
    assert "No figures: matplotlib is not installed here" in page
    assert "<svg" not in page
    assert "records per joule" in page
    with pytest.raises(UsageError, match="pip install matplotlib"):
        write_report(result, "figures", None, False, tmp_path / "f")


def test_the_page_and_the_submission_say_the_same(result: Path) -> None:
    """Every field that the rules ask for is in both, with its value or as MISSING."""
    found = gather(ResultDirectory(result), None)
    page, text = html.render(found), markdown.render(found)
    fields = {f.name for s in sections(found) for f in s.facts}
    assert {
        *("algorithm", "complete hardware", "operating system", "file system", "compiler and flags", "tuning", "commit"),
        *("category", "generator", "command", "run 5, exact command", "power factor", "ambient temperature", "meter model"),
        *("meter accuracy as stated by its maker", "digest (SHA-256)", "connected to the meter"),
    } <= fields
    for section in sections(found):
        assert f"## {section.title}" in text
        assert f"<h2>{escape(section.title)}</h2>" in page
        for fact in section.facts:
            assert f"- {fact.name}: " in text
            assert f"<td>{escape(fact.name)}</td>" in page
    assert text.count("2026-09-21") + text.count("2026-09-20") >= 5  # when each run was started
    assert "| output of run 5 | in order | 100000000 | 2faf0ab746e89a8 | 0 |" in text


def test_the_power_factor_is_the_persons_else_the_meters_else_missing(result: Path, tmp_path: Path) -> None:
    def shown(copy: Path) -> str:
        match = re.search(r"^- power factor: (.*)$", markdown.render(gather(ResultDirectory(copy), None)), re.MULTILINE)
        assert match is not None
        return match[1]

    def told(session: dict[str, Any]) -> None:
        session["meters"][0]["capabilities"]["identity"]["power_factor"] = "0.91"

    assert shown(result) == "MISSING"
    copy = changed(result, tmp_path / "r", told, keep)
    assert shown(copy) == "0.91 (by the meter, before the runs)"
    (copy / "submission.toml").write_text("power_factor = 0.93\n")
    assert shown(copy) == "0.93"


@pytest.mark.parametrize(("factor", "told"), [(1.0, False), (3.0, True)])
def test_an_interval_that_includes_zero_is_told_in_every_form(tmp_path: Path, factor: float, told: bool) -> None:
    """Two runs that differ by more than a tenth or so say nothing of their mean: t of one degree of freedom is 12.7."""
    result = gather(ResultDirectory(write_result(tmp_path / "r", runs=2)), None)
    first, second = result.runs
    runs = [first, replace(second, energy=[larger(e, factor) for e in second.energy or []])]
    result = replace(result, runs=runs, summary=summarize(result.session, runs))
    console = Console(width=250, no_color=True)
    with console.capture() as captured:
        console.print(terminal.render(result))
    for text in (captured.get(), markdown.render(result), html.render(result)):
        assert ("includes zero" in text) is told
        assert ("runs reaches to zero or below" in text) is told
    assert any(d.code == "wide-interval" for d in result.summary.defects) is told


def test_a_cell_cannot_leave_its_table(result: Path) -> None:
    found = gather(ResultDirectory(result), None)
    session = replace(found.session, options=replace(found.session.options, command=["a|b\n<script>alert(1)</script>"]))
    found = replace(found, session=session, facts={"hardware": "one\n## two | <img src=x>"})
    page, text = html.render(found), markdown.render(found)
    assert "<script" not in page
    assert "<img" not in page
    assert "\n## two" not in text


def simulated(result: Path) -> Result:
    """The same result, had its meter been a simulated one."""
    found = gather(ResultDirectory(result), None)
    meters = [replace(m, capabilities=replace(m.capabilities, simulated=True)) for m in found.session.meters]
    session = replace(found.session, meters=meters)
    return replace(found, session=session, summary=summarize(session, found.runs))


def test_a_simulated_meter_is_named_in_every_form_and_has_no_rank(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = simulated(result)
    terminal.show(found)
    assert "SIMULATED" in capsys.readouterr().out.splitlines()[1]
    page, text = html.render(found), markdown.render(found)
    assert "<title>SIMULATED" in page
    assert page.count("SIMULATED") > 6  # the banner, the figures with their titles and captions, the rules
    assert text.splitlines()[2].startswith("**SIMULATED")
    document = json.loads(report_json.render(found))
    assert document["simulated"]
    assert document["rank"] is None
    assert "number 1 of" not in page + text
    assert "this result" not in page.lower().replace("this result says", "")
    assert all(
        row["simulated"] == "True" for row in csv.DictReader(io.StringIO(report_csv.render(found.session, list(found.runs))))
    )


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


def test_a_run_of_a_meter_with_its_own_clock_is_known_no_better_than_the_runs_agree(tmp_path: Path) -> None:
    """A disturbance that repeats with the clock makes single runs wrong; every run says so, and one run alone has no limits."""
    directory = ResultDirectory(write_result(tmp_path / "r"))
    session, runs = directory.session(), directory.runs()
    own = replace(session.meters[0].capabilities, power=PowerKind.INSTANT, window_s=0.0, update_s=1.0)
    clocked = replace(session, meters=[replace(session.meters[0], capabilities=own)])
    plain, wide = limits_of_runs(session, runs, "wall"), limits_of_runs(clocked, runs, "wall")
    joules = [e.joules for r in runs if (e := r.energy_of("wall")) is not None and e.joules is not None]
    assert list(wide) == [r.index for r in runs]
    for index, limit in wide.items():
        assert limit == pytest.approx(plain[index] + 2.776 * stdev(joules))
    assert limits_of_runs(clocked, runs[:1], "wall") == {}
    rows = list(csv.DictReader(io.StringIO(report_csv.render(clocked, runs))))
    assert [float(row["uncertainty_j"]) for row in rows] == pytest.approx(list(wide.values()))
    shown = replace(gather(directory, None), session=clocked)
    assert {run_row(shown, r)[4] for r in runs} == {f"±{short(limit)}" for limit in wide.values()}
    assert json.loads(report_json.render(shown))["limits_j_of_runs"]["1"] == pytest.approx(wide[1])


def test_the_duplicates_of_an_unsorted_input_are_those_of_the_output(tmp_path: Path) -> None:
    directory = ResultDirectory(write_result(tmp_path / "r"))
    found = gather(directory, None)
    report = CheckReport(1, 10**8, "2faf0ab746e89a8", None, False, "")
    read = replace(found, session=replace(found.session, input_report=report))
    for shown in (found, read):
        (validation,) = [s for s in sections(shown) if s.title == "Validation"]
        assert validation.tables[0].rows[0][-1] == "see output"
        assert validation.tables[0].rows[1][-1] == "0"
        assert "Duplicate keys are counted in the output" in validation.texts[-1]
    in_order = replace(found, session=replace(found.session, input_report=replace(report, duplicates=3, in_order=True)))
    (validation,) = [s for s in sections(in_order) if s.title == "Validation"]
    assert validation.tables[0].rows[0][1:] == ["in order", "100000000", "2faf0ab746e89a8", "3"]
