"""Judges whether the measurements of a drive are to be believed. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from ecosort_tuning.fio import Cell, Engine, Sample
from ecosort_tuning.profile import RANDOM, READ, WRITE, Rate

# (greatest - least) / median of the repetitions.
NOISY_SPREAD = 0.25
# Later repetitions against the first, median over all ways of use.
THROTTLED_RATIO = 0.8
CACHED_RATIO = 1.5
# Share of the time in which processes wait for a processor that others have; a probe on a quiet machine uses a tenth of one.
BUSY_SHARE = 0.3
# No drive answers a read of one block sooner; memory does.
MEMORY_LATENCY_S = 8e-6
_LATENCY_BLOCK_BYTES = 1 << 20

Samples = Mapping[Cell, Sequence[Sample]]


def spread(values: Sequence[float]) -> float:
    middle = median(values)
    return (max(values) - min(values)) / middle if middle > 0 else 0.0


def rate_of(cell: Cell, samples: Sequence[Sample]) -> Rate:
    """Medians; CPU over all repetitions together."""
    moved = sum(s.bytes_moved for s in samples)
    return Rate(
        mode=cell.mode,
        block_bytes=cell.block_bytes,
        depth=cell.depth,
        read_bytes_per_s=median(s.read_bytes_per_s for s in samples),
        write_bytes_per_s=median(s.write_bytes_per_s for s in samples),
        latency_s=median(s.latency_s for s in samples),
        cpu_s_per_gb=sum(s.cpu_s for s in samples) / (moved / 1e9) if moved else 0.0,
        spread=spread([s.bytes_per_s for s in samples]),
        repetitions=len(samples),
    )


def _last_over_first(samples: Samples, modes: Sequence[str]) -> float | None:
    ratios = [s[-1].bytes_per_s / s[0].bytes_per_s for cell, s in samples.items() if len(s) > 1 and cell.mode in modes]
    return median(ratios) if ratios else None


def doubts(directory: str, engine: Engine, samples: Samples) -> list[str]:
    """A sentence for each reason not to believe them."""
    found = []
    if not engine.direct:
        found.append(f"{directory}: direct I/O is refused here, the page cache took part: these are not the rates of the drive")
    reads = [s.latency_s for cell, many in samples.items() for s in many if _is_quick(cell)]
    if reads and min(reads) < MEMORY_LATENCY_S:
        found.append(f"{directory}: single reads take {min(reads) * 1e6:.1f} us: they come from a cache, not from the drive")
    warmed = _last_over_first(samples, (READ, RANDOM))
    if warmed is not None and warmed > CACHED_RATIO:
        found.append(
            f"{directory}: repeated reads are {warmed:.1f} times as fast as the first: something caches them; "
            "give a larger --file-size"
        )
    tired = _last_over_first(samples, (READ, RANDOM, WRITE))
    if tired is not None and tired < THROTTLED_RATIO:
        found.append(
            f"{directory}: the last repetitions reach {100 * tired:.0f} % of the first: the drive or its host throttles "
            "(heat, a budget of requests, a full write cache)"
        )
    noisy = [cell for cell, many in samples.items() if len(many) > 1 and spread([s.bytes_per_s for s in many]) > NOISY_SPREAD]
    if len(noisy) > len(samples) / 4:
        found.append(
            f"{directory}: {len(noisy)} of {len(samples)} rates vary by more than {100 * NOISY_SPREAD:.0f} % from time to time: "
            "others use the drive, or it is virtual: compare nothing that was not measured in the same minutes"
        )
    return found


def doubts_of_processors(waited_s: float | None, elapsed_s: float) -> list[str]:
    """`waited_s`: in which some process waited for a processor meanwhile."""
    share = waited_s / elapsed_s if waited_s is not None and elapsed_s > 0 else 0.0
    if share <= BUSY_SHARE:
        return []
    return [
        f"processes waited for a processor in {100 * share:.0f} % of the time: other work makes drives look slow; "
        "stop it and probe again"
    ]


def _is_quick(cell: Cell) -> bool:
    return cell.mode == RANDOM and cell.depth == 1 and cell.block_bytes <= _LATENCY_BLOCK_BYTES
