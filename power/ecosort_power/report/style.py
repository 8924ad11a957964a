"""Colours of the page and of the figures: one palette that people with any kind of colour blindness can tell apart.

Okabe and Ito, "Color Universal Design" (2008), jfly.uni-koeln.de/color. Letters are never yellow, orange or sky blue: those are
too light on white; where such a colour carries a meaning, a shape or a word says the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#999999"
PALETTE = (BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE)
# Not of the palette: letters, thin lines and grounds, which carry no meaning by their hue.
INK, FAINT, GRID = "#1f2933", "#52606d", "#e4e7eb"

_PHASES = {
    "run_formation": BLUE,
    "merge": ORANGE,
    "read_and_sort": GREEN,
    "one_pass": GREEN,
    "intermediate_merge": YELLOW,
    "sync": PURPLE,
    "publish": SKY,
    "rest": GREY,
    "total": BLUE,
}
_SPARE = (VERMILION, SKY, PURPLE, GREEN)
# One line per run: colours that no shaded phase of a usual sort has, each with a stroke of its own.
RUN_LINES: Sequence[tuple[str, str]] = ((BLACK, "-"), (VERMILION, "--"), (GREEN, "-."), (PURPLE, "-"), (SKY, "--"), (GREY, "-."))


def rc_style(size: float, fonts: str) -> dict[str, Any]:
    """Settings of matplotlib for all figures; letters of `size` points, in an SVG kept as `fonts` ("none": as text, "path")."""
    return {
        "svg.fonttype": fonts,
        "pdf.fonttype": 42,  # letters that can be searched and edited
        "font.family": "DejaVu Sans",
        "font.size": size,
        "axes.edgecolor": GRID,
        "axes.labelcolor": FAINT,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": GRID,
        "grid.linewidth": 0.8,
        "text.color": INK,
        "xtick.color": FAINT,
        "ytick.color": FAINT,
        "xtick.major.size": 0,
        "xtick.major.pad": 6,
        "ytick.major.pad": 6,
        "ytick.major.size": 0,
    }


def mark_simulated(axes: Any, size: float) -> None:
    """Writes SIMULATED across axes, so that the figure cannot pass for a measurement, wherever it is copied to."""
    place = {"transform": axes.transAxes, "ha": "center", "va": "center", "rotation": 20}
    axes.text(0.5, 0.5, "SIMULATED", fontsize=size, color=INK, alpha=0.25, gid="simulated", **place)


def phase_color(name: str, names: Sequence[str]) -> str:
    """The colour of a phase; phases that are not known share the spare colours in their order."""
    unknown = [n for n in names if n not in _PHASES]
    return _PHASES[name] if name in _PHASES else _SPARE[unknown.index(name) % len(_SPARE)]
