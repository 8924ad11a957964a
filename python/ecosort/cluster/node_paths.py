"""Inputs that only one node has, NODE:/path: whatever reads them runs there. All other paths are the same on all nodes."""

from __future__ import annotations

from collections.abc import Sequence

from ecosort.cluster.executor import Executor, Json, Node
from ecosort.cluster.scheduler import as_raised
from ecosort.cluster.spec import Stamp, split_node, stamp_of
from ecosort.errors import BadInput, IoFailed

_TRIES = 10
_LOOK_S = 1.0


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
    """As stamp_of(), which a node is asked for what only it has. Nothing else may run meanwhile."""
    stamps = []
    for path in paths:
        node = node_of(path, executor.nodes)
        stamps.append(_told_by(node, path, executor) if node else stamp_of(path))
    return stamps


def _told_by(node: Node, path: str, executor: Executor) -> Stamp:
    task = {"kind": "stamp", "path": split_node(path)[1]}
    for _ in range(_TRIES):
        answer = _answer(task, node, executor)
        if answer is None or answer.get("error", {}).get("kind") == "lost":
            continue
        if "error" in answer:
            raise as_raised(answer["error"] | {"line": f"on node {node.name}: {answer['error']['line']}"})
        size, changed = answer["stamp"]
        return size, changed
    raise IoFailed(f"'{path}': node {node.name} does not answer; start it again")


def _answer(task: Json, node: Node, executor: Executor) -> Json | None:
    number = executor.start(task, node, is_bound=True)
    while True:
        for ended in executor.wait(_LOOK_S):
            if ended.number == number:
                return ended.answer
