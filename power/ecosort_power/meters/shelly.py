"""Shelly plugs, relays and energy meters, over HTTP on the local network.

`shelly://HOST[/CHANNEL]`. The device says which generation it is (`/shelly`). Gen1: /meter/N (watts, watt-minutes) and /emeter/N
of the EM and 3EM. Gen2 and later, Plus, Pro and Mini included: Switch, PM1, EM, EM1, Cover and Light components by RPC, and the
counters that EM and EM1 have beside them (EMData, EM1Data; new once a minute). A component that lists `errors` gives no reading.
`#component=em1` chooses one where a device has several kinds, `#phase=a` one phase of a three-phase EM. With a password:
`shelly://admin@HOST` and ECOSORT_METER_PASSWORD (basic on Gen1, digest with SHA-256 later).
Protocol: shelly-api-docs.shelly.cloud, gen1 and gen2.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, SilentMeterError, UsageError
from ecosort_power.meters.base import MeterSpec
from ecosort_power.meters.http import WEB_SETTINGS, WebMeter, timed
from ecosort_power.meters.units import ENERGY_UNITS
from ecosort_power.nesting import parse_json
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.http import HttpClient, pick


@dataclass(frozen=True, slots=True)
class _Source:
    """Says where the values of one channel are."""

    request: str
    watts: str
    energy: str | None = None
    joules_per_unit: float = 1.0
    quantum_w: float = 0.1
    quantum_j: float | None = None
    factor: str | None = None  # power factor
    counter_request: str | None = None  # where the counter has a component of its own; its answer is put under COUNTER
    errors: tuple[str, ...] = ()  # lists that are empty or absent while the values are good


# Kind of component -> name in RPC calls, from the one that a plug has to the rarest.
_RPC = {"switch": "Switch", "pm1": "PM1", "em": "EM", "em1": "EM1", "cover": "Cover", "light": "Light"}
_EM_PHASES = ("a", "b", "c", "total")
COUNTER = "counter"
_COUNTER_STEP_J = 36.0  # the counters of EMData and EM1Data have two decimals of a watt-hour


def _rpc_source(kind: str, channel: int, phase: str, counts: bool = False) -> _Source:
    """`counts`: an EM or EM1 has its counter beside it."""
    request = f"/rpc/{_RPC[kind]}.GetStatus?id={channel}"
    if kind in ("em", "em1"):
        found = _em_source(request, phase) if kind == "em" else _em1_source(request)
        data = f"/rpc/{_RPC[kind]}Data.GetStatus?id={channel}"
        return replace(found, counter_request=data) if counts else replace(found, energy=None, quantum_j=None)
    # The counter has three decimals of a watt-hour, the power one decimal of a watt.
    return _Source(
        request, "apower", "aenergy.total", ENERGY_UNITS["Wh"], quantum_j=3.6, factor="pf", errors=("errors", "aenergy.errors")
    )


def _em_source(request: str, phase: str) -> _Source:
    """The total is wrong where one of its phases is."""
    total = phase == "total"
    counter = f"{COUNTER}.total_act" if total else f"{COUNTER}.{phase}_total_act_energy"
    phases = _EM_PHASES[:3] if total else (phase,)
    return _Source(
        request,
        f"{phase}_act_power",
        counter,
        ENERGY_UNITS["Wh"],
        quantum_j=_COUNTER_STEP_J,
        factor=None if total else f"{phase}_pf",
        errors=("errors", f"{COUNTER}.errors", *(f"{p}_errors" for p in phases)),
    )


def _em1_source(request: str) -> _Source:
    return _Source(
        request,
        "act_power",
        f"{COUNTER}.total_act_energy",
        ENERGY_UNITS["Wh"],
        quantum_j=_COUNTER_STEP_J,
        factor="pf",
        errors=("errors", f"{COUNTER}.errors"),
    )


def _gen1_source(kind: str, channel: int) -> _Source:
    if kind == "emeter":
        return _Source(f"/emeter/{channel}", "power", "total", ENERGY_UNITS["Wh"], 0.01, 360.0, "pf")
    return _Source(f"/meter/{channel}", "power", "total", ENERGY_UNITS["Wmin"], 0.01, 60.0)


class ShellyMeter(WebMeter):
    """One channel of one device."""

    form: ClassVar[str] = "shelly://[USER@]HOST[:PORT][/CHANNEL]"
    usual_scope: ClassVar[Scope] = Scope.WALL
    settings_known: ClassVar[Mapping[str, str]] = {
        **WEB_SETTINGS,
        "component": f"{', '.join(_RPC)}; meter or emeter of Gen1",
        "phase": "a, b, c or total of a three-phase EM (total)",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        channel = self.address.path or "0"
        if not (channel.isascii() and channel.isdigit() and len(channel) <= 3):
            raise UsageError(f"meter {spec.text[:200]}: the channel is a number from 0, e.g. shelly://HOST/1")
        self._channel = int(channel)
        self._phase = spec.settings.get("phase", "total")
        if self._phase not in _EM_PHASES:
            raise UsageError(f"shelly: phase must be one of: {', '.join(_EM_PHASES)}")
        self._source: _Source | None = None

    def start(self) -> Capabilities:
        about = self.connect(None).get("/shelly")  # answered without a password
        if not isinstance(about, dict) or not ("gen" in about or "type" in about):
            raise MeterError(f"{self.server} is no Shelly device: its /shelly says neither gen nor type")
        first = "gen" not in about
        client = self.connect(self.login("basic" if first else "digest"))
        self._source = source = self._gen1(client) if first else self._rpc(client)
        first_reading, document = self._read()
        identity = {k: str(about[k]) for k in ("model", "type", "app", "ver", "fw", "mac") if about.get(k)}
        if source.factor is not None and isinstance(document.get(source.factor), (int, float)):
            identity["power_factor"] = f"{document[source.factor]:g}"
        return Capabilities(
            title=f"Shelly {identity.get('app') or identity.get('type', '')} {self.server}{source.request}",
            scope=Scope.WALL,
            period_s=1.0,
            power=PowerKind.INSTANT,
            counter=first_reading.joules is not None,
            quantum_w=source.quantum_w,
            quantum_j=source.quantum_j,
            identity=identity,
            notes=self.notes,
        )

    def _gen1(self, client: HttpClient) -> _Source:
        status = client.get("/status")
        there = {"meter": "meters", "emeter": "emeters"}
        kinds = [k for k, key in there.items() if isinstance(status, dict) and len(status.get(key) or ()) > self._channel]
        return _gen1_source(self._choose(kinds, there), self._channel)

    def _rpc(self, client: HttpClient) -> _Source:
        status = client.get("/rpc/Shelly.GetStatus")
        if not isinstance(status, dict):
            raise MeterGlitchError(f"{self.server}/rpc/Shelly.GetStatus holds no components")
        kinds = [k for k in _RPC if self._measures(status.get(f"{k}:{self._channel}"), k)]
        kind = self._choose(kinds, _RPC)
        counted = _rpc_source(kind, self._channel, self._phase, counts=f"{kind}data:{self._channel}" in status)
        try:
            if counted.counter_request is not None:
                client.get(counted.counter_request)
        except SilentMeterError:
            raise
        except MeterError:  # the power is there without it
            return _rpc_source(kind, self._channel, self._phase)
        return counted

    def _measures(self, component: Any, kind: str) -> bool:
        """A relay without a meter has no power in its status."""
        return isinstance(component, dict) and _rpc_source(kind, 0, self._phase).watts in component

    def _choose(self, kinds: list[str], known: Mapping[str, str]) -> str:
        wanted = self.spec.settings.get("component")
        if wanted is not None and wanted not in known:
            raise UsageError(f"shelly: component must be one of: {', '.join(known)}")
        fitting = [k for k in kinds if wanted in (None, k)]
        if not fitting:
            what = f"component {wanted}" if wanted else "component that measures power"
            raise MeterError(f"{self.server} has no {what} on channel {self._channel}; shelly://HOST/1 is the next channel")
        return fitting[0]

    def _read(self) -> tuple[Reading, dict[str, Any]]:
        if self._source is None:
            raise MeterError(f"the connection to {self.server} is not open")
        before = time.monotonic()
        document = self.client.get(self._source.request)
        if self._source.counter_request is not None and isinstance(document, dict):
            document = {**document, COUNTER: self._counter(self._source.counter_request)}
        return timed(_values(document, self._source, f"{self.server}{self._source.request}"), document, before), document

    def _counter(self, request: str) -> Any:
        """None where it cannot be read just now: the power is there without it."""
        try:
            return self.client.get(request)
        except SilentMeterError:
            raise
        except MeterGlitchError:
            return None

    def read(self) -> Reading:
        return self._read()[0]

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a raw answer, which shows by its keys what sent it."""
        document = parse_json(raw)
        return _values(document, _source_of(document, spec.settings.get("phase", "total")), spec.address)


def _values(document: Any, source: _Source, where: str) -> Reading:
    for path in source.errors:
        if found := _errors(document, path):
            raise MeterGlitchError(f"{where} calls its own measurement wrong ({path}: {found})")
    watts = pick(document, source.watts, where)
    if document.get("is_valid") is False:
        raise MeterGlitchError(f"{where} calls its own measurement invalid (is_valid)")
    has_counter = document.get((source.energy or "").partition(".")[0]) is not None
    counted = pick(document, source.energy, where) if source.energy and has_counter else float("nan")
    joules = None if isnan(counted) else counted * source.joules_per_unit
    stamp = str(document["timestamp"]) if document.get("timestamp") else None  # 0: its clock is not set
    return Reading(0.0, 0.0, watts=watts, joules=joules, stamp=stamp)


def _errors(document: Any, path: str) -> str:
    """Returns what a list of errors says; nothing where there is none."""
    for key in path.split("."):
        document = document.get(key) if isinstance(document, dict) else None
    return ", ".join(map(str, document)) if isinstance(document, list) else str(document or "")


def _source_of(document: Any, phase: str) -> _Source:
    kinds = {"switch": "apower", "em": f"{phase}_act_power", "em1": "act_power"}
    kind = next((k for k, watts in kinds.items() if watts in document), None)
    if kind is not None:
        return _rpc_source(kind, 0, phase, COUNTER in document)
    return _gen1_source("meter" if "counters" in document else "emeter", 0)
