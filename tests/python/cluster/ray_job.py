"""A job on three Ray nodes of one machine, one of which is lost in the middle. Run by test_ray.py with a Python that has Ray.

ray_job.py DIRECTORY: sorts `in` into `out`, and prints a JSON object.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import ray
from ecosort.cluster import PhaseState, check, ray_executor, sort
from ecosort.cluster.executor import Json, Node
from ray.cluster_utils import Cluster


class Counting(ray_executor.RayExecutor):
    """Counts what goes through Ray: what tasks get, and what they answer."""

    through_ray_bytes = 0

    def start(self, task: Json, node: Node, *, is_bound: bool = False) -> int:
        Counting.through_ray_bytes += len(json.dumps(task))
        return super().start(task, node, is_bound=is_bound)

    def _answer(self, reference: object) -> Json | None:
        answer = super()._answer(reference)
        Counting.through_ray_bytes += len(json.dumps(answer))
        return answer


def main(directory: Path) -> None:
    os.chdir(directory)
    own = ray_executor.RayExecutor
    ray_executor.RayExecutor = Counting  # type: ignore[misc]
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    others = [cluster.add_node(num_cpus=1), cluster.add_node(num_cpus=1)]
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    temps = [directory / "n0", directory / "n1", directory / "n2"]
    names = [node.name for node in own([str(temp) for temp in temps], 1).nodes]
    lost = names.index(others[0].node_id)
    was_lost: list[str] = []

    def lose(state: PhaseState) -> None:
        """A node with its slices, when the first part is complete."""
        if state.phase == "reduce" and state.done >= 1 and not was_lost:
            was_lost.append(names[lost])
            cluster.remove_node(others[0])
            shutil.rmtree(temps[lost])

    data = Path("in").read_bytes()
    cut = len(data) // 400 * 300  # three ranges, one for each node
    Path("in0").write_bytes(data[:cut])
    (directory / "of one node").write_bytes(data[cut:])
    alone = names[3 - lost - names.index(others[1].node_id)]  # neither that which is lost, nor the third
    inputs = ["in0", f"{alone}:{directory}/of one node"]
    terms: dict[str, Any] = {"record_size": 100, "by": "0:10", "on": "ray", "nodes_temp": temps, "memory": "4MiB", "parts": 6}
    report = sort(inputs, "out", progress=lose, **terms)
    told = {"rows": check("out").rows, "attempts": report.attempts, "tasks": report.tasks, "lost": len(was_lost)}
    told["alone"] = {span.node for span in report.spans if span.task == "partition-00003"} == {alone}
    told["through_ray_bytes"] = Counting.through_ray_bytes
    print(json.dumps(told))
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
