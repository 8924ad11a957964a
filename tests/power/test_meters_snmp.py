"""The SNMP meter against snmpsim."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import parse_spec
from ecosort_power.meters.snmp_presets import PRESETS
from ecosort_power.reading import Scope

from .support import PEERS, Cli, free_port, opened, wait_for


@pytest.fixture(autouse=True)
def as_users_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pysmi, which is here for snmpsim: with it pysnmp makes a compiler of MIBs for every meter, which takes 0.2 s."""
    monkeypatch.setattr("pysnmp.smi.rfc1902.add_mib_compiler", lambda *_, **__: None)


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """HOST:PORT of an SNMP agent that answers like a PDU."""
    directory = tmp_path_factory.mktemp("snmp")
    data = directory / "data"
    data.mkdir()
    shutil.copy(PEERS / "public.snmprec", data)
    port = free_port(socket.SOCK_DGRAM)
    program = Path(sys.executable).parent / "snmpsim-command-responder"
    words = [str(program), f"--data-dir={data}", f"--cache-dir={directory}", f"--agent-udpv4-endpoint=127.0.0.1:{port}"]
    user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
    group = subprocess.run(["id", "-gn"], capture_output=True, text=True, check=True).stdout.strip()
    with (directory / "log").open("wb") as log:
        words += [f"--process-user={user}", f"--process-group={group}"]
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait_for(lambda: b"Listening at UDP" in (directory / "log").read_bytes() or process.poll() is not None, 60)
        assert process.poll() is None, (directory / "log").read_text()
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def test_a_preset_knows_oid_and_unit(agent: str) -> None:
    meter = make_meter(parse_spec(f"snmp://{agent}#preset=apc-rpdu2"))
    found = meter.open()
    readings = [meter.read() for _ in range(3)]
    meter.close()
    assert [r.watts for r in readings] == [410.0] * 3
    assert (found.scope, found.quantum_w) == (Scope.WALL, 10.0)


def test_any_oid_can_be_read_with_a_scale(agent: str) -> None:
    meter = make_meter(parse_spec(f"snmp://{agent}/1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.1#scale=0.1"))
    meter.open()
    assert meter.read().watts == pytest.approx(21.7)
    meter.close()


@pytest.mark.parametrize(
    ("preset", "watts", "step"),
    [
        ("apc-rpdu2-phase,outlet=2", 570.0, 10.0),
        ("eaton-outlet,outlet=22", 145.0, 1.0),
        ("raritan", 123.4, 0.1),
        ("raritan-outlet,outlet=7", 321.0, 1.0),
    ],
)
def test_presets_of_other_pdus_know_oid_unit_and_outlet(agent: str, preset: str, watts: float, step: float) -> None:
    with opened(f"snmp://{agent}#preset={preset}") as (meter, found):
        reading = meter.read()
    assert (reading.watts, found.quantum_w) == (pytest.approx(watts), pytest.approx(step))
    assert type(meter).derive(reading.raw or "", meter.spec).watts == reading.watts


def test_every_preset_says_which_object_of_which_mib_it_is() -> None:
    """The table is kept: what is in it was looked up."""
    for preset in PRESETS.values():
        assert re.fullmatch(r"[\w-]+-MIB( and [\w-]+-MIB)? \w+[\w.]*", preset.source)
        assert preset.oid.startswith("1.3.6.1.4.1.")
    assert len({preset.oid for preset in PRESETS.values()}) == len(PRESETS)


def test_decimals_that_a_pdu_does_not_tell_are_not_guessed(agent: str) -> None:
    with pytest.raises(MeterError, match="does not say how many decimals its power has"):
        make_meter(parse_spec(f"snmp://{agent}#preset=raritan-outlet,outlet=8")).open()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("preset=eaton-outlet", "#outlet=1"),
        ("preset=eaton,outlet=1", "of the whole PDU"),
        ("preset=eaton-outlet,outlet=0", "whole number from 1"),
        ("preset=eaton,version=4", "version must be 1 or 2c, or 3 with #user="),
        ("preset=eaton,version=3", "version must be 1 or 2c, or 3 with #user="),
        ("preset=eaton,version=1,user=x", "version must be 1 or 2c, or 3 with #user="),
    ],
)
def test_an_outlet_or_a_version_that_cannot_be_is_refused(settings: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_meter(parse_spec(f"snmp://h#{settings}"))


@pytest.mark.parametrize(("settings", "version"), [(",version=1", 0), ("", 1), (",version=2c", 1)])
def test_the_version_is_in_what_is_asked(agent: str, settings: str, version: int) -> None:
    with opened(f"snmp://{agent}#preset=apc-rpdu2{settings}") as (meter, _):
        assert meter.read().watts == 410.0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf:
        deaf.bind(("127.0.0.1", 0))
        with pytest.raises(MeterError) as caught:
            make_meter(parse_spec(f"snmp://127.0.0.1:{deaf.getsockname()[1]}#preset=apc-rpdu2,timeout=0.05{settings}")).open()
        assert deaf.recv(512)[2:5] == bytes([2, 1, version])  # the first number of the message: RFC 1157, RFC 1901
    assert ("#version=1" in str(caught.value)) is (version == 1)


@pytest.mark.parametrize(
    ("oid", "text"),
    [("1.3.6.1.2.1.1.1.0", "no number"), ("1.3.6.1.9.9.9", "no number")],
)
def test_what_is_no_power_is_said(agent: str, oid: str, text: str) -> None:
    with pytest.raises(MeterError, match=text):
        make_meter(parse_spec(f"snmp://{agent}/{oid}#scale=1")).open()


def test_a_wrong_community_is_not_answered(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNMP_COMMUNITY", "wrong-community")
    with pytest.raises(MeterError, match="SNMP_COMMUNITY") as caught:
        make_meter(parse_spec(f"snmp://{agent}#preset=apc-rpdu2,timeout=0.3")).open()
    assert "wrong-community" not in str(caught.value)


def test_the_password_of_another_meter_is_not_sent_as_a_community(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SNMP_COMMUNITY", raising=False)
    monkeypatch.setenv("ECOSORT_METER_PASSWORD", "geheim")
    with opened(f"snmp://{agent}#preset=apc-rpdu2") as (meter, _):
        assert meter.read().watts == 410.0


def test_an_agent_that_is_not_there_is_said_without_noise(cli: Cli, tmp_path: Path) -> None:
    port = free_port(socket.SOCK_DGRAM)
    (tmp_path / "m.toml").write_text(f'[meters]\npdu = "snmp://127.0.0.1:{port}#preset=apc-rpdu2,timeout=0.3"\n')
    done = cli("meters", "--config", "m.toml")
    assert "fix:   check address, community (SNMP_COMMUNITY) and OID" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("spec", ["snmp://h", "snmp://h/power", "snmp://h#preset=x"])
def test_an_incomplete_address_is_refused(spec: str) -> None:
    with pytest.raises(UsageError, match="preset"):
        make_meter(parse_spec(spec))


def test_what_one_count_is_worth_is_not_guessed() -> None:
    """Watts, tenths of a watt and hundredths of a kilowatt are all usual."""
    with pytest.raises(UsageError, match=r"#scale=1, 0\.1, 10"):
        make_meter(parse_spec("snmp://h/1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.1"))


AUTH, PRIVACY = "auth-passphrase", "privacy-passphrase"
USERS = {
    "plain": ("SHA", None),
    "private": ("SHA", "AES"),
    "strong": ("SHA-256", "AES-256"),
}


@pytest.fixture(scope="module")
def snmpd(require: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """HOST:PORT of net-snmp's agent with users of version 3, and the file that its power comes from."""
    require("snmpd")
    directory = tmp_path_factory.mktemp("snmpd")
    port = free_port(socket.SOCK_DGRAM)
    (directory / "power").write_text("41\n")
    lines = [f"agentAddress udp:127.0.0.1:{port}", "rocommunity public"]
    for name, (auth, privacy) in USERS.items():
        lines.append(f'createUser {name} {auth} "{AUTH}"' + (f' {privacy} "{PRIVACY}"' if privacy else ""))
        lines.append(f"rouser {name} {'priv' if privacy else 'auth'}")
    script = f"{sys.executable} -u {PEERS / 'pass_persist.py'} {directory / 'power'}"
    lines.append(f"pass_persist .1.3.6.1.4.1.318.1.1.26.4.3.1.5 {script}")
    (directory / "snmpd.conf").write_text("\n".join(lines) + "\n")
    env = {"PATH": "/usr/sbin:/usr/bin:/bin", "SNMP_PERSISTENT_DIR": str(directory), "SNMPCONFPATH": str(directory)}
    words = [
        "snmpd",
        "-f",
        "-Lf",
        str(directory / "log"),
        "-C",
        "-c",
        str(directory / "snmpd.conf"),
        "-p",
        str(directory / "pid"),
    ]
    child = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: "NET-SNMP version" in (directory / "log").read_text() if (directory / "log").exists() else False)
        yield f"127.0.0.1:{port}", directory / "power"
    finally:
        child.kill()
        child.wait()


@pytest.fixture
def passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNMP_AUTH_PASSWORD", AUTH)
    monkeypatch.setenv("SNMP_PRIVACY_PASSWORD", PRIVACY)


@pytest.mark.parametrize(
    ("user", "settings"), [("private", ""), ("private", ",privacy=aes"), ("strong", ",auth=sha256,privacy=aes256")]
)
def test_version_3_with_privacy_reads_net_snmp(snmpd: tuple[str, Path], passwords: None, user: str, settings: str) -> None:
    address, power = snmpd
    with opened(f"snmp://{address}#preset=apc-rpdu2,user={user}{settings}") as (meter, _):
        assert meter.read().watts == 410.0
        power.write_text("43\n")
        assert meter.read().watts == 430.0
    power.write_text("41\n")


def test_version_3_without_privacy_and_version_2_read_net_snmp(
    snmpd: tuple[str, Path], passwords: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(f"snmp://{snmpd[0]}#preset=apc-rpdu2") as (meter, _):
        assert meter.read().watts == 410.0
    monkeypatch.delenv("SNMP_PRIVACY_PASSWORD")
    with opened(f"snmp://{snmpd[0]}#preset=apc-rpdu2,user=plain") as (meter, _):
        assert meter.read().watts == 410.0


@pytest.mark.parametrize(
    ("variable", "value", "text"),
    [
        ("SNMP_AUTH_PASSWORD", "another-passphrase", "check address, user, passwords"),
        ("SNMP_PRIVACY_PASSWORD", "another-passphrase", "check address, user, passwords"),
        ("SNMP_AUTH_PASSWORD", "short", "fewer than 8"),
    ],
)
def test_a_wrong_password_of_version_3_is_said(
    snmpd: tuple[str, Path], passwords: None, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, text: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises((MeterError, UsageError), match=text) as caught:
        make_meter(parse_spec(f"snmp://{snmpd[0]}#preset=apc-rpdu2,user=private,timeout=0.3")).open()
    assert value not in str(caught.value) or value == "short"


def test_a_slow_agent_is_told_what_would_help() -> None:
    port = free_port(socket.SOCK_DGRAM)
    with pytest.raises(MeterError, match=r"#timeout=SECONDS waits longer, #period=SECONDS"):
        make_meter(parse_spec(f"snmp://127.0.0.1:{port}#preset=apc-rpdu2,timeout=0.2")).open()


@pytest.mark.parametrize(
    "spec",
    [
        "snmp://h/1.40#scale=1",
        "snmp://h/1.3.99999999999#scale=1",
        "snmp://h/3.1#scale=1",
        "snmp://h/1.3#scale=1,auth=x",
        "snmp://h/1.3#scale=x",
        "snmp://h/1.3#scale=0",
    ],
)
def test_an_object_that_cannot_be_is_refused(spec: str) -> None:
    with pytest.raises(UsageError):
        make_meter(parse_spec(spec))
