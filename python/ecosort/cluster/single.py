"""One file instead of parts: each part is written at its place in a file whose space was taken beforehand.

    OUTPUT.ecosort/output   | top, part 0 | part 1 | part 2 | ...      becomes OUTPUT by one rename
    OUTPUT.MANIFEST.json    is written after that; a job that is resumed in between writes it

An attempt that no one waits for any more (its node was lost, its twin won) may still write. It writes the same bytes as the one
that won, but others if it read a damaged slice. So a writer holds a shared lock on the file, the driver waits until no one
does, and what more than one attempt wrote at is read back before the commit.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

from ecosort.cluster.journal import RESUME, Event
from ecosort.cluster.manifest import Manifest, manifest_of_one, read_manifest, write_manifest
from ecosort.cluster.outputs import Output, appeared
from ecosort.durable import sync_directory
from ecosort.errors import BadInput, IoFailed, NotEnoughSpace
from ecosort.process import Sort
from ecosort.remote.s3_inputs import MANIFEST
from ecosort.report import Report
from ecosort.request import Request

Json = dict[str, Any]

_PIECE = 1 << 20
_BEHIND = 1 << 20  # a damaged slice lacks the ends of a few rows, which are put in: so far behind a part its attempts may write
_WAIT_S = 600.0  # for writers that no one waits for; a file server forgets the locks of a lost node within minutes
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)


class SingleFile:
    """The file of a job, for its driver. `sizes` are those of the rows of each part; `top_bytes` are in front of all rows."""

    def __init__(self, path: Path, sizes: Sequence[int], top_bytes: int) -> None:
        self.path = path
        self._top_bytes = top_bytes
        self._sizes = list(sizes)
        self._ends = list(accumulate(sizes, initial=top_bytes))
        self._descriptor = -1

    @property
    def size(self) -> int:
        return self._ends[-1]

    def place(self, part: int) -> Json:
        """Returns where a part goes. The first one writes what is on top, the others leave `skip` bytes of theirs out."""
        if part == 0:
            return {"file": str(self.path), "offset": 0, "bytes": self._ends[1], "skip": 0}
        return {"file": str(self.path), "offset": self._ends[part], "bytes": self._sizes[part], "skip": self._top_bytes}

    def prepare(self) -> bool:
        """Takes the space, durably. False: that was done before. Raises NotEnoughSpace."""
        if self.path.exists() and self.path.stat().st_size >= self.size:
            return False
        self.path.unlink(missing_ok=True)
        with self.path.open("xb") as file:
            _reserve(file, self.size)
            os.fsync(file.fileno())
        sync_directory(self.path.parent)
        return True

    def suspects(self, attempts: Sequence[int]) -> list[int]:
        """Parts that more than one attempt wrote at, of so many for each: theirs, or those of the parts in front."""
        found: set[int] = set()
        for part, count in enumerate(attempts):
            if count > 1:
                found.update(self._reached_from(part))
        return sorted(found)

    def _reached_from(self, part: int) -> Iterator[int]:
        end = self._ends[part + 1]
        return (other for other in range(part, len(self._sizes)) if other == part or self._ends[other] < end + _BEHIND)

    def close_to_writers(self) -> None:
        """Waits until no one writes any more; from now on no one can begin to. Raises IoFailed where somebody does not end."""
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        deadline = time.monotonic() + _WAIT_S
        while not _lock(self._descriptor, fcntl.LOCK_EX, self.path):
            if time.monotonic() > deadline:
                raise IoFailed(f"a lost task still writes '{self.path}'; end it, then {RESUME}")
            time.sleep(0.05)

    def open_to_writers(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def commit(self, output: Path) -> None:
        """One rename. The file is closed to writers, and stays so."""
        os.ftruncate(self._descriptor, self.size)
        os.fsync(self._descriptor)
        _demand_absent(output)
        self.path.rename(output)
        sync_directory(output.parent)
        self.open_to_writers()


class SingleOutput(Output):
    """Serves a job (see outputs.py). `directory` is that of the job."""

    def __init__(self, path: Path, directory: Path) -> None:
        self._path = path
        self._directory = directory
        self._file: SingleFile | None = None

    def is_committed(self, events: Sequence[Event]) -> bool:
        has_begun_to = any(event["event"] == "commit" for event in events)
        return has_begun_to and not (self._directory / "output").exists()

    def prepare(self, sizes: Sequence[int], top_bytes: int) -> bool:
        self._file = SingleFile(self._directory / "output", sizes, top_bytes)
        return self._file.prepare()

    def attempt(self, part: int, attempt: int, temp: Path) -> Json:
        scratch = self._directory / "attempts" / f"part-{part:05}.{attempt}"
        return {"output": str(scratch), "place": self._prepared.place(part), "upload": None}

    @property
    def _prepared(self) -> SingleFile:
        assert self._file
        return self._file

    def suspects(self, attempts: Sequence[int]) -> list[int]:
        self._prepared.close_to_writers()
        return self._prepared.suspects(attempts)

    def reopen(self) -> None:
        if self._file:
            self._file.open_to_writers()

    @property
    def _beside(self) -> Path:
        return self._path.with_name(f"{self._path.name}.{MANIFEST}")

    def commit(self, manifest: Manifest) -> None:
        _demand_absent(self._beside)
        self._prepared.commit(self._path)

    def complete(self, manifest: Manifest) -> None:
        """The manifest of the file, beside it."""
        if read_manifest(self._beside, manifest.job) is None:
            write_manifest(self._beside, manifest_of_one(manifest, self._path.name))

    def clean_up(self) -> None:
        shutil.rmtree(self._directory / "attempts", ignore_errors=True)

    def discard(self, sizes: Mapping[int, int]) -> None:
        (self._directory / "output").unlink(missing_ok=True)


def _demand_absent(path: Path) -> None:
    if os.path.lexists(path):
        raise appeared(path)


def _reserve(file: IO[bytes], size: int) -> None:
    """Makes the file that long without the space where the file system cannot reserve it."""
    call = ctypes.CDLL(None, use_errno=True).fallocate
    call.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    failed = size > 0 and call(file.fileno(), 0, 0, size) != 0
    if failed and ctypes.get_errno() in (errno.ENOSPC, errno.EDQUOT):
        os.unlink(file.name)  # noqa: PTH108  # what is in use cannot be used by anybody else
        raise NotEnoughSpace(f"no space for the {size} bytes of '{file.name}'; make room, then {RESUME}")
    if failed and ctypes.get_errno() not in (errno.EOPNOTSUPP, errno.ENOSYS):
        raise IoFailed(f"cannot reserve space in '{file.name}': {os.strerror(ctypes.get_errno())}", ctypes.get_errno())
    os.ftruncate(file.fileno(), size)


def _lock(descriptor: int, kind: int, path: Path | str) -> bool:
    """Locks an open file, so that a program which inherited it holds the lock, too. False: another one holds it."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in _NO_LOCKS:
            raise BadInput(f"'{path}' lies on a file system without locks, which --single wants; sort into parts") from None
        raise
    return True


@contextmanager
def _opened(place: Mapping[str, Any]) -> Iterator[IO[bytes]]:
    """The file at the place of a part, with the lock of a writer. What was written is durable afterwards."""
    with open(place["file"], "r+b", buffering=0) as file:  # noqa: PTH123  # a name as the task got it
        if not _lock(file.fileno(), fcntl.LOCK_SH, place["file"]):
            raise IoFailed(f"'{place['file']}' takes no more writers: its parts are complete")
        os.lseek(file.fileno(), place["offset"], os.SEEK_SET)
        yield file
        os.fsync(file.fileno())


def sort_into(place: Mapping[str, Any], request: Request) -> Report:
    """Runs a sort whose standard output is the place. Raises IoFailed where it does not fill that exactly."""
    with _opened(place) as file:
        report = _sort_behind_top(place, request, file) if place["skip"] else Sort(request, stdout=file).wait()
        if os.lseek(file.fileno(), 0, os.SEEK_CUR) != place["offset"] + place["bytes"]:
            raise IoFailed(f"a part has not the {place['bytes']} bytes of its place at {place['offset']}")
    return report


def _sort_behind_top(place: Mapping[str, Any], request: Request, file: IO[bytes]) -> Report:
    """Sorts all but what is on top, through a pipe."""
    sort = Sort(request, stdout=subprocess.PIPE)
    assert sort.process.stdout is not None
    try:
        pipe = sort.process.stdout.fileno()
        left = place["skip"]
        while left and (piece := os.read(pipe, min(left, _PIECE))):
            left -= len(piece)
        left = place["bytes"]
        while left and (moved := os.splice(pipe, file.fileno(), min(left, _PIECE))):
            left -= moved
        is_longer = bool(os.read(pipe, 1))
    except BaseException:
        sort.stop()
        raise
    if is_longer:
        sort.stop()
        raise IoFailed(f"a part is longer than the {place['bytes']} bytes of its place at {place['offset']}")
    return sort.wait()


def copy_of(place: Mapping[str, Any], copy: Path) -> int:
    """Copies what is at the place, behind what is on top, to a file of its own. Returns its size in bytes."""
    with open(place["file"], "rb", buffering=0) as file, copy.open("wb", buffering=0) as target:  # noqa: PTH123
        for offset, size in ((0, place["skip"]), (place["offset"], place["bytes"])):
            while size and (moved := os.sendfile(target.fileno(), file.fileno(), offset, min(size, 1 << 30))):
                offset, size = offset + moved, size - moved
    return copy.stat().st_size
