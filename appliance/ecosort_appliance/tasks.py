"""A task says what a job does: a request of the program, which `ecosort request` made from the words that its user typed."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ecosort.errors import BadInput
from ecosort.request import FORMATS, Request, Typed
from ecosort.words import bytes_of

from ecosort_appliance.errors import QueueError
from ecosort_appliance.jobs import Job
from ecosort_appliance.places import real_path
from ecosort_appliance.program import asked, fault_in

_OF_THE_QUEUE = ("--stats", "--progress")


@dataclass(frozen=True)
class Task:
    """Paths are as they were written; `options` are those of `ecosort run`."""

    members: dict[str, Any]  # of a request
    options: tuple[str, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """Returns also the file that is sorted in place."""
        return tuple(self.members["inputs"])

    @property
    def in_place(self) -> bool:
        return self.kind == "in_place"

    @property
    def kind(self) -> str:
        return str(self.members.get("place", {}).get("kind", "file"))

    @property
    def output(self) -> str:
        """Returns the file that is sorted, where that is in place."""
        return self.inputs[0] if self.in_place else str(self.members["place"]["output"])

    def overwrites_input(self, directory: str) -> bool:
        """Returns whether the output takes the place of an input, which is there until the sort has ended."""
        output = real_path(self.output, directory)
        return not self.in_place and any(real_path(path, directory) == output for path in self.inputs)

    @property
    def temps(self) -> tuple[str, ...]:
        return tuple(self.members.get("means", {}).get("temp_directories", ()))

    @property
    def memory_bytes(self) -> int | None:
        found: int | None = self.members.get("means", {}).get("memory_bytes")
        return found

    @property
    def merges(self) -> bool:
        return "input_order" in self.members or "--runs" in self.options

    @property
    def reports(self) -> tuple[str, ...]:
        """Files that it writes besides."""
        set_aside = [self.members[form].get("bad_rows", "refuse") for form in FORMATS if form in self.members]
        files = [word.partition("=")[2] for word in self.options if word.startswith(("--events=", "--trace="))]
        return (*files, *(place for place in set_aside if place not in ("refuse", "skip")))

    def request(self) -> str:
        return Request(self.members).to_json()

    def stored(self) -> dict[str, Any]:
        return asdict(self)

    def begun_anew(self) -> Task:
        """Returns the task without what lets an interrupted one go on."""
        place = {name: value for name, value in self.members["place"].items() if name != "kind"}
        return Task(self.members | {"place": place}, self.options)

    def filled(self, path: str, name: str) -> Task:
        """Returns the task of a watched directory's job for one file: `{}` and `{name}` stand for it."""
        return Task(*_filled((self.members, self.options), path, name))


def task_of(job: Job) -> Task:
    """Makes it of the words of a job that an older program queued. QueueError where they are refused now."""
    if job.request is not None:
        return Task(job.request["members"], tuple(job.request["options"]))
    return made(job, typed(job))


def typed(job: Job) -> Typed:
    """Asks the program, as the job's user, what the words mean. QueueError with its line for words that no queue can hold."""
    return _typed(tuple(job.words), job.directory, job.uid, tuple(sorted(job.environment.items())))


@functools.lru_cache
def _typed(words: tuple[str, ...], directory: str, uid: int, environment: tuple[tuple[str, str], ...]) -> Typed:
    job = Job(words=[*words], directory=directory, uid=uid, environment=dict(environment))
    done = asked(job, ["request", *words])
    if done is None:
        raise QueueError(f"the program ecosort cannot be asked in {directory!r}; is that directory still there?")
    if done.returncode != 0:
        raise QueueError(fault_in(done) or f"`ecosort request` ended with exit code {done.returncode}")
    found = Typed.from_json(done.stdout.decode())
    if word := next((word for word in found.options if word.startswith(_OF_THE_QUEUE)), None):
        raise QueueError(f"leave {word.partition('=')[0]} out: the queue has these reports")
    if "-" in (*found.request.members["inputs"], found.request.members.get("place", {}).get("output")):
        raise QueueError("a queued job cannot use standard input or output: give file names")
    return found


def made(job: Job, words: Typed) -> Task:
    """Adds the memory of the job, and that it can be resumed. QueueError."""
    members = dict(words.request.members)
    means, place = members.get("means", {}), members.get("place", {})
    if job.memory is not None:
        if "memory_bytes" in means:
            raise QueueError(f"two memories: --memory {job.memory} of the job and one in its command; leave one of them out")
        members["means"] = means | {"memory_bytes": memory_bytes(job.memory)}
    if job.resumable and "kind" not in place:
        members["place"] = place | {"kind": "resumable"}
    return Task(members, words.options)


def memory_bytes(text: str) -> int:
    try:
        return bytes_of(text, "--memory")
    except BadInput as error:
        raise QueueError(str(error)) from None


def filled(words: Sequence[str], path: str, name: str) -> list[str]:
    """Fills the words of a watched directory's job likewise."""
    return [str(_filled(word, path, name)) for word in words]


def _filled(value: Any, path: str, name: str) -> Any:
    if isinstance(value, dict):
        return {member: _filled(item, path, name) for member, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_filled(item, path, name) for item in value)
    return re.sub(r"\{\}|\{name\}", lambda m: path if m[0] == "{}" else name, value) if isinstance(value, str) else value
