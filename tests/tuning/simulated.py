"""A sorter whose times are known: a valley over the knobs, times a drive that drifts and noise of every run."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from ecosort_tuning.search.knobs import Knob
from ecosort_tuning.search.sorter import Outcome

KNOBS = [
    Knob("--threads", tuple(str(n) for n in range(1, 9)), True),
    Knob("--block", ("64K", "128K", "256K", "512K", "1M", "2M", "4M", "8M"), True),
    Knob("--depth", ("1", "2", "4", "8", "16", "32"), True),
    Knob("--io", ("uring", "pool", "stxxl"), False),
]
DEFAULT = {"--threads": "8", "--block": "128K", "--depth": "2", "--io": "pool"}
BEST = {"--threads": "5", "--block": "2M", "--depth": "16", "--io": "uring"}


def true_seconds(settings: Mapping[str, str]) -> float:
    """1 s at the optimum; a tenth more per step away from it."""
    seconds = 1.0
    for knob in KNOBS:
        away = abs(knob.values.index(settings[knob.option]) - knob.values.index(BEST[knob.option]))
        seconds *= 1 + 0.1 * (away if knob.ordered else min(away, 1))
    return seconds


@dataclass
class SimulatedSorter:
    """`flat`: no knob changes anything. Its own clock continues by the time of each run."""

    noise: float = 0.03
    flat: bool = False
    seed: int = 1
    runs: int = 0
    now_s: float = 0.0
    stop_after: int | None = None
    generator: random.Random = field(init=False)
    level: float = 1.5

    def __post_init__(self) -> None:
        self.generator = random.Random(self.seed)

    def clock(self) -> float:
        return self.now_s

    def measure(self, settings: Mapping[str, str]) -> Outcome:
        if self.stop_after is not None and self.runs >= self.stop_after:
            raise KeyboardInterrupt
        self.runs += 1
        self.level = min(2.0, max(1.0, self.level + self.generator.uniform(-0.05, 0.05)))
        full = {**DEFAULT, **settings}
        true = 1.5 if self.flat else true_seconds(full)
        seconds = true * self.level * self.generator.lognormvariate(0, self.noise)
        self.now_s += seconds
        threads = int(full["--threads"])
        cpu_s = true * (1 + 0.1 * threads)
        return Outcome(seconds, cpu_s, 20 * seconds + 5 * cpu_s)
