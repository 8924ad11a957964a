"""Passwords are on no command line, in no result, and in no process that needs none."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from ecosort_power.errors import UsageError
from ecosort_power.meters.base import parse_spec
from ecosort_power.transports.credentials import VARIABLES, find_secret, public_environment

from .measured import Measured
from .support import FAKE_CHECK, Cli, fake_sort, result_files, toy_meter

SECRETS = {name: f"geheim-{name.lower()}" for name in VARIABLES}
# They show their environment and continue as what follows.
SORT = ["sh", "-c", 'env; env >&2; exec "$@"', "sh", *fake_sort()]
VALIDATOR = f"""sh -c 'env | grep -e ^PATH= -e PASSWORD -e COMMUNITY; exec "$@"' sh {sys.executable} {FAKE_CHECK} {{}}"""


@pytest.mark.measured(
    *("--meter", toy_meter("counter", settings="period=0.25"), "--runs", "1", "--output", "out", "--records", "1000"),
    *("--prepare", "sh -c 'env > environment'", "--check-command", VALIDATOR),
    command=SORT,
    env=SECRETS,
)
def test_no_command_of_a_run_is_given_a_password(measured: Measured) -> None:
    assert measured.done.returncode == 0, measured.done.stdout + measured.done.stderr
    assert "ECOSORT_POWER_SESSION=" in (measured.result / "runs/01/command.out").read_text()
    assert "PATH=" in (measured.path / "environment").read_text()
    assert "PATH=" in measured.run()["validation"]["report"]["text"]
    assert "geheim" not in result_files(measured.path)
    assert "geheim" not in measured.done.stdout + measured.done.stderr


def test_a_variable_that_a_meter_names_is_a_password_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_SECRET", "verborgen")  # runs of other tests start beside this one, and show their environment
    monkeypatch.setenv("BENCH_PLAIN", "fine")
    settings = parse_spec("redfish://u@h#password-env=BENCH_SECRET").settings
    assert find_secret(settings, ()) == "verborgen"
    found = public_environment([settings])
    assert "BENCH_SECRET" not in found
    assert found["BENCH_PLAIN"] == "fine"
    assert found["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize(
    "option", ["--password geheim", "--password=geheim", "-token=geheim", "--api-key geheim", "--PASS=geheim"]
)
def test_a_password_in_the_command_of_a_meter_program_is_refused(option: str) -> None:
    with pytest.raises(UsageError, match="seen by every user") as caught:
        parse_spec(f"exec:./my-meter {option}")
    assert "geheim" not in str(caught.value)


def test_other_options_of_a_meter_program_are_its_own() -> None:
    assert parse_spec("exec:./my-meter --password-file=~/x --passive -p 3").address.endswith("-p 3")


def test_a_password_file_that_others_may_read_stops_the_run(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("geheim\n")
    (tmp_path / "password").chmod(0o644)
    done = cli("run", "--meter", "redfish://u@127.0.0.1:1#password-file=password", "--out", "r", "--", "true")
    assert done.returncode == 2
    assert done.stderr == ("ecosort-power: password file password has mode 0644: others may read it; run: chmod 600 password\n")
