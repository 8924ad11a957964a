"""Runs a command of the program in a task, and counts what it took."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ecosort.errors import EcoSortError, from_program
from ecosort.program import find_program

KILLED = [code for number in (signal.SIGKILL, signal.SIGTERM) for code in (-number, 128 + number)]  # exit codes


@dataclass
class Usage:
    """Adds up the processes that a task waited for. Times are of the clock of the day, because tasks of several nodes are
    compared.
    """

    begin_s: float
    cpu_begin_s: float

    @staticmethod
    def start() -> Usage:
        return Usage(time.time(), _children_cpu_s())

    def end(self) -> dict[str, float]:
        return {
            "begin_s": self.begin_s,
            "end_s": time.time(),
            "cpu_s": _children_cpu_s() - self.cpu_begin_s,
        }


def _children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_command(words: Sequence[str], *, wants_stats: bool = False) -> dict[str, Any]:
    """`ecosort COMMAND WORDS...` and what its --stats says, where it has that option. Raises what went wrong.

    Its standard output goes nowhere. Reports that are not those of a sort, which ecosort.process runs, come as they are.
    """
    command, *others = words
    with os.fdopen(os.memfd_create("ecosort-stats", os.MFD_CLOEXEC), "rb") as stats:
        options = [f"--stats=/proc/self/fd/{stats.fileno()}"] if wants_stats else []
        done = subprocess.run(
            [find_program(), command, *_behind_kind(others, ["--progress=json", "--quiet", *options])],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(stats.fileno(),),
            check=False,
        )
        if done.returncode != 0:
            raise _failure(done.returncode, done.stderr.decode(errors="replace").splitlines())
        told = stats.read()
    return json.loads(told) if told else {}


def demand_available(memory_bytes: int) -> None:
    """Raises NotEnoughMemory where this machine has less for a process; the program says what limits it."""
    run_command(["lines", f"--memory={memory_bytes}B", os.devnull])


def _behind_kind(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """`merge --lines`, `sample csv`: what says the kind comes first."""
    return [*words[:1], *options, *words[1:]]


def _failure(code: int, lines: Sequence[str]) -> EcoSortError:
    told: dict[str, Any] | None = None
    said = []
    for line in lines:
        if line.startswith('{"schema":"ecosort.error/'):
            told = json.loads(line)
        elif line and not line.startswith('{"schema":"ecosort.'):
            said.append(line.removeprefix("ecosort: "))
    if code < 0 or code > 128:
        error = EcoSortError(f"the program was ended by signal {-code if code < 0 else code - 128}")
        error.exit_code = code
        return error
    return from_program(code, told["message"] if told else " ".join(said) or f"exit code {code}", told)
