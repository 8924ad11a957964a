"""The package under test drives the program under test, in an empty directory."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def program_under_test(ecosort: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ECOSORT_PROGRAM", str(ecosort))
        yield


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory of every test."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def temp(tmp_path: Path) -> Iterator[Path]:
    """A directory for runs, in which nothing may be left. Not even open files that have no name."""
    directory = tmp_path / "temp"
    directory.mkdir()
    yield directory
    assert list(directory.iterdir()) == []
    assert open_files_below(directory) == []


def open_files_below(directory: Path) -> list[str]:
    """Lists what this process holds open there."""
    links = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            links.append(os.readlink(entry))  # noqa: PTH115  # the text, not a path that exists
        except FileNotFoundError:
            continue
    return [link for link in links if link.startswith(f"{directory}/")]
