"""The battery of a laptop, from Linux' power supply class: `battery:` for all of them, `battery:BAT0` for one.

It measures the machine only while it is the only source: readings while it charges or rests are refused, and those while a
power supply or another battery gives something as well. What it gives lacks the losses of a power supply, so it is never compared
with the wall. `#root=DIR` for another /.
Source: Documentation/ABI/testing/sysfs-class-power: power_now in microwatts, or current_now in microamperes x voltage_now in
microvolts.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters.base import Finding, Machine, Meter, MeterSpec
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.sysfs import read_int, read_text

SUPPLIES = Path("sys/class/power_supply")
UNPLUG = "unplug the power supply while it is measured"
HOW_ALONE = f"{UNPLUG}; battery: alone adds up all batteries"


def find_batteries(root: Path) -> list[Path]:
    """Batteries that feed the machine; those of mice and pens have the scope Device."""
    found = sorted((root / SUPPLIES).glob("*"))
    return [p for p in found if read_text(p / "type") == "Battery" and read_text(p / "scope") != "Device"]


def _beside(root: Path, batteries: Sequence[Path]) -> str | None:
    """Returns what feeds the machine besides these: a weak power supply is helped by a battery, which drains meanwhile."""
    for path in sorted((root / SUPPLIES).glob("*")):
        kind = read_text(path / "type")
        if path in batteries or read_text(path / "scope") == "Device" or kind == "UPS":
            continue
        if read_text(path / "status") == "Discharging" if kind == "Battery" else (read_int(path / "online") or 0) > 0:
            return path.name
    return None


def _measures(path: Path) -> bool:
    return read_int(path / "power_now") is not None or None not in (
        read_int(path / "current_now"),
        read_int(path / "voltage_now"),
    )


class BatteryMeter(Meter):
    """One battery, or the sum of all."""

    usual_scope: ClassVar[Scope] = Scope.BATTERY
    settings_known: ClassVar[Mapping[str, str]] = {"root": "directory in place of /"}

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._root = Path(spec.settings.get("root", "/"))
        self._batteries: list[Path] = []

    def open(self) -> Capabilities:
        there = find_batteries(self._root)
        if not there:
            raise MeterError(f"this machine has no battery below {self._root / SUPPLIES}")
        chosen = [p for p in there if self.spec.address in ("", p.name)]
        if not chosen:
            names = ", ".join(p.name for p in there)
            raise UsageError(f"battery: there is no battery {self.spec.address[:40]!r}; there are: {names}")
        silent = [p.name for p in chosen if not _measures(p)]
        if silent:
            raise MeterError(f"{silent[0]} does not say what power it gives (power_now, or current_now and voltage_now)")
        self._batteries = chosen
        try:
            self.read()
        except MeterGlitchError as error:
            raise MeterError(str(error)) from None
        names = " + ".join(p.name for p in chosen)
        keys = ("manufacturer", "model_name", "technology")
        identity = {k: text for k in keys if (text := read_text(chosen[0] / k))}
        return Capabilities(
            title=f"battery {names}",
            scope=Scope.BATTERY,
            period_s=1.0,
            power=PowerKind.INSTANT,
            identity=identity,
            notes=("what the battery gives, without the losses of a power supply: not comparable with the wall",),
        )

    def read(self) -> Reading:
        if not self._batteries:
            raise MeterError("battery: not open")
        before = time.monotonic()
        raw = ";".join(_state(p) for p in self._batteries)
        watts = _watts(raw)
        if other := _beside(self._root, self._batteries):
            raise MeterGlitchError(f"{other} feeds the machine as well: {HOW_ALONE}")
        return Reading(before, time.monotonic(), watts=watts, raw=raw)

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a raw answer."""
        return Reading(0.0, 0.0, watts=_watts(raw), raw=raw)

    def close(self) -> None:
        self._batteries = []

    @classmethod
    def discover(cls, machine: Machine) -> list[Finding]:
        found = []
        for path in find_batteries(machine.root):
            status = (read_text(path / "status") or "in an unknown state").lower()
            if status == "discharging" and (other := _beside(machine.root, [path])):
                status = f"helped by {other}"
            usable = status == "discharging" and _measures(path)
            why = "" if usable else f"it is {status}: it measures the machine only while it is the only source"
            title = f"battery {path.name}"
            fix = "" if usable else HOW_ALONE
            found.append(Finding(f"battery:{path.name}", title, Scope.BATTERY, "driver", "unknown", usable, why, fix))
        return found


def _state(path: Path) -> str:
    """NAME STATUS MICROWATTS, or NAME STATUS MICROAMPERES MICROVOLTS."""
    status = (read_text(path / "status") or "Unknown").replace(" ", "-")
    power = read_text(path / "power_now")
    values = [power] if power is not None else [read_text(path / "current_now"), read_text(path / "voltage_now")]
    return " ".join([path.name, status, *(v or "?" for v in values)])


def _watts(raw: str) -> float:
    total, draining = 0.0, False
    for part in raw.split(";"):
        name, status, *values = part.split(" ")
        if status == "Charging":
            raise MeterGlitchError(f"{name} is charging: it does not feed the machine; {UNPLUG}")
        draining = draining or status == "Discharging"
        try:
            numbers = [abs(int(v)) for v in values]  # some drivers give a negative current while it drains
        except ValueError:
            raise MeterGlitchError(f"{name} gives {' '.join(values)[:40]!r} in place of its power") from None
        total += numbers[0] / 1e6 if len(numbers) == 1 else numbers[0] * numbers[1] / 1e12
    if not draining:
        raise MeterGlitchError(f"no battery is draining ({raw[:60]}): none feeds the machine; {UNPLUG}")
    return total
