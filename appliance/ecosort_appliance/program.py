"""The program `ecosort`: what it says to a question, and how gently it runs."""

from __future__ import annotations

import functools
import shutil
import subprocess
from collections.abc import Sequence

from ecosort.errors import ProgramNotFound
from ecosort.program import find_program

from ecosort_appliance.errors import EXIT_USAGE, QueueError
from ecosort_appliance.jobs import Job
from ecosort_appliance.users import environment_of, popen_user

_PATIENCE_S = 60.0


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
    for words in (["ionice", "-c2", "-n7"], *([] if group_yields else [["nice", "-n10"]])):
        if program := shutil.which(words[0]):
            command = [program, *words[1:], *command]
    return command
