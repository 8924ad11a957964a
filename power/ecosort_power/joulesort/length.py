"""Does the sort take long enough for the meter? Before the input is made: what meters need, and how long sorts take here.

A meter that has a new value every half second cannot measure the energy of a run of two seconds. How long a sort takes is found
by doing it: cold, from process start to sync, as in a run, with inputs that grow until that is clear. A sort that is long enough
is stopped as soon as it is, so that all this takes a few times as long as the shortest run that the meter needs.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

from ecosort_power.cold import make_cold
from ecosort_power.command import last_words, run_command
from ecosort_power.errors import RunError, UsageError
from ecosort_power.evaluate import least_seconds
from ecosort_power.joulesort import sorter
from ecosort_power.joulesort.space import free_bytes
from ecosort_power.joulesort.state import TRIAL
from ecosort_power.meters import make_meter, meter_class
from ecosort_power.meters.base import MeterSpec, more_values, with_settings
from ecosort_power.records import RECORD_BYTES, spaced
from ecosort_power.statistics import describe, t95

FIRST = 10**6  # records of the first sort, if so many are asked for
MARGIN = 1.3  # at least: no two runs take equally long
TRIALS = 3  # sorts that show how much their lengths differ
_PATIENCE = 4.0  # times the time that is aimed at: a sort that is measured for its length may take so long
MOST_SHARE = 0.75  # lengths that differ more than this let a run be four times as long, and no longer
CLEAR_S = 0.5  # a shorter sort is mostly its own beginning and end and says little of a longer one
_GROWTH = (2.0, 10.0)
_SPACE_SHARE = 4 * RECORD_BYTES  # bytes of the drive per record: input, runs, output, and as much again left free

# Returns how long a sort of so many records takes, in seconds; looked at no longer than the given limit. None: there is no room
# for it.
Stopwatch = Callable[[int, float], float | None]


@dataclass(frozen=True, slots=True)
class Shortest:
    """The shortest run whose energy a meter can measure."""

    meter: str
    seconds: float
    helps: str  # what gives it more values


@dataclass(frozen=True, slots=True)
class Enough:
    """So many records make a run that is long enough; known from a sort of `tried` records that took `seconds`."""

    records: int
    tried: int
    seconds: float


def shortest_run(specs: Iterable[MeterSpec]) -> Shortest | None:
    """Returns the shortest run of the slowest meter; each is opened once. None if no meter is read during the runs. MeterError if
    one cannot be opened.
    """
    found = []
    for spec in specs:
        if meter_class(spec.scheme).deferred:
            continue
        meter = make_meter(spec)
        try:
            found.append(Shortest(spec.name, least_seconds(with_settings(meter.open(), spec)), more_values(spec.text)))
        finally:
            meter.close()
    return max(found, key=lambda s: s.seconds, default=None)


def enough_for(wanted_s: float, records: int, stopwatch: Stopwatch) -> Enough | None:
    """None: a sort of `records` is long enough. Else how many would be; always for 0 records. RunError if there is no room to
    find that out."""
    goal_s, count = wanted_s * MARGIN, min(records, FIRST) or FIRST
    while True:
        seconds = stopwatch(count, goal_s)
        if seconds is None:
            raise RunError(f"there is no room for a sort that takes {wanted_s:.3g} s; choose a larger drive: --data DIR")
        if seconds >= goal_s:
            return None if count <= records else Enough(_rounded_up(count), count, seconds)
        if count < records and seconds >= CLEAR_S and seconds * records / count >= 2 * goal_s:
            return None
        if count == records and seconds >= wanted_s:
            return None
        if count >= records and seconds >= goal_s / 2:
            return Enough(_rounded_up(count * goal_s / seconds), count, seconds)
        grown = int(count * min(max(0.8 * goal_s / max(seconds, 1e-3), _GROWTH[0]), _GROWTH[1]))
        count = min(grown, records) if count < records else grown


def margin_of(seconds: Sequence[float]) -> float:
    """By how much longer than needed a sort must take on average, if these sorts of one size took so long: the next run is longer
    than the mean less this share in 97.5 of 100 cases (Student's t, prediction of one value)."""
    found = describe(seconds)
    if found.sd is None:
        return MARGIN
    share = t95(found.n - 1) * found.sd * sqrt(1 + 1 / found.n) / found.mean
    return max(MARGIN, 1 / (1 - min(share, MOST_SHARE)))


def with_spread(wanted_s: float, found: Enough, stopwatch: Stopwatch) -> Enough:
    """Finds as many records as keep a run long enough however much the lengths of the sorts differ here: the number that was
    found is sorted some more times. RunError if there is no room for that many.
    """
    times = [stopwatch(found.records, _PATIENCE * MARGIN * wanted_s) for _ in range(TRIALS)]
    seconds = [t for t in times if t is not None]
    if len(seconds) < TRIALS:
        raise RunError(f"there is no room for a sort that takes {wanted_s:.3g} s; choose a larger drive: --data DIR")
    mean, goal_s = sum(seconds) / TRIALS, wanted_s * margin_of(seconds)
    records = found.records if mean >= goal_s else _rounded_up(found.records * goal_s / mean)
    return Enough(records, found.records, mean)


def _rounded_up(count: float) -> int:
    """To two digits: what a person would write."""
    step = 10 ** max(len(str(int(count))) - 2, 0)
    return int(-(-count // step) * step)


def stopwatch_in(data: Path, sort_words: Sequence[str]) -> Stopwatch:
    """Sorts in a directory on the drive that counts; nothing of it is left, nor of one that was killed."""
    for left in data.glob(f"{TRIAL}*"):
        if not Path("/proc", left.name.removeprefix(TRIAL).partition("-")[0]).exists():
            shutil.rmtree(left, ignore_errors=True)

    def stopwatch(records: int, limit_s: float) -> float | None:
        if records * _SPACE_SHARE > free_bytes(data):
            return None
        with TemporaryDirectory(dir=data, prefix=f"{TRIAL}{os.getpid()}-") as name:
            return _timed(Path(name), records, sort_words, limit_s)

    return stopwatch


class _LongEnoughError(Exception):
    """The sort was stopped."""


def _timed(place: Path, records: int, sort_words: Sequence[str], limit_s: float) -> float:
    source, target = place / "input.dat", place / "output.dat"
    sorter.generate(source, records, skewed=False)
    make_cold(source)
    began = time.monotonic()

    def watch() -> str | None:
        if time.monotonic() - began > limit_s:
            raise _LongEnoughError
        return None

    try:
        result = run_command(sorter.sort_command(sort_words, source, target), place, target, watch)
    except _LongEnoughError:
        return limit_s
    if result.exit_code != 0:
        raise RunError(f"the sort ended with exit code {result.exit_code}: {last_words(place)}")
    return result.synced_s - result.start_s


def require_length(records: int, rehearsal: bool, found: Enough | None, shortest: Shortest) -> None:
    """UsageError says how many records would be enough."""
    if found is None:
        return
    todo = f"--records {found.records} or more" if rehearsal else f"a class of {spaced(found.records)} records or more"
    raise UsageError(
        f"a sort of {spaced(records)} records is too short for meter {shortest.meter}, which needs runs of "
        f"{shortest.seconds:.3g} s or more: here that takes {todo} (a sort of {spaced(found.tried)} took {found.seconds:.2g} s), "
        f"or {shortest.helps}; nothing was made"
    )
