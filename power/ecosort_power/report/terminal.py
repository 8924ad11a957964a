"""The result as a table on a terminal."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ecosort_power.report.content import Result
from ecosort_power.report.facts import MISSING
from ecosort_power.report.text import instrument, interval, phase_name, plus_minus, relative, short
from ecosort_power.store import Run, Session
from ecosort_power.summary import MeterSummary, Summary, limits_of_runs, number


def _runs_table(session: Session, runs: list[Run]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("run", "seconds", "joules", "instrument", "watts", "records/J", "CPU s", "cache", "output"):
        table.add_column(name, justify="left" if name in ("cache", "output") else "right")
    every = limits_of_runs(session, runs, session.headline or "")
    for run in runs:
        energy = run.energy_of(session.headline)
        joules = energy.joules if energy is not None and run.valid else None
        limits = every.get(run.index)
        if not run.valid:
            verdict = Text("INVALID", style="bold red")
        elif run.validation is None:
            verdict = Text("unvalidated", style="yellow")
        else:
            verdict = Text("valid", style="green")
        table.add_row(
            str(run.index),
            f"{run.marks.seconds:.2f}",
            number(joules) if joules is not None else "-",
            "-" if joules is None else (f"±{short(limits)}" if limits is not None else "unknown"),
            number(joules / run.marks.seconds) if joules is not None else "-",
            number(run.records / joules) if joules is not None and run.records else "-",
            f"{run.cpu_user_s + run.cpu_system_s:.2f}",
            "cold" if run.cold is not None else "warm",
            verdict,
        )
    return table


def _meter_lines(meter: MeterSummary) -> Table:
    """The deviation of the runs and the instrument's uncertainty have columns of their own."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", "mean ± deviation of the runs", "instrument", ""):
        table.add_column(name, style="bold" if not table.columns else "")
    if meter.records_per_joule is not None:
        table.add_row("records/J", plus_minus(meter.records_per_joule), relative(meter), interval(meter))
    table.add_row("energy", plus_minus(meter.joules, "J"), instrument(meter))
    table.add_row("power", plus_minus(meter.watts, "W"), relative(meter))
    if meter.idle_w is not None:
        table.add_row("idle power", f"{number(meter.idle_w)} W")
    if meter.above_idle_j is not None:
        table.add_row("above idle", f"{number(meter.above_idle_j)} J", "", "secondary: the headline is the total")
    for phase in meter.phases:
        value = plus_minus(phase.joules, "J") if phase.joules is not None else ""
        table.add_row(
            f"  {phase_name(phase.name)}", value, "", f"in {phase.seconds:.2f} s{'; ' if phase.note else ''}{phase.note or ''}"
        )
    return table


def _head(summary: Summary, simulated: bool) -> Text:
    sound = summary.energy is not None and summary.ok
    text = Text(summary.title, style="bold red" if simulated else "bold green" if sound else "bold yellow")
    if summary.energy is not None and not summary.validated:
        text.append("  NOT VALIDATED", style="bold red")
    return text


def render(result: Result) -> RenderableType:
    session, runs, summary = result.session, list(result.runs), result.summary
    parts: list[RenderableType] = [
        Panel(_head(summary, result.simulated), expand=False),
        Text(" ".join(session.options.command), style="dim"),
    ]
    parts.append(_runs_table(session, runs))
    if summary.seconds is not None:
        parts.append(Text(f"\ntime       {plus_minus(summary.seconds, 's')}, {plus_minus(summary.cpu_s, 'CPU s')}"))
    for meter in [m for m in [summary.energy, *summary.others] if m is not None]:
        title = next((m.capabilities.title for m in session.meters if m.name == meter.meter), "sum of the meters")
        parts.append(Text(f"\n{meter.meter}: {title}, {meter.scope.headline}", style="bold cyan"))
        parts.append(_meter_lines(meter))
    if summary.standing is not None:
        parts.append(Text(f"\nJouleSort  {summary.standing}"))
    if summary.harness_cpu_s is not None and session.meters:
        parts.append(Text(f"measuring itself used {summary.harness_cpu_s:.2f} CPU s per run"))
    if result.seal is None:
        parts.append(Text(f"seal       {MISSING}: this result is not sealed", style="red"))
    else:
        parts.append(Text(f"seal       {result.seal.digest} ({result.seal.lines} lines)"))
    parts += [
        Text(f"{'DEFECT ' if d.fatal else 'note   '}{d.text}", style="red" if d.fatal else "yellow") for d in summary.defects
    ]
    return Group(*parts)


def show(result: Result) -> None:
    """On standard output; wide enough for a file or a pipe."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=160, no_color=True)
    console.print(render(result))
