"""Standing jobs: what `--every` and `--watch` make jobs of."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from dataclasses import replace

from ecosort_appliance import jobs, times
from ecosort_appliance.database import transaction
from ecosort_appliance.errors import QueueError
from ecosort_appliance.jobs import Job
from ecosort_appliance.places import real_path
from ecosort_appliance.tasks import Task, filled, task_of, typed
from ecosort_appliance.watch import Found, look_as

_UNENDED = "parent = ? AND state IN ('queued', 'paused', 'running')"
_LOOK_PERIOD_S = 5.0


def _latest_s(standing: Job) -> float:
    return times.moment(standing.latest, time.time(), "--latest") if standing.latest else 0.0


def make_job(connection: sqlite3.Connection, standing: Job, seen: Found | None, next_s: float) -> int:
    """A queued job of a standing one, and in the same transaction the note that it was made."""
    words, task = _filled(standing, seen)
    output = real_path(task.output, standing.directory)
    with transaction(connection):
        if jobs.get(connection, standing.id).state != jobs.STANDING:
            raise QueueError("it is not standing any more")
        if writer := jobs.writer_of(connection, output):
            raise QueueError(f"waits until job {writer}, which writes {output!r}, has ended")
        cursor = connection.execute(
            "INSERT INTO jobs (parent, uid, name, words, request, directory, environment, output, priority, memory, on_end,"
            " resumable, condition, latest, latest_s, state, queued_s)"
            " SELECT id, uid, name, ?, ?, directory, environment, ?, priority, memory, on_end, ?, condition, latest, ?,"
            " 'queued', ?"
            " FROM jobs WHERE id = ?",
            (
                *map(json.dumps, (words, task.stored(), output)),
                *(task.kind != "file", _latest_s(standing), time.time(), standing.id),
            ),
        )
        if seen is not None:
            connection.execute(
                "INSERT INTO seen VALUES (?, ?, ?) ON CONFLICT (job, path) DO UPDATE SET identity = excluded.identity",
                (standing.id, json.dumps(seen.path), seen.identity),
            )
        connection.execute("UPDATE jobs SET not_before_s = ?, reason = '' WHERE id = ?", (next_s, standing.id))
    return cursor.lastrowid or 0


def _filled(standing: Job, seen: Found | None) -> tuple[list[str], Task]:
    """Its words and its task; for a file that came to a watched directory with its name."""
    task = task_of(standing)
    if seen is None:
        return standing.words, task
    name = os.path.basename(seen.path)  # noqa: PTH119
    words, task = filled(standing.words, seen.path, name), task.filled(seen.path, name)
    if task.kind == "resumable":  # of a compressed file it cannot be, as the program knows by the name
        with contextlib.suppress(QueueError):  # the user wants it so, and the job will say why it cannot be
            task = task if typed(replace(standing, words=words)).resumable else task.begun_anew()
    return words, task


class Standing:
    """Makes jobs when they are due. How long watched files have rested is kept in memory: a new service waits for that again.

    `believes_changes`: for who looks only once, a file has rested since its last change.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.believes_changes = False
        self._connection = connection
        self._resting: dict[tuple[int, str], tuple[str, float]] = {}
        self._looked_s: dict[int, float] = {}

    def tick(self, now_s: float) -> None:
        for job in jobs.select(self._connection, "state = 'standing'"):
            try:
                if job.watch is not None:
                    self._watch(job)
                else:
                    self._rule(job, now_s)
            except (QueueError, OSError) as error:
                self._tell(job, str(error))

    def _tell(self, job: Job, reason: str) -> None:
        if job.reason != reason:
            jobs.update(self._connection, job.id, reason=reason)

    def _rule(self, job: Job, now_s: float) -> None:
        assert job.every
        clock = times.clock_of(job.queued_s, job.at)
        due_s = times.unless_set_back(job.every, job.not_before_s, now_s, job.at, clock)
        if due_s > now_s:
            if due_s != job.not_before_s:
                jobs.update(self._connection, job.id, not_before_s=due_s)
            return
        next_s = times.following(job.every, due_s, now_s, clock)
        if earlier := jobs.select(self._connection, _UNENDED, (job.id,)):
            reason = f"was left out once: job {earlier[0].id} has not ended"
            jobs.update(self._connection, job.id, not_before_s=next_s, reason=reason)
            return
        make_job(self._connection, job, None, next_s)

    def _watch(self, job: Job) -> None:
        assert job.watch is not None
        assert job.settle_s is not None
        now_s = time.monotonic()
        if now_s - self._looked_s.get(job.id, -_LOOK_PERIOD_S) < min(_LOOK_PERIOD_S, job.settle_s / 4):
            return
        self._looked_s[job.id] = now_s
        there = look_as(job.uid, job.watch, job.patterns)
        self._forget_gone(job, there)
        for file in there:
            identity, since_s = self._resting.get((job.id, file.path)) or self._at_first(file, now_s)
            if file.is_written or identity != file.identity:
                self._resting[job.id, file.path] = (file.identity, now_s)
            elif now_s - since_s >= job.settle_s and not self._was_seen(job, file):
                self._make_for(job, file)

    def _at_first(self, file: Found, now_s: float) -> tuple[str, float]:
        """Returns what is known of a file that was not looked at before."""
        return (file.identity, now_s - max(0.0, time.time() - file.changed_s)) if self.believes_changes else ("", now_s)

    def _make_for(self, job: Job, file: Found) -> None:
        """One file that must wait, because the job before it still writes the same output, does not keep the others."""
        try:
            make_job(self._connection, job, file, 0.0)
        except QueueError as error:
            self._tell(job, str(error))

    def _was_seen(self, job: Job, file: Found) -> bool:
        row = self._connection.execute(
            "SELECT identity FROM seen WHERE job = ? AND path = ?", (job.id, json.dumps(file.path))
        ).fetchone()
        return row is not None and row["identity"] == file.identity

    def _forget_gone(self, job: Job, there: list[Found]) -> None:
        """A file that has gone may come again; what was seen of it is not needed any more."""
        paths = {file.path for file in there}
        for key in [key for key in self._resting if key[0] == job.id and key[1] not in paths]:
            del self._resting[key]
            with transaction(self._connection):
                self._connection.execute("DELETE FROM seen WHERE job = ? AND path = ?", (job.id, json.dumps(key[1])))
