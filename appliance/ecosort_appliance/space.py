"""Asks `ecosort plan`, as the job's user, whether a job fits."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Mapping
from typing import Any

from ecosort_appliance.errors import QueueError
from ecosort_appliance.jobs import Job
from ecosort_appliance.places import real_path
from ecosort_appliance.program import asked
from ecosort_appliance.tasks import Task


def plan_of(job: Job, task: Task) -> subprocess.CompletedProcess[bytes] | None:
    """The plan as JSON, where the program has one; None where it says nothing. QueueError where the program is not there, and
    for an input that may have no end or no writer: the program would wait for it."""
    for path in task.inputs:
        _refuse_stream(path, job.directory)
    if "--runs" in task.options:
        return None
    return asked(job, ["plan", "run", "--json", *task.options, "-"], task.request())


def _refuse_stream(path: str, where: str) -> None:
    try:
        mode = os.stat(real_path(path, where)).st_mode  # noqa: PTH116
    except OSError:  # what is wrong then, the program says
        return
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode):
        raise QueueError(f"input {path!r} is no file, but a pipe, a socket or a device; name a file that holds it all")


def reason_to_wait(job: Job, task: Task) -> str:
    """Empty when it fits, or when the plan says nothing: what is wrong then, the job itself says. QueueError where the program is
    not there."""
    return shortage_of(plan_of(job, task), job.directory)


def shortage_of(done: subprocess.CompletedProcess[bytes] | None, where: str) -> str:
    """From the plan as JSON, which is printed where it does not fit, too."""
    try:
        return shortage_in(json.loads(done.stdout), where) if done is not None else ""
    except ValueError:
        return ""


def shortage_in(plan: Mapping[str, Any], where: str) -> str:
    """Reads the plan's own numbers. Its reader may be in another directory: places have their whole names."""
    named = plan.get("job_directory")
    needs = [(plan, _whole_names([named], where) if named else "its drive")]
    needs += [(space, _whole_names(space["directories"], where)) for space in plan.get("here", {}).get("space", [])]
    for need, place in needs:
        have_bytes, need_bytes = need.get("free_bytes"), need.get("needed_bytes")
        if have_bytes is not None and need_bytes is not None and have_bytes < need_bytes:
            return f"waits for space: {place}: {need_bytes:,} bytes are needed, {have_bytes:,} are free"
    return ""


def _whole_names(places: list[str], where: str) -> str:
    return ", ".join(real_path(str(place), where) for place in places)


def shortage_told(error: dict[str, Any] | None, where: str) -> str:
    """From the error that ended the program; empty for any other error."""
    if not error or not (error.get("kind") == "not enough space" or error.get("errno") in (28, 122)):  # ENOSPC, EDQUOT
        return ""
    if error.get("need_bytes"):
        places = _whole_names(error["places"], where) if error.get("places") else "its drive"
        return f"waits for space: {places}: {error['need_bytes']:,} bytes are needed, {error.get('have_bytes') or 0:,} are free"
    return f"waits for space: {error.get('message', '')}"
