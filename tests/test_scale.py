"""The scale test itself, at a size that takes a minute: what a terabyte shows is for `make scale-test SIZE=1TB`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from capabilities import only_in_soak
from conftest import BUILD, ROOT

DRIVE = BUILD / "tests" / "scale" / "record_drive"


@only_in_soak
@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts the drive")
@pytest.mark.skipif(not DRIVE.exists(), reason="needs the drive of the scale test: ninja -C build record_drive")
def test_sorts_on_the_drive_of_records_keep_their_plans(tmp_path: Path) -> None:
    program = [sys.executable, str(ROOT / "tests" / "scale" / "at_scale.py"), "--build", str(BUILD)]
    words = ["--dir", str(tmp_path), "--size", "1GB", "--memory", "64MiB"]
    done = subprocess.run([*program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    steps = [line.split("|")[1].strip() for line in done.stdout.splitlines() if line.startswith("| ") and "step" not in line]
    assert steps[-1] == "check of merged"
