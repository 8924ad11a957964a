"""The result as one JSON document: session, runs, summary, as stored."""

from __future__ import annotations

import json
from dataclasses import asdict

from ecosort_power.codec import encode
from ecosort_power.report.content import Result

SCHEMA = "ecosort.power.report/1"


def render(result: Result) -> str:
    head, place = result.energy, result.standing()
    document = {
        "schema": SCHEMA,
        "energy": None if head is None else head.joules.mean,
        "energy_unit": "J",
        "energy_reason": result.summary.energy_reason,
        "scope": None if head is None else head.scope.value,
        "simulated": result.simulated,
        "rank": None if place is None else place.rank,
        "rank_reasons": [] if place is None else place.reasons,
        "seal": None if result.seal is None else asdict(result.seal),
        "entry": encode(result.entry),
        "facts": result.facts,
        "summary": encode(result.summary),
        "session": encode(result.session),
        "runs": encode(result.runs),
        "limits_j_of_runs": {str(index): limit for index, limit in result.limits().items()},
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"
