"""Reads what the sort reports: its events (phases) and its statistics."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecosort_power.nesting import parse_json
from ecosort_power.split import Span

EVENTS_SCHEMA = "ecosort.events/1"
STATS_SCHEMA = "ecosort.stats/1"
# Statistics of every kind of sort, and what they call the number of what was sorted.
_COUNTS = {
    STATS_SCHEMA: "records",
    "ecosort.lines-stats/1": "lines",
    "ecosort.csv-stats/1": "rows",
    "ecosort.jsonl-stats/1": "rows",
}
WHOLE = "total"


@dataclass(frozen=True, slots=True)
class Phases:
    spans: list[Span]
    problem: str | None = None  # why there are none


def read_phases(path: Path, begin_s: float, end_s: float) -> Phases:
    """The phases inside [begin, end] in order of time. Where phases nest or overlap, the time belongs to the one that began
    last, so that no moment is counted twice."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return Phases([], "the command wrote no events (--events)")
    except UnicodeDecodeError:
        return Phases([], f"{path.name} cannot be understood: it is no text")
    try:
        spans = _flatten([parse_json(line) for line in lines if line.strip()])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return Phases([], f"{path.name} cannot be understood: {error}")
    slack = 1e-3
    outside = next((s for s in spans if s.begin_s < begin_s - slack or s.end_s > end_s + slack), None)
    if outside is not None:
        return Phases([], f"phase {outside.name} lies outside the run: are the events from this run and machine?")
    return Phases([Span(s.name, max(s.begin_s, begin_s), min(s.end_s, end_s)) for s in spans])


def _flatten(events: Iterable[dict[str, Any]]) -> list[Span]:
    active: list[str] = []
    since = 0.0
    spans: list[Span] = []
    for event in events:
        if event.get("schema", EVENTS_SCHEMA) != EVENTS_SCHEMA:
            raise ValueError(f"schema {event['schema']!r} is not {EVENTS_SCHEMA}")
        kind, phase = event["event"], event.get("phase")
        if phase == WHOLE or kind not in ("begin", "end"):
            continue
        now = float(event["monotonic_s"])
        if active and now > since:
            spans.append(Span(active[-1], since, now))
        since = now
        if kind == "begin":
            active.append(str(phase))
        elif phase in active:
            active.remove(phase)
        else:
            raise ValueError(f"phase {phase} ends without a beginning")
    if active:
        raise ValueError(f"phase {active[-1]} never ends")
    return spans


def current_phase(path: Path) -> str | None:
    """The phase that has begun last and not ended, for the live line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    active: list[str] = []
    for line in lines:
        try:
            event = parse_json(line)
        except ValueError:
            continue
        if not isinstance(event, dict):
            continue
        phase = event.get("phase")
        if phase == WHOLE:
            continue
        if event.get("event") == "begin":
            active.append(str(phase))
        elif event.get("event") == "end" and phase in active:
            active.remove(phase)
    return active[-1] if active else None


def read_stats(path: Path) -> dict[str, Any] | None:
    """The sort's statistics, None if there are none of a known schema; lines and rows count as `records`."""
    try:
        stats = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(stats, dict) or (count := _COUNTS.get(str(stats.get("schema")))) is None:
        return None
    return {**stats, "records": stats[count]} if count in stats else stats
