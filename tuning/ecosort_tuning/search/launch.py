"""`ecosort-tune search`: from options to a confirmed winner, a profile and a report."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

import click
from ecosort_power.codec import encode, write_json

from ecosort_tuning import __version__
from ecosort_tuning.errors import EXIT_OK, EXIT_WORSE, UsageError
from ecosort_tuning.machine import this_machine
from ecosort_tuning.noise import Judgement
from ecosort_tuning.place import scratch, sorter_program
from ecosort_tuning.profile import SCHEMA, Profile, Setting, read_profile, write_profile
from ecosort_tuning.search.knobs import FOR_ONE_MEMORY, Settings, sorter_knobs, text_of
from ecosort_tuning.search.knobs import given as given_to_sorter
from ecosort_tuning.search.report import write_report
from ecosort_tuning.search.sorter import Place, RealSorter, Sorter
from ecosort_tuning.search.study import Search, SearchOptions
from ecosort_tuning.search.task import Task
from ecosort_tuning.search.trial import ENERGY, PARETO, Pair, confirm
from ecosort_tuning.show import say

CONFIRM_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class Verdict:
    """The fresh runs said this of the winner. `settings` are kept only if they really win."""

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


def _into_profile(path: Path, verdict: Verdict, memory_bytes: int) -> None:
    """The winner's settings in place of earlier ones; the defaults are no settings."""
    here = this_machine()
    if path.exists():
        profile = read_profile(path, here)
    else:
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        profile = Profile(SCHEMA, created, __version__, here, absent={"drive": "not probed: ecosort-tune probe"})
    settings = (
        [
            Setting(option, value, verdict.sentence, memory_bytes if option in FOR_ONE_MEMORY else 0)
            for option, value in given_to_sorter(verdict.settings).items()
        ]
        if verdict.kept
        else []
    )
    write_profile(path, replace(profile, setting=settings))


def _search(task: Task, directory: Path) -> tuple[Search, Verdict | None]:
    program = sorter_program()
    knobs = sorter_knobs(len(os.sched_getaffinity(0)), task.backends, task.run_records)
    search = Search(directory, knobs, SearchOptions(task.goal, task.budget_s))
    with scratch(Path(task.directory), "search") as data:
        sorter = RealSorter(program, Place(data, task.records, task.memory_bytes), task.meter)
        search.run(sorter, say)
        say(f"confirming the best against the defaults, at most {CONFIRM_ROUNDS} pairs")
        verdict, pairs = decide(search, sorter, task.goal, CONFIRM_ROUNDS)
    if verdict is not None and sorter.simulated:
        verdict = replace(verdict, sentence=f"SIMULATED joules, no meter was read: {verdict.sentence}")
    if verdict is not None:
        write_json(directory / "verdict.json", {**encode(verdict), "confirmation": encode(pairs)})
    return search, verdict


def launch(directory: Path, task: Task, path: Path) -> int:
    """0 where settings better than the defaults were confirmed, which go into the profile `path`; 1 where the defaults stay."""
    search, verdict = _search(task, directory)
    write_report(directory, task.goal, search, verdict.sentence if verdict else "Nothing was measured.")
    if verdict is None:
        raise UsageError("none of the settings could be measured here; each said why")
    _into_profile(path, verdict, task.memory_bytes)
    click.echo(verdict.sentence)
    click.echo(f"report: {directory / 'report.md'}; profile: {path}")
    return EXIT_OK if verdict.kept else EXIT_WORSE
