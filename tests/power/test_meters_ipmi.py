"""The BMC meter against ipmi_sim with unmodified ipmitool: DCMI, sensors, wrong passwords, a BMC that dies."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ecosort_power import sampler
from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters import ipmi, make_meter
from ecosort_power.meters.base import Machine, parse_spec, with_settings
from ecosort_power.meters.ipmi import IpmiMeter, Sensor, choose_sensors, parse_dcmi, parse_sdr
from ecosort_power.reading import Flag, Scope

from .peers.ipmi_bmc import PASSWORD, Bmc, build_module
from .support import free_port, opened, wait_for


@pytest.fixture(scope="session")
def dcmi_module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_module(tmp_path_factory.mktemp("dcmi"))


@pytest.fixture
def bmc(
    tmp_path: Path, request: pytest.FixtureRequest, require: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bmc]:
    """With DCMI, unless the test is marked by `bmc` parametrised with False."""
    require("ipmi_sim")
    require("ipmitool")
    with_dcmi = getattr(request, "param", True)
    module = request.getfixturevalue("dcmi_module") if with_dcmi else None
    monkeypatch.setenv("IPMITOOL_PASSWORD", PASSWORD)
    directory = tmp_path / "bmc"
    directory.mkdir()
    peer = Bmc(directory, free_port(socket.SOCK_DGRAM), module)
    try:
        wait_for(peer.answers, 30)
        yield peer
    finally:
        peer.stop()


def test_dcmi_is_preferred_and_every_reading_is_fresh(bmc: Bmc) -> None:
    with opened(bmc.address) as (meter, capabilities):
        assert "DCMI" in capabilities.title
        assert capabilities.scope is Scope.BMC
        assert capabilities.quantum_w == 1.0
        for watts in (200, 303, 41):
            bmc.set_watts(watts)
            reading = meter.read()
            assert reading.watts == watts
            assert reading.stamp is not None


def test_the_password_is_on_no_command_line(bmc: Bmc) -> None:
    with opened(bmc.address) as (meter, _):
        (pid,) = meter.pids()
        assert PASSWORD.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()
        assert b"-E" in Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.parametrize("bmc", [False], indirect=True)
def test_without_dcmi_the_system_sensor_is_read_with_its_quantum(bmc: Bmc) -> None:
    with opened(bmc.address) as (meter, capabilities):
        assert "Pwr Consumption" in capabilities.title
        assert capabilities.quantum_w == 4.0
        bmc.set_watts(303)
        wait_for(lambda: meter.read().watts == 304, 10)


def test_sensors_can_be_named_and_added(bmc: Bmc) -> None:
    with opened(f"{bmc.address}#sensor=PS1 Input Power") as (meter, capabilities):
        assert capabilities.scope is Scope.PSU
        assert capabilities.quantum_w == 1.0
        wait_for(lambda: meter.read().watts == 100, 10)
    with opened(f"{bmc.address}#sensor=PS1 Input Power+Pwr Consumption") as (meter, capabilities):
        assert capabilities.quantum_w == 5.0
        wait_for(lambda: meter.read().watts == 300, 10)


def test_an_unknown_sensor_names_those_there_are(bmc: Bmc) -> None:
    with pytest.raises(UsageError, match="PS1 Input Power"):
        make_meter(parse_spec(f"{bmc.address}#sensor=Fan 3")).open()


def test_a_wrong_password_is_an_error_with_advice(bmc: Bmc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPMITOOL_PASSWORD", "wrong-one")
    with pytest.raises(MeterError, match=r"Unable to establish .*session.*check address, user, password") as caught:
        make_meter(parse_spec(bmc.address)).open()
    assert "wrong-one" not in str(caught.value)


def test_a_cipher_suite_that_the_bmc_refuses_is_an_error(bmc: Bmc) -> None:
    with pytest.raises(MeterError, match="cipher suite"):
        make_meter(parse_spec(f"{bmc.address}#cipher=17")).open()


def test_no_bmc_at_the_address_is_an_error(require: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    require("ipmitool")
    monkeypatch.setenv("IPMITOOL_PASSWORD", PASSWORD)
    meter = make_meter(parse_spec(f"ipmi://joule@127.0.0.1:{free_port(socket.SOCK_DGRAM)}#timeout=1"))
    with pytest.raises(MeterError, match="check address"):
        meter.open()


def test_a_vanished_source_is_a_glitch_and_comes_back(bmc: Bmc) -> None:
    with opened(bmc.address) as (meter, _):
        (bmc.directory / "watts").rename(bmc.directory / "gone")
        with pytest.raises(MeterGlitchError, match="DCMI power reading failed"):
            meter.read()
        bmc.set_watts(77)
        assert meter.read().watts == 77


def test_a_dead_bmc_is_noticed_and_no_shell_is_left(bmc: Bmc) -> None:
    with opened(f"{bmc.address}#timeout=1") as (meter, _):
        (pid,) = meter.pids()
        bmc.stop()
        with pytest.raises(MeterGlitchError, match="did not answer"):
            meter.read()
    assert not Path(f"/proc/{pid}").exists()


def test_a_bmc_that_restarts_is_found_again(bmc: Bmc, monkeypatch: pytest.MonkeyPatch) -> None:
    """The restarted BMC does not know the session; only a new one helps."""
    monkeypatch.setattr(sampler, "DEAD_S", 9.0)
    meter = make_meter(parse_spec(f"{bmc.address}#timeout=1,period=0.2"))
    thread = sampler.Sampler("bmc", meter, with_settings(meter.open(), meter.spec))
    thread.begin_segment(None)
    thread.start()
    try:
        wait_for(lambda: any(r.watts == 200 for r in thread.since(0)))
        bmc.stop()
        wait_for(lambda: any(Flag.ERROR in r.flags for r in thread.since(0)))
        bmc.set_watts(333)
        bmc.start()
        wait_for(lambda: any(r.watts == 333 for r in thread.since(0)), 40)
        assert thread.death is None
    finally:
        thread.stop()


class ToyShell:
    """Stands for `ipmitool shell` of a BMC that has these answers."""

    def __init__(self, answers: dict[str, list[str]]) -> None:
        self.answers, self.lines, self.pid = answers, list[str](), 0

    def write(self, text: str) -> None:
        command = text.split("\n")[0]
        self.lines += [*self.answers.get(command, ["Invalid command"]), "ipmitool>"]

    def read_line(self, timeout_s: float) -> str:
        return self.lines.pop(0)

    def close(self, farewell: str) -> None:
        self.lines.clear()


DEACTIVATED = [" dc c8 00 c8 00 c8 00 c8 00 91 e4 00 6b e8 03 00", " 00 00"]
OF_1970 = [" dc c8 00 c8 00 c8 00 c8 00 05 00 00 00 e8 03 00", " 00 40"]


@pytest.mark.parametrize("lines", [DEACTIVATED, OF_1970])
def test_plausible_watts_that_are_no_measurement_are_refused_unless_accepted(
    lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(IpmiMeter, "_ask", lambda self, command: lines)
    with pytest.raises(MeterError, match="accept-deactivated"):
        IpmiMeter(parse_spec("ipmi:local")).read()
    reading = IpmiMeter(parse_spec("ipmi:local#accept-deactivated=yes")).read()
    assert reading.watts == 200
    assert (Flag.DEACTIVATED in reading.flags) == (lines is DEACTIVATED)


INFO = {"mc info": ["Firmware Revision         : 2.14", "Manufacturer Name         : OpenBMC"]}
TOTAL = Sensor("total_power", 7, 2.0)


def toy_bmc(monkeypatch: pytest.MonkeyPatch, dcmi: list[str], sensors: list[Sensor], **readings: str) -> None:
    answers = {**INFO, ipmi.DCMI_READ: dcmi}
    answers |= {f'sensor reading "{name}"': [f"{name} | {value}"] for name, value in readings.items()}
    monkeypatch.setattr(ipmi, "LineChild", lambda *words, **settings: ToyShell(answers))
    monkeypatch.setattr(IpmiMeter, "_repository", lambda self: sensors)


NOTHING = [" dc 00 00 00 00 00 00 00 00 91 e4 00 6b e8 03 00", " 00 40"]  # active, 0 W


@pytest.mark.parametrize("dcmi", [DEACTIVATED, OF_1970, NOTHING])
def test_a_sensor_is_read_where_dcmi_answers_without_measuring(dcmi: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    toy_bmc(monkeypatch, dcmi, [TOTAL], total_power="318")
    with opened("ipmi:local") as (meter, found):
        assert (meter.read().watts, found.quantum_w) == (318.0, 2.0)
    assert "in place of DCMI" in found.notes[-1]


@pytest.mark.parametrize(
    ("sensors", "settings", "said"),
    [
        ([], "", "deactivated"),
        ([], "#sensor=dcmi", "#sensor=NAME"),
        ([TOTAL, Sensor("PS1 In", 10, 1.0)], "", "'na'.*#sensor=NAME reads another one of: total_power, PS1 In"),
    ],
)
def test_a_bmc_that_let_us_in_gets_no_advice_on_logging_in(
    sensors: list[Sensor], settings: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy_bmc(monkeypatch, DEACTIVATED, sensors, total_power="na")
    with pytest.raises(MeterError, match=said) as caught:
        make_meter(parse_spec(f"ipmi:local{settings}")).open()
    assert "cipher suite" not in str(caught.value)


@pytest.mark.parametrize(
    ("names", "taken"),
    [(["CPU_Power", "total_power"], "total_power"), (["MEM Pwr", "Sys Power", "Fan_Power"], "Sys Power"), (["PwrA"], "PwrA")],
)
def test_a_sensor_of_a_part_is_not_taken_for_the_system(names: list[str], taken: str) -> None:
    assert [s.name for s in choose_sensors([Sensor(n, 7, 1.0) for n in names], None)] == [taken]


def test_several_sensors_that_may_be_the_system_are_asked_about() -> None:
    with pytest.raises(UsageError, match=r"Node1 Power, Node2 Power.*#sensor=NAME"):
        choose_sensors([Sensor("Node1 Power", 7, 1.0), Sensor("Node2 Power", 7, 1.0)], None)


def test_an_error_of_the_tool_keeps_its_words() -> None:
    said = "Unable to send RAW command (channel=0x0 netfn=0x2c lun=0x0 cmd=0x2 rsp=0xc1): Invalid command"
    with pytest.raises(MeterGlitchError, match="Invalid command"):
        parse_dcmi([said])


def sdr(name: str, m: int, exponent: int, unit: int, entity: int) -> bytes:
    body = bytearray(43 + len(name))
    body[3], body[16] = entity, unit
    body[19], body[20] = m & 0xFF, (m >> 2) & 0xC0
    body[24] = (exponent & 0xF) << 4
    body[42] = 0xC0 | len(name)
    body[43:] = name.encode()
    return bytes([1, 0, 0x51, 1, len(body)]) + bytes(body)


def test_sensor_records_give_the_quantum() -> None:
    data = sdr("Sys Power", 12, -1, 6, 7) + sdr("Fan", 1, 0, 18, 29) + sdr("PSU2 In", 300, -2, 6, 10)
    assert parse_sdr(data) == [Sensor("Sys Power", 7, pytest.approx(1.2)), Sensor("PSU2 In", 10, pytest.approx(3.0))]


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (("PS1 In", "PS1 Out", "PS2 In"), ["PS1 In", "PS2 In"]),
        (("PS1 Input", "PS1 Main Output"), ["PS1 Input"]),
        (("PS1 Power", "PS1 POUT", "PS2 Power"), ["PS1 Power", "PS2 Power"]),
        (("PS1 Out", "PS2 Out"), ["PS1 Out", "PS2 Out"]),
    ],
)
def test_power_supplies_are_added_where_no_sensor_sees_the_system(names: tuple[str, ...], taken: list[str]) -> None:
    supplies = [Sensor("CPU Pwr", 3, 1.0), *(Sensor(name, 10, 1.0) for name in names)]
    assert [s.name for s in choose_sensors(supplies, None)] == taken


def test_the_local_bmc_needs_no_password() -> None:
    assert IpmiMeter(parse_spec("ipmi:local"))._command()[0] == ["ipmitool", "-I", "open"]


def test_the_way_to_log_in_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BMC", "x")
    spec = "ipmi://a%40b@h:6230#cipher=17,privilege=operator,interface=lan,password-env=BMC"
    words, env = IpmiMeter(parse_spec(spec))._command()
    text = " ".join(words)
    for part in ("-I lan ", "-C 17", "-L OPERATOR", "-H h", "-p 6230", "-U a@b", "-E"):
        assert part in text
    assert env["IPMITOOL_PASSWORD"] == "x"


def test_the_local_bmc_is_looked_for(tmp_path: Path) -> None:
    finding = IpmiMeter.discover(Machine(tmp_path))[0]
    assert not finding.usable
    assert "modprobe" in finding.fix
