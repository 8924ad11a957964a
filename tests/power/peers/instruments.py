"""Laboratory power meters that speak SCPI over a TCP socket or a pseudo terminal, as threads of the test."""

from __future__ import annotations

import contextlib
import os
import pty
import socket
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Send = Callable[[str], None]


class Instrument:
    """State that a test can change; subclasses answer commands."""

    end = "\n"

    def __init__(self) -> None:
        self.watts = 173.42
        self.commands: list[str] = []
        self.lock = threading.Lock()

    def command(self, text: str, send: Send) -> None:
        """Answers one command of one line."""

    def line(self, text: str, send: Send) -> None:
        self.commands.append(text)
        self.command(text, send)

    def disconnected(self) -> None:
        """The line is gone."""


class Lmg(Instrument):
    """A ZES meter in its SHORT language: `ACTN;..?` chooses values, `CONT ON` pushes one line per cycle."""

    identity = ""
    cycle_key = "cycr"
    power_key = "p"

    def __init__(self) -> None:
        super().__init__()
        self.cycle_s = 0.5
        self.count = 65_530
        self.values: list[str] = []
        self.pushing = False
        self.lose = 0  # cycles to be lost on the way
        self.send: Send | None = None
        self.energy_j = 0.0
        threading.Thread(target=self._push, daemon=True).start()

    def command(self, text: str, send: Send) -> None:
        self.send = send
        low = text.lower().strip()
        if low == "*idn?":
            send(self.identity)
        elif low == "cont on":
            self.pushing = True
        elif low == "cont off":
            self.pushing = False
        elif low.startswith("actn;"):
            self.values = [v.rstrip("?") for v in low.split(";")[1:]]
        elif low.endswith(";*opc?"):
            if low.startswith("cycl "):
                self.cycle_s = float(low.split(";")[0].split()[1])
            send("1")

    def value(self, key: str, watts: float) -> str:
        if key == "count":
            return f"{self.count:.1f}"
        return f"{self.cycle_s * 1.0004:.6g}" if key == self.cycle_key else f"{watts:.6g}"

    def _push(self) -> None:
        due = time.monotonic()
        while True:
            due += self.cycle_s
            time.sleep(max(0.0, due - time.monotonic()))
            self.count = (self.count + 1) % 65536
            if self.lose > 0:
                self.lose -= 1
            elif self.pushing and self.send is not None:
                with contextlib.suppress(OSError):
                    self.send(";".join(self.value(v, self.watts) for v in self.values))

    def disconnected(self) -> None:
        self.pushing = False


class Lmg95(Lmg):
    end = "\r\n"
    identity = "ZES ZIMMER Electronic Systems GmbH, LMG95, 12345678, 3.137"


class Lmg600(Lmg):
    identity = "ZES ZIMMER Electronic Systems GmbH, LMG671, 00671, 4.1"
    cycle_key = "durnorm1"
    power_key = "p1"


class Wt310(Instrument):
    """A Yokogawa WT310E with its integrator."""

    def __init__(self) -> None:
        super().__init__()
        self.since: float | None = None
        self.watt_hours = 0.0
        self.error = '0,"No error"'

    def command(self, text: str, send: Send) -> None:
        answers = {
            "*IDN?": "YOKOGAWA,WT310E,C2QG12345,F1.03",
            ":INPUT:VOLT:RANG?": "300.0E+00",
            ":INPUT:CURR:RANG?": "2.0E+00",
            ":STAT:ERR?": self.error,
        }
        if text == ":INTEG:STAR":
            self.since = time.monotonic()
        elif text == ":NUM:NORM:VAL?":
            seconds = time.monotonic() - self.since if self.since is not None else 0.0
            send(f"{self.watts:.5E},{self.watt_hours + self.watts * seconds / 3600:.9E},{seconds:.0f}")
        elif text in answers:
            send(answers[text])


@contextmanager
def on_socket(instrument: Instrument, break_channel: bool = False) -> Iterator[int]:
    """Serves one connection after the other; yields the port. The break channel is the port above."""
    listener, breaker = _listen(break_channel)
    threading.Thread(target=_accept, args=(listener, instrument), daemon=True).start()
    if breaker is not None:
        threading.Thread(target=_accept_break, args=(breaker, instrument), daemon=True).start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        listener.close()
        if breaker is not None:
            breaker.close()


def _listen(pair: bool) -> tuple[socket.socket, socket.socket | None]:
    for _ in range(50):
        listener = socket.create_server(("127.0.0.1", 0))
        if not pair:
            return listener, None
        try:
            return listener, socket.create_server(("127.0.0.1", listener.getsockname()[1] + 1))
        except OSError:
            listener.close()
    raise RuntimeError("no two neighbouring ports are free")


def _accept(listener: socket.socket, instrument: Instrument) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, connection.makefile("rb") as lines, contextlib.suppress(OSError):

            def send(text: str, connection: socket.socket = connection) -> None:
                with instrument.lock:
                    connection.sendall((text + instrument.end).encode())

            for line in lines:
                instrument.line(line.decode().rstrip("\r\n"), send)
        instrument.disconnected()


def _accept_break(listener: socket.socket, instrument: Instrument) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            if connection.recv(64).startswith(b"break"):
                instrument.commands.append("<break>")
                instrument.disconnected()
                connection.sendall(b"0 ok\n")


@contextmanager
def on_terminal(instrument: Instrument) -> Iterator[str]:
    """Serves a pseudo terminal, which is a serial line to its opener; yields its path."""
    master, slave = pty.openpty()
    tty.setraw(master)
    tty.setraw(slave)
    path = os.ttyname(slave)

    def send(text: str) -> None:
        with instrument.lock:
            os.write(master, (text + instrument.end).encode())

    def serve() -> None:
        buffer = b""
        with contextlib.suppress(OSError):
            while True:
                buffer += os.read(master, 256)
                while b"\n" in buffer:
                    line, _, buffer = buffer.partition(b"\n")
                    instrument.line(line.decode(errors="replace").strip("\r\0"), send)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield path
    finally:
        instrument.disconnected()
        os.close(slave)
        os.close(master)
