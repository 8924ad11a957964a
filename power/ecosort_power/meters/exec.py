"""A program of the user's as a meter: it prints one JSON object per line, whenever it has a new value.

    {"watts": 41.7}                                    power at the moment of the line
    {"watts": 41.7, "interval_s": 0.5}                 mean power over the 0.5 s before
    {"joules": 1234.5}                                 an energy counter
    {"watts": 41.7, "monotonic_s": 123.456}            with its own time (or "realtime_s", seconds since 1970)

A first line {"meter": {"title": ..., "scope": "wall", "period_s": 1, "accuracy": "1%", ...}} may say what the meter is;
settings of the specification override it; "simulated": true says that its values are made up. Address: the command, split like
a shell does, without a shell.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping
from math import isfinite
from typing import Any, ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.nesting import parse_json
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope, parse_accuracy
from ecosort_power.transports.process import LineChild


def parse_line(line: str) -> dict[str, Any]:
    try:
        value = parse_json(line)
    except ValueError:
        raise MeterGlitchError(f"printed no JSON: {line[:60]!r}") from None
    if not isinstance(value, dict):
        raise MeterGlitchError(f"printed no JSON object: {line[:60]!r}")
    return value


def _number(value: dict[str, Any], key: str) -> float | None:
    found = value.get(key)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise MeterGlitchError(f"printed {key} = {str(found)[:40]!r}, no number")
    try:
        return float(found)
    except OverflowError:
        raise MeterGlitchError(f"printed a {key} that is too large to be true") from None


def _seconds(value: dict[str, Any], key: str) -> float | None:
    """A time or an interval: what is not finite would hide the readings around it."""
    found = _number(value, key)
    if found is not None and not isfinite(found):
        raise MeterGlitchError(f"printed {key} = {found}, no time")
    return found


def _interval(value: dict[str, Any]) -> float | None:
    found = _seconds(value, "interval_s")
    if found is not None and found <= 0:
        raise MeterGlitchError(f"printed interval_s = {found:g}, no interval that a mean could be over")
    return found


def _identity(header: dict[str, Any]) -> dict[str, str]:
    found = header.get("identity", {})
    if not isinstance(found, dict):
        raise MeterGlitchError("printed an identity that is no object")
    return {str(k): str(v) for k, v in found.items()}


def _simulated(header: dict[str, Any]) -> bool:
    """Says whether it is simulated: what is neither true nor false must not pass for a measurement."""
    said = header.get("simulated", False)
    if not isinstance(said, bool):
        raise MeterGlitchError(f"printed simulated = {str(said)[:40]!r}, neither true nor false")
    return said


def to_reading(
    value: dict[str, Any], before_s: float, arrival_s: float, realtime_offset_s: float, raw: str | None = None
) -> Reading:
    """`realtime_offset_s` is CLOCK_REALTIME - CLOCK_MONOTONIC; `raw` is the line that the value was read from."""
    watts, joules = _number(value, "watts"), _number(value, "joules")
    if watts is None and joules is None:
        raise MeterGlitchError("printed an object with neither watts nor joules")
    own, real = _seconds(value, "monotonic_s"), _seconds(value, "realtime_s")
    if own is None and real is not None:
        own = real - realtime_offset_s
    stamp = value.get("stamp")
    return Reading(
        before_s=arrival_s if own is None else own,
        after_s=arrival_s if own is None else own,
        watts=watts,
        joules=joules,
        interval_s=_interval(value),
        stamp=None if stamp is None else str(stamp),
        raw=raw,
    )


def capabilities_from(header: dict[str, Any], first: dict[str, Any], title: str) -> Capabilities:
    def text(key: str, default: str) -> str:
        return str(header.get(key, default))

    accuracy = header.get("accuracy")
    averaged = "interval_s" in first
    lag = _number(header, "lag_s")
    return Capabilities(
        title=text("title", title),
        scope=Scope(text("scope", "unknown")),
        period_s=_number(header, "period_s") or _number(first, "interval_s") or 1.0,
        power=PowerKind(text("power", "average" if averaged else "instant")) if "watts" in first else None,
        counter="joules" in first,
        update_s=_number(header, "update_s"),
        update_given="update_s" in header,  # the program is the user's
        lag_s=lag,
        window_s=_number(header, "window_s"),
        timing_source="instrument" if lag is not None else "unknown",
        accuracy=None if accuracy is None else parse_accuracy(str(accuracy)),
        quantum_w=_number(header, "quantum_w"),
        quantum_j=_number(header, "quantum_j"),
        range_w=_number(header, "range_w"),
        wrap_j=_number(header, "wrap_j"),
        identity=_identity(header),
        simulated=_simulated(header),
    )


class ExecMeter(Meter):
    """Runs the command once; its lines are the readings. Its standard error is shown when it fails."""

    paced: ClassVar[bool] = False
    settings_known: ClassVar[Mapping[str, str]] = {}

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._words = shlex.split(spec.address)
        if not self._words:
            raise UsageError("exec: needs a command, e.g. exec:./my-meter --fast")
        self._child: LineChild | None = None
        self._first: str | None = None
        self._timeout_s = spec.number("timeout", 10.0)

    def open(self) -> Capabilities:
        self._child = LineChild(self._words)
        try:
            line = self._child.read_line(self._timeout_s)
            header = parse_line(line).get("meter")
            if isinstance(header, dict):
                line = self._child.read_line(self._timeout_s)
            value, self._first = parse_line(line), line
            found = capabilities_from(header if isinstance(header, dict) else {}, value, f"program {self._child.name}")
            self._timeout_s = self.spec.number("timeout", max(10.0, 10 * found.period_s))
            return found
        except (MeterError, ValueError) as error:
            self.close()
            raise MeterError(f"the meter program {self._words[0]}: {error}") from error

    def read(self) -> Reading:
        if self._child is None:
            raise MeterError("the meter program is not running")
        before = time.monotonic()
        line, self._first = self._first, None
        if line is None:
            line = self._child.read_line(self._timeout_s)
        return to_reading(parse_line(line), before, time.monotonic(), time.time() - time.monotonic(), line.strip())

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None

    def pids(self) -> list[int]:
        return [self._child.pid] if self._child is not None else []
