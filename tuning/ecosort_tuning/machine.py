"""Which machine this is, so that a profile of another one is not believed."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from dataclasses import dataclass, fields
from pathlib import Path

from ecosort_power.transports.sysfs import read_text

# Memory that the kernel counts differs a little from version to version.
_MEMORY_TOLERANCE = 0.02
_NAMES = {"machine_id": "installation", "processor": "processor", "cpus": "number of CPUs", "memory_bytes": "memory"}


@dataclass(frozen=True, slots=True)
class MachineIdentity:
    """`machine_id` is a hash: the identity of an installation is not to be published. Empty where there is none (containers)."""

    machine_id: str
    processor: str
    cpus: int
    memory_bytes: int

    def difference(self, other: MachineIdentity) -> str | None:
        """What tells the other from this one, None if nothing does. An unknown installation fits every one."""
        for field in fields(self):
            own, theirs = getattr(self, field.name), getattr(other, field.name)
            if field.name == "machine_id" and not (own and theirs):
                continue
            if field.name == "memory_bytes" and abs(own - theirs) <= _MEMORY_TOLERANCE * max(own, theirs):
                continue
            if own != theirs:
                return f"its {_NAMES[field.name]} is {theirs}, here it is {own}"
        return None


def _processor(root: Path) -> str:
    found = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", read_text(root / "proc/cpuinfo") or "", re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def _memory_bytes(root: Path) -> int:
    found = re.search(r"^MemTotal:\s*(\d+) kB", read_text(root / "proc/meminfo") or "", re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def this_machine(root: Path = Path("/")) -> MachineIdentity:
    identity = read_text(root / "etc/machine-id") or ""
    hashed = hashlib.sha256(f"ecosort {identity}".encode()).hexdigest()[:16] if identity else ""
    return MachineIdentity(hashed, _processor(root), os.cpu_count() or 1, _memory_bytes(root))


@dataclass(frozen=True, slots=True)
class Mount:
    """What holds a directory."""

    device: str
    file_system: str
    in_memory: bool


def mount_of(directory: Path) -> Mount:
    """The last mount that the directory is below, as /proc tells it."""
    place = f"{directory.resolve()}/"
    best, device, kind = "", "unknown", "unknown"
    for line in (read_text(Path("/proc/self/mounts")) or "").splitlines():
        words = line.split()
        point = re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), words[1]).rstrip("/") + "/"
        if place.startswith(point) and len(point) >= len(best):
            best, device, kind = point, words[0], words[2]
    return Mount(device, kind, kind in ("tmpfs", "ramfs", "devtmpfs", "hugetlbfs"))
