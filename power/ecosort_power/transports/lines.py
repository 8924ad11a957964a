"""Lines of text over a TCP connection. One thread per connection."""

from __future__ import annotations

import socket
import time

from ecosort_power.errors import MeterError, MeterGlitchError
from ecosort_power.transports.address import NOT_THERE

MAX_LINE_BYTES = 65536


class LineSocket:
    """MeterError if it cannot be opened or has ended, MeterGlitchError for an answer that is late."""

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        self.name = f"{host}:{port}"
        self._timeout_s = timeout_s
        self._buffer = b""
        try:
            self._socket = socket.create_connection((host, port), timeout_s)
        except (OSError, UnicodeError, OverflowError) as error:
            raise MeterError(f"{self.name} cannot be reached: {error}; {NOT_THERE}") from None

    def write(self, text: str) -> None:
        try:
            self._socket.sendall(text.encode())
        except OSError as error:
            raise MeterError(f"{self.name}: {error}") from None

    def read_line(self) -> str:
        """The next line without its end."""
        deadline = time.monotonic() + self._timeout_s
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0:
                raise MeterGlitchError(
                    f"{self.name} did not answer in time ({self._timeout_s:g} s); #timeout=SECONDS waits longer"
                )
            self._socket.settimeout(left)
            try:
                data = self._socket.recv(4096)
            except TimeoutError:
                continue
            except OSError as error:
                raise MeterError(f"{self.name}: {error}") from None
            if not data:
                raise MeterError(f"{self.name} has closed the connection")
            self._buffer += data
            if len(self._buffer) > MAX_LINE_BYTES and b"\n" not in self._buffer:
                raise MeterError(f"{self.name} sends no lines of text")
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")

    def close(self) -> None:
        self._socket.close()
