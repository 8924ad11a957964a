"""The rules of a sound measurement that hold for the energy of one run, on readings with a known energy.

Rules 8 to 10 are in test_rules_of_runs.py; test_rules_can_fail.py says which test stands for which claim, and breaks each.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
from ecosort_power.align import Load
from ecosort_power.cli import cli
from ecosort_power.evaluate import MeterEnergy, evaluate
from ecosort_power.load import PATTERN, Steps
from ecosort_power.probe import analyse
from ecosort_power.quality import Window
from ecosort_power.reading import Accuracy, Reading, Scope, screen
from ecosort_power.records import Claim, standing
from ecosort_power.report import markdown
from ecosort_power.report.content import gather
from ecosort_power.report.text import short
from ecosort_power.split import REST, Span
from ecosort_power.statistics import describe, t95
from ecosort_power.store import ResultDirectory
from ecosort_power.summary import number, summarize

from .stored import RECORDS, write_result
from .synthetic import AVERAGING, COUNTING, WALL, averages, counts, instants, step, ticks, window

IDLE, BUSY = 10.0, 50.0


def bias(phase_s: float) -> float:
    """Mean relative error of a phase from a 1 Hz averaging meter, over positions of the meter's clock."""
    errors = []
    for phase in (0.1, 0.3, 0.5, 0.7, 0.9):
        begin, end = 100.0, 100.0 + phase_s
        _, energy = step(IDLE, BUSY, begin, end)
        readings = averages(energy, ticks(60, end + 60, 1.0, phase), 1.0)
        result = evaluate("m", readings, AVERAGING, Window(60, 80, end + 30, end + 59), [Span("p", begin, end)])
        found = next(p for p in result.phases if p.name == "p")
        errors.append((found.joules or 0.0) / (BUSY * phase_s) - 1)
    return sum(errors) / len(errors)


def test_rule_1_averages_are_summed_over_their_intervals() -> None:
    """A phase loses what the two cut intervals smear across its edges: 1/6 of the step per edge and second on average."""
    for seconds in (10.0, 30.0, 140.0):
        assert bias(seconds) == pytest.approx(-2 / 6 * (BUSY - IDLE) / (BUSY * seconds), rel=0.1)


def test_rule_1_a_sample_means_something() -> None:
    """The same numbers from an averaging and from an instantaneous meter are different energies."""
    power, energy = step(IDLE, BUSY, 80, 120)
    times = [t for t in ticks(60, 160, 1.0, 0.5) if t != 99.5]  # the value after it is of two seconds, or of a moment
    readings = instants(lambda t: power(t) + (100 if t == 100.5 else 0), times)
    w = Window(60, 80, 120, 159)
    base = energy(120) - energy(80)
    assert evaluate("m", readings, WALL, w, []).joules == pytest.approx(base + 100 * (2 + 1) / 2)
    assert evaluate("m", readings, AVERAGING, w, []).joules == pytest.approx(base + 100 * 2)


@pytest.mark.parametrize(("seconds", "note", "known"), [(8, "too short", False), (20, "only 20 values", True), (60, None, True)])
def test_rule_1_short_phases_are_not_printed(seconds: int, note: str | None, known: bool) -> None:
    power, _ = step(IDLE, BUSY, 100, 100 + seconds)
    readings = instants(power, ticks(60, 260, 1.0, 0.5))
    result = evaluate("m", readings, WALL, window(90, 200), [Span("p", 100, 100 + seconds)])
    phase = result.phases[0]
    assert (phase.joules is not None) == known
    assert phase.note is None if note is None else note in (phase.note or "")


def test_rule_1_counters_are_interpolated_at_the_marks() -> None:
    """A counter alone, with no power values; it is read at other moments than the run and its phase begin and end."""
    _, energy = step(IDLE, BUSY, 100, 163)
    slow, spans = replace(COUNTING, period_s=3.0), [Span("p", 110, 152)]
    result = evaluate("m", counts(energy, ticks(60, 200, 3.0, 1.7)), slow, window(100, 163), spans)
    assert result.joules == pytest.approx(BUSY * 63, rel=1e-3)
    assert result.watts == pytest.approx(BUSY, rel=1e-3)
    assert result.phases[0].joules == pytest.approx(BUSY * 42, rel=0.02)


UNKNOWN = replace(WALL, period_s=0.1, update_s=None)


def every(seconds: float, begin: float = 60.0, end: float = 260.0, period: float = 0.1) -> list[Reading]:
    """A meter that is read ten times a second and has a new value every so many seconds, without saying so."""
    return instants(lambda t: 40.0 + (7 * int(t / seconds)) % 5 + (t // seconds) / 1e3, ticks(begin, end, period, 0.03))


@pytest.mark.parametrize(("update", "known"), [(5.0, False), (0.1, True), (1.0, True)])
def test_rule_1_readings_that_repeat_a_value_are_one_value(update: float, known: bool) -> None:
    """A run of 20 seconds has 200 readings; of a meter with a new value every 5 seconds that are four values, too few."""
    result = evaluate("m", every(update), UNKNOWN, window(100, 120), [])
    assert (result.joules is not None) == known
    found = [d.text for d in result.defects if d.code == "too-short"]
    assert len(found) == (0 if known else 1)
    assert known or ("about every 5 s" in found[0] and "#update=" in found[0])
    assert result.samples == pytest.approx(min(20 / update, 200), abs=1)


def test_rule_1_a_phase_that_repeats_a_value_has_no_number() -> None:
    spans = [Span("run_formation", 100, 130), Span("merge", 130, 200)]
    result = evaluate("m", every(5.0), UNKNOWN, window(100, 200), spans)
    assert result.joules is not None
    assert [p.joules is None for p in result.phases] == [True, False, False]
    assert result.phases[0].samples == 6


@pytest.mark.parametrize("changes", [0, 1])
def test_rule_1_a_meter_that_hardly_ever_changes_gives_no_number_unless_its_period_is_known(changes: int) -> None:
    readings = instants(lambda t: 40.0 + (changes if t > 110 else 0), ticks(60, 160, 0.1))
    assert evaluate("m", readings, UNKNOWN, window(100, 120), []).joules is None
    assert evaluate("m", readings, replace(UNKNOWN, update_s=0.1), window(100, 120), []).joules is not None


def test_rule_1_a_slow_meter_of_unknown_period_is_as_uncertain_as_it_is() -> None:
    power, _ = step(IDLE, BUSY, 100, 200)
    held = lambda t: power(5.0 * int(t / 5.0)) + (int(t / 5.0) % 3) / 100  # noqa: E731
    readings = instants(held, ticks(60, 260, 0.1, 0.03))
    told, untold = (evaluate("m", readings, c, window(100, 200), []) for c in (replace(UNKNOWN, update_s=5.0), UNKNOWN))
    assert told.uncertainty is not None
    assert untold.uncertainty is not None
    assert untold.uncertainty.sampling_j == pytest.approx(told.uncertainty.sampling_j, rel=0.1)


def test_rule_2_a_counter_that_hardly_moves_gives_way_to_the_power() -> None:
    power, energy = step(IDLE, BUSY, 100, 140)
    times = ticks(60, 220, 1.0, 0.3)
    minutes = counts(lambda t: energy(60.0 * int(t / 60.0)), times)
    both = [replace(p, joules=c.joules) for p, c in zip(instants(power, times), minutes, strict=True)]
    result = evaluate("m", both, replace(WALL, counter=True), window(100, 140), [])
    assert result.source == "power"
    assert result.joules == pytest.approx(BUSY * 40, rel=0.03)
    assert "coarse-counter" in {d.code for d in result.defects}
    alone = evaluate("m", minutes, COUNTING, window(100, 140), [])
    assert alone.joules is None
    assert "too-short" in {d.code for d in alone.defects}


def test_rule_2_the_counter_gives_the_total_and_phases_sum_to_it() -> None:
    power, energy = step(IDLE, BUSY, 100, 140)
    times = ticks(60, 220, 1.0, 0.3)
    both = [
        replace(p, joules=c.joules)
        for p, c in zip(instants(lambda t: power(t) * 0.99 + 0.1 * (int(t) % 3 - 1), times), counts(energy, times), strict=True)
    ]
    spans = [Span("run_formation", 100, 140), Span("merge", 140, 180)]
    result = evaluate("m", both, replace(WALL, counter=True, quantum_j=0.1), window(95, 185), spans)
    assert result.source == "counter"
    assert result.joules == pytest.approx(energy(185) - energy(95))
    assert sum(p.joules or 0.0 for p in result.phases) == pytest.approx(result.joules)
    assert result.phases[-1].name == REST
    assert result.counter_to_power == pytest.approx(1 / 0.99, rel=1e-3)


def test_rule_2_a_counter_that_contradicts_the_power_is_said() -> None:
    power, energy = step(IDLE, BUSY, 100, 140)
    times = ticks(60, 220, 1.0, 0.3)
    pairs = zip(instants(power, times), counts(lambda t: energy(t) * 1.2, times), strict=True)
    both = [replace(p, joules=c.joules) for p, c in pairs]
    result = evaluate("m", both, replace(WALL, counter=True), window(95, 185), [])
    assert "counter-mismatch" in {d.code for d in result.defects}


@pytest.mark.parametrize(("factor", "fatal"), [(0.12, True), (0.45, True), (1.6, True), (0.7, False), (1.3, False)])
def test_rule_2_a_counter_that_contradicts_the_power_by_more_than_half_makes_the_run_invalid(factor: float, fatal: bool) -> None:
    """The power stands still, or the counter; each by itself looks like a measurement."""
    power, energy = step(IDLE, BUSY, 100, 140)
    times = ticks(60, 220, 1.0, 0.3)
    pairs = zip(instants(power, times), counts(lambda t: energy(t) * factor, times), strict=True)
    both = [replace(p, joules=c.joules) for p, c in pairs]
    result = evaluate("m", both, replace(WALL, counter=True), window(95, 185), [])
    (found,) = (d for d in result.defects if d.code == "counter-mismatch")
    assert found.fatal is fatal
    assert (result.joules is None) is fatal
    assert not fatal or not any(c.isdigit() for c in found.text)


@pytest.mark.parametrize(("step_j", "shown_w", "fatal"), [(60.0, BUSY, True), (100.0, 22.0, False)])
def test_rule_2_a_counter_of_large_steps_contradicts_beyond_its_steps(step_j: float, shown_w: float, fatal: bool) -> None:
    """Power that stands still at that of another load; the counter moves fewer than ten times."""
    _, energy = step(IDLE, BUSY, 100, 110)
    times = ticks(60, 180, 1.0, 0.3)
    both = [Reading(t, t, watts=shown_w, joules=step_j * int(energy(t) / step_j)) for t in times]
    both = [replace(r, watts=(r.watts or 0.0) + 0.1 * (i % 3)) for i, r in enumerate(both)]
    result = evaluate("m", both, replace(WALL, counter=True, quantum_j=step_j), window(112, 144), [])
    assert any(d.fatal for d in result.defects if d.code == "counter-mismatch") is fatal


def test_rule_3_the_moment_of_a_reading_lies_between_before_and_after() -> None:
    """The answers take half a second at first and four seconds later: the energy of the pulse stays that between its edges."""
    power, energy = step(IDLE, BUSY, 100, 140)

    def answer(t: float) -> Reading:
        half = 0.25 if t < 120 else 2.0
        return Reading(t - half, t + half, watts=power(t))

    slow = [answer(t) for t in ticks(60, 200, 1.0, 0.5)]
    result = evaluate("m", slow, WALL, window(90, 150), [Span("pulse", 100, 140)])
    assert result.joules == pytest.approx(energy(150) - energy(90), rel=0.005)
    assert result.phases[0].joules == pytest.approx(energy(140) - energy(100), rel=0.015)


@pytest.mark.parametrize("lag", [0.0, 3.0, 12.0])
def test_rule_4_lag_is_taken_off(lag: float) -> None:
    power, energy = step(IDLE, BUSY, 100, 140)
    late = instants(lambda t: power(t - lag), ticks(60, 220, 0.5, 0.2))
    result = evaluate("m", late, replace(WALL, period_s=0.5, lag_s=lag), window(100, 140), [Span("p", 100, 140)])
    assert result.joules is not None  # shown late, it is refused
    assert result.joules == pytest.approx(energy(140) - energy(100), abs=2 * (result.uncertainty or 1).sampling_j + 0.1)  # type: ignore[union-attr]


def test_rule_4_a_window_longer_than_the_period_is_corrected() -> None:
    _, energy = step(IDLE, BUSY, 100, 160)
    smooth = replace(AVERAGING, window_s=20.0, lag_s=2.0)
    result = evaluate("m", averages(energy, ticks(40, 260, 1.0), 20.0, 2.0), smooth, Window(60, 100, 160, 250), [])
    assert result.joules == pytest.approx(BUSY * 60, rel=0.01)


def test_rule_4_a_long_average_allows_totals_only() -> None:
    _, energy = step(IDLE, BUSY, 1000, 5000)
    ilo = replace(AVERAGING, window_s=300.0, lag_s=60.0)
    spans = [Span("run_formation", 1000, 3000), Span("merge", 3000, 5000)]
    result = evaluate("m", averages(energy, ticks(100, 6500, 1.0), 300.0, 60.0), ilo, Window(500, 1000, 5000, 6400), spans)
    assert result.joules == pytest.approx(BUSY * 4000, rel=0.005)
    assert [p.joules for p in result.phases] == [None, None]
    assert "totals only" in (result.phases[0].note or "")


@pytest.mark.parametrize(("update", "width", "good_to"), [(1.0, 1.0, 0.05), (5.0, 5.0, 0.2), (1.0, 20.0, 0.4)])
def test_rule_4_lag_and_window_are_measured_by_a_busy_and_idle_pattern(update: float, width: float, good_to: float) -> None:
    """A probe of five minutes of a meter that averages over `width` and is three seconds late."""
    unit = 300 / sum(PATTERN)
    edges = [1000.0, *(1000.0 + unit * float(c) for c in accumulate(PATTERN))]
    levels = [float(i % 2) for i in range(len(PATTERN))]
    load = Load.from_steps(edges, levels)
    found: list[Reading] = []
    for i, t in enumerate(ticks(1000, 1300 + 75, update, 0.37)):
        end = np.array([t - 3.0])
        watts = IDLE + (BUSY - IDLE) * float(load.mean(end - width, end)[0]) + (7 * i % 5) / 20
        found += [Reading(s, s, watts=round(watts, 2)) for s in ticks(t, t + update, 0.25)[: round(update / 0.25)]]
    probe = analyse(found, Steps(edges, levels), WALL, 300.0)
    assert probe.problem is None
    assert probe.lag_s is not None
    assert probe.window_s == pytest.approx(width, abs=4 * good_to)
    assert probe.lag_s + probe.window_s / 2 == pytest.approx(3.0 + width / 2, abs=good_to)  # type: ignore[operator]


def test_rule_4_an_unknown_lag_is_said_and_counts_as_uncertainty() -> None:
    """Idle power that is another after the run: by so many watts times the lag the energy may be wrong, up to one second here."""
    power, _ = step(IDLE, BUSY, 100, 160)
    readings = instants(lambda t: power(t) + (2 if t > 160 else 0), ticks(60, 200, 1.0, 0.5))
    result = evaluate("m", readings, replace(WALL, lag_s=None), window(100, 160), [])
    assert "lag-unknown" in {d.code for d in result.defects}
    assert result.uncertainty is not None
    assert result.uncertainty.timing_j == pytest.approx(2 * 0.5 / 3**0.5)


def run_with_gap(length: float, seconds: float = 1000.0) -> MeterEnergy:
    power = lambda t: 20 + 10 * (int(t) % 2)  # noqa: E731
    readings = [r for r in instants(power, ticks(60, 140 + seconds, 1.0, 0.5)) if not 300 < r.mid_s < 300 + length]
    return evaluate("m", readings, WALL, window(100, 100 + seconds), [])


def test_rule_5_a_small_gap_goes_into_the_uncertainty() -> None:
    whole, gap = run_with_gap(0), run_with_gap(4)
    assert gap.joules is not None
    assert whole.uncertainty is not None
    assert gap.uncertainty is not None
    assert whole.uncertainty.gaps_j == 0
    assert gap.uncertainty.gaps_j == pytest.approx(5 * 10 / 3**0.5, rel=0.2)
    assert gap.gaps
    assert [(d.code, d.fatal) for d in gap.defects] == [("gap", False)]  # nothing is interpolated silently


def test_rule_5_a_sample_missing_for_two_periods_is_no_gap() -> None:
    assert run_with_gap(1).gaps == []
    assert run_with_gap(2).gaps != []


def test_rule_5_gaps_over_one_percent_make_the_run_invalid() -> None:
    gap = run_with_gap(12)
    assert gap.joules is None
    assert "gap" in {d.code for d in gap.defects if d.fatal}


def test_rule_5_a_stale_or_saturated_meter_makes_the_run_invalid() -> None:
    power, _ = step(IDLE, BUSY, 100, 160)
    readings = instants(lambda t: power(t) + 0.01 * (t % 7), ticks(60, 200, 1.0, 0.5))
    w = window(100, 160, load_step=0.8)
    stuck = [replace(r, watts=BUSY) if r.mid_s > 130 else r for r in readings]
    assert evaluate("m", readings, WALL, w, []).joules is not None
    stale = evaluate("m", stuck, WALL, w, [])
    assert stale.joules is None
    assert "stale" in {d.code for d in stale.defects}
    narrow = replace(WALL, range_w=BUSY)
    saturated = evaluate("m", [screen(r, narrow) for r in readings], narrow, w, [])
    assert saturated.joules is None
    assert "saturated" in {d.code for d in saturated.defects}


def test_rule_6_idle_does_not_reach_into_the_run() -> None:
    """Two values before the run and its first one: the idle power is that of the two."""
    power, _ = step(IDLE, BUSY, 100, 160)
    result = evaluate("m", instants(power, ticks(97, 180, 1.5, 0.5)), replace(WALL, period_s=1.5), window(100, 160, 3, 20), [])
    assert result.idle_before_w == pytest.approx(IDLE)
    assert result.idle_after_w == pytest.approx(IDLE)


def test_rule_6_idle_is_measured_before_and_after_and_the_total_is_the_headline() -> None:
    power, energy = step(IDLE, BUSY, 100, 160)
    readings = instants(lambda t: power(t) + (2 if t > 165 else 0), ticks(60, 220, 0.5, 0.2))
    result = evaluate("m", readings, replace(WALL, period_s=0.5), window(100, 160, 20, 40), [])
    assert result.idle_before_w == pytest.approx(IDLE, abs=1.0)
    assert result.idle_after_w == pytest.approx(IDLE + 2, abs=1.0)
    assert result.joules == pytest.approx(energy(160) - energy(100), rel=0.01)


def test_rule_6_energy_above_idle_is_secondary(tmp_path: Path) -> None:
    directory = ResultDirectory(write_result(tmp_path / "r"))
    session, runs = directory.session(), directory.runs()
    summary = summarize(session, runs)
    assert summary.energy is not None
    total = sum(r.energy_of("wall").joules for r in runs) / 5  # type: ignore[union-attr, misc]
    assert summary.energy.joules.mean == pytest.approx(total)
    assert summary.energy.above_idle_j == pytest.approx(total - 3.125 * sum(r.marks.seconds for r in runs) / 5)
    assert number(RECORDS * 5 / total / 5) in summary.title


def test_rule_7_spread_and_instrument_are_columns_of_their_own(tmp_path: Path) -> None:
    directory = ResultDirectory(write_result(tmp_path / "r"))
    session, runs = directory.session(), directory.runs()
    head = summarize(session, runs).energy
    assert head is not None
    assert head.joules.sd is not None
    assert head.uncertainty_j is not None
    text = markdown.render(gather(directory, None))
    row = next(line.split(" | ") for line in text.splitlines() if line.startswith("| joules |"))
    assert row[1] == f"{number(head.joules.mean)} ± {short(head.joules.sd)}"
    assert row[2].startswith(f"±{short(head.uncertainty_j)} J")


def test_rule_7_five_runs_their_sample_deviation_and_the_interval_of_student() -> None:
    assert default_of_run("runs") == 5
    assert t95(4) == 2.776
    five = describe([100.0, 101.0, 99.0, 102.0, 98.0])
    assert five.sd == pytest.approx(1.5811, abs=1e-4)
    assert five.ci95 == pytest.approx(2.776 * 1.5811 / 5**0.5, abs=1e-3)


def default_of_run(name: str) -> object:
    """The default of an option of `ecosort-power run`."""
    return next(p.default for p in cli.commands["run"].params if p.name == name)


def test_rule_7_gain_and_range_errors_add_linearly() -> None:
    power, _ = step(IDLE, BUSY, 100, 160)
    exact = replace(WALL, accuracy=Accuracy(0.001, 0.5), quantum_w=1.0)
    result = evaluate("m", instants(power, ticks(60, 200, 1.0, 0.5)), exact, window(100, 160), [])
    assert result.uncertainty is not None
    assert result.joules is not None
    assert result.uncertainty.instrument_j == pytest.approx(0.001 * result.joules + 0.5 * 60)
    assert result.uncertainty.quantum_j == pytest.approx(0.5 * 60 / 3**0.5)  # rectangular
    assert result.uncertainty.total_j is not None
    assert result.uncertainty.total_j == pytest.approx(result.uncertainty.instrument_j + result.uncertainty.known_j)
    assert result.uncertainty.known_j > 0.95 * 0.5 * 60


def test_rule_7_unknown_accuracy_is_unknown_not_zero() -> None:
    power, _ = step(IDLE, BUSY, 100, 160)
    result = evaluate("m", instants(power, ticks(60, 200, 1.0, 0.5)), WALL, window(100, 160), [])
    assert result.uncertainty is not None
    assert result.uncertainty.total_j is None


def test_rule_8_a_package_is_never_compared_with_the_wall() -> None:
    found = standing(Claim(10**8, 90_000.0, Scope.PACKAGE, 5, complete=True, validated=True, cold=True, bytes=10**10))
    assert found.rank is None
    assert "not compared" in found.text
