"""What `ecosort plan sort` says of an input that is not there: nothing is written for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ecosort_power.errors import RunError, UsageError
from ecosort_power.nesting import parse_json
from ecosort_power.records import RECORD_BYTES
from ecosort_power.transports.process import run_to_end
from ecosort_power.validate import ecosort_program


def plan_of(records: int, output: Path, words: Sequence[str] = ()) -> dict[str, Any]:
    """The plan of a sort of so many 100-byte records to `output`, whose directory is there. `words` are further options of the
    sort. UsageError, in the planner's words, if it cannot be planned; RunError if the planner is not there."""
    program = ecosort_program()
    if program is None:
        raise RunError("ecosort is not in PATH and ECOSORT_BIN is not set")
    benchmark = ["--record-size", str(RECORD_BYTES), "--key", "0:10", "--assume-size", f"{records * RECORD_BYTES}B"]
    code, out, err = run_to_end([program, "plan", "sort", "--json", *benchmark, *words, "-o", str(output)])
    if code != 0:
        raise UsageError(f"the sort cannot be planned: {(err.strip() or out.strip()).removeprefix('ecosort: ')}")
    try:
        plan = parse_json(out)
    except ValueError:
        plan = None
    if not isinstance(plan, dict):
        raise RunError(f"{program} plan printed no plan")
    return plan
