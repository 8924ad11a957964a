"""Free space and temperature of the drives that jobs use."""

from __future__ import annotations

import math
import os
import threading
import time
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


class Temperatures:
    """Looks at the drives' temperatures without waking one that sleeps, and without keeping it awake: a drive with platters is
    asked only where others have used it since the last look, a minute ago or more. Thread-safe."""

    def __init__(self, root: Path = Path("/"), period_s: float = 60.0) -> None:
        self._root = root
        self._period_s = period_s
        self._used: dict[str, str] = {}  # device of a sensor -> what its drives had done at the last look
        self._found: dict[str, float] = {}
        self._looked_s = -math.inf
        self._lock = threading.Lock()

    def now(self) -> dict[str, float]:
        """Sensor -> degrees Celsius; empty where the machine shows none. A drive that rests is left out."""
        with self._lock:
            if time.monotonic() - self._looked_s >= self._period_s:
                self._looked_s = time.monotonic()
                there = drive_temperatures(self._root, self._may_ask)
                self._found = {name: degrees for name, (degrees, _) in there.items()}
            return self._found

    def _may_ask(self, device: Path) -> bool:
        disks = sorted((device / "block").glob("*"))
        if not any(_read(disk / "queue/rotational") == "1" for disk in disks):
            return True
        used = " ".join(_read(disk / "stat") for disk in disks)
        before = self._used.get(str(device))
        self._used[str(device)] = used
        return before is not None and before != used


def _read(path: Path) -> str:
    try:
        return " ".join(path.read_text().split())
    except OSError:
        return ""
