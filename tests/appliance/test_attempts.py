"""An attempt begins only where its job still waits, and what it left says how it ended, although no one wrote that down."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from ecosort_appliance import jobs, launch
from ecosort_appliance.cgroups import Group
from ecosort_appliance.database import open_database
from ecosort_appliance.jobdir import JobDirectory
from ecosort_appliance.jobs import Job
from ecosort_appliance.journals import journal_in
from ecosort_appliance.outcome import Left, outcome
from ecosort_appliance.processes import signal_job, start_ticks
from ecosort_appliance.program import has_left
from ecosort_appliance.scheduler import what_it_left
from ecosort_appliance.tasks import Task


def queued_job(queue: Path) -> Job:
    connection = open_database(queue)
    number = jobs.insert(connection, Job(uid=0, words=["sort", "/in", "-o", "/out"], directory="/", output="/out"))
    job = jobs.get(connection, number)
    connection.close()
    return job


def test_a_job_that_was_cancelled_meanwhile_does_not_begin(tmp_path: Path) -> None:
    job, connection = queued_job(tmp_path), open_database(tmp_path)
    assert jobs.change_state(connection, job.id, (jobs.QUEUED,), state=jobs.CANCELLED)
    assert jobs.begin_attempt(connection, job, "/out", None, False) is None
    assert jobs.get(connection, job.id).state == jobs.CANCELLED
    connection.close()


@pytest.mark.parametrize("is_resumable", [True, False])
def test_only_a_job_that_says_so_is_done(tmp_path: Path, is_resumable: bool) -> None:
    """A job whose keeper had never started was done when anything else had changed its output."""
    job = replace(queued_job(tmp_path), resumable=is_resumable)
    left = Left(end=None, stats=None, has_job_directory=False, output_now=[7, 8, 9])
    assert outcome(job, left).state == jobs.QUEUED
    assert outcome(job, replace(left, has_job_directory=True)).state == jobs.QUEUED
    assert outcome(job, replace(left, stats={"records": 1})).state == jobs.DONE
    assert outcome(job, replace(left, end={"code": 0})).state == jobs.DONE


@pytest.mark.parametrize("end", [None, {"code": -signal.SIGKILL}])
@pytest.mark.parametrize("wish", ["", "pause"])
def test_a_job_that_may_have_sorted_its_input_is_not_done_again(tmp_path: Path, end: dict[str, int] | None, wish: str) -> None:
    """`lines old new -o old` would take the lines of `new` twice."""
    job = replace(queued_job(tmp_path), wish=wish)
    left = Left(end=end, stats=None, has_job_directory=False, output_now=[7, 8, 9], output_is_input=True)
    found = outcome(job, left)
    assert (found.state, "`ecosort queue retry 1`" in found.reason) == (jobs.FAILED, True)
    assert outcome(job, replace(left, has_job_directory=True)).state != jobs.FAILED
    assert outcome(job, replace(left, output_now=job.output_before)).state != jobs.FAILED


@pytest.mark.parametrize(("words", "is_one"), [(["old", "new"], True), (["old", "./link"], True), (["old", "newer"], False)])
def test_an_output_is_an_input_by_any_name(tmp_path: Path, words: list[str], is_one: bool) -> None:
    (tmp_path / "link").symlink_to("new")
    task = Task({"inputs": words, "lines": {}, "place": {"output": "new"}}, ())
    assert task.overwrites_input(str(tmp_path)) == is_one


def journal(directory: Path, head: bytes) -> str:
    """Makes the job directory of an output in `directory`, and returns the name of the output."""
    (directory / "out.ecosort").mkdir(exist_ok=True)
    (directory / "out.ecosort/journal").write_bytes(head + bytes(4096))
    return str(directory / "out")


def test_a_job_goes_on_with_the_journal_that_it_left_and_no_other(tmp_path: Path) -> None:
    output = journal(tmp_path, b"one")
    job = Job(uid=0, words=[], directory="/", output=output, has_begun=True, journal=journal_in(f"{output}.ecosort"))
    assert has_left(job, output)
    assert has_left(replace(job, journal=None), output)  # an older program did not write it down
    assert not has_left(replace(job, has_begun=False), output)
    journal(tmp_path, b"other")
    assert not has_left(job, output)
    assert not has_left(replace(job, journal=""), output)
    journal(tmp_path, b"")  # of a sort that had not begun: the program removes it
    assert has_left(replace(job, journal=""), output)
    (tmp_path / "out.ecosort/journal").unlink()
    os.mkfifo(tmp_path / "out.ecosort/journal")  # is not waited for
    assert has_left(job, output)
    shutil.rmtree(tmp_path / "out.ecosort")
    assert not has_left(job, output)


def test_a_directory_that_came_after_the_end_of_an_attempt_is_of_another(tmp_path: Path) -> None:
    """The keeper writes down what is there when the program has ended; the service may look much later."""
    output, directory = journal(tmp_path, b"other"), JobDirectory(tmp_path, 1, os.getuid())
    directory.path.mkdir(parents=True)
    job = replace(queued_job(tmp_path), output=output, has_begun=True, attempt=1)
    assert what_it_left(job, directory)[1].has_job_directory  # the keeper was killed
    for found in (None, "", 7):
        (directory.path / "exit-1.json").write_text(json.dumps({"code": 2, "journal": found}))
        assert not what_it_left(job, directory)[1].has_job_directory
    (directory.path / "exit-1.json").write_text(json.dumps({"code": 2, "journal": journal_in(f"{output}.ecosort")}))
    job, left = what_it_left(job, directory)
    assert (left.has_job_directory, job.journal) == (True, journal_in(f"{output}.ecosort"))


def test_a_keeper_that_no_control_group_takes_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It never got its orders. Here the keeper is a program that writes them to a file."""
    orders, program = tmp_path / "orders", tmp_path / "keeper"
    program.write_text(f"#!/bin/sh\ncat > '{orders}'\n")
    program.chmod(0o755)
    (tmp_path / "locks").mkdir()
    monkeypatch.setattr(launch.sys, "executable", str(program))
    monkeypatch.setattr(launch, "make_group", lambda *_: Group((tmp_path / "absent",), ["a note"], yields=True))
    job = Job(uid=os.getuid(), words=[], directory="/", attempt=1, id=1)
    attempt = launch.Attempt(job, ["true"], None, JobDirectory(tmp_path, 1, job.uid))
    with Path("/dev/null").open("rb") as lock, launch.launch(attempt, lock.fileno(), None):
        pass
    spec = json.loads(orders.read_text())
    assert spec["notes"][1:] == ["a note", "no control group: No such file or directory"]
    assert "-n10" in spec["command"]  # the job yields by nice instead


@pytest.mark.parametrize(
    ("changed", "keeper_lives", "is_asked"),
    [
        ({}, False, True),
        ({}, True, False),  # the keeper asks its program itself
        ({"attempt": 1}, False, False),
        ({"start_ticks": 1}, False, False),  # the keeper's number is another's by now
    ],
)
def test_a_program_whose_keeper_was_killed_gets_the_signals_itself(
    tmp_path: Path, changed: dict[str, int], keeper_lives: bool, is_asked: bool
) -> None:
    program = "trap 'echo asked; exit' TERM; echo ready; sleep 60 & wait"
    keeper = subprocess.Popen(
        ["sh", "-c", f"trap : TERM; ({program}) & wait; wait"], start_new_session=True, stdout=subprocess.PIPE
    )
    assert keeper.stdout
    try:
        assert keeper.stdout.readline() == b"ready\n"
        job = Job(uid=os.getuid(), words=[], directory="/", attempt=2)
        directory = JobDirectory(tmp_path, 1, job.uid)
        directory.path.mkdir(parents=True)
        told = {"pid": keeper.pid, "start_ticks": start_ticks(keeper.pid), "attempt": 2} | changed
        (directory.path / "keeper.json").write_text(json.dumps(told))
        if not keeper_lives:
            keeper.kill()
            os.waitid(os.P_PID, keeper.pid, os.WEXITED | os.WNOWAIT)  # no one has asked yet how it ended
        for number in (signal.SIGTERM, signal.SIGKILL):
            signal_job(directory, number, job)
            if is_asked and number == signal.SIGTERM:
                assert keeper.stdout.readline() == b"asked\n"
    finally:
        os.killpg(keeper.pid, signal.SIGKILL)
        keeper.wait()
    with keeper.stdout as said:
        assert said.read() == b""
