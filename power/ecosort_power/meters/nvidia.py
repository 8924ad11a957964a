"""The power of a graphics card that NVML reports, through the program nvidia-smi: `nvidia:0`, or `nvidia:UUID`.

One nvidia-smi stays and prints a line per period (`-lms`). It is asked for the power of the moment (power.draw.instant). Drivers
that do not know that have power.draw only, which on most cards since Ampere is a mean over a second, before that of a moment:
`#power=`, `#window=` say which. One component, never compared with the wall.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters.base import Finding, Machine, Meter, MeterSpec
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.process import LineChild, run_text, which

PROGRAM = "nvidia-smi"
_CARD = re.compile(r"^\d{1,3}$|^GPU-[0-9a-fA-F-]+$")
_FORM = "--format=csv,noheader,nounits"
_INSTANT, _ANY = "power.draw.instant", "power.draw"


class NvidiaMeter(Meter):
    """One card."""

    paced: ClassVar[bool] = False
    usual_scope: ClassVar[Scope] = Scope.COMPONENT
    settings_known: ClassVar[Mapping[str, str]] = {}

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._card = spec.address or "0"
        if not _CARD.match(self._card):
            raise UsageError(f"meter {spec.text[:200]}: write nvidia:NUMBER or nvidia:GPU-UUID; `nvidia-smi -L` lists them")
        self._period_s = spec.number("period", 0.1)
        self._timeout_s = spec.number("timeout", max(5.0, 10 * self._period_s))
        self._child: LineChild | None = None

    def open(self) -> Capabilities:
        self.close()
        words = [PROGRAM, f"--id={self._card}", "--query-gpu=name,uuid,driver_version,power.draw,power.limit", _FORM]
        text = run_text(words, self._timeout_s)
        fields = [f.strip() for f in text.strip().split("\n")[0].split(",")]
        if len(fields) != 5:
            raise MeterError(f"{PROGRAM} knows no card {self._card}: {text.strip()[:80]}")
        try:
            _watts(fields[3], self._card)
        except MeterGlitchError:
            raise MeterError(f"{fields[0]} does not measure its power ({PROGRAM} says {fields[3]})") from None
        field = self._field()
        loop = f"--loop-ms={max(1, round(self._period_s * 1000))}"
        self._child = LineChild([PROGRAM, f"--id={self._card}", f"--query-gpu={field}", _FORM, loop])
        doubt = ("this driver does not say whether its value is of a moment or a mean over 1 s",) if field == _ANY else ()
        return Capabilities(
            title=f"{fields[0]} (NVML)",
            scope=Scope.COMPONENT,
            period_s=self._period_s,
            power=PowerKind.INSTANT,
            quantum_w=0.01,
            identity={"uuid": fields[1], "driver": fields[2], "power_limit_w": fields[4], "field": field},
            notes=("one graphics card only", *doubt),
        )

    def _field(self) -> str:
        """Returns what to ask for: the power of the moment where the driver and the card have it."""
        try:
            _watts(run_text([PROGRAM, f"--id={self._card}", f"--query-gpu={_INSTANT}", _FORM], self._timeout_s), self._card)
        except MeterError:
            return _ANY
        return _INSTANT

    def read(self) -> Reading:
        if self._child is None:
            raise MeterError(f"{PROGRAM} is not running")
        line = self._child.read_line(self._timeout_s)
        arrival = time.monotonic()
        return Reading(arrival, arrival, watts=_watts(line, self._card), raw=line.strip())

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a raw answer."""
        return Reading(0.0, 0.0, watts=_watts(raw, spec.address), raw=raw)

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None

    def pids(self) -> list[int]:
        return [self._child.pid] if self._child is not None else []

    @classmethod
    def discover(cls, machine: Machine) -> list[Finding]:
        if which(PROGRAM) is None:
            return []
        try:
            lines = run_text([PROGRAM, "--query-gpu=index,name,power.draw", _FORM], 10.0).strip().splitlines()
        except MeterError:
            return []  # the program without the driver
        found = []
        for line in lines:
            index, _, rest = line.partition(",")
            name, _, watts = rest.rpartition(",")
            usable = watts.strip()[:1].isdigit()
            why = "" if usable else "it does not measure its power"
            title, fix = f"{name.strip()} (NVML)", "" if usable else "another card, or the wall"
            found.append(Finding(f"nvidia:{index.strip()}", title, Scope.COMPONENT, "0.1 s", "unknown", usable, why, fix))
        return found


def _watts(text: str, card: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise MeterGlitchError(f"card {card} gives {text.strip()[:40]!r} in place of watts") from None
