"""One sort by a cluster of nodes on this machine: `cluster_sort.py WAY GROUP INPUT OUTPUT MEMORY_BYTES TEMP... -- TERMS`.

WAY is `local` (processes) or `ray` (a Ray cluster of emulated nodes; runs in the environment with Ray). GROUP is the directory of
the control group of this process. TERMS is a JSON object of further arguments of ecosort.cluster.sort(). Prints a JSON object;
with Ray, `sort` holds the time of the sort alone, between Ray's start, up to a first task on each node, and its end.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from ecosort_bench.processor_group import ProcessorGroup
from ecosort_measure.cold_run import bytes_to_settle, settle_memory


def _ray_cluster(nodes: int) -> Any:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(nodes - 1):
        cluster.add_node(num_cpus=1)
    return cluster


def _in_ray(nodes: int, group: ProcessorGroup, memory_bytes: int, sort: Any) -> dict[str, Any]:
    """Memory is settled when Ray has started: what was free meanwhile, the host of a virtual machine has taken back."""
    import ray

    cluster = _ray_cluster(nodes)
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        _ask_nodes()
        before = group.cpu_s()
        settle_memory(bytes_to_settle(nodes * memory_bytes))
        begun, began = group.cpu_s(), time.monotonic()
        told: dict[str, Any] = sort()
        taken = {"wall_s": time.monotonic() - began, "cpu_s": group.cpu_s() - begun, "settling_cpu_s": begun - before}
        ray.shutdown()
    finally:
        cluster.shutdown()
    return told | {"sort": taken}


def _ask_nodes() -> None:
    """Starts as many tasks as nodes that import what a task imports."""
    import ray

    @ray.remote(num_cpus=1, scheduling_strategy="SPREAD")
    def ask() -> int:
        import ecosort.cluster.tasks

        return len(ecosort.cluster.tasks.__name__)

    ray.get([ask.remote() for _ in ray.nodes()])


def _sort(way: str, words: list[str], terms: dict[str, Any]) -> dict[str, Any]:
    from ecosort.cluster import sort

    data, output, memory, *temps = words
    on = "ray" if way == "ray" else "local"
    report = sort(data, output, memory=int(memory), nodes_temp=temps, on=on, **terms)
    wanted = ("rows", "parts", "imbalance", "bytes_moved", "input_bytes", "cpu_s")
    return {name: getattr(report, name) for name in wanted} | {
        "stages": [[stage.name, stage.wall_s, stage.cpu_s] for stage in report.stages]
    }


def main(way: str, group: str, *arguments: str) -> None:
    *words, _, terms = arguments
    _, _, memory_bytes, *temps = words

    def sort() -> dict[str, Any]:
        return _sort(way, words, json.loads(terms))

    told = sort() if way == "local" else _in_ray(len(temps), ProcessorGroup(Path(group)), int(memory_bytes), sort)
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
