"""The program `ecosort` as joulesort uses it: generator, planner, validator."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ecosort_power.entry import Generated
from ecosort_power.errors import RunError, UsageError
from ecosort_power.host import version_of
from ecosort_power.joulesort.classes import BINARY
from ecosort_power.nesting import parse_json
from ecosort_power.records import RECORD_BYTES
from ecosort_power.transports.process import spawn, stop
from ecosort_power.validate import ecosort_program, normal_checksum, parse_report, run_check

# What joulesort says itself in a command of `ecosort sort`.
_OWN = ("-o", "--output", "--events", "--stats", "--record-size", "--key", "--reverse", "--unique")

# What `ecosort plan sort` says where a directory has too little space.
_LACKING = re.compile(r"'([^']+)': [^(']*\((\d+) bytes\) needed")


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


def _run(words: Sequence[str], env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    try:
        child = spawn(words, env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise RunError(f"{words[0]} cannot be run: {error.strerror}") from error
    try:
        out, err = child.communicate()
    except BaseException:
        stop(child)
        raise
    return child.returncode, out.decode(errors="replace"), err.decode(errors="replace")


def plan_text(words: Sequence[str], source: Path, target: Path) -> list[str]:
    """What the sort is going to do, in its own words. RunError if it cannot."""
    code, out, err = _run([program(), "plan", "sort", *words, str(source), "-o", str(target)])
    if code != 0:
        raise RunError(f"the sort cannot be planned: {err.strip() or out.strip()}")
    return out.rstrip().splitlines()


def plan_space(words: Sequence[str], size: int, target: Path) -> list[tuple[list[str], int]] | None:
    """Directories and the bytes that runs and output need there, for an input of this size that is not there yet: asked of a file
    without blocks in the output's directory. None where the file system has no such large files. UsageError for bad options."""
    sparse = target.with_name(target.name + ".sizing")
    try:
        with sparse.open("wb") as f:
            f.truncate(size)
        benchmark = ["--record-size", str(RECORD_BYTES), "--key", "0:10"]
        code, out, err = _run([program(), "plan", "sort", "--json", *benchmark, *words, str(sparse), "-o", str(target)])
    except OSError:
        return None
    finally:
        sparse.unlink(missing_ok=True)
    if code != 0:
        lacking = _LACKING.search(err)  # it does not fit even before the inputs are there
        if lacking is None:
            raise UsageError(f"the sort cannot be planned: {err.strip() or out.strip()}")
        return [([lacking[1]], int(lacking[2]))]
    space: list[dict[str, Any]] = parse_json(out)["here"]["space"]
    return [([str(d) for d in s["directories"]], int(s["needed_bytes"])) for s in space]


def generate(path: Path, records: int, skewed: bool) -> Generated:
    """Makes an input under another name first, so that one with its name is whole. RunError if it cannot."""
    begun = path.with_name(path.name + ".begun")
    options = [*([] if records in BINARY else ["-a"]), *(["-s"] if skewed else []), "-c"]
    code, _, said = _run([program(), "gen", *options, str(records), str(begun)])
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
