"""Puts one run together from its pieces, and computes its energy again from what is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ecosort_power.cold import ColdState, SettleState
from ecosort_power.combine import add_up, sum_name
from ecosort_power.command import CommandResult
from ecosort_power.evaluate import MeterEnergy, evaluate, withheld
from ecosort_power.monitor import Circumstances
from ecosort_power.phases import Phases, read_phases, read_stats
from ecosort_power.quality import Defect, Window
from ecosort_power.reading import Reading
from ecosort_power.split import Span
from ecosort_power.store import RUN_SCHEMA, Marks, MeterRecord, Run, Session
from ecosort_power.validate import Validation

# Own CPU time above this share of one processor disturbs what is measured.
MAX_HARNESS_SHARE = 0.05
# A step of the real-time clock during a run (NTP), worth a word because logs are aligned by it.
MAX_CLOCK_STEP_S = 0.1
# Others than the command may use so much of the processors during a run before it is reported.
MAX_OTHERS_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Pieces:
    """Holds what the session has gathered of one run."""

    index: int
    directory: Path
    command: list[str]
    result: CommandResult
    marks: Marks
    harness_cpu_s: float
    circumstances: Circumstances
    settle: SettleState | None
    cold: ColdState | None
    validation: Validation | None
    readings: dict[str, list[Reading]]
    energy_reason: str | None  # why there is no energy, if that is clear already


def energies(
    session: Session, window: Window, spans: Sequence[Span], readings: Mapping[str, Sequence[Reading]]
) -> list[MeterEnergy]:
    """The energy of a run by each meter, then their sum if the session asks for one."""
    each = [evaluate(m.name, readings[m.name], m.capabilities, window, spans) for m in session.meters]
    if session.options.sum_meters and len(each) > 1:
        each.append(add_up(each, sum_name(session.meters)))
    return each


def meter_names(meters: Sequence[MeterRecord]) -> list[str]:
    return [m.name for m in meters]


def assemble(session: Session, pieces: Pieces) -> Run:
    marks = pieces.marks
    phases = read_phases(pieces.directory / "events.jsonl", marks.start_s, marks.synced_s)
    stats = read_stats(pieces.directory / "stats.json")
    records = _records(session, stats, pieces.validation)
    run = Run(
        schema=RUN_SCHEMA,
        index=pieces.index,
        command=pieces.command,
        marks=marks,
        exit_code=pieces.result.exit_code,
        cpu_user_s=pieces.result.cpu_user_s,
        cpu_system_s=pieces.result.cpu_system_s,
        harness_cpu_s=pieces.harness_cpu_s,
        records=records,
        circumstances=pieces.circumstances,
        settle=pieces.settle,
        cold=pieces.cold,
        validation=pieces.validation,
        stats=stats,
        spans=phases.spans,
        energy=None,
        energy_reason=pieces.energy_reason,
        defects=_defects(session, pieces, phases, records, stats),
    )
    if pieces.energy_reason is None and session.meters:
        run = attach_energy(session, run, pieces.readings)
    return _time_only(run) if session.options.time_only else run


def _time_only(run: Run) -> Run:
    """Leaves the run valid: where the energy may be missing, a meter that failed takes only the energy away."""
    failed = [d for e in run.energy or [] for d in e.defects if d.fatal]
    if not failed:
        return run
    notes = [Defect(d.code, d.text, False, d.meter) for d in failed]
    return replace(run, energy=None, energy_reason="; ".join(d.text for d in failed), defects=[*run.defects, *notes])


def attach_energy(session: Session, run: Run, readings: Mapping[str, Sequence[Reading]]) -> Run:
    """The same run with its energy computed from these readings. A run that is not valid, by whatever defect, has no figure."""
    found = replace(run, energy=energies(session, run.window(), run.spans, readings), energy_reason=None)
    return found if found.valid else replace(found, energy=[withheld(e) for e in found.energy or []])


def _records(session: Session, stats: Mapping[str, object] | None, validation: Validation | None) -> int | None:
    if session.records is not None:
        return session.records
    counted = stats.get("records") if stats else None
    if isinstance(counted, int):
        return counted
    return validation.report.records if validation is not None and validation.report is not None else None


def _defects(
    session: Session, pieces: Pieces, phases: Phases, records: int | None, stats: Mapping[str, object] | None
) -> list[Defect]:
    return [
        *validation_defects(pieces.validation),
        *_record_defects(records, stats),
        *_condition_defects(session, pieces),
        *([Defect("no-phases", f"no energy per phase: {phases.problem}", False)] if phases.problem else []),
    ]


def validation_defects(validation: Validation | None) -> list[Defect]:
    if validation is None:
        return [Defect("unvalidated", "NOT VALIDATED: the output was not checked (--output, --check-command)", False)]
    if validation.problem is not None:
        return [Defect("validation", validation.problem)]
    if not validation.content_compared:
        text = "order and count were checked, the content was not: give --input or --input-checksum"
        return [Defect("no-input-checksum", text, False)]
    return []


def _record_defects(records: int | None, stats: Mapping[str, object] | None) -> list[Defect]:
    counted = stats.get("records") if stats else None
    if counted is not None and records is not None and counted != records:
        return [Defect("record-count", f"the sort counted {counted} records, the input has {records}")]
    if records is None:
        return [Defect("no-records", "the number of records is not known: give --records", False)]
    return []


def _others_share(pieces: Pieces) -> float:
    """Returns the share of all processors that neither the command nor the harness used while the command ran."""
    c, seconds = pieces.circumstances, pieces.marks.seconds
    if c.busy_inside is None or seconds <= 0:
        return 0.0
    own = pieces.result.cpu_user_s + pieces.result.cpu_system_s + pieces.harness_cpu_s
    return c.busy_inside - own / seconds / c.processors


def _condition_defects(session: Session, pieces: Pieces) -> list[Defect]:
    found = []
    c = pieces.circumstances
    if pieces.settle is not None and not pieces.settle.settled:
        found.append(Defect("not-settled", f"the drives were not at rest after {pieces.settle.waited_s:.0f} s", False))
    if not session.options.cold:
        found.append(Defect("warm", "the page cache was not emptied (--cold)", False))
    if c.throttle_events:
        found.append(Defect("throttled", f"the processor was throttled by heat {c.throttle_events} times", False))
    for d in filter(lambda drive: drive.hot, c.drives):
        found += [Defect("hot-drive", f"{d.drive} reached {d.peak_c:.0f} C, its limit is {d.limit_c:.0f} C", False)]
    if c.busy_before is not None and c.busy_before > 0.1:
        found.append(Defect("busy-machine", f"the machine was {c.busy_before:.0%} busy before the run: it was not idle", False))
    if (others := _others_share(pieces)) > MAX_OTHERS_SHARE:
        text = f"others than the command used {others:.0%} of the processors during the run: what they drew is in its energy"
        found.append(Defect("other-load", text, False))
    if pieces.result.survivors:
        found.append(Defect("survivors", f"{pieces.result.survivors} processes of the command continued after its end"))
    seconds = pieces.marks.seconds
    if pieces.harness_cpu_s > MAX_HARNESS_SHARE * seconds:
        share = pieces.harness_cpu_s / seconds
        found.append(Defect("harness-cpu", f"measuring itself used {share:.0%} of a processor: read the meter less often", False))
    if abs(pieces.marks.realtime_drift_s) > MAX_CLOCK_STEP_S:
        found.append(Defect("clock-step", f"the real-time clock moved by {pieces.marks.realtime_drift_s:+.2f} s", False))
    return found
