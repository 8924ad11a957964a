"""Reports the ends of jobs to whom --on-end names, and again a few times where that failed."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ecosort.text import shown

from ecosort_appliance import jobs
from ecosort_appliance.errors import QueueError
from ecosort_appliance.jobdir import JobDirectory
from ecosort_appliance.jobs import Job
from ecosort_appliance.on_end import Teller

PAUSES_S = (30.0, 300.0, 1800.0)  # before each further try
_PATIENCE_S = 60.0  # of `queue run` at its end

# A pause that is longer than any other: the clock was set back since.
_DUE = f"notified = 0 AND on_end IS NOT NULL AND NOT tell_again_s BETWEEN ? AND ? AND {jobs.HAS_ENDED}"


class Telling:
    """Counts a try when it begins: a service that is killed meanwhile leaves the next one no more tries than there were."""

    def __init__(self, queue: Path, connection: sqlite3.Connection) -> None:
        self._queue = queue
        self._connection = connection
        self._tellers: dict[int, tuple[Teller, int]] = {}  # with the number of the try

    def tick(self, is_open: Callable[[int], bool]) -> None:
        self._conclude()
        now_s = time.time()
        for job in jobs.select(self._connection, _DUE, (now_s, now_s + max(PAUSES_S))):
            if job.id not in self._tellers and not is_open(job.id):
                self._begin(job)

    @property
    def works(self) -> bool:
        """A report of an end is on its way."""
        return bool(self._tellers)

    def wait(self) -> None:
        for teller, _ in self._tellers.values():
            teller.wait(_PATIENCE_S)
        self._conclude()

    def _begin(self, job: Job) -> None:
        again_s = time.time() + PAUSES_S[min(job.tell_tries, len(PAUSES_S) - 1)]
        is_last = job.tell_tries >= len(PAUSES_S)
        jobs.update(self._connection, job.id, tell_tries=job.tell_tries + 1, tell_again_s=again_s, notified=int(is_last))
        try:
            self._tellers[job.id] = Teller(job), job.tell_tries + 1
        except (QueueError, OSError) as error:
            self._end(job.id, job.tell_tries + 1, _why_not_begun(error))

    def _conclude(self) -> None:
        for number, (teller, tries) in list(self._tellers.items()):
            error = teller.error()
            if error is not None:
                del self._tellers[number]
                self._end(number, tries, error)

    def _end(self, number: int, tries: int, error: str) -> None:
        try:
            job = jobs.get(self._connection, number)
        except QueueError:  # it is kept no longer
            return
        if job.tell_tries != tries or job.state not in jobs.ENDED:  # it was retried meanwhile
            return
        if not error:
            jobs.update(self._connection, number, notified=1, tell_error="")
            return
        jobs.update(self._connection, number, tell_error=error)
        text = f"--on-end failed, try {job.tell_tries} of {len(PAUSES_S) + 1}: {shown(error)}"
        JobDirectory(self._queue, job.id, job.uid).say(f"ecosort: {text}")
        print(f"ecosort: job {number}: {text}", file=sys.stderr, flush=True)


def _why_not_begun(error: QueueError | OSError) -> str:
    """A program, or the directory where it would work, is named."""
    named = f"{error.filename!r}: " if isinstance(error, OSError) and error.filename else ""
    return named + (getattr(error, "strerror", None) or str(error))
