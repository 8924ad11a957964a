"""The runs as CSV: one line per run and meter, phases in columns."""

from __future__ import annotations

import csv
import io

from ecosort_power.claim import is_simulated
from ecosort_power.store import Run, Session
from ecosort_power.summary import limits_of_runs


def render(session: Session, runs: list[Run]) -> str:
    simulated = is_simulated(session)
    meters = dict.fromkeys(e.meter for r in runs for e in r.energy or [])
    limits = {meter: limits_of_runs(session, runs, meter) for meter in meters}
    phases = list(dict.fromkeys(p.name for r in runs for e in r.energy or [] for p in e.phases))
    names = ["run", "valid", "validated", "meter", "seconds", "joules", "watts", "records", "records_per_joule"]
    names += [
        "uncertainty_j",
        "idle_before_w",
        "idle_after_w",
        "cpu_s",
        "harness_cpu_s",
        *(f"joules_{p}" for p in phases),
        "simulated",
    ]
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    for run in runs:
        base = {
            "run": run.index,
            "valid": run.valid,
            "validated": run.validation is not None and run.validation.ok,
            "simulated": simulated,
            "seconds": round(run.marks.seconds, 4),
            "records": run.records,
            "cpu_s": round(run.cpu_user_s + run.cpu_system_s, 3),
            "harness_cpu_s": round(run.harness_cpu_s, 3),
        }
        if not run.energy:
            writer.writerow(base)
        for e in run.energy or []:
            row = {
                "meter": e.meter,
                "joules": e.joules,
                "watts": e.watts,
                "records_per_joule": run.records / e.joules if run.records and e.joules else None,
                "uncertainty_j": limits[e.meter].get(run.index),
                "idle_before_w": e.idle_before_w,
                "idle_after_w": e.idle_after_w,
            }
            writer.writerow({**base, **row, **{f"joules_{p.name}": p.joules for p in e.phases}})
    return out.getvalue()
