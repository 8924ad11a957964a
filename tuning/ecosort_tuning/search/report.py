"""The report of a search: a table of what was tried, a plot for each knob, the front of two goals, and the sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ecosort_measure.tables import markdown

from ecosort_tuning.figure import save, subplots
from ecosort_tuning.search.knobs import Knob, text_of
from ecosort_tuning.search.study import Search, Tried
from ecosort_tuning.search.trial import ENERGY, PARETO, TIME


def plot_knob(path: Path, knob: Knob, tried: Sequence[Tried], goals: Sequence[str]) -> None:
    """Every trial as a point over the value of the knob, the best of each value joined."""
    figure, axes = subplots(len(goals), 1, figsize=(6, 3.2 * len(goals)), squeeze=False, sharex=True)
    positions = {value: i for i, value in enumerate(knob.values)}
    for row, goal in enumerate(goals):
        axis = axes[row][0]
        points = [(positions[t.settings[knob.option]], t.scores[row], t.given_up) for t in tried]
        for given_up, colour, label in ((False, "tab:blue", "measured"), (True, "tab:gray", "given up")):
            chosen = [(x, y) for x, y, state in points if state == given_up]
            if chosen:
                axis.scatter([x for x, _ in chosen], [y for _, y in chosen], s=18, color=colour, label=label, alpha=0.8)
        xs = sorted({x for x, _, _ in points})
        axis.plot(xs, [min(y for x, y, _ in points if x == at) for at in xs], color="tab:orange", linewidth=1, label="best")
        axis.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
        axis.set_ylabel(f"{goal} / defaults")
        axis.legend(fontsize=8)
    axes[-1][0].set_xticks(range(len(knob.values)), knob.values)
    axes[-1][0].set_xlabel(knob.option)
    save(figure, path)


def plot_front(path: Path, tried: Sequence[Tried], front: Sequence[Tried]) -> None:
    figure, axis = subplots(figsize=(6, 4.2))
    axis.scatter([t.scores[0] for t in tried], [t.scores[1] for t in tried], s=18, color="tab:gray", label="tried")
    axis.plot([t.scores[0] for t in front], [t.scores[1] for t in front], "o-", color="tab:orange", label="not beaten in both")
    axis.scatter([1.0], [1.0], marker="x", color="black", label="defaults")
    axis.set_xlabel("time / defaults")
    axis.set_ylabel("energy / defaults")
    axis.legend(fontsize=8)
    save(figure, path)


def write_report(directory: Path, goal: str, search: Search, sentence: str) -> None:
    """report.md and its PNG files, from what the journal holds."""
    tried = sorted(search.tried, key=lambda t: t.scores[0])
    goals = (TIME, ENERGY) if goal == PARETO else (goal,)
    heads = ("settings", *(f"{g} / defaults" for g in goals), "pairs", "given up")
    rows = [(text_of(t.settings), *(f"{s:.3f}" for s in t.scores), str(len(t.pairs)), "yes" if t.given_up else "") for t in tried]
    lines = [f"# Search for the least {'time and energy' if goal == PARETO else goal}", "", sentence, "", *markdown(heads, rows)]
    lines += [f"{len(tried)} settings in {search.spent_s:.0f} s. A pair: one cold, validated run of each.", ""]
    if tried:
        for knob in search.knobs:
            name = f"{knob.option.lstrip('-')}.png"
            plot_knob(directory / name, knob, tried, goals)
            lines.append(f"![{knob.option}]({name})")
        if goal == PARETO:
            plot_front(directory / "front.png", tried, search.front())
            lines.append("![time and energy](front.png)")
    (directory / "report.md").write_text("\n".join(lines) + "\n")
