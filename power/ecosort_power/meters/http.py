"""Meters that answer HTTP requests: what they share, and the general one for any JSON document.

`http://HOST/PATH?QUERY#value=JSON.PATH,unit=W[,energy=JSON.PATH,energy-unit=Wh]`: no unit is guessed. With `#user=NAME` the
password comes from ECOSORT_METER_PASSWORD or a password file.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.meters.units import ENERGY_UNITS, POWER_UNITS, stated_unit
from ecosort_power.nesting import parse_json
from ecosort_power.raw import keep
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.address import split_address
from ecosort_power.transports.credentials import find_secret, require_secret
from ecosort_power.transports.http import AUTHENTICATIONS, HttpClient, Login, pick

_SECRET_KEY = re.compile(r"(?i)(^|[?&])(pass(word|wd)?|pwd|token|secret|api_?key|auth)=")
WEB_SETTINGS: Mapping[str, str] = {
    "user": "user name; the password comes from ECOSORT_METER_PASSWORD or a file",
    "tls": "verify or insecure: over https",
    "password-file": "file with the password, mode 600",
    "password-env": "environment variable with the password",
}


def timed(reading: Reading, document: Any, before_s: float, paths: Iterable[str | None] = ()) -> Reading:
    """The reading with its times (it was asked at `before_s`, and answered now) and with the JSON that it came from: whole, or,
    of a long document, what is at the paths."""
    return replace(reading, before_s=before_s, after_s=time.monotonic(), raw=keep(document, paths))


class WebMeter(Meter):
    """A connection to one server. `form` is how its address is written, `port` where it listens if the address does not say."""

    form: ClassVar[str]
    port: ClassVar[int | None] = None
    default_auth: ClassVar[str] = "basic"
    secret_variables: ClassVar[tuple[str, ...]] = ("ECOSORT_METER_PASSWORD",)
    settings_known: ClassVar[Mapping[str, str]] = WEB_SETTINGS

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self.address = split_address(spec.scheme, spec.address, self.form)
        self._client: HttpClient | None = None
        if _SECRET_KEY.search(self.address.query):
            raise UsageError(
                "a password or token in a meter's address can be seen by every user of this machine; use #user=... "
                "and ECOSORT_METER_PASSWORD, or #auth=bearer"
            )
        self._auth = spec.settings.get("auth", self.default_auth)
        if self._auth not in AUTHENTICATIONS:
            raise UsageError(f"{spec.scheme}: auth must be one of: {', '.join(AUTHENTICATIONS)}")

    @property
    def server(self) -> str:
        protocol = "https" if "tls" in self.spec.settings else "http"
        return f"{protocol}://{self.address.at(self.port)}"

    @property
    def user(self) -> str | None:
        return self.spec.settings.get("user") or self.address.user

    def login(self, kind: str) -> Login | None:
        """None where no user is named; MeterError where one is and the password is missing."""
        if self.user is None and kind != "bearer":
            return None
        return Login(kind, self.user or "", require_secret(self.spec.settings, self.secret_variables, self.server))

    def connect(self, login: Login | None) -> HttpClient:
        self.close()
        self._client = HttpClient(self.server, self.timeout_s, login, self.spec.settings.get("tls", "verify"))
        return self._client

    @property
    def timeout_s(self) -> float:
        return self.spec.number("timeout", 5.0)

    @property
    def client(self) -> HttpClient:
        if self._client is None:
            raise MeterError(f"the connection to {self.server} is not open")
        return self._client

    @property
    def notes(self) -> tuple[str, ...]:
        """Says what the user accepted."""
        insecure = self.spec.settings.get("tls") == "insecure"
        return ("the server's certificate was not verified",) if insecure else ()

    def has_secret(self) -> bool:
        return find_secret(self.spec.settings, self.secret_variables) is not None

    def open(self) -> Capabilities:
        with self.connecting():
            return self.start()

    def start(self) -> Capabilities:
        """Connects, reads once, and says what the meter is."""
        raise NotImplementedError

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None


class HttpMeter(WebMeter):
    """Power and/or an energy counter out of one JSON document."""

    form: ClassVar[str] = "http[s]://HOST[:PORT]/PATH#value=JSON.PATH,unit=W"
    settings_known: ClassVar[Mapping[str, str]] = {
        **WEB_SETTINGS,
        "value": "JSON path of the power",
        "unit": "unit of the power: W, mW, kW",
        "energy": "JSON path of an energy counter",
        "energy-unit": "unit of the counter: Wh, kWh, J, Wmin, ...",
        "energy-quantum": "smallest step of the counter, in its unit",
        "auth": "basic, digest or bearer",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        given = spec.settings
        self._value, self._energy = given.get("value") or None, given.get("energy") or None
        if self._value is None and self._energy is None:
            raise UsageError(f"meter {spec.text}: say where the value is, e.g. #value=meter.power,unit=W")
        self._power_scale = stated_unit(POWER_UNITS, given, "unit") if self._value is not None else 1.0
        self._energy_scale = stated_unit(ENERGY_UNITS, given, "energy-unit") if self._energy is not None else 1.0
        self._quantum = spec.positive("energy-quantum")

    @property
    def server(self) -> str:
        return f"{self.spec.scheme}://{self.address.at()}"

    @property
    def _request(self) -> str:
        return (self.address.written or "/") + (f"?{self.address.query}" if self.address.query else "")

    def start(self) -> Capabilities:
        self.connect(self.login(self._auth))
        self.read()
        return Capabilities(
            title=f"HTTP meter {self.server}",
            scope=Scope.UNKNOWN,
            period_s=1.0,
            power=PowerKind.INSTANT if self._value else None,
            counter=self._energy is not None,
            quantum_j=self._quantum * self._energy_scale if self._quantum is not None else None,
            notes=self.notes,
        )

    def read(self) -> Reading:
        before = time.monotonic()
        document = self.client.get(self._request)
        return timed(self._values(document), document, before, (self._value, self._energy))

    def _values(self, document: Any) -> Reading:
        watts = pick(document, self._value, self.server) * self._power_scale if self._value else None
        joules = pick(document, self._energy, self.server) * self._energy_scale if self._energy else None
        return Reading(0.0, 0.0, watts=watts, joules=joules)

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a raw answer."""
        return cls(spec)._values(parse_json(raw))
