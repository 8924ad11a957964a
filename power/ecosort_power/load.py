"""Makes the machine busy and idle in a known pattern."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from ecosort_power.errors import UsageError
from ecosort_power.transports.process import spawn, stop

_BURN = "while True: pass"
# Lengths of busy and idle stretches in units; no two neighbours repeat, so that a shift by a whole period fits nowhere else.
PATTERN = (3.0, 4.0, 5.0, 2.0, 2.0, 3.0, 1.5, 1.0, 1.0, 2.0, 4.0, 3.5)


@dataclass(frozen=True, slots=True)
class Steps:
    """The load as it really was: level i (0 idle, 1 busy) from edge i to edge i + 1, CLOCK_MONOTONIC."""

    edges_s: list[float]
    levels: list[float]


def _start(command: str | None, env: Mapping[str, str] | None) -> list[subprocess.Popen[bytes]]:
    if command is None:
        words: Sequence[Sequence[str]] = [[sys.executable, "-I", "-S", "-c", _BURN]] * (os.cpu_count() or 1)
    else:
        words = [shlex.split(command)]
    try:
        silent = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return [spawn(w, env, **silent) for w in words]
    except OSError as error:
        raise UsageError(f"the load {command} cannot be started: {error.strerror}") from error


@contextmanager
def busy(command: str | None, env: Mapping[str, str] | None = None) -> Iterator[None]:
    """The machine is busy inside: all processors, or what the command does."""
    children = _start(command, env)
    try:
        yield
    finally:
        for child in children:
            stop(child, 1.0)


def run_pattern(seconds: float, command: str | None, env: Mapping[str, str] | None = None) -> Steps:
    """Idle and busy in turns for `seconds` in all. The edges are when the load's processes were started and stopped."""
    unit = seconds / sum(PATTERN)
    edges, levels = [time.monotonic()], []
    for i, length in enumerate(PATTERN):
        works = i % 2 == 1
        with busy(command, env) if works else nullcontext():
            time.sleep(length * unit)
        edges.append(time.monotonic())
        levels.append(1.0 if works else 0.0)
    return Steps(edges, levels)
