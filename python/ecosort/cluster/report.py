"""Reports what a job did: one row for each stage, as TritonSort prints them, from what its tasks answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
STAGES = ("fetch", "sample", "split", "partition", "reduce", "reread")


@dataclass(frozen=True)
class TaskSpan:
    """An attempt that won. Times are of the clock of the day."""

    stage: str
    task: str
    node: str
    begin_s: float
    end_s: float
    cpu_s: float
    bytes_read: int
    bytes_written: int
    network_bytes: int  # read from slices of other nodes and from remote inputs, or sent to a bucket
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Step:
    """Sums up what the program called a phase, in all tasks of a stage; `wait_s` of `worker_s` it waited for I/O."""

    name: str
    worker_s: float
    bytes_read: int
    bytes_written: int
    wait_s: float


@dataclass(frozen=True)
class Stage:
    """All tasks of a phase. `worker_s` is the sum of their times, `wall_s` from the first begin to the last end."""

    name: str
    tasks: int
    wall_s: float
    worker_s: float
    cpu_s: float
    bytes_read: int
    bytes_written: int
    network_bytes: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class ClusterReport:
    """Sizes are in bytes, times in seconds: `wall_s` from the first begin of a task to the last end, `cpu_s` of all processes.

    `bytes_moved` is what tasks read and wrote, samples included. `imbalance`: the largest part over the mean. `attempts` counts
    those that failed, too.
    """

    rows: int
    parts: int
    input_bytes: int
    output_bytes: int
    bytes_moved: int
    imbalance: float
    attempts: int
    tasks: int
    wall_s: float
    cpu_s: float
    stages: tuple[Stage, ...]
    spans: tuple[TaskSpan, ...]


def report_from_events(events: Sequence[Mapping[str, Any]]) -> ClusterReport:
    """Makes it of a journal whose job is complete. Tasks that were done and lost again count in stages, not in rows and parts."""
    plan = events[0]
    done = [event for event in events if event["event"] == "done"]
    spans = tuple(_span(event, done) for event in done)
    parts = {
        event["task"]: event["answer"] for event in done if event["task"].startswith("reduce-") and "rows" in event["answer"]
    }
    sizes = [part["bytes"] for part in parts.values()]
    return ClusterReport(
        rows=sum(part["rows"] for part in parts.values()),
        parts=len(parts),
        input_bytes=sum(size for size, _ in plan["inputs"]),
        output_bytes=sum(sizes),
        bytes_moved=sum(span.bytes_read + span.bytes_written for span in spans),
        imbalance=max(sizes) * len(sizes) / sum(sizes) if sum(sizes) else 1.0,
        attempts=sum(event["event"] == "start" for event in events),
        tasks=len({event["task"] for event in done}),
        wall_s=max(span.end_s for span in spans) - min(span.begin_s for span in spans),
        cpu_s=sum(span.cpu_s for span in spans),
        stages=tuple(_stage(name, own) for name in STAGES if (own := [span for span in spans if span.stage == name])),
        spans=spans,
    )


def _span(event: Mapping[str, Any], done: Iterable[Mapping[str, Any]]) -> TaskSpan:
    answer = event["answer"]
    return TaskSpan(
        stage=event["task"].partition("-")[0],
        task=event["task"],
        node=event["node"],
        begin_s=answer["begin_s"],
        end_s=answer["end_s"],
        cpu_s=answer["cpu_s"],
        bytes_read=answer["bytes_read"],
        bytes_written=answer["bytes_written"],
        network_bytes=_from_elsewhere(event, done),
        steps=tuple(Step(*step) for step in answer.get("phases", ())),
    )


def _from_elsewhere(event: Mapping[str, Any], done: Iterable[Mapping[str, Any]]) -> int:
    """Counts what a part took from slices of other nodes, a node from remote inputs, and what went into a bucket."""
    if event["task"].startswith("fetch-"):
        return int(event["answer"]["bytes_read"])
    if not event["task"].startswith("reduce-"):
        return 0
    part, sent = int(event["task"].rpartition("-")[2]), int(event["answer"].get("uploaded_bytes", 0))
    slices = {one["task"]: (one["node"], one["answer"]["slices"][part]["bytes"]) for one in done if "slices" in one["answer"]}
    return sent + sum(int(size) for node, size in slices.values() if node != event["node"])


def _stage(name: str, spans: Sequence[TaskSpan]) -> Stage:
    return Stage(
        name=name,
        tasks=len(spans),
        wall_s=max((span.end_s for span in spans), default=0) - min((span.begin_s for span in spans), default=0),
        worker_s=sum(span.end_s - span.begin_s for span in spans),
        cpu_s=sum(span.cpu_s for span in spans),
        bytes_read=sum(span.bytes_read for span in spans),
        bytes_written=sum(span.bytes_written for span in spans),
        network_bytes=sum(span.network_bytes for span in spans),
        steps=_steps([step for span in spans for step in span.steps]),
    )


def _steps(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Added up by name, in the order in which they come first."""
    same = {name: [step for step in steps if step.name == name] for name in dict.fromkeys(step.name for step in steps)}
    return tuple(
        Step(
            name,
            sum(step.worker_s for step in own),
            sum(step.bytes_read for step in own),
            sum(step.bytes_written for step in own),
            sum(step.wait_s for step in own),
        )
        for name, own in same.items()
    )


def stage_table(report: ClusterReport, threads: int) -> str:
    """A line per stage, for a terminal, and one per step in it. MB/s of a stage are those of all nodes, of a step of a worker.

    Threads of a stage wait when they do not compute: if they compute most of the time they limit it, else its I/O does. What a
    step waits is what its coordinator waited for I/O.
    """
    head = ("stage", "tasks", "seconds", "read MB/s", "write MB/s", "network MB/s", "CPU s", "waits", "limited by")
    rows: list[tuple[str, ...]] = [head]
    for stage in report.stages:
        rows += [_cells(stage, threads), *(_step_cells(step) for step in stage.steps)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join("  ".join(_aligned(row, widths)).rstrip() for row in rows)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]


def _cells(stage: Stage, threads: int) -> tuple[str, ...]:
    seconds = max(stage.wall_s, 1e-9)
    computing = min(1.0, stage.cpu_s / max(stage.worker_s * threads, 1e-9))
    sizes = (stage.bytes_read, stage.bytes_written, stage.network_bytes)
    rates = (f"{size / 1e6 / seconds:.0f}" for size in sizes)
    waits = f"{100 * (1 - computing):.0f} %"
    limit = "CPU" if computing > 0.7 else "I/O"
    return (stage.name, str(stage.tasks), f"{stage.wall_s:.2f}", *rates, f"{stage.cpu_s:.2f}", waits, limit)


def _step_cells(step: Step) -> tuple[str, ...]:
    seconds = max(step.worker_s, 1e-9)
    rates = (f"{size / 1e6 / seconds:.0f}" for size in (step.bytes_read, step.bytes_written))
    return (f"  {step.name}", "", f"{step.worker_s:.2f}", *rates, "", "", f"{100 * min(1.0, step.wait_s / seconds):.0f} %", "")
