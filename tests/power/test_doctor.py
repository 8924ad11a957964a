"""`ecosort-power doctor`, and the rehearsal with a simulated meter."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import forked
import pytest
from ecosort_power.expect import expect, seconds_of
from ecosort_power.machine_checks import State, drive_heat, frequency, pi_throttling, space, throttling
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import Machine, parse_spec, with_settings
from ecosort_power.meters.exec import capabilities_from
from ecosort_power.reading import Accuracy, Capabilities, PowerKind, Scope
from ecosort_power.statistics import describe

from .measured import Measured
from .stored import write_result
from .support import BUILD, CHECK, PEERS, Cli, cli_env, fake_sort, write

PLUG = Capabilities("plug", Scope.WALL, 1.0, PowerKind.AVERAGE, update_s=1.0, lag_s=0.0, window_s=1.0, accuracy=Accuracy(0.01))


def test_the_uncertainty_that_a_run_will_have_falls_with_its_length() -> None:
    found = [expect(s, 20, 60, PLUG) for s in (12.0, 60.0, 600.0)]
    shares = [e.share for e in found]
    assert all(s is not None for s in shares)
    assert shares == sorted(shares, reverse=True)  # type: ignore[type-var]
    assert shares[-1] == pytest.approx(0.01, abs=0.002)
    assert not any(e.known_only for e in found)
    assert expect(60, 20, 60, replace(PLUG, accuracy=None)).known_only


def test_a_run_that_is_too_short_for_the_meter_is_said() -> None:
    found = expect(10, 20, 60, replace(PLUG, period_s=60.0, update_s=60.0, window_s=60.0))
    assert found.share is None
    assert "too short" in found.text()


# raspberrypi.com, documentation of vcgencmd: the bits of get_throttled.
@pytest.mark.parametrize(
    ("text", "state", "said"),
    [
        ("throttled=0x0", State.OK, "no under-voltage"),
        ("throttled=0x50005", State.PROBLEM, "now: under-voltage, throttling"),
        ("throttled=0x50000", State.WARNING, "since it was started: under-voltage, throttling"),
        ("throttled=0x8", State.PROBLEM, "soft temperature limit"),
        ("VCHI initialization failed", State.WARNING, "VCHI"),
    ],
)
def test_under_voltage_and_throttling_of_a_raspberry_pi(text: str, state: State, said: str) -> None:
    found = pi_throttling(text)
    assert (found.state, said in found.text) == (state, True), found
    assert bool(found.todo) is (state is not State.OK)


def test_what_keeps_processors_slow(tmp_path: Path) -> None:
    """A governor or a limit that no one sees makes a run slow, or its energy low, without a reason in the result."""
    machine, policy = Machine(tmp_path), tmp_path / "sys/devices/system/cpu/cpufreq/policy4"
    assert frequency(machine) == []
    values = {"scaling_driver": "cpufreq-dt", "scaling_governor": "schedutil", "scaling_max_freq": 2400, "cpuinfo_max_freq": 2400}
    for name, value in values.items():
        write(policy / name, value)
    cooling = tmp_path / "sys/class/thermal/cooling_device0"
    write(cooling / "type", "cpufreq-cpu4")
    write(cooling / "cur_state", 0)
    assert [check.state for check in frequency(machine)] == [State.OK]
    write(policy / "scaling_governor", "powersave")
    write(policy / "scaling_max_freq", 1500)
    write(cooling / "cur_state", 2)
    slow = frequency(machine)
    assert {check.state for check in slow} == {State.WARNING}
    assert [word in check.text for word, check in zip(("powersave", "policy4", "hot"), slow, strict=True)] == [True] * 3
    write(policy / "scaling_driver", "intel_pstate")
    assert len(frequency(machine)) == 2


def test_throttling_heat_and_space_of_a_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert throttling(Machine(tmp_path)).state is State.OK
    write(tmp_path / "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", 3)
    assert "3 times" in throttling(Machine(tmp_path)).text
    write(tmp_path / "proc/device-tree/model", "Raspberry Pi 5 Model B Rev 1.0")
    assert "vcgencmd" in throttling(Machine(tmp_path)).text
    write(tmp_path / "sys/class/hwmon/hwmon0/name", "nvme")
    write(tmp_path / "sys/class/hwmon/hwmon0/temp1_input", 79_000)
    write(tmp_path / "sys/class/hwmon/hwmon0/temp1_max", 81_850)
    (heat,) = drive_heat(Machine(tmp_path))
    assert heat.state is State.WARNING
    assert space(tmp_path / "not/yet", 10**15).state is State.PROBLEM
    assert space(tmp_path, 1000).state is State.OK
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "may not write" in space(tmp_path, 1000).text


def test_without_a_profile_it_is_said_why_the_length_of_a_run_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{BUILD}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert seconds_of(10**6, tmp_path) == (None, "there is no profile of this machine: ecosort tune probe, then ecosort tune fit")
    assert list(tmp_path.iterdir()) == []


def examine(directory: Path, mark: pytest.Mark) -> subprocess.CompletedProcess[str]:
    meter = f"wall=exec:{sys.executable} {PEERS / 'lagging_meter.py'} 0.3 0 0.1#scope=wall,accuracy=1%"
    words = (
        "doctor",
        "--meter",
        meter,
        "--load",
        f"bash {PEERS / 'meter_load.sh'}",
        "--records",
        "1000",
        "--seconds",
        "60",
        "--probe",
        "8",
    )
    return forked.run("ecosort_power", [*words, "--json"], cwd=directory, env=cli_env())


@pytest.mark.measured(by=examine)
def test_the_doctor_has_a_line_for_all_there_is_to_know(measured: subprocess.CompletedProcess[str]) -> None:
    checks = json.loads(measured.stdout)
    text = "\n".join(f"{c['state']} {c['name']}: {c['text']}" for c in checks)
    for wanted in (
        "W now",
        "period: a new value every",
        "quantum:",
        "lag:",
        "accuracy: ±(1 %)",
        "expected uncertainty of a run of 1000",
    ):
        assert wanted in text, text
    assert {"load", "throttling", "clock", "space"} <= {c["name"] for c in checks}
    assert all(c["todo"] for c in checks if c["state"] != "ok"), text
    assert measured.returncode == 0, text


def test_the_doctor_says_what_to_do_without_a_meter(cli: Cli) -> None:
    done = cli("doctor", "--meter", "shelly://127.0.0.1:9#timeout=1", "--records", "10")
    assert done.returncode == 1
    assert "problem  shelly: " in done.stdout
    assert "-> " in done.stdout


@pytest.mark.measured("--meter", "sim:#period=0.05", *CHECK, "--runs", "2", command=fake_sort())
def test_a_rehearsal_says_simulated_everywhere_and_is_never_ranked(measured: Measured, cli: Cli) -> None:
    assert measured.done.returncode == 0, measured.done.stdout + measured.done.stderr
    assert "SIMULATED" in measured.done.stdout
    for form in ("terminal", "markdown", "html", "json"):
        text = cli("report", measured.result, "--format", form).stdout
        assert "SIMULATED, no measurement" in text, form
        assert "would be number" not in text, form
    summary = json.loads((measured.result / "summary.json").read_text())
    assert summary["simulated"]
    assert "SIMULATED" in summary["standing"]


@pytest.mark.measured("--meter", "sim:#period=0.05", *CHECK, "--runs", "2", command=fake_sort())
def test_a_rehearsal_is_not_compared_with_a_measurement(measured: Measured, cli: Cli, tmp_path: Path) -> None:
    write_result(tmp_path / "real")
    done = cli("compare", tmp_path / "real", measured.result)
    assert (done.returncode, "SIMULATED" in done.stderr) == (2, True)
    assert "both results are SIMULATED" in cli("compare", measured.result, measured.result).stdout


@pytest.mark.measured("--meter", "sim:#period=0.05,scope=wall", *CHECK, "--runs", "2", command=fake_sort("--hard"))
def test_a_simulated_meter_is_nowhere_not_even_by_the_users_word(measured: Measured, cli: Cli) -> None:
    assert measured.done.returncode == 0, measured.done.stdout + measured.done.stderr
    texts = [measured.done.stdout, (measured.result / "summary.json").read_text()]
    texts += [cli("report", measured.result, "--format", form).stdout for form in ("terminal", "markdown", "html", "json")]
    for text in texts:
        assert "SIMULATED" in text
        assert "records per joule (at the wall)" not in text
        assert "(computed, measured nowhere)" in text
    assert ">at the wall<" not in texts[4]


@pytest.mark.parametrize(
    ("spec", "simulated"), [("sim:", True), ("sim:#scope=wall", True), ("csv:x#simulated=yes,scope=wall", True), ("csv:x", False)]
)
def test_what_is_simulated_has_no_scope(spec: str, simulated: bool) -> None:
    parsed = parse_spec(spec)
    found = with_settings(make_meter(parsed).open(), parsed)
    assert found.simulated is simulated
    assert (found.scope is Scope.SIMULATED) is simulated


def test_a_meter_program_may_say_that_its_values_are_made_up() -> None:
    assert capabilities_from({"simulated": True}, {"watts": 1.0}, "x").simulated
    assert not capabilities_from({"simulated": False}, {"watts": 1.0}, "x").simulated


@pytest.mark.parametrize(("joules", "zero"), [([100.0, 108.0], False), ([100.0, 190.0], True), ([100.0, 101.0, 99.0], False)])
def test_an_interval_that_includes_zero_is_told(joules: list[float], zero: bool) -> None:
    sample = describe(joules)
    assert sample.includes_zero is zero
    assert (sample.mean - (sample.ci95 or 0.0) <= 0) is zero


def flat_meter(directory: Path) -> str:
    """A program whose watts have nothing to do with the load."""
    program = directory / "flat meter.py"
    lines = ("import time", "i = 0", "while True:", " i += 1", " watts = 40 + i * 7919 % 13 / 10")
    program.write_text("\n".join((*lines, " print(f'{{\"watts\": {watts}}}', flush=True)", " time.sleep(0.1)\n")))
    return f"exec:{sys.executable} '{program}'"


def examine_flat(directory: Path, mark: pytest.Mark) -> tuple[str, str]:
    meter = f"{flat_meter(directory)}#scope=wall,period=0.1,update=0.1,accuracy=1%{mark.kwargs['lag']}"
    words = ["doctor", "--meter", meter, "--seconds", "60", "--probe", "5", "--load", "sleep 60"]
    return meter, forked.run("ecosort_power", words, cwd=directory, env=cli_env()).stdout


UNSEEN = [pytest.param(lag, marks=pytest.mark.measured(by=examine_flat, lag=lag)) for lag in ("", ",lag=0,window=0")]


@pytest.mark.parametrize("lag", UNSEEN)
def test_the_uncertainty_is_told_although_the_lag_was_not_seen(measured: tuple[str, str], lag: str) -> None:
    meter, said = measured
    assert "expected uncertainty of a run: 60 s: +-" in said
    assert f"ecosort-power probe {shlex.quote(meter)} --seconds 120" in said
    if lag:
        assert "ok       exec: lag: 0 s as stated" in said
        assert "warning  exec: load: not seen in its values" in said
    else:
        assert "warning  exec: lag: not seen" in said
        assert "one of up to 1 s is allowed for" in said


def test_a_directory_that_is_not_there_is_one_line_at_once(cli: Cli) -> None:
    done = cli("doctor", "--meter", "sim:", "--dir", "/nonexistent")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "ecosort-power: --dir /nonexistent is no directory; name the one where it will be sorted\n"
