"""The fuzz targets of tests/fuzz find nothing in their seeds and the first units made of these; a soak looks on for a while."""

import os
import re
import subprocess
from pathlib import Path

import capabilities
import pytest
from conftest import ROOT

BUILD = Path(os.environ.get("ECOSORT_FUZZ_BUILD") or ROOT / "build-fuzz")
SECONDS = 600
UNITS = 500
TARGETS = ["csv_rows", "decode", "jsonl_rows", "key_grammar", "packed_block", "run_description", "split_lines", "truncated_rows"]


def words_of(target: str) -> list[str]:
    program = BUILD / f"{target}_fuzz"
    assert program.exists(), f"{program} is not built: run make fuzz-build"
    return [str(program), "-print_final_stats=1"]


@pytest.mark.timeout(SECONDS + 120 if capabilities.SOAK else 60)
@pytest.mark.parametrize("target", TARGETS)
def test_fuzzing_finds_nothing(target: str, tmp_path: Path) -> None:
    found = tmp_path / "found"
    found.mkdir()
    until = [f"-max_total_time={SECONDS}"] if capabilities.SOAK else [f"-runs={UNITS}", "-seed=1"]
    options = [*until, "-max_len=1024", f"-artifact_prefix={tmp_path}/", str(found)]
    command = [*words_of(target), *options, str(ROOT / "tests" / "fuzz" / "seeds" / target)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS + 100, check=False)
    assert done.returncode == 0, done.stderr[-6000:]
    runs = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    assert runs, done.stderr[-2000:]
    assert int(runs[1]) >= UNITS
