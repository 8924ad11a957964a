"""Tables of meters, of a probe and of a comparison on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ecosort_power.meters.base import Finding
from ecosort_power.report.text import plus_minus

if TYPE_CHECKING:
    from ecosort_power.compare import Comparison
    from ecosort_power.machine_checks import Check
    from ecosort_power.probe import Probe


def _console() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=160, no_color=True)


def show_findings(found: Sequence[Finding]) -> None:
    console = _console()
    for f in found:
        mark = Text("usable  " if f.usable else "not now ", style="bold green" if f.usable else "bold yellow")
        console.print(mark + Text(f"{f.title}", style="bold") + Text(f"   --meter {f.spec}" if f.usable else "", style="cyan"))
        scope = f.scope.headline.removeprefix("scope ")
        console.print(f"        scope: {scope}; rate: {f.rate}; accuracy: {f.accuracy}", markup=False)
        if f.why:
            console.print(f"        why:   {f.why}", markup=False, soft_wrap=True)
        if f.fix:
            console.print(f"        fix:   {f.fix}", markup=False, soft_wrap=True)
    if not any(f.usable for f in found):
        console.print(
            "\nNo meter can be read here. Any of these gives one:\n"
            "  the host's management controller   --meter ipmi://USER@HOST   (password in IPMITOOL_PASSWORD)\n"
            "  a smart plug                       --meter shelly://HOST      tasmota, kasa, fritz, mqtt, homeassistant;\n"
            "                                     ecosort-power meters --discover finds plugs in the network\n"
            "  a laboratory meter                 --meter scpi:/dev/ttyUSB0#profile=lmg95\n"
            "  a meter's own log, afterwards      --meter csv:FILE           or: ecosort-power attach DIR --meter csv:FILE\n"
            "  a program of yours                 --meter 'exec:./my-meter'  (prints {\"watts\": 41.7} per line)\n"
            "  none yet: a rehearsal              --meter sim:               (SIMULATED, never ranked)\n"
            "Without one, --time-only measures time and says why there is no energy.",
            markup=False,
            soft_wrap=True,
        )


def show_probe(found: Probe) -> None:
    console = _console()
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    for name, value in found.rows():
        table.add_row(name, value)
    console.print(Text(found.title, style="bold cyan"))
    console.print(table)
    if found.problem:
        console.print(Text(found.problem, style="bold red"))
    elif found.settings:
        console.print(f"\nuse it with   #{found.settings}", markup=False)


def show_checks(found: Sequence[Check]) -> None:
    console = _console()
    styles = {"ok": "bold green", "warning": "bold yellow", "problem": "bold red"}
    for c in found:
        line = Text(f"{c.state.value:<8} ", style=styles[c.state.value]) + Text(f"{c.name}: {c.text}")
        console.print(line, soft_wrap=True)
        if c.todo:
            console.print(f"           -> {c.todo}", markup=False, soft_wrap=True)


def show_comparison(first: str, second: str, found: Comparison) -> None:
    console = _console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", first, second, "ratio", "95 % interval", ""):
        table.add_column(name, justify="left" if not name else "right")
    for row in found.rows:
        interval = f"{row.low:.3f} to {row.high:.3f}" if row.low is not None and row.high is not None else "-"
        ratio = f"{row.ratio:.3f}" if row.ratio is not None else "-"
        table.add_row(row.name, plus_minus(row.a), plus_minus(row.b), ratio, interval, row.verdict)
    console.print(table)
    for warning in found.warnings:
        console.print(Text(f"note  {warning}", style="yellow"))
