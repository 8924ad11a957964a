"""The program `ecosort-tune`: options in, exit codes out. Work is done elsewhere."""

from __future__ import annotations

import json as jsonlib
from functools import partial
from pathlib import Path
from typing import Any

import click
from ecosort_measure import options
from ecosort_measure.options import PATH
from ecosort_measure.sizes import SIZE
from ecosort_power.program_end import run_program
from ecosort_power.usage import Group

from ecosort_tuning import __version__
from ecosort_tuning.errors import (
    EXIT_OK,
    EXIT_WORSE,
)
from ecosort_tuning.profile import default_path

_PROFILE = partial(
    click.option, "--profile", type=PATH, default=default_path, show_default="~/.config/ecosort/profile.toml", help="The profile."
)


@click.group(cls=Group, context_settings=options.CONTEXT)
@click.version_option(__version__, prog_name="ecosort-tune")
def cli() -> None:
    """Finds out what this machine can do, and what suits it.

    Exit codes: 0 done, 1 as the commands say, 2 usage, 3 a program or the machine failed, 4 internal, 128+n a signal.
    """


@cli.command()
@click.argument("first", type=PATH)
@click.argument("second", type=PATH)
@options.as_json()
def compare(first: Path, second: Path, as_json: bool) -> int:
    """Compares two result files of `make bench`: SECOND / FIRST, with 95 % intervals.

    Exit code 1 if the sorter's time or CPU is seen to be more in SECOND, else 0, also where no difference is seen.
    """
    from ecosort_measure.results import Results
    from ecosort_power.codec import encode

    from ecosort_tuning.compare import compare as compare_files
    from ecosort_tuning.show import show_comparison

    found = compare_files(Results.load(first), Results.load(second))
    if as_json:
        rows = [{**encode(row), "verdict": row.verdict} for row in found.rows]
        click.echo(jsonlib.dumps({"rows": rows, "warnings": found.warnings, "summary": found.summary}, indent=1))
    else:
        show_comparison(found)
    return EXIT_WORSE if any(row.worse for row in found.rows) else EXIT_OK


@cli.command()
@click.option("--governor", help="Governor of the clock rate: powersave, performance, ...")
@click.option("--energy-preference", help="The processor's balance of speed and power: power, balance_performance, ...")
@click.option("--read-ahead", "read_ahead_bytes", type=SIZE, help="Read-ahead of buffered reads, such as 4MiB.")
@click.option("--scheduler", help="Order of requests of one drive: none, mq-deadline, ...")
@click.option("--power-cap", "power_cap_w", type=float, metavar="WATTS", help="Long-term limit of each processor package.")
@click.option("--drive", "drives", multiple=True, help="A drive by name, such as nvme0n1; repeatable.")
@click.option("--on", "directories", multiple=True, type=PATH, help="The drive that holds this directory; repeatable.")
@click.option("--dry-run", is_flag=True, help="Show what would change (also without --apply).")
@click.option("--apply", is_flag=True, help="Change the settings, run COMMAND, put the old ones back.")
@click.option("--root", type=PATH, default=Path("/"), hidden=True)
@options.restore_file()
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def settings(**given: Any) -> int:
    """Runs COMMAND under other system settings; without --apply only shows what would change.

    The old settings come back when COMMAND ends, on errors and on signals; after a SIGKILL by `ecosort-tune restore`.
    Exit code: that of COMMAND.
    """
    from ecosort_tuning.under import run_under

    return run_under(given)


@cli.command()
@options.restore_file()
def restore(restore_file: Path | None) -> int:
    """Puts back the system settings that a killed `ecosort-tune settings` left."""
    from ecosort_tuning.hold import RESTORE_FILE
    from ecosort_tuning.hold import restore as put_back

    changes = put_back(restore_file or RESTORE_FILE)
    for change in changes:
        click.echo(f"{change.what}: {change.before} again")
    if not changes:
        click.echo("nothing to restore")
    return EXIT_OK


@cli.command()
@click.option("--temp", multiple=True, required=True, type=PATH, help="A directory for sorted runs; repeatable.")
@click.option("--output-dir", "output", type=PATH, help="The directory of the output, if it is another one.")
@click.option("--block", "blocks", multiple=True, type=SIZE, help="A block size; repeatable [256KiB, 1MiB, 4MiB].")
@click.option("--depth", "depths", multiple=True, type=click.IntRange(1, 1024), help="Requests in flight; repeatable [1, 4, 16].")
@click.option("--seconds", default=1.5, type=click.FloatRange(0.05), help="Length of one measurement.")
@click.option("--repetitions", default=3, type=click.IntRange(1, 50), help="Number of repetitions of each measurement.")
@click.option("--file-size", "file_bytes", default="2GiB", type=SIZE, help="Larger than every cache of the drive.")
@click.option("--costs", type=PATH, help="The program ecosort_costs [beside the sorter].")
@click.option("--no-kernels", is_flag=True, help="Measure the drives alone.")
@_PROFILE("-o", help="File of the profile.")
def probe(**given: Any) -> int:
    """Measures the drives below the directories with fio, and the sorter's computations; writes a profile.

    Reads, writes, both at once, and blocks anywhere, by block size and depth. Takes a few minutes and removes its files.
    """
    from ecosort_tuning.probing import probe_and_tell

    return probe_and_tell(given)


@cli.command()
@click.argument("path", metavar="[PROFILE]", default=default_path, type=PATH)
@options.as_json()
def show(path: Path, as_json: bool) -> int:
    """Shows a profile; exit code 2 with the reason where it is not one of this machine."""
    from ecosort_power.codec import encode

    from ecosort_tuning.machine import this_machine
    from ecosort_tuning.profile import read_profile
    from ecosort_tuning.show import show_profile

    profile = read_profile(path, this_machine())
    if as_json:
        click.echo(jsonlib.dumps(encode(profile), indent=1))
    else:
        show_profile(profile)
    return EXIT_OK


@cli.command()
@click.argument("sources", nargs=-1, required=True, type=PATH)
@_PROFILE()
def fit(sources: tuple[Path, ...], profile: Path) -> int:
    """Fits the models of a profile to measured runs and writes them into it.

    SOURCES are reports of the sorter (--stats), results of `make bench` and of `ecosort power run`; joules come from the last.
    """
    from ecosort_tuning.forecast import fit_and_tell

    return fit_and_tell(sources, profile)


@cli.command()
@click.argument("plan", type=PATH)
@_PROFILE()
@options.as_json()
def predict(plan: Path, profile: Path, as_json: bool) -> int:
    """Predicts time, processor and joules of PLAN (of `ecosort plan sort --json`, `-` is standard input), and what limits it."""
    from ecosort_tuning.forecast import predict_and_tell

    return predict_and_tell(plan, profile, as_json)


@cli.command()
@click.option(
    "--goal", type=click.Choice(["time", "energy", "pareto"]), help="Quantity to minimise; pareto: both, each beside the other."
)
@options.size()
@options.memory()
@options.budget(help="Measuring time, such as 20min; the confirmation comes on top.")
@options.directory()
@options.meter()
@options.out(help="Result directory [ecosort-search-DATE-TIME].")
@click.option("--continue", "continued", type=PATH, metavar="DIR", help="Continue with an interrupted search.")
@_PROFILE(help="File of the settings.")
def search(**given: Any) -> int:
    """Searches the settings of the sorter that take the least time or energy here, and confirms them against the defaults.

    Every run is cold and validated, beside one of the defaults. Exit code 0 if better settings were confirmed, 1 if the defaults
    stay.
    """
    from ecosort_tuning.search.task import begin

    directory, task = begin(given)
    from ecosort_tuning.search.launch import launch

    return launch(directory, task, given["profile"])


@cli.command()
@click.argument(
    "names", metavar="NAME...", nargs=-1, required=True, type=click.Choice(["threads", "memory", "block", "size", "fill"])
)
@options.directory(required=True)
@options.size(default="1GB")
@options.memory(default="64MiB", help="For each sort; `memory` tries a quarter to four times of it.")
@options.rounds(default=5, help="Runs of each value.")
@options.meter()
@options.out(default=Path(), help="Directory of NAME.png, NAME.csv and NAME.md.")
def experiment(**given: Any) -> int:
    """Time of both phases and processor against one option, as a figure, a table and a paragraph; for several in turn.

    threads: compute threads (Figure 2 of the EcoSort paper); memory; block: bytes of one request; size: of the input, from an
    eighth of --size on; fill: in place and normal sort on a file system that is filled more and more (takes root); `size fill`
    is Figure 3. Runs are cold and validated.
    """
    from ecosort_tuning.experimenting import experiment_and_tell

    return experiment_and_tell(given)


_TRAINED_WITH = partial(
    click.option, type=SIZE, multiple=True, help="Value for the sorts that the models are fitted to; repeatable."
)


@cli.command()
@options.directory(required=True)
@options.size("sizes", multiple=True, default=["1GB"], help="Size of inputs to predict; repeatable.")
@options.memory("memories", multiple=True, default=["128MiB", "512MiB", "2GiB"], help="For those sorts; repeatable.")
@_TRAINED_WITH("--training-size", "training_sizes", default=["800MB", "3GB"])
@_TRAINED_WITH("--training-memory", "training_memories", default=["96MiB", "384MiB", "1536MiB"])
@options.rounds(default=3, help="Number of measurements of each size with each memory.")
@click.option("--compress", type=click.Choice(("none", "lz4", "zstd")), default="none", show_default=True, help="Codec of runs.")
@options.budget(default="30min", help="No run begins that would end later.")
@options.out(default=Path("prediction.json"), help="The result file, kept after each run.")
@options.going_on()
@click.option("--probe-seconds", type=click.FloatRange(0.05), default=1.0, hidden=True)
@click.option("--probe-file", type=SIZE, default="2GiB", hidden=True)
def validate(**given: Any) -> int:
    """Holds predictions against measurements: bytes, space, CPU seconds, and the time beside a replay of the same requests.

    Probes the drive, fits models to the training runs and predicts the others. Exit code 0 if all is within its limits.
    """
    from ecosort_tuning.validating import validate_and_tell

    return validate_and_tell(given)


def main() -> None:
    run_program(cli, "ecosort-tune", "a file")
