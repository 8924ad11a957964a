"""The figures share colours and letters of the reports of ecosort-power, medians with their ranges, files, and a page."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib as mpl
from ecosort_power.report.style import rc_style

mpl.use("Agg")
from matplotlib import pyplot as plt

KINDS = ("png", "svg", "pdf")
MARK_POINTS = 30
_INCHES = (6.4, 4.4)
_DPI = 120
_LETTERS = 9  # points


def styled() -> AbstractContextManager[None]:
    """Figures made inside look like those of the reports."""
    style: Any = {**rc_style(_LETTERS, "path"), "svg.hashsalt": "ecosort-tune"}
    return mpl.rc_context(style)


def subplots(rows: int = 1) -> Any:
    """The figure and its axes; of several rows, an array of them with one x axis."""
    size = (_INCHES[0], _INCHES[1] if rows == 1 else 3.4 * rows)
    return plt.subplots(rows, 1, figsize=size, layout="constrained", sharex=True)


def draw_medians(axis: Any, xs: Sequence[float], samples: Sequence[Sequence[float]], style: str, color: str, label: str) -> None:
    """The median of the samples at each x, with a bar from the least to the greatest."""
    middles = [median(values) for values in samples]
    below = [m - min(values) for m, values in zip(middles, samples, strict=True)]
    above = [max(values) - m for m, values in zip(middles, samples, strict=True)]
    axis.errorbar(xs, middles, yerr=[below, above], fmt=style, color=color, capsize=3, label=label)


def add_legend(figure: Any) -> None:
    """All lines of all axes, each name once, below them, where nothing is covered."""
    found: dict[str, Any] = {}
    for axis in figure.axes:
        for line, name in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(name, line)
    figure.legend(found.values(), found.keys(), loc="outside lower center", ncols=3, frameon=False)


def save(figure: Any, directory: Path, name: str) -> None:
    """NAME.png, and NAME.svg and NAME.pdf for a paper."""
    dates: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    for kind in KINDS:
        figure.savefig(directory / f"{name}.{kind}", dpi=_DPI, metadata=dates.get(kind))
    plt.close(figure)


def write_page(directory: Path, name: str, text: str, circumstances: str) -> None:
    """NAME.md beside NAME.png."""
    (directory / f"{name}.md").write_text(f"{text}\n\n{circumstances}\n\n![{name}]({name}.png)\n")
