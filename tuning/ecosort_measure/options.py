"""The options that several command lines have, each declared once: name, what it takes, where it goes, what it is. A command
adds what differs, the default above all: `@options.memory(default="64MiB")`. Every --help shows the defaults."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click
from ecosort_power.errors import PowerError

from ecosort_measure.sizes import SECONDS, SIZE

CONTEXT = {"help_option_names": ["-h", "--help"], "show_default": True}
PATH = click.Path(path_type=Path)
_ON_DRIVE = "On the drive to measure; input, runs and output are made and removed there."


class OneLineErrors(click.Command):
    """A command whose errors are one line, as those of its options are."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (PowerError, OSError) as error:
            raise click.ClickException(str(error)) from error


as_json = partial(click.option, "--json", "as_json", is_flag=True, help="Print JSON.")
budget = partial(click.option, "--budget", type=SECONDS)
directory = partial(click.option, "--dir", type=PATH, help=_ON_DRIVE)
going_on = partial(click.option, "--continue", "continued", is_flag=True, help="Add what the result file lacks.")
memory = partial(click.option, "--memory", type=SIZE, help="For each sort, such as 512MiB.")
meter = partial(click.option, "--meter", help="A meter of ecosort-power, for joules.")
out = partial(click.option, "--out", type=PATH)
restore_file = partial(click.option, "--restore-file", type=PATH, hidden=True)
rounds = partial(click.option, "--rounds", type=click.IntRange(1, 99))
size = partial(click.option, "--size", type=SIZE, help="Size of the input that is sorted, such as 4GB.")
