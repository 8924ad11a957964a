"""Figures of one option: values in turn, medians, and a paragraph that does not claim what noise hides."""

from __future__ import annotations

import csv
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from xml.etree import ElementTree

import pytest
from conftest import BUILD
from ecosort_power.report.style import PALETTE
from ecosort_tuning import filling
from ecosort_tuning.errors import UsageError
from ecosort_tuning.experiment import Row, Timing, draw, experiments, measure, paragraph, write_figure
from ecosort_tuning.experimenting import TimedSorter
from ecosort_tuning.figure import styled
from ecosort_tuning.search.sorter import Place
from matplotlib import pyplot as plt
from sort_support import slowed

from .conftest import Tune

THREADS = experiments(4, 1 << 30, 10**9)["threads"]


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
    assert (tmp_path / "new/threads.pdf").read_bytes().startswith(b"%PDF-")
    assert ElementTree.parse(tmp_path / "new/threads.svg").getroot().tag.endswith("svg")


def test_memories_reach_from_a_quarter_to_four_times() -> None:
    assert experiments(2, 64 << 20, 10**9)["memory"].values == tuple(f"{m << 20}B" for m in (16, 32, 64, 128, 256))
    assert Row("1", []).timings == []


class MeteredSorter(KnownSorter):
    """20 W, and 5 W more for each thread (the fourth takes 4)."""

    def time(self, settings: Mapping[str, str]) -> Timing:
        timing = super().time(settings)
        return replace(timing, joules=timing.seconds * (20 + 5 * int(settings["--threads"]) - (settings["--threads"] == "4")))


def test_energy_is_in_the_figure_when_a_meter_is_read(tmp_path: Path) -> None:
    rows = measure(THREADS, MeteredSorter(), 3, quiet)
    text = write_figure(tmp_path / "with", THREADS, rows, "")
    assert "Least energy takes 4 (273.0 J), most 1 (400.0 J)." in text
    with (tmp_path / "with/threads.csv").open() as file:
        assert {float(line["joules"]) for line in csv.DictReader(file)} == {400.0, 300.0, 280.0, 273.0}
    write_figure(tmp_path / "without", THREADS, measure(THREADS, KnownSorter(), 3, quiet), "")
    images = [plt.imread(tmp_path / name / "threads.png") for name in ("with", "without")]
    assert images[0].shape != images[1].shape or (images[0] != images[1]).any()


class KnownFiller:
    """The normal sort has room until 70 %, in place until 95 %; it takes three times as long, and more with little space."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, float]] = []

    def time(self, kind: str, degree: float) -> Timing | None:
        self.asked.append((kind, degree))
        if degree > (0.95 if kind == filling.IN_PLACE else 0.70):
            return None
        seconds = 2.0 if kind == filling.NORMAL else 6.0 + (4.0 if degree > 0.9 else 0.0)
        return Timing(seconds, 1.0, seconds / 2, seconds / 2)


def test_filling_compares_both_ways_and_asks_once_what_is_refused(tmp_path: Path) -> None:
    filler = KnownFiller()
    points = filling.measure(filler, filling.DEGREES, 3, quiet)
    assert filler.asked.count((filling.NORMAL, 0.80)) == 1
    assert filler.asked.count((filling.IN_PLACE, 0.80)) == 3
    text = filling.write_figure(tmp_path, points, "1 GB")
    assert "Up to 70 % the normal sort has room; in place takes 3.00 times as long" in text
    assert "From 80 % on only in place sorts, at 95 % in 10.00 s, 1.67 times as long as at 80 %." in text
    assert "From 97.6 % on even in place there is too little space." in text
    with (tmp_path / "fill.csv").open() as file:
        table = list(csv.DictReader(file))
    assert len(table) == 3 * 3 + 6 * 3
    image = plt.imread(tmp_path / "fill.png")
    assert image.std() > 0.02


def test_one_command_draws_several_figures_and_leaves_nothing_of_a_drive_that_it_filled(
    tune: Tune, tmp_path: Path, ecosort: Path, require: Callable[[str], None]
) -> None:
    """Figure 3 of the paper: time against the size of the input, told per gigabyte, and how full the drive is."""
    require("loop_mount")
    place = BUILD / f"figure3-{os.getpid()}"
    place.mkdir()
    try:
        words = ("size", "fill", "--dir", place, "--size", "16MB", "--memory", "8MiB", "--rounds", "1", "--out", "figures")
        done = tune("experiment", *words, env={"ECOSORT_PROGRAM": str(ecosort)})
        metered = tune("experiment", *words[1:], "--meter", "exec:x", env={"ECOSORT_PROGRAM": str(ecosort)})
        assert (metered.returncode, "fill takes no --meter" in metered.stderr) == (2, True)
        assert list(place.iterdir()) == []
    finally:
        shutil.rmtree(place)
    assert str(place) not in Path("/proc/mounts").read_text()
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Per gigabyte (medians of 1 cold, validated runs): 0.002 GB ")
    assert "; 0.016 GB " in done.stdout
    assert "97.6 % full, normal: refused" in done.stderr
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert names == {f"{name}.{kind}" for name in ("size", "fill") for kind in ("png", "svg", "pdf", "csv", "md")}
    with (tmp_path / "figures/fill.csv").open() as file:
        found = {(line["kind"], float(line["fill"])) for line in csv.DictReader(file)}
    assert {(filling.IN_PLACE, 0.4), (filling.NORMAL, 0.4), (filling.IN_PLACE, 0.9)} <= found
    assert (filling.NORMAL, 0.9) not in found


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
        done = tune("experiment", *words, env={"ECOSORT_PROGRAM": str(ecosort)})
        assert done.returncode == 0, done.stderr
        assert list(place.iterdir()) == []
        memory = tune("experiment", "memory", *words[1:], env={"ECOSORT_PROGRAM": str(ecosort)})
        assert memory.returncode == 0, memory.stderr
    finally:
        shutil.rmtree(place)
    assert done.stdout.startswith("Of --request-size, ")
    names = {p.name for p in (tmp_path / "figures").iterdir()}
    assert names == {f"{name}.{kind}" for name in ("block", "memory") for kind in ("png", "svg", "pdf", "csv", "md")}
    with (tmp_path / "figures/block.csv").open() as file:
        for line in csv.DictReader(file):
            assert 0 < float(line["run_formation_s"]) < float(line["seconds"])
            assert float(line["merge_s"]) > 0


COUNTER = """import json, time
begin = time.monotonic()
header = {"title": "counter", "scope": "wall", "period_s": 0.1, "update_s": 0.01, "lag_s": 0, "accuracy": "1%"}
print(json.dumps({"meter": header}))
while True:
    print(json.dumps({"joules": 20 * (time.monotonic() - begin)}), flush=True)
    time.sleep(0.01)
"""


@pytest.mark.usefixtures("hardly_waiting")
def test_a_run_of_an_experiment_with_a_meter_has_joules_and_phases(tmp_path: Path, ecosort: Path) -> None:
    place = BUILD / f"experiment-metered-{os.getpid()}"
    place.mkdir()
    (tmp_path / "counter.py").write_text(COUNTER)
    try:
        meter = f"exec:{sys.executable} {tmp_path / 'counter.py'}"
        program = slowed(ecosort, tmp_path, 0.4)
        found = TimedSorter(program, Place(place, 200_000, 16 << 20), meter).time({"--threads": "1"})
    finally:
        shutil.rmtree(place)
    assert found.joules == pytest.approx(20 * found.seconds, rel=0.3)
    assert found.formation_s > 0
    assert found.merge_s > 0


@contextmanager
def evenly_busy(root: Path) -> Iterator[None]:
    """A /proc/stat in `root` of a machine with 2 of 5 processors' time in use, a tick more or less at a time, whatever else this
    one does: a meter whose value never changes is taken for stuck."""
    (root / "proc").mkdir()
    end, begin = Event(), time.monotonic()

    def tell() -> None:
        number = 0
        while not end.wait(0.01):
            ticks = int((time.monotonic() - begin) * 100 * (os.cpu_count() or 1))
            number += 1
            busy = 2 * ticks // 5 + number % 3
            (root / "proc/new").write_text(f"cpu {busy} 0 0 {ticks - busy} 0 0 0 0\n")
            (root / "proc/new").replace(root / "proc/stat")

    (root / "proc/stat").write_text("cpu 0 0 0 0 0 0 0 0\n")
    teller = Thread(target=tell)
    teller.start()
    try:
        yield
    finally:
        end.set()
        teller.join()


SIMULATED_METERS = {
    "its scheme": "sim:#period=0.05,root={directory}",
    "its header": "exec:{python} {directory}/made_up.py",
    "a setting": "exec:{python} {directory}/counter.py#simulated=yes",
}


@pytest.mark.usefixtures("hardly_waiting")
@pytest.mark.parametrize("by", SIMULATED_METERS)
def test_a_meter_that_is_simulated_is_known_by_what_it_says(by: str, tmp_path: Path, ecosort: Path) -> None:
    place = BUILD / f"experiment-simulated-{os.getpid()}"
    place.mkdir()
    (tmp_path / "counter.py").write_text(COUNTER)
    (tmp_path / "made_up.py").write_text(COUNTER.replace('"lag_s": 0', '"lag_s": 0, "simulated": True'))
    meter = SIMULATED_METERS[by].format(python=sys.executable, directory=tmp_path)
    try:
        program = slowed(ecosort, tmp_path, 0.8)  # enough values for the period of each
        with evenly_busy(tmp_path):
            found = TimedSorter(program, Place(place, 20_000, 16 << 20), meter).time({"--threads": "1"})
    finally:
        shutil.rmtree(place)
    assert found.simulated


def test_simulated_joules_are_called_so_wherever_they_stand(tmp_path: Path) -> None:
    rows = measure(THREADS, MeteredSorter(), 3, quiet)
    rows[1].timings[0] = replace(rows[1].timings[0], simulated=True)
    text = write_figure(tmp_path, THREADS, rows, "")
    assert text.startswith("SIMULATED: ")
    assert text in (tmp_path / "threads.md").read_text()
    with (tmp_path / "threads.csv").open() as file:
        assert [line["simulated"] for line in csv.DictReader(file)].count("SIMULATED") == 1
    drawn = draw(THREADS, rows)
    assert [t.get_text() for t in drawn.axes[0].texts] == ["SIMULATED"]
    assert drawn.axes[0].get_title() == "SIMULATED joules"
    plt.close(drawn)
    measured = draw(THREADS, measure(THREADS, MeteredSorter(), 3, quiet))
    assert (measured.axes[0].get_title(), list(measured.axes[0].texts)) == ("", [])
    plt.close(measured)


def test_every_line_is_in_the_legend_in_a_colour_of_the_palette_and_no_labels_overlap() -> None:
    wide = replace(THREADS, values=tuple(f"{n << 20}B" for n in range(1000, 1024)))
    rows = [Row(v, [Timing(10.0 + i, 12.0, 6.0, 4.0, 200.0)]) for i, v in enumerate(wide.values)]
    with styled():
        figure = draw(wide, rows)
    figure.draw_without_rendering()
    words = [t.get_text() for t in figure.legends[0].get_texts()]
    assert words == ["time", "run formation", "merge", "CPU seconds", "energy (joules, right)"]
    colors = {line.get_color() for axis in figure.axes for line in axis.lines}
    assert colors <= set(PALETTE)
    assert len(colors) == 5
    boxes = [t.get_window_extent() for t in figure.axes[0].get_xticklabels()]
    assert all(a.x1 <= b.x0 or a.y1 <= b.y0 for a, b in pairwise(boxes))
    plt.close(figure)
