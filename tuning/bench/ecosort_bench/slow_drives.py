"""Compressed runs on drives of a given speed: `make bench-slow-drives` measures, ecosort_bench.slow_drives_page reports.

The drives are simulated: a queue lets through so many bytes a second and moves them for real below that. The drive `here` is
that of the data, as it is.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
from ecosort_measure.cold_run import run_cold
from ecosort_power.codec import write_rows
from ecosort_power.planned import NEUTRAL

from ecosort_bench.series import Asked, series
from ecosort_bench.slow_drives_page import SCHEMA, lines_of

CODECS = ("none", "prefix", "lz4", "zstd", "auto")
KINDS = ("log", "orders", "csv", "text", "paths", "links", "bytes", "ascii-records", "u64-records", "random-records")
RECORDS = {
    "ascii-records": [],
    "u64-records": ["--record-size", "16", "--key", "0:u64"],
    "random-records": ["--record-size", "100", "--key", "0:10"],
}
MADE_AS = {"u64-records": "u64", "random-records": "bytes"}
GENSORT_RECORD_BYTES = 100
DRIVES = ("shared 100", "shared 300", "duplex 300", "shared 1000")
HERE = "here"
MEMORY = "40MiB"


@dataclass(frozen=True)
class Sorted:
    """One sort: what it took, and what it did with its runs in the end."""

    kind: str
    drive: str
    codec: str
    round: int
    wall_s: float
    cpu_s: float
    input_bytes: int
    moved_bytes: int  # read and written
    chose: str
    because: str | None


def codecs_of(kind: str) -> tuple[str, ...]:
    """Prefix truncation is for rows."""
    return tuple(codec for codec in CODECS if codec != "prefix" or kind not in RECORDS)


def chosen_of(runs: dict[str, Any] | None) -> tuple[str, str | None]:
    """The codec of the last runs, and why."""
    if not runs:
        return "none", None
    before = "prefix+" if runs["truncated"] and runs["codec"] != "prefix" else ""
    return before + str(runs["codec"]) + (" of columns" if runs["transposed"] else ""), runs["because"]


def make_input(build: Path, kind: str, size: int, data: Path) -> None:
    maker: list[str | Path] = [build / "bench" / "ecosort_make_lines", MADE_AS.get(kind, kind), str(size), data]
    if kind == "ascii-records":
        maker = [build / "ecosort", "gen", "-a", str(size // GENSORT_RECORD_BYTES), data]
    subprocess.run(maker, check=True, stdout=subprocess.DEVNULL)


@dataclass(frozen=True)
class Bench:
    build: Path
    directory: Path
    memory_bytes: int

    def measure(self, kind: str, drive: str, codec: str, round_: int) -> Sorted:
        data, output = self.directory / kind, self.directory / f"{kind}.sorted"
        command = ["lines"] if kind not in RECORDS else ["sort", *RECORDS[kind]]
        words = [*command, f"--compress={codec}", f"--memory={self.memory_bytes}B", f"--temp={self.directory}", str(data), "-o"]
        taken = self._here if drive == HERE else self._simulated
        report = taken(drive, [*words, str(output)])
        output.unlink()
        chose, because = chosen_of(report["compression"])
        moved = report["bytes_read"] + report["bytes_written"]
        return Sorted(kind, drive, codec, round_, report["wall_s"], report["cpu_s"], report["input_bytes"], moved, chose, because)

    def _simulated(self, drive: str, words: list[str]) -> dict[str, Any]:
        program = self.build / "bench" / "ecosort_slow_drive"
        environment = {**os.environ, "LC_ALL": "C", "XDG_CONFIG_HOME": os.devnull}  # and no profile of anyone
        done = subprocess.run([program, *drive.split(), *words], capture_output=True, text=True, check=True, env=environment)
        return dict(json.loads(done.stdout))

    def _here(self, drive: str, words: list[str]) -> dict[str, Any]:
        """Cold, and until the output is on stable storage."""
        with tempfile.NamedTemporaryFile(dir=self.directory, suffix=".json") as stats:
            more = [*NEUTRAL, "--quiet", "--progress=none", f"--stats={stats.name}"]
            taken = run_cold([str(self.build / "ecosort"), *words, *more], self.directory, {"LC_ALL": "C"}, self.memory_bytes)
            told = json.loads(Path(stats.name).read_text())
        told |= {"wall_s": taken.wall_s, "cpu_s": taken.cpu_s, "compression": told["compression"]["runs"]}
        return dict(told)


def _command(asked: Asked, drives: tuple[str, ...]) -> str:
    """Returns what to type for the same measurement."""
    words = [asked.words]
    words += [] if asked.kinds == KINDS else [f"--kind {kind}" for kind in asked.kinds]
    words += [] if drives == DRIVES else [f'--drive "{drive}"' for drive in drives]
    return f"make bench-slow-drives BENCH='{' '.join(words)}'"


def _measure(bench: Bench, kind: str, drives: list[str], settings: dict[str, int]) -> list[Sorted]:
    """The codecs take turns in each round, every second one backwards."""
    runs = list[Sorted]()
    make_input(bench.build, kind, settings["bytes"], bench.directory / kind)
    for drive in drives:
        for round_ in range(settings["rounds"]):
            turns = codecs_of(kind)[:: 1 if round_ % 2 == 0 else -1]
            runs += [bench.measure(kind, drive, codec, round_) for codec in turns]
        click.echo(f"{kind}, {drive}: {len(runs)} sorts", err=True)
    (bench.directory / kind).unlink()
    return runs


@series("slow-drives", size=200_000_000, memory=MEMORY, rounds=5, kinds=KINDS)
@click.option("--drive", "drives", multiple=True, type=click.Choice((*DRIVES, HERE)), default=DRIVES, help="MB/s; repeatable.")
def main(asked: Asked, drives: tuple[str, ...]) -> None:
    """Measures compressed runs on simulated drives, and prints a table and what is asked of them."""
    bench = Bench(asked.build, asked.directory, asked.memory)
    command = _command(asked, drives)
    data = asked.begin(SCHEMA, {"threads": len(os.sched_getaffinity(0))}, command)
    done = {(run["kind"], run["drive"]) for run in data["runs"]}
    for kind in asked.kinds:
        if missing := [drive for drive in drives if (kind, drive) not in done]:
            data["runs"] += [asdict(run) for run in _measure(bench, kind, missing, data["settings"])]
            write_rows(asked.result, data)
    for line in lines_of(data):
        click.echo(line)


if __name__ == "__main__":
    main()
