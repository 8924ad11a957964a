"""The installed commands as shells run them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT


def run_unread(command: str, *words: str) -> tuple[int, str]:
    """Runs a command whose standard output no one reads, and returns its exit code and what it says."""
    reader, writer = os.pipe()
    os.close(reader)
    start = f"from ecosort import launch; launch.{command}()"
    done = subprocess.run(
        [sys.executable, "-c", start, *words], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )  # fmt: skip
    os.close(writer)
    return done.returncode, done.stderr


def test_the_program_ends_by_a_closed_pipe_although_python_ignores_the_signal(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"line\n" * 20_000)
    assert run_unread("ecosort", "lines", str(tmp_path / "in")) == (-13, "")


@pytest.mark.parametrize("tool", ["cluster", "power", "appliance", "tune"])
def test_a_tool_ends_silently_by_a_closed_pipe(tool: str) -> None:
    assert run_unread(tool, "--help") == (128 + 13, "")


def test_a_tool_that_is_interrupted_while_it_starts_ends_silently() -> None:
    start = """
import signal
from ecosort import launch
def interrupt(name, *rest): signal.raise_signal(signal.SIGINT)
launch.importlib.import_module = interrupt
launch.cluster()
"""
    done = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (128 + 2, "")


def test_a_tool_says_in_a_line_that_standard_output_is_full() -> None:
    with Path("/dev/full").open("wb") as full:
        start = "from ecosort import launch; launch.cluster()"
        done = subprocess.run(
            [sys.executable, "-c", start, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr == "ecosort-cluster: cannot write '(standard output)': No space left on device\n"


ASKED_FOR = """
import sys
import ecosort_appliance.keeper
import ecosort
assert not {"ecosort.options", "ecosort.sorting", "ecosort.tables"} & set(sys.modules), "a keeper needs none of them"
assert ecosort.errors.BadInput.__module__ == "ecosort.errors"
assert "ecosort.sorting" not in sys.modules
ecosort.resume = len
from ecosort import *
assert sort is ecosort.sort and ecosort.resume is len and {*ecosort.__all__} <= {*dir(ecosort)}
assert not hasattr(ecosort, "no_such_name") and not hasattr(ecosort, "keys.col")
"""


def test_the_package_loads_what_is_asked_for() -> None:
    """Each job of the queue starts a keeper."""
    path = os.pathsep.join(str(ROOT / name) for name in ("python", "power", "appliance"))
    subprocess.run([sys.executable, "-c", ASKED_FOR], env={**os.environ, "PYTHONPATH": path}, check=True)


def test_checkers_of_types_see_no_function_that_gives_any_name() -> None:
    """They would take each misspelt name for one of the package."""
    tree = ast.parse((ROOT / "python" / "ecosort" / "__init__.py").read_text())
    assert not [node for node in tree.body if isinstance(node, ast.FunctionDef)]
