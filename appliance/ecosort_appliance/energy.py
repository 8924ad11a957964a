"""Watts and joules of the machine from one of ecosort_power's meters, all the time that the service runs.

The joules shown for a job are for the eye: it has no interval, and no rule of a sound measurement was looked at.
`ecosort power run` measures.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import pairwise

from ecosort_power.config import resolve
from ecosort_power.errors import PowerError
from ecosort_power.integrate import CounterResetError, EnergyCurve, arrays
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import with_settings
from ecosort_power.reading import Capabilities, Reading
from ecosort_power.sampler import Sampler
from ecosort_power.updates import counter_moves, power_curve, power_samples

from ecosort_appliance.errors import QueueError
from ecosort_appliance.ledger import Stretch

_KEPT_S = 30.0  # readings that were reported: they straighten the times of those that follow


class Meter:
    """Thread-safe. QueueError when the meter cannot be used."""

    def __init__(self, word: str, config: str | None) -> None:
        try:
            spec = resolve([word], config)[0]
            meter = make_meter(spec)
            self.capabilities = with_settings(meter.open(), spec)
        except PowerError as error:
            raise QueueError(f"--meter {word}: {error}") from None
        if meter.deferred:
            raise QueueError(f"--meter {word} reports its watts only afterwards; name one that can be read while it works")
        self._sampler = Sampler(spec.name, meter, self.capabilities)
        self._readings: list[Reading] = []
        self._told_s = 0.0
        self._watts: float | None = None
        self._lock = threading.Lock()
        self._sampler.start()

    @property
    def title(self) -> str:
        return f"{self.capabilities.title} ({self.capabilities.scope.headline})"

    @property
    def watts(self) -> float | None:
        """The latest mean; None while nothing is known, or the meter is gone."""
        with self._lock:
            return None if self._sampler.death else self._watts

    @property
    def simulated(self) -> bool:
        """Nothing is measured: its joules are computed."""
        return self.capabilities.simulated

    def take(self) -> list[Stretch]:
        """Returns what the machine took since the last call, from each value of the meter to the next one."""
        with self._lock:
            self._readings += [reading for reading in self._sampler.end_segment() if reading.usable]
            found = self._new_stretches()
            if found:
                self._told_s = found[-1].end_s
                self._watts = sum(part.joules for part in found) / sum(part.seconds for part in found)
            self._readings = [reading for reading in self._readings if reading.mid_s > self._told_s - _KEPT_S]
            return found

    def _new_stretches(self) -> list[Stretch]:
        try:
            curve = curve_of(self._readings, self.capabilities)
        except (CounterResetError, ValueError):
            self._readings = self._readings[-1:]
            return []
        return [] if curve is None else stretches_of(curve, self._told_s)

    def close(self) -> None:
        self._sampler.stop()


def curve_of(readings: Sequence[Reading], capabilities: Capabilities) -> EnergyCurve | None:
    """From the first reading to the last one; None for what is no stretch."""
    if capabilities.power is not None:
        samples = power_samples(readings, capabilities)
        return power_curve(*arrays(samples), capabilities) if len(samples) > 1 else None
    moves = counter_moves(readings, capabilities)
    return moves.curve if moves else None


def stretches_of(curve: EnergyCurve, told_s: float) -> list[Stretch]:
    """Returns what comes after that moment, from value to value."""
    times = [float(time_s) for time_s in curve.times_s]
    begin_s = max(told_s, times[0])
    ends = [time_s for time_s in times if time_s > begin_s]
    return [Stretch(a, b, curve.between(a, b)) for a, b in pairwise([begin_s, *ends])]
