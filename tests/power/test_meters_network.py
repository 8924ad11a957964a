"""FRITZ!DECT, Home Assistant, NUT, MQTT, Kasa over real protocols: HTTP, upsd with dummy-ups, mosquitto, the program kasa."""

from __future__ import annotations

import hashlib
import json
import os
import socketserver
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import parse_spec
from ecosort_power.meters.fritz import FritzMeter, answer_to
from ecosort_power.meters.homeassistant import HomeAssistantMeter
from ecosort_power.meters.kasa import KasaMeter
from ecosort_power.reading import Flag, Scope, screen

from .peers import captured, kasa_plug, tapo_plug
from .peers import http_peers as peers
from .support import free_port, listens, opened, wait_for

PASSWORD, SID, AIN = "so:rter&1", "9c977765016899f8", "087610000434"


def expected(challenge: str) -> str:
    """The response as AVM's document "Login-Verfahren und Session-IDs" computes it, written down apart from the meter."""
    _, rounds, salt, other_rounds, other = challenge.split("$")
    static = hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), bytes.fromhex(salt), int(rounds))
    return other + "$" + hashlib.pbkdf2_hmac("sha256", static, bytes.fromhex(other), int(other_rounds)).hex()


def fritz_box(power: str = "5180", block: int = 0, present: str = "1", stats: str = "") -> peers.Handler:
    """A box with one FRITZ!DECT 200, firmware 03.33 (hthiery/python-fritzhome): its answers by command."""

    def answer(peer: peers.Peer, path: str, given: str) -> peers.Answer:
        url = urlsplit(path)
        query = {k: v[0] for k, v in parse_qs(url.query).items()}
        if url.path == "/login_sid.lua":
            right = query.get("username") == "joule" and query.get("response") == expected(captured.FRITZ_CHALLENGE)
            sid = SID if right else "0" * 16
            text = captured.FRITZ_SESSION.format(sid=sid, challenge=captured.FRITZ_CHALLENGE, block=block)
            return 200, text.encode(), {"Content-Type": "text/xml"}
        if query.get("sid") != SID or query.get("ain") != AIN:
            return 403, b"", {}
        answers = {
            "getswitchpresent": present,
            "getswitchname": "Steckdose",
            "getswitchpower": power,
            "getswitchenergy": "707",
            "getbasicdevicestats": stats,
        }
        return 200, (answers[query["switchcmd"]] + "\n").encode(), {"Content-Type": "text/plain"}

    return answer


@pytest.fixture
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECOSORT_METER_PASSWORD", PASSWORD)


def test_a_fritz_plug_is_read_after_a_challenge_and_no_password_is_sent(password: None) -> None:
    with peers.serve(fritz_box()) as peer, opened(f"fritz://joule@{peer.host}/08761 0000434") as (meter, found):
        reading = meter.read()
    assert (reading.watts, reading.joules) == (5.18, 707 * 3600.0)
    assert (found.scope, found.update_s, found.identity["name"]) == (Scope.WALL, 120.0, "Steckdose")
    assert not any("sorter" in r or "so%3A" in r for r in peer.requests)
    assert FritzMeter.derive(reading.raw or "", meter.spec).joules == reading.joules


# AVM's document on the AHA-HTTP interface: power in hundredths of a watt, newest first, every 10 seconds.
STATS = '<devicestats><power><stats count="360" grid="10" datatime="1700000000">{}</stats></power></devicestats>'


def test_a_fritz_plug_gives_the_newest_of_its_statistics(password: None) -> None:
    with (
        peers.serve(fritz_box(stats=STATS.format("746,750,751,751,748"))) as peer,
        opened(f"fritz://joule@{peer.host}/{AIN}#source=stats") as (meter, found),
    ):
        reading = meter.read()
    assert (reading.watts, reading.stamp, found.update_s) == (7.46, "1700000000", 10.0)


@pytest.mark.parametrize(
    ("values", "update_s", "watts"),
    [(captured.FRITZ_SLOW, 120.0, 10.67), (captured.FRITZ_QUICK, 10.0, 10.97), (",".join(["1067"] * 360), 120.0, 10.67)],
)
def test_a_box_that_repeats_its_statistics_has_no_new_value_every_ten_seconds(
    password: None, values: str, update_s: float, watts: float
) -> None:
    stats = captured.FRITZ_STATS.format(values)
    with peers.serve(fritz_box(stats=stats)) as peer, opened(f"fritz://joule@{peer.host}/{AIN}#source=stats") as (meter, found):
        assert (found.update_s, meter.read().watts) == (update_s, watts)
    assert f"every {update_s:.0f} s" in found.notes[-1]


@pytest.mark.parametrize(
    ("box", "text"),
    [
        (fritz_box(power="inval"), "does not reach the plug"),
        (fritz_box(block=8), "8 s after a wrong password"),
        (fritz_box(present="0"), "check the AIN"),
    ],
)
def test_what_is_wrong_with_a_fritz_plug_is_said(password: None, box: peers.Handler, text: str) -> None:
    with peers.serve(box) as peer, pytest.raises(MeterError, match=text):
        make_meter(parse_spec(f"fritz://joule@{peer.host}/{AIN}")).open()


def test_a_wrong_password_of_a_fritz_box_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECOSORT_METER_PASSWORD", "wrong")
    with peers.serve(fritz_box()) as peer, pytest.raises(MeterError, match="wrong user or password"):
        make_meter(parse_spec(f"fritz://joule@{peer.host}/{AIN}")).open()


def test_older_boxes_take_an_answer_in_md5() -> None:
    """The example of AVM's document: challenge 1234567z, password äbc."""
    assert answer_to("1234567z", "äbc") == "1234567z-9e224a41eeefa284df7bb0f26c2913e2"


def home_assistant(**changes: Any) -> peers.Handler:
    document = {**captured.HOME_ASSISTANT_STATE, **changes}

    def answer(peer: peers.Peer, path: str, given: str) -> peers.Answer:
        if given != "Bearer long.lived":
            return 401, {}, {}
        return (200, document, {}) if path == f"/api/states/{document['entity_id']}" else (404, {}, {})

    return answer


ENTITY = captured.HOME_ASSISTANT_STATE["entity_id"]


def attributes(unit: str | None) -> dict[str, Any]:
    return {"attributes": {"unit_of_measurement": unit} if unit else {}}


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME_ASSISTANT_TOKEN", "long.lived")


def test_home_assistant_gives_an_entity_in_its_unit(token: None) -> None:
    with peers.serve(home_assistant()) as peer, opened(f"homeassistant://{peer.host}/{ENTITY}") as (meter, found):
        reading = meter.read()
    assert (reading.watts, reading.stamp) == (179.7, "2024-05-15T14:20:42.447228+00:00")
    assert (found.scope, found.identity["device_class"]) == (Scope.UNKNOWN, "power")
    assert HomeAssistantMeter.derive(reading.raw or "", meter.spec).watts == reading.watts


@pytest.mark.parametrize(
    ("unit", "watts", "joules"), [("kW", 1500.0, None), ("mW", 0.0015, None), ("kWh", None, 5.4e6), ("Wh", None, 5400.0)]
)
def test_the_unit_of_an_entity_is_honoured(token: None, unit: str, watts: float | None, joules: float | None) -> None:
    with (
        peers.serve(home_assistant(state="1.5", **attributes(unit))) as peer,
        opened(f"homeassistant://{peer.host}/{ENTITY}") as (meter, found),
    ):
        reading = meter.read()
    assert (reading.watts, reading.joules) == (pytest.approx(watts) if watts else None, joules)
    assert found.counter is (joules is not None)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (attributes("VA"), "apparent power is not watts"),
        (attributes("°C"), "unknown unit"),
        (attributes(None), "does not state its unit"),
        ({"state": "unavailable"}, "unavailable"),
    ],
)
def test_an_entity_that_is_no_power_is_refused(token: None, changes: dict[str, Any], text: str) -> None:
    with peers.serve(home_assistant(**changes)) as peer, pytest.raises(MeterError, match=text):
        make_meter(parse_spec(f"homeassistant://{peer.host}/{ENTITY}")).open()


def test_a_wrong_token_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME_ASSISTANT_TOKEN", "wrong")
    with peers.serve(home_assistant()) as peer, pytest.raises(MeterError, match="wrong token"):
        make_meter(parse_spec(f"homeassistant://{peer.host}/{ENTITY}")).open()
    monkeypatch.delenv("HOME_ASSISTANT_TOKEN")
    with pytest.raises(MeterError, match="HOME_ASSISTANT_TOKEN"):
        make_meter(parse_spec(f"homeassistant://127.0.0.1/{ENTITY}")).open()


@pytest.fixture(scope="module")
def upsd(require: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """HOST:PORT of an upsd with two UPS of dummy-ups, which answer as real ones did, and the directory of their files."""
    require("upsd")
    directory = tmp_path_factory.mktemp("nut")
    port = free_port()
    (directory / "eaton.dev").write_text(captured.UPS_EATON_5PX)
    (directory / "apc.dev").write_text(captured.UPS_APC_ES)
    driver = "driver = dummy-ups\nport = {}/{}.dev\nmode = dummy-loop\n"
    (directory / "ups.conf").write_text("".join(f"[{n}]\n{driver.format(directory, n)}" for n in ("eaton", "apc")))
    (directory / "upsd.conf").write_text(f"LISTEN 127.0.0.1 {port}\n")
    (directory / "upsd.users").write_text(f'[joule]\npassword = "{PASSWORD}"\n')
    for name in ("upsd.conf", "upsd.users", "ups.conf"):
        (directory / name).chmod(0o600)
    env = {**os.environ, "NUT_CONFPATH": str(directory), "NUT_STATEPATH": str(directory), "NUT_ALTPIDPATH": str(directory)}
    log = (directory / "log").open("wb")
    user = ["-u", "root"] if os.geteuid() == 0 else []
    words = [["/lib/nut/dummy-ups", "-F", *user, "-a", name] for name in ("eaton", "apc")] + [["/lib/nut/upsd", "-F", *user]]
    children = [subprocess.Popen(w, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log) for w in words]
    try:
        words = ["upsc", f"apc@127.0.0.1:{port}", "ups.load"]
        wait_for(lambda: subprocess.run(words, capture_output=True, check=False).returncode == 0)
        words[1] = f"eaton@127.0.0.1:{port}"
        wait_for(lambda: subprocess.run(words, capture_output=True, check=False).returncode == 0)
        yield f"127.0.0.1:{port}", directory
    finally:
        for child in children:
            child.kill()
            child.wait()
        log.close()


@pytest.mark.parametrize(("setting", "watts"), [("", 504.0), ("#value=outlet.1.realpower", 162.0)])
def test_a_ups_gives_its_real_power(upsd: tuple[str, Path], setting: str, watts: float) -> None:
    with opened(f"nut://{upsd[0]}/eaton{setting}") as (meter, found):
        assert [meter.read().watts for _ in range(3)] == [watts] * 3
    assert (found.scope, found.quantum_w, found.identity["power_factor"]) == (Scope.WALL, 1.0, "0.82")
    assert found.identity["device.model"] == "Eaton 5PX 2000"
    assert any("losses of the UPS" in n for n in found.notes)


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("nut://{}/apc", r"no real power \(ups.load is 15 %"),
        ("nut://{}/eaton#value=outlet.7.realpower", "outlet.1.realpower"),
        ("nut://{}/other", "no such UPS"),
    ],
)
def test_a_load_in_percent_is_no_power(upsd: tuple[str, Path], address: str, text: str) -> None:
    with pytest.raises(MeterError, match=text):
        make_meter(parse_spec(address.format(upsd[0]))).open()


def test_a_user_of_upsd_is_logged_in(upsd: tuple[str, Path], password: None) -> None:
    with opened(f"nut://joule@{upsd[0]}/eaton") as (meter, _):
        assert meter.read().watts == 504.0


@contextmanager
def toy_upsd(variables: dict[str, str]) -> Iterator[str]:
    """HOST:PORT of a thread that speaks the protocol of upsd about one UPS, whose variables a test can change."""

    class Talk(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for line in self.rfile:
                words = line.decode().split()
                asked = list(variables) if words[0] == "LIST" else words[3:]
                known = [f'VAR {words[2]} {n} "{variables[n]}"' for n in asked if n in variables] or ["ERR VAR-NOT-SUPPORTED"]
                end = [f"END LIST VAR {words[2]}"] if words[0] == "LIST" else []
                self.wfile.write("".join(f"{text}\n" for text in known + end).encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Talk) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def test_what_a_ups_takes_while_it_charges_is_no_reading() -> None:
    variables = {"ups.status": "OL", "input.realpower": "140"}
    with toy_upsd(variables) as host, opened(f"nut://{host}/ups") as (meter, _):
        assert meter.read().watts == 140.0
        variables["ups.status"] = "OL CHRG"
        with pytest.raises(MeterError, match=r"charges its battery, which is part of input\.realpower"):
            meter.read()
        with pytest.raises(MeterError, match="wait until it is full"):
            make_meter(parse_spec(f"nut://{host}/ups")).open()


def test_a_pdu_of_nut_has_no_battery() -> None:
    with toy_upsd({"input.realpower": "140"}) as host, opened(f"nut://{host}/pdu") as (meter, _):
        assert meter.read().watts == 140.0


def test_an_upsd_that_is_not_there_is_said() -> None:
    with pytest.raises(MeterError, match="cannot be reached"):
        make_meter(parse_spec(f"nut://127.0.0.1:{free_port()}/ups#timeout=1")).open()


@pytest.fixture(scope="module")
def broker(require: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """HOST:PORT of a mosquitto that wants a user."""
    require("mosquitto")
    directory = tmp_path_factory.mktemp("mqtt")
    port = free_port()
    passwords = directory / "passwords"
    passwords.touch(mode=0o600)
    subprocess.run(["mosquitto_passwd", "-b", passwords, "joule", PASSWORD], check=True, capture_output=True)
    user = "user root\n" if os.geteuid() == 0 else ""
    (directory / "m.conf").write_text(f"listener {port} 127.0.0.1\nallow_anonymous false\npassword_file {passwords}\n{user}")
    child = subprocess.Popen(["mosquitto", "-c", directory / "m.conf"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        wait_for(lambda: listens(port))
        yield f"127.0.0.1:{port}"
    finally:
        child.kill()
        child.communicate()


class Publisher:
    """Publishes one message again and again, as a plug does."""

    def __init__(self, broker: str, topic: str, payload: Any, retain: bool = False) -> None:
        from paho.mqtt import client as paho
        from paho.mqtt.enums import CallbackAPIVersion

        host, _, port = broker.partition(":")
        self._client = paho.Client(CallbackAPIVersion.VERSION2)
        self._client.username_pw_set("joule", PASSWORD)
        self._client.connect(host, int(port))
        self._client.loop_start()
        text = payload if isinstance(payload, str) else json.dumps(payload)
        self._over = threading.Event()
        if retain:
            self._client.publish(topic, text, retain=True).wait_for_publish(5)
            self._over.set()
        self._thread = threading.Thread(target=self._run, args=(topic, text))
        self._thread.start()

    def _run(self, topic: str, text: str) -> None:
        while not self._over.wait(0.1):
            self._client.publish(topic, text)

    def __enter__(self) -> Publisher:
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        self._client.disconnect()
        self._client.loop_stop()


@pytest.mark.parametrize(
    ("topic", "message", "settings", "watts", "joules"),
    [
        (
            "tele/plug/SENSOR",
            captured.TASMOTA_SENSOR,
            "#value=ENERGY.Power,unit=W,energy=ENERGY.Total,energy-unit=kWh",
            1.0,
            6.096 * 3.6e6,
        ),
        (
            "tele/energy1/SENSOR",
            captured.TASMOTA_PZEM,
            "#value=ENERGY.Power,unit=W,energy=ENERGY.Total,energy-unit=kWh",
            2109.0,
            13.797 * 3.6e6,
        ),
        (
            "shellyplus1pm-a8/status/switch:0",
            captured.GEN2_SWITCH,
            "#value=apower,unit=W,energy=aenergy.total,energy-unit=Wh",
            47.11,
            5.125 * 3600,
        ),
        (
            "zigbee2mqtt/shelly-working-room",
            captured.ZIGBEE2MQTT_SHELLY,
            "#value=power_l1,unit=W,energy=energy_l1,energy-unit=kWh",
            8.0,
            2.056 * 3.6e6,
        ),
        ("shellies/shellyplug-s-B5/relay/0/power", "17.25", "#unit=W", 17.25, None),
        ("/begins/with?a/slash/", "0.01725", "#unit=kW", 17.25, None),
    ],
)
def test_mqtt_messages_of_plugs_are_read(
    broker: str, password: None, topic: str, message: Any, settings: str, watts: float, joules: float | None
) -> None:
    with Publisher(broker, topic, message), opened(f"mqtt://joule@{broker}/{topic}{settings}") as (meter, found):
        first, second = meter.read(), meter.read()
    assert (first.watts, first.joules) == (watts, pytest.approx(joules) if joules else None)
    assert second.after_s > first.after_s
    assert (found.scope, found.counter) == (Scope.UNKNOWN, joules is not None)


def test_a_retained_message_is_old_and_does_not_count(broker: str, password: None) -> None:
    with Publisher(broker, "old/power", "17.25", retain=True), pytest.raises(MeterError, match="retained message does not count"):
        make_meter(parse_spec(f"mqtt://joule@{broker}/old/power#unit=W,timeout=0.7")).open()


@pytest.mark.parametrize(
    ("message", "settings", "text"),
    [
        (captured.ZIGBEE2MQTT_SHELLY, "", "say where the power is"),
        ("warm", "", "neither JSON nor a number"),
        (captured.ZIGBEE2MQTT_SHELLY, "#value=watts,unit=W", "no watts"),
    ],
)
def test_what_is_wrong_with_a_message_is_said(broker: str, password: None, message: Any, settings: str, text: str) -> None:
    with Publisher(broker, "x/y", message), pytest.raises(MeterError, match=text):
        make_meter(parse_spec(f"mqtt://joule@{broker}/x/y{settings or '#unit=W,timeout=5'}")).open()


def test_a_broker_that_refuses_is_said_at_once(broker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECOSORT_METER_PASSWORD", "wrong")
    for who in ("joule@", ""):
        with pytest.raises(MeterError, match=r"refuses the connection: .*uthori"):
            make_meter(parse_spec(f"mqtt://{who}{broker}/x/y#unit=W,timeout=10")).open()


def test_kasa_is_run_as_a_program_and_reads_a_plug() -> None:
    with kasa_plug.serve() as port, opened(f"kasa://127.0.0.1:{port}#type=plug") as (meter, found):
        reading = meter.read()
    assert (reading.watts, reading.joules) == (0.928511, pytest.approx(55.139 * 3.6e6))
    assert (found.scope, found.period_s, found.identity["model"]) == (Scope.WALL, 5.0, "HS110(EU)")
    assert found.identity["sw_ver"] == "1.2.5 Build 171213 Rel.101523"


def test_kasa_reads_a_plug_over_the_encrypted_protocol_of_tapo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its energy is that of this month, which begins again: no counter is made of it."""
    monkeypatch.setenv("ECOSORT_METER_PASSWORD", tapo_plug.PASSWORD)
    account = quote(tapo_plug.ACCOUNT, safe="")
    with tapo_plug.serve(captured.KASA_KP125M) as port, opened(f"kasa://{account}@127.0.0.1:{port}#type=smart") as (meter, found):
        reading = meter.read()
        monkeypatch.setenv("ECOSORT_METER_PASSWORD", "wrong")
        with pytest.raises(MeterError, match=f"exit code 1.*kasa --host 127.0.0.1 --port {port} --type smart"):
            make_meter(meter.spec).open()
    assert (reading.watts, reading.joules, found.counter) == (pytest.approx(1.003), None, False)
    assert (found.scope, found.identity["model"]) == (Scope.WALL, "KP125M")
    assert found.identity["fw_ver"] == "1.2.3 Build 240624 Rel.154806"


def test_kasa_reads_a_tapo_plug_from_the_first_handshake_to_the_last_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every method of the session, as a P110M answered it that was switched off; each reading is a session of its own. No machine
    draws 0 W: that is no measurement, and its energy of today is no counter."""
    monkeypatch.setenv("ECOSORT_METER_PASSWORD", tapo_plug.PASSWORD)
    with tapo_plug.serve() as port:
        spec = f"kasa://{quote(tapo_plug.ACCOUNT, safe='')}@127.0.0.1:{port}#type=smart"
        with opened(spec) as (meter, found):
            readings = [meter.read() for _ in range(2)]
    assert [(r.watts, r.joules) for r in readings] == [(0.0, None)] * 2
    assert [screen(r, found).flags for r in readings] == [(Flag.ZERO,)] * 2
    assert (found.scope, found.counter, found.identity["model"]) == (Scope.WALL, False, "P110M")
    assert found.identity["fw_ver"] == "1.2.3 Build 240617 Rel.153525"


def test_what_kasa_warns_of_before_its_answer_is_not_the_answer() -> None:
    """The values of a Tapo P110M(AU), firmware 1.2.3 Build 240617 (python-kasa, tests/fixtures/smart), as kasa prints them: the
    total is that of today, which begins again at midnight."""
    raw = """WARNING  Device 192.0.2.5 received unknown error code: -10008     smartprotocol.py:430
{
    "power_mw": 74116,
    "total": 0.173
}
"""
    reading = KasaMeter.derive(raw, parse_spec("kasa://192.0.2.5"))
    assert (reading.watts, reading.joules) == (74.116, None)


def test_kasa_without_a_plug_or_a_program_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MeterError, match=r"exit code 1.*kasa --host 127.0.0.1"):
        make_meter(parse_spec(f"kasa://127.0.0.1:{free_port()}#type=plug")).open()
    monkeypatch.setattr("ecosort_power.meters.kasa.which", lambda program: None)
    with pytest.raises(MeterError, match="pip install python-kasa"):
        make_meter(parse_spec("kasa://127.0.0.1")).open()


@pytest.mark.parametrize(
    "spec",
    [
        *("mqtt://h#unit=W", "mqtt://h/#unit=W", "mqtt://h/a/+/b#unit=W"),
        *("fritz://h/1", "homeassistant://h/Plug", "kasa://h#type=x", "nut://h"),
    ],
)
def test_an_address_that_cannot_be_is_refused(spec: str) -> None:
    with pytest.raises(UsageError):
        make_meter(parse_spec(spec))
