"""Energies and intervals of simulated runs against the true energy, which is known in closed form.

The default is some cells; ECOSORT_SOAK=1 simulates all of the table in power/README.md with 1000 runs each.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from capabilities import SOAK
from ecosort_power.accuracy import table
from ecosort_power.accuracy.__main__ import RESULTS, main
from ecosort_power.accuracy.loads import IDLE_NOISE_W, IDLES, LOADS, WHITE, make_load
from ecosort_power.accuracy.meters import KINDS, capabilities_of, read
from ecosort_power.accuracy.sweep import (
    AGAIN,
    IDLE_CELLS,
    LENGTHS_S,
    NAMED,
    PERIODS_S,
    Cell,
    Outcome,
    cells,
    run_cell,
    simulate,
    sweep,
)
from ecosort_power.accuracy.table import BEGIN, END, is_biased, verdict
from ecosort_power.errors import UsageError
from ecosort_power.evaluate import candidates, choose, evaluate
from ecosort_power.integrate import averages, instants

from .support import POWER

RUNS = 200
# So many standard deviations of a share of RUNS may a cell be off by chance; there are about thirty cells.
CHANCE = 3.5


def allowed(coverage: float, runs: int) -> float:
    return CHANCE * sqrt(coverage * (1 - coverage) / runs)


@pytest.mark.parametrize("name", LOADS)
def test_the_energy_of_a_load_is_the_integral_of_its_power(name: str) -> None:
    load = make_load(name, 30.0, 10.0, 10.0, np.random.default_rng(3))
    times = np.linspace(-5, 35, 1_000_001)
    numeric = instants(times, load.power(times))
    assert numeric.between(0, 30) == pytest.approx(load.truth_j, rel=1e-4)
    assert numeric.between(-5, 35) == pytest.approx(float(np.ptp(load.energy(np.array([-5.0, 35.0])))), rel=1e-4)


@pytest.mark.parametrize("meter", KINDS)
@pytest.mark.parametrize("lag_known", [True, False])
def test_the_simulation_runs_what_a_measurement_runs(meter: str, lag_known: bool) -> None:
    """The arrays of the simulation and the stored readings of a run give the same joules and the same interval."""
    for load in ("constant", "square 13 s"):
        cell = Cell(meter, 1.0, lag_known, load, 60.0)
        _, series, window = simulate(cell, np.random.default_rng(11))
        best = choose(candidates(series.curves(), series.capabilities, window))
        found = evaluate("m", series.readings(), series.capabilities, window, [])
        assert best is not None
        assert found.uncertainty is not None
        assert found.joules == pytest.approx(best.estimate.joules, rel=1e-9)
        assert found.uncertainty.known_j == pytest.approx(best.estimate.half95_j, rel=1e-6)


SOME = [
    Cell("instantaneous", 1.0, True, "constant", 60.0),
    Cell("instantaneous", 1.0, True, "square 0.3 s", 60.0),
    Cell("instantaneous", 1.0, False, "square 1 s", 60.0),
    Cell("instantaneous", 1.0, True, "square 13 s", 60.0),
    Cell("instantaneous", 5.0, False, "spikes", 600.0),
    Cell("instantaneous, steps of 0.1 W", 1.0, True, "ramp", 60.0),
    Cell("instantaneous, steps of 1 W", 1.0, True, "constant", 60.0),
    Cell("instantaneous, steps of 4 W", 1.0, True, "constant", 60.0),
    Cell("instantaneous, steps of 4 W", 0.1, False, "square 1 s", 10.0),
    Cell("average over 1 s", 1.0, True, "constant", 10.0),
    Cell("average over 1 s", 0.1, False, "square 1 s", 10.0),
    Cell("average over 5 s", 1.0, True, "square 0.3 s", 60.0),
    Cell("average over 5 s", 5.0, False, "spikes", 60.0),
    Cell("counter, steps of 3.6 J", 0.1, True, "constant", 10.0),
    Cell("counter, steps of 3.6 J", 1.0, False, "square 13 s", 60.0),
    Cell("counter, steps of 3.6 J", 60.0, True, "constant", 600.0),
]


@pytest.mark.parametrize("cell", SOME, ids=lambda c: f"{c.meter} {c.period_s:g} s {c.load} {c.length_s:g} s")
def test_the_interval_holds_the_truth_as_often_as_it_says(cell: Cell) -> None:
    outcome = run_cell(cell, RUNS, 5)
    assert outcome.coverage is not None
    assert outcome.coverage > 0.93 - allowed(0.93, RUNS)
    assert not is_biased(outcome)
    assert outcome.interval is not None
    assert outcome.spread is not None
    assert outcome.interval < 2 * outcome.spread  # and it is not simply wide


@pytest.mark.parametrize("name", NAMED)
def test_no_energy_is_lost_at_the_ends_of_a_run(name: str) -> None:
    outcome = run_cell(NAMED[name], RUNS, 6)
    assert outcome.bias == pytest.approx(0.0, abs=0.0005 + CHANCE * (outcome.bias_se or 0.0))


def test_readings_at_equal_distances_are_blind_to_a_load_that_repeats_with_them() -> None:
    """A square wave of 1 s read every second: at equal distances it looks constant, and the interval is a lie."""
    covered = {}
    for spread in (0.0, 1.0):
        rng, inside = np.random.default_rng(9), 0
        capabilities = replace(capabilities_of(KINDS["instantaneous"], 1.0, 0.0), spread_s=spread)
        for _ in range(RUNS):
            _, _, window = simulate(Cell("instantaneous", 1.0, True, "square 1 s", 60.0), rng)
            load = make_load("square 1 s", window.seconds, 30.0, 30.0, rng)
            series = read(load, KINDS["instantaneous"], capabilities, 0.0, window.first_s, window.last_s, rng)
            best = choose(candidates(series.curves(), capabilities, window))
            assert best is not None
            inside += abs(best.estimate.joules - load.truth_j) <= best.estimate.half95_j
        covered[spread] = inside / RUNS
    assert covered[0.0] < 0.2
    assert covered[1.0] > 0.93 - allowed(0.93, RUNS)


def test_a_run_that_is_too_short_for_its_meter_is_refused() -> None:
    outcome = run_cell(Cell("instantaneous", 60.0, True, "constant", 60.0), 20, 1)
    assert verdict(outcome) == "refused"
    assert outcome.refused == 20


def test_the_committed_table_is_complete_and_has_no_interval_that_is_too_narrow() -> None:
    results = table.load(RESULTS)
    assert [o.cell for o in results.cells] == cells()
    assert len(results.cells) == len(KINDS) * len(PERIODS_S) * 2 * len(LOADS) * len(LENGTHS_S)
    assert results.runs >= 1000
    assert all(o.runs in (results.runs, AGAIN * results.runs) for o in results.cells if o.coverage is not None)
    narrow = [o for o in results.cells if o.coverage is not None and o.coverage < 0.93 - allowed(0.93, results.runs)]
    assert narrow == []
    assert [o.cell for o in results.cells if is_biased(o)] == []
    for outcome in results.named.values():
        assert outcome.bias == pytest.approx(0.0, abs=0.0005)


def test_each_interval_that_is_too_wide_has_a_reason_that_the_readme_counts() -> None:
    results = table.load(RESULTS)
    wide = [o.cell for o in results.cells if verdict(o) == "wide"]
    assert [c for c in wide if table.why_wide(c).startswith("no reason")] == []
    assert table.why_wide(Cell("instantaneous", 0.1, True, "constant", 600.0)).startswith("no reason")
    line = next(text for text in table.render(results).splitlines() if text.startswith("Why wider"))
    assert sum(int(n) for n in re.findall(r"(\d+) by ", line)) == len(wide)


def test_a_mean_error_above_the_limit_stands_only_beside_wide_intervals() -> None:
    """Only chance may exceed it: a meter that can know the energy is not wrong by more than 0.1 % on average."""
    known = [o for o in table.load(RESULTS).cells if o.bias is not None and o.interval is not None]
    assert [o.cell for o in known if abs(o.bias or 0.0) > table.MAX_BIAS and (o.interval or 0.0) < 0.02] == []


def test_the_table_of_the_readme_is_that_of_the_results() -> None:
    text = (POWER / "README.md").read_text(encoding="utf-8")
    assert table.into(text, table.render(table.load(RESULTS))) == text


def agrees(stored: Outcome, fresh: Outcome) -> bool:
    """True if both can be of one program, by chance alone."""
    if stored.coverage is None or fresh.coverage is None:
        return stored.coverage == fresh.coverage
    off = allowed(min(max(stored.coverage, 0.9), 0.99), fresh.runs) + allowed(0.95, stored.runs)
    same = 0.8 < (fresh.interval or 0.0) / (stored.interval or 1.0) < 1.25
    return abs(stored.coverage - fresh.coverage) <= off and same


@pytest.mark.timeout(3600 if SOAK else 300)
def test_the_committed_results_are_those_of_this_program() -> None:
    """A part of the sweep again, with other random numbers; all of it in the long tests."""
    results = table.load(RESULTS)
    stored = {o.cell: o for o in results.cells}
    if SOAK:
        found = list(sweep(cells(), results.runs, results.seed + 1, 1))
    else:  # every meter, period and load, each once
        found = [run_cell(c, 100, results.seed + 1) for c in [c for c in cells() if c.length_s < 100][::37]]
    assert [(stored[o.cell], o) for o in found if not agrees(stored[o.cell], o)] == []


def test_the_command_simulates_and_writes_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecosort_power.accuracy.__main__.cells", lambda: cells()[:6])
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    words = ["--runs", "5", "--named-runs", "5", "--jobs", "1", "--results", str(tmp_path / "a.json"), "--readme", str(readme)]
    main(words)
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("before\n" + BEGIN)
    assert text.endswith(END + "\nafter\n")
    assert "\nold\n" not in text
    assert "| instantaneous | 0.1 s | " in text
    main([*words, "--table"])
    assert readme.read_text(encoding="utf-8") == text


def test_a_part_of_the_table_is_simulated_again_and_the_rest_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecosort_power.accuracy.__main__.cells", lambda: cells()[:6])
    monkeypatch.setattr("ecosort_power.accuracy.__main__.IDLE_CELLS", IDLE_CELLS[2:4])
    readme, results = tmp_path / "README.md", tmp_path / "a.json"
    readme.write_text(f"{BEGIN}\nold\n{END}\n", encoding="utf-8")
    words = ["--runs", "5", "--named-runs", "5", "--jobs", "1", "--results", str(results), "--readme", str(readme)]
    main(words)
    whole = table.load(results)
    assert list(whole.idle) == [name for name in IDLES if name != WHITE]
    changed = [replace(o, coverage=0.5) for o in whole.cells]
    table.save(replace(whole, cells=changed, idle={}), results)
    main([*words, "--only", r"lag known, ramp, 60 s", "--idle"])
    again = table.load(results)
    assert again.idle == whole.idle
    fresh = [o for o in again.cells if o.coverage != 0.5]
    assert fresh == [o for o in whole.cells if o.cell.load == "ramp" and o.cell.lag_known and o.cell.length_s == 60.0]
    with pytest.raises(SystemExit, match="must have the same"):
        main([*words, "--runs", "6", "--idle"])


def test_the_other_kinds_of_idle_power_are_what_they_are_called() -> None:
    rng, count = np.random.default_rng(1), 4000
    found = {name: np.array([make(count, rng) for _ in range(20)]) for name, make in IDLES.items()}
    assert found[WHITE].std() == pytest.approx(IDLE_NOISE_W, rel=0.05)
    assert found["1/f"].std() == pytest.approx(IDLE_NOISE_W, rel=0.2)
    halves = found["1/f"].reshape(20, -1, 100).mean(axis=2)  # means over 50 s wander as much as shorter ones
    assert halves.std() > 4 * found[WHITE].reshape(20, -1, 100).mean(axis=2).std()
    assert np.abs(np.diff(found["fan"])).max() > 0.3
    assert np.ptp(found["slow drift"][0]) > 0.1


def test_intervals_with_idle_power_that_they_were_not_made_on_are_told_as_they_are() -> None:
    """The committed table: every kind of idle power on every meter of it, and where few values beside a run do not suffice."""
    idle = table.load(RESULTS).idle
    assert list(idle) == [name for name in IDLES if name != WHITE]
    assert all([o.cell for o in found] == list(IDLE_CELLS) for found in idle.values())
    known = [o for found in idle.values() for o in found if o.coverage is not None]
    narrow = [o for o in known if verdict(o) == "narrow"]
    assert len(narrow) < len(known) / 4
    assert all((o.coverage or 0.0) > 0.85 for o in narrow if o.cell.period_s < 60)  # four values of a minute say next to nothing
    worst = min(o.coverage or 0.0 for o in known)
    said = f"It holds the truth in 93 % of the runs or more in {len(known) - len(narrow)} of these {len(known)} cases"
    text = (POWER / "README.md").read_text(encoding="utf-8")
    assert said in text
    assert f"the fewest runs are {worst * 100:.0f} %, of " in text


def test_the_readme_says_what_counts_as_a_bias_and_how_many_cells_cannot_resolve_one() -> None:
    """The numbers are counted here again, from the committed results."""
    results = table.load(RESULTS)
    answered = [o for o in results.cells if o.bias is not None and o.bias_se is not None]
    blind = sum(4 * (o.bias_se or 0.0) > 0.001 for o in answered)
    shown = sum(abs(o.bias or 0.0) > 0.001 + 4 * (o.bias_se or 0.0) for o in answered)
    text = " ".join(table.render(results).split())
    assert f"exceeds 0.1 % by more than 4 of its standard errors: in {shown} of the {len(answered)} cells" in text
    assert f"In {blind} of them 4 of its standard errors are more than 0.1 %" in text
    assert table.render(results) in (POWER / "README.md").read_text(encoding="utf-8")


def test_a_readme_without_its_markers_is_refused() -> None:
    with pytest.raises(UsageError, match="once"):
        table.into("no markers", "part")


def test_averages_are_simulated_as_means_of_the_power() -> None:
    rng = np.random.default_rng(2)
    load = make_load("spikes", 30.0, 20.0, 20.0, rng)
    series = read(load, KINDS["average over 1 s"], capabilities_of(KINDS["average over 1 s"], 1.0, 0.0), 0.0, -15, 45, rng)
    assert series.watts is not None
    curve = averages(series.times_s, series.watts)
    a, b = series.times_s[3], series.times_s[-3]
    assert curve.between(a, b) == pytest.approx(float(np.diff(load.energy(np.array([a, b])))[0]), rel=1e-9)
