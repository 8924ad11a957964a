"""The jobs in the database: what one is, and every change of its state. Each function is one transaction.

    standing -> (makes queued jobs)      queued -> running -> done | failed | cancelled
                                         queued, running <-> paused; failed, cancelled -> queued (retry)

A job that was begun keeps its number of attempts. `wish` is what is asked of a job that runs: cancel or pause; `abandon` is what
a cancelled one still does.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ecosort.text import shown

from ecosort_appliance.database import transaction
from ecosort_appliance.errors import NoSuchJob, QueueError

STANDING, QUEUED, RUNNING, PAUSED = "standing", "queued", "running", "paused"
DONE, FAILED, CANCELLED = "done", "failed", "cancelled"
ENDED = (DONE, FAILED, CANCELLED)
MEASURED, SIMULATED = "measured", "simulated"  # where joules come from
FEWEST_VALUES = 10  # of the meter, as `ecosort power` wants them in a run
MOSTLY = 0.9  # of its work a job must have been metered, or records per joule are wrong
_SURROGATE = re.compile("[\ud800-\udfff]")
_LARGEST_NUMBER = 2**63 - 1  # that SQLite takes
_MOST_DIGITS = 20  # of a number that is worth a look
HAS_ENDED = "state IN ('done', 'failed', 'cancelled')"
_JSON = ("words", "request", "directory", "environment", "output", "output_before", "patterns", "watch", "on_end")


@dataclass(frozen=True, kw_only=True)
class Job:
    """A row, or one that is to be queued, whose `id` is 0. Times are seconds since 1970; paths may hold lone surrogates for bytes
    that are no UTF-8."""

    id: int = 0
    parent: int | None = None
    uid: int
    name: str = ""
    words: list[str]  # as its user typed them
    request: dict[str, Any] | None = None  # a tasks.Task; None: an older program queued the words alone
    directory: str
    environment: dict[str, str] = field(default_factory=dict)
    output: str | None = None
    priority: int = 0
    memory: str | None = None
    on_end: str | None = None
    resumable: bool = True  # an interrupted attempt can be gone on with
    state: str = QUEUED
    reason: str = ""
    wish: str = ""
    not_before_s: float = 0.0
    every: str | None = None
    at: str | None = None
    watch: str | None = None
    settle_s: float | None = None
    condition: str | None = None
    latest: str | None = None
    latest_s: float = 0.0  # 0: never
    patterns: list[str] = field(default_factory=list)  # of names in the watched directory; none: all
    attempt: int = 0
    has_begun: bool = False
    output_before: list[int] | None = None
    journal: str | None = None  # of the job directory that its attempts left; empty: they left none; None: not known
    queued_s: float = 0.0
    started_s: float | None = None
    ended_s: float | None = None
    exit_code: int | None = None
    work_s: float = 0.0
    joules: float | None = None
    metered_s: float = 0.0
    records: int | None = None
    bytes_moved: int | None = None
    notified: bool = False
    energy_source: str = ""
    meter_values: int | None = None
    tell_tries: int = 0
    tell_again_s: float = 0.0
    tell_error: str = ""

    @property
    def has_energy(self) -> bool:
        """Enough values of a meter came while the program worked. An older program did not count them."""
        return self.joules is not None and (self.meter_values is None or self.meter_values >= FEWEST_VALUES)

    @property
    def is_metered_throughout(self) -> bool:
        return self.meter_values is None or self.metered_s >= MOSTLY * self.work_s

    @property
    def records_per_joule(self) -> float | None:
        if not (self.has_energy and self.is_metered_throughout):
            return None
        return self.records / self.joules if self.records and self.joules else None

    @property
    def joules_per_gb(self) -> float | None:
        """Returns joules per 10^9 bytes that the job moved."""
        if not (self.has_energy and self.is_metered_throughout):
            return None
        return (self.joules or 0.0) / (self.bytes_moved / 1e9) if self.bytes_moved else None


def from_row(row: sqlite3.Row) -> Job:
    values = dict(row)
    for name in _JSON:
        values[name] = None if values[name] is None else json.loads(values[name])
    for name in ("resumable", "has_begun", "notified"):
        values[name] = bool(values[name])
    return Job(**values)


def _stored(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _column(name, value) for name, value in values.items()}


def _column(name: str, value: Any) -> Any:
    """Returns what SQLite can hold. A text for people, such as a reason, may name a file in which bytes are no UTF-8."""
    if name in _JSON:
        return None if value is None else json.dumps(value)
    return _SURROGATE.sub(lambda found: shown(found[0]), value) if isinstance(value, str) else value


def insert(connection: sqlite3.Connection, job: Job) -> int:
    """The number of a new job, on stable storage. QueueError when another job writes the output."""
    stored = _stored({name: value for name, value in vars(job).items() if name != "id"})
    statement = f"INSERT INTO jobs ({', '.join(stored)}) VALUES ({', '.join('?' * len(stored))})"
    with transaction(connection):
        return _unless_written(connection, job.output, statement, tuple(stored.values()))


def _unless_written(connection: sqlite3.Connection, output: str | None, statement: str, values: Sequence[Any]) -> int:
    try:
        return connection.execute(statement, values).lastrowid or 0
    except sqlite3.IntegrityError:
        raise QueueError(is_written_text(connection, writer_of(connection, output or ""), output)) from None


def is_written_text(connection: sqlite3.Connection, writer: int | None, output: str | None) -> str:
    """Why no other job may write there, and what to do."""
    if writer is not None and get(connection, writer).wish == "abandon":
        return f"job {writer} still has to remove what it left of {output!r}; a service or `ecosort queue run` does that"
    other = f", or `ecosort queue cancel {writer}` first" if writer is not None else ""
    return f"job {writer} writes {output!r} already; name another output, wait until it has ended{other}"


def writer_of(connection: sqlite3.Connection, output: str) -> int | None:
    """The job that may write there."""
    row = connection.execute(
        "SELECT id FROM jobs WHERE output = ? AND state IN ('queued', 'paused', 'running')", (json.dumps(output),)
    ).fetchone()
    return row["id"] if row else None


def number_of(text: str) -> int:
    """Reads digits, however many. NoSuchJob."""
    if not text.isascii() or not text.isdecimal():
        raise NoSuchJob(f"{text[:40]!r} is no number of a job; `ecosort queue list --all` lists them")
    if len(text) > _MOST_DIGITS:
        raise NoSuchJob(f"there is no job {text[:_MOST_DIGITS]}; `ecosort queue list --all` lists them")
    return int(text)


def get(connection: sqlite3.Connection, number: int) -> Job:
    is_possible = 0 < number <= _LARGEST_NUMBER
    row = connection.execute("SELECT * FROM jobs WHERE id = ?", (number,)).fetchone() if is_possible else None
    if row is None:
        raise NoSuchJob(f"there is no job {number}; `ecosort queue list --all` lists them")
    return from_row(row)


def select(connection: sqlite3.Connection, where: str = "1", values: Sequence[Any] = (), limit: int = -1) -> list[Job]:
    """In the order in which they are to be done; `where` is ours, never a user's."""
    rows = connection.execute(f"SELECT * FROM jobs WHERE {where} ORDER BY priority DESC, id LIMIT ?", (*values, limit))
    return [from_row(row) for row in rows]


def next_due_s(connection: sqlite3.Connection) -> float | None:
    """Returns when the next job begins or is made by a rule, at the earliest; None: no time is known."""
    row = connection.execute(
        "SELECT min(not_before_s) AS due_s FROM jobs WHERE state = 'queued' OR (state = 'standing' AND every IS NOT NULL)"
    ).fetchone()
    return None if row["due_s"] is None or is_stopped(connection) else float(row["due_s"])


def ended(connection: sqlite3.Connection, limit: int) -> list[Job]:
    """The last ones first."""
    rows = connection.execute(f"SELECT * FROM jobs WHERE {HAS_ENDED} ORDER BY ended_s DESC LIMIT ?", (limit,))
    return [from_row(row) for row in rows]


def update(connection: sqlite3.Connection, number: int, **changes: Any) -> None:
    """Sets columns of one job. QueueError when that would make two writers of one output."""
    with transaction(connection):
        _set(connection, number, changes)


def change_state(connection: sqlite3.Connection, number: int, expected: Sequence[str], **changes: Any) -> bool:
    """Changes it where the state is still one of `expected`; False where somebody else was quicker."""
    with transaction(connection):
        if get(connection, number).state not in expected:
            return False
        _set(connection, number, changes)
    return True


def _set(connection: sqlite3.Connection, number: int, changes: Mapping[str, Any]) -> None:
    stored = _stored(changes)
    assignments = ", ".join(f"{name} = ?" for name in stored)
    row = connection.execute("SELECT output FROM jobs WHERE id = ?", (number,)).fetchone()
    output = changes.get("output") or (json.loads(row["output"]) if row and row["output"] is not None else None)
    _unless_written(connection, output, f"UPDATE jobs SET {assignments} WHERE id = ?", (*stored.values(), number))


def begin_attempt(
    connection: sqlite3.Connection, job: Job, output: str, output_before: list[int] | None, goes_on: bool
) -> Job | None:
    """Marks the job as running before anything of it runs. None where it was cancelled or paused meanwhile.

    An attempt that continues with an earlier one keeps what was there before that one, and its journal.
    """
    with transaction(connection):
        now = get(connection, job.id)
        if now.state != QUEUED:
            return None
        before, journal = (now.output_before, now.journal) if goes_on else (output_before, None)
        _unless_written(
            connection,
            output,
            "UPDATE jobs SET state = 'running', reason = '', attempt = attempt + 1, has_begun = 1, output = ?, output_before = ?,"
            " journal = ?, started_s = coalesce(started_s, ?), exit_code = NULL, ended_s = NULL WHERE id = ?",
            (json.dumps(output), None if before is None else json.dumps(before), journal, time.time(), job.id),
        )
        forget_telling(connection, job.id)
        return get(connection, job.id)


def forget_telling(connection: sqlite3.Connection, number: int) -> None:
    """Its end is still to be reported; within a transaction."""
    connection.execute("UPDATE jobs SET notified = 0, tell_tries = 0, tell_again_s = 0, tell_error = '' WHERE id = ?", (number,))


def setting(connection: sqlite3.Connection, name: str) -> str | None:
    row = connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return str(row["value"]) if row else None


def set_setting(connection: sqlite3.Connection, name: str, value: str) -> None:
    with transaction(connection):
        connection.execute(
            "INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", (name, value)
        )


def is_stopped(connection: sqlite3.Connection) -> bool:
    """`queue pause` without a number: no job begins."""
    return setting(connection, "stopped") == "yes"
