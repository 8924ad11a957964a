"""`ecosort-tune search`: from options to a confirmed winner, a profile and a report."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from ecosort_power.codec import encode, load, write_json
from ecosort_power.config import resolve
from ecosort_power.validate import ecosort_program

from ecosort_tuning import __version__
from ecosort_tuning.errors import EXIT_OK, EXIT_WORSE, UsageError
from ecosort_tuning.machine import MachineIdentity, mount_of, this_machine
from ecosort_tuning.noise import Judgement
from ecosort_tuning.profile import SCHEMA, Profile, Setting, default_path, read_profile, write_profile
from ecosort_tuning.search.knobs import Settings, sorter_knobs, text_of
from ecosort_tuning.search.report import write_report
from ecosort_tuning.search.sorter import Place, RealSorter, Sorter, records_of, usable_backends
from ecosort_tuning.search.study import Say, Search, SearchOptions
from ecosort_tuning.search.trial import ENERGY, PARETO, Pair, confirm

SEARCH_SCHEMA = "ecosort.search/1"
CONFIRM_ROUNDS = 10
_SPACE_FACTOR = 3.2  # input, runs, output


@dataclass(frozen=True, slots=True)
class Task:
    """What a search is about; --continue goes on with the same."""

    schema: str
    machine: MachineIdentity
    goal: str
    records: int
    memory_bytes: int
    budget_s: float
    directory: str
    backends: list[str]
    meter: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the fresh runs said of the winner. `settings` are kept only if they really win."""

    settings: dict[str, str]
    ratio: float
    low: float
    high: float
    pairs: int
    kept: bool
    sentence: str


def judge(settings: Settings, judgement: Judgement, goal: str) -> Verdict:
    """The sentence is the result: use this because."""
    i = judgement.interval
    what = "energy" if goal == ENERGY else "time"
    measured = f"{i.median:.3f} [{i.low:.3f}, {i.high:.3f}] of the {what} of the defaults in {i.pairs} fresh pairs of runs"
    kept = judgement.seen and i.median < 1
    sentence = (
        f"Use {text_of(settings)} because it takes {measured}."
        if kept
        else f"Use the defaults because the best found ({text_of(settings)}) is not shown to take less: {measured}."
    )
    return Verdict(dict(settings), i.median, i.low, i.high, i.pairs, kept, sentence)


def decide(search: Search, sorter: Sorter, goal: str, rounds: int) -> tuple[Verdict | None, list[Pair]]:
    """Confirms the best of a finished search; of two goals that of the least energy."""
    front = search.front() if goal == PARETO else []
    best = front[-1] if front else search.best()
    if best is None:
        return None, []
    confirmed = ENERGY if goal == PARETO else goal
    pairs, judgement = confirm(sorter, best.settings, confirmed, rounds)
    return judge(best.settings, judgement, confirmed), pairs


def _program() -> Path:
    found = ecosort_program()
    if found is None:
        raise UsageError("ecosort is not in PATH and ECOSORT_BIN is not set: it is what would be measured")
    return Path(found).resolve()


def _new(given: Mapping[str, Any], program: Path) -> tuple[Path, Task]:
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
    if not place.is_dir():
        raise UsageError(f"{place} is no directory")
    if mount_of(place).in_memory:
        raise UsageError(f"{place} is memory, not a drive")
    need, free = given["size"] * _SPACE_FACTOR, shutil.disk_usage(place).free
    if need > free:
        raise UsageError(f"{place}: {need / 1e9:.1f} GB are needed, {free / 1e9:.1f} GB are free")
    directory = given["out"] or Path(datetime.now().strftime("ecosort-search-%Y%m%d-%H%M%S"))
    if directory.exists() and any(directory.iterdir()):
        raise UsageError(f"{directory} is not empty; go on with it by --continue {directory}, or choose another --out")
    backends = usable_backends(program, place)
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


def _into_profile(path: Path, verdict: Verdict) -> None:
    """The winner's settings in place of earlier ones; the defaults are no settings."""
    here = this_machine()
    if path.exists():
        profile = read_profile(path, here)
    else:
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        profile = Profile(SCHEMA, created, __version__, here, absent={"drive": "not probed: ecosort-tune probe"})
    settings = [Setting(option, value, verdict.sentence) for option, value in verdict.settings.items()] if verdict.kept else []
    write_profile(path, replace(profile, setting=settings))


def _search(task: Task, directory: Path, say: Say) -> tuple[Search, Verdict | None]:
    program = _program()
    knobs = sorter_knobs(len(os.sched_getaffinity(0)), task.backends)
    search = Search(directory, knobs, SearchOptions(task.goal, task.budget_s))
    data = Path(task.directory) / f"ecosort-search-{os.getpid()}"
    data.mkdir()
    try:
        sorter = RealSorter(program, Place(data, task.records, task.memory_bytes), task.meter)
        search.run(sorter, say)
        say(f"confirming the best against the defaults, {CONFIRM_ROUNDS} pairs")
        verdict, pairs = decide(search, sorter, task.goal, CONFIRM_ROUNDS)
    finally:
        shutil.rmtree(data, ignore_errors=True)
    if verdict is not None:
        write_json(directory / "verdict.json", {**encode(verdict), "confirmation": encode(pairs)})
    return search, verdict


def launch(given: Mapping[str, Any]) -> int:
    """0 where settings better than the defaults were found and confirmed, 1 where the defaults stay."""
    directory, task = _earlier(given) if given["continued"] is not None else _new(given, _program())
    search, verdict = _search(task, directory, lambda text: click.echo(text, err=True))
    write_report(directory, task.goal, search, verdict.sentence if verdict else "Nothing was measured.")
    if verdict is None:
        raise UsageError("the budget was too small for a single pair of runs: give --budget more")
    path = given["profile"] or default_path()
    _into_profile(path, verdict)
    click.echo(verdict.sentence)
    click.echo(f"report: {directory / 'report.md'}; profile: {path}")
    return EXIT_OK if verdict.kept else EXIT_WORSE
