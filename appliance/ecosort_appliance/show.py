"""Jobs as lines of text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ecosort.text import shown, size_text

from ecosort_appliance.jobs import ENDED, FAILED, FEWEST_VALUES, PAUSED, QUEUED, RUNNING, SIMULATED, STANDING, Job
from ecosort_appliance.text import command_text, span_text, time_text
from ecosort_appliance.users import user_name


def rule_text(job: Job) -> str:
    """Describes a job that makes others; empty of any other."""
    if job.watch:
        return f"watches {job.watch}" + (f" for {', '.join(job.patterns)}" if job.patterns else "")
    return f"{job.every}, next {time_text(job.not_before_s)}" if job.every else ""


def state_text(job: Job) -> str:
    """The state with what it waits for."""
    if job.reason:
        return f"{job.state}: {job.reason}"
    if job.state == STANDING:
        return rule_text(job)
    if job.state == PAUSED and rule_text(job):
        return f"paused: {rule_text(job)}"
    if job.state == FAILED:
        return f"failed, exit code {job.exit_code}"
    if job.wish:
        return f"{job.state}, to {job.wish}"
    if job.not_before_s > 0 and job.state == "queued":
        return f"queued, not before {time_text(job.not_before_s)}"
    return job.state


def table(found: Sequence[Job]) -> Iterator[str]:
    rows = [(str(job.id), shown(state_text(job)), shown(job.name) or command_text(job.words)) for job in found]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(2)]
    for row in rows:
        yield f"{row[0]:>{widths[0]}}  {row[1]:<{min(widths[1], 60)}}  {row[2]}"
    if not rows:
        yield "the queue is empty; ecosort queue add -- sort INPUT -o OUTPUT puts a job there"


def no_log_text(job: Job) -> str:
    """Why nothing was said yet; empty of a job that has begun."""
    if rule_text(job):
        return f"job {job.id} makes other jobs, which have logs of their own; `ecosort queue list --all` lists them"
    return "" if job.has_begun else f"job {job.id} has not begun, so that there is no log ({shown(state_text(job))})"


def progress_text(progress: Mapping[str, Any] | None) -> str:
    """Describes a line of --progress=json; empty where it is none."""
    if not progress or not isinstance(progress.get("megabytes_per_s"), int | float):
        return ""
    percent, eta_s = progress.get("job_percent"), progress.get("job_eta_s")
    parts = [str(progress.get("phase", "")).replace("_", " ")]
    if isinstance(percent, int | float):
        parts.append(f"{percent:.0f} %")
    parts.append(f"{progress['megabytes_per_s']:.0f} MB/s")
    if isinstance(eta_s, int | float):
        parts.append(f"{span_text(eta_s)} left")
    return ", ".join(parts)


def energy_text(job: Job) -> str:
    """Empty where no meter looked, and while the job has just begun."""
    if not job.has_energy or job.metered_s <= 0:
        return _why_no_energy(job) if job.meter_values is not None and job.state in ENDED and job.work_s else ""
    text = f"{job.joules:,.0f} J, {(job.joules or 0.0) / job.metered_s:.1f} W"
    text += f", {job.records_per_joule:,.0f} records/J" if job.records_per_joule else ""
    text += f", {job.joules_per_gb:,.0f} J per GB moved" if job.joules_per_gb else ""
    if job.state in ENDED and not job.is_metered_throughout:
        text += f", of {span_text(job.metered_s)} of {span_text(job.work_s)} of work: the meter did not see the rest"
    return f"SIMULATED, no measurement: {text}" if job.energy_source == SIMULATED else text


def _why_no_energy(job: Job) -> str:
    count = job.meter_values or 0
    values = f"{count} value{'s' if count != 1 else ''} of the meter came"
    return f"no joules: {values} while it worked, {FEWEST_VALUES} are needed"


def told_text(job: Job) -> str:
    """Says what became of --on-end."""
    if job.on_end is None or job.state not in ENDED or not job.tell_tries:
        return ""
    if not job.tell_error:
        return "yes" if job.notified else "not yet"
    tries = f"{job.tell_tries} {'try' if job.tell_tries == 1 else 'tries'}"
    then = "it is not tried again" if job.notified else f"again at {time_text(job.tell_again_s)}"
    return f"no: {job.tell_error} ({tries}; {then})"


def moment_text(job: Job) -> str:
    """The latest of its times, and what it is of."""
    if job.ended_s:
        return f"ended {time_text(job.ended_s)}"
    return f"started {time_text(job.started_s)}" if job.started_s else f"queued {time_text(job.queued_s)}"


def _latest_text(job: Job) -> str:
    return time_text(job.latest_s) if job.state != STANDING else job.latest or ""


def facts_of(job: Job, progress: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Everything about a job as text, by its name; empty where it does not apply."""
    return {
        "job": str(job.id),
        "name": job.name,
        "state": state_text(job),
        "progress": progress_text(progress) if job.state == RUNNING else "",
        "directory": job.directory,
        "output": job.output or "",
        "user": user_name(job.uid),
        "priority": str(job.priority),
        "memory": job.memory or "",
        "resumable": "yes" if job.resumable else "no",
        "attempts": str(job.attempt),
        "made by": f"job {job.parent}" if job.parent else "",
        "every": " at ".join(filter(None, [job.every, job.at])) if job.every else "",
        "watches": f"{job.watch}, for {', '.join(job.patterns) or 'files'} that rest for {job.settle_s:g} s" if job.watch else "",
        "when": (job.condition or "") + (f", at the latest {_latest_text(job)}" if job.latest else ""),
        "not before": time_text(job.not_before_s) if job.state in (QUEUED, STANDING, PAUSED) else "",
        "queued": time_text(job.queued_s),
        "started": time_text(job.started_s),
        "ended": time_text(job.ended_s),
        "worked": span_text(job.work_s) if job.work_s else "",
        "exit code": "" if job.exit_code is None else str(job.exit_code),
        "records": f"{job.records:,}" if job.records is not None else "",
        "moved": size_text(job.bytes_moved) if job.bytes_moved else "",
        "energy": energy_text(job),
        "on end": job.on_end or "",
        "told": told_text(job),
    }


def details(job: Job, progress: Mapping[str, Any] | None) -> Iterator[str]:
    """The lines of `queue show`."""
    yield f"{'command':<10} {command_text(job.words)}"
    for name, value in facts_of(job, progress).items():
        if value:
            yield f"{name:<10} {shown(value)}"
