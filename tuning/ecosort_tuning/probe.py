"""Measures this machine: drives in the directories that will really be used, and the sorter's computations."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ecosort_power.host import mount_of

from ecosort_tuning import __version__, fio
from ecosort_tuning.errors import RunError, UsageError
from ecosort_tuning.fio import ENGINES, Cell, Engine, Sample
from ecosort_tuning.judge import doubts, doubts_of_processors, rate_of
from ecosort_tuning.kernels import NOT_BUILT, find_costs, measure_kernels
from ecosort_tuning.machine import MachineIdentity, processor_wait_s
from ecosort_tuning.profile import MODES, SCHEMA, Drive, Kernels, Profile

# All that a probe leaves while it runs, with the number of its process: what a killed one left is removed by the next.
_PREFIX = ".ecosort-probe-"
_SPACE_FACTOR = 1.05
_MERGED_RUNS = 64
_KERNEL_CALLS = 3

Measure = Callable[[Cell, Engine, Path, int, float], Sample]
Advance = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """`places`: role and directory of each drive. Repetitions go round all cells, so that drift shows as their spread."""

    places: tuple[tuple[str, Path], ...]
    blocks_bytes: tuple[int, ...] = (256 << 10, 1 << 20, 4 << 20)
    depths: tuple[int, ...] = (1, 4, 16)
    seconds: float = 1.5
    repetitions: int = 3
    file_bytes: int = 2 << 30
    costs: Path | None = None
    kernels: bool = True

    @property
    def cells(self) -> list[Cell]:
        return [Cell(mode, block, depth) for mode in MODES for block in self.blocks_bytes for depth in self.depths]

    @property
    def steps(self) -> int:
        """Counts the steps of the progress bar: measurements of all drives, the file of each, the kernels."""
        return len(self.places) * (1 + len(self.cells) * self.repetitions) + int(self.kernels)


def places(temp: Sequence[Path], output: Path | None) -> tuple[tuple[str, Path], ...]:
    """Each directory once. UsageError for what is no directory, or is memory."""
    found: dict[Path, str] = {}
    for role, directory in [*(("temp", d) for d in temp), *([("output", output)] if output else [])]:
        if not directory.is_dir():
            raise UsageError(f"{directory} is no directory")
        if mount_of(directory).in_memory:
            raise UsageError(f"{directory} is memory ({mount_of(directory).file_system}), not a drive")
        found.setdefault(directory.resolve(), role)
    return tuple((role, directory) for directory, role in found.items())


def _remove_leftovers(directory: Path) -> None:
    for left in directory.glob(_PREFIX + "*"):
        pid = left.name.removeprefix(_PREFIX)
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(left, ignore_errors=True)


@contextlib.contextmanager
def _probe_file(directory: Path, file_bytes: int) -> Iterator[Path]:
    """A place for the file; it and its directory are gone afterwards."""
    _remove_leftovers(directory)
    free = shutil.disk_usage(directory).free
    if free < file_bytes * _SPACE_FACTOR:
        raise UsageError(
            f"{directory}: {free / 1e9:.1f} GB are free, the probe needs {file_bytes * _SPACE_FACTOR / 1e9:.1f}: --file-size"
        )
    own = directory / f"{_PREFIX}{os.getpid()}"
    own.mkdir()
    try:
        yield own / "data"
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _make_file(file: Path, file_bytes: int) -> None:
    """Written out, so that no read finds a hole."""
    block = os.urandom(1 << 20)
    with file.open("wb") as out:
        for begin in range(0, file_bytes, len(block)):
            out.write(block[: file_bytes - begin])
        out.flush()
        os.fsync(out.fileno())
        os.posix_fadvise(out.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _choose_engine(file: Path, file_bytes: int, measure: Measure) -> Engine:
    """The first that works here: direct I/O and io_uring are refused on some systems."""
    refused = ""
    for engine in ENGINES:
        try:
            measure(Cell("read", 1 << 20, 1), engine, file, file_bytes, 0.1)
        except RunError as error:
            refused = str(error)
            continue
        return engine
    raise RunError(f"{file.parent.parent} cannot be measured: {refused}")


def probe_drive(role: str, directory: Path, options: ProbeOptions, advance: Advance, measure: Measure) -> tuple[Drive, list[str]]:
    """The rates of one drive, and the doubts about them."""
    with _probe_file(directory, options.file_bytes) as file:
        _make_file(file, options.file_bytes)
        engine = _choose_engine(file, options.file_bytes, measure)
        advance(f"{directory}: file of {options.file_bytes / 1e9:.1f} GB made")
        samples: dict[Cell, list[Sample]] = {cell: [] for cell in options.cells}
        for _ in range(options.repetitions):
            for cell, own in samples.items():
                own.append(measure(cell, engine, file, options.file_bytes, options.seconds))
                advance(f"{directory}: {cell.mode} {cell.block_bytes >> 10} KiB, depth {cell.depth}")
    mount = mount_of(directory)
    rates = [rate_of(cell, own) for cell, own in samples.items()]
    drive = Drive(role, str(directory), mount.device, mount.file_system, engine.name, engine.direct, options.file_bytes, rates)
    return drive, doubts(str(directory), engine, samples)


def _kernels(options: ProbeOptions, advance: Advance) -> tuple[Kernels | None, dict[str, str]]:
    if not options.kernels:
        return None, {"kernels": "left out by --no-kernels"}
    program = find_costs(options.costs)
    found = measure_kernels(program, _MERGED_RUNS, _KERNEL_CALLS) if program else None
    advance("kernels")
    return found, {} if found else {"kernels": NOT_BUILT}


def _wait_between(before_s: float | None, after_s: float | None) -> float | None:
    return after_s - before_s if before_s is not None and after_s is not None else None


def run_probe(
    options: ProbeOptions,
    machine: MachineIdentity,
    advance: Advance,
    measure: Measure = fio.measure,
    waited_s: Callable[[], float | None] = processor_wait_s,
) -> Profile:
    """Everything that can be measured here, as a profile; `advance` is called once per step with what was done."""
    drives, warnings = [], []
    begin_s, waited_before_s = time.monotonic(), waited_s()
    for role, directory in options.places:
        drive, found = probe_drive(role, directory, options, advance, measure)
        drives.append(drive)
        warnings += found
    warnings += doubts_of_processors(_wait_between(waited_before_s, waited_s()), time.monotonic() - begin_s)
    kernels, absent = _kernels(options, advance)
    absent |= {
        "power": "no measured runs: ecosort-tune fit",
        "time": "no runs: ecosort-tune fit",
        "cpu": "no runs: ecosort-tune fit",
    }
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return Profile(SCHEMA, created, __version__, machine, drives, kernels, warnings=warnings, absent=absent)
