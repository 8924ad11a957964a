"""A meter's own log as a CSV file, read after each run, or attached to a stored result later.

`csv:FILE[#time=COLUMN,watts=COLUMN,energy=COLUMN,energy-unit=Wh,delimiter=;,offset=SECONDS|auto]`. Columns are found by their
names where they are not given. Times are seconds or milliseconds since 1970, ISO 8601 (local unless they say otherwise), or
seconds since any moment; the last need `offset=auto`. `offset` is added to the log's times; `auto` finds it from the
load of the machine, which the harness records during every run.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, ClassVar

from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.meters.units import ENERGY_UNITS, unit
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope

if TYPE_CHECKING:
    from ecosort_power.align import Load

_EPOCH_S = 1e9  # larger numbers are seconds since 1970
_EPOCH_MS = 1e12
_CLOCKS_APART_S = 120.0  # how far an automatic alignment looks when the log has real times


@dataclass(frozen=True, slots=True)
class LogRow:
    time_s: float  # since 1970, or since the log's own start
    watts: float | None
    joules: float | None


@dataclass(frozen=True, slots=True)
class MeterLog:
    rows: list[LogRow]
    absolute: bool

    @property
    def period_s(self) -> float:
        return median(b.time_s - a.time_s for a, b in zip(self.rows, self.rows[1:], strict=False))


def parse_time(text: str) -> tuple[float, bool]:
    """Seconds, and whether they count from 1970."""
    try:
        number = float(text)
    except ValueError:
        return datetime.fromisoformat(text.strip()).timestamp(), True
    if number >= _EPOCH_MS:
        return number / 1000, True
    return number, number >= _EPOCH_S


def _column(header: Sequence[str], wanted: str | None, pattern: str) -> int | None:
    if wanted is not None:
        names = [h.strip() for h in header]
        if wanted not in names:
            raise UsageError(f"the log has no column {wanted!r}; it has: {', '.join(names)}")
        return names.index(wanted)
    return next((i for i, h in enumerate(header) if re.search(pattern, h, re.IGNORECASE)), None)


def read_log(path: Path, settings: Mapping[str, str]) -> MeterLog:
    """MeterError names the line that cannot be understood."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as f:
            lines = [row for row in csv.reader(f, delimiter=settings.get("delimiter", ",")) if row]
    except OSError as error:
        raise MeterError(f"{path} cannot be read: {error.strerror}") from error
    if len(lines) < 3:
        raise MeterError(f"{path} holds no log: a line of column names and at least two rows are needed")
    header = lines[0]
    time = _column(header, settings.get("time"), r"time|date|stamp|elapsed")
    watts = _column(header, settings.get("watts"), r"power|watt|\bP\b|\(W\)|\[W\]")
    energy = _column(header, settings["energy"], "") if "energy" in settings else None
    if time is None or (watts is None and energy is None):
        raise UsageError(f"{path}: say which columns hold time and power, e.g. #time=Time,watts=P; it has: {', '.join(header)}")
    scale = unit(ENERGY_UNITS, settings.get("energy-unit", "Wh"))
    rows, absolute = [], True
    for number, row in enumerate(lines[1:], 2):
        try:
            seconds, absolute = parse_time(row[time])
            power = float(row[watts]) if watts is not None and row[watts].strip() else None
            joules = float(row[energy]) * scale if energy is not None and row[energy].strip() else None
        except (ValueError, IndexError):
            raise MeterError(f"{path}, line {number} cannot be understood: {','.join(row)[:60]}") from None
        rows.append(LogRow(seconds, power, joules))
    return MeterLog(sorted(rows, key=lambda r: r.time_s), absolute)


class CsvMeter(Meter):
    """Has nothing to read during a run; `collect` cuts the readings of a run out of the log."""

    deferred: ClassVar[bool] = True
    settings_known: ClassVar[Mapping[str, str]] = {
        "time": "column of the time",
        "watts": "column of the power",
        "energy": "column of an energy counter",
        "energy-unit": "unit of the counter",
        "delimiter": "between columns; default ,",
        "offset": "seconds added to the log's times, or auto",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        if not spec.address:
            raise UsageError("csv: needs a file, e.g. csv:wt310.csv#time=Time,watts=P")
        self._path = Path(spec.address)

    def open(self) -> Capabilities:
        given = self.spec.settings
        period = 1.0
        if self._path.exists() and self._path.stat().st_size:
            period = read_log(self._path, given).period_s or 1.0
        return Capabilities(
            title=f"log {self._path.name}",
            scope=Scope.UNKNOWN,
            period_s=period,
            power=PowerKind.INSTANT,
            counter="energy" in given,
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
                readings.append(Reading(time, time, watts=row.watts, joules=row.joules))
        if not readings:
            raise MeterError(
                f"{self._path} has no rows for this run yet; when it has, add them with: "
                f"ecosort-power attach DIR --meter '{self.spec.text}'"
            )
        return readings

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
