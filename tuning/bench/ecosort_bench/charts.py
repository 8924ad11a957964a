"""Charts of committed results, for the first look: docs/charts."""

import statistics
from pathlib import Path
from typing import Any

from ecosort_measure.results import Results, Run, cpu_s, wall_s
from ecosort_power.report.style import BLUE, FAINT, GREY, rc_style

# What is shown of the stage `main`, from the fastest to the slowest.
_SHOWN = {
    "ecosort": "EcoSort",
    "stxxl_ksort": "STXXL ksort",
    "stxxl_stream": "STXXL stream sorter",
    "stxxl_sort": "STXXL sort",
    "gnu_sort": "GNU sort",
}


def bars_of(results: Results) -> list[tuple[str, float, float]]:
    """Of each contender: its name, the medians of its wall time and of its processor time, in seconds."""
    found: list[tuple[str, float, float]] = []
    for contender, name in _SHOWN.items():
        runs: list[Run] = list(results.of("main", contender).values())
        if runs:
            found.append((name, statistics.median(map(wall_s, runs)), statistics.median(map(cpu_s, runs))))
    return found


def draw_records(results: Results, path: Path) -> None:
    """Time and processor time beside each other, as SVG. The same result gives the same file with the same matplotlib."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    bars = bars_of(results)
    style: Any = {**rc_style(11, "none"), "svg.hashsalt": "ecosort", "axes.grid": False}
    with mpl.rc_context(style):
        figure = Figure(figsize=(9, 2.6), layout="constrained")
        names = [name for name, _, _ in bars]
        panels = {"time, seconds": [wall for _, wall, _ in bars], "processor time, seconds": [cpu for _, _, cpu in bars]}
        for number, (title, values) in enumerate(panels.items(), 1):
            axes = figure.add_subplot(1, 2, number)
            colours = [BLUE if name == "EcoSort" else GREY for name in names]
            shown = axes.barh(names, values, color=colours, height=0.62)
            axes.bar_label(shown, [f"{value:.1f}" for value in values], padding=4, color=FAINT)
            axes.invert_yaxis()
            axes.set_title(title, loc="left", fontsize=11)
            axes.set_xlim(0, max(values) * 1.15)
            axes.xaxis.set_visible(False)
            axes.spines["bottom"].set_visible(False)
            if number > 1:
                axes.yaxis.set_ticklabels([])
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
