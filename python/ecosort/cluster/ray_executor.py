"""Runs tasks by Ray core: a task is a Ray task on a node that was chosen, and only its JSON goes through Ray's object store.

Ray retries nothing: scheduler.py does, with another attempt. Nodes are those that are alive when the job begins or continues.
A driver outside the cluster joins it by `ray://HEAD`: then it is a client, whose calls a server beside the head makes for it.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ecosort.cluster.executor import Ended, Json, Node
from ecosort.cluster.tasks import run_task
from ecosort.errors import BadInput, IoFailed

_CLIENT_PORT = 10001  # of `ray start --head`
_TRIES = 3
_NOT_YET = "Starting Ray client server failed"


def _use_token() -> None:
    """A head that finds a token asks everybody for it, also its own clients, which only send it when they are told to. A first
    `--on ray` makes one."""
    if "RAY_AUTH_MODE" in os.environ:
        return
    if {"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & {*os.environ} or _token_file().exists():
        os.environ["RAY_AUTH_MODE"] = "token"


def _token_file() -> Path:
    return Path(os.path.expanduser("~/.ray/auth_token"))  # noqa: PTH111  # a user without a home has none


def _load_ray() -> Any:
    _use_token()
    try:
        import ray
    except ImportError:
        raise BadInput("the Python package ray is not installed; run: pip install 'ray[client]', or use --on local") from None
    return ray


def _task(told: str) -> str:
    return json.dumps(run_task(json.loads(told)))


class RayExecutor:
    """Joins the cluster at `on`; `ray`: that of this machine, or of RAY_ADDRESS, or a new one. `temps` go round the nodes."""

    def __init__(self, temps: Sequence[str], workers: int, on: str = "ray") -> None:
        self._ray = _load_ray()
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._connect(on)
        alive = sorted((node for node in self._ray.nodes() if node["Alive"]), key=lambda node: str(node["NodeID"]))
        self._nodes = tuple(
            Node(node["NodeID"], temps[number % len(temps)], workers, (node["NodeManagerHostname"], node["NodeManagerAddress"]))
            for number, node in enumerate(alive)
        )
        self._remote = self._ray.remote(num_cpus=0, max_retries=0)(_task)
        self._running: dict[Any, int] = {}
        self._next = 0

    def _connect(self, on: str) -> None:
        if on != "ray":
            self._connect_as_client(on)
            return
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        try:
            self._ray.init(address="auto", **quiet)
        except ConnectionError:  # none runs here
            self._ray.init(include_dashboard=False, **quiet)

    def _connect_as_client(self, address: str) -> None:
        """Raises BadInput where Ray's client is not installed or is another version, IoFailed where no head answers."""
        if ":" not in address.removeprefix("ray://"):
            address += f":{_CLIENT_PORT}"
        try:
            self._join(address)
        except ImportError:
            raise BadInput("Ray's client is not installed, which ray:// needs; run: pip install 'ray[client]'") from None
        except ConnectionError as error:
            line = str(error).strip().rpartition("\n")[2]  # the last one of a traceback
            why = "start it with `ray start --head`, or where it runs, give this user its token (see `ray get-auth-token`)"
            raise IoFailed(f"no Ray head answers at {address}: {line}; {why}") from None
        except RuntimeError as error:
            raise BadInput(f"{address}: {str(error).splitlines()[0]}") from None

    def _join(self, address: str) -> None:
        """A head that has just been started lets no one in for some seconds."""
        for tries in range(_TRIES):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the error says it
                    self._ray.init(address=address, logging_level="ERROR")
            except ConnectionError as error:
                if _NOT_YET not in str(error) or tries == _TRIES - 1:
                    raise
                time.sleep(1)
            else:
                return

    @property
    def nodes(self) -> Sequence[Node]:
        return self._nodes

    def start(self, task: Json, node: Node, *, is_bound: bool = False) -> int:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(node_id=node.name, soft=not is_bound)
        self._next += 1
        self._running[self._remote.options(scheduling_strategy=here).remote(json.dumps(task))] = self._next
        return self._next

    def wait(self, timeout_s: float) -> list[Ended]:
        if not self._running:
            return []
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
        for number in list(self._running.values()):
            self.stop(number)
        if self._ours:
            self._ray.shutdown()
