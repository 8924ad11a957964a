"""Jobs as JSON for programs: `queue show --json`, `queue list --json` and --on-end print it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ecosort_appliance.jobs import Job
from ecosort_appliance.users import user_name


def job_facts(job: Job) -> dict[str, Any]:
    """Times are seconds since 1970. `null`: not known, or it does not apply."""
    return {
        "schema": "ecosort.job/1",
        "id": job.id,
        "parent": job.parent,
        "name": _plain(job.name),
        "user": user_name(job.uid),
        "words": [_plain(word) for word in job.words],
        "directory": _plain(job.directory),
        "output": None if job.output is None else _plain(job.output),
        "priority": job.priority,
        "memory": job.memory,
        "resumable": job.resumable,
        "at": job.at,
        "every": job.every,
        "watch": None if job.watch is None else _plain(job.watch),
        "match": [_plain(pattern) for pattern in job.patterns],
        "when": job.condition,
        "latest": job.latest,
        "latest_s": job.latest_s or None,
        "settle_s": None if job.watch is None else job.settle_s,
        "on_end": None if job.on_end is None else _plain(job.on_end),
        "on_end_tries": job.tell_tries,
        "on_end_error": _plain(job.tell_error) or None,
        "state": job.state,
        "reason": _plain(job.reason),
        "wish": job.wish,
        "not_before_s": job.not_before_s or None,
        "attempts": job.attempt,
        "queued_s": job.queued_s,
        "started_s": job.started_s,
        "ended_s": job.ended_s,
        "exit_code": job.exit_code,
        "work_s": round(job.work_s, 3),
        "records": job.records,
        "bytes_moved": job.bytes_moved,
        "joules": job.joules if job.has_energy else None,
        "metered_s": round(job.metered_s, 3),
        "records_per_joule": job.records_per_joule,
        "joules_per_gb": job.joules_per_gb,
        "energy_source": job.energy_source or None,
    }


def list_facts(found: Iterable[Job], is_stopped: bool) -> dict[str, Any]:
    """`paused`: no job begins."""
    return {"schema": "ecosort.jobs/1", "paused": is_stopped, "jobs": [job_facts(job) for job in found]}


def _plain(text: str) -> str:
    """Replaces bytes of a name that are no UTF-8 by U+FFFD."""
    return text.encode(errors="surrogateescape").decode(errors="replace")
