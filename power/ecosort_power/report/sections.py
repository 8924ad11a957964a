"""The sections of a submission, from a result: every field that the rules of the benchmark ask for. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from ecosort_power.command import quoted
from ecosort_power.report.content import Fact, Result, Section, Table
from ecosort_power.report.facts import MISSING
from ecosort_power.report.rules import rules
from ecosort_power.report.text import instrument, interval, phase_name, plus_minus, short
from ecosort_power.statistics import t95
from ecosort_power.store import MeterRecord, Run
from ecosort_power.summary import MORE_RUNS, number
from ecosort_power.validate import CheckReport

NONE = "-"
SEAL_NOTE = (
    "The seal is a chain of hashes over raw readings, events, commands and reports of the validator, in the order of writing. "
    "`ecosort-power check` derives watts from the meter's answers, joules from watts and the summary from the runs again, and "
    "names the first link that is broken. It shows accidents and edits; it does not show that a machine, a meter or a person "
    "said the truth."
)


def sections(result: Result) -> list[Section]:
    found = [
        _runs(result),
        _means(result),
        _phases(result),
        _table_of_records(result),
        _rules(result),
        _power(result),
        _machine(result),
        _software(result),
        _procedure(result),
        _validation(result),
        _skewed(result),
        _seal(result),
        _notes(result),
    ]
    return [s for s in found if not s.empty]


def started(run: Run) -> str:
    """Returns when the process of a run was started, by the real-time clock."""
    moment = datetime.fromtimestamp(run.marks.start_s + run.marks.realtime_offset_s).astimezone()
    return moment.isoformat(sep=" ", timespec="seconds")


def verdict(run: Run) -> str:
    if not run.valid:
        return "INVALID"
    return "valid" if run.validation is not None and run.validation.ok else "unvalidated"


def run_row(result: Result, run: Run) -> list[str]:
    energy = run.energy_of(result.session.headline)
    joules = energy.joules if energy is not None and run.valid else None
    limits = result.limits().get(run.index)
    return [
        str(run.index),
        started(run),
        f"{run.marks.seconds:.2f}",
        number(joules) if joules is not None else NONE,
        NONE if joules is None else f"±{short(limits)}" if limits is not None else "unknown",
        number(joules / run.marks.seconds) if joules is not None else NONE,
        number(run.records / joules) if joules is not None and run.records else NONE,
        f"{run.cpu_user_s + run.cpu_system_s:.2f}",
        "cold" if run.cold is not None else "warm",
        verdict(run),
    ]


def _runs(result: Result) -> Section:
    header = ["run", "started", "seconds", "joules", "instrument", "mean watts", "records/J", "CPU s", "cache", "output"]
    return Section("Result", tables=[Table(header, [run_row(result, r) for r in result.runs])])


def _means(result: Result) -> Section:
    head, summary = result.energy, result.summary
    if head is None:
        return Section("Means", texts=[f"No energy. Reason: {summary.energy_reason}"])
    rows = [["seconds", plus_minus(summary.seconds), ""], ["joules", plus_minus(head.joules), instrument(head)]]
    rows += [["records/J", plus_minus(head.records_per_joule), ""], ["watts", plus_minus(head.watts), ""]]
    rows += [["idle watts", number(head.idle_w) if head.idle_w is not None else "n/a", ""]]
    texts = [f"Records per joule: {interval(head)}."] if head.records_per_joule is not None else []
    if head.joules.ci95 is not None:
        n = head.joules.n
        zero = f" It includes zero: {MORE_RUNS}." if head.joules.includes_zero else ""
        texts.append(f"95 % interval of the mean (n = {n}, t = {t95(n - 1):.3f}): ±{number(head.joules.ci95)} J.{zero}")
    texts += [f"Beside it, {o.meter} ({o.scope.headline}): {plus_minus(o.joules, 'J')}, {instrument(o)}." for o in summary.others]
    return Section("Means", tables=[Table(["quantity", "mean ± sample standard deviation", "instrument"], rows)], texts=texts)


def _phases(result: Result) -> Section:
    rows = []
    for meter in [m for m in [result.energy, *result.summary.others] if m is not None]:
        for p in meter.phases:
            value = plus_minus(p.joules, "J") if p.joules is not None else NONE
            watts = number(p.joules.mean / p.seconds) if p.joules is not None and p.seconds > 0 else NONE
            rows.append([phase_name(p.name), meter.meter, f"{p.seconds:.2f}", value, watts, p.note or ""])
    return Section("Phases", tables=[Table(["phase", "meter", "seconds", "energy", "watts", "note"], rows)])


def _table_of_records(result: Result) -> Section:
    """The published results; this one is among them only if it keeps the rules."""
    place = result.standing()
    if place is None or not place.entries:
        return Section("Among the JouleSort results")
    rows = [
        (r.records_per_joule, [r.name, str(r.year), number(r.records_per_joule), "; ".join(filter(None, (r.machine, r.remark)))])
        for r in place.entries
    ]
    head = result.energy
    if place.rank is not None and head is not None and head.records_per_joule is not None:
        mean = head.records_per_joule.mean
        rows.append((mean, ["THIS RESULT", result.session.created[:4], number(mean), result.session.host.get("processor", "")]))
    ordered = [cells for _, cells in sorted(rows, key=lambda row: -row[0])]
    table = Table(["entry", "year", "records/J", "machine"], ordered, numbers=False)
    return Section("Among the JouleSort results", lead=place.text[0].upper() + place.text[1:] + ".", tables=[table])


def _rules(result: Result) -> Section:
    rows = [[r.text, r.verdict, r.detail] for r in rules(result)]
    lead = "What this result says of each rule. MISSING is what only a person can say."
    return Section("Rules", lead, tables=[Table(["rule", "verdict", "detail"], rows, numbers=False)])


def _meter(meter: MeterRecord) -> Iterator[Fact]:
    c = meter.capabilities
    lag = "unknown" if c.lag_s is None else f"{c.lag_s:g} s"
    update = "unknown" if c.update_s is None else f"{c.update_s:g} s"
    accuracy = c.accuracy.text() if c.accuracy else "unknown"
    yield Fact(
        meter.name,
        f"{c.title}, {c.scope.headline}; read every {c.period_s:g} s, new values every {update}; lag {lag}; "
        f"accuracy {accuracy}; {'own energy counter' if c.counter else 'power values integrated'}",
    )
    yield Fact(f"{meter.name}, address", meter.spec)
    yield from (Fact(f"{meter.name}, {k}", v) for k, v in c.identity.items())
    yield from (Fact(f"{meter.name}, note", n) for n in c.notes)


def _power(result: Result) -> Section:
    facts = [f for m in result.session.meters for f in _meter(m)]
    if not result.session.meters:
        facts.append(Fact("no meter", result.session.energy_reason or "none was given"))
    ambient = result.fact("ambient_c")
    facts += [
        Fact("meter model", result.fact("meter_model")),
        Fact("meter serial", result.fact("meter_serial")),
        Fact("meter calibrated", result.fact("meter_calibration")),
        Fact("meter accuracy as stated by its maker", result.fact("meter_accuracy")),
        Fact("power factor", result.power_factor()),
        Fact("ambient temperature", ambient if ambient == MISSING else f"{ambient} C"),
        Fact("connected to the meter", result.fact("inside_boundary")),
        Fact("window", "process start to the end of a sync after exit; validation comes afterwards, outside the window"),
    ]
    return Section("Power measurement", facts=facts)


def _machine(result: Result) -> Section:
    host = {k: v for k, v in result.session.host.items() if k not in ("system", "kernel") and not k.startswith("sorter")}
    facts = [Fact("complete hardware", result.fact("hardware"))]
    facts += [Fact(key.replace("_", " "), value) for key, value in host.items()]
    return Section("Machine", facts=[*facts, Fact("price", result.fact("price"))])


def algorithm(result: Result) -> str:
    """Returns what a person says, else what the sort's own statistics do."""
    stats = next((r.stats for r in result.runs if r.stats), None) or {}
    plan = stats.get("plan")
    if "algorithm" in result.facts or not isinstance(plan, dict) or "shape" not in plan:
        return result.fact("algorithm")
    memory = stats.get("memory_limit_bytes")
    packing = stats.get("compression")
    runs = packing.get("runs") if isinstance(packing, dict) else None
    packed = f"compressed with {runs.get('codec')}" if isinstance(runs, dict) else "not compressed"
    return (
        f"EcoSort, {plan['shape']}: {stats.get('runs')} sorted runs, {packed}, {stats.get('merge_passes')} merge passes, "
        f"{stats.get('threads')} threads, {short(memory / 2**20) if isinstance(memory, int) else MISSING} MiB of memory, "
        f"I/O by {stats.get('io_backend')}"
    )


def _software(result: Result) -> Section:
    host = result.session.host
    systems = [host[k] for k in ("system", "kernel") if k in host]
    files = [f"{k.partition('_')[0]}: {v}" for k, v in host.items() if k.endswith("_file_system")]
    built = [host[k] for k in ("sorter_compiler", "sorter_flags") if k in host]
    facts = [
        Fact("algorithm", algorithm(result)),
        Fact("operating system", ", ".join(systems) or MISSING),
        Fact("file system", ", ".join(files) or MISSING),
        Fact("sorter", host.get("sorter", MISSING)),
        Fact("commit", result.facts.get("commit", host.get("sorter_commit", MISSING))),
        Fact("compiler and flags", result.facts.get("compiler", ", ".join(built) or MISSING)),
        Fact("tuning", result.fact("tuning")),
    ]
    return Section("Software", facts=facts)


def _procedure(result: Result) -> Section:
    session, runs = result.session, result.runs
    cold = all(r.cold is not None for r in runs) and bool(runs)
    facts = [
        Fact("category", result.fact("category")),
        Fact("records", MISSING if session.records is None else str(session.records)),
        Fact("generator", result.fact("generator")),
        Fact("command", f"`{quoted(session.options.command)}`"),
        *(Fact(f"run {r.index}, exact command", f"`{quoted(r.command)}`") for r in runs),
        Fact("attempts set aside", ", ".join(p.name for p in attempts) if (attempts := _aside(result)) else "none"),
        Fact("page cache before each run", "emptied" if cold else "NOT emptied"),
        Fact("idle before each run", f"{session.options.pause_s:g} s; idle power over {session.options.idle_s:g} s"),
        Fact("measured with", f"ecosort-power {session.version}, begun {session.created}"),
    ]
    plan = result.entry.plan if result.entry is not None else []
    return Section("Procedure", facts=facts, tables=[Table(["plan of the sort"], [[line] for line in plan], numbers=False)])


def _aside(result: Result) -> list[Path]:
    """Runs that were interrupted, or invalid and measured again."""
    return sorted(p for p in (result.directory.path / "runs").glob("*.*-*") if p.is_dir())


# Equal keys are neighbours in a sorted file only; what a validator finds in an unsorted one is no count of them.
OF_THE_OUTPUT = "see output"
_DUPLICATES = (
    "Duplicate keys are counted in the output: in an unsorted input equal keys are not neighbours, so that no validator "
    "counts them, and equal records and checksums show that input and output hold the same keys."
)


def _report_row(name: str, verdict: str, report: CheckReport | None) -> list[str]:
    if report is None:
        return [name, verdict, "", "", ""]
    counts = [MISSING if v is None else str(v) for v in (report.records, report.checksum, report.duplicates)]
    return [name, verdict, *counts]


def _input_row(report: CheckReport) -> list[str]:
    """An input that happens to be in order has its duplicates counted like an output."""
    row = _report_row("input", "in order" if report.in_order else "unsorted", report)
    return row if report.in_order else [*row[:-1], OF_THE_OUTPUT]


def _validation(result: Result) -> Section:
    session = result.session
    rows = [["input", "not read", MISSING, session.input_checksum or MISSING, OF_THE_OUTPUT]]
    if session.input_report is not None:
        rows = [_input_row(session.input_report)]
    for run in result.runs:
        report = run.validation.report if run.validation is not None else None
        verdict = "not validated" if report is None else (run.validation and run.validation.problem) or "in order"
        rows.append(_report_row(f"output of run {run.index}", verdict, report))
    header = ["file", "verdict", "records", "checksum", "duplicate keys"]
    texts = [f"Checksum of the input: {session.input_checksum or MISSING}", _DUPLICATES]
    return Section("Validation", tables=[Table(header, rows)], texts=texts)


def _skewed(result: Result) -> Section:
    if result.fact("category").lower() != "daytona":
        return Section("Skewed keys")
    skewed = result.entry.skewed if result.entry is not None else None
    if skewed is None:
        return Section("Skewed keys", facts=[Fact("run on skewed keys", MISSING)])
    rows = [_input_row(skewed.input_report)] if skewed.input_report is not None else [_report_row("input", "not read", None)]
    rows.append(_report_row("output", skewed.problem or "in order", skewed.output_report))
    facts = [
        Fact("generator", f"{skewed.generated.version}: {quoted(skewed.generated.command)}"),
        Fact("command", f"`{quoted(skewed.command)}`"),
        Fact("seconds", f"{skewed.seconds:.2f} (one run)" if skewed.problem is None else f"{NONE}: {skewed.problem}"),
        Fact("seal of its result", skewed.seal),
    ]
    return Section("Skewed keys", facts=facts, tables=[Table(["file", "verdict", "records", "checksum", "duplicate keys"], rows)])


def _seal(result: Result) -> Section:
    if result.seal is None:
        return Section("Seal", facts=[Fact("digest", f"{MISSING}: this result is not sealed")])
    facts = [Fact("digest (SHA-256)", result.seal.digest), Fact("lines of the chain", str(result.seal.lines))]
    return Section("Seal", facts=facts, texts=[SEAL_NOTE])


def _notes(result: Result) -> Section:
    return Section("Notes", texts=[f"{'DEFECT: ' if d.fatal else ''}{d.text}" for d in result.summary.defects])


def headline_words(result: Result) -> Sequence[str]:
    """Returns what every form must show beside the headline number."""
    words = ["SIMULATED: no real meter"] if result.simulated else []
    if not result.summary.validated:
        words.append("NOT VALIDATED: not every output was checked")
    place = result.standing()
    if place is not None and place.rank is None:
        words.append("not ranked: " + "; ".join(place.reasons))
    return words
