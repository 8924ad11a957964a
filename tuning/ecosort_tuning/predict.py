"""What a planned sort will take on the machine of a profile: seconds, CPU seconds, joules, and what limits it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ecosort_tuning.errors import UsageError
from ecosort_tuning.model import PHASES, factor_of, predict_cpu, predict_power
from ecosort_tuning.profile import Drive, Kernels, Profile
from ecosort_tuning.resources import PROCESSOR, drive_times
from ecosort_tuning.runs import Work

PLAN_SCHEMA = "ecosort.plan/1"
_UNPREDICTABLE = {
    "unknown until the input ends": "the size of the input is not known",
    "empty": "there is nothing to sort",
}
_FORMATION_KERNELS = ("extract", "index_sort", "gather", "input_hash", "input_checksum", "granule_seal")


@dataclass(frozen=True, slots=True)
class PhasePrediction:
    name: str
    seconds: float
    work: Work
    times: dict[str, float]  # seconds that each resource needs, of which the greatest counts
    factor: float

    @property
    def bottleneck(self) -> str:
        return max(self.times, key=lambda name: self.times[name])


@dataclass(frozen=True, slots=True)
class Prediction:
    phases: list[PhasePrediction]
    seconds: float
    cpu_s: float
    bytes_moved: int
    temp_bytes: int
    joules: float | None
    saved_s: dict[str, float]  # by a drive or a processor of twice the speed
    notes: list[str]

    @property
    def help_most(self) -> str:
        return max(self.saved_s, key=lambda name: self.saved_s[name])


def formation_share(kernels: Kernels | None) -> float:
    """Of run formation in the CPU time: from the kernels' costs, else one half."""
    if kernels is None:
        return 0.5
    total = sum(kernels.ns_per_record.values())
    own = sum(ns for name, ns in kernels.ns_per_record.items() if name in _FORMATION_KERNELS)
    return own / total if total > 0 else 0.5


def temp_drive(profile: Profile) -> Drive:
    found = next((d for d in profile.drive if d.role == "temp"), None)
    if found is None:
        raise UsageError("the profile has no drive for sorted runs: ecosort-tune probe --temp DIR")
    return found


def phase_work(plan: Mapping[str, Any]) -> dict[str, Work]:
    """The bytes of a plan by phase: run formation reads the input and stores runs, the merge does the rest."""
    if plan.get("schema") != PLAN_SCHEMA:
        raise UsageError(
            f"this is no plan of the sorter (schema {plan.get('schema')!r}, not {PLAN_SCHEMA!r}): ecosort plan sort --json"
        )
    try:
        read, written = float(plan["bytes_read"]), float(plan["bytes_written"])
        runs, again = float(plan["run_bytes"]), float(plan["remerged_bytes"])
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"the plan lacks something: {error!r}; is the size of the input known?") from error
    return {PHASES[0]: Work(read - runs - again, runs), PHASES[1]: Work(runs + again, written - runs)}


def predict(plan: Mapping[str, Any], profile: Profile) -> Prediction:
    """UsageError where the profile or the plan does not allow one."""
    works = phase_work(plan)
    if reason := _UNPREDICTABLE.get(str(plan.get("shape"))):
        raise UsageError(reason)
    drive, notes = temp_drive(profile), []
    if profile.cpu is None:
        raise UsageError("the profile has no model of the processor: ecosort-tune fit RUNS...")
    if len(profile.drive) > 1:
        notes.append("predicted as if all were on the first drive of the profile")
    records = int(plan["records"])
    moved = float(plan["bytes_read"]) + float(plan["bytes_written"])
    cpu_s = predict_cpu(profile.cpu, records, moved, plan)
    share = formation_share(profile.kernels)
    threads = {PHASES[0]: int(plan["compute_threads"]), PHASES[1]: int(plan.get("merge_threads") or plan["compute_threads"])}
    if profile.time is None:
        notes.append("no measured runs: the time is that of the slowest resource, and a real sort takes longer")
    phases = []
    for name, work in works.items():
        part = share if name == PHASES[0] else 1 - share
        times = {**drive_times(drive, name, work, plan), PROCESSOR: part * cpu_s / max(threads[name], 1)}
        factor = factor_of(profile.time, name, plan)
        phases.append(PhasePrediction(name, factor * max(times.values()), work, times, factor))
    seconds = sum(p.seconds for p in phases)
    joules = predict_power(profile.power, seconds, cpu_s, moved) if profile.power else None
    if profile.power is None:
        notes.append("no joules: the profile has no power model (ecosort-tune fit with results of ecosort-power)")
    return Prediction(phases, seconds, cpu_s, int(moved), int(plan["temp_bytes"]), joules, _saved(phases, seconds), notes)


def _saved(phases: list[PhasePrediction], seconds: float) -> dict[str, float]:
    """Seconds less if the drive, or the processor, were twice as fast."""

    def halved(of_processor: bool) -> float:
        return sum(
            p.factor * max(t / 2 if (name == PROCESSOR) == of_processor else t for name, t in p.times.items()) for p in phases
        )

    return {"drive": seconds - halved(False), "processor": seconds - halved(True)}
