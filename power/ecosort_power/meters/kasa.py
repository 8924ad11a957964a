"""TP-Link Kasa and Tapo plugs, through the program `kasa` of python-kasa: `kasa://[USER@]HOST[:PORT]`.

python-kasa is under the GPL; it is run as a program of its own, as a user would. Each reading starts it, which takes a third of a
second of a processor and more on a small one: hence one reading in five seconds, `#period=` says otherwise; its CPU time is
counted as that of the harness. The account of newer plugs is `kasa://NAME@HOST` (`%40` in place of an @ in the name) with
ECOSORT_METER_PASSWORD. `#type=plug` or `smart` saves the search for what the device is; `#child=1` is the second socket of a
strip.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Any, ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.meters.units import ENERGY_UNITS
from ecosort_power.nesting import parse_json
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.address import split_address
from ecosort_power.transports.credentials import require_secret
from ecosort_power.transports.process import run_text, which

PROGRAM = "kasa"
INSTALL = "pip install python-kasa"
_TYPES = ("plug", "strip", "smart")
_PERIOD_S = 5.0


class KasaMeter(Meter):
    """One plug, or one socket of a strip."""

    usual_scope: ClassVar[Scope] = Scope.WALL
    settings_known: ClassVar[Mapping[str, str]] = {
        "type": f"{', '.join(_TYPES)} (found by a search)",
        "child": "socket of a strip, from 0",
        "password-file": "file with the password of the account, mode 600",
        "password-env": "environment variable with it (ECOSORT_METER_PASSWORD)",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._address = split_address(spec.scheme, spec.address, "kasa://[USER@]HOST[:PORT]")
        kind = spec.settings.get("type")
        if kind is not None and kind not in _TYPES:
            raise UsageError(f"kasa: type must be one of: {', '.join(_TYPES)}")
        self._base = [PROGRAM, "--json", "--host", self._address.host]
        self._base += ["--port", str(self._address.port)] if self._address.port is not None else []
        self._base += ["--type", kind] if kind is not None else []
        self._child = ["--child-index", str(spec.whole("child", 0, 0, 99))] if "child" in spec.settings else []
        self._timeout_s = spec.number("timeout", 15.0)
        self._env: dict[str, str] = {}

    def open(self) -> Capabilities:
        if which(PROGRAM) is None:
            raise MeterError(f"the program {PROGRAM} is not installed; run: {INSTALL}")
        self._env = {**os.environ}
        if self._address.user is not None:
            secret = require_secret(self.spec.settings, ("ECOSORT_METER_PASSWORD",), self._address.host)
            self._env |= {"KASA_USERNAME": self._address.user, "KASA_PASSWORD": secret}
        try:
            about = self._run("sysinfo")
            first = self.read()
        except MeterGlitchError as error:
            raise MeterError(str(error)) from None
        identity = {k: str(about[k]) for k in ("model", "hw_ver", "sw_ver", "fw_ver", "mac") if about.get(k)}
        return Capabilities(
            title=f"Kasa {identity.get('model', 'plug')} {self._address.at()}",
            scope=Scope.WALL,
            period_s=_PERIOD_S,
            power=PowerKind.INSTANT,
            counter=first.joules is not None,
            quantum_j=ENERGY_UNITS["Wh"] if first.joules is not None else None,
            identity=identity,
            notes=("each reading starts the program kasa",),
        )

    def _run(self, command: str) -> dict[str, Any]:
        try:
            text = run_text([*self._base, command, *self._child], self._timeout_s, self._env)
        except MeterGlitchError:
            raise
        except MeterError as error:  # with --json it says nothing of what went wrong
            shown = " ".join(w for w in self._base if w != "--json")
            raise MeterGlitchError(f"{error}; what is wrong says: {shown} {command}") from None
        return _document(text, self._address.at())

    def read(self) -> Reading:
        before = time.monotonic()
        document = self._run("energy")
        after = time.monotonic()
        found = _values(document, self._address.at())
        return Reading(before, after, found.watts, found.joules, raw=json.dumps(document, separators=(",", ":")))

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a raw answer."""
        return _values(_document(raw, spec.address), spec.address)

    def close(self) -> None:
        """Nothing is open between two readings."""


def _document(text: str, where: str) -> dict[str, Any]:
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith("{")), 0)  # it may print warnings first
    try:
        document = parse_json("\n".join(lines[begin:]))
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise MeterGlitchError(f"{where}: {PROGRAM} printed {text.strip()[:60]!r}, no object; does the plug measure energy?")
    return document


def _values(document: Mapping[str, Any], where: str) -> Reading:
    """Older firmware: power in W and total in kWh; newer: power_mw and total_wh. Tapo: power_mw, and as total the kWh of today,
    which begin again at midnight and are no counter."""

    def number(key: str, scale: float) -> float | None:
        value = document.get(key)
        return value * scale if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    watts = number("power_mw", 1e-3)
    watts = watts if watts is not None else number("power", 1.0)
    joules = number("total_wh", ENERGY_UNITS["Wh"])
    if joules is None and "power_mw" not in document:
        joules = number("total", ENERGY_UNITS["kWh"])
    if watts is None:
        raise MeterGlitchError(f"{where}: {PROGRAM} gives no power; does the plug measure energy?")
    return Reading(0.0, 0.0, watts=watts, joules=joules)
