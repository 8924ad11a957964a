"""Drive temperatures, throttling, load and rest of the drives, on fake trees."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ecosort_power.assemble import _condition_defects
from ecosort_power.cold import cached_share, settle
from ecosort_power.host import mount_of
from ecosort_power.monitor import (
    Circumstances,
    DriveHeat,
    Monitor,
    busy_share,
    disk_activity,
    drive_temperatures,
    load_swing,
    read_load,
)
from ecosort_power.monitor import LoadPoint as P
from ecosort_power.store import ResultDirectory
from ecosort_power.summary import summarize

from .stored import write_result
from .support import HurriedClock, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "proc/stat", "cpu  100 0 50 1000 20 3 2 0 0 0\ncpu0 100 0 50 1000 20 3 2 0 0 0")
    write(tmp_path / "sys/class/hwmon/hwmon0/name", "nvme")
    write(tmp_path / "sys/class/hwmon/hwmon0/temp1_input", 45_850)
    write(tmp_path / "sys/class/hwmon/hwmon0/temp1_max", 81_850)
    write(tmp_path / "sys/class/hwmon/hwmon1/name", "coretemp")
    write(tmp_path / "sys/class/hwmon/hwmon1/temp1_input", 60_000)
    write(tmp_path / "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", 3)
    write(tmp_path / "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", 4)
    return tmp_path


def test_drive_temperatures_with_their_limits(root: Path) -> None:
    ((name, (degrees, limit)),) = drive_temperatures(root).items()
    assert name.startswith("nvme")
    assert (degrees, limit) == (45.85, 81.85)


def test_a_run_records_the_heat_and_the_throttling(root: Path) -> None:
    monitor = Monitor(root)
    monitor.begin_run()
    write(root / "sys/class/hwmon/hwmon0/temp1_input", 83_000)
    write(root / "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", 9)
    now = read_load(root).time_s
    found, _ = monitor.end_run(now - 2, now - 1, now)
    assert found.throttle_events == 5
    (drive,) = found.drives
    assert (drive.first_c, drive.peak_c, drive.hot) == (45.85, 83.0, True)


def test_a_machine_without_sensors_records_nothing(tmp_path: Path) -> None:
    write(tmp_path / "proc/stat", "cpu  1 0 0 1 0 0 0 0 0 0")
    monitor = Monitor(tmp_path)
    monitor.begin_run()
    found, _ = monitor.end_run(0, 1, 2)
    assert (found.throttle_events, found.drives) == (None, [])


def test_idle_and_waiting_time_is_not_busy(root: Path) -> None:
    before = read_load(root)
    write(root / "proc/stat", "cpu  200 0 50 5000 900 3 2 0 0 0")
    assert read_load(root).busy_s - before.busy_s > 0
    assert busy_share([P(0, 0), P(1, 0.5), P(2, 0.6)], 0, 1) == pytest.approx(0.5)
    assert busy_share([P(0, 0)], 0, 1) is None


def test_a_load_that_changes_in_the_last_third_is_told_from_one_that_stays() -> None:
    still = [P(i / 5, i / 10) for i in range(60)]
    assert load_swing(still, 6.0, 11.0) == pytest.approx(0.0, abs=0.01)
    changes = [P(i / 5, min(i, 45) / 10) for i in range(60)]
    assert load_swing(changes, 6.0, 11.0) == pytest.approx(0.5, abs=0.01)
    assert load_swing(still, 6.0, 7.5) is None  # too short


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"throttle_events": 2}, "throttled"),
        ({"drives": [DriveHeat("nvme nvme0", 50, 82, 83, 81)]}, "hot-drive"),
        ({"busy_before": 0.4}, "busy-machine"),
        ({"busy_inside": 0.9, "processors": 4}, "other-load"),
        ({"busy_inside": 0.55, "processors": 4}, None),
    ],
)
def test_bad_circumstances_are_flagged(tmp_path: Path, change: dict[str, object], code: str | None) -> None:
    """The command kept half of the processors busy; what others used beyond that is in the energy of the run."""
    directory = ResultDirectory(write_result(tmp_path / "r", runs=1))
    session, (run,) = directory.session(), directory.runs()

    class Pieces:
        settle, cold, marks = run.settle, run.cold, run.marks
        circumstances = replace(Circumstances(), **change)  # type: ignore[arg-type]
        harness_cpu_s = 0.1

        class result:  # noqa: N801
            survivors = 0
            cpu_user_s, cpu_system_s = 1.5 * run.marks.seconds, 0.5 * run.marks.seconds

    assert [d.code for d in _condition_defects(session, Pieces)] == [code] * (code is not None)  # type: ignore[arg-type]


@pytest.mark.parametrize(("step_s", "told"), [(3600.0, True), (-0.5, True), (0.05, False)])
def test_a_step_of_the_clock_during_a_run_is_told(tmp_path: Path, step_s: float, told: bool) -> None:
    """NTP, or a person: logs are aligned by that clock."""
    directory = ResultDirectory(write_result(tmp_path / "r", runs=1))
    session, (run,) = directory.session(), directory.runs()

    class Pieces:
        settle, cold, circumstances, harness_cpu_s = run.settle, run.cold, Circumstances(), 0.1
        marks = replace(run.marks, realtime_drift_s=step_s)

        class result:  # noqa: N801
            survivors = 0

    found = [d.text for d in _condition_defects(session, Pieces)]  # type: ignore[arg-type]
    assert found == [f"the real-time clock moved by {step_s:+.2f} s"] * told


def test_a_trend_over_the_runs_is_flagged(tmp_path: Path) -> None:
    directory = ResultDirectory(write_result(tmp_path / "r"))
    session, runs = directory.session(), directory.runs()
    assert "trend" not in {d.code for d in summarize(session, runs).defects}
    heat = [replace(r.circumstances, drives=[DriveHeat("d", 40, 50, 50 + 3.0 * r.index, 90)]) for r in runs]
    warming = [replace(r, circumstances=c) for r, c in zip(runs, heat, strict=True)]
    (found,) = [d for d in summarize(session, warming).defects if d.code == "trend"]
    assert "drive temperature rise" in found.text


def test_rest_is_waited_for_and_its_absence_recorded(root: Path) -> None:
    (root / "sys/block/sda").mkdir(parents=True)
    line = "   8       0 sda 100 0 {} 0 50 0 800 0 {} 0 0 0 0 0 0 0 0"
    write(root / "proc/diskstats", line.format(1000, 0))
    assert disk_activity(root) == (1800, 0)
    clock = HurriedClock()
    assert settle(30.0, root, clock).settled
    write(root / "proc/diskstats", line.format(1000, 7))
    found = settle(0.6, root, clock)
    assert not found.settled
    assert found.waited_s >= 0.6


def test_how_much_of_a_file_is_cached(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 1_000_000)
    assert cached_share(path) == 1.0
    (tmp_path / "empty").touch()
    assert cached_share(tmp_path / "empty") == 0.0


def test_the_file_system_that_holds_a_path_is_known_also_where_nothing_is_yet(tmp_path: Path) -> None:
    assert (mount_of(Path("/proc/self")).file_system, mount_of(Path("/proc/nowhere/at/all")).file_system) == ("proc", "proc")
    mount = mount_of(tmp_path)
    assert mount == mount_of(tmp_path / "not" / "there")
    assert {"rw", "ro"} & set(mount.options.split(","))
    memory = next(line.split() for line in Path("/proc/self/mounts").read_text().splitlines() if " tmpfs " in line)
    assert mount_of(Path(memory[1])).in_memory
