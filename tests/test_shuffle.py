"""ecosort shuffle: every order is that of the named generator, whatever memory, threads, files and pipes; nothing is lost.

The oracle has a Philox generator of its own, after the paper, and Python's stable sort.
"""

import functools
import itertools
import json
import random
import re
import struct
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from capabilities import only_in_soak
from sort_support import MIB, OVERHEAD_BYTES, faults, listing

Run = Callable[..., subprocess.CompletedProcess[str]]
LEAST = ["--memory", "1MiB"]  # a few MB make several runs
MASK = 0xFFFFFFFF


def philox(counter: Sequence[Any], key: Sequence[int]) -> tuple[Any, Any, Any, Any]:
    """Returns Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011); of integers, or of arrays of them."""
    a, b, c, d = counter
    left_key, right_key = key
    for _ in range(10):
        left, right = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (right >> 32) ^ b ^ left_key, right & MASK, (left >> 32) ^ d ^ right_key, left & MASK
        left_key, right_key = (left_key + 0x9E3779B9) & MASK, (right_key + 0xBB67AE85) & MASK
    return a, b, c, d


def shuffled(rows: Sequence[bytes], seed: int) -> list[bytes]:
    """Returns what the generator ecosort-shuffle/1 makes of the rows."""
    return [rows[n] for n in order_of(len(rows), seed)]


@functools.lru_cache(maxsize=4)
def order_of(count: int, seed: int) -> list[int]:
    numbers, zero = np.arange(count, dtype=np.uint64), np.zeros(count, dtype=np.uint64)
    first, second, third, _ = philox((numbers, zero, zero, zero), (seed & MASK, seed >> 32))
    return list(map(int, np.lexsort((third, second, first))))


def lines_of(count: int, longest: int = 80, seed: int = 1) -> list[bytes]:
    chance = random.Random(seed)
    return [b"%d " % n + chance.randbytes(chance.randrange(longest)).replace(b"\n", b"_") + b"\n" for n in range(count)]


@pytest.fixture(scope="session")
def many() -> list[bytes]:
    """Returns about 4 MB of lines, some of them long: several runs with the least memory."""
    rows = lines_of(60_000)
    rows[17] = rows[-3] = b"long " * 9000 + b"\n"
    return rows


@pytest.fixture
def done(run: Run) -> Run:
    """Runs the program, which must succeed."""

    def run_well(*words: str | Path | int) -> subprocess.CompletedProcess[str]:
        result = run(*words)
        assert result.returncode == 0, result.stderr
        return result

    return run_well


def write(path: Path, rows: Sequence[bytes]) -> Path:
    path.write_bytes(b"".join(rows))
    return path


def test_the_generator_is_the_named_one() -> None:
    """The answers that the authors publish for the generator."""
    assert philox((0, 0, 0, 0), (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    assert philox((MASK,) * 4, (MASK,) * 2) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
    pi = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)
    assert philox(*pi) == (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)


def test_the_order_of_a_seed_stays_what_it_is(done: Run, tmp_path: Path) -> None:
    source = write(tmp_path / "in", [b"%d\n" % n for n in range(10)])
    done("shuffle", "--seed", 1, source, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text().split() == ["5", "9", "2", "4", "6", "7", "1", "3", "8", "0"]


def orders_of(rows: int, seeds: int) -> Any:
    """Returns what the generator makes of so many rows, for each of the seeds from 0 on."""
    numbers, zero = np.arange(rows, dtype=np.uint64)[None, :], np.uint64(0)
    first, second, _, _ = philox((numbers, zero, zero, zero), (np.arange(seeds, dtype=np.uint64)[:, None], zero))
    return np.argsort(first << np.uint64(32) | second, axis=1)


def swapped_with_any(rows: int, count: int) -> Any:
    """Returns the orders of a well-known wrong shuffle: each row is swapped with any row instead of one behind it."""
    chance = random.Random(1)
    orders = [list(range(rows)) for _ in range(count)]
    for order in orders:
        for at in range(rows):
            other = chance.randrange(rows)
            order[at], order[other] = order[other], order[at]
    return np.array(orders)


def with_coarse_keys(rows: int, count: int) -> Any:
    """Returns the orders by keys of five bits, where rows with equal keys stay in their order."""
    return np.argsort(np.random.default_rng(1).integers(32, size=(count, rows)), axis=1, kind="stable")


def chance_of(counts: Any, kinds: int) -> float:
    """Returns by how many standard deviations the counts differ more from each other than those of chance do (chi-square)."""
    expected = counts.sum() / kinds
    chi_square = (((counts - expected) ** 2).sum() + (kinds - len(counts)) * expected**2) / expected
    return float((chi_square - (kinds - 1)) / np.sqrt(2 * (kinds - 1)))


def permutations_are_even(orders: Any) -> bool:
    _, counts = np.unique(orders @ np.array([64, 16, 4, 1]), return_counts=True)
    return abs(chance_of(counts, 24)) < 5


def places_are_even(orders: Any) -> bool:
    """Also those of the first row and of the last one, which an error of one at a border would prefer."""
    rows = orders.shape[1]
    of_row = [np.bincount(np.argsort(orders, axis=1)[:, row], minlength=rows) for row in range(rows)]
    return all(abs(chance_of(counts, rows)) < 5 for counts in of_row)


@pytest.mark.parametrize(
    ("made", "is_fair"),
    [(orders_of, True), (swapped_with_any, False), (with_coarse_keys, False)],
    ids=["ours", "swapped with any", "coarse keys"],
)
def test_all_orders_of_four_rows_are_equally_likely(made: Callable[[int, int], Any], is_fair: bool) -> None:
    """The same counts show that wrong shuffles are none."""
    assert permutations_are_even(made(4, 20_000)) == is_fair


@pytest.mark.parametrize("rows", [2, 5, 64])
def test_each_row_is_equally_likely_at_each_place(rows: int) -> None:
    assert places_are_even(orders_of(rows, 8000))


def test_places_of_a_wrong_shuffle_are_not_even() -> None:
    assert not places_are_even(swapped_with_any(5, 8000))


@pytest.mark.parametrize("rows", [2, 4, 64])
def test_small_inputs_have_the_orders_that_were_counted(done: Run, tmp_path: Path, rows: int) -> None:
    source = write(tmp_path / "in", [b"%d\n" % n for n in range(rows)])
    for seed, order in enumerate(orders_of(rows, 8).tolist()):
        done("shuffle", "--seed", seed, source, "-o", tmp_path / "out")
        assert list(map(int, (tmp_path / "out").read_text().split())) == order


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
def test_order_in_memory(done: Run, tmp_path: Path, seed: int) -> None:
    rows = lines_of(3000)
    done("shuffle", "--seed", seed, write(tmp_path / "in", rows), "-o", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"".join(shuffled(rows, seed))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_order_of_several_runs(done: Run, tmp_path: Path, many: list[bytes], threads: int) -> None:
    stats = tmp_path / "stats"
    done("shuffle", "--seed", 3, *LEAST, "--threads", threads, "--stats", stats, "--verify=reread",
            write(tmp_path / "in", many), "-o", tmp_path / "out")  # fmt: skip
    assert (tmp_path / "out").read_bytes() == b"".join(shuffled(many, 3))
    report = json.loads(stats.read_text())
    assert report["runs"] > 2
    assert report["rows"] == len(many)
    assert report["peak_rss_bytes"] <= MIB + OVERHEAD_BYTES
    assert report["shuffle"] == {"generator": "ecosort-shuffle/1", "seed": 3, "rows_skipped": 0}


def test_pieces_and_pipes_have_the_order_of_one_file(done: Run, ecosort: Path, tmp_path: Path, many: list[bytes]) -> None:
    expected = b"".join(shuffled(many, 4))
    pieces = [write(tmp_path / f"{i}", many[begin : begin + 7001]) for i, begin in enumerate(range(0, len(many), 7001))]
    done("shuffle", "--seed", 4, *LEAST, *pieces, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == expected
    command = [str(ecosort), "shuffle", "--seed", "4", *LEAST, "-", "-o", "-"]
    piped = subprocess.run(command, input=b"".join(many), stdout=subprocess.PIPE, check=True)
    assert piped.stdout == expected


def test_runs_are_merged_in_passes(done: Run, tmp_path: Path) -> None:
    """The cuts of runs add up in an intermediate merge: rows that do not fit one merge are merged by two threads in the end."""
    rows = lines_of(400_000, 60)
    stats = tmp_path / "stats"
    done("shuffle", "--seed", 5, *LEAST, "--threads", 2, "--stats", stats, write(tmp_path / "in", rows), "-o", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"".join(shuffled(rows, 5))
    assert json.loads(stats.read_text())["runs"] > 10


def test_header_of_csv_stays_and_quoted_newlines_hold(done: Run, tmp_path: Path) -> None:
    chance = random.Random(2)
    rows = [b'%d,"a\nb ""%d""",x\n' % (n, n) if chance.random() < 0.3 else b"%d,plain,\n" % n for n in range(90_000)]
    head = b"id,text,more\n"
    pieces = [write(tmp_path / f"{i}.csv", [head, *rows[i * 30_000 : (i + 1) * 30_000]]) for i in range(3)]
    for memory in ("1MiB", "64MiB"):
        done("shuffle", "--csv", "--seed", 6, "--memory", memory, *pieces, "-o", tmp_path / "out")
        assert (tmp_path / "out").read_bytes() == head + b"".join(shuffled(rows, 6))


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("fallocate:error=ENOSPC:when=2", 3),
        ("pwrite64:error=ENOSPC:when=7", 3),
        ("pread64:error=EIO:when=700", 3),
        ("pwrite64:signal=TERM:when=700", 143),
        ("pread64:signal=KILL:when=60", -9),
    ],
)
def test_what_ends_a_shuffle_of_several_runs_leaves_nothing(
    ecosort: Path, tmp_path: Path, many: list[bytes], rule: str, code: int
) -> None:
    """A full drive, one that fails, and signals, in both phases."""
    place = tmp_path / "place"
    place.mkdir()
    source = write(place / "in", many)
    command = [*faults(tmp_path, rule), str(ecosort), "shuffle", *LEAST, "--threads=2", "--io=pool", "in", "-o", "out"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (code, int(code > 0)), done.stderr
    assert listing(place) == [str(source)]


def test_a_broken_row_of_csv_is_refused(run: Run, tmp_path: Path) -> None:
    source = write(tmp_path / "in.csv", [b"a,b\n", b'1,"2\n'])
    result = run("shuffle", "--csv", source, "-o", tmp_path / "out")
    assert result.returncode == 2
    assert "line 2" in result.stderr
    assert not (tmp_path / "out").exists()


def test_json_lines_lose_their_blank_lines_only(done: Run, tmp_path: Path) -> None:
    rows = [b'{"a":%d}\n' % n for n in range(100)]
    source = write(tmp_path / "in", [b"\n", *rows[:50], b"  \n", *rows[50:]])
    stats = tmp_path / "stats"
    done("shuffle", "--jsonl", "--seed", 7, "--stats", stats, source, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"".join(shuffled(rows, 7))
    report = json.loads(stats.read_text())
    assert (report["rows"], report["blank_lines"]) == (100, 2)


@pytest.mark.parametrize("size", [1, 7, 100, 5000])
@pytest.mark.parametrize("memory", ["1MiB", "64MiB"])
def test_records_of_any_bytes(done: Run, tmp_path: Path, size: int, memory: str) -> None:
    count = (3 << 20) // size if size > 7 else 60_000
    data = random.Random(size).randbytes(count * size)
    rows = [data[i : i + size] for i in range(0, len(data), size)]
    pieces = [write(tmp_path / "a", rows[: count // 3]), write(tmp_path / "b", rows[count // 3 :])]
    done("shuffle", "--record-size", size, "--seed", 8, "--memory", memory, "--verify=reread", *pieces, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"".join(shuffled(rows, 8))


def test_a_part_of_a_record_is_refused(run: Run, tmp_path: Path) -> None:
    source = write(tmp_path / "in", [b"x" * 25])
    result = run("shuffle", "--record-size", 10, source, "-o", tmp_path / "out")
    assert result.returncode == 2
    assert "the last 5 bytes are no whole record of 10 bytes" in result.stderr


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("memory", ["1MiB", "64MiB"])
def test_paragraphs_stay_together(done: Run, tmp_path: Path, end: bytes, memory: str) -> None:
    chance = random.Random(3)
    rows = [b"".join(b"%d line" % n + end for _ in range(chance.randrange(1, 30))) + end for n in range(20_000)]
    blanks = [end * chance.randrange(3) for _ in rows]
    text = b"".join(itertools.chain.from_iterable(zip(blanks, rows, strict=True)))
    source = write(tmp_path / "in", [text[: -len(end)]])  # the last paragraph lacks its empty line
    stats = tmp_path / "stats"
    done("shuffle", "--paragraphs", "--seed", 9, "--memory", memory, "--verify=reread", "--stats", stats, source,
            "-o", tmp_path / "out")  # fmt: skip
    assert (tmp_path / "out").read_bytes() == b"".join(shuffled(rows, 9))
    assert json.loads(stats.read_text())["blank_lines"] == sum(map(len, blanks)) // len(end)


def test_without_a_seed_the_summary_has_one(done: Run, tmp_path: Path) -> None:
    rows = lines_of(500)
    source, stats = write(tmp_path / "in", rows), tmp_path / "stats"
    seeds = []
    for _ in range(2):
        done("shuffle", "--stats", stats, source, "-o", tmp_path / "out")
        seeds.append(json.loads(stats.read_text())["shuffle"]["seed"])
        assert (tmp_path / "out").read_bytes() == b"".join(shuffled(rows, seeds[-1]))
    assert seeds[0] != seeds[1]


@pytest.mark.parametrize(("name", "words", "is_told"), [
    ("t.csv", [], True), ("t.tsv", [], True), ("t.csv", ["--csv"], False), ("t.csv", ["--header=1"], False),
    ("t.csv", ["-q"], False), ("t.txt", [], False),
])  # fmt: skip
def test_a_header_that_would_be_shuffled_is_told(run: Run, tmp_path: Path, name: str, words: list[str], is_told: bool) -> None:
    (tmp_path / name).write_text("a,b\n1,2\n")
    done = run("shuffle", "--seed", "1", *words, name, "-o", "out", cwd=tmp_path)
    line = f"ecosort: {name} is shuffled as lines, a header with the others; --csv keeps the header on top\n"
    assert (done.returncode, line in done.stderr) == (0, is_told), done.stderr
    request = run("request", "shuffle", *words, name, "-o", "out", cwd=tmp_path).stdout
    (tmp_path / "request").write_text(request)
    done = run("run", "request", cwd=tmp_path)
    assert (done.returncode, line in done.stderr) == (0, is_told), done.stderr


def test_lines_headers_and_nul(done: Run, tmp_path: Path) -> None:
    rows = lines_of(2000)
    done("shuffle", "--seed", 1, "--header=2", write(tmp_path / "in", [b"h1\n", b"h2\n", *rows]), "-o", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"h1\nh2\n" + b"".join(shuffled(rows, 1))
    nul = [row.replace(b"\0", b"_")[:-1] + b"\0" for row in rows]
    done("shuffle", "--seed", 1, "-z", write(tmp_path / "in", nul), "-o", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"".join(shuffled(nul, 1))


def test_nothing_becomes_nothing(done: Run, tmp_path: Path) -> None:
    done("shuffle", write(tmp_path / "in", []), "-o", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b""


def test_packed_runs_and_outputs(done: Run, tmp_path: Path, many: list[bytes]) -> None:
    """Heads of rows hold newlines, at which blocks of runs are truncated."""
    source = write(tmp_path / "in", many)
    for runs in ("prefix", "lz4", "zstd"):
        done("shuffle", "--seed", 2, *LEAST, "--compress", runs, source, "-o", tmp_path / "out")
        assert (tmp_path / "out").read_bytes() == b"".join(shuffled(many, 2))


@pytest.mark.parametrize("words", [["--record-size", "16"], []])
def test_a_plan_bounds_the_shuffle(done: Run, run: Run, tmp_path: Path, many: list[bytes], words: list[str]) -> None:
    """Also the heads of the rows in runs, which double those of short records; and without an input."""
    source, stats = write(tmp_path / "in", many), tmp_path / "stats"
    size = source.stat().st_size // 16 * 16
    with source.open("r+b") as file:
        file.truncate(size)
    words = [*words, *LEAST]
    text = done("plan", "shuffle", *words, source, "-o", tmp_path / "out").stdout
    if "--record-size" in words:  # else the plan looks at how long lines are
        assumed = done("plan", "shuffle", *words, "--assume-size", f"{size}B").stdout
        assert assumed == re.sub(r" *free space needed .*\n", "", text)
    assert not (tmp_path / "out").exists()
    done("shuffle", *words, source, "-o", tmp_path / "out", "--stats", stats)
    told = json.loads(stats.read_text())
    bounds = r"runs +(\d+) to (\d+): lines of (\d+) bytes.*temporary space .*?at most [^(]*\((\d+) bytes"
    found = re.search(bounds, text, re.DOTALL)
    assert found, text
    fewest, most, length, temp = map(int, found.groups())
    assert fewest <= told["runs"] <= most
    assert told["peak_temp_bytes"] <= temp <= (5 if length == 16 else 40) * size
    for wrong in (["--assume-size=1TB", str(source)], [str(source)], []):
        assert run("plan", "shuffle", *wrong).returncode == 2


@pytest.mark.parametrize(
    "words",
    [
        ["--csv", "--paragraphs"],
        ["--csv", "--record-size", "5"],
        ["--paragraphs", "--header=1"],
        ["--delimiter", ";"],
        ["--record-size", "0"],
        ["--seed", "x"],
    ],
)
def test_words_that_do_not_go_together(run: Run, tmp_path: Path, words: list[str]) -> None:
    result = run("shuffle", *words, write(tmp_path / "in", [b"a\n"]), "-o", tmp_path / "out")
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--csv", "--paragraphs"], "--csv cannot be combined with --paragraphs"),
        (["--csv", "--jsonl", "--record-start=x"], "--csv and --jsonl cannot be combined with --record-start"),
    ],
)
def test_only_options_that_are_given_are_told(run: Run, tmp_path: Path, words: list[str], told: str) -> None:
    for command in (["shuffle"], ["plan", "shuffle"]):
        assert run(*command, *words, "in", "-o", "out").stderr == f"ecosort: {told}\n"


@pytest.mark.parametrize(
    "request_",
    [
        {"lines": {"keys": ["1"]}},
        {"lines": {}, "unique": True},
        {"lines": {}, "input_order": "sorted"},
        {"lines": {}, "place": {"kind": "resumable", "output": "out"}},
        {"records": {}},
        {"lines": {"paragraphs": True, "header_lines": 1}},
        {"lines": {"paragraphs": True, "record_lines": 2}},
        {"lines": {"paragraphs": True, "record_start": "a"}},
        {"lines": {"record_start": "a\nb"}},
    ],
)
def test_requests_that_cannot_be(run: Run, tmp_path: Path, request_: dict[str, object]) -> None:
    source = write(tmp_path / "in", [b"a\n"])
    text = {"schema": "ecosort.request/1", "inputs": [str(source)], "place": {"output": str(tmp_path / "out")}, "shuffle": {}}
    (tmp_path / "request").write_text(json.dumps({**text, **request_}))
    result = run("run", tmp_path / "request")
    assert result.returncode == 2, result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_request_shuffles(done: Run, tmp_path: Path) -> None:
    rows = lines_of(100)
    source = write(tmp_path / "in", rows)
    request = {"schema": "ecosort.request/1", "inputs": [str(source)], "lines": {}, "shuffle": {"seed": 5},
               "place": {"output": str(tmp_path / "out")}}  # fmt: skip
    (tmp_path / "request").write_text(json.dumps(request))
    done("run", tmp_path / "request")
    assert (tmp_path / "out").read_bytes() == b"".join(shuffled(rows, 5))


@pytest.mark.parametrize("memory", ["1MiB", "64MiB"])
def test_skipped_rows_are_the_first_ones(done: Run, tmp_path: Path, many: list[bytes], memory: str) -> None:
    """And they are counted and hashed: else the shuffle would fail its verification."""
    source, stats = write(tmp_path / "in", [b"head\n", *many]), tmp_path / "stats"
    for skip in (0, 1, 12_345, len(many), len(many) + 5):
        done(
            "shuffle",
            "--seed",
            1,
            "--header=1",
            "--skip",
            skip,
            "--memory",
            memory,
            "--stats",
            stats,
            source,
            "-o",
            tmp_path / "out",
        )
        assert (tmp_path / "out").read_bytes() == b"head\n" + b"".join(shuffled(many, 1)[skip:])
        report = json.loads(stats.read_text())
        assert (report["rows"], report["shuffle"]["rows_skipped"]) == (len(many), min(skip, len(many)))


@pytest.mark.parametrize("memory", ["1MiB", "64MiB"])
@pytest.mark.parametrize("pieces", [1, 3])
def test_a_limit_keeps_the_first_rows_of_the_whole(
    done: Run, tmp_path: Path, many: list[bytes], memory: str, pieces: int
) -> None:
    """At every size: none, some that fit the memory, so many that runs are stored, all. What is left out is hashed."""
    step = len(many) // pieces
    files = [write(tmp_path / f"{i}", many[i * step : (i + 1) * step]) for i in range(pieces)]
    stats, whole = tmp_path / "stats", shuffled(many, 1)
    for limit in (0, 1, 100, 5000, 45_000, len(many), len(many) + 1):
        done("shuffle", "--seed", 1, "--limit", limit, "--memory", memory, "--stats", stats, *files, "-o", tmp_path / "out")
        assert (tmp_path / "out").read_bytes() == b"".join(whole[:limit])
        report = json.loads(stats.read_text())
        assert (report["rows"], report["rows_beyond_limit"]) == (len(many), max(len(many) - limit, 0))


@pytest.mark.parametrize("words", [["--record-size", "3"], ["--paragraphs"], ["--csv", "--no-header"]])
def test_limits_of_other_rows(done: Run, tmp_path: Path, words: list[str]) -> None:
    chance = random.Random(5)
    rows = [chance.randbytes(2).replace(b"\n", b"_") + b"\n" for _ in range(200_000)]
    if words == ["--paragraphs"]:
        rows = [b"%d\n\n" % n for n in range(100_000)]
    if "--csv" in words:
        rows = [b'%d,"\n"\n' % n for n in range(100_000)]
    source = write(tmp_path / "in", rows)
    for limit in (10, 60_000):
        done("shuffle", *words, "--seed", 3, *LEAST, "--limit", limit, source, "-o", tmp_path / "out")
        assert (tmp_path / "out").read_bytes() == b"".join(shuffled(rows, 3)[:limit])


@only_in_soak
def test_a_larger_shuffle(done: Run, tmp_path: Path) -> None:
    rows = [struct.pack("<Q", n) for n in range(3_000_000)]
    done("shuffle", "--record-size", 8, "--seed", 1, "--memory", "4MiB", write(tmp_path / "in", rows), "-o", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"".join(shuffled(rows, 1))
