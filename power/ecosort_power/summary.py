"""From runs to the result: means, deviations, trends, the headline. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ecosort_power.claim import is_simulated, place
from ecosort_power.combine import scope_of
from ecosort_power.evaluate import POWER, MeterEnergy
from ecosort_power.quality import Defect
from ecosort_power.reading import Scope
from ecosort_power.split import alike
from ecosort_power.statistics import Sample, describe, ratio_of_totals, t95, trend
from ecosort_power.store import SUMMARY_SCHEMA, Run, Session, valid_runs
from ecosort_power.updates import keeps_own_time

MORE_RUNS = "more runs would show it (--runs 5 or more)"


@dataclass(frozen=True, slots=True)
class PhaseSummary:
    name: str
    seconds: float
    joules: Sample | None
    note: str | None


@dataclass(frozen=True, slots=True)
class MeterSummary:
    """All valid runs as one meter saw them."""

    meter: str
    scope: Scope
    joules: Sample
    watts: Sample
    records_per_joule: Sample | None  # total records / total joules, with the deviation of the runs around it
    records_per_joule_runs: list[float]  # of each valid run, in their order
    records_per_joule_instrument: float | None  # half width by the meter, the same in every run; None: its accuracy is not known
    idle_w: float | None
    above_idle_j: float | None
    uncertainty_j: float | None  # instrument and all, mean over the runs; None: the meter's accuracy is not known
    uncertainty_known_j: float | None  # without the instrument's own accuracy
    phases: list[PhaseSummary] = field(default_factory=list)
    own_clock: bool = False  # its values are of moments that it chooses: the interval holds the deviation of the runs as well


@dataclass(frozen=True, slots=True)
class Summary:
    schema: str
    title: str
    runs_planned: int
    runs_done: int
    runs_valid: int
    validated: bool  # every valid run was validated; where none is valid, every run
    records: int | None
    seconds: Sample | None
    cpu_s: Sample | None
    harness_cpu_s: float | None
    energy: MeterSummary | None  # the headline meter
    energy_reason: str | None
    others: list[MeterSummary]
    standing: str | None
    defects: list[Defect]
    simulated: bool = False  # the energy was computed, not measured: never ranked

    @property
    def ok(self) -> bool:
        return self.runs_done == self.runs_planned and self.runs_valid == self.runs_done


def summarize(session: Session, runs: Sequence[Run]) -> Summary:
    good = valid_runs(runs)
    names = list(dict.fromkeys(e.meter for r in good for e in r.energy or []))
    meters = [m for m in (_meter_summary(session, good, n) for n in names) if m is not None]
    head = next((m for m in meters if m.meter == session.headline), None)
    reason = None if head is not None else _why_none(session, runs)
    per_joule = head.records_per_joule.mean if head and head.records_per_joule else None
    records = _records(session, runs)
    return Summary(
        schema=SUMMARY_SCHEMA,
        title=simulated_text(session) + _title(head, reason) + _valid_text(session, runs),
        runs_planned=session.options.runs,
        runs_done=len(runs),
        runs_valid=len(good),
        validated=bool(runs) and all(r.validation is not None and r.validation.ok for r in good or runs),
        records=records,
        seconds=describe([r.marks.seconds for r in good]) if good else None,
        cpu_s=describe([r.cpu_user_s + r.cpu_system_s for r in good]) if good else None,
        harness_cpu_s=sum(r.harness_cpu_s for r in good) / len(good) if good else None,
        energy=head,
        energy_reason=reason,
        others=[m for m in meters if m is not head],
        standing=place(session, runs, records, head.meter, head.scope, per_joule).text if head is not None else None,
        defects=[*_simulated(session), *_run_defects(runs), *_wide(head), *_trends(session, good)],
        simulated=is_simulated(session),
    )


def _valid_text(session: Session, runs: Sequence[Run]) -> str:
    """Says what must be shown beside the headline where it is not about every run."""
    good, planned = len(valid_runs(runs)), session.options.runs
    return "" if good == planned else f", {good} of {planned} runs valid"


def simulated_text(session: Session) -> str:
    """Returns what is printed in front of every headline of such a result."""
    return "SIMULATED, no measurement: " if is_simulated(session) else ""


def _simulated(session: Session) -> list[Defect]:
    names = [m.name for m in session.meters if m.capabilities.simulated]
    text = "SIMULATED: its watts are computed from the load of the processors, nothing was measured"
    return [Defect("simulated", f"{name}: {text}", False, name) for name in names]


def _records(session: Session, runs: Sequence[Run]) -> int | None:
    return session.records if session.records is not None else next((r.records for r in runs if r.records), None)


def _title(head: MeterSummary | None, reason: str | None) -> str:
    if head is None:
        return f"no energy: {reason}"
    if head.records_per_joule is None:
        return f"{number(head.joules.mean)} J ({head.scope.headline})"
    return f"{number(head.records_per_joule.mean)} records per joule ({head.scope.headline})"


def number(value: float) -> str:
    """Four significant digits or all before the point, with thin groups of thousands."""
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:#.4g}".rstrip(".")


def _why_none(session: Session, runs: Sequence[Run]) -> str:
    if session.energy_reason is not None:
        return session.energy_reason
    reasons = [r.energy_reason for r in runs if r.energy_reason]
    reasons += [d.text for r in runs for d in r.all_defects() if d.fatal]
    return reasons[0] if reasons else "no run is complete"


def _energies(runs: Sequence[Run], meter: str) -> list[tuple[Run, MeterEnergy]]:
    pairs = ((r, r.energy_of(meter)) for r in runs)
    return [(r, e) for r, e in pairs if e is not None and e.joules is not None]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _plus(a: float | None, b: float | None) -> float | None:
    """None: one of them is not known."""
    return a + b if a is not None and b is not None else None


def _meter_summary(session: Session, runs: Sequence[Run], meter: str) -> MeterSummary | None:
    pairs = _energies(runs, meter)
    if not pairs:
        return None
    energies = [e for _, e in pairs]
    records = [float(r.records) for r, _ in pairs if r.records]
    idle = _idle(session, meter, energies)
    seconds = sum(r.marks.seconds for r, _ in pairs) / len(pairs)
    joules = describe([e.joules or 0.0 for e in energies])
    uncertainties = [e.uncertainty for e in energies]
    own_clock = _own_clock(session, runs, meter)
    unseen = joules.ci95 if own_clock else 0.0
    uncertainty = _plus(_mean([u.total_j if u else None for u in uncertainties]), unseen)
    complete = len(records) == len(pairs)
    per_joule = ratio_of_totals(records, [e.joules or 1.0 for e in energies]) if complete else None
    return MeterSummary(
        meter=meter,
        scope=scope_of(session.meters, meter),
        joules=joules,
        watts=describe([e.watts or 0.0 for e in energies]),
        records_per_joule=per_joule,
        records_per_joule_runs=[n / (e.joules or 1.0) for n, e in zip(records, energies, strict=True)] if complete else [],
        records_per_joule_instrument=per_joule.mean * uncertainty / joules.mean
        if per_joule and uncertainty is not None
        else None,
        idle_w=idle,
        above_idle_j=joules.mean - idle * seconds if idle is not None else None,
        uncertainty_j=uncertainty,
        uncertainty_known_j=_plus(_mean([u.known_j if u else None for u in uncertainties]), unseen),
        phases=_phase_summaries(energies),
        own_clock=own_clock,
    )


def _own_clock(session: Session, runs: Sequence[Run], meter: str) -> bool:
    """True if an energy comes from power values of moments that the meter chose; a counter misses nothing between them."""
    own = [m.name for m in session.meters if m.name in meter.split("+") and keeps_own_time(m.capabilities)]
    return any(e.source == POWER for r in runs for e in r.energy or [] if e.meter in own)


def limits_of_runs(session: Session, runs: Sequence[Run], meter: str) -> dict[int, float]:
    """By the index of each valid run, where it is known, the half width of the 95 % interval of its energy, the instrument's
    limits included. Of a meter that keeps its own clock no run shows what repeats with that clock; there the deviation of one run
    from the others is added (Student's t), and of one run alone nothing is known."""
    pairs = _energies(valid_runs(runs), meter)
    unseen: float | None = 0.0
    if _own_clock(session, [r for r, _ in pairs], meter):
        found = describe([e.joules or 0.0 for _, e in pairs]) if pairs else None
        unseen = t95(found.n - 1) * found.sd if found is not None and found.sd is not None else None
    limits = {r.index: _plus(e.uncertainty.total_j if e.uncertainty else None, unseen) for r, e in pairs}
    return {index: limit for index, limit in limits.items() if limit is not None}


def _idle(session: Session, meter: str, energies: Sequence[MeterEnergy]) -> float | None:
    """Idle power: the baselines before and after all runs if they were taken, else around the runs."""
    parts = meter.split("+") if meter not in session.idle_before_w else [meter]
    tables = (session.idle_before_w, session.idle_after_w)
    baselines = [sum(table[p] for p in parts) for table in tables if all(p in table for p in parts)]
    if baselines:
        return sum(baselines) / len(baselines)
    return _mean([e.idle_before_w for e in energies])


def _phase_summaries(energies: Sequence[MeterEnergy]) -> list[PhaseSummary]:
    runs = alike([e.phases for e in energies])
    result = []
    for name in dict.fromkeys(p.name for phases in runs for p in phases):
        found = [p for phases in runs for p in phases if p.name == name]
        joules = [p.joules for p in found if p.joules is not None]
        note = next((p.note for p in found if p.note), None)
        whole = describe(joules) if len(joules) == len(runs) else None
        result.append(PhaseSummary(name, sum(p.seconds for p in found) / len(found), whole, note))
    return result


def _wide(head: MeterSummary | None) -> list[Defect]:
    """A few runs that differ much: the interval of their mean may say nothing at all."""
    if head is None or not head.joules.includes_zero:
        return []
    text = f"the 95 % interval of the energy by {head.joules.n} runs reaches to zero or below: they differ too much; {MORE_RUNS}"
    return [Defect("wide-interval", text, False, head.meter)]


def _run_defects(runs: Sequence[Run]) -> list[Defect]:
    """Each text once, with the runs it belongs to."""
    where: dict[tuple[str, str, bool, str | None], list[int]] = {}
    for run in runs:
        for d in run.all_defects():
            where.setdefault((d.code, d.text, d.fatal, d.meter), []).append(run.index)
    return [
        Defect(code, f"{_which(indexes, runs)}: {text}", fatal, meter) for (code, text, fatal, meter), indexes in where.items()
    ]


def _which(indexes: Sequence[int], runs: Sequence[Run]) -> str:
    if len(indexes) == len(runs) and len(runs) > 1:
        return "every run"
    return "run " + ", ".join(map(str, dict.fromkeys(indexes)))


def _trends(session: Session, runs: Sequence[Run]) -> list[Defect]:
    series = {"seconds": [r.marks.seconds for r in runs]}
    energies = [e.joules for _, e in _energies(runs, session.headline or "") if e.joules is not None]
    if len(energies) == len(runs):
        series["joules"] = energies
    heat = [max((d.peak_c for d in r.circumstances.drives), default=0.0) for r in runs]
    if any(heat):
        series["drive temperature"] = heat
    found = []
    for name, values in series.items():
        line = trend(values)
        if line is not None and line.significant:
            text = f"{name} {'rise' if line.slope > 0 else 'fall'} from run to run by {abs(line.share_per_run):.1%}: not settled"
            found.append(Defect("trend", text, False))
    return found
