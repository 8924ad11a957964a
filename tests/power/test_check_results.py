"""`ecosort-power check` fails on each defect of a stored result."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ecosort_power.check import check
from ecosort_power.errors import PowerError
from ecosort_power.store import ResultDirectory

from .measured import Measured, copied
from .stored import reseal
from .support import CHECK, Cli, fake_sort, load, toy_meter

# One good result, measured once and copied for each test.
pytestmark = pytest.mark.measured(
    *("--meter", toy_meter(), *CHECK, "--runs", "1", "--input", "in", "--output", "out"),
    command=fake_sort("--hard"),
    files={"in": "input 1000"},
)


@pytest.fixture
def result(measured: Measured, tmp_path: Path) -> Path:
    assert measured.done.returncode == 0, measured.done.stderr
    return copied(measured, tmp_path / "r")


Change = Callable[[dict[str, Any]], None]


def edit(path: Path, change: Change) -> None:
    document = load(path)
    change(document)
    path.write_text(json.dumps(document))


def edit_readings(result: Path, keep: Callable[[int, dict[str, Any]], dict[str, Any] | None]) -> None:
    path = result / "runs/01/readings.exec.jsonl"
    lines = [keep(i, json.loads(line)) for i, line in enumerate(path.read_text().splitlines())]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines if line is not None))


def test_a_good_result_passes(cli: Cli, result: Path) -> None:
    done = cli("check", "r")
    assert done.returncode == 0, done.stdout
    assert "no defect" in done.stdout


RUN_CHANGES: dict[str, tuple[str, Change]] = {
    "energy changed by hand": ("energy-differs", lambda r: r["energy"][0].update(joules=1.0)),
    "energy removed": ("no-energy", lambda r: r.update(energy=None)),
    "sync left out": ("sync", lambda r: r["marks"].update(synced_s=r["marks"]["exit_s"])),
    "marks out of order": ("marks", lambda r: r["marks"].update(exit_s=r["marks"]["last_s"] + 1)),
    "not validated": ("unvalidated", lambda r: r["defects"].append({"code": "unvalidated", "text": "x", "fatal": False})),
    "validation failed": ("validation", lambda r: r["defects"].append({"code": "validation", "text": "x", "fatal": True})),
    "validator counted differently": ("record-count", lambda r: r["validation"]["report"].update(records=999)),
    "records changed": ("record-count", lambda r: r.update(records=2000)),
    "exit code": ("exit-code", lambda r: r.update(exit_code=1)),
    "sort took longer than its process": ("wall", lambda r: r["stats"].update(wall_s=99.0)),
    "validation removed": ("unvalidated", lambda r: r.update(validation=None)),
    "report of the validator removed": ("validation", lambda r: r["validation"].update(report=None)),
    "validator failed": ("validation", lambda r: r["validation"]["report"].update(exit_code=1)),
    "other content": ("validation", lambda r: r["validation"]["report"].update(checksum="beef")),
    "energy of a phase changed": ("energy-differs", lambda r: r["energy"][0]["phases"][0].update(joules=1.0)),
    "uncertainty made smaller": ("energy-differs", lambda r: r["energy"][0]["uncertainty"].update(instrument_j=0.0)),
    "phases changed": ("phases", lambda r: r["spans"][0].update(end_s=r["spans"][0]["end_s"] - 0.1)),
}


@pytest.mark.parametrize("name", RUN_CHANGES)
def test_a_defect_of_a_run_is_found(cli: Cli, result: Path, name: str) -> None:
    code, change = RUN_CHANGES[name]
    edit(result / "runs/01/run.json", change)
    done = cli("check", "r")
    assert done.returncode == 1
    assert f"DEFECT [{code}]" in done.stdout


OTHER_CHANGES: dict[str, tuple[str, str, Change]] = {
    "idle power changed": ("session.json", "idle-differs", lambda s: s["idle_before_w"].update(exec=1.0)),
    "said to be cold": ("session.json", "cache", lambda s: s["options"].update(cold=True)),
    "records per joule made better": (
        "summary.json",
        "summary-differs",
        lambda s: s["energy"]["records_per_joule"].update(mean=2 * s["energy"]["records_per_joule"]["mean"]),
    ),
    "more runs valid": ("summary.json", "summary-differs", lambda s: s.update(runs_valid=2)),
}


@pytest.mark.parametrize("name", OTHER_CHANGES)
def test_a_defect_of_what_was_computed_is_found(cli: Cli, result: Path, name: str) -> None:
    file, code, change = OTHER_CHANGES[name]
    edit(result / file, change)
    done = cli("check", "r")
    assert done.returncode == 1
    assert f"DEFECT [{code}]" in done.stdout


def test_idle_readings_that_are_gone_are_found(cli: Cli, result: Path) -> None:
    (result / "idle-after.exec.jsonl").unlink()
    done = cli("check", "r")
    assert done.returncode == 1
    assert "idle-after.exec.jsonl" in done.stdout


READING_CHANGES: dict[str, tuple[str, Callable[[int, dict[str, Any]], dict[str, Any] | None]]] = {
    "gap": ("gap", lambda i, r: None if r["watts"] == 22.0 else r),
    "stale": ("stale", lambda i, r: {**r, "watts": 30.0}),
    "saturated": ("saturated", lambda i, r: {**r, "flags": ["saturated"]} if r["watts"] == 30.0 else r),
    "cut off": ("coverage", lambda i, r: r if i < 20 else None),
}


@pytest.mark.parametrize("name", READING_CHANGES)
def test_a_defect_of_the_raw_readings_is_found(cli: Cli, result: Path, name: str) -> None:
    code, change = READING_CHANGES[name]
    edit_readings(result, change)
    done = cli("check", "r")
    assert done.returncode == 1
    assert f"DEFECT [{code}]" in done.stdout


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut in half": lambda f: f.write_bytes(f.read_bytes()[: f.stat().st_size // 2]),
    "empty": lambda f: f.write_bytes(b""),
    "no text": lambda f: f.write_bytes(bytes(range(255, 0, -1))),
    "a list": lambda f: f.write_text("[1, 2]"),
    "null": lambda f: f.write_text("null"),
    "removed": lambda f: f.unlink(),
}
FILES = ("session.json", "summary.json", "runs/01/run.json", "runs/01/readings.exec.jsonl", "runs/01/events.jsonl")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_a_defect_or_one_clear_error(result: Path, name: str, damage: str) -> None:
    DAMAGES[damage](result / name)
    try:
        said = [d.text for d in check(ResultDirectory(result)) if d.fatal]
    except PowerError as error:
        said = [str(error)]
    assert said
    assert all("\n" not in text for text in said)


def test_missing_raw_readings_are_found(cli: Cli, result: Path) -> None:
    (result / "runs/01/readings.exec.jsonl").unlink()
    done = cli("check", "r")
    assert done.returncode == 1
    assert "raw-missing" in done.stdout


def test_missing_runs_are_found(cli: Cli, result: Path) -> None:
    edit(result / "session.json", lambda s: s["options"].update(runs=5))
    done = cli("check", "r")
    assert done.returncode == 1
    assert "1 of 5 runs" in done.stdout


def test_a_line_cut_off_does_not_hide_the_rest_and_breaks_the_seal(cli: Cli, result: Path) -> None:
    path = result / "runs/01/readings.exec.jsonl"
    path.write_text(path.read_text() + '{"before_s": 12')
    done = cli("check", "r")
    assert done.returncode == 1
    assert done.stdout.count("DEFECT") == 1, done.stdout
    assert "readings.exec.jsonl is not what was written" in done.stdout


@pytest.mark.parametrize("text", ["", "{", '{"schema": 3}', "[]"])
def test_a_broken_document_is_the_first_broken_link(cli: Cli, result: Path, text: str) -> None:
    (result / "runs/01/run.json").write_text(text)
    done = cli("check", "r")
    assert done.returncode == 1
    assert "the first link that is broken: [seal] runs/01/run.json is not what was written" in done.stdout
    assert "DEFECT [unreadable]" in done.stdout
    assert done.stderr == ""


def test_reports_come_in_every_form(cli: Cli, result: Path, tmp_path: Path) -> None:
    table = cli("report", "r")
    assert "records per joule" in table.stdout
    document = json.loads(cli("report", "r", "--format", "json").stdout)
    assert document["scope"] == "wall"
    assert document["energy"] > 0
    rows = cli("report", "r", "--format", "csv").stdout.splitlines()
    assert rows[0].startswith("run,valid,validated,meter")
    assert len(rows) == 2
    markdown = cli("report", "r", "--format", "markdown").stdout
    for text in ("## Result", "serial: MISSING", "ambient temperature: MISSING", "duplicate keys", "at the wall", "3e8"):
        assert text in markdown


def test_what_only_a_person_knows_comes_from_a_file(cli: Cli, result: Path, tmp_path: Path) -> None:
    template = cli("report", "r", "--template").stdout
    assert "ambient_c" in template
    (result / "submission.toml").write_text('ambient_c = 22.5\nmeter_serial = "A-17"\ntitle = "Home box"\n')
    markdown = cli("report", "r", "--format", "markdown").stdout
    assert "ambient temperature: 22.5 C" in markdown
    assert "serial: A-17" in markdown
    assert markdown.startswith("# Home box")
    (result / "submission.toml").write_text('ambient = "x"\n')
    assert cli("report", "r", "--format", "markdown").returncode == 2


def test_two_results_are_compared(cli: Cli, result: Path, tmp_path: Path) -> None:
    shutil.copytree(result, tmp_path / "s")
    done = cli("compare", "r", "s")
    assert done.returncode == 0, done.stderr
    assert "joules" in done.stdout
    edit(tmp_path / "s/session.json", lambda s: s["meters"][0]["capabilities"].update(scope="package"))
    reseal(tmp_path / "s", "session.json")
    done = cli("compare", "r", "s")
    assert done.returncode == 2
    assert "must not be compared" in done.stderr
