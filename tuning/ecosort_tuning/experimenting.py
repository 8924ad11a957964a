"""`ecosort-tune experiment`: from its options to a figure."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from ecosort_bench.measure import RunFailedError, run_cold

from ecosort_tuning.errors import EXIT_OK, RunError, UsageError
from ecosort_tuning.experiment import Timing, experiments, measure, write_figure
from ecosort_tuning.machine import this_machine
from ecosort_tuning.search.sorter import Place, RealSorter, records_of
from ecosort_tuning.search.task import check_place, sorter_program
from ecosort_tuning.sizes import size_text


class TimedSorter(RealSorter):
    """Asks the sorter for its phases as well."""

    def time(self, settings: Mapping[str, str]) -> Timing:
        place = self._place
        stats = place.directory / "stats.json"
        place.output.unlink(missing_ok=True)
        command = [*self._command(settings), "--stats", str(stats)]
        try:
            found = run_cold(command, place.directory, {})
            checksum = self._programs.checksum(place.output)
        except (RunFailedError, RuntimeError) as error:
            raise RunError(str(error)) from error
        if checksum != self._checksum:
            raise RunError(f"the output of {' '.join(command)} holds other records than the input")
        phases = {p["name"]: p["end_s"] - p["begin_s"] for p in json.loads(stats.read_text())["phases"]}
        formation = phases.get("run_formation", phases.get("read_and_sort", 0.0))
        merge = phases.get("merge", 0.0) + phases.get("intermediate_merge", 0.0)
        return Timing(found.wall_s, found.cpu_user_s + found.cpu_system_s, formation, merge)


def experiment_and_tell(given: Mapping[str, Any]) -> int:
    place: Path = given["dir"]
    check_place(place, given["size"])
    chosen = experiments(len(os.sched_getaffinity(0)), given["memory"])[given["name"]]
    if len(chosen.values) < 2:
        raise UsageError(f"{chosen.name}: this machine has one value only, {chosen.values[0]}")
    data = place / f"ecosort-experiment-{os.getpid()}"
    data.mkdir()
    try:
        sorter = TimedSorter(sorter_program(), Place(data, records_of(given["size"]), given["memory"]))
        rows = measure(chosen, sorter, given["rounds"], lambda text: click.echo(text, err=True))
    finally:
        shutil.rmtree(data, ignore_errors=True)
    machine = this_machine()
    sizes = f"{given['size'] / 1e9:g} GB with {size_text(given['memory'])}"
    text = write_figure(
        given["out"], chosen, rows, f"{sizes}; {machine.processor}, {machine.cpus} CPUs; {given['rounds']} rounds."
    )
    click.echo(text)
    click.echo(f"figure: {given['out'] / chosen.name}.png, .csv, .md")
    return EXIT_OK
