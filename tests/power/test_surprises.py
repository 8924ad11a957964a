"""Values that widely used libraries make wrong (surprises.md has the list), and what we say of the same readings."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT
from ecosort_power.errors import MeterError
from ecosort_power.evaluate import evaluate
from ecosort_power.integrate import Sample, trapezoid
from ecosort_power.meters.base import parse_spec, with_settings
from ecosort_power.meters.csv import CsvMeter, read_log
from ecosort_power.quality import defects_of
from ecosort_power.reading import Reading, screen

from .synthetic import WALL, instants, step, ticks, window

HERE = Path(__file__).resolve().parent
BEGIN = 1_700_000_000


def log_of(path: Path, header: str, rows: list[tuple[float, object]]) -> Path:
    path.write_text(f"{header}\n" + "".join(f"{t!r},{value}\n" for t, value in rows))
    return path


def fatal(log: Path, settings: str) -> set[str]:
    """Names what refuses a run from second 60 to 160 of the log."""
    spec = parse_spec(f"csv:{log}#{settings}")
    meter = CsvMeter(spec)
    readings = meter.collect(10.0, 190.0, BEGIN, None)
    energy = evaluate("log", readings, with_settings(meter.open(), spec), window(60.0, 160.0, lead=50.0, tail=30.0), [])
    return {defect.code for defect in energy.defects if defect.fatal}


def test_every_test_of_the_list_exists() -> None:
    named = re.findall(r"`(test_\w+)\.py::(test_\w+)`", (HERE / "surprises.md").read_text())
    assert len(named) > 12
    for module, name in named:
        assert f"\ndef {name}(" in (HERE / f"{module}.py").read_text(), (module, name)
    assert "surprises.md" in (ROOT / "tests" / "README.md").read_text()


def test_a_hundred_watts_for_three_seconds_are_three_hundred_joules() -> None:
    """carbontracker 2.4.7 says 474 J: it multiplies by a mean of data centres."""
    curve = trapezoid([Sample(t / 10, 100.0) for t in range(41)])
    assert curve.between(0.5, 3.5) == pytest.approx(300.0, rel=1e-12)


def test_energy_by_phases_moves_nothing_to_the_neighbour() -> None:
    """pyjls 0.17.0 says 2.014 W for seconds 8 to 10 when it is asked for several windows in one call."""
    power, _ = step(2.0, 4.0, 10.0, 1e9)
    curve = trapezoid([Sample(t / 1000, power(t / 1000)) for t in range(20_000)])
    windows = [(begin, begin + 2.0) for begin in (0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0)]
    means = [curve.between(*both) / 2.0 for both in windows]
    assert means == pytest.approx([2.0] * 5 + [4.0] * 2, abs=0.001), "the step itself takes a millisecond"
    assert sum(means) * 2.0 == pytest.approx(curve.between(0.0, 14.0), rel=1e-12)


@pytest.mark.parametrize("value", [1.8e308, -1.8e308, float("nan")])
def test_a_lost_stretch_takes_no_good_readings_with_it(value: float) -> None:
    """pyjls 0.17.0: mean NaN for hours because of milliseconds, and extremes of 1.8e308, which no test for NaN catches."""
    readings = instants(lambda t: 20 + 0.01 * (t % 7), ticks(980, 2020, 1.0))
    lost = [screen(replace(r, watts=value) if r.mid_s == 1500 else r, WALL) for r in readings]
    assert not lost[520].usable or defects_of(lost, WALL, window(1000, 2000), "m")
    assert all(r.usable for i, r in enumerate(lost) if i != 520)


def test_a_counter_that_is_not_a_number_is_no_reading() -> None:
    """prometheus-client 0.26.0 and prom-client 15.1.3 add NaN to a counter, which is NaN for ever from then on."""
    readings = [screen(Reading(t, t, None, value), WALL) for t, value in enumerate((5.0, float("nan"), float("nan")))]
    assert [(reading.joules, reading.usable) for reading in readings] == [(5.0, True), (None, False), (None, False)]


def test_dense_bursts_with_gaps_between_them_are_refused(tmp_path: Path) -> None:
    """monsoon 0.1.88 with granularity 10 writes the first tenth of each batch; the number of rows is right."""
    times = [BEGIN + batch * 10 + i * 0.1 for batch in range(20) for i in range(10)]
    log = log_of(tmp_path / "log.csv", "time,P (W)", [(t, 20 + i % 2) for i, t in enumerate(times)])
    assert "gap" in fatal(log, "lag=0,update=0.1")


def test_seconds_under_a_header_of_milliseconds_are_refused(tmp_path: Path) -> None:
    """monsoon 0.1.88 writes time.time() - start under "Time(ms)": by the header energy is too small by 1000."""
    log = log_of(tmp_path / "log.csv", "Time(ms),P (W)", [(i * 0.2, 20 + i % 2) for i in range(1000)])
    with pytest.raises(MeterError, match="has no rows for this run"):
        CsvMeter(parse_spec(f"csv:{log}#offset={BEGIN}")).collect(10.0, 190.0, BEGIN, None)


def test_the_code_of_a_number_is_the_number(tmp_path: Path) -> None:
    """monsoon 0.1.88 with numpy 2 writes np.float64(1.0), which readers of CSV take for a text, or for 64."""
    log = log_of(tmp_path / "log.csv", "time,P (W)", [(BEGIN + i, "np.float64(20.5)" if i > 2 else 20.5) for i in range(8)])
    assert {row.watts for row in read_log(log, {}).rows} == {20.5}


def test_power_in_kilowatts_and_in_watts_within_one_log_is_scaled_by_each_unit(tmp_path: Path) -> None:
    """dsmr-parser 1.11.2 gives the bare number: a program for Dutch meters (kW) says 2.1 MW for a German one (W)."""
    log = log_of(tmp_path / "log.csv", "time,power", [(BEGIN + i, "2.1 kW" if i % 2 else "2100 W") for i in range(8)])
    assert {row.watts for row in read_log(log, {}).rows} == {2100.0}


def test_a_constant_for_ever_is_stale() -> None:
    """pyfritzhome 0.6.21, and ipmitool of a BMC that stopped measuring: the value of long ago, at every reading."""
    readings = [screen(r, WALL) for r in instants(lambda _: 215.0, ticks(80, 180, 1.0))]
    found = {d.code for d in defects_of(readings, WALL, window(100, 160, load_step=0.8), "m") if d.fatal}
    assert found == {"stale"}
