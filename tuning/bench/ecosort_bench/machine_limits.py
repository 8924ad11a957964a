"""Compares what a sort of two passes takes of the processor with what this machine could do at best: for each kind of input and
each set of instructions, CPU seconds per GB, medians. `make bench-limits` runs it.

The kernels are those of the sort, each in a loop of its own out of memory (`ecosort_costs`); the requests are those of the sort,
replayed without computing; two copies move each byte twice through memory, and do nothing else.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
from ecosort_measure.results import Document, measured_on
from ecosort_measure.sizes import size_text
from ecosort_measure.tables import markdown
from ecosort_power.codec import write_rows
from ecosort_power.errors import RunError

from ecosort_bench.series import Asked, series

SCHEMA = "ecosort.machine-limits/1"
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
_HEADS = ("input", "instructions", "sort", "kernels", "requests", "kernels and requests", "sort / these")


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
    """One copy from memory to memory; both were touched before. Views, because an assignment to a bytearray copies twice."""
    source, target = (memoryview(bytearray(b"\1") * COPIED_BYTES) for _ in range(2))

    def copy() -> float:
        begin = time.process_time()
        target[:] = source
        return (time.process_time() - begin) / (COPIED_BYTES / BYTES_PER_GB)

    return median_of(9, copy)


class Machine:
    def __init__(self, build: Path, directory: Path, memory_bytes: int, rounds: int) -> None:
        self.ecosort = build / "ecosort"
        self.tools = build / "bench"
        self.directory = directory
        self.memory_bytes = memory_bytes
        self.rounds = rounds

    def make_input(self, kind: Kind, size: int) -> Path:
        path = self.directory / kind.name
        maker: list[str | Path] = [self.tools / "ecosort_make_lines", kind.made_of, str(size), path]
        records: list[str | Path] = [self.ecosort, "gen", "-a", str(size // 100), path]
        cpu_s(maker if kind.made_of else records)
        return path

    def sort(self, kind: Kind) -> list[str | Path]:
        words = ["--compress=none", f"--memory={self.memory_bytes}B", "--progress=none", f"--temp={self.directory}"]
        stats = f"--stats={self.directory / 'stats.json'}"
        return [self.ecosort, *kind.command, *words, stats, self.directory / kind.name, "-o", self.directory / "out"]

    def merged_runs(self) -> int:
        stats = json.loads((self.directory / "stats.json").read_text())
        runs = max(step["fan_in"] for step in stats["plan"]["merge_steps"]) if "plan" in stats else stats["runs"]
        if runs == 0:
            raise RunError("the input fits in the memory: give more --bytes, or less --memory")
        return int(runs)

    def kernels_s_per_gb(self, kind: Kind, level: str, runs: int) -> float:
        command = [str(self.tools / "ecosort_costs"), str(runs), kind.name]
        done = subprocess.run(command, env={**os.environ, "ECOSORT_CPU": level}, check=True, capture_output=True, text=True)
        return sum(sum(part.values()) for part in json.loads(done.stdout).values())

    def requests_s(self, kind: Kind) -> float:
        places = {"--input": self.directory / kind.name, "--temp": self.directory, "--output": self.directory / "out"}
        files = [word for pair in places.items() for word in pair]
        return median_of(self.rounds, lambda: cpu_s([self.tools / "ecosort_replay", self.directory / "trace", *files]))

    def compare(self, kind: Kind, size: int, levels: Sequence[str]) -> list[dict[str, Any]]:
        """CPU seconds per GB of a sort, of its kernels and of its requests, by level."""
        path = self.make_input(kind, size)
        cpu_s([*self.sort(kind), f"--trace={self.directory / 'trace'}"])
        runs, gigabytes = self.merged_runs(), path.stat().st_size / BYTES_PER_GB
        requests = self.requests_s(kind) / gigabytes
        sorts: dict[str, list[float]] = {level: [] for level in levels}
        for _ in range(self.rounds):
            for level in levels:
                sorts[level].append(cpu_s(self.sort(kind), level) / gigabytes)
        path.unlink()
        found = list[dict[str, Any]]()
        for level in levels:
            kernels = median_of(self.rounds, partial(self.kernels_s_per_gb, kind, level, runs))
            sort = statistics.median(sorts[level])
            found.append({"kind": kind.name, "level": level, "sort": sort, "kernels": kernels, "requests": requests})
        return found


def lines_of(data: Document) -> list[str]:
    """The table of a result, with its circumstances."""
    what = {kind.name: kind.what for kind in KINDS}
    rows = []
    for run in data["runs"]:
        least = run["kernels"] + run["requests"]
        figures = (run["sort"], run["kernels"], run["requests"], least, run["sort"] / least)
        rows.append((what[run["kind"]], run["level"] or "all", *(f"{figure:.2f}" for figure in figures)))
    settings = data["settings"]
    size = f"{settings['bytes'] / BYTES_PER_GB:g} GB each, {size_text(settings['memory_bytes'])}, {settings['rounds']} rounds"
    copies = f"two copies in memory take {data['two_copies_s_per_gb']:.2f} s/GB"
    told = f"CPU s/GB, {size}; {copies}; {measured_on(data)}, measured {data['started'][:10]}."
    return ["", f"    {data['command']}", "", told, "", *markdown(_HEADS, rows)]


@series("machine-limits", size=300_000_000, memory="64MiB", rounds=3, kinds=tuple(kind.name for kind in KINDS))
def main(asked: Asked) -> None:
    """Prints the least processor time that sorts could take here beside what they take."""
    machine = Machine(asked.build, asked.directory, asked.memory, asked.rounds)
    levels = [level for level in LEVELS if has_level(machine.ecosort, level)] or [""]
    command = f"make bench-limits BENCH='{asked.words}'"
    data = asked.begin(SCHEMA, {}, command, two_copies_s_per_gb=2 * copy_s_per_gb())
    done = {run["kind"] for run in data["runs"]}
    for kind in (kind for kind in KINDS if kind.name not in done and kind.name in asked.kinds):
        click.echo(f"measuring {kind.what}", err=True)
        data["runs"] += machine.compare(kind, asked.size, levels)
        write_rows(asked.result, data)
    for line in lines_of(data):
        click.echo(line)


if __name__ == "__main__":
    main()
