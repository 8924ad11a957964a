"""Runs a command of the program in a task, and counts what it took."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ecosort.errors import EcoSortError
from ecosort.process import Sort

KILLED = [code for number in (signal.SIGKILL, signal.SIGTERM) for code in (-number, 128 + number)]  # exit codes
_KILLS = 10


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
    """Runs `ecosort COMMAND WORDS...`, and returns what its --stats says, where it has that option. Raises what went wrong.

    Its standard output goes nowhere.
    """
    return Sort(words, has_stats=wants_stats).stats()


def run_unless_killed(words: Sequence[str], *, wants_stats: bool = False) -> dict[str, Any]:
    """Does the same again where somebody killed the program, a few times: that says nothing about what it reads."""
    for _ in range(_KILLS):
        try:
            return run_command(words, wants_stats=wants_stats)
        except EcoSortError as error:
            if error.exit_code not in KILLED:
                raise
    return run_command(words, wants_stats=wants_stats)


def demand_available(memory_bytes: int) -> None:
    """Raises NotEnoughMemory where this machine has less for a process; the program says what limits it."""
    run_unless_killed(["lines", f"--memory={memory_bytes}B", os.devnull])
