"""The commands that are installed: `ecosort` becomes the program; the others are its Python tools."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
import sysconfig
from typing import TYPE_CHECKING

from ecosort.errors import ProgramNotFound
from ecosort.extras import how_to_install
from ecosort.program import find_program

if TYPE_CHECKING:
    from typing_extensions import Buffer


def ecosort() -> None:
    """Becomes the program, which finds the tools beside this command."""
    path = os.environ.get("PATH", "/usr/bin:/bin")
    os.environ["PATH"] = os.pathsep.join((path, sysconfig.get_path("scripts")))
    try:
        program = find_program()
    except ProgramNotFound as error:
        _end("ecosort", str(error))
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and the program would go on to
        signal.signal(number, signal.SIG_DFL)
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
    except KeyboardInterrupt:  # the tool itself has no handler yet
        sys.exit(128 + signal.SIGINT)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _output_in_place_of(sys.stdout)
    try:
        sys.exit(main())
    finally:
        _write_rest(command)


class _Output(io.FileIO):
    """Standard output. Where its reader has gone, as in `| head`, this process ends silently."""

    _is_lost = False

    def write(self, data: Buffer, /) -> int:
        if self._is_lost:  # Python writes what is left when it ends
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except OSError as error:
            self._is_lost = True
            if isinstance(error, BrokenPipeError):
                sys.exit(128 + signal.SIGPIPE)
            raise


def _output_in_place_of(old: io.TextIOWrapper) -> io.TextIOWrapper:
    buffer = io.BufferedWriter(_Output(old.fileno(), "w", closefd=False))
    return io.TextIOWrapper(
        buffer, old.encoding, old.errors, line_buffering=old.line_buffering, write_through=old.write_through
    )  # fmt: skip


def _write_rest(command: str) -> None:
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        _end(command, f"cannot write '(standard output)': {error.strerror}")


def _end(command: str, line: str) -> None:
    print(f"{command}: {line}", file=sys.stderr)
    sys.exit(2)
