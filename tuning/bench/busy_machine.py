#!/usr/bin/env python3
"""Sorts beside other work: `--compress=auto` against none and lz4, in turn, medians of time and processor time.

tuning/bench/busy_machine.py build/ecosort build/bench/ecosort_make_lines [--rounds N] [--load 0 --load 8 --load drive ...]

A load is a number of busy threads, or `drive`: another process that writes and reads on the same drive.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CODECS = ("none", "lz4", "auto")
KINDS = ("log", "orders", "text", "paths", "records", "u64")
LOADS = ("0", "2", "8", "32", "drive")
BUSY = "while :; do :; done"
BUSY_DRIVE = """
while :; do
  dd if=/dev/zero of=busy.drive bs=1M count=64 oflag=direct conv=notrunc 2>/dev/null
  dd if=busy.drive of=/dev/null bs=1M iflag=direct 2>/dev/null
done
"""
SETTLE_BYTES = 4096


@dataclass(frozen=True)
class Taken:
    wall_s: float
    cpu_s: float
    chose: str
    because: str


@contextmanager
def beside(load: str) -> Iterator[None]:
    scripts = [BUSY_DRIVE] if load == "drive" else [BUSY] * int(load)
    others = [subprocess.Popen(["sh", "-c", script], start_new_session=True) for script in scripts]
    try:
        yield
    finally:
        for other in others:
            os.killpg(other.pid, 9)
            other.wait()


def make_input(program: Path, maker: Path, kind: str, size: int) -> None:
    records: list[str | Path] = [program, "gen", "-a", str(size // 100), kind]
    rows: list[str | Path] = [maker, kind, str(size), kind]
    command = records if kind == "records" else rows
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def command_of(kind: str) -> list[str]:
    if kind == "records":
        return ["sort"]
    return ["sort", "--record-size", "16", "--key", "0:u64"] if kind == "u64" else ["lines"]


def settle() -> None:
    """Waits until the file system has freed what the sort before gave back."""
    with Path("settle").open("wb") as file:
        file.write(bytes(SETTLE_BYTES))
        file.flush()
        os.fsync(file.fileno())


def sort(program: Path, kind: str, codec: str, memory: str) -> Taken:
    settle()
    words = [f"--compress={codec}", f"--memory={memory}", kind, "-o", "out", "--quiet", "--progress=none", "--stats=stats.json"]
    command = list(map(str, [program, *command_of(kind), *words]))
    begin = time.monotonic()
    process = os.posix_spawn(command[0], command, {**os.environ, "LC_ALL": "C", "XDG_CONFIG_HOME": os.devnull})
    _, status, used = os.wait4(process, 0)
    wall_s = time.monotonic() - begin
    if status != 0:
        raise SystemExit(f"{command} ended with {status}")
    runs = json.loads(Path("stats.json").read_text())["compression"]["runs"] or {}
    Path("out").unlink()
    return Taken(wall_s, used.ru_utime + used.ru_stime, str(runs.get("codec", "none")), str(runs.get("because", "")))


def print_cell(kind: str, load: str, taken: dict[str, list[Taken]]) -> None:
    wall = {codec: statistics.median(one.wall_s for one in runs) for codec, runs in taken.items()}
    cpu = {codec: statistics.median(one.cpu_s for one in runs) for codec, runs in taken.items()}
    chose = "/".join(sorted({one.chose for one in taken["auto"]}))
    times = "  ".join(f"{wall[codec]:6.2f} {cpu[codec]:5.2f}" for codec in CODECS)
    better = min(wall["none"], wall["lz4"])
    print(f"{kind:8} {load:>6}  {times}  {wall['auto'] / better:5.2f} {cpu['auto'] / cpu['none']:5.2f}  {chose}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("maker", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--size", type=int, default=100_000_000)
    parser.add_argument("--memory", default="24MiB")
    parser.add_argument("--load", action="append", choices=LOADS)
    parser.add_argument("--kind", action="append", choices=KINDS)
    asked = parser.parse_args(sys.argv[1:])
    program, maker = asked.program.resolve(), asked.maker.resolve()
    print(
        "seconds, processor seconds (none, lz4, auto); auto by the better one of both in time, by none in processor time; chosen"
    )
    with tempfile.TemporaryDirectory(dir=".") as directory:
        os.chdir(directory)
        for kind in asked.kind or KINDS:
            make_input(program, maker, kind, asked.size)
            for load in asked.load or LOADS:
                taken: dict[str, list[Taken]] = {codec: [] for codec in CODECS}
                with beside(load):
                    for turn in range(asked.rounds):
                        for codec in CODECS[:: 1 if turn % 2 == 0 else -1]:
                            taken[codec].append(sort(program, kind, codec, asked.memory))
                print_cell(kind, load, taken)
            Path(kind).unlink()
        os.chdir("..")


if __name__ == "__main__":
    main()
