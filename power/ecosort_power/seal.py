"""The seal of a result directory: a chain of hashes, DIR/seal.jsonl, written as the measurement continues.

Each line is one JSON object that needs no other line to be read:

    {"n": 7, "previous": HASH, "time": "2026-02-03T10:20:30.123+01:00", "what": "file", "path": "runs/01/events.jsonl",
     "bytes": 812, "sha256": "...", "hash": HASH}

`hash` is the SHA-256 of the line without it (keys sorted, no spaces), so that no line can be changed, left out or moved without
breaking the next one. What is sealed:

    part      the first `bytes` bytes of a file of readings that is still being written
    file      a finished file
    document  a file that is replaced as a whole; sealed before it takes its name, so that the last line always fits
    command   the words of a run, at its start
    moved     an interrupted run was set aside under another name
    torn      the line before was cut off by a crash

A chain shows accidents and edits. It does not show that a machine, a meter or a user said the truth: a user who can write the
directory can also make all of it anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from ecosort_power.codec import document_text
from ecosort_power.encoding import SPELLED
from ecosort_power.errors import UsageError
from ecosort_power.nesting import parse_json

FILE_NAME = "seal.jsonl"
FIRST = "0" * 64
_BLOCK_BYTES = 1 << 20


def line_hash(entry: Mapping[str, Any]) -> str:
    bare = {k: v for k, v in entry.items() if k != "hash"}
    return hashlib.sha256(json.dumps(bare, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def digest_of(path: Path, size: int | None = None) -> tuple[int, str]:
    """Bytes and SHA-256 of a file, or of its first `size` bytes."""
    state, left = hashlib.sha256(), size if size is not None else path.stat().st_size
    total = 0
    with path.open("rb") as f:
        while left and (block := f.read(min(_BLOCK_BYTES, left))):
            state.update(block)
            total, left = total + len(block), left - len(block)
    return total, state.hexdigest()


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the chain as it is stored; `entry` is None where it is no JSON object."""

    number: int
    text: bytes
    entry: dict[str, Any] | None


def read_lines(path: Path) -> Iterator[Line]:
    for number, text in enumerate(path.read_bytes().split(b"\n"), 1):
        if not text:
            continue
        try:
            entry = parse_json(text)
        except ValueError:
            entry = None
        yield Line(number, text, entry if isinstance(entry, dict) else None)


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the chain: a submission shows it."""

    lines: int
    digest: str


def head_of(directory: Path) -> Head | None:
    """None if nothing is sealed there."""
    try:
        entries = [line.entry for line in read_lines(directory / FILE_NAME) if line.entry is not None]
    except OSError:
        return None
    return Head(len(entries), str(entries[-1].get("hash"))) if entries else None


def last_command(directory: Path, path: str) -> list[str] | None:
    """The words that were sealed for a run when it was last started."""
    try:
        entries = [line.entry or {} for line in read_lines(directory / FILE_NAME)]
    except OSError:
        return None
    words = [e.get("words") for e in entries if e.get("what") == "command" and e.get("path") == path]
    return words[-1] if words and isinstance(words[-1], list) else None


def _alone(directory: Path) -> IO[bytes]:
    """The chain, opened to be written, and locked until it is closed, also by a crash: two measurements in one directory would
    break it. UsageError if another one writes it."""
    file = (directory / FILE_NAME).open("ab", buffering=0)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise UsageError(f"another ecosort-power works in {directory}; wait until it has ended") from None
    except OSError:  # a file system without locks
        pass
    return file


def require_alone(directory: Path) -> None:
    """UsageError if a measurement writes the chain of this directory now."""
    if (directory / FILE_NAME).exists():
        _alone(directory).close()


class Seal:
    """Writes the chain of one directory, a new one or on from its last line. Thread-safe. OSError is the drive's; UsageError
    where another process writes there."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        path = directory / FILE_NAME
        self._file = _alone(directory)
        lines = list(read_lines(path))
        good = [line.entry for line in lines if line.entry is not None]
        self._count, self._last = len(good), str(good[-1].get("hash")) if good else FIRST
        if lines and not path.read_bytes().endswith(b"\n"):
            self._append(b"\n")
            if lines[-1].entry is None:
                self.add("torn", bytes=len(lines[-1].text), sha256=hashlib.sha256(lines[-1].text).hexdigest())
        self._roll_forward([e for e in good if e.get("what") == "document" and isinstance(e.get("path"), str)])

    def _roll_forward(self, documents: list[dict[str, Any]]) -> None:
        """A document that was sealed when a crash kept it from taking its name takes it now."""
        for entry in {e["path"]: e for e in documents}.values():
            path = self._directory / entry["path"]
            new = path.with_name(path.name + ".new")
            if new.exists() and digest_of(new)[1] == entry.get("sha256"):
                new.replace(path)

    def add(self, what: str, *, durable: bool = True, **fields: Any) -> None:
        """One line; on stable storage when it returns, if `durable`. Where nothing may wait for the drive it need not be."""
        with self._lock:
            entry: dict[str, Any] = {"n": self._count + 1, "previous": self._last}
            entry |= {"time": datetime.now().astimezone().isoformat(timespec="milliseconds"), "what": what, **fields}
            entry["hash"] = line_hash(entry)
            self._append(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
            if durable:
                os.fsync(self._file.fileno())
            self._count, self._last = entry["n"], entry["hash"]

    def _append(self, data: bytes) -> None:
        """The whole line or, where the drive is full, nothing of it."""
        before = os.fstat(self._file.fileno()).st_size
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file.fileno(), before)
            raise

    def file(self, path: Path) -> None:
        """A finished file. One that is not there is not sealed."""
        if path.exists():
            size, sha256 = digest_of(path)
            self.add("file", path=self.name(path), bytes=size, sha256=sha256)

    def document(self, path: Path, value: Any) -> None:
        """Writes a JSON document, as `text` does."""
        self.text(path, document_text(value))

    def text(self, path: Path, text: str) -> None:
        """Writes a whole file: sealed first, then it takes the place of the old one."""
        data = text.encode(errors=SPELLED)
        new = path.with_name(path.name + ".new")
        with new.open("wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        self.add("document", path=self.name(path), bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
        new.replace(path)

    def moved(self, old: Path, new: Path) -> None:
        self.add("moved", path=self.name(old), to=self.name(new))

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def name(self, path: Path) -> str:
        """Returns how the chain names a file of the directory."""
        try:
            return path.relative_to(self._directory).as_posix()
        except ValueError:
            raise UsageError(f"{path} is not in {self._directory}") from None
