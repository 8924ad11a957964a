"""Defines the targets of the sort, and says what the runs say about them. GB is 10^9 bytes of input."""

import statistics
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ecosort_measure.paired import Interval, median_interval, ratios
from ecosort_measure.results import Results, Run, cpu_s, wall_s

from ecosort_bench import cpu_floor, obstacles, peers
from ecosort_bench.cpu_floor import cpu_s_per_gb
from ecosort_bench.inputs import KINDS
from ecosort_bench.lines import BEFORE, DATA, case_of
from ecosort_bench.long_keys import LONG_KEYS, RANDOM
from ecosort_bench.tables import CASES as TABLE_CASES
from ecosort_bench.verdict import SHOWN_BY_PAIRS, SHOWN_BY_ROUNDS, Verdict, at_least, at_most, bound

# The verdicts about lines begin so; their stages.
_OF_LINES = {
    "lines, whole line:": "lines_text",
    "lines, -t, -k2,2n:": "lines_csv",
    "lines, 10 bytes:": "lines_short",
    "records of 16 bytes:": "lines_u64",
}
MEMORY_OVERHEAD_BYTES = 32 << 20


def paired(
    results: Results, stage: str, over: str, under: str, value: Callable[[Run], float] = wall_s, under_stage: str | None = None
) -> Interval | None:
    """The ratio over/under of the rounds that have both."""
    a, b = results.of(stage, over), results.of(under_stage or stage, under)
    rounds = sorted(a.keys() & b.keys())
    if not rounds:
        return None
    return median_interval(ratios([value(a[i]) for i in rounds], [value(b[i]) for i in rounds]))


def _cpu(results: Results, gigabytes: float) -> list[Verdict]:
    """CPU per GB: the share of the I/O is what the replay needs, that of verification is measured on its own kernels."""
    sorts, replays = results.of("main", "ecosort"), results.of("main", "floor_a")
    rounds = sorted(sorts.keys() & replays.keys())
    total = statistics.median(cpu_s(run) for run in sorts.values()) / gigabytes if sorts else None
    names = (
        "CPU for verification",
        "CPU for the kernels, over the replay and verification",
        "CPU over the replay",
        "CPU in all (aim)",
    )
    limits = (0.20, 0.45, 0.65, 0.70)
    verification = results.data.get("verification", {}).get("total_s_per_gb")
    over = statistics.median((cpu_s(sorts[i]) - cpu_s(replays[i])) / gigabytes for i in rounds) if rounds else None
    kernels = over - verification if over is not None and verification is not None else None
    values = (verification, kernels, over, total)
    return [
        bound(name, [] if value is None else [value], limit, "s/GB", max)
        for name, limit, value in zip(names, limits, values, strict=True)
    ]


def verdicts(results: Results) -> list[Verdict]:
    """Judges whatever was measured."""
    of_keys = results.stages & {key.stage for key in LONG_KEYS}
    found = _sorting(results) if results.stages & {"main", "one_pass"} else []
    found += _kinds(results)
    found += _gen_check(results) if "gen_check" in results.stages else []
    found += _partition(results) if "partition" in results.stages else []
    found += _long_keys(results) if of_keys else []
    found += _in_place(results) if "inplace" in results.stages else []
    found += [
        bound(case.title, cpu_s_per_gb(results, case.stage, "ecosort"), case.limit, "s/GB", statistics.median)
        for case in cpu_floor.CASES
        if case.stage in results.stages
    ]
    found += [verdict for verdict in _tables(results) if verdict.passed is not None]
    found += [verdict for verdict in _lines(results) if verdict.passed is not None]  # --case leaves some out
    found += [verdict for verdict in _data(results) if verdict.passed is not None]
    found += [verdict for verdict in _peers(results) if verdict.passed is not None]
    return [
        replace(verdict, obstacle=_obstacle(results, verdict.name)) if verdict.passed is False else verdict for verdict in found
    ]


def _long_keys(results: Results) -> list[Verdict]:
    return [
        at_most(
            f"keys: {key.what} / random keys of {key.bytes} bytes",
            paired(results, key.stage, "ecosort", RANDOM),
            1.3,
            SHOWN_BY_ROUNDS,
        )
        for key in LONG_KEYS
    ]


def _in_place(results: Results) -> list[Verdict]:
    return [
        at_most(f"in place, {space} / sort", paired(results, "inplace", contender, "ecosort"), limit, SHOWN_BY_ROUNDS)
        for contender, space, limit in (("inplace", "ample space", 1.15), ("inplace_tight", "2.4 % of spare space", 1.35))
    ]


def _tables(results: Results) -> list[Verdict]:
    """Peers do the same work in so much more CPU and time, and with so much more memory."""

    def ratio(case: str, over: str, under: str, value: Callable[[Run], float] = wall_s) -> Interval | None:
        return paired(results, f"table_{case}", over, under, value)

    found = []
    for case, key in (("csv_number", "a number"), ("csv_text", "a text")):
        found += [
            at_least(f"CSV by {key}: CPU of DuckDB / EcoSort", ratio(case, "duckdb", "ecosort", cpu_s), 3),
            at_least(f"CSV by {key}: DuckDB / EcoSort", ratio(case, "duckdb", "ecosort"), 2.5),
            at_most(f"CSV by {key}: CPU of csv / lines", ratio(case, "ecosort", "lines", cpu_s), 1.3, SHOWN_BY_ROUNDS),
        ]
    return [
        *found,
        at_least("CSV by a number: CPU of Miller / EcoSort", ratio("csv_small", "miller", "ecosort", cpu_s), 3),
        at_least("CSV by a number: memory of Miller / EcoSort", ratio("csv_small", "miller", "ecosort", _memory), 2),
        *(
            at_least(f"{case.what}: CPU of DuckDB / EcoSort", ratio(case.name, "duckdb", "ecosort", cpu_s), 3)
            for case in TABLE_CASES
            if case.input_kind in ("visits", "events")
        ),
        at_least("JSON lines: CPU of DuckDB / EcoSort", ratio("jsonl_number", "duckdb", "ecosort", cpu_s), 3),
        at_most("gzip in, zstd out: EcoSort / the codecs alone", ratio("packed", "ecosort", "codec"), 1.1, SHOWN_BY_ROUNDS),
        at_least("array: CPU of NumPy / EcoSort", ratio("array", "numpy", "ecosort", cpu_s), 5),
        at_least("array: memory of NumPy / EcoSort", ratio("array", "numpy", "ecosort", _memory), 8),
        at_least("Parquet as a stream: DuckDB / EcoSort", ratio("stream", "duckdb", "ecosort"), 1),
        at_least("Parquet as a stream: memory of DuckDB / EcoSort", ratio("stream", "duckdb", "ecosort", _memory), 2),
        at_least("Parquet written as Parquet: DuckDB / EcoSort", ratio("parquet", "duckdb", "ecosort"), 1),
        at_least("Parquet written as Parquet: memory of DuckDB / EcoSort", ratio("parquet", "duckdb", "ecosort", _memory), 2),
    ]


def _peers(results: Results) -> list[Verdict]:
    """Sorters of today need so much more of the processor for the same work."""
    return [
        at_least(
            f"{case.what}: CPU of {peers.TITLES[peer].partition(',')[0]} / EcoSort",
            paired(results, case.stage, peer, "ecosort", cpu_s),
            limit,
        )
        for case in peers.CASES
        for peer, limit in case.asked.items()
    ]


def _memory(run: Run) -> float:
    return float(run["peak_rss_bytes"])


def _lines(results: Results) -> list[Verdict]:
    found = [
        at_least(f"lines, {what}: GNU sort / EcoSort", paired(results, f"lines_{name}", "gnu_sort", "ecosort"), limit)
        for name, what, limit in (
            ("text", "whole line", 6),
            ("csv", "-t, -k2,2n", 4),
            ("short", "10 bytes", 3),
            ("unique", "-u", 4),
            ("numeric", "-n", 1),
            ("general", "-g", 1),
            ("versions", "-V", 1),
            ("equal", "equal", 1),
        )
    ]
    small = paired(results, "lines_small", "ecosort", "gnu_sort")
    records = paired(results, "lines_u64", "stxxl_ksort_u64", "ecosort")
    return [
        *found,
        at_most("lines: CPU of -g / -n", paired(results, "lines_general", "ecosort", "ecosort", cpu_s, "lines_numeric"), 1.3, 3),
        bound("lines, whole line: CPU", cpu_s_per_gb(results, "lines_text", "ecosort"), 1.5, "s/GB", statistics.median),
        at_most("lines, 1 MB: EcoSort / GNU sort", small, 1, SHOWN_BY_PAIRS),
        bound("records of 16 bytes: CPU", cpu_s_per_gb(results, "lines_u64", "ecosort"), 2.5, "s/GB", statistics.median),
        at_least("records of 16 bytes: STXXL ksort / EcoSort", records, 1, strictly=True),
    ]


def _data(results: Results) -> list[Verdict]:
    """People's data: CPU seconds of GNU sort and of the program before, and what was moved."""
    found = []
    for case, asked in DATA.items():
        runs = results.of(case.stage, "ecosort").values()
        if asked.gnu is not None:
            found.append(
                at_least(
                    f"{case.what}: CPU of GNU sort / EcoSort",
                    paired(results, case.stage, "gnu_sort", "ecosort", cpu_s),
                    asked.gnu,
                )
            )
        if results.of(case.stage, BEFORE):
            ratio = paired(results, case.stage, BEFORE, "ecosort", cpu_s)
            found.append(at_least(f"{case.what}: CPU before / EcoSort", ratio, asked.before))
        if asked.moved is not None and runs:
            moved = [(run["stats"]["bytes_read"] + run["stats"]["bytes_written"]) / run["input_bytes"] for run in runs]
            found.append(bound(f"{case.what}: bytes moved / input", moved, asked.moved, "", statistics.median))
    return found


def _sorting(results: Results) -> list[Verdict]:
    settings = results.data["settings"]
    input_bytes = settings["records"] * 100
    sorts = list(results.of("main", "ecosort").values())
    return [
        at_most(
            "wall time / floor (a), the replay of its own requests",
            paired(results, "main", "ecosort", "floor_a"),
            1.05,
            SHOWN_BY_PAIRS,
        ),
        at_most(
            "wall time / floor (b), the best replay of the minimal bytes",
            paired(results, "main", "ecosort", "floor_b"),
            1.05,
            SHOWN_BY_PAIRS,
        ),
        bound(
            "no request in flight",
            [100 * r["stats"]["io_idle_s"] / r["stats"]["wall_s"] for r in sorts],
            3,
            "% of the wall time",
            statistics.median,
        ),
        at_least("GNU sort / EcoSort", paired(results, "main", "gnu_sort", "ecosort"), 10),
        at_least("STXXL sort / EcoSort", paired(results, "main", "stxxl_sort", "ecosort"), 1.5),
        at_least("STXXL stream / EcoSort", paired(results, "main", "stxxl_stream", "ecosort"), 2.5),
        at_least("STXXL ksort / EcoSort", paired(results, "main", "stxxl_ksort", "ecosort"), 1, strictly=True),
        at_most("--io pool / io_uring", paired(results, "main", "ecosort_pool", "ecosort"), 1.15, SHOWN_BY_ROUNDS),
        *_cpu(results, input_bytes / 1e9),
        bound(
            "process total",
            [r["peak_rss_bytes"] / 2**20 for r in sorts],
            (settings["memory_bytes"] + MEMORY_OVERHEAD_BYTES) / 2**20,
            "MiB",
            max,
        ),
        bound("temporary space / input", [r["stats"]["peak_temp_bytes"] / input_bytes for r in sorts], 1.01, "", max),
        at_most("one pass / one-pass floor", paired(results, "one_pass", "ecosort", "floor_b"), 1.1, SHOWN_BY_ROUNDS),
    ]


def _kinds(results: Results) -> list[Verdict]:
    return [
        at_most(f"{kind} input / uniform input", paired(results, f"input_{kind}", kind, "uniform"), 1.1, SHOWN_BY_ROUNDS)
        for kind in KINDS
        if f"input_{kind}" in results.stages
    ]


def _gen_check(results: Results) -> list[Verdict]:
    return [
        at_most(f"`ecosort {tool}` / {what} of as many bytes", paired(results, "gen_check", tool, floor), 1.1, SHOWN_BY_ROUNDS)
        for tool, floor, what in (("gen", "write_floor", "sequential writes"), ("check", "read_floor", "sequential reads"))
    ]


def _partition(results: Results) -> list[Verdict]:
    gigabytes = results.data["settings"]["records"] / 1e7
    cpu = [cpu_s(run) / gigabytes for run in results.of("partition", "ecosort").values()]
    return [
        at_most("partition / its requests, replayed", paired(results, "partition", "ecosort", "floor"), 1.1, SHOWN_BY_ROUNDS),
        bound("partition: CPU", cpu, 0.35, "s/GB", statistics.median),
    ]


def _obstacle(results: Results, name: str) -> str:
    main, one_pass, gen_check = (partial(paired, results, stage) for stage in ("main", "one_pass", "gen_check"))

    for beginning, stage in _OF_LINES.items():
        if name.startswith(beginning) and (case := case_of(stage)):
            return obstacles.of_lines(results, case)
    if "floor (" in name:
        return obstacles.of_floor(results, main)
    if name.startswith(("GNU sort", "STXXL")):
        return obstacles.of_peer(main, name.split(" / ")[0])
    if case_of_cpu := cpu_floor.case_titled(name):
        return obstacles.of_cpu_in_all(results, case_of_cpu)
    if name.startswith("CPU"):
        return obstacles.of_cpu(results.data, results.data["settings"]["threads"])
    if name.startswith("`ecosort"):
        return obstacles.of_tool(results, gen_check, *(("gen", "write_floor") if "gen" in name else ("check", "read_floor")))
    if name.startswith("in place"):
        return obstacles.of_in_place(results, "inplace" if "ample" in name else "inplace_tight")
    return obstacles.of_one_pass(results, one_pass) if name.startswith("one pass") else ""
