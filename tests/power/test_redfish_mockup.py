"""Redfish against a server that is not ours: sushy-static of OpenStack, which serves what DMTF publishes for its mockup server
(a folder for each address, with an index.json)."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import parse_spec

from .peers import captured
from .peers.http_peers import own_certificate
from .support import Cli, free_port, opened, wait_for

METRICS = "/redfish/v1/Chassis/1U/EnvironmentMetrics"


@dataclass(frozen=True, slots=True)
class Mockup:
    host: str
    folder: Path

    def publish(self, address: str, document: object) -> None:
        resource = self.folder / address.removeprefix("/redfish/v1").lstrip("/") / "index.json"
        resource.parent.mkdir(parents=True, exist_ok=True)
        resource.write_text(json.dumps(document))


@pytest.fixture
def rackmount(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mockup]:
    """DMTF's public-rackmount1 over TLS."""
    monkeypatch.setenv("REDFISH_PASSWORD", "any")
    found = Mockup(f"127.0.0.1:{free_port()}", tmp_path / "public-rackmount1")
    for address, document in captured.REDFISH_RACKMOUNT.items():
        found.publish(address, document)
    interface, port = found.host.split(":")
    key = str(own_certificate(tmp_path))
    words = [str(Path(sys.executable).parent / "sushy-static"), "-i", interface, "-p", port, "-m", str(found.folder)]
    server = subprocess.Popen([*words, "-c", key, "-k", key], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: server.poll() is not None or _listens(interface, int(port)), 60)
        assert server.poll() is None
        yield found
    finally:
        server.kill()
        server.wait()


def _listens(interface: str, port: int) -> bool:
    try:
        socket.create_connection((interface, port), 1).close()
    except OSError:
        return False
    return True


def address_of(mockup: Mockup, chassis: str = "/1U") -> str:
    return f"redfish://root@{mockup.host}{chassis}#tls=insecure"


def test_it_is_walked_to_the_power_and_read_again_each_time(rackmount: Mockup) -> None:
    with opened(address_of(rackmount)) as (meter, found):
        first = meter.read().watts
        metrics = captured.REDFISH_RACKMOUNT[METRICS]
        rackmount.publish(METRICS, {**metrics, "PowerWatts": {**metrics["PowerWatts"], "Reading": 391.5}})
        second = meter.read().watts
    assert (first, second) == (374.0, 391.5)
    assert "EnvironmentMetrics" in found.title
    assert found.identity["Vendor"] == "Contoso"


def test_a_certificate_of_its_own_and_a_chassis_that_is_not_there_are_refused(rackmount: Mockup) -> None:
    with pytest.raises(MeterError, match="certificate"):
        make_meter(parse_spec(f"redfish://root@{rackmount.host}/1U")).open()
    with pytest.raises(UsageError, match="no chassis '2U'; it has: /redfish/v1/Chassis/1U"):
        make_meter(parse_spec(address_of(rackmount, "/2U"))).open()


def test_a_service_whose_power_is_gone_is_not_believed(rackmount: Mockup) -> None:
    with opened(address_of(rackmount)) as (meter, _):
        (rackmount.folder / "Chassis/1U/EnvironmentMetrics/index.json").unlink()
        with pytest.raises(MeterError, match="404"):
            meter.read()


def test_the_program_reads_it(rackmount: Mockup, cli: Cli) -> None:
    done = cli("probe", address_of(rackmount), "--seconds", "5", env={"REDFISH_PASSWORD": "any"})
    assert "/redfish/v1/Chassis/1U (EnvironmentMetrics)" in done.stdout, done.stdout + done.stderr
    assert "0 failed" in done.stdout
    assert "the value changed only 0 times" in done.stdout  # a mockup stands still, and that is said
