"""Runs a command of the program in a task, and counts what it took."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ecosort.cluster.formats import Format
from ecosort.errors import EcoSortError
from ecosort.process import Sort
from ecosort.request import Request

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


def run_request(request: Request, command: Sequence[str] = ("run",)) -> dict[str, Any]:
    """Does a request by this command, and returns the report of `ecosort run`; others have none. Raises what went wrong.

    Standard output is discarded.
    """
    return Sort(request, command=command, has_stats=command[0] == "run").stats()


def run_unless_killed(request: Request) -> dict[str, Any]:
    """Does the same again where somebody killed the program, a few times: that says nothing about what it reads."""
    for _ in range(_KILLS):
        try:
            return run_request(request)
        except EcoSortError as error:
            if error.exit_code not in KILLED:
                raise
    return run_request(request)


def demand_available(memory_bytes: int) -> None:
    """Raises NotEnoughMemory where this machine has less for a process; the program says what limits it."""
    run_unless_killed(Format("lines", {}).of_part([os.devnull], "-", memory_bytes=memory_bytes))
