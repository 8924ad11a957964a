"""The search finds a known optimum, survives a kill, and crowns no noise."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILD
from ecosort_tuning.errors import RunError
from ecosort_tuning.machine import this_machine
from ecosort_tuning.profile import read_profile
from ecosort_tuning.search.knobs import DEFAULT as DEFAULT_VALUE
from ecosort_tuning.search.knobs import Knob, all_settings, given, size_of, sorter_knobs, text_of
from ecosort_tuning.search.launch import decide
from ecosort_tuning.search.report import write_report
from ecosort_tuning.search.sorter import Outcome, Place, RealSorter, smaller_runs
from ecosort_tuning.search.study import Search, SearchOptions
from ecosort_tuning.search.trial import ENERGY, PARETO, TIME, Patience, confirm, run_trial
from matplotlib import pyplot as plt
from sort_support import slowed

from .conftest import Tune, tune_env
from .simulated import BEST, DEFAULT, KNOBS, SimulatedSorter, true_seconds

BUDGET_S = 450.0  # of the simulated clock


def search(directory: Path, sorter: SimulatedSorter, budget_s: float = BUDGET_S, goal: str = TIME) -> Search:
    found = Search(directory, KNOBS, SearchOptions(goal, budget_s), sorter.clock)
    found.run(sorter, lambda _: None)
    return found


def never() -> bool:
    return False


@pytest.mark.parametrize("seed", [1, 2])
def test_a_known_optimum_is_found_within_the_budget(tmp_path: Path, seed: int) -> None:
    """Some seventy of 1152 combinations fit the budget; the default takes 2.4 times the optimum."""
    sorter = SimulatedSorter(seed=seed)
    found = search(tmp_path, sorter)
    assert sorter.now_s < BUDGET_S * 1.1
    best = found.best()
    assert best is not None
    assert true_seconds(best.settings) <= 1.25, best.settings
    assert true_seconds(best.settings) < true_seconds(DEFAULT) / 1.8
    _, judgement = confirm(sorter, best.settings, TIME, 8)
    assert judgement.seen
    assert judgement.interval.median < 0.6


def test_clearly_worse_settings_are_given_up_early(tmp_path: Path) -> None:
    sorter = SimulatedSorter()
    bad = {**BEST, "--threads": "1", "--io": "stxxl", "--block": "64K"}
    pairs, given_up = run_trial(sorter, bad, TIME, 0.5, Patience(), never)
    assert (given_up, len(pairs)) == (True, 1)
    pairs, given_up = run_trial(SimulatedSorter(noise=0.001), BEST, TIME, 1.0, Patience(), never)
    assert (given_up, len(pairs)) == (False, 2), "without noise two pairs are enough"
    pairs, _ = run_trial(SimulatedSorter(noise=0.2), BEST, TIME, 1.0, Patience(), never)
    assert len(pairs) == Patience().most_pairs, "with much noise it is repeated"


def test_drift_of_the_drive_does_not_change_the_ratios() -> None:
    pairs, _ = run_trial(SimulatedSorter(noise=0.0), BEST, TIME, 1.0, Patience(most_pairs=6, precision=0.0), never)
    truth = true_seconds(BEST) / true_seconds(DEFAULT)
    assert all(p.ratio(TIME) == pytest.approx(truth, rel=0.06) for p in pairs)


@pytest.mark.parametrize("seed", range(3))
def test_noise_alone_is_not_crowned(tmp_path: Path, seed: int) -> None:
    """Among many settings that are all alike one looks best; fresh runs against the default do not confirm it."""
    sorter = SimulatedSorter(noise=0.08, flat=True, seed=seed)
    best = search(tmp_path, sorter, 200.0).best()
    assert best is not None
    assert best.scores[0] < 1.0, "luck makes one look better"
    _, judgement = confirm(sorter, best.settings, TIME, 10)
    assert not (judgement.seen and judgement.interval.median < 1)


def test_where_all_settings_are_far_worse_the_defaults_stay(tmp_path: Path) -> None:
    """Every trial is given up: that is a result, not a budget that was too small."""

    class DefaultsAreBest:
        def measure(self, settings: Mapping[str, str]) -> Outcome:
            return Outcome(2.0 if settings else 1.0, 1.0)

    sorter = DefaultsAreBest()
    found = Search(tmp_path, [Knob("--threads", ("1", "2"), True)], SearchOptions(TIME, 1e6))
    found.run(sorter, lambda _: None)
    assert [t.given_up for t in found.tried] == [True, True]
    verdict, pairs = decide(found, sorter, TIME, 10)
    assert verdict is not None
    assert (verdict.kept, len(pairs)) == (False, 2), "two lost pairs of ten decide"
    assert verdict.sentence.startswith("Use the defaults because the best found (--threads ")


class Paired:
    """Candidates take as many seconds as told, the defaults one."""

    def __init__(self, *seconds: float) -> None:
        self.left = list(seconds)

    def measure(self, settings: Mapping[str, str]) -> Outcome:
        return Outcome(self.left.pop(0) if settings else 1.0, 1.0)


@pytest.mark.parametrize(
    ("seconds", "pairs", "wins"),
    [
        ([0.8, 0.9, 0.7, 0.8, 0.9, 0.8], 6, True),  # clear after six
        ([0.8, 0.9, 0.7, 0.8, 1.1, 0.8, 0.9, 0.8, 0.9, 0.8], 10, True),
        ([1.2, 0.9, 1.1], 3, False),  # eight wins of ten would not be enough
        ([0.9, 0.9, 0.9, 0.9, 0.9, 1.3, 0.9, 0.9, 0.9, 1.3], 10, False),
    ],
)
def test_a_confirmation_ends_when_it_is_clear(seconds: list[float], pairs: int, wins: bool) -> None:
    found, judgement = confirm(Paired(*seconds), {"--threads": "1"}, TIME, 10)
    assert len(found) == pairs
    assert (judgement.seen and judgement.interval.median < 1) == wins


def test_a_killed_search_goes_on_where_it_was(tmp_path: Path) -> None:
    sorter = SimulatedSorter(stop_after=41)
    with pytest.raises(KeyboardInterrupt):
        search(tmp_path, sorter)
    before = Search(tmp_path, KNOBS, SearchOptions(TIME, BUDGET_S), sorter.clock)
    tried = before.tried
    assert 5 < len(tried) < 21
    spent = before.spent_s
    assert 0 < spent <= sorter.now_s
    sorter.stop_after = None
    done = search(tmp_path, sorter)
    assert [t.settings for t in done.tried[: len(tried)]] == [t.settings for t in tried]
    assert done.tried[0].pairs == tried[0].pairs
    assert len(done.tried) > len(tried)
    assert spent < done.spent_s < BUDGET_S * 1.1, "the budget is one for both parts"
    best = done.best()
    assert best is not None
    assert true_seconds(best.settings) <= 1.3


def test_no_settings_are_measured_twice_and_a_small_space_is_tried_out(tmp_path: Path) -> None:
    knobs = [Knob("--threads", ("1", "2"), True), Knob("--io", ("uring", "pool"), False)]
    sorter, said = SimulatedSorter(), list[str]()
    found = Search(tmp_path, knobs, SearchOptions(TIME, 1e6), sorter.clock)
    found.run(sorter, said.append)
    tried = [tuple(sorted(t.settings.items())) for t in found.tried]
    assert sorted(tried) == sorted(tuple(sorted(s.items())) for s in all_settings(knobs))
    assert said[-1] == "every combination was tried"


def test_the_least_energy_is_not_the_least_time(tmp_path: Path) -> None:
    """More threads cost energy without saving time: the optimum of the energy has fewer."""
    found = search(tmp_path, SimulatedSorter(noise=0.01), BUDGET_S, ENERGY)
    best = found.best()
    assert best is not None
    assert int(best.settings["--threads"]) <= 5
    assert true_seconds(best.settings) < true_seconds(DEFAULT) / 1.5


def test_the_front_of_two_goals_holds_no_beaten_settings(tmp_path: Path) -> None:
    found = search(tmp_path, SimulatedSorter(noise=0.01), 200.0, PARETO)
    front = found.front()
    assert front
    for a in front:
        assert not any(b.scores[0] < a.scores[0] and b.scores[1] < a.scores[1] for b in found.tried)
    assert [t.scores[0] for t in front] == sorted(t.scores[0] for t in front)


def test_the_knobs_of_the_sorter_are_those_it_has() -> None:
    knobs = sorter_knobs(4, ["uring", "pool"])
    numbers = ("1", "2", "3", "4")
    assert [(k.option, k.values) for k in knobs[:2]] == [("--threads", numbers), ("--merge-threads", numbers)]
    assert [k.option for k in knobs[2:]] == ["--io", "--request-size", "--request-depth"]
    assert size_of(knobs) == 4 * 4 * 2 * 7 * 6
    with_runs = sorter_knobs(1, ["pool"], [4000, 1000])[-1]
    assert (with_runs.option, with_runs.values, with_runs.ordered) == ("--run-records", ("1000", "4000", DEFAULT_VALUE), True)
    assert [k.option for k in sorter_knobs(1, ["pool"])] == ["--request-size", "--request-depth"]
    where_runs_are_stored = [k for k in sorter_knobs(1, ["pool"], [1000]) if k.option == "--compress"]
    assert [k.values for k in where_runs_are_stored] == [("auto", DEFAULT_VALUE)]
    assert text_of({"--io": "pool", "--request-size": DEFAULT_VALUE}) == "--io pool"
    assert text_of({"--request-size": DEFAULT_VALUE}) == "defaults"


def test_every_value_of_every_knob_is_one_that_the_sorter_takes(run: Callable[..., Any], tmp_path: Path, ecosort: Path) -> None:
    subprocess.run([ecosort, "gen", "10", tmp_path / "in"], check=True)
    runs = smaller_runs(ecosort, tmp_path, 100_000_000, 512 << 20)
    assert len(runs) == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in"]
    assert smaller_runs(ecosort, tmp_path, 1000, 512 << 20) == [], "all of it fits the memory"
    for knob in sorter_knobs(2, ["uring", "pool"], runs):
        for value in knob.values:
            words = [word for pair in given({knob.option: value}).items() for word in pair]
            done = run("plan", "sort", "--memory", "512MiB", *words, "in", "-o", "out", cwd=tmp_path)
            assert done.returncode == 0, done.stderr


def test_settings_that_do_not_work_are_left_out(tmp_path: Path) -> None:
    class Picky(SimulatedSorter):
        def measure(self, settings: Mapping[str, str]) -> Outcome:
            if settings.get("--io") == "stxxl":
                raise RunError("not enough memory")
            return super().measure(settings)

    knobs = [Knob("--threads", ("1", "2"), True), Knob("--io", ("uring", "stxxl"), False)]
    sorter, said = Picky(), list[str]()
    found = Search(tmp_path, knobs, SearchOptions(TIME, 1e6), sorter.clock)
    found.run(sorter, said.append)
    assert {t.settings["--io"] for t in found.tried} == {"uring"}
    assert sum("failed: not enough memory" in text for text in said) == 2
    assert said[-1] == "every combination was tried"


def test_the_report_shows_every_trial_and_its_plots(tmp_path: Path) -> None:
    sorter = SimulatedSorter(noise=0.01)
    found = search(tmp_path, sorter, 200.0, PARETO)
    verdict, _ = decide(found, sorter, PARETO, 8)
    assert verdict is not None
    assert verdict.kept
    assert verdict.sentence.startswith("Use --threads ")
    write_report(tmp_path, PARETO, found, verdict.sentence)
    text = (tmp_path / "report.md").read_text()
    assert verdict.sentence in text
    assert text.count("\n| --threads") == len(found.tried)
    for name in re.findall(r"\]\((\w+\.png)\)", text):
        image = plt.imread(tmp_path / name)
        assert image.shape[0] > 300
        assert image.std() > 0.02, f"{name} is empty"
    assert {p.name for p in tmp_path.glob("*.png")} == {"threads.png", "block.png", "depth.png", "io.png", "front.png"}


def test_a_winner_that_does_not_win_again_is_not_used(tmp_path: Path) -> None:
    sorter = SimulatedSorter(flat=True, noise=0.08)
    verdict, _ = decide(search(tmp_path, sorter, 150.0), sorter, TIME, 10)
    assert verdict is not None
    assert not verdict.kept
    assert verdict.sentence.startswith("Use the defaults because")


def test_energy_without_a_meter_is_refused(tune: Tune, tmp_path: Path) -> None:
    words = ("--size", "4GB", "--memory", "512MiB", "--budget", "20min", "--dir", tmp_path)
    for goal in (ENERGY, PARETO):
        done = tune("search", "--goal", goal, *words, env={"ECOSORT_PROGRAM": "/nonexistent/ecosort"})
        assert (done.returncode, f"--goal {goal} needs --meter" in done.stderr) == (2, True), done.stderr
    done = tune("search", "--goal", "time", env={"ECOSORT_PROGRAM": "/nonexistent/ecosort"})
    assert (done.returncode, "--size, --memory, --budget, --dir: needed" in done.stderr) == (2, True), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_real_search_measures_confirms_and_cleans_up(tune: Tune, tmp_path: Path, ecosort: Path) -> None:
    place = BUILD / f"search-{os.getpid()}"
    place.mkdir()
    env = {"ECOSORT_PROGRAM": str(ecosort)}
    try:
        words = ("--goal", "time", "--size", "10MB", "--memory", "4MiB", "--budget", "3s")
        words = (*words, "--dir", os.path.relpath(place, tmp_path))
        done = tune("search", *words, "--out", "result", "--profile", "p.toml", env=env, timeout=200)
        assert done.returncode in (0, 1), done.stderr
        assert list(place.iterdir()) == []
    finally:
        shutil.rmtree(place)
    assert done.stdout.startswith("Use ")
    assert (tmp_path / "result/report.md").read_text().count("![") >= 1
    profile = read_profile(tmp_path / "p.toml", this_machine())
    assert bool(profile.setting) == (done.returncode == 0)
    verdict = json.loads((tmp_path / "result/verdict.json").read_text())
    assert 2 <= len(verdict["confirmation"]) <= 10
    assert verdict["sentence"] in done.stdout


METER = """
import json, time
about = {"title": "lamp", "scope": "wall", "period_s": 0.1, "update_s": 0.1, "lag_s": 0, "window_s": 0}
print(json.dumps({"meter": about}), flush=True)
watts = 19.9
while True:
    watts = 40 - watts
    print(json.dumps({"watts": watts}), flush=True)
    time.sleep(0.05)
"""


def patiently(sorter: RealSorter) -> Outcome:
    """A machine that stands still for long makes a gap in the readings, which are then refused."""
    for _ in range(2):
        with contextlib.suppress(RunError):
            return sorter.measure({"--threads": "1"})
    return sorter.measure({"--threads": "1"})


@pytest.mark.usefixtures("hardly_waiting")
def test_a_meter_gives_the_joules_of_the_same_run(ecosort: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A meter that flickers around 20 W: time and energy are of one window, and that the output is checked."""
    (tmp_path / "meter.py").write_text(METER)
    monkeypatch.setenv("PYTHONPATH", tune_env()["PYTHONPATH"])
    place = Path(tempfile.mkdtemp(dir=BUILD))
    try:
        meter = f"exec:{sys.executable} {tmp_path / 'meter.py'}"
        sorter = RealSorter(slowed(ecosort, tmp_path, 2.0), Place(place, 100_000, 16 << 20), meter)
        outcome = patiently(sorter)
    finally:
        shutil.rmtree(place)
    assert outcome.joules == pytest.approx(20.0 * outcome.seconds, rel=0.05)
    assert 0 < outcome.cpu_s < 2 * outcome.seconds
