"""Writes lines to a file from a thread of its own: a write may block for seconds while the drives are synchronised, and the one
who reads a meter must not wait for that."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from queue import SimpleQueue


class Journal:
    """`add` never blocks; each line goes to the file as soon as the file takes it. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name=f"journal-{path.name}", daemon=True)
        self._thread.start()

    def add(self, line: str) -> None:
        self._lines.put(line)

    def close(self) -> None:
        """All lines are on stable storage. OSError if one could not be written."""
        self._lines.put(None)
        self._thread.join()
        try:
            if self._error is not None:
                raise self._error
            self._file.flush()
            os.fsync(self._file.fileno())
        finally:
            self._file.close()

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            if self._error is not None:
                continue
            try:
                self._file.write(line + "\n")
                self._file.flush()
            except OSError as error:
                self._error = error
