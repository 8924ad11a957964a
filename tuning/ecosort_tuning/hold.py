"""Holds changed system settings and puts the old ones back, whatever happens.

Before the first change the old values are on stable storage in a restore file, so that `ecosort-tune restore` can put them
back after a SIGKILL. The file is below /run: a restart of the machine loses it together with the settings. It belongs to one
process, named by number and start time; a second holder is refused.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from ecosort_power.codec import load, write_json

from ecosort_tuning.errors import RunError, UsageError
from ecosort_tuning.settings import Change

RESTORE_FILE = Path("/run/ecosort-tune/restore.json")
SCHEMA = "ecosort.restore/1"
# A setting may be refused while another one has its changed value: what failed is tried again after the rest.
_ATTEMPTS = 3
_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class RestoreFile:
    """Records who changed what. `root` is where the paths of the changes begin."""

    schema: str
    pid: int
    started: str  # start time of that process in clock ticks after the machine's, as /proc shows it
    root: str
    changes: list[Change]


@contextmanager
def _undisturbed() -> Iterator[None]:
    """No signal that people send ends the restoring half-way; it is delivered afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _started(pid: int) -> str | None:
    """None if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return None


def _current(root: Path, change: Change) -> str:
    text = (root / change.path).read_text(encoding="ascii").strip()
    if change.path.endswith("/scheduler"):
        return next((word[1:-1] for word in text.split() if word.startswith("[")), text)
    return text


def _write(root: Path, change: Change, value: str) -> None:
    """One write, as the kernel wants it. No file is ever made. OSError where it does not take it."""
    fd = os.open(root / change.path, os.O_WRONLY | os.O_CLOEXEC | os.O_TRUNC)
    try:
        os.write(fd, f"{value}\n".encode())
    finally:
        os.close(fd)


def _is(root: Path, change: Change, value: str) -> bool:
    try:
        return _current(root, change) == value
    except OSError:
        return False


def _agrees(wanted: str, found: str) -> bool:
    """Power caps are rounded to the processor's own steps."""
    return found == wanted or (wanted.isdigit() and found.isdigit() and abs(int(found) - int(wanted)) <= 0.02 * int(wanted))


def _write_first(path: Path, record: RestoreFile) -> None:
    """Durable, and only if there is none: of two that begin at once one fails. OSError."""
    own = path.with_name(f"{path.name}.{record.pid}")
    write_json(own, record)
    try:
        os.link(own, path)
    finally:
        own.unlink()


def put_back(root: Path, changes: Sequence[Change]) -> list[str]:
    """Writes the old values; for each that was refused to the end, why."""
    left, problems = list(reversed(changes)), {}
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE_S)
        failed = []
        for change in left:
            try:
                _write(root, change, change.before)
            except OSError as error:
                if _is(root, change, change.before):  # it was never changed
                    continue
                problems[change] = f"{change.what} ({root / change.path}) is not back to '{change.before}': {error.strerror}"
                failed.append(change)
        left = failed
        if not left:
            return []
    return [problems[change] for change in left]


def restore(path: Path = RESTORE_FILE) -> list[Change]:
    """Puts back what a killed process left, and removes the restore file; the changes, none without a file.
    RunError if a setting resists: the file stays. UsageError while the process that holds them lives."""
    if not path.exists():
        return []
    record = load(RestoreFile, path)
    if record.schema != SCHEMA:
        raise UsageError(f"{path} was written by another version of ecosort-tune ({record.schema}): use that one")
    if record.pid != os.getpid() and _started(record.pid) == record.started:
        raise UsageError(f"process {record.pid} still holds its settings ({path}): end it, then it restores them itself")
    with _undisturbed():
        problems = put_back(Path(record.root), record.changes)
        if problems:
            raise RunError("; ".join(problems) + f"; {path} is kept for another ecosort-tune restore")
        path.unlink()
    return record.changes


class Held:
    """`with Held(root, changes):` - changed inside, as before outside.
    RunError if the kernel refuses a change (all are back then) or, at the end, an old value."""

    def __init__(self, root: Path, changes: Sequence[Change], path: Path = RESTORE_FILE) -> None:
        self.root, self.changes, self.path = root, list(changes), path

    def __enter__(self) -> Held:
        if self.path.exists():
            raise UsageError(f"{self.path} holds settings that are not restored yet: run ecosort-tune restore")
        if not self.changes:
            return self
        me = os.getpid()
        record = RestoreFile(SCHEMA, me, _started(me) or "", str(self.root), self.changes)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _write_first(self.path, record)
        except FileExistsError:
            raise UsageError(f"{self.path} was just made by another ecosort-tune: wait for its end") from None
        except OSError as error:
            raise RunError(f"{self.path} cannot be written ({error.strerror}): nothing was changed; root may") from error
        try:
            self._apply()
        except BaseException:
            self._end()
            raise
        return self

    def _apply(self) -> None:
        for change in self.changes:
            try:
                _write(self.root, change, change.after)
                found = _current(self.root, change)
            except OSError as error:
                who = "; only root may" if isinstance(error, PermissionError) else ""
                raise RunError(f"{change.what}: '{change.after}' was refused ({error.strerror}{who})") from error
            if not _agrees(change.after, found):
                raise RunError(f"{change.what}: the kernel made '{found}' of '{change.after}'")

    def _end(self) -> None:
        with _undisturbed():
            problems = put_back(self.root, self.changes)
            if problems:
                raise RunError("; ".join(problems) + f"; try ecosort-tune restore ({self.path})")
            self.path.unlink(missing_ok=True)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.changes:
            self._end()
