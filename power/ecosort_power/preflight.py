"""A look at every meter before the first run, so that what no run can mend is said before and not after five of them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Protocol

from ecosort_power.clock import REAL, Clock
from ecosort_power.errors import MeterError
from ecosort_power.load import busy
from ecosort_power.plausible import LEAST_W, implausible
from ecosort_power.reading import Capabilities, Flag, Reading
from ecosort_power.updates import states_updates

READINGS = 6  # more are not waited for where they differ
LONGEST_S = 30.0  # ... nor longer than this
BURST_S = 2.0  # of load, at least, to see whether the value of a meter moves at all
BURST_PERIODS = 4
# A reading that takes longer than this many periods makes gaps in a run.
MAX_ANSWER_PERIODS = 1.5
_STEP_S = 0.02
_PATIENCE = 2.5  # periods that the first reading of a slow meter is waited for


class Source(Protocol):
    """A sampler that is running."""

    name: str
    spec_text: str  # its whole address
    capabilities: Capabilities
    death: str | None

    def begin_segment(self, path: None) -> None: ...

    def since(self, count: int) -> list[Reading]: ...

    def end_segment(self) -> list[Reading]: ...


def preflight(sources: Sequence[Source], env: Mapping[str, str], clock: Clock = REAL) -> None:
    """MeterError, with what to do, for a meter whose readings cannot give an energy. `env` is that of the load."""
    if not sources:
        return
    for source in sources:
        source.begin_segment(None)
    try:
        _wait(clock, LONGEST_S, sources, lambda s: len(s.since(0)) >= READINGS)
        slowest_s = max(s.capabilities.effective_period_s for s in sources)
        _wait(clock, slowest_s * _PATIENCE, sources, lambda s: len(s.since(0)) > 0)
        for source in sources:
            _judge(source, source.since(0))
        still = [s for s in sources if _stands(s)]
        if still:
            with busy(None, env):
                _wait(clock, max(_burst_s(s) for s in still), still, lambda s: not _stands(s))
        for source in still:
            if _stands(source):
                raise MeterError(_never_moves(source))
    finally:
        for source in sources:
            source.end_segment()


def _wait(clock: Clock, limit_s: float, sources: Sequence[Source], is_done: Callable[[Source], bool]) -> None:
    def are_done() -> bool:
        for source in sources:
            if source.death is not None:
                raise MeterError(source.death)
        return all(is_done(s) for s in sources)

    clock.wait(limit_s, are_done, _STEP_S)


def _burst_s(source: Source) -> float:
    period_s = max(source.capabilities.effective_period_s, source.capabilities.update_s or 0.0)
    return min(max(BURST_S, BURST_PERIODS * period_s), LONGEST_S)


def _stands(source: Source) -> bool:
    """True while it has shown one value only, and its user does not say how often there is a new one.

    A counter that says it itself may have larger steps than these seconds show, and a slow meter no new value within them.
    """
    readings, capabilities = [r for r in source.since(0) if r.usable], source.capabilities
    if capabilities.update_given or len({(r.watts, r.joules) for r in readings}) > 1:
        return False
    if not states_updates(readings, capabilities):
        return True
    is_power = bool(readings) and all(r.joules is None for r in readings)
    return is_power and BURST_PERIODS * (capabilities.update_s or 0.0) <= LONGEST_S


def _never_moves(source: Source) -> str:
    readings = [r for r in source.since(0) if r.usable]
    value = f"{readings[0].watts:g} W" if readings and readings[0].watts is not None else "one value"
    unsaid = "" if states_updates(readings, source.capabilities) else ", and does not say how often it has a new value"
    return (
        f"meter {source.name} gave {value} in all of {len(readings)} readings, also while all processors were busy{unsaid}; "
        "if it can do no better, say how often it has a new value: #update=SECONDS (and #quantum=WATTS, its steps), or find out: "
        f"ecosort-power probe {shlex.quote(source.spec_text)}"
    )


def _judge(source: Source, readings: Sequence[Reading]) -> None:
    """Judges what the first readings show already."""
    usable = [r for r in readings if r.usable]
    if not usable:
        raise MeterError(f"meter {source.name} gave no reading that can be used: {_why(source, readings)}")
    if any(Flag.SATURATED in r.flags for r in readings):
        raise MeterError(f"meter {source.name} is saturated while the machine is idle; choose a larger range (#range=, #irange=)")
    if problems := implausible(usable, source.capabilities):
        raise MeterError(f"meter {source.name}: {problems[0].with_figure()}")
    answer_s, period_s = median(r.after_s - r.before_s for r in usable), source.capabilities.period_s
    if answer_s > MAX_ANSWER_PERIODS * period_s:
        raise MeterError(
            f"meter {source.name} takes {answer_s:.2g} s for an answer and is to be read every {period_s:g} s; "
            f"say #period={_rounded_up(2 * answer_s):g} (#timeout=SECONDS is how long an answer is waited for)"
        )


def _why(source: Source, readings: Sequence[Reading]) -> str:
    last = readings[-1] if readings else None
    if last is None:
        return "none came; #timeout=SECONDS waits longer, #period=SECONDS reads it less often"
    if Flag.ZERO in last.flags:
        return f"they are 0 W; a running computer draws at least {LEAST_W:g} W: is it the right outlet or clamp?"
    if Flag.NEGATIVE in last.flags:
        return "they are negative: a clamp the wrong way round?"
    return last.raw or "they are not numbers"


def _rounded_up(seconds: float) -> float:
    """To one significant digit: what a person would write."""
    step = 10.0 ** (len(str(int(seconds))) - 1) if seconds >= 1 else 0.1
    return -(-seconds // step) * step
