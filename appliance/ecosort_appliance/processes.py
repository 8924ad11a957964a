"""Processes that a service before this one may have started: locks that say whether one lives, and signals to it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
from pathlib import Path

from ecosort_appliance.jobdir import JobDirectory

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
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    return int(text[text.rindex(")") + 2 :].split()[19])


def signal_job(directory: JobDirectory, number: signal.Signals, uid: int) -> None:
    """To the keeper; SIGKILL to all of its session. Only where it is the very process that wrote its pid, and the user's own."""
    written = directory.read_json("keeper.json") or {}
    pid, ticks = written.get("pid"), written.get("start_ticks")
    if not isinstance(pid, int) or pid <= 1:
        return
    with contextlib.suppress(OSError):
        pidfd = os.pidfd_open(pid)
        try:
            if start_ticks(pid) != ticks or Path(f"/proc/{pid}").stat().st_uid != uid:
                return
            if number == signal.SIGKILL:
                if os.getsid(pid) == pid:
                    os.killpg(pid, signal.SIGKILL)
            else:
                signal.pidfd_send_signal(pidfd, number)
        finally:
            os.close(pidfd)
