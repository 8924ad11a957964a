"""One measurement with fio: the words of its command line, and what its JSON says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecosort_power.transports.process import run_to_end

from ecosort_tuning.errors import RunError, UsageError
from ecosort_tuning.profile import MIXED, RANDOM, READ, WRITE

# The merge reads blocks of its runs anywhere; run formation reads and writes at once.
_KIND = {READ: "read", WRITE: "write", MIXED: "rw", RANDOM: "randread"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One way to use a drive."""

    mode: str
    block_bytes: int
    depth: int


@dataclass(frozen=True, slots=True)
class Sample:
    """Holds what one measurement found. Latency: mean from submission to completion; CPU: of fio itself, user and system."""

    read_bytes_per_s: float
    write_bytes_per_s: float
    latency_s: float
    cpu_s: float
    bytes_moved: int

    @property
    def bytes_per_s(self) -> float:
        return self.read_bytes_per_s + self.write_bytes_per_s


@dataclass(frozen=True, slots=True)
class Engine:
    """Says how fio talks to the drive."""

    name: str  # io_uring, libaio or psync (one request at a time)
    direct: bool


ENGINES = (Engine("io_uring", True), Engine("libaio", True), Engine("io_uring", False), Engine("psync", False))


def words(cell: Cell, engine: Engine, file: Path, file_bytes: int, seconds: float) -> list[str]:
    """The file is made, in full, by the first measurement that finds it missing. Data cannot be compressed."""
    return [
        "fio",
        "--name=probe",
        f"--filename={file}",
        f"--size={file_bytes}",
        f"--rw={_KIND[cell.mode]}",
        f"--bs={cell.block_bytes}",
        f"--iodepth={cell.depth}",
        f"--ioengine={engine.name}",
        f"--direct={int(engine.direct)}",
        "--time_based",
        f"--runtime={max(1, round(seconds * 1000))}ms",
        "--refill_buffers",
        "--randrepeat=0",
        "--norandommap",
        "--fallocate=none",
        "--overwrite=1",
        "--end_fsync=0",
        "--thread",
        "--output-format=json",
    ]


def parse(text: str) -> Sample:
    """RunError for what is no report of one job, or of one that failed or did nothing."""
    begin = text.find("{")  # notes of fio may be in front of it
    try:
        document = json.loads(text[max(begin, 0) :])
        job = document["jobs"][0]
        failure = int(job.get("error", 0))
        sample = _sample(job)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise RunError(f"fio printed no report ({error!r}): {text.strip()[:200]}") from error
    if failure:
        raise RunError(f"fio failed with error {failure}")
    if sample.bytes_moved <= 0:
        raise RunError("fio moved no byte in the time it had: give --seconds more")
    return sample


def _sample(job: Mapping[str, Any]) -> Sample:
    read, write = job["read"], job["write"]
    sides = [side for side in (read, write) if side["total_ios"] > 0]
    requests = sum(side["total_ios"] for side in sides)
    latency_ns = sum(side["lat_ns"]["mean"] * side["total_ios"] for side in sides) / requests if requests else 0.0
    runtime_s = max(read["runtime"], write["runtime"]) / 1e3
    return Sample(
        read_bytes_per_s=float(read["bw_bytes"]),
        write_bytes_per_s=float(write["bw_bytes"]),
        latency_s=latency_ns / 1e9,
        cpu_s=(float(job["usr_cpu"]) + float(job["sys_cpu"])) / 100 * runtime_s,
        bytes_moved=int(read["io_bytes"]) + int(write["io_bytes"]),
    )


def measure(cell: Cell, engine: Engine, file: Path, file_bytes: int, seconds: float) -> Sample:
    """Runs fio to its end; it dies with this program. RunError where it fails, UsageError where it is not installed."""
    command = words(cell, engine, file, file_bytes, seconds)
    if shutil.which(command[0]) is None:
        raise UsageError("fio is not installed; on Debian: apt-get install fio")
    code, out, err = run_to_end(command)
    if code != 0:
        reason = (err or out).strip().splitlines()
        raise RunError(f"fio failed: {reason[0] if reason else f'exit code {code}'}")
    return parse(out)
