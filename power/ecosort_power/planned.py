"""Asks `ecosort plan sort` for the plan of a sort, its prediction included. Nothing is written for it, and its input need not
exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ecosort_power.errors import RunError, UsageError
from ecosort_power.nesting import parse_json
from ecosort_power.records import RECORD_BYTES
from ecosort_power.transports.process import run_to_end
from ecosort_power.validate import require_program

PLAN_SCHEMA = "ecosort.plan/1"
# The same sort whatever profile somebody left on the machine.
NEUTRAL = ("--no-profile",)


def ask(words: Sequence[str], program: Path | str | None = None) -> dict[str, Any]:
    """Returns what `ecosort plan sort --json` prints for these words; by default of the program that is found. UsageError, in the
    planner's words, if it cannot be planned, and if there is no planner.
    """
    program = program or require_program("it plans the sort")
    code, out, err = run_to_end([str(program), "plan", "sort", "--json", *words])
    if code != 0:
        raise UsageError(f"the sort cannot be planned: {(err.strip() or out.strip()).removeprefix('ecosort: ')}")
    try:
        plan = parse_json(out)
    except ValueError:
        plan = None
    if not isinstance(plan, dict):
        raise RunError(f"{program} plan printed no plan")
    return plan


def plan_of(records: int, output: Path, words: Sequence[str] = (), program: Path | None = None) -> dict[str, Any]:
    """The plan of a sort of so many 100-byte records to `output`, whose directory is there. `words` are further options of the
    sort. Errors as of `ask`."""
    benchmark = ["--record-size", str(RECORD_BYTES), "--key", "0:10", "--assume-size", f"{records * RECORD_BYTES}B"]
    return ask([*benchmark, *words, "-o", str(output)], program)


def prediction_of(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Seconds, CPU seconds, bytes and what limits them, by the profile that the plan was made with. UsageError with the reason
    if there is no prediction."""
    found: dict[str, Any] = plan.get("here", {}).get("prediction") or {}
    if "phases" not in found:
        raise UsageError(found.get("absent") or "there is no profile of this machine: ecosort tune probe, then ecosort tune fit")
    return found
