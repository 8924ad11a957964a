"""Measured runs, from wherever they are kept: reports of the sorter, results of `make bench`, results of ecosort-power."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ecosort_measure.results import SCHEMA as BENCH_SCHEMA
from ecosort_power.codec import read_json
from ecosort_power.phases import STATS_SCHEMA
from ecosort_power.store import ResultDirectory, valid_runs

from ecosort_tuning.errors import UsageError


@dataclass(frozen=True, slots=True)
class Work:
    """A sort, or a phase of one, has this to do."""

    bytes_read: float
    bytes_written: float

    @property
    def bytes_moved(self) -> float:
        return self.bytes_read + self.bytes_written


@dataclass(frozen=True, slots=True)
class Phase:
    name: str
    seconds: float
    work: Work


@dataclass(frozen=True, slots=True)
class Coders:
    """CPU seconds of those that compressed runs, and decompressed them."""

    pack_s: float = 0.0
    unpack_s: float = 0.0


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run of the sorter. `joules` and `meter` where one was read."""

    records: int
    threads: int
    plan: Mapping[str, Any]  # as `ecosort plan --json` prints it
    seconds: float
    cpu_s: float
    work: Work
    phases: list[Phase] = field(default_factory=list)
    joules: float | None = None
    meter: str | None = None
    coders: Coders = Coders()

    @property
    def sort_cpu_s(self) -> float:
        """Returns the time of all but the coders, whose work depends on the data."""
        return self.cpu_s - self.coders.pack_s - self.coders.unpack_s


@dataclass(frozen=True, slots=True)
class IdlePower:
    watts: float
    meter: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that the fit looks at."""

    runs: list[MeasuredRun]
    idle: list[IdlePower]


def comparisons(plan: Mapping[str, Any], records: int) -> float:
    """Counts the work of the merge: records * log2(runs merged). The last step merges all records, the ones before it some of
    them again.
    """
    fan_ins = [max(int(step["fan_in"]), 1) for step in plan.get("merge_steps", [])]
    if not fan_ins:
        return 0.0
    last = records * math.log2(fan_ins[-1])
    earlier = fan_ins[:-1]
    if not earlier:
        return last
    _, again = _stored_and_remerged(plan, records)
    return last + again / int(plan["record_size_bytes"]) * _mean_log(earlier)


def _stored_and_remerged(plan: Mapping[str, Any], records: int) -> tuple[float, float]:
    """Bytes of the runs, and of what is merged again before the last step. Plans of earlier versions name neither: there the runs
    are whole run blocks, and what is written beyond them and the output was merged again.
    """
    if "remerged_bytes" in plan:
        return float(plan["run_bytes"]), float(plan["remerged_bytes"])
    stored = float(plan["stored_records"]) * float(plan["granule_bytes"]) / float(plan["granule_records"])
    return stored, max(0.0, float(plan["bytes_written"]) - records * int(plan["record_size_bytes"]) - stored)


def memory_bytes(plan: Mapping[str, Any]) -> float:
    """Returns what the buffers of a plan take. The system clears their pages before the sort gets them, and a virtual machine may
    have to get them from its host first.
    """
    return float(plan["peak_memory_bytes"])


def requests(plan: Mapping[str, Any]) -> float:
    """Reads and writes of a plan, by the sizes of its blocks: each costs processor time besides that of its bytes."""
    records = int(plan["records"])
    size, stored, merge = float(records * int(plan["record_size_bytes"])), sum(_stored_and_remerged(plan, records)), plan["merge"]
    parts = (
        (size, float(plan["read_block_bytes"])),
        (stored, float(plan["write_block_bytes"])),
        (stored, float(merge["block_bytes"])),
        (size, float(merge["output_block_bytes"])),
    )
    return sum(amount / block for amount, block in parts if block > 0)


def _mean_log(fan_ins: Sequence[int]) -> float:
    """Steps of more runs merge more records."""
    return sum(f * math.log2(f) for f in fan_ins) / sum(fan_ins)


def _coders(stats: Mapping[str, Any]) -> Coders:
    runs = (stats.get("compression") or {}).get("runs")
    return Coders(float(runs["compress_cpu_s"]), float(runs["decompress_cpu_s"])) if runs else Coders()


def from_stats(stats: Mapping[str, Any], joules: float | None = None, meter: str | None = None) -> MeasuredRun:
    """UsageError for what is no report of the sorter."""
    try:
        if stats["schema"] != STATS_SCHEMA:
            raise UsageError(f"a report has the schema {stats['schema']!r}, not {STATS_SCHEMA!r}")
        phases = [
            Phase(p["name"], p["end_s"] - p["begin_s"], Work(float(p["bytes_read"]), float(p["bytes_written"])))
            for p in stats["phases"]
        ]
        return MeasuredRun(
            records=int(stats["records"]),
            threads=int(stats["threads"]),
            plan=stats["plan"],
            seconds=float(stats["wall_s"]),
            cpu_s=float(stats["cpu_user_s"] + stats["cpu_system_s"]),
            work=Work(float(stats["bytes_read"]), float(stats["bytes_written"])),
            phases=phases,
            joules=joules,
            meter=meter,
            coders=_coders(stats),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"a report of the sorter lacks something: {error!r}") from error


def _of_bench(data: Mapping[str, Any]) -> Iterator[MeasuredRun]:
    """Runs of `ecosort sort` itself; other contenders have no report, and in-place sorting moves other bytes."""
    for run in data["runs"]:
        if run.get("stats") and run["contender"] != "inplace" and run.get("is_cold"):
            yield from_stats(run["stats"])


def _of_power(path: Path) -> Evidence:
    directory = ResultDirectory(path)
    session = directory.session()
    if any(m.capabilities.simulated for m in session.meters):
        raise UsageError(f"{path} is SIMULATED: nothing was measured in it that a model could learn from")
    runs = []
    for run in valid_runs(directory.runs()):
        energy = run.energy_of(session.headline)
        if run.stats is not None and run.stats.get("schema") == STATS_SCHEMA:  # a sort of rows has others
            runs.append(from_stats(run.stats, energy.joules if energy else None, session.headline if energy else None))
    head = session.headline
    watts = [w[head] for w in (session.idle_before_w, session.idle_after_w) if head is not None and head in w]
    return Evidence(runs, [IdlePower(w, head or "") for w in watts])


def read_evidence(paths: Sequence[Path]) -> Evidence:
    """UsageError naming the path that is none of the three."""
    runs: list[MeasuredRun] = []
    idle: list[IdlePower] = []
    for path in paths:
        if path.is_dir():
            found = _of_power(path)
            runs += found.runs
            idle += found.idle
            continue
        data = read_json(path)
        schema = data.get("schema") if isinstance(data, dict) else None
        if schema == BENCH_SCHEMA:
            runs += _of_bench(data)
        elif schema == STATS_SCHEMA:
            runs.append(from_stats(data))
        else:
            raise UsageError(f"{path} is neither a report of the sorter (--stats) nor a result of make bench or ecosort-power")
    if not runs:
        raise UsageError("no cold, valid run of the sorter is in what was given")
    return Evidence(runs, idle)
