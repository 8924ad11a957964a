"""Validation of the output with `ecosort check` (valsort's report), outside the energy window."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ecosort.errors import ProgramNotFound
from ecosort.program import find_program

from ecosort_power.errors import UsageError
from ecosort_power.transports.process import run_to_end


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Holds what the validator printed."""

    exit_code: int
    records: int | None
    checksum: str | None  # hexadecimal without leading zeros
    duplicates: int | None
    in_order: bool
    text: str


@dataclass(frozen=True, slots=True)
class Validation:
    """The verdict on one run. `problem` is None for a validated run."""

    report: CheckReport | None
    problem: str | None
    content_compared: bool  # False: order and count only, the input's checksum is not known

    @property
    def ok(self) -> bool:
        return self.problem is None


def ecosort_program() -> str | None:
    """The program that the package `ecosort` finds; None where there is none that may be run."""
    try:
        return str(find_program())
    except ProgramNotFound:
        return None


def require_program(why: str) -> str:
    """Returns the program; UsageError, which ends with what it is needed for, where there is none."""
    try:
        return str(find_program())
    except ProgramNotFound as error:
        raise UsageError(f"{error}: {why}") from None


def check_command(custom: str | None, path: Path) -> list[str]:
    """The validator's words; a custom one has `{}` where the file goes."""
    if custom is not None:
        words = shlex.split(custom)
        return [w.replace("{}", str(path)) for w in words] if "{}" in custom else [*words, str(path)]
    return [require_program("it validates the output; or give --no-validate"), "check", str(path)]


def normal_checksum(text: str) -> str:
    return text.strip().lower().removeprefix("0x").lstrip("0") or "0"


def generated_checksum(text: str) -> str | None:
    """Returns what `ecosort gen -c` prints among its messages."""
    found = re.search(r"^([0-9a-fA-F]+)$", text, re.MULTILINE)
    return normal_checksum(found[1]) if found else None


def parse_report(text: str, exit_code: int) -> CheckReport:
    def find(pattern: str) -> str | None:
        match = re.search(pattern, text, re.MULTILINE)
        return match[1] if match else None

    records, duplicates = find(r"^Records:\s*(\d+)"), find(r"^Duplicate keys:\s*(\d+)")
    checksum = find(r"^Checksum:\s*([0-9a-fA-F]+)")
    return CheckReport(
        exit_code=exit_code,
        records=int(records) if records else None,
        checksum=normal_checksum(checksum) if checksum else None,
        duplicates=int(duplicates) if duplicates else None,
        in_order=exit_code == 0 and "SUCCESS" in text,
        text=text[-2000:],
    )


def run_check(words: Sequence[str], env: Mapping[str, str] | None = None) -> tuple[str, int]:
    """Returns what the validator prints, and its exit code. RunError if it cannot be run."""
    code, text, _ = run_to_end(words, env, merged=True)
    return text, code


def judge(report: CheckReport, records: int | None, checksum: str | None) -> Validation:
    """Compares the report with what is known of the input."""
    problem = None
    if not report.in_order:
        last = report.text.strip().splitlines()[-1:] or ["no output"]
        problem = f"the output is not valid (exit code {report.exit_code}): {last[0]}"
    elif records is not None and report.records != records:
        problem = f"the output has {report.records} records, the input {records}"
    elif checksum is not None and report.checksum != normal_checksum(checksum):
        problem = f"the output's checksum {report.checksum} is not the input's {normal_checksum(checksum)}: records differ"
    return Validation(report, problem, checksum is not None)
