"""Shares out the machine's joules: each moment's go to the jobs whose program works then, in equal shares.

Times are of the monotonic clock, which keeper, meter and service share. A keeper writes when its program began and ended; only
attempts are counted that this service has seen alive, so that no time is of the boot before.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from ecosort_appliance.database import transaction
from ecosort_appliance.jobdir import JobDirectory
from ecosort_appliance.jobs import MEASURED, SIMULATED, Job

_PATIENCE_S = 15.0  # for the value of the meter that comes after the end of a job


@dataclass(frozen=True, slots=True)
class Stretch:
    """Energy of the whole machine from one value of the meter to the next one."""

    begin_s: float
    end_s: float
    joules: float

    @property
    def seconds(self) -> float:
        return self.end_s - self.begin_s


@dataclass(frozen=True, slots=True)
class Share:
    """Says what a job took: `values` of the meter came within its work."""

    joules: float = 0.0
    seconds: float = 0.0
    values: int = 0


class EnergySource(Protocol):
    """A meter."""

    @property
    def simulated(self) -> bool: ...

    def take(self) -> list[Stretch]: ...


@dataclass
class Work:
    """One attempt: `begin_s` None while its program is not known to work, `end_s` None while it does."""

    directory: JobDirectory
    attempt: int
    seen_s: float
    begin_s: float | None = None
    end_s: float | None = None
    closed_s: float | None = None

    def refresh(self) -> None:
        """From what the keeper wrote, which may be anything: no time counts before it was seen, or after it was concluded."""
        told = self.directory.read_json("keeper.json") or {}
        end = self.directory.exit_of(self.attempt) or {}
        latest_s = time.monotonic() if self.closed_s is None else self.closed_s
        begin_s = end.get("begin_s", told.get("begin_s") if told.get("attempt") == self.attempt else None)
        if isinstance(begin_s, int | float):
            self.begin_s = min(max(float(begin_s), self.seen_s), latest_s)
        end_s = end.get("end_s", self.closed_s)
        if isinstance(end_s, int | float):
            self.end_s = min(float(end_s), latest_s)

    @property
    def span(self) -> tuple[float, float]:
        """Empty while nothing is known."""
        if self.begin_s is None:
            return 0.0, 0.0
        return self.begin_s, float("inf") if self.end_s is None else self.end_s


class Ledger:
    """Writes each job's joules, and those of the day; nothing without a meter."""

    def __init__(self, connection: sqlite3.Connection, energy: EnergySource | None) -> None:
        self._connection = connection
        self._energy = energy
        self._works: dict[int, Work] = {}

    def open(self, job: Job, directory: JobDirectory) -> None:
        """An attempt that is about to begin, or is found alive."""
        if self._energy is None:
            return
        known = self._works.get(job.id)
        if known is not None and known.attempt == job.attempt:
            return
        self._works[job.id] = Work(directory, job.attempt, time.monotonic())
        with transaction(self._connection):
            self._connection.execute("UPDATE jobs SET meter_values = coalesce(meter_values, 0) WHERE id = ?", (job.id,))

    def close(self, number: int) -> None:
        """Its attempt has ended."""
        if (work := self._works.get(number)) is not None:
            work.closed_s = time.monotonic()

    @property
    def awaits_ends(self) -> bool:
        return any(work.closed_s is not None for work in self._works.values())

    def is_open(self, number: int) -> bool:
        """Values of the meter are still to come that report its end."""
        return number in self._works

    def count(self) -> None:
        if self._energy is None:
            return
        for work in self._works.values():
            work.refresh()
        stretches = self._energy.take()
        if stretches:
            source = SIMULATED if self._energy.simulated else MEASURED
            self._write(source, stretches, shares(stretches, {number: work.span for number, work in self._works.items()}))
        told_s = stretches[-1].end_s if stretches else 0.0
        now_s = time.monotonic()
        self._works = {number: work for number, work in self._works.items() if not _is_settled(work, told_s, now_s)}

    def _write(self, source: str, stretches: Sequence[Stretch], found: Mapping[int, Share]) -> None:
        with transaction(self._connection):
            for number, share in found.items():
                self._connection.execute(
                    "UPDATE jobs SET energy_source = CASE WHEN energy_source = 'simulated' OR (joules > 0 AND energy_source = '')"
                    " THEN energy_source ELSE ? END,"
                    " joules = coalesce(joules, 0) + ?, metered_s = metered_s + ?, meter_values = coalesce(meter_values, 0) + ?"
                    " WHERE id = ?",
                    (source, share.joules, share.seconds, share.values, number),
                )
            self._connection.execute(
                "INSERT INTO energy VALUES (?, ?, ?, ?) ON CONFLICT (day, source) DO UPDATE"
                " SET joules = joules + excluded.joules, metered_s = metered_s + excluded.metered_s",
                (time.strftime("%Y-%m-%d"), source, sum(s.joules for s in stretches), sum(s.seconds for s in stretches)),
            )


def _is_settled(work: Work, told_s: float, now_s: float) -> bool:
    if work.closed_s is None:
        return False
    return told_s >= (work.end_s or work.closed_s) or now_s - work.closed_s > _PATIENCE_S


def shares(stretches: Iterable[Stretch], spans: Mapping[int, tuple[float, float]]) -> dict[int, Share]:
    """Returns the share of each job that worked in one of the stretches."""
    found: dict[int, Share] = {}
    for stretch in stretches:
        edges = {edge for span in spans.values() for edge in span if stretch.begin_s < edge < stretch.end_s}
        for begin_s, end_s in pairwise(sorted({stretch.begin_s, stretch.end_s, *edges})):
            busy = [number for number, span in spans.items() if span[0] <= begin_s and end_s <= span[1]]
            for number in busy:
                joules = stretch.joules * (end_s - begin_s) / stretch.seconds / len(busy)
                known = found.get(number, Share())
                is_value = end_s == stretch.end_s
                found[number] = Share(known.joules + joules, known.seconds + end_s - begin_s, known.values + is_value)
    return found
