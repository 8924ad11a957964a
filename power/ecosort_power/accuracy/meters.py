"""Simulated meters: what a meter of each kind would have read of a load, and what the harness knows of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ecosort_power.accuracy.loads import Load, Rng
from ecosort_power.evaluate import Curves
from ecosort_power.integrate import Floats
from ecosort_power.reading import UNKNOWN_LAG_S, Capabilities, PowerKind, Reading, Scope
from ecosort_power.sampler import spread_s
from ecosort_power.updates import lateness_s, moves_of, power_curve


@dataclass(frozen=True, slots=True)
class Kind:
    """`window_s`: it averages over so long before each reading; `counter_j`: it has a counter of such steps."""

    window_s: float = 0.0
    quantum_w: float = 0.0
    counter_j: float = 0.0
    power: bool = True


KINDS: Mapping[str, Kind] = {
    "instantaneous": Kind(),
    "instantaneous, steps of 0.1 W": Kind(quantum_w=0.1),
    "instantaneous, steps of 1 W": Kind(quantum_w=1.0),
    "instantaneous, steps of 4 W": Kind(quantum_w=4.0),
    "average over 1 s": Kind(window_s=1.0),
    "average over 5 s": Kind(window_s=5.0),
    "counter, steps of 3.6 J": Kind(counter_j=3.6, power=False),
    "plug, steps of 1 W and a counter of 3600 J": Kind(quantum_w=1.0, counter_j=3600.0),
}


def capabilities_of(kind: Kind, period_s: float, lag_s: float | None) -> Capabilities:
    """A counter alone has a new value every `period_s` and is read four times as often, all others are read every `period_s`."""
    found = Capabilities(
        title="simulated",
        scope=Scope.WALL,
        period_s=period_s if kind.power else min(1.0, period_s / 4),
        power=None if not kind.power else (PowerKind.AVERAGE if kind.window_s else PowerKind.INSTANT),
        counter=kind.counter_j > 0,
        update_s=1e-3 if kind.power else period_s,
        lag_s=lag_s,
        window_s=kind.window_s,
        quantum_w=kind.quantum_w,
        quantum_j=kind.counter_j or None,
    )
    return replace(found, spread_s=spread_s(found, paced=True))


@dataclass(frozen=True, slots=True)
class Series:
    """Records what was read when."""

    times_s: Floats
    watts: Floats | None
    joules: Floats | None
    capabilities: Capabilities

    def curves(self) -> Curves:
        """Makes the curves as the harness does from readings."""
        power, moves = None, None
        if self.watts is not None:
            power = power_curve(self.times_s - lateness_s(self.capabilities), self.watts, None, self.capabilities)
        if self.joules is not None:
            moves = moves_of(self.times_s, self.joules, self.capabilities)
        return Curves(power, moves)

    def readings(self) -> list[Reading]:
        nothing = [None] * len(self.times_s)
        watts = self.watts.tolist() if self.watts is not None else nothing
        joules = self.joules.tolist() if self.joules is not None else nothing
        return [Reading(t, t, w, j) for t, w, j in zip(self.times_s.tolist(), watts, joules, strict=True)]


def draw_lag(period_s: float, known: bool, rng: Rng) -> float:
    """One that is not known may be as long as the harness allows for."""
    return float(rng.uniform(0, period_s if known else max(period_s, UNKNOWN_LAG_S)))


def read(load: Load, kind: Kind, capabilities: Capabilities, lag_s: float, begin_s: float, end_s: float, rng: Rng) -> Series:
    """All readings between two moments, by a clock that has nothing to do with the load."""
    period = capabilities.period_s
    begins = np.arange(begin_s + rng.uniform(0, period), end_s - capabilities.spread_s, period)
    times = begins + capabilities.spread_s * rng.random(len(begins))
    true = times - lag_s
    watts = _watts(load, kind, true) if kind.power else None
    joules = _counted(load, kind, true, capabilities, rng) if kind.counter_j else None
    return Series(times, watts, joules, capabilities)


def _watts(load: Load, kind: Kind, times_s: Floats) -> Floats:
    if kind.window_s:
        watts = (load.energy(times_s) - load.energy(times_s - kind.window_s)) / kind.window_s
    else:
        watts = load.power(times_s)
    return np.rint(watts / kind.quantum_w) * kind.quantum_w if kind.quantum_w else watts


def _counted(load: Load, kind: Kind, times_s: Floats, capabilities: Capabilities, rng: Rng) -> Floats:
    """A counter looks at the energy by a clock of its own, and shows whole steps."""
    update = (capabilities.update_s or capabilities.period_s) * rng.uniform(0.97, 1.03)
    offset = rng.uniform(0, update)
    looked = np.floor((times_s - offset) / update) * update + offset
    found: Floats = np.floor((load.energy(looked) + rng.uniform(0, 1e5)) / kind.counter_j) * kind.counter_j
    return found
