"""`ecosort sort --compress`: runs of records that are compressed change nothing but their size, and report what came of it."""

import random
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pairs import turns
from sort_support import (
    MIB,
    OVERHEAD_BYTES,
    Require,
    Run,
    expected,
    listing,
    make_records,
    mounted,
    read_json,
    refused,
    sanitizers,
    succeeded,
)

CODECS = ["lz4", "zstd", "zstd:3"]
SMALL = ["--memory", "4MiB"]


@pytest.fixture(scope="session", name="ascii_data")
def _ascii_data(ecosort: Path) -> bytes:
    return make_records(ecosort, "ascii", 100_000)


def numbered(count: int, size: int = 16) -> bytes:
    """A random key of eight bytes, and the number of the record."""
    rng = random.Random(count)
    return b"".join(struct.pack(">QQ", rng.getrandbits(64), i).ljust(size, b"\0")[:size] for i in range(count))


def packing(run: Run, directory: Path, data: bytes, *words: str) -> dict[str, Any]:
    """Returns what --stats says of the runs; the sort goes well, says nothing and leaves nothing."""
    (directory / "in").write_bytes(data)
    (directory / "runs").mkdir(exist_ok=True)
    succeeded(run("sort", "in", "-o", "out", "--temp", "runs", "--stats", "stats", *words, cwd=directory))
    assert listing(directory / "runs") == []
    stats = read_json(directory / "stats")
    return {**(stats["compression"]["runs"] or {}), "stats": stats}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    "words",
    [[], ["--unique", "--reverse"], ["--stable", "--key", "12:4"], ["--threads", "1"], ["--key", "98:1", "--key", "3:5:desc"]],
    ids=" ".join,
)
def test_the_output_is_the_same(run: Run, tmp_path: Path, ascii_data: bytes, codec: str, words: list[str]) -> None:
    told = packing(run, tmp_path, ascii_data, *SMALL, "--compress", codec, *words)
    compressed = (tmp_path / "out").read_bytes()
    plain = packing(run, tmp_path, ascii_data, *SMALL, *words)
    assert compressed == (tmp_path / "out").read_bytes()
    assert "codec" not in plain
    assert told["asked"] == told["codec"] == (codec if ":" in codec or codec == "lz4" else "zstd:1")
    assert (told["goal"], told["because"], told["transposed"]) == ("time", "asked for", True)
    assert told["packed_blocks"] == told["blocks"] > 50
    assert told["stored_bytes"] < told["plain_bytes"] / 2
    assert told["stats"]["hash"] == plain["stats"]["hash"]
    stored = plain["stats"]["runs_in_inputs"] == 0  # records with equal keys are in order: only a named codec stores them
    for key in ("bytes_read", "bytes_written"):
        assert not stored or told["stats"][key] < plain["stats"][key] - len(ascii_data) / 4, key


def test_against_an_oracle(run: Run, tmp_path: Path, ascii_data: bytes, backend: str) -> None:
    told = packing(run, tmp_path, ascii_data, *SMALL, "--compress=lz4", "--io", backend)
    assert told["packed_blocks"] > 0
    assert (tmp_path / "out").read_bytes() == expected(ascii_data)


def test_numbers_and_their_places(run: Run, tmp_path: Path) -> None:
    data = numbered(300_000)
    told = packing(run, tmp_path, data, *SMALL, "--record-size=16", "--key=0:u64be", "--compress=lz4")
    assert told["transposed"]
    assert told["stored_bytes"] < told["plain_bytes"] * 0.85
    assert (tmp_path / "out").read_bytes() == expected(data, 16, ["0:8"])


def test_random_bytes_are_stored_as_they_are(run: Run, tmp_path: Path) -> None:
    data = random.Random(3).randbytes(10_000_000)
    told = packing(run, tmp_path, data, *SMALL, "--record-size=100", "--compress=lz4")
    assert told["packed_blocks"] <= told["stats"]["runs"]  # the last block of a run, which is not full
    assert told["stored_bytes"] > told["plain_bytes"]
    assert (tmp_path / "out").read_bytes() == expected(data)


def test_equal_records(run: Run, tmp_path: Path, ecosort: Path) -> None:
    data = make_records(ecosort, "all equal", 80_000)
    told = packing(run, tmp_path, data, *SMALL, "--compress=zstd")
    assert told["packed_blocks"] == told["blocks"]
    assert (tmp_path / "out").read_bytes() == expected(data)
    told = packing(run, tmp_path, b"the same record. " * 500_000, *SMALL, "--compress=lz4", "--record-size=17", "--key=0:17")
    assert told["stored_bytes"] < told["plain_bytes"] / 4
    assert (tmp_path / "out").read_bytes() == b"the same record. " * 500_000


@pytest.mark.parametrize("size", [1, 2, 3, 8, 15, 31, 64, 333, 4096, 10_007, 100_000])
def test_every_class_of_record_sizes(run: Run, tmp_path: Path, size: int) -> None:
    rng = random.Random(size)
    count = (4_000_000 if size < 4_000 else 24_000_000) // (size + 15)
    some = [bytes(rng.choices(b"abcd", k=min(size, 24))).ljust(size, b".") for _ in range(min(count, 10_000))]
    data = b"".join(rng.choices(some, k=count))
    key = f"0:{min(size, 20)}"
    words = ["--record-size", str(size), "--key", key, "--compress=lz4", "--memory", "4MiB" if size < 4_000 else "12MiB"]
    told = packing(run, tmp_path, data, *words)
    assert (tmp_path / "out").read_bytes() == expected(data, size, [key])
    assert told["stored_bytes"] < told["plain_bytes"]


def test_several_passes(run: Run, tmp_path: Path) -> None:
    rng = random.Random(9)
    data = b"".join(rng.randbytes(20).ljust(20_000, b"-") for _ in range(1_000))
    words = ["--record-size=20000", "--compress=lz4", "--memory", "3MiB"]
    told = packing(run, tmp_path, data, *words)
    stats = told["stats"]
    assert stats["plan"]["shape"] == "more than two passes"
    assert told["packed_blocks"] == told["blocks"]
    assert told["plain_bytes"] > 1.2 * len(data)
    assert stats["peak_temp_bytes"] <= stats["plan"]["temp_bytes"]
    assert (tmp_path / "out").read_bytes() == expected(data, 20_000)


def test_a_stream(run: Run, tmp_path: Path, ascii_data: bytes) -> None:
    (tmp_path / "in").write_bytes(ascii_data)
    for codec in ("lz4", "auto"):
        words = ["sort", "-", "-o", "out", "--memory=4MiB", f"--compress={codec}", "--stats", "stats"]
        with (tmp_path / "in").open("rb") as file:
            feed = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
            succeeded(run(*words, cwd=tmp_path, stdin=feed.stdout))
            assert feed.wait() == 0
        assert (tmp_path / "out").read_bytes() == expected(ascii_data)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_striped_over_drives(run: Run, require: Require, tmp_path: Path, ascii_data: bytes, threads: int) -> None:
    require("loop_mount")
    (tmp_path / "in").write_bytes(ascii_data)
    with mounted(tmp_path, "ext4", 24 * MIB) as one, mounted(tmp_path, "ext4", 48 * MIB) as other:
        words = ["--temp", one.root, "--temp", other.root, "--compress=lz4", "--threads", str(threads), "--stats", "stats"]
        succeeded(run("sort", "in", "-o", "out", *SMALL, *words, cwd=tmp_path))
        assert listing(one.root, other.root) == []
    assert read_json(tmp_path / "stats")["compression"]["runs"]["packed_blocks"] > 50
    assert (tmp_path / "out").read_bytes() == expected(ascii_data)


def needed(line: str) -> int:
    return int(line.split(" bytes) needed")[0].rsplit("(", 1)[1])


@pytest.mark.parametrize(("kind", "memory"), turns(["ext4", "xfs"], ["4MiB", "16MiB"]))
def test_the_space_that_is_asked_for_is_enough(
    run: Run, require: Require, tmp_path: Path, ecosort: Path, kind: str, memory: str
) -> None:
    """Runs and output on one drive: the worst case is reserved, and what compression saves goes to the output."""
    require("loop_mount")
    if kind == "xfs":
        require("xfs")
    data = make_records(ecosort, "ascii", 400_000)
    (tmp_path / "in").write_bytes(data)
    with mounted(tmp_path, kind, {"ext4": 128 * MIB, "xfs": 320 * MIB}[kind]) as drive:
        words = ("sort", tmp_path / "in", "-o", drive.root / "out", "--memory", memory, "--compress=lz4")
        drive.fill_until(8 * MIB)
        need = needed(refused(run(*words), 2, "not enough"))
        drive.fill_until(need)
        succeeded(run(*words, "--stats", tmp_path / "stats"))
        assert (drive.root / "out").read_bytes() == expected(data)
    stats = read_json(tmp_path / "stats")
    assert stats["compression"]["runs"]["packed_blocks"] > 0
    assert stats["peak_temp_bytes"] == stats["plan"]["temp_bytes"]


def test_space_that_only_compressed_runs_fit_in(run: Run, require: Require, tmp_path: Path, ecosort: Path) -> None:
    require("loop_mount")
    data = make_records(ecosort, "ascii", 300_000)
    with mounted(tmp_path, "ext4", 24 * MIB) as drive:
        (tmp_path / "in").write_bytes(data)
        words = ["sort", "in", "-o", "out", *SMALL, "--record-size=100", "--temp", str(drive.root), "--compress=lz4"]
        refused(run(*words, cwd=tmp_path), 2, "not enough temporary space")
        succeeded(run(*words, "--assume-ratio=2", cwd=tmp_path))
        assert (tmp_path / "out").read_bytes() == expected(data)
        (tmp_path / "out").unlink()
        # The assumption is wrong: nothing is lost, and nothing is left.
        noise = random.Random(26).randbytes(30_000_000)
        (tmp_path / "in").write_bytes(noise)
        line = refused(run(*words, "--assume-ratio=2", cwd=tmp_path), 3, "No space left on device")
        assert "runs shrink less than was assumed" in line
        assert (tmp_path / "in").read_bytes() == noise
        assert listing(drive.root) == []
        assert not (tmp_path / "out").exists()


def test_the_plan_tells(run: Run, tmp_path: Path) -> None:
    def plan(*words: str, size: str = "1TB") -> dict[str, Any]:
        (tmp_path / "plan").write_text(run("plan", "sort", "--json", "--assume-size", size, *words, cwd=tmp_path).stdout)
        return read_json(tmp_path / "plan")

    text = run("plan", "sort", "--assume-size=1TB", "--memory=1GiB", "--compress=zstd:3", cwd=tmp_path).stdout
    assert "compressed runs     zstd:3; " in text
    assert "bytes moved per input byte at most" in text
    assert "coders of runs, and their index" in text
    assert plan("--memory=1GiB")["compression"] is None
    auto = plan("--memory=1GiB", "--compress=auto")
    assert (auto["compression"]["asked"], auto["compression"]["goal"]) == ("auto", "time")
    for phase in ("memory_merge", "memory_formation"):
        assert auto[phase]["coders of runs, and their index"] == auto["compression"]["memory_bytes"]
        assert sum(auto[phase].values()) <= auto["peak_memory_bytes"] <= auto["memory_limit_bytes"]
    assert plan("--memory=40MiB", "--compress=auto", size="1GB")["compression"]["asked"] == "auto"
    assert plan("--memory=12MiB", "--compress=auto", size="1GB")["compression"] is None, "larger blocks cost more merging"
    text = run("plan", "sort", "--assume-size=1GB", "--memory=12MiB", "--compress=auto", cwd=tmp_path).stdout
    assert "compressed runs     none: in so little memory it would cost more than it saves" in text
    lz4, assumed = (plan("--memory=1GiB", "--compress=lz4", *words) for words in ((), ("--assume-ratio=2.5",)))
    assert assumed["compression"]["assumed_ratio"] == 2.5
    assert assumed["temp_bytes"] == pytest.approx(lz4["temp_bytes"] / 2.5, rel=1e-3)


def test_what_fits_the_memory_makes_no_runs(run: Run, tmp_path: Path, ascii_data: bytes) -> None:
    told = packing(run, tmp_path, ascii_data, "--memory=64MiB", "--compress=lz4")
    assert "codec" not in told
    assert told["stats"]["plan"]["compression"] is None
    assert (tmp_path / "out").read_bytes() == expected(ascii_data)


def test_auto_tells_what_it_chose_and_why(run: Run, tmp_path: Path, ecosort: Path) -> None:
    data = make_records(ecosort, "ascii", 800_000)
    told = packing(run, tmp_path, data, "--memory=40MiB", "--compress=auto")
    assert told["asked"] == "auto"
    assert told["codec"] in ("none", "lz4", "zstd:1")
    assert "drives move" in told["because"]
    assert "x smaller" in told["because"] or "no codec would" in told["because"]
    assert (tmp_path / "out").read_bytes() == expected(data)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--compress=zstd:20"], "zstd has levels 1 to 19"),
        (["--compress=gzip"], "'gzip' is none of auto, none, prefix, lz4, zstd and zstd:LEVEL"),
        (["--assume-ratio=2"], "a ratio can be assumed of runs that are compressed"),
        (["--compress=none", "--assume-ratio=2"], "a ratio can be assumed of runs that are compressed"),
        (["--compress=lz4", "--resumable", "--temp", "."], "leave --temp out"),
        (["--goal=fun"], "'fun' is none of time, energy"),
        (["--goal=energy"], "give --compress=auto with it"),
        (["--compress=auto", "--goal=energy", "--no-profile"], "a profile that knows watts"),
        (["--compress=zstd:19", "--memory=2MiB"], "of memory is too little for this input: at least"),
    ],
)
def test_what_cannot_be_is_refused(run: Run, tmp_path: Path, ascii_data: bytes, words: list[str], message: str) -> None:
    (tmp_path / "in").write_bytes(ascii_data)
    refused(run("sort", "in", "-o", "out", *words, cwd=tmp_path), 2, message)
    assert listing(tmp_path) == [str(tmp_path / "in")]


@pytest.mark.parametrize("command", [["inplace"], ["plan", "inplace"]])
def test_in_place_is_refused_with_the_reason(run: Run, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "in").write_bytes(b"x" * 1000)
    refused(
        run(*command, "--compress=lz4", "in", cwd=tmp_path), 2, "--compress is not available in place", "the space of the records"
    )
    assert (tmp_path / "in").read_bytes() == b"x" * 1000


@pytest.mark.parametrize("codec", ["lz4", "zstd:9"])
def test_memory_holds(run: Run, tmp_path: Path, ecosort: Path, codec: str) -> None:
    if sanitizers():
        pytest.skip("sanitizers take memory of their own")
    told = packing(run, tmp_path, make_records(ecosort, "ascii", 500_000), "--memory=16MiB", "--compress", codec)
    assert told["packed_blocks"] > 0
    stats = told["stats"]
    assert stats["peak_counted_memory_bytes"] <= 16 * MIB
    assert stats["peak_rss_bytes"] <= 16 * MIB + OVERHEAD_BYTES
