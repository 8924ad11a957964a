"""Plugs are found by multicast DNS: they announce themselves on the loopback interface."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from ecosort_power.network import Service, address_of
from zeroconf import ServiceInfo, Zeroconf

from .peers import captured
from .peers import http_peers as peers
from .support import Cli
from .test_meters_plugs import GEN1, answers, gen2

LOOPBACK = "127.0.0.1"


def _info(kind: str, name: str, port: int) -> ServiceInfo:
    type_ = f"_{kind}._tcp.local."
    return ServiceInfo(type_, f"{name}.{type_}", port, addresses=[socket.inet_aton(LOOPBACK)], server=f"{name}.local.")


@contextmanager
def announced(*services: tuple[str, str, int]) -> Iterator[None]:
    """(type, name, port) of each, as long as the block runs."""
    network = Zeroconf(interfaces=[LOOPBACK])
    try:
        with ThreadPoolExecutor(len(services)) as pool:  # each announcement is repeated for a second
            list(pool.map(lambda s: network.register_service(_info(*s), cooperating_responders=True), services))
        yield
    finally:
        network.close()


def test_plugs_that_announce_themselves_are_opened_and_listed(cli: Cli) -> None:
    switch = gen2({"switch:0": captured.GEN2_SWITCH}, Switch=captured.GEN2_SWITCH)
    with peers.serve(answers(switch)) as new, peers.serve(answers(GEN1)) as old, peers.serve(peers.garbage) as other:
        services = (
            ("shelly", "ShellyPlusPlugS-E465B8", new.port),
            ("http", "ShellyPlusPlugS-E465B8", new.port),  # they announce both
            ("http", "shellyplug-s-B5D2F1", old.port),
            ("http", "printer", other.port),
            ("mqtt", "broker", 1883),
        )
        with announced(*services):
            done = cli("meters", "--discover", "--interface", LOOPBACK, "--json")
    found = {f["spec"]: f for f in json.loads(done.stdout)}
    assert found[f"shelly://{new.host}"]["usable"], done.stdout
    assert found[f"shelly://{old.host}"]["usable"]
    assert "SHSW-PM" in found[f"shelly://{old.host}"]["title"]
    assert sum(spec.startswith("shelly:") for spec in found) == 2
    assert not any(str(other.port) in spec for spec in found)
    broker = found[f"mqtt://{LOOPBACK}/TOPIC#value=JSON.PATH,unit=W"]
    assert (broker["usable"], "--meter" in broker["fix"]) == (False, True)
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("service", "address"),
    [
        (Service("shelly", "shellypro3em-1", "192.0.2.7", 80), "shelly://192.0.2.7"),
        (Service("http", "tasmota-4D1B4F-6991", "192.0.2.8", 8080), "tasmota://192.0.2.8:8080"),
        (Service("http", "ShellyPlug", "fe80::1", 80), "shelly://[fe80::1]"),
        (Service("http", "nas", "192.0.2.9", 80), None),
    ],
)
def test_what_an_announcement_means(service: Service, address: str | None) -> None:
    assert address_of(service) == address


def test_a_network_that_cannot_be_searched_is_said(cli: Cli, tmp_path: Path) -> None:
    done = cli("meters", "--discover", "--interface", "192.0.2.1", "--root", str(tmp_path))
    assert done.returncode == 3
    assert done.stderr.startswith("ecosort-power: ")


def test_where_nothing_announces_itself_it_is_said(cli: Cli) -> None:
    done = cli("meters", "--discover", "--interface", LOOPBACK)
    assert (done.returncode, "none announced itself within" in done.stdout) == (1, True), done.stdout
    assert "--meter kasa://HOST" in done.stdout
