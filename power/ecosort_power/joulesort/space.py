"""Is there room for a class, before anything is generated?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ecosort_power.errors import RunError
from ecosort_power.joulesort.sorter import plan_space
from ecosort_power.records import RECORD_BYTES

_GB = 1e9


@dataclass(frozen=True, slots=True)
class Need:
    """Bytes that are to be written below a directory, and what for."""

    directory: Path
    bytes: int
    purpose: str


def least(records: int, data: Path, files: Sequence[Path], output: Path) -> list[Need]:
    """Inputs and output alone: what no plan of the sort can do without."""
    size = records * RECORD_BYTES
    found = [Need(data, max(size - _blocks(f), 0), f"the input {f.name}") for f in files]
    return [*found, Need(output.parent, max(size - _blocks(output), 0), "the output")]


def needs(records: int, sort_words: Sequence[str], data: Path, files: Sequence[Path], output: Path) -> list[Need]:
    """`files` are the inputs; what is there of them and of an old output needs no more space."""
    size = records * RECORD_BYTES
    found = [Need(data, max(size - _blocks(f), 0), f"the input {f.name}") for f in files]
    for directories, total in plan_space(sort_words, records, output):
        found += [Need(Path(d), total // len(directories), "runs and output of the sort") for d in directories]
    return [*found, Need(data, -_blocks(output), "the old output")]


def _blocks(path: Path) -> int:
    """Bytes that a file takes of the drive; an input that is being made has another name."""
    return sum(p.stat().st_blocks * 512 for p in (path, path.with_name(path.name + ".begun")) if p.exists())


def check_space(wanted: Sequence[Need], what: str) -> None:
    """RunError, in one line, names the drive that has too little."""
    drives: dict[int, list[Need]] = {}
    for need in wanted:
        drives.setdefault(need.directory.stat().st_dev, []).append(need)
    for part in drives.values():
        total, free = sum(n.bytes for n in part), free_bytes(part[0].directory)
        if total <= free:
            continue
        pieces = ", ".join(f"{n.bytes / _GB:.1f} GB for {n.purpose}" for n in part if n.bytes > 0)
        raise RunError(
            f"{what} does not fit: {part[0].directory} needs {total / _GB:.1f} GB ({pieces}) and has {free / _GB:.1f} GB free; "
            "nothing was generated. Choose a larger drive by --data DIR (runs: -- --temp DIR), or rehearse with --records N"
        )


def free_bytes(directory: Path) -> int:
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize
