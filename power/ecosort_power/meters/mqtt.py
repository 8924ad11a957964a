"""Values that a plug or a gateway publishes over MQTT: `mqtt://[USER@]HOST[:1883]/TOPIC#value=JSON.PATH,unit=W`.

Tasmota: `mqtt://BROKER/tele/plug/SENSOR#value=ENERGY.Power,unit=W,energy=ENERGY.Total,energy-unit=kWh` (TelePeriod 10); Shelly:
`mqtt://BROKER/ID/status/switch:0#value=apower,unit=W,energy=aenergy.total,energy-unit=Wh`; Zigbee2MQTT:
`mqtt://BROKER/zigbee2mqtt/plug#value=power,unit=W`. Without `value` the message is a number. No unit is guessed. A retained
message is old and is not counted. `#update=` is how often there is a new one.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Mapping
from typing import Any, ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.extras import install
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.meters.units import ENERGY_UNITS, POWER_UNITS, stated_unit
from ecosort_power.nesting import parse_json
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.address import NOT_THERE, split_address
from ecosort_power.transports.credentials import require_secret
from ecosort_power.transports.http import pick

_FORM = "mqtt://[USER@]HOST[:PORT]/TOPIC"
_KEEPALIVE_S = 60
_MAX_BYTES = 65536


class MqttMeter(Meter):
    """One topic of one broker."""

    paced: ClassVar[bool] = False
    settings_known: ClassVar[Mapping[str, str]] = {
        "value": "JSON path of the power; without it the message is the number",
        "unit": "unit of the power: W, mW, kW",
        "energy": "JSON path of an energy counter",
        "energy-unit": "unit of the counter: Wh, kWh, J, Wmin, ...",
        "tls": "verify: over TLS, on port 8883",
        "password-file": "file with the password, mode 600",
        "password-env": "environment variable with the password (ECOSORT_METER_PASSWORD)",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._address = split_address(spec.scheme, spec.address, _FORM)
        given = spec.settings
        # After the slash behind the broker everything is the topic, which may begin or end with one, or hold a question mark.
        self._topic = self._address.written[1:] + (f"?{self._address.query}" if self._address.query else "")
        if not self._topic or "+" in self._topic or len(self._topic.encode()) > _MAX_BYTES - 1:
            raise UsageError(f"meter {spec.text[:200]}: write {_FORM} with one topic, without + and #")
        if given.get("tls", "verify") != "verify":
            raise UsageError("mqtt: tls must be verify")
        _scales(given)
        self._timeout_s = spec.number("timeout", max(30.0, 3 * spec.number("period", 0.0)))
        self._where = f"mqtt {self._address.at()} {self._topic}"
        self._messages: queue.SimpleQueue[tuple[float, str]] = queue.SimpleQueue()
        self._refusal = ""
        self._client: Any = None
        self._first: Reading | None = None

    def open(self) -> Capabilities:
        self.close()
        client = self._connect()
        with self.connecting():
            try:
                self._first = first = self._next()
            except MeterGlitchError as error:
                hint = "; a retained message does not count; #timeout=SECONDS waits longer" if not self._refusal else ""
                raise MeterError(f"{error}{hint}") from None
        assert client is self._client
        return Capabilities(
            title=f"MQTT {self._topic} {self._address.at()}",
            scope=Scope.UNKNOWN,
            period_s=self.spec.number("period", 10.0),
            power=PowerKind.INSTANT if first.watts is not None else None,
            counter=first.joules is not None,
        )

    def _connect(self) -> Any:
        try:
            from paho.mqtt import client as paho
            from paho.mqtt.enums import CallbackAPIVersion
        except ImportError:
            raise MeterError(f"MQTT needs paho-mqtt; run: {install('paho')}") from None
        tls = "tls" in self.spec.settings
        client = paho.Client(CallbackAPIVersion.VERSION2)
        if self._address.user is not None:
            secret = require_secret(self.spec.settings, ("ECOSORT_METER_PASSWORD",), self._where)
            client.username_pw_set(self._address.user, secret)
        if tls:
            client.tls_set()
        client.on_connect = self._connected
        client.on_message = self._received
        try:
            client.connect(self._address.host, self._address.port or (8883 if tls else 1883), _KEEPALIVE_S)
        except (OSError, ValueError) as error:
            raise MeterError(f"{self._where}: the broker cannot be reached: {error}; {NOT_THERE}") from None
        client.loop_start()
        self._client = client
        return client

    def _connected(self, client: Any, user: Any, flags: Any, reason: Any, properties: Any) -> None:
        """Called in paho's thread."""
        if reason.is_failure:
            self._refusal = f"the broker refuses the connection: {reason}"
        else:
            self._refusal = ""
            client.subscribe(self._topic)  # again after each reconnection

    def _received(self, client: Any, user: Any, message: Any) -> None:
        if not message.retain:
            self._messages.put((time.monotonic(), message.payload[:_MAX_BYTES].decode(errors="replace")))

    def _next(self) -> Reading:
        until = time.monotonic() + self._timeout_s
        while (left := until - time.monotonic()) > 0:
            try:
                arrival, text = self._messages.get(timeout=min(left, 0.2))
            except queue.Empty:
                if self._refusal:
                    raise MeterError(f"{self._where}: {self._refusal}; name a user: mqtt://USER@HOST/TOPIC") from None
                continue
            found = _values(text, self.spec, self._where)
            return Reading(arrival, arrival, found.watts, found.joules, raw=text)
        raise MeterGlitchError(f"{self._where}: no message in {self._timeout_s:g} s")

    def read(self) -> Reading:
        if self._client is None:
            raise MeterError(f"the connection to {self._where} is not open")
        if self._first is not None:
            first, self._first = self._first, None
            return first
        return self._next()

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a message."""
        return _values(raw, spec, spec.address)

    def close(self) -> None:
        if self._client is None:
            return
        self._client.disconnect()
        self._client.loop_stop()
        self._client = None


def _scales(given: Mapping[str, str]) -> tuple[float, float]:
    """Watts and joules per unit; a message without paths is a power."""
    counter = bool(given.get("energy"))
    return (
        stated_unit(POWER_UNITS, given, "unit") if given.get("value") or not counter else 1.0,
        stated_unit(ENERGY_UNITS, given, "energy-unit") if counter else 1.0,
    )


def _values(text: str, spec: MeterSpec, where: str) -> Reading:
    given = spec.settings
    value, energy = given.get("value") or None, given.get("energy") or None
    power_scale, energy_scale = _scales(given)
    try:
        document = parse_json(text)
    except ValueError:
        raise MeterGlitchError(f"{where}: the message is neither JSON nor a number: {text[:60]!r}") from None
    if value is None and energy is None:
        if isinstance(document, (dict, list)):
            raise MeterError(f"{where}: the message is JSON; say where the power is, e.g. #value=ENERGY.Power: {text[:80]}")
        return Reading(0.0, 0.0, watts=pick({"message": document}, "message", where) * power_scale)
    watts = pick(document, value, where) * power_scale if value else None
    joules = pick(document, energy, where) * energy_scale if energy else None
    return Reading(0.0, 0.0, watts=watts, joules=joules)
