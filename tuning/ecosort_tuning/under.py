"""`ecosort-tune settings`: shows the changes, or runs a command under them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click
from ecosort_power.transports.process import spawn, stop

from ecosort_tuning.errors import EXIT_OK, UsageError
from ecosort_tuning.hold import RESTORE_FILE, Held
from ecosort_tuning.settings import Change, WantedSettings, drive_of, plan_changes

_GRACE_S = 10.0


def _wanted(given: Mapping[str, Any]) -> WantedSettings:
    names = ("governor", "energy_preference", "read_ahead_bytes", "scheduler", "power_cap_w")
    wanted = WantedSettings(**{name: given[name] for name in names})
    if wanted.empty:
        raise UsageError("no setting is named: see ecosort-tune settings --help")
    return wanted


def _tell(changes: Sequence[Change], verb: str) -> None:
    for change in changes:
        click.echo(f"{verb} {change.what}: {change.before} -> {change.after}", err=True)
    if not changes:
        click.echo("everything is as wanted already", err=True)


def run_under(given: Mapping[str, Any]) -> int:
    """The exit code of the command, or 0 where nothing was to be run."""
    root, command, apply = given["root"], list(given["command"]), bool(given["apply"])
    if apply and given["dry_run"]:
        raise UsageError("--apply and --dry-run exclude each other")
    if apply and not command:
        raise UsageError("--apply needs a command to run under the settings: ecosort-tune settings --apply ... -- COMMAND")
    drives = [*given["drives"], *(drive_of(directory, root) for directory in given["directories"])]
    changes = plan_changes(root, _wanted(given), drives)
    if not apply:
        _tell(changes, "would change")
        if command:
            click.echo("nothing was changed or run: give --apply", err=True)
        return EXIT_OK
    _tell(changes, "changes")
    with Held(root, changes, given["restore_file"] or RESTORE_FILE):
        return _run(command)


def _run(command: Sequence[str]) -> int:
    """Standard streams are ours. On an interruption the command is ended first."""
    sys.stdout.flush()
    try:
        child = spawn(command)
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be started: {error.strerror}") from error
    try:
        code = child.wait()
    except BaseException:
        stop(child, grace_s=_GRACE_S)
        raise
    return 128 - code if code < 0 else code
