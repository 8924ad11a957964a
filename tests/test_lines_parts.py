"""The last merge of `ecosort lines` in parts at the same time: the same bytes as `LC_ALL=C sort`, at toy sizes.

A stream as input gives a small sort its computing threads; a file as output lets parts be written to their places.
"""

import functools
import os
import random
from pathlib import Path

import pytest
from capabilities import SOAK, only_in_soak
from lines_support import SORT, random_lines, run
from sort_support import read_json

WORDS = ["-S", "2M", "--parallel=2"]


def sort_in_parts(ecosort: Path, directory: Path, words: list[str], data: bytes) -> tuple[bytes, int]:
    """Returns what was written, and in how many parts."""
    words = [*words, *WORDS, "--stats", "stats", "-o", "out"]
    assert run([str(ecosort), "lines"], words, directory, data) == (0, b"", ""), words
    stats = read_json(directory / "stats")
    assert stats["runs"] > 1
    assert stats["peak_counted_memory_bytes"] <= 2 << 20
    output = (directory / "out").read_bytes()
    assert stats["output_bytes"] == len(output)
    return output, stats["merge_parts"]


def assert_parts_same(ecosort: Path, directory: Path, words: list[str], data: bytes, parts: int = 2) -> None:
    expected = run([SORT], words, directory, data)
    assert expected[0] == 0, expected
    output, used = sort_in_parts(ecosort, directory, words, data)
    assert used == parts, words
    assert output == expected[1], words


@functools.lru_cache(maxsize=1)
def some_lines(seed: int, count: int = 60_000) -> tuple[bytes, ...]:
    rng = random.Random(seed)
    return tuple(b"%d %s" % (rng.randrange(10**6), b"x" * rng.randrange(90)) for _ in range(count))


ORDERS = [[], ["-r"], ["-s", "-k2"], ["-n"], ["-k1.1,1.1"], ["-s", "-k1.2,1.2", "-r"], ["-z"]]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        pytest.param(kind, words, marks=only_in_soak if kind != "random" and number % 3 else ())
        for kind in ("random", "equal", "sorted", "reverse", "few")
        for number, words in enumerate(ORDERS)
    ],
)
def test_parts_are_what_one_merge_would_write(ecosort: Path, tmp_path: Path, words: list[str], kind: str) -> None:
    lines = list(some_lines(1))
    if kind == "equal":
        lines = [b"always the same line, of some length"] * 60_000
    elif kind == "few":
        lines = [line[:1] + b" " + b"y" * 40 for line in lines]
    elif kind in ("sorted", "reverse"):
        lines.sort(reverse=kind == "reverse")
    end = b"\0" if "-z" in words else b"\n"
    assert_parts_same(ecosort, tmp_path, words, end.join(lines) + end)


@pytest.mark.parametrize("seed", range(6 if SOAK else 1))
def test_parts_of_any_text(ecosort: Path, tmp_path: Path, seed: int) -> None:
    data = random_lines(random.Random(seed), 200_000)
    for words in ([], ["-f"], ["-k2,2n", "-r"]):
        assert_parts_same(ecosort, tmp_path, words, data)


def test_the_header_is_in_the_first_part(ecosort: Path, tmp_path: Path) -> None:
    for header in (b"zz", b"z" * 30_000, b"z" * 40_000):
        lines = some_lines(2)
        output, parts = sort_in_parts(ecosort, tmp_path, ["--header"], b"\n".join([header, *lines]))
        assert parts == 2
        assert output == b"\n".join([header, *sorted(lines), b""])


def test_equal_lines_are_dropped_in_one_part(ecosort: Path, tmp_path: Path) -> None:
    lines = some_lines(3) + some_lines(3)
    assert_parts_same(ecosort, tmp_path, ["-u"], b"\n".join(lines), parts=1)


@pytest.mark.parametrize(("length", "parts"), [(3_000, 2), (4_000, 2), (4_200, 1), (9_000, 1), (200_000, 1)])
def test_lines_beyond_half_a_block_are_merged_in_one_part(ecosort: Path, tmp_path: Path, length: int, parts: int) -> None:
    rng = random.Random(4)
    lines = [rng.randbytes(rng.randrange(length)).replace(b"\n", b"") for _ in range(4_000_000 // length)]
    lines += [b"q" * length, *some_lines(4, 40_000)]
    rng.shuffle(lines)
    assert_parts_same(ecosort, tmp_path, [], b"\n".join(lines), parts)


def test_a_stream_is_written_in_one_part(ecosort: Path, tmp_path: Path) -> None:
    data = b"\n".join(some_lines(5))
    code, output, error = run([str(ecosort), "lines"], [*WORDS, "--stats", "stats"], tmp_path, data)
    assert (code, error) == (0, "")
    assert output == run([SORT], [], tmp_path, data)[1]
    assert read_json(tmp_path / "stats")["merge_parts"] == 1


@pytest.mark.parametrize(("threads", "memory", "parts"), [(1, "8M", 1), (2, "1M", 1), (3, "8M", 3), (64, "8M", 4)])
def test_threads_and_memory_decide_about_parts(ecosort: Path, tmp_path: Path, threads: int, memory: str, parts: int) -> None:
    data = b"\n".join(some_lines(6, 200_000))
    words = [f"--parallel={threads}", "-S", memory, "--stats", "stats", "-o", "out"]
    assert run([str(ecosort), "lines"], words, tmp_path, data) == (0, b"", "")
    assert (tmp_path / "out").read_bytes() == run([SORT], [], tmp_path, data)[1]
    assert read_json(tmp_path / "stats")["merge_parts"] == parts


def test_the_output_in_parts_may_be_an_input(ecosort: Path, tmp_path: Path) -> None:
    lines = some_lines(7, 120_000)
    (tmp_path / "file").write_bytes(b"\n".join(lines))
    words = ["file", "-o", "file", *WORDS, "--stats", "stats"]
    assert run([str(ecosort), "lines"], words, tmp_path) == (0, b"", "")
    assert read_json(tmp_path / "stats")["merge_parts"] == 2
    assert (tmp_path / "file").read_bytes() == b"\n".join([*sorted(lines), b""])


def test_parts_with_every_backend(ecosort: Path, tmp_path: Path, backend: str) -> None:
    """Also where the output is not written past the page cache, as on most kernels in a tmpfs."""
    data = b"\n".join(some_lines(8))
    expected = run([SORT], [], tmp_path, data)[1]
    for output in (tmp_path / "out", Path(f"/dev/shm/ecosort-parts-{os.getpid()}")):
        try:
            words = [*WORDS, "--io", backend, "--stats", "stats", "-T", str(tmp_path), "-o", str(output)]
            code, out, told = run([str(ecosort), "lines"], words, tmp_path, data)
            assert (code, out) == (0, b"")
            assert told == "" or "kept in memory" in told
            assert output.read_bytes() == expected
            assert read_json(tmp_path / "stats")["merge_parts"] == 2
        finally:
            output.unlink(missing_ok=True)
