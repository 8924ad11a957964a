"""System settings on a fake machine: shown, changed, and always put back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ecosort_tuning.errors import RunError, UsageError
from ecosort_tuning.hold import Held, restore
from ecosort_tuning.settings import Change, WantedSettings, drive_of, plan_changes

from .conftest import Tune, tune_env
from .machine import contents, make_machine, write

ALL = WantedSettings("performance", "performance", 4 << 20, "mq-deadline", 40.0)
WORDS = ("--governor", "performance", "--read-ahead", "4MiB", "--drive", "sda", "--power-cap", "40")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_machine(tmp_path / "machine")


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "run" / "restore.json"


def test_all_settings_are_found_and_nothing_is_changed_by_looking(root: Path) -> None:
    before = contents(root)
    changes = {c.path: (c.before, c.after) for c in plan_changes(root, ALL, ["sda"])}
    cpu, queue, rapl = "sys/devices/system/cpu/cpu{}/cpufreq/", "sys/block/sda/queue/", "sys/class/powercap/intel-rapl:{}/"
    expected = {cpu.format(i) + "scaling_governor": ("powersave", "performance") for i in (0, 1)}
    expected |= {cpu.format(i) + "energy_performance_preference": ("balance_performance", "performance") for i in (0, 1)}
    expected |= {queue + "scheduler": ("none", "mq-deadline"), queue + "read_ahead_kb": ("128", "4096")}
    # The long-term limit of each package; the limits of its parts and the short-term one stay.
    expected |= {rapl.format(i) + "constraint_0_power_limit_uw": ("65000000", "40000000") for i in (0, 1)}
    assert changes == expected
    assert list(changes)[:2] == [cpu.format(i) + "scaling_governor" for i in (0, 1)]
    assert contents(root) == before


def test_what_is_as_wanted_already_is_no_change(root: Path) -> None:
    assert plan_changes(root, WantedSettings(governor="powersave", scheduler="none"), ["sda"]) == []


@pytest.mark.parametrize(
    ("wanted", "drives", "reason"),
    [
        (WantedSettings(governor="ondemand"), [], "'ondemand' is not offered by .*: performance, powersave"),
        (WantedSettings(energy_preference="fast"), [], "'fast' is not offered"),
        (WantedSettings(scheduler="bfq"), ["sda"], "'bfq' is not offered by .*: none, mq-deadline, kyber"),
        (
            WantedSettings(read_ahead_bytes=4096),
            ["sdz"],
            "drive sdz has no read_ahead_kb to set; drives of this machine: nvme0n1, sda",
        ),
        (WantedSettings(read_ahead_bytes=4096), [], "name the drive"),
        (WantedSettings(read_ahead_bytes=100), ["sda"], "no whole number of KiB"),
        (WantedSettings(power_cap_w=400.0), [], "up to 95 W"),
        (WantedSettings(power_cap_w=0.0), [], "outside"),
    ],
)
def test_what_the_machine_does_not_offer_is_refused(root: Path, wanted: WantedSettings, drives: list[str], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        plan_changes(root, wanted, drives)


def test_a_machine_without_the_files_says_so(tmp_path: Path) -> None:
    for wanted, what in (
        (WantedSettings(governor="performance"), "no governor"),
        (WantedSettings(power_cap_w=10.0), "no power cap"),
    ):
        with pytest.raises(UsageError, match=what):
            plan_changes(tmp_path, wanted, [])


def test_inside_everything_is_changed_and_afterwards_as_before(root: Path, record: Path) -> None:
    before = contents(root)
    changes = plan_changes(root, ALL, ["sda", "nvme0n1"])
    with Held(root, changes, record):
        inside = contents(root)
        assert {path for path in before if inside[path] != before[path]} == {c.path for c in changes}
        assert inside["sys/devices/system/cpu/cpu1/cpufreq/scaling_governor"] == "performance"
        assert record.exists()
        with pytest.raises(UsageError, match="not restored yet"), Held(root, changes[:1], record):
            pass
    after = contents(root)
    # This machine does not put brackets around the name that is written, as a real one does.
    assert {k: v.replace("[none] mq-deadline kyber", "none") for k, v in before.items()} == after
    assert not record.exists()


def test_an_error_inside_brings_the_settings_back_too(root: Path, record: Path) -> None:
    before = contents(root)
    with pytest.raises(ZeroDivisionError), Held(root, plan_changes(root, WantedSettings(governor="performance"), []), record):
        _ = 1 / 0
    assert contents(root) == before


def test_a_refused_change_takes_back_those_before_it(root: Path, record: Path) -> None:
    before = contents(root)
    good = plan_changes(root, WantedSettings(governor="performance"), [])
    gone = Change("sys/block/sda/queue/nowhere", "nothing", "a", "b")
    # The kernel refuses by an error of the write; a file that is not there gives one as well.
    with pytest.raises(RunError, match="nothing"), Held(root, [*good, gone], record):
        pytest.fail("not reached")
    assert contents(root) == before
    assert json.loads(record.read_text())["changes"], "what could not be put back is not forgotten"


def test_a_setting_that_waits_for_another_one_comes_back_in_a_later_attempt(
    root: Path, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """intel_pstate refuses the energy preference under the governor `performance`."""
    from ecosort_tuning import hold

    governor = root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    real = hold._write

    def refusing(at: Path, change: Change, value: str) -> None:
        if change.path.endswith("preference") and "restoring" in state and governor.read_text().strip() == "performance":
            raise OSError(16, "Device or resource busy")
        real(at, change, value)

    state: set[str] = set()
    monkeypatch.setattr(hold, "_write", refusing)
    before = contents(root)
    with Held(root, plan_changes(root, WantedSettings("performance", "power"), []), record):
        state.add("restoring")
    assert contents(root) == before


def holder(root: Path, record: Path, *command: str) -> subprocess.Popen[str]:
    words = ["settings", "--apply", "--root", str(root), "--restore-file", str(record), *WORDS, "--", *command]
    return subprocess.Popen(
        [sys.executable, "-m", "ecosort_tuning", *words],
        env=tune_env(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path: Path) -> None:
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not appear"
        time.sleep(0.02)


def test_after_sigkill_restore_brings_everything_back(root: Path, record: Path, tmp_path: Path, tune: Tune) -> None:
    before = contents(root)
    inside = tmp_path / "inside"
    with holder(root, record, "sh", "-c", f"touch {inside}; sleep 60") as process:
        wait_for(inside)
        early = tune("restore", "--restore-file", record)
        assert (early.returncode, "still holds its settings" in early.stderr) == (2, True)
        process.send_signal(signal.SIGKILL)
        process.wait(60)
    assert contents(root) != before
    assert (
        "not restored yet" in tune("settings", "--apply", "--root", root, "--restore-file", record, *WORDS, "--", "true").stderr
    )
    done = tune("restore", "--restore-file", record)
    assert done.returncode == 0, done.stderr
    assert "governor of cpu0: powersave again" in done.stdout
    assert contents(root) == before
    assert tune("restore", "--restore-file", record).stdout == "nothing to restore\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_command_and_restores(root: Path, record: Path, tmp_path: Path, number: signal.Signals) -> None:
    before = contents(root)
    inside = tmp_path / "inside"
    with holder(root, record, "sh", "-c", f"echo $$ > {inside}.new; mv {inside}.new {inside}; exec sleep 60") as process:
        wait_for(inside)
        process.send_signal(number)
        process.communicate(timeout=60)
        assert process.returncode == 128 + number
    assert contents(root) == before
    assert not record.exists()
    pid = int(inside.read_text())
    end = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists():  # killed; it is gone as soon as it was waited for
        assert time.monotonic() < end, f"process {pid} continues"
        time.sleep(0.02)


def test_a_number_of_a_process_that_is_another_one_now_is_no_obstacle(root: Path, record: Path) -> None:
    changes = plan_changes(root, WantedSettings(governor="performance"), [])
    before = contents(root)
    for change in changes:
        write(root / change.path, change.after)
    old = {"schema": "ecosort.restore/1", "pid": os.getppid(), "started": "1", "root": str(root)}
    stored = [{"path": c.path, "what": c.what, "before": c.before, "after": c.after} for c in changes]
    write(record, json.dumps({**old, "changes": stored}))
    assert restore(record) == changes
    assert contents(root) == before


def test_the_command_runs_under_the_settings_and_gives_its_exit_code(root: Path, record: Path, tune: Tune) -> None:
    before = contents(root)
    governor = root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    words = ("settings", "--root", root, "--restore-file", record, *WORDS)
    done = tune(*words, "--apply", "--", "sh", "-c", f"cat {governor}; exit 7")
    assert (done.returncode, done.stdout) == (7, "performance\n"), done.stderr
    assert contents(root) == before
    shown = tune(*words, "--", "touch", "never")
    assert shown.returncode == 0
    assert "would change governor of cpu0: powersave -> performance" in shown.stderr
    assert "would change read-ahead of sda in KiB: 128 -> 4096" in shown.stderr
    assert "nothing was changed or run" in shown.stderr
    assert tune(*words, "--apply").returncode == 2
    missing = tune(*words, "--apply", "--", "/nonexistent/program")
    assert (missing.returncode, "cannot be started" in missing.stderr) == (2, True)
    assert contents(root) == before


def test_the_drive_of_a_directory_is_found_also_below_a_partition(tmp_path: Path) -> None:
    number = tmp_path.stat().st_dev
    name = f"{os.major(number)}:{os.minor(number)}"
    with pytest.raises(UsageError, match="on no drive"):
        drive_of(tmp_path, tmp_path)
    partition = tmp_path / "sys/devices/pci/nvme0n1/nvme0n1p2"
    write(partition / "partition", "2")
    (tmp_path / "sys/dev/block").mkdir(parents=True)
    (tmp_path / "sys/dev/block" / name).symlink_to(partition)
    assert drive_of(tmp_path, tmp_path) == "nvme0n1"
    (partition / "partition").unlink()
    assert drive_of(tmp_path, tmp_path) == "nvme0n1p2"
