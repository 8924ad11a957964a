"""An attempt begins only where its job still waits."""

from __future__ import annotations

from pathlib import Path

from ecosort_appliance import jobs
from ecosort_appliance.database import open_database


def test_a_job_that_was_cancelled_meanwhile_does_not_begin(tmp_path: Path) -> None:
    connection = open_database(tmp_path)
    words = {"words": ["sort", "/in", "-o", "/out"], "directory": "/", "environment": {}, "output": "/out"}
    number = jobs.insert(connection, {"uid": 0, **words, "resumable": 1, "state": jobs.QUEUED, "queued_s": 0.0})
    looked_at = jobs.get(connection, number)
    assert jobs.change_state(connection, number, (jobs.QUEUED,), state=jobs.CANCELLED)
    assert jobs.begin_attempt(connection, looked_at, "/out", None, False) is None
    assert jobs.get(connection, number).state == jobs.CANCELLED
    connection.close()
