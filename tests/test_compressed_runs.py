"""`--compress`: temporary runs that are compressed change nothing but their size, and report what came of it."""

import functools
import random
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from capabilities import only_in_soak
from lines_support import SORT, assert_same, run
from pairs import turns
from sort_support import MIB, listing, mounted, read_json, sanitizers

CODECS = ["prefix", "lz4", "zstd", "zstd:3"]
SMALL = ["-S", "4M"]


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs go there; nothing is left."""
    directory = tmp_path / "runs"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    return directory


LINES_OF_A_NET = 60_000


@functools.cache
def log_lines(count: int, seed: int = 1) -> bytes:
    """Many are those of a few, each from several nets."""
    if count > LINES_OF_A_NET:
        nets = range(count // LINES_OF_A_NET)
        return b"".join(log_lines(LINES_OF_A_NET, seed).replace(b"10.0.", b"10.%d." % net) for net in nets)
    rng = random.Random(seed)
    pages = [b"/articles/%d/index.html" % i for i in range(200)]
    values = (rng.choices(one, k=count) for one in (range(4), range(256), range(60), range(60), pages, range(9999)))
    line = b'10.0.%d.%d - - [24/Nov/2026:10:%02d:%02d +0000] "GET %s HTTP/1.1" 200 %d\n'
    return b"".join(map(line.__mod__, zip(*values, strict=True)))


@pytest.fixture(name="log")
def _log(tmp_path: Path) -> bytes:
    text = log_lines(60_000)
    (tmp_path / "in").write_bytes(text)
    return text


def packing(ecosort: Path, directory: Path, words: Sequence[str], command: str = "lines") -> dict[str, Any]:
    """Returns what --stats says of the runs; the sort goes well and says nothing."""
    done = run([str(ecosort), command], [*words, "--stats", "stats"], directory)
    assert (done[0], done[2]) == (0, ""), done
    assert listing(directory / "runs") == []
    stats = read_json(directory / "stats")
    runs = stats["compression"]["runs"]
    return {**runs, "stats": stats} if runs else {"stats": stats}


ORDERS = [[], ["-r", "-u"], ["-s", "-k6,6", "-k1,1"], ["--batch-size=2"], ["--parallel=1"]]


@functools.lru_cache(maxsize=2)
def as_sort_has_it(log: bytes, words: tuple[str, ...]) -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        return run([SORT], list(words), Path(directory), log)[1]


@pytest.mark.parametrize(
    ("codec", "words"),
    [
        # Levels differ in what the codec does; what calls it is the same.
        pytest.param(codec, words, marks=only_in_soak if codec == "zstd:3" and words[:1] != ["--batch-size=2"] else ())
        for words in ORDERS
        for codec in CODECS
    ],
)
def test_the_output_is_that_of_sort(ecosort: Path, tmp_path: Path, log: bytes, codec: str, words: list[str]) -> None:
    told = packing(ecosort, tmp_path, [*words, *SMALL, f"--compress={codec}", "in", "-o", "out"])
    assert (tmp_path / "out").read_bytes() == as_sort_has_it(log, tuple(words))
    assert told["asked"] == told["codec"] == codec.replace("zstd", "zstd:1") or codec == "zstd:3"
    assert told["stats"]["runs"] > 3
    if codec == "prefix":  # these lines share little, and each block takes whole pages
        assert told["packed_blocks"] > 0
        return
    assert told["packed_blocks"] >= told["blocks"] * 0.9
    assert told["stored_bytes"] < told["plain_bytes"] / 2
    assert told["stats"]["peak_temp_bytes"] < len(log) * (2 if "--batch-size=2" in words else 1)


def rows_that_share(length: int, end: bytes, seed: int) -> list[bytes]:
    """Rows of which many begin with the same `length` bytes; some are empty, equal, or hold NUL, and some end within these."""
    rng = random.Random(seed)
    beginning = bytes(rng.choice(b"ab/\0" if end == b"\n" else b"ab/\n") for _ in range(length))
    count = max((1_000_000 if length < 100 else 3_000_000) // (length + 8), 12)
    rows = [beginning + b"%d" % rng.randrange(count) for _ in range(count)]
    return rows + [b""] * 3 + [beginning[: rng.randrange(length + 1)] for _ in range(count // 8)]


# Blocks begin and end anywhere in rows of these lengths, and within what they share.
@pytest.mark.parametrize(
    ("length", "words"),
    turns([0, 1, 15, 90, 254, 255, 4_090, 20_000, 1_000_000], [[], ["-r"], ["-u"], ["-z", "-u", "-r"]], rounds=2),
)
def test_rows_without_what_they_share_come_back(ecosort: Path, tmp_path: Path, length: int, words: list[str]) -> None:
    end = b"\0" if "-z" in words else b"\n"
    rows = rows_that_share(length, end, length)
    (tmp_path / "in").write_bytes(b"".join(row + end for row in rows))
    memory = "1500K" if length < 100 else "4M" if length < 100_000 else "8M"
    told = packing(ecosort, tmp_path, [*words, "-S", memory, "--compress=prefix", "in", "-o", "out"])
    expected = sorted(set(rows) if "-u" in words else rows, reverse="-r" in words)
    assert (tmp_path / "out").read_bytes() == b"".join(row + end for row in expected)
    if 15 <= length <= 4_090:
        assert told["stored_bytes"] < told["plain_bytes"] * 0.8
        assert (told["codec"], told["truncated"]) == ("prefix", True)


def test_truncation_stands_in_front_of_a_codec_where_that_makes_less(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"\n".join([*rows_that_share(200, b"\n", 1), b"end\n"]))
    sizes = {}
    for codec in ("prefix", "lz4"):
        told = packing(ecosort, tmp_path, ["--memory=32MiB", f"--compress={codec}", "--batch-size=4", *["in"] * 16, "-o", codec])
        sizes[codec] = told["stored_bytes"]
        assert told["truncated"]
    assert sizes["lz4"] < sizes["prefix"] < told["plain_bytes"] / 8
    assert (tmp_path / "prefix").read_bytes() == (tmp_path / "lz4").read_bytes()


@pytest.mark.parametrize("backend", ["uring", "pool"])
def test_every_backend(ecosort: Path, tmp_path: Path, log: bytes, backend: str) -> None:
    told = packing(ecosort, tmp_path, ["--io", backend, *SMALL, "--compress=lz4", "in", "-o", "out"])
    assert told["packed_blocks"] > 0
    assert (tmp_path / "out").read_bytes() == b"".join(sorted(log.splitlines(keepends=True)))


def test_fewer_bytes_move(ecosort: Path, tmp_path: Path, log: bytes) -> None:
    plain = packing(ecosort, tmp_path, [*SMALL, "--compress=none", "in", "-o", "out"])["stats"]
    told = packing(ecosort, tmp_path, [*SMALL, "--compress=lz4", "in", "-o", "out"])
    assert "codec" not in packing(ecosort, tmp_path, [*SMALL, "--compress=none", "in", "-o", "out"])
    for key in ("bytes_read", "bytes_written"):
        assert told["stats"][key] < plain[key] - len(log) / 3, key
    assert told["stats"]["hash"] == plain["hash"]


def test_what_does_not_shrink_is_stored_as_it_is(ecosort: Path, tmp_path: Path) -> None:
    data = random.Random(3).randbytes(8 * MIB)
    (tmp_path / "in").write_bytes(data)
    told = packing(ecosort, tmp_path, [*SMALL, "--compress=lz4", "in", "-o", "out"])
    assert told["packed_blocks"] < told["blocks"] / 20  # the shortest lines shrink
    assert told["stored_bytes"] > told["plain_bytes"] * 0.98
    assert (tmp_path / "out").read_bytes() == run([SORT], ["in"], tmp_path)[1]
    # And blocks of both kinds in one run.
    (tmp_path / "in").write_bytes(data + log_lines(60_000))
    told = packing(ecosort, tmp_path, [*SMALL, "--compress=lz4", "in", "-o", "out"])
    assert 0 < told["packed_blocks"] < told["blocks"]
    assert (tmp_path / "out").read_bytes() == run([SORT], ["in"], tmp_path)[1]


@functools.cache
def tables() -> tuple[tuple[bytes, bytes], tuple[bytes, bytes]]:
    """Makes rows of CSV and of JSON, each in no order and in that of their numbers."""
    rng = random.Random(5)
    numbers = rng.choices(range(10**6), k=120_000)
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    states = rng.choices([b"paid", b"open"], k=len(numbers))
    rows = [b'%d,"user, %d",%s\n' % (number, i % 50, states[i]) for i, number in enumerate(numbers)]
    objects = [b'{"id": %d, "name": "user %d"}\n' % (number, i % 50) for i, number in enumerate(numbers)]
    head = b"id,name,state\n"
    return (
        (head + b"".join(rows), head + b"".join(rows[i] for i in order)),
        (b"".join(objects), b"".join(objects[i] for i in order)),
    )


@pytest.mark.parametrize("codec", CODECS)
def test_tables(ecosort: Path, tmp_path: Path, codec: str) -> None:
    (csv, ordered_csv), (json, ordered_json) = tables()
    (tmp_path / "in.csv").write_bytes(csv)
    words = ["--by", "id:integer", "--memory", "4MiB", "in.csv", "-o", "out.csv", "-q"]
    told = packing(ecosort, tmp_path, [*words, f"--compress={codec}"], "csv")
    assert told["packed_blocks"] > 0
    assert (tmp_path / "out.csv").read_bytes() == ordered_csv
    (tmp_path / "in.jsonl").write_bytes(json)
    words = ["--by", "id:integer", "--memory", "4MiB", "in.jsonl", "-o", "out.jsonl", "-q", f"--compress={codec}"]
    assert packing(ecosort, tmp_path, words, "jsonl")["packed_blocks"] > 0
    assert (tmp_path / "out.jsonl").read_bytes() == ordered_json


def test_a_merge_of_many_files_packs_what_it_stores(ecosort: Path, tmp_path: Path) -> None:
    names = []
    for i in range(6):
        names.append(f"in{i}")
        (tmp_path / names[-1]).write_bytes(b"".join(sorted(log_lines(5000, i).splitlines(keepends=True))))
    told = packing(ecosort, tmp_path, ["-m", "--batch-size=2", *SMALL, "--compress=lz4", *names, "-o", "out"])
    assert told["packed_blocks"] > 0
    assert (tmp_path / "out").read_bytes() == run([SORT], ["-m", *names], tmp_path)[1]


def test_auto_tells_what_it_chose_and_why(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(log_lines(360_000))
    told = packing(ecosort, tmp_path, ["--memory=16MiB", "in", "-o", "out"])
    assert told["asked"] == "auto"
    assert told["codec"] in ("none", "lz4", "zstd:1")
    assert "drives move" in told["because"]
    assert "x smaller" in told["because"] or "no codec would" in told["because"]
    assert (tmp_path / "out").read_bytes() == run([SORT], ["in"], tmp_path)[1]


def test_auto_leaves_small_memory_and_small_inputs_alone(ecosort: Path, tmp_path: Path, log: bytes) -> None:
    assert "codec" not in packing(ecosort, tmp_path, [*SMALL, "in", "-o", "out"])
    assert "codec" not in packing(ecosort, tmp_path, ["-S", "64M", "--compress=lz4", "in", "-o", "out"])
    assert (tmp_path / "out").read_bytes() == b"".join(sorted(log.splitlines(keepends=True)))


@pytest.mark.parametrize("option", ["--compress-program=lz4", "--compress-program=zstd", "--compress=lz4"])
@pytest.mark.usefixtures("log")
def test_programs_of_built_in_codecs_are_not_started(
    ecosort: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    expected = run([SORT], ["in"], tmp_path)[1]
    monkeypatch.setenv("PATH", str(tmp_path))
    told = packing(ecosort, tmp_path, [*SMALL, option, "in", "-o", "out"])
    assert told["packed_blocks"] > 0
    assert (tmp_path / "out").read_bytes() == expected


def test_other_words_are_programs_as_for_sort(ecosort: Path, tmp_path: Path, log: bytes) -> None:
    assert_same(ecosort, tmp_path, [*SMALL, "--compress=gzip", "in"], log)
    code, _, error = run([str(ecosort), "lines"], [*SMALL, "--compress=no-such-program", "in"], tmp_path)
    assert (code, "cannot run the compress program 'no-such-program'" in error) == (2, True)


@pytest.mark.usefixtures("log")
def test_what_cannot_be_is_refused(ecosort: Path, tmp_path: Path) -> None:
    for words, message in [
        (["--compress=zstd:20"], "zstd has levels 1 to 19"),
        (["--compress=lz4", "--compress-program=gzip"], "both say how runs are compressed"),
        (["--compress=none", "--assume-ratio=2"], "a ratio can be assumed of runs that are compressed"),
        (["--assume-ratio=half", "--compress=lz4"], "'half' is no number from 1 to 1000"),
        (["--compress=auto", "--goal=energy", "--resumable"], "--goal energy "),
        (["-S", "1M", "--compress=zstd:19"], "too little for that and the sort"),
    ]:
        code, _, error = run([str(ecosort), "lines"], [*words, "in", "-o", "out"], tmp_path)
        assert (code, message in error) == (2, True), error
        assert error.count("\n") == 1
    done = subprocess.run(
        [ecosort, "csv", "--by=1", "--no-header", "--compress=gzip", "in", "-o", "out"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, b"'gzip' is none of auto, none, prefix, lz4, zstd and zstd:LEVEL" in done.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("log")
def test_the_plan_tells(ecosort: Path, tmp_path: Path) -> None:
    def plan(*words: str) -> str:
        done = subprocess.run([ecosort, "plan", "lines", *words], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout

    assert "compressed runs       zstd:3; " in plan(*SMALL, "--compress=zstd:3", "in", "-o", "out")
    assert "compressed runs       lz4 or zstd:1 where they pay; " in plan("-S", "64M", "--assume-size=1TB")
    assert "compressed runs" not in plan("-S", "64M", "--assume-size=1TB", "--compress=none")

    def temporary_bytes(*words: str) -> int:
        text = plan("-S", "64M", "--assume-size=1TB", "--compress=lz4", *words)
        return int(re.search(r"temporary space .*\((\d+) bytes\)", text)[1])  # type: ignore[index]

    assert temporary_bytes("--assume-ratio=2.5") == pytest.approx(temporary_bytes() / 2.5, abs=4096)


def test_space_that_only_compressed_runs_fit_in(ecosort: Path, tmp_path: Path, require: Callable[[str], None]) -> None:
    require("loop_mount")
    text = log_lines(300_000)
    with mounted(tmp_path, "ext4", 16 * MIB) as drive:
        (tmp_path / "in").write_bytes(text)
        words = [*SMALL, "-T", str(drive.root), "--compress=lz4", "in", "-o", "out"]
        code, _, error = run([str(ecosort), "lines"], words, tmp_path)
        assert (code, "not enough temporary space" in error) == (2, True), error
        assert run([str(ecosort), "lines"], ["--assume-ratio=2.5", *words], tmp_path) == (0, b"", "")
        assert (tmp_path / "out").read_bytes() == run([SORT], ["in"], tmp_path)[1]
        (tmp_path / "out").unlink()
        # The assumption is wrong: nothing is lost, and nothing is left.
        noise = random.Random(26).randbytes(20 * MIB)
        (tmp_path / "in").write_bytes(noise)
        code, _, error = run([str(ecosort), "lines"], ["--assume-ratio=2.5", *words], tmp_path)
        assert code == 2
        assert "No space left on device" in error
        assert "runs shrink less than was assumed" in error
        assert error.count("\n") == 1
        assert (tmp_path / "in").read_bytes() == noise
        assert listing(drive.root) == []
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("codec", ["lz4", "zstd:9"])
def test_memory_holds(ecosort: Path, tmp_path: Path, codec: str) -> None:
    if sanitizers():
        pytest.skip("sanitizers take memory of their own")
    (tmp_path / "in").write_bytes(log_lines(360_000))
    told = packing(ecosort, tmp_path, ["--memory=16MiB", f"--compress={codec}", "in", "-o", "out"])
    assert told["packed_blocks"] > 0
    stats = told["stats"]
    assert stats["peak_counted_memory_bytes"] <= 16 * MIB
    assert stats["peak_rss_bytes"] <= 48 * MIB


def test_runs_whose_rows_are_too_long_to_be_merged_say_with_how_much_memory_they_could(ecosort: Path, tmp_path: Path) -> None:
    """Codecs take a part of the memory, so that rows of a quarter of it do not fit."""
    lines = [b"%d" % number + b"x" * 524_200 + b"\n" for number in (3, 1, 2, 5, 4)]

    def sort(memory: bytes) -> subprocess.CompletedProcess[bytes]:
        words = [ecosort, "lines", "-q", "--compress", "zstd", "-S", memory]
        return subprocess.run(words, input=b"".join(lines), capture_output=True, cwd=tmp_path, check=False)

    refused = sort(b"2M")
    assert refused.returncode == 2
    advice = re.search(rb"too long to be merged with this memory; try -S (\d+K)\n", refused.stderr)
    assert advice, refused.stderr
    assert sort(advice[1]).stdout == b"".join(sorted(lines))
