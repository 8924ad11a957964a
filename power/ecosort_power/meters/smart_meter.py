"""Smart meters of houses, at their reader's port: P1 telegrams (DSMR and its kin), and SML by smllib.

`p1:/dev/ttyUSB0`, `p1://HOST:PORT` (a reader that passes its port on over TCP); `sml:/dev/ttyUSB0`. They
show the whole house, so that the rest of it must stand still. The value is what is drawn minus what is given back; its unit is
taken from the telegram: some meters write kW, others W. Times in telegrams are not used: their zone is not said.
Specifications: "DSMR P1 Companion Standard" 5.0.2; "Smart Message Language" 1.04 (BSI TR-03109-1, annex IV); "Lastenheft EDL"
1.0 (FNN).
"""

from __future__ import annotations

import json
import re
import socket
import time
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.extras import install
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.meters.units import POWER_UNITS
from ecosort_power.nesting import parse_json
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.address import NOT_THERE, split_address

_MOST_BYTES = 1 << 16  # of a telegram
_PIECE = 4096
_MOMENT_S = 0.2


class PortMeter(Meter):
    """A meter that sends by itself, on a serial line or over TCP."""

    paced: ClassVar[bool] = False
    usual_baud: ClassVar[int]
    settings_known: ClassVar[Mapping[str, str]] = {"baud": "speed of a serial line"}

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._where = f"{spec.scheme}:{spec.address}"
        self._baud = spec.whole("baud", self.usual_baud, 300, 1_000_000)
        self._timeout_s = spec.number("timeout", 15.0)
        self._line: Any = None
        self._server: tuple[str, int] | None = None
        if spec.address.startswith("//"):
            form = f"{spec.scheme}://HOST:PORT or {spec.scheme}:/dev/ttyUSB0"
            address = split_address(spec.scheme, spec.address, form)
            if address.port is None:
                raise UsageError(f"meter {spec.text[:200]}: the port is missing: {form}")
            self._server = address.host, address.port
        elif not spec.address.startswith("/"):
            raise UsageError(f"meter {spec.text[:200]}: write {spec.scheme}:/dev/ttyUSB0 or {spec.scheme}://HOST:PORT")

    def open(self) -> Capabilities:
        self.close()
        try:
            self._line = self._connect()
        except (OSError, ValueError) as error:
            raise MeterError(f"{self._where} cannot be opened: {error}; {NOT_THERE}") from None
        with self.connecting():
            self.read()
        return Capabilities(
            title=f"smart meter {self.spec.address}",
            scope=Scope.UNKNOWN,
            period_s=self.spec.number("period", 1.0),
            power=PowerKind.INSTANT,
            notes=("the whole house: all else in it must stand still",),
        )

    def _connect(self) -> Any:
        """A line or a socket, whose reads end after a moment."""
        if self._server is not None:
            line = socket.create_connection(self._server, self._timeout_s)
            line.settimeout(_MOMENT_S)
            return line
        try:
            import serial
        except ImportError:
            raise MeterError(f"{self.spec.scheme} needs pyserial; run: {install(self.spec.scheme)}") from None
        return serial.Serial(self.spec.address, baudrate=self._baud, timeout=_MOMENT_S)

    def _receive(self) -> bytes:
        """Returns what came, or nothing. MeterError where the line is gone."""
        try:
            if self._server is None:
                return bytes(self._line.read(max(1, min(self._line.in_waiting, _PIECE))))
            if data := self._line.recv(_PIECE):
                return bytes(data)
        except TimeoutError:
            return b""
        except OSError as error:
            raise MeterError(f"{self._where} is lost: {error}") from None
        raise MeterError(f"{self._where} has closed the connection")

    def read(self) -> Reading:
        until = time.monotonic() + self._timeout_s
        data = b""  # what came with the telegram before may hold another one
        while time.monotonic() < until:
            raw = self.take(data)
            if raw is not None:
                now_s = time.monotonic()
                return Reading(now_s, now_s, watts_of(raw, self._where), raw=raw)
            data = self._receive()
        raise MeterGlitchError(f"{self._where} sent nothing whole in {self._timeout_s:g} s; #timeout=SECONDS waits longer")

    @abstractmethod
    def take(self, data: bytes) -> str | None:
        """Adds bytes of the line; gives the values of a telegram that is whole now, as JSON. MeterGlitchError for a bad one."""

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a raw answer."""
        return Reading(0.0, 0.0, watts_of(raw, spec.address))


def watts_of(raw: str, where: str) -> float:
    """Returns what is drawn minus what is given back, of {"drawn": [number, unit], "given": ...}. MeterGlitchError."""
    document = parse_json(raw)
    parts = {name: document.get(name) for name in ("drawn", "given")}
    if parts["drawn"] is None:
        raise MeterGlitchError(f"{where}: its telegram has no power")
    return _watts(parts["drawn"], where) - (_watts(parts["given"], where) if parts["given"] is not None else 0.0)


def _watts(part: tuple[float, str], where: str) -> float:
    number, unit = part
    if unit not in POWER_UNITS:
        raise MeterGlitchError(f"{where}: its telegram has a power in {unit!r}, which is no unit of power")
    return float(number) * POWER_UNITS[unit]


# 1-0:1.7.0 is the power that is drawn, 2.7.0 what is given back: "1-0:1.7.0(00.428*kW)", of some meters "...*255(431*W)".
_P1_POWER = re.compile(r"^\d-\d:([12])\.7\.0(?:\*255)?\((\d+(?:\.\d+)?)\*(k?W)\)\r?$", re.MULTILINE)


class P1Meter(PortMeter):
    """Telegrams from `/` to `!`, and, of newer meters, their checksum."""

    usual_baud: ClassVar[int] = 115_200

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._text = b""

    def open(self) -> Capabilities:
        self._text = b""
        return super().open()

    def take(self, data: bytes) -> str | None:
        plain = bytes(byte & 0x7F for byte in data)  # meters before DSMR 4 send seven bits, and a bit of parity above them
        self._text = (self._text + plain)[-_MOST_BYTES:]
        begin = self._text.find(b"/")
        mark = self._text.find(b"!", begin) if begin >= 0 else -1
        end = self._text.find(b"\n", mark) if mark >= 0 else -1
        if end < 0:
            return None
        telegram, checksum = self._text[begin : mark + 1], self._text[mark + 1 : end].strip()
        self._text = self._text[end + 1 :]
        digits = checksum.strip(b" \r\x00").upper().rjust(4, b"0")  # some leave zeros out
        if checksum and digits != f"{_crc16(telegram):04X}".encode():
            raise MeterGlitchError(f"{self._where} sent a telegram that is not whole: its checksum is wrong")
        names = {"1": "drawn", "2": "given"}
        found = _P1_POWER.findall(telegram.decode("ascii", errors="replace"))
        return json.dumps({names[kind]: [float(number), unit] for kind, number, unit in found})


def _crc16(data: bytes) -> int:
    """CRC-16/ARC, as the companion standard has it."""
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ 0xA001 if value & 1 else value >> 1
    return value


# 1-0:16.7.0 is what is drawn minus what is given back; meters without it have one or both by themselves, 1.7.0 and 2.7.0.
_POWERS = ({"drawn": "0100100700ff"}, {"drawn": "0100010700ff", "given": "0100020700ff"})
# 1-0:15.7.0 is how large the power is. Meters of EDL 1.0 have nothing else, and its direction in the status of a counter.
_SIZE_OBIS = "01000f0700ff"
_COUNTER_OBIS, _GIVEN_COUNTER_OBIS = "0100010800ff", "0100020800ff"  # 1-0:1.8.0 and 2.8.0, what was drawn and given back
_GIVES_BACK = 1 << 5
_SML_UNITS = {27: "W", 30: "Wh"}


class SmlMeter(PortMeter):
    """Frames of SML. Meters of one maker send large powers with a sign that they do not mean: a house that seems to give back
    while the counter of what it draws goes up is no reading."""

    usual_baud: ClassVar[int] = 9600

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._reader: Any = None
        self._drawn_before: float | None = None

    def open(self) -> Capabilities:
        try:
            self._reader, self._drawn_before = _new_reader(), None
        except ImportError:
            raise MeterError(f"sml needs smllib; run: {install('sml')}") from None
        return super().open()

    def take(self, data: bytes) -> str | None:
        from smllib.errors import SmlLibException

        self._reader.add(data)
        try:
            frame = self._reader.get_frame()
            entries = [] if frame is None else frame.get_obis()
        except (SmlLibException, ValueError, LookupError, TypeError) as error:
            raise MeterGlitchError(f"{self._where} sent a frame that is not whole: {type(error).__name__}") from None
        if frame is None:
            return None
        numbers = {str(entry.obis): (entry.get_value(), entry.unit) for entry in entries}
        found = next(filter(None, (self._powers(numbers, names) for names in _POWERS)), {})
        if not found and (size := self._powers(numbers, {"drawn": _SIZE_OBIS})):
            statuses = {str(entry.obis): entry.status for entry in entries}
            found = {"drawn": (size["drawn"][0] * self._direction(statuses), size["drawn"][1])}
        self._check_sign(found, self._number(numbers.get(_COUNTER_OBIS)))
        if not found:
            raise MeterGlitchError(f"{self._where} sends no power; many meters do when their PIN was entered at them")
        return json.dumps(found)

    def _powers(self, numbers: Mapping[str, tuple[Any, Any]], names: Mapping[str, str]) -> dict[str, tuple[float, str]]:
        known = {name: (self._number(numbers.get(obis)), obis) for name, obis in names.items()}
        return {
            name: (number, _SML_UNITS.get(numbers[obis][1], "no unit"))
            for name, (number, obis) in known.items()
            if number is not None
        }

    def _direction(self, statuses: Mapping[str, Any]) -> int:
        """1 where power is drawn, -1 where it is given back. MeterGlitchError."""
        known = [status for obis in (_COUNTER_OBIS, _GIVEN_COUNTER_OBIS) if isinstance(status := statuses.get(obis), int)]
        if not known:
            raise MeterGlitchError(f"{self._where} says how large its power is, and not whether it is drawn or given back")
        return -1 if known[0] & _GIVES_BACK else 1

    @staticmethod
    def _number(found: tuple[Any, Any] | None) -> float | None:
        return float(found[0]) if found is not None and isinstance(found[0], int | float) else None

    def _check_sign(self, powers: Mapping[str, tuple[float, str]], drawn: float | None) -> None:
        before, self._drawn_before = self._drawn_before, drawn
        least = min((number for number, _ in powers.values()), default=0.0)
        if least < 0 and before is not None and drawn is not None and drawn > before:
            raise MeterGlitchError(f"{self._where} says {least:g} W, but its counter of what is drawn went up: the sign is wrong")


def _new_reader() -> Any:
    """A reader of frames in which an entry may have no value, as some meters send one: smllib refuses the whole frame."""
    from smllib.builder.default_context import create_context
    from smllib.builder.list_entry import SmlListEntryBuilder
    from smllib.reader import SmlStreamReader

    class Entries(SmlListEntryBuilder):
        def build(self, obj: Any, classes: Any) -> Any:
            return super(SmlListEntryBuilder, self).build(obj, classes)

    return SmlStreamReader({**create_context(), SmlListEntryBuilder.BUILDS: Entries()})
