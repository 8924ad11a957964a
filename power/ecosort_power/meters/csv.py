"""A meter's own log as a CSV file, read after each run, or attached to a stored result later.

`csv:FILE[#watts=COLUMN,unit=W,time=COLUMN,energy=COLUMN,energy-unit=Wh,offset=SECONDS|auto]`. Columns are found by the units in
their names or cells: W, kW, mW; Wh, kWh, J for a counter. What says no unit is taken only with `#unit=`, which is enough where
there is one such column; VA, var, volts, amperes, power factors and the times never.
Commas, semicolons and tabs separate; decimal commas are understood. Times are seconds or milliseconds since 1970, or ISO 8601
(local unless they or `#timezone=` say otherwise), or seconds since any moment; the last need `offset=auto`. Rows of one time, of
a clock that is coarser than the log, lie evenly between that time and the next one. A last line without its end is still being
written, and left out. `offset` is added to the log's times; `auto` finds it from the load of the machine, which the harness
records during every run.
"""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, ClassVar

from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.meters.log_columns import Column, Columns, cell_scale, find_columns, has_time, is_units
from ecosort_power.meters.log_values import (
    CellError,
    TimeForm,
    decimal_sign,
    is_number,
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
_DELIMITERS = (",", ";", "\t", "|")
_PREAMBLE_LINES = 50  # what some instruments write above the names of the columns


@dataclass(frozen=True, slots=True)
class LogRow:
    time_s: float  # since 1970, or since the log's own start
    watts: float | None
    joules: float | None
    raw: str  # its cells of power and energy, each with its factor: see row_values


@dataclass(frozen=True, slots=True)
class MeterLog:
    rows: list[LogRow]
    absolute: bool
    power: bool
    counter: bool

    @property
    def quantum_j(self) -> float | None:
        """What one in the last place of the counter is worth."""
        cells = [parse_json(r.raw)[1] for r in self.rows if r.joules is not None]
        return max((scale * 10.0 ** -len(text.partition(".")[2]) for text, scale in cells), default=None)

    @property
    def period_s(self) -> float:
        steps = [b.time_s - a.time_s for a, b in zip(self.rows, self.rows[1:], strict=False) if b.time_s > a.time_s]
        return median(steps) if steps else 0.0


def _read_lines(path: Path) -> list[str]:
    try:
        if path.exists() and not path.is_file():
            raise MeterError(f"{path} is no regular file, which a log must be")
        data = path.read_bytes()
    except OSError as error:
        raise MeterError(f"{path} cannot be read: {error.strerror}") from error
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = data.decode("utf-16" if wide else "utf-8-sig", errors="replace").replace("\x00", "")
    lines = text.splitlines()
    if text and not text.endswith(("\n", "\r")):
        lines.pop()  # 41.7 may be no more than 4 yet
    return ["" if line.isspace() or line.startswith("#") else line for line in lines]


def _split(path: Path, lines: Sequence[str], delimiter: str) -> list[list[str]]:
    try:
        return list(csv.reader(lines, delimiter=delimiter))
    except csv.Error as error:
        raise MeterError(f"{path} is no CSV file: {error}") from None


def _delimiters(given: Mapping[str, str]) -> tuple[str, ...]:
    wanted = given.get("delimiter")
    delimiters = _DELIMITERS if wanted is None else ({"tab": "\t", "comma": ","}.get(wanted, wanted),)
    if any(len(d) != 1 or d in '\r\n" ' for d in delimiters):
        raise UsageError("csv: delimiter is one character, or tab or comma")
    return delimiters


def _find_header(path: Path, lines: Sequence[str], given: Mapping[str, str]) -> tuple[int, str]:
    """Line of the names of the columns, and what separates them."""
    delimiters = _delimiters(given)
    for i, line in enumerate(lines[:_PREAMBLE_LINES]):
        if not line:
            continue
        fields, delimiter = max(((_split(path, [line], d)[0], d) for d in delimiters), key=lambda found: len(found[0]))
        if len(fields) > 1 and has_time(fields, given):
            return i, delimiter
    first = next(i for i, line in enumerate(lines) if line)
    return first, max(delimiters, key=lines[first].count)


def _cells(rows: Sequence[Sequence[str]], index: int | None) -> list[str]:
    return [] if index is None else [r[index] for r in rows if index < len(r)]


def read_log(path: Path, settings: Mapping[str, str]) -> MeterLog:
    """MeterError names the line that cannot be understood; UsageError the setting that is missing."""
    lines = _read_lines(path)
    if sum(map(bool, lines)) < 3:
        raise MeterError(f"{path} holds no log: a line of column names and at least two rows are needed")
    first, delimiter = _find_header(path, lines, settings)
    header, *table = _split(path, lines[first:], delimiter)
    try:
        columns = find_columns(header, list(filter(None, table))[:2], settings)
        decimal = _decimal(table, columns, settings.get("decimal"))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    rows, absolute = _rows(path, table, columns, settings, decimal, len(header), first + 2)
    if len(rows) < 2:
        raise MeterError(f"{path} holds no log: a line of column names and at least two rows are needed")
    log = MeterLog(rows, absolute, columns.watts is not None, columns.energy is not None)
    _check_order(path, log)
    return replace(log, rows=_apart(path, rows))


def _decimal(table: Sequence[Sequence[str]], columns: Columns, given: str | None) -> str:
    """The decimal sign of all numbers. UsageError where they could be read in two ways."""
    every: list[str] = []
    for column in (columns.watts, columns.energy):
        cells = [split_unit(v)[0] for v in _cells(table, column.index if column is not None else None) if is_number(v)]
        if given is None:
            refuse_thousands(cells)
        every += cells
    return decimal_sign(every, given)


def _rows(
    path: Path,
    table: Sequence[Sequence[str]],
    columns: Columns,
    settings: Mapping[str, str],
    decimal: str,
    width: int,
    line: int,
) -> tuple[list[LogRow], bool]:
    written = TimeForm(columns.time_scale, settings.get("time-format"), time_zone(settings.get("timezone")), decimal)
    rows: list[LogRow] = []
    kinds = set()
    for i, row in enumerate(table, line):
        if not any(cell.strip() for cell in row) or (not rows and is_units(row, columns)):
            continue
        try:
            if len(row) > width and any(cell.strip() for cell in row[width:]):
                raise ValueError("more fields than names")
            text = " ".join(row[t].strip() for t in columns.times)
            seconds, absolute = parse_time(text, written)
            raw = json.dumps([_cell("watts", row, columns.watts, decimal), _cell("energy", row, columns.energy, decimal)])
            watts, joules = row_values(raw)
        except (ValueError, IndexError) as error:
            said = " | ".join(cell.strip() for cell in row)[:60]
            hint = "; decimal commas need another separator of columns" if len(row) > width else ""
            hint = f": {error}" if isinstance(error, CellError) else hint
            raise MeterError(f"{path}, line {i} cannot be understood: {said}{hint}") from None
        kinds.add(absolute)
        rows.append(LogRow(seconds, watts, joules, raw))
    if len(kinds) > 1:
        raise MeterError(f"{path}: some of its times count from 1970 and some do not; say #time=NAME")
    return rows, kinds == {True}


def _cell(quantity: str, row: Sequence[str], column: Column | None, decimal: str) -> tuple[str, float] | None:
    """A number without its unit, and what one of it is worth; None for an empty cell."""
    if column is None or not row[column.index].strip():
        return None
    text = row[column.index]
    return plain_number(split_unit(text)[0], decimal), cell_scale(quantity, text, column.scale)


def row_values(raw: str) -> tuple[float | None, float | None]:
    """Watts and joules of a row, from its cells and their factors. ValueError if a cell is no number."""
    power, energy = parse_json(raw)
    return number(power[0]) * power[1] if power else None, number(energy[0]) * energy[1] if energy else None


def _check_order(path: Path, log: MeterLog) -> None:
    counted: float | None = None
    for a, b in zip(log.rows, log.rows[1:], strict=False):
        if b.time_s < a.time_s:
            back = a.time_s - b.time_s
            raise MeterError(
                f"{path}: its times go back by {back:g} s after {a.time_s:.0f} s; a clock was set, or summer time ended: let the "
                "meter write UTC and say #timezone=UTC, or cut the log there"
            )
    for row in log.rows:
        if row.joules is not None and counted is not None and row.joules < counted:
            raise MeterError(
                f"{path}: its energy column goes down from {counted:.12g} J to {row.joules:.12g} J: it is no counter"
            )
        counted = row.joules if row.joules is not None else counted


def _apart(path: Path, rows: Sequence[LogRow]) -> list[LogRow]:
    """Rows of one time evenly between it and the next one; no farther apart than such rows usually are: a gap stays one."""
    groups = [list(same) for _, same in groupby(rows, key=lambda row: row.time_s)]
    steps = [(b[0].time_s - a[0].time_s) / len(a) for a, b in pairwise(groups)]
    if not steps:
        raise MeterError(f"{path}: all of its {len(rows)} rows have one time; let the meter write the time of each")
    usual = median(steps)
    return [
        replace(row, time_s=row.time_s + k * min(step, usual))
        for same, step in zip(groups, [*steps, usual], strict=True)
        for k, row in enumerate(same)
    ]


class CsvMeter(Meter):
    """Has nothing to read during a run; `collect` cuts the readings of a run out of the log."""

    deferred: ClassVar[bool] = True
    settings_known: ClassVar[Mapping[str, str]] = {
        "time": "column of the time",
        "watts": "column of the power",
        "unit": "unit of the power where its column does not say it: W, mW, kW",
        "energy": "column of an energy counter",
        "energy-unit": "unit of the counter where its column does not say it: Wh, kWh, J, ...",
        "delimiter": "one character between columns, or tab (found by itself)",
        "decimal": "comma or point (found by itself)",
        "timezone": "of times that do not say it: UTC, +02:00, Europe/Berlin (that of this machine)",
        "time-format": "of the times, as of strptime: %d/%m/%Y %H:%M:%S",
        "offset": "seconds added to the log's times, or auto",
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
        _delimiters(given)
        if given.get("offset") != "auto":
            spec.number("offset", 0.0)

    def open(self) -> Capabilities:
        given = self.spec.settings
        period, counter, quantum_j = 1.0, "energy" in given, None
        power: PowerKind | None = PowerKind.INSTANT
        if self._path.exists() and (not self._path.is_file() or self._path.stat().st_size):
            log = read_log(self._path, given)
            period, counter, quantum_j = log.period_s or 1.0, log.counter, log.quantum_j
            power = PowerKind.INSTANT if log.power else None
        return Capabilities(
            title=f"log {self._path.name}",
            scope=Scope.UNKNOWN,
            period_s=period,
            power=power,
            counter=counter,
            quantum_j=quantum_j,
            notes=("aligned afterwards",),
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
