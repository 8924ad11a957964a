"""One sort by a cluster of nodes on this machine: `cluster_sort.py WAY INPUT OUTPUT MEMORY_BYTES TEMP... -- TERMS`.

WAY is `local` (processes), `ray` (a Ray cluster of emulated nodes; runs in the environment with Ray) or `ray_start`, which starts
that cluster, asks each node something, and stops it without a sort. TERMS is a JSON object of further arguments of
ecosort.cluster.sort(). Prints a JSON object.
"""

import json
import sys
from typing import Any


def _ray_cluster(nodes: int) -> Any:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(nodes - 1):
        cluster.add_node(num_cpus=1)
    return cluster


def _in_ray(nodes: int, sort: Any) -> dict[str, Any]:
    import ray

    cluster = _ray_cluster(nodes)
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        told: dict[str, Any] = sort()
        ray.shutdown()
    finally:
        cluster.shutdown()
    return told


def _ask_nodes() -> dict[str, Any]:
    """As many tasks as nodes that import what a task imports."""
    import ray

    @ray.remote(num_cpus=1, scheduling_strategy="SPREAD")
    def ask() -> int:
        import ecosort.cluster.tasks

        return len(ecosort.cluster.tasks.__name__)

    ray.get([ask.remote() for _ in ray.nodes()])
    return {}


def _sort(way: str, words: list[str], terms: dict[str, Any]) -> dict[str, Any]:
    from ecosort.cluster import sort

    data, output, memory, *temps = words
    on = "ray" if way == "ray" else "local"
    report = sort(data, output, memory=int(memory), nodes_temp=temps, on=on, **terms)
    wanted = ("rows", "parts", "imbalance", "bytes_moved", "input_bytes", "cpu_s")
    return {name: getattr(report, name) for name in wanted} | {
        "stages": [[stage.name, stage.wall_s, stage.cpu_s] for stage in report.stages]
    }


def _told(way: str, words: list[str], terms: dict[str, Any]) -> dict[str, Any]:
    nodes = len(words) - 3
    if way == "ray_start":
        return _in_ray(nodes, _ask_nodes)
    if way == "ray":
        return _in_ray(nodes, lambda: _sort(way, words, terms))
    return _sort(way, words, terms)


def main(way: str, *arguments: str) -> None:
    *words, _, terms = arguments
    print(json.dumps(_told(way, words, json.loads(terms))))


if __name__ == "__main__":
    main(*sys.argv[1:])
