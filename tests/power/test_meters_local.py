"""Meters of the machine itself: battery, rails of a Raspberry Pi, INA3221, graphics cards, and the simulated one."""

from __future__ import annotations

from pathlib import Path

import pytest
from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters import make_meter, meter_class
from ecosort_power.meters.base import Machine, parse_spec
from ecosort_power.meters.battery import BatteryMeter
from ecosort_power.meters.hwmon import HwmonMeter, values_of
from ecosort_power.meters.nvidia import NvidiaMeter
from ecosort_power.meters.pmic import PmicMeter
from ecosort_power.reading import Scope

from .peers import captured
from .support import opened, wait_for, write


@pytest.fixture
def laptop(tmp_path: Path) -> Path:
    """BAT0 as a Lenovo Legion Go S has it (its uevent, in a test of a Steam Deck plugin), a second battery at rest, and a pen."""
    base = tmp_path / "sys/class/power_supply"
    for name, status, power in (("BAT0", "Discharging", 22_543_000), ("BAT1", "Not charging", 0)):
        write(base / name / "type", "Battery")
        write(base / name / "status", status)
        write(base / name / "power_now", power)
        write(base / name / "technology", "Li-poly")
    write(base / "AC/type", "Mains")
    write(base / "hidpp_battery_0/type", "Battery")
    write(base / "hidpp_battery_0/scope", "Device")
    return tmp_path


def battery(root: Path, name: str, **files: object) -> None:
    for file, value in files.items():
        write(root / "sys/class/power_supply" / name / file, value)


def test_a_battery_that_drains_is_a_meter_of_its_own_scope(laptop: Path) -> None:
    with opened(f"battery:#root={laptop}") as (meter, found):
        reading = meter.read()
    assert reading.watts == pytest.approx(22.543)
    assert (found.scope, found.title, found.identity["technology"]) == (Scope.BATTERY, "battery BAT0 + BAT1", "Li-poly")
    assert any("not comparable" in n for n in found.notes)
    assert BatteryMeter.derive(reading.raw or "", parse_spec("battery:")).watts == reading.watts


def test_a_battery_with_current_and_voltage_multiplies_them(laptop: Path) -> None:
    (laptop / "sys/class/power_supply/BAT0/power_now").unlink()
    battery(laptop, "BAT0", current_now=1_621_000, voltage_now=11_712_000)  # of a ThinkPad, in a test of a battery monitor
    with opened(f"battery:BAT0#root={laptop}") as (meter, _):
        assert meter.read().watts == pytest.approx(1.621 * 11.712)
        battery(laptop, "BAT0", current_now=-1_621_000)  # some drivers give it a sign
        assert meter.read().watts == pytest.approx(1.621 * 11.712)


@pytest.mark.parametrize(("status", "said"), [("Charging", "charging"), ("Full", "draining"), ("Not charging", "draining")])
def test_a_battery_that_does_not_feed_the_machine_is_refused(laptop: Path, status: str, said: str) -> None:
    battery(laptop, "BAT0", status=status)
    with pytest.raises(MeterError, match=rf"{said}.*unplug"):
        make_meter(parse_spec(f"battery:#root={laptop}")).open()
    (first, _) = BatteryMeter.discover(Machine(laptop))
    assert not first.usable
    assert "unplug" in first.fix


def test_a_battery_that_begins_to_charge_gives_no_reading(laptop: Path) -> None:
    with opened(f"battery:#root={laptop}") as (meter, _):
        meter.read()
        battery(laptop, "BAT1", status="Charging")
        with pytest.raises(MeterError, match="BAT1 is charging"):
            meter.read()


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("AC", {"online": 1}),
        ("ucsi-source-psy-USBC000:001", {"type": "USB", "online": 1}),
        ("BAT1", {"status": "Discharging"}),
    ],
)
def test_a_battery_that_is_not_alone_gives_no_reading(laptop: Path, name: str, files: dict[str, object]) -> None:
    """A charger that is too weak is helped by the battery, which drains meanwhile: it gives a part of what the machine draws."""
    battery(laptop, "wacom_battery_0", type="Battery", scope="Device", status="Discharging")
    with opened(f"battery:BAT0#root={laptop}") as (meter, _):
        battery(laptop, name, **files)
        with pytest.raises(MeterError, match=rf"{name} feeds the machine as well: unplug .*battery: alone adds up all"):
            meter.read()
    assert not BatteryMeter.discover(Machine(laptop))[0].usable
    if name == "BAT1":
        with opened(f"battery:#root={laptop}") as (meter, _):
            assert meter.read().watts == pytest.approx(22.543)


def test_a_battery_that_is_not_there_names_those_that_are(laptop: Path) -> None:
    with pytest.raises(UsageError, match="BAT0, BAT1"):
        make_meter(parse_spec(f"battery:BAT7#root={laptop}")).open()


def test_a_machine_without_a_battery_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(MeterError, match="this machine has no battery"):
        make_meter(parse_spec(f"battery:#root={tmp_path}")).open()


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory in front of PATH."""
    path = tmp_path / "bin"
    path.mkdir()
    monkeypatch.setenv("PATH", f"{path}:/usr/bin:/bin")
    return path


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


def test_the_rails_of_a_raspberry_pi_are_added_up_and_called_what_they_are(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "rails").write_text(captured.PMIC_RAILS)
    program(programs / "vcgencmd", f'[ "$1" = pmic_read_adc ] && cat {tmp_path}/rails')
    with opened("pmic:") as (meter, found):
        reading = meter.read()
    assert reading.watts == pytest.approx(7.23982, abs=1e-5)  # VDD_CORE alone: 6.22421 A x 0.861733 V = 5.36 W
    assert found.scope is Scope.BOARD
    assert "NOT WALL" in found.scope.headline
    assert not found.scope.whole_system
    assert found.identity["rails"].split()[:2] == ["3V7_WL_SW", "3V3_SYS"]
    assert "EXT5V" not in found.identity["rails"]
    assert PmicMeter.derive(reading.raw or "", parse_spec("pmic:")).watts == reading.watts


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo 'error=1 error_msg=\"Command not registered\"'", "only a Raspberry Pi 5"),
        ("echo VCHI failed >&2; exit 255", "VCHI failed"),
    ],
)
def test_another_raspberry_pi_has_no_rails(programs: Path, text: str, said: str) -> None:
    program(programs / "vcgencmd", text)
    with pytest.raises(MeterError, match=said):
        make_meter(parse_spec("pmic:")).open()


def test_a_raspberry_pi_without_the_program_is_told_which(programs: Path, tmp_path: Path) -> None:
    write(tmp_path / "proc/device-tree/model", "Raspberry Pi 5 Model B Rev 1.0\0")
    (found,) = PmicMeter.discover(Machine(tmp_path))
    assert (found.usable, found.fix) == (False, "sudo apt-get install raspi-utils")
    assert PmicMeter.discover(Machine(tmp_path / "elsewhere")) == []


@pytest.fixture
def jetson(tmp_path: Path) -> Path:
    """The chip of a Jetson AGX Thor as it was read; the voltages of its shunts and its address are not of that capture."""
    base, device = tmp_path / "sys/class/hwmon/hwmon5", tmp_path / "sys/bus/i2c/devices/2-0040"
    device.mkdir(parents=True)
    write(base / "name", "ina3221")
    (base / "device").symlink_to(device)
    for n, (label, millivolts, milliamperes) in enumerate(captured.INA3221_THOR, 1):
        for file, value in ((f"in{n}_label", label), (f"in{n}_input", millivolts), (f"curr{n}_input", milliamperes)):
            write(base / file, value)
        write(base / f"in{n + 3}_input", 640)
    write(base / "in7_label", "sum of shunt voltages")
    write(base / "in7_input", 1920)
    write(base / "curr4_input", 3340)  # a sum of currents: no rail
    return tmp_path


@pytest.mark.parametrize("n", [1, 2, 3])
def test_an_ina3221_gives_the_product_of_current_and_voltage(jetson: Path, n: int) -> None:
    label, millivolts, milliamperes = captured.INA3221_THOR[n - 1]
    with opened(f"hwmon:ina3221/curr{n}#root={jetson}") as (meter, found):
        reading = meter.read()
    assert reading.watts == pytest.approx(millivolts / 1000 * milliamperes / 1000)
    assert (reading.raw, found.scope) == (f"{milliamperes} {millivolts}", Scope.COMPONENT)
    assert label in found.title
    assert values_of(reading.raw or "", found.counter) == (reading.watts, None)


def test_the_rails_of_an_ina3221_are_listed_and_its_sums_are_not(jetson: Path) -> None:
    found = HwmonMeter.discover(Machine(jetson))
    assert [f.spec for f in found] == ["hwmon:ina3221/curr1", "hwmon:ina3221/curr2", "hwmon:ina3221/curr3"]
    assert [f.title.partition("(")[2] for f in found] == [f"{label})" for label, _, _ in captured.INA3221_THOR]
    assert all(f.usable for f in found)


@pytest.mark.parametrize(("micro_ohms", "quantum_w"), [(1000, 0.04 * 12.04), (100_000, 0.00768), (0, None)])
def test_the_steps_of_an_ina3221_are_those_of_its_shunt(jetson: Path, micro_ohms: int, quantum_w: float | None) -> None:
    """7.7056 W look like tenths of a milliwatt, and are counts of 40 uV over a shunt: half a watt over one of 1 milliohm. Over a
    large one the steps of the voltage count, 8 mV, or a whole milliampere."""
    write(jetson / "sys/class/hwmon/hwmon5/shunt1_resistor", micro_ohms)
    with opened(f"hwmon:ina3221/curr1#root={jetson}") as (_, found):
        assert found.quantum_w == (None if quantum_w is None else pytest.approx(max(quantum_w, 0.001 * 12.04)))


def test_an_input_that_is_labelled_as_not_connected_is_no_meter(jetson: Path) -> None:
    """The second chip of a Jetson AGX Orin labels two of its inputs so (rbonghi/jetson_stats, report 381, JetPack 5, 2023)."""
    write(jetson / "sys/class/hwmon/hwmon5/in1_label", "NC")
    first, second, _ = HwmonMeter.discover(Machine(jetson))
    assert (first.usable, first.why, second.usable) == (False, "nothing is connected to it", True)


def test_an_input_of_an_ina3221_that_nothing_is_connected_to_is_not_called_usable(tmp_path: Path) -> None:
    """On a Jetson AGX Orin the third voltage of the second chip answers with an error (alumet-dev/alumet, report 212, 2025)."""
    base = tmp_path / "sys/class/hwmon/hwmon2"
    for file, value in (("name", "ina3221"), ("in1_input", 4968), ("curr1_input", 1032), ("curr3_input", 8)):
        write(base / file, value)
    (base / "in3_input").mkdir()  # reading it is an error
    first, third = HwmonMeter.discover(Machine(tmp_path))
    assert (first.usable, third.usable, third.fix) == (True, False, "another input, or the wall")
    assert "in3_input cannot be read" in third.why


# A GeForce RTX 2080 Ti with driver 442.19, `--query-gpu=... --format=csv,nounits`: Quake4/MindMiner, thread 627, February 2020.
# It draws 228.82 W of 210.00 W, and a field that the driver does not know is `[Unknown Error]`. The UUID, the second card and the
# other values are not of that capture.
NVIDIA = """case "$*" in
*power.draw.instant*) echo 'Field "power.draw.instant" is not a valid field to query.'; exit 2 ;;
*name,uuid*) echo 'GeForce RTX 2080 Ti, GPU-8a56a4bc-e184-a047-2620-be19fdf913d5, 442.19, 228.82, 210.00' ;;
*index,name*) echo '0, GeForce RTX 2080 Ti, 228.82'; echo '1, NVIDIA GeForce GT 710, [N/A]' ;;
*loop-ms*) for w in 228.82 13.58 99.40; do echo $w; sleep 0.05; done; echo '[Unknown Error]'; exec sleep 60 ;;
esac"""


def test_a_graphics_card_gives_a_line_per_period(programs: Path) -> None:
    program(programs / "nvidia-smi", NVIDIA)
    with opened("nvidia:0#period=0.05") as (meter, found):
        assert [meter.read().watts for _ in range(3)] == [228.82, 13.58, 99.40]
        with pytest.raises(MeterError, match=r"\[Unknown Error\]"):
            meter.read()
        (pid,) = meter.pids()
    assert wait_for(lambda: not Path(f"/proc/{pid}").exists())
    assert (found.scope, found.identity["driver"]) == (Scope.COMPONENT, "442.19")
    assert (found.identity["field"], found.notes[-1][:16]) == ("power.draw", "this driver does")
    first, second = NvidiaMeter.discover(Machine())
    assert found.identity["power_limit_w"] == "210.00"
    assert (first.usable, second.usable, second.spec) == (True, False, "nvidia:1")


# An RTX 4000 SFF Ada, of which the driver reports 8.81 W as the mean and 8.44 W of the moment, limit 70 W: an XML report in
# influxdata/telegraf, plugins/inputs/nvidia_smi/testdata/rtx-4000-sff-ada-v13.xml. The number of the driver and the UUID are not
# of that capture. power.draw is the mean there, by NVIDIA's documentation of nvmlDeviceGetPowerUsage.
ADA = """case "$*" in
*name,uuid*) echo 'NVIDIA RTX 4000 SFF Ada Generation, GPU-1, 570.0, 8.81, 70.00' ;;
*power.draw.instant*) echo 8.44; case "$*" in *loop-ms*) exec sleep 60 ;; esac ;;
*) echo 8.81; exec sleep 60 ;;
esac"""


def test_a_card_that_tells_the_power_of_the_moment_is_asked_for_that(programs: Path) -> None:
    program(programs / "nvidia-smi", ADA)
    with opened("nvidia:0#period=0.05") as (meter, found):
        assert meter.read().watts == 8.44
    assert (found.identity["field"], found.notes) == ("power.draw.instant", ("one graphics card only",))


def test_a_card_that_does_not_measure_is_refused(programs: Path) -> None:
    program(programs / "nvidia-smi", "echo 'NVIDIA GeForce GT 710, GPU-1, 470.256.02, [N/A], [N/A]'")
    with pytest.raises(MeterError, match="does not measure"):
        make_meter(parse_spec("nvidia:")).open()


def test_the_simulated_meter_follows_the_load_and_says_what_it_is(tmp_path: Path) -> None:
    stat = "cpu  {} 0 0 {} 0 0 0 0 0 0"
    write(tmp_path / "proc/stat", stat.format(1000, 1000))
    with opened(f"sim:#idle=10,busy=50,root={tmp_path},period=0.05") as (meter, found):
        meter.read()
        idle = meter.read()
        write(tmp_path / "proc/stat", stat.format(10**9, 1000))
        busy = meter.read()
    assert (idle.watts, busy.watts) == (10.0, 50.0)
    assert found.simulated
    assert "SIMULATED" in found.title
    assert meter_class("sim").derive(idle.raw or "", meter.spec).watts == 10.0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "spec", ["sim:x", "sim:#idle=0,busy=1", "sim:#idle=9,busy=5", "nvidia:x y", "nut://h/ups#value=ups.load"]
)
def test_settings_that_mean_nothing_are_refused(spec: str) -> None:
    with pytest.raises(UsageError):
        make_meter(parse_spec(spec))
