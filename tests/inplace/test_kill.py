"""SIGKILL and power cuts at random moments of real in-place sorts, again and again: every record is there in the end."""

import random
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from capabilities import SOAK
from sort_support import MIB, FileSystem, Run, expected, make_records

from .support import (
    KINDS,
    PHASES,
    Attempts,
    Kills,
    drive_of,
    ended_by_power_cut,
    job_directory,
    plan_of,
)

RECORDS = 100_000  # 10 MB
KILLS = 110 if SOAK else 8  # on each file system
CUTS = 16 if SOAK else 4  # likewise


class Job(Attempts):
    """One file that is sorted, whatever gets in the way."""

    def __init__(self, ecosort: Path, drive: FileSystem, data: bytes, directory: Path) -> None:
        super().__init__(ecosort, directory)
        self.data, self.path = data, drive.root / "data"

    def is_under_way(self) -> bool:
        return not self.path.exists()

    def next_words(self) -> list[str | Path]:
        return ["resume" if self.is_under_way() else "inplace", self.path, "--memory", "4MiB"]

    def renew(self) -> None:
        self.path.write_bytes(self.data)


def make_job(ecosort: Path, run: Run, drive: FileSystem, directory: Path) -> Job:
    job = Job(ecosort, drive, make_records(ecosort, "ascii", RECORDS), directory)
    job.renew()
    drive.fill_until(plan_of(run, job.path, "--memory", "4MiB")["needed_bytes"] + MIB)
    job.count()
    job.renew()
    return job


@pytest.mark.timeout(1800 if SOAK else 300)
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_random_moments(ecosort: Path, run: Run, tmp_path: Path, kind: str) -> None:
    kills = Kills(KILLS, random.Random(kind))
    with drive_of(kind, tmp_path) as drive:
        job = make_job(ecosort, run, drive, tmp_path)
        wanted = expected(job.data)
        while not kills.are_enough():
            is_resumption = job.is_under_way()
            code, text = kills.strike(job)
            assert code in (0, -signal.SIGKILL), text
            if job.is_under_way():
                continue
            assert job.path.read_bytes() in ((wanted,) if code == 0 or is_resumption else (wanted, job.data))
            if job_directory(job.path).exists():  # before it began, or when all was done but the last removal
                run("resume", "--abandon", job.path)
                assert job.path.read_bytes() in (wanted, job.data)
            job.renew()
        if job.is_under_way():
            assert run("resume", job.path).returncode == 0
            assert job.path.read_bytes() == wanted
    kills.check(f"in place on {kind}")


@pytest.mark.timeout(1800 if SOAK else 300)
@pytest.mark.parametrize("kind", KINDS)
def test_power_cut_at_random_moments(ecosort: Path, run: Run, tmp_path: Path, kind: str) -> None:
    """The whole file system is shut down without writing anything more, mounted again, and the job resumed, which is cut, too."""
    rng = random.Random(f"cut {kind}")
    with drive_of(kind, tmp_path) as drive:
        job = make_job(ecosort, run, drive, tmp_path)
        wanted = expected(job.data)
        cuts: Counter[str] = Counter()
        in_resume = sorted_files = 0
        while cuts.total() < CUTS or in_resume < CUTS // 4:
            subprocess.run(["sync", "-f", drive.root], check=True)
            is_resumption = job.is_under_way()
            code, _ = ended_by_power_cut(job, drive, job.moment(rng, rng.choice(PHASES)))
            if code != 0:
                cuts[job.reached()] += 1
                in_resume += is_resumption
            if job.is_under_way():
                continue  # the next one is a resumption
            if job_directory(job.path).exists():
                done = run("resume", job.path)
                assert done.returncode == 0 or "is whole" in done.stderr, done
            assert not job_directory(job.path).exists()
            assert job.path.read_bytes() in ((wanted,) if is_resumption else (wanted, job.data))
            sorted_files += job.path.read_bytes() == wanted
            job.renew()
        if job.is_under_way():
            assert run("resume", job.path).returncode == 0
            assert job.path.read_bytes() == wanted
    print(f"\nin place on {kind}: {cuts.total()} power cuts, {dict(cuts)}; {in_resume} inside resume; {sorted_files} jobs ended")
