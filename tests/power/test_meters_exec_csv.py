"""Programs as meters, logs as meters."""

from __future__ import annotations

import csv
import sys
from datetime import datetime
from pathlib import Path

import pytest
from ecosort_power.align import Load
from ecosort_power.errors import MeterError, UsageError
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import parse_spec, with_settings
from ecosort_power.meters.csv import CsvMeter, read_log
from ecosort_power.reading import PowerKind, Scope

from .support import toy_meter


def program(tmp_path: Path, text: str) -> str:
    path = tmp_path / "meter.py"
    path.write_text(text)
    return f"exec:{sys.executable} {path}"


def test_a_program_says_what_it_is_and_what_it_reads(in_tmp: Path) -> None:
    meter = make_meter(parse_spec(toy_meter()))
    found = meter.open()
    first, second = meter.read(), meter.read()
    pids = meter.pids()
    meter.close()
    assert (found.title, found.scope, found.period_s) == ("toy meter", Scope.WALL, 0.05)
    assert found.accuracy is not None
    assert first.watts == second.watts == 10.0
    assert first.after_s < second.after_s
    assert pids
    assert not Path(f"/proc/{pids[0]}").exists()


def test_settings_win_over_what_the_program_says(in_tmp: Path) -> None:
    spec = parse_spec(toy_meter(settings="scope=psu,lag=0.5,accuracy=2%+0.1W,power=average,window=1"))
    meter = make_meter(spec)
    found = with_settings(meter.open(), spec)
    meter.close()
    assert (found.scope, found.lag_s, found.power, found.timing_source) == (Scope.PSU, 0.5, PowerKind.AVERAGE, "given")
    assert found.accuracy is not None
    assert found.accuracy.gain == 0.02


def test_the_program_may_give_its_own_time_and_interval(tmp_path: Path) -> None:
    meter = make_meter(
        parse_spec(
            program(
                tmp_path,
                """import time
print('{"watts": 5, "interval_s": 0.25, "monotonic_s": 12.5}', flush=True)
time.sleep(60)""",
            )
        )
    )
    found = meter.open()
    reading = meter.read()
    meter.close()
    assert (reading.mid_s, reading.interval_s) == (12.5, 0.25)
    assert found.power is PowerKind.AVERAGE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("print('hello', flush=True); import time; time.sleep(9)", "no JSON"),
        ("import sys; sys.exit('no such device')", "no such device"),
        ("print('{\"volts\": 3}', flush=True); import time; time.sleep(9)", None),
        ("import time; time.sleep(60)", "did not answer"),
    ],
)
def test_a_program_that_is_no_meter_is_refused_with_its_words(tmp_path: Path, text: str, said: str | None) -> None:
    meter = make_meter(parse_spec(program(tmp_path, text) + f"#timeout={1 if said == 'did not answer' else 5}"))
    try:
        if said is None:
            meter.open()
            with pytest.raises(MeterError, match="neither watts nor joules"):
                meter.read()
        else:
            with pytest.raises(MeterError, match=said):
                meter.open()
    finally:
        meter.close()


def test_a_program_that_is_not_there_is_said() -> None:
    with pytest.raises(MeterError, match="not installed"):
        make_meter(parse_spec("exec:/nonexistent/meter --x")).open()


ABSOLUTE = 1_790_000_000.0


def write_log(path: Path, rows: list[tuple[object, float]], header: tuple[str, str] = ("Time", "Power (W)")) -> Path:
    with path.open("w", newline="") as f:
        csv.writer(f).writerows([header, *rows])
    return path


@pytest.mark.parametrize("form", ["epoch", "ms", "iso"])
def test_times_of_a_log_are_understood(tmp_path: Path, form: str) -> None:
    def stamp(t: float) -> object:
        if form == "iso":
            return datetime.fromtimestamp(t).isoformat()
        return t if form == "epoch" else t * 1000

    log = read_log(write_log(tmp_path / "log.csv", [(stamp(ABSOLUTE + i), 40 + i) for i in range(5)]), {})
    assert log.absolute
    assert [r.time_s for r in log.rows] == pytest.approx([ABSOLUTE + i for i in range(5)])
    assert [r.watts for r in log.rows] == [40, 41, 42, 43, 44]


def test_a_log_is_cut_to_the_run_by_the_real_time_clock(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.csv", [(ABSOLUTE + i, 40 + i) for i in range(100)])
    meter = CsvMeter(parse_spec(f"csv:{path}"))
    meter.open()
    found = meter.collect(120.0, 130.0, ABSOLUTE - 100.0, None)
    assert [r.mid_s for r in found] == pytest.approx(list(range(118, 133)))
    assert found[2].watts == 60


def test_offset_and_delimiter_and_columns(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("n;when;P;E\n1;1790000000;40,5;1\n".replace(",", ".") + "2;1790000001;41;1.5\n3;1790000002;42;2\n")
    meter = CsvMeter(parse_spec(f"csv:{path}#delimiter=;,time=when,watts=P,energy=E,energy-unit=Wh,offset=2.5"))
    meter.open()
    found = meter.collect(0.0, 10.0, ABSOLUTE, None)
    assert (found[0].mid_s, found[0].watts, found[0].joules) == pytest.approx((2.5, 40.5, 3600.0))


@pytest.mark.parametrize(("shift", "absolute"), [(7.3, True), (-41.6, True), (1000.0, False)])
def test_a_log_with_a_wrong_clock_is_aligned_by_the_load(tmp_path: Path, shift: float, absolute: bool) -> None:
    """Two busy stretches of different length; the log's clock is off by `shift`."""
    edges = [0.0, 100.0, 130.0, 145.0, 152.0, 260.0]
    levels = [0.02, 0.9, 0.02, 0.8, 0.02]
    load = Load.from_steps(edges, levels)

    def power(t: float) -> float:
        i = max(k for k in range(len(edges) - 1) if edges[k] <= t)
        return 10 + 40 * levels[i]

    base = ABSOLUTE if absolute else 0.0
    rows = [(base + t + shift, power(t)) for t in (60 + 0.5 * i for i in range(260))]
    meter = CsvMeter(parse_spec(f"csv:{write_log(tmp_path / 'log.csv', rows)}#offset=auto"))
    meter.open()
    found = meter.collect(90.0, 170.0, ABSOLUTE, load)
    first_busy = next(r.mid_s for r in found if r.watts is not None and r.watts > 30)
    assert first_busy == pytest.approx(100.0, abs=0.6)


def test_a_log_without_real_times_needs_an_alignment(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.csv", [(i, 40) for i in range(9)])
    with pytest.raises(UsageError, match="offset=auto"):
        CsvMeter(parse_spec(f"csv:{path}")).collect(0, 5, ABSOLUTE, None)


def test_a_log_of_another_time_says_how_to_attach_it_later(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.csv", [(ABSOLUTE + i, 40) for i in range(9)])
    with pytest.raises(MeterError, match="ecosort-power attach"):
        CsvMeter(parse_spec(f"csv:{path}")).collect(500, 600, ABSOLUTE, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Time,Power\n", "no log"),
        ("Time,Power\n1,2\nx,y\n", "line 3"),
        ("A,B\n1,2\n3,4\n", "which columns"),
    ],
)
def test_a_bad_log_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises((MeterError, UsageError), match=said):
        read_log(path, {})
