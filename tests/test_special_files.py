"""Devices and pipes that have the name of an output stay what they are: replaced or removed they would be gone for everybody.

The nodes are those of the tests; `/dev/null` itself is never named here.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from partition_support import write_splitters
from sort_support import Run, refused, special_files, succeeded


@contextmanager
def opened_pipe(place: Path) -> Iterator[int]:
    """A reader, without which who opens the pipe to write would wait."""
    pipe = os.open(place / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    yield pipe
    os.close(pipe)


@pytest.fixture
def place(run: Run, tmp_path: Path) -> Path:
    succeeded(run("gen", "-a", "2", tmp_path / "in"))
    (tmp_path / "in.csv").write_bytes(b"to,n\nnull,2\nother,3\npipe,1\n")
    return tmp_path


REFUSED = {
    "sort": ("sort", "in", "-o"),
    "sort resumably": ("sort", "--resumable", "in", "-o"),
    "merge": ("merge", "in", "-o"),
    "lines resumably": ("lines", "--resumable", "in", "-o"),
    "csv resumably": ("csv", "--resumable", "--by", "n", "in.csv", "-o"),
    "rows set aside": ("csv", "--by", "n:number", "in.csv", "-o", "out", "--bad-rows"),
    "in place": ("inplace",),
    "lines in place": ("lines", "--inplace"),
}
WRITTEN = {
    "lines": ("lines", "in", "-o"),
    "shuffle": ("shuffle", "in", "-o"),
    "csv": ("csv", "--by", "n", "in.csv", "-o"),
    "compressed": ("lines", "--compress-output=zstd", "in", "-o"),
}


@pytest.mark.parametrize("words", REFUSED.values(), ids=REFUSED)
def test_a_device_or_a_pipe_is_refused_as_an_output(run: Run, place: Path, words: tuple[str, ...]) -> None:
    nodes = special_files(place)
    with opened_pipe(place):
        for name, node in nodes.items():
            done = run(*words, name, cwd=place)
            assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
            assert f"'{name}'" in done.stderr
            assert "not a regular file" in done.stderr
            assert os.lstat(place / name) == node


@pytest.mark.parametrize("words", WRITTEN.values(), ids=WRITTEN)
def test_a_device_or_a_pipe_is_written_into_as_gnu_sort_does(run: Run, place: Path, words: tuple[str, ...]) -> None:
    nodes = special_files(place)
    with opened_pipe(place) as pipe:
        for name in nodes:
            assert (run(*words, name, cwd=place).returncode == 0) is (name != "full")
        assert len(os.read(pipe, 1000)) > 20
    assert {name: stat.S_IFMT(os.lstat(place / name).st_mode) for name in nodes} == {
        name: stat.S_IFMT(node.st_mode) for name, node in nodes.items()
    }


@pytest.mark.parametrize("words", [WRITTEN["lines"], WRITTEN["csv"]], ids=["lines", "csv"])
def test_a_plan_opens_no_device_and_no_pipe(run: Run, place: Path, words: tuple[str, ...]) -> None:
    """It waited for the reader of a pipe, and wrote the plan into it."""
    for name in special_files(place):
        done = run("plan", *words, name, cwd=place)
        assert (done.returncode, "memory" in done.stdout) == (0, True), done


@pytest.mark.parametrize("pattern", ["{}", "pipe-{}"])
def test_a_split_replaces_no_device_by_the_value_of_a_row(run: Run, place: Path, pattern: str) -> None:
    nodes = special_files(place)
    if pattern == "pipe-{}":
        (place / "pipe").rename(place / "pipe-manifest.json")
        nodes = {"pipe-manifest.json": os.lstat(place / "pipe-manifest.json")}
    words = ("csv", "--by", "to", "--split", "by=to", "in.csv", "-o", pattern)
    refused(run(*words, cwd=place), 2, "is not a regular file and cannot be replaced")
    assert {name: os.lstat(place / name) for name in nodes} == nodes
    assert not (place / "other").exists()
    assert not (place / f"{pattern}.split").exists()


def test_slices_replace_and_remove_no_device(run: Run, place: Path) -> None:
    write_splitters(place / "splitters", [((place / "in").read_bytes()[:100], 0, 0)])
    words = (
        "partition",
        "records",
        "--splitters",
        "splitters",
        "in",
        "-o",
        "out",
        "--sort",
        "--memory",
        "8MiB",
        "--overwrite",
        "--report",
        "report",
        "--key",
        "0:10",
    )
    (place / "out").mkdir()
    for name in ("slice.00000", "slice.00001.00007"):  # one that would be written, one that an earlier partition left
        os.mkfifo(place / "out" / name)
        node = os.lstat(place / "out" / name)
        refused(run(*words, cwd=place), 2, name, "is not a regular file and cannot be replaced")
        assert [os.lstat(path) for path in (place / "out").iterdir()] == [node]
        (place / "out" / name).unlink()
