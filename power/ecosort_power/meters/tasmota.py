"""Plugs with the Tasmota firmware: `tasmota://HOST[/CHANNEL]`, channels counted from 1.

Its password, if any, is part of each request, as the firmware wants it. `Power` is real power; `ApparentPower` (VA) and
`ReactivePower` (var) are never taken for it, the power factor is recorded.
Protocol: tasmota.github.io/docs/Commands, `Status 8`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters.base import MeterSpec
from ecosort_power.meters.http import WEB_SETTINGS, WebMeter, timed
from ecosort_power.meters.units import ENERGY_UNITS
from ecosort_power.nesting import parse_json
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.http import look_up, pick

_REQUEST = "/cm?cmnd=Status%208"
_ENERGY = "StatusSNS.ENERGY"


class TasmotaMeter(WebMeter):
    """One channel of one plug."""

    form: ClassVar[str] = "tasmota://[USER@]HOST[:PORT][/CHANNEL]"
    usual_scope: ClassVar[Scope] = Scope.WALL
    settings_known: ClassVar[Mapping[str, str]] = WEB_SETTINGS

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._secret_query = ""
        self._index = ""
        channel = self.address.path
        if channel:
            if not (channel.isascii() and channel.isdigit() and 1 <= int(channel[:4]) <= 99):
                raise UsageError(f"meter {spec.text[:200]}: channels count from 1, e.g. tasmota://HOST/2")
            self._index = f"[{int(channel) - 1}]"

    def start(self) -> Capabilities:
        login = self.login("basic")
        self._secret_query = f"&user={quote(login.user)}&password={quote(login.secret, safe='')}" if login is not None else ""
        self.connect(None)
        document, text = self._answer()
        energy = look_up(document, _ENERGY, self.server)
        if isinstance(energy, dict) and isinstance(energy.get("Power"), list) and not self._index:
            raise UsageError(f"{self.server} has {len(energy['Power'])} channels; write tasmota://HOST/1 for the first")
        first = self._values(document)
        factor = energy.get("Factor") if isinstance(energy, dict) else None
        return Capabilities(
            title=f"Tasmota {self.server}",
            scope=Scope.WALL,
            period_s=1.0,
            power=PowerKind.INSTANT,
            counter=first.joules is not None,
            quantum_w=_step_w(text),
            quantum_j=_step_kwh(text) * ENERGY_UNITS["kWh"] if first.joules is not None else None,
            identity={"power_factor": f"{factor:g}"} if isinstance(factor, (int, float)) else {},
            notes=self.notes,
        )

    def _answer(self) -> tuple[Any, str]:
        """The document, and its text, in which the numbers have all their digits."""
        text = self.client.get_text(_REQUEST + self._secret_query)
        try:
            document = parse_json(text)
        except ValueError:
            raise MeterGlitchError(f"{self.server}/cm answers with something that is no JSON: {text[:40]!r}") from None
        if isinstance(document, dict) and "WARNING" in document:  # how the firmware refuses a login
            hint = "wrong user or password" if self._secret_query else "it wants a user and a password: tasmota://admin@HOST"
            raise MeterError(f"{self.server}/cm refuses the request: {hint}")
        if isinstance(document, dict) and "StatusSNS" in document and "ENERGY" not in (document["StatusSNS"] or {}):
            raise MeterGlitchError(f"{self.server} has no power meter: its StatusSNS holds no ENERGY")
        return document, text

    def _values(self, document: Any) -> Reading:
        watts = pick(document, f"{_ENERGY}.Power{self._index}", self.server)
        several = isinstance(look_up(document, f"{_ENERGY}.Total", self.server), list)
        total = pick(document, f"{_ENERGY}.Total{self._index if several else ''}", self.server)
        joules = total * ENERGY_UNITS["kWh"] if several or not self._index else None  # else it counts all channels
        return Reading(0.0, 0.0, watts=watts, joules=joules)

    def read(self) -> Reading:
        before = time.monotonic()
        document, _ = self._answer()
        return timed(self._values(document), document, before)

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a raw answer."""
        return cls(spec)._values(parse_json(raw))


def _places(text: str, name: str) -> list[int]:
    """Returns how many decimals values of this name have: the firmware prints as many as WattRes or EnergyRes says, zeros as
    well."""
    return [len(p) for p in re.findall(rf'"(?:{name})":\s*\[?\s*-?\d+(?:\.(\d+))?', text)]


def _step_w(text: str) -> float:
    return float(10.0 ** -max(_places(text, "Power"), default=0))


def _step_kwh(text: str) -> float:
    """Returns the step of the counters: three decimals as delivered, where not all counters are there to show it."""
    found = _places(text, "Total|Yesterday|Today")
    return float(10.0 ** -max(found if len(found) >= 3 else [*found, 3]))
