"""The figures of a result: what each shows, its title and caption, and how it is drawn on the axes of matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ecosort_power.claim import headline_meters
from ecosort_power.report.content import Result
from ecosort_power.report.labels import drop_overlapping, fit_right, keep_fitting, turn_if_crowded
from ecosort_power.report.series import (
    PowerLine,
    Shade,
    added,
    phase_joules,
    phase_names,
    power_line,
    shades,
    split_alike,
    typical,
)
from ecosort_power.report.style import FAINT, GREEN, INK, RUN_LINES, mark_simulated, phase_color
from ecosort_power.report.text import phase_name, runs_text
from ecosort_power.store import Run, valid_runs
from ecosort_power.summary import number

# Draws on axes; True: there is room for long words.
Draw = Callable[[Any, bool], None]
SMALL = 9  # points
BAR = 0.5  # height of the bar of a phase; one phase has 1
SEEN_SHARE = 0.005  # of the run: a shorter phase is no wider than a line


@dataclass(frozen=True, slots=True)
class Figure:
    name: str  # of its files
    title: str
    caption: str
    draw: Draw


def figures(result: Result) -> list[Figure]:
    """None without energy: there is nothing to show."""
    energy, good = result.energy, valid_runs(result.runs)
    if energy is None or not good:
        return []
    alike = split_alike(good, energy.meter)
    names = phase_names(alike, energy.meter)
    found = [_power(result, good)]
    if names:
        found.append(_phases(alike, energy.meter, names))
    found.append(_runs(alike, energy.meter, names, result.limits()))
    return [_simulated(f) for f in found] if result.simulated else found


def _simulated(figure: Figure) -> Figure:
    """A figure that cannot pass for a measurement, wherever it is copied to."""

    def draw(axes: Any, wide: bool) -> None:
        figure.draw(axes, wide)
        mark_simulated(axes, 30 if wide else 22)

    caption = f"SIMULATED: readings of a simulated meter. {figure.caption}"
    return Figure(figure.name, f"SIMULATED: {figure.title}", caption, draw)


def _power(result: Result, good: Sequence[Run]) -> Figure:
    energy = result.energy
    assert energy is not None
    meters = headline_meters(result.session, energy.meter)
    lines = [added([power_line(r, result.directory.readings(r.index, m.name), m.capabilities) for m in meters]) for r in good]
    middle = typical(good)
    caption = (
        f"Power over time of {runs_text(len(good))}, measured by {energy.meter} ({energy.scope.headline}). Dashed: start and end "
        f"of the energy window of run {middle.index}, whose phases are shaded."
    )
    if energy.idle_w is not None:
        caption += f" Dotted: idle power, {number(energy.idle_w)} W."

    def draw(axes: Any, wide: bool) -> None:
        _draw_power(axes, wide, lines, shades(middle), middle.marks.seconds, energy.idle_w)

    return Figure("power", "Power over time", caption, draw)


def _draw_power(
    axes: Any, wide: bool, lines: Sequence[PowerLine], phases: Sequence[Shade], end_s: float, idle_w: float | None
) -> None:
    names = list(dict.fromkeys(p.name for p in phases))
    top = max((max(line.watts) for line in lines if line.watts), default=1.0)
    axes.set_ylim(0, top * 1.18)
    for p in phases:
        axes.axvspan(p.begin_s, p.end_s, color=phase_color(p.name, names), alpha=0.18, linewidth=0)
    for x in (0.0, end_s):
        axes.axvline(x, color=FAINT, linewidth=0.9, linestyle=(0, (4, 3)))
    _draw_lines(axes, lines)
    if idle_w is not None:
        axes.axhline(idle_w, color=GREEN, linewidth=1.2, linestyle=":", label="idle")
    axes.set_xlabel("seconds since the start of the process")
    axes.locator_params(axis="x", nbins=9 if wide else 5, prune="lower")  # the lowest would meet the 0 of the watts
    axes.set_ylabel("watts")
    labelled = _label_phases(axes, phases, names, top * 1.15)
    seen = [n for n in names if sum(p.end_s - p.begin_s for p in phases if p.name == n) > SEEN_SHARE * end_s]
    for name in [n for n in seen if n not in labelled]:  # no room for its name: the legend says it
        axes.fill_between([], [], color=phase_color(name, names), alpha=0.35, linewidth=0, label=phase_name(name))
    axes.figure.legend(loc="outside lower center", ncols=6 if wide else 3, frameon=False, fontsize=SMALL)


def _draw_lines(axes: Any, lines: Sequence[PowerLine]) -> None:
    """Few runs have a stroke each; many are one cloud."""
    if len(lines) <= len(RUN_LINES):
        for line, (color, stroke) in zip(lines, RUN_LINES, strict=False):
            axes.plot(line.seconds, line.watts, color=color, linestyle=stroke, linewidth=1.2, label=f"run {line.run}")
        return
    for i, line in enumerate(lines):
        label = f"{len(lines)} runs" if i == 0 else None
        axes.plot(line.seconds, line.watts, color=INK, alpha=0.35, linewidth=1.0, label=label)


def _label_phases(axes: Any, phases: Sequence[Shade], names: Sequence[str], height: float) -> set[str]:
    """Each phase is named once, over its longest stretch, where there is room for the name. Returns those that are named."""
    texts, rooms = [], []
    for name in names:
        longest = max((p for p in phases if p.name == name), key=lambda p: p.end_s - p.begin_s)
        middle = (longest.begin_s + longest.end_s) / 2
        texts.append(axes.text(middle, height, phase_name(name), ha="center", va="top", fontsize=SMALL, color=INK))
        rooms.append((longest.begin_s, longest.end_s))
    kept = keep_fitting(axes, texts, rooms)
    return {name for name, text in zip(names, texts, strict=True) if text in kept}


def _phases(runs: Sequence[Run], meter: str, names: Sequence[str]) -> Figure:
    def draw(axes: Any, wide: bool) -> None:
        texts = []
        for i, name in enumerate(names):
            values = [v for r in runs if (v := phase_joules(r, meter, name)) is not None]
            mean = sum(values) / len(values)
            axes.barh(i, mean, color=phase_color(name, names), alpha=0.85, height=BAR)
            # The runs have a line of their own below the bar, so that the number is beside the bar, wherever they are.
            axes.plot(values, [i + 0.5 * BAR + 0.12] * len(values), "o", color=INK, markersize=3.2, alpha=0.75)
            place = {"xytext": (5, 0), "textcoords": "offset points", "va": "center", "fontsize": SMALL}
            texts.append(axes.annotate(f"{number(mean)} J", (mean, i), color=INK, **place))
        axes.set_yticks(range(len(names)), [phase_name(n) for n in names])
        axes.invert_yaxis()
        axes.set_xlim(left=0)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("joules")
        if not wide:
            axes.locator_params(axis="x", nbins=5)
        fit_right(axes, texts)

    dots = f"and, below it, each of {runs_text(len(runs))} (dots)"
    caption = f"Energy per phase: mean (bar and number) {dots}. Phases add up to the total."
    return Figure("phases", "Energy per phase", caption, draw)


def _runs(runs: Sequence[Run], meter: str, names: Sequence[str], limits: Mapping[int, float]) -> Figure:
    totals = [e.joules or 0.0 if (e := r.energy_of(meter)) is not None else 0.0 for r in runs]
    mean = sum(totals) / len(totals)

    def draw(axes: Any, wide: bool) -> None:
        texts = [_draw_run(axes, i, run, meter, names, totals[i], mean, limits.get(run.index)) for i, run in enumerate(runs)]
        axes.axhline(mean, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        step = -(-len(runs) // (25 if wide else 12))  # so many numbers have room
        named = wide and len(runs) <= 10
        axes.set_xticks(range(0, len(runs), step), [f"run {r.index}" if named else str(r.index) for r in runs[::step]])
        axes.set_xlim(-0.7, len(runs) - 0.3)
        axes.set_ylim(0, max(totals) * 1.2)
        axes.grid(visible=False, axis="x")
        axes.set_ylabel("joules")
        if not named:
            axes.set_xlabel("run")
        label = axes.annotate(
            f"mean {number(mean)} J",
            (len(runs) - 0.3, mean),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            color=INK,
            annotation_clip=False,
            rotation=0 if wide else 90,
        )
        turn_if_crowded(axes, texts)
        drop_overlapping(axes, texts, [label])
        if names:
            handles = [axes.bar(0, 0, color=phase_color(n, names), alpha=0.85) for n in names]
            words = [phase_name(n) for n in names]
            axes.figure.legend(handles, words, loc="outside lower center", ncols=6 if wide else 3, frameon=False, fontsize=SMALL)

    whiskers = " Whiskers: limits of error by the meter." if limits else ""
    caption = f"Energy of {runs_text(len(runs))}, by phase. Dashed: their mean, {number(mean)} J.{whiskers}"
    return Figure("runs", "Runs side by side", caption, draw)


def _draw_run(
    axes: Any, i: int, run: Run, meter: str, names: Sequence[str], total: float, mean: float, error: float | None
) -> Any:
    """The bar of a run; its number is above the bar and above the line of the mean."""
    bottom = 0.0
    shown = names or ["total"]
    for name in shown:
        part = phase_joules(run, meter, name) or 0.0 if names else total
        axes.bar(i, part, bottom=bottom, color=phase_color(name, shown), alpha=0.85, width=0.62)
        bottom += part
    if error is not None:
        axes.errorbar(i, total, yerr=error, color=INK, capsize=4, linewidth=1.1)
    place = {"xytext": (0, 4), "textcoords": "offset points", "ha": "center", "fontsize": SMALL}
    return axes.annotate(number(total), (i, max(total + (error or 0.0), mean)), color=INK, **place)
