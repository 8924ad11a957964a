"""What the figures share: medians with their ranges, files, and the page that shows a figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

_DPI = 120


def subplots(*words: Any, **options: Any) -> Any:
    return plt.subplots(*words, **options)


def draw_medians(axis: Any, xs: Sequence[float], samples: Sequence[Sequence[float]], style: str, label: str) -> None:
    """The median of the samples at each x, with a bar from the least to the greatest."""
    middles = [median(values) for values in samples]
    below = [m - min(values) for m, values in zip(middles, samples, strict=True)]
    above = [max(values) - m for m, values in zip(middles, samples, strict=True)]
    axis.errorbar(xs, middles, yerr=[below, above], fmt=style, capsize=3, label=label)


def save(figure: Any, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path, dpi=_DPI)
    plt.close(figure)


def write_page(directory: Path, name: str, text: str, circumstances: str) -> None:
    """NAME.md beside NAME.png."""
    (directory / f"{name}.md").write_text(f"{text}\n\n{circumstances}\n\n![{name}]({name}.png)\n")
