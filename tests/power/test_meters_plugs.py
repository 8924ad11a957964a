"""Plugs that people own, on answers that real ones gave, over real HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import parse_spec
from ecosort_power.reading import Flag, Scope, screen

from .peers import captured
from .peers import http_peers as peers
from .support import opened


def answers(documents: dict[str, Any]) -> peers.Handler:
    """A server that knows these paths."""

    def answer(peer: peers.Peer, path: str, given: str) -> peers.Answer:
        return (200, documents[path], {}) if path in documents else (404, {}, {})

    return answer


GEN1 = {
    "/shelly": captured.GEN1_1PM_ABOUT,
    "/status": captured.GEN1_1PM_STATUS,
    "/meter/0": captured.GEN1_PLUG_METER,
}


def test_shelly_gen1_counts_watt_minutes_and_has_a_clock() -> None:
    with peers.serve(answers(GEN1)) as peer, opened(f"shelly://{peer.host}") as (meter, found):
        reading = meter.read()
    assert (reading.watts, reading.joules, reading.stamp) == (85.05, 116 * 60.0, "1618501251")
    assert (found.scope, found.counter, found.quantum_j) == (Scope.WALL, True, 60.0)
    assert found.identity["fw"] == "20200827-070450/v1.8.3@4a8bc427"
    assert peer.requests[-1] == "/meter/0"


def test_shelly_gen1_that_doubts_itself_is_not_believed() -> None:
    doubtful = {**GEN1, "/meter/0": {**captured.GEN1_PLUG_METER, "is_valid": False}}
    with peers.serve(answers(doubtful)) as peer, pytest.raises(MeterError, match="invalid"):
        make_meter(parse_spec(f"shelly://{peer.host}")).open()


def test_shelly_gen1_logs_in_with_basic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECOSORT_METER_PASSWORD", peers.PASSWORD)

    def answer(peer: peers.Peer, path: str, given: str) -> peers.Answer:
        if path != "/shelly" and not peers.basic_ok(given):
            return 401, {}, {"WWW-Authenticate": 'Basic realm="shelly"'}
        return answers(GEN1)(peer, path, given)

    with peers.serve(answer) as peer, opened(f"shelly://{peers.USER}@{peer.host}") as (meter, _):
        assert meter.read().watts == 85.05


def emeters(about: dict[str, Any], meters: list[dict[str, Any]]) -> dict[str, Any]:
    """A Gen1 energy meter: clamps instead of a plug."""
    status = {"relays": [{"ison": False, "source": "input"}], "emeters": meters}
    return {"/shelly": about, "/status": status} | {f"/emeter/{i}": m for i, m in enumerate(meters)}


def test_shelly_gen1_em_gives_each_clamp_in_watt_hours_with_its_power_factor() -> None:
    about = {**captured.GEN1_EM_ABOUT, "type": "SHEM-3", "fw": "20230913-114244/v1.14.0-gcb84623"}
    with peers.serve(answers(emeters(about, captured.GEN1_3EM_METERS))) as peer:
        for channel, watts, watt_hours, factor in ((0, 51.08, 1686297.2, "0.27"), (1, 155.02, 878905.6, "0.98")):
            with opened(f"shelly://{peer.host}/{channel}") as (meter, found):
                reading = meter.read()
            assert (reading.watts, reading.joules) == pytest.approx((watts, watt_hours * 3600))
            assert (found.quantum_j, found.identity["power_factor"]) == (360.0, factor)
            again = type(meter).derive(reading.raw or "", meter.spec)
            assert (again.watts, again.joules) == (reading.watts, reading.joules)


def test_a_clamp_of_a_gen1_em_that_feeds_in_is_negative_and_no_measurement() -> None:
    documents = emeters(captured.GEN1_EM_ABOUT, captured.GEN1_EM_METERS)
    with peers.serve(answers(documents)) as peer, opened(f"shelly://{peer.host}") as (meter, found):
        reading = screen(meter.read(), found)
    assert (reading.watts, Flag.NEGATIVE in reading.flags) == (None, True)


def gen2(components: dict[str, Any], **calls: Any) -> dict[str, Any]:
    """A device with these components in its status and these calls, e.g. EM=..."""
    documents = {"/shelly": captured.PRO_3EM_ABOUT, "/rpc/Shelly.GetStatus": {"sys": {}, **components}}
    return documents | {f"/rpc/{name}.GetStatus?id=0": document for name, document in calls.items()}


def test_shelly_gen2_switch() -> None:
    documents = gen2({"switch:0": captured.GEN2_SWITCH}, Switch=captured.GEN2_SWITCH)
    with peers.serve(answers(documents)) as peer, opened(f"shelly://{peer.host}") as (meter, found):
        reading = meter.read()
    assert (reading.watts, reading.joules) == (47.11, pytest.approx(5.125 * 3600))
    assert found.identity["power_factor"] == "0"


def test_shelly_pm1_is_found_where_there_is_no_switch_that_measures() -> None:
    relay = {"id": 0, "output": True}
    documents = gen2({"switch:0": relay, "pm1:0": captured.GEN2_SWITCH}, PM1=captured.GEN2_SWITCH)
    with peers.serve(answers(documents)) as peer, opened(f"shelly://{peer.host}") as (meter, _):
        assert meter.read().watts == 47.11
    assert peer.requests[-1] == "/rpc/PM1.GetStatus?id=0"


@pytest.mark.parametrize(("phase", "watts"), [("", 2413.825), ("#phase=a", 2166.2), ("#phase=b", 3.6)])
def test_shelly_pro_3em_gives_real_power_in_total_and_by_phase(phase: str, watts: float) -> None:
    documents = gen2({"em:0": captured.PRO_3EM}, EM=captured.PRO_3EM)
    with peers.serve(answers(documents)) as peer, opened(f"shelly://{peer.host}{phase}") as (meter, found):
        assert meter.read().watts == watts
    assert not found.counter
    assert found.identity["app"] == "Pro3EM"


# EMData.GetStatus and EM1Data.GetStatus, as shelly-api-docs.shelly.cloud names their values; the counters count watt-hours.
EM_COUNTERS = {"id": 0, "a_total_act_energy": 1234.56, "total_act": 166778.15, "total_act_ret": 0.0}
EM1_COUNTERS = {"id": 0, "total_act_energy": 5125.25, "total_act_ret_energy": 0.02}
EM1 = {"id": 0, "act_power": 501.8, "aprt_power": 612.4, "pf": 0.84}


@pytest.mark.parametrize(
    ("kind", "live", "counters", "phase", "watt_hours"),
    [
        ("EM", captured.PRO_3EM, EM_COUNTERS, "", 166778.15),
        ("EM", captured.PRO_3EM, EM_COUNTERS, "#phase=a", 1234.56),
        ("EM1", EM1, EM1_COUNTERS, "", 5125.25),
    ],
)
def test_shelly_em_and_em1_are_counted_by_the_component_beside_them(
    kind: str, live: dict[str, Any], counters: dict[str, Any], phase: str, watt_hours: float
) -> None:
    name = kind.lower()
    documents = gen2({f"{name}:0": live, f"{name}data:0": counters}, **{kind: live, f"{kind}Data": counters})
    with peers.serve(answers(documents)) as peer, opened(f"shelly://{peer.host}{phase}") as (meter, found):
        reading = meter.read()
    assert reading.joules == pytest.approx(watt_hours * 3600)
    assert (found.counter, found.quantum_j) == (True, 36.0)
    again = type(meter).derive(reading.raw or "", meter.spec)
    assert (again.watts, again.joules) == (reading.watts, reading.joules)


@pytest.mark.parametrize(
    ("kind", "live", "doubt", "said"),
    [
        ("EM", captured.PRO_3EM, {"errors": ["power_meter_failure"]}, "errors: power_meter_failure"),
        ("EM", captured.PRO_3EM, {"c_errors": ["out_of_range:active_power"]}, "c_errors: out_of_range:active_power"),
        ("EM1", EM1, {"errors": ["power_meter_failure"]}, "errors: power_meter_failure"),
        ("Switch", captured.GEN2_SWITCH, {"errors": ["overvoltage"]}, "errors: overvoltage"),
        ("PM1", captured.GEN2_SWITCH, {"errors": ["power_meter_failure"], "apower": None}, "errors: power_meter_failure"),
    ],
)
def test_a_shelly_that_lists_errors_gives_no_reading(kind: str, live: dict[str, Any], doubt: dict[str, Any], said: str) -> None:
    documents = gen2({f"{kind.lower()}:0": live}, **{kind: dict(live)})
    with peers.serve(answers(documents)) as peer, opened(f"shelly://{peer.host}") as (meter, _):
        documents[f"/rpc/{kind}.GetStatus?id=0"].update(doubt)
        with pytest.raises(MeterGlitchError, match=said):  # the next one may be good again
            meter.read()


def test_a_phase_is_believed_although_another_one_is_wrong() -> None:
    documents = gen2({"em:0": captured.PRO_3EM}, EM={**captured.PRO_3EM, "b_errors": ["out_of_range:voltage"]})
    with peers.serve(answers(documents)) as peer, opened(f"shelly://{peer.host}#phase=a") as (meter, _):
        assert meter.read().watts == 2166.2


@pytest.mark.parametrize("status", [404, 500])
def test_a_counter_that_a_shelly_names_and_refuses_hides_no_power(status: int) -> None:
    documents = gen2({"em1:0": EM1, "em1data:0": {}}, EM1=EM1)

    def answer(peer: peers.Peer, path: str, given: str) -> peers.Answer:
        return (status, {"code": -114}, {}) if "Data" in path else answers(documents)(peer, path, given)

    with peers.serve(answer) as peer, opened(f"shelly://{peer.host}") as (meter, found):
        assert (meter.read().watts, found.counter) == (501.8, False)


def test_a_counter_of_a_shelly_that_fails_now_and_then_takes_no_power_along() -> None:
    documents = gen2({"em1:0": EM1, "em1data:0": EM1_COUNTERS}, EM1=EM1, EM1Data=EM1_COUNTERS)
    failing: list[bool] = []

    def answer(peer: peers.Peer, path: str, given: str) -> peers.Answer:
        return (500, {}, {}) if failing and "Data" in path else answers(documents)(peer, path, given)

    with peers.serve(answer) as peer, opened(f"shelly://{peer.host}") as (meter, found):
        failing.append(True)
        reading = meter.read()
        assert (reading.watts, reading.joules, found.counter) == (501.8, None, True)
        assert type(meter).derive(reading.raw or "", meter.spec).joules is None
        failing.clear()
        assert meter.read().joules == pytest.approx(5125.25 * 3600)


@pytest.mark.parametrize("counter", [{"aenergy": {"total": None}}, {"aenergy": None}])
def test_a_counter_of_a_shelly_that_is_null_is_none_and_its_power_stays(counter: dict[str, Any]) -> None:
    live = {**captured.GEN2_SWITCH, **counter}
    documents = gen2({"switch:0": live}, Switch=live)
    with peers.serve(answers(documents)) as peer, opened(f"shelly://{peer.host}") as (meter, found):
        assert (meter.read().joules, found.counter, meter.read().watts) == (None, False, 47.11)


def test_shelly_em1_that_feeds_in_is_negative_and_no_measurement() -> None:
    documents = gen2({"em1:0": captured.PRO_EM1}, EM1=captured.PRO_EM1)
    with peers.serve(answers(documents)) as peer, opened(f"shelly://{peer.host}") as (meter, found):
        assert Flag.NEGATIVE in screen(meter.read(), found).flags


@pytest.mark.parametrize(("address", "text"), [("/1", "channel 1"), ("#component=em", "component em"), ("", "measures power")])
def test_a_shelly_without_such_a_meter_says_so(address: str, text: str) -> None:
    with peers.serve(answers(gen2({"switch:0": {"id": 0, "output": True}}))) as peer:
        meter = make_meter(parse_spec(f"shelly://{peer.host}{address}"))
        with pytest.raises(MeterError, match=text):
            meter.open()


@pytest.mark.parametrize(
    "address", ["shelly://h/x", "shelly://h#phase=d", "shelly:h", "shelly://", "tasmota://h/0", "shelly://[::"]
)
def test_an_address_that_no_plug_has_is_refused(address: str) -> None:
    with pytest.raises(UsageError):
        make_meter(parse_spec(address))


TASMOTA = "/cm?cmnd=Status%208"


@pytest.mark.parametrize(
    ("document", "watts", "joules", "factor"),
    [
        (captured.TASMOTA_POW, 2629.0, 6.404 * 3.6e6, "0.99"),
        ({"StatusSNS": captured.TASMOTA_SENSOR}, 1.0, 6.096 * 3.6e6, "0.25"),
        ({"StatusSNS": captured.TASMOTA_PZEM}, 2109.0, 13.797 * 3.6e6, "0.71"),
    ],
)
def test_tasmota_gives_real_power_and_keeps_the_power_factor(document: Any, watts: float, joules: float, factor: str) -> None:
    with peers.serve(answers({TASMOTA: document})) as peer, opened(f"tasmota://{peer.host}") as (meter, found):
        reading = meter.read()
    assert (reading.watts, reading.joules) == (watts, pytest.approx(joules))
    assert found.identity["power_factor"] == factor


@pytest.mark.parametrize(
    ("energy", "watts", "step_w", "step_j"),
    [
        ('"Total":6.404,"Yesterday":5.340,"Today":1.064,"Power":41', 41.0, 1.0, 3600.0),
        ('"Total":6.404,"Yesterday":5.340,"Today":1.064,"Power":42.0', 42.0, 0.1, 3600.0),
        ('"Total":6.40412,"Yesterday":5.34000,"Today":1.06412,"Power":41.70', 41.7, 0.01, 36.0),
        ('"Total":6.4,"Yesterday":5.3,"Today":1.1,"Power":[41.703,2.000]', 41.703, 0.001, 360000.0),
    ],
)
def test_the_steps_of_a_tasmota_follow_its_resolution(energy: str, watts: float, step_w: float, step_j: float) -> None:
    """WattRes and EnergyRes: as many decimals as they say are printed."""

    def answer(peer: peers.Peer, path: str, given: str) -> peers.Answer:
        return 200, f'{{"StatusSNS":{{"ENERGY":{{{energy}}}}}}}'.encode(), {}

    channel = "/1" if "[" in energy else ""
    with peers.serve(answer) as peer, opened(f"tasmota://{peer.host}{channel}") as (meter, found):
        assert (meter.read().watts, found.quantum_w) == (watts, pytest.approx(step_w))
        assert found.quantum_j == (pytest.approx(step_j) if not channel else None)


def test_tasmota_with_two_channels_asks_which_and_counts_none_of_them_alone() -> None:
    document = json.loads(json.dumps(captured.TASMOTA_POW))
    document["StatusSNS"]["ENERGY"]["Power"] = [17, 2]
    with peers.serve(answers({TASMOTA: document})) as peer:
        with pytest.raises(UsageError, match="2 channels"):
            make_meter(parse_spec(f"tasmota://{peer.host}")).open()
        with opened(f"tasmota://{peer.host}/2") as (meter, found):
            reading = meter.read()
    assert (reading.watts, reading.joules, found.counter) == (2.0, None, False)


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"StatusSNS": {"Time": "2025-01-11T23:10:38"}}, "no power meter"),
        ({"WARNING": "Need user=<username>&password=<password>"}, "wants a user"),
    ],
)
def test_a_tasmota_that_gives_no_power_says_why(document: Any, text: str) -> None:
    with peers.serve(answers({TASMOTA: document})) as peer, pytest.raises(MeterError, match=text):
        make_meter(parse_spec(f"tasmota://{peer.host}")).open()
