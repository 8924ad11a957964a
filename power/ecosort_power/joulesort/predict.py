"""`ecosort-power joulesort --predict`: what the classes would take on this machine. Nothing is generated, sorted or measured.

Seconds are those of `ecosort plan sort` by a profile of this machine. Watts are stated by who asks, or follow from the model of
power that was fitted to a meter; where there are neither, the table has no joules, and says which power would reach the best
result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from ecosort_power.errors import EXIT_OK, UsageError
from ecosort_power.joulesort.sorter import entry_words
from ecosort_power.planned import plan_of, prediction_of
from ecosort_power.records import E8, E9, E10, TABLE, Record, class_name, spaced

PREDICTED = (E8, E9, E10)
_LIMITS = (
    "Models that were fitted to sorts of some gigabytes leave out what a drive does after hours: a full cache, heat, a file",
    "system with little free space. Measure a rehearsal (--records) of the size that you enter.",
)


@dataclass(frozen=True, slots=True)
class Forecast:
    """Predicts one class. `joules` is None where no power is known."""

    records: int
    seconds: float
    cpu_s: float
    bytes_moved: int
    joules: float | None
    notes: tuple[str, ...] = ()

    @property
    def watts(self) -> float | None:
        return None if self.joules is None else self.joules / self.seconds

    @property
    def records_per_joule(self) -> float | None:
        return None if self.joules is None else self.records / self.joules

    def watts_to_reach(self, best: Record) -> float:
        """The mean power at which these seconds would give the same records per joule."""
        return self.records / best.records_per_joule / self.seconds


def best_of(records: int) -> Record:
    """The best result of a class."""
    return max((r for r in TABLE if r.records == records), key=lambda r: r.records_per_joule)


def forecast(records: int, watts: float | None, output: Path, words: Sequence[str]) -> Forecast:
    """Stated watts count instead of the profile's. UsageError with the reason where the planner predicts nothing."""
    found = prediction_of(plan_of(records, output, entry_words(words)))
    seconds = float(found["seconds"])
    joules = found["joules"] if watts is None else watts * seconds
    notes = tuple(str(note) for note in found["notes"])
    return Forecast(records, seconds, float(found["cpu_s"]), int(found["bytes_moved"]), joules, notes)


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _row(found: Forecast) -> tuple[str, ...]:
    best, rate = best_of(found.records), found.records_per_joule
    return (
        class_name(found.records),
        f"{found.seconds:.4g}",
        f"{found.cpu_s:.4g}",
        f"{found.bytes_moved / 1e9:.4g}",
        _number(found.watts, ".4g"),
        _number(found.joules, ".4g"),
        "-" if rate is None else spaced(round(rate)),
        spaced(round(best.records_per_joule)),
        f"{found.watts_to_reach(best):.3g}",
    )


_HEAD = ("class", "seconds", "CPU s", "GB moved", "watts", "joules", "records/J", "best records/J", "reached with W")


def table(rows: Sequence[Forecast]) -> Iterator[str]:
    """Lines of columns, flush right but for the first."""
    cells = [_HEAD, *(_row(found) for found in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(_HEAD))]
    for row in cells:
        yield "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])


def _notes(rows: Sequence[Forecast], watts: float | None) -> Iterator[str]:
    if watts is not None:
        yield f"watts: {watts:g}, as stated; nothing was measured"
    elif any(found.joules is not None for found in rows):
        yield "watts: by the profile's model of power, which was fitted to runs with a meter"
    else:
        yield "watts: none known, so no joules; state the mean power at the wall (--watts W), or fit the profile"
        yield "       to results of `ecosort power run` (ecosort tune fit)"
    for found in rows:
        best = best_of(found.records)
        remark = f", {best.remark}" if best.remark else ""
        yield f"best of {class_name(found.records)}: {best.name}, {best.year}, {best.machine}{remark}"
    yield from dict.fromkeys(note for found in rows for note in found.notes)
    yield from _LIMITS


def predict(classes: Sequence[int], watts: float | None, data: Path, words: Sequence[str]) -> int:
    """Prints the table. `words` are options of the sort. UsageError where nothing is predicted for one of the classes."""
    rows = []
    for records in classes:
        if not any(r.records == records for r in TABLE):
            raise UsageError(f"there is no class of {spaced(records)} records to compare with")
        try:
            rows.append(forecast(records, watts, data / "output.dat", words))
        except UsageError as error:
            raise UsageError(f"nothing can be predicted for {class_name(records)}: {error}") from error
    for line in (*table(rows), "", *_notes(rows, watts)):
        click.echo(line)
    return EXIT_OK
