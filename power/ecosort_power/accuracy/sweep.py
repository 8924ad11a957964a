"""Many simulated runs of each kind of meter and load, and how often the stated interval holds the true energy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from math import sqrt

import numpy as np

from ecosort_power.accuracy.loads import LOADS, WHITE, Load, Rng, make_load
from ecosort_power.accuracy.meters import KINDS, Series, capabilities_of, draw_lag, read
from ecosort_power.evaluate import candidates, choose
from ecosort_power.quality import Window

PERIODS_S = (0.1, 1.0, 5.0, 60.0)
LENGTHS_S = (10.0, 60.0, 600.0)
MARGIN_S = 0.2
LOW, HIGH = 0.93, 0.98  # a 95 % interval is right if it holds the truth in so many runs
AGAIN = 10  # times as many runs settle a cell that the first ones show outside of that, where chance takes some of many cells
BY_CHANCE = 3.0  # above that by fewer of the standard errors than this
REFUSED_AFTER = 100  # a cell whose first runs are all refused is refused


@dataclass(frozen=True, slots=True)
class Cell:
    meter: str
    period_s: float
    lag_known: bool
    load: str
    length_s: float

    def __str__(self) -> str:
        lag = "lag known" if self.lag_known else "lag not known"
        return f"{self.meter}, every {self.period_s:g} s, {lag}, {self.load}, {self.length_s:g} s"


# Shapes whose energy used to be too small by 0.5 to 2.3 %, because what lies at both ends of the run was lost.
NAMED = {
    "plug with steps of 0.1 W read every second, 15 s of constant power": Cell(
        "instantaneous, steps of 0.1 W", 1.0, True, "constant", 15.0
    ),
    "the same, a ramp of 60 s": Cell("instantaneous, steps of 0.1 W", 1.0, True, "ramp", 60.0),
    "counter with a new value every minute, 600 s": Cell("counter, steps of 3.6 J", 60.0, True, "constant", 600.0),
    "average over 5 s, 60 s": Cell("average over 5 s", 1.0, True, "constant", 60.0),
    "management controller with steps of 1 W read every second, 100 s": Cell(
        "instantaneous, steps of 1 W", 1.0, False, "constant", 100.0
    ),
}


# Meters and lengths that other kinds of idle power are tried on.
IDLE_CELLS = tuple(
    Cell(meter, period_s, True, "constant", length_s)
    for meter, period_s, lengths_s in (
        ("instantaneous, steps of 0.1 W", 1.0, (60.0, 600.0)),
        ("average over 1 s", 1.0, LENGTHS_S),
        ("average over 5 s", 1.0, (60.0, 600.0)),
        ("counter, steps of 3.6 J", 0.1, (10.0, 60.0)),
        ("counter, steps of 3.6 J", 1.0, LENGTHS_S),
        ("counter, steps of 3.6 J", 5.0, (60.0, 600.0)),
        ("counter, steps of 3.6 J", 60.0, (600.0,)),
        ("plug, steps of 1 W and a counter of 3600 J", 1.0, (60.0, 600.0)),
    )
    for length_s in lengths_s
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Errors are relative to the true energy. None: every run was refused, as too short for the meter."""

    cell: Cell
    runs: int
    refused: int
    bias: float | None = None
    bias_se: float | None = None  # standard error of the bias by the number of runs
    coverage: float | None = None  # share of the runs whose interval holds the true energy
    interval: float | None = None  # median half width of the 95 % interval
    spread: float | None = None  # 95 % of the runs are within this of the truth


def cells() -> list[Cell]:
    return [Cell(*key) for key in product(KINDS, PERIODS_S, (True, False), LOADS, LENGTHS_S)]


def simulate(cell: Cell, rng: Rng, idle: str = WHITE) -> tuple[Load, Series, Window]:
    """One run: the load, what the meter read, and the moments that the harness knows."""
    kind = KINDS[cell.meter]
    lag = draw_lag(cell.period_s, cell.lag_known, rng)
    capabilities = capabilities_of(kind, cell.period_s, lag if cell.lag_known else None)
    length = cell.length_s * rng.uniform(1.0, 1.06)
    lead, tail = capabilities.lead_s + MARGIN_S, capabilities.tail_s + MARGIN_S
    load = make_load(cell.load, length, lead + lag + 2 * cell.period_s + kind.window_s, tail, rng, idle)
    window = Window(-lead, load.begin_s, load.end_s, load.end_s + tail)
    return load, read(load, kind, capabilities, lag, window.first_s, window.last_s, rng), window


def run_cell(cell: Cell, runs: int, seed: int, idle: str = WHITE) -> Outcome:
    rng = np.random.default_rng([seed, *repr(cell).encode(), *(b"" if idle == WHITE else idle.encode())])
    errors: list[float] = []
    halves: list[float] = []
    for done in range(runs):
        if done == REFUSED_AFTER and not errors:
            return Outcome(cell, done, done)
        load, series, window = simulate(cell, rng, idle)
        best = choose(candidates(series.curves(), series.capabilities, window))
        if best is not None:
            errors.append(best.estimate.joules / load.truth_j - 1)
            halves.append(best.estimate.half95_j / load.truth_j)
    if not errors:
        return Outcome(cell, runs, runs)
    error, half = np.array(errors), np.array(halves)
    return Outcome(
        cell,
        runs,
        runs - len(error),
        float(error.mean()),
        float(error.std() / sqrt(len(error))),
        float(np.mean(np.abs(error) <= half)),
        float(np.median(half)),
        float(np.quantile(np.abs(error), 0.95)),
    )


def is_open(coverage: float, runs: int) -> bool:
    """True if so many runs show the interval too narrow, or too wide by no more than chance makes of one that is right."""
    by_chance = BY_CHANCE * sqrt(HIGH * (1 - HIGH) / runs)
    return coverage < LOW or HIGH < coverage < HIGH + by_chance


def settled(cell: Cell, runs: int, seed: int, idle: str = WHITE) -> Outcome:
    """Repeats a cell that is open after so many runs with many more other runs, and takes what they say. With other kinds of idle
    power it is reported as it is.
    """
    outcome = run_cell(cell, runs, seed, idle)
    if idle == WHITE and outcome.coverage is not None and is_open(outcome.coverage, runs):
        return run_cell(cell, AGAIN * runs, seed + 1)
    return outcome


def _job(job: tuple[Cell, int, int, str]) -> Outcome:
    return settled(*job)


def sweep(chosen: Iterable[Cell], runs: int, seed: int, jobs: int, idle: str = WHITE) -> Iterator[Outcome]:
    """In the order of the cells."""
    work = [(cell, runs, seed, idle) for cell in chosen]
    if jobs == 1:
        yield from map(_job, work)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(_job, work)
