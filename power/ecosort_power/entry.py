"""Keeps what `joulesort` knows of a result beyond its runs: category, how the inputs were made, the skewed run. In
DIR/entry.json.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ecosort_power.codec import load
from ecosort_power.validate import CheckReport

FILE_NAME = "entry.json"
SCHEMA = "ecosort.power.entry/1"
CATEGORIES = ("daytona", "indy")


@dataclass(frozen=True, slots=True)
class Generated:
    """An input and how it was made. `checksum` is what the generator said, hexadecimal without leading zeros."""

    command: list[str]
    version: str  # of the generator
    path: str
    records: int
    bytes: int
    checksum: str


@dataclass(frozen=True, slots=True)
class Skewed:
    """The one run on skewed keys that Daytona asks for; timed, not measured."""

    generated: Generated
    command: list[str]
    seconds: float
    input_report: CheckReport | None
    output_report: CheckReport | None
    problem: str | None  # why it does not count
    seal: str  # the digest of its own result directory


@dataclass(frozen=True, slots=True)
class Entry:
    schema: str
    category: str  # one of CATEGORIES
    wanted: str  # the class as it was asked for, or the rehearsal
    generated: Generated
    plan: list[str] = field(default_factory=list)  # the sorter's own plan, as text
    skewed: Skewed | None = None


def read_entry(directory: Path) -> Entry | None:
    """None for a result that `ecosort-power run` made. UsageError if it cannot be understood."""
    path = directory / FILE_NAME
    return load(Entry, path) if path.exists() else None
