"""The result in the form of a JouleSort submission."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from ecosort_power.report.facts import MISSING
from ecosort_power.report.text import instrument, phase_name, plus_minus
from ecosort_power.statistics import t95
from ecosort_power.store import MeterRecord, Run, Session
from ecosort_power.summary import Summary, number


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    head = list(header)
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(r) + " |" for r in rows), ""]


def render(session: Session, runs: list[Run], summary: Summary, facts: Mapping[str, str]) -> str:
    lines = [f"# {facts.get('title', f'JouleSort submission ({MISSING}: title)')}", ""]
    lines += [f"**{summary.title}**", ""]
    if not summary.validated:
        lines += ["**NOT VALIDATED: not every output was checked.**", ""]
    lines += [f"Authors: {facts.get('authors', MISSING)}. Category: {facts.get('category', MISSING)}.", ""]
    lines += _result(session, runs, summary)
    lines += _meters(session, facts)
    lines += _machine(session, facts)
    lines += _procedure(session, runs, facts)
    lines += _validation(session, runs)
    lines += _notes(summary)
    return "\n".join(lines).rstrip() + "\n"


def _result(session: Session, runs: list[Run], summary: Summary) -> list[str]:
    lines = ["## Result", ""]
    rows = []
    for run in runs:
        energy = run.energy_of(session.headline)
        joules = energy.joules if energy is not None and run.valid else None
        rows.append(
            [
                str(run.index),
                f"{run.marks.seconds:.2f}",
                number(joules) if joules is not None else "null",
                f"{joules / run.marks.seconds:.2f}" if joules is not None else "null",
                number(run.records / joules) if joules is not None and run.records else "null",
                "yes" if run.validation is not None and run.validation.ok else "NO",
            ]
        )
    lines += table(["run", "seconds", "joules", "mean watts", "records/J", "validated"], rows)
    if summary.energy is None:
        return [*lines, f"Energy: null. Reason: {summary.energy_reason}", ""]
    head, n = summary.energy, summary.energy.joules.n
    rows = [["seconds", plus_minus(summary.seconds), ""], ["joules", plus_minus(head.joules), instrument(head)]]
    rows += [["records/J", plus_minus(head.records_per_joule), ""], ["watts", plus_minus(head.watts), ""]]
    rows += [["idle watts", number(head.idle_w) if head.idle_w is not None else "n/a", ""]]
    lines += table(["quantity", "mean ± sample standard deviation", "instrument uncertainty"], rows)
    if head.joules.ci95 is not None:
        lines += [f"95 % interval of the mean (n = {n}, t = {t95(n - 1):.3f}): ±{number(head.joules.ci95)} J.", ""]
    if head.phases:
        rows = [[phase_name(p.name), f"{p.seconds:.2f}", plus_minus(p.joules), p.note or ""] for p in head.phases]
        lines += table(["phase", "seconds", "joules", "note"], rows)
    for other in summary.others:
        lines += [f"Beside it, {other.meter} ({other.scope.headline}): {plus_minus(other.joules, 'J')}.", ""]
    if summary.standing:
        lines += [f"Standing: {summary.standing}.", ""]
    return lines


def _meters(session: Session, facts: Mapping[str, str]) -> list[str]:
    lines = ["## Power measurement", ""]
    for meter in session.meters:
        lines += _meter(meter)
    if not session.meters:
        lines += [f"- no meter: {session.energy_reason}"]
    lines += [
        f"- meter model: {facts.get('meter_model', MISSING)}; serial: {facts.get('meter_serial', MISSING)}; "
        f"calibrated: {facts.get('meter_calibration', MISSING)}; accuracy: {facts.get('meter_accuracy', MISSING)}",
        f"- power factor: {facts.get('power_factor', MISSING)}",
        f"- ambient temperature: {f'{ambient} C' if (ambient := facts.get('ambient_c')) is not None else MISSING}",
        f"- connected to the meter: {facts.get('inside_boundary', MISSING)}",
        "- window: process start to the end of a sync after exit; the output is validated afterwards, outside the window",
        "",
    ]
    return lines


def _meter(meter: MeterRecord) -> list[str]:
    c = meter.capabilities
    lag = "unknown" if c.lag_s is None else f"{c.lag_s:g} s"
    accuracy = c.accuracy.text() if c.accuracy else "unknown"
    lines = [
        f"- {meter.name}: {c.title}, {c.scope.headline}; read every {c.period_s:g} s; lag {lag}; "
        f"accuracy {accuracy}; {'own energy counter' if c.counter else 'power values integrated'}"
    ]
    return lines + [f"  - {k}: {v}" for k, v in c.identity.items()] + [f"  - note: {n}" for n in c.notes]


def _machine(session: Session, facts: Mapping[str, str]) -> list[str]:
    lines = ["## Machine", "", f"- complete hardware: {facts.get('hardware', MISSING)}"]
    lines += [f"- {key.replace('_', ' ')}: {value}" for key, value in session.host.items()]
    lines += [f"- compiler and flags: {facts.get('compiler', MISSING)}", f"- tuning: {facts.get('tuning', MISSING)}"]
    return [*lines, f"- price: {facts.get('price', MISSING)}", ""]


def _procedure(session: Session, runs: list[Run], facts: Mapping[str, str]) -> list[str]:
    cold = all(r.cold is not None for r in runs) and bool(runs)
    return [
        "## Procedure",
        "",
        f"- records: {session.records if session.records is not None else MISSING}",
        f"- generator: {facts.get('generator', MISSING)}",
        f"- command: `{shlex.join(session.options.command)}`",
        f"- page cache before each run: {'emptied' if cold else 'NOT emptied'}",
        f"- measured with ecosort-power {session.version}, begun {session.created}",
        "",
    ]


def _validation(session: Session, runs: list[Run]) -> list[str]:
    lines = ["## Validation", "", f"Checksum of the input: {session.input_checksum or MISSING}", ""]
    rows = []
    for run in runs:
        report = run.validation.report if run.validation is not None else None
        if report is None:
            rows.append([str(run.index), "not validated", "", "", ""])
        else:
            verdict = (run.validation.problem if run.validation else None) or "in order"
            rows.append([str(run.index), verdict, str(report.records), report.checksum or "", str(report.duplicates)])
    return lines + table(["run", "verdict", "records", "checksum", "duplicate keys"], rows)


def _notes(summary: Summary) -> list[str]:
    if not summary.defects:
        return []
    return ["## Notes", "", *(f"- {'DEFECT: ' if d.fatal else ''}{d.text}" for d in summary.defects), ""]
