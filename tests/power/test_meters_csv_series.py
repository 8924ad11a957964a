"""Logs as loggers write them: rows of several sensors, gaps, names behind a `#`, blanks between columns, volts and amperes."""

from __future__ import annotations

import json
import statistics
import tracemalloc
from itertools import pairwise
from pathlib import Path

import pytest
from ecosort_power.errors import MeterError, UsageError
from ecosort_power.evaluate import evaluate
from ecosort_power.meters import csv as csv_meter
from ecosort_power.meters import log_series
from ecosort_power.meters.base import parse_spec, with_settings
from ecosort_power.meters.csv import CsvMeter, read_log, row_values
from ecosort_power.meters.log_values import zone_named
from ecosort_power.rederive import differences
from ecosort_power.store import MeterRecord

from .synthetic import window

BEGIN = 1_790_000_000
TWO = [(BEGIN + i, name, 40.0 + i % 3) for i in range(30) for name in ("PSU1", "PSU2")]


def log_of(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def long_form(path: Path, rows: list[tuple[float, str, object]] = TWO, name: str = "sensor") -> Path:
    return log_of(path, f"time,{name},power (W)\n" + "".join(f"{t},{sensor},{watts}\n" for t, sensor, watts in rows))


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("sensor", ("PSU1", "PSU2")),
        ("entity_id", ("sensor.plug_power", "sensor.house_power")),
        ("index", ("0", "1")),
        ("GPU", ("0", "1", "2")),
        ("Outlet No", ("3", "7")),
        ("CPU", ("-", "0", "1")),
        ("whatever", ("left", "right")),
        ("model", ("Eaton 5PX", "Eaton 9PX")),
        ("serial", ("77012", "77019")),
        ("whatever", ("11", "12", "13")),  # strictly in turn
        ("id", ("1.0", "2.0")),  # as pandas writes whole numbers where some are missing
        ("relay", ("0", "1")),
        ("output", ("left", "right")),
        ("container", tuple(f"c{i}" for i in range(300))),
        ("unit", ("W", "V")),
    ],
)
def test_rows_of_several_sensors_are_refused_with_what_to_say(tmp_path: Path, header: str, names: tuple[str, ...]) -> None:
    rows: list[tuple[float, str, object]] = [(BEGIN + i, name, 40) for i in range(5) for name in names]
    with pytest.raises(UsageError, match=rf"several sensors: column '{header}' holds .*#where={header}:.*#sum={header}"):
        read_log(long_form(tmp_path / "log.csv", rows, header), {})


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("Status", ("ok", "ok", "warm", "ok")),
        ("pstate", ("P0", "P8", "P0", "P2")),
        ("remark", ("", "start", "", "end")),
        ("Store No.", ("1", "2", "3", "4")),
        ("U (V)", ("230", "231", "230", "231")),
        ("CPU", ("90", "7", "100", "7")),
        ("utilization.gpu [%]", ("3 %", "90 %", "3 %", "91 %")),
        ("Millisecond", ("153", "653", "153", "653")),
        ("last_updated", ("a1", "a2", "a3", "a4")),
        ("relay", ("0", "1", "1", "0")),
        ("Status", ("on", "off", "", "")),
    ],
)
def test_a_column_of_one_meter_is_no_sensor(tmp_path: Path, header: str, cells: tuple[str, ...]) -> None:
    rows: list[tuple[float, str, object]] = [(BEGIN + i, cells[i % 4] if header != "Store No." else str(i), 40) for i in range(4)]
    rows += [(BEGIN + 4 + i, cells[0] if header != "Store No." else str(i + 4), 40) for i in range(6)]
    if header == "last_updated":
        rows = [(t, f"a{t}", watts) for t, _, watts in rows]
    assert len(read_log(long_form(tmp_path / "log.csv", rows, header), {}).rows) == 10


@pytest.mark.parametrize("header", ["second", "ms", "U [V]", "minute"])
def test_parts_of_a_time_come_in_turn_and_are_of_one_meter(tmp_path: Path, header: str) -> None:
    rows: list[tuple[float, str, object]] = [(BEGIN + i, str(i % 3 * 20), 40) for i in range(12)]
    assert len(read_log(long_form(tmp_path / "log.csv", rows, header), {}).rows) == 12


def test_a_sensor_that_has_few_rows_is_told_as_well(tmp_path: Path) -> None:
    rows: list[tuple[float, str, object]] = [(BEGIN + i, str(int(i % 9 == 0)), 40) for i in range(40)]
    with pytest.raises(UsageError, match="column 'outlet' holds 1, 0"):
        read_log(long_form(tmp_path / "log.csv", rows, "outlet"), {})


def doubled(path: Path, times: list[int], watts: list[float]) -> Path:
    return log_of(path, "time,power (W)\n" + "".join(f"{BEGIN + t},{w}\n" for t, w in zip(times, watts, strict=True)))


@pytest.mark.parametrize(
    ("times", "watts"),
    [
        ([i // 2 for i in range(20)], [40.0] * 20),  # two supplies that share a load, or one meter at 2 Hz
        ([i // 2 for i in range(20)], [40.0, 300.0] * 10),
        ([10 * (i // 3) for i in range(30)], [40.0] * 30),
        ([0, 1, 2, 3, 4, 5, 6, 7, 7, 8, 9], [40.0] * 7 + [40.0, 2000.0] + [40.0] * 2),  # a house whose power comes now and then
        ([0, 1, 1, 1, 3, 4, 5], [40.0] * 7),  # one row too many for the one that is missing
        ([t for i in range(8) for t in (3 * i, 3 * i, 3 * i + 1)], [40.0, 300.0, 40.0] * 8),  # too often for one that is late
    ],
)
def test_rows_of_one_time_are_not_guessed_to_be_of_one_meter(tmp_path: Path, times: list[int], watts: list[float]) -> None:
    path = doubled(tmp_path / "log.csv", times, watts)
    with pytest.raises(UsageError, match=r"of its \d+ times have several rows: .* say #same-time=spread"):
        read_log(path, {})
    found = read_log(path, {"same-time": "spread"}).rows
    assert [r.watts for r in found] == watts
    assert sorted({r.time_s for r in found}) == [r.time_s for r in found]


@pytest.mark.parametrize("setting", ["where=host:a", "sum=host"])
def test_two_meters_of_one_host_that_nothing_tells_apart_are_not_one(tmp_path: Path, setting: str) -> None:
    rows: list[tuple[float, str, object]] = [(BEGIN + i, host, 40) for i in range(9) for host in "abab"]
    path = long_form(tmp_path / "log.csv", rows, "host")
    settings = dict([setting.split("=")])
    with pytest.raises(UsageError, match="9 of its 9 times have several rows: if they are of several meters, let the log name"):
        read_log(path, settings)
    if "where" in setting:
        assert len(read_log(path, {**settings, "same-time": "spread"}).rows) == 18


@pytest.mark.parametrize(("meters", "away_s"), [(2, 0.002), (2, 0.04), (2, 0.12), (4, 0.01), (8, 0.001)])
def test_meters_that_are_asked_one_after_the_other_without_a_name_are_not_one(tmp_path: Path, meters: int, away_s: float) -> None:
    times = [round(BEGIN + i / 2 + 0.01 * (i % 3) + k * away_s, 4) for i in range(30) for k in range(meters)]
    path = log_of(tmp_path / "log.csv", "time,P (W)\n" + "".join(f"{t},{40 + i % meters}\n" for i, t in enumerate(times)))
    with pytest.raises(UsageError, match=rf"its rows come {meters} at a time, every 0\.5.* s: .*say #same-time=spread"):
        read_log(path, {})
    assert len(read_log(path, {"same-time": "spread"}).rows) == 30 * meters


@pytest.mark.parametrize(
    "times",
    [
        [0, 0.02, 3, 3.01, 3.05, 9, 9.5, 9.52, 30, 30.01, 31, 45, 45.3, 45.32],  # whenever something changed
        [10 * i + 0.1 * k for i in range(9) for k in range(10)],  # bursts, which lack what is between them
        [i + (0.02 if i % 5 == 0 else 0) for i in range(40)],
        [1.5 * i // 1 for i in range(40)],  # whole seconds of a clock
    ],
)
def test_times_that_only_look_like_rounds_are_of_one_meter(tmp_path: Path, times: list[float]) -> None:
    text = "time,P (W)\n" + "".join(f"{BEGIN + t},40\n" for t in times)
    assert len(read_log(log_of(tmp_path / "log.csv", text), {}).rows) == len(times)


def test_power_and_energy_in_rows_of_their_own_are_no_round(tmp_path: Path) -> None:
    text = "time,P (W),E (J)\n" + "".join(f"{BEGIN + i},40,\n{BEGIN + i + 0.01},,{40 * i}\n" for i in range(9))
    assert len(read_log(log_of(tmp_path / "log.csv", text), {"energy": "E (J)"}).rows) == 18


def test_times_that_come_sooner_than_usual_are_no_second_rows(tmp_path: Path) -> None:
    text = "time,P (W)\n" + "".join(f"{BEGIN + t},40\n" for t in (0, 1, 2, 2.25, 3.25, 4))
    assert len(read_log(log_of(tmp_path / "log.csv", text), {}).rows) == 6


@pytest.mark.parametrize("times", [[0, 1, 1, 3, 4, 5], [0, 1, 3, 3, 4, 5], [0, 0, 2, 3, 4], [0, 1, 1, 1, 4, 5, 6, 7, 8]])
def test_a_row_beside_one_that_is_missing_came_early_or_late(tmp_path: Path, times: list[int]) -> None:
    assert len(read_log(doubled(tmp_path / "log.csv", times, [40.0] * len(times)), {}).rows) == len(times)


def test_a_row_without_a_value_beside_one_with_a_value_is_no_second_row(tmp_path: Path) -> None:
    """Home Assistant writes the moment twice in which a sensor is away and back."""
    text = "entity_id,state,last_changed\n" + "".join(f"sensor.plug,{20 + i},{BEGIN + i}\n" for i in range(8))
    text = text.replace("sensor.plug,23,", f"sensor.plug,unavailable,{BEGIN + 3}\nsensor.plug,23,")
    found = read_log(log_of(tmp_path / "log.csv", text), {"unit": "W"}).rows
    assert [(r.time_s - BEGIN, r.watts) for r in found] == [(i, 20 + i) for i in range(8)]


def test_a_long_log_is_read_in_a_time_that_grows_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual step was computed anew for each row: 40,000 rows took 38 s, and a power profiler writes them in less than one."""
    looks = []

    def counted(steps: list[float]) -> float:
        looks.append(len(steps))
        return statistics.median(steps)

    monkeypatch.setattr(log_series, "median", counted)
    path = log_of(tmp_path / "log.csv", "time,P (W)\n" + "".join(f"{BEGIN + i},{i}\n" for i in range(500)))
    assert len(read_log(path, {}).rows) == 500
    assert len(looks) < 5


def test_a_long_log_takes_little_memory(tmp_path: Path) -> None:
    """A minute of a power profiler has six million rows: the text of each was kept until the last one was checked."""
    path = log_of(tmp_path / "log.csv", "time,P (W)\n" + "".join(f"{BEGIN + i},{1000.5 + i}\n" for i in range(1500)))
    read_log(path, {})  # modules and patterns are there from now on
    tracemalloc.start()
    try:
        read_log(path, {})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 650 * 1500


def test_milliseconds_in_a_column_of_their_own_belong_to_the_times(tmp_path: Path) -> None:
    text = "Date,Time,Millisecond,P (W)\n" + "".join(f"2026/09/21,14:00:{i // 2:02d},{i % 2 * 500:03d},4{i}\n" for i in range(8))
    found = read_log(log_of(tmp_path / "log.csv", text), {"timezone": "UTC"}).rows
    assert [b.time_s - a.time_s for a, b in pairwise(found)] == [0.5] * 7


@pytest.mark.parametrize(
    ("head", "time"),
    [
        ("Date UTC,Time UTC", "2026-11-24,08:00:0{}"),
        ("Time", "2026-11-24 08:00:0{} UTC"),
        ("Time", "2026-11-24 10:00:0{} +02:00"),
    ],
)
def test_utc_is_utc_wherever_it_is_written(tmp_path: Path, head: str, time: str) -> None:
    text = f"{head},P (W)\n" + "".join(f"{time.format(i)},4{i}\n" for i in range(3))
    assert read_log(log_of(tmp_path / "log.csv", text), {}).rows[0].time_s == 1_795_507_200


def test_how_rows_of_one_time_are_read_is_known(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="same-time=sum is not known; #same-time=spread is"):
        CsvMeter(parse_spec("csv:log.csv#same-time=sum"))


@pytest.mark.parametrize("raw", ["[{}, null]", '[{"plus": 1}, null]', "[[1], null]", "[7, null]", "7"])
def test_a_raw_answer_that_is_none_is_an_error_and_no_traceback(raw: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError, IndexError)):
        row_values(raw)


def test_the_rows_that_are_meant_are_said_by_their_value(tmp_path: Path) -> None:
    rows = [(t, sensor, watts + (300 if sensor == "PSU2" else 0)) for t, sensor, watts in TWO]
    found = read_log(long_form(tmp_path / "log.csv", rows), {"where": "sensor:PSU2"})
    assert [(r.time_s, r.watts) for r in found.rows[:2]] == [(BEGIN, 340.0), (BEGIN + 1, 341.0)]
    assert len(found.rows) == 30


def test_a_value_that_no_row_has_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no row has 'PSU3' in column 'sensor'; there are: PSU1, PSU2"):
        read_log(long_form(tmp_path / "log.csv"), {"where": "sensor:PSU3"})
    with pytest.raises(UsageError, match="no column 'psu'; it has: time, sensor, power"):
        read_log(long_form(tmp_path / "log.csv"), {"sum": "psu"})


def test_all_rows_of_one_meter_are_taken_when_it_is_said(tmp_path: Path) -> None:
    rows = [(BEGIN + i, ("warm", "cold")[i % 2], 40.0) for i in range(6)]
    assert len(read_log(long_form(tmp_path / "log.csv", rows, "probe"), {"where": "probe:*"}).rows) == 6


def test_two_conditions_hold_together(tmp_path: Path) -> None:
    text = "time,host,sensor,P (W)\n"
    for i in range(4):
        text += "".join(f"{BEGIN + i},{h},{s},{w}\n" for h, s, w in (("a", "x+y", 1), ("a", "z", 2), ("b", "x+y", 3)))
    found = read_log(log_of(tmp_path / "log.csv", text), {"where": "host:a+sensor:x+y"})
    assert [r.watts for r in found.rows] == [1.0] * 4
    with pytest.raises(UsageError, match="column 'sensor'"):  # one of the two is not enough
        read_log(tmp_path / "log.csv", {"where": "host:a"})


@pytest.mark.parametrize("setting", ["where=sensor", "where=:x", "where=sensor:", "sum=+a"])
def test_a_setting_of_another_form_is_said_before_there_is_a_log(setting: str) -> None:
    with pytest.raises(UsageError, match=r"#where=COLUMN:VALUE|#sum=COLUMN"):
        CsvMeter(parse_spec(f"csv:not-yet.csv#{setting}"))


def test_sensors_are_added_up_and_the_sum_can_be_derived_again(tmp_path: Path) -> None:
    path = long_form(tmp_path / "log.csv")
    spec = parse_spec(f"csv:{path}#sum=sensor,scope=psu,lag=0,update=1")
    meter = CsvMeter(spec)
    capabilities = with_settings(meter.open(), spec)
    readings = meter.collect(100.0, 125.0, BEGIN - 100.0, None)
    assert [r.watts for r in readings[:3]] == [80.0, 82.0, 84.0]
    assert list(differences(MeterRecord("log", spec.text, capabilities), readings)) == []


@pytest.mark.parametrize("away_s", [0.0, 0.001, 0.5])
@pytest.mark.parametrize("blocks", [False, True])
def test_sensors_that_are_asked_one_after_the_other_are_added_up(tmp_path: Path, away_s: float, blocks: bool) -> None:
    rows: list[tuple[float, str, object]] = [(BEGIN + i + k * away_s, n, 30 + k) for i in range(9) for k, n in enumerate("AB")]
    if blocks:  # one sensor, then the other
        rows.sort(key=lambda row: row[1])
    found = read_log(long_form(tmp_path / "log.csv", rows), {"sum": "sensor"})
    assert [r.watts for r in found.rows] == [61.0] * 9
    assert [r.time_s for r in found.rows] == pytest.approx([BEGIN + i + away_s / 2 for i in range(9)])


def test_a_sum_of_many_sensors_does_not_look_at_all_rows_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """12,000 rows of 3000 sensors took 4 s, and four times as many a minute."""
    looks = []

    class Key(tuple[str, ...]):
        __slots__ = ()
        __hash__ = tuple.__hash__

        def __eq__(self, other: object) -> bool:
            looks.append(1)
            return tuple.__eq__(self, other)

    monkeypatch.setattr(csv_meter, "key_of", lambda row, columns: Key(row[i] for i in columns))
    rows: list[tuple[float, str, object]] = [(BEGIN + 10 * i, f"s{k}", 1) for i in range(4) for k in range(400)]
    log = read_log(long_form(tmp_path / "log.csv", rows, "sensor"), {"sum": "sensor"})
    assert [row.watts for row in log.rows] == [400.0] * 4
    assert len(looks) < 10 * len(rows)


def test_times_that_go_back_and_forth_are_told(tmp_path: Path) -> None:
    text = "time,P (W)\n" + "".join(f"{BEGIN + i % 2 * 5},40\n" for i in range(8))
    with pytest.raises(MeterError, match="its times go back by 5 s"):
        read_log(log_of(tmp_path / "log.csv", text), {})


def test_the_step_of_a_sum_is_that_of_each_sensor_in_whatever_turn_they_come(tmp_path: Path) -> None:
    rows = [(i, name, f"{i:.{'AB'.index(name) + 1}f}") for i in range(4) for name in ("AB", "BA")[i % 2]]
    text = "time,sensor,E (J)\n" + "".join(f"{BEGIN + i},{name},{joules}\n" for i, name, joules in rows)
    assert read_log(log_of(tmp_path / "log.csv", text), {"sum": "sensor"}).quantum_j == pytest.approx(0.11)


def test_a_sum_that_lacks_a_sensor_is_a_gap(tmp_path: Path) -> None:
    rows: list[tuple[float, str, object]] = [row for row in TWO if row[:2] not in ((BEGIN + 5, "PSU1"), (BEGIN + 9, "PSU2"))]
    rows = [(t, s, "unavailable" if (t, s) == (BEGIN + 12, "PSU1") else w) for t, s, w in rows]
    found = read_log(long_form(tmp_path / "log.csv", rows), {"sum": "sensor"}).rows
    assert [int(r.time_s) - BEGIN for r in found if r.watts is None] == [5, 9, 12]
    assert all(r.watts >= 80.0 for r in found if r.watts is not None)


@pytest.mark.parametrize(
    "cell",
    [
        "unavailable",
        "unknown",
        "[N/A]",
        "N/A",
        "",
        " ",
        "-",
        "[Not Supported]",
        "null",
        "[Unknown Error]",
        "NaN",
        "-nan",
        "#N/A",
        "N/A W",
        "\\N",
        "n.a.",
        "offline",
        "--.- W",
        "—",
        "?",
    ],
)
def test_a_cell_that_says_that_there_is_no_value_is_a_gap(tmp_path: Path, cell: str) -> None:
    text = "time, power.draw [W]\n" + "".join(f"{BEGIN + i}, {cell if i in (0, 3) else f'{20 + i} W'}\n" for i in range(8))
    meter = CsvMeter(parse_spec(f"csv:{log_of(tmp_path / 'log.csv', text)}"))
    readings = meter.collect(100.0, 107.0, BEGIN - 100.0, None)
    assert [r.watts for r in readings] == [None, 21.0, 22.0, None, 24.0, 25.0, 26.0, 27.0]
    assert [r.usable for r in readings][:2] == [False, True]


@pytest.mark.parametrize("cell", ["warm", "inf", "12 apples", "#REF!"])
def test_what_is_neither_a_number_nor_a_gap_is_refused(tmp_path: Path, cell: str) -> None:
    text = "time,P (W)\n" + "".join(f"{BEGIN + i},{cell if i == 3 else 20}\n" for i in range(8))
    with pytest.raises(MeterError, match="line 5 cannot be understood"):
        read_log(log_of(tmp_path / "log.csv", text), {})


def test_gaps_of_a_log_make_a_run_invalid_as_those_of_a_live_meter_do(tmp_path: Path) -> None:
    text = "entity_id,state,last_changed\n"
    text += "".join(f"sensor.plug,{'unavailable' if 120 <= i < 130 else 20 + i % 2},{BEGIN + i}\n" for i in range(200))
    spec = parse_spec(f"csv:{log_of(tmp_path / 'log.csv', text)}#unit=W,lag=0,update=1")
    meter = CsvMeter(spec)
    readings = meter.collect(10.0, 190.0, BEGIN, None)
    energy = evaluate("log", readings, with_settings(meter.open(), spec), window(60.0, 160.0, lead=50.0, tail=30.0), [])
    assert "gap" in {d.code for d in energy.defects if d.fatal}


@pytest.mark.parametrize(
    "head", ["#time,current,voltage,power", "# time,current,voltage,power", "# a log\n#\n#time,current,voltage,power\n#"]
)
def test_names_behind_a_hash_are_names(tmp_path: Path, head: str) -> None:
    text = f"{head}\n0.0,8.02,5.0,40.1\n# a mark of the user's\n0.5,8.04,5.0,40.2\n"
    found = read_log(log_of(tmp_path / "log.csv", text), {"watts": "power", "unit": "W"})
    assert [(r.time_s, r.watts) for r in found.rows] == [(0.0, 40.1), (0.5, 40.2)]


def test_a_comment_above_names_stays_a_comment(tmp_path: Path) -> None:
    text = "#group,false,true,true\n#datatype,long,dateTime,double\n,table,_time,_value\n"
    text += "".join(f",0,{BEGIN + i},4{i}\n" for i in range(3))
    found = read_log(log_of(tmp_path / "log.csv", text), {"watts": "_value", "unit": "W"})
    assert [r.watts for r in found.rows] == [40.0, 41.0, 42.0]


def test_a_row_with_a_word_that_is_a_unit_is_no_line_of_units(tmp_path: Path) -> None:
    text = "time,_value,_measurement\n" + "".join(f"{BEGIN + i},4{i},W\n" for i in range(3))
    assert len(read_log(log_of(tmp_path / "log.csv", text), {"watts": "_value", "unit": "W"}).rows) == 3


@pytest.mark.parametrize("name", ["Time (Dutch)", "Dutch_time", "time of the outcome", "mgmt time"])
def test_a_word_with_the_letters_of_utc_is_no_zone(name: str) -> None:
    assert zone_named(name) is None


@pytest.mark.parametrize(
    ("name", "hours"),
    [
        ("Time (UTC)", 0.0),
        ("Date/time UTC", 0.0),
        ("timestamp_utc", 0.0),
        ("Time [GMT]", 0.0),
        ("Time (UTC+2)", 2.0),
        ("UTC-03:30 time", -3.5),
        ("UTC-00:30 time", -0.5),
        ("Time UTC\u221202:00", -2.0),
        ("Time UTC 24h", 0.0),
        ("UTC", 0.0),
        ("TimeUTC", 0.0),
        ("utcTime", 0.0),
        ("datetimeutc", 0.0),
        ("TimeGMT+1", 1.0),
        ("UTCHour time", 0.0),
    ],
)
def test_a_zone_in_the_name_of_the_times_is_theirs(
    tmp_path: Path, name: str, hours: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"{name},Power (W)\n" + "".join(f"2026-11-24 08:00:0{i},4{i}\n" for i in range(3))
    path = log_of(tmp_path / "log.csv", text)
    assert read_log(path, {}).rows[0].time_s == read_log(path, {"timezone": "UTC"}).rows[0].time_s - 3600 * hours
    aware = log_of(tmp_path / "aware.csv", text.replace(":0", ":0").replace(",4", "+01:00,4"))
    assert read_log(aware, {}).rows[0].time_s == read_log(path, {"timezone": "+01:00"}).rows[0].time_s


@pytest.mark.parametrize(
    "text",
    [
        "time power_w\n{0} 41.5\n{1} 42.5\n",
        "  time     power_w\n  {0}   41.5\n  {1}   42.5\n",
        "# time power_w\n{0} 41.5\n{1} 42.5\n",
        "A log of power over time\n\ntime (s) power (W)\n{0} 41.5\n{1} 42.5\n",
        "time power (W) remark\n2026-11-24 08:00:00Z 41.5 a\n2026-11-24 08:00:01Z 42.5 a\n",
        "Date Time P(W)\n2026-11-24 08:00:00Z 41.5\n2026-11-24 08:00:01Z 42.5\n",
    ],
)
def test_blanks_separate_where_nothing_else_does(tmp_path: Path, text: str) -> None:
    moment = 1_795_507_200
    path = log_of(tmp_path / "log.txt", text.format(moment, moment + 1))
    assert [(r.time_s, r.watts) for r in read_log(path, {}).rows] == [(moment, 41.5), (moment + 1, 42.5)]


def test_blanks_are_taken_when_they_are_said(tmp_path: Path) -> None:
    path = log_of(tmp_path / "log.txt", f"time P,W\n{BEGIN} 41.5\n{BEGIN + 1} 42.5\n")
    assert [r.watts for r in read_log(path, {"delimiter": "blank", "watts": "P,W", "unit": "W"}).rows] == [41.5, 42.5]


@pytest.mark.parametrize(
    ("header", "row", "settings", "watts"),
    [
        ("Main(mA),Main Voltage(V)", "8020,5.0", {"watts": "Main Voltage(V)*Main(mA)"}, 40.1),
        ("Main(mA),Main Voltage(V)", "np.float64(8020),np.float64(5.0)", {"watts": "Main(mA)*Main Voltage(V)"}, 40.1),
        ("current,voltage", "8.02,5.0", {"watts": "voltage*current", "unit": "W"}, 40.1),
        ("Current(uA)", "8020000", {"watts": "Current(uA)*5V"}, 40.1),
        ("I (A)", "2", {"watts": "12.5V*I (A)"}, 25.0),
        ("I,U", "8020 mA,5 V", {"watts": "I*U"}, 40.1),
        ("I", "8.02 A", {"watts": "I*5V"}, 40.1),
        ("Value,Unit,Value 2,Unit 2", "8020,mA,5.0,V", {"watts": "Value*Value 2"}, 40.1),
    ],
)
def test_volts_times_amperes_are_watts_when_it_is_said(
    tmp_path: Path, header: str, row: str, settings: dict[str, str], watts: float
) -> None:
    text = f"time,{header},\n" + "".join(f"{BEGIN + i},{row},\n" for i in range(3))
    path = log_of(tmp_path / "log.csv", text)
    found = read_log(path, settings).rows[0]
    assert found.watts == pytest.approx(watts)
    assert row_values(found.raw)[0] == found.watts
    assert json.loads(found.raw)[1] is None
    words = ",".join(f"{k}={v}" for k, v in settings.items())
    assert "direct current only" in CsvMeter(parse_spec(f"csv:{path}#{words}")).open().notes[-1]


def test_the_unit_of_a_multimeter_changes_with_its_range(tmp_path: Path) -> None:
    """UNI-T: `Value` is 512 in one row and 0.6 in the next, and `Unit` says mA and A. Else the first row would be 2.56 kW."""
    text = "No.,Time,Value,Unit\n" + "".join(f"{i},{BEGIN + i},{value}\n" for i, value in enumerate(("512.5,mA", "0.6001,A")))
    path = log_of(tmp_path / "log.csv", text)
    for settings in ({"watts": "Value*5V"}, {"watts": "Value*5V", "unit": "W"}):
        assert [row.watts for row in read_log(path, settings).rows] == [pytest.approx(2.5625), pytest.approx(3.0005)]


def test_a_unit_may_be_in_front_of_its_value(tmp_path: Path) -> None:
    """With `#unit=W` alone the last row was 1 W."""
    text = f"time,unit,value\n{BEGIN},W,900\n{BEGIN + 1},W,950\n{BEGIN + 2},kW,1\n"
    path = log_of(tmp_path / "log.csv", text)
    assert [row.watts for row in read_log(path, {"watts": "value"}).rows] == [900.0, 950.0, 1000.0]
    with pytest.raises(MeterError, match="'1 kW' is not in the unit of its column"):
        read_log(path, {"unit": "W"})
    flats = log_of(tmp_path / "flats.csv", text.replace("kW", "B").replace("W", "A"))
    with pytest.raises(MeterError, match="at least two rows"):
        read_log(flats, {"unit": "W", "where": "unit:B"})
    assert [row.watts for row in read_log(flats, {"unit": "W", "where": "unit:A"}).rows] == [900.0, 950.0]


def test_a_unit_behind_a_time_or_a_number_of_a_sensor_is_not_theirs(tmp_path: Path) -> None:
    path = log_of(tmp_path / "log.csv", f"time,unit,power\n{BEGIN},W,41\n{BEGIN + 1},W,42\n")
    assert [(row.time_s, row.watts) for row in read_log(path, {"unit": "W"}).rows] == [(BEGIN, 41.0), (BEGIN + 1, 42.0)]
    two = "".join(f"{BEGIN + i},{channel},W,41\n" for i in range(9) for channel in (1, 2))
    with pytest.raises(UsageError, match="column 'channel' holds 1, 2"):
        read_log(log_of(tmp_path / "two.csv", f"time,channel,unit,power\n{two}"), {"unit": "W", "watts": "power"})


def test_units_below_the_names_are_those_of_volts_and_amperes_too(tmp_path: Path) -> None:
    path = log_of(tmp_path / "log.csv", f"time,I,U\ns,mA,V\n{BEGIN},500,5\n{BEGIN + 1},500,5\n")
    assert [row.watts for row in read_log(path, {"watts": "I*U"}).rows] == [2.5, 2.5]


@pytest.mark.parametrize(
    ("header", "settings", "said"),
    [
        (
            "I (A),U (V)",
            {},
            r"of direct current: #watts=U \(V\)\*I \(A\)",
        ),  # alternating current has a power factor: not by itself
        ("I (A),n", {}, r"at a voltage that stays, e.g. 5 V: #watts=I \(A\)\*5V"),
        ("I (A),U (V)", {"watts": "I (A)*I (A)"}, "no voltage times a current"),
        ("I (A),U", {"watts": "I (A)*U"}, "column 'U' does not say whether it is in V or A.*#unit=W"),
        ("I (A),U (V)", {"watts": "I (A)*W (V)"}, r"no column 'W \(V\)'"),
        ("I (A)", {"watts": "I (A)*0.0V"}, "with 0.0V all power is 0 W; say the voltage of the supply"),
    ],
)
def test_what_is_no_product_of_volts_and_amperes_is_told(
    tmp_path: Path, header: str, settings: dict[str, str], said: str
) -> None:
    text = f"time,{header}\n" + "".join(f"{BEGIN + i},2,230\n" for i in range(3))
    with pytest.raises(UsageError, match=said):
        read_log(log_of(tmp_path / "log.csv", text), settings)
