"""The command line of the benchmark."""

import os
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
from ecosort_measure import options
from ecosort_measure.results import ALIKE, ROOT, SCHEMA, Results, begin, fresh
from ecosort_measure.sizes import size_text
from ecosort_measure.tables import console
from ecosort_power.errors import PowerError
from ecosort_power.host import version_of
from ecosort_power.records import RECORD_BYTES
from ecosort_power.transports.process import session
from rich.console import Console

from ecosort_bench import charts, record_stages, tables, text_stages
from ecosort_bench.contenders import PEERS, STXXL_PEERS, Contenders
from ecosort_bench.inputs import KINDS
from ecosort_bench.lines import ALL_CASES
from ecosort_bench.report import load, page_agrees, print_report, write_page
from ecosort_bench.runs import Bench

RESULTS, RESULT = ROOT / "tuning" / "bench" / "results", ROOT / "build" / "bench-result.json"
STAGES = (
    "main",
    "one_pass",
    *(kind for kind in KINDS if kind != "uniform"),
    "gen_check",
    "partition",
    "keys",
    "inplace",
    "lines",
    "data",
    "tables",
    "cpu",
    "peers",
)
# `make bench` measures these by itself: the peers of tables are installed by a user who wants to compare with them, people's
# data take long, and the processor is looked at by a developer of the kernels.
DEFAULT_STAGES = tuple(stage for stage in STAGES if stage not in ("data", "tables", "cpu", "peers"))
ROUNDS, FLOOR_ROUNDS = 5, 30
LINES_BYTES = 200_000_000
TABLES_BYTES = 1_000_000_000
STAGE_OF_CASE = {case.name: case.group for case in ALL_CASES} | {case.name: "tables" for case in tables.CASES}


def _quotas(programs: Contenders, given: Mapping[str, Any], out: Console) -> dict[str, int]:
    rounds, floor_rounds = given["rounds"], given["floor_rounds"]
    quotas = {"ecosort": max(rounds, floor_rounds), "floor_a": floor_rounds, "floor_a_depth": rounds, "floor_b": floor_rounds}
    quotas |= dict.fromkeys(("floor_b_memory", "ecosort_pool", *PEERS), rounds)
    for text in given["contenders"]:
        name, _, number = text.partition("=")
        if name not in quotas or not number.isdigit():
            raise click.BadParameter(f"'{text}': give one of {', '.join(quotas)} and a number, such as gnu_sort=3")
        quotas[name] = int(number)
    if not programs.has_stxxl() and any(quotas[peer] for peer in STXXL_PEERS):
        out.print("STXXL is not there to compare with: its peers are left out")
        quotas |= dict.fromkeys(STXXL_PEERS, 0)
    return {name: number for name, number in quotas.items() if number > 0}


def _check_space(directory: Path, given: Mapping[str, Any], stages: tuple[str, ...]) -> None:
    """Input, another kind of input, temporary runs, output."""
    records, lines_bytes, tables_bytes = given["records"], given["lines_bytes"], given["tables_bytes"]
    of_records = [stage for stage in stages if stage not in ("lines", "data", "tables", "cpu", "peers")]
    files = 4 if any(stage not in ("main", "one_pass", "inplace") for stage in of_records) else 3 if of_records else 0
    size = files * records * RECORD_BYTES + (3 * lines_bytes if {"lines", "data"} & set(stages) else 0)
    size += 0 if "tables" not in stages else 4 * tables_bytes
    size += 0 if not {"cpu", "peers"} & set(stages) else 4 * max(records * RECORD_BYTES, lines_bytes, tables_bytes)
    need, free = size * 11 // 10, shutil.disk_usage(directory).free
    if need > free:
        raise click.ClickException(
            f"{directory}: {need / 1e9:.1f} GB are needed, {free / 1e9:.1f} GB are free; name another place with --dir"
        )


def _command(given: Mapping[str, Any]) -> str:
    """Returns what to type for the same measurement."""
    words = [] if given["rounds"] == ROUNDS else [f"--rounds {given['rounds']}"]
    words += [] if given["floor_rounds"] == FLOOR_ROUNDS else [f"--floor-rounds {given['floor_rounds']}"]
    words += [f"--{name} {value}" for name in ("contender", "stage", "case") for value in given[f"{name}s"]]
    size = "" if given["lines_bytes"] == LINES_BYTES else f" LINES_BYTES={given['lines_bytes']}"
    size += "" if given["tables_bytes"] == TABLES_BYTES else f" TABLES_BYTES={given['tables_bytes']}"
    size += "" if given["peer_dir"] is None else " PEER_DIR=DIR"
    words += [] if given["before"] is None else ["--before PROGRAM"]
    more = f" BENCH='{' '.join(words)}'" if words else ""
    return f"make bench RECORDS={given['records']} MEMORY={size_text(given['memory'])}{size}{more}"


def _open_results(path: Path, go_on: bool, settings: dict[str, int], command: str, data_directory: Path) -> Results:
    versions = {"gnu_sort": version_of("sort")}
    document = fresh(SCHEMA, data_directory, settings, command, versions=versions, input_checksums={}, floors={}, runs=[])
    # A result below build/ is ignored by git, so that none makes the tree dirty.
    return Results.checked(path, begin(path, document, go_on, (*ALIKE, "dirty")))


def _page(write: bool) -> None:
    page = ROOT / "docs" / "benchmarks.md"
    if write:
        charts.draw(RESULTS, ROOT / "docs" / "charts" / "peers.svg")
    for path in sorted(RESULTS.glob("*.json")):
        results = load(path)
        if write:
            write_page(page, results)
        elif not page_agrees(page, results):
            table = path.relative_to(ROOT)
            raise click.ClickException(f"the table of docs/benchmarks.md is not that of {table}: run make bench-tables")


def _parts(bench: Bench, given: Mapping[str, Any], out: Console) -> dict[str, Callable[[], None]]:
    """Says what each stage does."""
    rounds = given["rounds"]
    return {
        "main": lambda: record_stages.main(bench, _quotas(bench.programs, given, out)),
        "one_pass": lambda: record_stages.one_pass(bench),
        **{kind: partial(record_stages.other_kind, bench, kind, rounds) for kind in KINDS},
        "gen_check": lambda: record_stages.gen_check(bench, rounds),
        "partition": lambda: record_stages.partition(bench, rounds),
        "keys": lambda: text_stages.keys(bench, rounds),
        "inplace": lambda: record_stages.inplace(bench, rounds),
        **{
            group: partial(text_stages.text_lines, bench, group, rounds, given["lines_bytes"], given["cases"])
            for group in ("lines", "data")
        },
        "tables": lambda: text_stages.sort_tables(bench, rounds, given["tables_bytes"], given["cases"]),
        "cpu": lambda: text_stages.cpu(bench, rounds),
        "peers": lambda: text_stages.other_sorters(bench, rounds),
    }


def _measure(given: Mapping[str, Any], out: Console) -> None:
    chosen, directory = given["stages"] or DEFAULT_STAGES, ((given["dir"] or given["build"]) / "bench-data").resolve()
    for case in given["cases"]:
        if (stage := STAGE_OF_CASE[case]) not in chosen:
            raise click.UsageError(f"--case {case} is about the {stage}: add --stage {stage}")
    directory.mkdir(parents=True, exist_ok=True)
    _check_space(directory, given, chosen)
    settings = {"records": given["records"], "memory_bytes": given["memory"], "threads": given["threads"], "settles_memory": True}
    if {"lines", "data", "cpu", "peers"} & set(chosen):
        settings["lines_bytes"] = given["lines_bytes"]
    if {"tables", "cpu", "peers"} & set(chosen):
        settings["tables_bytes"] = given["tables_bytes"]
    results = _open_results(given["result"], given["continued"], settings, _command(given), directory)
    if not Path("/proc/sys/vm/drop_caches").exists() or os.geteuid() != 0:
        out.print("Not root: the page cache cannot be emptied, so these runs are warm.")
    programs = Contenders(given["build"].resolve() / "ecosort", given["before"], given["peer_dir"])
    bench = Bench(programs, results, directory, out.print)
    try:
        parts = _parts(bench, given, out)
        for stage in (stage for stage in STAGES if stage in chosen):
            parts[stage]()
    except (PowerError, OSError) as error:
        raise click.ClickException(
            f"{error}\nWhat was measured is in {results.path}; --continue continues from there."
        ) from error
    finally:
        if not given["keep"]:
            bench.remove_data()
    print_report(results, out)
    out.print(f"All raw runs: {results.path}")


@click.command(context_settings=options.CONTEXT)
@click.option("--records", default=10_000_000, help="Records of 100 bytes.")
@options.memory(default="64MiB", help="Memory of every contender.")
@click.option("--threads", default=min(2, len(os.sched_getaffinity(0))), help="Threads of every contender.")
@options.rounds(type=click.IntRange(0), default=ROUNDS, help="Rounds of peers and of other kinds of input.")
@click.option("--floor-rounds", default=FLOOR_ROUNDS, help="Rounds of the sort and its floors.")
@click.option("--lines-bytes", default=LINES_BYTES, help="Size of the text; other lines are some part of it.")
@click.option("--tables-bytes", default=TABLES_BYTES, help="Size of the tables.")
@click.option("--contender", "contenders", multiple=True, metavar="NAME=ROUNDS", help="So many rounds of one; 0 leaves it out.")
@click.option("--stage", "stages", multiple=True, type=click.Choice(STAGES), help="Only this part; repeatable.")
@click.option(
    "--case",
    "cases",
    multiple=True,
    type=click.Choice(tuple(STAGE_OF_CASE)),
    help="Measure only these cases of lines or tables; repeatable.",
)
@click.option("--before", type=options.PATH, help="Another build of the program, against which lines are measured, too.")
@click.option(
    "--peer-dir",
    type=click.Path(path_type=Path, exists=True, file_okay=False, resolve_path=True),
    help="Checkouts of sorters that no registry has, for the stage of peers: DIR/NAME/run INPUT OUTPUT BYTES THREADS TEMP.",
)
@options.directory(help="Place for the data, on the drive to measure [build].")
@click.option("--build", type=options.PATH, default=ROOT / "build", show_default="build", help="Where the programs were built.")
@click.option("--result", type=options.PATH, default=RESULT, show_default="build/bench-result.json", help="File of all raw runs.")
@options.going_on()
@click.option("--keep", is_flag=True, help="Keep the data for the next call.")
@click.option("--report", is_flag=True, help="Print the result file; measure nothing.")
@click.option("--tables", is_flag=True, help="Write the committed results into docs/benchmarks.md; measure nothing.")
@click.option("--check-tables", is_flag=True, help="Fail if docs/benchmarks.md differs from them; measure nothing.")
def main(**given: Any) -> None:
    """Measures EcoSort against its peers and its I/O floors, interleaved and cold, and judges it by its targets."""
    out = console()
    try:
        if given["tables"] or given["check_tables"]:
            _page(given["tables"])
        elif given["report"]:
            print_report(Results.load(given["result"]), out)
        else:
            _measure(given, out)
    except (PowerError, OSError) as error:
        raise click.ClickException(str(error)) from error
    finally:
        session.end()
