"""Watts and joules derived again from what the meters sent. That all meters can be is seen in their own tests: rederived.py."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from ecosort_power.meters import schemes
from ecosort_power.raw import MAX_BYTES, keep
from ecosort_power.reading import Capabilities, Flag, Reading, Scope, screen
from ecosort_power.rederive import derivation, differences
from ecosort_power.store import MeterRecord
from ecosort_power.transports.http import pick

from .rederived import WITHOUT_RULE

PLAIN = Capabilities(title="m", scope=Scope.WALL, period_s=1.0)
COUNTER = replace(PLAIN, power=None, counter=True)


def readings(*pairs: tuple[str, dict[str, Any]]) -> list[Reading]:
    return [Reading(float(i), float(i), raw=raw, **values) for i, (raw, values) in enumerate(pairs)]


DCMI = " dc 2f 01 00 00 00 00 00 00 80 43 6d 69 e8 03 00 00 \n 40"
# Each kind of meter sends this, with the values that are in it.
ANSWERS: dict[str, tuple[str, Capabilities, list[Reading]]] = {
    "exec": ("exec:m", PLAIN, readings(('{"watts": 41.7, "interval_s": 0.5}', {"watts": 41.7, "interval_s": 0.5}))),
    "ipmi dcmi": ("ipmi:local", PLAIN, readings((DCMI, {"watts": 303.0, "stamp": "1768768384"}))),
    "ipmi sensors": ("ipmi:local", PLAIN, readings(("PS1 In | 120\nPS2 In | 124.5", {"watts": 244.5}))),
    "lmg95": ("scpi:x#profile=lmg95", PLAIN, readings(("17,0.5,173.42", {"watts": 173.42, "interval_s": 0.5}))),
    "wt310": ("scpi:x#profile=wt310", replace(PLAIN, counter=True), readings(("43.5,0.1,9", {"watts": 43.5, "joules": 360.0}))),
    "prometheus": ("prometheus://h#value=a_watts", PLAIN, readings(('a_watts{x="y"} 41.5', {"watts": 41.5}))),
    "snmp": ("snmp://h#preset=apc-rpdu2", PLAIN, readings(("21", {"watts": 210.0}))),
    "hwmon": ("hwmon:x", PLAIN, readings(("87500000", {"watts": 87.5}))),
    "hwmon energy, the only channel": ("hwmon:x", COUNTER, readings(("7000000", {"joules": 7.0}))),
    "hwmon energy": ("hwmon:x/energy1", COUNTER, readings(("7000000", {"joules": 7.0}))),
    "rapl": (
        "rapl:",
        replace(COUNTER, identity={"wraps_uj": "1000000 5000000"}),
        readings(("900000 0", {"joules": 3.0}), ("100000 0", {"joules": 3.2}), ("100000 4000000", {"joules": 7.2})),
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_values_of_an_answer(name: str) -> None:
    spec, capabilities, sent = ANSWERS[name]
    assert list(differences(MeterRecord("m", spec, capabilities), sent)) == []


@pytest.mark.parametrize("name", ANSWERS)
def test_values_that_the_answer_does_not_give_are_found(name: str) -> None:
    spec, capabilities, sent = ANSWERS[name]
    last = sent[-1]
    changes: list[dict[str, Any]] = [{"raw": None}, {"raw": "no answer of any meter"}]
    changes += [{"watts": last.watts * 0.999}] if last.watts is not None else []
    changes += [{"joules": last.joules * 0.999}] if last.joules is not None and len(sent) > 1 else []
    changes += [{"interval_s": 0.4}] if last.interval_s is not None else []
    for change in changes:
        found = list(differences(MeterRecord("m", spec, capabilities), [*sent[:-1], replace(last, **change)]))
        assert len(found) == 1, change
        assert found[0].startswith(f"line {len(sent)}")


def test_flags_come_from_the_answer_as_well() -> None:
    record = MeterRecord("m", "exec:m", replace(PLAIN, range_w=100.0))
    (saturated, nan) = (
        screen(Reading(0, 0, watts=w, raw=json.dumps({"watts": w})), record.capabilities) for w in (120.0, float("nan"))
    )
    assert Flag.SATURATED in saturated.flags
    assert list(differences(record, [saturated, nan])) == []
    assert len(list(differences(record, [replace(saturated, flags=())]))) == 1
    assert len(list(differences(record, [replace(nan, watts=30.0)]))) == 1
    failed = Reading(0, 0, flags=(Flag.ERROR,), raw="did not answer")
    assert list(differences(record, [failed])) == []
    assert len(list(differences(record, [replace(failed, watts=30.0)]))) == 1


def test_every_kind_of_meter_has_a_rule() -> None:
    settings = {
        "http": "value=a,unit=W",
        "https": "value=a,unit=W",
        "scpi": "profile=generic",
        "prometheus": "value=a_watts",
        "modbus": "preset=sdm120",
    }
    for scheme in set(schemes()) - WITHOUT_RULE:
        record = MeterRecord("m", f"{scheme}:" + (f"#{settings[scheme]}" if scheme in settings else ""), PLAIN)
        assert derivation(record) is not None, scheme


@pytest.mark.parametrize("path", ["PowerControl[1].PowerConsumedWatts", "a.b.c", "list[2]"])
def test_a_long_answer_keeps_what_its_values_are_taken_from(path: str) -> None:
    document = {
        "PowerControl": [{"PowerConsumedWatts": 1}, {"PowerConsumedWatts": 344, "Name": "x"}],
        "a": {"b": {"c": 7.5, "d": 8}},
        "list": [0, 1, 2.25],
        "long": "x" * MAX_BYTES,
    }
    kept = json.loads(keep(document, [path, "a.b.c"]))
    assert len(json.dumps(kept)) < 400
    assert kept["cut"]["bytes"] > MAX_BYTES
    assert pick(kept, path, "here") == pick(document, path, "here")
    assert keep({"a": 1}, ["a"]) == '{"a":1}'
