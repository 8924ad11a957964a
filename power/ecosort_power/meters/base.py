"""Defines a meter: opened once, read again and again, closed. One class per kind of meter.

A specification is one word: SCHEME:ADDRESS[#SETTING=VALUE[,SETTING=VALUE...]], optionally with NAME= before it, e.g.
`wall=scpi:/dev/ttyUSB0#profile=lmg95,accuracy=0.03%+0.02W`. It never contains a password.

A meter object is used by one thread at a time.
"""

from __future__ import annotations

import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from ecosort_power.encoding import require_utf8
from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope, parse_accuracy

# Settings that every meter understands; they override what the meter says of itself.
COMMON_SETTINGS = {
    "scope": "wall, psu, bmc, battery, board, package or component",
    "period": "seconds between two readings",
    "update": "seconds between two new values inside the meter",
    "lag": "seconds by which its values are late",
    "window": "seconds that it averages over",
    "power": "instant or average: what one value stands for",
    "accuracy": "limits of error, e.g. 0.1%+0.05% of 600W, or 0.5W",
    "quantum": "smallest step of its watts",
    "range": "watts at which it is saturated",
    "timeout": "seconds to wait for an answer",
    "simulated": "yes: its values are made up; the results say SIMULATED and are never ranked",
}

# Limits of the common settings that are numbers, both included; one that must be above 0 has the least that means anything.
_DAY_S = 86400.0
_LIMITS = {
    "period": (1e-3, _DAY_S),
    "timeout": (1e-3, _DAY_S),
    "update": (0.0, _DAY_S),
    "lag": (0.0, _DAY_S),
    "window": (0.0, _DAY_S),
    "quantum": (0.0, 1e9),
    "range": (1e-3, 1e12),
}

# A meter may not say these of itself.
_IMPOSSIBLE = {
    "period_s": (1e-9, _DAY_S),  # a log may be fine
    "update_s": _LIMITS["update"],
    "lag_s": _LIMITS["lag"],
    "window_s": _LIMITS["window"],
    "quantum_w": _LIMITS["quantum"],
    "quantum_j": (0.0, 1e12),
    "range_w": _LIMITS["range"],
    "wrap_j": (1e-3, 1e18),
}

_OF_FILES = ("password-file", "root")  # settings that name files, whose names may be any bytes
_YES, _NO = ("1", "yes", "true", "on"), ("0", "no", "false", "off")
_SMALLEST = 1e-12  # a step, or what one count of a meter is worth

_NAME = re.compile(r"^([A-Za-z][\w.-]*)=(?=[A-Za-z][\w+.-]*:)")
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*):")
_SECRET_OPTION = re.compile(r"(?i)^-+(pass(word|wd|phrase)?|pwd|token|secret|api[-_]?key)(=|$)")


@dataclass(frozen=True, slots=True)
class MeterSpec:
    """A parsed specification. `text` is what the user wrote, without secrets because secrets are refused."""

    name: str
    scheme: str
    address: str
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        settings = ",".join(f"{k}={v}" for k, v in self.settings.items())
        return f"{self.scheme}:{self.address}" + (f"#{settings}" if settings else "")

    def number(self, key: str, default: float) -> float:
        value = self.optional_number(key)
        return default if value is None else value

    def optional_number(self, key: str) -> float | None:
        text = self.settings.get(key)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not isfinite(value):
            raise UsageError(f"meter setting {key}={text[:40]} is not a number")
        return value

    def positive(self, key: str) -> float | None:
        """UsageError for what is nothing, negative, or beyond all sizes."""
        value = self.optional_number(key)
        if value is not None and not _SMALLEST <= value <= 1 / _SMALLEST:
            raise UsageError(f"meter setting {key}={self.settings[key][:40]} must be from {_SMALLEST:g} to {1 / _SMALLEST:g}")
        return value

    def whole(self, key: str, default: int, low: int, high: int) -> int:
        """UsageError for what is no whole number from `low` to `high`."""
        value = self.number(key, default)
        if not low <= value <= high or value != int(value):
            raise UsageError(f"meter setting {key}={self.settings[key][:40]} is not a whole number from {low} to {high}")
        return int(value)

    def flag(self, key: str) -> bool:
        """UsageError for what is neither yes nor no: a word that is not understood must not mean no."""
        text = self.settings.get(key, "no").lower()
        if text not in (*_YES, *_NO):
            raise UsageError(f"meter setting {key}={self.settings[key][:40]} must be yes or no")
        return text in _YES


def parse_settings(text: str) -> dict[str, str]:
    settings = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"meter setting {part!r} is not of the form SETTING=VALUE")
        if key.strip() not in _OF_FILES:
            require_utf8(part, f"meter setting {key.strip()}=")
        settings[key.strip()] = value.strip()
    if "password" in settings:
        raise UsageError(
            "a password on a command line can be seen by every user of this machine; "
            "use #password-file=FILE (mode 600) or #password-env=VARIABLE"
        )
    return settings


def parse_spec(text: str, default_name: str = "") -> MeterSpec:
    """UsageError if it is not of the form described above, or carries a password."""
    name = default_name
    if any(c in text for c in "\0\r\n"):
        raise UsageError(f"meter {text[:80]!r} holds an end of line or a NUL character")
    if match := _NAME.match(text):
        name, text = match[1], text[match.end() :]
    match = _SCHEME.match(text)
    if match is None:
        raise UsageError(f"meter {text!r} is not SCHEME:ADDRESS; `ecosort-power meters` lists what there is")
    scheme = match[1].lower()
    address, _, fragment = text[match.end() :].partition("#")
    if scheme == "exec":
        _refuse_secret_options(address)
    elif _has_password(address):
        raise UsageError(
            "a password in a meter's address can be seen by every user of this machine; "
            "use #password-file=FILE (mode 600) or an environment variable"
        )
    return MeterSpec(name or scheme, scheme, address, parse_settings(fragment))


def _has_password(address: str) -> bool:
    try:
        return urlsplit(f"x:{address}").password is not None
    except ValueError:  # half an IPv6 address: the meter says what is wrong with it
        return ":" in address.partition("//")[2].rpartition("@")[0]


def _refuse_secret_options(command: str) -> None:
    """A meter program's command line is seen by everyone, and stored in the result."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"exec:{command}: {error}") from None
    option = next((w.partition("=")[0] for w in words if _SECRET_OPTION.match(w)), None)
    if option is not None:
        raise UsageError(
            f"{option} in a meter's command can be seen by every user of this machine; let the program read its password "
            "from the environment or from a file"
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of `ecosort-power meters`: a meter that is there, or could be."""

    spec: str
    title: str
    scope: Scope
    rate: str
    accuracy: str
    usable: bool
    why: str = ""  # if not usable
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    """Says where to look for meters. `root` is `/` but in tests and containers."""

    root: Path = Path("/")

    @property
    def virtual(self) -> bool:
        try:
            return " hypervisor" in (self.root / "proc/cpuinfo").read_text(errors="replace")
        except OSError:
            return False


class Meter(ABC):
    """A meter of one kind. `settings_known` lists its own settings beyond the common ones."""

    settings_known: ClassVar[Mapping[str, str]] = {}
    # False: the meter sends by itself and `read` waits for the next value.
    paced: ClassVar[bool] = True
    # True: there is nothing to read during the run, `collect` is asked afterwards.
    deferred: ClassVar[bool] = False
    # Meters of this kind usually see it; said where one cannot be opened.
    usual_scope: ClassVar[Scope] = Scope.UNKNOWN

    def __init__(self, spec: MeterSpec) -> None:
        self.spec = spec
        unknown = set(spec.settings) - set(COMMON_SETTINGS) - set(self.settings_known)
        if unknown:
            known = ", ".join(sorted([*self.settings_known, *COMMON_SETTINGS]))
            raise UsageError(f"{spec.scheme} has no setting {sorted(unknown)[0][:40]!r}; it has: {known}")
        check_common(spec)

    @abstractmethod
    def open(self) -> Capabilities:
        """Connects and says what this meter is. MeterError says why it cannot be used and what would help."""

    @abstractmethod
    def read(self) -> Reading:
        """One new reading. MeterGlitchError if the next one may succeed, MeterError if the connection is lost."""

    @abstractmethod
    def close(self) -> None:
        """Ends the connection; harmless if it is not open."""

    @contextmanager
    def connecting(self) -> Iterator[None]:
        """Closes where opening fails. Then it is no glitch: no next reading will make it good."""
        try:
            yield
        except MeterGlitchError as error:
            self.close()
            raise MeterError(str(error)) from error
        except MeterError:
            self.close()
            raise

    def pids(self) -> list[int]:
        """Child processes whose CPU time is spent for measuring."""
        return []

    @classmethod
    def discover(cls, machine: Machine) -> list[Finding]:
        """Finds what of this kind is on this machine; nothing for meters that must be configured."""
        return []


def check_common(spec: MeterSpec) -> None:
    """UsageError for a common setting that no meter can have."""
    given = spec.settings
    for key, (low, high) in _LIMITS.items():
        if key in given and not low <= spec.number(key, 0.0) <= high:
            raise UsageError(f"meter setting {key}={given[key][:40]} must be from {low:g} to {high:g}")
    spec.flag("simulated")
    scopes, kinds = [s.value for s in Scope if s is not Scope.SIMULATED], [k.value for k in PowerKind]
    try:
        if given.get("scope") == Scope.SIMULATED:
            raise ValueError("what is simulated says #simulated=yes, not a scope")
        if given.get("scope", scopes[0]) not in scopes:
            raise ValueError(f"scope must be one of: {', '.join(scopes)}")
        if given.get("power", kinds[0]) not in kinds:
            raise ValueError(f"power must be one of: {', '.join(kinds)}")
        if "accuracy" in given:
            parse_accuracy(given["accuracy"])
    except ValueError as error:
        raise UsageError(f"meter {spec.text[:200]}: {error}") from None


def more_values(meter: str) -> str:
    """Says what gives a run more values of this meter, which is named as its user wrote it."""
    return (
        "read sim: more often (--meter sim:#period=0.1)"
        if meter.startswith("sim:")
        else "take a meter with more values per second"
    )


def with_settings(capabilities: Capabilities, spec: MeterSpec) -> Capabilities:
    """Lets what the user says of the meter win over what the meter says of itself."""
    check_common(spec)
    given = spec.settings
    changes: dict[str, object] = {}
    if "scope" in given:
        changes["scope"] = Scope(given["scope"])
    if "power" in given:
        changes["power"] = PowerKind(given["power"])
    if "accuracy" in given:
        changes["accuracy"] = parse_accuracy(given["accuracy"])
    numbers = {
        "period": "period_s",
        "update": "update_s",
        "lag": "lag_s",
        "window": "window_s",
        "quantum": "quantum_w",
        "range": "range_w",
    }
    for key, attribute in numbers.items():
        if key in given:
            changes[attribute] = spec.number(key, 0.0)
    if "lag" in given or "window" in given:
        changes["timing_source"] = "given"
    if "update" in given:
        changes["update_given"] = True
    if (
        spec.flag("simulated") or capabilities.simulated or capabilities.scope is Scope.SIMULATED
    ):  # a simulation cannot be declared to be none
        changes |= {"simulated": True, "scope": Scope.SIMULATED}
    changes |= {"title": _printable(capabilities.title), "notes": tuple(map(_printable, capabilities.notes))}
    changes["identity"] = {_printable(k): _printable(v) for k, v in capabilities.identity.items()}
    found: Capabilities = replace(capabilities, **changes)  # type: ignore[arg-type]
    _refuse_impossible(found, spec)
    return found


def _printable(text: str) -> str:
    """Writes what a device or a program calls itself on one line and without signs that steer a terminal or that no file can
    hold.
    """
    return "".join(c if c.isprintable() else " " for c in text)


def _refuse_impossible(found: Capabilities, spec: MeterSpec) -> None:
    """MeterError for what no meter can be, whatever says so: a program prints what it likes."""
    for attribute, (low, high) in _IMPOSSIBLE.items():
        value = getattr(found, attribute)
        if value is not None and not low <= value <= high:
            raise MeterError(f"meter {spec.name} says that its {attribute} is {value:g}; it must be from {low:g} to {high:g}")
