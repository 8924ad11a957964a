"""Fixtures of the tests of the tuning programs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Tune = Callable[..., subprocess.CompletedProcess[str]]


def tune_env(**extra: str) -> dict[str, str]:
    packages = ":".join(str(ROOT / name) for name in ("tuning", "tuning/bench", "power"))
    return {**os.environ, "PYTHONPATH": packages, "NO_COLOR": "1", "COLUMNS": "160", **extra}


@pytest.fixture
def tune(tmp_path: Path) -> Tune:
    """Runs `ecosort-tune` in a directory of its own."""

    def call(*words: str | Path, env: dict[str, str] | None = None, timeout: float = 120.0) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "ecosort_tuning", *map(str, words)],
            cwd=tmp_path,
            env=tune_env(**(env or {})),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return call
