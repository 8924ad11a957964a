"""The ledger says whose the joules of the machine are."""

from __future__ import annotations

from ecosort_appliance.ledger import Share, Stretch, shares


def test_jobs_that_work_at_the_same_time_share_the_joules() -> None:
    found = shares([Stretch(0.0, 10.0, 100.0)], {1: (0.0, float("inf")), 2: (4.0, 8.0), 3: (20.0, 30.0)})
    assert found == {1: Share(80.0, 10.0, 1), 2: Share(20.0, 4.0, 0)}
