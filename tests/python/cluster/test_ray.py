"""The same job by Ray. Needs .venv-cluster (tuning/setup/deps cluster), which `make test` does without."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

from .support import KEYS, joined, numbered, sorted_records

PYTHON = ROOT / ".venv-cluster" / "bin" / "python"


@pytest.mark.skipif(not PYTHON.exists(), reason="no Ray: tuning/setup/deps cluster")
def test_a_node_that_is_lost_on_the_way(tmp_path: Path) -> None:
    data = numbered(KEYS["zipf"](30_000))
    (tmp_path / "in").write_bytes(data)
    done = subprocess.run(
        [PYTHON, Path(__file__).with_name("ray_job.py"), tmp_path],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["rows"], told["lost"]) == (30_000, 1)
    assert told["attempts"] > told["tasks"]
    assert 0 < told["through_ray_bytes"] < len(data) // 10  # no rows but the first and last of slices
    assert joined(tmp_path / "out") == sorted_records(data)
