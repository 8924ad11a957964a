"""System settings that change what a sort takes: where they are, what they are, what they would become. Changes nothing.

| setting | file | what it does |
|---|---|---|
| governor | cpu*/cpufreq/scaling_governor | who chooses the clock rate |
| energy preference | cpu*/cpufreq/energy_performance_preference | the processor's own balance of speed and power |
| read-ahead | block/*/queue/read_ahead_kb | of buffered reads only; direct I/O has none |
| scheduler | block/*/queue/scheduler | order of requests of one drive |
| power cap | powercap/intel-rapl:*/constraint_*_power_limit_uw | long-term limit of each package, whatever the fans do |
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ecosort_power.transports.sysfs import read_int, read_text

from ecosort_tuning.errors import UsageError


@dataclass(frozen=True, slots=True)
class WantedSettings:
    """None: left as it is."""

    governor: str | None = None
    energy_preference: str | None = None
    read_ahead_bytes: int | None = None
    scheduler: str | None = None
    power_cap_w: float | None = None

    @property
    def empty(self) -> bool:
        return self == WantedSettings()


@dataclass(frozen=True, slots=True)
class Change:
    """One file below the root, in the text that the kernel takes."""

    path: str
    what: str
    before: str
    after: str


def _processors(root: Path, name: str) -> list[Path]:
    found = (root / "sys/devices/system/cpu").glob(f"cpu[0-9]*/cpufreq/{name}")
    return sorted(found, key=lambda path: int(path.parts[-3].removeprefix("cpu")))


def _one_of(what: str, wanted: str, allowed: str | None, place: Path) -> None:
    if allowed and wanted not in allowed.split():
        raise UsageError(f"{what} '{wanted}' is not offered by {place}: {', '.join(allowed.split())}")


def _of_processors(root: Path, what: str, name: str, choices: str, wanted: str) -> Iterator[Change]:
    paths = _processors(root, name)
    if not paths:
        raise UsageError(f"this machine has no {what} to set (no cpufreq/{name} below {root / 'sys/devices/system/cpu'})")
    for path in paths:
        _one_of(what, wanted, read_text(path.with_name(choices)), path)
        yield _change(root, path, f"{what} of {path.parts[-3]}", read_text(path), wanted)


def _change(root: Path, path: Path, what: str, before: str | None, after: str) -> Change:
    if before is None:
        raise UsageError(f"{path} cannot be read, so it could not be restored: the {what} is not changed")
    return Change(path.relative_to(root).as_posix(), what, before, after)


def _of_drives(root: Path, drives: Sequence[str], name: str) -> Iterator[tuple[str, Path]]:
    if not drives:
        raise UsageError("name the drive whose read-ahead or scheduler is meant: --drive nvme0n1, or --on DIRECTORY")
    for drive in dict.fromkeys(drives):
        path = root / "sys/block" / drive / "queue" / name
        if not path.exists():
            there = ", ".join(sorted(p.name for p in (root / "sys/block").glob("*"))) or "none"
            raise UsageError(f"the drive {drive} has no {name} to set; drives of this machine: {there}")
        yield drive, path


def _scheduler(root: Path, drives: Sequence[str], wanted: str) -> Iterator[Change]:
    """The file lists all schedulers, the chosen one in brackets, and takes a bare name."""
    for drive, path in _of_drives(root, drives, "scheduler"):
        text = read_text(path) or ""
        _one_of("scheduler", wanted, text.replace("[", "").replace("]", ""), path)
        chosen = re.search(r"\[(\S+)\]", text)
        yield _change(root, path, f"scheduler of {drive}", chosen[1] if chosen else None, wanted)


def _read_ahead(root: Path, drives: Sequence[str], wanted_bytes: int) -> Iterator[Change]:
    if wanted_bytes % 1024:
        raise UsageError(f"a read-ahead of {wanted_bytes} bytes is no whole number of KiB")
    for drive, path in _of_drives(root, drives, "read_ahead_kb"):
        yield _change(root, path, f"read-ahead of {drive} in KiB", read_text(path), str(wanted_bytes // 1024))


def _power_cap(root: Path, wanted_w: float) -> Iterator[Change]:
    packages = [p for p in sorted((root / "sys/class/powercap").glob("intel-rapl:*")) if p.name.count(":") == 1]
    limits = [p for package in packages for p in sorted(package.glob("constraint_*_name")) if read_text(p) == "long_term"]
    if not limits:
        raise UsageError(f"this machine has no power cap to set (no intel-rapl below {root / 'sys/class/powercap'})")
    wanted_uw = round(wanted_w * 1e6)
    for name in limits:
        path = name.with_name(name.name.replace("_name", "_power_limit_uw"))
        most = read_int(name.with_name(name.name.replace("_name", "_max_power_uw")))
        if wanted_uw <= 0 or (most and wanted_uw > most):
            raise UsageError(f"a power cap of {wanted_w:g} W is outside of what {path} takes: up to {(most or 0) / 1e6:g} W")
        yield _change(root, path, f"power cap of {path.parent.name} in microwatts", read_text(path), str(wanted_uw))


def plan_changes(root: Path, wanted: WantedSettings, drives: Sequence[str]) -> list[Change]:
    """Returns what would be written, in this order; what is as wanted already is left out. UsageError for what this machine
    lacks.

    The governor comes before the energy preference: with some, intel_pstate refuses to change the latter.
    """
    found: list[Change] = []
    if wanted.governor is not None:
        found += _of_processors(root, "governor", "scaling_governor", "scaling_available_governors", wanted.governor)
    if wanted.energy_preference is not None:
        names = ("energy_performance_preference", "energy_performance_available_preferences")
        found += _of_processors(root, "energy preference", *names, wanted.energy_preference)
    if wanted.scheduler is not None:
        found += _scheduler(root, drives, wanted.scheduler)
    if wanted.read_ahead_bytes is not None:
        found += _read_ahead(root, drives, wanted.read_ahead_bytes)
    if wanted.power_cap_w is not None:
        found += _power_cap(root, wanted.power_cap_w)
    return [change for change in found if change.before != change.after]


def drive_of(directory: Path, root: Path = Path("/")) -> str:
    """The name below sys/block of the drive that holds a directory. UsageError where there is none (network, memory)."""
    number = directory.stat().st_dev
    link = root / "sys/dev/block" / f"{os.major(number)}:{os.minor(number)}"
    if not link.exists():
        raise UsageError(f"{directory} is on no drive of this machine")
    place = link.resolve()
    return place.parent.name if (place / "partition").exists() else place.name
