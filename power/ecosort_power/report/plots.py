"""Figures as files: SVG for the page (a wide form and one for phones), SVG and PDF for a paper. Drawn by matplotlib, an extra."""

from __future__ import annotations

import importlib.util
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ecosort_power.encoding import write_text
from ecosort_power.errors import UsageError
from ecosort_power.report.figures import Figure
from ecosort_power.report.style import INK, rc_style

WIDE, NARROW = (9.6, 3.7), (4.1, 3.5)  # inches; 72 units of the SVG each
PAPER = (7.0, 3.2)  # inches: the width of a page's text
WITHOUT = "no figures: matplotlib is not installed here (pip install matplotlib)"


def can_draw() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def _draw(figure: Figure, size: tuple[float, float], wide: bool, titled: bool) -> Any:
    from matplotlib.figure import Figure as Canvas

    drawn = Canvas(figsize=size, layout="constrained")
    axes = drawn.add_subplot()
    if titled:
        axes.set_title(figure.title, loc="left", fontsize=11, color=INK)
    figure.draw(axes, wide)
    return drawn


def _svg(figure: Figure, size: tuple[float, float], wide: bool) -> str:
    """One SVG element without fixed size, with ids of its own so that several fit into one page."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    name = f"{figure.name}-{'w' if wide else 'n'}"
    style: Any = {**rc_style(10, "none"), "svg.hashsalt": name}
    with mpl.rc_context(style):
        out = io.BytesIO()
        canvas: Any = FigureCanvasSVG(_draw(figure, size, wide, titled=False))
        canvas.print_svg(out, metadata={"Date": None, "Creator": None})
    text = out.getvalue().decode()
    inner = text[text.index(">", text.index("<svg")) + 1 :]
    inner = re.sub(r"<metadata>.*?</metadata>", "", inner, flags=re.DOTALL)
    inner = re.sub(r'(\bid="|url\(#|href="#)', lambda m: f"{m[1]}{name}-", inner)
    inner = inner.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")  # Verdana has the same widths
    width, height = size[0] * 72, size[1] * 72
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'<svg {spaces} role="img" aria-label="{figure.title}" viewBox="0 0 {width:g} {height:g}">{inner}'


def both(figure: Figure) -> tuple[str, str]:
    """The wide and the narrow form; the page's style shows one of them."""
    return _svg(figure, WIDE, True), _svg(figure, NARROW, False)


def save(figures: Sequence[Figure], directory: Path) -> list[Path]:
    """Each figure as SVG and PDF, and their titles and captions for a text (captions.md) and for LaTeX (figures.tex)."""
    if not can_draw():
        raise UsageError(WITHOUT)
    if not figures:
        raise UsageError("there are no figures: the result has no energy")
    import matplotlib as mpl

    written = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        style: Any = {**rc_style(9, "path"), "svg.hashsalt": "ecosort-power"}
        with mpl.rc_context(style):
            for figure in figures:
                drawn = _draw(figure, PAPER, True, titled=True)
                for kind in ("svg", "pdf"):
                    path = directory / f"{figure.name}.{kind}"
                    metadata = {"Title": figure.title, **({"Date": None} if kind == "svg" else {"CreationDate": None})}
                    drawn.savefig(path, metadata=metadata)
                    drawn.set_layout_engine("none")  # it stays where it was put
                    written.append(path)
        for name, text in (("captions.md", _captions(figures)), ("figures.tex", _latex(figures))):
            write_text(directory / name, text)
            written.append(directory / name)
    except OSError as error:
        raise UsageError(f"{error.filename or directory} cannot be written: {error.strerror}") from error
    return written


def _captions(figures: Sequence[Figure]) -> str:
    return "".join(f"## {f.title}\n\n![{f.title}]({f.name}.svg)\n\n{f.caption}\n\n" for f in figures)


def _escaped(text: str) -> str:
    return re.sub(r"([%&#_$])", r"\\\1", text)


def _latex(figures: Sequence[Figure]) -> str:
    frame = (
        "\\begin{{figure}}\n  \\includegraphics[width=\\textwidth]{{{}.pdf}}\n"
        "  \\caption{{{}}}\n  \\label{{fig:{}}}\n\\end{{figure}}\n\n"
    )
    return "".join(frame.format(f.name, _escaped(f.caption), f.name) for f in figures)
