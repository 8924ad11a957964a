"""Fixtures of the tests of the tuning programs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import forked
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
        return forked.run("ecosort_tuning", words, cwd=tmp_path, env=tune_env(**(env or {})), timeout=timeout)

    return call


@pytest.fixture
def hardly_waiting(monkeypatch: pytest.MonkeyPatch, only_own_files_become_cold: None) -> None:
    """Runs begin at once, however busy the machine still is and whatever is in its memory."""
    monkeypatch.setattr("ecosort_measure.cold_run.settle_memory", lambda _size: None)
    monkeypatch.setattr("ecosort_tuning.search.sorter.WAITS", ("--idle", "0.5", "--pause", "0.2", "--settle", "0"))
