"""The program `ecosort` as joulesort uses it: generator, planner, validator."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ecosort_power.encoding import require_utf8
from ecosort_power.entry import Generated
from ecosort_power.errors import RunError, UsageError
from ecosort_power.host import version_of
from ecosort_power.joulesort.classes import BINARY
from ecosort_power.planned import plan_of
from ecosort_power.transports.process import run_to_end
from ecosort_power.validate import generated_checksum, parse_report, require_program, run_check

# joulesort itself gives these in a command of `ecosort sort`.
_OWN = ("-o", "--output", "--events", "--stats", "--record-size", "--key", "--reverse", "--unique")
_COMPRESSION = ("--compress", "--assume-ratio", "--goal")


def program() -> str:
    return require_program("it generates, sorts and validates")


def check_words(words: Sequence[str]) -> None:
    """UsageError for options of the sort that joulesort sets itself, and for file names."""
    own = next((w for w in words if w.partition("=")[0] in _OWN), None)
    if own is not None:
        raise UsageError(f"leave {own} to joulesort: it says what is sorted and where to")
    packs = next((w for w in words if w.partition("=")[0] in _COMPRESSION), None)
    if packs is not None:
        raise UsageError(f"leave {packs} out: the runs of an entry are never compressed")


def check_names(words: Sequence[str], data: str) -> None:
    """Raises UsageError for names that the plan cannot write in JSON: the drives that it names must be found."""
    for word in words:
        require_utf8(word, f"the option {word} of the sort")
    require_utf8(data, f"the name of the directory {data} (--data)")


def entry_words(words: Sequence[str]) -> list[str]:
    """Completes the words of every sort of an entry, and of its plans: it moves the bytes of the benchmark as they are, whatever
    a profile says.
    """
    return [*words, "--compress=none"]


def sort_command(words: Sequence[str], source: Path, target: Path) -> list[str]:
    return [program(), "sort", *entry_words(words), str(source), "-o", str(target)]


def plan_text(words: Sequence[str], source: Path, target: Path) -> list[str]:
    """Returns what the sort is going to do, in its own words. RunError if it cannot."""
    code, out, err = run_to_end([program(), "plan", "sort", *entry_words(words), str(source), "-o", str(target)])
    if code != 0:
        raise RunError(f"the sort cannot be planned: {err.strip() or out.strip()}")
    return out.rstrip().splitlines()


def plan_space(words: Sequence[str], records: int, target: Path) -> list[tuple[list[str], int]]:
    """Directories and the bytes that runs and output need there. UsageError for bad options."""
    space: list[dict[str, Any]] = plan_of(records, target, entry_words(words))["here"]["space"]
    return [([str(d) for d in s["directories"]], int(s["needed_bytes"])) for s in space]


def generate(path: Path, records: int, skewed: bool) -> Generated:
    """Makes an input under another name first, so that one with its name is whole. RunError if it cannot."""
    begun = path.with_name(path.name + ".begun")
    options = [*([] if records in BINARY else ["-a"]), *(["-s"] if skewed else []), "-c"]
    code, _, said = run_to_end([program(), "gen", *options, str(records), str(begun)])
    checksum = generated_checksum(said)
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
        checksum=checksum,
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
