"""A plan as text for people, and as JSON for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ecosort.cluster.planner import Shape
from ecosort.cluster.rates import Rates
from ecosort.cluster.simulator import Prediction, predict
from ecosort.text import size_text


def plan_text(shape: Shape, rates: Rates | None, source: str = "--rates") -> str:
    """Says what the job will do; with rates, which come from `source`, also how long it takes and what limits it."""
    lines = [
        f"input            {size_text(shape.input_bytes)}",
        f"nodes            {shape.nodes}, {shape.workers} tasks at a time, {size_text(shape.memory_bytes)} of memory each",
        f"sample           {shape.sampled_rows} rows, at most {size_text(shape.sample_bytes)} read; "
        "no part over 1.1 times the mean, but with probability 1e-6",
        f"partition        {shape.ranges} tasks of {size_text(shape.range_bytes)}, "
        f"{size_text(shape.partition_memory_bytes)} of memory each",
        f"slices           {shape.slices} files of {size_text(shape.slice_bytes)}" + (", sorted" if shape.merges else ""),
        f"reduce           {shape.parts} parts of {size_text(shape.part_bytes)}, {_how(shape)}",
        f"moved            {size_text(shape.moved_bytes)}: {size_text(-(-shape.moved_bytes // shape.nodes))} per node",
        f"over the network {size_text(shape.network_bytes)}: {size_text(shape.network_bytes // shape.nodes)} in and out per node",
        f"temporary space  {size_text(shape.temp_bytes_per_node)} per node",
    ]
    if shape.fetched_bytes:
        lines.insert(1, f"fetched          {size_text(shape.fetched_bytes)}, into temporary space until it is partitioned")
    if rates:
        lines += [_stage_text(prediction) for prediction in predict(shape, rates).stages]
        lines += [
            f"time             {predict(shape, rates).seconds:.1f} s by {source}; what these do not say is taken for no limit"
        ]
    else:
        lines += ["time             not known: no profile (ecosort tune probe), and no --rates"]
    return "\n".join(lines)


def _how(shape: Shape) -> str:
    return f"each merged from {shape.files} files" if shape.merges else "each sorted in one pass"


def _stage_text(stage: Prediction) -> str:
    return f"  {stage.name:<14} {stage.seconds:.1f} s, limited by {stage.limit}"


def plan_json(shape: Shape, rates: Rates | None) -> dict[str, Any]:
    """Counts and bytes; `prediction` only with rates."""
    counted = ("slices", "slice_bytes", "sample_bytes", "moved_bytes", "temp_bytes_per_node", "network_bytes")
    told = {"schema": "ecosort.cluster-plan/1"} | asdict(shape) | {name: getattr(shape, name) for name in counted}
    if rates:
        predicted = predict(shape, rates)
        told["prediction"] = {"seconds": predicted.seconds, "stages": [asdict(stage) for stage in predicted.stages]}
    return told
