"""Modbus over TCP against pymodbus' own server: presets, SunSpec, registers by hand, devices that are not there."""

from __future__ import annotations

import asyncio
import math
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import parse_spec

from .support import free_port, opened


def words(letter: str, number: float) -> list[int]:
    packed = struct.pack(f">{letter}", number)
    return list(struct.unpack(f">{len(packed) // 2}H", packed))


@contextmanager
def device(input_registers: Mapping[int, list[int]], holding: Mapping[int, list[int]]) -> Iterator[int]:
    """A server with device 1, which has these registers and no others; gives its port."""
    from pymodbus.datastore import ModbusDeviceContext, ModbusServerContext, ModbusSparseDataBlock
    from pymodbus.server import ModbusTcpServer

    def block(registers: Mapping[int, list[int]]) -> Any:
        return ModbusSparseDataBlock({at: list(values) for at, values in registers.items()} or {65000: [0]})

    port, ready = free_port(), threading.Event()
    found: dict[str, Any] = {}

    async def run() -> None:
        context = ModbusServerContext(
            devices={1: ModbusDeviceContext(ir=block(input_registers), hr=block(holding))}, single=False
        )
        found["server"], found["loop"] = ModbusTcpServer(context, address=("127.0.0.1", port)), asyncio.get_running_loop()
        await found["server"].listen()
        ready.set()
        await found["server"].serving

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield port
    finally:
        asyncio.run_coroutine_threadsafe(found["server"].shutdown(), found["loop"]).result(60)
        thread.join(60)


SUNSPEC_INTEGERS = {
    40000: [0x5375, 0x6E53, 1, 4, 0, 0, 0, 0, 203, 105],
    40008 + 18: words("h", 4350),
    40008 + 22: words("h", -2),
    40008 + 46: words("I", 1234),
    40008 + 54: words("h", 1),
}
SUNSPEC_FLOATS = {0: [0x5375, 0x6E53, 213, 124], 2 + 28: words("f", 43.5), 2 + 68: words("f", 12340.0)}


@pytest.mark.parametrize(
    ("preset", "input_registers", "holding"),
    [
        ("sdm120", {0x000C: words("f", 43.5), 0x0156: words("f", 12.34)}, {}),
        ("sdm630", {0x0034: words("f", 43.5), 0x0156: words("f", 12.34)}, {}),
        ("sunspec", {}, SUNSPEC_INTEGERS),
        ("sunspec", {}, SUNSPEC_FLOATS),
    ],
)
def test_presets_give_watts_and_joules(
    preset: str, input_registers: Mapping[int, list[int]], holding: Mapping[int, list[int]]
) -> None:
    with device(input_registers, holding) as port, opened(f"modbus://127.0.0.1:{port}#preset={preset}") as (meter, capabilities):
        reading = meter.read()
    assert reading.watts == pytest.approx(43.5)
    assert reading.joules == pytest.approx(12.34 * 3.6e6, rel=1e-6)
    assert capabilities.counter


def test_what_sunspec_leaves_out_is_no_value() -> None:
    """-32768 is no power, and a counter of 0 one that does not count."""
    uncounted = SUNSPEC_INTEGERS | {40008 + 46: words("I", 0)}
    with device({}, uncounted) as port, opened(f"modbus://127.0.0.1:{port}#preset=sunspec") as (meter, capabilities):
        assert not capabilities.counter
        assert meter.read().joules is None
    with (
        device({}, SUNSPEC_INTEGERS | {40008 + 18: words("h", -0x8000)}) as port,
        opened(f"modbus://127.0.0.1:{port}#preset=sunspec") as (meter, _),
    ):
        watts = meter.read().watts
        assert watts is not None
        assert math.isnan(watts)


def test_registers_by_hand_have_type_and_unit() -> None:
    settings = "value=holding:7,type=int32,unit=mW,energy=holding:20,energy-type=uint64,energy-unit=Wh"
    holding = {7: words("i", -41_700), 20: words("Q", 5)}
    with device({}, holding) as port, opened(f"modbus://127.0.0.1:{port}#{settings}") as (meter, _):
        reading = meter.read()
    assert (reading.watts, reading.joules) == (pytest.approx(-41.7), 18_000.0)


def test_what_is_not_there_is_named() -> None:
    with device({0x000C: words("f", 1.0)}, {0: [1, 2]}) as port:
        for settings, why in [
            ("preset=sdm120", "refuses to read input:342 of device 1"),
            ("preset=sdm120,id=7", "device 7"),
            ("preset=sunspec", "has no mark of SunSpec"),
        ]:
            with pytest.raises(MeterError, match=why):
                make_meter(parse_spec(f"modbus://127.0.0.1:{port}#{settings},timeout=1")).open()
    with pytest.raises(MeterError, match="cannot be reached"):
        make_meter(parse_spec(f"modbus://127.0.0.1:{free_port()}#preset=sdm120")).open()
    with pytest.raises(MeterError, match="cannot be reached"):
        make_meter(parse_spec("modbus:/dev/no-such-line#preset=sdm120")).open()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ("", "give #preset="),
        ("preset=sdm9", "give #preset="),
        ("preset=sdm120,value=input:1", "give #preset="),
        ("value=coil:1,type=int16,unit=W", "is not input:ADDRESS"),
        ("value=input:70000,type=int16,unit=W", "is not input:ADDRESS"),
        ("value=input:1,unit=W", "say the type"),
        ("value=input:1,type=int16", "say the unit"),
        ("preset=sdm120,parity=mark", "parity must be"),
        ("preset=sdm120,id=300", "is not a whole number"),
    ],
)
def test_what_is_not_said_is_not_guessed(settings: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        make_meter(parse_spec(f"modbus:/dev/ttyUSB0#{settings}"))
