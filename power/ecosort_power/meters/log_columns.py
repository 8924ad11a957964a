"""Which column of a meter's log holds time, power and energy, and in which unit.

Nothing is guessed: a column whose header names no unit of power or energy is taken only with `#unit=` or `#energy-unit=`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ecosort_power.errors import UsageError
from ecosort_power.meters.units import ENERGY_UNITS, POWER_UNITS, unit

_WORDS = {
    "watt": "W",
    "watts": "W",
    "milliwatt": "mW",
    "milliwatts": "mW",
    "kilowatt": "kW",
    "kilowatts": "kW",
    "joule": "J",
    "joules": "J",
    "w": "W",
    "kw": "kW",
    "wh": "Wh",
    "kwh": "kWh",
    "j": "J",
    "kj": "kJ",
}
# Written in one way only: mW and MW differ by 10^9.
_EXACT = {"mW": "mW", "mWh": "mWh", "MWh": "MWh", "MJ": "MJ", "Ws": "Ws", "Wmin": "Wmin"}
_NOT_WATTS = {
    "va": "apparent power (VA)",
    "kva": "apparent power (kVA)",
    "var": "reactive power (var)",
    "kvar": "reactive power (kvar)",
    "pf": "a power factor",
}
_FACTOR = re.compile(r"(?i)power[\s_-]*factor|\bcos[\s_]*(phi|φ)|leistungsfaktor|\bλ")
_APPARENT = re.compile(r"(?i)apparent|reactive|schein|blind")
_TIME = re.compile(r"(?i)time|date|stamp|elapsed|zeit|datum|uhrzeit")
_TIME_UNITS = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


@dataclass(frozen=True, slots=True)
class Columns:
    """Indexes of the columns, and what one count of each is worth."""

    times: tuple[int, ...]  # one, or date and time of day
    time_scale: float | None  # seconds per count where the header says so
    watts: int | None
    watts_scale: float
    energy: int | None
    energy_scale: float


def _tokens(header: str) -> list[str]:
    """What may be a unit in a header: what stands in brackets, else its last word."""
    inside = re.findall(r"[(\[]([^)\]]*)[)\]]", header)
    return inside or re.split(r"[\s_/:.-]+", header.strip())[-1:]


def unit_of(header: str) -> str | None:
    """The unit that a header names, in the spelling of `units.py`."""
    for token in map(str.strip, _tokens(header)):
        if token in _EXACT:
            return _EXACT[token]
        if token.lower() in _WORDS and token != "MW":
            return _WORDS[token.lower()]
    return None


def no_watts(header: str) -> str | None:
    """What a column is that some meters call power although it is not watts."""
    for token in _tokens(header):
        if token.strip().lower() in _NOT_WATTS:
            return _NOT_WATTS[token.strip().lower()]
    if _FACTOR.search(header):
        return "a power factor"
    return "apparent or reactive power" if _APPARENT.search(header) else None


def _named(header: Sequence[str], wanted: str) -> int:
    names = [h.strip() for h in header]
    if wanted not in names:
        raise UsageError(f"the log has no column {wanted!r}; it has: {_list(names)}")
    return names.index(wanted)


def _list(names: Sequence[str]) -> str:
    return ", ".join(n.strip() for n in names)[:300]


def _with_unit(header: Sequence[str], units: Sequence[str | None], table: Mapping[str, float]) -> list[int]:
    return [i for i, (h, u) in enumerate(zip(header, units, strict=True)) if u in table and no_watts(h) is None]


def _power(header: Sequence[str], units: Sequence[str | None], given: Mapping[str, str]) -> tuple[int | None, float]:
    """The column of the power, if there is one, and watts per count."""
    if "watts" in given:
        index = _named(header, given["watts"])
    else:
        fitting = _with_unit(header, units, POWER_UNITS)
        if len(fitting) > 1:
            names = _list([header[i] for i in fitting])
            raise UsageError(f"the log has several columns in watts ({names}); say which: #watts=NAME")
        if not fitting:
            return None, 1.0
        index = fitting[0]
    if (other := no_watts(header[index])) is not None:
        raise UsageError(f"column {header[index].strip()!r} is {other}, not watts; say another one: #watts=NAME")
    chosen = given.get("unit") or units[index]
    if chosen is None:
        raise UsageError(f"column {header[index].strip()!r} does not say its unit; say it: #unit=W (or {', '.join(POWER_UNITS)})")
    return index, unit(POWER_UNITS, chosen)


def _energy(
    header: Sequence[str], units: Sequence[str | None], given: Mapping[str, str], power: int | None
) -> tuple[int | None, float]:
    """The column of the counter: the one that is named; where there is no power, the only one in a unit of energy."""
    if "energy" in given:
        index = _named(header, given["energy"])
    else:
        fitting = _with_unit(header, units, ENERGY_UNITS)
        if power is not None or len(fitting) != 1:
            return None, 1.0
        index = fitting[0]
    if (other := no_watts(header[index])) is not None:
        raise UsageError(f"column {header[index].strip()!r} is {other}, not energy; say another one: #energy=NAME")
    chosen = given.get("energy-unit") or units[index]
    if chosen is None:
        raise UsageError(f"column {header[index].strip()!r} does not say its unit; say it: #energy-unit=Wh (or kWh, J)")
    return index, unit(ENERGY_UNITS, chosen)


def _times(header: Sequence[str], given: Mapping[str, str]) -> tuple[int, ...]:
    if "time" in given:
        return tuple(_named(header, name) for name in given["time"].split("+"))
    names = [h.strip().lower() for h in header]
    for date, clock in (("date", "time"), ("datum", "zeit"), ("datum", "uhrzeit")):
        if date in names and clock in names:
            return (names.index(date), names.index(clock))
    found = next((i for i, h in enumerate(header) if _TIME.search(h)), None)
    return () if found is None else (found,)


def has_time(header: Sequence[str], given: Mapping[str, str]) -> bool:
    """True if a line may be the header of a log."""
    wanted = given["time"].split("+") if "time" in given else None
    names = [h.strip() for h in header]
    return all(w in names for w in wanted) if wanted else any(_TIME.search(h) for h in header)


def find_columns(header: Sequence[str], second: Sequence[str], given: Mapping[str, str]) -> Columns:
    """`second` is the line after the header; some instruments put the units there. UsageError says what is missing."""
    below = [_below(second, i) for i in range(len(header))]
    units = [unit_of(h) or b for h, b in zip(header, below, strict=True)]
    times = _times(header, given)
    watts, watts_scale = _power(header, units, given)
    energy, energy_scale = _energy(header, units, given, watts)
    if watts is None and energy is None:
        raise UsageError(
            f"no column of the log says that it is in watts or counts energy; say which and in what: #watts=NAME,unit=W; "
            f"it has: {_list(header)}"
        )
    if not times:
        raise UsageError(f"the log has no column of time that is known; say #time=NAME; it has: {_list(header)}")
    scale = next((_TIME_UNITS[t.strip()] for t in _tokens(header[times[0]]) if t.strip() in _TIME_UNITS), None)
    return Columns(times, scale, watts, watts_scale, energy, energy_scale)


def _below(second: Sequence[str], index: int) -> str | None:
    text = second[index].strip(" ()[]") if index < len(second) else ""
    return unit_of(text) if text and not text[0].isdigit() else None
