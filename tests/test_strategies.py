"""The comparison of merging and range partitioning sorts with both, counts what they move, and leaves nothing behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tuning" / "bench"))

from ecosort_bench.strategies import CPU_W, DRIVE_J_PER_GB, IDLE_W, KINDS, Taken, row


@pytest.mark.parametrize("kind", KINDS)
def test_both_strategies_are_measured_with_the_same_memory(ecosort: Path, tmp_path: Path, kind: str) -> None:
    words = ["--build", BUILD, "--dir", tmp_path, "--bytes", "8000000", "--memory", "4MiB", "--rounds", "1", "--kind", kind]
    done = subprocess.run(
        [sys.executable, "-m", "ecosort_bench.strategies", *map(str, words)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "tuning" / "bench", ROOT / "python")))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    merge, partition = ([cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()[2:])
    assert (merge[:4], partition[:3]) == ([kind, "4MiB", "merge", "1"], [kind, "4MiB", "partition"])
    assert int(partition[3]) >= 3
    assert 2 < float(merge[6]) < float(partition[6]) < 9  # a sample is a good part of so little
    assert list(tmp_path.iterdir()) == []


def test_joules_are_those_of_the_stated_model() -> None:
    taken = Taken(wall_s=10.0, cpu_s=4.0, moved_bytes=8_000_000_000, parts=5)
    assert taken.joules() == 10 * IDLE_W + 4 * CPU_W + 8 * DRIVE_J_PER_GB
    assert row("lines", "1GiB", "merge", 2_000_000_000, taken).endswith("| 5 | 10.00 | 2.00 | 4.00 | 74 |")
