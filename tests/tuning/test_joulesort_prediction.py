"""`joulesort --predict`: what the classes would take, by the planner's prediction; no joule without a stated or fitted power."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import forked
import pytest
from ecosort_power.joulesort.predict import best_of
from ecosort_power.records import E8, E9, E10
from ecosort_tuning.profile import Profile, write_profile

from .conftest import tune_env
from .test_sorter_profile import FULL

Cli = Callable[..., subprocess.CompletedProcess[str]]
WORDS = ("--", "--memory", "1GiB", "--threads", "1", "--request-depth", "16")


@pytest.fixture
def cli(ecosort: Path, tmp_path: Path) -> Cli:
    def run_cli(*words: str) -> subprocess.CompletedProcess[str]:
        environment = tune_env(ECOSORT_PROGRAM=str(ecosort), XDG_CONFIG_HOME=str(tmp_path / "none"))
        return forked.run("ecosort_power", words, cwd=tmp_path, env=environment)

    return run_cli


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    write_profile(tmp_path / "p.toml", FULL)
    return tmp_path / "p.toml"


def without_power() -> Profile:
    return replace(FULL, power=None)


def planned(ecosort: Path, place: Path, records: int) -> dict[str, float]:
    words = ["plan", "sort", "--json", "--profile", "p.toml", "--assume-size", f"{records * 100}B", *WORDS[1:], "-o", "out"]
    done = subprocess.run([ecosort, *words], cwd=place, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)["here"]["prediction"]
    return found


def rows_of(text: str) -> dict[str, list[str]]:
    """Cells of each class; numbers of thousands keep their single spaces."""
    rows = [re.split(r" {2,}", line) for line in text.splitlines() if line.startswith("10^")]
    return {row[0]: row[1:] for row in rows}


def test_the_table_is_what_the_planner_predicts(cli: Cli, ecosort: Path, profile: Path) -> None:
    done = cli("joulesort", "--predict", "--profile", "p.toml", *WORDS)
    assert done.returncode == 0, done.stderr
    rows = rows_of(done.stdout)
    assert list(rows) == ["10^8", "10^9", "10^10"]
    for records, (seconds, cpu_s, moved, watts, joules, rate, best, _) in zip((E8, E9, E10), rows.values(), strict=True):
        found = planned(ecosort, profile.parent, records)
        assert seconds == f"{found['seconds']:.4g}"
        assert cpu_s == f"{found['cpu_s']:.4g}"
        assert moved == f"{found['bytes_moved'] / 1e9:.4g}"
        assert joules == f"{found['joules']:.4g}"
        assert watts == f"{found['joules'] / found['seconds']:.4g}"
        assert int(rate.replace(" ", "")) == round(records / found["joules"])
        assert int(best.replace(" ", "")) == best_of(records).records_per_joule
    assert "fitted to runs with a meter" in done.stdout
    assert not [path for path in profile.parent.iterdir() if path != profile]


def test_stated_watts_take_the_place_of_the_model(cli: Cli, profile: Path) -> None:
    done = cli("joulesort", "--predict", "--profile", "p.toml", "--watts", "7.5", "1e8", *WORDS)
    assert done.returncode == 0, done.stderr
    ((seconds, _, _, watts, joules, rate, _, _),) = rows_of(done.stdout).values()
    assert watts == "7.5"
    assert float(joules) == pytest.approx(7.5 * float(seconds), rel=1e-3)
    assert int(rate.replace(" ", "")) == pytest.approx(1e8 / (7.5 * float(seconds)), rel=1e-3)
    assert "7.5, as stated; nothing was measured" in done.stdout


def test_the_power_that_reaches_the_best_result_reaches_it(cli: Cli, profile: Path) -> None:
    first = cli("joulesort", "--predict", "--profile", "p.toml", "1e9", *WORDS)
    enough = rows_of(first.stdout)["10^9"][-1]
    done = cli("joulesort", "--predict", "--profile", "p.toml", "--watts", enough, "1e9", *WORDS)
    rate = int(rows_of(done.stdout)["10^9"][-3].replace(" ", ""))
    assert rate == pytest.approx(best_of(E9).records_per_joule, rel=0.01)


def test_no_power_is_invented(cli: Cli, profile: Path) -> None:
    write_profile(profile, without_power())
    done = cli("joulesort", "--predict", "--profile", "p.toml", *WORDS)
    assert done.returncode == 0, done.stderr
    assert {tuple(row[3:6]) for row in rows_of(done.stdout).values()} == {("-", "-", "-")}
    assert "no joules; state the mean power" in done.stdout


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--predict",), "ecosort tune probe"),
        (("--predict", "--profile", "absent.toml"), "absent.toml"),
        (("--predict", "--watts", "0"), "watts"),
        (("--predict", "1e7"), "is no class"),
        (("--predict", "1e12", "--profile", "p.toml", "--", "--memory", "8MiB"), "10^12"),
        (("--predict", "1e8", "--profile", "p.toml", "--", "--memory", "64KiB"), "10^8"),
        (("1e8", "--watts", "7", "--meter", "sim:"), "an entry is measured"),
        (("1e8",), "--meter METER"),
    ],
)
def test_what_cannot_be_predicted_is_one_clear_line(cli: Cli, profile: Path, words: tuple[str, ...], text: str) -> None:
    done = cli("joulesort", *words)
    assert done.returncode == 2
    assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_the_model_of_a_profile_is_named_where_it_is_missing(cli: Cli, profile: Path) -> None:
    write_profile(profile, replace(FULL, cpu=None))
    done = cli("joulesort", "--predict", "--profile", "p.toml", "1e8", *WORDS)
    assert done.returncode == 2
    assert "ecosort-tune fit" in done.stderr
