"""`--limit K`: the first K of the sorted rows, and nothing more than these need is stored.

Python's sort says which they are; inputs are full of ties, so that another row than the first one in the input shows.
"""

import functools
import gzip
import itertools
import json
import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from capabilities import SOAK
from csv_support import LEAST
from pairs import turns
from sort_support import Run, read_json, succeeded

N = 24_000
rng = random.Random(5)
MOST = 2**64 - 1

# A few values many times, long ones that windows do not tell apart, and numbers that descend in the order of their rows.
CITIES = ["", "Aa", "Ab", "Berlin and its surroundings, east", "Berlin and its surroundings, west", "Zürich"]
TABLE = [(rng.choice(CITIES), rng.choice((7, N - i, rng.randrange(50))), i) for i in range(N)]
HEADER = "city,number,place\n"
CSV = [
    f"{json.dumps(city, ensure_ascii=False) if ',' in city else city},{number},{'x' * (i % 60)}{i}\n" for city, number, i in TABLE
]
JSONL = [json.dumps({"city": city, "number": number, "place": i}) + "\n" for city, number, i in TABLE]
LINES = [f"{city or '-'}\t{number}\t{'x' * (i % 60)}{i}\n" for city, number, i in TABLE]


def by_number_down(i: int) -> tuple[int, int]:
    return -TABLE[i][1], i


def by_city(i: int) -> tuple[int, bytes, int, int]:
    return int(not TABLE[i][0]), TABLE[i][0].encode(), TABLE[i][1], i


def by_city_of_json(i: int) -> tuple[bytes, int, int]:
    return TABLE[i][0].encode(), TABLE[i][1], i  # an empty text is a text


def by_line(i: int) -> tuple[bytes, int]:
    return LINES[i].encode()[:-1], i


def city_of_line(i: int) -> bytes:
    return LINES[i].encode().split(b"\t")[0]


def by_city_of_line(i: int) -> tuple[bytes, int]:
    return city_of_line(i), i


def by_two_fields(i: int) -> tuple[bytes, int, bytes, int]:
    return city_of_line(i), TABLE[i][1], *by_line(i)


# Name of a sort: its words, its rows, what goes on top, the key of row i.
SORTS: dict[str, tuple[list[str], Sequence[str], str, Callable[[int], Any]]] = {
    "csv by a number": (["csv", "--by", "number:number:desc"], CSV, HEADER, by_number_down),
    "csv by two keys": (["csv", "--by", "city", "--by", "number:integer"], CSV, HEADER, by_city),
    "jsonl by a number": (["jsonl", "--by", "number:number:desc"], JSONL, "", by_number_down),
    "jsonl by two keys": (["jsonl", "--by", "city", "--by", "number:integer"], JSONL, "", by_city_of_json),
    "lines": (["lines"], LINES, "", by_line),
    "lines by a field, stable": (["lines", "-s", "-t", "\t", "-k1,1"], LINES, "", by_city_of_line),
    "lines by two fields": (["lines", "-t", "\t", "-k1,1", "-k2,2n"], LINES, "", by_two_fields),
}


@functools.cache
def in_order(name: str) -> list[int]:
    return sorted(range(N), key=SORTS[name][3])


# At the least memory a batch has some hundred rows, and a buffer some thousand.
LIMITS = (0, 1, 100, 1024, 3_000, N // 2, N, MOST) + ((2, 1023, 1025, 9_000, N - 1, N + 1) if SOAK else ())


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("limit")
    for name, text in (("csv", HEADER + "".join(CSV)), ("jsonl", "".join(JSONL)), ("lines", "".join(LINES))):
        (place / name).write_text(text)
    return place


def check_counts(stats: dict[str, object], unit: str, rows: int, limit: int) -> None:
    assert (stats[unit], stats[f"{unit}_beyond_limit"], stats[f"{unit}_dropped"]) == (rows, max(rows - limit, 0), 0)


@pytest.mark.parametrize(("name", "limit"), turns(list(SORTS), LIMITS, rounds=4))
def test_the_first_rows(run: Run, inputs: Path, tmp_path: Path, name: str, limit: int) -> None:
    words, rows, top, _ = SORTS[name]
    stats = tmp_path / "stats"
    succeeded(run(*words, "--limit", str(limit), *LEAST, "--quiet", inputs / words[0], "-o", tmp_path / "out", "--stats", stats))
    assert (tmp_path / "out").read_text() == top + "".join(rows[i] for i in in_order(name)[:limit])
    told = read_json(stats)
    check_counts(told, "lines" if words[0] == "lines" else "rows", N, limit)
    if limit <= 1025:  # all of them fit a buffer
        assert (told["runs"], told["peak_temp_bytes"]) == (0, 0)
        assert told["bytes_read"] <= told["input_bytes"] + 4096


def from_pipe(command: Sequence[str | Path], source: Path) -> bytes:
    with source.open("rb") as stream:
        return subprocess.run(command, stdin=stream, capture_output=True, check=True).stdout


@pytest.mark.parametrize("limit", [0, 1, 1_000, 9_000, N])
@pytest.mark.parametrize("name", ["csv by a number", "jsonl by two keys", "lines"])
def test_from_a_pipe_and_from_a_compressed_file(ecosort: Path, inputs: Path, tmp_path: Path, name: str, limit: int) -> None:
    words, rows, top, _ = SORTS[name]
    packed = tmp_path / "in.gz"
    packed.write_bytes(gzip.compress((inputs / words[0]).read_bytes(), 1))
    command = [ecosort, *words, "--limit", str(limit), *LEAST, "--quiet", "-", "--temp", tmp_path]
    command += ["--decompress=auto"] if words[0] == "lines" else ["-o", "-"]
    for source in (inputs / words[0], packed):
        assert from_pipe(command, source).decode() == top + "".join(rows[i] for i in in_order(name)[:limit])


def distinct(name: str, equal: Callable[[int], Any]) -> list[int]:
    return [next(group) for _, group in itertools.groupby(in_order(name), equal)]


@pytest.mark.parametrize("limit", [0, 1, 49, 50, 2_000, 6_000, N])
@pytest.mark.parametrize("name", ["csv by a number", "jsonl by a number"])
def test_rows_that_are_not_equal(run: Run, inputs: Path, tmp_path: Path, name: str, limit: int) -> None:
    words, rows, top, _ = SORTS[name]
    stats = tmp_path / "stats"
    succeeded(
        run(
            *words,
            "--unique",
            "--limit",
            str(limit),
            *LEAST,
            "--quiet",
            inputs / words[0],
            "-o",
            tmp_path / "out",
            "--stats",
            stats,
        )
    )
    wanted = distinct(name, lambda i: TABLE[i][1])[:limit]
    assert (tmp_path / "out").read_text() == top + "".join(rows[i] for i in wanted)
    told = read_json(stats)
    assert told["rows"] == len(wanted) + told["rows_dropped"] + told["rows_beyond_limit"] == N


@pytest.mark.parametrize("limit", [0, 1, 100, N // 2, N, MOST])
@pytest.mark.parametrize("name", ["csv by two keys", "lines"])
def test_a_merge_reads_no_more_than_it_needs(run: Run, inputs: Path, tmp_path: Path, name: str, limit: int) -> None:
    words, rows, top, key = SORTS[name]
    parts = [tmp_path / f"part{i}" for i in range(3)]
    for number, part in enumerate(parts):
        part.write_text(top + "".join(rows[i] for i in sorted(range(number, N, 3), key=key)))
    stats, out = tmp_path / "stats", tmp_path / "out"
    merge = "-m" if words[0] == "lines" else "--merge"
    succeeded(run(*words, merge, "--limit", str(limit), *LEAST, "--quiet", *parts, "-o", out, "--stats", stats))
    key_alone = {i: key(i)[:-1] for i in range(N)}
    wanted = sorted(range(N), key=lambda i: (key_alone[i], i % 3, i))[:limit]
    assert out.read_text() == top + "".join(rows[i] for i in wanted)
    if limit <= 100:
        assert read_json(stats)["bytes_read"] < 3 * 6 * 8192


@functools.cache
def some_records() -> list[bytes]:
    rng = random.Random(6)
    kinds = (b"aaaaaaaaaaaaaa", b"aaaaaaaaaaaaab", b"b" * 14)
    return [rng.choice((*kinds, rng.randbytes(14))) + i.to_bytes(6) for i in range(150_000)]


@functools.cache
def records_in_order(key: str, unique: bool) -> list[bytes]:
    length = int(key.split(":")[1])
    ordered = sorted(some_records(), key=lambda record: record[:length], reverse=key.endswith("desc"))
    return [next(group) for _, group in itertools.groupby(ordered, lambda record: record[:length])] if unique else ordered


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("limit") / "records"
    path.write_bytes(b"".join(some_records()))
    return path


# Keys that one window decides, and longer ones that tie in it; with 2 MiB a buffer holds some ten thousand.
@pytest.mark.parametrize("key", ["0:10", "0:14", "0:14:desc"])
@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("limit", [0, 1, 1_024, 5_000, 25_000, *((100, 1_023, 149_999, 150_000, MOST) if SOAK else ())])
def test_the_first_records(ecosort: Path, run: Run, records: Path, tmp_path: Path, key: str, limit: int, unique: bool) -> None:
    wanted = b"".join(records_in_order(key, unique)[:limit])
    words = ["sort", "--memory", "2MiB", "--record-size", "20", "--key", key, "--limit", str(limit), *["--unique"][:unique]]
    stats, out = tmp_path / "stats", tmp_path / "out"
    succeeded(run(*words, records, "-o", out, "--stats", stats))
    assert out.read_bytes() == wanted
    told = read_json(stats)
    assert told["records"] == len(wanted) // 20 + told["records_dropped"] + told["records_beyond_limit"] == len(some_records())
    if limit <= 5_000:
        assert (told["runs"], told["peak_temp_bytes"]) == (0 if limit == 0 else 1, 0)
    assert from_pipe([ecosort, *words, "-", "-o", "-", "--temp", tmp_path], records) == wanted


def test_several_files_of_records(run: Run, records: Path, tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(b"".join(some_records()[:777]))
    words = ["--memory", "2MiB", "--record-size", "20", "--key", "0:14", "--limit", "3000"]
    succeeded(run("sort", *words, tmp_path / "short", records, tmp_path / "short", "-o", tmp_path / "out"))
    together = some_records()[:777] + some_records() + some_records()[:777]
    assert (tmp_path / "out").read_bytes() == b"".join(sorted(together, key=lambda record: record[:14])[:3000])


def test_a_temporary_drive_that_takes_nothing(run: Run, inputs: Path, tmp_path: Path) -> None:
    words = ["csv", "--by", "number:number:desc", *LEAST, "--temp", "/proc", inputs / "csv", "-o", tmp_path / "out"]
    succeeded(run(*words, "--limit", "1000"))
    done = run(*words, "--limit", "20000")
    assert (done.returncode, "/proc" in done.stderr) == (2, True), done.stderr


# Counting is there because without it half of the rows that are no longer wanted would be stored.
def test_runs_are_cut_by_what_is_known(run: Run, tmp_path: Path) -> None:
    numbers = rng.choices(range(10**9), k=150_000)
    (tmp_path / "in").write_text("".join(f"{n:09}{'x' * 50}\n" for n in numbers))
    words = ["--memory", "2MiB", "--compress", "none", "--limit", "15000"]
    stats, out = tmp_path / "stats", tmp_path / "out"
    succeeded(run("lines", *words, tmp_path / "in", "-o", out, "--stats", stats))
    assert out.read_text() == "".join(f"{n:09}{'x' * 50}\n" for n in sorted(numbers)[:15_000])
    told = read_json(stats)
    assert told["runs"] > 1
    assert told["bytes_read"] + told["bytes_written"] < 2 * told["input_bytes"]


@pytest.mark.parametrize(("groups", "are_stored"), [(500, False), (10**9, True)])
def test_rows_behind_those_of_their_group_are_not_stored(run: Run, tmp_path: Path, groups: int, are_stored: bool) -> None:
    """A sort keeps few rows of few groups; where nearly every row is a group, buffers are stored as without a limit."""
    chance = random.Random(groups)
    rows = [(f"group {chance.randrange(groups):03}", chance.randrange(10**6)) for _ in range(60_000)]
    texts = [f"{group},{value},{'x' * (i % 50)}{i}\n" for i, (group, value) in enumerate(rows)]
    (tmp_path / "in").write_text("group,value,place\n" + "".join(texts))
    words = ["csv", "--by", "group", "--by", "value:integer:desc", "--limit", "2", "--by-group", "--memory", "2MiB", "--quiet"]
    stats, out = tmp_path / "stats", tmp_path / "out"
    succeeded(run(*words, "--compress", "none", tmp_path / "in", "-o", out, "--stats", stats))
    ordered = sorted(range(len(rows)), key=lambda i: (rows[i][0], -rows[i][1], i))
    wanted = first_of_groups(ordered, lambda i: rows[i][0], 2)
    assert out.read_text() == "group,value,place\n" + "".join(texts[i] for i in wanted)
    told = read_json(stats)
    assert (told["runs"] > 1) == are_stored
    assert (told["rows"], told["rows_beyond_limit"]) == (len(rows), len(rows) - len(wanted))


def first_of_groups(ordered: Sequence[int], group: Callable[[int], Any], limit: int) -> list[int]:
    return [i for _, rows in itertools.groupby(ordered, group) for i in itertools.islice(rows, limit)]


# Groups as large as several buffers, and of one row.
@pytest.mark.parametrize("limit", [0, 1, 3, 5_000, N])
@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("csv by two keys", lambda i: TABLE[i][0]),
        ("jsonl by two keys", lambda i: TABLE[i][0]),
        ("lines by two fields", city_of_line),
    ],
)
def test_the_first_of_each_group(
    run: Run, inputs: Path, tmp_path: Path, name: str, group: Callable[[int], Any], limit: int
) -> None:
    words, rows, top, _ = SORTS[name]
    ordered = in_order(name)
    stats = tmp_path / "stats"
    words = [*words, "--limit", str(limit), "--by-group", *LEAST, "--quiet"]
    succeeded(run(*words, inputs / words[0], "-o", tmp_path / "out", "--stats", stats))
    wanted = first_of_groups(ordered, group, limit)
    assert (tmp_path / "out").read_text() == top + "".join(rows[i] for i in wanted)
    unit = "lines" if words[0] == "lines" else "rows"
    told = read_json(stats)
    assert (told[unit], told[f"{unit}_beyond_limit"], told[f"{unit}_dropped"]) == (N, N - len(wanted), 0)


def test_rows_that_no_group_needs_do_not_end_the_reading(run: Run, tmp_path: Path) -> None:
    """After groups that no longer shrink whole buffers of rows lie behind their bounds; another group comes after them."""
    known, behind, last = (f"{'ab'[i % 2]},{i % 9}\n" for i in range(20_000)), "a,8\nb,8\n" * 100_000, "c,0\n"
    (tmp_path / "in").write_text("".join(known) + behind + last)
    words = ["lines", "-t,", "-k1,1", "-k2,2n", "--limit", "3000", "--by-group", *LEAST, "--quiet", "--stats", tmp_path / "stats"]
    succeeded(run(*words, tmp_path / "in", "-o", tmp_path / "out"))
    assert (tmp_path / "out").read_text().endswith("b,2\nc,0\n")
    assert read_json(tmp_path / "stats")["lines"] == 220_001


@functools.cache
def records_of_groups() -> list[bytes]:
    return sorted(some_records(), key=lambda record: (record[:14], 65535 - int.from_bytes(record[18:])))


@pytest.mark.parametrize("limit", [0, 1, 2, 40_000])
def test_the_first_records_of_each_group(run: Run, records: Path, tmp_path: Path, limit: int) -> None:
    words = [
        "--memory",
        "2MiB",
        "--record-size",
        "20",
        "--key",
        "0:14",
        "--key",
        "18:2:desc",
        "--limit",
        str(limit),
        "--by-group",
    ]
    succeeded(run("sort", *words, records, "-o", tmp_path / "out"))
    groups = itertools.groupby(records_of_groups(), lambda record: record[:14])
    assert (tmp_path / "out").read_bytes() == b"".join(r for _, group in groups for r in itertools.islice(group, limit))


def test_groups_of_one_key_and_of_sorted_files(run: Run, inputs: Path, tmp_path: Path) -> None:
    words, rows, top, key = SORTS["csv by two keys"]
    wanted = first_of_groups(in_order("csv by two keys"), lambda i: TABLE[i][:2], 1)
    out = tmp_path / "out"
    succeeded(run(*words, "--limit", "1", "--by-group=2", *LEAST, "--quiet", inputs / "csv", "-o", out))
    assert out.read_text() == top + "".join(rows[i] for i in wanted)
    parts = [tmp_path / f"part{i}" for i in range(3)]
    for number, part in enumerate(parts):
        part.write_text(top + "".join(rows[i] for i in sorted(range(number, N, 3), key=key)))
    succeeded(run(*words, "--merge", "--limit", "2", "--by-group", *LEAST, "--quiet", *parts, "-o", out))
    ordered = sorted(range(N), key=lambda i: (key(i)[:-1], i % 3, i))
    assert out.read_text() == top + "".join(rows[i] for i in first_of_groups(ordered, lambda i: TABLE[i][0], 2))


REFUSED = [
    (["csv", "--by", "city", "--by-group=1"], "a limit by group needs a limit"),
    (["csv", "--by", "city", "--limit", "3", "--by-group"], "a limit by group needs a key that makes the groups"),
    (["csv", "--by", "city", "--limit", "3", "--by-group=2"], "the order has only 1"),
    (["csv", "--by", "city", "--limit", "3", "--by-group=1", "--unique"], "leave --unique out"),
    (["csv", "--by", "city", "--limit", "3", "--count"], "--limit cannot be combined with --count"),
    (["csv", "--by", "city", "--limit", "3", "--unique", "--keep", "last"], "the last of equal rows"),
    (["csv", "--by", "city", "--limit", "3", "--resumable"], "--limit cannot be combined with --resumable"),
    (["csv", "--by", "city", "--limit", "3", "--check"], "--check sorts nothing"),
    (["csv", "--by", "city", "--limit", "-1"], "--limit: '-1' is not a whole number"),
    (["csv", "--by", "city", "--limit", "18446744073709551616"], "--limit: '18446744073709551616' is too large a number"),
    (["lines", "--limit", "3", "--inplace"], "--limit is not available in place"),
    (["lines", "--limit", "3", "-c"], "--limit: -c sorts nothing"),
    (["sort", "--limit", "3", "--resumable"], "--limit cannot be combined with --resumable"),
    (["sort", "--limit", "3", "--keep-free", "1MiB"], "--limit cannot be combined with --keep-free"),
]


@pytest.mark.parametrize(("words", "line"), REFUSED, ids=lambda of: " ".join(of) if isinstance(of, list) else "")
def test_what_is_refused(run: Run, inputs: Path, tmp_path: Path, words: list[str], line: str) -> None:
    done = run(*words, inputs / "csv", *([] if {"--check", "-c", "--inplace"} & {*words} else ["-o", tmp_path / "out"]))
    assert (done.returncode, done.stderr.count("\n"), line in done.stderr) == (2, 1, True), done.stderr
