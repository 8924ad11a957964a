"""Reads one meter in a thread of its own, for the whole session, and keeps every reading."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from ecosort_power.codec import encode
from ecosort_power.errors import MeterError, MeterGlitchError
from ecosort_power.journal import Journal
from ecosort_power.meters.base import Meter
from ecosort_power.reading import Capabilities, Flag, Reading, screen
from ecosort_power.seal import Seal
from ecosort_power.transports.process import cpu_seconds

# A meter that gives nothing for this long is dead: many periods, but never less than some seconds.
DEAD_PERIODS = 10
DEAD_S = 10.0
MAX_REOPENINGS = 5
# A sort that uses every processor must not delay the readings; raising one's priority is allowed to root only.
SAMPLER_NICENESS = -10


def spread_s(capabilities: Capabilities, paced: bool) -> float:
    """Within how much of each period the moment of a reading is drawn at random.

    Readings at equal distances see a load that repeats with them as constant (aliasing). One reading at a random moment of each
    period (stratified sampling) is right on average whatever the load does, and what it misses shows in the spread of the
    values. Meters that average or count over the whole time, or choose the moments themselves, are read at equal distances.
    """
    own_time = capabilities.update_s is not None and capabilities.update_s >= capabilities.period_s
    return capabilities.period_s if paced and capabilities.reads_moments and not own_time else 0.0


def start_spread_s(capabilities: Capabilities) -> float:
    """Within how much a run begins at random, where the moments of the readings cannot be drawn: the meter's own clock.

    A load that repeats with that clock looks constant within a run. With the beginning at random that is right on average over
    the runs, and their deviation shows how wrong one of them is.
    """
    fixed = capabilities.reads_moments and not capabilities.spread_s
    return capabilities.effective_period_s if fixed else 0.0


def moment_s(period_begin_s: float, spread: float, random: Callable[[], float]) -> float:
    """Returns when to read within the period that begins then. `random` draws from [0, 1)."""
    return period_begin_s + spread * random()


def to_line(reading: Reading) -> str:
    """Compact JSON; absent values are left out."""
    return json.dumps({k: v for k, v in encode(reading).items() if v not in (None, [])}, separators=(",", ":"))


class Sampler:
    """Thread-safe from outside. Readings go to the current segment: a list and, if given, a file of JSON lines."""

    def __init__(self, name: str, meter: Meter, capabilities: Capabilities) -> None:
        self.name = name
        self.meter = meter
        self.spec_text = meter.spec.text
        self.capabilities = capabilities
        self.death: str | None = None  # why the meter is gone
        self._lock = threading.Lock()
        self._segment: list[Reading] = []
        self._journal: Journal | None = None
        self._stop = threading.Event()
        self._reopened = 0
        self._reopened_well = 0
        self._last_reopen_s = 0.0
        self._loss: MeterError | None = None  # why the meter could not be opened again
        self._last_good_s = time.monotonic()
        self._thread = threading.Thread(target=self._run, name=f"sampler-{name}", daemon=True)

    def start(self) -> None:
        self._last_good_s = time.monotonic()
        self._thread.start()

    def begin_segment(self, path: Path | None, seal: Seal | None = None) -> None:
        self.end_segment()
        journal = Journal(path, seal) if path is not None else None
        with self._lock:
            self._segment = []
            self._journal = journal

    def end_segment(self) -> list[Reading]:
        """The readings since `begin_segment`; they are on stable storage."""
        with self._lock:
            readings, self._segment = self._segment, []
            journal, self._journal = self._journal, None
        if journal is not None:  # outside the lock: reading continues while the file is synchronised
            journal.close()
        return readings

    def since(self, count: int) -> list[Reading]:
        """The readings of this segment after the first `count`."""
        with self._lock:
            return self._segment[count:]

    def children_cpu_s(self) -> float:
        return sum(cpu_seconds(pid) for pid in self.meter.pids())

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(15.0)
        self.end_segment()
        if not self._thread.is_alive():
            self.meter.close()

    def _run(self) -> None:
        self._raise_priority()
        due = time.monotonic()
        random = Random().random
        while not self._stop.is_set() and self.death is None:
            if self.meter.paced:
                moment = moment_s(due, self.capabilities.spread_s, random)
                self._stop.wait(max(0.0, moment - time.monotonic()))
                if self._stop.is_set():
                    return
            self._keep(self._read_once())
            due += self.capabilities.period_s
            if (
                due < time.monotonic() - self.capabilities.period_s - self.capabilities.spread_s
            ):  # far behind: do not try to catch up
                due = time.monotonic()

    def _read_once(self) -> Reading:
        before, reopened = time.monotonic(), self._reopened_well
        patience = max(DEAD_S, DEAD_PERIODS * self.capabilities.effective_period_s)
        try:
            return screen(self.meter.read(), self.capabilities)
        except MeterGlitchError as error:
            failure: MeterError = error
            if time.monotonic() - max(self._last_good_s, self._last_reopen_s) > patience / 3:
                failure = self._reopen(error)  # a session that the other side has forgotten gives glitches for ever
        except MeterError as error:
            failure = self._reopen(error)
        now = time.monotonic()
        if now - self._last_good_s > patience:
            self.death = f"meter {self.name} gave no reading for {now - self._last_good_s:.0f} s: {failure}"
        self._stop.wait(min(1.0, self.capabilities.period_s))
        again = (Flag.REOPENED,) if self._reopened_well > reopened else ()
        return Reading(before, now, flags=(Flag.ERROR, *again), raw=str(failure)[:200])

    def _reopen(self, error: MeterError) -> MeterError:
        """The connection is lost: tries to get it back. The gap in the readings stays visible."""
        self._reopened += 1
        self._last_reopen_s = time.monotonic()
        if self._reopened > MAX_REOPENINGS:
            self.death = f"meter {self.name} was lost {self._reopened} times: {self._loss or error}"
            return error
        try:
            self.meter.close()
            self.meter.open()
        except MeterError as again:
            self._loss = again
            return again
        self._reopened_well += 1
        return error

    def _keep(self, reading: Reading) -> None:
        if reading.usable:
            self._last_good_s = time.monotonic()
        with self._lock:
            self._segment.append(reading)
            if self._journal is not None:
                self._journal.add(to_line(reading))

    def _raise_priority(self) -> None:
        with contextlib.suppress(OSError):
            for task in (threading.get_native_id(), *self.meter.pids()):
                os.setpriority(os.PRIO_PROCESS, task, SAMPLER_NICENESS)
