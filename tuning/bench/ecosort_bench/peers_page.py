"""Writes what the stage of peers measured, as tables. Pure."""

import statistics

from ecosort_measure.paired import Interval
from ecosort_measure.results import Results, cpu_s, wall_s

from ecosort_bench.peers import TITLES, PeerCase
from ecosort_bench.targets import paired

HEADS = (
    "contender",
    "version, released",
    "runs",
    "CPU s/GB",
    "CPU / EcoSort, 95 %",
    "median s",
    "time / EcoSort, 95 %",
    "peak MiB",
)


def rows_of(results: Results, case: PeerCase) -> list[tuple[str, ...]]:
    """One for each contender: what it took, or why it was not run."""
    absent: dict[str, str] = results.data.get("absent", {}).get(case.stage, {})
    rows = list[tuple[str, ...]]()
    for contender in case.contenders if case.stage in results.stages else ():
        title = f"EcoSort: {case.what}" if contender == "ecosort" else TITLES[contender]
        head = (title, results.data["versions"].get(contender, ""))
        if contender in absent:
            rows.append((*head, f"not run: {absent[contender]}", *[""] * (len(HEADS) - 3)))
        elif results.of(case.stage, contender):
            rows.append((*head, *_figures(results, case.stage, contender)))
    return rows


def _figures(results: Results, stage: str, contender: str) -> tuple[str, ...]:
    runs = list(results.of(stage, contender).values())
    cpu, wall = (paired(results, stage, contender, "ecosort", value) for value in (cpu_s, wall_s))
    return (
        str(len(runs)),
        f"{statistics.median(cpu_s(run) / run['input_bytes'] * 1e9 for run in runs):.2f}",
        _ratio(contender, cpu),
        f"{statistics.median(map(wall_s, runs)):.2f}",
        _ratio(contender, wall),
        f"{max(run['peak_rss_bytes'] for run in runs) / 2**20:.0f}",
    )


def _ratio(contender: str, ratio: Interval | None) -> str:
    return "1" if contender == "ecosort" or ratio is None else f"{ratio.median:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def measured_day(results: Results) -> str:
    """For the line of circumstances; other measurements state no day."""
    return f", measured {results.data['started'][:10]}" if "absent" in results.data else ""
