"""The search measures one cold, validated sort of the real program."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ecosort_measure.cold_run import run_cold
from ecosort_measure.programs import Programs
from ecosort_power.claim import is_simulated
from ecosort_power.planned import NEUTRAL, plan_of
from ecosort_power.records import RECORD_BYTES
from ecosort_power.store import ResultDirectory
from ecosort_power.transports.process import run_to_end

from ecosort_tuning.errors import RunError
from ecosort_tuning.search.knobs import Settings, given

WAITS = ("--idle", "2", "--pause", "1", "--settle", "5")  # before a run with a meter
_LEAST_RUN_RECORDS = 1000  # smaller ones only make work


@dataclass(frozen=True, slots=True)
class Outcome:
    """`seconds` from the start of the process until the output is on stable storage."""

    seconds: float
    cpu_s: float
    joules: float | None = None
    simulated: bool = False  # the joules were computed, not measured


class Sorter(Protocol):
    def measure(self, settings: Settings) -> Outcome:
        """One cold run, its output validated. RunError where it fails."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """A directory on the drive to measure, and what is sorted there."""

    directory: Path
    records: int
    memory_bytes: int

    @property
    def input(self) -> Path:
        return self.directory / "input"

    @property
    def output(self) -> Path:
        return self.directory / "output"


class RealSorter:
    """`ecosort sort` on generated records; the files are made with it and removed by close()."""

    def __init__(self, program: Path, place: Place, meter: str | None = None, config: str | None = None) -> None:
        place = replace(place, directory=place.directory.resolve())  # runs begin there
        self._programs, self._place, self._meter, self._config = Programs(program), place, meter, config
        self._measured = 0
        self.simulated = False  # joules of a run so far were computed, not measured
        self._checksum = self._programs.generate(place.records, place.input)

    def close(self) -> None:
        for path in (self._place.input, self._place.output):
            path.unlink(missing_ok=True)

    def _memory_of(self, settings: Settings) -> int:
        return int(given(settings).get("--memory", f"{self._place.memory_bytes}B").removesuffix("B"))

    def _command(self, settings: Settings) -> list[str]:
        place = self._place
        chosen = {"--temp": str(place.directory), **given(settings), "--memory": f"{self._memory_of(settings)}B"}
        options = [word for option, value in chosen.items() for word in (option, value)] + list(NEUTRAL)
        files = [str(place.input), "-o", str(place.output)]
        return [str(self._programs.ecosort), "sort", *options, "--progress", "none", "--quiet", *files]

    def measure(self, settings: Settings) -> Outcome:
        self._place.output.unlink(missing_ok=True)
        outcome = self._timed(settings) if self._meter is None else self._metered(settings, self._meter)
        self._programs.require_records(self._place.output, self._checksum, self._command(settings))
        self._place.output.unlink()
        return outcome

    def _timed(self, settings: Settings) -> Outcome:
        found = run_cold(self._command(settings), self._place.directory, {}, self._memory_of(settings))
        for left in ("stdout.txt", "stderr.txt"):
            (self._place.directory / left).unlink(missing_ok=True)
        return Outcome(found.wall_s, found.cpu_s)

    @property
    def metered_result(self) -> Path:
        """Result directory of the last run with a meter."""
        return self._place.directory / f"power-{self._measured:03d}"

    def _metered(self, settings: Settings, meter: str) -> Outcome:
        """By ecosort-power, whose window is the same; it judges whether the energy holds."""
        self._measured += 1
        result = self.metered_result
        words = ["--meter", meter, "--runs", "1", "--cold", "--no-validate", "--out", str(result)]
        words += WAITS
        words += ["--config", self._config] if self._config else []
        words += ["--input", str(self._place.input), "--records", str(self._place.records)]
        # Exit code 1 is a result that does not hold; why is read from it.
        code, _, said = run_to_end([sys.executable, "-m", "ecosort_power", "run", *words, "--", *self._command(settings)])
        if code not in (0, 1):
            raise RunError(said.strip()[-300:])
        directory = ResultDirectory(result)
        session = directory.session()
        head = session.headline
        done = directory.runs()
        if not done:
            raise RunError(f"ecosort-power measured nothing: {said.strip()[-300:]}")
        run = done[0]
        energy = run.energy_of(head)
        if not run.valid or energy is None or energy.joules is None:
            why = "; ".join(d.text for d in run.all_defects() if d.fatal) or run.energy_reason or said.strip()[-300:]
            raise RunError(f"the meter gave no valid energy: {why}")
        simulated = is_simulated(session)
        self.simulated = self.simulated or simulated
        return Outcome(run.marks.seconds, run.cpu_user_s + run.cpu_system_s, energy.joules, simulated)


def usable_backends(program: Path, place: Path) -> list[str]:
    """Returns the backends that sort a few records here."""
    found, programs = [], Programs(program)
    small, out = place / "few", place / "few.sorted"
    programs.generate(100, small)
    for backend in ("uring", "pool", "stxxl"):
        with contextlib.suppress(RunError):
            programs.run("sort", *NEUTRAL, "--quiet", "--io", backend, small, "-o", out)
            found.append(backend)
        out.unlink(missing_ok=True)
    small.unlink()
    return found


def smaller_runs(program: Path, place: Path, records: int, memory_bytes: int) -> list[int]:
    """An eighth, a quarter and a half of the records of the default runs; none where all records stay in memory."""
    plan = plan_of(records, place / "nothing", (*NEUTRAL, "--memory", f"{memory_bytes}B", "--temp", str(place)), program)
    default = int(plan["run_records"])
    parts = [default // part for part in (8, 4, 2)] if plan["stored_runs"] else []
    return [n for n in parts if n >= _LEAST_RUN_RECORDS]


def records_of(size_bytes: int) -> int:
    return max(1, size_bytes // RECORD_BYTES)
