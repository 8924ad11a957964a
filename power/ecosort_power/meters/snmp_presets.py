"""Lists where PDUs have their real power, by the MIBs of their makers: this is the table behind `#preset=`.

A preset is kept only with the object's name and unit. Each was compared with what the drivers of Network UPS Tools (apc-pdu-mib,
eaton-pdu-marlin-mib, raritan-px2-mib), LibreNMS or Observium read of such devices. Apparent power (VA) is never here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Preset:
    oid: str  # {n}: number of the outlet or phase, `#outlet=`
    watts: float  # that one count is worth
    source: str  # MIB and object
    digits: str | None = None  # the object that says how many decimals the value has

    @property
    def numbered(self) -> bool:
        return "{n}" in self.oid


PRESETS: Mapping[str, Preset] = {
    # rPDU2DeviceStatusPower: hundredths of a kilowatt; -1 where a model does not measure it.
    "apc-rpdu2": Preset("1.3.6.1.4.1.318.1.1.26.4.3.1.5.1", 10.0, "PowerNet-MIB rPDU2DeviceStatusPower"),
    "apc-rpdu2-phase": Preset("1.3.6.1.4.1.318.1.1.26.6.3.1.7.{n}", 10.0, "PowerNet-MIB rPDU2PhaseStatusPower"),
    "apc-rpdu2-outlet": Preset("1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.{n}", 1.0, "PowerNet-MIB rPDU2OutletMeteredStatusPower"),
    "apc-rpdu": Preset("1.3.6.1.4.1.318.1.1.12.1.16.0", 1.0, "PowerNet-MIB rPDUIdentDevicePowerWatts"),
    "cyberpower": Preset("1.3.6.1.4.1.3808.1.1.3.2.3.1.1.7.1", 1.0, "CPS-MIB ePDULoadStatusActivePower"),
    "eaton": Preset("1.3.6.1.4.1.534.6.6.7.3.5.1.4.0.1", 1.0, "EATON-EPDU-MIB inputTotalWatts"),
    "eaton-outlet": Preset("1.3.6.1.4.1.534.6.6.7.6.5.1.3.0.{n}", 1.0, "EATON-EPDU-MIB outletWatts"),
    "geist": Preset("1.3.6.1.4.1.21239.5.2.3.1.1.9.1", 1.0, "GEIST-IMD-MIB and VERTIV-V5-MIB pduTotalRealPower"),
    "raritan": Preset(
        "1.3.6.1.4.1.13742.6.5.2.3.1.4.1.1.5",
        1.0,
        "PDU2-MIB measurementsInletSensorValue.1.1.activePower",
        "1.3.6.1.4.1.13742.6.3.3.4.1.7.1.1.5",
    ),
    "raritan-outlet": Preset(
        "1.3.6.1.4.1.13742.6.5.4.3.1.4.1.{n}.5",
        1.0,
        "PDU2-MIB measurementsOutletSensorValue.1.N.activePower",
        "1.3.6.1.4.1.13742.6.3.5.4.1.7.1.{n}.5",
    ),
    "servertech3": Preset("1.3.6.1.4.1.1718.3.2.2.1.12.1.1", 1.0, "Sentry3-MIB infeedPower.1.1"),
    "servertech4": Preset("1.3.6.1.4.1.1718.4.1.3.3.1.3.1.1", 1.0, "Sentry4-MIB st4InputCordActivePower.1.1"),
    "servertech4-outlet": Preset("1.3.6.1.4.1.1718.4.1.8.3.1.7.1.1.{n}", 1.0, "Sentry4-MIB st4OutletActivePower.1.1.N"),
}
