"""What the search measures: one cold, validated sort of the real program."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ecosort_bench.measure import RunFailedError, run_cold
from ecosort_bench.programs import ANY_RECORDS, NEUTRAL, RECORD_BYTES, Programs, find_checksum
from ecosort_power.store import ResultDirectory
from ecosort_power.transports.process import spawn, stop

from ecosort_tuning.errors import RunError, UsageError
from ecosort_tuning.search.knobs import Settings, given

_LEAST_RUN_RECORDS = 1000  # smaller ones only make work


@dataclass(frozen=True, slots=True)
class Outcome:
    """`seconds` from the start of the process until the output is on stable storage."""

    seconds: float
    cpu_s: float
    joules: float | None = None


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
        self._programs, self._place, self._meter, self._config = Programs(program.parent), place, meter, config
        self._program = program
        self._measured = 0
        try:
            done = self._programs.run("gen", "-a", "-c", str(place.records), place.input)
        except (OSError, RuntimeError) as error:
            raise RunError(f"the input cannot be made: {error}") from error
        self._checksum = find_checksum(done)

    def close(self) -> None:
        for path in (self._place.input, self._place.output):
            path.unlink(missing_ok=True)

    def _memory_of(self, settings: Settings) -> int:
        return int(given(settings).get("--memory", f"{self._place.memory_bytes}B").removesuffix("B"))

    def _command(self, settings: Settings) -> list[str]:
        place = self._place
        chosen = {"--temp": str(place.directory), **given(settings), "--memory": f"{self._memory_of(settings)}B"}
        options = [word for option, value in chosen.items() for word in (option, value)] + list(NEUTRAL)
        return [str(self._program), "sort", *options, "--progress", "none", "--quiet", str(place.input), "-o", str(place.output)]

    def measure(self, settings: Settings) -> Outcome:
        self._place.output.unlink(missing_ok=True)
        try:
            outcome = self._timed(settings) if self._meter is None else self._metered(settings, self._meter)
            checksum = self._programs.checksum(self._place.output)
        except (RunFailedError, RuntimeError) as error:
            raise RunError(str(error)) from error
        if checksum != self._checksum:
            raise RunError(f"the output of {' '.join(self._command(settings))} holds other records than the input")
        self._place.output.unlink()
        return outcome

    def _timed(self, settings: Settings) -> Outcome:
        found = run_cold(self._command(settings), self._place.directory, {}, self._memory_of(settings))
        for left in ("stdout.txt", "stderr.txt"):
            (self._place.directory / left).unlink(missing_ok=True)
        return Outcome(found.wall_s, found.cpu_user_s + found.cpu_system_s)

    @property
    def metered_result(self) -> Path:
        """Result directory of the last run with a meter."""
        return self._place.directory / f"power-{self._measured:03d}"

    def _metered(self, settings: Settings, meter: str) -> Outcome:
        """By ecosort-power, whose window is the same; it judges whether the energy holds."""
        self._measured += 1
        result = self.metered_result
        words = ["--meter", meter, "--runs", "1", "--cold", "--no-validate", "--out", str(result)]
        words += ["--idle", "2", "--pause", "1", "--settle", "5"]
        words += ["--config", self._config] if self._config else []
        words += ["--input", str(self._place.input), "--records", str(self._place.records)]
        said = _call([sys.executable, "-m", "ecosort_power", "run", *words, "--", *self._command(settings)])
        directory = ResultDirectory(result)
        head = directory.session().headline
        done = directory.runs()
        if not done:
            raise RunError(f"ecosort-power measured nothing: {said}")
        run = done[0]
        energy = run.energy_of(head)
        if not run.valid or energy is None or energy.joules is None:
            why = "; ".join(d.text for d in run.all_defects() if d.fatal) or run.energy_reason or said
            raise RunError(f"the meter gave no valid energy: {why}")
        return Outcome(run.marks.seconds, run.cpu_user_s + run.cpu_system_s, energy.joules)


def _call(words: Sequence[str]) -> str:
    """What it said on standard error. Exit code 1 is a result that does not hold; why is read from it."""
    child = spawn(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _, err = child.communicate()
    except BaseException:
        stop(child)
        raise
    text = err.decode(errors="replace").strip()[-300:]
    if child.returncode not in (0, 1):
        raise RunError(text)
    return text


def usable_backends(program: Path, place: Path) -> list[str]:
    """Those that sort a few records here."""
    found = []
    small, out = place / "few", place / "few.sorted"
    run: Callable[..., subprocess.CompletedProcess[bytes]] = subprocess.run
    run([str(program), "gen", "-a", "100", str(small)], check=True, capture_output=True)
    for backend in ("uring", "pool", "stxxl"):
        done = run(
            [str(program), "sort", *NEUTRAL, "--quiet", "--io", backend, str(small), "-o", str(out)],
            check=False,
            capture_output=True,
        )
        if done.returncode == 0:
            found.append(backend)
        out.unlink(missing_ok=True)
    small.unlink()
    return found


def smaller_runs(program: Path, place: Path, records: int, memory_bytes: int) -> list[int]:
    """An eighth, a quarter and a half of the records of the default runs; none where all records stay in memory."""
    empty = place / "size-only"
    try:
        with empty.open("wb") as file:  # a plan asks for its size alone
            file.truncate(records * RECORD_BYTES)
        words = ("--json", "--memory", f"{memory_bytes}B", "--temp", place, empty, "-o", place / "nothing")
        plan = json.loads(Programs(program.parent).run("plan", "sort", *NEUTRAL, *ANY_RECORDS, *words))
    except RuntimeError as error:
        raise UsageError(str(error)) from error
    finally:
        empty.unlink(missing_ok=True)
    default = int(plan["run_records"])
    parts = [default // part for part in (8, 4, 2)] if plan["stored_runs"] else []
    return [n for n in parts if n >= _LEAST_RUN_RECORDS]


def records_of(size_bytes: int) -> int:
    return max(1, size_bytes // RECORD_BYTES)
