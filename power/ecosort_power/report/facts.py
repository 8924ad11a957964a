"""Reads what only a person can know for a submission, from a small TOML file; what is not there is printed as MISSING."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ecosort_power.errors import UsageError
from ecosort_power.nesting import parse_toml

MISSING = "MISSING"
FILE_NAME = "submission.toml"

# Key -> question. The template is made of these.
QUESTIONS: Mapping[str, str] = {
    "title": "name of the entry",
    "authors": "who submits it",
    "category": "Indy or Daytona",
    "algorithm": "the algorithm in a few sentences",
    "ambient_c": "ambient temperature in C during the runs (20 to 25)",
    "meter_model": "model of the power meter",
    "meter_serial": "serial number of the power meter",
    "meter_calibration": "date of its last calibration",
    "meter_accuracy": "accuracy as stated by its maker",
    "power_factor": "power factor during the runs",
    "hardware": "complete list: board, power supply, drives and how they are attached, cooling",
    "inside_boundary": "what is connected to the meter, down to fans and adapters",
    "compiler": "compiler and flags",
    "commit": "commit of the sorter's source",
    "tuning": "settings of firmware and system that differ from their defaults",
    "generator": "how the input was made: version and command",
    "price": "price of the machine, if it is to be stated",
}


def template() -> str:
    lines = ["# What only a person can know. Fill in what applies; lines that stay commented are printed as MISSING.", ""]
    for key, question in QUESTIONS.items():
        lines += [f"# {question}", f'#{key} = ""', ""]
    return "\n".join(lines)


def read(path: Path | None, directory: Path) -> dict[str, str]:
    """The given file, else `submission.toml` in the result directory, else the one beside it if `joulesort` made it."""
    chosen = path
    if chosen is None:
        beside = directory.resolve().parent
        places = [directory, *([beside] if (beside / "state.json").exists() else [])]
        chosen = next((p / FILE_NAME for p in places if (p / FILE_NAME).exists()), None)
        if chosen is None:
            return {}
    if chosen.exists() and not chosen.is_file():
        raise UsageError(f"{chosen} is no regular file; `report DIR --template` prints one to fill in")
    try:
        document = parse_toml(chosen.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{chosen} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{chosen} cannot be read: {error}") from error
    unknown = set(document) - set(QUESTIONS)
    if unknown:
        raise UsageError(f"{chosen}: unknown key {sorted(unknown)[0]!r}; known: {', '.join(QUESTIONS)}")
    return {k: str(v) for k, v in document.items() if str(v).strip()}
