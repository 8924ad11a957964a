"""SIGKILL and power cuts at random moments of real resumable sorts, again and again: they end with every record in order."""

import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from capabilities import SOAK
from inplace_support import KINDS, drive_of, job_directory
from sort_support import FileSystem, Run, expected, make_records

RECORDS = 200_000  # 20 MB
KILLS = 200 if SOAK else 10  # on each file system
CUTS = 20 if SOAK else 3


class Sorting:
    """One output that is to come into being, whoever gets in the way."""

    def __init__(self, ecosort: Path, drive: FileSystem, directory: Path) -> None:
        self.ecosort, self.drive = ecosort, drive
        self.source, self.out = directory / "in", drive.root / "out"
        self.events = directory / "events"
        self.data = make_records(ecosort, "ascii", RECORDS)
        self.source.write_bytes(self.data)
        self.seconds = self.measure()

    def is_under_way(self) -> bool:
        return job_directory(self.out).exists()

    def begin(self) -> subprocess.Popen[str]:
        self.events.unlink(missing_ok=True)
        words = (
            ["resume", self.out]
            if self.is_under_way()
            else ["sort", "--resumable", self.source, "-o", self.out, "--memory", "2MiB"]
        )
        command = [self.ecosort, *words, "--events", self.events, "-q"]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def end(self, process: subprocess.Popen[str]) -> tuple[int, str]:
        _, text = process.communicate(timeout=120)
        return process.returncode, text

    def measure(self) -> float:
        started = time.monotonic()
        code, text = self.end(self.begin())
        assert code == 0, text
        self.out.unlink()
        return time.monotonic() - started

    def last_phase(self) -> str:
        lines = self.events.read_text().splitlines() if self.events.exists() else []
        begun = [line for line in lines if '"event":"begin"' in line]
        return begun[-1].split('"phase":"')[1].split('"')[0] if begun else "none"


@pytest.mark.timeout(1800 if SOAK else 300)
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_random_moments(ecosort: Path, run: Run, tmp_path: Path, kind: str) -> None:
    rng = random.Random(kind)
    killed: Counter[str] = Counter()
    resumed = ended = 0
    with drive_of(kind, tmp_path) as drive:
        sorting = Sorting(ecosort, drive, tmp_path)
        wanted = expected(sorting.data)
        while sum(killed.values()) < KILLS or resumed < KILLS // 5:
            is_resumption = sorting.is_under_way()
            process = sorting.begin()
            time.sleep(rng.uniform(0, sorting.seconds))
            process.kill()
            code, text = sorting.end(process)
            assert code in (0, -signal.SIGKILL) or (code == 2 and "start the sort again" in text), text
            if code == -signal.SIGKILL:
                killed[sorting.last_phase()] += 1
                resumed += is_resumption
            if sorting.out.exists():
                ended += 1
                assert sorting.out.read_bytes() == wanted
                run("resume", sorting.out)
                sorting.out.unlink()
        if sorting.is_under_way():
            done = run("resume", sorting.out)
            assert done.returncode == 0 or "start the sort again" in done.stderr
        assert sorting.source.read_bytes() == sorting.data
        assert not sorting.is_under_way()
    print(f"{kind}: killed in {dict(killed)}, {resumed} of them resumptions; {ended} outputs")
    assert killed["run_formation"] > 0
    assert killed["merge"] > 0


@pytest.mark.timeout(1800 if SOAK else 300)
@pytest.mark.parametrize("kind", KINDS)
def test_power_cut_at_random_moments(ecosort: Path, run: Run, tmp_path: Path, kind: str) -> None:
    """The whole file system is shut down without writing anything more, mounted again, and the sort resumed."""
    rng = random.Random(f"cut {kind}")
    with drive_of(kind, tmp_path) as drive:
        assert drive.image
        sorting = Sorting(ecosort, drive, tmp_path)
        wanted = expected(sorting.data)
        cuts = 0
        while cuts < CUTS:
            subprocess.run(["sync", "-f", drive.root], check=True)
            process = sorting.begin()
            time.sleep(rng.uniform(0, sorting.seconds))
            subprocess.run(["xfs_io", "-x", "-c", "shutdown", drive.root], check=True)
            code, _ = sorting.end(process)
            for _attempt in range(50):
                if subprocess.run(["umount", drive.root], capture_output=True, check=False).returncode == 0:
                    break
                time.sleep(0.1)
            subprocess.run(["mount", "-o", "loop", drive.image, drive.root], check=True)
            cuts += code != 0
            if sorting.is_under_way():
                done = run("resume", sorting.out)
                assert done.returncode == 0 or "start the sort again" in done.stderr, done
            assert not sorting.is_under_way()
            if sorting.out.exists():
                assert sorting.out.read_bytes() == wanted
                sorting.out.unlink()
