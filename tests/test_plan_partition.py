"""`ecosort plan partition` prints what `ecosort partition` then takes: a cluster cuts its inputs by it."""

import json
from pathlib import Path
from typing import Any

import pytest
from sort_support import Run, refused, succeeded

ROWS, PARTS = 100_000, 20


@pytest.fixture
def splitters(run: Run, tmp_path: Path) -> None:
    succeeded(run("gen", "-a", str(ROWS), "in", cwd=tmp_path))
    succeeded(run("sample", "records", "in", "--count", "500", "-o", "sample", cwd=tmp_path))
    succeeded(run("sample", "records", "--merge", "sample", "--parts", str(PARTS), "-o", "splitters", cwd=tmp_path))
    (tmp_path / "slices").mkdir()


def planned(run: Run, *words: str, rows: str = "records") -> dict[str, Any]:
    size = [f"--parts={PARTS}", f"--assume-size={ROWS * 100}", "--threads=2"]
    plan: dict[str, Any] = json.loads(run("plan", "partition", rows, *size, "--json", *words).stdout)
    return plan


@pytest.mark.usefixtures("splitters")
@pytest.mark.parametrize("words", [["--sort"], []])
def test_a_partition_does_what_was_planned_with_the_least_memory_too(words: list[str], run: Run, tmp_path: Path) -> None:
    cut = ["partition", "records", "in", "--splitters=splitters", "--report=r", "--overwrite", "-o", "slices", "--threads=2"]
    least = planned(run, "--memory=64MiB", *words)["least_memory_bytes"]
    for memory in (least, 5 << 20):
        plan = planned(run, f"--memory={memory}", *words)
        succeeded(run(*cut, *words, f"--memory={memory}", cwd=tmp_path))
        report = json.loads((tmp_path / "r").read_text())
        assert max(len(one["files"]) for one in report["slices"]) == plan["runs"]
        assert (plan["memory_limit_bytes"], plan["files"]) == (report["memory_limit_bytes"], PARTS * plan["runs"])
    too_little = planned(run, f"--memory={least * 9 // 10}", *words)
    assert (too_little["kind"], too_little["need_bytes"]) == ("not enough memory", least)
    refused(run(*cut, *words, f"--memory={least * 9 // 10}", cwd=tmp_path), 2)


def test_rows_of_no_fixed_size_count_as_100_bytes(run: Run) -> None:
    plan = planned(run, "--sort", "--memory=8MiB", rows="csv")
    assert 1 <= ROWS * 100 / plan["run_bytes"] <= plan["runs"] <= ROWS * 100 / plan["run_bytes"] + 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["record", "--parts=2", "--assume-size=1MB"], "'record' is no format; did you mean 'records'?"),
        (["lines", "--assume-size=1MB"], "--parts is missing"),
        (["lines", "--parts=2"], "--assume-size is missing"),
        (["lines", "--parts=2", "--assume-size=1MB", "--record-size=10"], "--record-size is for records"),
        (["records", "--parts=0", "--assume-size=1MB"], "0 parts cannot be; give 1 to 65536"),
        (["--parts=2", "--assume-size=1MB"], "say what the rows are"),
    ],
)
def test_one_line_says_what_is_wrong(words: list[str], said: str, run: Run) -> None:
    done = run("plan", "partition", *words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr
