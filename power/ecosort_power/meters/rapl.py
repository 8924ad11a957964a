"""Processor energy counters (RAPL) through the kernel's powercap files.

The counters see the processor package, and on some machines the memory: never the machine. Each zone wraps at its own
`max_energy_range_uj`; the meter undoes that and sums the zones, so its counter only grows.

Address: `rapl:` for all packages and memory zones, or a list of zone names like `rapl:package-0`. `#root=DIR` for another /.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters.base import Finding, Machine, Meter, MeterSpec
from ecosort_power.reading import Capabilities, Reading, Scope
from ecosort_power.transports.sysfs import read_int, read_text, require_int

POWERCAP = Path("sys/class/powercap")
# A package at 500 W needs 8 minutes for the typical 262 kJ, small parts wrap after a minute.
MAX_PERIOD_S = 10.0
UDEV_RULE = 'SUBSYSTEM=="powercap", ACTION=="add", RUN+="/bin/sh -c \'chmod o+r /sys/class/powercap/*/energy_uj\'"'
FIX = (
    "sudo chmod o+r /sys/class/powercap/*/energy_uj (until the next boot), or for good the udev rule "
    f"{UDEV_RULE} in /etc/udev/rules.d/70-rapl.rules"
)


@dataclass(frozen=True, slots=True)
class Zone:
    path: Path
    name: str
    wrap_uj: int


def find_zones(root: Path) -> list[Zone]:
    """Packages and memory zones. Core and uncore lie within their package, psys holds the packages: all left out."""
    zones = []
    for path in sorted((root / POWERCAP).glob("intel-rapl:*")):
        name = read_text(path / "name")
        if name is None or not name.startswith(("package", "dram")):
            continue
        parent = path.name.rpartition(":")[0]
        label = f"{parent}/{name}" if name == "dram" else name
        zones.append(Zone(path, label, read_int(path / "max_energy_range_uj") or 0))
    return zones


class Total:
    """The sum of counters that each start again at 0 after `wraps_uj`, since the first counts."""

    def __init__(self, wraps_uj: Sequence[int], first_uj: Sequence[int]) -> None:
        self._wraps, self._last, self._sum = wraps_uj, first_uj, 0

    def add(self, counts_uj: Sequence[int]) -> int:
        """Microjoules since the first counts; at most one wrap-around since the last call."""
        for wrap, old, new in zip(self._wraps, self._last, counts_uj, strict=True):
            self._sum += new - old + (wrap if new < old else 0)
        self._last = counts_uj
        return self._sum


class RaplMeter(Meter):
    """Package and memory energy. `psys` is not used: what it covers differs by board."""

    usual_scope: ClassVar[Scope] = Scope.PACKAGE
    settings_known: ClassVar[Mapping[str, str]] = {"root": "directory in place of /"}

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._root = Path(spec.settings.get("root", "/"))
        self._zones: list[Zone] = []
        self._total: Total | None = None
        if spec.number("period", 0.1) > MAX_PERIOD_S:
            raise UsageError(f"rapl must be read at least every {MAX_PERIOD_S:g} s or a wrap-around is missed")

    def open(self) -> Capabilities:
        zones = find_zones(self._root)
        wanted = [w for w in self.spec.address.split("+") if w]
        missing = set(wanted) - {z.name for z in zones}
        if missing:
            there = ", ".join(z.name for z in zones) or "none"
            raise UsageError(f"there is no RAPL zone {sorted(missing)[0]!r}; there are: {there}")
        self._zones = [z for z in zones if not wanted or z.name in wanted]
        if not self._zones:
            raise MeterError(f"no RAPL zone below {self._root / POWERCAP}; load it with: modprobe intel_rapl_msr")
        unlimited = [z.name for z in self._zones if z.wrap_uj <= 0]
        if unlimited:
            raise MeterError(f"RAPL zone {unlimited[0]} does not say where it wraps (max_energy_range_uj)")
        self._total = Total([z.wrap_uj for z in self._zones], self._values())
        names = " + ".join(z.name for z in self._zones)
        return Capabilities(
            title=f"RAPL {names}",
            scope=Scope.PACKAGE,
            period_s=0.1,
            power=None,
            counter=True,
            update_s=0.001,
            lag_s=0.0,
            window_s=0.0,
            timing_source="instrument",
            quantum_j=1e-4,
            identity={**{z.name: str(z.path) for z in self._zones}, "wraps_uj": " ".join(str(z.wrap_uj) for z in self._zones)},
            notes=("processor package and memory only: not comparable with anything measured at the wall",),
        )

    def _values(self) -> list[int]:
        try:
            return [require_int(z.path / "energy_uj") for z in self._zones]
        except MeterError as error:
            raise MeterError(f"{error}; allow it with: {FIX}") from None

    def read(self) -> Reading:
        if self._total is None:
            raise MeterError("rapl: not open")
        before = time.monotonic()
        values = self._values()
        after = time.monotonic()
        return Reading(before, after, joules=self._total.add(values) / 1e6, raw=" ".join(map(str, values)))

    def close(self) -> None:
        self._zones = []

    @classmethod
    def discover(cls, machine: Machine) -> list[Finding]:
        zones = find_zones(machine.root)
        rate, accuracy = "1 ms counter", "unknown"
        title = "processor energy counters (RAPL)"
        if not zones:
            why = "the kernel shows no RAPL counters"
            fix = "modprobe intel_rapl_msr (processors with RAPL only)"
            if machine.virtual:
                why += ": this is a virtual machine, they belong to its host"
                fix = "measure on the host, or at the wall"
            return [Finding("rapl:", title, Scope.PACKAGE, rate, accuracy, False, why, fix)]
        title = f"RAPL {', '.join(z.name for z in zones)}"
        if any(read_int(z.path / "energy_uj") is None for z in zones):
            why = "energy_uj may not be read by this user (closed since Linux 5.10)"
            return [Finding("rapl:", title, Scope.PACKAGE, rate, accuracy, False, why, FIX)]
        return [Finding("rapl:", title, Scope.PACKAGE, rate, accuracy, True)]
