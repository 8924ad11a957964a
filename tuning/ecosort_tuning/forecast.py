"""`ecosort-tune fit` and `ecosort-tune predict`: models from measured runs, and what the sorter predicts with them."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from ecosort_power.codec import read_json
from ecosort_power.planned import PLAN_SCHEMA, ask, prediction_of

from ecosort_tuning.errors import EXIT_OK, UsageError
from ecosort_tuning.machine import this_machine
from ecosort_tuning.model import fit_cpu, fit_power, fit_time, formation_share
from ecosort_tuning.profile import Drive, Profile, read_profile, write_profile
from ecosort_tuning.runs import Evidence, read_evidence
from ecosort_tuning.show import model_lines, show_prediction

_UNKNOWN = "unknown until the input ends"


def _temp_drive(profile: Profile) -> Drive:
    found = next((d for d in profile.drive if d.role == "temp"), None)
    if found is None:
        raise UsageError("the profile has no drive for sorted runs: ecosort-tune probe --temp DIR")
    return found


def with_models(profile: Profile, evidence: Evidence) -> Profile:
    """The profile with models of these runs. Without usable joules it has no power model, and the reason."""
    absent = {name: why for name, why in profile.absent.items() if name not in ("cpu", "time", "power")}
    power = None
    try:
        power = fit_power(evidence)
    except UsageError as error:
        absent["power"] = str(error)
    time = fit_time(evidence.runs, _temp_drive(profile), formation_share(profile.kernels))
    return replace(profile, cpu=fit_cpu(evidence.runs), time=time, power=power, absent=absent)


def fit_and_tell(sources: Sequence[Path], path: Path) -> int:
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


def _compression_words(compression: Mapping[str, Any] | None) -> list[str]:
    if compression is None:
        return []
    words = ["--compress", str(compression["asked"]), "--goal", str(compression["goal"])]
    return [*words, *(["--assume-ratio", str(ratio)] if (ratio := compression["assumed_ratio"]) else [])]


def _words(plan: Mapping[str, Any]) -> list[str]:
    """Returns the options with which `ecosort plan sort` makes the same plan again."""
    try:
        size = int(plan["records"]) * int(plan["record_size_bytes"])
        words = ["--record-size", str(plan["record_size_bytes"]), *(w for key in plan["keys"] for w in ("--key", str(key)))]
        words += ["--memory", f"{plan['memory_limit_bytes']}B", "--request-size", f"{plan['request_bytes']}B"]
        for option, name in (
            ("--threads", "compute_threads"),
            ("--merge-threads", "merge_threads"),
            ("--request-depth", "read_depth"),
        ):
            words += [option, str(plan[name])]
        words += _compression_words(plan.get("compression"))
        return [*words, *(["-"] if plan["shape"] == _UNKNOWN else ["--assume-size", f"{size}B"])]
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"the plan lacks something: {error!r}; plan again") from error


def _difference(plan: Mapping[str, Any], again: Mapping[str, Any]) -> str | None:
    """Returns what is not the same in two plans of the same sort; None if they are equal."""
    return next((name for name, value in again.items() if name != "here" and plan.get(name) != value), None)


def _plan_again(plan: Mapping[str, Any], profile: Path) -> dict[str, Any]:
    """The same plan with what the profile predicts. No plan says whether somebody chose the size of its runs: both are tried."""
    words = [*_words(plan), "--profile", str(profile), "-o", str(profile.with_name("sorted"))]
    again = ask(words)
    if _difference(plan, again) and plan.get("run_records"):
        again = ask([*words, "--run-records", str(plan["run_records"])])
    if difference := _difference(plan, again):
        raise UsageError(f"another version of the sorter made this plan (its {difference} differs): plan again")
    return again


def predict(plan: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """Returns what the sorter predicts for a plan that was kept, by the models of the profile. UsageError where it predicts
    nothing, and where it would plan the same sort in another way by now.
    """
    if plan.get("schema") != PLAN_SCHEMA:
        raise UsageError(
            f"this is no plan of the sorter (schema {plan.get('schema')!r}, not {PLAN_SCHEMA!r}): ecosort plan sort --json"
        )
    with TemporaryDirectory(prefix="ecosort-predict-") as place:
        path = Path(place) / "profile.toml"
        write_profile(path, replace(profile, setting=[]))  # the settings are those of the plan
        return prediction_of(_plan_again(plan, path))


def predict_and_tell(plan: Path, path: Path, as_json: bool) -> int:
    document = _read_plan(plan)
    if not isinstance(document, dict):
        raise UsageError(f"{plan} is no plan of the sorter: ecosort plan sort --json")
    found = predict(document, read_profile(path, this_machine()))
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        show_prediction(found)
    return EXIT_OK
