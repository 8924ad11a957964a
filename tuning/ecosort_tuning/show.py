"""Prints for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from ecosort_measure.sizes import size_text
from ecosort_measure.tables import console, show_table
from ecosort_power.host import found_by
from ecosort_power.validate import ecosort_program
from rich.table import Table

from ecosort_tuning.compare import Comparison
from ecosort_tuning.profile import CpuModel, Drive, PowerModel, Profile, TimeModel


def say(text: str) -> None:
    """Progress, on standard error."""
    click.echo(text, err=True)


def show_comparison(found: Comparison) -> None:
    out = console()
    table = Table("stage", "contender", "quantity", "compared", "runs", "second / first, 95 %", "")
    for row in found.rows:
        interval = row.judgement.interval if row.judgement else None
        ratio = f"{interval.median:.3f} [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""
        style = "bold red" if row.worse else "green" if row.judgement and row.judgement.seen and row.is_ours else ""
        cells = (row.stage, row.contender, row.quantity, row.how, f"{row.runs[0]}, {row.runs[1]}", ratio, row.verdict)
        table.add_row(*cells, style=style)
    out.print(table)
    for warning in found.warnings:
        out.print(f"note: {warning}", markup=False)
    out.print(found.summary, markup=False)


def _drive_table(drive: Drive) -> Table:
    how = f"{drive.engine}, {'direct' if drive.direct else 'through the page cache'}"
    table = Table("use", "block", "depth", "read MB/s", "write MB/s", "latency us", "CPU s/GB", "spread")
    table.title = f"{drive.role}: {drive.directory} ({drive.file_system} on {drive.device}; {how})"
    for rate in drive.rates:
        table.add_row(
            rate.mode,
            size_text(rate.block_bytes),
            str(rate.depth),
            f"{rate.read_bytes_per_s / 1e6:.0f}",
            f"{rate.write_bytes_per_s / 1e6:.0f}",
            f"{rate.latency_s * 1e6:.0f}",
            f"{rate.cpu_s_per_gb:.3f}",
            f"{100 * rate.spread:.0f} %",
            style="bold" if rate == drive.best(rate.mode) else "",
        )
    return table


def show_profile(profile: Profile) -> None:
    out = console()
    machine = profile.machine
    out.print(
        f"{machine.processor}, {machine.cpus} CPUs, {machine.memory_bytes / 2**30:.1f} GiB; measured {profile.created}",
        markup=False,
    )
    if (sorter := ecosort_program()) and (found := found_by(sorter)):
        out.print(f"here {sorter} has {found}", markup=False)
    for drive in profile.drive:
        out.print(_drive_table(drive))
    if profile.kernels:
        costs = ", ".join(f"{name.replace('_', ' ')} {ns:.1f}" for name, ns in profile.kernels.ns_per_record.items())
        out.print(f"ns per record of {profile.kernels.record_size_bytes} bytes on one thread: {costs}", markup=False)
    for line in model_lines(profile.cpu, profile.time, profile.power):
        out.print(line, markup=False)
    for setting in profile.setting:
        out.print(f"{setting.option} {setting.value}: {setting.because}", markup=False)
    for name, why in profile.absent.items():
        out.print(f"no {name}: {why}", markup=False)
    for warning in profile.warnings:
        out.print(f"warning: {warning}", markup=False, style="yellow")


def model_lines(cpu: CpuModel | None, time: TimeModel | None, power: PowerModel | None) -> list[str]:
    lines = []
    if cpu:
        fixed = f"{cpu.fixed_s:.3f} s + {1e9 * cpu.per_record_s:.1f} ns per record"
        rest = f"{1e9 * cpu.per_comparison_s:.2f} ns per comparison + {1e9 * cpu.per_byte_s:.3f} s per GB moved"
        more = f"{2**30 * cpu.per_memory_byte_s:.3f} s per GiB of memory + {1e6 * cpu.per_request_s:.0f} us per request"
        lines.append(f"CPU: {fixed} + {rest} + {more} ({cpu.runs} runs, within {100 * cpu.error:.1f} %)")
    if time:
        factors = ", ".join(f"{name.replace('_', ' ')} {factor:.2f}" for name, factor in time.factor.items())
        lines.append(f"time over that of the slowest resource: {factors} ({time.runs} runs, within {100 * time.error:.1f} %)")
    if power:
        terms = f"{power.idle_w:.1f} W idle, {power.core_w:.1f} W per busy core, {power.gb_j:.2f} J per GB moved"
        lines.append(f"energy: {terms} ({power.runs} runs, {power.meter}, within {100 * power.error:.1f} %)")
    return lines


def show_prediction(found: Mapping[str, Any]) -> None:
    """Shows the prediction of `ecosort plan --json`."""
    out = console()
    rows = []
    for phase in found["phases"]:
        each = ", ".join(f"{name} {seconds:.1f}" for name, seconds in phase["times"].items())
        read, written = phase["work"]["bytes_read"] / 1e9, phase["work"]["bytes_written"] / 1e9
        rows.append((phase["name"], f"{phase['seconds']:.1f}", f"{read:.2f}", f"{written:.2f}", phase["bottleneck"], each))
    show_table(out, ("phase", "seconds", "GB read", "GB written", "limited by", "seconds of each resource"), rows)
    joules = f", {found['joules']:.0f} J" if found["joules"] is not None else ""
    moved = f"{found['bytes_moved'] / 1e9:.2f} GB moved{joules}"
    out.print(f"in all {found['seconds']:.1f} s, {found['cpu_s']:.1f} CPU seconds, {moved}", markup=False)
    saved = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in found["saved_s"].items())
    out.print(f"twice the speed would save: {saved}; most by a faster {found['help_most']}", markup=False)
    for note in found["notes"]:
        out.print(f"note: {note}", markup=False)
