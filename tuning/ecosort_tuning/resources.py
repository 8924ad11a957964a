"""Computes what the drive of a profile needs for the work of a phase. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2
from typing import Any

from ecosort_tuning.profile import MIXED, RANDOM, READ, WRITE, Drive, Rate
from ecosort_tuning.runs import Work

READING, WRITING, BOTH = "drive read", "drive write", "drive, reading and writing at once"


def nearest(drive: Drive, mode: str, block_bytes: int, depth: int) -> Rate | None:
    """The measurement of a mode that is most like the wanted one, by powers of two."""

    def distance(rate: Rate) -> float:
        return abs(log2(rate.block_bytes / max(block_bytes, 1))) + abs(log2(rate.depth / max(depth, 1)))

    return min((r for r in drive.rates if r.mode == mode), key=distance, default=None)


def drive_times(drive: Drive, phase: str, work: Work, plan: Mapping[str, Any]) -> dict[str, float]:
    """Seconds by kind of use, of which the greatest counts: reading alone, writing alone, and both together. Run formation reads
    its input in order, the merge reads blocks anywhere. Depths are halved where both share the drive in the measurement."""
    merge = plan.get("merge") or {}
    read_block = int((merge.get("block_bytes") if phase == "merge" else 0) or plan.get("read_block_bytes") or 1 << 20)
    write_block = int(plan.get("write_block_bytes") or 1 << 20)
    read_depth, write_depth = int(plan.get("read_depth") or 1), int(plan.get("write_depth") or 1)
    times: dict[str, float] = {}
    reading = nearest(drive, RANDOM if phase == "merge" else READ, read_block, read_depth)
    writing = nearest(drive, WRITE, write_block, write_depth)
    both = nearest(drive, MIXED, read_block, read_depth + write_depth)
    if reading is not None and reading.read_bytes_per_s > 0:
        times[READING] = work.bytes_read / reading.read_bytes_per_s
    if writing is not None and writing.write_bytes_per_s > 0:
        times[WRITING] = work.bytes_written / writing.write_bytes_per_s
    if both is not None and both.bytes_per_s > 0 and work.bytes_read > 0 and work.bytes_written > 0:
        times[BOTH] = _together(both, work, reading, writing)
    return times


def _together(both: Rate, work: Work, reading: Rate | None, writing: Rate | None) -> float:
    """Equal shares of both directions, as measured; then what one direction has more than the other, alone."""
    shared = min(work.bytes_read, work.bytes_written)
    alone = reading.read_bytes_per_s if reading is not None and work.bytes_read > shared else 0.0
    if writing is not None and work.bytes_written > shared:
        alone = writing.write_bytes_per_s
    rest = max(work.bytes_read, work.bytes_written) - shared
    return 2 * shared / both.bytes_per_s + (rest / alone if alone > 0 else 0.0)
