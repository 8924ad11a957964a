"""Tests of clusters share these."""

from pathlib import Path

import pytest


@pytest.fixture
def nodes(tmp_path: Path) -> list[Path]:
    """The temporary directories of two nodes."""
    made = [tmp_path / "node0", tmp_path / "node1"]
    for directory in made:
        directory.mkdir()
    return made
