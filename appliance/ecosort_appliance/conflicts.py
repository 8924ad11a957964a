"""Finds what a job cannot do beside those that are queued already: write their output, or feed itself by way of them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence

from ecosort_appliance import jobs
from ecosort_appliance.errors import QueueError
from ecosort_appliance.jobs import Job
from ecosort_appliance.places import real_path
from ecosort_appliance.tasks import task_of
from ecosort_appliance.watch import may_share_names

_STANDING = "(every IS NOT NULL OR watch IS NOT NULL) AND state IN ('standing', 'paused')"


def check_others(connection: sqlite3.Connection, newcomer: Job) -> None:
    """QueueError where it cannot be beside one of the others. Two queued jobs with one output the database refuses itself."""
    output = _output_of(newcomer)
    if output is None:
        return
    own = {newcomer.id, newcomer.parent} - {0, None}
    standing = [job for job in jobs.select(connection, _STANDING) if job.id not in own]
    _check_output(standing, newcomer, output)
    if newcomer.every is not None:
        writer = jobs.writer_of(connection, output)
        if writer is not None and jobs.get(connection, writer).parent not in own:
            raise QueueError(jobs.is_written_text(connection, writer, output))
    if newcomer.watch is not None and (chain := _way(standing, os.path.dirname(output), newcomer.watch)):  # noqa: PTH120
        through = " and ".join(f"job {job.id}" for job in chain)
        raise QueueError(
            f"--watch: by {through} what this one writes would come back to {newcomer.watch!r}, without end;"
            f" name another output directory, or `ecosort queue cancel {chain[0].id}` first"
        )


def _check_output(standing: Sequence[Job], newcomer: Job, output: str) -> None:
    """Refuses two jobs of which one is standing and that write one output: they make each other's jobs wait, or sort twice."""
    for job in standing:
        is_beside = job.watch == newcomer.watch and may_share_names(job.patterns, newcomer.patterns)
        if is_beside and _output_of(job) == output:
            when = f"for each file that comes to {job.watch!r}" if job.watch else f"{job.every} to {output!r}"
            raise QueueError(f"job {job.id} writes {when} already; name another output, or `ecosort queue cancel {job.id}` first")


def _way(standing: Sequence[Job], start: str, end: str) -> list[Job]:
    """The watching jobs by which a file that is written to one directory comes to another; empty where there is no way."""
    chains: dict[str, list[Job]] = {start: []}
    directories = [start]
    for directory in directories:  # grows meanwhile
        for job in standing:
            output = _output_of(job) if job.watch == directory else None
            if output is None:
                continue
            then = os.path.dirname(output)  # noqa: PTH120
            if then not in chains:
                chains[then] = [*chains[directory], job]
                directories.append(then)
    return chains.get(end, [])


def _output_of(job: Job) -> str | None:
    """Returns the output of a job; of one that watches, for a file that could come."""
    try:
        task = task_of(job)
    except QueueError:  # an older program took these words
        return None
    return real_path((task if job.watch is None else task.filled(f"{job.watch}/x", "x")).output, job.directory)
