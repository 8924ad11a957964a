"""Numbers as text, the same in every report."""

from __future__ import annotations

from ecosort_power.statistics import Sample
from ecosort_power.summary import MORE_RUNS, MeterSummary, number


def plus_minus(sample: Sample | None, unit: str = "") -> str:
    """`mean ± deviation unit`; the deviation of a single run is not known and said so."""
    if sample is None:
        return "n/a"
    suffix = f" {unit}" if unit else ""
    if sample.sd is None:
        return f"{number(sample.mean)}{suffix} (one run)"
    return f"{number(sample.mean)} ± {short(sample.sd)}{suffix}"


def short(value: float) -> str:
    """Two significant digits."""
    return f"{value:,.0f}".replace(",", " ") if abs(value) >= 100 else f"{value:.2g}"


def instrument(meter: MeterSummary) -> str:
    """The instrument's column: limits of error of the energy."""
    if meter.uncertainty_j is not None:
        return f"±{short(meter.uncertainty_j)} J ({meter.uncertainty_j / meter.joules.mean:.1%})"
    if meter.own_clock and meter.joules.n < 2:
        return "unknown (one run: what repeats with the meter's own clock is not seen)"
    known = f"; sampling and timing alone ±{short(meter.uncertainty_known_j)} J" if meter.uncertainty_known_j is not None else ""
    return f"unknown (the meter's accuracy is not stated{known})"


def interval(meter: MeterSummary) -> str:
    """Records per joule are one number for all runs; its interval by the runs, and by the meter, the same in every run."""
    found = meter.records_per_joule
    if found is None:
        return ""
    known = meter.records_per_joule_instrument
    by_meter = f"±{short(known)}" if known is not None else "unknown"
    by_runs = f"±{short(found.ci95)} (n = {found.n}{_zero(found)})" if found.ci95 is not None else "not known (one run)"
    return f"total records / total joules; 95 % by the runs {by_runs}, by the meter {by_meter}"


def _zero(sample: Sample) -> str:
    return f", which includes zero: {MORE_RUNS}" if sample.includes_zero else ""


def relative(meter: MeterSummary) -> str:
    """Writes the uncertainty of what is derived from the energy."""
    return "unknown" if meter.uncertainty_j is None else f"±{meter.uncertainty_j / meter.joules.mean:.1%}"


def runs_text(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def phase_name(name: str) -> str:
    return name.replace("_", " ")
