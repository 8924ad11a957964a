"""One option of the sorter against time and processor: the figures of the EcoSort paper's section 5.3 on this machine.

`threads` is its Figure 2 (time and energy of both phases against threads), `memory` and `block` are other knobs that its authors
turned by hand, `size` is that of the input. Figure 3, the filling degree, is in filling.py.
Values are measured in turn, round by round, so that drift of the drive spreads over all of them.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from ecosort_measure.sizes import size_text
from ecosort_power.report.labels import turn_ticks_if_crowded
from ecosort_power.report.style import BLACK, GREEN, VERMILION, mark_simulated, phase_color

from ecosort_tuning.errors import UsageError
from ecosort_tuning.figure import MARK_POINTS, add_legend, draw_medians, save, styled, subplots, write_page


@dataclass(frozen=True, slots=True)
class Timing:
    """Times one cold, validated run."""

    seconds: float
    cpu_s: float
    formation_s: float
    merge_s: float
    joules: float | None = None
    simulated: bool = False  # the joules were computed, not measured


class Timed(Protocol):
    def time(self, settings: Mapping[str, str]) -> Timing: ...


@dataclass(frozen=True, slots=True)
class Experiment:
    name: str
    option: str
    what: str  # for the axis
    values: tuple[str, ...]


SIZE = "input size"  # no option of the sorter


def experiments(cpus: int, memory_bytes: int, size_bytes: int) -> dict[str, Experiment]:
    """By name. Memory from a quarter to four times the given one, sizes from an eighth of the given one."""
    memories = tuple(f"{memory_bytes * 2**i // 4}B" for i in range(5))
    found = (
        Experiment("threads", "--threads", "compute threads", tuple(str(n) for n in range(1, cpus + 1))),
        Experiment("memory", "--memory", "memory", memories),
        Experiment("block", "--request-size", "bytes of one request", ("64KiB", "256KiB", "1MiB", "4MiB", "8MiB")),
        Experiment("size", SIZE, "bytes of the input", tuple(f"{size_bytes // 2**i}B" for i in (3, 2, 1, 0))),
    )
    return {e.name: e for e in found}


@dataclass(frozen=True, slots=True)
class Row:
    value: str
    timings: list[Timing]

    def middle(self, of: Callable[[Timing], float]) -> float:
        return median(of(t) for t in self.timings)


def measure(experiment: Experiment, sorter: Timed, rounds: int, say: Callable[[str], None]) -> list[Row]:
    """Each value once per round; who begins changes."""
    rows = [Row(value, []) for value in experiment.values]
    for turn in range(rounds):
        first = turn % len(rows)
        for row in rows[first:] + rows[:first]:
            row.timings.append(sorter.time({experiment.option: row.value}))
            say(f"round {turn + 1}: {experiment.option} {row.value}: {row.timings[-1].seconds:.2f} s")
    return rows


def _per_gigabyte(rows: Sequence[Row]) -> str:
    """Says what one more gigabyte costs at each size."""
    found = []
    for row in rows:
        gigabytes = int(row.value.removesuffix("B")) / 1e9
        seconds, cpu_s = (row.middle(of) / gigabytes for of in (lambda t: t.seconds, lambda t: t.cpu_s))
        joules = f", {row.middle(lambda t: t.joules or 0.0) / gigabytes:.1f} J" if _metered(rows) else ""
        found.append(f"{gigabytes:g} GB {seconds:.2f} s, {cpu_s:.2f} CPU s{joules}")
    return f"Per gigabyte (medians of {len(rows[0].timings)} cold, validated runs): {'; '.join(found)}."


def _metered(rows: Sequence[Row]) -> bool:
    return all(t.joules is not None for row in rows for t in row.timings)


def is_simulated(rows: Sequence[Row]) -> bool:
    return any(t.simulated for row in rows for t in row.timings)


def paragraph(experiment: Experiment, rows: Sequence[Row]) -> str:
    """Says what the figure shows, in a sentence or two."""
    if not rows:
        raise UsageError("nothing was measured")
    warning = "SIMULATED: the joules are computed, no meter was read. " if is_simulated(rows) else ""
    return warning + (_per_gigabyte(rows) if experiment.option == SIZE else _best_and_worst(experiment, rows))


def _best_and_worst(experiment: Experiment, rows: Sequence[Row]) -> str:
    best = min(rows, key=lambda r: r.middle(lambda t: t.seconds))
    thrifty = min(rows, key=lambda r: r.middle(lambda t: t.cpu_s))
    worst = max(rows, key=lambda r: r.middle(lambda t: t.seconds))
    least, most = (r.middle(lambda t: t.seconds) for r in (best, worst))
    spread = max(
        (max(t.seconds for t in r.timings) - min(t.seconds for t in r.timings)) / r.middle(lambda t: t.seconds) for r in rows
    )
    text = (
        f"Of {experiment.option}, {best.value} is fastest ({least:.2f} s, median of {len(best.timings)} cold, validated runs) "
        f"and {worst.value} slowest ({most:.2f} s, {most / least:.2f} times as long); {thrifty.value} takes least processor time "
        f"({thrifty.middle(lambda t: t.cpu_s):.2f} s)."
    )
    joules = [(r.middle(lambda t: t.joules or 0.0), r.value) for r in rows] if _metered(rows) else []
    if joules:
        text += f" Least energy takes {min(joules)[1]} ({min(joules)[0]:.1f} J), most {max(joules)[1]} ({max(joules)[0]:.1f} J)."
    if most / least - 1 < spread:
        text += f" Runs of one value differ by up to {100 * spread:.0f} %, more than the values do: no difference is shown."
    return text


def write_csv(path: Path, experiment: Experiment, rows: Sequence[Row]) -> None:
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow([experiment.name, "round", "seconds", "cpu_s", "run_formation_s", "merge_s", "joules", "simulated"])
        for row in rows:
            for i, t in enumerate(row.timings):
                energy = ["", ""] if t.joules is None else [t.joules, "SIMULATED" if t.simulated else ""]
                out.writerow([row.value, i + 1, t.seconds, t.cpu_s, t.formation_s, t.merge_s, *energy])


# A figure draws these in the colours of the reports: name, value, stroke, colour.
_LINES: tuple[tuple[str, Callable[[Timing], float], str, str], ...] = (
    ("time", lambda t: t.seconds, "o-", BLACK),
    ("run formation", lambda t: t.formation_s, "s--", phase_color("run_formation", ())),
    ("merge", lambda t: t.merge_s, "^--", phase_color("merge", ())),
    ("CPU seconds", lambda t: t.cpu_s, "x:", GREEN),
)


def draw(experiment: Experiment, rows: Sequence[Row]) -> Any:
    """Medians of the whole, of both phases and of the processor; bars from the least to the greatest. The figure."""
    figure, axis = subplots()
    positions = range(len(rows))
    for label, of, style, color in _LINES:
        draw_medians(axis, positions, [[of(t) for t in row.timings] for row in rows], style, color, label)
    axis.set_xlabel(experiment.what)
    axis.set_ylabel("seconds")
    axis.set_ylim(bottom=0)
    if _metered(rows):
        energy = axis.twinx()
        samples = [[t.joules or 0.0 for t in row.timings] for row in rows]
        draw_medians(energy, positions, samples, "d-", VERMILION, "energy (joules, right)")
        energy.set_ylabel("joules", color=VERMILION)
        energy.set_ylim(bottom=0)
        energy.grid(visible=False)
        energy.spines.right.set_visible(True)
    if is_simulated(rows):
        axis.set_title("SIMULATED joules")
        mark_simulated(axis, MARK_POINTS)
    add_legend(figure)
    axis.set_xticks(positions, [_short(row.value) for row in rows])
    turn_ticks_if_crowded(axis)
    return figure


def _short(value: str) -> str:
    """A number of bytes in its largest unit."""
    return size_text(int(value[:-1])) if value.endswith("B") and value[:-1].isdecimal() else value


def write_figure(directory: Path, experiment: Experiment, rows: Sequence[Row], circumstances: str) -> str:
    """NAME as PNG, SVG and PDF, NAME.csv and NAME.md; the paragraph."""
    directory.mkdir(parents=True, exist_ok=True)
    write_csv(directory / f"{experiment.name}.csv", experiment, rows)
    with styled():
        save(draw(experiment, rows), directory, experiment.name)
    text = paragraph(experiment, rows)
    write_page(directory, experiment.name, text, circumstances)
    return text
