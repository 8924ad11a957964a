"""A search is about this, and refuses it before anything is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ecosort_power.codec import load, write_json
from ecosort_power.config import resolve

from ecosort_tuning.errors import UsageError
from ecosort_tuning.machine import MachineIdentity, this_machine
from ecosort_tuning.place import check_place, sorter_program
from ecosort_tuning.search.sorter import records_of, smaller_runs, usable_backends
from ecosort_tuning.search.trial import ENERGY, PARETO

SEARCH_SCHEMA = "ecosort.search/1"


@dataclass(frozen=True, slots=True)
class Task:
    """A search is about this; --continue continues with the same."""

    schema: str
    machine: MachineIdentity
    goal: str
    records: int
    memory_bytes: int
    budget_s: float
    directory: str
    backends: list[str]
    meter: str | None = None
    run_records: list[int] = field(default_factory=list)  # that are tried besides the default


def _new(given: Mapping[str, Any]) -> tuple[Path, Task]:
    goal, meter = given["goal"], given["meter"]
    missing = [f"--{name}" for name in ("goal", "size", "memory", "budget", "dir") if given[name] is None]
    if missing:
        raise UsageError(f"{', '.join(missing)}: needed for a new search")
    if goal in (ENERGY, PARETO) and meter is None:
        raise UsageError(
            f"--goal {goal} needs --meter: without one there are no joules (ecosort-power meters lists what there is)"
        )
    if meter is not None:
        resolve([meter], None)
    place: Path = given["dir"]
    check_place(place, given["size"])
    directory = given["out"] or Path(datetime.now().strftime("ecosort-search-%Y%m%d-%H%M%S"))
    if directory.exists() and any(directory.iterdir()):
        raise UsageError(f"{directory} is not empty; continue with it by --continue {directory}, or choose another --out")
    backends = usable_backends(sorter_program(), place)
    task = Task(
        SEARCH_SCHEMA,
        this_machine(),
        goal,
        records_of(given["size"]),
        given["memory"],
        given["budget"],
        str(place),
        backends,
        meter,
        smaller_runs(sorter_program(), place, records_of(given["size"]), given["memory"]),
    )
    directory.mkdir(parents=True, exist_ok=True)
    write_json(directory / "search.json", task)
    return directory, task


def _earlier(given: Mapping[str, Any]) -> tuple[Path, Task]:
    directory: Path = given["continued"]
    task = load(Task, directory / "search.json")
    if task.schema != SEARCH_SCHEMA:
        raise UsageError(f"{directory} was written by another version ({task.schema})")
    if difference := this_machine().difference(task.machine):
        raise UsageError(f"{directory} is the search of another machine: {difference}")
    return directory, replace(task, budget_s=given["budget"] or task.budget_s)


def begin(given: Mapping[str, Any]) -> tuple[Path, Task]:
    """The result directory and the task, new or continued; UsageError for what cannot be searched."""
    return _earlier(given) if given["continued"] is not None else _new(given)
