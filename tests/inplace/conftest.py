"""The tests of `inplace` and `resume` start from records, their order, and a drive that holds them."""

import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import SOAK
from sort_support import FileSystem, expected, make_records

from .support import KINDS, drive_of

RECORDS = 100_000  # 10 MB


@pytest.fixture(scope="session")
def data(ecosort: Path) -> bytes:
    return make_records(ecosort, "skewed ascii", RECORDS)


@pytest.fixture(scope="session")
def wanted(data: bytes) -> bytes:
    return expected(data)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A soak runs each test on every kind of drive, `make test` half of them on one kind and half on the other. Tests of space
    and of kills, where the kind counts, name all kinds themselves."""
    if "drive" in metafunc.fixturenames:
        half = zlib.crc32(metafunc.function.__name__.encode()) % len(KINDS)
        metafunc.parametrize("drive", KINDS if SOAK else KINDS[half : half + 1], indirect=True, scope="module")


@pytest.fixture(scope="module")
def drive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileSystem]:
    with drive_of(request.param, tmp_path_factory.mktemp("inplace")) as drive:
        yield drive


@pytest.fixture(scope="module")
def ext4(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileSystem]:
    with drive_of("ext4", tmp_path_factory.mktemp("inplace")) as drive:
        yield drive


@pytest.fixture
def file(drive: FileSystem, data: bytes) -> Iterator[Path]:
    """A file to sort; afterwards the drive is empty again."""
    yield from fresh_file(drive, data)


@pytest.fixture
def file4(ext4: FileSystem, data: bytes) -> Iterator[Path]:
    """The same on ext4 only, where the kind of drive does not matter."""
    yield from fresh_file(ext4, data)


def fresh_file(drive: FileSystem, data: bytes) -> Iterator[Path]:
    path = drive.root / "data"
    path.write_bytes(data)
    yield path
    subprocess.run(["rm", "-rf", *drive.root.iterdir()], check=True)
