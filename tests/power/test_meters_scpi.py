"""SCPI meters over a TCP socket, a pseudo terminal and PyVISA-sim."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import pytest
from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.evaluate import evaluate
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import Machine, Meter, parse_spec, with_settings
from ecosort_power.meters.scpi import ScpiMeter
from ecosort_power.quality import Window
from ecosort_power.reading import Capabilities, Flag, PowerKind, Reading, Scope, screen
from ecosort_power.transports.visa import resource_name

from .peers.instruments import Instrument, Lmg95, Lmg600, Wt310, on_socket, on_terminal
from .support import PEERS, free_port, listens, wait_for, write


@contextmanager
def opened(spec: str) -> Iterator[tuple[Meter, Capabilities]]:
    meter = make_meter(parse_spec(spec))
    try:
        yield meter, with_settings(meter.open(), meter.spec)
    finally:
        meter.close()


@contextmanager
def lmg95(line: str, instrument: Lmg95, settings: str = "") -> Iterator[tuple[Meter, Capabilities]]:
    """The same instrument behind a TCP gateway or on a serial line."""
    more = f"profile=lmg95,period=0.1{settings}"
    if line == "tcp":
        with on_socket(instrument) as port, opened(f"scpi://127.0.0.1:{port}#{more}") as result:
            yield result
    else:
        with on_terminal(instrument) as path, opened(f"scpi:{path}#{more}") as result:
            yield result


@pytest.mark.parametrize("line", ["tcp", "serial"])
def test_an_lmg95_pushes_power_with_its_true_cycle_time(line: str) -> None:
    instrument = Lmg95()
    with lmg95(line, instrument, ",irange=2.5,urange=250") as (meter, capabilities):
        readings = [meter.read() for _ in range(5)]
        assert not meter.paced
        assert capabilities.scope is Scope.WALL
        assert capabilities.power is PowerKind.AVERAGE
        assert capabilities.identity["serial"] == "12345678"
        assert capabilities.accuracy is None
        meter.close()
        wait_for(lambda: instrument.commands[-1] == "gtl")
    assert all(r.watts == 173.42 for r in readings)
    assert all(r.interval_s == pytest.approx(0.10004, rel=1e-3) for r in readings)
    assert not any(Flag.LOST in r.flags for r in readings)
    for command in ("iam manual;*opc?", "irng 2.5;*opc?", "uam manual;*opc?", "urng 250;*opc?", "cycl 0.1;*opc?"):
        assert command in instrument.commands


def test_an_lmg95_that_still_pushes_from_an_earlier_session_is_caught() -> None:
    instrument = Lmg95()
    instrument.values, instrument.pushing, instrument.cycle_s = ["count", "cycr", "p"], True, 0.02
    with lmg95("serial", instrument) as (meter, _):
        assert meter.read().watts == 173.42


def test_cycles_lost_on_the_way_are_flagged_by_their_number() -> None:
    instrument = Lmg95()
    with lmg95("tcp", instrument) as (meter, _):
        meter.read()
        instrument.lose = 2
        flags = [meter.read().flags for _ in range(4)]
    assert [Flag.LOST in f for f in flags].count(True) == 1


@pytest.mark.parametrize(("watts", "flag"), [(9.91e37, Flag.NAN), (9.9e37, Flag.SATURATED), (-9.9e37, Flag.SATURATED)])
def test_the_instruments_own_words_for_no_number_are_understood(watts: float, flag: Flag) -> None:
    instrument = Lmg95()
    instrument.watts = watts
    with lmg95("tcp", instrument) as (meter, capabilities):
        reading = screen(meter.read(), capabilities)
    assert flag in reading.flags
    assert not reading.usable


def test_the_energy_of_an_lmg95_is_the_sum_of_power_times_cycle_time() -> None:
    """Its lines count as if each had come at the end of its cycle, so that a busy machine makes no difference."""
    instrument = Lmg95()
    with lmg95("tcp", instrument) as (meter, capabilities):
        came: list[Reading] = []
        for watts in (50.0, 120.0, 50.0):
            instrument.watts = watts
            came += [meter.read() for _ in range(8)]
    assert {r.watts for r in came} == {50.0, 120.0}
    ends = list(accumulate((r.interval_s or 0.0 for r in came), initial=1000.0))[1:]
    readings = [replace(r, before_s=t, after_s=t) for r, t in zip(came, ends, strict=True)]
    window = Window(ends[0], ends[2], ends[-3], ends[-1])
    found = evaluate("lmg", readings, capabilities, window, [])
    assert found.joules == pytest.approx(sum((r.watts or 0.0) * (r.interval_s or 0.0) for r in came[3:-2]))


def test_an_lmg600_is_stopped_by_its_break_channel_and_read_by_channel() -> None:
    instrument = Lmg600()
    instrument.values, instrument.pushing, instrument.cycle_s = ["durnorm1", "p1"], True, 0.02
    with (
        on_socket(instrument, break_channel=True) as port,
        opened(f"scpi://127.0.0.1:{port}#profile=lmg600,period=0.1,irange=5") as (meter, capabilities),
    ):
        reading = meter.read()
    assert instrument.commands.index("<break>") < instrument.commands.index("*IDN?")
    assert reading.watts == 173.42
    assert "LMG671" in capabilities.title
    for command in ("*zlang short", "iauto1 0;*opc?", "irng1 5;*opc?", "actn;durnorm1?;p1?"):
        assert command in instrument.commands


def test_a_wt310_gives_its_own_integral_and_its_accuracy() -> None:
    instrument = Wt310()
    with on_socket(instrument) as port, opened(f"scpi://127.0.0.1:{port}#profile=wt310,period=0.25") as (meter, capabilities):
        first = meter.read()
        time.sleep(0.3)
        second = meter.read()
    assert second.watts == pytest.approx(173.42)
    elapsed = second.mid_s - first.mid_s
    latency = (second.after_s - second.before_s) + (first.after_s - first.before_s)
    assert (second.joules or 0) - (first.joules or 0) == pytest.approx(173.42 * elapsed, abs=173.42 * latency + 0.1)
    assert capabilities.accuracy is not None
    assert capabilities.accuracy.gain == 0.001
    assert capabilities.accuracy.offset_w == pytest.approx(0.0005 * 600)
    assert capabilities.range_w == pytest.approx(780)
    for command in (":INPUT:VOLT:AUTO OFF", ":INPUT:CURR:AUTO OFF", ":INTEG:RES", ":INTEG:STAR", ":RATE 250MS"):
        assert command in instrument.commands
    wait_for(lambda: ":INTEG:STOP" in instrument.commands)  # sent last; nothing answers it


def test_an_error_after_set_up_is_told() -> None:
    instrument = Wt310()
    instrument.error = '841,"Invalid setting"'
    with on_socket(instrument) as port, pytest.raises(MeterError, match="Invalid setting"):
        make_meter(parse_spec(f"scpi://127.0.0.1:{port}#profile=wt310")).open()


SIM = f"visa-library={PEERS / 'sim.yaml'}@sim,termination=crlf"


def test_a_generic_instrument_over_pyvisa_sim() -> None:
    with opened(f"scpi:ASRL1::INSTR#profile=generic,scope=wall,{SIM}") as (meter, capabilities):
        assert meter.read().watts == 173.42
        assert "LMG95" in capabilities.title
        assert capabilities.scope is Scope.WALL


def test_a_usb_instrument_is_addressed_by_its_visa_name() -> None:
    with opened(f"scpi:USB0::0x0B21::0x0025::C2QG12345::INSTR#profile=generic,visa-library={PEERS / 'sim.yaml'}@sim") as (
        meter,
        _,
    ):
        assert meter.read().watts == 173.42


def test_a_usb_instrument_of_the_machine_is_listed_with_its_address(tmp_path: Path) -> None:
    write(tmp_path / "dev/usbtmc0", "")
    device = tmp_path / "sys/devices/usb1/1-2"
    for name, value in (("idVendor", "0b21"), ("idProduct", "0025"), ("serial", "C2Q"), ("manufacturer", "YOKOGAWA")):
        write(device / name, value)
    interface = tmp_path / "sys/class/usbmisc/usbtmc0/device"
    interface.parent.mkdir(parents=True)
    (device / "1-2:1.0").mkdir()
    interface.symlink_to(device / "1-2:1.0")
    (finding,) = ScpiMeter.discover(Machine(tmp_path))
    assert finding.fix == "try --meter scpi:USB0::0x0B21::0x0025::C2Q::INSTR#profile=wt310"
    assert "YOKOGAWA" in finding.title
    assert make_meter(parse_spec(finding.spec))


def test_a_generic_instrument_that_answers_with_words_is_a_glitch() -> None:
    spec = f"scpi:ASRL1::INSTR#profile=generic,command=FETC:TEXT?,{SIM}"
    with opened(spec) as (meter, _), pytest.raises(MeterGlitchError, match="in place of numbers"):
        meter.read()


def test_an_instrument_that_says_nothing_is_told() -> None:
    with on_socket(Instrument()) as port, pytest.raises(MeterError, match="in time"):
        make_meter(parse_spec(f"scpi://127.0.0.1:{port}#profile=generic,timeout=0.3")).open()


def test_no_instrument_at_the_address_is_told() -> None:
    with pytest.raises(MeterError, match=r"check cable|cannot be opened"):
        make_meter(parse_spec(f"scpi://127.0.0.1:{free_port()}#profile=wt310,timeout=0.5")).open()
    with pytest.raises(MeterError, match="cannot be opened"):
        make_meter(parse_spec("scpi:/dev/ttyNONE#profile=lmg95")).open()


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("//h:5025", "TCPIP0::h::5025::SOCKET"),
        ("/dev/ttyUSB0", "ASRL/dev/ttyUSB0::INSTR"),
        ("USB0::0x0B21::0x0025::X::INSTR", "USB0::0x0B21::0x0025::X::INSTR"),
    ],
)
def test_addresses_become_visa_names(address: str, name: str) -> None:
    assert resource_name(address) == name


@pytest.mark.parametrize("spec", ["scpi:/dev/ttyUSB0", "scpi:x#profile=lmg95", "scpi://h#profile=lmg95"])
def test_what_is_missing_in_an_address_is_said(spec: str) -> None:
    with pytest.raises(UsageError, match=r"profile|SOCKET|HOST"):
        make_meter(parse_spec(spec)).open()


def test_a_second_measurement_is_kept_off_a_serial_line() -> None:
    """It would take cycles away from the first one. When that has ended the line is free, and a meter finds its own again."""
    with on_terminal(Lmg95()) as path:
        spec = parse_spec(f"scpi:{path}#profile=lmg95,period=0.1,irange=2.5,urange=250")
        with opened(spec.text) as (meter, _):
            second = make_meter(spec)
            for _ in range(2):
                with pytest.raises(MeterError, match=f"{path} is read by another measurement; end that one first"):
                    second.open()
            assert meter.read().watts == 173.42
            meter.close()
            meter.open()
            assert meter.read().watts == 173.42
        with opened(spec.text) as (meter, _):
            assert meter.read().watts == 173.42


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """HOST:PORT and serial line of a WT310E in the program sinstruments-server."""
    directory = tmp_path_factory.mktemp("sinstruments")
    port, line = free_port(), directory / "line"
    transports = [{"type": "tcp", "url": ["127.0.0.1", port]}, {"type": "serial", "url": str(line)}]
    device = {"name": "wt310e", "class": "Wattmeter", "package": "wattmeter", "transports": transports}
    (directory / "server.json").write_text(json.dumps({"devices": [device]}))
    words = [str(Path(sys.executable).parent / "sinstruments-server"), "-c", str(directory / "server.json")]
    with (directory / "log").open("wb") as log:
        child = subprocess.Popen(
            words, env={**os.environ, "PYTHONPATH": str(PEERS)}, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        wait_for(lambda: (line.exists() and listens(port)) or child.poll() is not None)
        assert child.poll() is None, (directory / "log").read_text()
        yield f"127.0.0.1:{port}", line
    finally:
        child.kill()
        child.wait()


def test_a_wt310e_of_another_simulator_is_read_over_tcp(simulator: tuple[str, Path]) -> None:
    with opened(f"scpi://{simulator[0]}#profile=wt310,period=0.1") as (meter, found):
        first, second = meter.read(), meter.read()
    assert (first.watts, found.identity["voltage_range"]) == (41.7, "300 V")
    assert second.joules is not None
    assert first.joules is not None
    assert second.joules >= first.joules >= 0.0
    assert found.accuracy is not None
    assert found.accuracy.offset_w == pytest.approx(0.0005 * 600)


def test_a_wt310e_of_another_simulator_is_read_over_a_serial_line(simulator: tuple[str, Path]) -> None:
    device = str(simulator[1].resolve())
    with opened(f"scpi:{device}#profile=wt310,period=0.1") as (meter, found):
        assert meter.read().watts == 41.7
    assert "WT310E" in found.title
