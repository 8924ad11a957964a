"""The program `ecosort-appliance`, which `ecosort queue` and `ecosort serve` become. Work is done elsewhere."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import click
from ecosort.text import shown
from ecosort_power.usage import asks_for_help, usage_text

from ecosort_appliance import __version__, desk, jobs, report, show, values
from ecosort_appliance.database import open_database
from ecosort_appliance.errors import EXIT_FAILED, EXIT_IO, EXIT_USAGE, QueueError
from ecosort_appliance.facts import job_facts, list_facts
from ecosort_appliance.jobdir import JobDirectory
from ecosort_appliance.jobs import Job
from ecosort_appliance.places import make_queue_directory, queue_directory
from ecosort_appliance.processes import is_served
from ecosort_appliance.rest import CHOICES
from ecosort_appliance.times import RULES
from ecosort_appliance.usage import Group, Number, Whole
from ecosort_appliance.users import find_user

_NUMBER = click.argument("number", type=jobs.number_of, metavar="ID")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_PAUSED = "the queue is paused: no job begins; ecosort queue resume ends that"
_NOT_SERVED = "no service works on this queue: `ecosort serve` does these jobs, `ecosort queue run` those that are due"
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 120}


def opened() -> tuple[Path, sqlite3.Connection]:
    """Opens the queue of the user who calls."""
    directory = queue_directory()
    make_queue_directory(directory)
    return directory, open_database(directory)


@click.group(cls=Group, context_settings=_CONTEXT)
@click.version_option(__version__, prog_name="ecosort-appliance")
def cli() -> None:
    """Keeps sorts that are to be done, does them, and shows them on a page."""


@cli.group()
def queue() -> None:
    """Queues sorts to be done; `ecosort serve` or `ecosort queue run` runs them.

    Exit codes: 0 done, 1 `run`: a job failed, 2 usage or a request that cannot be met, 3 the queue cannot be read or written.
    """


@queue.command(context_settings={"ignore_unknown_options": False})
@click.option("--at", help="Not before 02:00 or 2030-01-31T02:00.")
@click.option("--every", type=click.Choice(RULES), help="Run the job again and again, with --at at that time.")
@click.option("--watch", metavar="DIR", help="Run once for each new file there; {} stands for its path, {name} for its name.")
@click.option("--match", "patterns", multiple=True, metavar="PATTERN", help="--watch: only names such as '*.csv'; repeatable.")
@click.option(
    "--settle",
    "settle_s",
    type=Number(0.1, 86400),
    metavar="SECONDS",
    help="--watch: seconds that a file must rest (default: 10).",
)
@click.option(
    "--when", "condition", metavar="CONDITION", help="Begin while a condition holds, as 'price<0.20'; see ecosort queue value."
)
@click.option("--latest", metavar="TIME", help="--when: begin then, whatever the value is; 06:00 or 2030-01-31T06:00.")
@click.option("--priority", type=Whole(-1000, 1000), default=0, metavar="N", help="Larger first; from -1000 to 1000.")
@click.option("--memory", metavar="SIZE", help="Memory of the job, and the limit of its control group.")
@click.option("--name", default="", help="A name of the job, for people.")
@click.option("--on-end", metavar="URL|COMMAND", help="At the end: a POST of JSON, or a command with it on standard input.")
@click.option("--not-resumable", is_flag=True, help="Begin anew after a crash, without a job directory.")
@click.option("--user", help="Root only: whose job it is.")
@click.argument("words", metavar="-- COMMAND ...", nargs=-1, type=click.UNPROCESSED)
def add(words: tuple[str, ...], patterns: tuple[str, ...], user: str | None, not_resumable: bool, **given: Any) -> int:
    """Queues a job and prints its number. COMMAND is sort, lines, csv, jsonl, shuffle, merge or inplace, as for ecosort."""
    if user is not None and os.geteuid() != 0:
        raise QueueError("--user is for root; everyone else has a queue of his own")
    uid = os.geteuid() if user is None else find_user(user)
    directory, connection = opened()
    here = os.getcwd()  # noqa: PTH109
    asked = Job(words=[*words], directory=here, uid=uid, patterns=[*patterns], resumable=not not_resumable, **given)
    added = desk.add(directory, connection, asked)
    for warning in added.warnings:
        click.echo(f"ecosort: {shown(warning)}", err=True)
    click.echo(added.number)
    if sys.stderr.isatty() and not is_served(directory):  # a program that reads the number knows what it does
        click.echo(f"ecosort: {_NOT_SERVED}", err=True)
    return 0


@queue.command("list")
@click.option("--all", "all_jobs", is_flag=True, help="Also all that ended, not only the last ten.")
@_JSON
def list_jobs(all_jobs: bool, as_json: bool) -> int:
    """Lists what waits, works, and ended lately."""
    directory, connection = opened()
    waiting = jobs.select(connection, "state NOT IN ('done', 'failed', 'cancelled')")
    found = [*waiting, *jobs.ended(connection, -1 if all_jobs else 10)]
    if as_json:
        click.echo(json.dumps(list_facts(found, jobs.is_stopped(connection)), indent=1))
        return 0
    for line in show.table(found):
        click.echo(line)
    if jobs.is_stopped(connection):
        click.echo(_PAUSED)
    elif any(job.state in (jobs.QUEUED, jobs.STANDING) for job in waiting) and not is_served(directory):
        click.echo(_NOT_SERVED)
    return 0


@queue.command("show")
@_NUMBER
@_JSON
def show_job(number: int, as_json: bool) -> int:
    """Everything about one job."""
    directory, connection = opened()
    job = jobs.get(connection, number)
    progress = JobDirectory(directory, job.id, job.uid).progress() if job.state == jobs.RUNNING else None
    if as_json:
        click.echo(json.dumps(job_facts(job) | {"progress": progress}, indent=1))
        return 0
    for line in show.details(job, progress):
        click.echo(line)
    return 0


@queue.command()
@_NUMBER
def log(number: int) -> int:
    """Prints what the program said."""
    directory, connection = opened()
    job = jobs.get(connection, number)
    lines = JobDirectory(directory, job.id, job.uid).log().decode(errors="surrogateescape").splitlines()
    for line in lines:
        click.echo(shown(line))
    if not lines and (why := show.no_log_text(job)):
        click.echo(f"ecosort: {why}", err=True)
    return 0


def _wish(number: int, work: Callable[[sqlite3.Connection, int], str]) -> int:
    _, connection = opened()
    click.echo(f"job {number} {shown(work(connection, number))}")
    return 0


@queue.command()
@_NUMBER
def cancel(number: int) -> int:
    """Ends a job; what it left behind goes, a file in place gets its records back."""
    return _wish(number, desk.cancel)


@queue.command()
@_NUMBER
def retry(number: int) -> int:
    """Does a failed or cancelled job once more, from where there is something to continue with."""
    return _wish(number, desk.retry)


def _stop(stopped: bool) -> int:
    _, connection = opened()
    jobs.set_setting(connection, "stopped", "yes" if stopped else "no")
    click.echo("no job begins until `ecosort queue resume`" if stopped else "jobs begin again")
    return 0


@queue.command()
@click.argument("number", type=jobs.number_of, required=False, metavar="[ID]")
def pause(number: int | None) -> int:
    """Pauses a job, or without ID the start of all."""
    return _stop(True) if number is None else _wish(number, desk.pause)


@queue.command()
@click.argument("number", type=jobs.number_of, required=False, metavar="[ID]")
def resume(number: int | None) -> int:
    """Continues with a paused job, or without ID with all."""
    return _stop(False) if number is None else _wish(number, desk.resume)


@queue.command()
@click.argument("name", required=False, metavar="[NAME]")
@click.argument("source", required=False, metavar="[SOURCE]")
@click.option("--remove", is_flag=True, help="Forget this value.")
def value(name: str | None, source: str | None, remove: bool) -> int:
    """Says where a value for --when comes from, or prints all values as they are now.

    SOURCE is file:PATH, http[s]://HOST/PATH#value=JSON.PATH or homeassistant://HOST/ENTITY.
    """
    _, connection = opened()
    if name is not None and (remove or source is not None):
        if remove and source is not None:
            raise QueueError("--remove takes no SOURCE; leave one of them out")
        values.remove_source(connection, name) if remove else values.set_source(connection, name, source or "")
        return 0
    if remove:
        raise QueueError("--remove: name the value")
    known = [row for row in values.values_table(connection) if name in (None, row[0])]
    if name is not None and not known:
        raise QueueError(f"there is no value {name[:60]!r}; write where it comes from: ecosort queue value {name[:60]} SOURCE")
    for known_name, place, now in known:
        text = f"{now:g}" if isinstance(now, float) else f"cannot be read: {now}"
        click.echo(shown(f"{known_name}  {text}  {place}"))
    return 0


@queue.command("report")
@click.option("--month", metavar="YYYY-MM", help="Which month; this one by default.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, a row for each day.")
def print_report(month: str | None, as_csv: bool) -> int:
    """Jobs, bytes, hours and joules of a month, by day."""
    _, connection = opened()
    found = report.month_of(connection, month)
    click.echo(report.csv_text(found) if as_csv else "\n".join(report.table(found)), nl=not as_csv)
    return 0


_AFTER = click.option("--after", type=click.Choice(CHOICES), help="When nothing is left to do, the machine does this.")


@queue.command()
@_AFTER
@click.option("--tick", "tick_s", type=Number(0.01, 60), default=0.2, hidden=True)
def run(tick_s: float, after: str | None) -> int:
    """Runs the jobs that are due, without a service, and ends. Exit code 1 if a job failed.

    For --watch it takes the files that have not changed for --settle seconds by now.
    """
    from ecosort_appliance.scheduler import Scheduler, Settings

    directory, connection = opened()
    if jobs.is_stopped(connection):
        click.echo(_PAUSED, err=True)
    last = connection.execute("SELECT coalesce(max(ended_s), 0) AS last_s FROM jobs").fetchone()["last_s"]
    scheduler = Scheduler(directory, connection, Settings(tick_s=tick_s, after=after))
    try:
        scheduler.run_until_idle()
    finally:
        scheduler.close()
    failed = jobs.select(connection, "state = 'failed' AND ended_s > ?", (last,))
    for job in failed:
        click.echo(f"job {job.id} failed: {shown(job.reason)}", err=True)
    return EXIT_FAILED if failed else 0


@cli.command()
@click.option("--listen", "address", default="127.0.0.1:8080", show_default=True, metavar="HOST:PORT", help="Where the page is.")
@click.option("--host", "names", multiple=True, help="A name by which the page may be asked for, also by a proxy; repeatable.")
@click.option("--root-path", "root", default="", metavar="PATH", help="The path below which a proxy has the page.")
@click.option(
    "--token-file", type=click.Path(path_type=Path), help="Holds the token that a browser must know; made if it does not exist."
)
@click.option("--files", multiple=True, metavar="DIR", help="Files in it can be sorted from the page; repeatable.")
@click.option("--files-user", metavar="NAME", help="--files, root only: who reads them, and whose the jobs are.")
@click.option("--no-page", is_flag=True, help="Run the queued jobs, and show no page.")
@click.option("--meter", metavar="METER", help="As for ecosort power: watts and joules of each job.")
@click.option("--config", help="File with meters by name.")
@click.option(
    "--keep-days",
    type=Number(0, 36500),
    default=90.0,
    show_default=True,
    metavar="N",
    help="Keep jobs that ended for so many days.",
)
@click.option(
    "--keep-jobs", type=Whole(0), default=1000, show_default=True, metavar="N", help="Keep at most so many jobs that ended."
)
@click.option("--end-jobs", is_flag=True, help="End running jobs when the service ends; the next service continues them.")
@_AFTER
@click.option("--tick", "tick_s", type=Number(0.01, 60), default=1.0, hidden=True)
def serve(
    address: str,
    names: tuple[str, ...],
    root: str,
    files: tuple[str, ...],
    files_user: str | None,
    token_file: Path | None,
    no_page: bool,
    meter: str | None,
    config: str | None,
    end_jobs: bool,
    after: str | None,
    **given: float,
) -> int:
    """Runs the queued jobs and shows them on a page, until a signal comes. Running jobs continue by themselves.

    Exit codes: 0 ended by a signal, 2 usage, or the queue is served already, 3 the queue cannot be read or written.
    """
    from ecosort_appliance.energy import Meter
    from ecosort_appliance.scheduler import Settings
    from ecosort_appliance.serve import Listen
    from ecosort_appliance.serve import serve as serve_queue

    directory, connection = opened()
    connection.close()
    listen = None if no_page else Listen(address, names, token_file, root, files, files_user)
    settings = Settings(given["tick_s"], given["keep_days"], int(given["keep_jobs"]), after)
    return serve_queue(directory, listen, Meter(meter, config) if meter else None, settings, end_jobs)


def _program_name() -> str:
    """Returns the name as users type it. A shell that asks for completions needs the file's own name, which is click's choice."""
    is_asked = any(name.endswith("_COMPLETE") for name in os.environ)
    return "ecosort-appliance" if is_asked else "ecosort"


def _tell(error: click.ClickException) -> None:
    if asks_for_help(error):
        error.show()
        return
    is_of_add = isinstance(error, click.NoSuchOption) and error.ctx is not None and error.ctx.command is add
    lacks_dashes = is_of_add and "--" not in sys.argv
    hint = "put -- before the command: ecosort queue add [OPTIONS] -- sort INPUT -o OUTPUT" if lacks_dashes else ""
    print(f"ecosort: {shown(usage_text(error, hint))}", file=sys.stderr)


def _on_signal(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _on_signal)
    try:
        code = int(cli.main(standalone_mode=False, prog_name=_program_name()) or 0)
    except QueueError as error:
        print(f"ecosort: {shown(str(error))}", file=sys.stderr)
        code = error.exit_code
    except sqlite3.Error as error:
        print(f"ecosort: the queue in '{queue_directory()}' cannot be used: {error}", file=sys.stderr)
        code = EXIT_IO
    except OSError as error:
        print(f"ecosort: {shown(str(error))}", file=sys.stderr)
        code = EXIT_IO
    except click.ClickException as error:
        _tell(error)
        code = EXIT_USAGE
    except click.exceptions.Exit as error:
        code = error.exit_code
    sys.exit(code)
