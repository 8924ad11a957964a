"""A meter's own log as a CSV file, read after each run, or attached to a stored result later.

`csv:FILE[#watts=COLUMN,unit=W,time=COLUMN,energy=COLUMN,energy-unit=Wh,offset=SECONDS|auto]`. Columns are found by the units in
their names or cells: W, kW, mW; Wh, kWh, J for a counter. What says no unit is taken only with `#unit=`, which is enough where
there is one such column; VA, var, volts, amperes, power factors and the times never, but for `#watts=VOLTS*AMPERES`.
Commas, semicolons, tabs and blanks separate; decimal commas are understood. Rows of several sensors are refused without `#where=`
or `#sum=` (log_series). A cell that says that there is no value (`unavailable`, `[N/A]`, nothing) makes a gap.
Times are seconds or milliseconds since 1970, or ISO 8601 (local unless they, their column or `#timezone=` say otherwise), or
seconds since any moment; the last need `offset=auto`. A column of milliseconds belongs to times of day in whole seconds.
Rows of one time, or that come together, are refused, unless `#same-time=spread` says that they are of one meter: those of one
time then lie evenly between it and the next one. A last line without its end is still being written, and left out. `offset` is
added to the log's times; `auto` finds it from the load of the machine, which the harness records during every run.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from math import fsum, prod
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, ClassVar

from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.meters.log_columns import Column, Columns, cell_scale, find_columns, has_time, is_units
from ecosort_power.meters.log_series import (
    check_settings,
    join_units,
    key_of,
    refuse_rounds,
    refuse_same_times,
    refuse_several,
    select,
    sum_columns,
)
from ecosort_power.meters.log_text import delimiters_of, read_table
from ecosort_power.meters.log_values import (
    CellError,
    TimeForm,
    decimal_sign,
    is_gap,
    is_number,
    last_place,
    number,
    parse_time,
    plain_number,
    refuse_thousands,
    split_unit,
    time_zone,
)
from ecosort_power.meters.units import ENERGY_UNITS, POWER_UNITS, unit
from ecosort_power.nesting import parse_json
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope

if TYPE_CHECKING:
    from ecosort_power.align import Load

_QUARTER_S = 900.0  # the difference of any two time zones is a multiple of it
_CLOCKS_APART_S = 120.0  # how far an automatic alignment looks when the log has real times

Cell = tuple[str, float] | dict[str, Any] | None  # of a row, as its raw answer has it: see _value


@dataclass(frozen=True, slots=True)
class LogRow:
    time_s: float  # since 1970, or since the log's own start
    watts: float | None
    joules: float | None
    raw: str  # its cells of power and energy, each with its factor: see row_values
    key: tuple[str, ...] = ()  # which sensor it is of, where several are added up


@dataclass(frozen=True, slots=True)
class MeterLog:
    rows: list[LogRow]
    absolute: bool
    power: bool
    counter: bool
    product: bool = False  # its power is volts times amperes

    @property
    def quantum_j(self) -> float | None:
        """Returns what one in the last place of the counter is worth; of several counters that are added up, of each."""
        cells = [parse_json(row.raw)[1] for row in self.rows if row.joules is not None]
        return _quantum(cells) if cells else None

    @property
    def period_s(self) -> float:
        steps = [b.time_s - a.time_s for a, b in zip(self.rows, self.rows[1:], strict=False) if b.time_s > a.time_s]
        return median(steps) if steps else 0.0


def read_log(path: Path, settings: Mapping[str, str]) -> MeterLog:
    """MeterError names the line that cannot be understood; UsageError the setting that is missing."""
    rows, absolute, columns = _read_rows(path, settings)  # the text, which takes more memory than the rows, is released by now
    _refuse_same_times(path, rows, settings)
    rows = _added(rows) if "sum" in settings else rows
    if sum(row.watts is not None or row.joules is not None for row in rows) < 2:
        raise MeterError(f"{path} holds no log: a line of column names and at least two rows are needed")
    log = MeterLog(rows, absolute, columns.watts is not None, columns.energy is not None, columns.product)
    _check_order(path, log)
    return replace(log, rows=_apart(path, rows, settings))


def _read_rows(path: Path, settings: Mapping[str, str]) -> tuple[list[LogRow], bool, Columns]:
    """The rows as they are in the file, and whether their times count from 1970."""
    table = read_table(path, settings, lambda fields: has_time(fields, settings))
    try:
        chosen = select(table.header, [row for row in table.rows if any(cell.strip() for cell in row[1])], settings)
        chosen = join_units(table.header, chosen)
        fields = [row for _, row in chosen]
        columns = find_columns(table.header, fields, settings)
        measured = [row for row in fields if any(i < len(row) and is_number(row[i]) for i in columns.values)]
        refuse_several(table.header, measured, columns.used, settings)
        decimal = _decimal(fields, columns, settings.get("decimal"))
        keys = sum_columns(table.header, settings)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    return *_rows(path, chosen, columns, settings, decimal, len(table.header), keys), columns


def _decimal(table: Sequence[Sequence[str]], columns: Columns, given: str | None) -> str:
    """The decimal sign of all numbers. UsageError where they could be read in two ways."""
    every: list[str] = []
    for index in columns.values:
        cells = [split_unit(row[index])[0] for row in table if index < len(row) and is_number(row[index])]
        if given is None:
            refuse_thousands(cells)
        every += cells
    return decimal_sign(every, given)


def _rows(
    path: Path,
    table: Sequence[tuple[int, Sequence[str]]],
    columns: Columns,
    settings: Mapping[str, str],
    decimal: str,
    width: int,
    keys: Sequence[int],
) -> tuple[list[LogRow], bool]:
    zone = time_zone(settings["timezone"]) if "timezone" in settings else columns.zone
    written = TimeForm(columns.time_scale, settings.get("time-format"), zone, decimal)
    rows: list[LogRow] = []
    kinds = set()
    for i, row in table:
        if not rows and is_units(row, columns):
            continue
        try:
            if len(row) > width and any(cell.strip() for cell in row[width:]):
                raise ValueError("more fields than names")
            text = " ".join(row[t].strip() for t in columns.times)
            seconds, absolute = parse_time(text, written)
            seconds += _millis(row, columns)
            power, energy = _power(row, columns, decimal), _cell(row, columns.energy, decimal)
            raw = json.dumps([power, energy])
            watts, joules = row_values(raw)
        except (ValueError, IndexError) as error:
            said = " | ".join(cell.strip() for cell in row)[:60]
            hint = "; decimal commas need another separator of columns" if len(row) > width else ""
            hint = f": {error}" if isinstance(error, CellError) else hint
            raise MeterError(f"{path}, line {i} cannot be understood: {said}{hint}") from None
        kinds.add(absolute)
        rows.append(LogRow(seconds, watts, joules, raw, key_of(row, keys)))
    if len(kinds) > 1:
        raise MeterError(f"{path}: some of its times count from 1970 and some do not; say #time=NAME")
    return rows, kinds == {True}


def _millis(row: Sequence[str], columns: Columns) -> float:
    if columns.millis is None:
        return 0.0
    cell = row[columns.millis].strip() if columns.millis < len(row) else ""
    if not cell.isdecimal():
        raise CellError(f"{cell!r} is no number of milliseconds; write it, or take the line out")
    return int(cell) / 1000


def _power(row: Sequence[str], columns: Columns, decimal: str) -> Cell:
    power = _cell(row, columns.watts, decimal)
    if columns.factor is None:
        return power
    factor = _cell(row, columns.factor, decimal)
    return None if power is None or factor is None else {"times": [power, factor]}


def _cell(row: Sequence[str], column: Column | None, decimal: str) -> Cell:
    """A number without its unit, and what one of it is worth; None for a cell that says that there is no value."""
    if column is None or is_gap(row[column.index]):
        return None
    text = row[column.index]
    return plain_number(split_unit(text)[0], decimal), cell_scale(text, column)


def row_values(raw: str) -> tuple[float | None, float | None]:
    """Watts and joules of a row, from its cells and their factors. ValueError if a cell is no number."""
    power, energy = parse_json(raw)
    return _value(power), _value(energy)


def _value(cell: Any) -> float | None:
    """A cell is a number and what one of it is worth, a product, or a sum over several sensors."""
    if cell is None:
        return None
    if isinstance(cell, dict):
        values = [_value(part) or 0.0 for part in cell["times" if "times" in cell else "plus"]]
        return prod(values) if "times" in cell else fsum(values)
    return number(cell[0]) * float(cell[1])


def _quantum(cells: Sequence[Any]) -> float:
    """Returns the step of a counter from all of its cells. Cells of several units, as of a display that changes from Wh to kWh,
    have a step each, of which the largest counts."""
    if isinstance(cells[0], dict):
        return sum(_quantum(own) for own in zip(*(cell["plus"] for cell in cells), strict=True))
    texts: dict[float, list[str]] = {}
    for text, scale in cells:
        texts.setdefault(float(scale), []).append(text)
    return max(scale * last_place(own) for scale, own in texts.items())


def _of_each(rows: Sequence[LogRow]) -> list[list[LogRow]]:
    """The rows of each sensor."""
    found: dict[tuple[str, ...], list[LogRow]] = {}
    for row in rows:
        found.setdefault(row.key, []).append(row)
    return list(found.values())


def _added(rows: Sequence[LogRow]) -> list[LogRow]:
    """One row for each round of all sensors, at the mean of their times. A round that lacks one has no value: a gap."""
    every = {row.key for row in rows if row.watts is not None or row.joules is not None}
    usual = median([b.time_s - a.time_s for own in _of_each(rows) if own[0].key in every for a, b in pairwise(own)] or [0.0])
    reach = usual * (1 - 0.5 / max(len(every), 1))
    rounds: list[dict[tuple[str, ...], LogRow]] = []
    for row in sorted((r for r in rows if r.key in every), key=lambda r: r.time_s):
        latest = rounds[-1] if rounds else {}
        if not latest or row.key in latest or row.time_s - next(iter(latest.values())).time_s > reach:
            rounds.append({})
        rounds[-1][row.key] = row
    return [_sum_of([found[key] for key in sorted(found)], len(every)) for found in rounds]


def _sum_of(rows: Sequence[LogRow], wanted: int) -> LogRow:
    cells = list(zip(*(parse_json(row.raw) for row in rows), strict=True))
    power, energy = ({"plus": parts} if len(parts) == wanted and None not in parts else None for parts in cells)
    raw = json.dumps([power, energy])
    watts, joules = row_values(raw)
    return LogRow(fsum(row.time_s for row in rows) / len(rows), watts, joules, raw)


def _check_order(path: Path, log: MeterLog) -> None:
    counted: float | None = None
    for a, b in zip(log.rows, log.rows[1:], strict=False):
        if b.time_s < a.time_s:
            back = a.time_s - b.time_s
            raise MeterError(
                f"{path}: its times go back by {back:g} s after {a.time_s:.0f} s; a clock was set, or summer time ended: let the "
                "meter write UTC and say #timezone=UTC, or cut the log there; or another sensor follows: #where=COLUMN:VALUE"
            )
    for row in log.rows:
        if row.joules is not None and counted is not None and row.joules < counted:
            raise MeterError(
                f"{path}: its energy column goes down from {counted:.12g} J to {row.joules:.12g} J: it is no counter"
            )
        counted = row.joules if row.joules is not None else counted


def _apart(path: Path, rows: Sequence[LogRow], settings: Mapping[str, str]) -> list[LogRow]:
    """Rows of one time evenly between it and the next one; no farther apart than such rows usually are: a gap stays one."""
    groups = [list(same) for _, same in groupby(rows, key=lambda row: row.time_s)]
    if "same-time" not in settings:
        groups = [_measured(same) for same in groups]
    steps = [(b[0].time_s - a[0].time_s) / len(a) for a, b in pairwise(groups)]
    if not steps:
        raise MeterError(f"{path}: all of its {len(rows)} rows have one time; let the meter write the time of each")
    usual = median(steps)
    return [
        replace(row, time_s=row.time_s + k * min(step, usual))
        for same, step in zip(groups, [*steps, usual], strict=True)
        for k, row in enumerate(same)
    ]


def _refuse_same_times(path: Path, rows: Sequence[LogRow], settings: Mapping[str, str]) -> None:
    for own in _of_each(rows):
        times = groupby(own, key=lambda row: row.time_s)
        measured = [row.time_s for row in own if row.watts is not None] or [r.time_s for r in own if r.joules is not None]
        try:
            refuse_same_times([(time_s, len(_measured(list(same)))) for time_s, same in times], settings)
            refuse_rounds(measured, settings)
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from None


def _measured(same: list[LogRow]) -> list[LogRow]:
    """Rows of one time without those that say that there was no value just then."""
    return [row for row in same if row.watts is not None or row.joules is not None] or same[:1]


class CsvMeter(Meter):
    """Has nothing to read during a run; `collect` cuts the readings of a run out of the log."""

    deferred: ClassVar[bool] = True
    settings_known: ClassVar[Mapping[str, str]] = {
        "time": "column of the time",
        "watts": "column of the power; U*I or I*5V: volts times amperes, of direct current",
        "unit": "unit of the power where its column does not say it: W, mW, kW",
        "energy": "column of an energy counter",
        "energy-unit": "unit of the counter where its column does not say it: Wh, kWh, J, ...",
        "delimiter": "one character between columns, or tab, or blank (found by itself)",
        "decimal": "comma or point (found by itself)",
        "timezone": "of times that do not say it: UTC, +02:00, Europe/Berlin (that of this machine)",
        "time-format": "of the times, as of strptime: %d/%m/%Y %H:%M:%S",
        "offset": "seconds added to the log's times, or auto",
        "where": "COLUMN:VALUE of the rows that are meant, * for any value; A:x+B:y for both",
        "same-time": "spread: rows of one time are of one meter, which is faster than its clock",
        "sum": "column that tells several sensors apart, whose power is added up",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        if not spec.address:
            raise UsageError("csv: needs a file, e.g. csv:wt310.csv#time=Time,watts=P,unit=W")
        self._path = Path(spec.address)
        given = spec.settings  # what is wrong in them is said before the run, when there is no log yet
        unit(POWER_UNITS, given.get("unit", "W"))
        unit(ENERGY_UNITS, given.get("energy-unit", "Wh"))
        time_zone(given.get("timezone"))
        decimal_sign([], given.get("decimal"))
        delimiters_of(given)
        check_settings(given)
        if given.get("offset") != "auto":
            spec.number("offset", 0.0)

    def open(self) -> Capabilities:
        given = self.spec.settings
        period, counter, quantum_j = 1.0, "energy" in given, None
        notes: tuple[str, ...] = ("aligned afterwards",)
        power: PowerKind | None = PowerKind.INSTANT
        if self._path.exists() and (not self._path.is_file() or self._path.stat().st_size):
            log = read_log(self._path, given)
            period, counter, quantum_j = log.period_s or 1.0, log.counter, log.quantum_j
            power = PowerKind.INSTANT if log.power else None
            notes += ("its power is volts times amperes, which is true of direct current only",) if log.product else ()
        return Capabilities(
            title=f"log {self._path.name}",
            scope=Scope.UNKNOWN,
            period_s=period,
            power=power,
            counter=counter,
            quantum_j=quantum_j,
            notes=notes,
        )

    def read(self) -> Reading:
        raise MeterError("a log is read after the run")

    def collect(self, first_s: float, last_s: float, realtime_offset_s: float, load: Load | None) -> list[Reading]:
        """The readings between two moments of CLOCK_MONOTONIC. `realtime_offset_s` is CLOCK_REALTIME - CLOCK_MONOTONIC,
        `load` the recorded load of the machine."""
        log = read_log(self._path, self.spec.settings)
        shift = self._shift(log, realtime_offset_s, load)
        margin = 2 * log.period_s
        readings = []
        for row in log.rows:
            time = row.time_s + shift
            if first_s - margin <= time <= last_s + margin:
                readings.append(Reading(time, time, watts=row.watts, joules=row.joules, raw=row.raw))
        if not readings:
            raise MeterError(
                f"{self._path} has no rows for this run (yet); when it has, add them with: "
                f"ecosort-power attach DIR --meter {shlex.quote(self.spec.text)}{self._zone_hint(log, shift, first_s, last_s)}"
            )
        return readings

    def _zone_hint(self, log: MeterLog, shift: float, first_s: float, last_s: float) -> str:
        """Rows that would fit if they were whole quarters of an hour earlier or later are of another time zone."""
        if not log.absolute or self.spec.settings.get("offset") is not None:
            return ""
        middle = (first_s + last_s) / 2  # the meter may still be writing its last rows
        away, latest = (middle - (row.time_s + shift) for row in (log.rows[0], log.rows[-1]))
        for quarter in sorted(range(-56, 57), key=abs):
            if quarter and latest <= quarter * _QUARTER_S <= away:
                hours = quarter * _QUARTER_S / 3600
                way = "later" if hours > 0 else "earlier"
                return f"; they would fit if its times were {abs(hours):g} h {way}: another time zone? say #timezone=UTC or such"
        return ""

    def _shift(self, log: MeterLog, realtime_offset_s: float, load: Load | None) -> float:
        """From the log's clock to CLOCK_MONOTONIC."""
        from ecosort_power.align import fit  # numpy is loaded only where a log must be aligned

        clock = -realtime_offset_s if log.absolute else 0.0
        offset = self.spec.settings.get("offset")
        if offset != "auto":
            if offset is None and not log.absolute:
                raise UsageError(f"{self._path} has no real times; say #offset=auto, or the offset in seconds")
            return clock + self.spec.number("offset", 0.0)
        points = [(r.time_s + clock, r.watts) for r in log.rows if r.watts is not None]
        if load is None or not points:
            raise MeterError(f"{self._path} cannot be aligned: no load was recorded, or the log has no power")
        times, watts = [t for t, _ in points], [w for _, w in points]
        if log.absolute:
            lags = (-_CLOCKS_APART_S, _CLOCKS_APART_S)
        else:
            lags = (times[0] - float(load.times_s[-1]), times[-1] - float(load.times_s[0]))
        near = min(log.period_s, 1.0)
        return clock - fit(load, times, watts, lags, (near, near), resolution_s=0.01).lag_s

    def close(self) -> None:
        """Nothing is open between two calls."""
