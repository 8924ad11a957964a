"""Starts the keeper of a job's next attempt."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ecosort_appliance.cgroups import Group, make_group
from ecosort_appliance.jobdir import JobDirectory
from ecosort_appliance.jobs import Job
from ecosort_appliance.program import ecosort_program, gently, job_directory_of, yield_as_session
from ecosort_appliance.tasks import Task
from ecosort_appliance.users import environment_of, popen_user


@dataclass(frozen=True)
class Attempt:
    """`job` as it was marked running, its command with the request for its standard input, and its directory."""

    job: Job
    command: list[str]
    request: str | None
    directory: JobDirectory


def group_name(directory: JobDirectory, number: int) -> str:
    return f"{group_prefix(directory.lock_path.parent.parent)}{number}"


def group_prefix(queue: Path) -> str:
    """Other queues may have a job of that number, too."""
    return f"ecosort-job-{(queue / 'locks').stat().st_ino:x}-"


def launch(attempt: Attempt, lock: int, memory_bytes: int | None) -> subprocess.Popen[bytes]:
    """The keeper, which inherits the lock. It begins when it has read what to do, and is in its control group before that."""
    job = attempt.job
    group = make_group(group_name(attempt.directory, job.id), memory_bytes)
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "ecosort_appliance.keeper", str(attempt.directory.path), str(lock)],
        cwd="/",
        env=environment_of(job.uid, job.environment) | _python_path(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(lock,),
        start_new_session=True,
        umask=int(job.environment.get("umask", "22"), 8),
        **popen_user(job.uid),
    )
    assert process.stdin
    try:
        group.add(process.pid)
    except OSError as error:
        group = Group(notes=[*group.notes, f"no control group: {error.strerror}"])
    if not group.yields:
        yield_as_session(process.pid)
    command = gently(attempt.command, group.yields)
    notes = [f"attempt {job.attempt}: {' '.join(command)}", *filter(None, [attempt.request]), *group.notes]
    spec = {"command": command, "request": attempt.request, "directory": job.directory, "attempt": job.attempt, "notes": notes}
    spec["job_directory"] = job_directory_of(job.output or "")
    with contextlib.suppress(BrokenPipeError):  # it has died: seen when its lock is free
        process.stdin.write(json.dumps(spec).encode() + b"\n")
        process.stdin.close()
    return process


def _python_path() -> dict[str, str]:
    """Returns where the service's own packages are, if the environment says so."""
    path = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": path} if path else {}


def next_attempt(job: Job, task: Task, directory: JobDirectory, goes_on: bool) -> Attempt:
    """Begins the next attempt of a job that is marked as running; it continues with what an earlier one left, or begins."""
    reports = ["--progress=json", f"--stats={directory.path / f'stats-{job.attempt}.json'}"]
    if goes_on:
        assert job.output
        abandon = ["--abandon"] if job.wish == "abandon" else []
        return Attempt(job, [ecosort_program(), "resume", *reports, *abandon, job.output], None, directory)
    return Attempt(job, [ecosort_program(), "run", *reports, *task.options, "-"], task.request(), directory)
