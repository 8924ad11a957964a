"""An entity of Home Assistant: `homeassistant://HOST[:8123]/sensor.plug_power`.

The unit that the entity states decides: W, kW and mW are power; Wh, kWh and J a counter; all else is refused. The long-lived
token comes from HOME_ASSISTANT_TOKEN or `#password-file=`. Home Assistant passes on what its integrations report, when
it changes: say how often that is (`#update=SECONDS`) or find out with `ecosort-power probe`.
Protocol: developers.home-assistant.io/docs/api/rest, GET /api/states/ENTITY.
"""

from __future__ import annotations

import re
import time
from typing import Any, ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters.base import MeterSpec
from ecosort_power.meters.http import WebMeter, timed
from ecosort_power.meters.units import ENERGY_UNITS, POWER_UNITS, unit
from ecosort_power.nesting import parse_json
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.http import look_up, pick

_ENTITY = re.compile(r"^[a-z0-9_]+\.[a-z0-9_]+$")


class HomeAssistantMeter(WebMeter):
    """One entity, asked again and again."""

    form: ClassVar[str] = "homeassistant://HOST[:PORT]/ENTITY"
    port: ClassVar[int | None] = 8123
    default_auth: ClassVar[str] = "bearer"
    secret_variables: ClassVar[tuple[str, ...]] = ("HOME_ASSISTANT_TOKEN",)

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._entity = self.address.path
        if not _ENTITY.match(self._entity):
            raise UsageError(f"meter {spec.text[:200]}: write {self.form}, e.g. homeassistant://HOST/sensor.plug_power")
        self._path = f"/api/states/{self._entity}"

    def start(self) -> Capabilities:
        self.connect(self.login("bearer"))
        document = self.client.get(self._path)
        first = _values(document, f"{self.server} {self._entity}")
        attributes = document["attributes"]
        name = attributes.get("friendly_name") or self._entity
        return Capabilities(
            title=f"Home Assistant {name} {self.server}",
            scope=Scope.UNKNOWN,
            period_s=1.0,
            power=PowerKind.INSTANT if first.watts is not None else None,
            counter=first.joules is not None,
            identity={k: str(attributes[k]) for k in ("device_class", "state_class", "unit_of_measurement") if k in attributes},
            notes=self.notes,
        )

    def read(self) -> Reading:
        before = time.monotonic()
        document = self.client.get(self._path)
        return timed(_values(document, f"{self.server} {self._entity}"), document, before)

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a raw answer."""
        return _values(parse_json(raw), spec.address)


def _values(document: Any, where: str) -> Reading:
    state = look_up(document, "state", where)
    if state in ("unavailable", "unknown"):
        raise MeterGlitchError(f"{where} is {state}: Home Assistant has no value of it now")
    said = look_up(document, "attributes", where)
    measure = said.get("unit_of_measurement") if isinstance(said, dict) else None
    if not isinstance(measure, str):
        raise MeterError(f"{where} does not state its unit (unit_of_measurement): what it measures is not known")
    value = pick(document, "state", where)
    stamp = document.get("last_updated")
    stamp = stamp if isinstance(stamp, str) else None
    if measure in ENERGY_UNITS:
        return Reading(0.0, 0.0, joules=value * ENERGY_UNITS[measure], stamp=stamp)
    try:
        return Reading(0.0, 0.0, watts=value * unit(POWER_UNITS, measure), stamp=stamp)
    except UsageError as error:
        raise MeterError(f"{where}: {error}") from None
