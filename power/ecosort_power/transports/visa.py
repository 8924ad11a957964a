"""Instruments over PyVISA: serial lines, TCP sockets, USB-TMC. Pure Python with PyVISA-py unless told otherwise.

One thread per instrument. Errors of the library become MeterError (gone) or MeterGlitchError (late).
"""

from __future__ import annotations

import fcntl
import os
import socket
from typing import Any

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.extras import install
from ecosort_power.transports.address import split_address

_LAST_PORT = 65535


def resource_name(address: str) -> str:
    """VISA name of `//HOST:PORT`, of a serial device path, or of what already is one."""
    if "::" in address:
        return address
    if address.startswith("//"):
        url = split_address("scpi", address, "scpi://HOST:PORT")
        if url.port is None:
            raise UsageError(f"scpi:{address} lacks its port; write scpi://HOST:PORT")
        return f"TCPIP0::{url.host}::{url.port}::SOCKET"
    if address.startswith("/dev/"):
        return f"ASRL{address}::INSTR"
    raise UsageError(f"scpi:{address} is not //HOST:PORT, a serial device or a VISA resource name")


class Instrument:
    """A message-based instrument: lines of text out and in."""

    def __init__(self, address: str, library: str, timeout_s: float, termination: str, baud: int) -> None:
        try:
            import pyvisa
        except ImportError:
            raise MeterError(f"SCPI meters need pyvisa and pyvisa-py; run: {install('pyvisa')}") from None
        self._errors: Any = pyvisa.errors
        self.name = resource_name(address)
        self._lock = _alone(address) if address.startswith("/dev/") else None
        options: dict[str, Any] = {"read_termination": termination, "write_termination": termination}
        if self.name.startswith("ASRL") and library == "@py":
            options["baud_rate"] = baud
        try:
            self._manager = pyvisa.ResourceManager(library)
            self._device: Any = self._manager.open_resource(self.name, timeout=timeout_s * 1000, **options)
        except Exception as error:  # PyVISA-py lets OSError, ValueError and its own errors through
            todo = (
                "run: apt-get install libusb-1.0-0" if "PyUSB" in str(error) else "`ecosort-power meters` lists what is connected"
            )
            self._unlock()
            raise MeterError(f"{self.name} cannot be opened: {_text(error)}; {todo}") from error

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def write(self, text: str) -> None:
        try:
            self._device.write(text)
        except Exception as error:
            raise MeterError(f"{self.name}: {_text(error)}") from error

    def read(self) -> str:
        """MeterGlitchError if no line comes in time."""
        try:
            return str(self._device.read())
        except self._errors.VisaIOError as error:
            if error.error_code == -1073807339:  # VI_ERROR_TMO
                raise MeterGlitchError(
                    f"{self.name} did not answer in time; #timeout=SECONDS waits longer, #period= asks less often"
                ) from None
            raise MeterError(f"{self.name}: {_text(error)}") from error
        except UnicodeDecodeError:
            raise MeterGlitchError(f"{self.name} sent bytes that are no text (wrong baud rate?)") from None
        except Exception as error:
            raise MeterError(f"{self.name}: {_text(error)}") from error

    def query(self, text: str) -> str:
        self.write(text)
        return self.read()

    def drain(self) -> None:
        """Throws away what an earlier session left in the line."""
        keep = self._device.timeout
        self._device.timeout = 100
        try:
            for _ in range(1000):
                self.read()
        except MeterError:
            pass
        finally:
            self._device.timeout = keep

    def serial_break(self) -> None:
        """A BREAK on a serial line; on others nothing happens."""
        if not self.name.startswith("ASRL"):
            return
        from pyvisa.constants import SerialTermination

        try:
            before = self._device.end_output
            self._device.end_output = SerialTermination.termination_break
            self._device.write_raw(b"")
            self._device.end_output = before
        except Exception as error:
            raise MeterError(f"{self.name}: BREAK failed: {_text(error)}") from error

    def close(self) -> None:
        try:
            self._device.close()
            self._manager.close()
        except Exception:  # the line is gone already: nothing is left to release
            return
        finally:
            self._unlock()


def _alone(device: str) -> int | None:
    """Keeps a second measurement off the line, which would take the answers of the first one away. The lock goes with its file
    descriptor. None: the device cannot be opened, and what opens it next says why."""
    try:
        fd = os.open(device, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise MeterError(f"{device} is read by another measurement; end that one first") from None
    return fd


def socket_break(address: str, timeout_s: float) -> None:
    """The break channel of ZES LMG600 instruments: the port above the command port takes `break` and answers `0 ok`."""
    if not address.startswith("//"):
        return
    url = split_address("scpi", address, "scpi://HOST:PORT")
    if url.port is None or url.port == _LAST_PORT:
        return
    try:
        with socket.create_connection((url.host, url.port + 1), timeout_s) as s:
            s.sendall(b"break\n")
            s.recv(64)
    except OSError:
        return  # a gateway without that port; draining the line does the same, more slowly


def _text(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
