"""Decides what an attempt that has ended means for its job: pure functions of what it left."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ecosort_appliance.jobs import CANCELLED, DONE, FAILED, PAUSED, QUEUED, Job
from ecosort_appliance.space import shortage_told

MOST_ATTEMPTS = 100
WAIT_FOR_SPACE_S = 60.0
WAIT_AFTER_SIGNAL_S = 10.0
_NOT_BEGUN = 5  # exit code of `ecosort resume`
# These end a program from outside: a shutdown, a user, the kernel when memory runs out.
_FROM_OUTSIDE = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL}


@dataclass(frozen=True)
class Left:
    """`end`: the keeper's record, None: it did not come to write one. `stats`: the program's report. `output_is_input`: the
    output takes the place of an input."""

    end: Mapping[str, Any] | None
    stats: Mapping[str, Any] | None
    has_job_directory: bool
    output_now: list[int] | None
    output_is_input: bool = False

    @property
    def code(self) -> int | None:
        return None if self.end is None else int(self.end["code"])


@dataclass(frozen=True)
class Outcome:
    """The state that follows."""

    state: str
    reason: str = ""
    wish: str = ""
    wait_s: float = 0.0


def identity_of(path: str) -> list[int] | None:
    """Identifies the file that is there now; None: there is none."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return [status.st_ino, status.st_mtime_ns, status.st_size]


def outcome(job: Job, left: Left) -> Outcome:
    if left.code == 0 and job.wish != "abandon":
        return Outcome(DONE)
    if left.end is None and left.stats is not None and job.wish != "abandon":  # which the program writes when it has ended well
        return Outcome(DONE, "the record of its end was lost in a crash; its report is complete")
    if job.wish == "abandon":
        return _abandoned(left)
    if job.wish == "cancel":
        return Outcome(QUEUED, wish="abandon") if job.resumable and left.has_job_directory else Outcome(CANCELLED)
    if _is_from_outside(left.code) and _may_have_sorted_its_input(job, left):
        return Outcome(FAILED, _unknown(job))
    if job.wish == "pause":
        return Outcome(PAUSED)
    return _interrupted(job, left) if _is_from_outside(left.code) else _failed(job, left)


def _may_have_sorted_its_input(job: Job, left: Left) -> bool:
    """A job is done again where no one knows whether it ended: that sorts once more, and changes nothing. But a job whose output
    is one of its inputs would read its own result beside the others."""
    return left.output_is_input and not left.has_job_directory and left.output_now != job.output_before


def _unknown(job: Job) -> str:
    return (
        f"was interrupted, and {job.output!r}, which is an input, too, has changed since it began: by this job or by another "
        f"program; look at it, and if it is not sorted, `ecosort queue retry {job.id}`"
    )


def _abandoned(left: Left) -> Outcome:
    if left.code == 0 or not left.has_job_directory:
        return Outcome(CANCELLED)
    if _is_from_outside(left.code):
        return Outcome(QUEUED, wish="abandon")
    return Outcome(FAILED, f"could not be cancelled: {_told(left)}")


def _is_from_outside(code: int | None) -> bool:
    """No record: a power cut, or the keeper was killed."""
    if code is None:
        return True
    number = -code if code < 0 else code - 128
    return number in _FROM_OUTSIDE


def _interrupted(job: Job, left: Left) -> Outcome:
    what = "a crash" if left.code is None else f"signal {-left.code if left.code < 0 else left.code - 128}"
    if job.attempt >= MOST_ATTEMPTS:
        return Outcome(FAILED, f"was interrupted {job.attempt} times, at last by {what}")
    return Outcome(QUEUED, f"was interrupted by {what}", wait_s=0.0 if left.code is None else WAIT_AFTER_SIGNAL_S)


def _failed(job: Job, left: Left) -> Outcome:
    if job.attempt >= MOST_ATTEMPTS:
        return Outcome(FAILED, _told(left))
    if shortage := shortage_told((left.end or {}).get("error"), job.directory):
        return Outcome(QUEUED, shortage, wait_s=WAIT_FOR_SPACE_S)
    was_resume = job.resumable and job.attempt > 1
    if left.code == _NOT_BEGUN and was_resume and not left.has_job_directory and left.output_now == job.output_before:
        return Outcome(QUEUED, "had not begun when it was interrupted")
    return Outcome(FAILED, _told(left))


def _told(left: Left) -> str:
    error = (left.end or {}).get("error") or {}
    return str(error.get("message") or f"exit code {left.code}; see its log")


def results_of(left: Left) -> dict[str, int | None]:
    """Numbers of the program's report."""
    stats = left.stats or {}
    records = next((stats[unit] for unit in ("records", "lines", "rows") if isinstance(stats.get(unit), int)), None)
    moved = [stats[name] for name in ("bytes_read", "bytes_written") if isinstance(stats.get(name), int)]
    return {"records": records, "bytes_moved": sum(moved) if moved else None}
