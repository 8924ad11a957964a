"""The program `ecosort` as joulesort uses it: generator, planner, validator."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ecosort_power.entry import Generated
from ecosort_power.errors import RunError, UsageError
from ecosort_power.host import version_of
from ecosort_power.joulesort.classes import BINARY
from ecosort_power.planned import plan_of
from ecosort_power.transports.process import run_to_end
from ecosort_power.validate import ecosort_program, normal_checksum, parse_report, run_check

# What joulesort says itself in a command of `ecosort sort`.
_OWN = ("-o", "--output", "--events", "--stats", "--record-size", "--key", "--reverse", "--unique")


def program() -> str:
    found = ecosort_program()
    if found is None:
        raise UsageError("ecosort is not in PATH and ECOSORT_BIN is not set: it generates, sorts and validates")
    return found


def check_words(words: Sequence[str]) -> None:
    """UsageError for options of the sort that joulesort sets itself, and for file names."""
    own = next((w for w in words if w.partition("=")[0] in _OWN), None)
    if own is not None:
        raise UsageError(f"leave {own} to joulesort: it says what is sorted and where to")


def sort_command(words: Sequence[str], source: Path, target: Path) -> list[str]:
    return [program(), "sort", *words, str(source), "-o", str(target)]


def plan_text(words: Sequence[str], source: Path, target: Path) -> list[str]:
    """What the sort is going to do, in its own words. RunError if it cannot."""
    code, out, err = run_to_end([program(), "plan", "sort", *words, str(source), "-o", str(target)])
    if code != 0:
        raise RunError(f"the sort cannot be planned: {err.strip() or out.strip()}")
    return out.rstrip().splitlines()


def plan_space(words: Sequence[str], records: int, target: Path) -> list[tuple[list[str], int]]:
    """Directories and the bytes that runs and output need there. UsageError for bad options."""
    space: list[dict[str, Any]] = plan_of(records, target, words)["here"]["space"]
    return [([str(d) for d in s["directories"]], int(s["needed_bytes"])) for s in space]


def generate(path: Path, records: int, skewed: bool) -> Generated:
    """Makes an input under another name first, so that one with its name is whole. RunError if it cannot."""
    begun = path.with_name(path.name + ".begun")
    options = [*([] if records in BINARY else ["-a"]), *(["-s"] if skewed else []), "-c"]
    code, _, said = run_to_end([program(), "gen", *options, str(records), str(begun)])
    checksum = re.search(r"^([0-9a-fA-F]+)$", said, re.MULTILINE)
    if code != 0 or checksum is None:
        raise RunError(f"the input could not be made: {said.strip() or code}")
    begun.replace(path)
    _sync_directory(path.parent)
    return Generated(
        command=[program(), "gen", *options, str(records), str(path)],
        version=version_of(program()) or "unknown version",
        path=str(path),
        records=records,
        bytes=path.stat().st_size,
        checksum=normal_checksum(checksum[1]),
    )


def _sync_directory(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def verify(made: Generated) -> None:
    """Reads an input again. RunError if it is not what was generated."""
    path = Path(made.path)
    if not path.exists() or path.stat().st_size != made.bytes:
        raise RunError(f"{path} is not the input that was generated ({made.bytes} bytes): remove it to have it made again")
    report = parse_report(*run_check([program(), "check", str(path)]))
    if report.checksum != made.checksum or report.records != made.records:
        raise RunError(
            f"{path} was changed: its checksum is {report.checksum}, the generator's was {made.checksum}; "
            "remove it to have it made again"
        )
