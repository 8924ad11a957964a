"""The stage of the processor: sorts that compress nothing, against the least that their kernels and requests take."""

from dataclasses import dataclass
from typing import Any

from ecosort_measure.results import Results, cpu_s
from ecosort_power.errors import RunError

from ecosort_bench import lines, tables
from ecosort_bench.contenders import Contenders, Work

STAGE_PREFIX = "cpu_"
CONTENDERS = ("ecosort", "floor_a")


@dataclass(frozen=True)
class CpuCase:
    """One input. `kind` is that of `ecosort_costs`, `size` the setting that its bytes come from."""

    kind: str
    what: str
    limit: float  # CPU s/GB
    size: str

    @property
    def stage(self) -> str:
        return STAGE_PREFIX + self.kind

    @property
    def title(self) -> str:
        """Returns how its verdict begins."""
        return f"CPU in all of {self.what}"


RECORDS = CpuCase("records", "records of 100 bytes", 0.7, "records")
TEXT = CpuCase("text", "lines of about 100 bytes", 1.1, "lines_bytes")
NUMBER = CpuCase("number", "rows of CSV of 52 bytes by a number", 2.0, "tables_bytes")
CASES = (RECORDS, TEXT, NUMBER)


def case_of(stage: str) -> CpuCase | None:
    return next((case for case in CASES if case.stage == stage), None)


def case_titled(verdict: str) -> CpuCase | None:
    return next((case for case in CASES if verdict == case.title), None)


def command(case: CpuCase, programs: Contenders, work: Work) -> tuple[list[str], dict[str, str]]:
    """The sort, and what it adds to the environment."""
    if case == RECORDS:
        return programs.sort_command(work, "--stats", str(work.stats)), {}
    if case == TEXT:
        return lines.command(lines.TEXT, "ecosort", programs, work)
    words, environment = tables.command(tables.CSV_NUMBER, "ecosort", programs, work)
    return [*words, "--compress=none"], environment


def merged_runs(stats: dict[str, Any]) -> int:
    """Counts the runs that the widest merge of the sort had: with rows all of them, if one pass was enough. RunError if none was
    stored.
    """
    runs = (step["fan_in"] for step in stats["plan"]["merge_steps"]) if "plan" in stats else (stats["runs"],)
    if (most := max(runs, default=0)) == 0:
        raise RunError("the input fits in the memory, and this stage is about sorts of two passes: take more, or less memory")
    return int(most)


def stored_share(stats: dict[str, Any]) -> float:
    return stats["plan"]["stored_records"] / stats["plan"]["records"] if "plan" in stats else 1.0


def cpu_s_per_gb(results: Results, stage: str, contender: str) -> list[float]:
    """Returns the time of each run, of a stage whose runs report the size of their input."""
    return [cpu_s(run) / (run["input_bytes"] / 1e9) for run in results.of(stage, contender).values()]
