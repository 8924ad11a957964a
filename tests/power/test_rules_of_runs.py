"""The rules of a sound measurement that hold for whole runs, on `ecosort-power run` with a toy sort and a toy meter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .measured import Measured, copied
from .support import CHECK, QUICK, Cli, fake_sort, toy_meter

VALIDATED = pytest.mark.measured(
    *("--meter", toy_meter(), *CHECK, "--runs", "1", "--output", "out", "--records", "1000"), command=fake_sort()
)
LATE = pytest.mark.measured(
    "--meter", toy_meter(settings="lag=0.7,window=0.4"), "--no-validate", "--runs", "1", command=fake_sort()
)
UNVALIDATED = pytest.mark.measured("--meter", toy_meter(), "--no-validate", "--runs", "1", command=fake_sort())


def test_rule_8_without_a_meter_there_is_no_number(cli: Cli, tmp_path: Path) -> None:
    done = cli("run", *QUICK, "--runs", "1", "--out", "r", "--", *fake_sort("--seconds", "0.1,0.1"))
    assert done.returncode == 2
    assert "no meter" in done.stderr
    timed = cli(
        "run", *QUICK, "--runs", "1", "--time-only", "--no-validate", "--out", "t", "--", *fake_sort("--seconds", "0.1,0.1")
    )
    assert timed.returncode == 0, timed.stderr
    document = json.loads(cli("report", "t", "--format", "json").stdout)
    assert document["energy"] is None
    assert "no meter" in document["energy_reason"]


@VALIDATED
def test_rule_9_the_window_is_start_to_sync_and_validation_is_outside(measured: Measured) -> None:
    assert measured.done.returncode == 0, measured.done.stderr
    run = measured.run()
    marks = run["marks"]
    assert marks["first_s"] < marks["start_s"] < marks["exit_s"] < marks["synced_s"] < marks["last_s"]
    spans = run["spans"]
    assert marks["start_s"] < spans[0]["begin_s"]
    assert spans[-1]["end_s"] < marks["exit_s"]
    assert run["validation"]["problem"] is None
    assert float((measured.path / "validated").read_text()) > marks["last_s"]


@LATE
def test_rule_9_the_idle_tail_is_as_long_as_lag_and_window(measured: Measured) -> None:
    marks = measured.run()["marks"]
    assert marks["last_s"] - marks["synced_s"] >= 0.7 + 0.4


@UNVALIDATED
def test_rule_9_a_run_that_was_not_validated_says_so(measured: Measured) -> None:
    assert measured.done.returncode == 0, measured.done.stderr
    assert "NOT VALIDATED" in measured.done.stdout


@VALIDATED
def test_rule_3_the_offset_to_real_time_is_kept(measured: Measured) -> None:
    marks = measured.run()["marks"]
    lines = (measured.result / "runs/01/events.jsonl").read_text().splitlines()
    for event in map(json.loads, lines):  # the sort stamps its events with both clocks
        assert event["monotonic_s"] + marks["realtime_offset_s"] == pytest.approx(event["realtime_s"], abs=0.05)
    assert abs(marks["realtime_drift_s"]) < 1.0


@VALIDATED
def test_rule_10_a_stored_result_is_validated_again_from_its_raw_samples(cli: Cli, tmp_path: Path, measured: Measured) -> None:
    result = copied(measured, tmp_path / "r")
    assert cli("check", "r").returncode == 0
    raw = result / "runs/01/readings.exec.jsonl"
    raw.write_text(raw.read_text().replace('"watts":30.0', '"watts":29.0'))
    again = cli("check", "r")
    assert again.returncode == 1
    assert "energy-differs" in again.stdout
