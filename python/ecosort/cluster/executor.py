"""Who runs tasks. An executor knows nodes, starts tasks on them and tells how they ended; it decides nothing.

The one here runs each task in a process of this machine; ray_executor.py has the other.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

import ecosort

Json = dict[str, Any]


@dataclass(frozen=True)
class Node:
    """A place that runs `workers` tasks at a time. Slices are written below `temp`, which all nodes must be able to read."""

    name: str
    temp: str
    workers: int


@dataclass(frozen=True)
class Ended:
    """A task that is over. `answer` is None where its worker was lost and nobody knows what it did."""

    number: int
    answer: Json | None


class Executor(Protocol):
    """Is used by one thread."""

    @property
    def nodes(self) -> Sequence[Node]: ...

    def start(self, task: Json, node: Node) -> int:
        """Returns the number by which wait() and stop() know it."""
        ...

    def wait(self, timeout_s: float) -> list[Ended]:
        """Those that ended since the last call; waits until there is one, but not longer than `timeout_s`."""
        ...

    def stop(self, number: int) -> None:
        """Ends a task, which is not told by wait() any more. What it wrote may stay."""
        ...

    def close(self) -> None:
        """Ends all tasks."""
        ...


@dataclass
class _Process:
    process: subprocess.Popen[bytes]
    pidfd: int
    answer: IO[bytes]


class LocalExecutor:
    """Each task is a process of its own, in a process group of its own; it ends when this process does."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = tuple(nodes)
        self._running: dict[int, _Process] = {}
        self._selector = selectors.DefaultSelector()
        self._next = 0

    @property
    def nodes(self) -> Sequence[Node]:
        return self._nodes

    @property
    def pids(self) -> list[int]:
        """Of the processes that run tasks now; each leads its process group."""
        return [one.process.pid for one in self._running.values()]

    def start(self, task: Json, node: Node) -> int:
        answer = tempfile.TemporaryFile()  # noqa: SIM115  # until the task has ended
        with tempfile.TemporaryFile() as told:
            told.write(json.dumps(task).encode())
            told.seek(0)
            process = subprocess.Popen(
                [sys.executable, "-m", "ecosort.cluster.worker", str(os.getpid())],
                stdin=told,
                stdout=answer,
                start_new_session=True,
                env=_environment(),
            )
        self._next += 1
        pidfd = os.pidfd_open(process.pid)
        self._running[self._next] = _Process(process, pidfd, answer)
        self._selector.register(pidfd, selectors.EVENT_READ, self._next)
        return self._next

    def wait(self, timeout_s: float) -> list[Ended]:
        return [self._end(key.data) for key, _ in self._selector.select(timeout_s)]

    def stop(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._running[number].process.pid, signal.SIGKILL)
        self._end(number)

    def close(self) -> None:
        for number in list(self._running):
            self.stop(number)
        self._selector.close()

    def _end(self, number: int) -> Ended:
        one = self._running.pop(number)
        self._selector.unregister(one.pidfd)
        os.close(one.pidfd)
        one.process.wait()
        with contextlib.suppress(ProcessLookupError):  # what the task had started, where only its worker was killed
            os.killpg(one.process.pid, signal.SIGKILL)
        with one.answer as file:
            file.seek(0)
            data = file.read()
        return Ended(number, json.loads(data) if one.process.returncode == 0 and data else None)


def _environment() -> dict[str, str]:
    """With this package where this process has it from."""
    own = str(Path(ecosort.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([own, *filter(None, [os.environ.get("PYTHONPATH")])])}
