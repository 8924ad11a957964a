"""The program `ecosort-power`: options in, exit codes out. Work is done elsewhere."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ecosort_power import __version__
from ecosort_power.errors import EXIT_INVALID, EXIT_OK
from ecosort_power.options import MAX_RECORDS, Checksum, Number, Program, Records
from ecosort_power.program_end import run_program
from ecosort_power.usage import Group

_DIRECTORY = click.Path(path_type=Path)
_WEEK_S = 7 * 86400.0
_SECONDS = Number(0.0, _WEEK_S, "seconds")
_PROBE = Number(5.0, _WEEK_S, "seconds")
_CELSIUS = Number(-50.0, 80.0, "degrees Celsius")
_IDLE = "Seconds of idle baseline before and after all runs."
_PAUSE = "Idle seconds right before each run."
_SETTLE = "Longest wait for the drives to rest; 0: none."
_PATTERN = "Seconds of a busy/idle pattern that finds the meters' lag before the runs."
Command = Callable[..., Any]
# Several commands have these options.
_CONFIG = click.option("--config", help="File with named meters (default: ~/.config/ecosort/meters.toml).")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_LOAD = click.option(
    "--load",
    "load_command",
    type=Program(),
    help="Command that makes the machine busy until it is stopped (default: all processors).",
)
_SUM = click.option("--sum", "sum_meters", is_flag=True, help="The result is the sum of the meters (several power supplies).")
_AMBIENT = click.option("--ambient", "ambient_c", type=_CELSIUS, help="Temperature of the room in C, for the report.")


def _around_runs(command: Command) -> Command:
    """Adds the options for what is done before and around the runs of a measurement."""
    options = (
        click.option("--idle", "idle_s", type=_SECONDS, default=30.0, show_default=True, help=_IDLE),
        click.option("--pause", "pause_s", type=_SECONDS, default=5.0, show_default=True, help=_PAUSE),
        click.option("--settle", "settle_s", type=_SECONDS, default=60.0, show_default=True, help=_SETTLE),
        click.option("--probe", "probe_s", type=_SECONDS, default=0.0, help=_PATTERN),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ecosort-power")
def cli() -> None:
    """Measures the energy of a sort with real meters and reports records per joule.

    A meter is SCHEME:ADDRESS[#SETTING=VALUE,...], for example ipmi://USER@HOST, scpi:/dev/ttyUSB0#profile=lmg95, shelly://HOST,
    rapl:, exec:./my-meter. Passwords come from the environment or a file, never from the command line.
    """


@cli.command()
@_CONFIG
@_JSON
@click.option("--discover", is_flag=True, help="Also search the local network for plugs (multicast DNS).")
@click.option("--root", default="/", hidden=True, type=_DIRECTORY)
@click.option("--interface", multiple=True, hidden=True)
def meters(config: str | None, as_json: bool, discover: bool, root: Path, interface: tuple[str, ...]) -> int:
    """Lists the meters of this machine and the configured ones; where one cannot be used, why and what would fix it.

    Exit code 1 if none can be used.
    """
    from ecosort_power.codec import encode
    from ecosort_power.discover import find_configured, find_local
    from ecosort_power.meters.base import Machine
    from ecosort_power.report.listing import show_findings

    found = [*find_configured(config), *find_local(Machine(root))]
    if discover:
        from ecosort_power.network import find_in_network

        found = [*find_in_network(interfaces=interface), *found]
    if as_json:
        click.echo(jsonlib.dumps(encode(found), indent=1))
    else:
        show_findings(found)
    return EXIT_OK if any(f.usable for f in found) else EXIT_INVALID


@cli.command()
@click.argument("meter")
@click.option("--seconds", type=_PROBE, default=60.0, show_default=True, help="Length of the busy/idle pattern.")
@_LOAD
@_CONFIG
@_JSON
def probe(meter: str, seconds: float, load_command: str | None, config: str | None, as_json: bool) -> int:
    """Measures METER itself: true update period, quantum, staleness, lag and averaging window, by a busy/idle pattern."""
    from ecosort_power.codec import encode
    from ecosort_power.config import resolve
    from ecosort_power.probe import run_probe
    from ecosort_power.report.listing import show_probe

    spec = resolve([meter], config)[0]
    found = run_probe(spec, seconds, load_command)
    if as_json:
        click.echo(jsonlib.dumps(encode(found), indent=1))
    else:
        show_probe(found)
    return EXIT_OK if found.problem is None else EXIT_INVALID


@cli.command()
@click.option("--meter", "words", multiple=True, help="A meter (default: the best one here). Repeat for several.")
@click.option("--records", type=click.IntRange(1, MAX_RECORDS), help="Records of the run that is planned.")
@click.option(
    "--seconds", type=Number(0.1, _WEEK_S, "seconds"), help="Seconds that this run takes (default: what ecosort plan predicts)."
)
@click.option("--dir", "directory", type=_DIRECTORY, default=".", show_default=True, help="Directory of the sort.")
@click.option("--probe", "probe_s", type=_PROBE, default=20.0, show_default=True, help="Seconds of a busy/idle pattern.")
@_LOAD
@_CONFIG
@_JSON
def doctor(
    words: tuple[str, ...],
    records: int | None,
    seconds: float | None,
    directory: Path,
    probe_s: float,
    load_command: str | None,
    config: str | None,
    as_json: bool,
) -> int:
    """Looks whether everything is ready: watts now, period, quantum and lag of the meter, the uncertainty that a run will have,
    space, throttling, clock. Each line is ok, a warning, or a problem, and says what to do.

    Exit code 1 if there is a problem.
    """
    from ecosort_power.codec import encode
    from ecosort_power.doctor import Plan, examine, resolve_or_choose
    from ecosort_power.machine_checks import State
    from ecosort_power.report.listing import show_checks

    found = examine(resolve_or_choose(words, config), Plan(records, seconds, directory), probe_s, load_command)
    if as_json:
        click.echo(jsonlib.dumps(encode(found), indent=1))
    else:
        show_checks(found)
    return EXIT_INVALID if any(c.state is State.PROBLEM for c in found) else EXIT_OK


@cli.command(context_settings={"ignore_unknown_options": False})
@click.option("--meter", "meter_words", multiple=True, help="A meter, or auto. Repeat for several side by side.")
@_SUM
@click.option("--runs", type=click.IntRange(1, 99), default=5, show_default=True, help="Number of runs.")
@click.option("--input", "input_path", help="Input file: counted, summed, and taken out of the page cache with --cold.")
@click.option("--output", "output_path", help="Output file: removed before each run, validated after (default: -o of the sort).")
@click.option("--records", type=click.IntRange(1, MAX_RECORDS), help="Number of records, if it cannot be found out.")
@click.option("--input-checksum", type=Checksum(), help="Checksum of the input (gensort -c), saves reading the input.")
@click.option("--cold", is_flag=True, help="Empty the page cache before each run.")
@click.option("--no-validate", is_flag=True, help="Do not validate; the result is marked so.")
@click.option("--check-command", type=Program(), help="Validator in place of `ecosort check`; {} is the file.")
@click.option("--prepare", type=Program(), help="Command before each run, outside the window.")
@_around_runs
@click.option("--time-only", is_flag=True, help="Continue without energy where there is none; it is null, with the reason.")
@_AMBIENT
@click.option("--out", "directory", type=_DIRECTORY, help="Result directory (default: ecosort-power-DATE-TIME).")
@click.option("--continue", "continued", type=_DIRECTORY, metavar="DIR", help="Continue with an interrupted measurement.")
@_CONFIG
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def run(**given: Any) -> int:
    """Measures COMMAND: idle baseline, then each run from process start to sync, idle tail, validation.

    An ecosort command gets --events and --stats by itself; others can use {events} and {stats} in their words.
    """
    from ecosort_power.launch import launch

    return launch(given)


@cli.command(context_settings={"ignore_unknown_options": False})
@click.option("--meter", "meter_words", multiple=True, help="A meter, or auto. Repeat for several side by side.")
@_SUM
@click.option("--category", type=click.Choice(["daytona", "indy"]), default="daytona", show_default=True)
@click.option(
    "--records",
    type=Records(1, MAX_RECORDS),
    metavar="N|auto",
    help="Rehearse with N records, or as few as the meter needs; a rehearsal is never ranked.",
)
@click.option(
    "--runs", type=click.IntRange(1, 99), default=5, show_default=True, help="Number of runs; at least 5, but for a rehearsal."
)
@click.option("--dir", "directory", type=_DIRECTORY, help="Directory of the entry (default: joulesort-CLASS-CATEGORY).")
@click.option(
    "--data", type=_DIRECTORY, help="Directory of input and output, on the drive that counts (default: in the entry's)."
)
@_AMBIENT
@_around_runs
@click.option("--repeat-invalid", is_flag=True, help="Measure invalid runs again; the old ones are kept and reported.")
@click.option("--predict", "is_prediction", is_flag=True, help="Only say what 10^8 to 10^10, or CLASS, would take here.")
@click.option("--profile", type=_DIRECTORY, help="The profile to predict by (default: ~/.config/ecosort/profile.toml).")
@click.option("--watts", type=Number(0.1, 1e5, "watts"), help="Mean power at the wall to predict with (default: the profile's).")
@_CONFIG
@click.argument("size", metavar="[CLASS]", required=False)
@click.argument("sort_words", metavar="[-- OPTIONS OF ECOSORT SORT]", nargs=-1, type=click.UNPROCESSED)
def joulesort(**given: Any) -> int:
    """Makes a whole JouleSort entry: input, space check, five cold runs, validation, skewed run, check, submission.

    CLASS is 10^8, 10^9, 10^10 or 10^12 records (also 1e8, 100M, 1G, ...). What was interrupted continues with the same command.
    Example: ecosort-power joulesort 1e8 --meter shelly://192.0.2.5 --data /mnt/ssd -- --memory 4GiB

    With --predict nothing is done: a table says what the classes would take, by a profile of this machine (ecosort tune).
    """
    from ecosort_power.joulesort.request import enter

    return enter(given)


FORMATS = ("terminal", "json", "csv", "markdown", "html", "figures")


@cli.command()
@click.argument("directory", type=_DIRECTORY)
@click.option("--format", "form", type=click.Choice(FORMATS), default="terminal", show_default=True)
@click.option("--facts", type=_DIRECTORY, help="TOML file with what only a person can know (default: DIR/submission.toml).")
@click.option("--template", is_flag=True, help="Print an empty facts file and stop.")
@click.option("-o", "--output", type=_DIRECTORY, help="Write here (default: standard output); a directory for figures.")
def report(directory: Path, form: str, facts: Path | None, template: bool, output: Path | None) -> int:
    """Shows a result: terminal table, JSON, CSV, Markdown in the form of a JouleSort submission, one HTML page, or its figures.

    Figures are written as SVG and PDF, with their captions in captions.md and figures.tex (needs matplotlib).
    """
    from ecosort_power.report.write import write_report

    for path in write_report(directory, form, facts, template, output):
        click.echo(path, err=True)
    return EXIT_OK


@cli.command("check")
@click.argument("directory", type=_DIRECTORY)
def check_result(directory: Path) -> int:
    """Validates a stored result again from its raw readings; exit code 1 on any defect."""
    from ecosort_power.check import check, first_broken_link
    from ecosort_power.seal import head_of
    from ecosort_power.store import ResultDirectory

    found = check(ResultDirectory(directory))
    for d in found:
        click.echo(f"{'DEFECT' if d.fatal else 'note'} [{d.code}] {d.text}")
    broken, seal, fatal = first_broken_link(found), head_of(directory), sum(d.fatal for d in found)
    if broken is not None:
        click.echo(f"the first link that is broken: [{broken.code}] {broken.text}")
    elif seal is not None:
        click.echo(f"the seal holds: {seal.lines} lines, digest {seal.digest}")
    click.echo(f"{directory}: {'no defect' if not fatal else f'{fatal} defect' + 's' * (fatal > 1)}")
    return EXIT_INVALID if fatal else EXIT_OK


@cli.command("compare")
@click.argument("first", type=_DIRECTORY)
@click.argument("second", type=_DIRECTORY)
@_JSON
def compare_results(first: Path, second: Path, as_json: bool) -> int:
    """Compares two results: means, ratio SECOND/FIRST with its 95 % interval."""
    from ecosort_power.codec import encode
    from ecosort_power.compare import compare
    from ecosort_power.report.listing import show_comparison
    from ecosort_power.seal_check import require_seal
    from ecosort_power.store import ResultDirectory
    from ecosort_power.summary import summarize

    for directory in (first, second):
        require_seal(directory)
    a, b = (ResultDirectory(d) for d in (first, second))
    found = compare(summarize(a.session(), a.runs()), summarize(b.session(), b.runs()))
    if as_json:
        click.echo(jsonlib.dumps(encode(found), indent=1))
    else:
        show_comparison(str(first), str(second), found)
    return EXIT_OK


@cli.command()
@click.argument("directory", type=_DIRECTORY)
@click.option("--meter", "meter", required=True, help="A log, for example csv:meter.csv#offset=auto.")
@_CONFIG
def attach(directory: Path, meter: str, config: str | None) -> int:
    """Adds a meter's own log to a stored result and computes its energy."""
    from ecosort_power.attach import attach_log
    from ecosort_power.config import resolve
    from ecosort_power.store import ResultDirectory

    summary = attach_log(ResultDirectory(directory), resolve([meter], config)[0])
    click.echo(summary.title)
    return EXIT_OK if summary.ok and summary.energy is not None else EXIT_INVALID


def main() -> None:
    run_program(cli, "ecosort-power", "the result directory")
