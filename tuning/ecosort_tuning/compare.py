"""Two result files of `make bench` side by side. Pure, but for reading them.

Drives drift by a factor of two within minutes, so what is compared is chosen by what belongs together:
1. `pairs`: the two files were measured in alternation (their clocks show it): round by round.
2. `of NAME`: else the time divided by that of a contender of the same round that does not depend on the sorter (a floor, GNU
   sort), so that drift cancels within each file.
3. `apart`: else the bare times, which do not separate drift from change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from ecosort_measure.results import Results, Run, cpu_s, wall_s

from ecosort_tuning.errors import UsageError
from ecosort_tuning.noise import Judgement, judge_pairs, judge_sets

# Contenders whose time the sorter's code does not change, in the order in which they are taken as the measure of the others.
REFERENCES = ("floor_b", "write_floor", "read_floor", "gnu_sort", "stxxl_sort", "stxxl_ksort", "stxxl_stream")
_FOR_ONE = {"gen": ("write_floor",), "check": ("read_floor",)}
# With fewer runs on a side chance cannot be excluded, whatever they say (the rank test of 3 and 3 does not get below 0.1).
LEAST_RUNS = 4

Value = Callable[[Run], float]
Runs = Mapping[int, Run]  # by round


@dataclass(frozen=True, slots=True)
class Row:
    """One contender of one stage: second / first of a quantity."""

    stage: str
    contender: str
    quantity: str  # "time" or "CPU"
    how: str  # "pairs", "of NAME", "apart"
    runs: tuple[int, int]
    judgement: Judgement | None  # None: too few runs

    @property
    def is_ours(self) -> bool:
        """Returns whether the row is about the sorter, and not about the machine."""
        return self.contender not in REFERENCES and not self.contender.startswith("floor_")

    @property
    def verdict(self) -> str:
        if self.judgement is None:
            return f"too few runs ({LEAST_RUNS} of each are needed)"
        if not self.judgement.seen:
            return "no difference seen"
        percent = 100 * (self.judgement.interval.median - 1)
        return f"{abs(percent):.1f} % {'more' if percent > 0 else 'less'}"

    @property
    def worse(self) -> bool:
        return self.is_ours and self.judgement is not None and self.judgement.seen and self.judgement.interval.median > 1


@dataclass(frozen=True, slots=True)
class Comparison:
    rows: list[Row]
    warnings: list[str]

    @property
    def summary(self) -> str:
        seen = [r for r in self.rows if r.is_ours and r.judgement is not None and r.judgement.seen]
        judged = [r for r in self.rows if r.is_ours and r.judgement is not None]
        if not judged:
            return "too few runs: measure more rounds"
        if not seen:
            return "no difference seen"
        return f"{len(seen)} of {len(judged)} rows differ; by chance alone one in twenty does"


def _differences(first: Results, second: Results, part: str) -> list[tuple[str, object, object]]:
    """Returns what of the settings or the machine is not the same, in the first and in the second."""
    a, b = first.data[part], second.data[part]
    return [(key, a.get(key), b.get(key)) for key in sorted(a.keys() | b.keys()) if a.get(key) != b.get(key)]


def compare(first: Results, second: Results) -> Comparison:
    """second / first of each contender that both have. UsageError for files that measured different work."""
    for key, a, b in _differences(first, second, "settings"):
        raise UsageError(f"these results are of different work: {key} is {a} in {first.path}, {b} in {second.path}")
    rows: list[Row] = []
    for stage, contender in dict.fromkeys((run["stage"], run["contender"]) for run in first.runs):
        x, y = first.of(stage, contender), second.of(stage, contender)
        if x and y:
            rows += [_time_row(first, second, stage, contender), _plain_row(stage, contender, "CPU", cpu_s, x, y)]
    if not rows:
        raise UsageError(f"{first.path} and {second.path} have no stage and contender in common")
    return Comparison(rows, _warnings(first, second, rows))


def _begin_s(run: Run) -> float | None:
    """Returns when it began by the machine's clock since its start; only the sorter's own report has it."""
    phases = (run.get("stats") or {}).get("phases") or []
    return float(phases[0]["begin_s"]) if phases else None


def in_alternation(a: Runs, b: Runs) -> bool:
    """Returns whether each round of both was measured before the next round of either, on one clock."""
    rounds = sorted(a.keys() & b.keys())
    if len(rounds) < 2 or a.keys() != b.keys():
        return False
    begins = [(_begin_s(a[i]), _begin_s(b[i])) for i in rounds]
    times: list[tuple[float, float]] = []
    for x, y in begins:
        if x is None or y is None:
            return False
        times.append((min(x, y), max(x, y)))
    return all(latest < next_[0] for (_, latest), next_ in pairwise(times))


def _plain_row(stage: str, contender: str, quantity: str, value: Value, a: Runs, b: Runs) -> Row:
    runs = (len(a), len(b))
    if in_alternation(a, b):
        rounds = sorted(a)
        enough = len(rounds) >= LEAST_RUNS
        pairs = judge_pairs([value(b[i]) for i in rounds], [value(a[i]) for i in rounds]) if enough else None
        return Row(stage, contender, quantity, "pairs", runs, pairs)
    sets = judge_sets([value(r) for r in b.values()], [value(r) for r in a.values()]) if min(runs) >= LEAST_RUNS else None
    return Row(stage, contender, quantity, "apart", runs, sets)


def _time_row(first: Results, second: Results, stage: str, contender: str) -> Row:
    a, b = first.of(stage, contender), second.of(stage, contender)
    plain = _plain_row(stage, contender, "time", wall_s, a, b)
    if plain.how == "pairs" or contender in REFERENCES:
        return plain
    for reference in _FOR_ONE.get(contender, REFERENCES):
        over, under = (_of_reference(file, stage, contender, reference) for file in (second, first))
        if min(len(over), len(under)) >= LEAST_RUNS:
            return Row(stage, contender, "time", f"of {reference}", (len(under), len(over)), judge_sets(over, under))
    return plain


def _of_reference(file: Results, stage: str, contender: str, reference: str) -> list[float]:
    own, other = file.of(stage, contender), file.of(stage, reference)
    return [wall_s(own[i]) / wall_s(other[i]) for i in sorted(own.keys() & other.keys())]


def _warnings(first: Results, second: Results, rows: list[Row]) -> list[str]:
    found = []
    for key, a, b in _differences(first, second, "machine"):
        found.append(f"different machines: {key} is {a!r} in the first, {b!r} in the second")
    for name, file in (("first", first), ("second", second)):
        if file.data["dirty"]:
            found.append(f"the {name} was measured with uncommitted changes")
        if not all(run["is_cold"] for run in file.runs):
            found.append(f"the {name} has warm runs: its page cache was not emptied")
    if any(row.how == "apart" and row.quantity == "time" and row.is_ours for row in rows):
        found.append(
            "times `apart` have nothing of their own minutes to be held against: drift of the drive is not told from change"
        )
    drifted = [row for row in rows if not row.is_ours and row.quantity == "time" and row.judgement and row.judgement.seen]
    if drifted:
        what = ", ".join(f"{row.contender} ({row.stage}) {row.verdict}" for row in drifted)
        found.append(f"the machine itself changed between the two: {what} time")
    return found
