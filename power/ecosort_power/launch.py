"""From the options of `ecosort-power run` to a measurement, new or continued."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ecosort_power.command import quoted
from ecosort_power.config import resolve
from ecosort_power.discover import choose
from ecosort_power.errors import EXIT_INVALID, EXIT_OK, InterruptError, MeterError, PowerError, UsageError
from ecosort_power.live import Display
from ecosort_power.meters.base import Machine, MeterSpec
from ecosort_power.report.content import gather
from ecosort_power.report.terminal import show
from ecosort_power.seal import FILE_NAME, require_alone
from ecosort_power.session import Measurement
from ecosort_power.store import INPUT_CHECK, Options, ResultDirectory, Session
from ecosort_power.summary import Summary

NO_METER = "no meter was given (--meter); `ecosort-power meters` lists what there is, --time-only measures time alone"


def _options(given: Mapping[str, Any]) -> Options:
    if not given["command"]:
        raise UsageError("no command to measure: ecosort-power run [options] -- COMMAND")
    return Options(
        command=list(given["command"]),
        runs=given["runs"],
        meters=list(given["meter_words"]),
        sum_meters=given["sum_meters"],
        cold=given["cold"],
        input=given["input_path"],
        output=given["output_path"],
        records=given["records"],
        input_checksum=given["input_checksum"],
        validate=not given["no_validate"],
        check_command=given["check_command"],
        idle_s=given["idle_s"],
        pause_s=given["pause_s"],
        settle_s=given["settle_s"],
        prepare=given["prepare"],
        probe_s=given["probe_s"],
        time_only=given["time_only"],
        ambient_c=given["ambient_c"],
        config=given["config"],
    )


def specs_of(options: Options) -> tuple[list[MeterSpec], str | None]:
    """The meters, and why there are none where that is allowed."""
    words = options.meters
    if words == ["auto"]:
        chosen, reason = choose(Machine(), options.config)
        if chosen is None and not options.time_only:
            raise MeterError(reason)
        if chosen is None:
            return [], reason
        words = [chosen]
    if not words:
        if not options.time_only:
            raise UsageError(NO_METER)
        return [], "no meter was given (--time-only)"
    return resolve(words, options.config), None


def _new(given: Mapping[str, Any]) -> tuple[ResultDirectory, Options]:
    options = _options(given)
    path = given["directory"] or Path(datetime.now().strftime("ecosort-power-%Y%m%d-%H%M%S"))
    require_alone(path)
    if (path / FILE_NAME).exists() and not (path / "session.json").exists():
        _remove_begun(path)  # killed before its first document was written
    if path.exists() and any(path.iterdir()):
        raise UsageError(f"{path} is not empty; continue with it by --continue {path}, or choose another --out")
    return ResultDirectory(path), options


def _remove_begun(path: Path) -> None:
    """A directory that holds no measurement yet; what anyone else put into it stays."""
    for name in (FILE_NAME, INPUT_CHECK, "session.json.new"):
        (path / name).unlink(missing_ok=True)
    with suppress(OSError):
        path.rmdir()


def _typed(given: Mapping[str, Any]) -> list[str]:
    """The options of the command line as they were typed, and COMMAND if there is one."""
    context = click.get_current_context()
    options = [p for p in context.command.params if isinstance(p, click.Option) and p.name is not None]
    found = [p.opts[0] for p in options if context.get_parameter_source(p.name or "") is ParameterSource.COMMANDLINE]
    return [*found, *(["COMMAND"] if given["command"] else [])]


def _earlier(path: Path, given: Mapping[str, Any]) -> tuple[ResultDirectory, Session]:
    more = [name for name in _typed(given) if name != "--continue"]
    if more:
        raise UsageError(f"--continue continues with the options of the directory: leave away {', '.join(more)}")
    directory = ResultDirectory(path)
    session = directory.session()
    require_alone(path)  # before the meters are opened
    return directory, session


def say_how_to_continue(error: Exception, path: Path, again: str) -> None:
    what = "interrupted" if isinstance(error, InterruptError) else f"{path} keeps all readings"
    print(f"{what}; continue with: {again}", file=sys.stderr)


def measure(directory: ResultDirectory, options: Options, earlier: Session | None, again: str | None) -> Summary:
    """All runs that are not there yet. `again` is the command that continues after an interruption, which is then said; None: the
    caller says it."""
    specs, no_meter = specs_of(options)
    is_new = not directory.path.exists()
    directory.path.mkdir(parents=True, exist_ok=True)
    measurement = Measurement(directory, options, specs, no_meter, Display())
    try:
        return measurement.execute(earlier)
    except PowerError as error:
        if not directory.session_path.exists():
            if is_new:
                _remove_begun(directory.path)
        elif again is not None and not isinstance(error, UsageError):
            say_how_to_continue(error, directory.path, again)
        raise
    finally:
        measurement.close()


def launch(given: Mapping[str, Any]) -> int:
    """Runs the measurement and shows its result. The exit code says whether it holds."""
    earlier: Session | None = None
    if given["continued"] is not None:
        directory, earlier = _earlier(given["continued"], given)
        options = earlier.options
    else:
        directory, options = _new(given)
    summary = measure(directory, options, earlier, f"ecosort-power run --continue {quoted([str(directory.path)])}")
    show(gather(directory, None))
    click.echo(f"result: {directory.path}   (ecosort-power report {quoted([str(directory.path)])} --format html -o report.html)")
    if not summary.ok or (summary.energy is None and not options.time_only):
        return EXIT_INVALID
    return EXIT_OK
