"""The plots of the HTML page as SVG text, drawn by matplotlib; each in a wide form and one for phones."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import Any

from ecosort_power.report.series import PowerLine, Shade, phase_joules
from ecosort_power.report.text import phase_name
from ecosort_power.store import Run
from ecosort_power.summary import number

INK, FAINT, GRID = "#1f2933", "#52606d", "#e4e7eb"
_PHASES = {
    "run_formation": "#3e7cb1",
    "merge": "#d9822b",
    "read_and_sort": "#3f9c79",
    "one_pass": "#3f9c79",
    "intermediate_merge": "#c79a3f",
    "sync": "#8a6bbe",
    "rest": "#b0b8c1",
}
_SPARE = ("#c0567b", "#6b8e23", "#2aa198", "#a0783c")
WIDE, NARROW = (9.6, 3.7), (4.1, 3.3)  # inches; 72 units of the SVG each


def phase_color(name: str, names: Sequence[str]) -> str:
    unknown = [n for n in names if n not in _PHASES]
    return _PHASES[name] if name in _PHASES else _SPARE[unknown.index(name) % len(_SPARE)]


def _style() -> dict[str, Any]:
    return {
        "svg.fonttype": "none",
        "font.family": "DejaVu Sans",
        "font.size": 10,
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
        "ytick.major.size": 0,
    }


def _svg(name: str, size: tuple[float, float], draw: Callable[[Any], None], label: str) -> str:
    """One SVG element without fixed size, with ids of its own so that several fit into one page."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style: Any = {**_style(), "svg.hashsalt": name}
    with mpl.rc_context(style):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        out = io.BytesIO()
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(out, metadata={"Date": None, "Creator": None})
    text = out.getvalue().decode()
    inner = text[text.index(">", text.index("<svg")) + 1 :]
    inner = re.sub(r"<metadata>.*?</metadata>", "", inner, flags=re.DOTALL)
    inner = re.sub(r'(\bid="|url\(#|href="#)', lambda m: f"{m[1]}{name}-", inner)
    inner = inner.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")  # Verdana has the same widths
    width, height = size[0] * 72, size[1] * 72
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'<svg {spaces} role="img" aria-label="{label}" viewBox="0 0 {width:g} {height:g}">{inner}'


def both(name: str, draw: Callable[[Any, bool], None], label: str) -> str:
    """The wide and the narrow form; the page's style shows one of them."""
    wide = _svg(f"{name}w", WIDE, lambda axes: draw(axes, True), label)
    narrow = _svg(f"{name}n", NARROW, lambda axes: draw(axes, False), label)
    return f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div>'


def power_plot(lines: Sequence[PowerLine], phases: Sequence[Shade], end_s: float, idle_w: float | None) -> str:
    import matplotlib as mpl

    names = list(dict.fromkeys(p.name for p in phases))
    shades = mpl.colormaps["viridis"]

    def draw(axes: Any, wide: bool) -> None:
        top = max((max(line.watts) for line in lines if line.watts), default=1.0)
        axes.set_ylim(0, top * 1.18)
        for p in phases:
            axes.axvspan(p.begin_s, p.end_s, color=phase_color(p.name, names), alpha=0.13, linewidth=0)
        _label_phases(axes, phases, names, end_s, top * 1.15, wide)
        for x in (0.0, end_s):
            axes.axvline(x, color=FAINT, linewidth=0.9, linestyle=(0, (4, 3)))
        for i, line in enumerate(lines):
            color = shades(0.1 + 0.75 * i / max(len(lines) - 1, 1))
            axes.plot(line.seconds, line.watts, color=color, linewidth=1.3, label=f"run {line.run}")
        if idle_w is not None:
            axes.axhline(idle_w, color="#3f9c79", linewidth=1, linestyle=":", label="idle")
        axes.set_xlabel("seconds since the start of the process")
        axes.set_ylabel("watts")
        columns = 6 if wide else 3
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2 if wide else -0.22), ncols=columns, frameon=False, fontsize=9)

    return both("power", draw, "power over time, one line per run, phases shaded")


def _label_phases(axes: Any, phases: Sequence[Shade], names: Sequence[str], end_s: float, height: float, wide: bool) -> None:
    """Each phase is named once, over its longest stretch, where there is room for the name."""
    for name in names:
        longest = max((p for p in phases if p.name == name), key=lambda p: p.end_s - p.begin_s)
        room = (longest.end_s - longest.begin_s) / max(end_s, 1e-9) * (70 if wide else 26)  # characters
        if room >= len(name):
            middle = (longest.begin_s + longest.end_s) / 2
            color = phase_color(name, names)
            axes.text(middle, height, phase_name(name), ha="center", va="top", fontsize=9, color=color, weight="bold")


def phase_plot(runs: Sequence[Run], meter: str, names: Sequence[str]) -> str:
    def draw(axes: Any, wide: bool) -> None:
        positions = list(range(len(names)))
        for i, name in enumerate(names):
            values = [v for r in runs if (v := phase_joules(r, meter, name)) is not None]
            mean = sum(values) / len(values)
            axes.barh(i, mean, color=phase_color(name, names), alpha=0.75, height=0.62)
            axes.plot(values, [i] * len(values), "o", color=INK, markersize=3.2, alpha=0.75)
            axes.annotate(
                f"{number(mean)} J", (max(values), i), xytext=(8, 0), textcoords="offset points", va="center", fontsize=9
            )
        axes.set_yticks(positions, [phase_name(n) for n in names])
        axes.invert_yaxis()
        axes.set_xlim(0, axes.get_xlim()[1] * (1.08 if wide else 1.22))
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("joules: bar = mean, dots = runs")

    return both("phase", draw, "energy per phase")


def runs_plot(runs: Sequence[Run], meter: str, names: Sequence[str]) -> str:
    def draw(axes: Any, wide: bool) -> None:
        totals = []
        for i, run in enumerate(runs):
            energy = run.energy_of(meter)
            total = energy.joules if energy is not None and energy.joules is not None else 0.0
            totals.append(total)
            bottom = 0.0
            for name in names or ["total"]:
                part = phase_joules(run, meter, name) or 0.0 if names else total
                axes.bar(i, part, bottom=bottom, color=phase_color(name, names or ["total"]), alpha=0.75, width=0.62)
                bottom += part
            error = energy.uncertainty.total_j if energy is not None and energy.uncertainty is not None else None
            if error is not None:
                axes.errorbar(i, total, yerr=error, color=INK, capsize=4, linewidth=1.1)
            axes.annotate(
                number(total), (i, total + (error or 0.0)), xytext=(0, 4), textcoords="offset points", ha="center", fontsize=9
            )
        mean = sum(totals) / len(totals)
        axes.axhline(mean, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        axes.set_xticks(range(len(runs)), [f"run {r.index}" if wide or len(runs) <= 5 else str(r.index) for r in runs])
        axes.set_xlim(-0.7, len(runs) - 0.3)
        axes.set_ylim(0, max(totals) * 1.16)
        axes.grid(visible=False, axis="x")
        axes.set_ylabel("joules")

    return both("runs", draw, "energy of the runs side by side")
