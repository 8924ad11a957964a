"""The scale test itself, at a size that takes a minute: what a terabyte shows is for `make scale-test SIZE=1TB`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from capabilities import only_in_soak
from conftest import BUILD, ROOT

DRIVE = BUILD / "tests" / "scale" / "record_drive"


LAST_STEPS = {
    ("64MiB", "inplace", "sort", "merge"): "check of merged",
    ("8MiB", "inplace"): "check of big.dat",  # has no room for all keys of the forecast
    ("64MiB", "joulesort"): "joulesort, 2 kills",
    ("64MiB", "cluster"): "check of parts",
    ("64MiB", "lines"): "check of sorted.csv",
}


@only_in_soak
@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts the drive")
@pytest.mark.skipif(not DRIVE.exists(), reason="needs the drive of the scale test: ninja -C build record_drive")
@pytest.mark.parametrize(("words", "last"), LAST_STEPS.items())
def test_sorts_on_the_drive_of_records_keep_their_plans(tmp_path: Path, words: tuple[str, ...], last: str) -> None:
    memory, *parts = words
    program = [sys.executable, str(ROOT / "tests" / "scale" / "at_scale.py"), "--build", str(BUILD)]
    options = ["--dir", str(tmp_path), "--size", "1GB", "--memory", memory, "--parts", *parts]
    done = subprocess.run([*program, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    steps = [line.split("|")[1].strip() for line in done.stdout.splitlines() if line.startswith("| ") and "step" not in line]
    assert steps[-1] == last
