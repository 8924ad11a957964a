"""Meters that announce themselves in the local network by multicast DNS (RFC 6762, 6763): `ecosort-power meters --discover`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from ecosort_power.discover import try_meter
from ecosort_power.errors import MeterError
from ecosort_power.extras import install
from ecosort_power.meters.base import Finding
from ecosort_power.reading import Scope

LISTEN_S = 3.0
HTTP_PORT = 80


@dataclass(frozen=True, slots=True)
class Service:
    """Holds what one announcement says."""

    kind: str  # shelly, http, home-assistant, mqtt, nut
    name: str
    host: str  # its address
    port: int

    def at(self, usual: int) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == usual else f"{host}:{self.port}"


_TYPES = {f"_{kind}._tcp.local.": kind for kind in ("shelly", "http", "home-assistant", "mqtt", "nut")}
# These cannot be read without more: kind -> title, usual port, how to write it.
_ASK = {
    "home-assistant": ("Home Assistant", 8123, "homeassistant://{}/sensor.NAME", "a token in HOME_ASSISTANT_TOKEN"),
    "mqtt": ("MQTT broker", 1883, "mqtt://{}/TOPIC#value=JSON.PATH,unit=W", "the topic of a plug"),
    "nut": ("Network UPS Tools", 3493, "nut://{}/UPS", "the name of a UPS (upsc -l HOST)"),
}


def browse(seconds: float, interfaces: Sequence[str]) -> list[Service]:
    """Finds what announces itself within some seconds; `interfaces` are addresses of this machine, none: all of them."""
    try:
        from zeroconf import InterfaceChoice, IPVersion, ServiceBrowser, ServiceListener, Zeroconf
    except ImportError:
        raise MeterError(f"--discover needs zeroconf; run: {install('zeroconf')}") from None

    class Listener(ServiceListener):
        """Collects names; they are asked for afterwards."""

        def __init__(self) -> None:
            self.seen: set[tuple[str, str]] = set()

        def add_service(self, zc: Zeroconf, type_: str, name: str) -> None:
            self.seen.add((type_, name))

        def update_service(self, zc: Zeroconf, type_: str, name: str) -> None:
            self.seen.add((type_, name))

        def remove_service(self, zc: Zeroconf, type_: str, name: str) -> None:
            self.seen.discard((type_, name))

    try:
        network = Zeroconf(interfaces=list(interfaces) or InterfaceChoice.All, ip_version=IPVersion.V4Only)
    except OSError as error:
        raise MeterError(f"the network cannot be searched: {error}") from None
    found = []
    try:
        listener = Listener()
        ServiceBrowser(network, list(_TYPES), listener)
        time.sleep(seconds)
        for type_, name in sorted(listener.seen):
            info = network.get_service_info(type_, name, timeout=1000)
            addresses = info.parsed_addresses() if info is not None else []
            if info is not None and addresses and info.port:
                found.append(Service(_TYPES[type_], name.removesuffix("." + type_), addresses[0], info.port))
    finally:
        network.close()
    return found


def address_of(service: Service) -> str | None:
    """The meter of a service that can be read as it is; Shelly Gen1 announce themselves as web servers only."""
    name = service.name.lower()
    if service.kind == "shelly" or (service.kind == "http" and name.startswith("shelly")):
        return f"shelly://{service.at(HTTP_PORT)}"
    if service.kind == "http" and name.startswith("tasmota"):
        return f"tasmota://{service.at(HTTP_PORT)}"
    return None


def _ask(service: Service) -> Finding:
    title, port, form, needed = _ASK[service.kind]
    spec = form.format(service.at(port))
    why = f"it is not known what to read: {needed}"
    return Finding(spec, f"{title} {service.name}", Scope.UNKNOWN, "unknown", "unknown", False, why, f"--meter '{spec}'")


def find_in_network(seconds: float = LISTEN_S, interfaces: Sequence[str] = ()) -> list[Finding]:
    """Each plug is opened and read once."""
    services = browse(seconds, interfaces)
    addresses = dict.fromkeys(a for s in services if (a := address_of(s)) is not None)
    mend = "name its user, e.g. shelly://admin@HOST, with ECOSORT_METER_PASSWORD, or look whether it measures power"
    found = [*(try_meter(a, a, mend) for a in addresses), *(_ask(s) for s in services if s.kind in _ASK)]
    return found or [_nothing(seconds)]


def _nothing(seconds: float) -> Finding:
    why = f"none announced itself within {seconds:g} s"
    fix = (
        "is it in the same network, not in one for guests? Kasa, Tapo and FRITZ! do not announce themselves: --meter kasa://HOST"
    )
    return Finding("shelly://HOST", "plugs in the network", Scope.WALL, "unknown", "unknown", False, why, fix)
