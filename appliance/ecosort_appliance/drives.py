"""Free space and temperature of the drives that jobs use."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ecosort_power.monitor import drive_temperatures

from ecosort_appliance.jobs import Job


@dataclass(frozen=True)
class Drive:
    """A file system, by the first directory of a job that lies on it."""

    place: str
    free_bytes: int
    size_bytes: int


def drives_of(found: Iterable[Job]) -> list[Drive]:
    """Returns the drives that hold the outputs of the jobs, each once."""
    seen: dict[int, Drive] = {}
    for job in found:
        place = os.path.dirname(job.output) if job.output else job.directory  # noqa: PTH120
        try:
            device, space = os.stat(place).st_dev, os.statvfs(place)  # noqa: PTH116
        except OSError:
            continue
        seen.setdefault(device, Drive(place, space.f_bavail * space.f_frsize, space.f_blocks * space.f_frsize))
    return list(seen.values())


def temperatures(root: Path = Path("/")) -> dict[str, float]:
    """Sensor -> degrees Celsius; empty where the machine shows none."""
    return {name: degrees for name, (degrees, _) in drive_temperatures(root).items()}
