"""Loads whose energy is known in closed form: straight pieces of power, idle before and after them. Seconds, watts, joules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ecosort_power.integrate import Floats

Rng = np.random.Generator

# Idle power wanders by this much from one half second to the next, as that of a small machine does.
IDLE_NOISE_W = 0.2
IDLE_NOISE_S = 0.5
WHITE = "white"
SPIKE_S, SPIKE_GAP_S = 0.2, 0.8


@dataclass(frozen=True, slots=True)
class Load:
    """Piece i begins at edges[i] with watts[i] and rises by slopes[i] watts per second until the next edge."""

    edges_s: Floats
    watts: Floats
    slopes: Floats
    joules: Floats  # from the first edge to each edge
    begin_s: float
    end_s: float

    def _piece(self, times_s: Floats) -> tuple[np.ndarray, Floats]:
        piece = np.clip(np.searchsorted(self.edges_s, times_s, side="right") - 1, 0, len(self.watts) - 1)
        return piece, times_s - self.edges_s[piece]

    def power(self, times_s: Floats) -> Floats:
        i, x = self._piece(times_s)
        found: Floats = self.watts[i] + self.slopes[i] * x
        return found

    def energy(self, times_s: Floats) -> Floats:
        i, x = self._piece(times_s)
        found: Floats = self.joules[i] + self.watts[i] * x + self.slopes[i] * x * x / 2
        return found

    @property
    def truth_j(self) -> float:
        """The energy of the run itself."""
        a, b = self.energy(np.array([self.begin_s, self.end_s]))
        return float(b - a)


Pieces = tuple[Floats, Floats, Floats]  # lengths, watts, slopes


def constant(length_s: float, rng: Rng) -> Pieces:
    return np.array([length_s]), rng.uniform(45, 65, 1), np.zeros(1)


def ramp(length_s: float, rng: Rng) -> Pieces:
    first, last = rng.uniform(15, 25), rng.uniform(55, 65)
    return np.array([length_s]), np.array([first]), np.array([(last - first) / length_s])


def square(period_s: float) -> Callable[[float, Rng], Pieces]:
    def make(length_s: float, rng: Rng) -> Pieces:
        high, low, half = rng.uniform(45, 65), rng.uniform(25, 35), period_s / 2
        count = int(length_s / half) + 2
        edges = np.unique(np.clip(np.arange(count + 1) * half - rng.uniform(0, half), 0, length_s))
        watts = np.where((np.arange(len(edges) - 1) + rng.integers(2)) % 2 == 0, high, low)
        return np.diff(edges), watts, np.zeros(len(watts))

    return make


def spikes(length_s: float, rng: Rng) -> Pieces:
    """Short spikes at random moments."""
    base, top = rng.uniform(25, 35), rng.uniform(50, 70)
    gaps = rng.exponential(SPIKE_GAP_S, int(length_s / SPIKE_GAP_S) * 2 + 20)
    edges = np.cumsum(np.ravel(np.column_stack((gaps, np.full(len(gaps), SPIKE_S)))))
    edges = np.concatenate(([0.0], edges[edges < length_s], [length_s]))
    watts = np.where(np.arange(len(edges) - 1) % 2 == 0, base, top)
    return np.diff(edges), watts, np.zeros(len(watts))


LOADS: Mapping[str, Callable[[float, Rng], Pieces]] = {
    "constant": constant,
    "ramp": ramp,
    "square 0.3 s": square(0.3),
    "square 1 s": square(1.0),
    "square 13 s": square(13.0),
    "spikes": spikes,
}


def white(watts: float) -> Callable[[int, Rng], Floats]:
    """Without memory."""
    return lambda count, rng: rng.normal(0, watts, count)


def flicker(count: int, rng: Rng) -> Floats:
    """1/f: the same power in each octave from half a second to four minutes, each octave a level that is held for its time."""
    octaves = [np.repeat(rng.normal(0, IDLE_NOISE_W / 3, count // (1 << k) + 2), 1 << k) for k in range(10)]
    found: Floats = np.sum([o[(begin := int(rng.integers(1 << k))) : begin + count] for k, o in enumerate(octaves)], axis=0)
    return found


def drift(count: int, rng: Rng) -> Floats:
    """It grows warm or cools down: by up to two watts, over a minute to five, and hardly anything beside that."""
    moments = np.arange(count) * IDLE_NOISE_S + rng.uniform(0, 60)
    found: Floats = rng.uniform(-2, 2) * np.exp(-moments / rng.uniform(60, 300)) + rng.normal(0, IDLE_NOISE_W / 10, count)
    return found


def fan(count: int, rng: Rng) -> Floats:
    """A fan that turns on and off: 0.3 to 1 W, for a part of every 8 to 40 s."""
    period, share, watts = rng.uniform(8, 40), rng.uniform(0.2, 0.8), rng.uniform(0.3, 1.0)
    moments = np.arange(count) * IDLE_NOISE_S + rng.uniform(0, period)
    found: Floats = watts * ((moments % period) < share * period) + rng.normal(0, IDLE_NOISE_W / 10, count)
    return found


def tasks(count: int, rng: Rng) -> Floats:
    """Something small that runs now and then: 3 W for half a second, every ten seconds on average."""
    found: Floats = 3.0 * (rng.random(count) < IDLE_NOISE_S / 10) + rng.normal(0, IDLE_NOISE_W / 10, count)
    return found


# Idle power wanders in these ways: the first as in the table of all meters, the others as the estimator was not made on.
IDLES: Mapping[str, Callable[[int, Rng], Floats]] = {
    WHITE: white(IDLE_NOISE_W),
    "hardly": white(IDLE_NOISE_W / 10),
    "five times as much": white(5 * IDLE_NOISE_W),
    "1/f": flicker,
    "slow drift": drift,
    "fan": fan,
    "small tasks": tasks,
}


def make_load(name: str, length_s: float, lead_s: float, tail_s: float, rng: Rng, idle: str = WHITE) -> Load:
    """A load of that shape from second 0 on, with idle power around it: other levels each time, another idle power after it."""
    before, after = rng.uniform(8, 12), 0.0
    after = before + rng.uniform(-0.5, 0.5)
    lengths, watts, slopes = LOADS[name](length_s, rng)
    sides = []
    for seconds, level in ((lead_s, before), (tail_s, after)):
        count = int(seconds / IDLE_NOISE_S) + 2
        sides.append((np.full(count, IDLE_NOISE_S), level + IDLES[idle](count, rng), np.zeros(count)))
    every = [np.concatenate(parts) for parts in zip(sides[0], (lengths, watts, slopes), sides[1], strict=True)]
    edges = np.concatenate(([0.0], np.cumsum(every[0])))
    begin = float(edges[len(sides[0][0])])
    steps = every[1] * every[0] + every[2] * every[0] ** 2 / 2
    joules = np.concatenate(([0.0], np.cumsum(steps)))
    return Load(edges - begin, every[1], every[2], joules, 0.0, float(lengths.sum()))
