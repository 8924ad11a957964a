"""The result as one HTML page that needs nothing else: no script, no font, no image from anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from ecosort_power.command import quoted
from ecosort_power.records import standing
from ecosort_power.report.facts import MISSING, QUESTIONS
from ecosort_power.report.plots import phase_color, phase_plot, power_plot, runs_plot
from ecosort_power.report.series import added, phase_names, power_line, shades, typical
from ecosort_power.report.style import STYLE
from ecosort_power.report.text import instrument, phase_name, plus_minus, short
from ecosort_power.store import MeterRecord, ResultDirectory, Run, Session, valid_runs
from ecosort_power.summary import MeterSummary, Summary, number

DASH = "&ndash;"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def render(directory: ResultDirectory, session: Session, runs: Sequence[Run], summary: Summary, facts: Mapping[str, str]) -> str:
    title = facts.get("title") or summary.title
    body = [
        _head(session, summary, facts),
        _cards(summary),
        _plots(directory, session, runs, summary),
        _runs_table(session, runs),
        _phase_table(summary),
        _records_table(summary),
        _meters(session, summary),
        _circumstances(session, facts),
        _notes(summary),
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n<style>{STYLE}</style></head>\n'
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


def _section(title: str, content: str, lead: str = "") -> str:
    intro = f'<p class="lead">{escape(lead)}</p>' if lead else ""
    return f"<section><h2>{escape(title)}</h2>{intro}{content}</section>\n" if content else ""


def _table(header: Iterable[str], rows: Iterable[Sequence[str]], numbers: bool = True) -> str:
    """Cells are HTML already. The first column is text, the others numbers unless told otherwise."""
    head = "".join(f"<th>{escape(h)}</th>" for h in header)
    lines = "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in rows)
    kind = "numbers" if numbers else "words"
    return f'<div class="scroll"><table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'


def _badge(text: str, kind: str) -> str:
    return f'<span class="badge {kind}">{escape(text)}</span>'


def _head(session: Session, summary: Summary, facts: Mapping[str, str]) -> str:
    energy = summary.energy
    badges = []
    if energy is not None:
        badges.append(_badge(energy.scope.headline, "scope" if energy.scope.whole_system else "bad"))
    badges.append(_badge("validated", "good") if summary.validated else _badge("NOT VALIDATED", "bad"))
    complete = f"{summary.runs_valid} of {summary.runs_planned} runs valid"
    badges.append(_badge(complete, "good" if summary.ok else "bad"))
    if energy is None:
        big = f'<p class="none">No energy</p><p class="lead">{escape(summary.energy_reason or "")}</p>'
    elif energy.records_per_joule is not None:
        spread = f" ± {short(energy.records_per_joule.sd)}" if energy.records_per_joule.sd is not None else ""
        big = f'<p class="big">{number(energy.records_per_joule.mean)}<small>{spread} records per joule</small></p>'
    else:
        big = f'<p class="big">{number(energy.joules.mean)}<small> joules</small></p>'
    name = f"<h1>{escape(facts['title'])}</h1>" if "title" in facts else ""
    where = f"{session.host.get('processor', 'unknown processor')}, {session.created[:16].replace('T', ' ')}"
    return (
        f'<header>{name}{big}<p class="badges">{"".join(badges)}</p>'
        f'<p class="command"><code>{escape(quoted(session.options.command))}</code></p>'
        f'<p class="lead">{escape(where)}</p></header>\n'
    )


def _card(name: str, value: str, detail: str = "") -> str:
    return f'<div class="card"><b>{escape(name)}</b><span>{escape(value)}</span><small>{escape(detail)}</small></div>'


def _cards(summary: Summary) -> str:
    cards = []
    energy = summary.energy
    if energy is not None:
        cards.append(_card("energy", plus_minus(energy.joules, "J"), "mean ± sample standard deviation"))
        cards.append(_card("instrument", _limits(energy), "limits of error of the energy"))
        cards.append(_card("power", plus_minus(energy.watts, "W"), "mean over the window"))
        if energy.idle_w is not None:
            above = f"{number(energy.above_idle_j)} J above idle" if energy.above_idle_j is not None else ""
            cards.append(_card("idle power", f"{number(energy.idle_w)} W", above))
    cards.append(_card("time", plus_minus(summary.seconds, "s"), "process start to sync"))
    cards.append(_card("processor time", plus_minus(summary.cpu_s, "s"), _own_cost(summary)))
    if summary.records is not None:
        cards.append(_card("records", f"{summary.records:,}".replace(",", " "), "per run"))
    return f'<div class="cards">{"".join(cards)}</div>\n'


def _limits(energy: MeterSummary) -> str:
    if energy.uncertainty_j is None:
        return "unknown"
    return f"±{short(energy.uncertainty_j)} J ({energy.uncertainty_j / energy.joules.mean:.1%})"


def _own_cost(summary: Summary) -> str:
    return f"measuring itself: {summary.harness_cpu_s:.2f} CPU s" if summary.harness_cpu_s is not None else ""


def _plots(directory: ResultDirectory, session: Session, runs: Sequence[Run], summary: Summary) -> str:
    energy = summary.energy
    good = valid_runs(runs)
    if energy is None or not good:
        return ""
    shown = [m for m in session.meters if m.name in energy.meter.split("+")]
    lines = [added([power_line(r, directory.readings(r.index, m.name), m.capabilities) for m in shown]) for r in good]
    middle = typical(good)
    power = power_plot(lines, shades(middle), middle.marks.seconds, energy.idle_w)
    lead = f"{energy.meter}; dashed: start and end of the energy window; phases of run {middle.index}"
    names = phase_names(good, energy.meter)
    parts = [_section("Power over time", f'<figure class="plot" id="power">{power}</figure>', lead)]
    if names:
        figure = f'<figure class="plot" id="phases">{phase_plot(good, energy.meter, names)}</figure>'
        parts.append(_section("Energy per phase", figure, "phases add up to the total of each run"))
    figure = f'<figure class="plot" id="runs">{runs_plot(good, energy.meter, names)}</figure>'
    parts.append(
        _section(
            "Runs side by side", figure, "dashed: mean; whiskers: instrument limits" if energy.uncertainty_j else "dashed: mean"
        )
    )
    return "".join(parts)


def _runs_table(session: Session, runs: Sequence[Run]) -> str:
    rows = []
    for run in runs:
        energy = run.energy_of(session.headline)
        joules = energy.joules if energy is not None and run.valid else None
        limits = energy.uncertainty.total_j if energy is not None and energy.uncertainty is not None else None
        verdict = _badge("invalid", "bad") if not run.valid else _badge("unvalidated", "warn")
        if run.valid and run.validation is not None:
            verdict = _badge("valid", "good")
        rows.append(
            [
                str(run.index),
                f"{run.marks.seconds:.2f}",
                number(joules) if joules is not None else DASH,
                f"±{short(limits)}" if limits is not None else "unknown",
                number(joules / run.marks.seconds) if joules is not None else DASH,
                number(run.records / joules) if joules is not None and run.records else DASH,
                f"{run.cpu_user_s + run.cpu_system_s:.2f}",
                "cold" if run.cold is not None else "warm",
                verdict,
            ]
        )
    header = ["run", "seconds", "joules", "instrument", "watts", "records/J", "CPU s", "cache", "output"]
    return _section("Runs", _table(header, rows))


def _phase_table(summary: Summary) -> str:
    meters = [m for m in [summary.energy, *summary.others] if m is not None and m.phases]
    rows = []
    for meter in meters:
        names = [p.name for p in meter.phases]
        for p in meter.phases:
            color = phase_color(p.name, names)
            label = f'<i class="dot" style="background:{color}"></i>{escape(phase_name(p.name))}'
            value = plus_minus(p.joules, "J") if p.joules is not None else DASH
            watts = number(p.joules.mean / p.seconds) if p.joules is not None and p.seconds > 0 else DASH
            rows.append([label, escape(meter.meter), f"{p.seconds:.2f}", value, watts, escape(p.note or "")])
    return _section("Phases", _table(["phase", "meter", "seconds", "energy", "watts", "note"], rows) if rows else "")


def _records_table(summary: Summary) -> str:
    energy = summary.energy
    if energy is None or energy.records_per_joule is None or summary.simulated:
        return ""
    mean = energy.records_per_joule.mean
    place = standing(summary.records, mean, energy.scope)
    rows: list[tuple[float, list[str]]] = []
    for r in place.entries:
        machine = escape("; ".join(filter(None, (r.machine, r.remark))))
        rows.append((r.records_per_joule, [escape(r.name), str(r.year), number(r.records_per_joule), machine]))
    if rows:
        rows.append((mean, ["<mark>this result</mark>", "", f"<mark>{number(mean)}</mark>", escape(energy.scope.headline)]))
    ordered = [cells for _, cells in sorted(rows, key=lambda row: -row[0])]
    table = _table(["entry", "year", "records/J", "machine"], ordered, numbers=False) if ordered else "<p></p>"
    return _section("Among the JouleSort results", table, place.text)


def _meter(meter: MeterRecord) -> list[str]:
    c = meter.capabilities
    accuracy = c.accuracy.text() if c.accuracy else "unknown"
    lag = "unknown" if c.lag_s is None else f"{c.lag_s:g} s"
    details = "; ".join([*(f"{k}: {v}" for k, v in c.identity.items()), *c.notes])
    return [escape(t) for t in (meter.name, c.title, c.scope.headline, f"{c.period_s:g} s", lag, accuracy, details)]


def _meters(session: Session, summary: Summary) -> str:
    rows = [_meter(m) for m in session.meters]
    header = ["name", "meter", "scope", "read every", "lag", "accuracy", "details"]
    others = [f"{m.meter} ({m.scope.headline}): {plus_minus(m.joules, 'J')}, instrument {instrument(m)}" for m in summary.others]
    beside = "".join(f"<p>{escape(text)}</p>" for text in others)
    return _section("Meters", _table(header, rows, numbers=False) + beside if rows else "")


def _circumstances(session: Session, facts: Mapping[str, str]) -> str:
    rows = [[escape(k.replace("_", " ")), escape(v)] for k, v in session.host.items()]
    for key in QUESTIONS:
        value = facts.get(key, MISSING)
        shown = f'<span class="missing">{MISSING}</span>' if value == MISSING else escape(value)
        rows.append([escape(key.replace("_", " ")), shown])
    return _section("Circumstances", _table(["fact", "value"], rows, numbers=False))


def _notes(summary: Summary) -> str:
    items = "".join(f'<li class="{"fatal" if d.fatal else "note"}">{escape(d.text)}</li>' for d in summary.defects)
    return _section("Notes", f"<ul>{items}</ul>" if items else "")
