"""Two ways to sort on one machine with the same memory: merging runs, or partitioning into parts that are sorted in one pass.

`make bench-strategies` prints the table of docs/papers.md: time, processor time, bytes moved, and joules by a model.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from ecosort.cluster import sort
from ecosort.process import Sort

# No meter is read. A machine that takes so much when it waits, per busy CPU, and per GB that a drive moves.
IDLE_W, CPU_W, DRIVE_J_PER_GB = 10.0, 8.0, 2.0
KINDS = ("uniform", "skewed", "lines", "csv")


@dataclass(frozen=True)
class Taken:
    """By one sort of `size` bytes."""

    wall_s: float
    cpu_s: float
    moved_bytes: int
    parts: int

    def joules(self) -> float:
        return IDLE_W * self.wall_s + CPU_W * self.cpu_s + DRIVE_J_PER_GB * self.moved_bytes / 1e9


@dataclass(frozen=True)
class Work:
    """An input and how it is sorted."""

    data: Path
    format_name: str
    command: tuple[str, ...]  # of one process
    terms: dict[str, Any]  # of the parts

    @property
    def output(self) -> Path:
        return self.data.with_suffix(".sorted")


def work_of(kind: str, build: Path, directory: Path, size: int) -> Work:
    data = directory / kind
    if kind in ("uniform", "skewed"):
        words = ["-s"] if kind == "skewed" else []
        subprocess.run([build / "ecosort", "gen", *words, str(size // 100), data], check=True)
        return Work(data, "records", ("sort", "--record-size=100", "--key=0:10"), {"record_size": 100, "by": "0:10"})
    subprocess.run([build / "bench" / "ecosort_make_lines", "log" if kind == "lines" else "table", str(size), data], check=True)
    if kind == "lines":
        return Work(data, "lines", ("lines",), {"format": "lines"})
    return Work(data, "csv", ("csv", "--by=number:number"), {"format": "csv", "by": "number:number"})


def merged(work: Work, memory: str, threads: int) -> tuple[int, int]:
    """Bytes moved, and one part."""
    option = "--parallel" if work.format_name == "lines" else "--threads"
    words = [f"--memory={memory}", f"{option}={threads}", f"--temp={work.data.parent}", f"--output={work.output}"]
    report = Sort([*work.command, *words, str(work.data)]).wait()
    return report.bytes_read + report.bytes_written, 1


def partitioned(work: Work, memory: str, threads: int) -> tuple[int, int]:
    """Bytes moved, and parts."""
    means: dict[str, Any] = {"memory": memory, "threads": threads, "nodes_temp": [work.data.parent], "merges": False}
    report = sort(work.data, work.output, **means, **work.terms)
    return report.bytes_moved, report.parts


def take(how: Callable[[Work, str, int], tuple[int, int]], work: Work, memory: str, threads: int) -> Taken:
    """Everything that this process and those that it starts take, from the first look at the input to the last sync."""
    os.sync()
    begin, used = time.monotonic(), _cpu_s()
    moved, parts = how(work, memory, threads)
    taken = Taken(time.monotonic() - begin, _cpu_s() - used, moved, parts)
    if work.output.is_dir():
        shutil.rmtree(work.output)
    else:
        work.output.unlink()
    return taken


def _cpu_s() -> float:
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in own)


def median(taken: list[Taken]) -> Taken:
    return sorted(taken, key=lambda one: one.wall_s)[len(taken) // 2]


HEAD = """| input | memory | strategy | parts | s | CPU s/GB | bytes moved / N | J/GB by model |
| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |"""


def row(kind: str, memory: str, strategy: str, size: int, one: Taken) -> str:
    gigabytes = size / 1e9
    cells = (f"{one.parts}", f"{one.wall_s:.2f}", f"{one.cpu_s / gigabytes:.2f}", f"{one.moved_bytes / size:.2f}")
    return f"| {kind} | {memory} | {strategy} | {' | '.join(cells)} | {one.joules() / gigabytes:.0f} |"


@click.command()
@click.option("--build", type=click.Path(path_type=Path), required=True, help="Directory of the programs.")
@click.option("--dir", "directory", type=click.Path(path_type=Path), required=True, help="For data, runs, slices and outputs.")
@click.option("--bytes", "size", default=1_000_000_000, show_default=True, help="Size of each input.")
@click.option("--memory", "memories", multiple=True, default=("256MiB", "64MiB"), show_default=True)
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), default=KINDS)
@click.option("--threads", default=len(os.sched_getaffinity(0)), show_default=True)
@click.option("--rounds", default=3, show_default=True)
def main(
    build: Path, directory: Path, size: int, memories: tuple[str, ...], kinds: tuple[str, ...], threads: int, rounds: int
) -> None:
    """Prints the table; the strategies take turns in each round."""
    directory.mkdir(parents=True, exist_ok=True)
    os.environ["ECOSORT_PROGRAM"] = str((build / "ecosort").absolute())
    click.echo(HEAD)
    for kind in kinds:
        work = work_of(kind, build, directory, size)
        held = work.data.stat().st_size
        for memory in memories:
            seen: dict[str, list[Taken]] = {"merge": [], "partition": []}
            for _ in range(rounds):
                seen["merge"].append(take(merged, work, memory, threads))
                seen["partition"].append(take(partitioned, work, memory, threads))
            for strategy, taken in seen.items():
                click.echo(row(kind, memory, strategy, held, median(taken)))
        work.data.unlink()


if __name__ == "__main__":
    main()
