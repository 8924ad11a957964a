"""/metrics in the OpenMetrics format. Names of places are escaped: anyone may choose them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from ecosort.text import shown
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST as CONTENT_TYPE
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.registry import Collector

from ecosort_appliance import jobs
from ecosort_appliance.database import open_database
from ecosort_appliance.drives import Temperatures, drives_of
from ecosort_appliance.jobdir import JobDirectory

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from ecosort_appliance.web.views import WattSource

__all__ = ["CONTENT_TYPE", "metrics_text"]

_STATES = (jobs.STANDING, jobs.QUEUED, jobs.RUNNING, jobs.PAUSED, jobs.DONE, jobs.FAILED, jobs.CANCELLED)


class _Queue(Collector):
    """Counts what the queue is at the moment of the question."""

    def __init__(self, queue: Path, connection: sqlite3.Connection, meter: WattSource | None, temperatures: Temperatures) -> None:
        self._queue = queue
        self._connection = connection
        self._meter = meter
        self._temperatures = temperatures

    def collect(self) -> Iterator[Metric]:
        yield self._states()
        yield from self._running()
        yield from self._energy()
        yield from self._drives()

    def _states(self) -> Metric:
        counts = dict(self._connection.execute("SELECT state, count(*) FROM jobs GROUP BY state").fetchall())
        family = GaugeMetricFamily("ecosort_jobs", "Jobs that the queue knows, by state", labels=["state"])
        for state in _STATES:
            family.add_metric([state], counts.get(state, 0))
        return family

    def _running(self) -> Iterator[Metric]:
        done = GaugeMetricFamily("ecosort_job_done_ratio", "How far a running job is", labels=["job"], unit="ratio")
        rate = GaugeMetricFamily("ecosort_job_bytes_per_second", "Bytes that it moves per second", labels=["job"])
        for job in jobs.select(self._connection, "state = 'running'"):
            progress = JobDirectory(self._queue, job.id, job.uid).progress() or {}
            percent, megabytes = progress.get("job_percent"), progress.get("megabytes_per_s")
            if isinstance(percent, int | float):
                done.add_metric([str(job.id)], percent / 100)
            if isinstance(megabytes, int | float):
                rate.add_metric([str(job.id)], megabytes * 1e6)
        yield done
        yield rate

    def _energy(self) -> Iterator[Metric]:
        """Names a simulated meter otherwise, so that no sum takes it for energy."""
        if self._meter is None:
            return
        kind, where = ("simulated_", "=") if self._meter.simulated else ("", "!=")
        said = "SIMULATED, no measurement: " if self._meter.simulated else ""
        row = self._connection.execute(f"SELECT coalesce(sum(joules), 0) FROM energy WHERE source {where} 'simulated'").fetchone()
        name = f"ecosort_{kind}energy_joules"
        yield CounterMetricFamily(name, f"{said}Energy that the meter saw while the service ran", row[0], unit="joules")
        if self._meter.watts is not None:
            yield GaugeMetricFamily(f"ecosort_{kind}power_watts", f"{said}Power now", self._meter.watts, unit="watts")

    def _drives(self) -> Iterator[Metric]:
        there = [*jobs.select(self._connection, f"NOT {jobs.HAS_ENDED}"), *jobs.ended(self._connection, 50)]
        free = GaugeMetricFamily("ecosort_drive_free_bytes", "Free space of drives that jobs use", labels=["place"], unit="bytes")
        for drive in drives_of(there):
            free.add_metric([shown(drive.place)], drive.free_bytes)
        yield free
        degrees = GaugeMetricFamily("ecosort_drive_celsius", "Temperature of drives", labels=["drive"], unit="celsius")
        for name, value in self._temperatures.now().items():
            degrees.add_metric([name], value)
        yield degrees


def metrics_text(queue: Path, meter: WattSource | None, temperatures: Temperatures) -> bytes:
    with closing(open_database(queue)) as connection:
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Queue(queue, connection, meter, temperatures))
        return bytes(generate_latest(registry))  # type: ignore[no-untyped-call]
