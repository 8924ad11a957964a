"""Carries out what a user can request of the queue. Each request is on stable storage when the call returns."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ecosort_appliance import jobs, on_end, times
from ecosort_appliance.conflicts import Newcomer, check_others
from ecosort_appliance.errors import QueueError
from ecosort_appliance.foresight import Draft, check_options, check_output, check_queue_is_spared, look_ahead
from ecosort_appliance.jobs import Job
from ecosort_appliance.places import is_in_memory, lies_in, real_path
from ecosort_appliance.program import job_directory_of
from ecosort_appliance.users import KEPT
from ecosort_appliance.watch import check_pattern
from ecosort_appliance.words import Named, check_size, filled, read_words

_SETTLE_S = 10.0  # what a watched file must rest


@dataclass(frozen=True)
class Wish:
    """A job to be queued, as the command line says it."""

    words: Sequence[str]
    directory: str
    uid: int
    name: str = ""
    priority: int = 0
    memory: str | None = None
    at: str | None = None
    every: str | None = None
    watch: str | None = None
    settle_s: float | None = None
    match: Sequence[str] = ()
    on_end: str | None = None
    resumable: bool = True


def _mask() -> str:
    mask = os.umask(0o22)
    os.umask(mask)
    return f"{mask:o}"


def _check(wish: Wish) -> None:
    if wish.memory is not None:
        check_size(wish.memory)
    if wish.watch is not None and (wish.every or wish.at):
        raise QueueError("--watch cannot be combined with --at and --every: a job begins when a file comes")
    if wish.watch is None and wish.settle_s is not None:
        raise QueueError("--settle goes with --watch: it is how long a file that comes must rest; leave it out")
    if wish.watch is None and wish.match:
        raise QueueError("--match goes with --watch: it says which names of files are meant; leave it out")
    for pattern in wish.match:
        check_pattern(pattern)
    if wish.on_end is not None:
        on_end.check(wish.on_end)
    try:
        "".join((*wish.words, wish.directory)).encode(errors="surrogateescape")
    except UnicodeEncodeError:
        raise QueueError("a word holds what can be no byte of a file's name") from None


def _check_watch(wish: Wish, watch: str) -> None:
    if not os.path.isdir(watch):  # noqa: PTH112
        raise QueueError(f"--watch {wish.watch!r} is no directory")
    if not any("{}" in word or "{name}" in word for word in wish.words):
        raise QueueError("--watch: write {} in place of the file's path, for example: sort {} -o /srv/out/{name}")
    named = read_words(filled(wish.words, f"{watch}/x", "x"))
    written = [real_path(path, wish.directory) for path in (named.output, *named.reports)]
    if named.in_place or any(lies_in(path, watch) for path in written):
        raise QueueError("--watch: what is written must lie in another directory, or it would be a file that comes")
    if read_words(filled(wish.words, f"{watch}/y", "y")).output == named.output:
        raise QueueError("--watch: write {name} in the output, so that each file has its own")
    check_output(named, wish.directory)
    if read_words(filled(wish.words, f"{watch}/y", "y")).inputs == named.inputs:
        raise QueueError("--watch: write {} as the input, or each file that comes makes the same job once more")


@dataclass(frozen=True)
class Added:
    """The number of a job that is queued, and what may yet go wrong with it."""

    number: int
    warnings: list[str]


def add(queue: Path, connection: sqlite3.Connection, wish: Wish) -> Added:
    _check(wish)
    now_s = time.time()
    watch = None if wish.watch is None else real_path(wish.watch, wish.directory)
    if watch is not None:
        _check_watch(wish, watch)
    named = read_words(filled(wish.words, "x", "x") if watch is not None else wish.words)
    _check_memory(wish, named)
    check_queue_is_spared(named, wish.directory, queue)
    is_standing = watch is not None or wish.every is not None
    due_s = times.first(wish.every, wish.at, now_s) if wish.every else times.moment(wish.at, now_s) if wish.at else 0.0
    check_others(connection, Newcomer(wish.words, wish.directory, wish.every, watch, patterns=wish.match))
    environment = {n: os.environ[n] for n in KEPT if n in os.environ and wish.uid == os.geteuid()} | {"umask": _mask()}
    output = real_path(named.output, wish.directory)
    resumable = _is_resumable(wish, named, output)
    draft = Draft(
        list(wish.words),
        named,
        wish.directory,
        wish.uid,
        environment,
        wish.memory,
        resumable,
        is_later=is_standing or due_s > now_s,
    )
    warnings = _look_ahead(connection, draft, watch)
    number = jobs.insert(
        connection,
        {
            "uid": wish.uid,
            "name": wish.name,
            "words": list(wish.words),
            "directory": wish.directory,
            "environment": environment,
            "output": None if is_standing else output,
            "priority": wish.priority,
            "memory": wish.memory,
            "on_end": wish.on_end,
            "resumable": int(resumable),
            "state": jobs.STANDING if is_standing else jobs.QUEUED,
            "not_before_s": due_s,
            "every": wish.every,
            "at": wish.at,
            "watch": watch,
            "patterns": list(wish.match),
            "settle_s": _SETTLE_S if wish.settle_s is None else wish.settle_s,
            "queued_s": now_s,
        },
    )
    return Added(number, [*warnings, *_warnings_of_telling(wish)])


def _look_ahead(connection: sqlite3.Connection, draft: Draft, watch: str | None) -> list[str]:
    """Looks ahead; of a job that watches only the options are known."""
    if watch is None:
        return look_ahead(connection, draft)
    check_options(draft)
    return []


def _check_memory(wish: Wish, named: Named) -> None:
    if wish.memory is not None and named.memory is not None:
        raise QueueError(
            f"two memories: --memory {wish.memory} of the job and {named.memory} in its command; leave one of them out"
        )


def _is_resumable(wish: Wish, named: Named, output: str) -> bool:
    """Not where the output is kept in memory, unless the user says so: then the program says why that cannot be."""
    if named.in_place:
        return False
    can_resume = named.can_resume and not is_in_memory(os.path.dirname(output))  # noqa: PTH120
    return named.resumes or (wish.resumable and can_resume)


def _warnings_of_telling(wish: Wish) -> list[str]:
    name = "" if wish.on_end is None else on_end.missing_command(wish.on_end, wish.directory)
    return [f"--on-end: there is no program {name!r} here"] if name else []


def cancel(connection: sqlite3.Connection, number: int) -> str:
    """Returns what happens now, for people."""
    job = jobs.get(connection, number)
    if job.state == jobs.RUNNING:
        _change(connection, job, wish="cancel")
        return "is asked to end"
    if job.state in (jobs.DONE, jobs.CANCELLED):
        raise QueueError(f"job {number} is {job.state} already")
    if job.has_begun and job.resumes and job.output and Path(job_directory_of(job.output)).exists():
        _change(connection, job, state=jobs.QUEUED, wish="abandon", not_before_s=0.0, reason="")
        return f"is given up: what it left in {job_directory_of(job.output)!r} goes when its turn comes"
    _change(connection, job, state=jobs.CANCELLED, ended_s=time.time(), reason="", wish="")
    return "is cancelled"


def pause(connection: sqlite3.Connection, number: int) -> str:
    job = jobs.get(connection, number)
    if job.state == jobs.RUNNING:
        _change(connection, job, wish="pause")
        goes_on = "continues from there" if job.resumes else "begins anew"
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
    check_others(connection, Newcomer(job.words, job.directory, job.every, job.watch, job.id, job.parent, job.patterns))
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
