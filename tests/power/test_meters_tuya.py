"""Tuya plugs by the real tinytuya, against a plug that speaks each version of the protocol."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import parse_spec
from ecosort_power.reading import Scope

from .peers.tuya_plug import KEY, Plug, serve
from .support import free_port, opened

pytest.importorskip("tinytuya")


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECOSORT_METER_PASSWORD", KEY)


@pytest.mark.parametrize("version", ["3.3", "3.4", "3.5"])
def test_every_version_of_the_protocol_is_read(version: str) -> None:
    """A message that the plug sends unasked comes first, holds only what changed, and is not taken for the answer."""
    plug = Plug(version=version)
    with serve(plug), opened(f"{plug.spec}#version={version}") as (meter, found):
        assert (found.scope, found.counter, found.quantum_w) == (Scope.WALL, False, 0.1)
        assert meter.read().watts == pytest.approx(41.2)
        plug.measured = {"18": 310, "19": 607}
        reading = meter.read()
        assert reading.watts == pytest.approx(60.7)
        assert type(meter).derive(reading.raw or "", meter.spec).watts == reading.watts
        assert '"20"' in (reading.raw or "")
        plug.measured = {}
        assert [meter.read().watts for _ in range(3)] == pytest.approx([60.7] * 3)
    assert plug.updates == [[4, 5, 6, 18, 19, 20]] * 6
    assert plug.connections == 1


def test_the_library_leaves_standard_output_as_it_is() -> None:
    """When it is imported it puts a filter before it, which takes colours away from everything that is printed later."""
    before = sys.stdout
    plug = Plug()
    with serve(plug), opened(plug.spec):
        pass
    assert sys.stdout is before


@pytest.mark.parametrize(
    ("points", "settings", "watts"),
    [
        ({"1": True, "4": 210, "5": 412, "6": 2301}, "", 41.2),
        ({"19": 4120, "18": 210, "20": 2301}, "#scale=0.01", 41.2),
        ({"19": 41, "18": 210, "20": 2301}, "#scale=1", 41.0),
        ({"19": 412}, "#dp=19", 41.2),
        ({"101": 412, "19": 7, "18": 1, "20": 2}, "#dp=101,scale=0.1", 41.2),
        ({"19": 12, "18": 0, "20": 2301}, "", 1.2),  # too little for it to see a current
    ],
)
def test_data_points(points: dict[str, Any], settings: str, watts: float) -> None:
    plug = Plug(points=points)
    with serve(plug), opened(plug.spec + settings) as (meter, _):
        assert meter.read().watts == pytest.approx(watts)


@pytest.mark.parametrize(
    ("points", "settings", "said"),
    [
        ({"19": 4120, "18": 210, "20": 2301}, "", r"412 W is no power .* 48.32 VA .* #scale=0.01"),
        ({"19": 41, "18": 210, "20": 2301}, "", r"4.1 W is no power .* 48.32 VA .* #scale=1"),
        ({"1": True, "19": 412}, "", r"which data point is its power\? It has 1: True, 19: 412; say it: #dp=19"),
        ({"4": 1, "5": 2, "6": 3, "18": 4, "19": 5, "20": 6}, "", "which data point"),
        ({}, "", "which data point is its power"),
        ({"19": True, "18": 1}, "#dp=19", "data point 19 has no value"),
    ],
)
def test_what_does_not_say_its_power_is_asked_about(points: dict[str, Any], settings: str, said: str) -> None:
    plug = Plug(points=points)
    with serve(plug), pytest.raises(MeterError, match=said):
        make_meter(parse_spec(plug.spec + settings)).open()


@pytest.mark.parametrize("version", ["3.3", "3.4", "3.5"])
def test_a_damaged_message_is_no_reading(version: str) -> None:
    """tinytuya decodes a message of 3.3 and 3.4 although its check does not hold."""
    plug = Plug(version=version)
    with serve(plug), opened(f"{plug.spec}#version={version},timeout=0.3") as (meter, _):
        plug.damaged = True
        with pytest.raises(MeterGlitchError, match="cannot be read" if version == "3.5" else "check of a message does not hold"):
            meter.read()
        plug.damaged = False
        assert meter.read().watts == pytest.approx(41.2)


def test_an_answer_that_comes_late_is_not_that_of_the_next_question() -> None:
    plug = Plug()
    with serve(plug), opened(f"{plug.spec}#timeout=0.2") as (meter, _):
        plug.silent = True
        with pytest.raises(MeterGlitchError, match="no answer; look whether"):
            meter.read()
        plug.silent, plug.points["19"] = False, 400
        assert meter.read().watts == pytest.approx(40.0)


@pytest.mark.parametrize(("version", "asked"), [("3.3", "3.3"), ("3.4", "3.4"), ("3.5", "3.5"), ("3.5", "3.3"), ("3.3", "3.4")])
def test_a_wrong_key_and_a_wrong_version_are_one_line(version: str, asked: str) -> None:
    plug = Plug(version=version, key="another key, 16." if version == asked else KEY)
    with serve(plug), pytest.raises(MeterError) as raised:
        make_meter(parse_spec(f"{plug.spec}#version={asked},timeout=0.3")).open()
    assert "local key" in str(raised.value) or "no answer" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert KEY not in str(raised.value)


def test_a_plug_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MeterError, match="no answer; look whether it is switched on"):
        make_meter(parse_spec(f"tuya://id@127.0.0.1:{free_port()}#timeout=0.3")).open()
    monkeypatch.setenv("ECOSORT_METER_PASSWORD", "short")
    with pytest.raises(MeterError, match="a local key has 16 characters"):
        make_meter(parse_spec("tuya://id@127.0.0.1:1")).open()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("tuya://127.0.0.1", "needs the ID of the device"),
        ("tuya://id@127.0.0.1#version=4", "version must be one of"),
        ("tuya://id@127.0.0.1#dp=23", "how many watts is one count of data point 23"),
        ("tuya://id@127.0.0.1#dp=x", "is not a number"),
    ],
)
def test_what_is_wrong_is_said_before_the_plug_is_asked(spec: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_meter(parse_spec(spec))
