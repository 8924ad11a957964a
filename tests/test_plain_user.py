"""A user without privileges who may lock 64 KiB of memory has limits: buffers cannot be registered, pipes cannot be made larger,
an output gets its name in another way. The other tests run as the user who runs them, in CI as root.
"""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sort_support import (
    BACKENDS,
    Require,
    as_plain_user,
    copy_program,
    directory_for_everyone,
    expected,
    listing,
    make_records,
    read_json,
)

Done = subprocess.CompletedProcess[bytes]
Sort = Callable[..., Done]


@pytest.fixture(scope="session")
def data(ecosort: Path) -> bytes:
    return make_records(ecosort, "skewed", 40_000)


@pytest.fixture(scope="module")
def home(ecosort: Path, data: bytes) -> Iterator[Path]:
    """A directory of the user's with the records as `in`; the program is where no other user can put another module."""
    with directory_for_everyone() as directory:
        directory.chmod(0o1777)
        (directory / "bin").mkdir()
        (directory / "bin").chmod(0o755)
        copy_program(ecosort, directory / "bin")
        (directory / "home").mkdir()
        (directory / "home").chmod(0o777)
        (directory / "home" / "in").write_bytes(data)
        yield directory / "home"


@pytest.fixture
def sort(require: Require, home: Path, backend: str) -> Sort:
    """`sort("in", "-o", "out")`: by the user, with this backend; it goes well and leaves nothing but `in` and its output."""
    require("setpriv")

    def run_sort(*words: str, **options: Any) -> Done:
        command = as_plain_user(home.parent / "bin" / "ecosort", "sort", *words, "--io", backend, "--stats", "stats")
        options.setdefault("capture_output", True)
        done = subprocess.run(command, cwd=home, timeout=60, check=False, **options)
        assert (done.returncode, done.stderr) == (0, b""), done
        stats = read_json(home / "stats")
        assert backend in ("auto", stats["io_backend"])
        assert stats["demand_reads"] == 0
        (home / "stats").unlink()
        assert listing(home) == [str(home / name) for name in ("in", "out") if (home / name).exists()]
        return done

    return run_sort


@pytest.mark.parametrize(
    ("backend", "memory"),
    [("auto", "4MiB"), *((backend, memory) for backend in BACKENDS for memory in ("2MiB", "4MiB", "256MiB"))],
    indirect=["backend"],
)
def test_files(sort: Sort, home: Path, data: bytes, memory: str) -> None:
    """Without an output of that name, and over one that is there."""
    for words in ([], ["--verify=reread", "--threads=3"]):
        sort("in", "-o", "out", "--memory", memory, *words)
        assert (home / "out").read_bytes() == expected(data)
    sort("in", "in", "-o", "out", "--memory", memory, "--unique")
    assert (home / "out").read_bytes() == expected(data, unique=True)
    (home / "out").unlink()


@pytest.mark.parametrize("memory", ["2MiB", "64MiB"])
def test_streams(sort: Sort, home: Path, data: bytes, memory: str) -> None:
    assert sort("-", "-o", "-", "--memory", memory, input=data).stdout == expected(data)
    with (home / "in").open("rb") as file:
        file.seek(100)
        assert sort("-", "-o", "-", "--memory", memory, stdin=file).stdout == expected(data[100:])
    with (home / "out").open("wb") as out:
        sort("in", "-o", "-", "--memory", memory, "--temp", ".", stdout=out, stderr=subprocess.PIPE, capture_output=False)
    assert (home / "out").read_bytes() == expected(data)
    (home / "out").unlink()


def test_more_than_two_passes(sort: Sort, home: Path, data: bytes) -> None:
    """Merged runs, too, are files without a name."""
    sort("in", "-o", "out", "--record-size", "20000", "--key", "0:1", "--memory", "2MiB", "--temp", ".")
    assert (home / "out").read_bytes() == expected(data, 20_000, ["0:1"])
    (home / "out").unlink()
