"""A UPS or PDU of Network UPS Tools: `nut://[USER@]HOST[:3493]/UPS[#value=outlet.1.realpower]`, over the TCP protocol of upsd.

Only real power is watts. A load in percent is not, whatever it is multiplied with: its steps are a hundredth of the nominal power
and what it is a percentage of differs by maker; such a UPS is refused. What a UPS takes (`input.realpower`) goes into its battery
as well while it charges: there is no reading then.
Protocol: networkupstools.org, developer guide, "Network protocol information" and "NUT command and variable naming scheme".
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping
from typing import ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.address import split_address
from ecosort_power.transports.credentials import require_secret
from ecosort_power.transports.lines import LineSocket

PORT = 3493
# Power is what a UPS gives to all that hangs on it, what a PDU gives, what either takes.
_POWER = ("ups.realpower", "outlet.realpower", "input.realpower")
_ERRORS = {
    "UNKNOWN-UPS": "it has no such UPS; `upsc -l HOST` lists them",
    "ACCESS-DENIED": "access denied; name a user of upsd.users: nut://USER@HOST/UPS",
    "INVALID-PASSWORD": "wrong password",
    "USERNAME-REQUIRED": "it wants a user and a password: nut://USER@HOST/UPS",
    "DATA-STALE": "its driver has lost the UPS (data stale)",
    "DRIVER-NOT-CONNECTED": "its driver is not running",
}
_PASSING = ("DATA-STALE", "DRIVER-NOT-CONNECTED")


class NutMeter(Meter):
    """One variable of one UPS."""

    usual_scope: ClassVar[Scope] = Scope.WALL
    settings_known: ClassVar[Mapping[str, str]] = {
        "value": f"variable of the power ({', '.join(_POWER)})",
        "password-file": "file with the password of the user, mode 600",
        "password-env": "environment variable with it (ECOSORT_METER_PASSWORD)",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        form = "nut://[USER@]HOST[:PORT]/UPS"
        self._address = split_address(spec.scheme, spec.address, form)
        self._ups = self._address.path
        self._variable = spec.settings.get("value", "")
        words = f"{self._ups}{self._variable}"
        if not self._ups or not all(c.isascii() and (c.isalnum() or c in "._-") for c in words):
            raise UsageError(f"meter {spec.text[:200]}: write {form}; `upsc -l HOST` lists the names")
        if self._variable and not self._variable.endswith("realpower"):
            raise UsageError(
                f"nut: {self._variable} is not watts; the variables that are end in realpower, e.g. outlet.1.realpower"
            )
        self._where = f"upsd {self._address.at()} {self._ups}"
        self._socket: LineSocket | None = None
        self._may_charge = False  # its power holds what goes into a battery

    def open(self) -> Capabilities:
        self.close()
        self._socket = LineSocket(self._address.host, self._address.port or PORT, self.spec.number("timeout", 5.0))
        with self.connecting():
            self._log_in()
            variables = self._list()
            variable = self._choose(variables)
            self._may_charge = variable.startswith("input.") and "ups.status" in variables
            reading = self.read()
        names = ("device.mfr", "device.model", "ups.firmware", "driver.name", "driver.version")
        identity = {k: variables[k] for k in names if k in variables}
        if "output.powerfactor" in variables:
            identity["power_factor"] = variables["output.powerfactor"]
        losses = "" if variable.startswith("input.") else "without the losses of the UPS itself, and "
        return Capabilities(
            title=f"NUT {self._ups} {variables.get('device.model', '')} ({variable})",
            scope=Scope.WALL,
            period_s=1.0,
            power=PowerKind.INSTANT,
            update_s=_polls_s(variables),
            quantum_w=_step(reading.raw or ""),
            identity=identity,
            notes=(f"{losses}with all else that hangs on it",),
        )

    def _log_in(self) -> None:
        user = self._address.user
        if user is None:
            return
        secret = require_secret(self.spec.settings, ("ECOSORT_METER_PASSWORD",), self._where)
        if any(c in user + secret for c in '\r\n"\\'):
            raise UsageError("nut: user and password may not hold quotes, backslashes or ends of lines")
        for command in (f'USERNAME "{user}"', f'PASSWORD "{secret}"'):
            self._ask(command)

    def _talk(self) -> LineSocket:
        if self._socket is None:
            raise MeterError(f"the connection to {self._where} is not open")
        return self._socket

    def _ask(self, command: str) -> str:
        self._talk().write(command + "\n")
        answer = self._talk().read_line()
        if answer.startswith("ERR "):
            code = answer.split()[1] if len(answer.split()) > 1 else ""
            kind = MeterGlitchError if code in _PASSING else MeterError
            raise kind(f"{self._where}: {_ERRORS.get(code, f'it answers {code}')}")
        return answer

    def _list(self) -> dict[str, str]:
        """All variables of the UPS."""
        line = self._ask(f"LIST VAR {self._ups}")
        found: dict[str, str] = {}
        while not line.startswith("END LIST"):
            if line.startswith("VAR "):
                name, value = _split(line, self._where)
                found[name] = value
            line = self._talk().read_line()
        return found

    def _choose(self, variables: Mapping[str, str]) -> str:
        if variables.get("ups.status") == "WAIT":
            raise MeterGlitchError(f"{self._where} has no values yet: its driver has just begun; try again in some seconds")
        fitting = [v for v in ([self._variable] if self._variable else _POWER) if v in variables]
        if fitting:
            self._variable = fitting[0]
            return self._variable
        there = ", ".join(v for v in variables if v.endswith("realpower"))
        if there:
            raise MeterError(f"{self._where} has its power in {there}; say which: #value=NAME")
        load = f" (ups.load is {variables['ups.load']} %, which is no measured power)" if "ups.load" in variables else ""
        raise MeterError(f"{self._where} measures no real power{load}; use a plug between the wall and the machine")

    def read(self) -> Reading:
        before = time.monotonic()
        answer = self._ask(f"GET VAR {self._ups} {self._variable}")
        after = time.monotonic()
        _, value = _split(answer, self._where)
        self._refuse_charging()
        return Reading(before, after, watts=_watts(value, self._where), raw=value)

    def _refuse_charging(self) -> None:
        """Refuses a UPS that charges: what goes into the battery is not what the machine draws; the power of outlets does not
        show it.
        """
        if not self._may_charge:
            return
        _, status = _split(self._ask(f"GET VAR {self._ups} ups.status"), self._where)
        if "CHRG" in status.split():
            raise MeterGlitchError(f"{self._where} charges its battery, which is part of {self._variable}: wait until it is full")

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a raw answer."""
        return Reading(0.0, 0.0, watts=_watts(raw, spec.address), raw=raw)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _split(line: str, where: str) -> tuple[str, str]:
    """Name and value of `VAR UPS NAME "VALUE"`."""
    try:
        word, _, name, value = shlex.split(line)
    except ValueError:
        word = name = value = ""
    if word != "VAR":
        raise MeterGlitchError(f"{where} answers {line[:60]!r}, no variable")
    return name, value


def _watts(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise MeterGlitchError(f"{where} gives {text[:40]!r} in place of watts") from None


def _step(text: str) -> float:
    """The last place that it writes."""
    return float(10.0 ** -len(text.partition(".")[2]))


def _polls_s(variables: Mapping[str, str]) -> float | None:
    """Returns how often the driver asks the UPS for its values, as the driver says."""
    for name in ("driver.parameter.pollfreq", "driver.parameter.pollinterval"):
        text = variables.get(name, "")
        if text.isdigit() and int(text) > 0:
            return float(text)
    return None
