"""`ecosort-tune fit` and `ecosort-tune predict`: from files to models and predictions."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from ecosort_power.codec import encode, read_json

from ecosort_tuning.errors import EXIT_OK, UsageError
from ecosort_tuning.machine import this_machine
from ecosort_tuning.model import fit_cpu, fit_power, fit_time
from ecosort_tuning.predict import formation_share, predict, temp_drive
from ecosort_tuning.profile import Profile, default_path, read_profile, write_profile
from ecosort_tuning.runs import Evidence, read_evidence
from ecosort_tuning.show import model_lines, show_prediction


def with_models(profile: Profile, evidence: Evidence) -> Profile:
    """The profile with models of these runs. Without usable joules it has no power model, and the reason."""
    absent = {name: why for name, why in profile.absent.items() if name not in ("cpu", "time", "power")}
    power = None
    try:
        power = fit_power(evidence)
    except UsageError as error:
        absent["power"] = str(error)
    time = fit_time(evidence.runs, temp_drive(profile), formation_share(profile.kernels))
    return replace(profile, cpu=fit_cpu(evidence.runs), time=time, power=power, absent=absent)


def fit_and_tell(sources: Sequence[Path], given: Path | None) -> int:
    path = given or default_path()
    profile = with_models(read_profile(path, this_machine()), read_evidence(sources))
    write_profile(path, profile)
    for line in model_lines(profile.cpu, profile.time, profile.power):
        click.echo(line)
    if profile.power is None:
        click.echo(f"no power: {profile.absent['power']}")
    click.echo(f"profile: {path}")
    return EXIT_OK


def _read_plan(path: Path) -> Any:
    if str(path) != "-":
        return read_json(path)
    try:
        return json.loads(sys.stdin.read())
    except ValueError as error:
        raise UsageError(f"standard input is no plan: {error}") from error


def predict_and_tell(plan: Path, given: Path | None, as_json: bool) -> int:
    document = _read_plan(plan)
    if not isinstance(document, dict):
        raise UsageError(f"{plan} is no plan of the sorter: ecosort plan sort --json")
    found = predict(document, read_profile(given or default_path(), this_machine()))
    if as_json:
        click.echo(json.dumps({**encode(found), "help_most": found.help_most}, indent=1))
    else:
        show_prediction(found)
    return EXIT_OK
