"""Finds which column of a log is power, in which unit, and what is said where that is not clear."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from ecosort_power.errors import MeterError, UsageError
from ecosort_power.evaluate import evaluate
from ecosort_power.meters.base import parse_spec, with_settings
from ecosort_power.meters.csv import CsvMeter, read_log
from ecosort_power.meters.log_columns import Column, find_columns
from ecosort_power.meters.log_values import CellError, plain_number

from .synthetic import window

BEGIN = 1_790_000_000


def log_of(path: Path, header: str, *rows: str) -> Path:
    """The times come first; the rows are repeated until there are enough of them."""
    many = [rows[i % len(rows)] for i in range(max(len(rows), 6))]
    separator = ";" if ";" in header else ","
    path.write_text("\n".join([header, *(f"{BEGIN + i}{separator}{row}" for i, row in enumerate(many))]) + "\n")
    return path


@pytest.mark.parametrize(
    ("header", "rows", "settings", "watts", "joules"),
    [
        ("time,power", ("19.9", "20.1"), {"unit": "W"}, 19.9, None),
        ("time,power", ("19.9", "20.1"), {"unit": "mW"}, 0.0199, None),
        ("time,value,U (V),I (A),f [Hz],T (°C),PF", ("19.9,230,0.1,50,21,0.9",), {"unit": "W"}, 19.9, None),
        ("time,power,remark", ("19.9,cold",), {"unit": "W"}, 19.9, None),
        ("time,total", ("1.5",), {"energy-unit": "kWh"}, None, 1.5 * 3.6e6),
        ("time,power,total", ("19.9,1.5",), {"watts": "power", "unit": "W", "energy-unit": "Wh"}, 19.9, 1.5 * 3600),
        ("time,Outlet A", ("19.9",), {"unit": "W"}, 19.9, None),
        ("time,P/W,kWh/W", ("19.9,0.3",), {}, 19.9, None),
        ("time,power", ("19.9 W", "20.1 W"), {}, 19.9, None),
        ("time,power", ("19.9W",), {}, 19.9, None),
        ("time,P (W)", ("19.9 W",), {}, 19.9, None),
        ("time,power", ("1.5 kW", "950 W"), {}, 1500.0, None),
        ("time;power", ("1.234,5 W", "999,5 W"), {}, 1234.5, None),
        ("time;power", ("1.234.567 mW", "999 mW"), {}, 1234.567, None),
        ("time,total", ("1.5 kWh",), {}, None, 1.5 * 3.6e6),
        ("time,power.limit [W],power.draw [W]", ("200,19.9",), {}, 19.9, None),
        ("time,Max Power (W),Power (W)", ("200,19.9",), {}, 19.9, None),
        ("time,Max Power (W)", ("19.9",), {"watts": "Max Power (W)"}, 19.9, None),
    ],
)
def test_one_column_that_fits_is_taken(
    tmp_path: Path, header: str, rows: tuple[str, ...], settings: dict[str, str], watts: float | None, joules: float | None
) -> None:
    first = read_log(log_of(tmp_path / "log.csv", header, *rows), settings).rows[0]
    assert (first.watts, first.joules) == (pytest.approx(watts), pytest.approx(joules))


@pytest.mark.parametrize("name", ["Power Limit (W)", "power_max_w", "Peak W", "rated power [kW]", "Min. Leistung (W)"])
def test_a_setting_or_an_extreme_is_not_what_is_drawn(tmp_path: Path, name: str) -> None:
    for settings in ({}, {"unit": "W"}):
        with pytest.raises(UsageError, match="no column of the log says that it is in watts"):
            read_log(log_of(tmp_path / "log.csv", f"time,{name}", "200", "201"), settings)


@pytest.mark.parametrize(
    ("name", "what"),
    [("VA", "apparent power (VA)"), ("power factor", "a power factor"), ("Blindleistung", "apparent or reactive power")],
)
def test_what_is_no_power_is_refused_by_its_name(tmp_path: Path, name: str, what: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"'{name}' is {what}, which is not W")):
        read_log(log_of(tmp_path / "log.csv", f"time,{name}", "200", "201"), {})


def test_cells_with_units_of_their_own_are_scaled_one_by_one(tmp_path: Path) -> None:
    log = read_log(log_of(tmp_path / "log.csv", "time,power", "1.5 kW", "950 W"), {})
    assert [r.watts for r in log.rows[:2]] == [1500.0, 950.0]


@pytest.mark.parametrize(
    ("header", "rows", "settings", "said"),
    [
        ("time,power", ("19.9",), {}, r"say which and in what: #watts=NAME,unit=W; it has: time, power"),
        ("time,kWh/W", ("19.9",), {}, r"say which and in what: #watts=NAME,unit=W; it has: time, kWh/W"),
        ("time,power", ("19.9",), {"watts": "power"}, r"column 'power' does not say its unit; say it: #unit=W"),
        ("time,power,voltage", ("19.9,230.1",), {"unit": "W"}, r"several columns that may be in W \(power, voltage\); say which"),
        ("time,power", ("19.9",), {"watts": "time", "unit": "W"}, r"column 'time' is the column of the times, not watts"),
        ("time,P (W),I (A)", ("19.9,0.1",), {"watts": "I (A)", "unit": "W"}, r"column 'I \(A\)' is a current, not watts"),
        ("time,P (W),U (V)", ("19.9,230",), {"watts": "U (V)"}, r"column 'U \(V\)' is a voltage, not watts"),
        (
            "time,E1 (kWh),E2 (kWh)",
            ("1.5,1.6",),
            {},
            r"several columns in Wh \(E1 \(kWh\), E2 \(kWh\)\); say which: #energy=NAME",
        ),
        ("time,P (W)", ("19.9 kW",), {}, r"line 2 .*'19.9 kW' is not in the unit of its column"),
        ("time,P (W)", ("19.9 VA",), {}, r"line 2 .*'VA' is no unit of watts \(W, mW, kW\)"),
        ("time,power", ("19.9 W", "20.1"), {}, r"line 3 .*'20.1' does not say its unit, other cells of its column do"),
        ("time,power", ("OL", "19.9 W"), {}, r"line 2 .*'OL' is beyond the meter's range"),
        ("time,I,Unit", ("0.512,A", "-O.L,A"), {"watts": "I*5V"}, r"line 3 .*'-O.L' is beyond the meter's range"),
        ("time;P (W)", ("1.234", "987"), {}, r"'1.234' can be read in two ways; say #decimal=comma or #decimal=point"),
        (
            "time;P (W)",
            ("1.234,5",),
            {"decimal": "point"},
            r"'1.234,5' has no decimal point that fits; #decimal=comma\?",
        ),
        (
            "time;P (W)",
            ("1,234.5",),
            {"decimal": "comma"},
            r"'1,234.5' has no decimal comma that fits; #decimal=point\?",
        ),
        ("time,P (W)", ("1.234,5",), {}, r"line 2 .*decimal commas need another separator"),
    ],
)
def test_what_is_not_clear_is_said_by_name(
    tmp_path: Path, header: str, rows: tuple[str, ...], settings: dict[str, str], said: str
) -> None:
    with pytest.raises((MeterError, UsageError), match=said) as caught:
        read_log(log_of(tmp_path / "log.csv", header, *rows), settings)
    assert "\n" not in str(caught.value)


def test_three_decimals_beside_a_counter_of_whole_numbers_are_no_thousands(tmp_path: Path) -> None:
    log = read_log(log_of(tmp_path / "log.csv", "time,P (W),E (Wh)", "19.125,1200", "20.250,1200"), {"energy": "E (Wh)"})
    assert (log.rows[0].watts, log.rows[0].joules) == (19.125, 1200 * 3600)


THOUSANDS = [
    ("1.234,5", ",", "1234.5"),
    ("1.234.567", ",", "1234567"),
    ("-0,5", ",", "-0.5"),
    ("1,234.5", ".", "1234.5"),
    ("7e-3", ".", "7e-3"),
]
NO_THOUSANDS = [("1.23,5", ","), ("1.234,5", "."), ("1,5,2", ","), ("1,234,5", "."), ("1.2345", ",")]


@pytest.mark.parametrize(("text", "decimal", "number"), THOUSANDS)
def test_numbers_with_thousands(text: str, decimal: str, number: str) -> None:
    assert plain_number(text, decimal) == number


@pytest.mark.parametrize(("text", "decimal"), NO_THOUSANDS)
def test_a_sign_that_stands_between_no_thousands_is_refused(text: str, decimal: str) -> None:
    with pytest.raises(CellError, match="#decimal="):
        plain_number(text, decimal)


def test_a_coarse_counter_says_its_step_and_what_would_help(tmp_path: Path) -> None:
    path = log_of(tmp_path / "log.csv", "time,E (kWh)", *(f"{12.34 + i // 40 / 100:.2f}" for i in range(120)))
    spec = parse_spec(f"csv:{path}#scope=wall")
    meter = CsvMeter(spec)
    capabilities = with_settings(meter.open(), spec)
    assert capabilities.quantum_j == pytest.approx(36_000)
    readings = meter.collect(0.0, 119.0, BEGIN, None)
    found = evaluate("csv", readings, capabilities, window(30, 60), [])
    (reason,) = [d.text for d in found.defects if d.code == "too-short"]
    assert "one step of its counter is 36000 J: have the meter report its power (W) as well" in reason


@pytest.mark.parametrize(
    ("rows", "step_j"),
    [
        (("12.98", "12.99", "13.00"), 36e3),
        (("12.98", "12.99", "13"), 36e3),
        (("9.98", "9.99", "10"), 360e3),
        (("9.98", "9.99", "10", "10.01"), 36e3),
        (("1.001e+00", "1.002e+00"), 3600),
        (("9.998e+02", "9.999e+02", "1.000e+03"), 3.6e6),
        (("1e3", "1.5e3", "1.501E+3"), 3.6e6),
        (("0.000", "0.001"), 3600),
        (("0", "0", "0e9"), 3.6e6),
        (("12.98", "12.990000000000002", "13"), 36e3),
        (("999.8 Wh", "999.9 Wh", "1.00 kWh"), 36e3),
    ],
)
def test_the_step_of_a_counter_is_that_of_its_largest_number_with_all_digits_that_it_has(
    tmp_path: Path, rows: tuple[str, ...], step_j: float
) -> None:
    header = "time,E" if "Wh" in rows[0] else "time,E (kWh)"
    path = tmp_path / "log.csv"
    path.write_text("\n".join([header, *(f"{BEGIN + i},{row}" for i, row in enumerate(rows))]) + "\n")
    assert read_log(path, {}).quantum_j == pytest.approx(step_j)


@pytest.mark.parametrize(
    ("hours", "said"),
    [(-1.0, "1 h later"), (5.75, "5.75 h earlier"), (-13.0, "13 h later"), (0.2, None), (-30.0, None)],
)
def test_a_log_of_another_time_zone_says_so(tmp_path: Path, hours: float, said: str | None) -> None:
    path = log_of(tmp_path / "log.csv", "time,P (W)", *(f"{20 + i % 3}" for i in range(60)))
    meter = CsvMeter(parse_spec(f"csv:{path}"))
    with pytest.raises(MeterError) as caught:
        meter.collect(10.0, 40.0, BEGIN - hours * 3600, None)
    hint = re.search(r"would fit if its times were (.*?): another time zone\? say #timezone=UTC", str(caught.value))
    assert (hint[1] if hint else None) == said


def test_what_was_made_up_may_be_a_log(tmp_path: Path) -> None:
    spec = parse_spec(f"csv:{log_of(tmp_path / 'log.csv', 'time,P (W)', '20', '21')}#simulated=yes,scope=wall")
    found = with_settings(CsvMeter(spec).open(), spec)
    assert found.simulated
    assert replace(found, simulated=False).scope.headline == "computed, measured nowhere"


@pytest.mark.parametrize("name", ["EUR/kWh", "Price per kWh", "CO2 g/kWh", "ct/kWh", "Strompreis kWh", "Cost (kWh)", "$ per kWh"])
def test_an_amount_per_kilowatt_hour_is_no_counter(name: str) -> None:
    with pytest.raises(UsageError, match="no column of the log says"):
        find_columns(["time", name], [["2026-11-24T12:00:00Z", "40.1"]] * 3, {})
    with pytest.raises(UsageError, match="a price, or another amount"):
        find_columns(["time", name], [["2026-11-24T12:00:00Z", "40.1"]] * 3, {"energy": name, "energy-unit": "kWh"})


@pytest.mark.parametrize("name", ["Energy/kWh", "E per meter [kWh]", "Tariff 1 (kWh)", "Bezug kg-Halle kWh"])
def test_a_counter_is_taken_whatever_else_its_name_says(name: str) -> None:
    found = find_columns(["time", name], [["2026-11-24T12:00:00Z", "40.1"]] * 3, {})
    assert found.energy == Column(1, 3.6e6, "energy")


def test_a_time_that_does_not_fit_the_form_that_is_said_names_the_form(tmp_path: Path) -> None:
    with pytest.raises(MeterError, match=r"line 2 cannot be understood: .* is no time of the form #time-format=%d/%m"):
        read_log(log_of(tmp_path / "m.csv", "time,W", "1", "2"), {"time-format": "%d/%m"})


def test_a_unit_that_contradicts_the_header_is_refused() -> None:
    rows = [["2026-11-24T12:00:00Z", "0.04"]] * 3
    with pytest.raises(UsageError, match=r"column 'Power \(kW\)' is in kW, not in W: leave #unit= out"):
        find_columns(["time", "Power (kW)"], rows, {"unit": "W"})
    assert find_columns(["time", "Power (kW)"], rows, {"unit": "kW"}).watts == Column(1, 1000.0)


def test_times_have_the_decimal_sign_of_the_values(tmp_path: Path) -> None:
    log = tmp_path / "m.csv"
    log.write_text("Zeit (s);Leistung (W)\n0,5;41,7\n1,75;42,5\n")
    assert [(row.time_s, row.watts) for row in read_log(log, {}).rows] == [(0.5, 41.7), (1.75, 42.5)]
    log.write_text("time;W\n1764072000,25;41,7\n1764072001,5;42,5\n")
    assert [row.time_s for row in read_log(log, {}).rows] == [1764072000.25, 1764072001.5]


def test_a_time_that_is_none_is_shown_with_what_to_say(tmp_path: Path) -> None:
    log = tmp_path / "m.csv"
    log.write_text("time,W\n2026-11-25 01:00:00 PM,41.7\n2026-11-25 01:00:01 PM,41.8\n")
    with pytest.raises(
        MeterError, match=r"line 2 cannot be understood: .* 01:00:00 PM \| 41.7: .*#time-format=%Y-%m-%d %I:%M:%S %p"
    ):
        read_log(log, {})
    assert len(read_log(log, {"time-format": "%Y-%m-%d %I:%M:%S %p"}).rows) == 2


def test_a_counter_that_goes_down_by_little_is_told_with_all_its_digits(tmp_path: Path) -> None:
    with pytest.raises(MeterError, match=r"goes down from 3600000003.6 J to 3600000000 J"):
        read_log(log_of(tmp_path / "m.csv", "time,E [kWh]", "1000.000001", "1000.000000"), {})


EIGHT_UTC = 1_795_507_200  # 2026-11-24 08:00:00 UTC


def steps_of(path: Path, header: str, rows: list[str], settings: dict[str, str] | None = None) -> list[float]:
    path.write_text("\n".join([header, *rows]) + "\n")
    times = [row.time_s for row in read_log(path, settings or {}).rows]
    return [round(b - a, 6) for a, b in pairwise(times)]


@pytest.mark.parametrize(
    ("header", "row", "settings"),
    [
        ("Date,Time,Millisecond,P (W)", "21.09.2026,14:00:0{},{},40", {}),  # the points of a date are no fractions
        ("Date,Time,Milliseconds,P (W)", "2026/09/21,14:00:0{},{},40", {"time": "Date+Time"}),
        ("When,ms,P (W)", "21/09/2026 14.00.0{},{},40", {"time": "When", "time-format": "%d/%m/%Y %H.%M.%S"}),
        ("Time,ms,Received,P (W)", "2026-09-21T14:00:0{0},{1},2026-09-21T14:00:0{0}.9,40", {}),
    ],
)
def test_milliseconds_beside_a_clock_of_whole_seconds_are_added(
    tmp_path: Path, header: str, row: str, settings: dict[str, str]
) -> None:
    rows = [row.format(i // 2, i % 2 * 500) for i in range(6)]
    assert steps_of(tmp_path / "m.csv", header, rows, settings) == [0.5] * 5


@pytest.mark.parametrize(
    ("header", "row", "settings"),
    [
        ("time,ms,P (W)", "179000000{0},{1},40", {}),
        ("time (ms),ms,P (W)", "179000000{0}000,{1},40", {}),
        ("time,ms,P (W)", "2026-09-21 14:00:0{0}.0,{1},40", {}),
        ("time,ms,P (W)", "2026-09-21 14:00:0{0},{1}.5,40", {}),
        ("time,ms,P (W)", "2026-09-21 14:00:0{0},1{1},40", {}),
        ("time,ms,P (W)", "2026-09-21 14:00:0{0},,40", {}),
        ("When,ms,P (W)", "14:00:0{0}.0,{1},40", {"time": "When", "time-format": "%H:%M:%S.%f"}),
        ("Time,ms,Received,P (W)", "14:00:0{0},{1},14:00:0{0},40", {"time": "Received"}),  # they are those of another time
    ],
)
def test_other_columns_of_ms_are_not_added_to_the_times(tmp_path: Path, header: str, row: str, settings: dict[str, str]) -> None:
    rows = [row.format(i, 100 + 37 * i) for i in range(6)]
    assert steps_of(tmp_path / "m.csv", header, rows, settings) == [1.0] * 5


def test_a_row_without_its_milliseconds_is_named(tmp_path: Path) -> None:
    rows = ["2026/09/21,14:00:00,100,40", "2026/09/21,14:00:01,,40", "2026/09/21,14:00:02,300,40"]
    with pytest.raises(MeterError, match=r"line 3 cannot be understood: .*'' is no number of milliseconds; write it, or take"):
        steps_of(tmp_path / "m.csv", "Date,Time,Millisecond,P (W)", rows)


@pytest.mark.parametrize(
    ("form", "end", "hours"),
    [
        ("%m/%d/%Y %H:%M:%S UTC", " UTC", 0),
        ("%m/%d/%Y %H:%M:%SZ", "Z", 0),
        ("%m/%d/%Y %H:%M:%S GMT+2", " GMT+2", 2),
        ("%m/%d/%Y %H:%M:%S %Z", " UTC", 0),
        ("%m/%d/%Y %H:%M:%S %Z", " GMT", 0),
        ("%m/%d/%Y %H:%M:%S%Z", "Z", 0),
        ("%m/%d/%Y %H:%M:%S %z", " +0300", 3),
    ],
)
def test_the_zone_that_a_form_names_is_that_of_the_times(tmp_path: Path, form: str, end: str, hours: int) -> None:
    """strptime takes the names of zones and forgets them, so that the times were those of the machine."""
    log = tmp_path / "m.csv"
    log.write_text("time,W\n" + "".join(f"11/24/2026 08:00:0{i}{end},4{i}\n" for i in range(3)))
    for given in ({}, {"timezone": "Asia/Tokyo"}):
        assert read_log(log, {"time-format": form, **given}).rows[0].time_s == EIGHT_UTC - 3600 * hours


@pytest.mark.parametrize(
    ("form", "end", "said"),
    [
        ("%m/%d/%Y %H:%M:%S CET", " CET", "'CET' in #time-format= is no zone that is known; say which: #timezone="),
        ("%m/%d/%Y %H:%M:%S +01:00", " +01:00", r"'\+01:00' in #time-format= is no zone that is known"),
        (
            "%m/%d/%Y %H:%M:%S %Z",
            " CET",
            "%Z is UTC, GMT or Z: for another zone write its name instead of %Z, and say #timezone=",
        ),
        ("%m/%d/%Y %H:%M:%S %S", "", "is no time of the form"),  # an error of re, not of strptime
    ],
)
def test_a_zone_that_is_not_known_is_refused(tmp_path: Path, form: str, end: str, said: str) -> None:
    log = tmp_path / "m.csv"
    log.write_text("time,W\n" + "".join(f"11/24/2026 08:00:0{i}{end},4{i}\n" for i in range(3)))
    with pytest.raises((MeterError, UsageError), match=said):
        read_log(log, {"time-format": form})
    if form.endswith(("CET", "+01:00")):
        assert read_log(log, {"time-format": form, "timezone": "+01:00"}).rows[0].time_s == EIGHT_UTC - 3600


def test_a_zone_farther_than_a_day_is_refused() -> None:
    with pytest.raises(UsageError, match=r"names no time zone: UTC\+30"):
        find_columns(["Time UTC+30", "W"], [["2026-11-24 12:00:00", "40.1"]] * 3, {})
