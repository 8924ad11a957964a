"""Finds what is wrong with a job when it is queued, and not only at night."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from pathlib import Path

from ecosort_appliance import jobs
from ecosort_appliance.errors import QueueError
from ecosort_appliance.jobs import Job
from ecosort_appliance.journals import journal_in
from ecosort_appliance.places import lies_in, real_path
from ecosort_appliance.program import fault_in, has_left, job_directory_of
from ecosort_appliance.space import plan_of, shortage_of
from ecosort_appliance.tasks import Task

_SHORTAGE = "not enough space"  # the program's words; for space a job waits
_UNENDED = "state IN ('queued', 'paused', 'running')"


Planned = subprocess.CompletedProcess[bytes] | None


def look_ahead(connection: sqlite3.Connection, job: Job, task: Task) -> tuple[list[str], Planned]:
    """Warnings about a job that is to be queued, whose task is `task`, and what the program said of its plan, if it was asked.
    QueueError for what can never work, with the program's own line where it has one."""
    output = real_path(task.output, job.directory)
    is_later = job.state == jobs.STANDING or job.not_before_s > job.queued_s  # what it needs may come
    check_output(task, job.directory)
    rows = connection.execute(f"SELECT output FROM jobs WHERE {_UNENDED} AND output IS NOT NULL")
    coming = {json.loads(row["output"]) for row in rows}
    if output in coming:
        return [], None  # refused, or by then there is another file
    inputs = {path: real_path(path, job.directory) for path in task.inputs}
    missing = [path for path, real in inputs.items() if _is_missing(real)]
    unknown = [path for path in missing if inputs[path] not in coming]
    if unknown and not is_later:
        raise QueueError(f"cannot open {unknown[0]!r}: No such file or directory")
    if missing or not coming.isdisjoint(inputs.values()):
        return [f"there is no {path!r} yet; it must be there when the job begins" for path in unknown], None
    done = plan_of(job, task)
    fault = _fault_in(done)
    if os.path.basename(job_directory_of(output)) in fault:  # noqa: PTH119
        fault = _left_by_another(connection, output) or fault
    if fault and not is_later:
        raise QueueError(fault)
    shortage = shortage_of(done, job.directory)
    return [f"as things are now, the job {what}" for what in (f"would fail: {fault}" if fault else "", shortage) if what], done


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
    failed = jobs.select(connection, "output = ? AND state = 'failed'", (json.dumps(output),))
    number = max((job.id for job in failed if has_left(job, output)), default=None)
    if number is None:
        return ""
    return (
        f"job {number} failed and left {left!r}: remove that with `ecosort queue cancel {number}` and queue this job again,"
        f" or go on with `ecosort queue retry {number}`"
    )


def interrupted_beside(connection: sqlite3.Connection, output: str) -> str:
    """Says which interrupted sort keeps a job from beginning to write there, and what to do; empty where there is none."""
    left = job_directory_of(output)
    if not journal_in(left):
        return ""
    return _left_by_another(connection, output) or (
        f"{left!r} is of another sort to that output, which has not ended: finish it by `ecosort resume {output!r}`, or"
        f" remove it by `ecosort resume --abandon {output!r}`, and retry this job"
    )


def check_output(task: Task, where: str) -> None:
    """QueueError where it cannot be made, or would take the place of what is sorted."""
    output = real_path(task.output, where)
    directory = os.path.dirname(output)  # noqa: PTH120
    if not task.in_place and not os.path.isdir(directory):  # noqa: PTH112
        raise QueueError(f"output directory {directory!r}: No such file or directory; create it first")
    if "records" in task.members and task.overwrites_input(where):
        hint = "" if task.merges else " (to sort a file in its own space: ecosort inplace)"
        raise QueueError(f"output {task.output!r} is the input; name another file{hint}")


def check_queue_is_spared(task: Task, where: str, queue: Path) -> None:
    """QueueError where a job would write among the files of the queue, and over them."""
    for path in (task.output, *task.temps, *task.reports):
        if lies_in(real_path(path, where), real_path(str(queue), "/")):
            raise QueueError(f"{path!r} lies in '{queue}', where the queue keeps its own files; name another place")


def _fault_in(done: Planned) -> str:
    """The program's line about usage; empty where it sees nothing wrong, or was not asked. For space a job waits."""
    fault = "" if done is None else fault_in(done)
    return "" if fault.startswith(_SHORTAGE) else fault
