"""Room for labels: what is measured on the drawn figure, so that no two words overlap whatever the numbers are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

_GAP_PX = 3.0


def _boxes(axes: Any, texts: Sequence[Any]) -> list[Any]:
    """Returns where the texts are, in pixels, when the figure is laid out; to draw it, too, would take as long as the layout."""
    figure = axes.figure
    figure.get_layout_engine().execute(figure)
    return [t.get_window_extent() for t in texts]


def _overlap(a: Any, b: Any) -> bool:
    return bool(a.x0 < b.x1 + _GAP_PX and b.x0 < a.x1 + _GAP_PX and a.y0 < b.y1 and b.y0 < a.y1)


def fit_right(axes: Any, texts: Sequence[Any]) -> None:
    """Widens the x axis until the labels beside the bars end inside it."""
    for _ in range(4):
        right = max((b.x1 for b in _boxes(axes, texts)), default=0.0)
        frame = axes.get_window_extent()
        over = (right - frame.x0) / frame.width
        if over <= 1.0:
            return
        axes.set_xlim(0, axes.get_xlim()[1] * over * 1.02)


def keep_fitting(axes: Any, texts: Sequence[Any], rooms: Sequence[tuple[float, float]]) -> list[Any]:
    """Removes each text that is wider than its room (data coordinates) or overlaps one that is kept."""
    kept: list[Any] = []
    boxes = _boxes(axes, texts)
    taken: list[Any] = []
    for text, box, (begin, end) in zip(texts, boxes, rooms, strict=True):
        left, right = (axes.transData.transform((x, 0.0))[0] for x in (begin, end))
        if box.width > right - left or any(_overlap(box, other) for other in taken):
            text.remove()
        else:
            kept.append(text)
            taken.append(box)
    return kept


def turn_if_crowded(axes: Any, texts: Sequence[Any]) -> None:
    """Labels side by side that overlap are all turned upright."""
    boxes = _boxes(axes, texts)
    if any(_overlap(a, b) for a, b in pairwise(boxes)):
        for text in texts:
            text.set_rotation(90)
            text.set_fontsize(text.get_fontsize() - 1)
        low, high = axes.get_ylim()
        axes.set_ylim(low, high * 1.1)


def turn_ticks_if_crowded(axes: Any) -> None:
    """The labels of the x axis are turned upright where two of them would overlap."""
    ticks = axes.get_xticklabels()
    if any(_overlap(a, b) for a, b in pairwise(_boxes(axes, ticks))):
        axes.tick_params(axis="x", labelrotation=90)


def drop_overlapping(axes: Any, texts: Sequence[Any], others: Sequence[Any]) -> None:
    """The last resort: a label that overlaps one that is kept is left out; the table has its number."""
    boxes = _boxes(axes, [*others, *texts])
    taken = boxes[: len(others)]
    for text, box in zip(texts, boxes[len(others) :], strict=True):
        if any(_overlap(box, other) for other in taken):
            text.remove()
        else:
            taken.append(box)
