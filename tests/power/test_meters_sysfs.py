"""RAPL and hwmon on a fake tree, wrap-around and closed files included."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import Machine, parse_spec
from ecosort_power.meters.hwmon import HwmonMeter
from ecosort_power.meters.rapl import RaplMeter
from ecosort_power.reading import PowerKind, Scope

from .support import write

WRAP = 262_143_328_850


@pytest.fixture
def rapl(tmp_path: Path) -> Path:
    base = tmp_path / "sys/class/powercap"
    zones = {"intel-rapl:0": "package-0", "intel-rapl:0:0": "core", "intel-rapl:0:1": "dram", "intel-rapl:1": "psys"}
    for zone, name in zones.items():
        write(base / zone / "name", name)
        write(base / zone / "energy_uj", 1_000_000)
        write(base / zone / "max_energy_range_uj", WRAP)
    return tmp_path


def set_uj(root: Path, zone: str, value: int) -> None:
    write(root / "sys/class/powercap" / zone / "energy_uj", value)


def test_packages_and_memory_are_summed_and_their_parts_are_not(rapl: Path) -> None:
    meter = make_meter(parse_spec(f"rapl:#root={rapl}"))
    capabilities = meter.open()
    for zone, value in (("intel-rapl:0", 6_000_000), ("intel-rapl:0:0", 9_000_000), ("intel-rapl:0:1", 3_000_000)):
        set_uj(rapl, zone, value)
    assert meter.read().joules == pytest.approx(5 + 2)
    assert capabilities.scope is Scope.PACKAGE
    assert "package-0" in capabilities.title
    assert any("not comparable" in n for n in capabilities.notes)


def test_each_zone_wraps_by_itself(rapl: Path) -> None:
    set_uj(rapl, "intel-rapl:0", WRAP - 1_000_000)
    meter = make_meter(parse_spec(f"rapl:#root={rapl}"))
    meter.open()
    set_uj(rapl, "intel-rapl:0", 2_000_000)
    first = meter.read()
    set_uj(rapl, "intel-rapl:0", 5_000_000)
    set_uj(rapl, "intel-rapl:0:1", 4_000_000)
    assert first.joules == pytest.approx(3.0)
    assert meter.read().joules == pytest.approx(3 + 3 + 3)
    assert first.raw == "2000000 1000000"


def test_one_zone_can_be_chosen(rapl: Path) -> None:
    meter = make_meter(parse_spec(f"rapl:package-0#root={rapl}"))
    meter.open()
    set_uj(rapl, "intel-rapl:0:1", 99_000_000)
    assert meter.read().joules == 0.0


def test_an_unknown_zone_names_those_there_are(rapl: Path) -> None:
    with pytest.raises(UsageError, match="package-0"):
        make_meter(parse_spec(f"rapl:package-7#root={rapl}")).open()


def test_closed_counters_come_with_the_rule_that_opens_them(rapl: Path) -> None:
    meter = RaplMeter(parse_spec(f"rapl:#root={rapl}"))
    (rapl / "sys/class/powercap/intel-rapl:0/energy_uj").unlink()
    (rapl / "sys/class/powercap/intel-rapl:0/energy_uj").mkdir()  # unreadable for root, too
    with pytest.raises(MeterError, match="udev rule"):
        meter.open()
    finding = RaplMeter.discover(Machine(rapl))[0]
    assert not finding.usable
    assert "5.10" in finding.why
    assert "chmod o+r" in finding.fix


def test_too_rare_reading_is_refused_because_a_wrap_would_be_missed(rapl: Path) -> None:
    with pytest.raises(UsageError, match="every 10 s"):
        make_meter(parse_spec(f"rapl:#root={rapl},period=60"))


def test_without_rapl_the_reason_and_the_fix_are_said(tmp_path: Path) -> None:
    write(tmp_path / "proc/cpuinfo", "flags\t\t: fpu vme hypervisor")
    finding = RaplMeter.discover(Machine(tmp_path))[0]
    assert "virtual machine" in finding.why
    assert finding.fix
    with pytest.raises(MeterError, match="modprobe"):
        make_meter(parse_spec(f"rapl:#root={tmp_path}")).open()


@pytest.fixture
def hwmon(tmp_path: Path) -> Path:
    base = tmp_path / "sys/class/hwmon"
    write(base / "hwmon0/name", "corsairpsu")
    write(base / "hwmon0/power1_input", 87_500_000)
    write(base / "hwmon0/power1_label", "power total")
    write(base / "hwmon1/name", "power_meter")
    write(base / "hwmon1/power1_average", 120_000_000)
    write(base / "hwmon1/power1_average_interval", 1500)
    write(base / "hwmon2/name", "amd_energy")
    write(base / "hwmon2/energy1_input", 5_000_000)
    write(base / "hwmon2/energy2_input", 7_000_000)
    write(base / "hwmon3/name", "nvme")
    write(base / "hwmon3/temp1_input", 40_000)
    return tmp_path


def test_hwmon_power_energy_and_average(hwmon: Path) -> None:
    psu = make_meter(parse_spec(f"hwmon:corsairpsu#root={hwmon}"))
    assert psu.open().scope is Scope.PSU
    assert psu.read().watts == 87.5
    acpi = make_meter(parse_spec(f"hwmon:power_meter/power1#root={hwmon}"))
    found = acpi.open()
    assert (found.power, found.window_s, found.scope) == (PowerKind.AVERAGE, 1.5, Scope.BMC)
    assert acpi.read().watts == 120.0
    energy = make_meter(parse_spec(f"hwmon:amd_energy/energy2#root={hwmon}"))
    assert energy.open().scope is Scope.COMPONENT
    assert energy.read().joules == 7.0


def test_hwmon_asks_which_of_several(hwmon: Path) -> None:
    with pytest.raises(UsageError, match="amd_energy/energy1"):
        make_meter(parse_spec(f"hwmon:amd_energy#root={hwmon}")).open()


def test_hwmon_lists_what_is_there(hwmon: Path) -> None:
    found = HwmonMeter.discover(Machine(hwmon))
    assert {f.spec for f in found} == {
        "hwmon:corsairpsu/power1",
        "hwmon:power_meter/power1",
        "hwmon:amd_energy/energy1",
        "hwmon:amd_energy/energy2",
    }
    assert all(f.usable for f in found)


@pytest.mark.parametrize(
    ("supply", "kind", "chip", "linked"),
    [
        ("BAT0", "Battery", "BAT0", True),
        ("sbs-20-000b", "Battery", "sbs_20_000b", False),  # the kernel puts _ for - into the names of chips
        ("hid-ups", "UPS", "hid_ups", True),
        ("hid-ups", "UPS", "anything", True),
    ],
)
@pytest.mark.parametrize("status", ["Charging", "Discharging"])
def test_a_battery_or_ups_that_the_kernel_shows_as_a_chip_is_left_to_battery(
    hwmon: Path, supply: str, kind: str, chip: str, linked: bool, status: str
) -> None:
    base, device = hwmon / "sys/class/hwmon/hwmon4", hwmon / "sys/class/power_supply" / supply
    write(device / "type", kind)
    write(device / "status", status)
    write(base / "name", chip)
    write(base / "power1_input", 45_000_000)
    if linked:
        (base / "device").symlink_to(device)
    (found,) = (f for f in HwmonMeter.discover(Machine(hwmon)) if chip in f.spec)
    assert not found.usable
    assert f"battery:{supply}" in found.fix
    with pytest.raises(MeterError, match=f"is {supply}, a battery or UPS"):
        make_meter(parse_spec(f"hwmon:{chip}/power1#root={hwmon}")).open()


def test_two_chips_of_one_name_have_addresses_of_their_own(hwmon: Path) -> None:
    """By their device, which stays: the number of hwmonN is another after the next boot."""
    base = hwmon / "sys/class/hwmon"
    for number, bus, watts in ((7, "0000:03:00.0", 31), (12, "0000:41:00.0", 47)):
        device = hwmon / "sys/devices" / bus
        device.mkdir(parents=True)
        write(base / f"hwmon{number}/name", "amdgpu")
        write(base / f"hwmon{number}/power1_input", watts * 1_000_000)
        (base / f"hwmon{number}/device").symlink_to(device)
    specs = [f.spec for f in HwmonMeter.discover(Machine(hwmon)) if "amdgpu" in f.spec]
    assert specs == ["hwmon:amdgpu@0000:03:00.0/power1", "hwmon:amdgpu@0000:41:00.0/power1"]
    for spec, watts in zip(specs, (31.0, 47.0), strict=True):
        meter = make_meter(parse_spec(f"{spec}#root={hwmon}"))
        meter.open()
        assert meter.read().watts == watts
    with pytest.raises(UsageError, match=r"several sensors fit.*amdgpu@0000:41:00.0/power1"):
        make_meter(parse_spec(f"hwmon:amdgpu/power1#root={hwmon}")).open()


def test_a_sensor_that_vanishes_is_an_error_of_the_reading(hwmon: Path) -> None:
    meter = make_meter(parse_spec(f"hwmon:corsairpsu#root={hwmon}"))
    meter.open()
    os.unlink(hwmon / "sys/class/hwmon/hwmon0/power1_input")  # noqa: PTH108
    with pytest.raises(MeterError, match="cannot be read"):
        meter.read()
