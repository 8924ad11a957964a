"""Small boxes that no one has here, as a model: how long their processors and links would take for a class of JouleSort, and at
how many watts they would reach its best result.

A processor takes the instructions of a record (counted under qemu-user), at as many a cycle as llvm-mca predicts for the kernels
of records, times the factor by which this machine takes longer than its own model says: it waits for memory, and runs the system.
That needs a machine whose processor llvm-mca has a model of.
A link takes two passes, each of which reads and writes all bytes at the same time.
"""

import os
import random
import re
import resource
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from click import ClickException
from ecosort_power.joulesort.predict import best_of
from ecosort_power.records import E9, E10, RECORD_BYTES

_PASSES = 2
WORDS = ("sort", "--record-size", "100", "--key", "0:10", "--memory", "64MiB", "--threads", "1", "--no-profile", "--quiet")
_HERE = 4_000_000  # records of the larger one of two sorts that are measured here
_PIECES = 10
# LLVM has numbers of these processors with AVX2; it gives others those of a processor that is like them or not.
MODELLED = (
    *("haswell", "broadwell", "skylake", "skylake-avx512", "cascadelake", "icelake-server", "alderlake", "sapphirerapids"),
    *("znver1", "znver2", "znver3", "znver4"),
)


@dataclass(frozen=True)
class Box:
    """`link_gb_s`: what the slot of the drive lets through in one direction, without its headers."""

    name: str
    level: str
    processor: str
    ghz: float
    cores: int
    link_gb_s: float


BOXES = (
    Box("Raspberry Pi 5, PCIe 2.0 x1", "neon", "cortex-a76", 2.4, 4, 0.43),
    Box("Raspberry Pi 5, PCIe 3.0 x1", "neon", "cortex-a76", 2.4, 4, 0.85),
    Box("RK3588, its four A76, PCIe 3.0 x4", "neon", "cortex-a76", 2.3, 4, 3.4),
    Box("Neoverse N1 of a server, PCIe 4.0 x4", "neon", "neoverse-n1", 2.6, 4, 6.8),
    Box("N100, PCIe 3.0 x2", "avx2", "gracemont", 2.9, 4, 1.7),
)


@dataclass(frozen=True)
class Here:
    """This machine: its processor as LLVM names it, the rate at which it computes, and what a record takes."""

    processor: str
    ghz: float
    record_s: float


@dataclass(frozen=True)
class Counted:
    """Instructions of a record by level, and instructions a cycle by (level, processor)."""

    instructions: Mapping[str, float]
    per_cycle: Mapping[tuple[str, str], float]

    def seconds(self, level: str, processor: str, ghz: float) -> float:
        """Returns those of one record on one core, if it never waited."""
        return self.instructions[level] / self.per_cycle[level, processor] / ghz / 1e9


def measured_here(program: Path, directory: Path, words: tuple[str, ...]) -> float:
    """Processor seconds of a record on this machine, with AVX2: by which two sorts differ, each the least of three."""
    seconds = []
    for count in (_HERE // 2, _HERE):
        values = random.Random(1)
        with (directory / "in").open("wb") as file:  # in pieces: Python makes no 2^31 random bits at once
            for _ in range(_PIECES):
                file.write(values.randbytes(RECORD_BYTES * count // _PIECES))
        tries = [_cpu_seconds([program, *words, directory / "in", "-o", directory / "out"]) for _ in range(3)]
        seconds.append(min(tries))
    return (seconds[1] - seconds[0]) / (_HERE / 2)


def _cpu_seconds(command: list[str | Path]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env={**os.environ, "ECOSORT_CPU": "avx2"}, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def processor_here(version: str) -> str:
    """Returns it from what `llvm-mca --version` says; ClickException where there is no model of it."""
    found = re.search(r"^\s*Host CPU: (\S+)", version, re.MULTILINE)
    name = found[1] if found else "a processor that it does not know"
    if name not in MODELLED:
        text = f"llvm-mca has no model of this machine ({name}), by which those of other machines are corrected"
        raise ClickException(f"{text}; run this on one of {', '.join(MODELLED)}")
    return name


def table(counted: Counted, here: Here, say: Callable[[str], None]) -> Iterator[str]:
    factor = here.record_s / counted.seconds("avx2", here.processor, here.ghz)
    measured = f"{here.record_s * 1e9:.0f} ns of processor time a record"
    say(f"this machine ({here.processor}): {measured}, {factor:.2f} times its model at {here.ghz:.2f} GHz")
    yield "| box | instructions a cycle | processor s of 10^9 | on its cores | link s | reaches the best 10^9 with W | 10^10 |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for box in BOXES:
        processor_s = E9 * counted.seconds(box.level, box.processor, box.ghz) * factor
        link_s = _PASSES * E9 * RECORD_BYTES / box.link_gb_s / 1e9
        slower_s = max(processor_s / box.cores, link_s)
        watts = [(best_of(size).kilojoules or 0.0) * 1e3 / (slower_s * size / E9) for size in (E9, E10)]
        rate = f"{counted.per_cycle[box.level, box.processor]:.2f}"
        cells = [rate, f"{processor_s:.0f}", f"{processor_s / box.cores:.0f}", f"{link_s:.0f}", *(f"{w:.1f}" for w in watts)]
        yield f"| {box.name} | {' | '.join(cells)} |"
