"""Sorts of a terabyte on a small machine: `make scale-test SIZE=100GB` (root; fuse3, xfsprogs, btrfs-progs).

A drive that keeps the benchmark's records by their numbers (record_drive.cpp) carries XFS through a loop device. The parts:

  inplace    gen, inplace with two kills, check
  sort       a sort from an input that takes no space, check
  merge      a resumable sort that is killed when its runs are there, `merge --runs` of them, a tenth of the size
  joulesort  a whole entry with a simulated meter, killed twice: two inputs and six sorts (one and one, beyond 10^9 records)
  cluster    ten nodes of this machine, whose driver is killed when half of the tasks are done
  lines      a table sorted as lines, on XFS in a btrfs that compresses
  csv        the same table, sorted by a number

One table, held against the plans; exit 1 where a promise was not kept.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scale_cluster import NODES, cluster
from scale_drives import drive
from scale_ground import RECORD_BYTES, Ground
from scale_joulesort import joulesort
from scale_lines import csv, lines
from scale_records import merge_runs, sort, sort_in_place
from scale_table import print_table

UNITS = {"GB": 10**9, "TB": 10**12, "MiB": 1 << 20, "GiB": 1 << 30}


REAL = 0.06  # a record of 100 bytes takes 4.6, and the file systems some


def once(size: int, memory: int) -> float:
    return REAL * size


def packed(size: int, memory: int) -> float:
    return 0.25 * size


def of_cluster(size: int, memory: int) -> float:
    """A part that a node puts together is there twice; it may be 16 times as large as the memory."""
    return 0.05 * (size + min(size, NODES * 16 * memory))


@dataclass(frozen=True)
class Part:
    """`disk`: hundredths of the size that its disk has; `real`: bytes that the real drive must have free."""

    run: Callable[[Ground], None]
    disk: int = 110
    real: Callable[[int, int], float] = once


PARTS = {
    "inplace": Part(sort_in_place),
    "sort": Part(sort),
    "merge": Part(merge_runs),
    "joulesort": Part(joulesort, disk=430),  # two inputs, which are as good as nothing; runs and output
    "cluster": Part(cluster, disk=230, real=of_cluster),
    "lines": Part(lines, disk=0, real=packed),
    "csv": Part(csv, disk=0, real=packed),
}
USUAL = ["inplace", "sort", "merge"]


def parse_size(text: str) -> int:
    found = re.fullmatch(r"(\d+)(GB|TB|MiB|GiB)", text)
    if not found:
        sys.exit(f"scale-test: '{text}' is no size; say 100GB, 1TB")
    return int(found[1]) * UNITS[found[2]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--dir", type=Path, default=Path("/var/tmp"), help="a real drive with 6 to 25 %% of the size free")
    parser.add_argument("--size", default="100GB")
    parser.add_argument("--memory", default="1GiB")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=USUAL, help="what is run; a terabyte takes hours")
    words = parser.parse_args()
    size, memory = parse_size(words.size), parse_size(words.memory)
    parts = [PARTS[name] for name in words.parts]
    disk_bytes = size // 100 * max(part.disk for part in parts) + (2 << 30)
    need, free = int(max(part.real(size, memory) for part in parts)) + (200 << 20), shutil.disk_usage(words.dir).free
    print(f"scale-test: {words.size} with {words.memory} of memory")
    print(f"scale-test: takes {need / 1e9:.1f} GB of '{words.dir}', where {free / 1e9:.1f} GB are free")
    if free < need:
        sys.exit("scale-test: too little is free; name a directory on another drive: --dir, or SCALE_DIR= of make")
    if os.geteuid() != 0:
        sys.exit("scale-test: only root mounts the drive")
    with (
        tempfile.TemporaryDirectory(prefix="ecosort-scale-", dir=words.dir) as place,
        drive(words.build, Path(place), disk_bytes, size // RECORD_BYTES) as (disk, files),
    ):
        program = (words.build / "ecosort").resolve()
        ground = Ground(program, disk, files, Path(place), size // RECORD_BYTES, memory)
        try:
            for part in parts:
                part.run(ground)
        finally:
            print_table(ground.rows)
    return 1 if any(row.faults for row in ground.rows) else 0


if __name__ == "__main__":
    sys.exit(main())
