"""The table of a scale test: a row for each step, with what it took and what was not kept."""

import contextlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Row:
    """A step of the table: of all processes that it took."""

    step: str
    size: int
    wall_s: float = 0.0
    cpu_s: float = 0.0
    memory_bytes: int = 0
    extra_bytes: int = 0
    journal_bytes: int = 0
    restarts_s: list[float] = field(default_factory=list)  # from a resumption's start until it moves on, without the recheck
    rechecks_s: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # figures that other steps do not have
    faults: list[str] = field(default_factory=list)

    def demand(self, is_kept: bool, what: str) -> None:
        if not is_kept:
            self.faults.append(what)


def used_by_file_system(place: Path) -> int:
    state = os.statvfs(place)
    return (state.f_blocks - state.f_bfree) * state.f_frsize


def used_by_files(place: Path) -> int:
    """Adds up all files with a name: XFS frees blocks late."""
    used = 0
    for entry in os.scandir(place):
        with contextlib.suppress(FileNotFoundError):
            used += used_by_files(Path(entry)) if entry.is_dir() else entry.stat().st_blocks * 512
    return used


class Space:
    """The most that is in use while this runs, more than at its beginning."""

    def __init__(self, used: Callable[[], int]) -> None:
        self._used, self._stop = used, threading.Event()
        self._before = self._most = used()
        self._thread = threading.Thread(target=self._watch)

    def more(self) -> int:
        return self._most - self._before

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            with contextlib.suppress(FileNotFoundError):
                self._most = max(self._most, self._used())

    def __enter__(self) -> "Space":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def mib(size: int) -> str:
    return f"{size / (1 << 20):,.1f}" if size else ""


def print_table(rows: list[Row]) -> None:
    print("| step | wall s | CPU s/GB | memory MiB | extra space MiB | journal MiB | recheck s | restart s | |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        seconds = [", ".join(f"{s:.1f}" for s in list_) for list_ in (row.rechecks_s, row.restarts_s)]
        figures = [f"{row.wall_s:.1f}", f"{row.cpu_s / row.size * 1e9:.2f}", mib(row.memory_bytes), mib(row.extra_bytes)]
        print(
            "|",
            " | ".join([row.step, *figures, mib(row.journal_bytes), *seconds, "; ".join([*row.notes, *row.faults])]),
            "|",
            flush=True,
        )
