"""Power from a management controller (BMC) with ipmitool: DCMI first, then the sensor repository (SDR).

One persistent `ipmitool shell` holds one session for the whole measurement. In the shell, errors come as text and the process
lives on, so each command is followed by an empty line whose echoed prompt marks the end of the answer.

The raw DCMI command is used instead of `dcmi power reading`: its answer is the same bytes in every version of ipmitool,
the printed form is not. Average, minimum and maximum of DCMI cover a period that cannot be reset; they are never used.

Addresses: `ipmi:local` (the BMC of this machine), `ipmi://USER@HOST[:PORT]`.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.meters.base import Finding, Machine, Meter, MeterSpec
from ecosort_power.reading import Capabilities, Flag, PowerKind, Reading, Scope
from ecosort_power.transports.address import Address, split_address
from ecosort_power.transports.credentials import require_secret
from ecosort_power.transports.process import LineChild, spawn, stop

DCMI_READ = "raw 0x2c 0x02 0xdc 0x01 0x00 0x00"
# dc, watts now, minimum, maximum, average, timestamp, period in ms, state
_DCMI = struct.Struct("<BHHHHIIB")
_DCMI_ACTIVE = 0x40
DUMP_PATIENCE_S = 120.0  # a slow BMC with some hundred sensors
_YEAR_2000 = 946_684_800
_WATTS_UNIT = 6  # IPMI 2.0 table 43-15
_PSU_ENTITY = 10
_SYSTEM_ENTITIES = (7, 19, 21, 23, 29)  # board, unit, power management, chassis
# Sensors of these entities that are named after a part of the machine see that part only.
_PART = re.compile(r"cpu|proc|mem|dimm|gpu|accel|fan|hdd|ssd|disk|drive|pci|riser|nic", re.IGNORECASE)
_WRONG = re.compile(r"error|unable|failed|invalid|not found|insufficient", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sensor:
    """A sensor in watts, from its full sensor record."""

    name: str
    entity: int
    quantum_w: float


def parse_sdr(data: bytes) -> list[Sensor]:
    """The sensors in watts of a dumped sensor data repository (IPMI 2.0, 43.1: full sensor records)."""
    sensors = []
    at = 0
    while at + 5 <= len(data):
        record = data[at : at + 5 + data[at + 4]]
        at += len(record)
        if record[3] != 0x01 or len(record) < 48 or record[21] != _WATTS_UNIT:
            continue
        multiplier = _signed(record[24] | (record[25] & 0xC0) << 2, 10)
        exponent = _signed(record[29] >> 4, 4)
        name = record[48 : 48 + (record[47] & 0x1F)].decode("latin-1").strip()
        sensors.append(Sensor(name, record[8], abs(multiplier) * 10.0**exponent))
    return sensors


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value & 1 << (bits - 1) else value


def choose_sensors(sensors: Sequence[Sensor], wanted: str | None) -> list[Sensor]:
    """The named sensors (`A+B` is a sum), else one for the whole system, else all power supply inputs. UsageError where several
    could be the whole system."""
    if wanted:
        by_name = {s.name: s for s in sensors}
        missing = [n for n in wanted.split("+") if n not in by_name]
        if missing:
            there = ", ".join(by_name) or "none"
            raise UsageError(f"the BMC has no power sensor {missing[0]!r}; its sensors in watts: {there}")
        return [by_name[n] for n in wanted.split("+")]
    system = [s for s in sensors if s.entity in _SYSTEM_ENTITIES and re.search(r"pwr|power|system|consum", s.name, re.I)]
    system = [s for s in system if not _PART.search(s.name)]
    whole = [s for s in system if re.search(r"total|sys|consum", s.name, re.I)] or system
    if len(whole) > 1:
        names = ", ".join(s.name for s in whole)
        raise UsageError(f"the BMC has several sensors that may be the whole machine ({names}); say which: #sensor=NAME")
    if whole:
        return whole
    supplies = [s for s in sensors if s.entity == _PSU_ENTITY]
    taken = [s for s in supplies if not re.search(r"out", s.name, re.I)]
    return [s for s in taken if re.search(r"in", s.name, re.I)] or taken or supplies


@dataclass(frozen=True, slots=True)
class DcmiAnswer:
    watts: int
    stamp: int
    active: bool


def parse_dcmi(lines: Sequence[str]) -> DcmiAnswer:
    """MeterGlitchError with the tool's own words if it is no power reading."""
    digits = " ".join(line for line in lines if re.fullmatch(r"\s*([0-9a-fA-F]{2}\s*)+", line))
    data = bytes.fromhex(digits)
    if len(data) < _DCMI.size or data[0] != 0xDC:
        said = next((line for line in lines if _WRONG.search(line)), " ".join(lines)[:120] or "no answer")
        raise MeterGlitchError(f"DCMI power reading failed: {said.strip()}")
    _, watts, _, _, _, stamp, _, state = _DCMI.unpack_from(data)
    return DcmiAnswer(watts, stamp, bool(state & _DCMI_ACTIVE))


def parse_sensors(lines: Sequence[str]) -> dict[str, float]:
    """Sensor -> watts from the lines `NAME | VALUE`. MeterGlitchError if a value is no number."""
    values = {}
    for line in lines:
        name, bar, value = line.rpartition("|")
        try:
            values[name.strip()] = float(value)
        except ValueError:
            if bar:
                raise MeterGlitchError(f"sensor {name.strip()} reads {value.strip()!r}") from None
    return values


class IpmiMeter(Meter):
    """Settings choose how to log in and what to read; see `settings_known`."""

    usual_scope: ClassVar[Scope] = Scope.BMC
    settings_known: ClassVar[Mapping[str, str]] = {
        "cipher": "cipher suite of the session (3)",
        "privilege": "privilege level, e.g. USER or OPERATOR",
        "interface": "ipmitool interface (lanplus)",
        "sensor": "dcmi, or a sensor name, or a sum of names A+B; default: DCMI, then the best sensor",
        "accept-deactivated": "yes: use DCMI values although the BMC calls them deactivated",
        "password-file": "file with the password, mode 600",
        "password-env": "environment variable with the password (IPMITOOL_PASSWORD)",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._shell: LineChild | None = None
        self._sensors: list[Sensor] = []
        self._unanswered = 0  # commands whose end has not been seen
        self._logged_in = False
        self._timeout_s = spec.number("timeout", 5.0)
        self._accept = spec.flag("accept-deactivated")
        self._remote()

    def _remote(self) -> Address | None:
        """None: the BMC of this machine. UsageError for what is no address."""
        if self.spec.address in ("", "local", "//local"):
            return None
        form = "ipmi://USER@HOST[:PORT] or ipmi:local"
        address = split_address(self.spec.scheme, self.spec.address, form)
        if not address.user:
            raise UsageError(f"meter {self.spec.text}: write {form}")
        return address

    def _command(self) -> tuple[list[str], dict[str, str]]:
        env = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
        address = self._remote()
        if address is None:
            return ["ipmitool", "-I", "open"], env
        words = ["ipmitool", "-I", self.spec.settings.get("interface", "lanplus")]
        words += ["-C", self.spec.settings.get("cipher", "3"), "-N", "1", "-R", "3"]
        if "privilege" in self.spec.settings:
            words += ["-L", self.spec.settings["privilege"].upper()]
        words += ["-H", address.host, "-p", str(address.port or 623), "-U", address.user or "", "-E"]
        env["IPMITOOL_PASSWORD"] = require_secret(
            self.spec.settings, ("IPMITOOL_PASSWORD", "IPMI_PASSWORD"), f"the BMC {address.host}"
        )
        return words, env

    def open(self) -> Capabilities:
        words, env = self._command()
        try:
            self._shell = LineChild([*words, "shell"], env, merge_errors=True)
        except MeterError as error:
            raise MeterError(f"{error}; run: apt-get install ipmitool") from None
        try:
            return self._identify()
        except UsageError:
            self.close()
            raise
        except MeterError as error:
            self.close()
            raise MeterError(f"the BMC at {self.spec.address.removeprefix('//')}: {error}{self._advice(str(error))}") from error

    def _advice(self, said: str) -> str:
        """Says how to log in, unless that worked."""
        if self._logged_in:
            return ""
        if "Could not open device" in said:
            return "; run as root after: modprobe ipmi_devintf ipmi_si"
        return "; check address, user, password and cipher suite (#cipher=17 for newer BMCs)"

    def _identify(self) -> Capabilities:
        wanted = self.spec.settings.get("sensor")
        identity = self._device()
        self._logged_in = True
        no_dcmi: MeterError | None = None
        if wanted in (None, "dcmi"):
            try:
                return self._dcmi(identity)
            except MeterError as error:
                if wanted == "dcmi":
                    raise MeterError(f"{error}; #sensor=NAME reads a sensor instead") from error
                no_dcmi = error
        there = self._repository()
        self._sensors = choose_sensors(there, wanted)
        if not self._sensors:
            reason = f"{no_dcmi}, and it has no sensor in watts" if no_dcmi is not None else "it has no sensor in watts"
            raise MeterError(f"{reason}; read its power supplies otherwise")
        try:
            self.read()
        except MeterGlitchError as error:
            raise MeterError(f"{error}; #sensor=NAME reads another one of: {', '.join(s.name for s in there)}") from error
        names = " + ".join(s.name for s in self._sensors)
        scope = Scope.PSU if all(s.entity == _PSU_ENTITY for s in self._sensors) else Scope.BMC
        quantum = sum(s.quantum_w for s in self._sensors)
        notes: tuple[str, ...] = ("8-bit sensor: coarse steps",)
        if no_dcmi is not None and not isinstance(no_dcmi, MeterGlitchError):  # it answered, with what is no measurement
            notes += (f"{names} is read in place of DCMI, which {no_dcmi}",)
        return self._capabilities(names, scope, quantum, identity, notes)

    def _dcmi(self, identity: dict[str, str]) -> Capabilities:
        answer = parse_dcmi(self._ask(DCMI_READ))
        self._refuse(answer)
        if answer.watts == 0:
            raise MeterError("reports 0 W, which no running machine draws")
        notes = () if answer.active else ("the BMC calls its power measurement deactivated; accepted by the user",)
        return self._capabilities("DCMI", Scope.BMC, 1.0, identity, notes)

    def _capabilities(
        self, what: str, scope: Scope, quantum: float, identity: dict[str, str], notes: tuple[str, ...]
    ) -> Capabilities:
        maker = " ".join(filter(None, (identity.get("Manufacturer Name"), identity.get("Product Name"))))
        return Capabilities(
            title=f"BMC {maker} ({what})" if maker else f"BMC ({what})",
            scope=scope,
            period_s=1.0,
            power=PowerKind.INSTANT,
            quantum_w=quantum,
            range_w=65535.0 if what == "DCMI" else None,
            identity=identity,
            notes=notes,
        )

    def _device(self) -> dict[str, str]:
        """Asks who the BMC is, which also shows that the session works."""
        wanted = ("Firmware Revision", "Manufacturer Name", "Product Name", "IPMI Version")
        lines = self._ask("mc info")
        pairs = [(k.strip(), v.strip()) for k, _, v in (line.partition(":") for line in lines)]
        found = {k: v for k, v in pairs if k in wanted and not v.startswith("Unknown")}
        if not found:
            raise MeterError(next((line for line in lines if line.strip()), "no answer").strip())
        return found

    def _repository(self) -> list[Sensor]:
        """In a process of its own: ipmitool 1.8.19 crashes on a sensor reading that follows a dump in the same shell."""
        words, env = self._command()
        with tempfile.TemporaryDirectory(prefix="ecosort-power-") as directory:
            path = Path(directory) / "sdr"
            silent = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            child = spawn([*words, "sdr", "dump", str(path)], env, **silent)
            try:
                child.wait(DUMP_PATIENCE_S)
            except subprocess.TimeoutExpired:
                stop(child)
                raise MeterGlitchError(f"its sensors were not listed within {DUMP_PATIENCE_S:g} s") from None
            return parse_sdr(path.read_bytes()) if path.exists() else []

    def _ask(self, command: str) -> list[str]:
        """The answer's lines, without the echo of the command. Late answers of commands given up before are skipped."""
        if self._shell is None:
            raise MeterError("the session is closed")
        self._shell.write(command + "\n\n")
        deadline = time.monotonic() + self._timeout_s
        lines: list[str] = []
        while True:
            try:
                line = self._shell.read_line(max(deadline - time.monotonic(), 0.0))
            except MeterGlitchError:
                self._unanswered += 1
                raise MeterGlitchError(
                    f"ipmitool did not answer within {self._timeout_s:g} s; #timeout=SECONDS waits longer"
                ) from None
            if line.strip() == "ipmitool>":
                if self._unanswered == 0:
                    return lines
                self._unanswered -= 1
                lines.clear()
            elif not line.startswith("ipmitool>") and line.strip() != command:
                lines.append(line)

    def _refuse(self, answer: DcmiAnswer) -> None:
        if self._accept or (answer.active and answer.stamp >= _YEAR_2000):
            return
        state = "deactivated" if not answer.active else "stamped before the year 2000"
        raise MeterError(
            f"reports {answer.watts} W but its power measurement is {state}: that is no measurement; switch it on in the "
            "BMC (ipmitool dcmi power activate), or accept it with #accept-deactivated=yes, which is recorded"
        )

    def read(self) -> Reading:
        before = time.monotonic()
        if self._sensors:
            names = " ".join(f'"{s.name}"' for s in self._sensors)
            lines = self._ask(f"sensor reading {names}")
            return Reading(before, time.monotonic(), watts=self._sum(lines), raw="\n".join(lines))
        lines = self._ask(DCMI_READ)
        after = time.monotonic()
        answer = parse_dcmi(lines)
        self._refuse(answer)
        flags = () if answer.active else (Flag.DEACTIVATED,)
        return Reading(before, after, watts=float(answer.watts), stamp=str(answer.stamp), flags=flags, raw="\n".join(lines))

    def _sum(self, lines: Sequence[str]) -> float:
        values = parse_sensors(lines)
        missing = [s.name for s in self._sensors if s.name not in values]
        if missing:
            said = next((line for line in lines if _WRONG.search(line)), "no answer").strip()
            raise MeterGlitchError(f"sensor {missing[0]} was not read: {said}")
        return sum(values[s.name] for s in self._sensors)

    def close(self) -> None:
        if self._shell is not None:
            self._shell.close("exit\n")
            self._shell = None
            self._unanswered = 0

    def pids(self) -> list[int]:
        return [self._shell.pid] if self._shell is not None else []

    @classmethod
    def discover(cls, machine: Machine) -> list[Finding]:
        devices = [machine.root / p for p in ("dev/ipmi0", "dev/ipmi/0", "dev/ipmidev/0")]
        device = next((d for d in devices if d.exists()), None)
        why = fix = ""
        if device is None:
            why = "no IPMI device: " + (
                "this is a virtual machine, its BMC belongs to the host"
                if machine.virtual
                else "no BMC, or its driver is not loaded"
            )
            fix = (
                "give the host's BMC: --meter ipmi://USER@HOST (password in IPMITOOL_PASSWORD)"
                if machine.virtual
                else "modprobe ipmi_si ipmi_devintf; or over the network: --meter ipmi://USER@HOST"
            )
        elif not os.access(device, os.R_OK | os.W_OK):
            why, fix = f"{device} may not be opened by this user", "sudo ecosort-power ..."
        elif shutil.which("ipmitool") is None:
            why, fix = "ipmitool is not installed", "apt-get install ipmitool"
        title = "management controller of this machine"
        return [Finding("ipmi:local", title, Scope.BMC, "1-60 s inside the BMC", "unknown", not why, why, fix)]
