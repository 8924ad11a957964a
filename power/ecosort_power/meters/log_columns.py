"""Finds which column of a meter's log holds time, power and energy, and in which unit.

Nothing is guessed: a unit is in the header, below it, in every cell (`19.9 W`), or in a column `Unit` beside the values, as
multimeters write it; else it is given by `#unit=` or `#energy-unit=`, which is enough where one column alone has numbers without
a unit. `#watts=U*I` multiplies a voltage and a current, each in the unit that its column or cell says; `#watts=I*5V` a current
and a voltage that stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from ecosort_power.errors import UsageError
from ecosort_power.meters.log_values import UTC_NAMED, CellError, is_beyond_range, is_gap, is_number, split_unit, zone_named
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
# Units of energy are in these too, after what they are divided into.
_RATE = re.compile(r"(?i)price|preis|cost|kosten|[€$£¥]|\b(eur|usd|gbp|chf|ct|cents?)\b|co2|\b(per|pro|k?g)[\s/]+[kM]?Wh\b")
# Watts, but not those that are drawn: a setting, or an extreme. Such a column is taken only if it is named.
_NOT_DRAWN = re.compile(r"(?i)(^|[^a-z])(limit|max|maximum|min|minimum|peak|nominal|rated|setpoint|target)([^a-z]|$)")
_BRACKETS = re.compile(r"[(\[]([^)\]]*)[)\]]")
# `P/W` is a power in watts, as physicists write it; `kWh/W` is a unit divided by another.
_QUOTIENT = re.compile(r"([^\s_/:()\[\]]+)\s*/[^/]*$")
_TIME = re.compile(r"(?i)time|date|stamp|elapsed|zeit|datum|uhrzeit|last_changed|(?<![a-z])utc(?![a-z])")
# A time of day in whole seconds.
_CLOCK = re.compile(r"(?:^|[T\s])(?:\d{1,3}:\d{2}:\d{2}|(?<=T)\d{6})(?![\d.,:])")
_MILLIS = re.compile(r"(?i)milli-?seconds?|msecs?|ms")
_TIME_UNITS = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


# Volts and amperes per count, of what is multiplied.
_FACTORS = {"V": 1.0, "mV": 1e-3, "kV": 1e3}, {"A": 1.0, "mA": 1e-3, "uA": 1e-6, "µA": 1e-6, "nA": 1e-9}
_FACTOR_NAMES = ("volts", "amperes")
_VOLTAGE = re.compile(r"(\d+(?:\.\d*)?)\s*(V|mV|kV)")
# Units of what else meters log; a column in one of them is neither power nor energy, whatever is said of it.
_OTHER_UNITS = {
    "v": "a voltage",
    "mv": "a voltage",
    "a": "a current",
    "ma": "a current",
    "hz": "a frequency",
    "%": "a percentage",
    "°c": "a temperature",
    "°f": "a temperature",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of values, and watts, joules, volts or amperes per count. `scale` is None where each cell says its own unit;
    `fixed` is a voltage that they are multiplied with."""

    index: int
    scale: float | None
    quantity: str = "watts"
    fixed: float = 1.0


@dataclass(frozen=True, slots=True)
class Columns:
    """Says which columns hold what."""

    times: tuple[int, ...]  # indexes: one, or date and time of day
    millis: int | None  # index of the milliseconds of the times, which are whole seconds
    time_scale: float | None  # seconds per count where the header says so
    watts: Column | None
    energy: Column | None
    factor: Column | None = None  # what `watts` is multiplied with
    product: bool = False  # its power is volts times amperes
    zone: tzinfo | None = None  # of the times, where their column says it

    @property
    def used(self) -> list[int]:
        """The columns that tell no sensors apart."""
        return [*self.times, *self.values, *(() if self.millis is None else (self.millis,))]

    @property
    def values(self) -> list[int]:
        """The columns of what was measured."""
        return [c.index for c in (self.watts, self.factor, self.energy) if c is not None]


@dataclass(frozen=True, slots=True)
class _Quantity:
    """Says what a column may hold, and the settings that say it."""

    name: str
    setting: str
    unit_setting: str
    example: str
    table: Mapping[str, float]


_POWER = _Quantity("watts", "watts", "unit", "W", POWER_UNITS)
_ENERGY = _Quantity("energy", "energy", "energy-unit", "Wh", ENERGY_UNITS)
_TABLES = {"watts": POWER_UNITS, "energy": ENERGY_UNITS, **dict(zip(_FACTOR_NAMES, _FACTORS, strict=True))}


def _tokens(header: str) -> list[str]:
    """Returns what may be a unit in a header: what is in brackets, else its last word."""
    inside = _BRACKETS.findall(header)
    return inside or re.split(r"[\s_/:.-]+", header.strip())[-1:]


def unit_of(header: str) -> str | None:
    """The unit that a header names, in the spelling of `units.py`."""
    divided = _QUOTIENT.search(header)
    if divided is not None and unit_of(divided[1]) is not None:
        return None
    for token in map(str.strip, _tokens(header)):
        if token in _EXACT:
            return _EXACT[token]
        if token.lower() in _WORDS and token != "MW":
            return _WORDS[token.lower()]
    return None


def no_watts(header: str) -> str | None:
    """Names what a column is that is neither watts nor energy, although some meters call it power."""
    for token in _tokens(header):
        found = _NOT_WATTS.get(token.strip().lower())
        if found is not None:
            return found
    for token in (header, *_BRACKETS.findall(header)):  # not the last word: there may be an outlet A
        found = _OTHER_UNITS.get(token.strip().lower())
        if found is not None:
            return found
    if _FACTOR.search(header):
        return "a power factor"
    if _RATE.search(header):
        return "a price, or another amount per unit of energy"
    return "apparent or reactive power" if _APPARENT.search(header) else None


def cell_unit(cell: str) -> str | None:
    """The unit in a cell like `19.9 W`, in the spelling of `units.py`."""
    _, suffix = split_unit(cell)
    return unit_of(suffix) if suffix else None


def cell_scale(cell: str, column: Column) -> float:
    """Watts or joules per count of a cell, or the like: by its own unit, else by that of its column. CellError where they
    contradict."""
    table = _TABLES[column.quantity]
    if is_beyond_range(cell):
        raise CellError(f"{cell.strip()!r} is beyond the meter's range, so that the value is not known: measure in a larger one")
    _, suffix = split_unit(cell)
    if not suffix:
        if column.scale is None:
            raise CellError(f"{cell.strip()!r} does not say its unit, other cells of its column do")
        return column.scale * column.fixed
    own = suffix if suffix in table else unit_of(suffix)
    if own is None or own not in table:
        raise CellError(f"{suffix!r} is no unit of {column.quantity} ({', '.join(table)})")
    if column.scale is not None and table[own] != column.scale:
        raise CellError(f"{cell.strip()!r} is not in the unit of its column")
    return table[own] * column.fixed


def _named(header: Sequence[str], wanted: str) -> int:
    names = [h.strip() for h in header]
    if wanted not in names:
        raise UsageError(f"the log has no column {wanted!r}; it has: {_list(names)}")
    return names.index(wanted)


def _list(names: Sequence[str]) -> str:
    return ", ".join(n.strip() for n in names)[:300]


def _column(quantity: _Quantity, table: _Head, given: Mapping[str, str]) -> Column | None:
    """The column that is named; else the only one in such a unit; else, where its unit is given, the only one without any."""
    index = _named(table.header, given[quantity.setting]) if quantity.setting in given else _found(quantity, table, given)
    if index is None:
        return None
    name = table.header[index].strip()
    other = "the column of the times" if index in table.times else no_watts(table.header[index])
    if other is not None:
        raise UsageError(f"column {name!r} is {other}, not {quantity.name}; say another one: #{quantity.setting}=NAME")
    said, own = given.get(quantity.unit_setting), table.units[index]
    if said and own is not None and own in quantity.table and unit(quantity.table, said) != quantity.table[own]:
        raise UsageError(f"column {name!r} is in {own}, not in {said}: leave #{quantity.unit_setting}= out")
    chosen = said or own
    if chosen is not None:
        return Column(index, unit(quantity.table, chosen), quantity.name)
    if cell_unit(table.first[index]) in quantity.table:
        return Column(index, None, quantity.name)
    known = ", ".join(quantity.table)
    raise UsageError(f"column {name!r} does not say its unit; say it: #{quantity.unit_setting}={quantity.example} (or {known})")


@dataclass(frozen=True, slots=True)
class _Factor:
    """One side of `#watts=A*B`: a column, or a voltage that stays."""

    name: str
    index: int | None
    kind: int | None  # 0: volts, 1: amperes, None: neither its name nor its cells say it
    scale: float | None = 1.0  # None: each cell says its own unit


def _factor(name: str, table: _Head) -> _Factor:
    fixed = _VOLTAGE.fullmatch(name)
    if fixed is not None and name not in [h.strip() for h in table.header]:
        if not float(fixed[1]):
            raise UsageError(f"#watts=: with {name} all power is 0 W; say the voltage of the supply, e.g. 5V")
        return _Factor(name, None, 0, float(fixed[1]) * _FACTORS[0][fixed[2]])
    index = _named(table.header, name)
    if (found := _electric(name) or _electric(table.units[index] or "")) is not None:
        return _Factor(name, index, *found)
    in_cells = _electric(split_unit(table.first[index])[1])
    return _Factor(name, index, None if in_cells is None else in_cells[0], None)


def _product(table: _Head, given: Mapping[str, str]) -> tuple[Column, Column | None] | None:
    """The two columns of `#watts=A*B`, or the one beside a voltage. None: it names one column."""
    text = given.get("watts", "").strip()
    if text.count("*") != 1 or text in [h.strip() for h in table.header]:
        return None
    factors = [_factor(name.strip(), table) for name in text.split("*")]
    silent = next((f for f in factors if f.kind is None), None)
    if silent is not None and "unit" not in given:
        raise UsageError(f"column {silent.name!r} does not say whether it is in V or A; say what the product is in: #unit=W")
    if silent is None and (sorted(f.kind or 0 for f in factors) != [0, 1] or given.get("unit", "W") != "W"):
        raise UsageError(f"#watts={text[:60]} is no voltage times a current in W")
    fixed = unit(POWER_UNITS, given["unit"]) if silent is not None else 1.0
    columns = []
    for f in factors:
        if f.index is None:
            fixed *= 1.0 if f.scale is None else f.scale
        elif silent is not None:
            columns.append(Column(f.index, 1.0))
        else:
            columns.append(Column(f.index, f.scale, _FACTOR_NAMES[f.kind or 0]))
    first, *second = columns
    return replace(first, fixed=fixed), second[0] if second else None


def _electric(header: str) -> tuple[int, float] | None:
    """0 for a voltage, 1 for a current, and what one count is worth; None: the name does not say."""
    for token in map(str.strip, _tokens(header)):
        for kind, table in enumerate(_FACTORS):
            if token in table:
                return kind, table[token]
    return None


def _found(quantity: _Quantity, table: _Head, given: Mapping[str, str]) -> int | None:
    fitting = table.fitting(lambda i: table.units[i] in quantity.table or cell_unit(table.first[i]) in quantity.table)
    what = f"in {quantity.example}" if quantity is _ENERGY else "in watts"
    if not fitting and quantity.unit_setting in given:
        fitting = table.fitting(lambda i: table.units[i] is None and is_number(table.first[i]))
        what = f"that may be in {given[quantity.unit_setting]}"
    if len(fitting) > 1:
        names = _list([table.header[i] for i in fitting])
        raise UsageError(f"the log has several columns {what} ({names}); say which: #{quantity.setting}=NAME")
    return fitting[0] if fitting else None


@dataclass(frozen=True, slots=True)
class _Head:
    """The names of the columns, their units where they say them, and the first cells below."""

    header: Sequence[str]
    units: Sequence[str | None]
    first: Sequence[str]
    times: tuple[int, ...]
    taken: tuple[int, ...] = ()  # columns that are something else already

    def fitting(self, fits: Callable[[int], bool]) -> list[int]:
        free = [i for i in range(len(self.header)) if i not in (*self.times, *self.taken)]
        drawn = [i for i in free if no_watts(self.header[i]) is None and not _NOT_DRAWN.search(self.header[i])]
        return [i for i in drawn if fits(i)]


def _times(header: Sequence[str], given: Mapping[str, str]) -> tuple[int, ...]:
    if "time" in given:
        return tuple(_named(header, name) for name in given["time"].split("+"))
    names = [UTC_NAMED.sub("", h.lower()).strip(" ()[]_-") for h in header]
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


def _has_value(cell: str) -> bool:
    return not is_gap(cell) and not is_beyond_range(cell)


def find_columns(header: Sequence[str], rows: Sequence[Sequence[str]], given: Mapping[str, str]) -> Columns:
    """`rows` are the lines after the header; some instruments put the units into the first. UsageError says what is missing."""
    second = _units_of(rows)
    below = [_below(second, i) for i in range(len(header))]
    values = rows[1:] if any(below) else rows
    units = [unit_of(h) or b for h, b in zip(header, below, strict=True)]
    first = [next((row[i] for row in values if i < len(row) and _has_value(row[i])), "") for i in range(len(header))]
    times = _times(header, given)
    table = _Head(header, units, first, times)
    product = _product(table, given)
    watts, factor = product if product is not None else (_column(_POWER, table, given), None)
    wanted = watts is None or "energy" in given or "energy-unit" in given
    taken = tuple(c.index for c in (watts, factor) if c is not None)
    energy = _column(_ENERGY, replace(table, taken=taken), given) if wanted else None
    if watts is None and energy is None:
        raise UsageError(
            f"no column of the log says that it is in watts or counts energy; say which and in what: #watts=NAME,unit=W; "
            f"it has: {_list(header)}{_why_not(header)}"
        )
    if not times:
        raise UsageError(f"the log has no column of time that is known; say #time=NAME; it has: {_list(header)}")
    scale = next((_TIME_UNITS[t.strip()] for t in _tokens(header[times[0]]) if t.strip() in _TIME_UNITS), None)
    millis = _millis(table, values, [c.index for c in (watts, factor, energy) if c is not None], given.get("time-format"))
    zone = next(filter(None, (zone_named(header[i]) for i in times)), None)
    return Columns(times, millis, scale, watts, energy, factor, product is not None, zone)


def _millis(table: _Head, rows: Sequence[Sequence[str]], values: Sequence[int], form: str | None) -> int | None:
    """Power analysers write date, time of whole seconds, and milliseconds, each in a column of its own. A column of `ms`
    beside numbers of seconds, or times of day with a fraction, is something else, such as a latency."""
    taken = (*table.times, *values)
    index = next((i for i, name in enumerate(table.header) if _MILLIS.fullmatch(name.strip()) and i not in taken), None)
    if index is None:
        return None
    clocks = [i for i in range(len(table.header)) if _is_clock(i, rows, form if i in table.times else None)]
    nearest = max((i for i in clocks if i < index), default=min(clocks, default=None))
    cells = [row[index].strip() for row in rows if index < len(row) and not is_gap(row[index])]
    whole = bool(cells) and all(re.fullmatch(r"[0-9]{1,3}", cell) for cell in cells)
    return index if whole and nearest in table.times else None


def _is_clock(index: int, rows: Sequence[Sequence[str]], form: str | None) -> bool:
    """True for a column of times of day without fractions of a second: the point of a date is none."""
    cells = [row[index].strip() for row in rows if index < len(row)]
    if form is not None and not any(map(_CLOCK.search, cells)):
        directives = re.findall("%(.)", form)
        return "S" in directives and "f" not in directives
    return bool(cells) and all(map(_CLOCK.search, cells))


def _why_not(header: Sequence[str]) -> str:
    electric = {kind[0]: name.strip() for name in header if (kind := _electric(name)) is not None}
    if len(electric) == 2:
        return f"; of direct current: #watts={electric[0]}*{electric[1]}"
    if 1 in electric:
        return f"; of direct current, at a voltage that stays, e.g. 5 V: #watts={electric[1]}*5V"
    reasons = [f"'{name}' is {found}, which is not W" for name in header if (found := no_watts(name)) is not None]
    return f" ({'; '.join(reasons)})" if reasons else ""


def is_units(row: Sequence[str], columns: Columns) -> bool:
    """True for the line below the names where some instruments put the units."""
    return bool(_units_of([row])) and any(
        c is not None and _below(row, c.index) is not None for c in (columns.watts, columns.energy)
    )


def _units_of(rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """The first row, if it may be one of units: no row of values is without a number."""
    return rows[0] if rows and not any(map(is_number, rows[0])) else []


def _below(second: Sequence[str], index: int) -> str | None:
    text = second[index].strip(" ()[]") if index < len(second) else ""
    if any(text in table for table in _FACTORS):
        return text
    return unit_of(text) if text and not any(c.isdigit() for c in text) else None
