"""Compressed runs on simulated drives of a given speed: time, processor time and bytes moved (`make bench-slow-drives`)."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

CODECS = ("none", "lz4", "zstd", "auto")
KINDS = ("log", "orders", "csv", "text", "bytes", "ascii-records", "u64-records", "random-records")
RECORDS = {
    "ascii-records": [],
    "u64-records": ["--record-size", "16", "--key", "0:u64"],
    "random-records": ["--record-size", "100", "--key", "0:10"],
}
GENSORT_RECORD_BYTES = 100
RATES_MB_PER_S = (100, 300, 1000)


@dataclass(frozen=True)
class Drive:
    """What moves `mb_per_s` of reads and writes together, or of each."""

    mb_per_s: int
    is_duplex: bool

    @property
    def words(self) -> list[str]:
        return ["duplex" if self.is_duplex else "shared", str(self.mb_per_s)]


def codec_of(runs: dict[str, Any] | None) -> str:
    if not runs:
        return "none"
    return str(runs["codec"]) + (" of columns" if runs["transposed"] else "")


@dataclass(frozen=True)
class Measured:
    wall_s: float
    cpu_s_per_gb: float
    moved: float  # bytes read and written, over those of the input
    codec: str

    @classmethod
    def of(cls, report: dict[str, Any]) -> "Measured":
        size = report["input_bytes"]
        runs = report["compression"]
        return cls(
            report["wall_s"],
            report["cpu_s"] / size * 1e9,
            (report["bytes_read"] + report["bytes_written"]) / size,
            codec_of(runs),
        )


def make_input(build: Path, kind: str, size: int, data: Path) -> None:
    maker: list[str | Path] = [build / "bench" / "ecosort_make_lines", kind, str(size), data]
    if kind == "ascii-records":
        maker = [build / "ecosort", "gen", "-a", str(size // GENSORT_RECORD_BYTES), data]
    elif kind == "u64-records":
        maker[1] = "u64"
    elif kind == "random-records":
        maker[1] = "bytes"
    subprocess.run(maker, check=True)


def measure(program: Path, drive: Drive, codec: str, memory: str, data: Path) -> Measured:
    keys = RECORDS.get(data.name)
    words = [
        "lines" if keys is None else "sort",
        *(keys or []),
        f"--compress={codec}",
        f"--memory={memory}",
        "--temp",
        str(data.parent),
        str(data),
        "-o",
        str(data.with_suffix(".sorted")),
    ]
    done = subprocess.run([program, *drive.words, *words], capture_output=True, text=True, check=True)
    return Measured.of(json.loads(done.stdout))


def median(values: list[Measured]) -> Measured:
    return sorted(values, key=lambda one: one.wall_s)[len(values) // 2]


def row(kind: str, drive: Drive, codec: str, one: Measured, none: Measured) -> str:
    chosen = f"auto: {one.codec}" if codec == "auto" else one.codec
    return (
        f"| {kind} | {' '.join(drive.words)} MB/s | {chosen} | {one.wall_s:.2f} | {none.wall_s / one.wall_s:.2f} "
        f"| {one.cpu_s_per_gb:.2f} | {one.moved:.2f} |"
    )


@click.command()
@click.option("--build", type=click.Path(path_type=Path), required=True, help="Where the programs are.")
@click.option(
    "--dir", "directory", type=click.Path(path_type=Path), required=True, help="For data; faster than what is simulated."
)
@click.option("--bytes", "size", default=500_000_000, show_default=True, help="Of each input.")
@click.option("--memory", default="64MiB", show_default=True)
@click.option("--rounds", default=3, show_default=True)
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), default=KINDS)
@click.option("--rate", "rates", multiple=True, type=int, default=RATES_MB_PER_S, help="MB/s; repeatable.")
@click.option("--duplex/--shared", default=False, help="Whether reads and writes have a rate each.")
def main(
    build: Path,
    directory: Path,
    size: int,
    memory: str,
    rounds: int,
    kinds: tuple[str, ...],
    rates: tuple[int, ...],
    duplex: bool,
) -> None:
    """Prints a table; the codecs take turns in each round."""
    directory.mkdir(parents=True, exist_ok=True)
    click.echo("| input | drive | codec | s | x none | CPU s/GB | bytes moved / N |\n|---|---|---|---|---|---|---|")
    for kind in kinds:
        data = directory / kind
        make_input(build, kind, size, data)
        for rate in rates:
            drive = Drive(rate, duplex)
            seen: dict[str, list[Measured]] = {codec: [] for codec in CODECS}
            for _ in range(rounds):
                for codec in CODECS:
                    seen[codec].append(measure(build / "bench" / "ecosort_slow_drive", drive, codec, memory, data))
            none = median(seen["none"])
            for codec in CODECS:
                click.echo(row(kind, drive, codec, median(seen[codec]), none))
        data.unlink()
        data.with_suffix(".sorted").unlink()


if __name__ == "__main__":
    main()
