"""The rails of a Raspberry Pi 5 or Compute Module 5, from its power management chip: `pmic:`.

`vcgencmd pmic_read_adc` gives current and voltage of each rail; their products are added up. That is not what the board draws:
USB devices, the NVMe drive's share of the 5 V rail and the losses of the converters are not in it. Labelled so, never compared
with the wall. A factor that turns it into wall watts would be a guess.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError
from ecosort_power.meters.base import Finding, Machine, Meter, MeterSpec
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.process import run_text, which
from ecosort_power.transports.sysfs import read_text

_LINE = re.compile(r"^\s*(\S+)_([AV])\s+(?:current|volt)\(\d+\)=(\d+(?:\.\d+)?)[AV]\s*$", re.MULTILINE)
PROGRAM = "vcgencmd"
COMMAND = (PROGRAM, "pmic_read_adc")


def rails(text: str) -> dict[str, float]:
    """Watts of each rail whose current and voltage are both there."""
    found: dict[tuple[str, str], float] = {(name, kind): float(value) for name, kind, value in _LINE.findall(text)}
    return {name: amperes * found[name, "V"] for (name, kind), amperes in found.items() if kind == "A" and (name, "V") in found}


def on_a_pi(machine: Machine) -> bool:
    return (read_text(machine.root / "proc/device-tree/model") or "").startswith("Raspberry Pi")


class PmicMeter(Meter):
    """The sum of the rails."""

    usual_scope: ClassVar[Scope] = Scope.BOARD
    settings_known: ClassVar[Mapping[str, str]] = {}

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._timeout_s = spec.number("timeout", 2.0)

    def open(self) -> Capabilities:
        try:
            reading = self.read()
        except MeterGlitchError as error:
            raise MeterError(str(error)) from None
        names = list(rails(reading.raw or ""))
        return Capabilities(
            title=f"Raspberry Pi PMIC, {len(names)} rails",
            scope=Scope.BOARD,
            period_s=0.5,
            power=PowerKind.INSTANT,
            lag_s=0.0,
            window_s=0.0,
            timing_source="instrument",
            identity={"rails": " ".join(names)},
            notes=("the board's own rails: without USB, PCIe at 5 V and the losses of the converters; not the wall",),
        )

    def read(self) -> Reading:
        before = time.monotonic()
        text = run_text(COMMAND, self._timeout_s)
        return Reading(before, time.monotonic(), watts=_watts(text), raw=text)

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a raw answer."""
        return Reading(0.0, 0.0, watts=_watts(raw), raw=raw)

    def close(self) -> None:
        """Nothing is open between two readings."""

    @classmethod
    def discover(cls, machine: Machine) -> list[Finding]:
        if not on_a_pi(machine):
            return []
        usable = which(PROGRAM) is not None
        why = "" if usable else f"{PROGRAM} is not installed"
        fix = "" if usable else "sudo apt-get install raspi-utils"
        title = "rails of the board (PMIC of a Raspberry Pi 5)"
        return [Finding("pmic:", title, Scope.BOARD, "0.5 s", "unknown", usable, why, fix)]


def _watts(text: str) -> float:
    found = rails(text)
    if not found:
        said = (text.strip().splitlines() or ["nothing"])[0][:80]
        raise MeterGlitchError(f"{' '.join(COMMAND)} gives no rails (it says: {said}); only a Raspberry Pi 5 or CM5 has them")
    return sum(found.values())
