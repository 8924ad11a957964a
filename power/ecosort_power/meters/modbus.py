"""Meters on Modbus: `modbus://HOST[:502]#preset=sdm120` over TCP, `modbus:/dev/ttyUSB0#preset=sdm630,id=2` on a serial line.

Presets: sdm120 and sdm630 (Eastron), sunspec (any meter of models 201 to 204 and 211 to 214, found by its marks). Other meters:
`#value=input:12,type=float32,unit=W,energy=input:342,energy-type=float32,energy-unit=kWh`; nothing is guessed.
Registers: "SDM120 Modbus Protocol", "SDM630 Modbus Protocol" (Eastron), "SunSpec Device Information Model Specification"; their
numbers are addresses in the telegram, from 0 on.
"""

from __future__ import annotations

import json
import math
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.extras import install
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.meters.units import ENERGY_UNITS, POWER_UNITS, unit
from ecosort_power.nesting import parse_json
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.address import NOT_THERE, split_address

_FORM = "modbus://HOST[:PORT] or modbus:/dev/ttyUSB0"
_SPACES = ("input", "holding")
_LETTERS = {"int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "float32": "f", "int64": "q", "uint64": "Q", "float64": "d"}
_WORDS = {kind: struct.calcsize(f">{letter}") // 2 for kind, letter in _LETTERS.items()}
_SUNSPEC_BASES = (40000, 50000, 0)
_SUNSPEC_MARK = [0x5375, 0x6E53]  # "SunS"
_SUNSPEC_END = 0xFFFF
_SUNSPEC_NONE = -0x8000  # of a signed register
_MOST_MODELS = 64
_PARITIES = {"none": "N", "even": "E", "odd": "O"}


@dataclass(frozen=True)
class Value:
    """A number in registers. `scale`: watts or joules of one unit; `exponent_at`: the register with the power of ten, if any."""

    space: str
    address: int
    type: str
    scale: float
    exponent_at: int | None = None

    @property
    def words(self) -> int:
        return _WORDS[self.type]


_PRESETS: Mapping[str, dict[str, Value]] = {
    "sdm120": {"value": Value("input", 0x000C, "float32", 1.0), "energy": Value("input", 0x0156, "float32", 3.6e6)},
    "sdm630": {"value": Value("input", 0x0034, "float32", 1.0), "energy": Value("input", 0x0156, "float32", 3.6e6)},
}


class ModbusMeter(Meter):
    """One device of one line or server."""

    settings_known: ClassVar[Mapping[str, str]] = {
        "preset": "sdm120, sdm630 or sunspec",
        "id": "number of the device on the line (1)",
        "value": "input:ADDRESS or holding:ADDRESS of the power",
        "type": f"type of the power: {', '.join(_WORDS)}",
        "unit": "unit of the power: W, mW, kW",
        "energy": "input:ADDRESS or holding:ADDRESS of an energy counter",
        "energy-type": "type of the counter",
        "energy-unit": "unit of the counter: Wh, kWh, ...",
        "baud": "speed of a serial line (9600)",
        "parity": "parity of a serial line: none, even, odd (none)",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        given = spec.settings
        self._preset = given.get("preset", "")
        own = [name for name in ("value", "energy") if name in given]
        if bool(self._preset) == bool(own) or (self._preset and self._preset not in (*_PRESETS, "sunspec")):
            known = ", ".join((*_PRESETS, "sunspec"))
            raise UsageError(f"meter {spec.text[:200]}: give #preset= ({known}), or #value= and #energy= with their registers")
        self._values = dict(_PRESETS.get(self._preset, {})) or {name: _value_of(spec, name) for name in own}
        self._id = spec.whole("id", 1, 0, 247)
        self._client: Any = None
        self._where = f"modbus:{spec.address}"
        if not spec.address.startswith("/") or spec.address.startswith("//"):
            self._address = split_address(spec.scheme, spec.address, _FORM)
        if given.get("parity", "none") not in _PARITIES:
            raise UsageError(f"meter {spec.text[:200]}: parity must be one of: {', '.join(_PARITIES)}")
        self._baud = spec.whole("baud", 9600, 300, 1_000_000)

    def open(self) -> Capabilities:
        self.close()
        self._client = self._connect()
        with self.connecting():
            if self._preset == "sunspec":
                self._values = self._find_sunspec()
                self._leave_out_uncounted()
            self.read()
        return Capabilities(
            title=f"Modbus {self._preset or 'meter'} {self.spec.address}",
            scope=Scope.UNKNOWN,
            period_s=1.0,
            power=PowerKind.INSTANT if "value" in self._values else None,
            counter="energy" in self._values,
        )

    def _connect(self) -> Any:
        try:
            from pymodbus.client import ModbusSerialClient, ModbusTcpClient
        except ImportError:
            raise MeterError(f"Modbus needs pymodbus; run: {install('pymodbus')}") from None
        timeout_s = self.spec.number("timeout", 3.0)
        if self.spec.address.startswith("//"):
            client: Any = ModbusTcpClient(self._address.host, port=self._address.port or 502, timeout=timeout_s, retries=0)
        else:
            parity = _PARITIES[self.spec.settings.get("parity", "none")]
            client = ModbusSerialClient(self.spec.address, baudrate=self._baud, parity=parity, timeout=timeout_s, retries=0)
        if not client.connect():
            client.close()
            raise MeterError(f"{self._where} cannot be reached; {NOT_THERE}")
        return client

    def _registers(self, space: str, address: int, count: int) -> list[int]:
        from pymodbus.exceptions import ModbusException

        ask = self._client.read_input_registers if space == "input" else self._client.read_holding_registers
        try:
            answer = ask(address, count=count, device_id=self._id)
        except (ModbusException, OSError) as error:
            raise MeterGlitchError(f"{self._where} does not answer: {error}; device {self._id}") from None
        if answer.isError():
            raise MeterGlitchError(f"{self._where} refuses to read {space}:{address} of device {self._id}: {answer}")
        if len(answer.registers) < count:
            raise MeterGlitchError(f"{self._where} answers with {len(answer.registers)} of {count} registers")
        return list(answer.registers[:count])

    def _find_sunspec(self) -> dict[str, Value]:
        for base in _SUNSPEC_BASES:
            try:
                if self._registers("holding", base, 2) == _SUNSPEC_MARK:
                    return self._find_model(base + 2)
            except MeterGlitchError:
                continue
        raise MeterError(f"{self._where} has no mark of SunSpec at {', '.join(map(str, _SUNSPEC_BASES))}")

    def _find_model(self, at: int) -> dict[str, Value]:
        for _ in range(_MOST_MODELS):
            model, length = self._registers("holding", at, 2)
            if 201 <= model <= 204:
                power = Value("holding", at + 18, "int16", 1.0, at + 22)
                return {"value": power, "energy": Value("holding", at + 46, "uint32", 3600.0, at + 54)}
            if 211 <= model <= 214:
                return {
                    "value": Value("holding", at + 28, "float32", 1.0),
                    "energy": Value("holding", at + 68, "float32", 3600.0),
                }
            if model == _SUNSPEC_END:
                break
            at += 2 + length
        raise MeterError(f"{self._where} is no meter: it has none of the SunSpec models 201 to 204 and 211 to 214")

    def _leave_out_uncounted(self) -> None:
        """SunSpec has 0, or no number, in the counter of a meter that does not count."""
        if not _number_of(self._part(self._values["energy"])) > 0:
            del self._values["energy"]

    def _part(self, value: Value) -> dict[str, Any]:
        part = {
            "words": self._registers(value.space, value.address, value.words),
            "type": value.type,
            "scale": value.scale,
        }
        if value.exponent_at is not None:
            part["exponent"] = self._registers(value.space, value.exponent_at, 1)
        return part

    def read(self) -> Reading:
        before = time.monotonic()
        raw = {name: self._part(value) for name, value in self._values.items()}
        return Reading(before, time.monotonic(), _number(raw.get("value")), _number(raw.get("energy")), raw=json.dumps(raw))

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a raw answer."""
        document = parse_json(raw)
        return Reading(0.0, 0.0, _number(document.get("value")), _number(document.get("energy")))


def _value_of(spec: MeterSpec, name: str) -> Value:
    given, prefix = spec.settings, "" if name == "value" else "energy-"
    space, colon, number = given[name].partition(":")
    if space not in _SPACES or not colon or not number.isdecimal() or int(number) > 0xFFFF:
        raise UsageError(
            f"meter {spec.text[:200]}: {name}={given[name][:40]} is not input:ADDRESS or holding:ADDRESS, from 0 to 65535"
        )
    kind = given.get(f"{prefix}type", "")
    if kind not in _WORDS:
        raise UsageError(f"meter {spec.text[:200]}: say the type: #{prefix}type=TYPE, one of: {', '.join(_WORDS)}")
    table = POWER_UNITS if name == "value" else ENERGY_UNITS
    if f"{prefix}unit" not in given:
        raise UsageError(f"meter {spec.text[:200]}: say the unit: #{prefix}unit=UNIT, one of: {', '.join(table)}")
    return Value(space, int(number), kind, unit(table, given[f"{prefix}unit"]))


def _number(part: Mapping[str, Any] | None) -> float | None:
    """Words, the largest first, as watts or joules. A value, or its power of ten, that SunSpec leaves out makes no number."""
    return None if part is None else _number_of(part)


def _number_of(part: Mapping[str, Any]) -> float:
    value = _decoded(part["words"], part["type"])
    if (exponent := part.get("exponent")) is not None:
        tens = _decoded(exponent, "int16")
        is_there = -10 <= tens <= 10 and (part["type"], value) != ("int16", _SUNSPEC_NONE)
        value = value * 10**tens if is_there else math.nan
    return value * float(part["scale"])


def _decoded(words: Sequence[int], kind: str) -> float:
    (found,) = struct.unpack(f">{_LETTERS[kind]}", struct.pack(f">{len(words)}H", *words))
    return float(found)
