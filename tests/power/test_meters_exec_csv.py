"""Programs as meters, logs as meters."""

from __future__ import annotations

import contextlib
import csv
import json
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from ecosort_power.align import Load
from ecosort_power.errors import MeterError, MeterGlitchError, PowerError, UsageError
from ecosort_power.evaluate import evaluate
from ecosort_power.meters import make_meter
from ecosort_power.meters.base import parse_spec, with_settings
from ecosort_power.meters.csv import CsvMeter, read_log
from ecosort_power.meters.exec import parse_line, to_reading
from ecosort_power.quality import Window
from ecosort_power.reading import PowerKind, Scope
from hypothesis import given, settings
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    "said",
    [
        *({"period_s": -5}, {"period_s": float("nan")}, {"update_s": 1e300}, {"lag_s": -1}, {"window_s": float("inf")}),
        *({"quantum_w": -1}, {"quantum_j": float("nan")}, {"range_w": 0}, {"wrap_j": -1}),
    ],
)
def test_what_no_meter_can_be_is_refused_whoever_says_it(tmp_path: Path, said: dict[str, float]) -> None:
    lines = [json.dumps({"meter": said}), json.dumps({"watts": 40})]
    spec = parse_spec(program(tmp_path, f"import time\nprint({chr(10).join(lines)!r}, flush=True)\ntime.sleep(60)"))
    meter = make_meter(spec)
    try:
        with pytest.raises(MeterError, match=f"its {next(iter(said))} is .*must be from"):
            with_settings(meter.open(), spec)
    finally:
        meter.close()


@pytest.mark.parametrize("value", [0, -1, -1e-9])
def test_a_mean_is_over_some_time(value: float) -> None:
    with pytest.raises(MeterGlitchError, match="no interval"):
        to_reading(parse_line(f'{{"watts": 40, "interval_s": {value}}}'), 0.0, 1.0, 0.0)


def test_what_a_program_calls_itself_steers_no_terminal_and_can_be_written(tmp_path: Path) -> None:
    said = {"title": "\x1b[31mred\nline\ud800", "identity": {"serial\n": "\x07 7"}}
    lines = [json.dumps({"meter": said}), json.dumps({"watts": 40})]
    spec = parse_spec(program(tmp_path, f"import time\nprint({chr(10).join(lines)!r}, flush=True)\ntime.sleep(60)"))
    meter = make_meter(spec)
    found = with_settings(meter.open(), spec)
    meter.close()
    assert (found.title, found.identity) == (" [31mred line ", {"serial ": "  7"})


@pytest.mark.parametrize("said", ["yes", 1, None, []])
def test_a_program_says_that_it_is_simulated_in_one_way(tmp_path: Path, said: object) -> None:
    """Else its results would be ranked."""
    lines = [json.dumps({"meter": {"simulated": said}}), json.dumps({"watts": 40})]
    meter = make_meter(parse_spec(program(tmp_path, f"print({chr(10).join(lines)!r})")))
    with pytest.raises(MeterError, match="neither true nor false"):
        meter.open()


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


@pytest.mark.parametrize("key", ["monotonic_s", "realtime_s", "interval_s"])
@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_time_that_is_none_is_no_reading(key: str, value: str) -> None:
    """Between two readings of which one has no time no gap can be seen."""
    with pytest.raises(MeterGlitchError, match=f"printed {key} = .*no time"):
        to_reading(parse_line(f'{{"watts": 40, "{key}": {value}}}'), 0.0, 1.0, 0.0)


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
    path.write_text("n;when;P;E\n1;1790000000;40,5;1\n2;1790000001;41;1,5\n3;1790000002;42;2\n")
    meter = CsvMeter(parse_spec(f"csv:{path}#delimiter=;,time=when,watts=P,unit=W,energy=E,energy-unit=Wh,offset=2.5"))
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
        ("Time,Power (W)\n1,2\nx,y\n", "line 3"),
        ("A,B\n1,2\n3,4\n", "watts=NAME"),
        ("Time,Power\n1,2\n3,4\n", "watts=NAME"),
        ("Time,S (VA)\n1,2\n3,4\n", "watts=NAME"),
        ("Time,P1 (W),P2 (W)\n1,2,3\n3,4,5\n", "P1 .W., P2 .W."),
        ("Time,P (W)\n1,2,5\n3,4,5\n", "line 2 .*decimal commas"),
        ("Time;P (W)\n1;2,500\n3;4,100\n", "two ways; say #decimal"),
        ("Date,P (W)\n03/04/2026 10:00:00,2\n03/04/2026 10:00:01,3\n", "two ways; say #time-format"),
        ("Time,P (W)\n1790000002,2\n1790000001,3\n", "go back"),
        ("Time,E (Wh)\n1790000002,2\n1790000003,1\n", "no counter"),
        ("# made by a logger\n\nTime,P (W)\n1,inf\n3,4\n", "line 4"),
        ("Time,P (W)\n5,1\n1790000001,4\n", "some do not"),
        ('Time,P (W),note\n1,2,a\n2,3,"fan on\n3,4,b\n4,5,c\n', "line 3: a field begins with a quote that is not closed"),
        ('Time,P (W),note\n1,2,"a\nb"\n2,3,"on\n3,4,"off"\n', "line 4: a field begins with a quote that is not closed"),
    ],
)
def test_a_bad_log_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises((MeterError, UsageError), match=said):
        read_log(path, {})


@pytest.mark.parametrize("sign", ["\u2028", "\x0c", "\x85"])
def test_a_sign_that_ends_lines_elsewhere_ends_no_row(tmp_path: Path, sign: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"Time,P (W),note\n1,2,a{sign}b\n2,3,c\n\n", encoding="utf-8")
    assert [row.watts for row in read_log(path, {}).rows] == [2.0, 3.0]


@pytest.mark.parametrize(
    ("header", "watts"),
    [("Power (W)", 500.0), ("P [kW]", 5e5), ("power_mW", 0.5), ("Active power/W", 500.0), ("Watts", 500.0), ("P-E1(W)", 500.0)],
)
def test_a_header_says_its_unit(tmp_path: Path, header: str, watts: float) -> None:
    log = read_log(write_log(tmp_path / "log.csv", [(ABSOLUTE + i, 500) for i in range(3)], ("Time", header)), {})
    assert [r.watts for r in log.rows] == [pytest.approx(watts)] * 3


@pytest.mark.parametrize("header", ["Apparent power (VA)", "Power factor", "S/VA", "Q (var)", "cos phi", "Power_Factor"])
@pytest.mark.parametrize("settings", ["", ",unit=W"])
def test_what_is_not_watts_is_refused_by_its_name(tmp_path: Path, header: str, settings: str) -> None:
    path = write_log(tmp_path / "log.csv", [(ABSOLUTE + i, 500) for i in range(3)], ("Time", header))
    spec = parse_spec(f"csv:{path}#watts={header}{settings}")
    with pytest.raises(UsageError, match="not watts") as caught:
        CsvMeter(spec).open()
    assert header in str(caught.value)


def test_a_column_without_a_unit_is_taken_when_it_is_said(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.csv", [(ABSOLUTE + i, 0.5) for i in range(3)], ("Time", "P"))
    with pytest.raises(UsageError, match="#unit=W"):
        read_log(path, {"watts": "P"})
    assert read_log(path, {"watts": "P", "unit": "kW"}).rows[0].watts == 500.0


@pytest.mark.parametrize(("header", "joules"), [("Energy (kWh)", 3.6e6), ("E [Wh]", 3600.0), ("Total J", 1.0)])
def test_a_log_of_a_counter_counts_in_the_unit_of_its_header(tmp_path: Path, header: str, joules: float) -> None:
    path = write_log(tmp_path / "log.csv", [(ABSOLUTE + i, float(i)) for i in range(4)], ("Time", header))
    meter = CsvMeter(parse_spec(f"csv:{path}"))
    found = meter.open()
    assert (found.power, found.counter) == (None, True)
    assert [r.joules for r in read_log(path, {}).rows] == pytest.approx([i * joules for i in range(4)])


BERLIN = datetime(2026, 11, 24, 9, 0, tzinfo=timezone(timedelta(hours=1))).timestamp()


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (
            "Datum;Uhrzeit;Wirkleistung (W)\n{d}09:00:00;41,5\n{d}09:00:01;1.042,5\n".replace("{d}", "24.11.2026;"),
            {"timezone": "+01:00"},
        ),
        ("Zeit;P (W)\n24.11.2026 09:00:00,0;41,5\n24.11.2026 09:00:01,0;1042,5\n", {"timezone": "Europe/Berlin"}),
        ("Time\tP\ns\tW\n2026-11-24T09:00:00+01:00\t41.5\n2026-11-24T09:00:01+01:00\t1,042.5\n", {}),
        ("Time,P (W)\n2026-11-24T08:00:00Z,41.5\n2026/11/24 08:00:01,1042.5\n", {"timezone": "UTC"}),
        (
            "When,P (W)\n24/11/2026 09:00:00,41.5\n24/11/2026 09:00:01,1042.5\n",
            {"time": "When", "time-format": "%d/%m/%Y %H:%M:%S", "timezone": "Europe/Berlin"},
        ),
        (
            "WT310 log\nrange 300 V\n\nTime;P (W)\n{b};41.5\n{b2};1042.5\n".replace("{b2}", str(BERLIN + 1)).replace(
                "{b}", str(BERLIN)
            ),
            {},
        ),
    ],
)
def test_logs_of_many_countries_are_understood(tmp_path: Path, text: str, settings: dict[str, str]) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    log = read_log(path, settings)
    assert log.absolute
    assert [(r.time_s, r.watts) for r in log.rows] == [(BERLIN, 41.5), (BERLIN + 1, 1042.5)]


@pytest.mark.parametrize("setting", ["unit=VA", "energy-unit=Ah", "timezone=Mars", "decimal=x", "delimiter=ab", "offset=x"])
def test_a_wrong_setting_of_a_log_is_said_before_there_is_a_log(setting: str) -> None:
    with pytest.raises(UsageError, match=setting.partition("=")[0].removeprefix("energy-")):
        CsvMeter(parse_spec(f"csv:not-yet.csv#{setting}"))


@pytest.mark.parametrize(("step_s", "said"), [(-3600.0, "go back"), (-2.0, "go back"), (3600.0, "coverage"), (3.0, "gap")])
def test_a_clock_that_is_set_while_a_log_is_written_gives_no_joules(tmp_path: Path, step_s: float, said: str) -> None:
    rows = [(ABSOLUTE + i + (step_s if i > 130 else 0.0), 50.0 if 100 <= i < 160 else 10.0 + i % 2) for i in range(260)]
    meter = CsvMeter(parse_spec(f"csv:{write_log(tmp_path / 'log.csv', rows)}#lag=0"))
    if said == "go back":
        with pytest.raises(MeterError, match=said):
            meter.open()
        return
    readings = meter.collect(80.0, 180.0, ABSOLUTE, None)
    found = evaluate("log", readings, with_settings(meter.open(), meter.spec), Window(80.0, 100.0, 160.0, 180.0), [])
    assert found.joules is None
    assert said in {d.code for d in found.defects if d.fatal}


SPREAD = {"same-time": "spread"}


def test_rows_of_one_time_lie_evenly_up_to_the_next_one_and_a_gap_stays_one(tmp_path: Path) -> None:
    """Four rows a second by a clock of whole seconds, three seconds without a row, and a second with two rows too many."""
    seconds = [0] * 4 + [1] * 4 + [5] * 4 + [6] * 6
    log = read_log(write_log(tmp_path / "log.csv", [(ABSOLUTE + t, 40 + i) for i, t in enumerate(seconds)]), SPREAD)
    assert len(log.rows) == len(seconds)
    assert [r.time_s - ABSOLUTE for r in log.rows[:12]] == pytest.approx(
        [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 5, 5.25, 5.5, 5.75]
    )
    assert log.period_s == pytest.approx(0.25)
    slow = [0, 1, 1, 3, 4, 5]  # a row a second, two of which fell into one
    found = read_log(write_log(tmp_path / "log.csv", [(ABSOLUTE + t, 40) for t in slow]), {})
    assert [r.time_s - ABSOLUTE for r in found.rows] == pytest.approx([0, 1, 2, 3, 4, 5])


def test_a_log_whose_rows_have_one_time_is_refused(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.csv", [(ABSOLUTE, 40 + i) for i in range(5)])
    with pytest.raises(MeterError, match="all of its 5 rows have one time"):
        read_log(path, {})


@pytest.mark.parametrize("end", ["1790000003,4", "1790000003", "17900"])
def test_a_line_that_is_still_being_written_is_left_out(tmp_path: Path, end: str) -> None:
    """41.7 W looks like 4 W in the moment when the meter has written so much of it."""
    path = tmp_path / "log.csv"
    path.write_text(f"Time,P (W)\n1790000001,41.5\n1790000002,41.6\n{end}")
    assert [r.watts for r in read_log(path, {}).rows] == [41.5, 41.6]


BEFORE_WINTER = datetime(2026, 10, 25, 0, 58, tzinfo=UTC).timestamp()  # 02:58 in Berlin, summer time


@pytest.mark.parametrize("zone", ["Europe/Berlin", "UTC"])
def test_a_log_over_the_end_of_summer_time_is_refused_in_local_time_and_read_in_utc(tmp_path: Path, zone: str) -> None:
    local = ZoneInfo(zone)
    rows = [(datetime.fromtimestamp(BEFORE_WINTER + i, local).strftime("%Y-%m-%d %H:%M:%S"), 40.0) for i in range(240)]
    path = write_log(tmp_path / "log.csv", [(t, w) for t, w in rows])
    if zone == "UTC":
        assert [r.time_s for r in read_log(path, {"timezone": zone}).rows] == pytest.approx(
            [BEFORE_WINTER + i for i in range(240)]
        )
        return
    with pytest.raises(MeterError, match=r"go back by 3599 s .*summer time ended: let the meter write UTC"):
        read_log(path, {"timezone": zone})


def test_the_beginning_of_summer_time_makes_no_gap(tmp_path: Path) -> None:
    local, begin = ZoneInfo("Europe/Berlin"), datetime(2026, 3, 29, 0, 59, 50, tzinfo=ZoneInfo("UTC")).timestamp()
    rows = [(datetime.fromtimestamp(begin + i, local).strftime("%Y-%m-%d %H:%M:%S"), 40.0) for i in range(30)]
    log = read_log(write_log(tmp_path / "log.csv", [(t, w) for t, w in rows]), {"timezone": "Europe/Berlin"})
    assert [r.time_s for r in log.rows] == pytest.approx([begin + i for i in range(30)])


def test_a_log_in_the_second_of_two_equal_hours_has_no_rows_for_the_run_and_says_so(tmp_path: Path) -> None:
    """02:30 comes twice in that night, and is taken for the first: an hour early, where there was no run."""
    local, begin = ZoneInfo("Europe/Berlin"), BEFORE_WINTER + 1800
    rows = [(datetime.fromtimestamp(begin + i, local).strftime("%Y-%m-%d %H:%M:%S"), 40.0) for i in range(60)]
    meter = CsvMeter(parse_spec(f"csv:{write_log(tmp_path / 'log.csv', [(t, w) for t, w in rows])}#timezone=Europe/Berlin"))
    with pytest.raises(MeterError, match="would fit if its times were 1 h later"):
        meter.collect(100.0, 160.0, begin - 100.0, None)


@settings(deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda t: f"Time;P (W)\n{t}\n1;2\n".encode(errors="replace")))
def test_no_log_makes_a_traceback(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.csv"
    path.write_bytes(data)
    with contextlib.suppress(PowerError):
        read_log(path, {})
