"""The meters: a table from scheme to class, extended by the entry points of other packages.

Another package adds a meter with an entry point in the group `ecosort_power.meters`: its name is the scheme, its value
a subclass of `ecosort_power.meters.base.Meter`.
"""

from __future__ import annotations

import importlib
from importlib.metadata import entry_points

from ecosort_power.errors import UsageError
from ecosort_power.meters.base import Machine, Meter, MeterSpec

GROUP = "ecosort_power.meters"

BUILT_IN = {
    "ipmi": "ecosort_power.meters.ipmi:IpmiMeter",
    "scpi": "ecosort_power.meters.scpi:ScpiMeter",
    "rapl": "ecosort_power.meters.rapl:RaplMeter",
    "hwmon": "ecosort_power.meters.hwmon:HwmonMeter",
    "redfish": "ecosort_power.meters.redfish:RedfishMeter",
    "snmp": "ecosort_power.meters.snmp:SnmpMeter",
    "http": "ecosort_power.meters.http:HttpMeter",
    "https": "ecosort_power.meters.http:HttpMeter",
    "shelly": "ecosort_power.meters.shelly:ShellyMeter",
    "tasmota": "ecosort_power.meters.tasmota:TasmotaMeter",
    "homeassistant": "ecosort_power.meters.homeassistant:HomeAssistantMeter",
    "fritz": "ecosort_power.meters.fritz:FritzMeter",
    "prometheus": "ecosort_power.meters.prometheus:PrometheusMeter",
    "modbus": "ecosort_power.meters.modbus:ModbusMeter",
    "p1": "ecosort_power.meters.smart_meter:P1Meter",
    "sml": "ecosort_power.meters.smart_meter:SmlMeter",
    "nut": "ecosort_power.meters.nut:NutMeter",
    "battery": "ecosort_power.meters.battery:BatteryMeter",
    "pmic": "ecosort_power.meters.pmic:PmicMeter",
    "kasa": "ecosort_power.meters.kasa:KasaMeter",
    "tuya": "ecosort_power.meters.tuya:TuyaMeter",
    "mqtt": "ecosort_power.meters.mqtt:MqttMeter",
    "sim": "ecosort_power.meters.simulated:SimulatedMeter",
    "nvidia": "ecosort_power.meters.nvidia:NvidiaMeter",
    "exec": "ecosort_power.meters.exec:ExecMeter",
    "csv": "ecosort_power.meters.csv:CsvMeter",
}


def _load(target: str) -> type[Meter]:
    module, _, name = target.partition(":")
    found = getattr(importlib.import_module(module), name)
    assert issubclass(found, Meter)
    return found  # type: ignore[no-any-return]


def schemes() -> list[str]:
    return sorted({*BUILT_IN, *(e.name for e in entry_points(group=GROUP))})


def meter_class(scheme: str) -> type[Meter]:
    if scheme in BUILT_IN:
        return _load(BUILT_IN[scheme])
    for entry in entry_points(group=GROUP):
        if entry.name == scheme:
            found = entry.load()
            if not (isinstance(found, type) and issubclass(found, Meter)):
                raise UsageError(f"the entry point {entry.name} ({entry.value}) is no meter class")
            return found
    raise UsageError(f"there is no meter of kind {scheme!r}; there are: {', '.join(schemes())}")


def make_meter(spec: MeterSpec) -> Meter:
    return meter_class(spec.scheme)(spec)


__all__ = ["BUILT_IN", "GROUP", "Machine", "Meter", "MeterSpec", "make_meter", "meter_class", "schemes"]
