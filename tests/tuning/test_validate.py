"""Predictions against measurements: what the tables say of known runs, and one real validation of a few megabytes."""

from __future__ import annotations

import json
import os
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILD
from ecosort_bench.report import OtherResult, load, page_agrees, write_page
from ecosort_measure.prediction import PACKED_LIMIT, SCHEMA, cells, floor_s, page_lines, seconds, verdicts
from ecosort_power.errors import UsageError
from ecosort_tuning.cli import cli
from ecosort_tuning.probe import run_probe
from ecosort_tuning.validate import Cell, Clock, Grid, Turn, turns

from .test_packed_prediction import MODELS
from .test_probe import drive_like

PREDICTION = {
    "phases": [
        {"name": "run_formation", "factor": 1.5, "times": {"drive read": 1.0, "drive write": 2.0, "processor": 1.0}},
        {"name": "merge", "factor": 1.0, "times": {"drive read": 2.0, "drive write": 1.0, "processor": 3.0}},
    ],
    "seconds": 6.0,
    "cpu_s": 4.0,
    "bytes_moved": 1000,
    "temp_bytes": 300,
}


def run_of(wall_s: float, floor_s: float, **changed: Any) -> dict[str, Any]:
    common = {"records": 10_000_000, "memory_bytes": 1 << 27, "cpu_s": 4.2, "bytes_moved": 1000, "peak_temp_bytes": 300}
    return {**common, "is_cold": True, "wall_s": wall_s, "floor_s": floor_s, **changed}


def document(runs: list[dict[str, Any]], floor_ratio: float = 1.0) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "commit": "0123456789abcdef",
        "dirty": False,
        "machine": {"processor": "Abacus", "cpus": 2, "kernel": "6", "file_system": "ext4 rw"},
        "settings": {"training_records": [5_000_000], "training_memory_bytes": [64 << 20]},
        "command": "ecosort-tune validate",
        "training": [{}] * 6,
        "floor_ratio": {"two passes": floor_ratio},
        "predictions": [{"records": 10_000_000, "memory_bytes": 1 << 27, "shape": "two passes", "prediction": PREDICTION}],
        "runs": runs,
        "missing": False,
    }


def test_a_slower_drive_slows_what_the_drive_limits() -> None:
    assert floor_s(PREDICTION) == 4.0
    assert seconds(PREDICTION, 1.0) == pytest.approx(1.5 * 2 + 3)
    assert seconds(PREDICTION, 2.0) == pytest.approx(1.5 * 4 + 4)
    assert seconds(PREDICTION, 0.1) == pytest.approx(1.5 * 1 + 3), "then the processor limits"


def test_times_are_held_against_the_floor_of_their_round() -> None:
    """The drive of the second round takes twice as long; so do floor and sort, and the prediction follows."""
    (cell,) = cells(document([run_of(6.0, 4.0), run_of(10.0, 8.0), run_of(10.0, 8.0)]))
    assert cell.time_ratio == pytest.approx(1.0)
    assert cell.raw_ratio == pytest.approx(10 / 6)
    assert cell.over_floor == pytest.approx(1.25)
    assert cell.cpu_ratio == pytest.approx(1.05)
    # Floors that are always 1.25 times what the rates of the profile say say nothing about the drive of the moment.
    (cell,) = cells(document([run_of(6.0, 5.0)], floor_ratio=1.25))
    assert cell.time_ratio == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("run", "missed"),
    [
        (run_of(6.0, 4.0), []),
        (run_of(6.0, 4.0, bytes_moved=1001), ["bytes moved"]),
        (run_of(6.0, 4.0, peak_temp_bytes=299), ["space of the runs"]),
        (run_of(6.0, 4.0, cpu_s=4.5), ["CPU seconds", "CPU seconds of every size and memory"]),
        (run_of(7.0, 4.0), ["time, by the floor beside it"]),
        (run_of(5.0, 4.0), ["time, by the floor beside it"]),
    ],
)
def test_what_misses_its_limit_is_named(run: dict[str, Any], missed: list[str]) -> None:
    assert [name for name, _, _, met in verdicts(cells(document([run]))) if not met] == missed


@pytest.mark.parametrize(("moved", "is_met"), [(1000, True), (1015, True), (985, True), (1025, False), (975, False)])
def test_bytes_of_compressed_runs_are_predicted_within_a_limit(moved: int, is_met: bool) -> None:
    data = document([run_of(6.0, 4.0), run_of(6.0, 4.0, bytes_moved=moved, peak_temp_bytes=400)])
    data["settings"]["compress"] = "zstd"
    found = {name: (asked, measured, met) for name, asked, measured, met in verdicts(cells(data))}
    assert found["bytes moved"] == ("within 2%", f"{abs(moved - 1000) / 10:.2f}% off at worst", is_met)
    assert "space of the runs" not in found, "it is reserved as if nothing shrank"
    assert f"| {abs(moved - 1000) / 10:.2f}% off |" in "\n".join(page_lines(data))
    assert "Runs compressed with zstd" in "\n".join(page_lines(data))


def test_the_page_holds_the_result(tmp_path: Path) -> None:
    (tmp_path / "prediction.json").write_text(json.dumps(document([run_of(6.0, 4.0)])))
    result = load(tmp_path / "prediction.json")
    assert isinstance(result, OtherResult)
    page = tmp_path / "page.md"
    begin = "<!-- benchmark prediction: begin (written by make bench-tables) -->"
    page.write_text(f"before\n{begin}\n<!-- benchmark prediction: end -->\nafter\n")
    assert not page_agrees(page, result)
    write_page(page, result)
    assert page_agrees(page, result)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "| 1 GB | 128 MiB | 1 | 1,000 | exact |" in text
    assert "| CPU seconds | within 10% (median) | 5.0% off (median) | met |" in text
    assert "| CPU seconds of every size and memory | within 10% | 5.0% off at worst; equal sorts differ by 0.0% | met |" in text
    assert "\n".join(page_lines(result.data)) in text


def test_each_round_measures_training_and_predicted_cells_alike() -> None:
    grids = [Grid("training", [20], [3]), Grid("runs", [10, 40], [1, 2])]
    everything = turns(grids, 2, {"training": [], "runs": []})
    assert [turn.round for turn in everything] == [0] * 5 + [1] * 5
    assert [(turn.grid, turn.cell.records) for turn in everything[:5]] == [
        ("runs", 10),
        ("runs", 10),
        ("training", 20),
        ("runs", 40),
        ("runs", 40),
    ], "each size has one input in a round"


def test_only_what_is_missing_is_measured() -> None:
    grids = [Grid("training", [10], [1]), Grid("runs", [10, 40], [1, 2])]
    done = {"training": [], "runs": [{"records": 10, "memory_bytes": m, "round": 0} for m in (1, 2)]}
    missing = turns(grids, 2, done)
    assert missing[0] == Turn("training", Cell(10, 1), 0), "a cell of both is measured for each"
    assert len(missing) == 8


def test_no_run_begins_that_would_end_after_the_budget() -> None:
    now = [0.0]
    clock = Clock(100.0, lambda: now[0])

    def pair() -> dict[str, Any]:
        now[0] += 30.0
        return {}

    assert clock.allows(10_000_000)
    assert not clock.allows(1_000_000_000), "100 GB take longer"
    for _ in range(2):
        clock.timed(10_000_000, pair)
    assert clock.allows(10_000_000)
    clock.timed(10_000_000, pair)
    assert not clock.allows(10_000_000)


def test_a_real_validation_of_compressed_runs(tmp_path: Path, ecosort: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the rates of the drive, which are made up: bytes are what it is about. A fast machine is done with a phase before
    the time model believes it."""
    place = BUILD / f"validate-packed-{os.getpid()}"
    place.mkdir()
    words = ["validate", "--dir", str(place), "--size", "60MB", "--memory", "16MiB", "--rounds", "1", "--compress", "lz4"]
    words += ["--training-size", "40MB", "--training-memory", "16MiB", "--out", str(tmp_path / "r.json")]
    monkeypatch.setenv("ECOSORT_PROGRAM", str(ecosort))
    monkeypatch.setattr("ecosort_tuning.validating.run_probe", lambda *_: MODELS)
    monkeypatch.setattr("ecosort_tuning.model.LEAST_PHASE_S", 0.0)
    try:
        code = cli.main(words, standalone_mode=False)
    finally:
        shutil.rmtree(place)
    data = json.loads((tmp_path / "r.json").read_text())
    assert code in (0, 1)
    (cell,) = cells(data)
    assert cell.bytes_off < PACKED_LIMIT
    assert cell.bytes_moved < 3 * 60_000_000, "runs shrink to a third"
    assert data["runs"][0]["stats"]["compression"]["runs"]["codec"] == "lz4"
    assert data["command"].endswith("--compress lz4'")


def test_a_real_validation_keeps_its_numbers_and_goes_on(
    tmp_path: Path, ecosort: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests all but the drive, which test_probe.py measures."""
    place = BUILD / f"validate-{os.getpid()}"
    place.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ECOSORT_PROGRAM", str(ecosort))
    monkeypatch.setattr("ecosort_tuning.model.LEAST_PHASE_S", 0.0)
    monkeypatch.setattr("ecosort_measure.cold_run.settle_memory", lambda _size: None)
    monkeypatch.setattr("ecosort_tuning.validating.run_probe", partial(run_probe, measure=drive_like()))
    words = ["validate", "--dir", str(place), "--size", "6MB", "--memory", "4MiB", "--memory", "32MiB", "--rounds", "1"]
    words += ["--training-size", "30MB", "--training-memory", "4MiB", "--training-memory", "64MiB", "--out", "r.json"]
    words += ["--probe-seconds", "0.05", "--probe-file", "16MiB"]

    def told(*more: str) -> str:
        code = cli.main([*words, *more], standalone_mode=False)
        said = capsys.readouterr()
        assert code in (0, 1), said.err
        return said.out + said.err

    try:
        assert "the budget ended before all was measured" in told("--budget", "0.001s")
        before = json.loads((tmp_path / "r.json").read_text())
        assert (before["training"], before["missing"]) == ([], True)
        with pytest.raises(UsageError, match="exists"):
            told()
        done = told("--continue", "--budget", "60s")
        with pytest.raises(UsageError, match="its settings was"):
            told("--continue", "--memory", "8MiB")
        assert list(place.iterdir()) == []
    finally:
        shutil.rmtree(place)
    after = json.loads((tmp_path / "r.json").read_text())
    assert after["profile"] == before["profile"], "it is not probed again"
    assert (len(after["training"]), len(after["runs"]), after["missing"]) == (2, 2, False)
    assert "bytes moved" in done
    for cell in cells(after):
        assert (cell.bytes_off, cell.temp_off) == (0, 0)
    assert str(place) not in (tmp_path / "r.json").read_text()
    assert "host" not in after["runs"][0]["stats"]
