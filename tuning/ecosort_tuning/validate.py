"""Predictions against measurements: models are fitted to some sorts and predict others, of other sizes and memories."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from ecosort_measure.cold_run import run_cold
from ecosort_measure.floor_trace import Shape, write_floor_trace
from ecosort_measure.prediction import floor_s
from ecosort_measure.programs import Programs
from ecosort_measure.results import Document
from ecosort_power.codec import decode
from ecosort_power.planned import NEUTRAL, ask, plan_of, prediction_of
from ecosort_power.records import RECORD_BYTES

from ecosort_tuning.errors import RunError
from ecosort_tuning.forecast import with_models
from ecosort_tuning.profile import Profile
from ecosort_tuning.runs import Evidence, from_stats

_FLOOR_BLOCK, _FLOOR_DEPTH = 1 << 20, 16
# The next pair is guessed to take this, until one of the same size was measured; generous, so that a budget is kept.
_GUESS_S_PER_GB = 6.0


@dataclass(frozen=True, slots=True)
class Cell:
    records: int
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Grid:
    """Sizes and memories that are all combined; `name` is the list of the result that they belong to."""

    name: str
    records: Sequence[int]
    memories: Sequence[int]


@dataclass(frozen=True, slots=True)
class Turn:
    """One sort to measure: of which grid, which cell, in which round."""

    grid: str
    cell: Cell
    round: int


def turns(grids: Sequence[Grid], rounds: int, document: Mapping[str, Any]) -> list[Turn]:
    """Returns what the document's lists lack: every cell of every grid in each round, so that a machine that drifts does so for
    all.

    Within a round size by size, because each has its input.
    """
    known = {(grid.name, r["records"], r["memory_bytes"], r["round"]) for grid in grids for r in document[grid.name]}
    cells = sorted(
        ((grid.name, Cell(n, m)) for grid in grids for n in grid.records for m in grid.memories), key=lambda c: c[1].records
    )
    wanted = [Turn(name, cell, number) for number in range(rounds) for name, cell in cells]
    return [turn for turn in wanted if (turn.grid, turn.cell.records, turn.cell.memory_bytes, turn.round) not in known]


class Bench:
    """Sorts and their floors in one directory on the drive to measure. `codec`: what their runs are compressed with."""

    def __init__(self, program: Path, directory: Path, codec: str = "none") -> None:
        self._programs, self._directory, self._codec = Programs(program), directory, codec
        self._stored: dict[Cell, int] = {}  # bytes of compressed runs, when they were seen
        self._input, self._output = directory / "input", directory / "output"
        self._made, self._checksum = 0, ""
        if not os.access(self._programs.replay, os.X_OK):
            raise RunError(f"{self._programs.replay} is not built: make bench-kernels BENCH=--help builds it")

    def _make_input(self, records: int) -> None:
        if self._made == records:
            return
        self._made = 0
        self._checksum = self._programs.generate(records, self._input)
        self._made = records

    def _options(self, cell: Cell, profile: Path | None = None) -> list[str]:
        models = ["--profile", str(profile)] if profile else NEUTRAL
        packs = [] if self._codec == "none" else ["--compress", self._codec]
        return [*models, *packs, "--memory", f"{cell.memory_bytes}B", "--temp", str(self._directory)]

    def plan(self, cell: Cell, profile: Path | None = None) -> Document:
        """Returns what `ecosort plan` says, with its prediction if there is a profile."""
        options = self._options(cell, profile)
        if self._codec == "none":
            return plan_of(cell.records, self._output, options, self._programs.ecosort)
        self._make_input(cell.records)  # a sample of it shows how far runs shrink
        return ask([*options, str(self._input), "-o", str(self._output)], self._programs.ecosort)

    def _floor(self, cell: Cell, plan: Mapping[str, Any]) -> float:
        trace = self._directory / "floor.trace"
        size = cell.records * RECORD_BYTES
        stored = self._stored.get(cell, plan["stored_records"] * RECORD_BYTES)
        write_floor_trace(trace, Shape(size, stored, plan["stored_runs"], size), _FLOOR_BLOCK)
        files = ["--input", str(self._input), "--temp", str(self._directory), "--output", str(self._output)]
        pace = ["--pace", "depth", "--read-depth", str(_FLOOR_DEPTH), "--write-depth", str(_FLOOR_DEPTH)]
        self._output.unlink(missing_ok=True)
        found = run_cold([str(self._programs.replay), str(trace), *files, *pace], self._directory, {}, cell.memory_bytes)
        return found.wall_s

    def _sort(self, cell: Cell) -> Document:
        self._output.unlink(missing_ok=True)
        stats = self._directory / "stats.json"
        words = ["--stats", str(stats), "--progress", "none", "--quiet", str(self._input), "-o", str(self._output)]
        command = [str(self._programs.ecosort), "sort", *self._options(cell), *words]
        found = self._programs.measure_sort(command, self._directory, cell.memory_bytes, self._output, self._checksum)
        report = json.loads(stats.read_text())
        del report["host"]  # the name of a machine is its owner's affair
        return {
            "wall_s": found.wall_s,
            "cpu_s": found.cpu_s,
            "is_cold": found.is_cold,
            "bytes_moved": report["bytes_read"] + report["bytes_written"],
            "peak_temp_bytes": report["peak_temp_bytes"],
            "stats": report,
        }

    def measure(self, cell: Cell, turn: int) -> Document:
        """A sort and its floor, cold, one after the other; who begins changes, but for a first sort that compresses, which shows
        what its floor moves.
        """
        self._make_input(cell.records)
        plan = self.plan(cell)
        is_known = self._codec == "none" or cell in self._stored
        first = self._floor(cell, plan) if turn % 2 == 0 and is_known else None
        found = self._sort(cell)
        if self._codec != "none":
            self._stored[cell] = found["bytes_moved"] // 2 - cell.records * RECORD_BYTES
        floor = first if first is not None else self._floor(cell, plan)
        self._output.unlink(missing_ok=True)
        return {"records": cell.records, "memory_bytes": cell.memory_bytes, "round": turn, "floor_s": floor, **found}


def fitted(profile: Profile, training: Sequence[Mapping[str, Any]]) -> Profile:
    """The profile with models of these runs; their CPU time is that of the whole process."""
    runs = [from_stats({**r["stats"], "cpu_user_s": r["cpu_s"], "cpu_system_s": 0.0, "wall_s": r["wall_s"]}) for r in training]
    return with_models(profile, Evidence(runs, []))


def floor_ratios(bench: Bench, profile: Path, training: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """By shape of the plan, of which there are several kinds of requests: the measured floor over that of the profile's rates."""
    found: dict[str, list[float]] = {}
    for run in training:
        plan = bench.plan(Cell(run["records"], run["memory_bytes"]), profile)
        found.setdefault(plan["shape"], []).append(run["floor_s"] / floor_s(prediction_of(plan)))
    return {shape: median(values) for shape, values in found.items()}


def predict(bench: Bench, profile: Path, cells: Sequence[Cell], ratios: dict[str, float]) -> list[Document]:
    """Returns what `ecosort plan` predicts for each cell. A shape that no training run had takes the ratio of the others."""
    found = []
    for cell in cells:
        plan = bench.plan(cell, profile)
        ratios.setdefault(plan["shape"], median(ratios.values()))
        cell_of = {"records": cell.records, "memory_bytes": cell.memory_bytes, "shape": plan["shape"]}
        found.append({**cell_of, "prediction": prediction_of(plan)})
    return found


class Clock:
    """A budget of measuring time."""

    def __init__(self, budget_s: float, now: Callable[[], float]) -> None:
        self._now, self._end = now, now() + budget_s
        self._pair_s: dict[int, float] = {}

    def allows(self, records: int) -> bool:
        """Returns whether one more pair of this size will most probably end in time."""
        guess = self._pair_s.get(records, _GUESS_S_PER_GB * records * RECORD_BYTES / 1e9)
        return self._now() + guess <= self._end

    def timed(self, records: int, work: Callable[[], Document]) -> Document:
        begin = self._now()
        found = work()
        self._pair_s[records] = max(self._now() - begin, self._pair_s.get(records, 0.0))
        return found


def measure(
    bench: Bench, missing: Sequence[Turn], document: Document, clock: Clock, save: Callable[[], None], say: Callable[[str], None]
) -> bool:
    """Adds the missing runs to the lists of the document; False if the budget ended before."""
    for turn in missing:
        cell = turn.cell
        if not clock.allows(cell.records):
            return False
        run = clock.timed(cell.records, lambda turn=turn: bench.measure(turn.cell, turn.round))  # type: ignore[misc]
        document[turn.grid].append(run)
        save()
        say(
            f"round {turn.round + 1}, {turn.grid}: {cell.records / 1e7:g} GB, {cell.memory_bytes >> 20} MiB: "
            f"{run['wall_s']:.2f} s, floor {run['floor_s']:.2f} s, CPU {run['cpu_s']:.2f} s"
        )
    return True


def profile_of(document: Mapping[str, Any]) -> Profile:
    return decode(Profile, document["profile"], "profile")
