"""Units that meters state their values in. Apparent power (VA) and reactive power (var) are no watts and are not here."""

from __future__ import annotations

from collections.abc import Mapping

from ecosort_power.errors import UsageError

POWER_UNITS: Mapping[str, float] = {"W": 1.0, "mW": 1e-3, "kW": 1e3}
ENERGY_UNITS: Mapping[str, float] = {
    "J": 1.0,
    "kJ": 1e3,
    "MJ": 1e6,
    "Ws": 1.0,
    "Wmin": 60.0,
    "mWh": 3.6,
    "Wh": 3600.0,
    "kWh": 3.6e6,
    "MWh": 3.6e9,
}


def stated_unit(table: Mapping[str, float], given: Mapping[str, str], setting: str) -> float:
    """The unit that a user must state, because nothing in the meter's answers does. UsageError if it is not there."""
    if setting not in given:
        raise UsageError(f"its answers do not say their unit; say it: #{setting}=UNIT, one of: {', '.join(table)}")
    return unit(table, given[setting])


def unit(table: Mapping[str, float], text: str) -> float:
    """Watts or joules per unit. UsageError names the known ones."""
    if text not in table:
        wrong = {"VA": " (apparent power is not watts)", "kVA": " (apparent power is not watts)", "var": " (not watts)"}
        raise UsageError(f"unknown unit {text[:40]!r}{wrong.get(text, '')}; known: {', '.join(table)}")
    return table[text]
