"""Figures of one option: values in turn, medians, and a paragraph that does not claim what noise hides."""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import BUILD
from ecosort_tuning.errors import UsageError
from ecosort_tuning.experiment import Row, Timing, experiments, measure, paragraph, write_figure
from matplotlib import pyplot as plt

from .conftest import Tune

THREADS = experiments(4, 1 << 30)["threads"]


class KnownSorter:
    """12 s of computing divided among the threads, 4 s of reading and writing that are not; every other run is slower."""

    def __init__(self, jitter_s: float = 0.0) -> None:
        self.jitter_s = jitter_s
        self.order: list[str] = []

    def time(self, settings: Mapping[str, str]) -> Timing:
        threads = int(settings["--threads"])
        self.order.append(settings["--threads"])
        seconds = 4 + 12 / threads + (self.jitter_s if len(self.order) % 2 else 0.0)
        return Timing(seconds, 12 + 0.5 * threads, 0.6 * seconds, 0.4 * seconds)


def quiet(_: str) -> None:
    pass


def test_values_are_measured_in_turn_and_who_begins_changes() -> None:
    sorter = KnownSorter()
    rows = measure(THREADS, sorter, 3, quiet)
    assert sorter.order == ["1", "2", "3", "4", "2", "3", "4", "1", "3", "4", "1", "2"]
    assert [len(row.timings) for row in rows] == [3, 3, 3, 3]
    assert [row.middle(lambda t: t.seconds) for row in rows] == pytest.approx([16, 10, 8, 7])


def test_the_paragraph_says_what_is_fastest_and_what_is_thrifty() -> None:
    text = paragraph(THREADS, measure(THREADS, KnownSorter(), 3, quiet))
    assert "4 is fastest (7.00 s, median of 3 cold, validated runs)" in text
    assert "1 slowest (16.00 s, 2.29 times as long)" in text
    assert "1 takes least processor time (12.50 s)" in text
    assert "no difference" not in text
    with pytest.raises(UsageError, match="nothing was measured"):
        paragraph(THREADS, [])


def test_noise_greater_than_the_differences_is_named() -> None:
    text = paragraph(THREADS, measure(THREADS, KnownSorter(jitter_s=30), 4, quiet))
    assert "no difference is shown" in text


def test_the_figure_is_drawn_and_the_table_holds_every_run(tmp_path: Path) -> None:
    rows = measure(THREADS, KnownSorter(0.5), 3, quiet)
    text = write_figure(tmp_path / "new", THREADS, rows, "1 GB with 64MiB")
    with (tmp_path / "new/threads.csv").open() as file:
        table = list(csv.DictReader(file))
    assert len(table) == 12
    assert {float(line["seconds"]) for line in table if line["threads"] == "4"} <= {7.0, 7.5}
    assert text in (tmp_path / "new/threads.md").read_text()
    image = plt.imread(tmp_path / "new/threads.png")
    assert image.shape[0] > 300
    assert image.std() > 0.02


def test_memories_reach_from_a_quarter_to_four_times() -> None:
    assert experiments(2, 64 << 20)["memory"].values == tuple(f"{m << 20}B" for m in (16, 32, 64, 128, 256))
    assert Row("1", []).timings == []


def test_a_real_experiment_on_request_sizes(tune: Tune, tmp_path: Path, ecosort: Path) -> None:
    place = BUILD / f"experiment-{os.getpid()}"
    place.mkdir()
    try:
        words = (
            "block",
            "--dir",
            os.path.relpath(place, tmp_path),
            "--size",
            "10MB",
            "--memory",
            "16MiB",
            "--rounds",
            "1",
            "--out",
            "figures",
        )
        done = tune("experiment", *words, env={"ECOSORT_BIN": str(ecosort)})
        assert done.returncode == 0, done.stderr
        assert list(place.iterdir()) == []
        memory = tune("experiment", "memory", *words[1:], env={"ECOSORT_BIN": str(ecosort)})
        assert memory.returncode == 0, memory.stderr
    finally:
        shutil.rmtree(place)
    assert done.stdout.startswith("Of --request-size, ")
    names = {p.name for p in (tmp_path / "figures").iterdir()}
    assert names == {f"{name}.{kind}" for name in ("block", "memory") for kind in ("png", "csv", "md")}
    with (tmp_path / "figures/block.csv").open() as file:
        for line in csv.DictReader(file):
            assert 0 < float(line["run_formation_s"]) < float(line["seconds"])
            assert float(line["merge_s"]) > 0
