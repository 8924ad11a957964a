"""Power sensors of the kernel's hardware monitoring: powerN_input, powerN_average, energyN_input.

Address: `hwmon:CHIP/CHANNEL`, e.g. `hwmon:corsairpsu/power1` or `hwmon:amdgpu/energy1`; the channel may be left out where
there is one. Two chips of one name are told apart by their device: `hwmon:amdgpu@0000:03:00.0/power1`. An INA3221 has voltages
and currents, whose product is its power: `hwmon:ina3221/curr1`; its current has steps of 40 uV over the shunt, and its voltage
steps of 8 mV, which the digits of the product do not show. Batteries and UPS, which the kernel shows as chips as well, are no
sensors here: they may be charging, and `battery:` knows. `#root=DIR` for another /.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters.base import Finding, Machine, Meter, MeterSpec
from ecosort_power.meters.battery import SUPPLIES
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.sysfs import read_int, read_text, require_int

HWMON = Path("sys/class/hwmon")
STORES = ("Battery", "UPS")  # types of the power supply class that store energy
# One count of an INA3221 (TI SBOS576): of its shunt voltage, and of its bus voltage.
SHUNT_STEP_V, BUS_STEP_V = 40e-6, 8e-3
OTHER = "another input, or the wall"
NOT_CONNECTED = "NC"  # how device trees label an input without a rail
# These drivers measure more; all others are one component.
_SCOPES = {"power_meter": Scope.BMC, "corsairpsu": Scope.PSU, "acpi_power_meter": Scope.BMC, "pmbus": Scope.PSU}


@dataclass(frozen=True, slots=True)
class Channel:
    chip: str
    name: str  # power1, energy1
    path: Path  # the file to read
    label: str | None
    average_s: float | None = None
    volts: Path | None = None  # where `path` is a current: the file of the voltage it flows at
    shunt: Path | None = None  # ... and of the micro-ohms that it is measured over
    device: str = ""  # the chip's address on its bus
    shared: bool = False  # another chip has the same name
    store: str = ""  # the battery or UPS of the power supply class that this chip is

    def read_raw(self) -> str:
        """Microwatts, microjoules, or milliamperes and millivolts. MeterError if it cannot be read."""
        files = [self.path] if self.volts is None else [self.path, self.volts]
        return " ".join(str(require_int(f)) for f in files)

    def quantum_w(self, raw: str) -> float | None:
        """The smallest step of its watts at this raw answer; None: not known."""
        ohms = (read_int(self.shunt) or 0) / 1e6 if self.shunt is not None else 0.0
        if ohms <= 0:
            return None
        amperes, volts = (abs(int(v)) / 1000 for v in raw.split())
        return max(max(SHUNT_STEP_V / ohms, 1e-3) * volts, BUS_STEP_V * amperes) or None  # the driver reports whole milliamperes

    @property
    def scope(self) -> Scope:
        return _SCOPES.get(self.chip, Scope.COMPONENT)

    @property
    def address(self) -> str:
        return f"{self.chip}{f'@{self.device}' if self.shared else ''}/{self.name}"


def _device(chip_path: Path) -> str:
    """The chip's address on its bus, which stays; the number of hwmonN changes from boot to boot."""
    link = chip_path / "device"
    return link.resolve().name if link.exists() else chip_path.name


def _stores(root: Path) -> dict[str, str]:
    """Returns what stores energy: the name of its chip as power_supply_hwmon.c makes it -> its name in the power supply class."""
    names = [p.name for p in (root / SUPPLIES).glob("*") if read_text(p / "type") in STORES]
    return {name.replace("-", "_"): name for name in names} | {name: name for name in names}


def _store(chip_path: Path, chip: str, stores: Mapping[str, str]) -> str:
    """The battery or UPS that a chip belongs to, by its device or its name; empty: it is none."""
    device = chip_path / "device"
    return device.resolve().name if read_text(device / "type") in STORES else stores.get(chip, "")


def find_channels(root: Path) -> list[Channel]:
    channels = []
    stores = _stores(root)
    paths = sorted((root / HWMON).glob("hwmon*"), key=lambda p: (len(p.name), p.name))
    chips = {path: chip for path in paths if (chip := read_text(path / "name")) is not None}
    shared = {chip for chip, count in Counter(chips.values()).items() if count > 1}
    for chip_path, chip in chips.items():
        files = {p.name: p for p in chip_path.iterdir()}
        numbers = sorted(m[1] for f in files if (m := re.fullmatch(r"((?:power|energy)\d+)_(?:input|average)", f)))
        for name in dict.fromkeys(numbers):
            averaged = f"{name}_input" not in files
            path = files[f"{name}_average" if averaged else f"{name}_input"]
            interval = read_int(chip_path / f"{name}_average_interval") if averaged else None
            average_s = (interval / 1000 if interval else 1.0) if averaged else None
            label = read_text(chip_path / f"{name}_label")
            store = _store(chip_path, chip, stores)
            channels.append(Channel(chip, name, path, label, average_s, None, None, _device(chip_path), chip in shared, store))
        if chip == "ina3221":
            channels += [replace(c, device=_device(chip_path), shared=chip in shared) for c in _shunts(chip, chip_path)]
    return channels


def _shunts(chip: str, path: Path) -> list[Channel]:
    """The three inputs of an INA3221 (Documentation/hwmon/ina3221.rst): bus voltage inN, current currN, label inN_label, and
    shuntN_resistor. What else it has, in4 to in7 and curr4, are voltages of the shunts and sums."""
    pairs = [(n, path / f"curr{n}_input", path / f"in{n}_input") for n in (1, 2, 3)]
    return [
        Channel(chip, f"curr{n}", amperes, read_text(path / f"in{n}_label"), volts=volts, shunt=path / f"shunt{n}_resistor")
        for n, amperes, volts in pairs
        if amperes.exists() and volts.exists()
    ]


def values_of(raw: str, energy: bool) -> tuple[float | None, float | None]:
    """Watts and joules of a raw answer. ValueError if it is none."""
    first, *volts = (int(v) for v in raw.split())
    if volts:
        return first * volts[0] / 1e6, None
    return (None, first / 1e6) if energy else (first / 1e6, None)


class HwmonMeter(Meter):
    """One sensor file, read in microwatts or microjoules."""

    settings_known: ClassVar[Mapping[str, str]] = {"root": "directory in place of /"}

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._root = Path(spec.settings.get("root", "/"))
        self._channel: Channel | None = None

    def open(self) -> Capabilities:
        channels = find_channels(self._root)
        chip, _, name = self.spec.address.partition("/")
        chip, _, device = chip.partition("@")
        fitting = [c for c in channels if c.chip == chip and device in ("", c.device) and (not name or c.name == name)]
        if len(fitting) != 1:
            there = ", ".join(c.address for c in channels) or "none"
            problem = "several sensors fit" if fitting else "there is no sensor"
            raise UsageError(f"hwmon: {problem} {self.spec.address!r}; there are: {there}")
        channel = fitting[0]
        if channel.store:
            raise MeterError(f"hwmon {channel.address} {_why_store(channel)}; {_instead(channel)}")
        self._channel = channel
        raw = channel.read_raw()
        energy = channel.name.startswith("energy")
        return Capabilities(
            title=f"hwmon {channel.address}" + (f" ({channel.label})" if channel.label else ""),
            scope=channel.scope,
            period_s=max(channel.average_s or 0.0, 0.5),
            power=None if energy else (PowerKind.AVERAGE if channel.average_s else PowerKind.INSTANT),
            counter=energy,
            update_s=channel.average_s,
            lag_s=0.0,
            window_s=channel.average_s if channel.average_s else 0.0,
            timing_source="instrument",
            quantum_w=channel.quantum_w(raw),
            quantum_j=1e-6 if energy else None,
            identity={"chip": channel.chip, "file": str(channel.path)},
        )

    def read(self) -> Reading:
        if self._channel is None:
            raise MeterError("hwmon: not open")
        before = time.monotonic()
        raw = self._channel.read_raw()
        after = time.monotonic()
        watts, joules = values_of(raw, self._channel.name.startswith("energy"))
        return Reading(before, after, watts=watts, joules=joules, raw=raw)

    def close(self) -> None:
        self._channel = None

    @classmethod
    def discover(cls, machine: Machine) -> list[Finding]:
        channels = find_channels(machine.root)
        if not channels:
            why = "no power sensor below /sys/class/hwmon"
            fix = (
                "measure on the host, or at the wall"
                if machine.virtual
                else "run sensors-detect (lm-sensors), or load your power supply's driver, e.g. modprobe corsair-psu"
            )
            return [Finding("hwmon:", "power sensors (hwmon)", Scope.COMPONENT, "unknown", "unknown", False, why, fix)]
        return [_finding(c) for c in channels]


def _why_store(channel: Channel) -> str:
    return f"is {channel.store}, a battery or UPS: what goes into it while it charges is not what the machine draws"


def _instead(channel: Channel) -> str:
    return f"while a battery is the only source, --meter battery:{channel.store} measures it; else measure at the wall"


def _finding(channel: Channel) -> Finding:
    why, fix = (f"it {_why_store(channel)}", _instead(channel)) if channel.store else ("", "")
    try:
        channel.read_raw()
    except MeterError as error:  # an input of a chip that nothing is connected to answers with an error, too
        denied = isinstance(error.__cause__, PermissionError)
        why, fix = str(error), "sudo ecosort-power ..." if denied else OTHER
    if channel.label == NOT_CONNECTED:
        why, fix = "nothing is connected to it", OTHER
    return Finding(
        f"hwmon:{channel.address}",
        f"hwmon {channel.address}" + (f" ({channel.label})" if channel.label else ""),
        channel.scope,
        f"average over {channel.average_s:g} s" if channel.average_s else "driver",
        "unknown",
        not why,
        why,
        fix,
    )
