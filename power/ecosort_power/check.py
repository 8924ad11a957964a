"""Re-validates a stored result: every claim is computed again from what is stored, and each defect is named.

The links, in the order in which they are checked: the seal; raw answer -> watts; watts -> joules of a run; runs -> summary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ecosort_power.assemble import attach_energy, validation_defects
from ecosort_power.codec import encode, read_json
from ecosort_power.cold import MAX_CACHED_SHARE
from ecosort_power.entry import Entry, read_entry
from ecosort_power.errors import PowerError, UsageError
from ecosort_power.evaluate import MeterEnergy, mean_watts
from ecosort_power.phases import read_phases, read_stats
from ecosort_power.quality import Defect
from ecosort_power.reading import Reading
from ecosort_power.rederive import derivation
from ecosort_power.rederive import differences as differences_from_raw
from ecosort_power.seal import last_command
from ecosort_power.seal_check import seal_defects
from ecosort_power.store import INPUT_CHECK, VALIDATION, MeterRecord, ResultDirectory, Run, Session, read_readings
from ecosort_power.summary import summarize
from ecosort_power.validate import CheckReport, judge, parse_report

# Two computations of one energy may differ by rounding only.
TOLERANCE = 1e-9
# Warnings of a run that a re-validated result must not have.
FAILING_WARNINGS = frozenset({"unvalidated", "no-records"})
MIN_RUNS = 3


# Defects that say where the chain from the meter's answer to the summary is broken.
LINKS = frozenset(
    {"seal-missing", "seal", "unreadable", "command", "validation-report", "raw-missing", "raw-differs", "idle-differs"}
    | {"phases", "energy-missing", "energy-differs", "summary-missing", "summary-differs"}
)


def check(directory: ResultDirectory) -> list[Defect]:
    """All defects, those of the links in the order of the links; a fatal one fails the check.

    The seal comes first, over the bytes as they are: a file that was damaged so that it cannot even be understood is named.
    UsageError for what is no result, and for a whole one of another version.
    """
    found = list(seal_defects(directory.path)) if directory.exists() else []
    try:
        session, runs = directory.session(), directory.runs()
        found += _session_defects(session, runs)
        entry = read_entry(directory.path)
    except UsageError as error:
        if not found:  # as it was written, and not for this program
            raise
        return [*found, Defect("unreadable", str(error))]
    found += [*_input_defects(directory, session), *_entry_defects(entry, session), *_idle_defects(directory, session)]
    for run in runs:
        label = f"run {run.index}"
        found += [Defect(d.code, f"{label}: {d.text}", d.fatal, d.meter) for d in _run_defects(directory, session, run)]
    if runs:
        found += _summary_defects(directory, session, runs)
    return found


def first_broken_link(defects: list[Defect]) -> Defect | None:
    return next((d for d in defects if d.fatal and d.code in LINKS), None)


def _session_defects(session: Session, runs: list[Run]) -> Iterator[Defect]:
    if len(runs) < session.options.runs:
        yield Defect("runs-missing", f"{len(runs)} of {session.options.runs} runs are there; continue with run --continue")
    if 0 < len(runs) < MIN_RUNS:
        yield Defect("few-runs", f"only {len(runs)} runs: a deviation needs at least {MIN_RUNS}", False)
    if not session.meters:
        yield Defect("no-energy", f"there is no energy: {session.energy_reason or 'no meter'}")
    if session.meters and not session.idle_before_w:
        yield Defect("no-idle", "no idle power was measured before the runs", False)
    if session.meters and not session.idle_after_w:
        yield Defect("no-idle", "no idle power was measured after the runs", False)
    if len({r.records for r in runs}) > 1:
        yield Defect("record-count", "the runs did not sort the same number of records")
    known = {m.name for m in session.meters}
    if session.headline is not None and not set(session.headline.split("+")) <= known:
        yield Defect("headline", f"the headline meter {session.headline} is not among the meters")


def _idle_defects(directory: ResultDirectory, session: Session) -> Iterator[Defect]:
    """The idle power that is stored, computed again."""
    records = {m.name: m for m in session.meters}
    meters = {m.name: m.capabilities for m in session.meters}
    for when, table in (("before", session.idle_before_w), ("after", session.idle_after_w)):
        for name, watts in table.items():
            if name not in meters:
                continue
            file = f"idle-{when}.{name}.jsonl"
            try:
                readings = read_readings(directory.path / file)
                yield from _raw_defects(records[name], readings, file)
                fresh = mean_watts(readings, meters[name])
            except PowerError as error:
                yield Defect("raw-missing", f"the raw readings of the idle power are not there: {error}")
                continue
            for text in differences(watts, fresh, f"idle power {when} the runs, {name}"):
                yield Defect("idle-differs", text, True, name)


def _raw_defects(meter: MeterRecord, readings: list[Reading], where: str) -> Iterator[Defect]:
    """The first reading that is not what the meter's raw answer says, and how many more there are."""
    found = list(differences_from_raw(meter, readings))
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        yield Defect("raw-differs", f"{where}, {found[0]}{more}", True, meter.name)


def _report_again(path: Path, stored: CheckReport | None) -> Iterator[Defect]:
    """Reads again what the validator printed."""
    if stored is None:
        return
    try:
        fresh = parse_report(path.read_bytes().decode(), stored.exit_code)
    except (OSError, UnicodeDecodeError) as error:
        yield Defect("validation-report", f"the report of the validator, {path.name}, cannot be read: {error}")
        return
    if fresh != stored:
        yield Defect("validation-report", f"{path.name} is not what is stored of it: it says {fresh.records} records")


def _input_defects(directory: ResultDirectory, session: Session) -> Iterator[Defect]:
    yield from _report_again(directory.path / INPUT_CHECK, session.input_report)
    report = session.input_report
    if report is not None and session.options.input_checksum is None and session.input_checksum != report.checksum:
        yield Defect("validation-report", f"the input's checksum is {report.checksum} and not {session.input_checksum}")


def _entry_defects(entry: Entry | None, session: Session) -> Iterator[Defect]:
    """Compares what joulesort says of the input with what the validator read."""
    if entry is not None and entry.generated.checksum != session.input_checksum:
        text = f"the generator's checksum of the input is {entry.generated.checksum}, the session's {session.input_checksum}"
        yield Defect("validation-report", text)


def _summary_defects(directory: ResultDirectory, session: Session, runs: list[Run]) -> Iterator[Defect]:
    try:
        stored = read_json(directory.summary_path)
    except PowerError as error:
        yield Defect("summary-missing", str(error))
        return
    text = next(differences(stored, encode(summarize(session, runs)), "summary"), None)
    if text is not None:
        yield Defect("summary-differs", text)


def differences(stored: Any, fresh: Any, where: str) -> Iterator[str]:
    """Numbers, and whether there is one, that are stored otherwise than they are computed. Texts may change with the program,
    and so may what it has doubts about."""
    if isinstance(fresh, dict) and isinstance(stored, dict):
        for key in fresh.keys() - {"defects"}:
            yield from differences(stored.get(key), fresh[key], f"{where}.{key}")
    elif isinstance(fresh, list) and isinstance(stored, list) and len(fresh) == len(stored):
        for i, (a, b) in enumerate(zip(stored, fresh, strict=True)):
            yield from differences(a, b, f"{where}[{i}]")
    elif (isinstance(fresh, str) and isinstance(stored, str)) or (
        isinstance(fresh, (int, float))
        and isinstance(stored, (int, float))
        and abs(stored - fresh) <= TOLERANCE * max(abs(fresh), 1)
    ):
        return
    elif stored != fresh:
        yield f"{where}: {_short(stored)} is stored, the raw readings give {_short(fresh)}"


def _short(value: Any) -> str:
    return str(value) if not isinstance(value, (dict, list)) else f"{type(value).__name__} of {len(value)}"


def _run_defects(directory: ResultDirectory, session: Session, run: Run) -> Iterator[Defect]:
    yield from (Defect(d.code, d.text, d.fatal or d.code in FAILING_WARNINGS) for d in run.defects)
    yield from _command_defects(directory, run)
    if run.validation is not None:
        yield from _report_again(directory.run_path(run.index) / VALIDATION, run.validation.report)
    yield from _validation_again(session, run)
    yield from _cache_defects(session, run)
    yield from _mark_defects(run)
    yield from _record_defects(directory, session, run)
    if run.energy is None:
        yield Defect("no-energy", f"there is no energy: {run.energy_reason or 'no reason is given'}")
        return
    yield from _energy_defects(directory, session, run)


def _validation_again(session: Session, run: Run) -> Iterator[Defect]:
    """The verdict on the output, from the stored report of the validator, where the run does not say it itself."""
    given = run.validation
    if given is not None and given.report is not None:
        report = replace(given.report, in_order=given.report.in_order and given.report.exit_code == 0)
        given = judge(report, session.records, session.input_checksum)
    elif given is not None and given.problem is None:
        given = replace(given, problem="the report of the validator is not there")
    said = {d.code for d in run.defects}
    for d in validation_defects(given):
        if d.code not in said:
            yield Defect(d.code, d.text, d.fatal or d.code in FAILING_WARNINGS)


def _cache_defects(session: Session, run: Run) -> Iterator[Defect]:
    if not session.options.cold:
        return
    if run.cold is None:
        yield Defect("cache", "the page cache was to be emptied before the run, and that it was is not recorded")
    elif run.cold.cached_share is not None and run.cold.cached_share > MAX_CACHED_SHARE:
        yield Defect("cache", f"{run.cold.cached_share:.1%} of the input was still in the page cache")


def _command_defects(directory: ResultDirectory, run: Run) -> Iterator[Defect]:
    """The words that were sealed at the start of the run, the last time that it was started."""
    name = directory.run_path(run.index).name
    words = last_command(directory.path, f"runs/{name}")
    if words is not None and words != run.command:
        yield Defect("command", "the stored command is not the one that was sealed at the start of the run")


def _mark_defects(run: Run) -> Iterator[Defect]:
    m = run.marks
    if run.exit_code != 0:
        yield Defect("exit-code", f"the command ended with exit code {run.exit_code}")
    if not m.first_s <= m.start_s < m.exit_s <= m.synced_s <= m.last_s:
        yield Defect("marks", "the moments of the run are not in order")
    if m.synced_s <= m.exit_s:
        yield Defect("sync", "the energy window does not reach to the end of a sync after the exit")
    if run.stats is not None and isinstance(run.stats.get("wall_s"), (int, float)):
        wall = float(run.stats["wall_s"])
        if wall > m.exit_s - m.start_s + 0.05:
            yield Defect("wall", f"the sort says {wall:.2f} s, more than the {m.exit_s - m.start_s:.2f} s of its process")


def _record_defects(directory: ResultDirectory, session: Session, run: Run) -> Iterator[Defect]:
    stats = read_stats(directory.run_path(run.index) / "stats.json")
    counts = {
        "the session": session.records,
        "the run": run.records,
        "the sort": stats.get("records") if stats else None,
        "the validator": run.validation.report.records if run.validation and run.validation.report else None,
    }
    known = {who: n for who, n in counts.items() if n is not None}
    if len(set(known.values())) > 1:
        yield Defect("record-count", "record counts differ: " + ", ".join(f"{who} {n}" for who, n in known.items()))


def _stored_readings(directory: ResultDirectory, session: Session, run: Run) -> dict[str, list[Reading]]:
    return {m.name: directory.readings(run.index, m.name) for m in session.meters}


def _energy_defects(directory: ResultDirectory, session: Session, run: Run) -> Iterator[Defect]:
    """Computes the energies again from the raw readings and compares."""
    try:
        readings = _stored_readings(directory, session, run)
    except PowerError as error:
        yield Defect("raw-missing", f"the raw readings are not there: {error}")
        return
    for meter in session.meters:
        if derivation(meter) is None:
            text = f"{meter.name}: this program does not know how its watts follow from its answers; they are believed as stored"
            yield Defect("not-derived", text, False, meter.name)
        yield from _raw_defects(meter, readings[meter.name], f"readings.{meter.name}.jsonl")
    events = directory.run_path(run.index) / "events.jsonl"
    spans = read_phases(events, run.marks.start_s, run.marks.synced_s).spans
    if spans != run.spans:
        yield Defect("phases", "the stored phases are not those of events.jsonl")
    fresh = attach_energy(session, replace(run, spans=spans), readings).energy or []
    for new in fresh:
        yield from new.defects
        yield from _compare(run.energy_of(new.meter), new)
    for stored in run.energy or []:
        if stored.meter not in {e.meter for e in fresh}:
            yield Defect("unknown-meter", f"an energy is stored for {stored.meter}, which is no meter of this session")


def _compare(stored: MeterEnergy | None, fresh: MeterEnergy) -> Iterator[Defect]:
    if stored is None:
        yield Defect("energy-missing", f"{fresh.meter}: no energy is stored", True, fresh.meter)
        return
    # The total first: what follows from it need not be said as well.
    text = next(differences(stored.joules, fresh.joules, f"{fresh.meter}: joules"), None)
    text = text or next(differences(encode(stored), encode(fresh), fresh.meter), None)
    if text is not None:
        yield Defect("energy-differs", text, True, fresh.meter)
