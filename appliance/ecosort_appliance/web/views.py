"""Prepares what the page shows, read from the queue for each request."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ecosort.text import shown, size_text

from ecosort_appliance import jobs, report
from ecosort_appliance.database import open_database
from ecosort_appliance.drives import Drive, Temperatures, drives_of
from ecosort_appliance.jobdir import JobDirectory
from ecosort_appliance.jobs import Job
from ecosort_appliance.show import energy_text, facts_of, moment_text, progress_text, state_text
from ecosort_appliance.text import command_text, span_text
from ecosort_appliance.web.charts import Line, course
from ecosort_appliance.web.track import Track

_LAST = 10  # that ended, on the first page
_HISTORY = 200
_WAITING = 100
_DAYS = 14
_MOST_PHASES = 100
_FACTS = ("directory", "when", "made by", "on end", "told", "output", "attempts", "exit code", "records", "moved")


class WattSource(Protocol):
    """A meter."""

    @property
    def title(self) -> str: ...

    @property
    def watts(self) -> float | None: ...

    @property
    def simulated(self) -> bool: ...


@dataclass(frozen=True)
class Row:
    """A job as text."""

    id: int
    title: str  # its name, if it has one
    command: str
    kind: str  # the state as one word
    reason: str
    progress: str
    percent: int | None
    times: str
    work: str
    energy: str
    actions: tuple[str, ...]
    phase: tuple[int, int, int] | None = None  # its number, how many there are, and percent of it
    course: tuple[Line, ...] = ()
    span: str = ""  # of time that the course has


_ACTIONS = {
    jobs.RUNNING: ("pause", "cancel"),
    jobs.QUEUED: ("pause", "cancel"),
    jobs.STANDING: ("pause", "cancel"),
    jobs.PAUSED: ("resume", "cancel"),
    jobs.FAILED: ("retry",),
    jobs.CANCELLED: ("retry",),
    jobs.DONE: (),
}


class Views:
    """Shows the queue in that directory. Thread-safe: each call has a connection of its own."""

    def __init__(self, queue: Path, meter: WattSource | None, temperatures: Temperatures, track: Track) -> None:
        self._track = track
        self._queue = queue
        self._meter = meter
        self._temperatures = temperatures

    def overview(self) -> dict[str, Any]:
        with closing(open_database(self._queue)) as connection:
            there = jobs.select(connection, f"NOT {jobs.HAS_ENDED} AND state != 'running'", limit=_WAITING)
            running = jobs.select(connection, "state = 'running'")
            (waiting,) = connection.execute(
                f"SELECT count(*) FROM jobs WHERE NOT {jobs.HAS_ENDED} AND state != 'running'"
            ).fetchone()
            ended = jobs.ended(connection, _LAST)
            days = connection.execute("SELECT * FROM energy ORDER BY day DESC, source LIMIT ?", (_DAYS,)).fetchall()
            stopped = jobs.is_stopped(connection)
        drives = drives_of([*running, *there, *ended])
        return {
            "running": [self._row(job) for job in running],
            "waiting": [self._row(job) for job in there],
            "ended": [self._row(job) for job in ended],
            "more": waiting - len(there),
            "stopped": stopped,
            "meter": self._meter.title if self._meter else None,
            "watts": self._meter.watts if self._meter else None,
            "days": [_bar(day, max(day["joules"] for day in days)) for day in days],
            "drives": [_drive(drive) for drive in drives],
            "fullest": _drive(min(drives, key=lambda drive: drive.free_bytes)) if drives else None,
            "temperatures": self._temperatures.now(),
            "now": time.strftime("%Y-%m-%d %H:%M:%S"),
        }

    def history(self, words: str, state: str) -> dict[str, Any]:
        """Returns the jobs that ended, the last first: those of a state, and with these words in name, command or reason."""
        with closing(open_database(self._queue)) as connection:
            found = jobs.ended(connection, -1)
        wanted = [job for job in found if state in ("", job.state) and _has(job, words.lower().split())]
        return {
            "rows": [self._row(job) for job in wanted[:_HISTORY]],
            "more": max(0, len(wanted) - _HISTORY),
            "words": words,
            "state": state,
            "states": jobs.ENDED,
        }

    def report(self, month: str | None) -> dict[str, Any]:
        """QueueError for what is no month."""
        with closing(open_database(self._queue)) as connection:
            found = report.month_of(connection, month)
        rows = [report.cells(day) for day in found.days]
        return {"month": found.name, "heads": report.HEADS, "rows": rows, "total": report.cells(found.total)}

    def job(self, number: int) -> dict[str, Any]:
        with closing(open_database(self._queue)) as connection:
            job = jobs.get(connection, number)
        directory = JobDirectory(self._queue, job.id, job.uid)
        log = directory.log().decode(errors="surrogateescape").splitlines()
        facts = {name: shown(text) for name, text in facts_of(job).items() if name in _FACTS}
        return {"row": self._row(job), "facts": facts, "log": "\n".join(shown(line) for line in log)}

    def _row(self, job: Job) -> Row:
        progress = JobDirectory(self._queue, job.id, job.uid).progress() if job.state == jobs.RUNNING else None
        percent = (progress or {}).get("job_percent")
        points = self._track.points(job.id) if job.state == jobs.RUNNING else []
        return Row(
            id=job.id,
            title=shown(job.name),
            command=command_text(job.words),
            kind=job.state,
            reason=shown(state_text(job).removeprefix(job.state).lstrip(":, ")),
            progress=shown(progress_text(progress)),
            percent=int(percent) if isinstance(percent, int | float) and 0 <= percent <= 100 else None,
            times=moment_text(job),
            work=span_text(job.work_s) if job.work_s else "",
            energy=energy_text(job),
            actions=() if job.wish else _ACTIONS[job.state],
            phase=_phase(progress),
            course=tuple(course(points)),
            span=span_text(points[-1][0] - points[0][0]) if points else "",
        )


def _phase(progress: Mapping[str, Any] | None) -> tuple[int, int, int] | None:
    found = [(progress or {}).get(name) for name in ("phase_number", "phases", "percent")]
    number, phases, percent = (int(value) if isinstance(value, int | float) else 0 for value in found)
    return (number, phases, max(0, min(100, percent))) if 1 <= number <= phases <= _MOST_PHASES else None


def _bar(day: sqlite3.Row, most_joules: float) -> dict[str, Any]:
    """Returns the energy of a day as text, and as a part of that of the day with the most."""
    text = f"{day['joules'] / 3600:,.1f} Wh in {span_text(day['metered_s'])} of metering"
    marked = day["source"] == jobs.SIMULATED
    return {
        "name": day["day"],
        "text": f"SIMULATED, no measurement: {text}" if marked else text,
        "percent": 100 * day["joules"] / most_joules if most_joules > 0 else 0.0,
        "marked": marked,
    }


def _drive(drive: Drive) -> dict[str, Any]:
    used = drive.size_bytes - drive.free_bytes
    return {
        "place": shown(drive.place),
        "free": size_text(drive.free_bytes),
        "size": size_text(drive.size_bytes),
        "percent": round(100 * used / drive.size_bytes) if drive.size_bytes else 0,
    }


def _has(job: Job, words: Sequence[str]) -> bool:
    text = f"{job.id} {job.name} {command_text(job.words)} {job.reason}".lower()
    return all(word in text for word in words)
