"""The result of predictions held against measurements: what the file says, as tables. Pure.

`ecosort-tune validate` writes it. A drive that others share drifts, so next to each sort the floor is measured: the replay of its
requests without computing. The predicted time is that of the profile's models with the drive as fast as this floor says it was,
compared with the floors of the runs that the models were fitted to.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ecosort_measure.results import Document, measured_on, memory_state
from ecosort_measure.tables import markdown

SCHEMA = "ecosort.prediction/1"
PROCESSOR = "processor"  # among the resources of a phase; all others are uses of the drive
CPU_LIMIT, TIME_LIMIT = 0.10, 0.15
# The bytes moved by sorts that compress their runs are predicted from a sample of the input; those of others are exact.
PACKED_LIMIT = 0.02


def floor_s(prediction: Document) -> float:
    """Returns what the drive alone would take, by the rates of the profile."""
    return float(sum(max(s for name, s in p["times"].items() if name != PROCESSOR) for p in prediction["phases"]))


def seconds(prediction: Document, slowness: float) -> float:
    """With a drive that takes so many times as long as when the models were fitted."""
    return float(
        sum(
            p["factor"] * max(s * (1 if name == PROCESSOR else slowness) for name, s in p["times"].items())
            for p in prediction["phases"]
        )
    )


@dataclass(frozen=True)
class CellResult:
    """One size and memory. Ratios are measured / predicted, medians over the rounds."""

    records: int
    memory_bytes: int
    runs: int
    bytes_moved: int
    bytes_limit: float  # how far off they may be
    bytes_off: float  # of the run that is farthest
    temp_off: float
    cpu_s: float
    cpu_ratio: float
    cpu_spread: float  # of equal sorts: largest minus smallest, in medians
    seconds: float
    over_floor: float  # of the measured time
    time_ratio: float  # against the prediction for the drive of that moment
    raw_ratio: float  # against the prediction as `ecosort plan` prints it


def _off(runs: Sequence[Document], name: str, predicted: float) -> float:
    return float(max(abs(r[name] - predicted) / max(predicted, 1) for r in runs))


def _cell(runs: Sequence[Document], prediction: Document, floor_ratio: float, bytes_limit: float) -> CellResult:
    """`floor_ratio`: measured over predicted floor in the runs that the models were fitted to."""
    slowness = [r["floor_s"] / floor_s(prediction) / floor_ratio for r in runs]
    return CellResult(
        records=runs[0]["records"],
        memory_bytes=runs[0]["memory_bytes"],
        runs=len(runs),
        bytes_moved=prediction["bytes_moved"],
        bytes_limit=bytes_limit,
        bytes_off=_off(runs, "bytes_moved", prediction["bytes_moved"]),
        temp_off=_off(runs, "peak_temp_bytes", prediction["temp_bytes"]),
        cpu_s=statistics.median(r["cpu_s"] for r in runs),
        cpu_ratio=statistics.median(r["cpu_s"] / prediction["cpu_s"] for r in runs),
        cpu_spread=(max(r["cpu_s"] for r in runs) - min(r["cpu_s"] for r in runs)) / statistics.median(r["cpu_s"] for r in runs),
        seconds=statistics.median(r["wall_s"] for r in runs),
        over_floor=statistics.median(r["wall_s"] / r["floor_s"] for r in runs),
        time_ratio=statistics.median(r["wall_s"] / seconds(prediction, s) for r, s in zip(runs, slowness, strict=True)),
        raw_ratio=statistics.median(r["wall_s"] / prediction["seconds"] for r in runs),
    )


def codec_of(data: Document) -> str:
    """Returns what the runs of the sorts are compressed with."""
    return str(data["settings"].get("compress", "none"))


def cells(data: Document) -> list[CellResult]:
    """Returns one of each size and memory that was measured, in that order."""
    found = []
    bytes_limit = 0.0 if codec_of(data) == "none" else PACKED_LIMIT
    for wanted in data["predictions"]:
        runs = [r for r in data["runs"] if (r["records"], r["memory_bytes"]) == (wanted["records"], wanted["memory_bytes"])]
        if runs:
            found.append(_cell(runs, wanted["prediction"], data["floor_ratio"][wanted["shape"]], bytes_limit))
    return found


def _exact(what: str, off: Sequence[float]) -> tuple[str, str, str, bool]:
    exact = sum(one == 0 for one in off)
    return what, "exact", f"exact in {exact} of {len(off)}", exact == len(off)


def _bytes_verdicts(found: Sequence[CellResult]) -> list[tuple[str, str, str, bool]]:
    limit, off = found[0].bytes_limit, [c.bytes_off for c in found]
    if limit == 0:
        return [_exact("bytes moved", off), _exact("space of the runs", [c.temp_off for c in found])]
    return [("bytes moved", f"within {limit:.0%}", f"{max(off):.2%} off at worst", max(off) <= limit)]


def verdicts(found: Sequence[CellResult]) -> list[tuple[str, str, str, bool]]:
    """Returns what was asked, the limit, what came out, and whether it holds."""
    if not found:
        return []
    cpu = [abs(c.cpu_ratio - 1) for c in found]
    time = [abs(c.time_ratio - 1) for c in found]
    return [
        *_bytes_verdicts(found),
        (
            "CPU seconds",
            f"within {CPU_LIMIT:.0%} (median)",
            f"{statistics.median(cpu):.1%} off (median)",
            statistics.median(cpu) <= CPU_LIMIT,
        ),
        (
            "CPU seconds of every size and memory",
            f"within {CPU_LIMIT:.0%}",
            f"{max(cpu):.1%} off at worst; equal sorts differ by {statistics.median(c.cpu_spread for c in found):.1%}",
            max(cpu) <= CPU_LIMIT,
        ),
        (
            "time, by the floor beside it",
            f"within {TIME_LIMIT:.0%} (median)",
            f"{statistics.median(time):.1%} off (median), {max(time):.1%} at worst",
            statistics.median(time) <= TIME_LIMIT,
        ),
    ]


def memory_text(memory_bytes: int) -> str:
    return f"{memory_bytes / 2**30:g} GiB" if memory_bytes >= 2**30 else f"{memory_bytes / 2**20:g} MiB"


HEADS = (
    "size",
    "memory",
    "runs",
    "bytes moved",
    "bytes, space",
    "CPU s",
    "CPU / predicted",
    "time s",
    "time / floor",
    "time / predicted",
    "the same without the floor",
)


VERDICT_HEADS = ("predicted", "asked", "measured", "")


def verdict_rows(found: Sequence[CellResult]) -> list[tuple[str, ...]]:
    return [(*words, "met" if met else "MISSED") for *words, met in verdicts(found)]


def _exactness(cell: CellResult) -> str:
    if cell.bytes_limit > 0:
        return f"{cell.bytes_off:.2%} off"
    return "exact" if cell.bytes_off == cell.temp_off == 0 else "NOT exact"


def rows(found: Sequence[CellResult]) -> list[tuple[str, ...]]:
    return [
        (
            f"{c.records / 1e7:g} GB",
            memory_text(c.memory_bytes),
            str(c.runs),
            f"{c.bytes_moved:,}",
            _exactness(c),
            f"{c.cpu_s:.2f}",
            f"{c.cpu_ratio:.3f}",
            f"{c.seconds:.2f}",
            f"{c.over_floor:.2f}",
            f"{c.time_ratio:.3f}",
            f"{c.raw_ratio:.3f}",
        )
        for c in found
    ]


def circumstances(data: Document) -> str:
    settings = data["settings"]
    state = "Cold" if all(r["is_cold"] for r in data["runs"]) else "WARM"
    trained = ", ".join(f"{r / 1e7:g} GB" for r in settings["training_records"])
    memories = ", ".join(memory_text(m) for m in settings["training_memory_bytes"])
    codec = codec_of(data)
    packed = "" if codec == "none" else f"Runs compressed with {codec}; records of `gen -a`. "
    left = " (the budget ended before all of it was measured)" if data["missing"] else ""
    return (
        f"{packed}Models fitted to {len(data['training'])} sorts of {trained} with {memories}; all others predicted{left}. "
        f"{state}, validated{memory_state(settings)}; {measured_on(data)}"
    )


def page_lines(data: Document) -> list[str]:
    """The part of docs/benchmarks.md between its markers: the same result always gives the same text."""
    found = cells(data)
    head = ["", f"    {data['command']}", "", circumstances(data) + ".", ""]
    return [*head, *markdown(HEADS, rows(found)), *markdown(VERDICT_HEADS, verdict_rows(found))]
