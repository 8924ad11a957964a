"""Tables of a result: for the terminal, and the part of docs/benchmarks.md between its markers."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecosort_measure import prediction
from ecosort_measure.results import Results, Run, cpu_s, measured_on, memory_state, wall_s
from ecosort_measure.tables import markdown, show_table
from ecosort_power.codec import read_json
from ecosort_power.errors import UsageError
from rich.console import Console

from ecosort_bench import clusters_page, cpu_floor, machine_limits, peers, peers_page, slow_drives_page, tables
from ecosort_bench.contenders import BEYOND_CACHES_BYTES
from ecosort_bench.lines import ALL_CASES, BEFORE, case_of
from ecosort_bench.long_keys import LONG_KEYS, RANDOM
from ecosort_bench.partitions import PARTS
from ecosort_bench.targets import paired, verdicts

_FLOOR_B = "floor (b): best replay, minimal bytes"

# Names each stage whose runs have a table, and its contenders.
TITLES = {
    "main": {
        "ecosort": "EcoSort",
        "ecosort_pool": "EcoSort with threads that read and write (--io pool)",
        "floor_a": "floor (a): its requests, replayed",
        "floor_a_depth": "floor (a) at full depth",
        "floor_b": _FLOOR_B,
        "floor_b_memory": "floor (b) through as much memory as the sort",
        "gnu_sort": "GNU sort",
        "stxxl_sort": "STXXL sort",
        "stxxl_ksort": "STXXL ksort",
        "stxxl_stream": "STXXL stream sorter",
    },
    "gen_check": {
        "gen": "`ecosort gen`",
        "write_floor": "sequential writes of as many bytes",
        "check": "`ecosort check`",
        "read_floor": "sequential reads of as many bytes",
        "read_floor_memory": f"the same through {BEYOND_CACHES_BYTES >> 20} MiB of memory",
    },
    "partition": {
        "ecosort": f"`ecosort partition` into {PARTS} slices",
        "sorted": "with --sort",
        "floor": "its requests, replayed",
    },
    "inplace": {
        "ecosort": "EcoSort",
        "inplace": "in place, ample space",
        "inplace_tight": "in place, 2.4 % of spare space",
    },
    **{key.stage: {"ecosort": f"EcoSort: {key.what}", RANDOM: f"EcoSort: random keys of {key.bytes} bytes"} for key in LONG_KEYS},
    **{
        case.stage: {
            "ecosort": f"EcoSort: {case.what}",
            "floor_b": _FLOOR_B,
            case.peer: case.peer_title,
            BEFORE: "EcoSort before",
        }
        for case in ALL_CASES
    },
    **{
        case.stage: {name: f"EcoSort: {case.what}" if name == "ecosort" else tables.TITLES[name] for name in case.contenders}
        for case in tables.CASES
    },
    **{
        case.stage: {"ecosort": f"EcoSort, --compress none: {case.what}", "floor_a": "its requests, replayed"}
        for case in cpu_floor.CASES
    },
    **{case.stage: {name: peers.TITLES[name] for name in case.contenders} for case in peers.CASES},
}

# A contender's row takes the time of this one for 1, where it is not that of the sort.
_BESIDE = {"write_floor": "gen", "read_floor": "check", "read_floor_memory": "check"}


# Results of other measurements, which have a place on the page as well, by schema: the function that writes their part of it.
_OTHERS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    prediction.SCHEMA: prediction.page_lines,
    slow_drives_page.SCHEMA: slow_drives_page.lines_of,
    clusters_page.SCHEMA: clusters_page.lines_of,
    machine_limits.SCHEMA: machine_limits.lines_of,
}


@dataclass(frozen=True)
class OtherResult:
    """One of these."""

    path: Path
    data: dict[str, Any]

    @property
    def lines(self) -> list[str]:
        return _OTHERS[self.data["schema"]](self.data)


def load(path: Path) -> "Results | OtherResult":
    data = read_json(path)
    is_other = isinstance(data, dict) and data.get("schema") in _OTHERS
    return OtherResult(path, data) if is_other else Results.checked(path, data)


def begin_of(results: Results | OtherResult) -> str:
    """The line of the page after which a result has its place."""
    return f"<!-- benchmark {results.path.stem}: begin (written by make bench-tables) -->"


def end_of(results: Results | OtherResult) -> str:
    return f"<!-- benchmark {results.path.stem}: end -->"


def _rows(results: Results, stage: str) -> list[tuple[str, ...]]:
    """Name, runs, median and extremes of the wall time, ratio to EcoSort, CPU per GB, peak memory."""
    rows: list[tuple[str, ...]] = []
    for contender, title in TITLES[stage].items():
        runs: list[Run] = list(results.of(stage, contender).values())
        if not runs:
            continue
        gigabytes = runs[0].get("input_bytes", results.data["settings"]["records"] * 100) / 1e9
        digits = 2 if gigabytes > 0.01 else 4
        walls = [wall_s(run) for run in runs]
        ratio = paired(results, stage, contender, _BESIDE.get(contender, "ecosort"))
        ratio_text = "1" if contender == "ecosort" or ratio is None else f"{ratio.median:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"
        rows.append(
            (
                title,
                str(len(runs)),
                f"{statistics.median(walls):.{digits}f}",
                f"{min(walls):.{digits}f} to {max(walls):.{digits}f}",
                ratio_text,
                f"{statistics.median(map(cpu_s, runs)) / gigabytes:.2f}",
                f"{max(run['peak_rss_bytes'] for run in runs) / 2**20:.0f}",
            )
        )
    return rows


_HEADS = ("contender", "runs", "median s", "range s", "time / EcoSort, 95 %", "CPU s/GB", "peak MiB")


def _size_of(stage: str) -> str:
    """The setting that the size of its input comes from."""
    if case := cpu_floor.case_of(stage) or peers.case_of(stage):
        return case.size
    return "lines_bytes" if case_of(stage) else "tables_bytes" if tables.case_of(stage) else "records"


def circumstances(results: Results) -> str:
    data = results.data
    settings = data["settings"]
    cold = all(run["is_cold"] or run["stage"] == "lines_small" for run in data["runs"])
    cache = "cold" if cold else "WARM (caches could not be dropped)"
    cache += memory_state(settings)
    sizes = {_size_of(stage) for stage in results.stages}
    amounts = []
    if "records" in sizes:
        amounts.append(f"{settings['records']:,} records ({settings['records'] / 1e7:g} GB)")
    if "lines_bytes" in sizes:
        amounts.append(f"{settings['lines_bytes'] / 1e9:g} GB of lines")
    if "tables_bytes" in sizes:
        amounts.append(f"{settings['tables_bytes'] / 1e9:g} GB of tables")
    return (
        f"{', '.join(amounts)}, {settings['memory_bytes'] / 2**20:g} MiB, "
        f"{settings['threads']} threads; {cache}; {measured_on(data)}{peers_page.measured_day(results)}"
    )


def _table(results: Results, stage: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads and rows."""
    if case := peers.case_of(stage):
        return peers_page.HEADS, peers_page.rows_of(results, case)
    return _HEADS, _rows(results, stage)


def print_report(results: Results, console: Console) -> None:
    console.print(circumstances(results))
    for stage in TITLES:
        heads, rows = _table(results, stage)
        if rows:
            show_table(console, heads, rows)
    styles = {True: "green", False: "bold red", None: "dim"}
    judged = [(v.name, v.target, v.measured, f"[{styles[v.passed]}]{v.word}[/]") for v in verdicts(results)]
    show_table(console, ("target", "asked", "measured (95 % interval)", ""), judged)
    for line in [*what_stands_in_the_way(results), *phases(results)]:
        console.print(line)


def what_stands_in_the_way(results: Results) -> list[str]:
    """A line for each missed target about which the measurements say something; the same line is not said twice."""
    names: dict[str, list[str]] = {}
    for verdict in verdicts(results):
        if verdict.obstacle:
            names.setdefault(verdict.obstacle, []).append(verdict.name)
    return [f"{'; '.join(missed)}: {obstacle}" for obstacle, missed in names.items()]


def phases(results: Results) -> list[str]:
    """Shows where the time of the sort goes: its phases, each with the time in which no request was in flight."""
    runs = list(results.of("main", "ecosort").values())
    if not runs:
        return []
    middle = sorted(runs, key=wall_s)[len(runs) // 2]
    lines = ["Phases of the median run (seconds; without a request in flight; GB/s of both directions):"]
    for phase in middle["stats"]["phases"]:
        time = phase["end_s"] - phase["begin_s"]
        rate = (phase["bytes_read"] + phase["bytes_written"]) / 1e9 / time if time > 0 else 0
        lines.append(f"  {phase['name']:<20}{time:8.2f}{phase['wait_s']:8.2f}{rate:8.2f}")
    return lines


def page_text(results: Results | OtherResult) -> str:
    """The part of the page, markers included: the same result always gives the same text."""
    if isinstance(results, OtherResult):
        return "\n".join([begin_of(results), *results.lines, end_of(results)])
    lines = [begin_of(results), "", f"    {results.data['command']}", "", circumstances(results) + ".", ""]
    for stage in TITLES:
        heads, rows = _table(results, stage)
        if rows:
            lines += markdown(heads, rows)
    lines += markdown(("target", "asked", "measured", ""), ((v.name, v.target, v.measured, v.word) for v in verdicts(results)))
    in_the_way = what_stands_in_the_way(results)
    if in_the_way:
        lines += ["What prevented those missed, as measured in the same minutes:", ""]
        lines += [f"- {line}" for line in in_the_way] + [""]
    lines.append(end_of(results))
    return "\n".join(lines)


def _split(page: str, results: Results | OtherResult) -> tuple[str, str, str]:
    before, begin, rest = page.partition(begin_of(results))
    inside, end, after = rest.partition(end_of(results))
    if not begin or not end:
        raise UsageError(f"the page has no place for the result: it needs the lines {begin_of(results)} and {end_of(results)}")
    return before, begin + inside + end, after


def write_page(path: Path, results: Results | OtherResult) -> None:
    before, _, after = _split(path.read_text(), results)
    path.write_text(before + page_text(results) + after)


def page_agrees(path: Path, results: Results | OtherResult) -> bool:
    return _split(path.read_text(), results)[1] == page_text(results)
