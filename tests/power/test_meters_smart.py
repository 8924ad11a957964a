"""Smart meters at their port: telegrams of P1 through a pseudo terminal, frames of SML over TCP."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import random
import socket
import subprocess
import sys
import termios
import threading
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import only_in_soak
from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import parse_spec
from ecosort_power.meters.smart_meter import P1Meter
from ecosort_power.nesting import parse_json

from .support import PEERS, opened


def crc(data: bytes, polynomial: int, start: int) -> int:
    """A reflected CRC of 16 bits."""
    value = start
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ polynomial if value & 1 else value >> 1
    return value


def telegram(drawn: str, given: str = "00.000*kW") -> bytes:
    """As a meter of DSMR 5 sends it each second, by the companion standard."""
    lines = ("/ISk5\\2MT382-1000", "", "1-3:0.2.8(50)", "0-0:1.0.0(240105120000W)", "1-0:1.8.1(001234.567*kWh)")
    text = "\r\n".join((*lines, f"1-0:1.7.0({drawn})", f"1-0:2.7.0({given})", "!")).encode()
    return text + f"{crc(text, 0xA001, 0):04X}\r\n".encode()


def frame(
    watts: int, counter: int, unit: int = 27, given: int | None = None, power: str = "16.7", status: bytes = b"\x01"
) -> bytes:
    """A frame of SML with the power and the counter of what is drawn in its list; with `given` as two powers. `status` is that
    of the counter, encoded. One entry has no value, as some meters send it."""

    def entry(obis: str, unit: int, scaler: int, value: int, status: bytes = b"\x01") -> bytes:
        number = b"\x59" + value.to_bytes(8, "big", signed=True)
        return (
            b"\x77\x07"
            + bytes.fromhex(obis)
            + status
            + b"\x01\x62"
            + bytes([unit])
            + b"\x52"
            + bytes([scaler & 0xFF])
            + number
            + b"\x01"
        )

    body = entry("0100010800ff", 30, -1, counter, status) + b"\x77\x07" + bytes.fromhex("010060320206") + b"\x01" * 6
    if given is None:
        body += entry(bytes([1, 0, *map(int, power.split(".")), 0, 0xFF]).hex(), unit, -1, watts * 10)
    else:
        body += entry("0100010700ff", unit, -1, watts * 10) + entry("0100020700ff", unit, 0, given)
    padding = -len(body) % 4
    whole = b"\x1b\x1b\x1b\x1b\x01\x01\x01\x01" + body + bytes(padding) + b"\x1b\x1b\x1b\x1b\x1a" + bytes([padding])
    return whole + (crc(whole, 0x8408, 0xFFFF) ^ 0xFFFF).to_bytes(2, "little")


@contextlib.contextmanager
def line(data: bytes) -> Iterator[str]:
    """A serial line on which this comes again and again (pyserial drops what came before it was opened); gives its device."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    done = threading.Event()

    def run() -> None:
        while not done.wait(0.05):
            os.write(ours, data)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield os.ttyname(theirs)
    finally:
        done.set()
        termios.tcflush(theirs, termios.TCIFLUSH)
        thread.join(60)
        os.close(ours)
        os.close(theirs)


@contextlib.contextmanager
def server(data: bytes) -> Iterator[str]:
    """A reader that sends this to who connects, and then nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        done = threading.Event()

        def run() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(data)
                done.wait(60)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        done.set()
        thread.join(60)


def test_p1_gives_what_is_drawn_minus_what_is_given_in_the_unit_of_the_telegram() -> None:
    sent = b"rest of one\r\n!FFFF\r\n" + telegram("00.428*kW") + telegram("00.000*kW", "01.000*kW") + telegram("00.431*kW")
    with line(sent) as device, opened(f"p1:{device}") as (meter, capabilities):
        assert "whole house" in capabilities.notes[0]
        found = []
        while len(found) < 4:
            with contextlib.suppress(MeterGlitchError):  # the rest of a telegram in front
                found.append(meter.read().watts)
    place = found.index(-1000.0) if -1000.0 in found[:3] else found.index(428.0) + 1
    assert found[place : place + 2] == [-1000.0, 431.0]


def test_p1_of_a_meter_that_writes_watts() -> None:
    """A Q3D writes W where Dutch meters write kW: a program that multiplies by 1000 says two megawatts for a house."""
    text = b"/ESY5Q3DA1004 V3.04\r\n\r\n1-0:1.8.0*255(0000002.0000000*kWh)\r\n1-0:1.7.0*255(002131.00*W)\r\n!\r\n"
    with server(text + text) as host:
        try:
            with opened(f"p1://{host}#timeout=3") as (meter, _):
                assert meter.read().watts == pytest.approx(2131.0)
        except MeterError as error:
            pytest.fail(str(error))


def test_p1_of_an_old_meter_has_seven_bits_and_parity() -> None:
    """Meters of DSMR 2 and 3 send 7E1: a line of eight bits shows the parity as the top one."""
    text = b"/ISk5\\2MT382-1000\r\n\r\n1-0:1.7.0(0000.43*kW)\r\n1-0:2.7.0(0000.00*kW)\r\n!\r\n"
    sent = bytes(byte | (byte.bit_count() % 2) << 7 for byte in text)
    with server(sent + sent) as host, opened(f"p1://{host}#timeout=3") as (meter, _):
        assert meter.read().watts == 430.0


def test_a_telegram_that_is_damaged_is_no_reading() -> None:
    sent = telegram("00.428*kW") + telegram("00.429*kW").replace(b"429", b"999")
    with server(sent) as host, opened(f"p1://{host}") as (meter, _), pytest.raises(MeterGlitchError, match="is not whole"):
        meter.read()


@pytest.mark.parametrize("ending", [b"%s\x00\r\n", b" %s \n"])
def test_how_checksums_are_written(ending: bytes) -> None:
    """Some meters send a NUL behind it, or a small one without its zeros: of these no telegram was ever whole."""
    wholes = (telegram(f"{watts / 1000:06.3f}*kW") for watts in range(1000))
    whole = next(whole for whole in wholes if whole[-6:-5] == b"0")
    for checksum in (whole[-6:-2], whole[-5:-2], whole[-6:-2].lower()):
        assert P1Meter(parse_spec("p1:/dev/none")).take(whole[:-6] + ending % checksum) is not None
    for checksum in (b"", b"no", b"0123"):
        meter = P1Meter(parse_spec("p1:/dev/none"))
        has_none = ending.strip() == b"%s" and not checksum
        with contextlib.nullcontext() if has_none else pytest.raises(MeterGlitchError, match="checksum is wrong"):
            meter.take(whole[:-6] + ending % checksum)


def test_nuls_are_no_telegram_without_a_checksum() -> None:
    """A line that was disturbed behind the `!` gives NULs."""
    with pytest.raises(MeterGlitchError, match="checksum is wrong"):
        P1Meter(parse_spec("p1:/dev/none")).take(telegram("00.428*kW").rpartition(b"!")[0] + b"!\x00\x00\r\n")


# Each specification of dsmr-parser, how its meters write powers, and whether they send checksums.
MAKERS = {
    "V2_2": ("{kilowatts:07.2f}*kW", False),
    "V4": ("{kilowatts:06.3f}*kW", True),
    "V5": ("{kilowatts:06.3f}*kW", True),
    "BELGIUM_FLUVIUS": ("{kilowatts:06.3f}*kW", True),
    "LUXEMBOURG_SMARTY": ("{kilowatts:06.3f}*kW", True),
    "SWEDEN": ("{kilowatts:08.3f}*kW", True),
    "ISKRA_IE": ("{kilowatts:06.3f}*kW", False),
    "EON_HUNGARY": ("{kilowatts:06.3f}*kW", True),
    "Q3D": ("{watts:09.2f}*W", False),
    "SAGEMCOM_T210_D_R": ("{watts:05.0f}*W", True),
}


def telegrams_of(maker: str, values: random.Random) -> Iterator[bytes]:
    """Some telegrams, the last of which is damaged where that can be seen."""
    form, has_checksum = MAKERS[maker]
    for _ in range(40):
        drawn, given = (form.format(watts=watts, kilowatts=watts / 1000) for watts in values.choices(range(20_000), k=2))
        whole = telegram(drawn, given)
        yield whole if has_checksum else whole.replace(b".7.0(", b".7.0*255(").rpartition(b"!")[0] + b"!\r\n"
    if has_checksum:
        yield whole.replace(b"2MT", b"2MX")


@only_in_soak
def test_dsmr_parser_finds_the_same_powers(tmp_path: Path) -> None:
    wheels = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--only-binary",
        ":all:",
    ]
    install = [*wheels, "--require-hashes", "--target", str(tmp_path), "-r", str(PEERS / "dsmr.txt")]
    done = subprocess.run(install, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        pytest.skip(f"pip does not reach dsmr-parser: {done.stderr.strip()[-200:]}")
    values = random.Random(1)
    telegrams = [(maker, whole) for maker in MAKERS for whole in telegrams_of(maker, values)]
    answer = subprocess.run(
        [sys.executable, PEERS / "dsmr_powers.py"],
        input=json.dumps([(maker, whole.decode()) for maker, whole in telegrams]),
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: list[object] = []
    for _, whole in telegrams:
        try:
            ours = parse_json(P1Meter(parse_spec("p1:/dev/none")).take(whole) or "")
            found.append([*ours["drawn"], *ours["given"]])
        except MeterGlitchError:
            found.append("InvalidChecksumError")
    assert list(zip(telegrams, found, strict=True)) == list(zip(telegrams, json.loads(answer.stdout), strict=True))


def test_sml_gives_watts() -> None:
    with (
        server(frame(431, 1000)[7:] + frame(432, 1001) + frame(-50, 1001)) as host,
        opened(f"sml://{host}#timeout=5") as (meter, _),
    ):
        assert meter.read().watts == -50.0


def test_sml_of_a_meter_that_sends_both_directions() -> None:
    with server(frame(431, 1000, given=0) + frame(0, 1001, given=250)) as host, opened(f"sml://{host}#timeout=5") as (meter, _):
        assert meter.read().watts == -250.0


@pytest.mark.parametrize(
    ("status", "watts"),
    [(b"\x63\x01\x82", 137.0), (b"\x63\x01\xb0", -137.0), (b"\x65\x00\x01\x01\xa2", -137.0), (b"\x62\x00", 137.0)],
)
def test_sml_of_a_meter_that_has_the_direction_in_its_status(status: bytes, watts: float) -> None:
    """Meters of EMH and Dr. Neuhaus send a size, and bit 5 of the status of a counter where power is given back."""
    sent = frame(137, 1000, power="15.7", status=status)
    with server(sent * 2) as host, opened(f"sml://{host}#timeout=5") as (meter, _):
        assert meter.read().watts == watts


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (frame(137, 1000, power="15.7"), "not whether it is drawn or given back"),
        (frame(137, 1000, power="36.7"), "sends no power; many meters do when their PIN was entered at them"),
    ],
)
def test_a_power_without_a_direction_is_no_reading(sent: bytes, why: str) -> None:
    with server(sent) as host, pytest.raises(MeterError, match=why):
        make_meter(parse_spec(f"sml://{host}#timeout=5")).open()


def test_a_sign_that_the_counter_contradicts_is_no_reading() -> None:
    """Meters of one maker send 200 W as -56 W: as few bytes as the unsigned value needs, marked as signed."""
    with server(frame(100, 1000) + frame(-56, 1001) + frame(120, 1002)) as host, opened(f"sml://{host}#timeout=5") as (meter, _):
        with pytest.raises(MeterGlitchError, match="the sign is wrong"):
            meter.read()
        assert meter.read().watts == 120.0


def test_what_is_no_power_is_no_reading() -> None:
    with server(frame(1, 1, unit=29)) as host, pytest.raises(MeterError, match="no unit of power"):
        make_meter(parse_spec(f"sml://{host}#timeout=5")).open()
    with server(b"") as host, pytest.raises(MeterError, match="sent nothing whole in 1 s"):
        make_meter(parse_spec(f"sml://{host}#timeout=1")).open()


@pytest.mark.parametrize(
    ("spec", "why"),
    [("p1:x", "write p1:/dev/ttyUSB0"), ("sml://host", "the port is missing"), ("p1:/dev/x#baud=1", "is not a whole number")],
)
def test_wrong_words(spec: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        make_meter(parse_spec(spec))


def test_a_line_that_is_not_there() -> None:
    for scheme in ("p1", "sml"):
        with pytest.raises(MeterError, match="cannot be opened"):
            make_meter(parse_spec(f"{scheme}:/dev/no-such-line")).open()
