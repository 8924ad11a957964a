"""Carries out what a user can request of the queue. Each request is on stable storage when the call returns."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ecosort_appliance import jobs, on_end, times
from ecosort_appliance.conflicts import check_others
from ecosort_appliance.errors import QueueError
from ecosort_appliance.foresight import Planned, check_output, check_queue_is_spared, look_ahead
from ecosort_appliance.jobs import Job
from ecosort_appliance.places import is_in_memory, lies_in, real_path
from ecosort_appliance.program import has_left, job_directory_of
from ecosort_appliance.tasks import Task, made, typed
from ecosort_appliance.users import KEPT
from ecosort_appliance.values import check_known, parse_condition
from ecosort_appliance.watch import check_pattern

_SETTLE_S = 10.0  # what a watched file must rest


def _mask() -> str:
    mask = os.umask(0o22)
    os.umask(mask)
    return f"{mask:o}"


def _check(asked: Job) -> None:
    if asked.watch is not None and (asked.every or asked.at):
        raise QueueError("--watch cannot be combined with --at and --every: a job begins when a file comes")
    if asked.watch is None and asked.settle_s is not None:
        raise QueueError("--settle goes with --watch: it is how long a file that comes must rest; leave it out")
    if asked.watch is None and asked.patterns:
        raise QueueError("--match goes with --watch: it says which names of files are meant; leave it out")
    for pattern in asked.patterns:
        check_pattern(pattern)
    if asked.latest is not None and asked.condition is None:
        raise QueueError("--latest goes with --when: it is when a job begins although its condition does not hold; leave it out")
    if asked.latest is not None and (asked.watch or asked.every) and not times.is_time_of_day(asked.latest):
        raise QueueError("--latest of a job with --every or --watch is a time of day, such as 06:00")
    if asked.on_end is not None:
        on_end.check(asked.on_end)
    try:
        "".join((*asked.words, asked.directory)).encode(errors="surrogateescape")
    except UnicodeEncodeError:
        raise QueueError("a word holds what can be no byte of a file's name") from None


def _check_watch(asked: Job, task: Task, watch: str) -> Task:
    """Returns what is done for a file `x`."""
    if not os.path.isdir(watch):  # noqa: PTH112
        raise QueueError(f"--watch {asked.watch!r} is no directory")
    if not any("{}" in word or "{name}" in word for word in asked.words):
        raise QueueError("--watch: write {} in place of the file's path, for example: sort {} -o /srv/out/{name}")
    one, other = task.filled(f"{watch}/x", "x"), task.filled(f"{watch}/y", "y")
    written = [real_path(path, asked.directory) for path in (one.output, *one.reports)]
    if one.in_place or any(lies_in(path, watch) for path in written):
        raise QueueError("--watch: the output must be outside the watched directory")
    if one.output == other.output:
        raise QueueError("--watch: write {name} in the output, so that each file has its own")
    check_output(one, asked.directory)
    if one.inputs == other.inputs:
        raise QueueError("--watch: write {} as the input, or each file that comes makes the same job once more")
    return one


@dataclass(frozen=True)
class Added:
    """The number of a job that is queued, and what may yet go wrong with it."""

    number: int
    warnings: list[str]


@dataclass(frozen=True)
class Foreseen:
    """A job that could be queued, the program's plan of it (empty where it has none), and what may yet go wrong."""

    job: Job
    plan: Mapping[str, Any]
    warnings: list[str]


def foresee(queue: Path, connection: sqlite3.Connection, asked: Job) -> Foreseen:
    """Returns what would be queued, without doing so. QueueError for what cannot be."""
    _check(asked)
    if asked.condition is not None:
        check_known(connection, parse_condition(asked.condition))
    now_s = time.time()
    environment = {n: os.environ[n] for n in KEPT if n in os.environ and asked.uid == os.geteuid()} | {"umask": _mask()}
    asked = replace(asked, environment=environment)
    asked, task = _with_task(asked)
    watch = None if asked.watch is None else real_path(asked.watch, asked.directory)
    named = task if watch is None else _check_watch(asked, task, watch)
    check_queue_is_spared(named, asked.directory, queue)
    is_standing = watch is not None or asked.every is not None
    job = replace(
        asked,
        watch=watch,
        settle_s=_SETTLE_S if asked.settle_s is None else asked.settle_s,
        output=None if is_standing else real_path(named.output, asked.directory),
        state=jobs.STANDING if is_standing else jobs.QUEUED,
        not_before_s=_due_s(asked, now_s),
        latest_s=times.moment(asked.latest, max(now_s, _due_s(asked, now_s)), "--latest") if asked.latest else 0.0,
        queued_s=now_s,
    )
    check_others(connection, job)
    warnings, done = look_ahead(connection, job, task) if watch is None else ([], None)  # a job that watches has no files yet
    return Foreseen(job, _plan_in(done), [*warnings, *_warnings_of_telling(job)])


def _plan_in(done: Planned) -> Mapping[str, Any]:
    try:
        plan: Mapping[str, Any] = json.loads(done.stdout) if done is not None else {}
    except ValueError:
        return {}
    return plan


def add(queue: Path, connection: sqlite3.Connection, asked: Job) -> Added:
    """Queues a job that was asked for: its words, and the options of the queue. QueueError for what cannot be."""
    found = foresee(queue, connection, asked)
    return Added(jobs.insert(connection, found.job), found.warnings)


def _with_task(asked: Job) -> tuple[Job, Task]:
    """Adds what the words mean. The job can be resumed where it may, and not where the output is kept in memory, unless the user
    says so: then the program says why that cannot be."""
    words = typed(asked)
    kind = made(replace(asked, resumable=False), words)
    may_resume = words.resumable and not is_in_memory(os.path.dirname(real_path(kind.output, asked.directory)))  # noqa: PTH120
    asked = replace(asked, resumable=kind.kind != "file" or (asked.resumable and may_resume))
    task = made(asked, words)
    return replace(asked, request=task.stored()), task


def _due_s(asked: Job, now_s: float) -> float:
    if asked.every:
        return times.first(asked.every, asked.at, now_s)
    return times.moment(asked.at, now_s) if asked.at else 0.0


def _warnings_of_telling(job: Job) -> list[str]:
    name = "" if job.on_end is None else on_end.missing_command(job.on_end, job.directory)
    return [f"--on-end: there is no program {name!r} here"] if name else []


def cancel(connection: sqlite3.Connection, number: int) -> str:
    """Returns what happens now, for people."""
    job = jobs.get(connection, number)
    if job.state == jobs.RUNNING:
        _change(connection, job, wish="cancel")
        return "is asked to end"
    if job.state in (jobs.DONE, jobs.CANCELLED):
        raise QueueError(f"job {number} is {job.state} already")
    if job.resumable and job.output and has_left(job, job.output):
        _change(connection, job, state=jobs.QUEUED, wish="abandon", not_before_s=0.0, reason="")
        return f"is cancelled; its files in {job_directory_of(job.output)!r} will be removed later"
    _change(connection, job, state=jobs.CANCELLED, ended_s=time.time(), reason="", wish="")
    return "is cancelled"


def pause(connection: sqlite3.Connection, number: int) -> str:
    job = jobs.get(connection, number)
    if job.state == jobs.RUNNING:
        _change(connection, job, wish="pause")
        goes_on = "continues from there" if job.resumable else "begins anew"
        return f"is asked to end; with `queue resume {number}` it {goes_on}"
    if job.state not in (jobs.QUEUED, jobs.STANDING) or job.wish:
        raise QueueError(f"job {number} is {job.wish or job.state}; only what waits or runs can be paused")
    _change(connection, job, state=jobs.PAUSED)
    return "is paused"


def resume(connection: sqlite3.Connection, number: int) -> str:
    job = jobs.get(connection, number)
    if job.state != jobs.PAUSED:
        raise QueueError(f"job {number} {_state_words(job)}, and is not paused")
    _change(connection, job, state=_waiting_state(job), reason="")
    return "waits for its turn"


def retry(connection: sqlite3.Connection, number: int) -> str:
    job = jobs.get(connection, number)
    if job.state == jobs.QUEUED and not job.wish:
        _change(connection, job, not_before_s=0.0, reason="")
        return "is tried at once"
    if job.state not in (jobs.FAILED, jobs.CANCELLED):
        raise QueueError(f"job {number} {_state_words(job)}; only what failed or was cancelled can be done once more")
    check_others(connection, job)
    untold = {"notified": 0, "tell_tries": 0, "tell_again_s": 0.0, "tell_error": ""}
    waits = {"state": _waiting_state(job), "reason": "", "wish": "", "not_before_s": _next(job), "ended_s": None}
    _change(connection, job, **waits, **untold)
    return "waits for its turn"


def _state_words(job: Job) -> str:
    """Names the state where users know no word for it."""
    if job.state != jobs.STANDING:
        return f"is {job.state}"
    return f"watches {job.watch!r}" if job.watch else f"makes a job {job.every}"


def _next(job: Job) -> float:
    return job.not_before_s if job.every else 0.0


def _waiting_state(job: Job) -> str:
    return jobs.STANDING if job.every or job.watch else jobs.QUEUED


def _change(connection: sqlite3.Connection, job: Job, **changes: object) -> None:
    if not jobs.change_state(connection, job.id, (job.state,), **changes):
        raise QueueError(f"job {job.id} has just changed its state; look at it and try again")
