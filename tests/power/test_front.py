"""People get there by `ecosort power`, and by the demonstration with a meter that can be read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from .support import BUILD, Cli, cli_env, toy_meter

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


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["run", "--idle", "x"], "run: invalid value for '--idle': 'x' is no number of seconds; see ecosort-power run --help"),
        (["nothing"], "no such command 'nothing'; see ecosort-power --help"),
        (["run", "--meter", "sim", "--", "true"], "no meter is called 'sim' in {}; configured: none; did you mean 'sim:'?"),
    ],
)  # fmt: skip
def test_wrong_words_are_told_in_one_line(cli: Cli, tmp_path: Path, words: list[str], line: str) -> None:
    config = tmp_path / "meters.toml"
    config.touch()
    given = ["--config", str(config)] if "--meter" in words else []
    done = cli(*words[:1], *given, *words[1:])
    assert (done.returncode, done.stderr) == (2, f"ecosort-power: {line.format(config)}\n")


def demonstrate(directory: Path, mark: pytest.Mark) -> subprocess.CompletedProcess[str]:
    """The demonstration, for people who have named a meter."""
    program = BUILD / "ecosort"
    (directory / "ecosort").mkdir()
    # A long period: only a machine that stands still for long makes a gap here.
    (directory / "ecosort/meters.toml").write_text(f'[meters]\ntoy = "{toy_meter("counter", settings="period=0.2")}"\n')
    with tempfile.TemporaryDirectory(dir=BUILD) as name:  # the temporary directory may be memory, which the demo refuses
        words = [sys.executable, DEMO, "--program", program, "--directory", Path(name, "demo"), "--records", "2000000"]
        env = cli_env(XDG_CONFIG_HOME=str(directory))
        return subprocess.run(
            [*words, "--memory", "8MiB", "--idle", "1"],
            cwd=directory,
            env=env,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )


@pytest.mark.measured(by=demonstrate)
def test_the_demo_shows_joules_and_scope_where_a_meter_can_be_read(measured: subprocess.CompletedProcess[str]) -> None:
    assert measured.returncode == 0, measured.stderr
    energy = next(line for line in measured.stdout.splitlines() if line.strip().startswith("energy"))
    assert " J (instrument: +-" in energy
    assert "records per joule; scope: wall" in energy


@pytest.mark.parametrize("meter", ["exec:", "sim:5", "foo:", "csv:", "exec:true#unit=W", "exec:echo hi"])
def test_a_meter_that_cannot_be_leaves_no_directory(cli: Cli, tmp_path: Path, meter: str) -> None:
    done = cli("run", "--meter", meter, "--runs", "1", "--idle", "0", "--out", "r", "--", "true")
    assert done.returncode in (2, 3)
    assert done.stderr.count("\n") == 1, done.stderr
    assert list(tmp_path.iterdir()) == []
