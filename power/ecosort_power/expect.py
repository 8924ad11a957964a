"""Predicts how well a meter would know the energy of a run: the evaluation of a run that did not happen, from what is known of
the meter.

Pure but for `seconds_of`, which asks `ecosort plan`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ecosort_power.errors import RunError, UsageError
from ecosort_power.evaluate import evaluate
from ecosort_power.planned import plan_of, prediction_of
from ecosort_power.quality import Window
from ecosort_power.reading import Capabilities, PowerKind, Reading

# More readings than this show nothing new.
MAX_READINGS = 20000


@dataclass(frozen=True, slots=True)
class Expectation:
    """Predicts one run. `share` is the uncertainty of its energy; None, and the reason, if such a run would be refused."""

    seconds: float
    share: float | None
    known_only: bool  # without the instrument's own accuracy, which is not known
    reason: str = ""

    def text(self) -> str:
        if self.share is None:
            return f"{self.seconds:g} s: refused ({self.reason})"
        return f"{self.seconds:.3g} s: +-{self.share:.2%}"


def expect(seconds: float, idle_w: float, busy_w: float, capabilities: Capabilities) -> Expectation:
    """A run of constant power between idle stretches, as this meter would show it."""
    period = max(capabilities.period_s, seconds / MAX_READINGS)
    capabilities = replace(capabilities, period_s=period)
    margin = capabilities.settle_s + 10 * capabilities.effective_period_s + 2.0
    window = Window(0.0, margin, margin + seconds, 2 * margin + seconds, load_step=1.0)
    readings = _readings(window, idle_w, busy_w, capabilities)
    found = evaluate("meter", readings, capabilities, window, [])
    uncertainty = found.uncertainty
    if found.joules is None or uncertainty is None:
        reason = next((d.text.partition(": ")[2] for d in found.defects if d.fatal), "its readings do not suffice")
        return Expectation(seconds, None, False, reason)
    total = uncertainty.total_j
    half = total if total is not None else uncertainty.known_j
    return Expectation(seconds, half / found.joules, total is None)


def _readings(window: Window, idle_w: float, busy_w: float, capabilities: Capabilities) -> list[Reading]:
    """Values are means over the meter's window or since its last value, or of a moment; they come `lag` late, in its steps."""
    update = capabilities.effective_period_s
    window_s = capabilities.window_s or (update if capabilities.power is PowerKind.AVERAGE else 0.0)

    def joules(t: float) -> float:
        return idle_w * t + (busy_w - idle_w) * (min(max(t, window.begin_s), window.end_s) - window.begin_s)

    def power(t: float) -> float:
        if window_s > 0:
            return (joules(t) - joules(t - window_s)) / window_s
        return busy_w if window.begin_s <= t < window.end_s else idle_w

    readings, count = [], int(window.last_s / capabilities.period_s)
    for i in range(count + 1):
        t = (i + 0.37) * capabilities.period_s
        shown = (t // update) * update - (capabilities.lag_s or 0.0)
        flicker = 1e-9 * (1 + int(t / update) % 7)  # no two values of a real meter are the same
        watts = _rounded(power(shown), capabilities.quantum_w) + flicker if capabilities.power is not None else None
        counted = _floor(joules(shown + 1e3), capabilities.quantum_j) if capabilities.counter else None
        readings.append(Reading(t, t, watts=watts, joules=counted))
    return readings


def _rounded(value: float, step: float | None) -> float:
    return value if not step else round(value / step) * step


def _floor(value: float, step: float | None) -> float:
    return value if not step else value // step * step


def seconds_of(records: int, directory: Path) -> tuple[float | None, str]:
    """Returns what `ecosort plan` predicts for so many records in a directory, or None and why not."""
    try:
        return float(prediction_of(plan_of(records, directory / "sorted"))["seconds"]), ""
    except (UsageError, RunError) as error:
        return None, str(error).splitlines()[0]
