"""Time in place and of the normal sort against the filling degree of the file system: Figure 3 of the EcoSort paper."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from ecosort_power.report.style import BLUE, ORANGE

from ecosort_tuning.errors import UsageError
from ecosort_tuning.experiment import Timing
from ecosort_tuning.figure import add_legend, draw_medians, save, styled, subplots, write_page

# A file system for four times the data is filled so far; the normal sort needs as much again. 97.6 % was the paper's terabyte.
DEGREES = (0.40, 0.60, 0.70, 0.80, 0.90, 0.95, 0.976)
CAPACITY = 4
IN_PLACE, NORMAL = "in place", "normal"
KINDS = (IN_PLACE, NORMAL)


class Filler(Protocol):
    def time(self, kind: str, degree: float) -> Timing | None:
        """One cold, validated run on a drive so full; None if the sorter refuses it for lack of space."""
        ...


@dataclass(frozen=True, slots=True)
class Point:
    degree: float
    timings: dict[str, list[Timing]]  # by kind; empty where it was refused

    def seconds(self, kind: str) -> float | None:
        return median(t.seconds for t in self.timings[kind]) if self.timings[kind] else None


def measure(filler: Filler, degrees: Sequence[float], rounds: int, say: Callable[[str], None]) -> list[Point]:
    """Each degree and kind once per round; who begins changes. What was refused once is not tried again."""
    points = [Point(degree, {kind: [] for kind in KINDS}) for degree in degrees]
    refused: set[tuple[float, str]] = set()
    for turn in range(rounds):
        first = turn % len(points)
        for point in points[first:] + points[:first]:
            for kind in KINDS if turn % 2 == 0 else KINDS[::-1]:
                if (point.degree, kind) in refused:
                    continue
                timing = filler.time(kind, point.degree)
                if timing is None:
                    refused.add((point.degree, kind))
                    say(f"{100 * point.degree:g} % full, {kind}: refused, too little space")
                    continue
                point.timings[kind].append(timing)
                say(f"round {turn + 1}: {100 * point.degree:g} % full, {kind}: {timing.seconds:.2f} s")
    return points


def paragraph(points: Sequence[Point]) -> str:
    both = [(p, i, n) for p in points if (i := p.seconds(IN_PLACE)) is not None and (n := p.seconds(NORMAL)) is not None]
    alone = [(p, i) for p in points if (i := p.seconds(IN_PLACE)) is not None and p.seconds(NORMAL) is None]
    if not both and not alone:
        raise UsageError("nothing could be sorted: the drive is too full for either way")
    text = []
    if both:
        ratios = [i / n for _, i, n in both]
        text.append(
            f"Up to {100 * max(p.degree for p, _, _ in both):g} % the normal sort has room; in place takes {median(ratios):.2f} "
            f"times as long (median of {len(both)} degrees, {min(ratios):.2f} to {max(ratios):.2f})."
        )
    if alone:
        least, most = (f(alone, key=lambda x: x[0].degree) for f in (min, max))
        text.append(
            f"From {100 * least[0].degree:g} % on only in place sorts, at {100 * most[0].degree:g} % in {most[1]:.2f} s"
            + (f", {most[1] / least[1]:.2f} times as long as at {100 * least[0].degree:g} %." if len(alone) > 1 else ".")
        )
    unsorted = [p.degree for p in points if p.seconds(IN_PLACE) is None]
    if unsorted:
        text.append(f"From {100 * min(unsorted):g} % on even in place there is too little space.")
    return " ".join(text)


def write_csv(path: Path, points: Sequence[Point]) -> None:
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["fill", "kind", "round", "seconds", "cpu_s", "run_formation_s", "merge_s"])
        for point in points:
            for kind, timings in point.timings.items():
                for i, t in enumerate(timings):
                    out.writerow([point.degree, kind, i + 1, t.seconds, t.cpu_s, t.formation_s, t.merge_s])


def draw(points: Sequence[Point]) -> Any:
    """Medians, with bars from the least to the greatest. The figure."""
    figure, axis = subplots()
    for kind, style, color in ((IN_PLACE, "o-", BLUE), (NORMAL, "s--", ORANGE)):
        there = [p for p in points if p.timings[kind]]
        xs = [100 * p.degree for p in there]
        draw_medians(axis, xs, [[t.seconds for t in p.timings[kind]] for p in there], style, color, kind)
    axis.set_xlabel("file system filled before the sort, %")
    axis.set_ylabel("seconds")
    axis.set_ylim(bottom=0)
    add_legend(figure)
    return figure


def write_figure(directory: Path, points: Sequence[Point], circumstances: str) -> str:
    """fill as PNG, SVG and PDF, fill.csv and fill.md; the paragraph."""
    directory.mkdir(parents=True, exist_ok=True)
    write_csv(directory / "fill.csv", points)
    with styled():
        save(draw(points), directory, "fill")
    text = paragraph(points)
    write_page(directory, "fill", text, circumstances)
    return text
