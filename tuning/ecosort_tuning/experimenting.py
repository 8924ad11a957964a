"""`ecosort-tune experiment`: from its options to a figure."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from ecosort_measure.sizes import size_text
from ecosort_power.planned import NEUTRAL

from ecosort_tuning import filling
from ecosort_tuning.errors import EXIT_OK, RunError, UsageError
from ecosort_tuning.experiment import SIZE, Timing, experiments, measure, write_figure
from ecosort_tuning.figure import KINDS
from ecosort_tuning.loop_drive import fill, loop_drive
from ecosort_tuning.machine import this_machine
from ecosort_tuning.place import check_place, scratch, sorter_program
from ecosort_tuning.search.sorter import Outcome, Place, RealSorter, records_of
from ecosort_tuning.show import say

_COPY_BYTES = 4 << 20
_ROOM = 1.1  # of a file system for its data: inodes, journal


def timing_of(outcome: Outcome, stats: Path) -> Timing:
    """With the phases that the sorter told."""
    phases: dict[str, float] = {}
    for phase in json.loads(stats.read_text())["phases"]:
        phases[phase["name"]] = phases.get(phase["name"], 0.0) + phase["end_s"] - phase["begin_s"]
    formation = phases.get("run_formation", phases.get("read_and_sort", 0.0))
    merge = phases.get("merge", 0.0) + phases.get("intermediate_merge", 0.0)
    return Timing(outcome.seconds, outcome.cpu_s, formation, merge, outcome.joules, outcome.simulated)


class TimedSorter(RealSorter):
    """Asks the sorter for its phases as well. Of several sizes each is a beginning of the input."""

    def time(self, settings: Mapping[str, str]) -> Timing:
        words = dict(settings)
        if (size := words.pop(SIZE, None)) is not None:
            self._place.input.unlink(missing_ok=True)
            self._checksum = self._programs.generate(records_of(int(size.removesuffix("B"))), self._place.input)
        if self._meter is not None:  # ecosort-power asks for the report itself
            return timing_of(self.measure(words), self.metered_result / "runs" / "01" / "stats.json")
        stats = self._place.directory / "stats.json"
        return timing_of(self.measure({**words, "--stats": str(stats)}), stats)


class LoopFiller(RealSorter):
    """Sorts copies of the input on a file system in a file that is filled before."""

    def __init__(self, program: Path, place: Place, drive: Path) -> None:
        super().__init__(program, place)
        self._drive = drive

    def _copy(self) -> Path:
        copy = self._drive / "data"
        with self._place.input.open("rb") as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target, _COPY_BYTES)
            target.flush()
            os.fsync(target.fileno())
        return copy

    def _words(self, kind: str, data: Path, stats: Path) -> list[str]:
        options = ["--memory", f"{self._place.memory_bytes}B", *NEUTRAL, "--progress", "none", "--quiet", "--stats", str(stats)]
        if kind == filling.IN_PLACE:
            return ["inplace", *options, str(data)]
        return ["sort", *options, "--temp", str(self._drive), str(data), "-o", str(self._drive / "sorted")]

    def time(self, kind: str, degree: float) -> Timing | None:
        data, stats = self._copy(), self._place.directory / "stats.json"
        try:
            fill(self._drive, degree)
            return self._run(kind, data, stats)
        finally:
            for left in (data, self._drive / "sorted", self._drive / "ballast"):
                left.unlink(missing_ok=True)

    def _run(self, kind: str, data: Path, stats: Path) -> Timing | None:
        command = [str(self._programs.ecosort), *self._words(kind, data, stats)]
        output = data if kind == filling.IN_PLACE else self._drive / "sorted"
        try:
            found = self._programs.measure_sort(command, self._drive, self._place.memory_bytes, output, self._checksum)
        except RunError as error:
            if "exit code 2" in str(error) and " free" in str(error):
                return None
            raise
        return timing_of(Outcome(found.wall_s, found.cpu_s), stats)


def _fill(given: Mapping[str, Any], data: Path) -> Sequence[filling.Point]:
    capacity = int(given["size"] * filling.CAPACITY * _ROOM)
    with loop_drive(data, capacity) as drive:
        filler = LoopFiller(sorter_program(), Place(data, records_of(given["size"]), given["memory"]), drive)
        return filling.measure(filler, filling.DEGREES, given["rounds"], say)


def _draw(name: str, given: Mapping[str, Any], data: Path, circumstances: str) -> str:
    if name == "fill":
        return filling.write_figure(given["out"], _fill(given, data), circumstances)
    chosen = experiments(len(os.sched_getaffinity(0)), given["memory"], given["size"])[name]
    if len(chosen.values) < 2:
        raise UsageError(f"{chosen.name}: this machine has one value only, {chosen.values[0]}")
    sorter = TimedSorter(sorter_program(), Place(data, records_of(given["size"]), given["memory"]), given["meter"])
    return write_figure(given["out"], chosen, measure(chosen, sorter, given["rounds"], say), circumstances)


def _draw_and_tell(name: str, given: Mapping[str, Any], circumstances: str) -> None:
    with scratch(given["dir"], "experiment") as data:
        text = _draw(name, given, data, circumstances)
    click.echo(text)
    kinds = ", ".join(f".{kind}" for kind in (*KINDS, "csv", "md"))
    click.echo(f"figure: {given['out'] / name} ({kinds})")


def experiment_and_tell(given: Mapping[str, Any]) -> int:
    names: Sequence[str] = list(dict.fromkeys(given["names"]))
    if given["meter"] and names == ["fill"]:
        raise UsageError("fill takes no --meter: what is metered must be on the drive that the meter sees alone")
    check_place(given["dir"], given["size"] * (2 if "fill" in names else 1))
    if given["meter"] and "fill" in names:
        say("fill is not metered: what is metered must be on the drive that the meter sees alone")
    machine = this_machine()
    sizes = f"{given['size'] / 1e9:g} GB with {size_text(given['memory'])}"
    circumstances = f"{sizes}; {machine.processor}, {machine.cpus} CPUs; {given['rounds']} rounds."
    for name in names:
        _draw_and_tell(name, given, circumstances)
    return EXIT_OK
