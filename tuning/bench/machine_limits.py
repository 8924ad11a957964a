#!/usr/bin/env python3
"""Compares what a sort of two passes takes of the processor with what this machine could do at best: for each kind of input and
each set of instructions, CPU seconds per GB, medians.

tuning/bench/machine_limits.py build [--bytes 300000000] [--rounds 3] [--memory 64MiB]

The kernels are those of the sort, each in a loop of its own out of memory (`ecosort_costs`); the requests are those of the sort,
replayed without computing; two copies move each byte twice through memory, and do nothing else. `make bench` builds the tools.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

LEVELS = ("avx512", "avx2", "baseline")  # what ECOSORT_CPU takes on x86-64; those that the processor lacks are left out
COPIED_BYTES = 1 << 28
BYTES_PER_GB = 1e9


@dataclass(frozen=True)
class Kind:
    name: str  # of `ecosort_costs`
    what: str
    command: tuple[str, ...]
    made_of: str  # what makes its input: the kind of `ecosort_make_lines`


KINDS = (
    Kind("records", "records of 100 bytes", ("sort",), ""),
    Kind("text", "lines of about 100 bytes", ("lines",), "text"),
    Kind("number", "rows of CSV of 52 bytes by a number", ("lines", "-t,", "-k2,2n"), "table"),
)


def cpu_s(command: Sequence[str | Path], level: str = "") -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "ECOSORT_CPU": level}
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def median_of(rounds: int, measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(rounds))


def has_level(program: Path, level: str) -> bool:
    command = [str(program), "lines", "/dev/null"]
    return subprocess.run(command, check=False, env={**os.environ, "ECOSORT_CPU": level}, capture_output=True).returncode == 0


def copy_s_per_gb() -> float:
    source, target = bytes(COPIED_BYTES), bytearray(COPIED_BYTES)

    def copy() -> float:
        before = os.times()
        target[:] = source
        after = os.times()
        return (after.user + after.system - before.user - before.system) / (COPIED_BYTES / BYTES_PER_GB)

    return median_of(9, copy)


class Machine:
    def __init__(self, build: Path, memory: str, rounds: int) -> None:
        self.ecosort = build / "ecosort"
        self.tools = build / "bench"
        self.memory = memory
        self.rounds = rounds

    def make_input(self, kind: Kind, size: int) -> None:
        maker: list[str | Path] = [self.tools / "ecosort_make_lines", kind.made_of, str(size), kind.name]
        records: list[str | Path] = [self.ecosort, "gen", "-a", str(size // 100), kind.name]
        cpu_s(maker if kind.made_of else records)

    def sort(self, kind: Kind) -> list[str | Path]:
        words = ["--compress=none", f"--memory={self.memory}", "--stats=stats.json", "--progress=none"]
        return [self.ecosort, *kind.command, *words, kind.name, "-o", "out"]

    def merged_runs(self) -> int:
        stats = json.loads(Path("stats.json").read_text())
        runs = max(step["fan_in"] for step in stats["plan"]["merge_steps"]) if "plan" in stats else stats["runs"]
        if runs == 0:
            raise SystemExit("the input fits in the memory: give more --bytes, or less --memory")
        return int(runs)

    def kernels_s_per_gb(self, kind: Kind, level: str, runs: int) -> float:
        command = [str(self.tools / "ecosort_costs"), str(runs), kind.name]
        done = subprocess.run(command, env={**os.environ, "ECOSORT_CPU": level}, check=True, capture_output=True, text=True)
        return sum(sum(part.values()) for part in json.loads(done.stdout).values())

    def requests_s(self, kind: Kind) -> float:
        files = ["--input", kind.name, "--temp", ".", "--output", "out"]
        return median_of(self.rounds, lambda: cpu_s([self.tools / "ecosort_replay", "trace", *files]))

    def compare(self, kind: Kind, size: int, levels: Sequence[str]) -> None:
        self.make_input(kind, size)
        cpu_s([*self.sort(kind), "--trace=trace"])
        runs, gigabytes = self.merged_runs(), Path(kind.name).stat().st_size / BYTES_PER_GB
        requests = self.requests_s(kind) / gigabytes
        sorts: dict[str, list[float]] = {level: [] for level in levels}
        for _ in range(self.rounds):
            for level in levels:
                sorts[level].append(cpu_s(self.sort(kind), level) / gigabytes)
        for level in levels:
            kernels = median_of(self.rounds, partial(self.kernels_s_per_gb, kind, level, runs))
            sort, least = statistics.median(sorts[level]), kernels + requests
            figures = " | ".join(f"{figure:.2f}" for figure in (sort, kernels, requests, least, sort / least))
            print(f"| {kind.what} | {level or 'all'} | {figures} |", flush=True)
        Path(kind.name).unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--bytes", type=int, default=300_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", default="64MiB")
    options = parser.parse_args()
    machine = Machine(options.build.resolve(), options.memory, options.rounds)
    levels = [level for level in LEVELS if has_level(machine.ecosort, level)] or [""]
    print("| input | instructions | sort | kernels | requests | kernels and requests | sort / these |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory(dir=".") as directory:
        os.chdir(directory)
        for kind in KINDS:
            machine.compare(kind, options.bytes, levels)
        os.chdir("..")
    size = f"{options.bytes / BYTES_PER_GB:g} GB each, {options.memory}"
    print(f"\nCPU s/GB; {size}. Two copies in memory: {2 * copy_s_per_gb():.2f} s/GB.")


if __name__ == "__main__":
    main()
