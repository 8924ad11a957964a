"""Processes of a scale test: their progress, their end, and what they took."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scale_table import Row

MOST_SECONDS = 6 * 3600  # that one step may take


def has_ended(process: "subprocess.Popen[Any]") -> bool:
    """Leaves what it took to be asked for."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


@dataclass
class Attempt:
    """One process of the program."""

    code: int
    progress: list[tuple[float, dict[str, object]]]  # seconds since its start, and what it told
    told: str


class Program:
    """A command whose processes are counted in a row of the table."""

    def __init__(self, command: Sequence[str | Path], row: Row, env: Mapping[str, str] | None = None) -> None:
        self._command, self._row, self._env = [str(word) for word in command], row, env
        self._tells_progress = env is None  # those in Python do not

    def run(self, *words: str | Path, kill_at: Callable[[dict[str, object]], bool] | None = None) -> Attempt:
        """Is killed where `kill_at` says so of a line of progress."""
        command = [*self._command, *map(str, words)]
        if self._tells_progress and words[0] in ("sort", "inplace", "resume", "merge", "lines", "csv"):
            command.append("--progress=json")
        begin = time.monotonic()
        progress: list[tuple[float, dict[str, object]]] = []
        told = []
        with self._begin(command, stderr=subprocess.PIPE) as process:
            assert process.stderr
            for line in process.stderr:
                if not line.startswith('{"schema":"ecosort.progress/1"'):
                    told.append(line)
                    continue
                progress.append((time.monotonic() - begin, json.loads(line)))
                if kill_at and kill_at(progress[-1][1]):
                    os.kill(process.pid, signal.SIGKILL)
                    kill_at = None
            process.stderr.close()
        return Attempt(process.returncode, progress, "".join(told))

    def kill_when(self, is_there: Callable[[], bool], *words: str | Path) -> bool:
        """Kills as soon as that is so, however short that takes. False: the process ended before."""
        with self._begin([*self._command, *map(str, words)]) as process:
            end = time.monotonic() + MOST_SECONDS
            while not has_ended(process) and not is_there() and time.monotonic() < end:
                time.sleep(0.001)
            os.kill(process.pid, signal.SIGKILL)
        return process.returncode == -signal.SIGKILL

    @contextlib.contextmanager
    def _begin(self, command: list[str], stderr: int | None = None) -> Iterator["subprocess.Popen[str]"]:
        """Counts what it took when the block has ended. It does not outlive a block that fails."""
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, text=True, env=self._env)
        try:
            yield process
        except BaseException:
            os.kill(process.pid, signal.SIGKILL)
            raise
        finally:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        row = self._row
        row.wall_s += time.monotonic() - begin
        row.cpu_s += usage.ru_utime + usage.ru_stime
        row.memory_bytes = max(row.memory_bytes, usage.ru_maxrss * 1024)

    def output_of(self, *words: str | Path) -> str:
        """Is not counted."""
        command = [*self._command, *map(str, words)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=self._env).stdout

    def must(self, *words: str | Path) -> Attempt:
        attempt = self.run(*words)
        if attempt.code != 0:
            sys.exit(f"scale-test: {' '.join([*self._command, *map(str, words)])}: exit {attempt.code}\n{attempt.told}")
        return attempt


def at(phase: str, percent: float) -> Callable[[dict[str, object]], bool]:
    def is_there(told: dict[str, object]) -> bool:
        return told["phase"] == phase and isinstance(told["percent"], float) and told["percent"] >= percent

    return is_there


def note_restart(row: Row, attempt: Attempt) -> None:
    """Notes how long it rechecked, and how long it took besides until something was moved."""
    rechecks = [seconds for seconds, told in attempt.progress if told["phase"] == "recheck"]
    recheck = rechecks[-1] - rechecks[0] if rechecks else 0.0
    moves = [s for s, told in attempt.progress if told["phase"] in ("run formation", "merge") and told["bytes"]]
    row.rechecks_s.append(recheck)
    row.restarts_s.append((moves[0] if moves else attempt.progress[-1][0]) - recheck)
