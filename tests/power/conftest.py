"""Fixtures of the tests of the power harness."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import forked
import pytest

from .measured import Measurements
from .rederived import watched
from .support import Cli, cli_env

_ITEMS = pytest.StashKey[list[pytest.Item]]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "measured(*words, **how): a measurement to look at; see measured.py")


def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Tests that look at a measurement come last: meanwhile it is made."""
    session.stash[_ITEMS] = items
    own = [i for i, item in enumerate(items) if item.path.is_relative_to(Path(__file__).parent)]
    ordered = sorted((items[i] for i in own), key=lambda item: item.get_closest_marker("measured") is not None)
    for i, item in zip(own, ordered, strict=True):
        items[i] = item


@pytest.fixture(scope="module", autouse=True)
def measurements(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measurements]:
    """Begins the measurements of a file with its first test; deselected tests have none."""
    items = [item for item in request.session.stash[_ITEMS] if item.path == request.path]
    found = Measurements(items, tmp_path_factory)
    yield found
    found.close()


@pytest.fixture(autouse=True)
def rederived(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Derives again from what was sent what the meters read in their own tests."""
    if not request.path.name.startswith("test_meters_"):
        yield
        return
    with watched(monkeypatch):
        yield


@pytest.fixture
def measured(request: pytest.FixtureRequest, measurements: Measurements) -> Any:
    """The measurement that the test's mark names."""
    mark = request.node.get_closest_marker("measured")
    assert mark is not None, "the test has no mark `measured`"
    return measurements.of(mark)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Runs `ecosort-power` in a directory of its own."""

    def call(*words: str | Path, env: dict[str, str] | None = None, timeout: float = 120.0) -> subprocess.CompletedProcess[str]:
        return forked.run("ecosort_power", words, cwd=tmp_path, env=cli_env(**(env or {})), timeout=timeout)

    return call


@pytest.fixture
def in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path
