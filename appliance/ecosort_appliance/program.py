"""The program `ecosort`, and the command lines of a job's attempts."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from ecosort.errors import ProgramNotFound
from ecosort.program import find_program

from ecosort_appliance.errors import QueueError
from ecosort_appliance.jobs import Job
from ecosort_appliance.words import Named, head_of, sorts_in_place


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


def resume_command(job: Job, output: str, stats: Path) -> list[str]:
    """Continues with what an earlier attempt left, or gives it up. `output` is the real path."""
    abandon = ["--abandon"] if job.wish == "abandon" else []
    return [ecosort_program(), "resume", *_reports(stats), *abandon, output]


def begin_command(job: Job, stats: Path) -> list[str]:
    return [ecosort_program(), *_with(job.words, [*_reports(stats), *_added(job)])]


def _reports(stats: Path) -> list[str]:
    return ["--progress=json", f"--stats={stats}"]


def plan_of(job: Job) -> list[str] | None:
    """The plan of the same job as JSON, where the program has one."""
    command = job.words[0]
    if command == "sort" or sorts_in_place(job.words) or (command in ("lines", "csv", "jsonl") and job.resumable):
        return [ecosort_program(), "plan", *_with(job.words, ["--json", *_added(job)])]
    return None


def trial_of(named: Named, *, has_files: bool) -> list[str] | None:
    """A plan that no one follows: it shows whether such options can be, and files where there are some. Of a merge it is the
    plan of a sort; runs have none."""
    heads = {("merge",): ["sort"], ("merge", "--lines"): ["lines", "--merge"], ("merge", "--runs"): []}
    head = heads.get(named.head, [named.command])
    # A merge may need no runs, so that it minds no drive that a sort would not put them on by itself.
    temps = named.temps or (os.path.dirname(named.output) or ".",)  # noqa: PTH120
    runs = [f"--temp={place}" for place in temps] if named.head == ("merge",) else []
    files = [*runs, "--output", named.output, "--", *named.inputs] if has_files else ["--assume-size", "1kB"]
    how = [word for word in named.options if not word.startswith("--expect-hash=")]  # which says nothing about a sort
    return [ecosort_program(), "plan", *head, *how, *files] if head else None


def _with(words: Sequence[str], options: Sequence[str]) -> list[str]:
    head = head_of(words)
    return [*words[:head], *options, *words[head:]]


def _added(job: Job) -> list[str]:
    memory = ["--memory", job.memory] if job.memory and not _names_memory(job.words) else []
    resumable = ["--resumable"] if job.resumable and "--resumable" not in job.words else []
    return [*resumable, *memory]


def _names_memory(words: Sequence[str]) -> bool:
    return any(word == "--memory" or word.startswith(("--memory=", "-S", "--buffer-size")) for word in words)


def gently(command: list[str]) -> list[str]:
    """Yields to others without a control group."""
    for words in (["ionice", "-c2", "-n7"], ["nice", "-n10"]):
        if program := shutil.which(words[0]):
            command = [program, *words[1:], *command]
    return command
