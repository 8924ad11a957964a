"""Inputs that only one node has, NODE:/path: whatever reads them runs there. All other paths are the same on all nodes."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ecosort.cluster.executor import Executor, Json, Node
from ecosort.cluster.scheduler import as_raised
from ecosort.cluster.spec import Stamp, begin_of_input, split_node, stamp_of
from ecosort.errors import BadInput, IoFailed
from ecosort.remote.addresses import is_remote

_TRIES = 10
_LOOK_S = 1.0
_AT_ONCE = 16  # requests to servers

Told = TypeVar("Told")


def node_of(path: str, nodes: Sequence[Node]) -> Node | None:
    """None: any. Raises BadInput where the path names no node, or several."""
    name, _ = split_node(path)
    if name is None:
        return None
    found = [node for node in nodes if name in (node.name, *node.aliases)]
    if not found:
        raise BadInput(f"'{path}': no node is called {name}; there are {', '.join(node.name for node in nodes)}")
    if len(found) > 1:
        raise BadInput(f"'{path}': several nodes are called {name}; name one of {', '.join(node.name for node in found)}")
    return found[0]


def stamps_of(paths: Sequence[str], executor: Executor) -> list[Stamp]:
    """Returns what stamp_of() does for each of the paths. A node is asked for what only it has, while nothing else runs."""

    def from_node(node: Node, path: str) -> Stamp:
        size, changed = _told_by(node, path, executor, "stamp")
        return size, changed

    return _asked(paths, executor, stamp_of, from_node)


def begins_of(paths: Sequence[str], executor: Executor) -> list[bytes]:
    """Returns what begin_of_input() does for each of the paths, likewise."""
    return _asked(paths, executor, begin_of_input, lambda node, path: base64.b64decode(_told_by(node, path, executor, "begin")))


def _asked(
    paths: Sequence[str], executor: Executor, here: Callable[[str], Told], from_node: Callable[[Node, str], Told]
) -> list[Told]:
    """Returns what `here` or `from_node` says of each path. Servers are asked at the same time."""
    from concurrent.futures import ThreadPoolExecutor

    nodes = [node_of(path, executor.nodes) for path in paths]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        remote = {path: pool.submit(here, path) for path in paths if is_remote(path)}
        try:
            return [
                from_node(node, path) if node else remote[path].result() if path in remote else here(path)
                for path, node in zip(paths, nodes, strict=True)
            ]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _told_by(node: Node, path: str, executor: Executor, kind: str) -> Any:
    task = {"kind": kind, "path": split_node(path)[1]}
    for _ in range(_TRIES):
        answer = _answer(task, node, executor)
        if answer is None or answer.get("error", {}).get("kind") == "lost":
            continue
        if "error" in answer:
            raise as_raised(answer["error"] | {"line": f"on node {node.name}: {answer['error']['line']}"})
        return answer[kind]
    raise IoFailed(f"'{path}': node {node.name} does not answer; start it again")


def _answer(task: Json, node: Node, executor: Executor) -> Json | None:
    number = executor.start(task, node, is_bound=True)
    while True:
        for ended in executor.wait(_LOOK_S):
            if ended.number == number:
                return ended.answer
