"""Keeps how fast each running job was, and what the machine took, over the time that the page has seen it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from ecosort_appliance import jobs
from ecosort_appliance.database import open_database
from ecosort_appliance.jobdir import JobDirectory

PERIOD_S = 2.0
_MOST_POINTS = 300  # of a job; beyond that every second one goes, so that a long job keeps its whole course

Point = tuple[float, float | None, float | None]  # seconds, megabytes per second, watts


class Track:
    """Looks every two seconds, in a thread of its own. Thread-safe."""

    def __init__(self, queue: Path, watts: Callable[[], float | None]) -> None:
        self._queue = queue
        self._watts = watts
        self._points: dict[int, list[Point]] = {}
        self._steps: dict[int, int] = {}  # how many looks make one point
        self._looks = 0
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="track", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def points(self, number: int) -> list[Point]:
        with self._lock:
            return list(self._points.get(number, []))

    def look(self) -> None:
        """Adds a point to each job that runs, and forgets those that do not."""
        with closing(open_database(self._queue)) as connection:
            running = jobs.select(connection, "state = 'running'")
        watts, now_s = self._watts(), time.monotonic()
        told = {job.id: JobDirectory(self._queue, job.id, job.uid).progress() or {} for job in running}
        with self._lock:
            self._looks += 1
            self._points = {number: points for number, points in self._points.items() if number in told}
            for number, progress in told.items():
                rate = progress.get("megabytes_per_s")
                self._add(number, (now_s, rate if isinstance(rate, int | float) else None, watts))

    def _add(self, number: int, point: Point) -> None:
        step = self._steps.setdefault(number, 1)
        if self._looks % step:
            return
        points = self._points.setdefault(number, [])
        points.append(point)
        if len(points) >= _MOST_POINTS:
            del points[::2]
            self._steps[number] = 2 * step

    def _run(self) -> None:
        while not self._stop.wait(PERIOD_S):
            self.look()
