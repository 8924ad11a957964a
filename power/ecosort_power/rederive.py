"""From what a meter sent back to its values: one pure function per kind of meter, the same that the meter itself reads with.

`check` follows the chain with it: raw answer -> watts and joules of the reading -> energy of the run -> summary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose

from ecosort_power.errors import PowerError
from ecosort_power.meters import meter_class
from ecosort_power.meters.base import MeterSpec, parse_spec
from ecosort_power.nesting import parse_json
from ecosort_power.reading import Capabilities, Flag, Reading, screen
from ecosort_power.store import MeterRecord

# Stored numbers are the shortest text of a double: only the order of two operations may differ.
TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Values:
    """Holds what one answer says. `interval_s` and `stamp` where the answer carries them."""

    watts: float | None = None
    joules: float | None = None
    interval_s: float | None = None
    stamp: str | None = None


# From a raw answer to its values; may keep state from one answer to the next.
Rule = Callable[[str], Values]


@dataclass(frozen=True, slots=True)
class Derivation:
    rule: Rule
    relative: bool = False  # its joules begin anywhere: only their differences mean something


def derivation(meter: MeterRecord) -> Derivation | None:
    """None for a kind of meter without a rule: its watts are believed as they are stored."""
    spec = parse_spec(meter.spec, meter.name)
    make = _RULES.get(spec.scheme)
    if make is not None:
        return make(spec, meter.capabilities)
    try:
        kind = meter_class(spec.scheme)  # of another package
    except PowerError:
        return None
    own = getattr(kind, "derive", None)
    return Derivation(lambda raw: _values(own(raw, spec))) if own is not None else None


def _values(reading: Reading) -> Values:
    return Values(reading.watts, reading.joules, reading.interval_s, reading.stamp)


def _exec(spec: MeterSpec, capabilities: Capabilities) -> Derivation:
    from ecosort_power.meters.exec import parse_line, to_reading

    return Derivation(lambda raw: _values(to_reading(parse_line(raw), 0.0, 0.0, 0.0)))


def _redfish(spec: MeterSpec, capabilities: Capabilities) -> Derivation:
    from ecosort_power.meters.redfish import watts_of

    return Derivation(lambda raw: Values(watts=watts_of(parse_json(raw))))


def _ipmi(spec: MeterSpec, capabilities: Capabilities) -> Derivation:
    from ecosort_power.meters.ipmi import parse_dcmi, parse_sensors

    def rule(raw: str) -> Values:
        if "|" in raw:
            return Values(watts=sum(parse_sensors(raw.split("\n")).values()))
        answer = parse_dcmi(raw.split("\n"))
        return Values(watts=float(answer.watts), stamp=str(answer.stamp))

    return Derivation(rule)


def _scpi(spec: MeterSpec, capabilities: Capabilities) -> Derivation:
    from ecosort_power.meters.scpi import PROFILES

    profile = PROFILES[spec.settings["profile"]](spec)
    return Derivation(lambda raw: _values(profile.parse(raw, 0.0, 0.0)))


def _rapl(spec: MeterSpec, capabilities: Capabilities) -> Derivation:
    from ecosort_power.meters.rapl import Total

    total: Total | None = None

    def rule(raw: str) -> Values:
        nonlocal total
        counts = [int(c) for c in raw.split()]
        if total is None:
            total = Total([int(w) for w in capabilities.identity["wraps_uj"].split()], counts)
        return Values(joules=total.add(counts) / 1e6)

    return Derivation(rule, relative=True)


def _hwmon(spec: MeterSpec, capabilities: Capabilities) -> Derivation:
    from ecosort_power.meters.hwmon import values_of

    return Derivation(lambda raw: Values(*values_of(raw, capabilities.counter)))  # the address may leave the channel out


def _csv(spec: MeterSpec, capabilities: Capabilities) -> Derivation:
    from ecosort_power.meters.csv import row_values

    return Derivation(lambda raw: Values(*row_values(raw)))


_RULES: Mapping[str, Callable[[MeterSpec, Capabilities], Derivation]] = {
    "exec": _exec,
    "redfish": _redfish,
    "ipmi": _ipmi,
    "scpi": _scpi,
    "rapl": _rapl,
    "hwmon": _hwmon,
    "csv": _csv,
}


def differences(meter: MeterRecord, readings: Sequence[Reading]) -> Iterator[str]:
    """Readings whose values are not those of their raw answer. Answers that failed carry none, and their values neither."""
    found = derivation(meter)
    if found is None:
        return
    base: float | None = None
    for number, reading in enumerate(readings, 1):
        if Flag.ERROR in reading.flags:
            if reading.watts is not None or reading.joules is not None:
                yield f"line {number} has values although the meter did not answer"
            continue
        if reading.raw is None:
            yield f"line {number} has no raw answer of the meter"
            continue
        try:
            values = found.rule(reading.raw)
        except (PowerError, ValueError, KeyError, TypeError, IndexError) as error:
            yield f"line {number}: its raw answer {reading.raw[:60]!r} cannot be understood: {error}"
            continue
        if found.relative and base is None and reading.joules is not None and values.joules is not None:
            base = reading.joules - values.joules
        yield from _compare(number, reading, values, base or 0.0, meter.capabilities)


def _compare(number: int, stored: Reading, values: Values, base: float, capabilities: Capabilities) -> Iterator[str]:
    joules = None if values.joules is None else values.joules + base
    fresh = screen(Reading(stored.before_s, stored.after_s, watts=values.watts, joules=joules), capabilities)
    pairs = (
        ("W", stored.watts, fresh.watts),
        ("J", stored.joules, fresh.joules),
        ("s", stored.interval_s, values.interval_s),
    )
    missing = set(fresh.flags) - set(stored.flags)
    if missing:
        yield f"line {number} does not say {min(missing)}, its raw answer {(stored.raw or '')[:60]!r} does"
        return
    for unit, old, new in pairs:
        if not _same(old, new):
            yield f"line {number} holds {old} {unit}, its raw answer {(stored.raw or '')[:60]!r} gives {new}"
            return


def _same(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-9)
