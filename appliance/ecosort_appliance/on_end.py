"""Reports that a job has ended: a POST of JSON, or a command that gets it on standard input. As its user, by no shell."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from urllib.parse import urlsplit

from ecosort_appliance.errors import QueueError
from ecosort_appliance.facts import job_facts
from ecosort_appliance.jobs import Job
from ecosort_appliance.users import environment_of, popen_user

_PATIENCE_S = 60.0
_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_MOST_SAID_BYTES = 4096


def is_address(on_end: str) -> bool:
    return on_end.startswith(("http://", "https://"))


def check(on_end: str) -> None:
    """QueueError for what could never be done."""
    if is_address(on_end):
        _check_address(on_end)
        return
    if _SCHEME.match(on_end):
        raise QueueError(f"--on-end {on_end[:60]!r}: only http:// and https:// addresses can be given; or write a command")
    try:
        if not shlex.split(on_end):
            raise ValueError("it is empty")
    except ValueError as error:
        raise QueueError(f"--on-end: {error}") from None


def _check_address(address: str) -> None:
    try:
        address.encode()
        parts = urlsplit(address)
        is_good = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_good = False
    if not is_good:
        raise QueueError(f"--on-end {address[:60]!r} is no address; write for example https://host.example/hook")


def missing_command(on_end: str, directory: str) -> str:
    """The program that is not there now; empty where it is, or where it is an address."""
    if is_address(on_end):
        return ""
    name = shlex.split(on_end)[0]
    path = os.path.join(directory, name) if "/" in name else name  # noqa: PTH118
    return "" if shutil.which(path) else name


class Teller:
    """A process that reports one job's end. OSError where it cannot be started, QueueError where its user is gone."""

    def __init__(self, job: Job) -> None:
        assert job.on_end
        poster = [sys.executable, "-P", "-m", "ecosort_appliance.on_end", job.on_end]
        command = poster if is_address(job.on_end) else shlex.split(job.on_end)
        told = {"ECOSORT_JOB_ID": str(job.id), "ECOSORT_JOB_STATE": job.state, "ECOSORT_JOB_EXIT_CODE": str(job.exit_code)}
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                command,
                cwd=job.directory,
                env=environment_of(job.uid, job.environment) | told,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                start_new_session=True,
                **popen_user(job.uid),
            )
        except BaseException:
            self._said.close()
            raise
        assert self._process.stdin
        with contextlib.suppress(OSError):
            self._process.stdin.write(json.dumps(job_facts(job)).encode() + b"\n")  # less than a pipe holds, or it is not read
            self._process.stdin.close()

    def wait(self, patience_s: float) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience_s)

    def error(self) -> str | None:
        """None while it works; empty when it did well."""
        code = self._process.poll()
        if code is None or self._said.closed:
            return None
        self._said.seek(max(0, self._said.seek(0, os.SEEK_END) - _MOST_SAID_BYTES))
        lines = self._said.read().decode(errors="replace").split("\n")
        self._said.close()
        if code == 0:
            return ""
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"{how}: {last[:200]}" if last else how


def post(address: str, body: bytes) -> str:
    """Returns what was wrong; empty when the other side took it."""
    import httpx

    try:
        answer = httpx.post(address, content=body, headers={"Content-Type": "application/json"}, timeout=_PATIENCE_S)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return f"{address}: {error or type(error).__name__}"
    return "" if answer.is_success else f"{address}: answered {answer.status_code} {answer.reason_phrase}"


if __name__ == "__main__":
    if failure := post(sys.argv[1], sys.stdin.buffer.read()):
        sys.exit(failure)
