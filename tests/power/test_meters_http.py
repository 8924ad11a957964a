"""HTTP and Redfish meters over real HTTP, with wrong passwords, silence, garbage."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import parse_spec
from ecosort_power.reading import Flag, Scope, screen

from .peers import http_peers as peers
from .support import free_port, opened


@pytest.fixture
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECOSORT_METER_PASSWORD", peers.PASSWORD)


def test_a_value_is_found_by_its_path_and_unit() -> None:
    with peers.serve(peers.simple) as peer:
        settings = "value=emeters[1].power,unit=kW,energy=emeters[1].total,energy-unit=Wmin"
        with opened(f"http://{peer.host}/status?x=1#{settings}") as (meter, _):
            reading = meter.read()
    assert reading.watts == pytest.approx(43.5)
    assert reading.joules == pytest.approx(100 * 3600)
    assert reading.before_s <= reading.after_s
    assert peer.requests[-1] == "/status?x=1"


def test_shelly_gives_power_and_counter_at_the_wall() -> None:
    with peers.serve(peers.shelly) as peer, opened(f"shelly://{peer.host}") as (meter, capabilities):
        reading = meter.read()
    assert (reading.watts, reading.joules) == (43.5, 360_000.0)
    assert capabilities.scope is Scope.WALL
    assert capabilities.counter


def test_shelly_with_a_password_uses_digest(password: None) -> None:
    with peers.serve(peers.digest_shelly) as peer, opened(f"shelly://{peers.USER}@{peer.host}") as (meter, _):
        assert meter.read().watts == 43.5
    assert not any(peers.PASSWORD in a for a in peer.authorizations)


def test_tasmota_gives_power() -> None:
    with peers.serve(peers.tasmota) as peer, opened(f"tasmota://{peer.host}") as (meter, capabilities):
        assert meter.read().watts == 43.5
        assert capabilities.quantum_j == 3600.0


def test_a_tasmota_password_is_in_the_request_and_in_no_message(password: None) -> None:
    with peers.serve(peers.tasmota) as peer:
        meter = make_meter(parse_spec(f"tasmota://admin@{peer.host}"))
        meter.open()
        assert "password=so%3Arter%261" in peer.requests[-1]
        peer.failing = 99
        with pytest.raises(MeterGlitchError) as caught:
            meter.read()
        meter.close()
    assert "so%3A" not in str(caught.value)


@pytest.mark.parametrize("modern", [True, False])
def test_redfish_is_walked_to_the_power(password: None, modern: bool) -> None:
    with (
        peers.serve(peers.redfish(modern)) as peer,
        opened(f"redfish://{peers.USER}@{peer.host}#tls=off") as (meter, capabilities),
    ):
        peer.watts = 51.0
        assert meter.read().watts == 51.0
    assert capabilities.scope is Scope.BMC
    assert ("EnvironmentMetrics" if modern else "Power") in capabilities.title
    assert any("tls=off" in n for n in capabilities.notes)


@pytest.mark.parametrize("everywhere", [False, True])
def test_redfish_of_makers_who_want_a_slash_at_the_end(password: None, everywhere: bool) -> None:
    """HPE iLO 4 (firmware 2.61) redirects /redfish/v1, Lenovo x3650 M5 and older Supermicro boards every address without one."""
    walk, tree = peers.redfish(True), "/redfish/v1/Chassis"

    def answer(peer: peers.Peer, path: str, given: str) -> peers.Answer:
        if not path.endswith("/") and (everywhere or not path.startswith(tree)):
            return 308, {}, {"Location": f"{path}/"}
        return walk(peer, path, given)

    with peers.serve(answer) as peer, opened(f"redfish://{peers.USER}@{peer.host}#tls=off") as (meter, _):
        assert meter.read().watts == 43.5
        before = len(peer.requests)
        assert meter.read().watts == 43.5
        assert len(peer.requests) == before + 1  # it is asked for where it is


@pytest.mark.parametrize("target", ["http://127.0.0.1:1/x/", "//127.0.0.1:1/x/", "/y/", "/x//", "http://[/", ""])
def test_no_other_redirect_is_followed(password: None, target: str) -> None:
    with peers.serve(lambda peer, path, given: (301, {}, {"Location": target})) as peer:
        with pytest.raises(MeterError, match="redirect"):
            make_meter(parse_spec(f"http://{peers.USER}@{peer.host}/x#value=a,unit=W")).open()
        assert peer.requests == ["/x"]


@pytest.mark.parametrize("text", ["4_1", "٤١", "41,7", "41.7 W", ""])
def test_what_only_python_takes_for_a_number_is_none(text: str) -> None:
    with peers.serve(lambda peer, path, given: (200, {"p": text}, {})) as peer, pytest.raises(MeterError, match="no number"):
        make_meter(parse_spec(f"http://{peer.host}/#value=p,unit=W")).open()


@pytest.mark.parametrize("path", ["/status/", "/status", "/", "/status/?x=1"])
def test_the_path_is_asked_for_as_it_is_written(path: str) -> None:
    with peers.serve(peers.simple) as peer, opened(f"http://{peer.host}{path}#value=emeters[0].power,unit=kW") as (meter, _):
        assert meter.read().watts == pytest.approx(100.0)
    assert set(peer.requests) == {path}


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("http://h/x#value=,unit=W", "say where the value is"),
        ("http://h/x#value=a", "#unit=UNIT, one of: W, mW, kW"),
        ("http://h/x#value=a,unit=VA", "apparent power"),
        ("http://h/x#value=a,unit=W,energy=b", "#energy-unit=UNIT, one of: J"),
        ("mqtt://h/x", "#unit=UNIT"),
        ("mqtt://h/x#value=a,unit=W,energy=b", "#energy-unit=UNIT"),
        ("mqtt://h/x#energy=b,unit=W", "#energy-unit=UNIT"),
    ],
)
def test_no_unit_is_guessed(spec: str, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        make_meter(parse_spec(spec))


def test_a_wrong_password_is_said_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDFISH_PASSWORD", "wrong")
    with peers.serve(peers.redfish(True)) as peer, pytest.raises(MeterError, match="wrong user or password") as caught:
        make_meter(parse_spec(f"redfish://{peers.USER}@{peer.host}#tls=off")).open()
    assert "wrong user" in str(caught.value)
    assert "'wrong'" not in str(caught.value)


@pytest.mark.parametrize(
    ("server", "spec"),
    [
        (peers.digest_shelly, "shelly://{user}@{host}"),
        (peers.guarded, "http://{user}@{host}/#value=emeters[1].power,unit=W"),
        (peers.guarded, "http://{host}/#value=emeters[1].power,unit=W,user={user}"),
    ],
)
def test_a_wrong_password_of_a_plug_is_said_plainly(monkeypatch: pytest.MonkeyPatch, server: peers.Handler, spec: str) -> None:
    with peers.serve(server) as peer:
        address = spec.format(user=peers.USER, host=peer.host)
        monkeypatch.setenv("ECOSORT_METER_PASSWORD", peers.PASSWORD)
        with opened(address) as (meter, _):
            assert meter.read().usable
        monkeypatch.setenv("ECOSORT_METER_PASSWORD", "not-this-one")
        with pytest.raises(MeterError, match="wrong user or password") as caught:
            make_meter(parse_spec(address)).open()
    assert "not-this-one" not in str(caught.value)


def test_redfish_over_tls_wants_a_certificate_it_can_verify_or_to_be_told(
    password: None, require: Callable[[str], None], tmp_path: Path
) -> None:
    require("openssl")
    with peers.serve(peers.redfish(True), certificate=peers.own_certificate(tmp_path)) as peer:
        address = f"redfish://{peers.USER}@{peer.host}"
        with pytest.raises(MeterError, match=r"certificate cannot be verified.*#tls=insecure"):
            make_meter(parse_spec(address)).open()
        assert peer.requests == []  # no password was sent to a server that could not show who it is
        with opened(f"{address}#tls=insecure") as (meter, capabilities):
            assert meter.read().watts == 43.5
    assert any("not verified" in n for n in capabilities.notes)


def test_a_missing_password_says_where_to_put_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REDFISH_PASSWORD", "ECOSORT_METER_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(MeterError, match="REDFISH_PASSWORD"):
        make_meter(parse_spec("redfish://joule@127.0.0.1:1#tls=off")).open()


@pytest.mark.parametrize(
    ("server", "text"),
    [
        (peers.garbage, "no JSON"),
        (peers.silent, "in time"),
        (peers.dripping, "in time"),
        (peers.redirecting, "redirect"),
        (peers.simple, "no Shelly"),
    ],
)
def test_what_is_wrong_with_the_answer_is_said(server: peers.Handler, text: str) -> None:
    begin_s = time.monotonic()
    with peers.serve(server) as peer, pytest.raises(MeterError, match=text):
        make_meter(parse_spec(f"shelly://{peer.host}#timeout=0.5")).open()
    assert time.monotonic() - begin_s < 3


@pytest.mark.parametrize(
    ("server", "text"), [(peers.garbage, "no JSON"), (peers.silent, "in time"), (peers.redirecting, "redirect")]
)
def test_what_is_wrong_with_a_redfish_answer_is_said(password: None, server: peers.Handler, text: str) -> None:
    with peers.serve(server) as peer, pytest.raises(MeterError, match=text):
        make_meter(parse_spec(f"redfish://{peers.USER}@{peer.host}#tls=off,timeout=0.5")).open()


def test_a_dead_host_is_said() -> None:
    with pytest.raises(MeterError, match="cannot be read"):
        make_meter(parse_spec(f"shelly://127.0.0.1:{free_port()}#timeout=1")).open()


def test_a_busy_server_is_a_glitch_and_the_next_reading_works() -> None:
    with peers.serve(peers.shelly) as peer, opened(f"shelly://{peer.host}") as (meter, _):
        peer.failing = 1
        with pytest.raises(MeterGlitchError, match="503"):
            meter.read()
        assert meter.read().watts == 43.5


def test_null_and_text_are_no_watts() -> None:
    with peers.serve(peers.simple) as peer:
        with opened(f"http://{peer.host}/#value=nothing,unit=W") as (meter, capabilities):
            assert Flag.NAN in screen(meter.read(), capabilities).flags
        with pytest.raises(MeterError, match="no number"):
            make_meter(parse_spec(f"http://{peer.host}/#value=text,unit=W")).open()


@pytest.mark.parametrize("query", ["password=geheim", "x=1&token=geheim", "apiKey=geheim"])
def test_a_secret_in_an_address_is_refused(query: str) -> None:
    with pytest.raises(UsageError, match="seen by every user") as caught:
        make_meter(parse_spec(f"http://127.0.0.1/?{query}#value=a"))
    assert "geheim" not in str(caught.value)


def test_a_url_without_a_path_to_the_value_is_refused() -> None:
    with pytest.raises(UsageError, match="value="):
        make_meter(parse_spec("http://127.0.0.1/x")).open()
