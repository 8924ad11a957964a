"""Finds which power of a Redfish service is that of the machine: services that fail in places, list in pages, and have many
chassis.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import Meter, parse_spec
from ecosort_power.meters.redfish import watts_of
from ecosort_power.meters.redfish_power import Service
from ecosort_power.reading import Capabilities, Flag, Scope, screen

from .peers import http_peers as peers
from .support import opened

ROOT, CHASSIS = "/redfish/v1", "/redfish/v1/Chassis"
Tree = dict[str, Any]


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDFISH_PASSWORD", peers.PASSWORD)


def at(path: str) -> dict[str, str]:
    return {"@odata.id": path}


def service(*names: str) -> Tree:
    """A service with these chassis, which report nothing yet."""
    tree: Tree = {ROOT: {"RedfishVersion": "1.17.0", "Chassis": at(CHASSIS)}}
    tree |= {CHASSIS: {"Members": [at(f"{CHASSIS}/{name}") for name in names]}}
    return tree | {f"{CHASSIS}/{name}": {"Id": name} for name in names}


def add(tree: Tree, name: str, resource: str, document: Any) -> None:
    tree[f"{CHASSIS}/{name}"][resource] = at(f"{CHASSIS}/{name}/{resource}")
    tree[f"{CHASSIS}/{name}/{resource}"] = document


def environment(tree: Tree, name: str, watts: float | None) -> None:
    add(tree, name, "EnvironmentMetrics", {"PowerWatts": {"Reading": watts}})


def control(tree: Tree, name: str, *entries: dict[str, Any]) -> None:
    add(tree, name, "Power", {"PowerControl": list(entries)})


def contain(tree: Tree, outer: str, inner: str, kind: str = "") -> None:
    tree[f"{CHASSIS}/{inner}"] |= {"Links": {"ContainedBy": at(f"{CHASSIS}/{outer}")}} | ({"ChassisType": kind} if kind else {})


def answer_of(tree: Tree) -> peers.Handler:
    """A number stands for a resource that answers with this status."""

    def answer(peer: peers.Peer, path: str, given: str) -> peers.Answer:
        document = tree.get(path.rstrip("/"), 404)
        return (document, {}, {}) if isinstance(document, int) else (200, document, {})

    return answer


@contextmanager
def read(tree: Tree, words: str = "", settings: str = "") -> Iterator[tuple[Meter, Capabilities]]:
    with peers.serve(answer_of(tree)) as peer:
        spec = f"redfish://joule@{peer.host}{words}#tls=off{settings}"
        with opened(spec) as found:
            yield found


def watts(tree: Tree, words: str = "", settings: str = "") -> float | None:
    """Returns what is read; the stored answer gives the same."""
    with read(tree, words, settings) as (meter, _):
        reading = meter.read()
    assert watts_of(json.loads(reading.raw or "")) == reading.watts
    return reading.watts


@pytest.mark.parametrize("status", [403, 404, 410, 500, 503])
@pytest.mark.parametrize("place", ["", "/EnvironmentMetrics", "/Power", "/PowerSubsystem", "/Sensors"])
def test_a_resource_that_fails_hides_no_power(status: int, place: str) -> None:
    tree = service("backplane", "1")
    for resource in ("EnvironmentMetrics", "Power", "PowerSubsystem", "Sensors"):
        add(tree, "backplane", resource, {})
    tree[f"{CHASSIS}/backplane{place}"] = status
    control(tree, "1", {"PowerConsumedWatts": 77})
    assert watts(tree) == 77.0


@pytest.mark.parametrize("nothing", [None, 0, 0.0])
def test_what_is_null_or_nothing_hides_no_power(nothing: float | None) -> None:
    tree = service("Enclosure.Internal.0-1", "System.Embedded.1")
    control(tree, "Enclosure.Internal.0-1", {"PowerConsumedWatts": nothing})
    environment(tree, "System.Embedded.1", nothing)
    control(tree, "System.Embedded.1", {"PowerConsumedWatts": nothing}, {"PowerConsumedWatts": 231})
    assert watts(tree) == 231.0


@pytest.mark.parametrize("key", ["Members@odata.nextLink", "@odata.nextLink"])
def test_lists_of_several_pages_are_read_to_the_end(key: str) -> None:
    tree = service("A")
    tree[CHASSIS][key] = f"{CHASSIS}?$skip=1"
    tree[f"{CHASSIS}?$skip=1"] = {"Members": [at(f"{CHASSIS}/B")], key: f"{CHASSIS}?$skip=2"}
    tree[f"{CHASSIS}?$skip=2"] = {"Members": [at(f"{CHASSIS}/C")], key: f"{CHASSIS}?$skip=1"}  # and no farther
    tree |= {f"{CHASSIS}/{name}": {"Id": name} for name in "BC"}
    control(tree, "C", {"PowerConsumedWatts": 99})
    assert watts(tree) == 99.0


def test_pages_may_overlap_and_name_the_next_one_by_its_query_alone() -> None:
    tree = service("A", "B")
    tree[CHASSIS]["Members@odata.nextLink"] = "?$skip=1"
    tree[f"{CHASSIS}?$skip=1"] = {"Members": [at(f"{CHASSIS}/B/"), at(f"{CHASSIS}/C"), None, {}]}
    tree[f"{CHASSIS}/C"] = {"Id": "C"}
    control(tree, "B", {"PowerConsumedWatts": 99})
    assert watts(tree) == 99.0


def test_a_list_that_never_ends_is_not_known_whole() -> None:
    """A service that does not heed `$skip` names one more page each time."""
    asked: list[str] = []

    def get(path: str) -> dict[str, Any]:
        asked.append(path)
        assert len(asked) < 9
        return {"Members": [at("/c/1")], "Members@odata.nextLink": f"/c?$skip={len(asked)}"}

    assert Service(get).pages("/c", get("/c")) == [at("/c/1"), {}]


@pytest.mark.parametrize(("lost", "named"), [(f"{CHASSIS}/B", "Chassis/B"), (f"{CHASSIS}?$skip=1", "a part of the list")])
def test_what_could_not_be_read_may_be_the_machine_and_is_noted(lost: str, named: str) -> None:
    tree = service("A")
    tree[CHASSIS]["Members@odata.nextLink"] = f"{CHASSIS}?$skip=1"
    tree[f"{CHASSIS}?$skip=1"] = {"Members": [at(f"{CHASSIS}/B")]}
    control(tree, "A", {"PowerConsumedWatts": 99})
    tree[lost] = 500
    with read(tree) as (_, found):
        assert f"{named} could not be read" in found.notes[-1]
    with read(tree, "/A") as (_, found):
        assert "could not be read" not in found.notes[-1]


def test_parts_are_not_taken_for_the_machine_wherever_they_stand_in_the_list() -> None:
    tree = service("BMC_0", "CPU_0", "GPU_0", "Sled_0", "Zone_0", "Chassis_0")
    tree[f"{CHASSIS}/BMC_0"]["ChassisType"] = "Module"  # without a word on what contains it
    for name, kind in (("CPU_0", "Component"), ("GPU_0", "Module"), ("Sled_0", "Sled")):
        contain(tree, "Chassis_0", name, kind)
    contain(tree, "GPU_0", "Zone_0", "Zone")
    for name, power in (("BMC_0", 9), ("CPU_0", 72.4), ("GPU_0", 311), ("Sled_0", 400), ("Zone_0", 5), ("Chassis_0", 1450)):
        environment(tree, name, power)
    assert watts(tree) == 1450.0


def test_the_containing_chassis_may_say_what_is_inside() -> None:
    tree = service("disks", "server")
    tree[f"{CHASSIS}/server"]["Links"] = {"Contains": [at(f"{CHASSIS}/disks")]}
    environment(tree, "disks", 40)
    environment(tree, "server", 210)
    assert watts(tree) == 210.0


def test_a_chassis_inside_one_that_reports_nothing_is_the_machine() -> None:
    tree = service("enclosure", "sled")
    contain(tree, "enclosure", "sled", "Sled")
    environment(tree, "sled", 180)
    assert watts(tree) == 180.0


def test_two_chassis_that_contain_each_other_end_the_walk() -> None:
    tree = service("a", "b")
    contain(tree, "a", "b")
    contain(tree, "b", "a")
    environment(tree, "a", 50)
    assert watts(tree) == 50.0


def test_several_that_are_left_are_asked_about_with_their_watts() -> None:
    tree = service("node1", "node2", "shelf")
    for name, power in (("node1", 300), ("node2", 310.5)):
        environment(tree, name, power)
    with pytest.raises(UsageError, match=r"node1.*300 W; node2.*310\.5 W.*Say which: redfish://joule@127.*/node1"), read(tree):
        pass
    assert watts(tree, "/node2") == 310.5


def test_where_only_parts_report_they_are_asked_about_and_one_that_is_named_is_a_component() -> None:
    tree = service("CPU_0")
    tree[f"{CHASSIS}/CPU_0"]["ChassisType"] = "Component"
    environment(tree, "CPU_0", 72)
    with pytest.raises(UsageError, match=r"only parts of a machine.*CPU_0, Component.*72 W"), read(tree):
        pass
    with read(tree, "/CPU_0") as (meter, found):
        assert (meter.read().watts, found.scope) == (72.0, Scope.COMPONENT)


SERVER, CPU, MEMORY = (
    {"Name": "Server Power Control", "PowerConsumedWatts": 250},
    {"Name": "CPU Sub-system Power", "PowerConsumedWatts": 120},
    {"Name": "Power", "PhysicalContext": "Memory", "PowerConsumedWatts": 30},
)


@pytest.mark.parametrize("order", [(SERVER, CPU, MEMORY), (CPU, MEMORY, SERVER)])
def test_of_several_power_controls_that_of_the_whole_is_taken(order: tuple[dict[str, Any], ...]) -> None:
    tree = service("1")
    control(tree, "1", *order)
    assert watts(tree) == 250.0


def test_power_controls_that_may_all_be_the_whole_are_asked_about() -> None:
    tree = service("1")
    control(tree, "1", {"Name": "Feed A", "PowerConsumedWatts": 100}, {"Name": "Feed B", "PowerConsumedWatts": 120})
    with (
        pytest.raises(UsageError, match=r"PowerControl\[0\].*100 W.*PowerControl\[1\].*120 W.*#source=PowerControl\[0\]"),
        read(tree),
    ):
        pass
    assert watts(tree, settings=",source=PowerControl[1]") == 120.0


@pytest.mark.parametrize(
    "document",
    [
        {"@odata.type": "#Power.1.0.1.Power", "PowerConsumedWatts": 160, "PowerCapacityWatts": 800},
        {
            "PowerControl": [{"PowerConsumedWatts": None, "PowerCapacityWatts": 1720}],
            "Oem": {"ts_fujitsu": {"ChassisPowerConsumption": {"CurrentPowerConsumptionW": 160, "AveragePowerW": 184}}},
        },
        {"Oem": {"Public": {"CurrentCPUPowerWatts": 70, "TotalPower": 160}}, "PowerSupplies": [{"PowerInputWatts": 170}]},
    ],
)
def test_power_outside_the_schema_is_found_where_a_maker_puts_it(document: dict[str, Any]) -> None:
    """HPE iLO 4, Fujitsu iRMC (mrlhansen/idrac_exporter, a report of March 2025), Inspur."""
    tree = service("1")
    add(tree, "1", "Power", document)
    assert watts(tree) == 160.0


def supplies(tree: Tree, *found: dict[str, Any]) -> None:
    base = f"{CHASSIS}/1/PowerSubsystem/PowerSupplies"
    add(tree, "1", "PowerSubsystem", {"CapacityWatts": 2000, "PowerSupplies": at(base)})
    tree[base] = {"Members": [at(f"{base}/{i}") for i in range(len(found))]}
    for i, metrics in enumerate(found):
        state = {"Status": {"State": "Absent"}} if not metrics else {}
        tree[f"{base}/{i}"] = {"Id": str(i), "Metrics": at(f"{base}/{i}/Metrics"), **state}
        tree[f"{base}/{i}/Metrics"] = metrics or 404


def taken(watts: float | None) -> dict[str, Any]:
    return {"InputPowerWatts": {"Reading": watts}, "OutputPowerWatts": {"Reading": 90}}


def test_the_supplies_of_a_power_subsystem_are_added_up() -> None:
    tree = service("1")
    environment(tree, "1", None)
    supplies(tree, taken(199), taken(0), {}, taken(172.5))  # one in reserve, one not there
    with read(tree) as (meter, found):
        assert (meter.read().watts, found.scope) == (371.5, Scope.PSU)
    assert watts(tree) == 371.5


def test_a_sum_that_lacks_a_supply_is_none() -> None:
    tree = service("1")
    supplies(tree, taken(199), taken(172))
    with read(tree) as (meter, found):
        tree[f"{CHASSIS}/1/PowerSubsystem/PowerSupplies/1/Metrics"] = taken(None)
        reading = screen(meter.read(), found)
    assert (reading.watts, Flag.NAN in reading.flags) == (None, True)
    with read(tree) as (_, found):  # what they give is known of both
        assert "without their losses" in found.notes[-1]


@pytest.mark.parametrize("lost", ["/1", "/1/Metrics", "?page=2"])
def test_supplies_that_are_not_all_known_are_not_added_up(lost: str) -> None:
    """A sum of some would look like that of the machine."""
    tree = service("1")
    supplies(tree, taken(199), taken(172))
    base = f"{CHASSIS}/1/PowerSubsystem/PowerSupplies"
    second = tree[base]["Members"].pop()
    tree[base]["Members@odata.nextLink"] = f"{base}?page=2"
    tree[f"{base}?page=2"] = {"Members": [second]}
    assert watts(tree) == 371.0
    tree[f"{base}{lost}"] = 503
    with pytest.raises(MeterError, match=f"no chassis that reports its power.*{re.escape(base)}"), read(tree):
        pass


@pytest.mark.parametrize(
    ("names", "power"),
    [(("PS1 Input Power", "PS2 Input Power"), None), (("Input A", "Input B"), None), (("System Power", "x"), 7)],
)
def test_a_sensor_that_cannot_be_read_may_be_of_the_other_supply(names: tuple[str, str], power: float | None) -> None:
    tree = service("1")
    base = f"{CHASSIS}/1/Sensors"
    add(tree, "1", "Sensors", {"Members": [at(f"{base}/{i}") for i in range(2)]})
    tree |= {f"{base}/0": {**sensor(names[0], 7), "@odata.id": f"{base}/0"}, f"{base}/1": 404}
    if power is None:
        with pytest.raises(MeterError, match="no chassis that reports its power"), read(tree):
            pass
    else:
        assert watts(tree) == power


def test_supplies_of_the_older_power_resource_are_added_up() -> None:
    tree = service("1")
    two = [{"PowerInputWatts": 110, "LastPowerOutputWatts": 100}, {"PowerInputWatts": 115, "LastPowerOutputWatts": None}]
    add(tree, "1", "Power", {"PowerControl": [{"PowerConsumedWatts": None}], "PowerSupplies": two})
    with read(tree) as (meter, found):
        assert (meter.read().watts, found.scope) == (225.0, Scope.PSU)


def sensor(name: str, reading: float | None, **more: Any) -> dict[str, Any]:
    return {"@odata.id": "", "Name": name, "Reading": reading, "ReadingType": "Power", "ReadingUnits": "W", **more}


@pytest.mark.parametrize(
    ("sensors", "power", "scope"),
    [
        ([sensor("CPU 1 Power", 70), sensor("System Board Pwr Consumption", 144)], 144.0, Scope.BMC),
        (
            [sensor("TotalPower", 374, PhysicalContext="Chassis", ElectricalContext="Total"), sensor("Input A", 180)],
            374.0,
            Scope.BMC,
        ),
        ([sensor("Total GPU Power", 810, PhysicalContext="GPU"), sensor("Chassis Power", 1200)], 1200.0, Scope.BMC),
        ([sensor("PS1 Input Power", 101), sensor("PS2 Input Power", 102), sensor("PS1 Output Power", 95)], 203.0, Scope.PSU),
        ([sensor("Total Power", 40, ReadingType="Temperature", ReadingUnits="Cel"), sensor("Sys_Power", 88)], 88.0, Scope.BMC),
        ([sensor("Total Power", None), sensor("System Input", 91)], 91.0, Scope.BMC),
        ([sensor("TrayPower", 300), sensor("GPU0_Power", 80)], 300.0, Scope.BMC),
    ],
)
def test_a_sensor_of_the_whole_is_found_among_those_of_parts(sensors: list[dict[str, Any]], power: float, scope: Scope) -> None:
    tree = service("1")
    base = f"{CHASSIS}/1/Sensors"
    add(tree, "1", "Sensors", {"Members": [at(f"{base}/S{i}") for i in range(len(sensors))]})
    tree |= {f"{base}/S{i}": {**found, "@odata.id": f"{base}/S{i}"} for i, found in enumerate(sensors)}
    with read(tree) as (meter, found):
        assert (meter.read().watts, found.scope) == (power, scope)


def test_a_service_without_power_says_what_was_tried() -> None:
    tree = service("1", "2")
    control(tree, "1", {"PowerConsumedWatts": 0})
    tree[f"{CHASSIS}/2"] = 403
    with pytest.raises(MeterError, match=r"says 0 W at PowerControl\[0\].*403|403.*says 0 W"), read(tree):
        pass


def test_answers_of_older_results_are_still_understood() -> None:
    assert watts_of({"PowerWatts": {"Reading": 51.5}}) == 51.5
    assert watts_of({"PowerControl": [{"PowerConsumedWatts": 43}]}) == 43.0


class Sessions:
    """A service that knows only sessions: how it logs in, and whom it has let in."""

    def __init__(self, tree: Tree, path: str = f"{ROOT}/SessionService/Sessions") -> None:
        self.tree, self.path, self.tokens, self.begun, self.status = tree, path, set[str](), 0, 201

    def get(self, peer: peers.Peer, path: str, given: str) -> peers.Answer:
        if path.rstrip("/") != ROOT and peer.token not in self.tokens:
            return 401, {}, {}
        return answer_of(self.tree)(peer, path, given)

    def act(self, peer: peers.Peer, method: str, path: str, body: bytes) -> peers.Answer:
        if method == "DELETE":
            self.tokens.discard(peer.token)
            return (204, b"", {}) if path == f"{self.path}/{self.begun}" else (404, {}, {})
        if path != self.path or json.loads(body) != {"UserName": "joule", "Password": peers.PASSWORD}:
            return 401, {}, {}
        if self.status == 201:
            self.begun += 1
            self.tokens.add(f"t{self.begun}")
        return self.status, {}, {"X-Auth-Token": f"t{self.begun}", "Location": f"{self.path}/{self.begun}"}


@pytest.fixture
def one() -> Tree:
    tree = service("1")
    environment(tree, "1", 61)
    return tree


@pytest.mark.parametrize("settings", ["", ",auth=session"])
@pytest.mark.parametrize("said", [False, True])
def test_a_session_is_begun_renewed_when_it_expires_and_ended(one: Tree, settings: str, said: bool) -> None:
    guard = Sessions(one, f"{ROOT}/Own/Sessions" if said else f"{ROOT}/SessionService/Sessions")
    one[ROOT]["Links"] = {"Sessions": at(guard.path)} if said else {}
    with peers.serve(guard.get, act=guard.act) as peer:
        with opened(f"redfish://joule@{peer.host}#tls=off{settings}") as (meter, _):
            assert meter.read().watts == 61.0
            assert guard.begun == 1
            guard.tokens.clear()  # it has expired
            assert meter.read().watts == 61.0
            assert guard.begun == 2
        assert guard.tokens == set()  # a service allows few sessions
    if settings:
        assert not any(peer.authorizations)


def test_a_resource_that_no_token_opens_does_not_begin_a_session_each_time(one: Tree) -> None:
    guard = Sessions(one)
    with peers.serve(guard.get, act=guard.act) as peer, opened(f"redfish://joule@{peer.host}#tls=off,auth=session") as (meter, _):
        one[f"{CHASSIS}/1/EnvironmentMetrics"] = 401
        for _ in range(3):
            with pytest.raises(MeterError, match="401"):
                meter.read()
        assert guard.begun == 2


@pytest.mark.parametrize(("status", "said"), [(503, "gives no session .status 503.: too many"), (401, "wrong user or password")])
def test_a_session_that_is_refused_is_told(one: Tree, status: int, said: str) -> None:
    guard = Sessions(one)
    guard.status = status
    with peers.serve(guard.get, act=guard.act) as peer, pytest.raises(MeterError, match=said) as caught:
        make_meter(parse_spec(f"redfish://joule@{peer.host}#tls=off")).open()
    assert peers.PASSWORD not in str(caught.value)


def test_an_unknown_way_to_log_in_is_refused() -> None:
    with pytest.raises(UsageError, match="auth must be basic or session"):
        make_meter(parse_spec("redfish://joule@h#auth=bearer"))
