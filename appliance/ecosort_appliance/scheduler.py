"""Does what is queued: one job at a time on each drive, by priority, then by number. One scheduler per queue, in one thread.

It may be killed at any instruction: a job is marked as running before its keeper is started, and the keeper's lock is held from
before that mark until the last process of the attempt has ended. So a new scheduler that finds a running job whose lock is free
knows that nothing of it runs, and reads how it ended.
"""

from __future__ import annotations

import math
import os
import signal
import sqlite3
import subprocess
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from ecosort_appliance import jobs
from ecosort_appliance.cgroups import groups_left, remove_group
from ecosort_appliance.database import transaction
from ecosort_appliance.errors import QueueError
from ecosort_appliance.foresight import check_queue_is_spared, interrupted_beside
from ecosort_appliance.jobdir import JobDirectory
from ecosort_appliance.jobs import Job
from ecosort_appliance.journals import journal_in
from ecosort_appliance.launch import group_name, group_prefix, launch, next_attempt
from ecosort_appliance.ledger import EnergySource, Ledger
from ecosort_appliance.outcome import WAIT_FOR_SPACE_S, Left, identity_of, outcome, results_of
from ecosort_appliance.places import drive_of, real_path
from ecosort_appliance.processes import LOCK_NAME, is_alive, signal_job, try_lock
from ecosort_appliance.program import has_left, job_directory_of
from ecosort_appliance.rest import Rest
from ecosort_appliance.space import reason_to_wait
from ecosort_appliance.standing import Standing
from ecosort_appliance.tasks import Task, task_of
from ecosort_appliance.telling import Telling
from ecosort_appliance.values import PERIOD_S, Values, parse_condition

_ASK_PERIOD_S = 5.0  # once more, for a keeper that had not begun when it was asked first
_KILL_AFTER_S = 60.0  # a program that was asked to end makes what it has durable
_CLEAN_PERIOD_S = 3600.0
# A job with a reason waits for something, for a minute at the longest, unless the clock was set back since.
_LONGEST_WAIT_S = max(PERIOD_S, WAIT_FOR_SPACE_S)
_DUE = "state = 'queued' AND (not_before_s <= ? OR (reason != '' AND not_before_s > ?))"
_OWN_BYTES = 1 << 20  # for the log and the reports of a job
_ENERGY_PERIOD_S = 5.0


@dataclass(frozen=True)
class Settings:
    """`tick_s`: how often it looks. Retention: of jobs that ended."""

    tick_s: float = 1.0
    keep_days: float = 90.0
    keep_jobs: int = 1000
    after: str | None = None  # what the machine does when nothing is left to do: suspend, poweroff


class Scheduler:
    """QueueError when another one serves the queue."""

    def __init__(
        self, queue: Path, connection: sqlite3.Connection, settings: Settings | None = None, energy: EnergySource | None = None
    ) -> None:
        self._queue = queue
        self._connection = connection
        self._settings = settings or Settings()
        self._ledger = Ledger(connection, energy)
        self._standing = Standing(connection)
        self._values = Values(connection)
        self._keepers: dict[int, subprocess.Popen[bytes]] = {}
        self._asked_s: dict[int, tuple[float, float]] = {}  # when it was asked to end: first, last
        self._groups = groups_left(group_prefix(queue))  # to be removed, when they are empty
        self._telling = Telling(queue, connection)
        self._rest = Rest(self._settings.after)
        self._cleaned_s = self._metered_s = -_CLEAN_PERIOD_S
        self._lock = _lock(queue)

    def close(self) -> None:
        self._rest.close()
        os.close(self._lock)

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            self.tick()
            stop.wait(self._settings.tick_s)

    def run_until_idle(self) -> None:
        """Until nothing runs and nothing is due."""
        self._standing.believes_changes = True
        while True:
            self.tick()
            now_s = time.time()
            waits = any(job.not_before_s <= now_s for job in jobs.select(self._connection, "state = 'queued'"))
            is_idle = not waits or jobs.is_stopped(self._connection)
            if is_idle and not self._groups and not jobs.select(self._connection, "state = 'running'"):
                break
            time.sleep(self._settings.tick_s)
        self._telling.wait()
        self._rest.grace_s = 0.0
        self._let_rest()

    def tick(self) -> None:
        self._standing.tick(time.time())
        if self._ledger.awaits_ends or time.monotonic() - self._metered_s >= _ENERGY_PERIOD_S:
            self._count_energy()
        for job in jobs.select(self._connection, "state = 'running'"):
            self._look_at(job)
        self._groups = {name for name in self._groups if not remove_group(name)}
        self._begin_jobs()
        self._tell_ends()
        self._clean()
        self._let_rest()

    def end_jobs(self) -> None:
        """Asks all that runs to end; a later scheduler continues with it."""
        for job in jobs.select(self._connection, "state = 'running'"):
            signal_job(self._directory(job), signal.SIGTERM, job)

    def _directory(self, job: Job) -> JobDirectory:
        return JobDirectory(self._queue, job.id, job.uid)

    # --- what runs

    def _look_at(self, job: Job) -> None:
        directory = self._directory(job)
        if (keeper := self._keepers.get(job.id)) is not None and keeper.poll() is not None:
            del self._keepers[job.id]
        if not is_alive(directory):
            self._conclude(job, directory)
            return
        self._ledger.open(job, directory)
        if job.wish in ("cancel", "pause"):
            self._ask_to_end(job, directory)

    def _ask_to_end(self, job: Job, directory: JobDirectory) -> None:
        now_s = time.monotonic()
        first_s, last_s = self._asked_s.get(job.id, (now_s, now_s - _ASK_PERIOD_S))
        if now_s - last_s >= _ASK_PERIOD_S:
            self._asked_s[job.id] = (first_s, now_s)
            signal_job(directory, signal.SIGKILL if now_s - first_s > _KILL_AFTER_S else signal.SIGTERM, job)

    def _conclude(self, job: Job, directory: JobDirectory) -> None:
        self._rest.has_worked = True  # it may have ended while no service ran
        self._ledger.close(job.id)
        self._count_energy()
        job = jobs.get(self._connection, job.id)  # with what was requested meanwhile
        job, left = what_it_left(job, directory)
        then = outcome(job, left)
        has_ended = then.state in jobs.ENDED
        results = results_of(left) if then.state == jobs.DONE else {}
        jobs.update(
            self._connection,
            job.id,
            state=then.state,
            reason=then.reason,
            wish=then.wish,
            not_before_s=time.time() + then.wait_s if then.wait_s else 0.0,
            exit_code=left.code,
            journal=job.journal,
            ended_s=time.time() if has_ended else None,
            work_s=job.work_s + float((left.end or {}).get("work_s", 0.0)),
            **results,
        )
        self._asked_s.pop(job.id, None)
        self._groups.add(group_name(directory, job.id))

    # --- what is to begin

    def _begin_jobs(self) -> None:
        if jobs.is_stopped(self._connection):
            return
        busy: set[int] = set()
        for job in jobs.select(self._connection, "state = 'running'"):
            busy |= _drives(job)
        now_s = time.time()
        for job in jobs.select(self._connection, _DUE, (now_s, now_s + _LONGEST_WAIT_S)):
            drives = _drives(job)
            if drives & busy:
                busy |= drives  # its turn comes before that of those behind it
            elif self._begin_or_wait(job):
                busy |= drives

    def _begin_or_wait(self, job: Job) -> bool:
        """True when it runs."""
        space = os.statvfs(self._queue)
        if space.f_bavail * space.f_frsize < _OWN_BYTES:
            self._wait(job, f"waits for space: {self._queue}, where the queue itself is: {_OWN_BYTES:,} bytes are needed")
            return False
        try:
            return self._begin(job)
        except (QueueError, OSError) as error:  # one that is marked as running is looked at by the next tick
            self._wait(job, str(error))
            return False

    def _begin(self, job: Job) -> bool:
        task = task_of(job)
        check_queue_is_spared(task, job.directory, self._queue)
        output = real_path(task.output, job.directory)
        goes_on = has_left(job, job.output)
        if job.wish == "abandon" and not goes_on:
            jobs.update(self._connection, job.id, state=jobs.CANCELLED, wish="", ended_s=time.time())
            return False
        if goes_on and job.output is not None:
            output = job.output  # what was begun is there, wherever a link may point now
        elif reason := self._unmet(job):
            self._wait(job, reason, min(time.time() + PERIOD_S, job.latest_s or math.inf))
            return False
        elif reason := reason_to_wait(job, task):
            self._wait(job, reason)
            return False
        elif reason := interrupted_beside(self._connection, output):
            jobs.change_state(self._connection, job.id, (jobs.QUEUED,), state=jobs.FAILED, reason=reason, ended_s=time.time())
            return False
        return self._start(job, task, output)

    def _unmet(self, job: Job) -> str:
        """Why its condition keeps it; empty where it has none, or has waited for it as long as it may."""
        if job.condition is None or 0 < job.latest_s <= time.time():
            return ""
        return self._values.reason_to_wait(parse_condition(job.condition))

    def _wait(self, job: Job, reason: str, until_s: float | None = None) -> None:
        again_s = time.time() + WAIT_FOR_SPACE_S if until_s is None else until_s
        jobs.change_state(self._connection, job.id, (jobs.QUEUED,), reason=reason, not_before_s=again_s)

    def _start(self, job: Job, task: Task, output: str) -> bool:
        self._count_energy()
        directory = self._directory(job)
        directory.make()
        lock = try_lock(directory.lock_path)
        if lock is None:
            self._wait(job, "a process of an earlier attempt has not ended")
            return False
        try:
            goes_on = has_left(job, output)
            marked = jobs.begin_attempt(self._connection, job, output, identity_of(output), goes_on)
            if marked is not None:
                self._ledger.open(marked, directory)
                attempt = next_attempt(marked, task, directory, goes_on)
                self._keepers[job.id] = launch(attempt, lock, task.memory_bytes)
            return marked is not None
        finally:
            os.close(lock)

    # --- what has ended

    def _tell_ends(self) -> None:
        self._telling.tick(self._ledger.is_open)  # of those, the last joules are still to come

    def _clean(self) -> None:
        if time.monotonic() - self._cleaned_s < _CLEAN_PERIOD_S:
            return
        self._cleaned_s = time.monotonic()
        oldest_s = time.time() - self._settings.keep_days * 86400
        for place, job in enumerate(jobs.ended(self._connection, -1)):
            if place >= self._settings.keep_jobs or (job.ended_s or 0.0) < oldest_s:
                self._directory(job).remove()
                with transaction(self._connection):
                    self._connection.execute(f"DELETE FROM jobs WHERE id = ? AND {jobs.HAS_ENDED}", (job.id,))
                    self._connection.execute("DELETE FROM seen WHERE job = ?", (job.id,))

    # --- sleep

    def _let_rest(self) -> None:
        works = bool(jobs.select(self._connection, "state = 'running'", limit=1))
        due_s = jobs.next_due_s(self._connection)
        is_due = due_s is not None and due_s <= time.time()
        self._rest.tick(works, not (works or is_due or self._telling.works or self._ledger.awaits_ends), due_s)

    # --- energy

    def _count_energy(self) -> None:
        self._metered_s = time.monotonic()
        self._ledger.count()


def _lock(queue: Path) -> int:
    """Tried more than once: who only asks whether the queue is served holds it for a moment."""
    for pause_s in (0.05, 0.2, 0.0):
        if (lock := try_lock(queue / LOCK_NAME)) is not None:
            return lock
        time.sleep(pause_s)
    raise QueueError(f"the queue in '{queue}' is served already; end that `ecosort serve` or `queue run` first")


def refuse_second(queue: Path) -> None:
    """QueueError when another scheduler serves the queue: told before a port is found taken."""
    os.close(_lock(queue))


def what_it_left(job: Job, directory: JobDirectory) -> tuple[Job, Left]:
    """Returns also the job, with the journal that it left where it began anew: there was no job directory before."""
    output, end, stats = job.output, directory.exit_of(job.attempt), directory.stats_of(job.attempt)
    assert output is not None
    if job.journal is None:
        found = end["journal"] if end is not None and "journal" in end else journal_in(job_directory_of(output))
        job = replace(job, journal=str(found or ""))
    return job, Left(end, stats, has_left(job, output), identity_of(output), _overwrites_input(job))


def _overwrites_input(job: Job) -> bool:
    try:
        return task_of(job).overwrites_input(job.directory)
    except QueueError:  # an older program took these words; it says so when it begins
        return False


def _drives(job: Job) -> set[int]:
    """Returns the drives of its inputs, its directories of runs and its output."""
    output = job.output or job.directory
    try:
        task = task_of(job)
    except QueueError:  # an older program took these words; it says so when it begins
        return {drive_of(os.path.dirname(output))}  # noqa: PTH120
    temps = task.temps or tuple(filter(None, [job.environment.get("TMPDIR")]))
    places = [*task.inputs, *(() if job.resumable else temps)]
    found = {drive_of(real_path(place, job.directory)) for place in places}
    return found | {drive_of(os.path.dirname(job.output or real_path(task.output, job.directory)))}  # noqa: PTH120
