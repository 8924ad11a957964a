"""The profile of a machine: what was measured, fitted and found best there. One TOML file.

A profile is believed as a whole or not at all: one of another machine, of another version or with a part that does not fit is
refused with the reason.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from ecosort_power.codec import decode, encode, replace_text
from ecosort_power.user_directory import user_directory

from ecosort_tuning.errors import UsageError
from ecosort_tuning.machine import MachineIdentity
from ecosort_tuning.toml_text import to_toml

FAMILY = "ecosort.profile/"
SCHEMA = FAMILY + "2"

READ, WRITE, MIXED, RANDOM = "read", "write", "mixed", "random"
MODES = (READ, WRITE, MIXED, RANDOM)


@dataclass(frozen=True, slots=True)
class Rate:
    """One way to use a drive: medians over the repetitions; the spread is (greatest - least) / median of both rates' sum."""

    mode: str  # of MODES; mixed reads and writes at the same time, random reads blocks anywhere
    block_bytes: int
    depth: int  # requests in flight
    read_bytes_per_s: float
    write_bytes_per_s: float
    latency_s: float  # mean, from submission to completion
    cpu_s_per_gb: float  # of the measuring process, both kinds
    spread: float
    repetitions: int

    @property
    def bytes_per_s(self) -> float:
        return self.read_bytes_per_s + self.write_bytes_per_s


@dataclass(frozen=True, slots=True)
class Drive:
    role: str  # "temp" or "output"
    directory: str
    device: str
    file_system: str
    engine: str  # of fio
    direct: bool
    file_bytes: int
    rates: list[Rate]

    def best(self, mode: str) -> Rate | None:
        return max((r for r in self.rates if r.mode == mode), key=lambda r: r.bytes_per_s, default=None)


@dataclass(frozen=True, slots=True)
class Kernels:
    """CPU time of the sorter's own computations on one thread."""

    record_size_bytes: int
    merged_runs: int
    ns_per_record: dict[str, float]
    calls: int  # of which the medians are


@dataclass(frozen=True, slots=True)
class CpuModel:
    """cpu_s = fixed_s + per_record_s * records + per_byte_s * bytes moved + per_comparison_s * records * log2(runs merged)
    + per_memory_byte_s * bytes of memory, whose pages the system clears + per_request_s * reads and writes.
    """

    fixed_s: float
    per_record_s: float
    per_byte_s: float
    per_comparison_s: float
    per_memory_byte_s: float
    per_request_s: float
    error: float  # median of |predicted / measured - 1|
    runs: int


@dataclass(frozen=True, slots=True)
class PowerModel:
    """joules = idle_w * seconds + core_w * CPU seconds + gb_j * 10^9 bytes moved."""

    idle_w: float
    core_w: float
    gb_j: float
    error: float
    runs: int
    meter: str


@dataclass(frozen=True, slots=True)
class TimeModel:
    """seconds of a phase = factor * the time of its slowest resource; factor by name of the phase."""

    factor: dict[str, float]
    error: float
    runs: int


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that won a search, and against what."""

    option: str  # of the sorter, such as --threads
    value: str
    because: str
    memory_bytes: int = 0  # the --memory that it was found with, where it means nothing for others; 0: it is for all


@dataclass(frozen=True, slots=True)
class Profile:
    schema: str
    created: str
    version: str  # of the program that wrote it
    machine: MachineIdentity
    drive: list[Drive] = field(default_factory=list)
    kernels: Kernels | None = None
    time: TimeModel | None = None
    cpu: CpuModel | None = None
    power: PowerModel | None = None
    setting: list[Setting] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)  # what was not measured, and why


def default_path() -> Path:
    """Raises UsageError for a user without a home."""
    base = user_directory("XDG_CONFIG_HOME", "~/.config")
    if base is None:
        raise UsageError("~/.config cannot be found: this user has no home directory; set XDG_CONFIG_HOME or HOME")
    return base / "ecosort" / "profile.toml"


def write_profile(path: Path, profile: Profile) -> None:
    """A reader, or a crash, sees the old profile or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, to_toml(encode(profile)))


def read_profile(path: Path, here: MachineIdentity) -> Profile:
    """UsageError with the reason for what cannot be believed on the machine `here`."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist; ecosort-tune probe writes a profile") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    schema = data.get("schema")
    if not isinstance(schema, str) or not schema.startswith(FAMILY):
        raise UsageError(f"{path} is no profile of ecosort-tune")
    if schema != SCHEMA:
        raise UsageError(
            f"{path} has the version {schema.removeprefix(FAMILY)}, this program reads {SCHEMA.removeprefix(FAMILY)}: probe again"
        )
    try:
        profile = decode(Profile, data, "profile")
    except ValueError as error:
        raise UsageError(f"{path} is damaged: {error}") from error
    difference = here.difference(profile.machine)
    if difference is not None:
        raise UsageError(f"{path} is the profile of another machine: {difference}; ecosort-tune probe makes one for this machine")
    return profile
