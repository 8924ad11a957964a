"""Says where is measured, and what: a directory on a drive with room, and the sorter."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ecosort_power.host import mount_of
from ecosort_power.validate import require_program

from ecosort_tuning.errors import UsageError

_SPACE_FACTOR = 3.2  # input, runs, output


def sorter_program() -> Path:
    return Path(require_program("it is what would be measured")).resolve()


def check_place(place: Path, size_bytes: int) -> None:
    """UsageError for what is no directory on a drive with room for input, runs and output."""
    if not place.is_dir():
        raise UsageError(f"{place} is no directory")
    if mount_of(place).in_memory:
        raise UsageError(f"{place} is memory, not a drive")
    need, free = size_bytes * _SPACE_FACTOR, shutil.disk_usage(place).free
    if need > free:
        raise UsageError(f"{place}: {need / 1e9:.1f} GB are needed, {free / 1e9:.1f} GB are free")


@contextmanager
def scratch(place: Path, what: str) -> Iterator[Path]:
    """A directory of this process there, gone afterwards with all that is in it."""
    data = place.resolve() / f"ecosort-{what}-{os.getpid()}"
    data.mkdir()
    try:
        yield data
    finally:
        shutil.rmtree(data, ignore_errors=True)
