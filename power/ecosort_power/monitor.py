"""Watches what the machine does during a run: load of the processors, temperatures of drives, throttling."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ecosort_power.nesting import parse_json
from ecosort_power.quality import LAST_SHARE
from ecosort_power.transports.sysfs import read_int, read_text

if TYPE_CHECKING:
    from ecosort_power.align import Load

LOAD_PERIOD_S = 0.2
SWING_S = 1.0  # a load is its mean over so long
TEMPERATURE_PERIOD_S = 10.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class LoadPoint:
    time_s: float
    busy_s: float  # processor seconds in use since boot, divided by the number of processors
    sectors: int = 0  # of 512 bytes that all drives have moved since boot


@dataclass(frozen=True, slots=True)
class DriveHeat:
    """Temperatures of one drive over a run."""

    drive: str
    first_c: float
    last_c: float
    peak_c: float
    limit_c: float | None

    @property
    def hot(self) -> bool:
        return self.limit_c is not None and self.peak_c >= self.limit_c


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Says what a run was measured under."""

    processors: int = 1
    busy_before: float | None = None
    busy_inside: float | None = None
    busy_after: float | None = None
    throttle_events: int | None = None  # None: this machine does not count them
    drives: list[DriveHeat] = field(default_factory=list)
    drive_step_bytes_s: float | None = None  # what drives moved inside the window and not around it
    late_swing: float | None = None  # by what share of all processors the load changed in the last third of the window


def read_load(root: Path = Path("/")) -> LoadPoint:
    """user, nice, system, irq, softirq and steal of all processors."""
    now = time.monotonic()
    with (root / "proc/stat").open(encoding="ascii") as f:
        fields = [int(v) for v in f.readline().split()[1:9]]
    busy = sum(fields) - fields[3] - fields[4]
    return LoadPoint(now, busy / _TICKS / (os.cpu_count() or 1), _sectors(root))


def _sectors(root: Path) -> int:
    try:
        return disk_activity(root)[0]
    except OSError:  # no /proc/diskstats
        return 0


def throttle_count(root: Path = Path("/")) -> int | None:
    """Counts how often the processors were throttled by heat since boot."""
    counts = [read_int(p) for p in (root / "sys/devices/system/cpu").glob("cpu[0-9]*/thermal_throttle/*_throttle_count")]
    known = [c for c in counts if c is not None]
    return sum(known) if known else None


def drive_temperatures(
    root: Path = Path("/"), may_ask: Callable[[Path], bool] = lambda device: True
) -> dict[str, tuple[float, float | None]]:
    """Drive -> (degrees, limit) from the nvme and drivetemp sensors of devices that may be asked: a drive that sleeps may wake to
    answer."""
    found = {}
    for chip in sorted((root / "sys/class/hwmon").glob("hwmon*")):
        name = read_text(chip / "name")
        if name not in ("nvme", "drivetemp") or not may_ask((chip / "device").resolve()):
            continue
        value = read_int(chip / "temp1_input")
        if value is None:
            continue
        limit = read_int(chip / "temp1_max")
        found[f"{name} {(chip / 'device').resolve().name}"] = (value / 1000, limit / 1000 if limit else None)
    return found


class Monitor:
    """Records the load in a thread, several times a second, and temperatures now and then. Thread-safe."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root
        self._points: list[LoadPoint] = []
        self._heat: list[dict[str, tuple[float, float | None]]] = []
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._throttle = throttle_count(root)
        self._thread = threading.Thread(target=self._run, name="monitor", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(5.0)

    def _run(self) -> None:
        next_heat = 0.0
        while not self._stop.wait(LOAD_PERIOD_S):
            point = read_load(self._root)
            heat = drive_temperatures(self._root) if point.time_s >= next_heat else None
            with self._lock:
                self._points.append(point)
                if heat is not None:
                    next_heat = point.time_s + TEMPERATURE_PERIOD_S
                    self._heat.append(heat)

    def begin_run(self) -> None:
        with self._lock:
            self._points = [read_load(self._root)]
            self._heat = [drive_temperatures(self._root)]
        self._throttle = throttle_count(self._root)

    def points(self) -> list[LoadPoint]:
        with self._lock:
            return list(self._points)

    def end_run(self, first_s: float, begin_s: float, end_s: float) -> tuple[Circumstances, list[LoadPoint]]:
        """Returns what the run, with its energy window [begin, end], was measured under."""
        with self._lock:
            self._points.append(read_load(self._root))
            self._heat.append(drive_temperatures(self._root))
            points, heat = list(self._points), list(self._heat)
        throttle = throttle_count(self._root)
        return (
            Circumstances(
                processors=os.cpu_count() or 1,
                busy_before=busy_share(points, first_s, begin_s),
                busy_inside=busy_share(points, begin_s, end_s),
                busy_after=busy_share(points, end_s, points[-1].time_s),
                drive_step_bytes_s=drive_step(points, first_s, begin_s, end_s),
                late_swing=load_swing(points, end_s - LAST_SHARE * (end_s - begin_s), end_s),
                throttle_events=throttle - self._throttle if throttle is not None and self._throttle is not None else None,
                drives=_drives(heat),
            ),
            points,
        )


def _ends(points: Sequence[LoadPoint], begin_s: float, end_s: float) -> tuple[LoadPoint, LoadPoint] | None:
    """The points just around a stretch."""
    inside = [p for p in points if begin_s - LOAD_PERIOD_S <= p.time_s <= end_s + LOAD_PERIOD_S]
    if len(inside) < 2 or inside[-1].time_s - inside[0].time_s < LOAD_PERIOD_S / 2:
        return None
    return inside[0], inside[-1]


def busy_share(points: Sequence[LoadPoint], begin_s: float, end_s: float) -> float | None:
    """Mean share of all processors in use, from the points just around the stretch."""
    ends = _ends(points, begin_s, end_s)
    return None if ends is None else (ends[1].busy_s - ends[0].busy_s) / (ends[1].time_s - ends[0].time_s)


def drive_step(points: Sequence[LoadPoint], first_s: float, begin_s: float, end_s: float) -> float | None:
    """By how much the drives moved more inside the window than before and after it, in bytes per second."""
    stretches = [_ends(points, *s) for s in ((begin_s, end_s), (first_s, begin_s), (end_s, points[-1].time_s))]
    rates = [512 * (b.sectors - a.sectors) / (b.time_s - a.time_s) for a, b in filter(None, stretches)]
    return rates[0] - max(rates[1:]) if len(rates) == 3 else None


def load_swing(points: Sequence[LoadPoint], begin_s: float, end_s: float) -> float | None:
    """Returns by how much the share of processors in use changed between begin and end."""
    count = int((end_s - begin_s) / SWING_S)
    shares = [busy_share(points, begin_s + i * SWING_S, begin_s + (i + 1) * SWING_S) for i in range(count)]
    known = [share for share in shares if share is not None]
    return max(known) - min(known) if len(known) >= 2 else None


def _drives(samples: Sequence[dict[str, tuple[float, float | None]]]) -> list[DriveHeat]:
    drives = []
    for name in samples[0] if samples else ():
        seen = [s[name] for s in samples if name in s]
        degrees = [d for d, _ in seen]
        drives.append(DriveHeat(name, degrees[0], degrees[-1], max(degrees), seen[0][1]))
    return drives


def to_load(points: Sequence[LoadPoint]) -> Load | None:
    from ecosort_power.align import Load  # numpy is loaded only where a log must be aligned

    if len(points) < 2:
        return None
    return Load([p.time_s for p in points], [p.busy_s for p in points])


def write_points(path: Path, points: Sequence[LoadPoint]) -> None:
    with path.open("w", encoding="ascii") as f:
        for p in points:
            f.write(json.dumps([round(p.time_s, 4), round(p.busy_s, 4), p.sectors]) + "\n")


def read_points(path: Path) -> list[LoadPoint]:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError:
        return []
    return [LoadPoint(*parse_json(line)) for line in lines]


def disk_activity(root: Path = Path("/")) -> tuple[int, int]:
    """Sectors moved by all drives since boot, and requests in flight now."""
    moved = flying = 0
    block = root / "sys/block"
    for line in (root / "proc/diskstats").read_text().splitlines():
        fields = line.split()
        if len(fields) > 11 and (block / fields[2]).exists() and not fields[2].startswith(("loop", "ram", "zram")):
            moved += int(fields[5]) + int(fields[9])
            flying += int(fields[11])
    return moved, flying
