"""Processes that a service before this one may have started: locks that say whether one lives, and signals to it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from ecosort_appliance.jobdir import JobDirectory
from ecosort_appliance.jobs import Job

LOCK_NAME = "scheduler.lock"  # in the queue's directory


def try_lock(path: Path) -> int | None:
    """A descriptor that holds the lock, or None where a process holds it.

    The lock is of the open file: a process that inherits the descriptor holds it, too, until the last of them has ended.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def is_alive(directory: JobDirectory) -> bool:
    """A keeper, or a program without its keeper, still works on the job."""
    return _is_locked(directory.lock_path)


def is_served(queue: Path) -> bool:
    """By `ecosort serve` or `queue run`."""
    return _is_locked(queue / LOCK_NAME)


def _is_locked(path: Path) -> bool:
    descriptor = try_lock(path)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


def start_ticks(pid: int) -> int | None:
    """Returns when the process began, in ticks since boot: with the pid it names one process for ever (until the next boot)."""
    found = _status(pid)
    return None if found is None else found.start_ticks


@dataclass(frozen=True)
class _Status:
    """Holds what Linux says of a process. One that has ended is there until its parent has asked how."""

    has_ended: bool
    session: int
    start_ticks: int


def _status(pid: int) -> _Status | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    return _Status(fields[0] in "ZX", int(fields[3]), int(fields[19]))


def signal_job(directory: JobDirectory, number: signal.Signals, job: Job) -> None:
    """To the keeper, and SIGKILL to all of its group; where it is gone, to what is left of its session. Only where that is
    the very process that wrote its pid, and to the user's own."""
    written = directory.read_json("keeper.json") or {}
    pid, ticks = written.get("pid"), written.get("start_ticks")
    if not isinstance(pid, int) or pid <= 1 or not isinstance(ticks, int):
        return
    keeper = _status(pid)
    if keeper is not None and keeper.start_ticks != ticks:  # another has its number: then nothing of its session is left
        return
    if keeper is None or keeper.has_ended:
        if written.get("attempt") == job.attempt:  # that of an earlier one may have been given to another session
            _signal_left(pid, number, job.uid)
        return
    _signal(pid, ticks, number, job.uid, with_its_group=number == signal.SIGKILL)


def _signal_left(session: int, number: signal.Signals, uid: int) -> None:
    """Signals the program, whose keeper was killed, perhaps before it could write the program's pid. Linux gives the number of a
    session to no other process while one of it lives, and the job's lock says that one does."""
    for name in os.listdir("/proc"):  # noqa: PTH208
        found = _status(int(name)) if name.isdecimal() else None
        if found is not None and found.session == session and not found.has_ended:
            _signal(int(name), found.start_ticks, number, uid)


def _signal(pid: int, ticks: int, number: signal.Signals, uid: int, with_its_group: bool = False) -> None:
    """Where the process is still that one, and the user's."""
    with contextlib.suppress(OSError):
        pidfd = os.pidfd_open(pid)
        try:
            if start_ticks(pid) != ticks or Path(f"/proc/{pid}").stat().st_uid != uid:
                return
            if not with_its_group:
                signal.pidfd_send_signal(pidfd, number)
            elif os.getsid(pid) == pid:
                os.killpg(pid, number)
        finally:
            os.close(pidfd)
