r"""A measurement of files whose names are not UTF-8 is stored, checked and shown in every form; pages spell such bytes \xff."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import forked
import pytest
from ecosort_power.codec import replace_text
from ecosort_power.command import quoted
from ecosort_power.encoding import spelled

from .measured import Measured
from .support import CHECK, QUICK, Cli, cli_env, fake_sort, toy_meter

OUTPUT = "out\udcff"
FORMS = ("terminal", "json", "csv", "markdown", "html")
needs_both = pytest.mark.measured("--meter", toy_meter(), "--runs", "1", *CHECK, command=fake_sort("-o", OUTPUT))


def report(measured: Measured, *words: str) -> subprocess.CompletedProcess[str]:
    return forked.run("ecosort_power", ["report", "r", *words], cwd=measured.path, env=cli_env())


@needs_both
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_text(measured: Measured, form: str) -> None:
    shown = report(measured, "--format", form)
    assert (shown.returncode, shown.stderr) == (0, ""), shown
    assert ("out\\udcff" if form == "json" else r"out\xff") in shown.stdout or form == "csv"
    if form != "terminal":
        saved = report(measured, "--format", form, "-o", f"saved.{form}")
        assert saved.returncode == 0, saved
        assert (measured.path / f"saved.{form}").read_bytes() == shown.stdout.encode()


@needs_both
def test_figures_are_drawn(measured: Measured) -> None:
    pytest.importorskip("matplotlib")
    done = report(measured, "--format", "figures", "-o", "figures\udcff")
    assert (done.returncode, r"figures\xff" in done.stderr) == (0, True), done.stderr
    assert (measured.path / "figures\udcff/captions.md").read_text()


@needs_both
def test_what_is_stored_names_the_same_file(measured: Measured, cli: Cli) -> None:
    assert (measured.path / OUTPUT).exists()
    assert measured.run()["command"][-1] == OUTPUT
    assert json.loads(report(measured, "--format", "json").stdout)["session"]["options"]["command"][-1] == OUTPUT
    done = cli("check", measured.result)
    assert "the seal holds" in done.stdout
    assert "Traceback" not in done.stderr


def test_time_only_in_a_directory_of_such_a_name_continues(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "in\udcff").write_text("x")
    words = ("--runs", "1", "--time-only", "--no-validate", "--input", "in\udcff", "--out", "r\udcff")
    done = cli("run", *QUICK, *words, "--", "cp", "in\udcff", OUTPUT)
    assert done.returncode == 0, done.stderr
    assert r"ecosort-power report $'r\xff' --format html" in done.stdout
    assert cli("run", "--continue", "r\udcff").returncode == 0
    assert "the seal holds" in cli("check", "r\udcff").stdout
    for form in FORMS[1:]:
        assert cli("report", "r\udcff", "--format", form, "-o", f"x\udcff.{form}").returncode == 0


def test_why_a_run_failed_is_kept(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "q\udcff").write_text("#!/nonexistent\udcff", errors="surrogateescape")
    (tmp_path / "q\udcff").chmod(0o755)
    words = ("--runs", "1", "--time-only", "--no-validate", "--out", "r")
    done = cli("run", *QUICK, *words, "--", "./q\udcff")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert r"q\xff" in (tmp_path / "r/runs/01/failure.txt").read_text()


@pytest.mark.parametrize("word", ["in\udcff", "it's\udcff", "a\\b\udcff c", "plain", "with space", "\udcffab"])
def test_a_command_that_is_shown_can_be_typed(word: str) -> None:
    words = ["bash", "-c", f"printf %s {quoted([word])}"]
    assert subprocess.run(words, capture_output=True, check=True).stdout == word.encode(errors="surrogateescape")


@pytest.mark.parametrize(("text", "shown"), [("a\udcffb", r"a\xffb"), ("\ud800", r"\ud800"), ("ü±", "ü±"), ("", "")])
def test_spelling(text: str, shown: str, tmp_path: Path) -> None:
    assert spelled(text) == shown
    replace_text(tmp_path / "x", text)
    assert (tmp_path / "x").read_text() == shown
