"""Lists which test covers which claim of the ten rules; each of them fails when its claim is broken.

A break is one small mistake made on purpose, in the harness or, for whole runs, in what the harness left behind: the test must
pass without it and fail with it.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from ecosort_power import estimate, evaluate, quality, reading, split, statistics, summary, updates
from ecosort_power.estimate import Timing
from ecosort_power.integrate import EnergyCurve, instants
from ecosort_power.reading import Reading, Scope
from ecosort_power.report import sections

from . import test_rules as rules
from . import test_rules_of_runs as runs
from .measured import Measured
from .support import Cli, load

Test = Callable[..., None]
TMP = object()  # stands for a directory of its own among the arguments of a test


@dataclass(frozen=True)
class Break:
    """`mistake` is (object, attribute, what it becomes)."""

    rule: int
    claim: str
    test: Test
    mistake: tuple[object, str, Any]
    arguments: tuple[Any, ...] = ()


def nearest(curve: EnergyCurve, time_s: float) -> float:
    return float(curve.joules[curve.segment(time_s)])


def as_instants(times: Any, watts: Any, intervals: Any) -> EnergyCurve:
    return instants(times, watts)


def in_time(capabilities: Any, power: bool) -> Timing:
    return Timing(0.0, 0.0, 0.0, 0.0)


def by_power(found: Any) -> Any:
    return next((c for c in found if c.source == evaluate.POWER), None)


def by_counter(found: Any) -> Any:
    return next((c for c in found if c.source == evaluate.COUNTER), None)


def without_lag(readings: Any, capabilities: Any) -> Any:
    return power_samples(readings, replace(capabilities, lag_s=0.0))


def late(readings: Any, steps: Any, capabilities: Any, seconds: float) -> Any:
    return analyse(
        [replace(r, before_s=r.before_s + 0.6, after_s=r.after_s + 0.6) for r in readings], steps, capabilities, seconds
    )


def above_idle(curve: EnergyCurve, capabilities: Any, window: Any) -> Any:
    found = power_estimate(curve, capabilities, window)
    return None if found is None else replace(found, joules=found.joules - rules.IDLE * window.seconds)


def into_the_run(curve: EnergyCurve, first: int, last: int, *rest: Any) -> Any:
    return flank(curve, first, last + 3, *rest)


def before_only(curve: EnergyCurve, first: int, last: int, *rest: Any) -> Any:
    return flank(curve, 0, 20, *rest)


def of_population(values: Any) -> Any:
    found = describe(values)
    return replace(found, sd=found.sd * ((found.n - 1) / found.n) ** 0.5)


def in_quadrature(found: Any) -> float | None:
    if found.instrument_j is None:
        return None
    return float((found.instrument_j**2 + found.quantum_j**2) ** 0.5)


# The mistakes are made of these.
power_samples, power_estimate, flank = evaluate.power_samples, evaluate.power_estimate, estimate._flank
describe, analyse = statistics.describe, rules.analyse

BREAKS = [
    Break(
        1, "averages by interval", rules.test_rule_1_averages_are_summed_over_their_intervals, (updates, "averages", as_instants)
    ),
    Break(1, "averages are no spot values", rules.test_rule_1_a_sample_means_something, (updates, "averages", as_instants)),
    Break(1, "counters at the marks", rules.test_rule_1_counters_are_interpolated_at_the_marks, (EnergyCurve, "at", nearest)),
    Break(
        1,
        "under 10 values: n/a",
        rules.test_rule_1_short_phases_are_not_printed,
        (split, "MIN_SAMPLES", 1),
        (8, "too short", False),
    ),
    Break(
        1,
        "under 30 values: warned",
        rules.test_rule_1_short_phases_are_not_printed,
        (split, "FEW_SAMPLES", 0),
        (20, "only 20", True),
    ),
    Break(
        1,
        "repeats are one value",
        rules.test_rule_1_readings_that_repeat_a_value_are_one_value,
        (evaluate, "states_updates", lambda r, c: True),
        (5.0, False),
    ),
    Break(
        1,
        "repeats in a phase",
        rules.test_rule_1_a_phase_that_repeats_a_value_has_no_number,
        (evaluate, "states_updates", lambda r, c: True),
    ),
    Break(
        1,
        "hardly any change",
        rules.test_rule_1_a_meter_that_hardly_ever_changes_gives_no_number_unless_its_period_is_known,
        (evaluate, "states_updates", lambda r, c: True),
        (1,),
    ),
    Break(
        1,
        "a slow meter is uncertain",
        rules.test_rule_1_a_slow_meter_of_unknown_period_is_as_uncertain_as_it_is,
        (evaluate, "shown_update_s", lambda r, c: c.period_s),
    ),
    Break(
        2,
        "a coarse counter gives way",
        rules.test_rule_2_a_counter_that_hardly_moves_gives_way_to_the_power,
        (evaluate, "choose", by_counter),
    ),
    Break(
        2,
        "the counter is the total",
        rules.test_rule_2_the_counter_gives_the_total_and_phases_sum_to_it,
        (evaluate, "choose", by_power),
    ),
    Break(
        2,
        "phases sum to it",
        rules.test_rule_2_the_counter_gives_the_total_and_phases_sum_to_it,
        (split, "_rest", lambda phases, joules, w: split.PhaseEnergy(split.REST, 0.0, 0.0, 0)),
    ),
    Break(
        2,
        "contradictions are said",
        rules.test_rule_2_a_counter_that_contradicts_the_power_is_said,
        (evaluate, "COUNTER_TOLERANCE", 9.0),
    ),
    Break(
        2,
        "contradictions by more than half are not believed",
        rules.test_rule_2_a_counter_that_contradicts_the_power_by_more_than_half_makes_the_run_invalid,
        (evaluate, "CONTRADICTION", 9.0),
        (0.12, True),
    ),
    Break(
        2,
        "steps of a counter contradict nothing",
        rules.test_rule_2_a_counter_of_large_steps_contradicts_beyond_its_steps,
        (evaluate, "CONTRADICTING_MOVES", 3),
        (100.0, 22.0, False),
    ),
    Break(
        3,
        "before and after",
        rules.test_rule_3_the_moment_of_a_reading_lies_between_before_and_after,
        (Reading, "mid_s", property(lambda r: r.after_s)),
    ),
    Break(4, "lag", rules.test_rule_4_lag_is_taken_off, (evaluate, "power_samples", without_lag), (12.0,)),
    Break(
        4,
        "averaging window",
        rules.test_rule_4_a_window_longer_than_the_period_is_corrected,
        (estimate, "timing_of", in_time),
    ),
    Break(
        4,
        "300 s: totals only",
        rules.test_rule_4_a_long_average_allows_totals_only,
        (split, "MAX_SPLIT_WINDOW_S", 1e9),
    ),
    Break(
        4,
        "measured by a chirp",
        rules.test_rule_4_lag_and_window_are_measured_by_a_busy_and_idle_pattern,
        (rules, "analyse", late),
        (1.0, 20.0, 0.4),
    ),
    Break(
        4,
        "an unknown lag counts",
        rules.test_rule_4_an_unknown_lag_is_said_and_counts_as_uncertainty,
        (estimate, "timing_of", in_time),
    ),
    Break(
        5,
        "a gap is uncertainty",
        rules.test_rule_5_a_small_gap_goes_into_the_uncertainty,
        (evaluate, "gap_seconds", lambda gaps: 0.0),
    ),
    Break(
        5,
        "nothing silently",
        rules.test_rule_5_a_small_gap_goes_into_the_uncertainty,
        (evaluate, "defects_of", lambda r, c, w, m: []),
    ),
    Break(
        5,
        "two periods",
        rules.test_rule_5_a_sample_missing_for_two_periods_is_no_gap,
        (quality, "find_gaps", lambda times, begin, end, period, spread: []),
    ),
    Break(5, "1 %", rules.test_rule_5_gaps_over_one_percent_make_the_run_invalid, (quality, "MAX_GAP_SHARE", 0.5)),
    Break(
        5, "stale", rules.test_rule_5_a_stale_or_saturated_meter_makes_the_run_invalid, (quality, "_stale", lambda r, c, w: [])
    ),
    Break(
        5,
        "saturated",
        rules.test_rule_5_a_stale_or_saturated_meter_makes_the_run_invalid,
        (reading, "_screen_watts", lambda watts, capabilities: (watts, None)),
    ),
    Break(6, "idle is idle", rules.test_rule_6_idle_does_not_reach_into_the_run, (estimate, "_flank", into_the_run)),
    Break(
        6,
        "before and after",
        rules.test_rule_6_idle_is_measured_before_and_after_and_the_total_is_the_headline,
        (estimate, "_flank", before_only),
    ),
    Break(
        6,
        "the total is the headline",
        rules.test_rule_6_idle_is_measured_before_and_after_and_the_total_is_the_headline,
        (evaluate, "power_estimate", above_idle),
    ),
    Break(
        6,
        "above idle is secondary",
        rules.test_rule_6_energy_above_idle_is_secondary,
        (summary, "_idle", lambda s, m, e: 0.0),
        (TMP,),
    ),
    Break(
        7,
        "columns of their own",
        rules.test_rule_7_spread_and_instrument_are_columns_of_their_own,
        (sections, "instrument", lambda meter: ""),
        (TMP,),
    ),
    Break(
        7,
        "n - 1",
        rules.test_rule_7_five_runs_their_sample_deviation_and_the_interval_of_student,
        (rules, "describe", of_population),
    ),
    Break(
        7,
        "t = 2.776",
        rules.test_rule_7_five_runs_their_sample_deviation_and_the_interval_of_student,
        (statistics, "t95", lambda degrees: 1.96),
    ),
    Break(
        7,
        "limits add linearly",
        rules.test_rule_7_gain_and_range_errors_add_linearly,
        (evaluate.Uncertainty, "total_j", property(in_quadrature)),
    ),
    Break(
        7,
        "unknown is not 0",
        rules.test_rule_7_unknown_accuracy_is_unknown_not_zero,
        (evaluate.Uncertainty, "total_j", property(lambda u: u.known_j)),
    ),
    Break(
        8,
        "package and wall",
        rules.test_rule_8_a_package_is_never_compared_with_the_wall,
        (Scope, "whole_system", property(lambda scope: True)),
    ),
]


def named(broken: Break) -> str:
    return f"rule {broken.rule}: {broken.claim}"


@pytest.mark.parametrize("broken", BREAKS, ids=named)
def test_the_test_of_a_claim_fails_when_the_claim_is_broken(
    broken: Break, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call() -> None:
        broken.test(*(tmp_path_factory.mktemp("rule") if a is TMP else a for a in broken.arguments))

    call()
    monkeypatch.setattr(*broken.mistake)
    with pytest.raises(AssertionError):
        call()


def edited(measured: Measured, target: Path, change: Callable[[dict[str, Any]], object]) -> Measured:
    """The same measurement with another run.json."""
    subprocess.run(["cp", "-a", str(measured.path), str(target)], check=True)
    path = target / "r/runs/01/run.json"
    document = load(path)
    change(document)
    path.write_text(json.dumps(document))
    return Measured(target, measured.done)


def move(mark: str, to: str) -> Callable[[dict[str, Any]], object]:
    return lambda run: run["marks"].update({mark: run["marks"][to]})


LEFT_BEHIND = [
    pytest.param(runs.test_rule_3_the_offset_to_real_time_is_kept, move("realtime_offset_s", "first_s"), marks=runs.VALIDATED),
    pytest.param(
        runs.test_rule_9_the_window_is_start_to_sync_and_validation_is_outside, move("synced_s", "exit_s"), marks=runs.VALIDATED
    ),
    pytest.param(
        runs.test_rule_9_the_window_is_start_to_sync_and_validation_is_outside,
        lambda run: run["marks"].update(last_s=run["marks"]["last_s"] + 3600),
        marks=runs.VALIDATED,
    ),
    pytest.param(runs.test_rule_9_the_idle_tail_is_as_long_as_lag_and_window, move("last_s", "synced_s"), marks=runs.LATE),
]


@pytest.mark.parametrize(("test", "change"), LEFT_BEHIND)
def test_the_test_of_a_run_fails_when_the_run_is_another(
    measured: Measured, tmp_path: Path, test: Test, change: Callable[[dict[str, Any]], object]
) -> None:
    test(measured)
    with pytest.raises(AssertionError):
        test(edited(measured, tmp_path / "edited", change))


@runs.UNVALIDATED
def test_the_test_of_validation_fails_when_nothing_is_said(measured: Measured) -> None:
    runs.test_rule_9_a_run_that_was_not_validated_says_so(measured)
    done = subprocess.CompletedProcess([], 0, measured.done.stdout.replace("NOT VALIDATED", ""), "")
    with pytest.raises(AssertionError):
        runs.test_rule_9_a_run_that_was_not_validated_says_so(Measured(measured.path, done))


@runs.VALIDATED
def test_the_test_of_check_fails_when_check_finds_nothing(tmp_path: Path, measured: Measured) -> None:
    def trusting(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 0, "r: no defect", "")

    with pytest.raises(AssertionError):
        runs.test_rule_10_a_stored_result_is_validated_again_from_its_raw_samples(trusting, tmp_path, measured)


@pytest.mark.parametrize("energy", ["0.0", "95.0"])
def test_the_test_of_no_meter_fails_when_a_number_is_invented(cli: Cli, tmp_path: Path, energy: str) -> None:
    def inventive(*words: str | Path) -> subprocess.CompletedProcess[str]:
        """The real program, whose report has a constant in place of null."""
        done = cli(*words)
        return subprocess.CompletedProcess(
            [], done.returncode, done.stdout.replace('"energy": null', f'"energy": {energy}'), done.stderr
        )

    with pytest.raises(AssertionError):
        runs.test_rule_8_without_a_meter_there_is_no_number(inventive, tmp_path)


def test_every_rule_has_tests_and_each_of_them_is_broken_here() -> None:
    tests = {name for module in (rules, runs) for name in vars(module) if name.startswith("test_")}
    assert all(name.startswith("test_rule_") for name in tests)
    assert {int(name.split("_")[2]) for name in tests} == set(range(1, 11))
    alone = {
        runs.test_rule_8_without_a_meter_there_is_no_number,
        runs.test_rule_9_a_run_that_was_not_validated_says_so,
        runs.test_rule_10_a_stored_result_is_validated_again_from_its_raw_samples,
    }
    broken = {b.test.__name__ for b in BREAKS} | {p.values[0].__name__ for p in LEFT_BEHIND} | {t.__name__ for t in alone}  # type: ignore[union-attr, attr-defined]
    assert broken == tests
    assert all(b.test.__name__.startswith(f"test_rule_{b.rule}_") for b in BREAKS)
