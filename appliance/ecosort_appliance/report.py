"""Sums up a month of sorting: jobs, bytes, hours and joules of each day, from the jobs that the queue still keeps."""

from __future__ import annotations

import csv
import io
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime

from ecosort.text import size_text

from ecosort_appliance import jobs
from ecosort_appliance.errors import QueueError
from ecosort_appliance.jobs import Job
from ecosort_appliance.text import span_text

_MONTH = re.compile(r"^(\d{4})-(0[1-9]|1[0-2])$")


@dataclass(frozen=True)
class Day:
    """Sums over the jobs that ended on a day, or over a month. `metered_*` are sums over the jobs whose joules are known, which
    alone give joules per GB. `machine_joules` is what the meter saw all day, with or without a job."""

    day: str
    done: int = 0
    failed: int = 0
    cancelled: int = 0
    records: int = 0
    bytes_moved: int = 0
    work_s: float = 0.0
    metered_jobs: int = 0
    metered_bytes: int = 0
    metered_joules: float = 0.0
    machine_joules: float = 0.0
    simulated: bool = False

    @property
    def joules_per_gb(self) -> float | None:
        """Returns joules per 10^9 bytes moved, of the metered jobs."""
        return self.metered_joules / (self.metered_bytes / 1e9) if self.metered_bytes else None

    def plus(self, job: Job) -> Day:
        """The sums with one more job in them."""
        counted = {job.state: getattr(self, job.state) + 1}
        if job.joules_per_gb is not None:
            counted |= {"metered_jobs": self.metered_jobs + 1, "metered_bytes": self.metered_bytes + (job.bytes_moved or 0)}
            counted |= {"metered_joules": self.metered_joules + (job.joules or 0.0)}
        return replace(
            self,
            records=self.records + (job.records or 0),
            bytes_moved=self.bytes_moved + (job.bytes_moved or 0),
            work_s=self.work_s + job.work_s,
            simulated=self.simulated or job.energy_source == jobs.SIMULATED,
            **counted,
        )


_CSV = (*(field.name for field in fields(Day)), "joules_per_gb")


@dataclass(frozen=True)
class Month:
    """Days on which something ended or was metered, in order, and their sum."""

    name: str
    days: list[Day]

    @property
    def total(self) -> Day:
        sums = {
            field.name: sum(getattr(day, field.name) for day in self.days)
            for field in fields(Day)
            if field.name not in ("day", "simulated")
        }
        return Day("all", simulated=any(day.simulated for day in self.days), **sums)


def month_of(connection: sqlite3.Connection, text: str | None) -> Month:
    """`text` is YYYY-MM by the local calendar; None: this month. QueueError."""
    name = text or time.strftime("%Y-%m")
    match = _MONTH.match(name)
    if match is None or not 1970 <= int(match[1]) < 9999:
        raise QueueError(f"--month {name[:20]!r} is no month; write one such as {time.strftime('%Y-%m')}")
    year, month = int(match[1]), int(match[2])
    end = (year, month + 1) if month < 12 else (year + 1, 1)
    span = datetime(year, month, 1).timestamp(), datetime(*end, 1).timestamp()
    days: dict[str, Day] = {}
    for job in jobs.select(connection, f"{jobs.HAS_ENDED} AND ended_s >= ? AND ended_s < ?", span):
        day = time.strftime("%Y-%m-%d", time.localtime(job.ended_s))
        days[day] = days.get(day, Day(day)).plus(job)
    for row in connection.execute("SELECT * FROM energy WHERE substr(day, 1, 7) = ?", (name,)):
        known = days.get(row["day"], Day(row["day"]))
        is_simulated = known.simulated or row["source"] == jobs.SIMULATED
        days[row["day"]] = replace(known, machine_joules=known.machine_joules + row["joules"], simulated=is_simulated)
    return Month(name, [days[day] for day in sorted(days)])


def csv_text(month: Month) -> str:
    """A row for each day, without a sum."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_CSV)
    for day in month.days:
        writer.writerow(["" if (value := getattr(day, name)) is None else value for name in _CSV])
    return text.getvalue()


HEADS = ("day", "done", "failed", "records", "moved", "worked", "jobs, J", "J/GB", "machine, Wh")


def cells(day: Day) -> tuple[str, ...]:
    """Returns the day as texts below HEADS."""
    mark = " SIMULATED" if day.simulated else ""
    return (
        day.day,
        str(day.done),
        str(day.failed),
        f"{day.records:,}",
        size_text(day.bytes_moved),
        span_text(day.work_s),
        f"{day.metered_joules:,.0f}{mark}" if day.metered_jobs else "",
        f"{day.joules_per_gb:,.1f}{mark}" if day.joules_per_gb is not None else "",
        f"{day.machine_joules / 3600:,.1f}{mark}" if day.machine_joules else "",
    )


def table(month: Month) -> Iterator[str]:
    """The lines of `queue report`."""
    if not month.days:
        yield f"nothing ended in {month.name}, or it is kept no longer"
        return
    rows: list[Sequence[str]] = [HEADS, *map(cells, month.days), cells(month.total)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    for row in rows:
        yield "  ".join(
            f"{cell:>{width}}" if column else f"{cell:<{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
