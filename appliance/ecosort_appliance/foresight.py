"""Finds what is wrong with a job when it is queued, and not only at night."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from pathlib import Path

from ecosort_appliance import jobs
from ecosort_appliance.errors import EXIT_USAGE, QueueError
from ecosort_appliance.jobs import Job
from ecosort_appliance.places import lies_in, real_path
from ecosort_appliance.program import job_directory_of, plan_of, trial_of
from ecosort_appliance.space import ask, shortage_of
from ecosort_appliance.words import Named

_SHORTAGE = "not enough space"  # the program's words; for space a job waits
_UNENDED = "state IN ('queued', 'paused', 'running')"


def look_ahead(connection: sqlite3.Connection, job: Job, named: Named) -> list[str]:
    """Warnings about a job that is to be queued, whose words are `named`. QueueError for what can never work, with the program's
    own line where it has one."""
    output = real_path(named.output, job.directory)
    is_later = job.state == jobs.STANDING or job.not_before_s > job.queued_s  # what it needs may come
    check_output(named, job.directory)
    check_options(job, named)
    rows = connection.execute(f"SELECT output FROM jobs WHERE {_UNENDED} AND output IS NOT NULL")
    coming = {json.loads(row["output"]) for row in rows}
    if output in coming:
        return []  # refused, or by then there is another file
    inputs = {path: real_path(path, job.directory) for path in named.inputs or (named.output,)}
    missing = [path for path, real in inputs.items() if _is_missing(real)]
    unknown = [path for path in missing if inputs[path] not in coming]
    if unknown and not is_later:
        raise QueueError(f"cannot open {unknown[0]!r}: No such file or directory")
    if missing or not coming.isdisjoint(inputs.values()):
        return [f"there is no {path!r} yet; it must be there when the job begins" for path in unknown]
    done = _ask(job, named, has_files=True)
    fault = _fault_in(done)
    if os.path.basename(job_directory_of(output)) in fault:  # noqa: PTH119
        fault = _left_by_another(connection, output) or fault
    if fault and not is_later:
        raise QueueError(fault)
    shortage = shortage_of(done, job.directory)
    return [f"as things are now, the job {what}" for what in (f"would fail: {fault}" if fault else "", shortage) if what]


def _is_missing(path: str) -> bool:
    """Not where it cannot be looked at: what is wrong then, the program says."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def _left_by_another(connection: sqlite3.Connection, output: str) -> str:
    """Names a job of this queue that failed and could be gone on with; empty where there is none."""
    left = job_directory_of(output)
    failed = jobs.select(connection, "output = ? AND state = 'failed' AND has_begun = 1", (json.dumps(output),))
    if not failed or not os.path.lexists(left):
        return ""
    number = max(job.id for job in failed)
    return (
        f"job {number} failed and left {left!r}: remove that with `ecosort queue cancel {number}` and queue this job again,"
        f" or go on with `ecosort queue retry {number}`"
    )


def check_options(job: Job, named: Named) -> None:
    """QueueError for what no file and no hour makes right."""
    if fault := _fault_in(_ask(job, named, has_files=False)):
        raise QueueError(fault)


def check_output(named: Named, where: str) -> None:
    """QueueError where it cannot be made, or would take the place of what is sorted."""
    output = real_path(named.output, where)
    directory = os.path.dirname(output)  # noqa: PTH120
    if not named.in_place and not os.path.isdir(directory):  # noqa: PTH112
        raise QueueError(f"output directory {directory!r}: No such file or directory; create it first")
    is_input = any(real_path(path, where) == output for path in named.inputs)
    if is_input and named.command in ("sort", "merge"):
        hint = " (to sort a file in its own space: ecosort inplace)" if named.command == "sort" else ""
        raise QueueError(f"output {named.output!r} is the input; name another file{hint}")


def check_queue_is_spared(named: Named, where: str, queue: Path) -> None:
    """QueueError where a job would write among the files of the queue, and over them."""
    for path in (named.output, *named.temps, *named.reports):
        if lies_in(real_path(path, where), real_path(str(queue), "/")):
            raise QueueError(f"{path!r} lies in '{queue}', where the queue keeps its own files; name another place")


def _ask(job: Job, named: Named, *, has_files: bool) -> subprocess.CompletedProcess[bytes] | None:
    """For the job's own plan, or, where it has none or its files are not asked for, for one like it."""
    try:
        own = plan_of(job) if has_files else None
        return ask(job, own or trial_of(named, has_files=has_files))
    except QueueError:  # there is no program; by then there may be
        return None


def _fault_in(done: subprocess.CompletedProcess[bytes] | None) -> str:
    """The program's line about usage; empty where it sees nothing wrong, or was not asked."""
    if done is None:
        return ""
    fault = done.stderr.decode(errors="surrogateescape").strip().split("\n")[-1].partition(": ")[2]
    return fault if done.returncode == EXIT_USAGE and not fault.startswith(_SHORTAGE) else ""
