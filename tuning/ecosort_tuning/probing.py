"""`ecosort-tune probe`: from its options to a profile, with a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click
from ecosort.durable import replaceable
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ecosort_tuning.errors import EXIT_OK, UsageError
from ecosort_tuning.machine import this_machine
from ecosort_tuning.probe import ProbeOptions, places, run_probe
from ecosort_tuning.profile import write_profile
from ecosort_tuning.show import show_profile

_LEAST_BLOCKS = 4  # of the file, for the largest block at the greatest depth to mean anything


def _options(given: Mapping[str, Any]) -> ProbeOptions:
    options = ProbeOptions(
        places(given["temp"], given["output"]),
        seconds=given["seconds"],
        repetitions=given["repetitions"],
        file_bytes=given["file_bytes"],
        costs=given["costs"],
        kernels=not given["no_kernels"],
    )
    if given["blocks"]:
        options = replace(options, blocks_bytes=tuple(dict.fromkeys(given["blocks"])))
    if given["depths"]:
        options = replace(options, depths=tuple(dict.fromkeys(given["depths"])))
    for block in options.blocks_bytes:
        if block % 4096:
            raise UsageError(f"--block {block}B: direct I/O needs multiples of 4KiB")
        if block * _LEAST_BLOCKS > options.file_bytes:
            raise UsageError(
                f"--block {block}B does not fit a file of {options.file_bytes} bytes {_LEAST_BLOCKS} times: --file-size"
            )
    return options


def probe_and_tell(given: Mapping[str, Any]) -> int:
    options = _options(given)
    path = replaceable(given["profile"])  # before the minutes that a probe takes
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as progress:
        task = progress.add_task("making the file", total=options.steps)

        def advance(text: str) -> None:
            progress.update(task, description=text, advance=1)

        profile = run_probe(options, this_machine(), advance)
    write_profile(path, profile)
    show_profile(profile)
    click.echo(f"profile: {path}")
    return EXIT_OK
