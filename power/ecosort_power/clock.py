"""The clock that waiting goes by. What is measured is measured by CLOCK_MONOTONIC; a test may hurry the waiting."""

from __future__ import annotations

import time
from collections.abc import Callable

STEP_S = 0.25


class Clock:
    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def wait(self, seconds: float, is_over: Callable[[], bool], step_s: float = STEP_S) -> bool:
        """Until it is over, which is looked at every `step_s`, but no longer than this. True if it is over."""
        until = self.now() + seconds
        while not is_over():
            left = until - self.now()
            if left <= 0:
                return False
            self.sleep(min(left, step_s))
        return True


REAL = Clock()
