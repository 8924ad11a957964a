"""The CPU time of the sorter's own computations, from the micro-benchmark ecosort_costs of `make bench-kernels`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from statistics import median

from ecosort_power.transports.process import spawn, stop
from ecosort_power.validate import ecosort_program

from ecosort_tuning.errors import RunError
from ecosort_tuning.profile import Kernels

RECORD_BYTES = 100
NOT_BUILT = "ecosort_costs is not built (make bench-kernels builds it; or name it with --costs)"


def find_costs(given: Path | None) -> Path | None:
    """The given program, or that beside the sorter in a build directory."""
    if given is not None:
        return given
    sorter = ecosort_program()
    beside = Path(sorter).resolve().parent / "bench" / "ecosort_costs" if sorter else None
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
        try:
            child = spawn(
                [str(program), str(merged_runs)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except OSError as error:
            raise RunError(f"{program} cannot be run: {error.strerror}") from error
        try:
            out, err = child.communicate()
        except BaseException:
            stop(child)
            raise
        if child.returncode != 0:
            raise RunError(f"{program} failed: {err.decode(errors='replace').strip()[-200:]}")
        found.append(parse(out.decode(errors="replace")))
    costs = {name: round(per_record_ns(median(call[name] for call in found)), 3) for name in found[0]}
    return Kernels(RECORD_BYTES, merged_runs, costs, calls)
