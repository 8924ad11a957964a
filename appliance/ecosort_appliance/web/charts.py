"""Charts as numbers for SVG: a template draws them, without a script. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ecosort_appliance.web.track import Point

WIDTH, HEIGHT = 600, 120


@dataclass(frozen=True)
class Line:
    """A line of a chart: `points` as SVG has them, one text for each piece without gaps; `largest` is at the top."""

    name: str
    unit: str
    largest: float
    last: float
    pieces: list[str]


def course(points: Sequence[Point]) -> list[Line]:
    """Returns rate and watts of a job, from left to right; nothing with fewer than two points."""
    if len(points) < 2:
        return []
    lines = (_line(name, unit, points, place) for place, (name, unit) in enumerate((("rate", "MB/s"), ("power", "W")), 1))
    return [line for line in lines if line is not None]


def _line(name: str, unit: str, points: Sequence[Point], place: int) -> Line | None:
    values = [value for point in points if isinstance(value := point[place], int | float)]
    if len(values) < 2:
        return None
    begin_s, span_s = points[0][0], max(points[-1][0] - points[0][0], 1e-9)
    largest = max(*values, 1e-9)
    pieces: list[list[str]] = [[]]
    for point in points:
        value = point[place]
        if value is None:
            pieces.append([])
            continue
        across = (point[0] - begin_s) / span_s * WIDTH
        pieces[-1].append(f"{across:.1f},{HEIGHT * (1 - value / largest):.1f}")
    return Line(name, unit, largest, values[-1], [" ".join(piece) for piece in pieces if len(piece) > 1])
