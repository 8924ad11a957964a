"""Adds a meter's own log to a stored result: the log was not there while the runs were."""

from __future__ import annotations

from dataclasses import replace

from ecosort_power.assemble import attach_energy
from ecosort_power.combine import headline
from ecosort_power.errors import UsageError
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import MeterSpec, with_settings
from ecosort_power.meters.csv import CsvMeter
from ecosort_power.monitor import LoadPoint, read_points, to_load
from ecosort_power.reading import Reading, screen
from ecosort_power.sampler import to_line
from ecosort_power.seal import Seal, require_alone
from ecosort_power.seal_check import require_seal
from ecosort_power.store import MeterRecord, ResultDirectory, Run
from ecosort_power.summary import Summary, summarize


def attach_log(directory: ResultDirectory, spec: MeterSpec) -> Summary:
    """Runs get the energy of the log in addition to what they have; the summary is written anew. MeterError, and nothing is
    changed, for a log that has no rows for one of them. After a crash the same call attaches it again."""
    meter = make_meter(spec)
    if not isinstance(meter, CsvMeter):
        raise UsageError("only a log (csv:FILE) can be attached afterwards")
    require_alone(directory.path)
    require_seal(directory.path)  # what was damaged must not be sealed again
    session, runs = directory.session(), directory.runs()
    if not runs:
        raise UsageError(f"{directory.path} has no complete run")
    record = MeterRecord(spec.name, spec.text, with_settings(meter.open(), spec))
    others = [m for m in session.meters if m.name != record.name]
    session = replace(session, meters=[*others, record], energy_reason=None)
    session = replace(session, headline=headline(session.meters, session.options.sum_meters))
    load = to_load(_all_points(directory, runs))
    found: list[tuple[Run, list[Reading]]] = []
    for run in runs:  # all of them before anything is written: a log that lacks one changes nothing
        marks = run.marks
        rows = meter.collect(marks.first_s, marks.last_s, marks.realtime_offset_s, load)
        found.append((run, [screen(r, record.capabilities) for r in rows]))
    seal = Seal(directory.path)
    for run, readings in found:
        path = directory.run_path(run.index) / f"readings.{record.name}.jsonl"
        seal.text(path, "".join(to_line(r) + "\n" for r in readings))
        stored: dict[str, list[Reading]] = {m.name: directory.readings(run.index, m.name) for m in session.meters}
        seal.document(directory.run_path(run.index) / "run.json", attach_energy(session, run, stored))
    seal.document(directory.session_path, session)
    summary = summarize(session, directory.runs())
    seal.document(directory.summary_path, summary)
    seal.close()
    return summary


def _all_points(directory: ResultDirectory, runs: list[Run]) -> list[LoadPoint]:
    """The load of all runs; between two runs it is taken as idle."""
    points = [p for r in runs for p in read_points(directory.run_path(r.index) / "load.jsonl")]
    return sorted(points, key=lambda p: p.time_s)
