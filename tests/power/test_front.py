"""How people get there: `ecosort power`, and the demonstration with a meter that can be read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .conftest import cli_env, toy_meter

DEMO = Path(__file__).resolve().parents[2] / "tuning" / "demo.py"


def test_ecosort_power_is_the_same_program(ecosort: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run([ecosort, "power", "--version"], env=cli_env(PATH=path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "ecosort-power, version" in done.stdout


def test_a_missing_harness_is_one_clear_line(ecosort: Path, tmp_path: Path) -> None:
    copy = tmp_path / "bin" / "ecosort"
    copy.parent.mkdir()
    shutil.copy(ecosort, copy)
    done = subprocess.run(
        [copy, "power"], env={**os.environ, "PATH": "/nonexistent"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "ecosort-power is not installed" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_demo_shows_joules_and_scope_where_a_meter_can_be_read(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "ecosort").mkdir()
    # A long period: only a machine that stands still for a second makes a gap here.
    (tmp_path / "ecosort/meters.toml").write_text(f'[meters]\ntoy = "{toy_meter("counter", settings="period=0.5")}"\n')
    with tempfile.TemporaryDirectory(dir=ecosort.parent) as name:  # the temporary directory may be memory, which the demo refuses
        words = [sys.executable, DEMO, "--program", ecosort, "--directory", Path(name, "demo"), "--records", "200000"]
        env = cli_env(XDG_CONFIG_HOME=str(tmp_path))
        done = subprocess.run(
            [*words, "--memory", "8MiB"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=180, check=False
        )
    assert done.returncode == 0, done.stderr
    energy = next(line for line in done.stdout.splitlines() if line.strip().startswith("energy"))
    assert " J (instrument: +-" in energy
    assert "records per joule; scope: wall" in energy
