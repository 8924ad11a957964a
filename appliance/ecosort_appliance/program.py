"""The program `ecosort`: what it says to a question, and how gently it runs."""

from __future__ import annotations

import contextlib
import functools
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ecosort.errors import ProgramNotFound
from ecosort.program import find_program

from ecosort_appliance.errors import EXIT_USAGE, QueueError
from ecosort_appliance.jobs import Job
from ecosort_appliance.journals import journal_in
from ecosort_appliance.users import environment_of, popen_user

_PATIENCE_S = 60.0
_NICENESS = 10  # of a job where no control group yields


@functools.cache
def ecosort_program() -> str:
    """The one that the Python package finds."""
    try:
        return str(find_program())
    except ProgramNotFound as error:
        raise QueueError(str(error)) from None


def job_directory_of(output: str) -> str:
    """Returns where the program keeps runs and journal of an interrupted job."""
    return output + ".ecosort"


def has_left(job: Job, output: str | None) -> bool:
    """True if the job directory of the output is what an attempt of this job left, or holds nothing of any sort."""
    found = journal_in(job_directory_of(output)) if job.has_begun and output is not None else None
    return found is not None and (not found or job.journal in (None, found))


def asked(job: Job, words: Sequence[str], text: str = "") -> subprocess.CompletedProcess[bytes] | None:
    """Returns what the program says to its user where the job works, with `text` on standard input; None where it does not
    answer. QueueError where it is not there."""
    try:
        return subprocess.run(
            [ecosort_program(), *words],
            cwd=job.directory,
            env=environment_of(job.uid, job.environment),
            input=text.encode(),
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
            **popen_user(job.uid),
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def fault_in(done: subprocess.CompletedProcess[bytes]) -> str:
    """The program's line about usage; empty where it sees nothing wrong."""
    line = done.stderr.decode(errors="surrogateescape").strip().split("\n")[-1]
    return line.partition(": ")[2] if done.returncode == EXIT_USAGE else ""


def gently(command: list[str], group_yields: bool) -> list[str]:
    """Yields drives to others, which by weights of control groups few kernels do, and processors where no group does."""
    for words in (["ionice", "-c2", "-n7"], *([] if group_yields else [["nice", f"-n{_NICENESS}"]])):
        if program := shutil.which(words[0]):
            command = [program, *words[1:], *command]
    return command


def yield_as_session(leader: int) -> None:
    """Linux may weigh sessions against each other first (autogroup, sched(7)); then nice means nothing outside of its session."""
    with contextlib.suppress(OSError):  # a kernel without that, or the process has died
        Path(f"/proc/{leader}/autogroup").write_text(f"{_NICENESS}\n")
