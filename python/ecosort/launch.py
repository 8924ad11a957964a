"""The commands that are installed: `ecosort` becomes the program; the others are its Python tools."""

from __future__ import annotations

import importlib
import os
import sys
import sysconfig

from ecosort.errors import ProgramNotFound
from ecosort.extras import how_to_install
from ecosort.program import find_program


def ecosort() -> None:
    """Becomes the program, which finds the tools beside this command."""
    path = os.environ.get("PATH", "/usr/bin:/bin")
    os.environ["PATH"] = os.pathsep.join((path, sysconfig.get_path("scripts")))
    try:
        program = find_program()
    except ProgramNotFound as error:
        _end("ecosort", str(error))
    os.execv(program, [str(program), *sys.argv[1:]])


def power() -> None:
    """`ecosort-power`, which needs the extra `power`."""
    _run("ecosort-power", "ecosort_power.cli", "power")


def appliance() -> None:
    """`ecosort-appliance`, which needs the extra `appliance`."""
    _run("ecosort-appliance", "ecosort_appliance.cli", "appliance")


def cluster() -> None:
    """`ecosort-cluster`, which needs no extra but for `--on ray`."""
    _run("ecosort-cluster", "ecosort.cluster.cli", "cluster")


def parquet() -> None:
    """`ecosort-parquet`, which needs the extra `arrow`."""
    _run("ecosort-parquet", "ecosort.parquet", "arrow")


def remote() -> None:
    """`ecosort-remote`, which needs obstore for an output."""
    _run("ecosort-remote", "ecosort.remote.sort", "cluster")


def tune() -> None:
    """`ecosort-tune`, which needs the extra `tune`."""
    _run("ecosort-tune", "ecosort_tuning.cli", "tune")


def _run(command: str, module: str, extra: str) -> None:
    try:
        main = importlib.import_module(module).main
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("ecosort"):
            raise
        _end(command, f"the Python package {error.name} is not installed; run: {how_to_install(extra, error.name or '')}")
    sys.exit(main())


def _end(command: str, line: str) -> None:
    print(f"{command}: {line}", file=sys.stderr)
    sys.exit(2)
