"""An attempt begins only where its job still waits, and what it left says how it ended, although no one wrote that down."""

from __future__ import annotations

from pathlib import Path

from ecosort_appliance import jobs
from ecosort_appliance.database import open_database
from ecosort_appliance.jobs import Job
from ecosort_appliance.outcome import Left, outcome


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


def test_a_job_whose_output_has_its_name_is_done_and_runs_no_more(tmp_path: Path) -> None:
    job = queued_job(tmp_path)
    assert outcome(job, Left(end=None, stats=None, has_job_directory=False, output_now=[7, 8, 9])).state == jobs.DONE
    assert outcome(job, Left(end=None, stats=None, has_job_directory=True, output_now=[7, 8, 9])).state == jobs.QUEUED
    assert outcome(job, Left(end=None, stats=None, has_job_directory=False, output_now=None)).state == jobs.QUEUED
