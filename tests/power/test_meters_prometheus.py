"""Metrics as exporters print them: which series, which unit, what they measure."""

from __future__ import annotations

import pytest
from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import parse_spec
from ecosort_power.reading import Scope

from .peers import http_peers as peers
from .support import opened

# As node_exporter 1.9.1, Kepler 0.10.1 and Scaphandre 1.0.2 print them, by their documentation.
PAGE = b"""# HELP node_rapl_package_joules_total Current RAPL package value in joules
# TYPE node_rapl_package_joules_total counter
node_rapl_package_joules_total{index="0",path="/sys/class/powercap/intel-rapl:0"} 26242.165123
node_rapl_package_joules_total{index="1",path="/sys/class/powercap/intel-rapl:1"} 1000
# HELP kepler_node_cpu_joules_total Energy consumption of cpu at node level in joules
# TYPE kepler_node_cpu_joules_total counter
kepler_node_cpu_joules_total{path="/sys/class/powercap/intel-rapl:0",zone="package"} 1.234e+06
# HELP scaph_host_power_microwatts Power measurement on the whole host, in microwatts
# TYPE scaph_host_power_microwatts gauge
scaph_host_power_microwatts 43500000
# TYPE plug_power gauge
plug_power{plug="a, \\"b\\""} 0.5
# TYPE node_power_supply_power_watt gauge
node_power_supply_power_watt{power_supply="BAT0"} 45
# TYPE node_hwmon_power_input_watt gauge
node_hwmon_power_input_watt{chip="power_supply_bat0",sensor="power1"} 45
node_hwmon_power_input_watt{chip="0000:03:00_0",sensor="power1"} 31
# TYPE other_watts_total counter
other_watts_total NaN
node_rapl_package_joules_total_of_another 7
"""


def page(peer: peers.Peer, path: str, given: str) -> peers.Answer:
    return (200, PAGE, {"Content-Type": "text/plain; version=0.0.4"}) if path == "/metrics" else (404, b"", {})


@pytest.mark.parametrize(
    ("settings", "watts", "joules", "scope", "note"),
    [
        ("energy=node_rapl_package_joules_total,labels=index:0", None, 26242.165123, Scope.PACKAGE, "one processor package"),
        ("energy=node_rapl_package_joules_total,sum=yes", None, 27242.165123, Scope.PACKAGE, "one processor package"),
        ("energy=kepler_node_cpu_joules_total,labels=zone:package", None, 1.234e6, Scope.PACKAGE, "estimates"),
        ("value=scaph_host_power_microwatts", 43.5, None, Scope.PACKAGE, "PSYS"),
        ("value=plug_power,unit=kW,labels=plug:a", 500.0, None, Scope.UNKNOWN, ""),
        ("value=plug_power,unit=W,energy=kepler_node_cpu_joules_total", 0.5, 1.234e6, Scope.PACKAGE, "estimates"),
    ],
)
def test_a_metric_is_read_in_its_unit_and_says_what_it_measures(
    settings: str, watts: float | None, joules: float | None, scope: Scope, note: str
) -> None:
    quoted = settings.replace("labels=plug:a", "sum=yes")  # its label holds what no setting can
    with peers.serve(page) as peer, opened(f"prometheus://{peer.host}#{quoted}") as (meter, capabilities):
        reading = meter.read()
    assert (reading.watts, reading.joules) == (pytest.approx(watts), pytest.approx(joules))
    assert capabilities.scope is scope
    assert note in " ".join(capabilities.notes)
    assert "node_rapl_package_joules_total_of_another" not in (reading.raw or "")


def test_a_battery_is_no_meter_by_this_path_either() -> None:
    with peers.serve(page) as peer:
        for metric in ("node_power_supply_power_watt", "node_hwmon_power_input_watt,sum=yes"):
            with pytest.raises(MeterError, match=r"is of a battery or UPS: .*--meter battery:"):
                make_meter(parse_spec(f"prometheus://{peer.host}#value={metric}")).open()
        with opened(f"prometheus://{peer.host}#value=node_hwmon_power_input_watt,labels=chip:0000:03:00_0") as (meter, _):
            assert meter.read().watts == 31.0


def test_several_series_are_never_taken_for_one() -> None:
    with peers.serve(page) as peer:
        with pytest.raises(MeterError, match=r"2 series of .*labels=NAME:VALUE.*index:0.*index:1"):
            make_meter(parse_spec(f"prometheus://{peer.host}#energy=node_rapl_package_joules_total")).open()
        with pytest.raises(MeterError, match=r"no series of .* has index:7; there are: .*index:0"):
            make_meter(parse_spec(f"prometheus://{peer.host}#energy=node_rapl_package_joules_total,labels=index:7")).open()
        with pytest.raises(MeterError, match="has no metric gone_watts now"):
            make_meter(parse_spec(f"prometheus://{peer.host}#value=gone_watts")).open()


TWO = b'psu_watts{psu="1"} 110\npsu_watts{psu="2"} 100\n'


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b'psu_watts{psu="2"} 100\n', r"had at first is missing now; .*: \(psu:1\)"),
        (TWO + b'psu_watts{psu="3"} 90\n', r"had not at first is there now; .*: \(psu:3\)"),
    ],
)
def test_a_sum_of_other_series_than_at_first_is_no_value(answer: bytes, why: str) -> None:
    answers = [TWO, TWO, answer, TWO]
    with (
        peers.serve(lambda peer, path, given: (200, answers.pop(0), {})) as peer,
        opened(f"prometheus://{peer.host}#value=psu_watts,sum=yes") as (meter, _),
    ):
        assert meter.read().watts == 210.0
        with pytest.raises(MeterGlitchError, match=why):
            meter.read()
        assert meter.read().watts == 210.0


@pytest.mark.parametrize("line", ["  a_watts 43", "\ta_watts\t43", "a_watts 43\r", 'a_watts{x="p\u2028q\x0cr\x85"} 43'])
def test_blanks_and_what_is_in_labels_hide_no_sample(line: str) -> None:
    with (
        peers.serve(lambda peer, path, given: (200, line.encode() + b"\n", {})) as peer,
        opened(f"prometheus://{peer.host}#value=a_watts") as (meter, _),
    ):
        reading = meter.read()
        assert (reading.watts, meter.derive(reading.raw or "", meter.spec).watts) == (43.0, 43.0)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ("", "name a metric"),
        ("value=plug_power", "say it: #unit="),
        ("energy=x_watts", "say it: #energy-unit="),
        ("value=a{b}", "is no name of a metric"),
        ("value=a_watts,labels=x", "is not of the form NAME:VALUE"),
        ("value=a_watts,sum=perhaps", "must be yes or no"),
    ],
)
def test_what_is_not_said_is_not_guessed(settings: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        make_meter(parse_spec(f"prometheus://h#{settings}"))


def test_what_is_no_page_of_metrics_is_a_glitch() -> None:
    with peers.serve(lambda peer, path, given: (200, b'a_watts{x="\n', {})) as peer, pytest.raises(MeterError, match="no metric"):
        make_meter(parse_spec(f"prometheus://{peer.host}#value=a_watts")).open()
    assert issubclass(MeterGlitchError, MeterError)
