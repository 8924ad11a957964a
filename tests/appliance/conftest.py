"""The tests of the appliance share these."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .support import Queue


@pytest.fixture(scope="session", autouse=True)
def program_of_the_package(ecosort: Path) -> Iterator[None]:
    """Sets the program whose options a job has."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ECOSORT_PROGRAM", str(ecosort))
        yield


@pytest.fixture
def queue(tmp_path: Path, ecosort: Path) -> Iterator[Queue]:
    found = Queue(tmp_path / "queue", ecosort)
    yield found
    found.close()


@pytest.fixture
def records(queue: Queue) -> Path:
    """4,000 records of 16 bytes, in no order: an input so small is planned in no time."""
    path = queue.place / "in.dat"
    path.write_bytes(b"".join((i * 2654435761 % 2**32).to_bytes(4, "big") + bytes(12) for i in range(4_000)))
    return path
