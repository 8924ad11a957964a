"""The result as one HTML page that needs nothing else: no script, no font, no image from anywhere.

Jinja2 escapes all that is put into the page; the SVG of our own figures is the one exception.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from ecosort_power.command import quoted
from ecosort_power.report import plots, style
from ecosort_power.report.content import Result
from ecosort_power.report.figures import figures
from ecosort_power.report.sections import headline_words, sections
from ecosort_power.report.text import plus_minus, short
from ecosort_power.summary import MeterSummary, Summary, number


@dataclass(frozen=True, slots=True)
class Card:
    name: str
    value: str
    detail: str = ""


@cache
def _template() -> Template:
    environment = Environment(loader=PackageLoader("ecosort_power.report"), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("page.html.j2")


def render(result: Result) -> str:
    summary, facts = result.summary, result.facts
    big, unit = _headline(summary)
    shown, note = _figures(result)
    title = facts.get("title") or summary.title
    return _template().render(
        style=style,
        title=f"SIMULATED: {title}" if result.simulated else title,
        simulated=result.simulated,
        name=facts.get("title", ""),
        big=big,
        unit=unit,
        reason=summary.energy_reason or "",
        badges=list(_badges(summary)),
        warnings=headline_words(result),
        command=quoted(result.session.options.command),
        where=f"{result.session.host.get('processor', 'unknown processor')}, {result.session.created[:16].replace('T', ' ')}",
        cards=list(_cards(summary)),
        figures=shown,
        figure_note=note,
        sections=sections(result),
    )


def _headline(summary: Summary) -> tuple[str, str]:
    energy = summary.energy
    if energy is None:
        return "", ""
    if energy.records_per_joule is None:
        return number(energy.joules.mean), " joules"
    spread = f" ± {short(energy.records_per_joule.sd)}" if energy.records_per_joule.sd is not None else ""
    return number(energy.records_per_joule.mean), f"{spread} records per joule"


def _badges(summary: Summary) -> Iterator[tuple[str, str]]:
    if summary.energy is not None:
        yield summary.energy.scope.headline, "scope" if summary.energy.scope.whole_system else "bad"
    yield ("validated", "good") if summary.validated else ("NOT VALIDATED", "bad")
    yield f"{summary.runs_valid} of {summary.runs_planned} runs valid", "good" if summary.ok else "bad"


def _cards(summary: Summary) -> Iterator[Card]:
    energy = summary.energy
    if energy is not None:
        yield Card("energy", plus_minus(energy.joules, "J"), "mean ± sample standard deviation")
        yield Card("instrument", _limits(energy), "limits of error of the energy")
        yield Card("power", plus_minus(energy.watts, "W"), "mean over the window")
        if energy.idle_w is not None:
            above = f"{number(energy.above_idle_j)} J above idle" if energy.above_idle_j is not None else ""
            yield Card("idle power", f"{number(energy.idle_w)} W", above)
    cost = f"measuring itself: {summary.harness_cpu_s:.2f} CPU s" if summary.harness_cpu_s is not None else ""
    yield Card("time", plus_minus(summary.seconds, "s"), "process start to sync")
    yield Card("processor time", plus_minus(summary.cpu_s, "s"), cost)
    if summary.records is not None:
        yield Card("records", f"{summary.records:,}".replace(",", " "), "per run")


def _limits(energy: MeterSummary) -> str:
    if energy.uncertainty_j is None:
        return "unknown"
    return f"±{short(energy.uncertainty_j)} J ({energy.uncertainty_j / energy.joules.mean:.1%})"


def _figures(result: Result) -> tuple[list[dict[str, Any]], str]:
    """The figures as markup, or why there are none."""
    found = figures(result)
    if found and not plots.can_draw():
        return [], plots.WITHOUT[0].upper() + plots.WITHOUT[1:] + "."
    shown = []
    for figure in found:
        wide, narrow = (Markup(svg) for svg in plots.both(figure))
        shown.append({"name": figure.name, "title": figure.title, "caption": figure.caption, "wide": wide, "narrow": narrow})
    return shown, ""
