"""Laboratory power meters over SCPI: ZES ZIMMER LMG95 and LMG600, Yokogawa WT310, and a generic one.

Address: `scpi://HOST:PORT`, `scpi:/dev/ttyUSB0`, or a VISA resource name like `scpi:USB0::0x0B21::0x0025::SERIAL::INSTR`.

LMG meters push one line per measuring cycle: cycle number, true cycle time, active power. Their energy is the sum of
power x cycle time. The WT310 integrates by itself; its watt-hours are the counter. No meter may change its range during
a run: `#urange=250,irange=2` fixes both, else the present ranges are frozen.
"""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters.base import Finding, Machine, Meter, MeterSpec
from ecosort_power.reading import Accuracy, Capabilities, Flag, PowerKind, Reading, Scope
from ecosort_power.transports.sysfs import read_text
from ecosort_power.transports.visa import Instrument, socket_break


class Profile(ABC):
    """Sets up and reads one family of instruments."""

    termination = "\n"
    baud = 115200
    pushes = False

    def __init__(self, spec: MeterSpec) -> None:
        self.spec = spec
        self.period_s = spec.number("period", 0.5)

    def attention(self, device: Instrument) -> None:  # noqa: B027 - most instruments need nothing
        """Stops whatever an earlier session left running, so that the first answer is an answer."""

    @abstractmethod
    def set_up(self, device: Instrument) -> None:
        """Ranges, rate and values; afterwards the instrument measures."""

    @abstractmethod
    def describe(self, device: Instrument, identity: list[str]) -> Capabilities:
        """Properties, after `set_up`."""

    @abstractmethod
    def read(self, device: Instrument) -> Reading:
        """One value."""

    @abstractmethod
    def parse(self, line: str, before_s: float, after_s: float) -> Reading:
        """The reading in one line of the instrument. MeterGlitchError if there is none in it."""

    def shut_down(self, device: Instrument) -> None:  # noqa: B027 - most instruments need nothing
        """Leaves the instrument as one may find it."""


def _floats(line: str, count: int) -> list[float]:
    try:
        values = [float(v) for v in line.replace(";", ",").split(",")]
    except ValueError:
        raise MeterGlitchError(f"the instrument sent {line[:60]!r} in place of numbers") from None
    if len(values) != count:
        raise MeterGlitchError(f"the instrument sent {len(values)} values in place of {count}: {line[:60]!r}")
    return values


def _title(identity: list[str], fallback: str) -> str:
    return " ".join(part.strip() for part in identity[:2]) or fallback


def _identity(identity: list[str]) -> dict[str, str]:
    return dict(zip(("maker", "model", "serial", "firmware"), (p.strip() for p in identity), strict=False))


class _Lmg(Profile):
    """The LMG families share the SHORT command language and its continuous mode (`ACTN;..` then `CONT ON`)."""

    pushes = True
    language = ""
    values: tuple[str, ...] = ()
    numbered = False  # the first value is a cycle number

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._cycle: int | None = None

    def ranges(self) -> list[str]:
        """Commands that switch auto-ranging off and set the given ranges."""
        return []

    def attention(self, device: Instrument) -> None:
        device.write("cont off")
        device.drain()

    def set_up(self, device: Instrument) -> None:
        device.write(self.language)
        for command in [*self.ranges(), f"cycl {self.period_s:g}"]:
            if device.query(f"{command};*opc?").strip() != "1":
                raise MeterError(f"the instrument did not accept {command!r}")
        device.write("actn;" + "?;".join(self.values) + "?")
        device.write("cont on")
        self._cycle = None

    def describe(self, device: Instrument, identity: list[str]) -> Capabilities:
        return Capabilities(
            title=_title(identity, "ZES LMG"),
            scope=Scope.WALL,
            period_s=self.period_s,
            power=PowerKind.AVERAGE,
            lag_s=0.0,
            window_s=self.period_s,
            timing_source="instrument",
            identity=_identity(identity),
            notes=("its accuracy depends on its ranges: give it with #accuracy=...",),
        )

    def read(self, device: Instrument) -> Reading:
        line = device.read()
        arrival = time.monotonic()
        return self.parse(line, arrival, arrival)

    def parse(self, line: str, before_s: float, after_s: float) -> Reading:
        values = _floats(line, len(self.values))
        cycle = int(values[0]) if self.numbered and isfinite(values[0]) else None
        seconds, watts = values[-2], values[-1]
        flags: tuple[Flag, ...] = ()
        if cycle is not None:
            if self._cycle is not None and cycle != (self._cycle + 1) % 65536:
                flags = (Flag.LOST,)
            self._cycle = cycle
        stamp = None if cycle is None else str(cycle)
        return Reading(before_s, after_s, watts=watts, interval_s=seconds, stamp=stamp, flags=flags, raw=line)

    def shut_down(self, device: Instrument) -> None:
        self.attention(device)
        device.write("gtl")  # back to its front panel


class Lmg95(_Lmg):
    """ZES LMG95, one channel, mostly on a serial line: starts with a BREAK, whatever the instrument was doing."""

    termination = "\r\n"
    language = "syst:lang short"
    values = ("count", "cycr", "p")
    numbered = True

    def attention(self, device: Instrument) -> None:
        device.serial_break()
        super().attention(device)

    def ranges(self) -> list[str]:
        given = self.spec.settings
        commands = ["iam manual"] + ([f"irng {given['irange']}"] if "irange" in given else [])
        return commands + ["uam manual"] + ([f"urng {given['urange']}"] if "urange" in given else [])


class Lmg600(_Lmg):
    """ZES LMG600 family (LMG610 to LMG671); `#channel=1` chooses the channel."""

    language = "*zlang short"

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._channel = spec.whole("channel", 1, 1, 8)
        self.values = (f"durnorm{self._channel}", f"p{self._channel}")

    def attention(self, device: Instrument) -> None:
        socket_break(self.spec.address, 2.0)
        super().attention(device)

    def ranges(self) -> list[str]:
        c, given = self._channel, self.spec.settings
        commands = [f"iauto{c} 0", f"uauto{c} 0"]
        commands += [f"irng{c} {given['irange']}"] if "irange" in given else []
        return commands + ([f"urng{c} {given['urange']}"] if "urange" in given else [])


def _rate(period_s: float) -> str:
    return f"{period_s:g}S" if period_s >= 1 else f"{round(period_s * 1000)}MS"


class Wt310(Profile):
    """Yokogawa WT310 and WT310E: power and the instrument's own integrator (WH)."""

    def set_up(self, device: Instrument) -> None:
        given = self.spec.settings
        commands = [":COMM:HEAD OFF", ":INPUT:VOLT:AUTO OFF", ":INPUT:CURR:AUTO OFF"]
        commands += [f":INPUT:VOLT:RANG {given['urange']}V"] if "urange" in given else []
        commands += [f":INPUT:CURR:RANG {given['irange']}A"] if "irange" in given else []
        commands += [f":RATE {_rate(self.period_s)}", ":NUM:FORM ASC", ":NUM:NORM:NUM 3"]
        commands += [":NUM:NORM:ITEM1 P,1", ":NUM:NORM:ITEM2 WH,1", ":NUM:NORM:ITEM3 TIME,1"]
        commands += [":INTEG:MODE NORM", ":INTEG:RES", ":INTEG:STAR"]
        for command in commands:
            device.write(command)
        error = device.query(":STAT:ERR?")
        if not error.startswith(("0", "+0")):
            raise MeterError(f"the instrument reports an error after set-up: {error}")

    def describe(self, device: Instrument, identity: list[str]) -> Capabilities:
        volts = float(device.query(":INPUT:VOLT:RANG?"))
        amperes = float(device.query(":INPUT:CURR:RANG?"))
        range_w = volts * amperes
        enhanced = any("WT310E" in part for part in identity)
        # Limits at 45 to 66 Hz, power factor 1, within a year of calibration: IM WT310-02EN and IM WT310E-02EN, 7.3.2.
        of_range = 0.0005 if enhanced else 0.001
        return Capabilities(
            title=_title(identity, "Yokogawa WT310"),
            scope=Scope.WALL,
            period_s=self.period_s,
            power=PowerKind.AVERAGE,
            counter=True,
            update_s=self.period_s,
            lag_s=0.0,
            window_s=self.period_s,
            timing_source="instrument",
            accuracy=Accuracy(0.001, of_range * range_w),
            range_w=1.3 * range_w,  # the display range ends at 130 % of the rated one
            identity={**_identity(identity), "voltage_range": f"{volts:g} V", "current_range": f"{amperes:g} A"},
        )

    def read(self, device: Instrument) -> Reading:
        before = time.monotonic()
        line = device.query(":NUM:NORM:VAL?")
        return self.parse(line, before, time.monotonic())

    def parse(self, line: str, before_s: float, after_s: float) -> Reading:
        watts, watt_hours, seconds = _floats(line, 3)
        return Reading(before_s, after_s, watts=watts, joules=watt_hours * 3600, stamp=f"{seconds:g}", raw=line)

    def shut_down(self, device: Instrument) -> None:
        device.write(":INTEG:STOP")
        device.write(":COMM:REM OFF")


class Generic(Profile):
    """Any instrument that answers a query with watts (`#command=FETC:POW:ACT?`)."""

    def set_up(self, device: Instrument) -> None:
        """Nothing is known about it."""

    def describe(self, device: Instrument, identity: list[str]) -> Capabilities:
        return Capabilities(
            title=_title(identity, "SCPI instrument"),
            scope=Scope.UNKNOWN,
            period_s=self.period_s,
            identity=_identity(identity),
        )

    def read(self, device: Instrument) -> Reading:
        before = time.monotonic()
        line = device.query(self.spec.settings.get("command", "FETC:POW:ACT?"))
        return self.parse(line, before, time.monotonic())

    def parse(self, line: str, before_s: float, after_s: float) -> Reading:
        (watts,) = _floats(line, 1)
        return Reading(before_s, after_s, watts=watts, raw=line)


PROFILES: Mapping[str, type[Profile]] = {"lmg95": Lmg95, "lmg600": Lmg600, "wt310": Wt310, "generic": Generic}


_YOKOGAWA = "0b21"  # USB vendor


def _usb_spec(device: Path) -> str:
    """Specification of a USB-TMC instrument from the kernel's directory of the device."""
    vendor, product, serial = (read_text(device / name) for name in ("idVendor", "idProduct", "serial"))
    if not vendor or not product or not serial:
        return "scpi:USB0::VENDOR::PRODUCT::SERIAL::INSTR#profile=generic"
    profile = "wt310" if vendor == _YOKOGAWA else "generic"
    return f"scpi:USB0::0x{vendor.upper()}::0x{product.upper()}::{serial}::INSTR#profile={profile}"


class ScpiMeter(Meter):
    """A laboratory instrument; `#profile=` says which."""

    usual_scope: ClassVar[Scope] = Scope.WALL
    settings_known: ClassVar[Mapping[str, str]] = {
        "profile": ", ".join(PROFILES),
        "urange": "fixed voltage range in V",
        "irange": "fixed current range in A",
        "channel": "channel of an LMG600",
        "command": "query of the generic profile",
        "baud": "bits per second of a serial line",
        "termination": "crlf or lf",
        "visa-library": "PyVISA library (@py)",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        name = spec.settings.get("profile", "")
        if name not in PROFILES:
            raise UsageError(f"scpi: say which instrument it is: #profile={'|'.join(PROFILES)}")
        self._profile = PROFILES[name](spec)
        self._device: Instrument | None = None
        self.paced = not self._profile.pushes  # type: ignore[misc]

    def open(self) -> Capabilities:
        given = self.spec.settings
        ends = {"crlf": "\r\n", "lf": "\n"}
        termination = ends.get(given.get("termination", ""), self._profile.termination)
        timeout = self.spec.number("timeout", max(2.0, 4 * self._profile.period_s))
        baud = self.spec.whole("baud", self._profile.baud, 50, 4_000_000)
        self._device = Instrument(self.spec.address, given.get("visa-library", "@py"), timeout, termination, baud)
        try:
            self._profile.attention(self._device)
            identity = self._device.query("*IDN?").split(",")
            self._profile.set_up(self._device)
            return self._profile.describe(self._device, identity)
        except (MeterError, ValueError) as error:
            self.close()
            raise MeterError(f"{error}; check cable, address, baud rate and #profile=") from error

    def read(self) -> Reading:
        if self._device is None:
            raise MeterError("the instrument is not open")
        return self._profile.read(self._device)

    def close(self) -> None:
        if self._device is None:
            return
        with contextlib.suppress(MeterError):  # gone already
            self._profile.shut_down(self._device)
        self._device.close()
        self._device = None

    @classmethod
    def discover(cls, machine: Machine) -> list[Finding]:
        found = []
        for path in sorted((machine.root / "dev").glob("usbtmc*")):
            device = (machine.root / "sys/class/usbmisc" / path.name / "device").resolve().parent
            maker, model = (read_text(device / name) or "" for name in ("manufacturer", "product"))
            spec, why = _usb_spec(device), "an instrument on USB: what it measures is not known"
            title = f"USB-TMC instrument {maker} {model}".rstrip()
            found.append(Finding(spec, title, Scope.WALL, "unknown", "unknown", False, why, f"try --meter {spec}"))
        serial = [*(machine.root / "dev").glob("ttyUSB*"), *(machine.root / "dev").glob("ttyACM*")]
        for path in sorted(serial):
            spec = f"scpi:{path}#profile=lmg95"
            why = "a serial line: what hangs on it is not known"
            fix = f"try --meter {spec}"
            found.append(Finding(spec, f"serial line {path}", Scope.WALL, "unknown", "unknown", False, why, fix))
        return found
