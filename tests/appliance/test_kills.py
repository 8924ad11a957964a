"""Anything may die at any time: no job is lost, none is done twice, outputs are right."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import capabilities
import pytest
from sort_support import faults

from .support import COMMAND, Queue, wait_for

ROUNDS = 150 if capabilities.SOAK else 6
COPIES = 300 if capabilities.SOAK else 8
RECORDS = ("--record-size", "16", "--key", "0:4")

# Says when two programs write one output: each holds a lock on it for as long as it lives.
WATCHER = """#!/bin/bash
[[ $1 == run || $1 == resume ]] || exec {program} "$@"
[[ $1 == run ]] && output=$(grep -o "out-[0-9]*" /proc/self/fd/0)
[[ $1 == run ]] || output=${{@: -1}} output=${{output##*/}}
exec 9>>"{place}/$output.writer"
flock -n 9 || echo "$output" >>"{place}/two-writers"
exec {program} "$@"
"""


@pytest.fixture
def watched(tmp_path: Path, ecosort: Path) -> Iterator[Queue]:
    program = tmp_path / "ecosort"
    (tmp_path / "watch").mkdir()
    program.write_text(WATCHER.format(program=ecosort, place=tmp_path / "watch"))
    program.chmod(0o755)
    found = Queue(tmp_path / "queue", program)
    yield found
    found.close()


def make_inputs(place: Path, random: random.Random) -> None:
    (place / "in.dat").write_bytes(random.randbytes(16 * 150_000))
    text = "\n".join(f"{random.randrange(10**6)},name {i}" for i in range(60_000))
    (place / "in.csv").write_text(text + "\n")
    half = sorted(random.randbytes(16) for _ in range(50_000))
    (place / "a.dat").write_bytes(b"".join(half[::2]))
    (place / "b.dat").write_bytes(b"".join(half[1::2]))


def commands(number: int) -> list[list[str]]:
    """One of each kind that runs on every file system."""
    output = ["-o", f"out-{number}"]
    return [
        ["sort", *RECORDS, "--memory", "4MiB", "in.dat", *output],
        ["lines", "--memory", "4MiB", "-t,", "-k1,1n", "in.csv", *output],
        ["csv", "--memory", "16MiB", "--no-header", "--by", "1:integer", "in.csv", *output],
        ["merge", "--record-size", "16", "--key", "0:16", "a.dat", "b.dat", *output],
    ]


def expected_outputs(ecosort: Path, place: Path) -> list[bytes]:
    found = []
    for command in commands(0):
        subprocess.run([ecosort, *command, "--quiet"], cwd=place, check=True)
        found.append((place / "out-0").read_bytes())
        (place / "out-0").unlink()
    return found


def kill_all_jobs(queue: Queue) -> None:
    """Kills what a power cut ends beside the service."""
    for path in queue.directory.glob("jobs/*/keeper.json"):
        with suppress(OSError, ValueError):
            pid = json.loads(path.read_text())["pid"]
            if b"ecosort_appliance.keeper" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.killpg(pid, signal.SIGKILL)


@pytest.mark.timeout(3600 if capabilities.SOAK else 300)
def test_a_service_that_is_killed_at_random_moments(watched: Queue, ecosort: Path, tmp_path: Path) -> None:
    seed = int(os.environ.get("ECOSORT_SEED") or random.randrange(2**32))
    print(f"ECOSORT_SEED={seed}")
    chance = random.Random(seed)
    make_inputs(watched.place, chance)
    expected = expected_outputs(ecosort, watched.place)
    added: dict[int, int] = {}
    for turn in range(ROUNDS):
        for _ in range(2):
            kind, number = chance.randrange(4), len(added) + 1
            added[watched.add(*commands(number)[kind])] = kind
        service = watched.start(stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.1, 1.0))
        service.kill()
        service.wait()
        if turn % 2:
            kill_all_jobs(watched)
    watched.ok("run", timeout=120 + 4 * ROUNDS)
    assert_all_done(watched, added, expected)
    assert not (tmp_path / "watch" / "two-writers").exists()


def assert_all_done(queue: Queue, added: dict[int, int], expected: list[bytes]) -> None:
    found = queue.jobs()
    assert set(found) == set(added)
    for number, kind in added.items():
        assert found[number]["state"] == "done", (found[number], queue.log(number))
        output = found[number]["output"]
        assert Path(output).read_bytes() == expected[kind]
        reports = list((queue.directory / "jobs" / str(number)).glob("stats-*.json"))
        assert len(reports) <= 1, "one attempt has come to its end"
        assert not Path(output + ".ecosort").exists()


def test_a_job_outlives_the_service_and_is_found_again(watched: Queue, tmp_path: Path) -> None:
    """The program is stopped, so that it is still there when the next service comes."""
    make_inputs(watched.place, random.Random(1))
    number = watched.add(*commands(1)[0])
    service = watched.start()
    keeper = watched.directory / "jobs" / str(number) / "keeper.json"
    wait_for(keeper.exists)
    session = json.loads(keeper.read_text())["pid"]
    os.killpg(session, signal.SIGSTOP)
    service.kill()
    service.wait()
    second = watched.start()
    time.sleep(0.6)
    assert second.poll() is None
    assert watched.job(number)["attempts"] == 1
    os.killpg(session, signal.SIGCONT)
    assert second.wait(60) == 0
    assert (watched.job(number)["state"], watched.job(number)["attempts"]) == ("done", 1)


ENDS_IN_A_THREAD = """
import signal, threading
from ecosort_appliance.serve import _work_without_page

class Scheduler:
    def start(self):
        threading.Timer(0.1, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGTERM)).start()
    def stop(self):
        print("stopped")

_work_without_page(Scheduler())
"""


def test_a_signal_ends_the_service_whichever_thread_gets_it() -> None:
    """The kernel chooses one where the process was stopped a moment before."""
    done = subprocess.run(
        [sys.executable, "-c", ENDS_IN_A_THREAD],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == b"stopped\n"


def test_an_interrupted_sort_goes_on_from_its_last_run(watched: Queue, ecosort: Path, tmp_path: Path) -> None:
    """It ends beside the service when its second run is in the journal."""
    make_inputs(watched.place, random.Random(2))
    (watched.place / "in.dat").write_bytes(random.Random(3).randbytes(16 * 700_000))
    words = (*faults(tmp_path, "fdatasync,fsync:signal=STOP:when=10"), ecosort)
    program = Path(watched.environment["ECOSORT_PROGRAM"])
    program.write_text(f'#!/bin/sh\n[ "$1" = run ] && exec {shlex.join(map(str, words))} "$@"\nexec "{ecosort}" "$@"\n')
    number = watched.add(*commands(1)[0], "--io", "pool")
    service = watched.start()
    wait_for(lambda: (tmp_path / "trace").exists() and (tmp_path / "trace").read_text().count("\n") >= 10)
    service.kill()
    service.wait()
    kill_all_jobs(watched)
    assert (watched.place / "out-1.ecosort").exists()
    watched.ok("run")
    assert watched.job(number)["state"] == "done"
    assert "/ecosort resume " in watched.log(number)


def test_a_keeper_that_is_killed_alone(watched: Queue, tmp_path: Path) -> None:
    """Its program still holds the job's lock: nothing else begins before that has ended."""
    make_inputs(watched.place, random.Random(5))
    number = watched.add(*commands(1)[0])
    service = watched.start("serve", "--no-page", "--tick", "0.02")
    with watched.held(number, watched.place / "out-1.ecosort"):
        keeper = json.loads((watched.directory / "jobs" / str(number) / "keeper.json").read_text())["pid"]
        os.kill(keeper, signal.SIGKILL)
        time.sleep(0.3)
        assert (watched.job(number)["state"], watched.job(number)["attempts"]) == ("running", 1)
    wait_for(lambda: watched.job(number)["state"] == "done")
    assert (watched.place / "out-1").stat().st_size == (watched.place / "in.dat").stat().st_size
    assert not (tmp_path / "watch" / "two-writers").exists()
    service.terminate()
    assert service.wait(60) == 0


def is_asked_to_end(session: int) -> bool:
    """A process of the session, which stands still, will get SIGTERM when it goes on."""
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            pending = re.search(r"^ShdPnd:\s*([0-9a-f]+)$", status.read_text(), re.MULTILINE)
            is_pending = pending is not None and int(pending[1], 16) >> (signal.SIGTERM - 1) & 1
            if is_pending and os.getsid(int(status.parent.name)) == session:
                return True
    return False


def test_a_job_whose_keeper_was_killed_can_be_cancelled(watched: Queue) -> None:
    make_inputs(watched.place, random.Random(6))
    number = watched.add(*commands(1)[0])
    service = watched.start("serve", "--no-page", "--tick", "0.02")
    with watched.held(number, watched.place / "out-1.ecosort"):
        keeper = json.loads((watched.directory / "jobs" / str(number) / "keeper.json").read_text())["pid"]
        os.kill(keeper, signal.SIGKILL)
        watched.ok("cancel", str(number))
        wait_for(lambda: is_asked_to_end(keeper))
    wait_for(lambda: watched.job(number)["state"] == "cancelled")
    assert not (watched.place / "out-1").exists()
    assert not (watched.place / "out-1.ecosort").exists()
    service.terminate()
    assert service.wait(60) == 0


# --- the database


@contextmanager
def standing_still(*processes: subprocess.Popen[bytes]) -> Iterator[None]:
    for process in processes:
        process.send_signal(signal.SIGSTOP)
        wait_for(lambda pid=process.pid: " T " in Path(f"/proc/{pid}/stat").read_text())  # type: ignore[misc]
    try:
        yield
    finally:
        for process in processes:
            process.send_signal(signal.SIGCONT)


def test_what_was_numbered_is_in_the_file_at_any_moment(watched: Queue, tmp_path: Path) -> None:
    """Copies of database and log at random moments, with half a record of the log behind it, as after a power cut."""
    chance = random.Random(4)
    make_inputs(watched.place, chance)
    watched.ok("list")
    words = " ".join(commands(1)[3][:-1])
    loop = f'for i in $(seq 1000); do {" ".join(COMMAND)} queue add -- {words} out-$i >>"{tmp_path}/numbers"; done'
    numbers = tmp_path / "numbers"
    numbers.touch()
    with subprocess.Popen(["bash", "-c", loop], cwd=watched.place, env=watched.environment, start_new_session=True) as adder:
        service = watched.start("serve", "--no-page", "--tick", "0.02")
        try:
            wait_for(numbers.read_text)
            for turn in range(COPIES):
                time.sleep(chance.uniform(0.0, 0.25))
                with standing_still(service):
                    promised = {int(n) for n in numbers.read_text().split()}
                    copy = tmp_path / f"copy-{turn}"
                    os.killpg(adder.pid, signal.SIGSTOP)
                    time.sleep(0.01)
                    shutil.copytree(watched.directory, copy, ignore=shutil.ignore_patterns("jobs", "locks", "*-shm"))
                    os.killpg(adder.pid, signal.SIGCONT)
                check_copy(copy, promised, chance)
                shutil.rmtree(copy)
        finally:
            os.killpg(adder.pid, signal.SIGKILL)
            service.terminate()
            service.wait()
    assert promised


def check_copy(copy: Path, promised: set[int], chance: random.Random) -> None:
    log = copy / "queue.sqlite-wal"
    if log.exists():
        with log.open("ab") as file:
            file.write(chance.randbytes(chance.randrange(5000)))
    with closing(sqlite3.connect(copy / "queue.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        there = {number for (number,) in connection.execute("SELECT id FROM jobs")}
    assert promised <= there
