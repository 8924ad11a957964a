"""The search itself: Optuna proposes, trials judge, a journal in the result directory remembers.

Killed at any moment it continues with `--continue`: every finished trial is in the journal; the one that was running is tried
again. The budget is of measuring time and continues where it stopped.
"""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import optuna
from optuna.storages.journal import JournalFileBackend, JournalStorage
from optuna.trial import FrozenTrial, TrialState

from ecosort_tuning.errors import RunError
from ecosort_tuning.search.knobs import Knob, Settings, all_settings, size_of, text_of
from ecosort_tuning.search.sorter import Outcome, Sorter
from ecosort_tuning.search.trial import ENERGY, PARETO, TIME, Pair, Patience, run_trial, score

_NAME = "ecosort-tune search"
_RESULT = "result"  # of a trial: all that was measured, in one entry of the journal
# Largest number of combinations that are listed to find one that was not tried.
_LISTED = 100_000
_MOST_REPEATS = 10
_MOST_FAILURES = 5

Say = Callable[[str], None]
Key = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Tried:
    """A finished trial. `scores`: median ratios to the defaults, of time, energy or both."""

    settings: dict[str, str]
    pairs: list[Pair]
    scores: list[float]
    given_up: bool
    spent_s: float


@dataclass(frozen=True, slots=True)
class SearchOptions:
    goal: str
    budget_s: float
    patience: Patience = field(default_factory=Patience)
    seed: int = 1


def _pair(data: Any) -> Pair:
    return Pair(Outcome(**data["candidate"]), Outcome(**data["default"]))


class Search:
    """One study in a directory. `clock` returns seconds."""

    def __init__(
        self, directory: Path, knobs: Sequence[Knob], options: SearchOptions, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.knobs, self.options, self.clock = list(knobs), options, clock
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        directory.mkdir(parents=True, exist_ok=True)
        storage = JournalStorage(JournalFileBackend(str(directory / "study.journal")))
        goals = 2 if options.goal == PARETO else 1
        self.study = optuna.create_study(storage=storage, study_name=_NAME, directions=["minimize"] * goals, load_if_exists=True)
        # One that begins anew after a kill must not propose what the first one did.
        seed = options.seed + len(self.study.trials)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an option that Optuna calls experimental
            self.study.sampler = optuna.samplers.TPESampler(multivariate=True, n_startup_trials=8, seed=seed)
        self._random = random.Random(seed)
        self._take_up_lost_trials()

    @property
    def tried(self) -> list[Tried]:
        return [self._of(t) for t in self.study.get_trials(deepcopy=False) if _RESULT in t.user_attrs]

    @property
    def spent_s(self) -> float:
        return sum(t.spent_s for t in self.tried)

    def best(self) -> Tried | None:
        """Returns the best of one goal: the lowest median ratio of those that were not given up, or of all if each one was."""
        tried = self.tried
        return min([t for t in tried if not t.given_up] or tried, key=lambda t: t.scores[0], default=None)

    def front(self) -> list[Tried]:
        """Returns the settings that no other beats in both time and energy, by time."""
        kept = self.tried
        best = [
            t
            for t in kept
            if not any(all(a <= b for a, b in zip(o.scores, t.scores, strict=True)) and o.scores != t.scores for o in kept)
        ]
        return sorted(best, key=lambda t: t.scores[0])

    def _of(self, trial: FrozenTrial) -> Tried:
        attrs = trial.user_attrs[_RESULT]
        pairs = [_pair(p) for p in attrs["pairs"]]
        return Tried(dict(attrs["settings"]), pairs, self._scores(pairs), bool(attrs["given_up"]), float(attrs["spent_s"]))

    def _scores(self, pairs: list[Pair]) -> list[float]:
        goals = (TIME, ENERGY) if self.options.goal == PARETO else (self.options.goal,)
        return [score(pairs, goal) for goal in goals]

    # The loop

    def run(self, sorter: Sorter, say: Say) -> None:
        """Until the budget is spent or everything was tried. RunError if the sorter fails again and again."""
        begin, spent_before = self.clock(), self.spent_s
        failures = 0

        def over() -> bool:
            return spent_before + self.clock() - begin >= self.options.budget_s

        while not (over() and self.tried):  # at least one, also when the first settings do not work
            trial = self._next()
            if trial is None:
                say("every combination was tried")
                return
            try:
                self._measure(sorter, trial, over, say)
                failures = 0
            except RunError as error:  # perhaps the memory does not allow these settings
                trial.set_user_attr("failed", self._settings(trial))
                self.study.tell(trial, state=TrialState.FAIL)
                failures += 1
                say(f"{text_of(self._settings(trial))} failed: {error}")
                if failures >= _MOST_FAILURES:
                    raise RunError(f"{failures} trials in a row failed, the last one: {error}") from error

    def _measure(self, sorter: Sorter, trial: optuna.trial.Trial, over: Callable[[], bool], say: Say) -> None:
        settings = self._settings(trial)
        best = self.best() if self.options.goal != PARETO else None
        begin = self.clock()
        lowest = min(1.0, best.scores[0]) if best else 1.0
        pairs, given_up = run_trial(sorter, settings, self.options.goal, lowest, self.options.patience, over)
        scores = self._scores(pairs)
        found = {"settings": dict(settings), "given_up": given_up, "spent_s": self.clock() - begin}
        trial.set_user_attr(_RESULT, {**found, "pairs": [asdict(p) for p in pairs]})  # with it the trial counts
        self.study.tell(trial, scores)
        verdict = ", given up" if given_up else ""
        say(f"{text_of(settings)}: {', '.join(f'{s:.3f}' for s in scores)} of the defaults, {len(pairs)} pairs{verdict}")

    # Proposals

    def _suggest(self, trial: optuna.trial.Trial, knob: Knob) -> str:
        """Ordered values by their number, so that the sampler knows neighbours."""
        if knob.ordered:
            return knob.values[trial.suggest_int(knob.option, 0, len(knob.values) - 1)]
        return str(trial.suggest_categorical(knob.option, list(knob.values)))

    def _settings(self, trial: optuna.trial.Trial) -> dict[str, str]:
        return {knob.option: self._suggest(trial, knob) for knob in self.knobs}

    def _params(self, settings: Settings) -> dict[str, Any]:
        return {k.option: k.values.index(settings[k.option]) if k.ordered else settings[k.option] for k in self.knobs}

    def _next(self) -> optuna.trial.Trial | None:
        """A trial of settings that were not measured yet; None if there are none. The sampler learns what a repeated proposal
        was, so that it continues; after several such proposals any other settings are taken.
        """
        known: dict[Key, Tried | None] = {tuple(sorted(t.settings.items())): t for t in self.tried}
        failed = [t.user_attrs["failed"] for t in self.study.get_trials(deepcopy=False) if "failed" in t.user_attrs]
        known |= {tuple(sorted(settings.items())): None for settings in failed}
        if len(known) >= size_of(self.knobs):
            return None
        for _ in range(_MOST_REPEATS):
            trial = self.study.ask()
            key = tuple(sorted(self._settings(trial).items()))
            if key not in known:
                return trial
            earlier = known[key]
            if earlier is None:
                self.study.tell(trial, state=TrialState.FAIL)
            else:
                self.study.tell(trial, earlier.scores)
        self.study.enqueue_trial(self._params(self._untried(known)))
        return self.study.ask()

    def _untried(self, known: dict[Key, Tried | None]) -> dict[str, str]:
        if size_of(self.knobs) <= _LISTED:
            return self._random.choice([s for s in all_settings(self.knobs) if tuple(sorted(s.items())) not in known])
        while True:
            settings = {knob.option: self._random.choice(knob.values) for knob in self.knobs}
            if tuple(sorted(settings.items())) not in known:
                return settings

    def _take_up_lost_trials(self) -> None:
        """A killed search leaves one that seems to run."""
        for trial in self.study.get_trials(deepcopy=True, states=(TrialState.RUNNING,)):
            if _RESULT in trial.user_attrs:
                self.study.tell(trial.number, self._of(trial).scores)
                continue
            self.study.tell(trial.number, state=TrialState.FAIL)
            if trial.params.keys() == {knob.option for knob in self.knobs}:
                self.study.enqueue_trial(trial.params)
