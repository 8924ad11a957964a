"""Asks the program what a partition of a range takes: `ecosort plan partition`."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass

from ecosort.errors import NotEnoughMemory
from ecosort.program import answer_of

MOST_PARTS = 1 << 16


@dataclass(frozen=True)
class PartitionPlan:
    """`run_bytes` are cut, or sorted, at a time; each slice has `runs` files."""

    run_bytes: int
    runs: int


@functools.lru_cache(maxsize=4096)
def plan_partition(
    range_bytes: int, parts: int, memory_bytes: int, *, threads: int, record_bytes: int | None, sorts: bool
) -> PartitionPlan:
    """`record_bytes`: None for rows of any length. Raises NotEnoughMemory, also where no memory is enough for so many parts."""
    if parts > MOST_PARTS:
        raise NotEnoughMemory(f"{parts} parts would be needed, {MOST_PARTS} are possible", memory_bytes, None)
    rows = ["lines"] if record_bytes is None else ["records", f"--record-size={record_bytes}"]
    words = [*rows, f"--assume-size={range_bytes}", f"--parts={parts}", f"--memory={memory_bytes}", f"--threads={threads}"]
    told = json.loads(answer_of("plan", "partition", "--json", *["--sort"] * sorts, *words))
    return PartitionPlan(told["run_bytes"], told["runs"])
