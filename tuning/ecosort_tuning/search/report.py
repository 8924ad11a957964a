"""The report of a search: a table of what was tried, a plot for each knob, the front of two goals, and the sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ecosort_measure.tables import markdown
from ecosort_power.report.labels import turn_ticks_if_crowded
from ecosort_power.report.style import BLACK, BLUE, GREY, ORANGE

from ecosort_tuning.figure import add_legend, save, styled, subplots
from ecosort_tuning.search.knobs import Knob, text_of
from ecosort_tuning.search.study import Search, Tried
from ecosort_tuning.search.trial import ENERGY, PARETO, TIME


def plot_knob(directory: Path, knob: Knob, tried: Sequence[Tried], goals: Sequence[str]) -> None:
    """Every trial as a point over the value of the knob, the best of each value joined."""
    figure, drawn = subplots(len(goals))
    axes = [drawn] if len(goals) == 1 else list(drawn)
    positions = {value: i for i, value in enumerate(knob.values)}
    for row, goal in enumerate(goals):
        axis = axes[row]
        points = [(positions[t.settings[knob.option]], t.scores[row], t.given_up) for t in tried]
        for given_up, colour, label in ((False, BLUE, "measured"), (True, GREY, "given up")):
            chosen = [(x, y) for x, y, state in points if state == given_up]
            if chosen:
                axis.scatter([x for x, _ in chosen], [y for _, y in chosen], s=18, color=colour, label=label, alpha=0.8)
        xs = sorted({x for x, _, _ in points})
        axis.plot(xs, [min(y for x, y, _ in points if x == at) for at in xs], color=ORANGE, linewidth=1, label="best")
        axis.axhline(1.0, color=BLACK, linewidth=0.8, linestyle=":")
        axis.set_ylabel(f"{goal} / defaults")
    axes[-1].set_xticks(range(len(knob.values)), knob.values)
    axes[-1].set_xlabel(knob.option)
    add_legend(figure)
    turn_ticks_if_crowded(axes[-1])
    save(figure, directory, _name(knob))


def _name(knob: Knob) -> str:
    return knob.option.lstrip("-")


def plot_front(directory: Path, tried: Sequence[Tried], front: Sequence[Tried]) -> None:
    figure, axis = subplots()
    axis.scatter([t.scores[0] for t in tried], [t.scores[1] for t in tried], s=18, color=GREY, label="tried")
    axis.plot([t.scores[0] for t in front], [t.scores[1] for t in front], "o-", color=ORANGE, label="not beaten in both")
    axis.scatter([1.0], [1.0], marker="x", color=BLACK, label="defaults")
    axis.set_xlabel("time / defaults")
    axis.set_ylabel("energy / defaults")
    add_legend(figure)
    save(figure, directory, "front")


def _figures(directory: Path, goal: str, search: Search, tried: Sequence[Tried], goals: Sequence[str]) -> list[str]:
    """Draws them; the lines of the report that show them."""
    lines = []
    for knob in search.knobs:
        plot_knob(directory, knob, tried, goals)
        lines.append(f"![{knob.option}]({_name(knob)}.png)")
    if goal == PARETO:
        plot_front(directory, tried, search.front())
        lines.append("![time and energy](front.png)")
    return lines


def write_report(directory: Path, goal: str, search: Search, sentence: str) -> None:
    """report.md and its figures, from what the journal holds."""
    tried = sorted(search.tried, key=lambda t: t.scores[0])
    goals = (TIME, ENERGY) if goal == PARETO else (goal,)
    heads = ("settings", *(f"{g} / defaults" for g in goals), "pairs", "given up")
    rows = [(text_of(t.settings), *(f"{s:.3f}" for s in t.scores), str(len(t.pairs)), "yes" if t.given_up else "") for t in tried]
    lines = [f"# Search for the least {'time and energy' if goal == PARETO else goal}", "", sentence, "", *markdown(heads, rows)]
    lines += [f"{len(tried)} settings in {search.spent_s:.0f} s. A pair: one cold, validated run of each.", ""]
    if tried:
        with styled():
            lines += _figures(directory, goal, search, tried, goals)
    (directory / "report.md").write_text("\n".join(lines) + "\n")
