"""Two results side by side, with the interval of their ratio. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ecosort_power.errors import UsageError
from ecosort_power.statistics import Sample, ratio_ci95
from ecosort_power.summary import Summary


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    a: Sample
    b: Sample
    ratio: float | None  # b / a
    low: float | None
    high: float | None

    @property
    def verdict(self) -> str:
        if self.low is None or self.high is None:
            return "one run only: no interval"
        if self.low <= 1.0 <= self.high:
            return "no clear difference"
        return "higher" if self.low > 1.0 else "lower"


@dataclass(frozen=True, slots=True)
class Comparison:
    rows: list[Row]
    warnings: list[str]


def compare(a: Summary, b: Summary) -> Comparison:
    """UsageError for results that must not be compared: different scopes, or one of a package only and one of a machine."""
    warnings = []
    if a.simulated != b.simulated:
        raise UsageError("these results must not be compared: one is SIMULATED, no measurement")
    if a.energy is not None and b.energy is not None and a.energy.scope is not b.energy.scope:
        raise UsageError(
            f"these results must not be compared: one is {a.energy.scope.headline}, the other {b.energy.scope.headline}"
        )
    if a.simulated:
        warnings.append("both results are SIMULATED: nothing was measured")
    if (a.energy is None) != (b.energy is None):
        missing = a if a.energy is None else b
        warnings.append(f"one result has no energy ({missing.energy_reason}): only times are compared")
    if a.records != b.records:
        warnings.append(f"different inputs: {a.records} and {b.records} records; compare records per joule only")
    for name, summary in (("first", a), ("second", b)):
        if not summary.ok:
            warnings.append(f"the {name} result is not complete or not valid")
        elif not summary.validated:
            warnings.append(f"the {name} result is not validated")
    return Comparison(_rows(a, b), warnings)


def _rows(a: Summary, b: Summary) -> list[Row]:
    pairs: list[tuple[str, Sample | None, Sample | None]] = [("seconds", a.seconds, b.seconds), ("CPU seconds", a.cpu_s, b.cpu_s)]
    if a.energy is not None and b.energy is not None:
        pairs.append(("joules", a.energy.joules, b.energy.joules))
        pairs.append(("watts", a.energy.watts, b.energy.watts))
        pairs.append(("records per joule", a.energy.records_per_joule, b.energy.records_per_joule))
        second = {p.name: p.joules for p in b.energy.phases}
        pairs += [(f"joules, {p.name.replace('_', ' ')}", p.joules, second.get(p.name)) for p in a.energy.phases]
    return [_row(name, x, y) for name, x, y in pairs if x is not None and y is not None]


def _row(name: str, a: Sample, b: Sample) -> Row:
    interval = ratio_ci95(b, a)
    if interval is None:
        return Row(name, a, b, b.mean / a.mean if a.mean else None, None, None)
    return Row(name, a, b, *interval)
