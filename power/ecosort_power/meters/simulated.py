"""A meter to rehearse with, where there is none yet: `sim:[#idle=20,busy=60]`.

Its watts are computed, not measured: idle + (busy - idle) x the share of this machine's processors in use since the reading
before. Everything else is as with a real meter. Whatever is made of its readings says SIMULATED and is never ranked.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.monitor import LoadPoint, read_load
from ecosort_power.plausible import MOST_W
from ecosort_power.reading import Accuracy, Capabilities, PowerKind, Reading, Scope

IDLE_W, BUSY_W = 20.0, 60.0
_STEPS = 10  # of the watts, per watt
_GAIN = 0.01


class SimulatedMeter(Meter):
    """One averaging meter that follows the load of the processors."""

    usual_scope: ClassVar[Scope] = Scope.SIMULATED
    settings_known: ClassVar[Mapping[str, str]] = {
        "idle": f"watts of the idle machine ({IDLE_W:g})",
        "busy": f"watts with all processors in use ({BUSY_W:g})",
        "root": "directory in place of /",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        if spec.address:
            raise UsageError("sim: has no address; write sim: or sim:#idle=20,busy=60")
        self._idle_w, self._busy_w = spec.number("idle", IDLE_W), spec.number("busy", BUSY_W)
        if not 1.0 <= self._idle_w < self._busy_w <= MOST_W:
            raise UsageError(f"sim: idle must be at least 1 W and below busy, busy at most {MOST_W:g} W")
        self._root = Path(spec.settings.get("root", "/"))
        self._period_s = spec.number("period", 0.5)
        self._last: LoadPoint | None = None

    def open(self) -> Capabilities:
        self._last = self._load()
        time.sleep(min(self._period_s, 0.2))  # the first reading is a mean over something
        return Capabilities(
            title=f"SIMULATED meter, {self._idle_w:g} W idle, {self._busy_w:g} W busy",
            scope=Scope.SIMULATED,
            period_s=self._period_s,
            power=PowerKind.AVERAGE,
            update_s=self._period_s,
            lag_s=0.0,
            window_s=self._period_s,
            timing_source="instrument",
            accuracy=Accuracy(_GAIN),
            quantum_w=1.0 / _STEPS,
            simulated=True,
            notes=("SIMULATED: computed from the load of the processors, no measurement",),
        )

    def _load(self) -> LoadPoint:
        try:
            return read_load(self._root)
        except (OSError, ValueError, IndexError):
            raise MeterError(f"sim: the load cannot be read from {self._root / 'proc/stat'}") from None

    def read(self) -> Reading:
        if self._last is None:
            raise MeterError("sim: not open")
        before, self._last = self._last, self._load()
        seconds = self._last.time_s - before.time_s
        share = min(max((self._last.busy_s - before.busy_s) / seconds, 0.0), 1.0) if seconds > 0 else 0.0
        raw = f"{share:.6f}"
        return Reading(self._last.time_s, self._last.time_s, watts=self._watts(raw), raw=raw)

    def _watts(self, raw: str) -> float:
        return round((self._idle_w + (self._busy_w - self._idle_w) * float(raw)) * _STEPS) / _STEPS

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a stored share of the processors."""
        return Reading(0.0, 0.0, watts=cls(spec)._watts(raw), raw=raw)

    def close(self) -> None:
        self._last = None
