"""Writes lines to a file from a thread of its own: a write may block for seconds while the drives are synchronised, and the one
who reads a meter must not wait for that. What is written is hashed on its way, and sealed every so often and at the end."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from ecosort_power.seal import Seal

# A crash leaves no more than the readings of this long unsealed.
PART_S = 5.0


class Journal:
    """`add` never blocks; each line goes to the file as soon as the file takes it. Thread-safe."""

    def __init__(self, path: Path, seal: Seal | None = None) -> None:
        """`seal`: the chain of the directory that the file is in."""
        self._path = path
        self._seal = seal
        self._file = path.open("wb")
        self._hash, self._bytes, self._sealed_s = hashlib.sha256(), 0, time.monotonic()
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name=f"journal-{path.name}", daemon=True)
        self._thread.start()

    def add(self, line: str) -> None:
        self._lines.put(line)

    def close(self) -> None:
        """All lines are on stable storage and sealed. OSError if one could not be written."""
        self._lines.put(None)
        self._thread.join()
        try:
            if self._error is not None:
                raise self._error
            self._file.flush()
            os.fsync(self._file.fileno())
        finally:
            self._file.close()
        if self._seal is not None:
            self._seal.add("file", **self._state())

    def _state(self) -> dict[str, Any]:
        assert self._seal is not None
        return {"path": self._seal.name(self._path), "bytes": self._bytes, "sha256": self._hash.hexdigest()}

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            if self._error is not None:
                continue
            try:
                self._write(line.encode() + b"\n")
            except OSError as error:
                self._error = error

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()
        self._hash.update(data)
        self._bytes += len(data)
        if self._seal is not None and time.monotonic() - self._sealed_s >= PART_S:
            self._sealed_s = time.monotonic()
            self._seal.add("part", durable=False, **self._state())
