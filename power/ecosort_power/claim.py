"""Decides what a stored result may claim in the table of JouleSort results: gathered from its session and runs. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ecosort_power.cold import MAX_CACHED_SHARE
from ecosort_power.meters.base import parse_spec
from ecosort_power.reading import Scope
from ecosort_power.records import Claim, Standing, standing
from ecosort_power.store import MeterRecord, Run, Session, valid_runs

# Meters that know nothing of what they are connected to: their scope is what the user, or the user's program, says.
TOLD_SCOPES = ("exec", "http", "https", "csv", "mqtt")


def is_simulated(session: Session) -> bool:
    """True if any meter of the session is a simulation: nothing of it may pass for a measurement."""
    return any(m.capabilities.simulated for m in session.meters)


def headline_meters(session: Session, meter: str) -> list[MeterRecord]:
    return [m for m in session.meters if m.name in meter.split("+")]


def scope_remarks(meters: Sequence[MeterRecord]) -> tuple[str, ...]:
    """Says who declared that these meters see the wall, where the meter itself cannot know."""
    found = []
    for m in meters:
        spec = parse_spec(m.spec)
        if "scope" in spec.settings:
            found.append(f"that {m.name} measures at the wall is the user's word: #scope={spec.settings['scope']}")
        elif spec.scheme in TOLD_SCOPES:
            found.append(f"that {m.name} measures at the wall is the word of the user's program or log")
    return tuple(found)


def input_bytes(session: Session, runs: Sequence[Run]) -> int | None:
    """Bytes that each run sorted: the input file's, else the record length that the sort itself counted with."""
    if session.input_bytes is not None:
        return session.input_bytes
    lengths = {r.stats.get("record_size_bytes") if r.stats else None for r in runs}
    known = lengths.pop() if len(lengths) == 1 else None
    return known * session.records if isinstance(known, int) and session.records is not None else None


def is_cold(run: Run) -> bool:
    return run.cold is not None and (run.cold.cached_share is None or run.cold.cached_share <= MAX_CACHED_SHARE)


def is_validated(run: Run) -> bool:
    """Order, number and content of the output were compared with the input."""
    return run.validation is not None and run.validation.ok and run.validation.content_compared


def place(
    session: Session, runs: Sequence[Run], records: int | None, meter: str, scope: Scope, per_joule: float | None
) -> Standing:
    """Ranks the result by what the headline meter says."""
    good = valid_runs(runs)
    return standing(
        Claim(
            records=records,
            records_per_joule=per_joule,
            scope=scope,
            runs_valid=len(good),
            complete=len(good) == len(runs) == session.options.runs,
            validated=bool(good) and all(is_validated(r) for r in good),
            cold=session.options.cold and bool(good) and all(is_cold(r) for r in good),
            bytes=input_bytes(session, good),
            simulated=is_simulated(session),
            rehearsal=session.options.rehearsal,
            remarks=scope_remarks(headline_meters(session, meter)),
        )
    )
