"""Runs tasks by Ray core: a task is a Ray task on a node that was chosen, and only its JSON goes through Ray's object store.

Ray retries nothing: scheduler.py does, with another attempt. Nodes are those that are alive when the job begins or continues.
A driver outside the cluster joins it by `ray://HEAD`: then it is a client, whose calls a server beside the head makes for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ecosort.cluster.executor import Ended, Json, Node
from ecosort.cluster.journal import RESUME
from ecosort.cluster.ray_connect import joined_ray
from ecosort.cluster.tasks import run_task
from ecosort.errors import IoFailed


def _task(told: str) -> str:
    return json.dumps(run_task(json.loads(told)))


class RayExecutor:
    """Joins the cluster at `on`; `ray`: that of this machine, or of RAY_ADDRESS, or a new one. `temps` go round the nodes."""

    def __init__(self, temps: Sequence[str], workers: int, on: str = "ray") -> None:
        self._ray, self._ours = joined_ray(on)
        alive = sorted((node for node in self._ray.nodes() if node["Alive"]), key=lambda node: str(node["NodeID"]))
        self._nodes = tuple(
            Node(node["NodeID"], temps[number % len(temps)], workers, (node["NodeManagerHostname"], node["NodeManagerAddress"]))
            for number, node in enumerate(alive)
        )
        self._remote = self._ray.remote(num_cpus=0, max_retries=0)(_task)
        self._running: dict[Any, int] = {}
        self._next = 0

    @property
    def nodes(self) -> Sequence[Node]:
        return self._nodes

    def start(self, task: Json, node: Node, *, is_bound: bool = False) -> int:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(node_id=node.name, soft=not is_bound)
        self._next += 1
        with _head_there():
            self._running[self._remote.options(scheduling_strategy=here).remote(json.dumps(task))] = self._next
        return self._next

    def wait(self, timeout_s: float) -> list[Ended]:
        if not self._running:
            return []
        with _head_there():
            ready, _ = self._ray.wait(list(self._running), timeout=timeout_s)
            return [Ended(self._running.pop(reference), self._answer(reference)) for reference in ready]

    def _answer(self, reference: Any) -> Json | None:
        try:
            answer: Json = json.loads(self._ray.get(reference))
        except self._ray.exceptions.RayError:  # the worker, or its node, was lost
            return None
        return answer

    def stop(self, number: int) -> None:
        for reference, own in list(self._running.items()):
            if own == number:
                self._ray.cancel(reference, force=True)
                del self._running[reference]

    def close(self) -> None:
        with suppress(ConnectionError):  # a head that is lost ends them itself
            for number in list(self._running.values()):
                self.stop(number)
        if self._ours:
            self._ray.shutdown()


@contextmanager
def _head_there() -> Iterator[None]:
    """A client loses it as a connection."""
    try:
        yield
    except ConnectionError as error:
        raise IoFailed(f"Ray's head is lost: {str(error).splitlines()[0]}; start it again, then {RESUME}") from None
