"""The CPU time of the sorter's own computations, from the micro-benchmark ecosort_costs of `make bench-kernels`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from statistics import median

from ecosort_measure.programs import Programs
from ecosort_power.records import RECORD_BYTES
from ecosort_power.transports.process import run_to_end
from ecosort_power.validate import ecosort_program

from ecosort_tuning.errors import RunError
from ecosort_tuning.profile import Kernels

NOT_BUILT = "ecosort_costs is not built (make bench-kernels builds it; or name it with --costs)"


def find_costs(given: Path | None) -> Path | None:
    """The given program, or that beside the sorter in a build directory."""
    if given is not None:
        return given
    sorter = ecosort_program()
    beside = Programs(Path(sorter).resolve()).tool("costs") if sorter else None
    return beside if beside is not None and os.access(beside, os.X_OK) else None


def per_record_ns(seconds_per_gb: float) -> float:
    """A gigabyte, 10^9 bytes, has 10^7 records of 100 bytes."""
    return seconds_per_gb / (1e9 / RECORD_BYTES) * 1e9


def parse(text: str) -> dict[str, float]:
    """Seconds per GB by name, kernels and verification together. RunError for anything else."""
    try:
        document = json.loads(text)
        return {name: float(value) for part in ("kernels", "verification") for name, value in document[part].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RunError(f"ecosort_costs printed no costs: {text.strip()[:200]}") from error


def measure_kernels(program: Path, merged_runs: int, calls: int) -> Kernels:
    """Medians over the calls; each takes a few seconds on one thread."""
    found: list[dict[str, float]] = []
    for _ in range(calls):
        code, out, err = run_to_end([str(program), str(merged_runs)])
        if code != 0:
            raise RunError(f"{program} failed: {err.strip()[-200:]}")
        found.append(parse(out))
    costs = {name: round(per_record_ns(median(call[name] for call in found)), 3) for name in found[0]}
    return Kernels(RECORD_BYTES, merged_runs, costs, calls)
