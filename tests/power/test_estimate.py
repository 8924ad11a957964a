"""The energy of a run over a wider stretch, and of meters whose counter is too coarse: on readings with a known energy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ecosort_power.accuracy.sweep import Cell, simulate
from ecosort_power.evaluate import BOTH, COUNTER, POWER, MeterEnergy, candidates, choose, evaluate
from ecosort_power.quality import Window
from ecosort_power.reading import Capabilities, Reading, Scope
from ecosort_power.sampler import start_spread_s
from ecosort_power.statistics import describe

from .synthetic import AVERAGING, COUNTING, WALL, averages, counts, instants, step, ticks, window

IDLE, BUSY = 10.0, 50.0


def coarse_plug(seconds: float, counter_w: float = 1.0) -> tuple[list[Reading], Capabilities, Window]:
    """Whole watts and a counter of thousandths of a kilowatt-hour; busy at 50.4 W. It counts `counter_w` times as much."""
    power, energy = step(IDLE + 0.3, BUSY + 0.4, 100, 100 + seconds)
    times = ticks(60, 160 + seconds, 1.0, 0.3)
    watts = instants(lambda t: float(round(power(t))), times)
    joules = counts(lambda t: 3600.0 * int((energy(t) * counter_w + 1234) / 3600), times)
    both = [replace(w, joules=j.joules) for w, j in zip(watts, joules, strict=True)]
    plug = replace(WALL, counter=True, quantum_w=1.0, quantum_j=3600.0)
    return both, plug, window(100, 100 + seconds, 30, 50, load_step=0.8)


def flickering(readings: list[Reading]) -> list[Reading]:
    """No real meter of fine steps shows the same value for long."""
    return [replace(r, watts=(r.watts or 0.0) + 1e-5 * (i % 7)) for i, r in enumerate(readings)]


def half(energy: MeterEnergy) -> float:
    assert energy.uncertainty is not None
    return energy.uncertainty.known_j


def test_a_counter_of_large_steps_is_combined_with_the_power_beside_it() -> None:
    readings, plug, w = coarse_plug(600)
    truth = (BUSY + 0.4) * 600
    found = evaluate("m", readings, plug, w, [])
    alone = evaluate("m", readings, replace(plug, counter=False), w, [])
    assert found.source == BOTH
    assert alone.source == POWER
    assert found.joules == pytest.approx(truth, abs=half(found))
    assert half(found) < 0.4 * half(alone)  # the rounding of the watts is gone where the counter was counted
    assert {d.code for d in found.defects} == {"coarse-counter"}


def test_a_counter_that_stands_during_the_run_leaves_the_power() -> None:
    readings, plug, w = coarse_plug(40)
    found = evaluate("m", readings, plug, w, [])
    assert found.source == POWER
    assert found.joules == pytest.approx((BUSY + 0.4) * 40, abs=half(found))
    assert not [d for d in found.defects if d.fatal]  # and is not called stale


def test_a_coarse_counter_that_contradicts_the_power_is_said_though_its_steps_are_large() -> None:
    readings, plug, w = coarse_plug(6000, counter_w=1.5)
    assert "counter-mismatch" in {d.code for d in evaluate("m", readings, plug, w, []).defects}


def test_a_fine_counter_needs_no_power() -> None:
    cell = Cell("counter, steps of 3.6 J", 1.0, True, "constant", 60.0)
    load, series, w = simulate(cell, np.random.default_rng(4))
    best = choose(candidates(series.curves(), series.capabilities, w))
    assert best is not None
    assert best.source == COUNTER
    assert best.estimate.joules == pytest.approx(load.truth_j, rel=0.005)


def test_the_even_clock_of_a_counter_makes_its_joules_more_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new value every five seconds, read every second: each move says when the counter looked, to a part of a second."""
    halves: dict[bool, list[float]] = {True: [], False: []}
    for even in (True, False):
        rng = np.random.default_rng(7)
        if not even:
            monkeypatch.setattr("ecosort_power.updates.narrowed", lambda *_: None)
        for _ in range(20):
            load, series, w = simulate(Cell("counter, steps of 3.6 J", 5.0, True, "constant", 600.0), rng)
            best = choose(candidates(series.curves(), series.capabilities, w))
            assert best is not None
            assert best.estimate.joules == pytest.approx(load.truth_j, abs=1.6 * best.estimate.half95_j)
            halves[even].append(best.estimate.half95_j)
    assert np.median(halves[True]) < 0.7 * np.median(halves[False])


@pytest.mark.parametrize("width", [2.0, 5.0, 20.0])
def test_moving_averages_give_the_true_total(width: float) -> None:
    """Energy leaks over both ends of the run; the wider stretch holds it all, whatever the idle power after it."""
    _, energy = step(IDLE, BUSY + IDLE, 100, 135)
    later = lambda t: energy(t) + max(t - 135, 0.0)  # noqa: E731 - one watt more after the run
    capabilities = replace(AVERAGING, period_s=0.1, window_s=width)
    w = Window(40, 100, 135, 135 + 3 * width + 1)
    readings = flickering(averages(later, ticks(30, w.last_s, 0.1, 0.03), width))
    found = evaluate("m", readings, capabilities, w, [])
    assert found.joules == pytest.approx((BUSY + IDLE) * 35, rel=1e-3)
    assert found.idle_after_w == pytest.approx(IDLE + 1, rel=1e-3)


def test_a_wandering_idle_power_makes_the_energy_less_certain() -> None:
    power, _ = step(IDLE, BUSY, 100, 160)
    rng = np.random.default_rng(3)
    still, wandering = (
        flickering([replace(r, watts=(r.watts or 0.0) + (0 if 99 < r.mid_s < 161 else amount * rng.normal())) for r in readings])
        for amount, readings in (
            (0.01, instants(power, ticks(60, 200, 1.0, 0.5))),
            (2.0, instants(power, ticks(60, 200, 1.0, 0.5))),
        )
    )
    a, b = (evaluate("m", r, AVERAGING, window(100, 160), []).uncertainty for r in (still, wandering))
    assert a is not None
    assert b is not None
    assert b.idle_j > 20 * a.idle_j


def test_the_run_need_not_begin_and_end_at_a_reading() -> None:
    """On average over the positions of a slow averaging meter's clock, nothing is lost at the ends."""
    errors = []
    for phase in np.arange(0, 5, 0.25):
        _, energy = step(IDLE, BUSY, 100, 160)
        slow = replace(AVERAGING, period_s=5.0, window_s=5.0)
        readings = averages(energy, ticks(40, 230, 5.0, float(phase)), 5.0)
        joules = evaluate("m", readings, slow, window(100, 160, 50, 50), []).joules
        assert joules is not None
        errors.append(joules / (BUSY * 60) - 1)
    assert max(map(abs, errors)) < 1e-9


def test_a_meter_whose_readings_end_with_the_run_is_refused() -> None:
    power, _ = step(IDLE, BUSY, 100, 160)
    readings = [r for r in instants(power, ticks(60, 200, 1.0)) if r.mid_s < 159]
    found = evaluate("m", readings, WALL, window(100, 160), [])
    assert found.joules is None
    assert "coverage" in {d.code for d in found.defects}


@pytest.mark.parametrize(("after", "told"), [(1.0, False), (8.0, True)])
def test_a_machine_that_is_not_idle_after_the_run_is_told(after: float, told: bool) -> None:
    power, _ = step(IDLE, BUSY, 100, 160)
    readings = flickering(instants(lambda t: power(t) + (after if t > 160 else 0), ticks(60, 200, 1.0, 0.5)))
    found = evaluate("m", readings, WALL, window(100, 160), [])
    assert ("not-idle" in {d.code for d in found.defects}) == told


def test_a_load_that_repeats_with_the_clock_of_the_meter_is_warned_of() -> None:
    power, _ = step(IDLE, BUSY, 100, 160)
    held = lambda t: power(float(int(t))) + (int(t) % 7) / 1000  # noqa: E731
    own = replace(WALL, period_s=0.25, update_s=1.0, spread_s=0.0)
    found = evaluate("m", instants(held, ticks(60, 200, 0.25, 0.1)), own, window(100, 160), [])
    assert "own-clock" in {d.code for d in found.defects}
    counted = evaluate("m", counts(step(IDLE, BUSY, 100, 160)[1], ticks(60, 200, 0.25, 0.1)), COUNTING, window(100, 160), [])
    assert "own-clock" not in {d.code for d in counted.defects}


@pytest.mark.parametrize(
    ("update_s", "spread_s", "own"), [(None, 0.0, True), (1.0, 0.0, True), (0.01, 1.0, False), (5.0, 1.0, True)]
)
def test_what_sends_its_values_keeps_its_own_clock(update_s: float | None, spread_s: float, own: bool) -> None:
    """A program, a log, a plug that is declared to be new every second: none of them is read at random moments."""
    power, _ = step(IDLE, BUSY, 100, 260)
    readings = flickering(instants(power, ticks(60, 300, 1.0, 0.3)))
    meter = replace(WALL, update_s=update_s, spread_s=spread_s)
    found = evaluate("m", readings, meter, window(100, 260, 40, 40), [])
    assert ("own-clock" in {d.code for d in found.defects}) == own
    assert (start_spread_s(meter) > 0) == (spread_s == 0.0)


def aliased(phase: float, seconds: float = 60.0) -> float:
    """The energy of a load that repeats with the clock of the meter, for a run that begins at this moment of its period."""
    begin = 100 + phase
    busy = lambda t: BUSY if (t - begin) % 1.0 < 0.5 else IDLE  # noqa: E731
    power = lambda t: busy(t) if begin <= t < begin + seconds else IDLE  # noqa: E731
    own = replace(WALL, period_s=0.25, update_s=1.0, quantum_w=0.001, spread_s=0.0)
    held = lambda t: power(float(int(t))) + (int(t) % 7) / 1000  # noqa: E731
    w = window(begin, begin + seconds)
    found = evaluate("m", instants(held, ticks(60, 240, 0.25, 0.1)), own, w, [])
    assert found.joules is not None
    assert start_spread_s(own) == 1.0
    return found.joules


def test_runs_that_begin_at_random_moments_of_the_meters_clock_are_right_on_average_and_show_what_one_cannot() -> None:
    rng, truth = np.random.default_rng(5), 60 * (BUSY + IDLE) / 2
    energies = np.array([aliased(p) for p in rng.random(200)])
    assert energies.mean() == pytest.approx(truth, rel=0.06)
    assert np.abs(energies - truth).min() > 0.2 * truth  # each of them alone is wrong
    samples = [describe(rng.choice(energies, 5).tolist()) for _ in range(400)]
    held = [abs(s.mean - truth) <= (s.ci95 or 0.0) for s in samples]
    assert np.mean(held) > 0.9
    assert all(abs(aliased(0.1) / aliased(0.1 + d) - 1) < 0.05 for d in (0.1, 0.2))  # at one moment they agree, and are wrong


@pytest.mark.parametrize(("lag", "refused"), [(0.0, False), (0.9, False), (6.0, True), (12.0, True)])
def test_a_lag_that_is_not_known_is_refused_where_it_is_longer_than_what_is_allowed_for(lag: float, refused: bool) -> None:
    power, _ = step(IDLE, BUSY, 100, 160)
    readings = flickering(instants(lambda t: power(t - lag), ticks(60, 200, 1.0, 0.5)))
    unknown = evaluate("m", readings, replace(WALL, lag_s=None), window(100, 160), [])
    late = [d.text for d in unknown.defects if d.code == "late"]
    assert bool(late) is refused
    assert (unknown.joules is None) is refused
    if refused:
        assert "1 s after its end" in late[0]
        assert "run --probe 60" in late[0]
    assert evaluate("m", readings, replace(WALL, lag_s=lag), window(100, 160), []).joules is not None


@pytest.mark.parametrize(
    ("true_s", "said_s", "word"), [(2.0, 0.0, "longer"), (12.0, 3.0, "longer"), (0.0, 3.0, "shorter"), (1.0, 9.0, "shorter")]
)
@pytest.mark.parametrize("period_s", [0.1, 0.5])
def test_a_lag_that_is_wrong_by_two_seconds_is_refused(true_s: float, said_s: float, word: str, period_s: float) -> None:
    """Ten seconds of such a run are a fifth too few, with an interval of a hundredth."""
    power, _ = step(IDLE, BUSY, 100, 110)
    readings = flickering(instants(lambda t: power(t - true_s), ticks(60, 160, period_s, 0.03)))
    meter = replace(WALL, lag_s=said_s, period_s=period_s, spread_s=period_s)
    found = evaluate("m", readings, meter, window(100, 110, 30, 40, load_step=0.8), [])
    assert found.joules is None
    (late,) = [d for d in found.defects if d.code == "late"]
    assert late.fatal
    assert f"by a lag of {said_s:g} s: its lag is {word} (run --probe 60 measures it)" in late.text
    right = evaluate("m", readings, replace(meter, lag_s=true_s), window(100, 110, 30, 40, load_step=0.8), [])
    assert right.joules == pytest.approx(10 * BUSY, rel=0.02)


@pytest.mark.parametrize("true_s", [15.0, 600.0])
def test_a_meter_that_does_not_follow_the_load_is_told(true_s: float) -> None:
    """Later by more than the length of the run, or another machine's: without a word its joules are those of idling."""
    power, _ = step(IDLE, BUSY, 100, 110)
    readings = flickering(instants(lambda t: power(t - true_s), ticks(60, 160, 0.5, 0.1)))
    w = replace(window(100, 110, 30, 14), load_step=0.8)
    found = evaluate("m", readings, replace(WALL, period_s=0.5), w, [])
    assert {"not-following", "late"} & {d.code for d in found.defects}
    lazy = evaluate("m", readings, replace(WALL, period_s=0.5), replace(w, load_step=0.1), [])
    assert "not-following" not in {d.code for d in lazy.defects}
    part = evaluate("m", readings, replace(WALL, period_s=0.5, scope=Scope.COMPONENT), w, [])
    assert "not-following" not in {d.code for d in part.defects}


def test_a_run_of_a_minute_whose_last_readings_are_missing_is_not_called_short() -> None:
    """Such a defect would end the measurement: the next run may well have them."""
    power, _ = step(IDLE, BUSY, 100, 160)
    for end, codes in ((159.5, {"coverage"}), (200, set())):
        readings = flickering(instants(power, ticks(60, end, 0.5, 0.1)))
        found = evaluate("m", readings, replace(WALL, period_s=0.5), window(100, 160), [])
        assert {d.code for d in found.defects if d.fatal} == codes
    readings = flickering(instants(power, ticks(60, 104, 0.5, 0.1)))  # ... but not where it is short as well
    found = evaluate("m", readings, replace(WALL, period_s=0.5), window(100, 104.2), [])
    assert {"coverage", "too-short"} <= {d.code for d in found.defects if d.fatal}


@pytest.mark.parametrize("lag_s", [0.0, None])
def test_a_log_whose_clock_is_three_seconds_slow_is_refused(lag_s: float | None) -> None:
    power, _ = step(IDLE, BUSY, 100, 160)
    readings = flickering(instants(lambda t: power(t + 3), ticks(60, 200, 0.5, 0.1)))
    for spread_s, text in ((0.0, "its clock is wrong"), (0.5, "something else kept the machine busy")):
        told = replace(WALL, period_s=0.5, lag_s=lag_s, spread_s=spread_s)  # a log; read by ourselves, by our clock
        found = evaluate("m", readings, told, window(100, 160), [])
        assert found.joules is None
        assert text in next(d.text for d in found.defects if d.code == "late")


@pytest.mark.parametrize("share", [0.6, 0.9])
def test_drives_that_go_on_working_after_a_run_are_no_wrong_lag(share: float) -> None:
    """The drive's work after the output is on it is not of the run, and is no reason to refuse it."""
    power, _ = step(IDLE, BUSY, 100, 160)
    after = lambda t: share * (BUSY - IDLE) if 160 <= t < 190 else 0.0  # noqa: E731
    readings = flickering(instants(lambda t: power(t) + after(t), ticks(60, 200, 0.5, 0.1)))
    found = evaluate("m", readings, replace(WALL, period_s=0.5), window(100, 160), [])
    assert found.joules == pytest.approx(60 * BUSY, rel=0.02)
    assert "late" not in {d.code for d in found.defects}
    assert "not-idle" in {d.code for d in found.defects}


def test_a_lag_that_is_wrong_by_less_than_a_period_does_no_harm() -> None:
    power, _ = step(IDLE, BUSY, 100, 160)
    for true_s in (0.0, 0.5, 0.9):
        readings = flickering(instants(lambda t, lag=true_s: power(t - lag), ticks(60, 200, 1.0, 0.5)))
        found = evaluate("m", readings, WALL, window(100, 160), [])
        assert found.joules == pytest.approx(60 * BUSY, abs=BUSY * 0.5)
        assert "late" not in {d.code for d in found.defects}


@pytest.mark.parametrize("lag_s", [-0.6, 0.6])
def test_the_values_beside_a_run_which_may_hold_a_part_of_it_are_counted(lag_s: float) -> None:
    """Averages that are a little early or late."""
    _, energy = step(IDLE, BUSY, 100, 160)
    for phase in (0.5, 0.9):
        readings = averages(energy, ticks(60, 200, 1.0, phase), 1.0, lag_s)
        assert evaluate("m", readings, AVERAGING, window(100, 160), []).joules == pytest.approx(60 * BUSY, rel=1e-6)


def test_a_machine_that_does_next_to_nothing_is_not_called_late() -> None:
    readings = flickering(instants(lambda t: IDLE, ticks(60, 200, 1.0, 0.5)))
    assert "late" not in {d.code for d in evaluate("m", readings, replace(WALL, lag_s=None), window(100, 160), []).defects}


def test_the_resolution_of_a_meter_that_does_not_say_it_is_read_off_its_values() -> None:
    power, _ = step(IDLE, BUSY, 100, 160)
    whole, fine = (
        evaluate("m", instants(lambda t, e=extra: power(t) + e, ticks(60, 200, 1.0, 0.5)), WALL, window(100, 160), [])
        for extra in (0.0, 0.1234567891)
    )
    assert whole.uncertainty is not None
    assert fine.uncertainty is not None
    assert whole.uncertainty.quantum_j == pytest.approx(0.5 * 60 / 3**0.5)
    assert fine.uncertainty.quantum_j == 0.0


def test_the_readme_tells_how_right_the_joules_are() -> None:
    assert "How right the joules are" in (Path(__file__).resolve().parents[2] / "power/README.md").read_text(encoding="utf-8")
