"""The command line of the benchmark."""

import os
import re
import shutil
import sys
import time
from pathlib import Path

import click
from rich.console import Console

from ecosort_bench.inputs import KINDS
from ecosort_bench.lines import CASES
from ecosort_bench.measure import RunFailedError
from ecosort_bench.prediction import is_prediction
from ecosort_bench.programs import PEERS, RECORD_BYTES, STXXL_PEERS, Programs, version_of
from ecosort_bench.report import Foretold, print_report, readme_agrees, write_readme
from ecosort_bench.results import SCHEMA, Results, commit_of, machine_facts
from ecosort_bench.stages import Bench

ROOT = Path(__file__).resolve().parents[3]
RESULTS = ROOT / "tuning" / "bench" / "results"
STAGES = ("main", "one_pass", *(kind for kind in KINDS if kind != "uniform"), "gen_check", "keys", "inplace", "lines")
ROUNDS, FLOOR_ROUNDS = 5, 30
LINES_BYTES = 200_000_000
_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def parse_size(text: str) -> int:
    found = re.fullmatch(r"(\d+)(B|KiB|MiB|GiB)?", text)
    if found is None:
        raise click.BadParameter(f"'{text}' is no size such as 64MiB")
    return int(found.group(1)) * _UNITS[found.group(2) or ""]


def _quotas(programs: Programs, rounds: int, floor_rounds: int, peer_rounds: tuple[str, ...], console: Console) -> dict[str, int]:
    quotas = {"ecosort": max(rounds, floor_rounds), "floor_a": floor_rounds, "floor_a_depth": rounds, "floor_b": floor_rounds}
    quotas |= dict.fromkeys(("floor_b_memory", "ecosort_pool", *PEERS), rounds)
    for text in peer_rounds:
        name, _, number = text.partition("=")
        if name not in quotas or not number.isdigit():
            raise click.BadParameter(f"'{text}': give one of {', '.join(quotas)} and a number, such as gnu_sort=3")
        quotas[name] = int(number)
    if not programs.has_stxxl() and any(quotas[peer] for peer in STXXL_PEERS):
        console.print("STXXL is not there to compare with: its peers are left out")
        quotas |= dict.fromkeys(STXXL_PEERS, 0)
    return {name: number for name, number in quotas.items() if number > 0}


def _check_space(directory: Path, records: int, lines_bytes: int, stages: tuple[str, ...]) -> None:
    """Input, another kind of input, temporary runs, output."""
    of_records = [stage for stage in stages if stage != "lines"]
    files = 4 if any(stage not in ("main", "one_pass", "inplace") for stage in of_records) else 3 if of_records else 0
    size = files * records * RECORD_BYTES + (0 if "lines" not in stages else 3 * lines_bytes)
    need, free = size * 11 // 10, shutil.disk_usage(directory).free
    if need > free:
        raise click.ClickException(
            f"{directory}: {need / 1e9:.1f} GB are needed, {free / 1e9:.1f} GB are free; name another place with --dir"
        )


def _command(
    records: int,
    memory_bytes: int,
    lines_bytes: int,
    rounds: int,
    floor_rounds: int,
    contenders: tuple[str, ...],
    stages: tuple[str, ...],
    cases: tuple[str, ...],
) -> str:
    """What to type for the same measurement."""
    words = [] if rounds == ROUNDS else [f"--rounds {rounds}"]
    words += [] if floor_rounds == FLOOR_ROUNDS else [f"--floor-rounds {floor_rounds}"]
    words += [f"--contender {contender}" for contender in contenders]
    words += [f"--stage {stage}" for stage in stages]
    words += [f"--case {case}" for case in cases]
    more = f" BENCH='{' '.join(words)}'" if words else ""
    size = "" if lines_bytes == LINES_BYTES else f" LINES_BYTES={lines_bytes}"
    return f"make bench RECORDS={records} MEMORY={memory_bytes >> 20}MiB{size}{more}"


def _open_results(path: Path, go_on: bool, settings: dict[str, int], command: str, data_directory: Path) -> Results:
    here = {**commit_of(ROOT), "machine": machine_facts(data_directory)}
    if go_on and path.exists():
        results = Results.load(path)
        for key, now in (*here.items(), ("settings", settings)):
            if results.data[key] != now:
                raise click.ClickException(f"{path} cannot be continued: its {key} was {results.data[key]}, now it is {now}")
        return results
    fresh = {
        "schema": SCHEMA,
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        **here,
        "settings": settings,
        "versions": {"gnu_sort": version_of(["sort", "--version"])},
        "command": command,
        "input_checksums": {},
        "floors": {},
        "runs": [],
    }
    return Results(path, fresh)


def _readme(write: bool) -> None:
    readme = ROOT / "README.md"
    try:
        for path in sorted(RESULTS.glob("*.json")):
            results: Results | Foretold = Foretold.load(path) if is_prediction(path) else Results.load(path)
            if write:
                write_readme(readme, results)
            elif not readme_agrees(readme, results):
                raise click.ClickException(
                    f"the benchmark table of README.md is not that of {path.relative_to(ROOT)}: run make bench-readme"
                )
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error


@click.command()
@click.option("--records", default=10_000_000, show_default=True, help="records of 100 bytes")
@click.option("--memory", default="64MiB", show_default=True, help="memory of every contender")
@click.option("--threads", default=min(2, len(os.sched_getaffinity(0))), show_default=True)
@click.option("--rounds", default=ROUNDS, show_default=True, help="rounds of peers and of other kinds of input")
@click.option("--floor-rounds", default=FLOOR_ROUNDS, show_default=True, help="rounds of the sort and its floors")
@click.option("--lines-bytes", default=LINES_BYTES, show_default=True, help="size of the text; other lines are some part of it")
@click.option("--contender", multiple=True, metavar="NAME=ROUNDS", help="another number of rounds; 0 leaves it out")
@click.option("--stage", "stages", multiple=True, type=click.Choice(STAGES), help="only this part; repeatable")
@click.option(
    "--case", "cases", multiple=True, type=click.Choice([case.name for case in CASES]), help="of the lines only these; repeatable"
)
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path),
    default=None,
    help="place for the data, on the drive to measure [build]",
)
@click.option("--build", type=click.Path(path_type=Path), default=ROOT / "build", help="where the programs were built")
@click.option(
    "--result", type=click.Path(path_type=Path), default=ROOT / "build" / "bench-result.json", help="file of all raw runs"
)
@click.option("--continue", "go_on", is_flag=True, help="add what the result file lacks")
@click.option("--keep", is_flag=True, help="keep the data for the next call")
@click.option("--report", "only_report", is_flag=True, help="print the result file; measure nothing")
@click.option("--readme", is_flag=True, help="write the committed results into README.md; measure nothing")
@click.option("--check-readme", is_flag=True, help="fail if README.md differs from the committed results; measure nothing")
def main(
    records: int,
    memory: str,
    threads: int,
    rounds: int,
    floor_rounds: int,
    lines_bytes: int,
    contender: tuple[str, ...],
    stages: tuple[str, ...],
    cases: tuple[str, ...],
    directory: Path | None,
    build: Path,
    result: Path,
    go_on: bool,
    keep: bool,
    only_report: bool,
    readme: bool,
    check_readme: bool,
) -> None:
    """Measures EcoSort against its peers and its I/O floors, interleaved and cold, and judges it by its targets."""
    console = Console(width=None if sys.stdout.isatty() else 150, highlight=False)
    if readme or check_readme:
        _readme(readme)
        return
    if only_report:
        print_report(Results.load(result), console)
        return
    chosen = stages or STAGES
    if cases and "lines" not in chosen:
        raise click.UsageError("--case is about the lines: add --stage lines")
    programs = Programs(build.resolve())
    data_directory = ((directory or build) / "bench-data").resolve()
    data_directory.mkdir(parents=True, exist_ok=True)
    _check_space(data_directory, records, lines_bytes, chosen)
    settings = {"records": records, "memory_bytes": parse_size(memory), "threads": threads, "settles_memory": True}
    if "lines" in chosen:
        settings["lines_bytes"] = lines_bytes
    command = _command(records, settings["memory_bytes"], lines_bytes, rounds, floor_rounds, contender, stages, cases)
    results = _open_results(result, go_on, settings, command, data_directory)
    if not Path("/proc/sys/vm/drop_caches").exists() or os.geteuid() != 0:
        console.print("Not root: the page cache cannot be emptied, so these runs are warm.")
    bench = Bench(programs, results, data_directory, console.print)
    try:
        if "main" in chosen:
            bench.main(_quotas(programs, rounds, floor_rounds, contender, console))
        if "one_pass" in chosen:
            bench.one_pass()
        for kind in (stage for stage in chosen if stage in KINDS):
            bench.kind(kind, rounds)
        if "gen_check" in chosen:
            bench.gen_check(rounds)
        if "keys" in chosen:
            bench.keys(rounds)
        if "inplace" in chosen:
            bench.inplace(rounds)
        if "lines" in chosen:
            bench.text_lines(rounds, lines_bytes, cases)
    except (RunFailedError, RuntimeError, OSError) as error:
        raise click.ClickException(f"{error}\nWhat was measured is in {result}; --continue goes on from there.") from error
    finally:
        if not keep:
            bench.remove_data()
    print_report(results, console)
    console.print(f"All raw runs: {result}")
