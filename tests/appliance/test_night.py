"""A night that costs little: values that a job waits for, the report of a month, sleep when nothing is left to do."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from ecosort_appliance import report, values
from ecosort_appliance.database import FILE_NAME, open_database
from ecosort_appliance.drives import Temperatures
from ecosort_appliance.errors import QueueError
from ecosort_appliance.rest import Rest

from .support import Queue, wait_for

SORT = ("sort", "--record-size", "16", "--key", "0:4", "in.dat", "-o", "out.dat")

# --- conditions and values


@pytest.mark.parametrize(
    ("text", "holds", "fails"),
    [
        ("price<0.20", 0.1999, 0.2),
        ("price <= 0.2", 0.2, 0.21),
        ("sun>800", 801, 800),
        ("sun-roof >= 1e3", 1000, 999),
        ("t>-5", -4, -5),
    ],
)
def test_a_condition_compares_a_value_with_a_limit(text: str, holds: float, fails: float) -> None:
    condition = values.parse_condition(text)
    assert condition.holds(holds)
    assert not condition.holds(fails)


@pytest.mark.parametrize(
    "text", ["", "price", "price<", "<0.2", "price=0.2", "price<cheap", "price<1.2.3", "price<nan", "a b<1", "price<1e999"]
)
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(QueueError, match="is no condition; write"):
        values.parse_condition(text)


@pytest.fixture
def server() -> Iterator[str]:
    """Home Assistant and a server of prices at one address; both want the token."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            states = {"sensor.price": "0.153", "sensor.gone": "unavailable"}
            if self.path == "/slow":
                time.sleep(0.4)
                return
            known: dict[str, object] = {f"/api/states/{name}": {"state": state} for name, state in states.items()}
            known["/day?zone=de"] = {"data": [{"price": 0.31}], "none": None}
            found = known.get(self.path) if self.headers["Authorization"] == "Bearer secret" else None
            self.send_response(200 if found else 401)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as listener:
        thread = threading.Thread(target=listener.serve_forever)
        thread.start()
        yield f"127.0.0.1:{listener.server_address[1]}"
        listener.shutdown()
        thread.join()


def test_values_come_from_files_servers_and_home_assistant(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME_ASSISTANT_TOKEN", "secret")
    monkeypatch.setenv("MY_TOKEN", "secret")
    (tmp_path / "price").write_text("0.25\n")
    (tmp_path / "day.json").write_text('{"now": {"price": "0.5"}}')
    assert values.read_source(f"file:{tmp_path}/price") == 0.25
    assert values.read_source(f"file:{tmp_path}/day.json#value=now.price") == 0.5
    assert values.read_source(f"homeassistant://{server}/sensor.price") == 0.153
    assert values.read_source(f"http://{server}/day?zone=de#value=data[0].price,auth=bearer,password-env=MY_TOKEN") == 0.31


def test_what_cannot_be_read_is_no_value(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is guessed: no old value, no zero."""
    monkeypatch.setenv("HOME_ASSISTANT_TOKEN", "secret")
    (tmp_path / "old").write_text("0.1")
    os.utime(tmp_path / "old", (time.time() - 7200,) * 2)
    (tmp_path / "word").write_text("cheap")
    (tmp_path / "nan").write_text("nan")
    (tmp_path / "half.json").write_text('{"now":')
    os.mkfifo(tmp_path / "pipe")
    bearer = "auth=bearer,password-env=HOME_ASSISTANT_TOKEN"
    open_before = len([*Path("/proc/self/fd").iterdir()])
    for source, why in [
        (f"file:{tmp_path}/none", "No such file"),
        (f"file:{tmp_path}/old#max-age=3600", "too old"),
        (f"file:{tmp_path}/word", "no number"),
        (f"file:{tmp_path}/nan", "no number to compare"),
        (f"file:{tmp_path}/half.json#value=now", "holds no JSON"),
        (f"file:{tmp_path}/pipe", "is no regular file"),
        (f"file:{tmp_path}", "regular file|directory"),
        (f"homeassistant://{server}/sensor.gone", "no number"),
        (f"homeassistant://{server}/sensor.unknown", "401"),
        (f"http://{server}/day?zone=de#value=none,{bearer}", "no number to compare"),
        (f"http://{server}/day?zone=de#value=data[1].price,{bearer}", r"data\[1\]"),
        ("http://127.0.0.1:1/x#value=a", "127.0.0.1:1"),
    ]:
        with pytest.raises(values.NoValueError, match=why):
            values.read_source(source)
    assert len([*Path("/proc/self/fd").iterdir()]) == open_before, "a service reads for months"
    monkeypatch.setattr(values, "_TIMEOUT_S", 0.2)
    with pytest.raises(values.NoValueError, match=r"in time \(0.2 s\)$"):
        values.read_source(f"http://{server}/slow#value=a")


def test_what_can_be_no_source_is_refused(queue: Queue) -> None:
    for source, why in [
        ("price", "not SCHEME:ADDRESS"),
        ("shelly://x", "is no source of a value"),
        ("file:price", "the whole path"),
        ("http://x/y", "say where the value is"),
        ("http://u:p@x/y#value=a", "password"),
        ("file:/x#unit=W", "no setting 'unit'"),
        ("file:/x#max-age=soon", "not a number"),
    ]:
        done = queue.run("value", "price", source)
        assert done.returncode == 2, source
        assert why in done.stderr, done.stderr
    assert "is no name of a value" in queue.run("value", "9", "file:/x").stderr
    assert "there is no value" in queue.run("value", "price").stderr


# --- jobs that wait for a value


def test_a_job_waits_for_its_condition_and_begins_when_it_holds(queue: Queue, records: Path) -> None:
    price = queue.place / "price"
    price.write_text("0.31")
    queue.ok("value", "price", f"file:{price}")
    assert queue.ok("value") == f"price  0.31  file:{price}\n"
    number = queue.add(*SORT, options=("--when", "price<0.20"))
    queue.ok("run")
    assert queue.job(number)["state"] == "queued"
    assert queue.job(number)["reason"] == "waits until price < 0.2: it is 0.31"
    price.unlink()
    queue.ok("retry", str(number))
    queue.ok("run")
    assert "it cannot be read" in queue.job(number)["reason"]
    done = queue.run("value", "price", "--remove")
    assert done.returncode == 2
    assert f"job {number} waits for price" in done.stderr
    price.write_text("0.19")
    queue.ok("retry", str(number))
    queue.ok("run")
    assert queue.job(number)["state"] == "done"
    queue.ok("value", "price", "--remove")
    assert queue.ok("value") == ""


def test_a_job_begins_at_the_latest_whatever_the_value_is(queue: Queue, records: Path) -> None:
    queue.ok("value", "price", f"file:{queue.place}/none")
    number = queue.add(*SORT, options=("--when", "price<0.20", "--latest", "2090-01-01T06:00"))
    assert "at the latest 2090-01-01 06:00" in queue.ok("show", str(number))
    queue.ok("run")
    assert queue.job(number)["state"] == "queued"
    with sqlite3.connect(queue.directory / FILE_NAME) as connection:
        connection.execute("UPDATE jobs SET latest_s = 1, not_before_s = 0")
    queue.ok("run")
    assert queue.job(number)["state"] == "done"


def test_a_value_that_is_not_known_and_a_time_that_means_nothing_are_refused(queue: Queue, records: Path) -> None:
    queue.ok("value", "sun", "file:/run/sun")
    for options, why in [
        (("--when", "price<1"), "the queue knows no value 'price' (it knows sun); say where"),
        (("--when", "cheap"), "is no condition"),
        (("--latest", "06:00"), "--latest goes with --when"),
        (("--when", "sun>1", "--latest", "soon"), "--latest 'soon' is no time"),
        (("--when", "sun>1", "--every", "daily", "--latest", "2090-01-01T06:00"), "is a time of day"),
    ]:
        done = queue.run("add", *options, "--", *SORT)
        assert done.returncode == 2, options
        assert why in done.stderr, done.stderr


def test_jobs_of_a_standing_one_wait_for_its_condition_each_with_a_latest_time_of_its_own(queue: Queue, records: Path) -> None:
    queue.ok("value", "price", "file:/none")
    standing = queue.add(*SORT, options=("--every", "daily", "--when", "price<0.20", "--latest", "06:00"))
    queue.ok("run")
    made = next(job for job in queue.jobs().values() if job["parent"] == standing)
    assert made["when"] == "price<0.20"
    assert 0 < made["latest_s"] - time.time() < 90_000
    assert "waits until price < 0.2" in made["reason"]


def test_a_value_from_before_the_machine_slept_is_read_anew(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """The monotonic clock stands still meanwhile."""
    boot_s, seen = [100.0], [0.1, 0.5]
    monkeypatch.setattr(time, "clock_gettime", lambda clock: boot_s[0] if clock == time.CLOCK_BOOTTIME else 100.0)
    looks = values.Values(open_database(queue.place), lambda _: seen.pop(0))
    assert [looks.value_of("file:/x"), looks.value_of("file:/x")] == [0.1, 0.1]
    boot_s[0] += 8 * 3600
    assert looks.value_of("file:/x") == 0.5


# --- a clock that is set


def test_a_job_that_waits_does_not_wait_for_years_where_the_clock_was_set_back(queue: Queue, records: Path) -> None:
    """It waits a minute for space or a value. One that its user wants in years waits for them."""
    later_s = time.time() + 5 * 365 * 86400
    waits, wanted = queue.add(*SORT), queue.add("sort", *SORT[1:-1], "other", options=("--at", "2090-01-01"))
    with sqlite3.connect(queue.directory / FILE_NAME) as connection:
        connection.execute("UPDATE jobs SET not_before_s = ?, reason = 'waits for space' WHERE id = ?", (later_s, waits))
    queue.ok("run")
    assert [queue.job(number)["state"] for number in (waits, wanted)] == ["done", "queued"]


def test_an_end_is_told_again_where_the_clock_was_set_back(queue: Queue, records: Path) -> None:
    number = queue.add(*SORT, options=("--on-end", "false"))
    queue.ok("run")
    with sqlite3.connect(queue.directory / FILE_NAME) as connection:
        assert connection.execute("SELECT tell_tries FROM jobs").fetchone() == (1,)
        connection.execute("UPDATE jobs SET tell_again_s = tell_again_s + 1e8")
    queue.ok("run")
    with sqlite3.connect(queue.directory / FILE_NAME) as connection:
        assert connection.execute("SELECT tell_tries FROM jobs WHERE id = ?", (number,)).fetchone() == (2,)


def test_a_rule_is_due_again_where_the_clock_was_set_back(queue: Queue, records: Path) -> None:
    standing = queue.add(*SORT, options=("--every", "daily", "--at", "02:00"))
    with sqlite3.connect(queue.directory / FILE_NAME) as connection:
        connection.execute("UPDATE jobs SET not_before_s = not_before_s + 5 * 365 * 86400")
    queue.ok("run")
    assert 0 < queue.job(standing)["not_before_s"] - time.time() < 90_000
    assert list(queue.jobs()) == [standing], "it was not due"


# --- the report


def test_a_month_as_text_and_csv_adds_up(queue: Queue, records: Path) -> None:
    number = queue.add(*SORT)
    queue.ok("run")
    day = time.strftime("%Y-%m-%d", time.localtime(queue.job(number)["ended_s"]))
    with sqlite3.connect(queue.directory / FILE_NAME) as connection:
        connection.execute("UPDATE jobs SET joules = 50, meter_values = 10, work_s = 2, metered_s = 2, bytes_moved = 5000000000")
        connection.execute("INSERT INTO energy VALUES (?, 'measured', 7200, 3600)", (day,))
    text = queue.ok("report", "--month", day[:7])
    assert f"{day}" in text
    rows = list(csv.DictReader(io.StringIO(queue.ok("report", "--month", day[:7], "--csv"))))
    assert [row["day"] for row in rows] == [day]
    assert (rows[0]["done"], rows[0]["records"], rows[0]["joules_per_gb"]) == ("1", "4000", "10.0")
    assert "10.0" in text
    assert text.splitlines()[-1].split()[-1] == "2.0"  # Wh of the machine
    assert queue.job(number)["joules_per_gb"] == 10.0
    assert "nothing ended in 1999-01" in queue.ok("report", "--month", "1999-01")
    for month in ("2026-13", "9999-12"):
        assert f"--month '{month}' is no month" in queue.run("report", "--month", month).stderr


def test_what_was_simulated_says_so_in_the_sum(queue: Queue, records: Path) -> None:
    queue.add(*SORT)
    queue.ok("run")
    with sqlite3.connect(queue.directory / FILE_NAME) as connection:
        connection.execute(
            "UPDATE jobs SET joules = 50, meter_values = 10, work_s = 2, metered_s = 2, bytes_moved = 10,"
            " energy_source = 'simulated'"
        )
    connection = open_database(queue.directory)
    month = report.month_of(connection, None)
    assert "SIMULATED" in report.cells(month.total)[6]
    assert month.total.simulated


# --- sleep


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins for systemctl and systemd-inhibit, which write down that they were called, and a clock that can wake."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "systemctl").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/called\n')
    (programs / "busctl").write_text(f"#!/bin/sh\ncat {tmp_path}/blocked\n")
    (tmp_path / "blocked").write_text('s ""\n')
    (programs / "systemd-inhibit").write_text(f"#!/bin/sh\ntouch {tmp_path}/inhibits\ncat\nrm {tmp_path}/inhibits\n")
    for program in programs.iterdir():
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    (tmp_path / "sys/class/rtc/rtc0").mkdir(parents=True)
    (tmp_path / "sys/class/rtc/rtc0/wakealarm").write_text("")
    return tmp_path


def called(system: Path) -> list[str]:
    return (system / "called").read_text().splitlines() if (system / "called").exists() else []


def test_the_machine_sleeps_once_after_work_and_not_before(system: Path) -> None:
    rest = Rest("suspend", system, grace_s=0.0)
    rest.tick(works=False, is_idle=True, next_due_s=None)
    assert called(system) == [], "nothing has worked yet"
    rest.tick(works=True, is_idle=False, next_due_s=None)
    rest.tick(works=False, is_idle=False, next_due_s=None)
    assert called(system) == [], "a report of an end is open"
    rest.tick(works=False, is_idle=True, next_due_s=None)
    rest.tick(works=False, is_idle=True, next_due_s=None)
    assert called(system) == ["suspend"]


def test_it_wakes_before_the_next_job_and_stays_awake_where_it_could_not(
    system: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alarm = system / "sys/class/rtc/rtc0/wakealarm"
    due_s = time.time() + 7200
    for _ in range(2):
        rest = Rest("poweroff", system, grace_s=0.0)
        rest.tick(works=True, is_idle=False, next_due_s=due_s)
        rest.tick(works=False, is_idle=True, next_due_s=due_s)
        if alarm.is_file():
            assert 7130 <= int(alarm.read_text().removeprefix("+")) <= 7140
            assert alarm.read_text().startswith("+"), "the clock may show local time, in which a moment means another one"
            alarm.unlink()
            alarm.mkdir()
    assert called(system) == ["poweroff"]
    assert "the machine stays awake: a job is due" in capsys.readouterr().err


def test_a_job_that_is_due_soon_keeps_it_awake(system: Path) -> None:
    rest = Rest("suspend", system, grace_s=0.0)
    rest.tick(works=True, is_idle=False, next_due_s=None)
    rest.tick(works=False, is_idle=True, next_due_s=time.time() + 60)
    assert called(system) == []
    rest.tick(works=False, is_idle=True, next_due_s=None)
    assert called(system) == ["suspend"]


def test_sleep_is_inhibited_while_a_job_works(system: Path) -> None:
    rest = Rest(None, system)
    rest.tick(works=True, is_idle=False, next_due_s=None)
    wait_for((system / "inhibits").exists)
    rest.tick(works=False, is_idle=True, next_due_s=None)
    assert not (system / "inhibits").exists()
    assert called(system) == []


@pytest.mark.parametrize(
    ("after", "blocked", "sleeps"),
    [
        ("suspend", "sleep:idle", False),
        ("suspend", "shutdown:handle-lid-switch", True),
        ("poweroff", "idle:shutdown", False),
        ("poweroff", "sleep", False),
        ("poweroff", "idle", True),
    ],
)
def test_it_does_not_sleep_while_another_program_works(
    system: Path, capsys: pytest.CaptureFixture[str], after: str, blocked: str, sleeps: bool
) -> None:
    """Root's systemctl asks nobody, unless it has a terminal. It is tried again, and said once."""
    (system / "blocked").write_text(f's "{blocked}"\n')
    rest = Rest(after, system, grace_s=0.0)
    rest.tick(works=True, is_idle=False, next_due_s=None)
    for _ in range(3):
        rest.tick(works=False, is_idle=True, next_due_s=None)
    assert called(system) == ([after] if sleeps else [])
    assert capsys.readouterr().err.count("another program works") == (not sleeps)
    (system / "blocked").write_text('s "idle"\n')
    rest.tick(works=False, is_idle=True, next_due_s=None)
    assert called(system) == [after]


def test_sleep_that_cannot_be_inhibited_or_begun_is_told_once(system: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As of the service of a user, to whom systemd allows neither."""
    for name in ("systemd-inhibit", "systemctl"):
        (system / "bin" / name).write_text("#!/bin/sh\necho Access denied >&2\nexit 1\n")
    (system / "run/systemd/system").mkdir(parents=True)
    rest = Rest("suspend", system, grace_s=0.0)
    rest.tick(works=True, is_idle=False, next_due_s=None)
    assert rest._inhibitor is not None
    rest._inhibitor.wait()
    for _ in range(2):
        rest.tick(works=True, is_idle=False, next_due_s=None)
    for _ in range(2):
        rest.tick(works=False, is_idle=True, next_due_s=None)
    assert capsys.readouterr().err.splitlines() == [
        "ecosort: the machine may go to sleep while a job works: systemd-inhibit: Access denied",
        "ecosort: --after suspend: systemctl suspend: Access denied",
    ]


def test_a_job_that_ended_while_no_service_ran_lets_the_machine_sleep(queue: Queue, records: Path, system: Path) -> None:
    """Or a service that is begun anew would keep it awake until morning."""
    number = queue.add(*SORT)
    queue.ok("run")
    with sqlite3.connect(queue.directory / FILE_NAME) as connection:
        connection.execute("UPDATE jobs SET state = 'running', ended_s = NULL WHERE id = ?", (number,))
    queue.environment["PATH"] = os.environ["PATH"]
    queue.ok("run", "--after", "suspend")
    assert queue.job(number)["attempts"] == 1
    assert called(system) == ["suspend"]


def test_queue_run_sleeps_at_its_end(queue: Queue, records: Path, system: Path) -> None:
    queue.environment["PATH"] = os.environ["PATH"]
    queue.ok("run", "--after", "suspend")
    assert called(system) == []
    queue.add(*SORT)
    queue.ok("run", "--after", "suspend")
    assert called(system) == ["suspend"]


def test_a_drive_that_rests_is_not_asked_for_its_temperature(tmp_path: Path) -> None:
    disk, chip = tmp_path / "device/block/sda", tmp_path / "sys/class/hwmon/hwmon0"
    (disk / "queue").mkdir(parents=True)
    (disk / "queue/rotational").write_text("1\n")
    (disk / "stat").write_text("1 0 8\n")
    chip.mkdir(parents=True)
    (chip / "name").write_text("drivetemp\n")
    (chip / "temp1_input").write_text("31000\n")
    (chip / "device").symlink_to(tmp_path / "device")
    looks = Temperatures(tmp_path, period_s=0.0)
    assert looks.now() == {}
    assert looks.now() == {}
    (disk / "stat").write_text("2 0 16\n")
    assert looks.now() == {"drivetemp device": 31.0}
    assert looks.now() == {}
    (disk / "queue/rotational").write_text("0\n")
    assert looks.now() == {"drivetemp device": 31.0}
