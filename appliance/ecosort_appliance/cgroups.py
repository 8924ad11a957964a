"""A control group for each job: a bound for its memory, low weights for processor and drives. Version 2 or version 1.

Notes for the job's log name what the machine lacks; nice then serves instead, and ionice in any case.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path

# A job yields to everything else: half the usual weight.
_V2_VALUES = (("cpu.weight", "50"), ("io.weight", "50"))
_V1_VALUES = {"cpu": (("cpu.shares", "512"),), "blkio": (("blkio.bfq.weight", "50"), ("blkio.weight", "500"))}
OVERHEAD_BYTES = 64 << 20  # beside the buffers: 32 MiB of the program, the keeper


@dataclass(frozen=True)
class Group:
    """A job's control group: its directories, what could not be had, and whether the job yields the processor to others by it."""

    directories: tuple[Path, ...] = ()
    notes: list[str] = field(default_factory=list)
    yields: bool = False

    def add(self, pid: int) -> None:
        for directory in self.directories:
            (directory / "cgroup.procs").write_text(str(pid))


_ROOT, _OWN = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def make_group(name: str, memory_bytes: int | None, root: Path = _ROOT, own: Path = _OWN) -> Group:
    """`memory_bytes`: the job's buffers; None: no bound."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        lines = []
    limit = None if memory_bytes is None else memory_bytes + OVERHEAD_BYTES
    if (root / "cgroup.controllers").exists():
        return _make_v2(root / _path_of(lines, "").lstrip("/"), name, limit)
    return _make_v1(root, lines, name, limit)


def _path_of(lines: list[str], controller: str) -> str:
    for line in lines:
        _, names, path = line.split(":", 2)
        if controller in names.split(","):
            return path
    return ""


def _make_v2(base: Path, name: str, limit: int | None) -> Group:
    """The group that holds processes cannot give its children controllers: the service moves to a child of its own, `service`."""
    if base.name == "service":
        base = base.parent
    notes: list[str] = []
    group = base / name
    try:
        with contextlib.suppress(FileExistsError):
            (base / "service").mkdir()
        (base / "service" / "cgroup.procs").write_text(str(os.getpid()))
        for controller in ("memory", "cpu", "io"):
            _write(base / "cgroup.subtree_control", f"+{controller}", notes)
        group.mkdir(exist_ok=True)
    except OSError as error:
        return Group(notes=[f"no control group: {base}: {error.strerror}"])
    if limit is not None:
        _write(group / "memory.max", str(limit), notes)
    yields = [_write(group / file, value, notes) for file, value in _V2_VALUES]
    return Group((group,), notes, all(yields))


def _make_v1(root: Path, lines: list[str], name: str, limit: int | None) -> Group:
    directories, notes = [], []
    for controller in ("memory", "cpu", "blkio"):
        group = root / controller / _path_of(lines, controller).lstrip("/") / name
        try:
            group.mkdir(exist_ok=True)
        except OSError as error:
            notes.append(f"no control group for {controller}: {error.strerror}")
            continue
        directories.append(group)
        if controller == "memory":
            if limit is not None:
                _write(group / "memory.limit_in_bytes", str(limit), notes)
        else:
            there = [(file, value) for file, value in _V1_VALUES[controller] if (group / file).exists()]
            if not there:
                notes.append(f"no weight for {controller}: this kernel has none")
            for file, value in there[:1]:
                _write(group / file, value, notes)
    return Group(tuple(directories), notes, any(directory.parts[len(root.parts)] == "cpu" for directory in directories))


def _write(path: Path, value: str, notes: list[str]) -> bool:
    """False, and a note, where the kernel refuses."""
    try:
        path.write_text(value)
    except OSError as error:
        notes.append(f"no control group limit {path.name}: {error.strerror}")
        return False
    return True


def remove_group(name: str, root: Path = _ROOT, own: Path = _OWN) -> bool:
    """False where the kernel has not yet taken the job's last process out of it."""
    found = [place / name for place in _places(root, own) if (place / name).is_dir()]
    for group in found:
        with contextlib.suppress(OSError):
            group.rmdir()
    return not any(group.is_dir() for group in found)


def groups_left(prefix: str, root: Path = _ROOT, own: Path = _OWN) -> set[str]:
    """Names of the groups of a service that was killed before it removed them."""
    return {group.name for place in _places(root, own) for group in place.glob(f"{prefix}*") if group.is_dir()}


def _places(root: Path, own: Path) -> list[Path]:
    """Lists where groups may be, of both versions."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return []
    base = root / _path_of(lines, "").lstrip("/")
    return [base, base.parent, *(root / c / _path_of(lines, c).lstrip("/") for c in ("memory", "cpu", "blkio"))]
