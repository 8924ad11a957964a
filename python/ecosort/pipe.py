"""A sort that is fed by this process and read by it: more than memory passes through, with 1 MiB of it here at a time."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import subprocess
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any

from ecosort.process import Sort
from ecosort.report import Report
from ecosort.request import Request

PIECE_BYTES = 1 << 20


class PipedSort:
    """A request from pipe to pipe: write() all, then pieces() once. The end of the `with` block stops what is left.

    Not `is_fed`: it reads files, and there is nothing to write; not `is_read`: it writes a file, and wait() ends it.
    """

    def __init__(self, request: Request, *, goal: str | None = None, is_fed: bool = True, is_read: bool = True) -> None:
        ends = [subprocess.PIPE if is_piped else subprocess.DEVNULL for is_piped in (is_fed, is_read)]
        told, self._complete = os.pipe() if is_fed else (-1, -1)
        try:
            self._sort = Sort(request, goal=goal, stdin=ends[0], stdout=ends[1], input_complete=told)
        except BaseException:
            self._close_complete()
            raise
        finally:
            if is_fed:
                os.close(told)
        for pipe in (self._sort.process.stdin, self._sort.process.stdout):
            with contextlib.suppress(OSError):  # a user may have too many; then it is as large as usual
                if pipe:
                    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIECE_BYTES)
        self.report: Report | None = None

    def __enter__(self) -> PipedSort:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends the program where it still works, which leaves nothing behind."""
        self._close_complete()
        self._sort.stop()

    def wait(self) -> Report:
        """Raises what went wrong in the sort."""
        self.report = self.report or self._sort.wait()
        return self.report

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Raises what went wrong in the sort."""
        assert self._sort.process.stdin
        try:
            self._sort.process.stdin.write(data)
        except BrokenPipeError:
            self._close_complete()
            self._sort.wait()
            raise

    def end_input(self) -> None:
        """Everything was written. Raises what went wrong in the sort."""
        assert self._sort.process.stdin
        try:
            self._sort.process.stdin.flush()
            with contextlib.suppress(BrokenPipeError):  # the program has ended
                os.write(self._complete, b".")
            self._close_complete()
            self._sort.process.stdin.close()
        except BrokenPipeError:
            self._close_complete()
            self._sort.wait()
            raise

    def _close_complete(self) -> None:
        """Without a byte in it, the program learns that the input is not complete."""
        if self._complete >= 0:
            os.close(self._complete)
        self._complete = -1

    def pieces(self) -> Iterator[bytes]:
        """The output, piece by piece. Raises what went wrong in the sort, after the last piece at the latest."""
        pipe = self._sort.process.stdout
        assert pipe
        while piece := pipe.read(PIECE_BYTES):
            yield piece
        self.wait()

    def read_into(self, buffer: Any) -> int:
        """Reads a part of the output instead; 0 is its end. Raises what went wrong in the sort."""
        pipe = self._sort.process.stdout
        assert pipe
        size = 0 if self.report else pipe.readinto1(buffer)  # type: ignore[attr-defined]
        if not size:
            self.wait()
        return int(size)


def fed(request: Request, parts: Iterable[Any], *, goal: str | None = None, is_read: bool = True) -> PipedSort:
    """Starts a sort and writes all parts of its input."""
    sort = PipedSort(request, goal=goal, is_read=is_read)
    try:
        buffer = bytearray()
        for part in parts:
            buffer += part
            if len(buffer) >= PIECE_BYTES:
                sort.write(buffer)
                buffer.clear()
        sort.write(buffer)
        sort.end_input()
    except BaseException:
        sort.stop()
        raise
    return sort


class Output(io.RawIOBase):
    def __init__(self, sort: PipedSort) -> None:
        self.sort = sort

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self.sort.read_into(buffer)

    def close(self) -> None:
        self.sort.stop()
        super().close()


class SortedReader(io.BufferedReader):
    """The output of a sort as a binary file; close() before its end stops the sort. Used by one thread at a time."""

    def __init__(self, sort: PipedSort) -> None:
        super().__init__(Output(sort), PIECE_BYTES)
        self._sort = sort

    @property
    def report(self) -> Report | None:
        """Is there when all was read."""
        return self._sort.report
