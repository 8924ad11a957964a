"""SIGKILL and power cuts at random moments of real resumable sorts, again and again: they end in order, whole."""

import random
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from capabilities import SOAK
from lines_support import numbered_lines, sorted_by_sort
from pairs import turns
from sort_support import FileSystem, Run, expected, make_records

from .support import (
    KINDS,
    PHASES,
    Attempts,
    Kills,
    drive_of,
    ended_by_power_cut,
    job_directory,
)

RECORDS = 100_000  # 10 MB
CUTS = 16 if SOAK else 4  # on each file system


@dataclass(frozen=True)
class Job:
    """A resumable sort of one kind: what it is called with, of what, and what must come of it."""

    name: str
    kills: int  # on each file system
    words: tuple[str, ...]
    make: Callable[[Path], bytes]
    expected: Callable[[bytes], bytes]


def sorted_records(data: bytes) -> bytes:
    """Each begins with a line that begins with 1."""
    return b"".join(sorted(record + b"\n" for record in re.split(rb"\n(?=1)", data.removesuffix(b"\n"))))


LINE_KEYS = ("-t,", "-k2,2n", "-k1,1.5r", "-u")
JOBS = {
    job.name: job
    for job in (
        Job(
            "sort --resumable",
            110 if SOAK else 6,
            ("sort", "--resumable", "--memory", "2MiB"),
            lambda ecosort: make_records(ecosort, "ascii", RECORDS),
            expected,
        ),
        Job(
            "sort --resumable --compress",
            110 if SOAK else 6,
            ("sort", "--resumable", "--memory", "2MiB", "--compress=lz4"),
            lambda ecosort: make_records(ecosort, "ascii", RECORDS),
            expected,
        ),
        Job(
            "lines --resumable --compress --record-start",
            110 if SOAK else 6,
            ("lines", "--resumable", "-S", "1M", "--compress=lz4", "--record-start=1"),
            lambda _: b"1\n" + numbered_lines(150_000),
            sorted_records,
        ),
        Job(
            "lines --resumable",
            110 if SOAK else 10,
            ("lines", "--resumable", "-S", "1M"),
            lambda _: numbered_lines(150_000),
            sorted_by_sort,
        ),
        Job(
            "lines --resumable with keys",
            110 if SOAK else 6,
            ("lines", "--resumable", "-S", "1M", "--header=2", *LINE_KEYS),
            lambda _: numbered_lines(150_000),
            lambda data: sorted_by_sort(data, *LINE_KEYS, header_lines=2),
        ),
    )
}


class Sorting(Attempts):
    """One output that is to come into being, whatever gets in the way."""

    def __init__(self, ecosort: Path, drive: FileSystem, directory: Path, job: Job) -> None:
        super().__init__(ecosort, directory)
        self.source, self.out, self.job = directory / "in", drive.root / "out", job
        self.data = job.make(ecosort)
        self.source.write_bytes(self.data)
        self.count()
        self.out.unlink()

    def is_under_way(self) -> bool:
        return job_directory(self.out).exists()

    def next_words(self) -> list[str | Path]:
        if self.is_under_way():
            return ["resume", self.out]
        return [*self.job.words, self.source, "-o", self.out]


@pytest.mark.timeout(1800 if SOAK else 300)
@pytest.mark.parametrize(("name", "kind"), turns(list(JOBS), KINDS))
def test_killed_at_random_moments(ecosort: Path, run: Run, tmp_path: Path, name: str, kind: str) -> None:
    job = JOBS[name]
    kills = Kills(job.kills, random.Random(name + kind))
    with drive_of(kind, tmp_path) as drive:
        sorting = Sorting(ecosort, drive, tmp_path, job)
        wanted = job.expected(sorting.data)
        while not kills.are_enough():
            code, text = kills.strike(sorting)
            assert code in (0, -signal.SIGKILL) or (code == 5 and "start the sort again" in text), text
            if sorting.out.exists():
                assert sorting.out.read_bytes() == wanted
                run("resume", sorting.out)
                sorting.out.unlink()
        if sorting.is_under_way():
            done = run("resume", sorting.out)
            assert done.returncode == 0 or "start the sort again" in done.stderr
        assert sorting.source.read_bytes() == sorting.data
        assert not sorting.is_under_way()
    kills.check(f"{name} on {kind}")


@pytest.mark.timeout(1800 if SOAK else 300)
@pytest.mark.parametrize(("name", "kind"), turns(["sort --resumable", "lines --resumable"], KINDS))
def test_power_cut_at_random_moments(ecosort: Path, run: Run, tmp_path: Path, name: str, kind: str) -> None:
    """The whole file system is shut down without writing anything more and mounted again; resumptions are cut, too."""
    rng = random.Random(f"cut {name} {kind}")
    job = JOBS[name]
    with drive_of(kind, tmp_path) as drive:
        sorting = Sorting(ecosort, drive, tmp_path, job)
        wanted = job.expected(sorting.data)
        cuts: Counter[str] = Counter()
        in_resume = outputs = 0
        while cuts.total() < CUTS or in_resume < CUTS // 4:
            subprocess.run(["sync", "-f", drive.root], check=True)
            is_resumption = sorting.is_under_way()
            code, text = ended_by_power_cut(sorting, drive, sorting.moment(rng, rng.choice(PHASES)))
            if code != 0 and "start the sort again" not in text:
                cuts[sorting.reached()] += 1
                in_resume += is_resumption
            if sorting.out.exists():
                outputs += 1
                assert sorting.out.read_bytes() == wanted
                run("resume", sorting.out)
                sorting.out.unlink()
        if sorting.is_under_way():
            done = run("resume", sorting.out)
            assert done.returncode == 0 or "start the sort again" in done.stderr, done
        assert sorting.source.read_bytes() == sorting.data
    print(f"\n{name} on {kind}: {cuts.total()} power cuts, {dict(cuts)}; {in_resume} inside resume; {outputs} outputs")
