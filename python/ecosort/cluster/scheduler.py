"""Runs the tasks of a phase until each has been done once: on which node, again after a loss, twice where one is late.

lost worker     runs again, anywhere
full disk       runs again on another node; the full one gets no more tasks of this phase
failed          runs again, a few times
bad             is the same everywhere: the job ends
late            runs twice; who is done first wins, and the other is stopped
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ecosort.cluster.executor import Ended, Executor, Node
from ecosort.cluster.journal import RESUME, Journal
from ecosort.errors import BadInput, EcoSortError, IoFailed, NotEnoughSpace, VerificationFailed

Json = dict[str, Any]

_FAILURES = 3  # of a task, that are not the end of the job
_LOSSES = 100
_LOOK_S = 0.1
_LATE_FACTOR = 2.0  # times the median of those that are done
_LATE_LEAST_S = 1.0


@dataclass(frozen=True)
class PhaseState:
    """Says how far a phase is: tasks, and bytes that those which are done have read and written on each node, in `seconds`."""

    phase: str
    done: int
    tasks: int
    seconds: float
    bytes_by_node: Mapping[str, int]


Observe = Callable[[PhaseState], object]


@dataclass(frozen=True)
class Task:
    """`make` gives the JSON object for an attempt on a node; attempts never share a name. `node`: it runs nowhere else."""

    name: str
    make: Callable[[int, Node], Json]
    node: str | None = None

    def may_run_on(self, node: Node) -> bool:
        return self.node in (None, node.name)


@dataclass(frozen=True)
class _Attempt:
    task: Task
    number: int
    node: Node
    begin_s: float


@dataclass
class Done:
    """Says who did a task, and what it answered."""

    attempt: int
    node: str
    answer: Json


@dataclass
class Scheduler:
    """Reports to the journal what begins and ends. `observe` is called some times a second."""

    executor: Executor
    journal: Journal
    attempts: dict[str, int]  # begun so far, for each task
    observe: Observe = lambda state: None
    _running: dict[int, _Attempt] = field(default_factory=dict)

    def run(self, phase: str, tasks: Iterable[Task], accept: Callable[[Task, Done], object]) -> None:
        """Calls `accept` once for each task, after the journal knows."""
        state = _Phase(phase, deque(tasks))
        try:
            while state.done < state.count:
                self._start_waiting(state)
                self._double_late(state)
                self._take(state, self.executor.wait(_LOOK_S), accept)
                self.observe(state.told())
        finally:
            for number in list(self._running):
                self.executor.stop(number)
            self._running.clear()

    def _free_nodes(self, state: _Phase, chosen: Iterable[Node] = ()) -> list[Node]:
        """With a worker that has nothing to do, also when those of `chosen` begin, the idlest first."""
        busy = {node.name: 0 for node in self.executor.nodes}
        for node in (*(attempt.node for attempt in self._running.values()), *chosen):
            busy[node.name] += 1
        free = [node for node in self.executor.nodes if busy[node.name] < node.workers and node.name not in state.full]
        return sorted(free, key=lambda node: busy[node.name] - node.workers)

    def _start_waiting(self, state: _Phase) -> None:
        pairs: list[tuple[Task, Node]] = []
        while found := self._next_pair(state, [node for _, node in pairs]):
            state.waiting.remove(found[0])
            pairs.append(found)
        if state.waiting and not self._running and not pairs:
            task = state.waiting[0]
            why = f"node {task.node} is full, and it alone has the input of task {task.name}"
            raise NotEnoughSpace(f"{why}; make room, then {RESUME}")
        self._start(pairs)

    def _next_pair(self, state: _Phase, chosen: Sequence[Node]) -> tuple[Task, Node] | None:
        """The first task that a free node may run, and the idlest of these."""
        free = self._free_nodes(state, chosen)
        return next(((task, node) for task in state.waiting for node in free if task.may_run_on(node)), None)

    def _start(self, pairs: Sequence[tuple[Task, Node]]) -> None:
        """One line of the journal has them all: to make it durable may take longer than a task."""
        if not pairs:
            return
        for task, _ in pairs:
            self.attempts[task.name] = self.attempts.get(task.name, 0) + 1
        self.journal.append(
            *({"event": "start", "task": t.name, "attempt": self.attempts[t.name], "node": node.name} for t, node in pairs)
        )
        for task, node in pairs:
            number = self.attempts[task.name]
            handle = self.executor.start(task.make(number, node), node, is_bound=task.node is not None)
            self._running[handle] = _Attempt(task, number, node, time.monotonic())

    def _double_late(self, state: _Phase) -> None:
        """Gives a task that takes twice the usual time a second attempt when nothing waits, on another node if there is one."""
        if state.waiting or len(state.seconds) < 2:
            return
        limit = max(_LATE_LEAST_S, _LATE_FACTOR * _median(state.seconds))
        for attempt in list(self._running.values()):
            twins = sum(other.task is attempt.task for other in self._running.values())
            allowed = [node for node in self._free_nodes(state) if attempt.task.may_run_on(node)]
            free = [node for node in allowed if node != attempt.node] or allowed
            if twins == 1 and free and time.monotonic() - attempt.begin_s > limit:
                self._start([(attempt.task, free[0])])

    def _take(self, state: _Phase, ended: Iterable[Ended], accept: Callable[[Task, Done], object]) -> None:
        """Notes what went well in the journal, in one line, before a failure may end the job."""
        done: list[tuple[_Attempt, Done]] = []
        failed: list[tuple[_Attempt, Json | None]] = []
        for one in ended:
            attempt = self._running.pop(one.number, None)
            if attempt is None:  # its twin won at the same moment
                continue
            if one.answer is None or "error" in one.answer:
                failed.append((attempt, one.answer))
            else:
                self._stop_twins(attempt)
                done.append((attempt, Done(attempt.number, attempt.node.name, one.answer)))
        self._accept(state, done, accept)
        over = [attempt.task for attempt, _ in done]
        for attempt, answer in failed:
            if not any(task is attempt.task for task in over):
                self._forgive(state, attempt, answer)

    def _accept(self, state: _Phase, done: Sequence[tuple[_Attempt, Done]], accept: Callable[[Task, Done], object]) -> None:
        if not done:
            return
        self.journal.append(*({"event": "done", "task": attempt.task.name, **vars(found)} for attempt, found in done))
        for attempt, found in done:
            state.count_done(found)
            state.seconds.append(time.monotonic() - attempt.begin_s)
            accept(attempt.task, found)

    def _forgive(self, state: _Phase, attempt: _Attempt, answer: Json | None) -> None:
        state.forgive(attempt, answer["error"] if answer else None, [node.name for node in self.executor.nodes])
        others = (*(other.task for other in self._running.values()), *state.waiting)
        if not any(task is attempt.task for task in others):
            state.waiting.append(attempt.task)

    def _stop_twins(self, winner: _Attempt) -> None:
        for number, other in list(self._running.items()):
            if other.task is winner.task:
                self.executor.stop(number)
                del self._running[number]


def _median(values: Sequence[float]) -> float:
    """The lower one of two. The module `statistics` takes a fifth of the start of a worker."""
    return sorted(values)[(len(values) - 1) // 2]


class _Phase:
    """Holds what is known about the tasks of a phase while it runs."""

    def __init__(self, name: str, waiting: deque[Task]) -> None:
        self.name = name
        self.waiting = waiting
        self.count = len(waiting)
        self.done = 0
        self.seconds: list[float] = []
        self.full: set[str] = set()
        self._begin_s = time.monotonic()
        self._bytes_by_node: dict[str, int] = {}
        self._failures: dict[str, int] = {}
        self._losses: dict[str, int] = {}

    def count_done(self, done: Done) -> None:
        self.done += 1
        moved = done.answer.get("bytes_read", 0) + done.answer.get("bytes_written", 0)
        self._bytes_by_node[done.node] = self._bytes_by_node.get(done.node, 0) + moved

    def told(self) -> PhaseState:
        return PhaseState(self.name, self.done, self.count, time.monotonic() - self._begin_s, dict(self._bytes_by_node))

    def forgive(self, attempt: _Attempt, error: Json | None, nodes: list[str]) -> None:
        """Raises where another attempt would not help."""
        name = attempt.task.name
        if error is None or error["kind"] == "lost":
            self._losses[name] = self._losses.get(name, 0) + 1
            if self._losses[name] > _LOSSES:
                why = f", and node {attempt.task.node} alone has its input" if attempt.task.node else ""
                raise IoFailed(f"the worker of task {name} was lost {_LOSSES} times{why}; {RESUME} continues")
        elif error["kind"] == "full":
            self.full.add(attempt.node.name)
            if self.full >= set(nodes):
                raise NotEnoughSpace(f"no node has space for task {name}: {error['line']}; make room, then {RESUME}")
        elif error["kind"] == "bad":
            raise as_raised(error)
        else:
            self._failures[name] = self._failures.get(name, 0) + 1
            if self._failures[name] >= _FAILURES:
                raise IoFailed(f"task {name} failed {_FAILURES} times: {error['line']}")


def as_raised(error: Json) -> EcoSortError:
    """Makes an error of what a task said went wrong, that would go wrong everywhere."""
    kind = VerificationFailed if error["exit_code"] == 1 else BadInput
    raised = kind(error["line"])
    raised.exit_code = error["exit_code"]
    return raised
