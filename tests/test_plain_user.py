"""The quick part of the sort's tests once more, as a user without privileges who may lock 64 KiB of memory."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from sort_support import Require, as_plain_user, copy_program, directory_for_everyone, sanitizers

# What pytest is made of: the environment it is installed in may be out of the user's reach.
MODULES = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments", "pytest_timeout")
FILES = ("test_sort_order.py", "test_sort_report.py", "test_sort_streams.py")
QUICK = (
    "(matrix and (skewed or equal)) or keys or unique or inputs or striped or passes"
    " or statistics or events or moves_exactly or pipes or into_a_pipe or redirected or standard_input"
)


def copy_module(name: str, directory: Path) -> None:
    spec = importlib.util.find_spec(name)
    assert spec, name
    assert spec.origin, name
    source = Path(spec.origin)
    if source.name == "__init__.py":
        shutil.copytree(source.parent, directory / name, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, directory)


@pytest.mark.skipif(bool(sanitizers()), reason="minutes with sanitizers, which the same tests run under already")
def test_order_report_and_streams_as_a_plain_user(require: Require, ecosort: Path) -> None:
    require("setpriv")
    with directory_for_everyone() as directory:
        (directory / "modules").mkdir()
        for name in MODULES:
            copy_module(name, directory / "modules")
        shutil.copytree(ROOT / "tests", directory / "tests", ignore=shutil.ignore_patterns("cpp", "power", "__pycache__"))
        (directory / "build").mkdir()
        copy_program(ecosort, directory / "build")
        for path in (directory, *directory.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o755)
        directory.chmod(0o1777)  # a module is loaded only from where no one else can have put it
        (directory / "build").chmod(0o755)
        environment = {
            **os.environ,
            "ECOSORT_BUILD": str(directory / "build"),
            "ECOSORT_STRICT": "0",  # what needs root is tested by root
            "PYTHONPATH": f"{directory / 'modules'}:{directory / 'tests'}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        words = (
            "-m",
            "pytest",
            "-q",
            "-c",
            "/dev/null",
            "--rootdir",
            directory,
            "-p",
            "no:cacheprovider",
            "-p",
            "pytest_timeout",
        )
        words = (*words, "--timeout", "120", "--basetemp", directory / "tmp", "-k", QUICK)
        command = as_plain_user(Path(sys.executable).resolve(), *words, *(directory / "tests" / name for name in FILES))
        done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed
    assert int(passed.group(1)) > 100, done.stdout[-1000:]
