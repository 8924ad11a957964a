"""Simulates how long a planned job takes on nodes with given rates: the plan's tasks on the plan's workers, one event after the
other.

A worker takes the next task as soon as it is free, as scheduler.py does. With all workers of a node busy each has its share of
every resource; the slowest resource is how long a task takes, because the program overlaps reading, computing and writing. Tasks
may differ by chance (`spread`).
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass

from ecosort.cluster.planner import Shape
from ecosort.cluster.rates import Rates


@dataclass(frozen=True)
class Prediction:
    """Predicts a stage; `limit` is the resource that decides."""

    name: str
    seconds: float
    limit: str


@dataclass(frozen=True)
class JobPrediction:
    """Predicts a job, with the time until it has started."""

    stages: tuple[Prediction, ...]
    seconds: float


def predict(shape: Shape, rates: Rates) -> JobPrediction:
    """Sampling is not counted: it reads less than a percent, and others partition meanwhile."""
    stages = (
        _stage("partition", shape, shape.ranges, _partition_seconds_per_mb(shape, rates), rates),
        _stage("reduce", shape, shape.parts, _reduce_seconds_per_mb(shape, rates), rates),
    )
    return JobPrediction(stages, rates.start_s + sum(stage.seconds for stage in stages))


def _partition_seconds_per_mb(shape: Shape, rates: Rates) -> dict[str, float]:
    """Returns what a MB of input takes of each resource of a node."""
    elsewhere = 1 - 1 / shape.nodes
    stored = None if rates.in_memory else rates.temp_write
    received = (elsewhere if rates.pushed else 0) + (1 if rates.remote else 0)
    times = _drive_times(rates, rates.input_read, stored)
    computing = {"sorting": (rates.sort, 1.0)} if shape.merges else {"partitioning": (rates.partition, 1.0)}
    return times | _known({"network": (rates.network, received), **computing})


def _reduce_seconds_per_mb(shape: Shape, rates: Rates) -> dict[str, float]:
    elsewhere = 1 - 1 / shape.nodes
    stored = None if rates.in_memory else rates.temp_read
    received, sent = (0.0 if rates.pushed else elsewhere), (1 if rates.remote else 0)
    times = _drive_times(rates, stored, rates.output_write)
    computing = {"merging": (rates.merge, 1.0)} if shape.merges else {"sorting": (rates.sort, 1.0)}
    return times | _known({"network": (rates.network, max(received, sent)), **computing})


def _drive_times(rates: Rates, read: float | None, write: float | None) -> dict[str, float]:
    times = _known({"reading": (read, 1), "writing": (write, 1)})
    return {"drives": sum(times.values())} if rates.one_drive and times else times


def _known(demands: Mapping[str, tuple[float | None, float]]) -> dict[str, float]:
    return {name: amount / rate for name, (rate, amount) in demands.items() if rate is not None}


def _stage(name: str, shape: Shape, tasks: int, seconds_per_mb: Mapping[str, float], rates: Rates) -> Prediction:
    limit = max(seconds_per_mb, key=lambda resource: seconds_per_mb[resource], default="nothing")
    if limit == "nothing":
        return Prediction(name, 0.0, limit)
    task_s = shape.input_bytes / tasks / 1e6 * seconds_per_mb[limit] * shape.workers / shape.nodes
    return Prediction(name, _last_end(tasks, shape.workers, task_s, rates.spread), limit)


def _last_end(tasks: int, workers: int, task_s: float, spread: float) -> float:
    """Returns when the last of equal tasks ends, each of which goes to the worker that is free first. Times are log-normal."""
    if spread == 0:
        return -(-tasks // workers) * task_s * min(1.0, tasks / workers)  # fewer tasks share a node's resources
    drawn = random.Random(tasks)
    sigma = math.sqrt(math.log1p(spread * spread))
    ends = [0.0] * workers
    for _ in range(tasks):
        heapq.heapreplace(ends, ends[0] + task_s * drawn.lognormvariate(-sigma * sigma / 2, sigma))
    return max(ends)
