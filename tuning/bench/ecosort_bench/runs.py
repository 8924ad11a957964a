"""Runs contenders one after the other, and keeps what each took."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ecosort_measure.cold_run import Measured, run_cold
from ecosort_measure.floor_trace import DEPTHS
from ecosort_measure.results import Results
from ecosort_power.errors import RunError
from ecosort_power.records import RECORD_BYTES
from ecosort_power.validate import parse_report

from ecosort_bench.agreement import Agreement
from ecosort_bench.contenders import MAKES_SORTED_OUTPUT, WORKS_IN_OUTPUT, Contenders, Work
from ecosort_bench.inputs import make_input
from ecosort_bench.schedule import Slot, schedule

Say = Callable[[str], None]


class Bench:
    """Holds what all stages of a benchmark use. `directory` holds all data and is on the drive to measure."""

    def __init__(self, programs: Contenders, results: Results, directory: Path, say: Say) -> None:
        self.programs, self.results, self.directory, self.say = programs, results, directory, say
        settings = results.data["settings"]
        self.records: int = settings["records"]
        temp = directory / "temp"
        temp.mkdir(parents=True, exist_ok=True)
        self.work = Work(
            input=directory / "uniform",
            output=directory / "output",
            temp=temp,
            memory_bytes=settings["memory_bytes"],
            threads=settings["threads"],
            trace=directory / "sort.trace",
            floor_trace=directory / "floor.trace",
            floor_depth=DEPTHS[0],
            floor_reserve=True,
            read_depth=1,
            write_depth=1,
            stats=directory / "stats.json",
        )

    # Preparation

    def slots_left(self, stage: str, quotas: dict[str, int]) -> list[Slot]:
        """Returns the runs of a stage that the results do not have yet."""
        return [slot for slot in schedule(quotas) if self.results.find(stage, slot.round, slot.contender) is None]

    def input(self, kind: str, records: int) -> str:
        """Makes the input unless an earlier stage has; its checksum."""
        path = self.directory / kind
        checksums: dict[str, str] = self.results.data["input_checksums"]
        if kind not in checksums or not path.exists() or path.stat().st_size != records * RECORD_BYTES:
            self.say(f"making {records} {kind} records")
            checksums[kind] = make_input(self.programs, kind, records, path, self.work.memory_bytes)
            self.results.save()
        return checksums[kind]

    def make_lines(self, kind: str, size: int, path: Path) -> None:
        self.programs.call(self.programs.tool("make_lines"), kind, str(size), path)
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def roomy_memory(self) -> int:
        return max(self.work.memory_bytes, 1 << 30)

    def agreement(self, stage: str, what: str) -> Agreement:
        """Counts the outputs that the results have, those before --continue too."""
        known = (run["checksum"] for run in self.results.runs if run["stage"] == stage and run["checksum"])
        return Agreement(stage, what, next(known, None))

    # Runs

    def run_cold(self, command: list[str], environment: dict[str, str] | None = None) -> Measured:
        return run_cold(command, self.directory, environment or {}, self.work.memory_bytes)

    def measure(self, contender: str, work: Work) -> Measured:
        work.output.unlink(missing_ok=True)
        if contender in WORKS_IN_OUTPUT:
            shutil.copyfile(work.input, work.output)
        command, environment = self.programs.command(contender, work)
        return self.run_cold(command, environment)

    def run(self, stage: str, slot: Slot, contender: str, work: Work, checksum: str) -> None:
        measured = self.measure(contender, work)
        stats = json.loads(work.stats.read_text()) if contender in ("ecosort", "inplace") else None
        found_checksum: str | None = None
        if contender == "check" and (found := parse_report(measured.stdout + measured.stderr, 0).checksum) != checksum:
            raise RunError(f"the checker found checksum {found}, the input has {checksum}")
        if contender == "gen" and work.output.stat().st_size != self.records * RECORD_BYTES:
            raise RunError(f"the generator made {work.output.stat().st_size} bytes")
        if contender in MAKES_SORTED_OUTPUT:
            found_checksum = self.programs.checksum(work.output)
            if found_checksum != checksum:
                raise RunError(f"{contender} changed the records: checksum {found_checksum}, the input has {checksum}")
        work.output.unlink(missing_ok=True)
        self.keep(stage, slot, measured, {"stats": stats, "checksum": found_checksum})

    def keep(self, stage: str, slot: Slot, measured: Measured, extra: dict[str, Any]) -> None:
        run: dict[str, Any] = {"stage": stage, "round": slot.round, "contender": slot.contender, **asdict(measured), **extra}
        for stream in ("stdout", "stderr"):  # without the paths of this machine
            run[stream] = run[stream].replace(str(self.directory), "DIR").strip()[-300:]
        self.results.runs.append(run)
        self.results.save()
        self.say(f"{stage} round {slot.round + 1}: {slot.contender} {measured.wall_s:.2f} s, CPU {measured.cpu_s:.2f} s")

    def remove_data(self) -> None:
        shutil.rmtree(self.directory)
