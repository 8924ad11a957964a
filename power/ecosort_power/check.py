"""Re-validates a stored result: every claim is computed again from what is stored, and each defect is named."""

from __future__ import annotations

from collections.abc import Iterator

from ecosort_power.assemble import energies
from ecosort_power.errors import PowerError
from ecosort_power.evaluate import MeterEnergy
from ecosort_power.phases import read_phases, read_stats
from ecosort_power.quality import Defect
from ecosort_power.reading import Reading
from ecosort_power.store import ResultDirectory, Run, Session

# Two computations of one energy may differ by rounding only.
TOLERANCE = 1e-9
# Warnings of a run that a re-validated result must not have.
FAILING_WARNINGS = frozenset({"unvalidated", "no-records"})
MIN_RUNS = 3


def check(directory: ResultDirectory) -> list[Defect]:
    """All defects; a fatal one fails the check."""
    session = directory.session()
    runs = directory.runs()
    found = list(_session_defects(session, runs))
    for run in runs:
        label = f"run {run.index}"
        found += [Defect(d.code, f"{label}: {d.text}", d.fatal, d.meter) for d in _run_defects(directory, session, run)]
    return found


def _session_defects(session: Session, runs: list[Run]) -> Iterator[Defect]:
    if len(runs) < session.options.runs:
        yield Defect("runs-missing", f"{len(runs)} of {session.options.runs} runs are there; go on with run --continue")
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


def _run_defects(directory: ResultDirectory, session: Session, run: Run) -> Iterator[Defect]:
    yield from (Defect(d.code, d.text, d.fatal or d.code in FAILING_WARNINGS) for d in run.defects)
    yield from _mark_defects(run)
    yield from _record_defects(directory, session, run)
    if run.energy is None:
        yield Defect("no-energy", f"there is no energy: {run.energy_reason or 'no reason is given'}")
        return
    yield from _energy_defects(directory, session, run)


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
    events = directory.run_path(run.index) / "events.jsonl"
    spans = read_phases(events, run.marks.start_s, run.marks.synced_s).spans
    if spans != run.spans:
        yield Defect("phases", "the stored phases are not those of events.jsonl")
    fresh = energies(session, run.window(), spans, readings)
    for new in fresh:
        yield from new.defects
        yield from _compare(run.energy_of(new.meter), new)
    for stored in run.energy or []:
        if stored.meter not in {e.meter for e in fresh}:
            yield Defect("unknown-meter", f"an energy is stored for {stored.meter}, which is no meter of this session")


def _compare(stored: MeterEnergy | None, fresh: MeterEnergy) -> Iterator[Defect]:
    if stored is None:
        yield Defect("energy-missing", f"{fresh.meter}: no energy is stored", True, fresh.meter)
    elif (stored.joules is None) != (fresh.joules is None) or abs(
        (stored.joules or 0.0) - (fresh.joules or 0.0)
    ) > TOLERANCE * max(abs(fresh.joules or 0.0), 1.0):
        text = f"{fresh.meter}: {stored.joules} J are stored, the raw readings give {fresh.joules} J"
        yield Defect("energy-differs", text, True, fresh.meter)
