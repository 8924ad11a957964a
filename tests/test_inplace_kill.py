"""SIGKILL and power cuts at random moments of real in-place sorts, again and again: every record is there in the end."""

import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from capabilities import SOAK
from inplace_support import KINDS, drive_of, job_directory, plan_of
from sort_support import MIB, FileSystem, Run, expected, make_records

RECORDS = 200_000  # 20 MB
KILLS = 100 if SOAK else 12  # on each file system
CUTS = 20 if SOAK else 3


def last_phase(events: Path) -> str:
    begun = [line for line in events.read_text().splitlines() if '"event":"begin"' in line] if events.exists() else []
    return begun[-1].split('"phase":"')[1].split('"')[0] if begun else "none"


class Job:
    """One file that is sorted, whoever gets in the way."""

    def __init__(self, ecosort: Path, drive: FileSystem, data: bytes, directory: Path) -> None:
        self.ecosort, self.drive, self.data = ecosort, drive, data
        self.path = drive.root / "data"
        self.events = directory / "events"
        self.seconds = 0.0

    def is_under_way(self) -> bool:
        return not self.path.exists()

    def begin(self) -> subprocess.Popen[str]:
        self.events.unlink(missing_ok=True)
        command = "resume" if self.is_under_way() else "inplace"
        words = [self.ecosort, command, self.path, "--memory", "4MiB", "--events", self.events, "-q"]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def end(self, process: subprocess.Popen[str]) -> tuple[int, str]:
        assert process.stderr
        text = process.stderr.read()
        process.stderr.close()
        return process.wait(timeout=120), text

    def renew(self) -> None:
        self.path.write_bytes(self.data)

    def measure(self) -> None:
        self.renew()
        started = time.monotonic()
        code, text = self.end(self.begin())
        assert code == 0, text
        self.seconds = time.monotonic() - started
        self.renew()


def make_job(ecosort: Path, run: Run, drive: FileSystem, directory: Path) -> Job:
    job = Job(ecosort, drive, make_records(ecosort, "ascii", RECORDS), directory)
    job.renew()
    drive.fill_until(plan_of(run, job.path, "--memory", "4MiB")["needed_bytes"] + MIB)
    job.measure()
    return job


@pytest.mark.timeout(1800 if SOAK else 300)
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_random_moments(ecosort: Path, run: Run, tmp_path: Path, kind: str) -> None:
    rng = random.Random(kind)
    killed: Counter[str] = Counter()
    resumed = 0
    with drive_of(kind, tmp_path) as drive:
        job = make_job(ecosort, run, drive, tmp_path)
        wanted = expected(job.data)
        while sum(killed.values()) < KILLS or resumed < KILLS // 5:
            is_resumption = job.is_under_way()
            process = job.begin()
            time.sleep(rng.uniform(0, job.seconds))
            process.kill()
            code, text = job.end(process)
            assert code in (0, -signal.SIGKILL) or (code == 2 and not job.is_under_way()), text
            if code == -signal.SIGKILL:
                killed[last_phase(job.events)] += 1
                resumed += is_resumption
            if not job.is_under_way() and not job_directory(job.path).exists() and code == 0:
                assert job.path.read_bytes() == wanted
                job.renew()
            elif not job.is_under_way():  # before it began, or when all was done but the last removal
                assert job.path.read_bytes() in (job.data, wanted)
                run("resume", "--abandon", job.path)
                job.renew()
        if job.is_under_way():
            assert run("resume", job.path).returncode == 0
            assert job.path.read_bytes() == wanted
    print(f"{kind}: killed in {dict(killed)}, {resumed} of them resumptions")
    assert killed["run_formation"] > 0
    assert killed["merge"] > 0


@pytest.mark.timeout(1800 if SOAK else 300)
@pytest.mark.parametrize("kind", KINDS)
def test_power_cut_at_random_moments(ecosort: Path, run: Run, tmp_path: Path, kind: str) -> None:
    """The whole file system is shut down without writing anything more, mounted again, and the job resumed."""
    rng = random.Random(f"cut {kind}")
    with drive_of(kind, tmp_path) as drive:
        assert drive.image
        job = make_job(ecosort, run, drive, tmp_path)
        wanted = expected(job.data)
        cuts = 0
        while cuts < CUTS:
            subprocess.run(["sync", "-f", drive.root], check=True)
            process = job.begin()
            time.sleep(rng.uniform(0, job.seconds))
            subprocess.run(["xfs_io", "-x", "-c", "shutdown", drive.root], check=True)
            code, _ = job.end(process)
            for _attempt in range(50):
                if subprocess.run(["umount", drive.root], capture_output=True, check=False).returncode == 0:
                    break
                time.sleep(0.1)
            subprocess.run(["mount", "-o", "loop", drive.image, drive.root], check=True)
            cuts += code != 0
            if job.is_under_way() or job_directory(job.path).exists():
                done = run("resume", job.path)
                assert done.returncode == 0 or "is whole" in done.stderr, done
            assert not job_directory(job.path).exists()
            assert job.path.read_bytes() in (wanted, job.data)
            job.renew()
