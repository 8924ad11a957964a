"""The SNMP meter against snmpsim."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import parse_spec
from ecosort_power.reading import Scope

from .support import PEERS, Cli, free_port, opened, wait_for


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
    ("oid", "text"),
    [("1.3.6.1.2.1.1.1.0", "no number"), ("1.3.6.1.9.9.9", "no number")],
)
def test_what_is_no_power_is_said(agent: str, oid: str, text: str) -> None:
    with pytest.raises(MeterError, match=text):
        make_meter(parse_spec(f"snmp://{agent}/{oid}")).open()


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
