"""A Yokogawa WT310E for the program sinstruments-server: set-up, items, ranges and its integrator (IM WT310E-17EN).

The server finds the class by its name in its configuration and calls `get_protocol`; nothing of the server is imported here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Protocol

WATTS = 41.7


class Transport(Protocol):
    """The server hands over lines, and takes bytes."""

    def ireadlines(self, channel: Any) -> Iterable[bytes]: ...

    def send(self, channel: Any, data: bytes) -> None: ...


class Wattmeter:
    """State of the instrument; commands that only set something are taken, unknown queries are not answered."""

    baudrate = None

    def __init__(self, name: str, **ignored: Any) -> None:
        self.name = name
        self.transports: list[Any] = []
        self._since: float | None = None
        self._ranges = {"VOLT": "300.0E+00", "CURR": "2.0000E+00"}

    def get_protocol(self, channel: Any, transport: Transport) -> Talk:
        return Talk(self, channel, transport)

    def answer(self, line: str) -> str | None:
        fixed = {"*IDN?": "YOKOGAWA,WT310E,C2QH01234E,F1.04", ":STAT:ERR?": '0,"No error"'}
        if line in fixed:
            return fixed[line]
        if line == ":INTEG:STAR":
            self._since = time.monotonic()
        if line.startswith(":INPUT:") and line.endswith(":RANG?"):
            return self._ranges[line.split(":")[2]]
        if line == ":NUM:NORM:VAL?":
            seconds = time.monotonic() - self._since if self._since is not None else 0.0
            return f"{WATTS:.4E},{WATTS * seconds / 3600:.6E},{seconds:.0f}"
        return None


class Talk:
    """One connection."""

    def __init__(self, meter: Wattmeter, channel: Any, transport: Transport) -> None:
        self._meter, self._channel, self._transport = meter, channel, transport

    def handle(self) -> None:
        for line in self._transport.ireadlines(self._channel):
            reply = self._meter.answer(line.decode().strip())
            if reply is not None:
                self._transport.send(self._channel, reply.encode() + b"\n")
