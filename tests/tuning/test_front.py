"""People get there by `ecosort tune`, and the documents say so."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ecosort_tuning.cli import cli

from .conftest import ROOT, Tune, tune_env

README = (ROOT / "tuning" / "README.md").read_text()


def test_ecosort_tune_is_the_same_program(ecosort: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run([ecosort, "tune", "--version"], env=tune_env(PATH=path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "ecosort-tune, version" in done.stdout


def test_a_missing_program_is_one_clear_line(ecosort: Path, tmp_path: Path) -> None:
    copy = tmp_path / "bin" / "ecosort"
    copy.parent.mkdir()
    shutil.copy(ecosort, copy)
    env = {**os.environ, "PATH": "/nonexistent"}
    done = subprocess.run([copy, "tune"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "ecosort-tune is not installed" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_readme_shows_every_command_and_no_other() -> None:
    shown = set(re.findall(r"^    (?:.*\| )?ecosort-tune (\w+)", README, re.MULTILINE))
    assert shown == set(cli.commands)


def test_the_readme_shows_options_that_exist(ecosort: Path) -> None:
    known = {option for command in cli.commands.values() for p in command.params for option in (*p.opts, *p.secondary_opts)}
    of_others = {"--help", "--idle"}
    for command in ("sort", "plan"):
        done = subprocess.run([ecosort, command, "--help"], capture_output=True, text=True, check=True)
        of_others |= set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", done.stdout))
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README)) - of_others <= known


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_every_command_explains_itself(tune: Tune, command: str) -> None:
    done = tune(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: ecosort-tune {command}")


def test_what_is_not_understood_is_exit_code_two(tune: Tune) -> None:
    for words in (("nonsense",), ("compare", "one.json"), ("settings",), ("probe", "--depth", "0")):
        done = tune(*words)
        assert done.returncode == 2, words
        assert done.stderr
        assert "Traceback" not in done.stderr
