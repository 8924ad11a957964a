"""The result as one JSON document: session, runs, summary, as stored."""

from __future__ import annotations

import json

from ecosort_power.codec import encode
from ecosort_power.store import Run, Session
from ecosort_power.summary import Summary

SCHEMA = "ecosort.power.report/1"


def render(session: Session, runs: list[Run], summary: Summary) -> str:
    head = summary.energy
    document = {
        "schema": SCHEMA,
        "energy": None if head is None else head.joules.mean,
        "energy_unit": "J",
        "energy_reason": summary.energy_reason,
        "scope": None if head is None else head.scope.value,
        "summary": encode(summary),
        "session": encode(session),
        "runs": encode(runs),
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"
