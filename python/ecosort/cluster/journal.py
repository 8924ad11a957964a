"""The journal of a job: what was planned, begun and done, one line each, on stable storage before anything depends on it.

A line is the CRC-32 of the rest as 8 hexadecimal digits, a blank, a JSON object, or a list of those that were appended at once. A
line that the crash cut off is forgotten; a damaged one before the end is refused. One process at a time has a journal open: it
holds a lock, which ends with the process.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import zlib
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ecosort.durable import create_durably
from ecosort.errors import BadInput, IoFailed

Event = dict[str, Any]

RESUME = "`ecosort cluster resume`"  # in errors, to which the driver of the job adds its name


class Journal:
    """An open journal. `events` are those that were there; append() adds some durably."""

    def __init__(self, path: Path) -> None:
        """Opens one that exists. Raises BadInput where there is none, where it is of another command, which it stays, or where
        another process has it open."""
        self.path = path
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            raise BadInput(f"'{path}' is not there: '{path.parent}' is no job of ecosort cluster, or it was committed") from None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise BadInput(f"another process works on the job '{path.parent}'; wait for it, or end it") from None
        if not is_own(path):
            self.close()
            raise BadInput(foreign_job(path.parent))
        self.events, whole = _read(path)
        os.ftruncate(self._descriptor, whole)
        os.lseek(self._descriptor, 0, os.SEEK_END)

    @classmethod
    def create(cls, path: Path, first: Event) -> Self:
        """A new one, with its first event. The directory must be there. Raises FileExistsError where it has one."""
        create_durably(path, _line(first))
        return cls(path)

    def append(self, *events: Event) -> None:
        """Durable when this returns. After a crash either all are there or none: they are one line."""
        line = _line(events[0] if len(events) == 1 else list(events))
        if os.write(self._descriptor, line) != len(line):
            raise IoFailed(f"'{self.path}': the drive took a part of a line only")
        os.fdatasync(self._descriptor)
        self.events += events

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def is_own(path: Path) -> bool:
    """The file begins as a journal of a cluster does, or is empty."""
    with path.open("rb") as file:
        first = file.read(10)
    return re.fullmatch(rb"[0-9a-f]{8} \{", first) is not None or not first


def foreign_job(directory: Path) -> str:
    """Says that OUTPUT.ecosort is of `ecosort inplace` or --resumable, which name their directories alike."""
    output = str(directory).removesuffix(".ecosort")
    again = f"a job of ecosort inplace, or with --resumable, continues with: ecosort resume {output}"
    return f"'{directory}' is no job of a cluster: {again}"


def _is_whole(line: bytes) -> bool:
    return line[:9] == b"%08x " % zlib.crc32(line[9:])


def _line(told: Event | list[Event]) -> bytes:
    text = json.dumps(told, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _read(path: Path) -> tuple[list[Event], int]:
    """The events, and how many bytes they take."""
    data = path.read_bytes()
    lines = data.split(b"\n")
    events: list[Event] = []
    whole = 0
    for number, line in enumerate(lines[:-1]):
        if not _is_whole(line):
            if number == len(lines) - 2:
                break  # torn: its newline reached the drive before its bytes did
            raise IoFailed(f"'{path}' is damaged in line {number + 1}; the job cannot continue, its inputs are untouched")
        told = json.loads(line[9:])
        events += told if isinstance(told, list) else [told]
        whole += len(line) + 1
    return events, whole
