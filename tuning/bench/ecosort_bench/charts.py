"""The chart of committed results for the first look: docs/charts/peers.svg."""

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecosort_measure.results import Results, Run, cpu_s, wall_s
from ecosort_power.report.style import BLUE, FAINT, GREY, rc_style


@dataclass(frozen=True)
class Subject:
    """A row of the chart: a committed result, its stage, and what is shown of it, from the fastest to the slowest."""

    title: str
    result: str
    stage: str
    shown: dict[str, str]


_LINES = {"ecosort": "EcoSort", "gnu_sort": "GNU sort"}
SUBJECTS = (
    Subject(
        "10 GB of records",
        "headline",
        "main",
        {
            "ecosort": "EcoSort",
            "stxxl_ksort": "STXXL ksort",
            "stxxl_stream": "STXXL stream sorter",
            "stxxl_sort": "STXXL sort",
            "gnu_sort": "GNU sort",
        },
    ),
    Subject(
        "5 GB of CSV by a number",
        "tables_number",
        "table_csv_number",
        {"ecosort": "EcoSort", "polars": "Polars", "duckdb": "DuckDB"},
    ),
    Subject("1 GB of paths", "your_data", "data_paths", _LINES),
    Subject("1 GB of a log", "your_data", "data_dated", _LINES),
    Subject("the log in order", "your_data", "data_in_order", _LINES),
)


@dataclass(frozen=True)
class Bar:
    """Medians of a contender, in seconds."""

    name: str
    wall_s: float
    cpu_s: float


def bars_of(subject: Subject, results: Results) -> list[Bar]:
    """Draws a bar for each contender that was measured."""
    found = []
    for contender, name in subject.shown.items():
        runs: list[Run] = list(results.of(subject.stage, contender).values())
        if runs:
            found.append(Bar(name, statistics.median(map(wall_s, runs)), statistics.median(map(cpu_s, runs))))
    return found


def label_of(seconds: float) -> str:
    """Three digits tell bars apart."""
    return f"{seconds:.1f}" if seconds >= 10 else f"{seconds:.2f}"


def draw(results: Path, path: Path) -> None:
    """Time and processor time beside each other, as SVG. The same results give the same file with the same matplotlib."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rows = [(subject, bars_of(subject, Results.load(results / f"{subject.result}.json"))) for subject in SUBJECTS]
    style: Any = {**rc_style(11, "none"), "svg.hashsalt": "ecosort", "axes.grid": False}
    with mpl.rc_context(style):
        figure = Figure(figsize=(9, 6.4), layout="constrained")
        grid = figure.add_gridspec(len(rows), 2, height_ratios=[len(bars) + 1 for _, bars in rows])
        for row, (subject, bars) in enumerate(rows):
            columns = (
                (f"{subject.title}: time, s", [bar.wall_s for bar in bars]),
                ("processor time, s", [bar.cpu_s for bar in bars]),
            )
            for column, (title, values) in enumerate(columns):
                axes = figure.add_subplot(grid[row, column])
                _draw_bars(axes, title, [bar.name for bar in bars], values)
                if column > 0:
                    axes.yaxis.set_ticklabels([])
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})


def _draw_bars(axes: Any, title: str, names: list[str], values: list[float]) -> None:
    shown = axes.barh(names, values, color=[BLUE if name == "EcoSort" else GREY for name in names], height=0.62)
    axes.bar_label(shown, [label_of(value) for value in values], padding=4, color=FAINT)
    axes.invert_yaxis()
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlim(0, max(values) * 1.15)
    axes.xaxis.set_visible(False)
    axes.spines["bottom"].set_visible(False)
