"""Models of time, processor and energy: fitted to measured runs by least squares of the relative errors. Pure.

Their estimates are those of `ecosort plan --profile` (ecosort/planner/predict.cpp); a test holds the terms together.

Coefficients are physical and therefore never negative: one that comes out below zero is set to zero and the rest fitted again. A
coefficient that the runs cannot separate from the others, or that explains little, is left at zero (CPU) or refused (energy,
where each one is asked for).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np
from ecosort_measure.prediction import PROCESSOR

from ecosort_tuning.errors import UsageError
from ecosort_tuning.profile import CpuModel, Drive, Kernels, PowerModel, TimeModel
from ecosort_tuning.resources import drive_times
from ecosort_tuning.runs import Coders, Evidence, MeasuredRun, Phase, Work, comparisons, memory_bytes, requests

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]
Vector = np.ndarray[tuple[int], np.dtype[np.float64]]

# Beyond this condition number of the scaled columns, noise of a percent turns into errors of the size of the coefficients.
_MOST_CONDITION = 60.0
# A further term must leave at most so much of the squared errors.
_LEAST_GAIN = 0.75
_EXACT = 1e-9  # squared relative errors that are none
# Shorter phases are measured by their beginnings and ends.
LEAST_PHASE_S = 0.05
PHASES = ("run_formation", "merge")
_FORMATION_KERNELS = ("extract", "index_sort", "gather", "input_hash", "input_checksum", "granule_seal")
# These have other names where all runs stay in memory: other work, with a factor of its own.
_IN_MEMORY = {PHASES[0]: "read_and_sort", PHASES[1]: "merge_resident"}


def _scaled(rows: Matrix, values: Vector) -> tuple[Matrix, Vector]:
    """Relative errors (each row through its value), columns of length one; and those lengths."""
    relative = rows / values[:, None]
    lengths = np.sqrt((relative**2).sum(axis=0))
    lengths[lengths == 0] = 1.0
    return relative / lengths, lengths


def condition(rows: Matrix, values: Vector) -> float:
    """Returns how badly the columns can be separated: 1 is best."""
    return float(np.linalg.cond(_scaled(rows, values)[0]))


def least_squares(rows: Matrix, values: Vector) -> Vector:
    """Coefficients >= 0 that minimise the relative errors of rows @ coefficients against the values (all > 0)."""
    scaled, lengths = _scaled(rows, values)
    free = list(range(rows.shape[1]))
    found = np.zeros(rows.shape[1])
    while free:
        part = np.linalg.lstsq(scaled[:, free], np.ones(len(values)), rcond=None)[0]
        if part.min() >= 0:
            found[free] = part
            break
        free.pop(int(part.argmin()))
    return np.asarray(found / lengths)


def _error(rows: Matrix, values: Vector, coefficients: Vector) -> float:
    return float(np.median(np.abs(rows @ coefficients / values - 1)))


def _misfit(rows: Matrix, values: Vector, coefficients: Vector) -> float:
    return float(((rows @ coefficients / values - 1) ** 2).sum())


def _worth_having(columns: Sequence[Vector], values: Vector) -> list[int]:
    """Chooses of all sets of columns that the runs can separate and that leave every coefficient positive, the one with the least
    squared errors, where a further column must explain a good part of them: noise alone would share itself among all that are
    offered. Of equals the first.
    """
    chosen, least = [0], float("inf")
    for size in range(1, min(len(columns), max(len(values) - 1, 1)) + 1):
        for candidate in map(list, combinations(range(len(columns)), size)):
            rows = np.column_stack([columns[i] for i in candidate])
            found = least_squares(rows, values)
            if found.min() <= 0 or condition(rows, values) >= _MOST_CONDITION:
                continue
            score = (_misfit(rows, values, found) + _EXACT) / _LEAST_GAIN**size
            if score < least * (1 - _EXACT):
                chosen, least = candidate, score
    return chosen


def _medians(runs: Sequence[MeasuredRun]) -> list[MeasuredRun]:
    """One run for all of the same work, with their median CPU time: a single slow one says nothing about the work."""
    alike: dict[tuple[float, ...], list[MeasuredRun]] = {}
    for run in runs:
        key = (run.records, run.threads, run.work.bytes_moved, comparisons(run.plan, run.records), memory_bytes(run.plan))
        alike.setdefault(key, []).append(run)
    return [replace(same[0], cpu_s=median(r.sort_cpu_s for r in same), coders=Coders()) for same in alike.values()]


def _cpu_terms(runs: Sequence[MeasuredRun]) -> tuple[Vector, list[Vector]]:
    """CPU seconds without coders, and what they may depend on: records, comparisons, bytes moved, nothing, memory, requests."""
    columns = [
        np.array([float(r.records) for r in runs]),
        np.array([comparisons(r.plan, r.records) for r in runs]),
        np.array([r.work.bytes_moved for r in runs]),
        np.ones(len(runs)),
        np.array([memory_bytes(r.plan) for r in runs]),
        np.array([requests(r.plan) for r in runs]),
    ]
    return np.array([r.sort_cpu_s for r in runs]), columns


def fit_cpu(measured: Sequence[MeasuredRun]) -> CpuModel:
    """UsageError without runs."""
    if not measured:
        raise UsageError("no run to fit the processor's model to")
    runs = _medians(measured)
    values, columns = _cpu_terms(runs)
    chosen = _worth_having(columns, values)
    found = np.zeros(len(columns))
    found[chosen] = least_squares(np.column_stack([columns[i] for i in chosen]), values)
    per_record, per_comparison, per_byte, fixed, per_memory_byte, per_request = (float(v) for v in found)
    all_values, all_columns = _cpu_terms(measured)
    error = _error(np.column_stack(all_columns), all_values, found)
    return CpuModel(fixed, per_record, per_byte, per_comparison, per_memory_byte, per_request, error, len(measured))


def fit_power(evidence: Evidence) -> PowerModel:
    """UsageError with what is missing: measured runs of one meter, that differ enough."""
    runs = [(r, r.joules) for r in evidence.runs if r.joules is not None and r.joules > 0]
    meters = sorted({r.meter or "" for r, _ in runs})
    if not runs:
        raise UsageError("no run has joules: measure some with ecosort-power run --meter ...")
    if len(meters) > 1:
        raise UsageError(f"the runs were measured by several meters ({', '.join(meters)}): fit those of one")
    idle = [i for i in evidence.idle if i.meter == meters[0] and i.watts > 0]
    rows = np.array([[r.seconds, r.cpu_s, r.work.bytes_moved / 1e9] for r, _ in runs] + [[1.0, 0.0, 0.0] for _ in idle])
    values = np.array([j for _, j in runs] + [i.watts for i in idle])
    if len(values) < 4 or condition(rows, values) > _MOST_CONDITION:
        raise UsageError(
            "the runs do not tell idle power, watts per core and joules per GB apart: measure with one and with all threads, "
            "several sizes, and an idle baseline (ecosort-power run --idle 60)"
        )
    found = least_squares(rows, values)
    idle_w, core_w, gb_j = (float(v) for v in found)
    return PowerModel(idle_w, core_w, gb_j, _error(rows, values, found), len(runs), meters[0])


def _phase_of(name: str) -> str:
    """Reading into memory is run formation without runs; intermediate merges, the sync and the rename belong to the merge."""
    return PHASES[0] if name in ("run_formation", "read_and_sort") else PHASES[1]


def grouped(phases: Sequence[Phase]) -> dict[str, Phase]:
    """The phases of a run, summed into the two that are predicted."""
    found: dict[str, Phase] = {}
    for phase in phases:
        name = _phase_of(phase.name)
        before = found.get(name, Phase(name, 0.0, Work(0.0, 0.0)))
        work = Work(before.work.bytes_read + phase.work.bytes_read, before.work.bytes_written + phase.work.bytes_written)
        found[name] = Phase(name, before.seconds + phase.seconds, work)
    return found


def factor_name(phase: str, plan: Mapping[str, Any]) -> str:
    """The key of a phase's factor."""
    return phase if plan["stored_records"] else _IN_MEMORY[phase]


def formation_share(kernels: Kernels | None) -> float:
    """Returns the share of run formation in the CPU time: from the kernels' costs, else one half."""
    if kernels is None:
        return 0.5
    total = sum(kernels.ns_per_record.values())
    own = sum(ns for name, ns in kernels.ns_per_record.items() if name in _FORMATION_KERNELS)
    return own / total if total > 0 else 0.5


def processor_s(run: MeasuredRun, phase: str, cpu_share: float) -> float:
    """Returns the time of a phase on all threads; `cpu_share` is that of run formation in the CPU time without coders. Runs are
    compressed when they are formed, and those that are merged again once more.
    """
    plan, coders = run.plan, run.coders
    stored, again = float(plan.get("run_bytes") or 0), float(plan.get("remerged_bytes") or 0)
    packed_first = coders.pack_s * (stored / (stored + again) if stored > 0 else 1.0)
    if phase == PHASES[0]:
        return (cpu_share * run.sort_cpu_s + packed_first) / max(run.threads, 1)
    merge_s = coders.pack_s - packed_first + coders.unpack_s
    return ((1 - cpu_share) * run.sort_cpu_s + merge_s) / max(run.threads, 1)


def fit_time(runs: Sequence[MeasuredRun], drive: Drive, cpu_share: float) -> TimeModel:
    """Fits how much longer each phase takes than its slowest resource; `cpu_share` is that of run formation in the CPU time."""
    ratios: dict[str, list[float]] = {}
    for run in runs:
        for name, phase in grouped(run.phases).items():
            if phase.seconds < LEAST_PHASE_S:
                continue
            times = {**drive_times(drive, name, phase.work, run.plan), PROCESSOR: processor_s(run, name, cpu_share)}
            slowest = max(times.values())
            if slowest > 0:
                ratios.setdefault(factor_name(name, run.plan), []).append(phase.seconds / slowest)
    if not ratios:
        raise UsageError("no run has phases to fit the time model to")
    factor = {name: median(found) for name, found in ratios.items()}
    errors = [abs(factor[name] / ratio - 1) for name, found in ratios.items() for ratio in found]
    return TimeModel(factor, median(errors), len(runs))
