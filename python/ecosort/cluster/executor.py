"""Runs tasks. An executor knows nodes, starts tasks on them and reports how they ended; it decides nothing.

The one here runs them in processes of this machine; ray_executor.py has the other.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

import ecosort

Json = dict[str, Any]


@dataclass(frozen=True)
class Node:
    """A place that runs `workers` tasks at a time. Slices are written below `temp`, which all nodes must be able to read.

    `aliases` are further names by which people know it; several nodes may have the same.
    """

    name: str
    temp: str
    workers: int
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ended:
    """A task that is over. `answer` is None where its worker was lost and no one knows what it did."""

    number: int
    answer: Json | None


class Executor(Protocol):
    """Is used by one thread."""

    @property
    def nodes(self) -> Sequence[Node]: ...

    def start(self, task: Json, node: Node, *, is_bound: bool = False) -> int:
        """Returns the number by which wait() and stop() know it. One that `is_bound` is lost where the node is lost."""
        ...

    def wait(self, timeout_s: float) -> list[Ended]:
        """Returns those that ended since the last call; waits until there is one, but not longer than `timeout_s`."""
        ...

    def stop(self, number: int) -> None:
        """Ends a task, which wait() does not report any more. What it wrote may stay."""
        ...

    def close(self) -> None:
        """Ends all tasks."""
        ...


class _Worker:
    """A process that does one task after the other, in a process group of its own: it gets a line and answers with one."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-SP", *_worker_words(), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env=_environment(),
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._told: IO[bytes] = self.process.stdin
        self.answers: IO[bytes] = self.process.stdout
        self._answer = b""

    def tell(self, task: Json) -> None:
        with contextlib.suppress(BrokenPipeError):  # it was killed: the end of its answers says so
            self._told.write(json.dumps(task).encode() + b"\n")
            self._told.flush()

    def read(self) -> tuple[bool, Json | None]:
        """After there is something to read: whether the task is over, and its answer; None where the worker is lost."""
        piece = os.read(self.answers.fileno(), 1 << 16)
        self._answer += piece
        if not piece:
            return True, None
        if not self._answer.endswith(b"\n"):
            return False, None
        answer: Json = json.loads(self._answer)
        self._answer = b""
        return True, answer

    def end(self) -> None:
        """Kills it, and what it had started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.answers.close()
        with contextlib.suppress(BrokenPipeError):
            self._told.close()


class LocalExecutor:
    """Tasks run in processes of this machine, which end when this process does. One that is done takes the next task."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = tuple(nodes)
        self._idle: list[_Worker] = []
        self._running: dict[int, _Worker] = {}
        self._selector = selectors.DefaultSelector()
        self._next = 0

    @property
    def nodes(self) -> Sequence[Node]:
        return self._nodes

    def start(self, task: Json, node: Node, *, is_bound: bool = False) -> int:
        worker = self._idle.pop() if self._idle else _Worker()
        self._next += 1
        self._running[self._next] = worker
        self._selector.register(worker.answers, selectors.EVENT_READ, self._next)
        worker.tell(task)
        return self._next

    def wait(self, timeout_s: float) -> list[Ended]:
        ended = []
        for key, _ in self._selector.select(timeout_s):
            number: int = key.data
            is_over, answer = self._running[number].read()
            if is_over:
                worker = self._take(number)
                if answer is None:
                    worker.end()
                else:
                    self._idle.append(worker)
                ended.append(Ended(number, answer))
        return ended

    def stop(self, number: int) -> None:
        if number in self._running:  # else it has ended, and a signal came before its end was noted
            self._take(number).end()

    def close(self) -> None:
        for number in list(self._running):
            self.stop(number)
        for worker in self._idle:
            worker.end()
        self._idle.clear()
        self._selector.close()

    def _take(self, number: int) -> _Worker:
        worker = self._running.pop(number)
        self._selector.unregister(worker.answers)
        return worker


def _worker_words() -> list[str]:
    file = Path(__file__).with_name("worker.py")
    return [str(file)] if file.is_file() else ["-m", "ecosort.cluster.worker"]


def _environment() -> dict[str, str]:
    """With this package where this process has it from, and others, which a start without `site` does not find."""
    own = str(Path(ecosort.__file__).parents[1])
    others = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    return {**os.environ, "PYTHONPATH": os.pathsep.join([own, *filter(None, [os.environ.get("PYTHONPATH")]), *others])}
