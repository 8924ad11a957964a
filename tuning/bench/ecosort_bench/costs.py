"""CPU seconds per GB of each thing that a sort computes: on its own, and while all processors compute and the drive works."""

from __future__ import annotations

import json
import statistics
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

# By part (`kernels`, `verification`) and name.
Costs = dict[str, dict[str, float]]


def medians(calls: Sequence[Costs]) -> Costs:
    return {part: {name: statistics.median(call[part][name] for call in calls) for name in calls[0][part]} for part in calls[0]}


def found(alone: Costs, busy: Costs, stored_share: float) -> dict[str, Any]:
    """Returns what is kept of them in a result."""
    return {
        "verification": {
            "s_per_gb": alone["verification"],
            "stored_share": stored_share,
            "total_s_per_gb": verification_of(alone, stored_share),
        },
        "kernels": {"s_per_gb": alone["kernels"]},
        "beside_io": {
            "s_per_gb": busy,
            "total_s_per_gb": verification_of(busy, stored_share) + sum(busy["kernels"].values()),
        },
    }


def verification_of(costs: Costs, stored_share: float) -> float:
    """Run blocks are only of what is stored."""
    return sum(seconds * (stored_share if name.startswith("granule") else 1) for name, seconds in costs["verification"].items())


def beside_io(tool: Sequence[str], replay: Sequence[str], threads: int, calls: int) -> Costs:
    """Measures `threads` copies of the tool at a time, while the requests of a sort are replayed again and again."""
    told = []
    with _repeated(replay):
        for _ in range(calls):
            copies = [subprocess.Popen(tool, stdout=subprocess.PIPE, text=True) for _ in range(threads)]
            told += [json.loads(copy.communicate()[0]) for copy in copies]
    return medians(told)


@contextmanager
def _repeated(command: Sequence[str]) -> Iterator[None]:
    is_over = threading.Event()

    def repeat() -> None:
        while not is_over.is_set():
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)

    worker = threading.Thread(target=repeat)
    worker.start()
    try:
        yield
    finally:
        is_over.set()
        worker.join()
