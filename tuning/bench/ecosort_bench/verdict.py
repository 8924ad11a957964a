"""A target, what was measured, and whether it is met."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ecosort_measure.paired import Interval

SHOWN_BY_PAIRS = 30  # as many rounds show a ratio to a floor; fewer do if the interval is under the target
SHOWN_BY_ROUNDS = 5


@dataclass(frozen=True)
class Verdict:
    """One target. `passed` is None where nothing was measured."""

    name: str
    target: str
    measured: str
    passed: bool | None
    obstacle: str = ""  # what prevented a missed one

    @property
    def word(self) -> str:
        return {True: "PASS", False: "MISSED", None: "not measured"}[self.passed]


def _text(interval: Interval) -> str:
    return f"{interval.median:.3f} [{interval.low:.3f}, {interval.high:.3f}], {interval.pairs} pairs"


def at_most(name: str, interval: Interval | None, limit: float, enough: int) -> Verdict:
    target = f"<= {limit:g}"
    if interval is None:
        return Verdict(name, target, "", None)
    shown = interval.high <= limit or (interval.pairs >= enough and interval.median <= limit)
    return Verdict(name, target, _text(interval), shown)


def at_least(name: str, interval: Interval | None, limit: float, strictly: bool = False) -> Verdict:
    target = f"{'>' if strictly else '>='} {limit:g}"
    if interval is None:
        return Verdict(name, target, "", None)
    reached = interval.median > limit if strictly else interval.median >= limit
    return Verdict(name, target, _text(interval), reached and (interval.pairs >= SHOWN_BY_ROUNDS or interval.low >= limit))


def bound(name: str, values: Iterable[float], limit: float, unit: str, summary: Callable[[list[float]], float]) -> Verdict:
    found = list(values)
    target = f"<= {limit:.4g} {unit}"
    if not found:
        return Verdict(name, target, "", None)
    value = summary(found)
    return Verdict(name, target, f"{value:.4g} {unit}", value <= limit)
