"""The floors of a sort: its requests without computing, the fewest requests that this drive needs, and what it computes without
requests."""

import json
from dataclasses import asdict, replace
from typing import Any

from ecosort_measure.floor_trace import BLOCK_SIZES, DEPTHS, Shape, write_floor_trace
from ecosort_power.records import RECORD_BYTES

from ecosort_bench import costs
from ecosort_bench.contenders import Work
from ecosort_bench.runs import Bench

# The search for the best floor runs on a part of the data.
_CALIBRATION_BYTES = 1 << 30
_CALIBRATION_ROUNDS = 2
_COST_CALLS = 5


def record_trace(bench: Bench, work: Work) -> Work:
    """Sorts once with a trace, outside of the measurements."""
    bench.say("recording the requests of the sort")
    command = bench.programs.sort_command(work, "--stats", str(work.stats), "--trace", str(work.trace))
    bench.run_cold(command)
    plan = json.loads(work.stats.read_text())["plan"]
    return replace(work, read_depth=plan["read_depth"], write_depth=plan["write_depth"])


def measure_costs(bench: Bench, kind: str, runs: int, stored_share: float, work: Work) -> dict[str, Any]:
    """The CPU seconds per GB of each thing that a sort computes of this kind of input, with so many runs merged: on its own,
    and beside the requests of `work.trace`. Medians of several calls."""
    command = [str(bench.programs.tool("costs")), str(runs), kind]
    bench.say(f"measuring what a sort computes: {kind}")
    alone = costs.medians([json.loads(bench.run_cold(command).stdout) for _ in range(_COST_CALLS)])
    replay, _ = bench.programs.command("floor_a", work)
    busy = costs.beside_io(command, replay, work.threads, _COST_CALLS)
    work.output.unlink(missing_ok=True)
    return costs.found(alone, busy, stored_share)


def add_floor_of_records(bench: Bench, work: Work, stage: str) -> Work:
    """Finds the block size and depth at which this drive moves the minimal bytes fastest."""
    plan = json.loads(work.stats.read_text())["plan"]
    input_bytes = work.input.stat().st_size
    shape = Shape(input_bytes, plan["stored_records"] * RECORD_BYTES, plan["stored_runs"], input_bytes)
    return add_floor(bench, shape, work, stage)


def add_floor(bench: Bench, whole: Shape, work: Work, stage: str, search: str | None = None) -> Work:
    """`search`: the name under which the block size and depth are kept, for stages that share them."""
    name = search or stage
    found = bench.results.data["floors"].get(name)
    if found is None:
        found = _search(bench, work, whole)
        bench.results.data["floors"][name] = found
        bench.results.save()
    trace = work.floor_trace.with_name(f"{stage}.trace")
    write_floor_trace(trace, whole, found["block_bytes"])
    return replace(work, floor_trace=trace, floor_depth=found["depth"], floor_reserve=found["reserve"])


def _search(bench: Bench, work: Work, whole: Shape) -> dict[str, Any]:
    part = whole.part(min(1.0, _CALIBRATION_BYTES / max(whole.input_bytes, whole.output_bytes)))
    tried: dict[tuple[int, int, bool], float] = {}

    def try_out(block: int, depth: int, reserve: bool) -> None:
        write_floor_trace(work.floor_trace, part, block)
        time = bench.measure("floor_b", replace(work, floor_depth=depth, floor_reserve=reserve)).wall_s
        tried[block, depth, reserve] = min(time, tried.get((block, depth, reserve), time))

    for _ in range(_CALIBRATION_ROUNDS):
        for block, depth in ((block, depth) for block in BLOCK_SIZES for depth in DEPTHS):
            try_out(block, depth, True)
    block, depth, _ = min(tried, key=lambda key: tried[key])
    for _ in range(_CALIBRATION_ROUNDS):
        try_out(block, depth, False)
    block, depth, reserve = min(tried, key=lambda key: tried[key])
    bench.say(f"floor (b): blocks of {block >> 10} KiB, depth {depth}, space {'' if reserve else 'not '}reserved")
    trials = [{"block_bytes": b, "depth": d, "reserve": r, "wall_s": s} for (b, d, r), s in tried.items()]
    return {"block_bytes": block, "depth": depth, "reserve": reserve, "shape": asdict(whole), "calibration": trials}
