"""The stage of tables and arrays: by columns, against programs that know columns. Peers run in .venv-peers (`deps peers`)."""

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from ecosort_measure.results import ROOT
from ecosort_power.errors import RunError

from ecosort_bench.contenders import Contenders, Work
from ecosort_bench.lines import digest

STAGE_PREFIX = "table_"
SORTS = ROOT / "tuning" / "bench" / "peers" / "table_sort.py"
PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
TITLES = {
    "ecosort": "EcoSort",
    "lines": "`ecosort lines` by the same field, which must not be quoted",
    "duckdb": "DuckDB",
    "polars": "Polars, whose memory has no bound",
    "datafusion": "DataFusion",
    "chdb": "chDB (ClickHouse)",
    "miller": "Miller, whose memory has no bound",
    "numpy": "NumPy in memory: argsort, take",
    "codec": "`gzip -dc | zstd -T0`, which sort nothing",
}


@dataclass(frozen=True)
class TableCase:
    """One input and how it is sorted. `words`: of ecosort; none: through the Python package."""

    name: str
    what: str
    input_kind: str
    share: float  # of the size that was asked for
    contenders: tuple[str, ...]
    words: tuple[str, ...] = ()
    line_words: tuple[str, ...] = ()
    memory_share: float = 1.0
    output_suffix: str = ""

    @property
    def stage(self) -> str:
        return STAGE_PREFIX + self.name


CSV_NUMBER = TableCase(
    "csv_number",
    "CSV by a number",
    "table",
    1,
    ("ecosort", "lines", "duckdb", "polars"),
    ("csv", "--by", "number:number"),
    ("-s", "-t,", "-k2,2n"),
)
TEXT_KEYS = (("date",), ("city", "date"), ("city", "street"))
CASES = (
    CSV_NUMBER,
    TableCase(
        "csv_small",
        "CSV by a number, as much as Miller holds",
        "table",
        0.1,
        ("ecosort", "miller"),
        ("csv", "--by", "number:number"),
    ),
    TableCase(
        "csv_text",
        "CSV by a text",
        "table",
        1,
        ("ecosort", "lines", "duckdb", "polars"),
        ("csv", "--by", "text"),
        ("-s", "-t,", "-k3,3"),
    ),
    *(
        TableCase(
            f"csv_{'_'.join(keys)}",
            f"CSV by {' and '.join(keys)}",
            "visits",
            1,
            ("ecosort", "duckdb"),
            ("csv", *(word for key in keys for word in ("--by", key))),
        )
        for keys in TEXT_KEYS
    ),
    TableCase("jsonl_time", "JSON lines by a time as text", "events", 1, ("ecosort", "duckdb"), ("jsonl", "--by", "ts")),
    TableCase(
        "jsonl_number",
        "JSON lines by a number",
        "jsonl",
        1,
        ("ecosort", "duckdb"),
        ("jsonl", "--by", "of.number:number"),
    ),
    TableCase(
        "packed",
        "CSV by a number, gzip in, zstd out",
        "table",
        0.4,
        ("ecosort", "codec"),
        ("csv", "--compress-output", "zstd", "--by", "number:number"),
    ),
    TableCase("array", "array of (u64, u64) on a file, `sort_memmap`", "u64", 0.8, ("ecosort", "numpy")),
    TableCase("stream", "Parquet by a number, as a stream of batches", "table", 1, ("ecosort", "duckdb"), memory_share=0.5),
    TableCase(
        "parquet",
        "Parquet by a number, written as Parquet",
        "table",
        1,
        ("ecosort", "duckdb"),
        ("parquet", "--by", "number"),
        memory_share=0.5,
        output_suffix=".parquet",
    ),
)


def case_of(stage: str) -> TableCase | None:
    return next((case for case in CASES if case.stage == stage), None)


def require_peers(case: TableCase) -> None:
    """RunError where the peers of the case are not there."""
    if not PEERS_PYTHON.exists() or ("miller" in case.contenders and shutil.which("mlr") is None):
        raise RunError("the peers of tables are not there to compare with: run tuning/setup/deps peers")


def command(case: TableCase, contender: str, programs: Contenders, work: Work) -> tuple[list[str], dict[str, str]]:
    """The command line and what it adds to the environment."""
    if contender == "codec":
        return ["sh", "-c", 'gzip -dc "$0" | zstd -q -T0 -o "$1"', str(work.input), str(work.output)], {}
    if contender == "miller":
        return ["sh", "-c", 'mlr --csv sort -nf number "$0" >"$1"', str(work.input), str(work.output)], {}
    memory_bytes = int(work.memory_bytes * case.memory_share) if contender == "ecosort" else work.memory_bytes
    if contender == "lines" or (contender == "ecosort" and case.words):
        words = ["lines", "--header", *case.line_words] if contender == "lines" else list(case.words)
        means = ["--memory", f"{memory_bytes}B", "--temp", str(work.temp)]
        threads = f"--{'parallel' if contender == 'lines' else 'threads'}={work.threads}"
        places = [str(work.input), "-o", str(work.output)]
        return [str(programs.ecosort), *words, *means, threads, "--stats", str(work.stats), "--quiet", *places], {"LC_ALL": "C"}
    python = sys.executable if contender == "ecosort" else str(PEERS_PYTHON)
    return sorter_command(python, f"{contender}_{case.name}", work, memory_bytes), {"ECOSORT_PROGRAM": str(programs.ecosort)}


def sorter_command(python: str, sorter: str, work: Work, memory_bytes: int) -> list[str]:
    means = [str(memory_bytes), str(work.threads), str(work.temp)]
    return [python, str(SORTS), sorter, str(work.input), str(work.output), *means]


def make_parquet(programs: Contenders, table: Path, work: Work) -> None:
    """`work.input` of a table in CSV."""
    roomy = max(work.memory_bytes, 4 << 30)
    means = [str(roomy), str(work.threads), str(work.temp)]
    programs.call(PEERS_PYTHON, str(SORTS), "duckdb_make_parquet", str(table), str(work.input), *means)


def make_gzip(programs: Contenders, table: Path, work: Work) -> None:
    """`work.input` of a table in CSV."""
    programs.call(Path("/bin/sh"), "-c", 'gzip -c "$0" >"$1"', table, work.input)


def rows_digest(case: TableCase, programs: Contenders, work: Work) -> str:
    """Hashes the rows that the output holds, in any order. RunError if they are not in order."""
    if case.name == "array":
        return digest(work.output)
    if case.name == "stream":
        return work.output.read_text()
    if case.name == "parquet":
        means = [str(max(work.memory_bytes, 1 << 30)), str(work.threads), str(work.temp)]
        said = programs.call(PEERS_PYTHON, str(SORTS), "duckdb_parquet_digest", str(work.output), "-", *means).strip()
        if said == "not in order":
            raise RunError(f"{case.stage}: the rows of the output are not in order")
        return said
    programs.run(*(word for word in case.words if word not in ("--compress-output", "zstd")), "--check", work.output)
    memory = f"{max(work.memory_bytes, 1 << 30)}B"
    stats = work.stats.with_suffix(".rows")
    programs.run(
        "lines",
        "--decompress=auto",
        "--memory",
        memory,
        "--temp",
        work.temp,
        "--quiet",
        "--stats",
        stats,
        work.output,
        "-o",
        "/dev/null",
    )
    return str(json.loads(stats.read_text())["hash"])
