"""A sort that is fed by this process and read by it: more than memory passes through, with 1 MiB of it here at a time."""

from __future__ import annotations

import contextlib
import fcntl
import subprocess
from collections.abc import Iterator, Sequence
from types import TracebackType

from ecosort.process import Sort
from ecosort.report import Report

PIECE_BYTES = 1 << 20


class PipedSort:
    """`ecosort WORDS...` from pipe to pipe: write() all, then pieces() once. The end of the `with` block stops what is left."""

    def __init__(self, words: Sequence[str]) -> None:
        self._sort = Sort([*words, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for pipe in (self._sort.process.stdin, self._sort.process.stdout):
            with contextlib.suppress(OSError):  # a user may have too many; then it is as large as usual
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIECE_BYTES)  # type: ignore[arg-type]
        self.report: Report | None = None

    def __enter__(self) -> PipedSort:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._sort.stop()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Raises what went wrong in the sort."""
        assert self._sort.process.stdin
        try:
            self._sort.process.stdin.write(data)
        except BrokenPipeError:
            self._sort.wait()
            raise

    def end_input(self) -> None:
        """Everything was written. Raises what went wrong in the sort."""
        assert self._sort.process.stdin
        try:
            self._sort.process.stdin.close()
        except BrokenPipeError:
            self._sort.wait()
            raise

    def pieces(self) -> Iterator[bytes]:
        """The output, piece by piece. Raises what went wrong in the sort, after the last piece at the latest."""
        pipe = self._sort.process.stdout
        assert pipe
        while piece := pipe.read(PIECE_BYTES):
            yield piece
        self.report = self._sort.wait()
