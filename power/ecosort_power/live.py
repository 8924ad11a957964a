"""The live line: run i of n, phase, watts, joules so far. On a terminal only; elsewhere one line per step."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ecosort_power.reading import Flag, Reading


class Source(Protocol):
    """Readings come from a source: a sampler."""

    def since(self, count: int) -> list[Reading]:
        """The readings after the first `count`."""


class Counted(Protocol):
    """The live line shows this of the meters."""

    watts: float | None
    joules: float
    spoiled: bool  # something was seen that makes the run invalid: no figure is shown

    def update(self) -> None:
        """Takes in what is new."""


class Tally:
    """Watts now and joules so far of one meter, updated with each new reading: cheap enough to run beside a
    measurement, and for the eye only. The result is computed afterwards from all readings."""

    def __init__(self, sampler: Source, begin_s: float) -> None:
        self._sampler = sampler
        self._begin_s = begin_s
        self._seen = 0
        self._last: Reading | None = None
        self.watts: float | None = None
        self.joules = 0.0
        self.spoiled = False

    def update(self) -> None:
        new = self._sampler.since(self._seen)
        self._seen += len(new)
        for reading in new:
            self.spoiled = self.spoiled or (Flag.SATURATED in reading.flags and reading.mid_s >= self._begin_s)
            if reading.usable and reading.mid_s >= self._begin_s:
                self._add(reading)

    def _add(self, reading: Reading) -> None:
        last, self._last = self._last, reading
        if last is None or reading.mid_s <= last.mid_s:
            self.watts = reading.watts
            return
        elapsed = reading.mid_s - last.mid_s
        if reading.watts is not None:
            self.watts = reading.watts
            self.joules += (reading.watts + (last.watts if last.watts is not None else reading.watts)) / 2 * elapsed
        elif reading.joules is not None and last.joules is not None and reading.joules >= last.joules:
            self.watts = (reading.joules - last.joules) / elapsed
            self.joules += reading.joules - last.joules


class Together:
    """The sum of several meters, for power supplies."""

    def __init__(self, parts: Sequence[Tally]) -> None:
        self._parts = parts
        self.watts: float | None = None
        self.joules = 0.0
        self.spoiled = False

    def update(self) -> None:
        for part in self._parts:
            part.update()
        self.spoiled = any(p.spoiled for p in self._parts)
        known = [p.watts for p in self._parts if p.watts is not None]
        self.watts = sum(known) if len(known) == len(self._parts) else None
        self.joules = sum(p.joules for p in self._parts)


def format_line(step: str, phase: str | None, seconds: float, tally: Counted | None) -> str:
    parts = [step]
    if phase:
        parts.append(phase.replace("_", " "))
    parts.append(f"{int(seconds) // 60:d}:{int(seconds) % 60:02d}")
    if tally is not None and tally.spoiled:
        parts.append("INVALID: the meter is saturated")
    elif tally is not None and tally.watts is not None:
        parts.append(f"{tally.watts:,.1f} W".replace(",", " "))
        parts.append(f"{tally.joules:,.0f} J".replace(",", " "))
    return "   ".join(parts)


class Display:
    """One line on standard error that is redrawn several times a second."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, highlight=False)
        self.active = self.console.is_terminal

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, soft_wrap=True)

    @contextmanager
    def line(self, step: str, details: Callable[[float], str] | None = None) -> Iterator[None]:
        """While the block runs, shows `details(seconds)`; off a terminal only the step's name, once."""
        begin = time.monotonic()
        if not self.active:
            print(step, file=sys.stderr, flush=True)
            yield
            return

        def render() -> Text:
            seconds = time.monotonic() - begin
            text = details(seconds) if details is not None else format_line(step, None, seconds, None)
            return Text(text, style="cyan", no_wrap=True, overflow="ellipsis")

        with Live(get_renderable=render, console=self.console, refresh_per_second=4, transient=True):
            yield
