"""The directory of one job, which its keeper fills: log, progress, reports, how each attempt ended.

It belongs to the job's user, who may have put anything there. So the service opens only regular files of his, without following
links, and reads no more than a bound.

    log, log.1         what the program said; log.1 is the older part
    progress.json      the latest line of --progress=json
    keeper.json        pid, start time and attempt of the keeper, and when its program began
    stats-N.json       the program's --stats of attempt N
    exit-N.json        how attempt N ended: the last thing that a keeper writes
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import time
from pathlib import Path
from typing import Any

MOST_BYTES = 1 << 20
MOST_LOG_BYTES = 256 << 10  # of each of the two parts


class JobDirectory:
    """Holds job `number` in the queue's directory; of its user `uid`."""

    def __init__(self, queue: Path, number: int, uid: int) -> None:
        self.path = queue / "jobs" / str(number)
        self.lock_path = queue / "locks" / str(number)
        self._uid = uid

    def make(self) -> None:
        """Readable by its user and root only."""
        self.path.mkdir(mode=0o700, exist_ok=True)
        if os.geteuid() != self._uid:
            os.chown(self.path, self._uid, -1, follow_symlinks=False)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self.lock_path.unlink(missing_ok=True)

    def read(self, name: str, most_bytes: int = MOST_BYTES) -> bytes | None:
        """The last `most_bytes` of a file; None where there is none that may be read."""
        try:
            descriptor = os.open(self.path / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != self._uid:
                return None
            file.seek(max(0, status.st_size - most_bytes))
            return file.read(most_bytes)

    def read_json(self, name: str) -> dict[str, Any] | None:
        """None where it is absent, torn or no object."""
        with contextlib.suppress(ValueError, RecursionError):
            found = json.loads(self.read(name) or b"")
            if isinstance(found, dict):
                return found
        return None

    def log(self) -> bytes:
        return (self.read("log.1", MOST_LOG_BYTES) or b"") + (self.read("log", MOST_LOG_BYTES) or b"")

    def say(self, text: str) -> None:
        """One more line of the log, as far as that is the user's own file."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        line = time.strftime("%Y-%m-%d %H:%M:%S ") + text + "\n"
        with contextlib.suppress(OSError):
            is_new = not os.path.lexists(self.path / "log")
            descriptor = os.open(self.path / "log", flags, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                if is_new and os.geteuid() != self._uid:
                    os.fchown(descriptor, self._uid, -1)
                status = os.fstat(descriptor)
                if stat.S_ISREG(status.st_mode) and status.st_uid == self._uid:
                    file.write(line.encode(errors="surrogateescape"))

    def exit_of(self, attempt: int) -> dict[str, Any] | None:
        found = self.read_json(f"exit-{attempt}.json")
        return found if found and isinstance(found.get("code"), int) else None

    def stats_of(self, attempt: int) -> dict[str, Any] | None:
        return self.read_json(f"stats-{attempt}.json")

    def progress(self) -> dict[str, Any] | None:
        return self.read_json("progress.json")
