"""Readings that cannot be true, and meters of which too little is known, are refused; before the runs where that is possible."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from ecosort_power.errors import MeterError
from ecosort_power.evaluate import evaluate
from ecosort_power.monitor import LoadPoint, drive_step
from ecosort_power.plausible import LEAST_W, MOST_W, implausible, jumps
from ecosort_power.preflight import preflight
from ecosort_power.quality import Window, defects_of
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope

from .support import CHECK, POWER, QUICK, Cli, HurriedClock, fake_sort
from .synthetic import COUNTING, WALL, counts, instants, ticks, window

BUSY = {"load_step": 0.8}


def codes(readings: list[Reading], w: Window, capabilities: Capabilities = WALL) -> set[str]:
    return {d.code for d in defects_of(readings, capabilities, w, "m") if d.fatal}


def constant(watts: float) -> list[Reading]:
    return instants(lambda t: watts, ticks(80, 180, 1.0))


def test_kilowatts_that_were_read_as_watts_are_refused() -> None:
    readings = instants(lambda t: 0.04 + t / 1e5, ticks(80, 180, 1.0))
    assert codes(readings, window(100, 160)) == {"implausible"}
    assert codes(readings, window(100, 160), replace(WALL, scope=Scope.COMPONENT)) == set()


def test_a_counter_in_another_unit_is_refused() -> None:
    readings = counts(lambda t: 40 * t / 1000, ticks(80, 180, 1.0))
    assert "implausible" in codes(readings, window(100, 160), COUNTING)
    assert codes(counts(lambda t: 40 * t, ticks(80, 180, 1.0)), window(100, 160), COUNTING) == set()


@pytest.mark.parametrize(
    ("watts", "capabilities", "refused"),
    [
        (5e7, WALL, True),  # a column of times that was called watts
        (41_000.0, WALL, True),  # milliwatts
        (MOST_W + 1, replace(WALL, scope=Scope.UNKNOWN), True),
        (MOST_W + 1, replace(WALL, scope=Scope.COMPONENT), True),
        (MOST_W, WALL, False),
        (41_000.0, replace(WALL, range_w=50_000.0), False),
        (3000.0, WALL, False),
    ],
)
def test_no_power_above_the_ceiling_is_believed(watts: float, capabilities: Capabilities, refused: bool) -> None:
    readings = instants(lambda t: watts - (t % 7) / 100, ticks(80, 180, 1.0))
    found = [d for d in defects_of(readings, capabilities, window(100, 160), "m") if d.fatal]
    assert ([d.code for d in found] == ["implausible"]) is refused, found
    if refused:
        assert "#unit=, #watts=" in found[0].text
        assert "10000 W" in found[0].text
        assert "#range=WATTS" in found[0].text


def test_above_its_own_range_a_meter_is_not_believed_either() -> None:
    """The flag of the sampler is not all: a stored reading is looked at again."""
    readings = instants(lambda t: 600.0 + t / 100, ticks(80, 180, 1.0))
    (found,) = [d for d in defects_of(readings, replace(WALL, range_w=500.0), window(100, 160), "m") if d.fatal]
    assert "500 W where its range ends" in found.text


def test_a_counter_that_runs_too_fast_is_refused() -> None:
    readings = counts(lambda t: 40_000 * t, ticks(80, 180, 1.0))
    assert "implausible" in codes(readings, window(100, 160), COUNTING)
    assert "implausible" not in codes(readings, window(100, 160), replace(COUNTING, range_w=50_000.0))
    coarse = counts(lambda t: 3.6e6 * (t // 75), ticks(80, 180, 1.0))  # one step of a kilowatt-hour is no power
    assert "implausible" not in codes(coarse, window(100, 160), COUNTING)


@pytest.mark.parametrize("moment", [95, 130, 165])
def test_a_counter_that_begins_anew_near_its_end_is_no_wrap_around(moment: int) -> None:
    """A counter of 4.3 MJ that was at 4 MJ when its meter was restarted: as a wrap-around that is 0.3 MJ in a second. Beside the
    run, too, because what is there is taken away.
    """
    counter, steady = replace(COUNTING, wrap_j=2.0**32 / 1000), counts(lambda t: 4e6 + 40 * t, ticks(80, 180, 1.0))
    restarted = [r if r.mid_s < moment else replace(r, joules=40 * (r.mid_s - moment)) for r in steady]
    assert "counter-jump" in codes(restarted, window(100, 160), counter)
    assert evaluate("m", restarted, counter, window(100, 160), []).joules is None
    wrapped = counts(lambda t: 40 * t, ticks(80, 180, 1.0), counter.wrap_j, 2.0**32 / 1000 - 5000)
    assert codes(wrapped, window(100, 160), counter) == set()
    assert evaluate("m", wrapped, counter, window(100, 160), []).joules == pytest.approx(40 * 60, rel=0.01)


def test_a_counter_without_a_wrap_around_that_begins_anew_is_refused() -> None:
    restarted = [
        r if r.mid_s < 130 else replace(r, joules=40 * (r.mid_s - 130))
        for r in counts(lambda t: 4e6 + 40 * t, ticks(80, 180, 1.0))
    ]
    found = evaluate("m", restarted, COUNTING, window(100, 160), [])
    assert found.joules is None
    assert "counter-reset" in {d.code for d in found.defects if d.fatal}


@pytest.mark.parametrize(("quantum_j", "period_s"), [(3.6e6, 1.0), (None, 1.0), (360.0, 0.1)])
def test_the_large_steps_of_a_counter_are_no_jumps(quantum_j: float | None, period_s: float) -> None:
    step_j = quantum_j or 36_000.0
    coarse = counts(lambda t: step_j * (40 * t // step_j), ticks(0, 300_000, 300.0 if step_j > 1e4 else 10.0))
    assert jumps(coarse, replace(COUNTING, quantum_j=quantum_j, period_s=period_s)) is None


def test_the_ceiling_stands_in_the_readme() -> None:
    text = (POWER / "README.md").read_text()
    assert f"above {MOST_W / 1000:g} kW" in text
    assert "`#range=`" in text


@pytest.mark.parametrize(("interval", "refused"), [(1.0, False), (1.01, False), (2.0, True), (1000.0, True)])
def test_intervals_that_add_up_to_more_than_the_time_are_refused(interval: float, refused: bool) -> None:
    readings = [replace(r, interval_s=interval) for r in instants(lambda t: 40 + t / 1e3, ticks(80, 180, 1.0))]
    found = codes(readings, window(100, 160), replace(WALL, power=PowerKind.AVERAGE))
    assert ("intervals" in found) is refused


@pytest.mark.parametrize(
    ("given", "quantum", "refused"),
    [(False, None, True), (True, None, False), (True, 4.0, False), (True, 0.01, False), (False, 4.0, True)],
)
def test_one_value_is_believed_where_the_user_says_how_often_it_is_new(given: bool, quantum: float | None, refused: bool) -> None:
    told = replace(WALL, update_s=1.0, update_given=given, quantum_w=quantum)
    assert ("stale" in codes(constant(42.0), window(100, 160, **BUSY), told)) is refused


def test_one_value_while_the_drives_work_is_stale_too() -> None:
    still = replace(window(100, 160, load_step=0.01), drive_step_bytes_s=1e6)
    assert codes(constant(42.0), still) == set()
    assert codes(constant(42.0), replace(still, drive_step_bytes_s=200e6)) == {"stale"}


def test_what_the_drives_moved_is_measured_against_before_and_after() -> None:
    points = [LoadPoint(float(t), 0.0, int(max(0, min(t, 20) - 10) * 1e9 / 512)) for t in range(31)]
    assert drive_step(points, 0.0, 10.0, 20.0) == pytest.approx(1e9, rel=0.02)


class FakeSampler:
    """A meter that answers at once, at the times that it is asked."""

    def __init__(self, capabilities: Capabilities, watts: list[float], answer_s: float = 0.0, follows: bool = False) -> None:
        self.name, self.capabilities, self.death = "wall", capabilities, None
        self.spec_text = "exec:./my meter --fast"
        self._watts, self._answer_s, self._follows = watts, answer_s, follows
        self.clock = HurriedClock()
        self._begin = self.clock.now()

    def begin_segment(self, path: None) -> None:
        self._begin = self.clock.now()

    def since(self, count: int) -> list[Reading]:
        times = [self._begin + 0.02 * i for i in range(int((self.clock.now() - self._begin) / 0.02))]
        return [Reading(t, t + self._answer_s, watts=self._at(i, t)) for i, t in enumerate(times)]

    def _at(self, i: int, t: float) -> float:
        return self._watts[i % len(self._watts)] + (8.0 if self._follows and t - self._begin > 0.3 else 0.0)

    def end_segment(self) -> list[Reading]:
        return []


def look_at(meter: FakeSampler) -> None:
    preflight([meter], dict(os.environ), meter.clock)


UNKNOWN = Capabilities("m", Scope.WALL, 0.02)


def test_a_meter_that_shows_one_value_is_refused_before_the_runs_and_told_what_to_say() -> None:
    with pytest.raises(MeterError, match=r"42 W in all of .*#update=SECONDS.*ecosort-power probe 'exec:./my meter --fast'$"):
        look_at(FakeSampler(UNKNOWN, [42.0]))


def test_a_coarse_meter_that_moves_with_the_load_is_taken() -> None:
    look_at(FakeSampler(UNKNOWN, [42.0], follows=True))
    look_at(FakeSampler(replace(UNKNOWN, update_s=60.0), [42.0]))  # too slow to show it now


def test_a_meter_that_stands_is_taken_where_its_user_says_how_often_it_is_new() -> None:
    stands = replace(UNKNOWN, update_s=0.5, quantum_w=0.1)
    look_at(FakeSampler(replace(stands, update_given=True), [42.0]))
    with pytest.raises(MeterError, match=r"42 W in all of .* busy; if it can do no better, say .*#update=SECONDS"):
        look_at(FakeSampler(stands, [42.0]))


def test_fine_steps_that_do_not_show_the_load_are_a_doubt_and_no_more() -> None:
    told = replace(WALL, update_s=1.0, update_given=True, quantum_w=0.01)
    (found,) = [d for d in defects_of(constant(42.0), told, window(100, 160, **BUSY), "m") if d.code == "constant"]
    assert (found.fatal, "steps are of 0.01 W: believed because of #update=" in found.text) == (False, True)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (FakeSampler(UNKNOWN, [0.041, 0.043]), r"right unit.*\(read: 0.041 W\)"),
        (FakeSampler(UNKNOWN, [5e7, 5.1e7]), r"above 10000 W.*#range=WATTS \(read: 5.1e\+07 W\)"),
        (FakeSampler(replace(UNKNOWN, period_s=1.0), [41.0, 43.0], answer_s=2.3), "say #period=5 "),
    ],
)
def test_what_the_first_readings_show_is_said_before_the_runs(source: FakeSampler, text: str) -> None:
    with pytest.raises(MeterError, match=text):
        look_at(source)


def test_a_run_with_such_a_meter_ends_before_the_sort_begins(cli: Cli, tmp_path: Path) -> None:
    program = tmp_path / "constant.py"
    program.write_text("import time\nwhile True:\n    print('{\"watts\": 42.0}', flush=True)\n    time.sleep(0.05)\n")
    words = ("run", *QUICK, "--runs", "1", "--out", "r", "--meter", f"exec:python3 {program}#scope=wall,period=0.05")
    done = cli(*words, "--no-validate", "--", *fake_sort())
    assert (done.returncode, "#update=SECONDS" in done.stderr) == (3, True), done.stderr
    assert not (tmp_path / "out").exists()
    assert done.stderr.count("\n") <= 2, done.stderr
    done = cli(
        *[w.replace("period=0.05", "period=0.1,update=0.05,quantum=1,accuracy=1%") for w in words], *CHECK, "--", *fake_sort()
    )
    assert "42.00 W" in done.stdout, done.stdout + done.stderr


def test_a_coarse_counter_beside_power_that_moves_is_not_unclear() -> None:
    """A Tasmota plug: one step of its counter is 3,600 J."""
    readings = [Reading(float(t), float(t), watts=20.0 + t % 3, joules=7200.0) for t in range(80, 180)]
    found = defects_of(readings, replace(WALL, counter=True, quantum_j=3600.0), window(100, 160, **BUSY), "m")
    assert not any("repeats one value" in d.text for d in found)


def test_what_a_probe_found_is_not_the_word_of_the_user(tmp_path: Path) -> None:
    from ecosort_power.equipment import Equipment
    from ecosort_power.meters.base import parse_spec

    equipment = Equipment([parse_spec("a=sim:#update=1"), parse_spec("b=sim:#update=1")])
    try:
        equipment.not_the_users_word(["b"])
        assert [r.capabilities.update_given for r in equipment.records] == [True, False]
    finally:
        equipment.close()


FIGURE = re.compile(r"\d(\.\d+)? ?(W|J|kW|kJ|watts|joules)\b")
WRONG = {
    "too low": (instants(lambda t: 0.04 + t / 1e5, ticks(80, 180, 1.0)), WALL),
    "too high": (instants(lambda t: 5e7 + t, ticks(80, 180, 1.0)), WALL),
    "one value": (constant(42.0), replace(WALL, update_s=1.0)),
    "counter too slow": (counts(lambda t: 0.04 * t, ticks(80, 180, 1.0)), COUNTING),
    "counter too fast": (counts(lambda t: 4e4 * t, ticks(80, 180, 1.0)), COUNTING),
    "not idle, and too short": (instants(lambda t: 40.0 if t < 101 else 9.0, ticks(80, 140, 1.0)), WALL),
    "stuck": ([Reading(t, t, watts=9.0 + t % 3 / 10 if t < 130 else 42.0) for t in ticks(80, 180, 1.0)], WALL),
}


@pytest.mark.parametrize("name", WRONG)
def test_no_reason_and_no_note_of_an_invalid_run_has_a_figure(name: str) -> None:
    """But for the limits themselves."""
    readings, capabilities = WRONG[name]
    w = window(100, 103, **BUSY) if "short" in name else window(100, 160, **BUSY)
    found = evaluate("m", readings, capabilities, w, [])
    assert found.joules is None
    assert any(d.fatal for d in found.defects)
    for d in found.defects:
        text = d.text.replace(f"{LEAST_W:g} W", "").replace(f"{MOST_W:g} W", "")
        assert not FIGURE.search(text), d.text
    for problem in implausible(readings, capabilities):
        assert FIGURE.search(problem.seen)
