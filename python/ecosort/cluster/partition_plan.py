"""Asks the program what a partition of a range takes: `ecosort plan partition`."""

from __future__ import annotations

import functools
import json
import subprocess
from dataclasses import dataclass

from ecosort.errors import NotEnoughMemory, from_program
from ecosort.program import find_program

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
    command = [str(find_program()), "plan", "partition", "--json", *["--sort"] * sorts, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    told = json.loads(done.stdout) if done.stdout else None
    if done.returncode != 0 or told is None:
        raise from_program(done.returncode, done.stderr.strip().removeprefix("ecosort: "), told)
    return PartitionPlan(told["run_bytes"], told["runs"])
