"""Writes what `make bench-cluster` measured, as a table and verdicts. Pure."""

from __future__ import annotations

import statistics
from typing import Any

from ecosort_measure.paired import Interval, median_interval, ratios
from ecosort_measure.results import Document, measured_on
from ecosort_measure.sizes import size_text
from ecosort_measure.tables import markdown

from ecosort_bench.verdict import SHOWN_BY_ROUNDS, Verdict, at_most, bound

SCHEMA = "ecosort.cluster-bench/2"
WAYS = ("one", "local", "ray")
NAMES = {
    "uniform": "records of `gen`",
    "skewed": "records of `gen -s`",
    "zipf": "1000 keys by Zipf's law",
    "equal": "all keys equal",
    "sorted": "sorted already",
    "csv": "CSV by a number",
}
MOST_CPU, MOST_IMBALANCE, MOVED, MOVED_WITHIN = 1.5, 1.1, 4, 0.02
_HEADS = ("input", "how", "parts", "s", "CPU s/GB", "CPU / one sort", "bytes moved / N", "largest part / mean")
_HOW = {"one": "one `ecosort sort`", "local": "processes", "ray": "Ray"}

Runs = list[dict[str, Any]]


def _of(data: Document, kind: str, way: str) -> Runs:
    runs = [run for run in data["runs"] if (run["kind"], run["way"]) == (kind, way)]
    return sorted(runs, key=lambda run: run["round"])


def _median(runs: Runs, value: str) -> float:
    return float(statistics.median(run[value] for run in runs))


def ray_start_cpu_s(data: Document) -> float:
    """Returns what Ray took to start and to stop, besides each sort."""
    return _median([run for run in data["runs"] if run["way"] == "ray"], "start_cpu_s")


def _cpu_ratio(data: Document, kind: str, way: str) -> Interval:
    """Compares each round."""
    taken = [run["cpu_s"] for run in _of(data, kind, way)]
    return median_interval(ratios(taken, [run["cpu_s"] for run in _of(data, kind, "one")]))


def _measured(data: Document) -> list[tuple[str, str]]:
    return [(kind, way) for kind in NAMES for way in WAYS if _of(data, kind, way)]


def _row(data: Document, kind: str, way: str) -> tuple[str, ...]:
    runs = _of(data, kind, way)
    size = _median(runs, "input_bytes")
    is_one = way == "one"
    return (
        NAMES[kind],
        _HOW[way],
        "" if is_one else f"{_median(runs, 'parts'):.0f}",
        f"{_median(runs, 'wall_s'):.1f}",
        f"{_median(runs, 'cpu_s') / size * 1e9:.2f}",
        "" if is_one else f"{_cpu_ratio(data, kind, way).median:.2f}",
        f"{_median(runs, 'bytes_moved') / size:.2f}",
        "" if is_one else f"{_median(runs, 'imbalance'):.3f}",
    )


def verdicts(data: Document) -> list[Verdict]:
    """Judges whatever was measured."""
    found = list[Verdict]()
    clusters = [(kind, way) for kind, way in _measured(data) if way != "one"]
    for kind, way in clusters:
        name = f"{NAMES[kind]}, {_HOW[way]}: CPU / one sort"
        found.append(at_most(name, _cpu_ratio(data, kind, way), MOST_CPU, SHOWN_BY_ROUNDS))
    all_runs = [run for kind, way in clusters for run in _of(data, kind, way)]
    off = [abs(run["bytes_moved"] / run["input_bytes"] / MOVED - 1) for run in all_runs]
    found.append(bound("largest part / mean, of all", [run["imbalance"] for run in all_runs], MOST_IMBALANCE, "", max))
    found.append(bound(f"bytes moved, off {MOVED} N, of all", off, MOVED_WITHIN, "", max))
    return found


def lines_of(data: Document) -> list[str]:
    """The part of the page: command, circumstances, table, verdicts."""
    settings = data["settings"]
    memory = size_text(settings["memory_bytes"])
    said = (
        f"{settings['bytes'] / 1e9:g} GB of each input; {settings['nodes']} nodes with a task at a time, which has {memory} and "
        f"one thread; the one sort with {memory} and {settings['nodes']} threads; {settings['rounds']} rounds; "
        f"{measured_on(data)}. The outputs hold the same rows. CPU is that of all processes."
    )
    if any(run["way"] == "ray" for run in data["runs"]):
        besides = ray_start_cpu_s(data)
        said += f" Not in it, nor in the time: {besides:.1f} CPU seconds in which Ray starts its nodes and stops them."
    judged = ((v.name, v.target, v.measured, v.word) for v in verdicts(data))
    rows = [_row(data, kind, way) for kind, way in _measured(data)]
    return [
        "",
        f"    {data['command']}",
        "",
        said,
        "",
        *markdown(_HEADS, rows),
        *markdown(("target", "asked", "measured", ""), judged),
    ]
