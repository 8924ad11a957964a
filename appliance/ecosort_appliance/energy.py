"""Watts and joules of the machine from one of ecosort_power's meters, all the time that the service runs.

What a job is told to have taken is for the eye: it has no interval, and no rule of a sound measurement was looked at.
`ecosort power run` measures.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from ecosort_power.config import resolve
from ecosort_power.errors import PowerError
from ecosort_power.integrate import CounterResetError, EnergyCurve, arrays
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import with_settings
from ecosort_power.reading import Capabilities, Reading
from ecosort_power.sampler import Sampler
from ecosort_power.updates import counter_moves, power_curve, power_samples

from ecosort_appliance.errors import QueueError


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
            raise QueueError(f"--meter {word} tells its watts only afterwards; name one that can be read while it works")
        self._sampler = Sampler(spec.name, meter, self.capabilities)
        self._last: Reading | None = None
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

    def take(self) -> tuple[float, float]:
        """Joules since the last call, and the seconds that the meter knows them for."""
        with self._lock:
            new = [reading for reading in self._sampler.end_segment() if reading.usable]
            readings = new if self._last is None else [self._last, *new]
            if not new:
                return 0.0, 0.0
            self._last = new[-1]
            joules, seconds = joules_of(readings, self.capabilities)
            if seconds > 0:
                self._watts = joules / seconds
            return joules, seconds

    def close(self) -> None:
        self._sampler.stop()


def joules_of(readings: Sequence[Reading], capabilities: Capabilities) -> tuple[float, float]:
    """From the first reading to the last one. Nothing for what is no stretch, and where a counter began anew."""
    curve: EnergyCurve | None = None
    try:
        if capabilities.power is not None:
            samples = power_samples(readings, capabilities)
            curve = power_curve(*arrays(samples), capabilities) if len(samples) > 1 else None
        elif moves := counter_moves(readings, capabilities):
            curve = moves.curve
    except (CounterResetError, ValueError):
        return 0.0, 0.0
    if curve is None:
        return 0.0, 0.0
    return curve.between(curve.begin_s, curve.end_s), curve.end_s - curve.begin_s
