#!/usr/bin/env python3
"""Processor time of sorts of small files: EcoSort and GNU sort in turn, medians, in milliseconds of user and system time. Page
faults, which are most of it, do not depend on what else the machine does.

tuning/bench/small_files.py build/ecosort [ANOTHER ...]
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROUNDS = {1_000: 200, 1_000_000: 30}  # of files of so many bytes
FILES = 1_000  # of a loop over files
RECORDS = ("sort", "--record-size", "10", "--key", "0:9")  # the same lines of 9 digits


def processor_ms_and_faults(command: Sequence[str | Path], quiet: int) -> tuple[float, int]:
    actions = [(os.POSIX_SPAWN_DUP2, quiet, 1)]
    process = os.posix_spawnp(str(command[0]), list(map(str, command)), {**os.environ, "LC_ALL": "C"}, file_actions=actions)
    _, status, used = os.wait4(process, 0)
    if status != 0:
        raise SystemExit(f"{command} ended with {status}")
    return (used.ru_utime + used.ru_stime) * 1e3, used.ru_minflt


def compare(title: str, commands: Sequence[Sequence[str | Path]], rounds: int) -> None:
    """The first one is GNU sort's."""
    with Path("/dev/null").open("wb") as quiet:
        taken = [[processor_ms_and_faults(command, quiet.fileno()) for command in commands] for _ in range(rounds)]
    columns = list(zip(*taken, strict=True))
    medians = [statistics.median(ms for ms, _ in column) for column in columns]
    faults = [statistics.median_low([count for _, count in column]) for column in columns]
    shares = "  ".join(f"{ms:8.3f} ({ms / medians[0]:.2f}, {count})" for ms, count in zip(medians, faults, strict=True))
    print(f"{title:32}{shares}", flush=True)


def main() -> None:
    programs = [Path(name).resolve() for name in sys.argv[1:]]
    sorts: list[list[str | Path]] = [["sort"]]
    sorts += [[program, "lines"] for program in programs]
    print(f"{'CPU ms (share, page faults)':32}{'  '.join(['sort', *sys.argv[1:]])}")
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        compare("start (--version)", [[sort[0], "--version"] for sort in sorts], 200)
        for size, rounds in ROUNDS.items():
            generator = random.Random(size)
            lines = (f"{generator.randrange(10**9):09}\n" for _ in range(size // 10))
            Path("in").write_text("".join(lines))
            compare(f"{size:,} bytes to /dev/null", [[*sort, "in"] for sort in sorts], rounds)
            compare(f"{size:,} bytes to a file", [[*sort, "in", "-o", "out"] for sort in sorts], rounds)
            records = [sorts[0]] + [[program, *RECORDS] for program in programs]
            compare(f"{size:,} bytes of records to a file", [[*sort, "in", "-o", "out"] for sort in records], rounds)
        for number in range(FILES):
            Path(f"{number}.in").write_text(f"{number}\nb\na\n")
        loop = 'for f in *.in; do "$@" "$f" -o out; done'
        compare(f"a loop over {FILES:,} files", [["bash", "-c", loop, "loop", *sort] for sort in sorts], 3)


if __name__ == "__main__":
    main()
