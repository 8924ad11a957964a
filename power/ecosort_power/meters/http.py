"""Meters that answer HTTP requests with JSON: plugs, PDUs, gateways; presets for Shelly (Gen2) and Tasmota.

`http://HOST/PATH?QUERY#value=JSON.PATH[,unit=W][,energy=JSON.PATH,energy-unit=Wh]`, `shelly://HOST[/CHANNEL]`,
`tasmota://HOST`. With `#user=NAME` the password comes from ECOSORT_METER_PASSWORD or a password file.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar
from urllib.parse import quote, urlsplit

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.raw import keep
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.credentials import require_secret
from ecosort_power.transports.http import JsonClient, Login, pick

POWER_UNITS = {"W": 1.0, "mW": 1e-3, "kW": 1e3}
ENERGY_UNITS = {"J": 1.0, "kJ": 1e3, "Wh": 3600.0, "kWh": 3.6e6, "mWh": 3.6, "Wmin": 60.0, "Ws": 1.0}
_SECRET_KEY = re.compile(r"(?i)(^|[?&])(pass(word|wd)?|pwd|token|secret|api_?key|auth)=")


def unit(table: Mapping[str, float], text: str) -> float:
    if text not in table:
        raise UsageError(f"unknown unit {text!r}; known: {', '.join(table)}")
    return table[text]


# Where power and energy are in the document, each with the factor that makes watts and joules of it.
Paths = tuple[str | None, float, str | None, float]


def values_of(document: object, paths: Paths, where: str) -> tuple[float | None, float | None]:
    """Watts and joules out of an answer. MeterGlitchError, with `where` it came from, for one that has no number there."""
    power, power_scale, energy, energy_scale = paths
    watts = pick(document, power, where) * power_scale if power else None
    return watts, pick(document, energy, where) * energy_scale if energy else None


class HttpMeter(Meter):
    """Power and/or an energy counter out of one JSON document."""

    settings_known: ClassVar[Mapping[str, str]] = {
        "value": "JSON path of the power",
        "unit": "unit of the power: W, mW, kW",
        "energy": "JSON path of an energy counter",
        "energy-unit": "unit of the counter: Wh, kWh, J, Wmin, ...",
        "energy-quantum": "smallest step of the counter, in its unit",
        "user": "user name; the password comes from ECOSORT_METER_PASSWORD or a file",
        "auth": "basic, digest or bearer",
        "tls": "verify or insecure",
        "password-file": "file with the password, mode 600",
        "password-env": "environment variable with the password",
    }
    title: ClassVar[str] = "HTTP meter"

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._client: JsonClient | None = None
        if _SECRET_KEY.search(urlsplit(f"{spec.scheme}:{spec.address}").query):
            raise UsageError(
                "a password or token in a meter's address can be seen by every user of this machine; use #user=... "
                "and ECOSORT_METER_PASSWORD, or #auth=bearer"
            )

    def _paths(self) -> Paths:
        """Where the values are and what they are multiplied with."""
        given = self.spec.settings
        value, energy = given.get("value"), given.get("energy")
        if value is None and energy is None:
            raise UsageError(f"meter {self.spec.text}: say where the value is, e.g. #value=meter.power,unit=W")
        return value, unit(POWER_UNITS, given.get("unit", "W")), energy, unit(ENERGY_UNITS, given.get("energy-unit", "Wh"))

    def _address(self) -> tuple[str, str]:
        """Server and request path."""
        url = urlsplit(f"{self.spec.scheme}:{self.spec.address}")
        host = url.netloc.rpartition("@")[2]
        return f"{url.scheme}://{host}", (url.path or "/") + (f"?{url.query}" if url.query else "")

    def _login(self, server: str) -> Login | None:
        given = self.spec.settings
        user = given.get("user") or urlsplit(f"{self.spec.scheme}:{self.spec.address}").username
        kind = given.get("auth", self._default_auth())
        if user is None and kind != "bearer":
            return None
        return Login(kind, user or "", require_secret(given, ("ECOSORT_METER_PASSWORD",), server))

    def _default_auth(self) -> str:
        return "basic"

    def open(self) -> Capabilities:
        value, _, energy, scale = self._paths()
        server, _ = self._address()
        timeout = self.spec.number("timeout", 5.0)
        self._client = JsonClient(server, timeout, self._login(server), self.spec.settings.get("tls", "verify"))
        try:
            self._document()
            self.read()
        except MeterGlitchError as error:
            raise MeterError(str(error)) from error
        insecure = self.spec.settings.get("tls") == "insecure"
        quantum = self.spec.optional_number("energy-quantum")
        return Capabilities(
            title=f"{self.title} {server}",
            scope=Scope.UNKNOWN,
            period_s=1.0,
            power=PowerKind.INSTANT if value else None,
            counter=energy is not None,
            quantum_j=quantum * scale if quantum is not None else None,
            notes=("the server's certificate was not verified",) if insecure else (),
        )

    def _document(self) -> object:
        if self._client is None:
            raise MeterError("the HTTP meter is not open")
        return self._client.get(self._request())

    def _request(self) -> str:
        return self._address()[1]

    def read(self) -> Reading:
        paths = self._paths()
        before = time.monotonic()
        document = self._document()
        after = time.monotonic()
        watts, joules = values_of(document, paths, self._address()[0])
        return Reading(before, after, watts=watts, joules=joules, raw=keep(document, (paths[0], paths[2])))

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None


class ShellyMeter(HttpMeter):
    """Shelly plugs and relays of the second generation; `shelly://HOST/1` is the second channel."""

    title: ClassVar[str] = "Shelly"
    usual_scope: ClassVar[Scope] = Scope.WALL

    def _paths(self) -> Paths:
        return "apower", 1.0, "aenergy.total", ENERGY_UNITS["Wh"]

    def _address(self) -> tuple[str, str]:
        url = urlsplit(f"http:{self.spec.address}")
        channel = url.path.strip("/") or "0"
        return f"http://{url.netloc.rpartition('@')[2]}", f"/rpc/Switch.GetStatus?id={channel}"

    def _default_auth(self) -> str:
        return "digest"

    def open(self) -> Capabilities:
        found = super().open()
        # The counter has three decimals of a watt-hour, the power one decimal of a watt.
        return _as_plug(found, quantum_w=0.1, quantum_j=3.6)


class TasmotaMeter(HttpMeter):
    """Plugs with the Tasmota firmware. Its password, if any, is part of each request, as the firmware wants it."""

    title: ClassVar[str] = "Tasmota"
    usual_scope: ClassVar[Scope] = Scope.WALL

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._secret_query = ""

    def _paths(self) -> Paths:
        return "StatusSNS.ENERGY.Power", 1.0, "StatusSNS.ENERGY.Total", ENERGY_UNITS["kWh"]

    def _address(self) -> tuple[str, str]:
        host = urlsplit(f"http:{self.spec.address}").netloc.rpartition("@")[2]
        return f"http://{host}", "/cm?cmnd=Status%208"

    def _login(self, server: str) -> Login | None:
        login = super()._login(server)
        if login is not None:
            self._secret_query = f"&user={quote(login.user)}&password={quote(login.secret)}"
        return None

    def _request(self) -> str:
        return self._address()[1] + self._secret_query

    def open(self) -> Capabilities:
        # Total has three decimals of a kilowatt-hour; whole watts unless WattRes is set.
        return _as_plug(super().open(), quantum_w=1.0, quantum_j=3600.0)


def _as_plug(found: Capabilities, quantum_w: float, quantum_j: float) -> Capabilities:
    return replace(found, scope=Scope.WALL, quantum_w=quantum_w, quantum_j=quantum_j)
