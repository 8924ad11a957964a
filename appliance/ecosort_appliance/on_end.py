"""Tells someone that a job has ended: a POST of JSON, or a command that gets it on standard input. As its user, by no shell."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

from ecosort_appliance.errors import QueueError
from ecosort_appliance.facts import job_facts
from ecosort_appliance.jobs import Job
from ecosort_appliance.users import environment_of, popen_user

_PATIENCE_S = 60.0


def is_address(on_end: str) -> bool:
    return on_end.startswith(("http://", "https://"))


def check(on_end: str) -> None:
    """QueueError for what could never be done."""
    try:
        if not shlex.split(on_end):
            raise ValueError("it is empty")
    except ValueError as error:
        raise QueueError(f"--on-end: {error}") from None


def start(job: Job) -> subprocess.Popen[bytes] | None:
    """Begins to tell it, and does not wait. None where the command cannot be started."""
    assert job.on_end
    poster = [sys.executable, "-P", "-m", "ecosort_appliance.on_end", job.on_end]
    command = poster if is_address(job.on_end) else shlex.split(job.on_end)
    told = {"ECOSORT_JOB_ID": str(job.id), "ECOSORT_JOB_STATE": job.state, "ECOSORT_JOB_EXIT_CODE": str(job.exit_code)}
    try:
        process = subprocess.Popen(
            command,
            cwd=job.directory,
            env=environment_of(job.uid, job.environment) | told,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **popen_user(job.uid),
        )
    except OSError:
        return None
    assert process.stdin
    try:
        process.stdin.write(json.dumps(job_facts(job)).encode() + b"\n")  # less than a pipe holds, or it is not read
        process.stdin.close()
    except OSError:
        pass
    return process


def post(address: str, body: bytes) -> int:
    """0 when the other side took it."""
    import httpx

    try:
        answer = httpx.post(address, content=body, headers={"Content-Type": "application/json"}, timeout=_PATIENCE_S)
    except httpx.HTTPError:
        return 1
    return 0 if answer.is_success else 1


if __name__ == "__main__":
    sys.exit(post(sys.argv[1], sys.stdin.buffer.read()))
