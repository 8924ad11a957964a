"""Identifies this machine, so that a profile of another one is not believed."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from dataclasses import dataclass, fields
from pathlib import Path

from ecosort_power.host import memory_bytes_of, processor_of
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
        """Returns in what the other differs from this one, None if in nothing. An unknown installation fits every one."""
        for field in fields(self):
            own, theirs = getattr(self, field.name), getattr(other, field.name)
            if field.name == "machine_id" and not (own and theirs):
                continue
            if field.name == "memory_bytes" and abs(own - theirs) <= _MEMORY_TOLERANCE * max(own, theirs):
                continue
            if own != theirs:
                return f"its {_NAMES[field.name]} is {theirs}, here it is {own}"
        return None


def processor_wait_s(root: Path = Path("/")) -> float | None:
    """Seconds since boot in which some process waited for a processor; None where the kernel does not count them."""
    found = re.search(r"^some .*total=(\d+)", read_text(root / "proc/pressure/cpu") or "", re.MULTILINE)
    return int(found[1]) / 1e6 if found else None


def this_machine(root: Path = Path("/")) -> MachineIdentity:
    identity = read_text(root / "etc/machine-id") or ""
    hashed = hashlib.sha256(f"ecosort {identity}".encode()).hexdigest()[:16] if identity else ""
    return MachineIdentity(hashed, processor_of(root) or platform.machine(), os.cpu_count() or 1, memory_bytes_of(root))
