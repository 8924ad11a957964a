"""Finds by how much, and over how long, a meter's values are late: pure, on arrays.

Model: value(t) = idle + gain * (mean load over [t - lag - window, t - lag]). For each lag and window of a grid the linear
correlation of that mean with the values is computed from the cumulative load; the grid is refined around the best point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecosort_power.errors import InvalidResultError

Floats = NDArray[np.float64]

# Below this correlation the meter does not follow the load: it may be another machine's.
MIN_CORRELATION = 0.8
_SHORTEST_WINDOW_S = 1e-3


class Load:
    """A load over time, kept as its cumulative sum; before the first and after the last time it is constant."""

    def __init__(self, times_s: Sequence[float], cumulative: Sequence[float]) -> None:
        self.times_s = np.asarray(times_s, dtype=np.float64)
        self.cumulative = np.asarray(cumulative, dtype=np.float64)

    @staticmethod
    def from_steps(edges_s: Sequence[float], levels: Sequence[float]) -> Load:
        """Level i holds from edge i to edge i + 1."""
        steps = np.diff(np.asarray(edges_s)) * np.asarray(levels)
        return Load(edges_s, np.concatenate([[0.0], np.cumsum(steps)]).tolist())

    def mean(self, begin_s: Floats, end_s: Floats) -> Floats:
        a = np.interp(begin_s, self.times_s, self.cumulative)
        b = np.interp(end_s, self.times_s, self.cumulative)
        return (b - a) / (end_s - begin_s)


@dataclass(frozen=True, slots=True)
class Fit:
    lag_s: float
    window_s: float
    correlation: float
    idle_w: float
    gain_w: float  # power at full load above idle


def _correlation(load: Load, times_s: Floats, watts: Floats, lag_s: float, window_s: float) -> float:
    end = times_s - lag_s
    x = load.mean(end - max(window_s, _SHORTEST_WINDOW_S), end)
    x = x - x.mean()
    y = watts - watts.mean()
    norm = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / norm if norm > 0 else 0.0


def _best(load: Load, times_s: Floats, watts: Floats, lags: Floats, windows: Floats) -> tuple[float, float, float]:
    """Returns where the correlation is highest; the middle of the plateau where several points share it."""
    grid = [(_correlation(load, times_s, watts, lag, w), lag, w) for w in windows for lag in lags]
    top = max(c for c, _, _ in grid)
    best = [(lag, w) for c, lag, w in grid if c >= top - 1e-9]
    window = min(w for _, w in best)
    at_window = sorted(lag for lag, w in best if w == window)
    return top, at_window[len(at_window) // 2], window


def fit(
    load: Load,
    times_s: Sequence[float],
    watts: Sequence[float],
    lags_s: tuple[float, float],
    windows_s: tuple[float, float],
    resolution_s: float = 0.02,
) -> Fit:
    """Best lag and window within the given ranges. InvalidResultError if the values do not follow the load."""
    t, w = np.asarray(times_s, dtype=np.float64), np.asarray(watts, dtype=np.float64)
    if len(t) < 10 or float(w.max() - w.min()) == 0.0:
        raise InvalidResultError("the meter's values do not change with the load")
    lags, windows = np.linspace(*lags_s, 61), np.linspace(*windows_s, 13 if windows_s[1] > windows_s[0] else 1)
    while True:
        correlation, lag, window = _best(load, t, w, lags, windows)
        step, window_step = _step(lags), _step(windows)
        if max(step, window_step) <= resolution_s:
            break
        lags = np.unique(np.clip(np.linspace(lag - 2 * step, lag + 2 * step, 21), *lags_s))
        windows = np.unique(np.clip(np.linspace(window - 2 * window_step, window + 2 * window_step, 13), *windows_s))
    if correlation < MIN_CORRELATION:
        raise InvalidResultError(
            f"the meter's values do not follow the load of this machine (correlation {correlation:.2f}): "
            "is it this machine's meter, and is nothing else running?"
        )
    x = load.mean(t - lag - max(window, _SHORTEST_WINDOW_S), t - lag)
    gain, idle = np.polyfit(x, w, 1)
    return Fit(float(lag), float(window), correlation, float(idle), float(gain))


def _step(grid: Floats) -> float:
    return float(grid[1] - grid[0]) if len(grid) > 1 else 0.0
