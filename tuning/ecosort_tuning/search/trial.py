"""Settings against the defaults, in the same minutes, as often as noise demands.

A drive that others share is now fast, now slow; so the defaults are measured beside every candidate, and what is scored is the
ratio. A candidate that is clearly worse than the best so far is given up after its first pairs; one that may be better is
repeated until its median is known well enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from statistics import median

from ecosort_tuning.errors import UsageError
from ecosort_tuning.noise import CHANCE, Judgement, judge_pairs, sign_test
from ecosort_tuning.search.knobs import Settings
from ecosort_tuning.search.sorter import Outcome, Sorter

TIME, ENERGY, PARETO = "time", "energy", "pareto"
GOALS = (TIME, ENERGY, PARETO)
_EARLY_PAIRS = 6


def cost(goal: str, outcome: Outcome) -> float:
    if goal == TIME:
        return outcome.seconds
    if outcome.joules is None:
        raise UsageError("without joules there is no least energy: give --meter")
    return outcome.joules


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs in a row, the defaults first or last in turn."""

    candidate: Outcome
    default: Outcome

    def ratio(self, goal: str) -> float:
        return cost(goal, self.candidate) / cost(goal, self.default)


@dataclass(frozen=True, slots=True)
class Patience:
    """`precision`: the deviation of the median that is good enough; `margin`: so much worse than the best is given up."""

    least_pairs: int = 2
    most_pairs: int = 6
    precision: float = 0.02
    margin: float = 0.10


def measure_pair(sorter: Sorter, settings: Settings, default: Settings, turn: int) -> Pair:
    if turn % 2:
        candidate = sorter.measure(settings)
        return Pair(candidate, sorter.measure(default))
    reference = sorter.measure(default)
    return Pair(sorter.measure(settings), reference)


def _deviation(ratios: list[float]) -> float:
    middle = sum(ratios) / len(ratios)
    spread = sqrt(sum((r - middle) ** 2 for r in ratios) / (len(ratios) - 1))
    return 1.25 * spread / sqrt(len(ratios))  # of a median, where values are spread normally


def hopeless(ratios: list[float], best: float, margin: float) -> bool:
    """Even the luckiest pair is worse than the best so far by the margin."""
    return min(ratios) > best * (1 + margin)


def run_trial(
    sorter: Sorter,
    settings: Settings,
    goal: str,
    best: float,
    patience: Patience,
    over: Callable[[], bool],
    default: Settings | None = None,
) -> tuple[list[Pair], bool]:
    """The pairs, and whether the settings were given up. `best` is the lowest median ratio so far, 1 for the defaults
    themselves; with two goals nothing is given up."""
    pairs: list[Pair] = []
    while len(pairs) < patience.most_pairs and not (pairs and over()):
        pairs.append(measure_pair(sorter, settings, default or {}, len(pairs)))
        if goal == PARETO:
            if len(pairs) >= patience.least_pairs:
                break
            continue
        ratios = [p.ratio(goal) for p in pairs]
        if hopeless(ratios, best, patience.margin if len(pairs) > 1 else 2 * patience.margin):
            return pairs, True
        if len(pairs) >= patience.least_pairs and _deviation(ratios) < patience.precision:
            break
    return pairs, False


def score(pairs: list[Pair], goal: str) -> float:
    return median(p.ratio(goal) for p in pairs)


def _is_clear(ratios: list[float], rounds: int) -> bool:
    """Chance alone wins six of six once in 64 times, and nine of ten once in 93: together less than the 5 % of one look."""
    lost = [r for r in ratios if r >= 1]
    if not lost:
        return len(ratios) == _EARLY_PAIRS
    return sign_test([*lost, *[0.5] * (rounds - len(lost))]) >= CHANCE


def confirm(
    sorter: Sorter, settings: Settings, goal: str, rounds: int, default: Settings | None = None
) -> tuple[list[Pair], Judgement]:
    """The winner against the defaults again, with fresh runs: those that made it the winner flatter it. Ends early when it is
    clear: it has won all of the first six pairs, or could not be shown to win any more if it won all that are left."""
    pairs: list[Pair] = []
    while len(pairs) < rounds and not _is_clear([p.ratio(goal) for p in pairs], rounds):
        pairs.append(measure_pair(sorter, settings, default or {}, len(pairs)))
    over, under = ([cost(goal, o) for o in side] for side in ([p.candidate for p in pairs], [p.default for p in pairs]))
    return pairs, judge_pairs(over, under)
