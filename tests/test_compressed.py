"""Compressed files as inputs and outputs of `ecosort lines` and `ecosort csv`, against the programs whose formats they are."""

import bz2
import fcntl
import functools
import gzip
import json
import lzma
import os
import random
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

import capabilities
import pytest
from csv_support import run_csv
from pairs import pairs
from sort_support import wait_until

Require = Callable[[str], None]

ENDINGS = {"gzip": "gz", "zstd": "zst", "lz4": "lz4", "xz": "xz", "bzip2": "bz2"}
PARALLEL = {"gzip": "pigz", "bzip2": "pbzip2"}  # programs that write several members
TRUNCATIONS = 400 if capabilities.SOAK else 50
FLIPS = 300 if capabilities.SOAK else 40


@pytest.fixture(autouse=True)
def _programs(require: Require) -> None:
    for program in (*ENDINGS, *PARALLEL.values()):
        require(program)


@functools.lru_cache(maxsize=64)
def text_of(lines: int, seed: int = 1) -> bytes:
    rng = random.Random(seed)
    return b"".join(b"%09d,%d,%s\n" % (rng.randrange(10**9), i, b"words" * rng.randrange(9)) for i in range(lines))


def names_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@functools.lru_cache(maxsize=64)
def ordered(text: bytes) -> bytes:
    return b"".join(sorted(text.splitlines(keepends=True)))


def encode(codec: str, text: bytes, *words: str) -> bytes:
    return subprocess.run([codec, *words, "-c"], input=text, capture_output=True, check=True).stdout


def decode(codec: str, data: bytes) -> bytes:
    return subprocess.run([codec, "-d", "-c"], input=data, capture_output=True, check=True).stdout


def reference(codec: str, data: bytes, directory: Path) -> tuple[bool, bytes]:
    """Returns whether the codec's own program takes it, perhaps with a warning, and what it makes of it."""
    name = directory / f"reference.{ENDINGS[codec]}"
    name.write_bytes(data)
    done = subprocess.run([codec, "-d", "-c", name], capture_output=True, check=False)
    return done.returncode == 0 or (codec == "gzip" and done.returncode == 2), done.stdout


def sort(
    ecosort: Path, directory: Path, *words: str, data: bytes | None = None, command: str = "lines"
) -> subprocess.CompletedProcess[bytes]:
    own = ["--decompress=auto"] if command == "lines" else ["--no-header", "--by", "1"]
    program = [str(ecosort), command, *own, *words]
    return subprocess.run(program, cwd=directory, input=data, capture_output=True, timeout=100, check=False)


def sorted_by(ecosort: Path, directory: Path, *words: str, data: bytes | None = None) -> bytes:
    done = sort(ecosort, directory, *words, data=data)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr
    return done.stdout


@pytest.mark.parametrize("codec", ENDINGS)
def test_what_the_programs_write_is_read(ecosort: Path, tmp_path: Path, codec: str) -> None:
    text = text_of(20_000)
    data = encode(codec, text)
    (tmp_path / f"in.{ENDINGS[codec]}").write_bytes(data)
    (tmp_path / "no ending").write_bytes(data)
    for words in ([f"in.{ENDINGS[codec]}"], ["no ending"], ["-S", "40M", f"in.{ENDINGS[codec]}"]):
        assert sorted_by(ecosort, tmp_path, *words) == ordered(text)
    assert sorted_by(ecosort, tmp_path, data=data) == ordered(text)


@pytest.mark.parametrize("codec", ENDINGS)
@pytest.mark.parametrize("level", ["least", "usual", "most"])
def test_the_programs_read_what_is_written(ecosort: Path, tmp_path: Path, codec: str, level: str) -> None:
    text = text_of(4_000)
    (tmp_path / "in").write_bytes(text)
    levels = {"gzip": (1, 12), "zstd": (1, 19), "lz4": (1, 12), "xz": (0, 9), "bzip2": (1, 9)}[codec]
    words = {"least": [f"--level={levels[0]}"], "usual": [], "most": [f"--level={levels[1]}"]}[level]
    name = f"out.{ENDINGS[codec]}"
    sorted_by(ecosort, tmp_path, "in", "-o", name, "--compress-output=auto", "--stats", "stats.json", *words)
    written = (tmp_path / name).read_bytes()
    assert decode(codec, written) == ordered(text)
    output = json.loads((tmp_path / "stats.json").read_text())["compression"]["output"]
    assert (output["codec"], output["compressed_bytes"], output["plain_bytes"]) == (codec, len(written), len(text))
    piped = sorted_by(ecosort, tmp_path, "in", f"--compress-output={codec}", *words)
    assert decode(codec, piped) == ordered(text)
    for wrong in (levels[0] - 1, levels[1] + 1):
        assert sort(ecosort, tmp_path, "in", f"--compress-output={codec}", f"--level={wrong}").returncode == 2


@pytest.mark.parametrize("codec", ENDINGS)
def test_members_follow_each_other(ecosort: Path, tmp_path: Path, codec: str) -> None:
    parts = [text_of(900, seed) for seed in range(4)]
    empty = encode(codec, b"")
    data = b"".join(encode(codec, part) + empty for part in parts)
    (tmp_path / "in").write_bytes(empty + data)
    assert sorted_by(ecosort, tmp_path, "in") == ordered(b"".join(parts))
    (tmp_path / "nothing").write_bytes(empty * 3)
    assert sorted_by(ecosort, tmp_path, "nothing") == b""
    sorted_by(ecosort, tmp_path, "nothing", "-o", "out", f"--compress-output={codec}")
    assert decode(codec, (tmp_path / "out").read_bytes()) == b""


def test_gzip_is_read_where_isal_is_not_installed(ecosort: Path, tmp_path: Path) -> None:
    """Then zlib decodes it. Its words for an invalid block are not those of ISA-L."""
    text = text_of(900)
    (tmp_path / "in.gz").write_bytes(gzip.compress(text))
    (tmp_path / "damaged.gz").write_bytes(gzip.compress(text)[:10] + b"\x07")
    (tmp_path / "libisal.so.2").write_text("no library")
    alone = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    words = [ecosort, "lines", "--decompress=auto"]
    done = subprocess.run([*words, "in.gz"], cwd=tmp_path, env=alone, capture_output=True, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, b"", ordered(text))
    refusals = [
        subprocess.run([*words, "damaged.gz"], cwd=tmp_path, env=env, capture_output=True, check=False).stderr
        for env in (os.environ, alone)
    ]
    assert b"it holds an invalid block" in refusals[0]
    assert b"invalid block type" in refusals[1]


BGZF_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")


def bgzf_blocks(data: bytes) -> list[int]:
    """Returns the sizes of the texts of all blocks, each found by the size that the one before says."""
    sizes, at = [], 0
    while at < len(data):
        assert data[at : at + 4] == b"\x1f\x8b\x08\x04", at
        assert data[at + 10 : at + 16] == b"\x06\0BC\x02\0", at
        size = struct.unpack_from("<H", data, at + 16)[0] + 1
        text = gzip.decompress(data[at : at + size])
        assert len(text) <= 1 << 16
        sizes.append(len(text))
        at += size
    assert at == len(data)
    return sizes


@pytest.mark.parametrize(
    "words", [["--compress-output=bgzf"], ["--compress-output=bgzf", "--level=12"], ["--compress-output=auto"]]
)
def test_bgzf(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    text = text_of(6_000) + b"".join(b"%s\n" % random.Random(i).randbytes(3_000).translate(None, b"\0\r\n") for i in range(40))
    (tmp_path / "in").write_bytes(text)
    sorted_by(ecosort, tmp_path, "in", "-o", "out.bgz", *words)
    written = (tmp_path / "out.bgz").read_bytes()
    assert gzip.decompress(written) == ordered(text)
    sizes = bgzf_blocks(written)
    assert len(sizes) > 4
    assert written.endswith(BGZF_END)
    assert sizes[-1] == 0
    assert sizes.count(0) == 1
    assert sorted_by(ecosort, tmp_path, "out.bgz") == ordered(text), "it is read again by its name"


def test_bgzf_of_nothing(ecosort: Path, tmp_path: Path) -> None:
    assert sorted_by(ecosort, tmp_path, "--compress-output=bgzf", data=b"") == BGZF_END


@pytest.mark.parametrize(
    "data",
    [b"", b"b\na\n", gzip.compress(b"b\na\n", mtime=0), BGZF_END, b"\x1f\x8b\x08\x04\0\0"],
    ids=["empty", "plain", "gzip", "bgzf", "cut"],
)
def test_the_name_of_bgzf_is_as_that_of_gzip(ecosort: Path, tmp_path: Path, data: bytes) -> None:
    said = []
    for name in ("in.gz", "in.bgz"):
        (tmp_path / name).write_bytes(data)
        done = sort(ecosort, tmp_path, name)
        said.append((done.returncode, done.stdout, done.stderr.replace(name.encode(), b"in")))
    assert said[0] == said[1]


def test_tabix_finds_rows_in_bgzf(ecosort: Path, tmp_path: Path, require: Require) -> None:
    require("tabix")
    require("bgzip")
    rng = random.Random(4)
    rows = [(rng.choice((b"chr1", b"chr2")), rng.randrange(1, 10**6), i) for i in range(20_000)]
    (tmp_path / "in.bed").write_bytes(b"".join(b"%s\t%d\t%d\tn%d\n" % (name, at, at + 5, i) for name, at, i in rows))
    sorted_by(ecosort, tmp_path, "in.bed", "-k1,1", "-k2,2n", "-o", "out.bed.gz", "--compress-output=bgzf")
    subprocess.run(["bgzip", "--test", "out.bed.gz"], cwd=tmp_path, check=True)
    subprocess.run(["tabix", "-p", "bed", "out.bed.gz"], cwd=tmp_path, check=True)
    found = subprocess.run(
        ["tabix", "out.bed.gz", "chr2:500001-510000"], cwd=tmp_path, check=True, capture_output=True
    ).stdout.splitlines()
    expected = sorted((at, i) for name, at, i in rows if name == b"chr2" and at < 510_000 and at + 5 > 500_000)
    assert len(expected) > 50
    assert sorted(int(row.split(b"\t")[1]) for row in found) == [at for at, _ in expected]


@pytest.mark.parametrize("codec", PARALLEL)
def test_members_of_parallel_programs(ecosort: Path, tmp_path: Path, codec: str) -> None:
    text = text_of(40_000)
    data = encode(PARALLEL[codec], text, *(["-b1"] if codec == "bzip2" else []))
    assert sorted_by(ecosort, tmp_path, data=data) == ordered(text)


def test_plain_and_compressed_inputs_mix(ecosort: Path, tmp_path: Path) -> None:
    text, names = b"", []
    for seed, codec in enumerate([*ENDINGS, None]):
        part = text_of(2_000, seed)[:-1]  # without the last newline: lines of two files never fuse
        names.append(f"part{seed}")
        (tmp_path / names[-1]).write_bytes(encode(codec, part) if codec else part)
        text += part + b"\n"
    assert sorted_by(ecosort, tmp_path, *names, "--stats", "stats.json") == ordered(text)
    inputs = json.loads((tmp_path / "stats.json").read_text())["compression"]["inputs"]
    assert [one["codec"] for one in inputs] == list(ENDINGS)
    for one in inputs:
        assert one["compressed_bytes"] == (tmp_path / one["name"]).stat().st_size
        assert one["plain_bytes"] < len(text)
    assert sorted_by(ecosort, tmp_path, "-u", *names, *names) == ordered(text)


def test_external_runs_in_little_memory(ecosort: Path, tmp_path: Path) -> None:
    text = text_of(60_000)
    (tmp_path / "in.gz").write_bytes(gzip.compress(text))
    (tmp_path / "in.lz4").write_bytes(encode("lz4", text, "-B4"))
    for name in ("in.gz", "in.lz4"):
        for codec in ("lz4", "zstd"):
            words = ["-S", "4M", name, "-o", "out", f"--compress-output={codec}", "--stats", "stats.json", "--parallel=2"]
            sorted_by(ecosort, tmp_path, *words)
            assert decode(codec, (tmp_path / "out").read_bytes()) == ordered(text)
            stats = json.loads((tmp_path / "stats.json").read_text())
            assert stats["peak_counted_memory_bytes"] <= stats["memory_limit_bytes"] == 4 << 20
            assert stats["peak_rss_bytes"] <= (4 << 20) + (32 << 20)
    assert sorted_by(ecosort, tmp_path, "-S", "1M", "in.gz", "--stats", "stats.json") == ordered(text)
    assert json.loads((tmp_path / "stats.json").read_text())["runs"] > 3


def test_too_little_memory_is_told_with_what_suffices(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in.xz").write_bytes(lzma.compress(text_of(10)))
    done = sort(ecosort, tmp_path, "-S", "4M", "in.xz")
    assert done.returncode == 2
    assert done.stdout == b""
    advice = done.stderr.decode().split("try ")[1].split()
    assert sorted_by(ecosort, tmp_path, advice[0], advice[1].replace("KiB", "K"), "in.xz") == ordered(text_of(10))
    piped = sort(ecosort, tmp_path, "-S", "4M", data=(tmp_path / "in.xz").read_bytes())
    assert (piped.returncode, piped.stderr.decode()) == (2, done.stderr.decode().replace("in.xz", "-"))
    twice = encode("xz", b"a\n", "-0") + (tmp_path / "in.xz").read_bytes()
    done = sort(ecosort, tmp_path, "-S", "4M", data=twice)
    assert done.returncode == 2
    assert b"more than the" in done.stderr
    done = sort(ecosort, tmp_path, "--decompress=never", "-S", "1M", "--compress-output=bzip2", data=b"a\n")
    assert done.returncode == 2
    assert b"bzip2 at level 9 takes" in done.stderr


@pytest.mark.parametrize("codec", ENDINGS)
def test_truncated_files_are_refused(ecosort: Path, tmp_path: Path, codec: str) -> None:
    data = encode(codec, text_of(700))
    name = tmp_path / f"in.{ENDINGS[codec]}"
    for size in sorted({len(data) * i // TRUNCATIONS for i in range(TRUNCATIONS)} | {1, 2, len(data) - 1}):
        name.write_bytes(data[:size])
        done = sort(ecosort, tmp_path, name.name, "-o", "out", command="csv")
        assert done.returncode == 3, size
        assert f"{name.name}: is truncated at byte {size} of the compressed file" in done.stderr.decode()
    assert names_in(tmp_path) == [name.name]


@pytest.mark.parametrize("codec", ENDINGS)
def test_flipped_bits_are_found_where_the_program_finds_them(ecosort: Path, tmp_path: Path, codec: str) -> None:
    text = text_of(700)
    data = encode(codec, text)
    name = tmp_path / f"in.{ENDINGS[codec]}"
    rng = random.Random(5)
    for bit in [*range(0, 80, 9), *rng.sample(range(len(data) * 8), FLIPS)]:
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        name.write_bytes(flipped)
        done = sort(ecosort, tmp_path, name.name, "-o", "out", command="csv")
        is_taken, plain = reference(codec, bytes(flipped), tmp_path)
        if done.returncode == 0:
            assert is_taken, bit
            assert (tmp_path / "out").read_bytes() == ordered(plain)
            (tmp_path / "out").unlink()
        else:
            told = done.stderr.decode()
            if is_taken:
                assert (done.returncode, " of the compressed file" in told) in ((2, False), (3, True)), told
            elif "memory" in told:  # a damaged head may ask for any
                assert done.returncode == 2
            else:
                assert (done.returncode, " of the compressed file" in told) == (3, True), (bit, told)  # no row is blamed for it
            assert not is_taken or plain != text, (bit, done.stderr)
        assert not (tmp_path / "out").exists()


def test_no_row_is_blamed_for_damage_when_order_is_checked(ecosort: Path, tmp_path: Path) -> None:
    data = bytearray(encode("bzip2", ordered(text_of(700))))
    data[len(data) // 2] ^= 0x55
    (tmp_path / "in.bz2").write_bytes(data)
    done = sort(ecosort, tmp_path, "--check", "in.bz2", command="csv")
    assert (done.returncode, b"in.bz2: is damaged at byte " in done.stderr) == (3, True), done.stderr


@pytest.mark.parametrize("codec", ENDINGS)
def test_no_row_is_blamed_for_damage_when_files_are_merged(ecosort: Path, tmp_path: Path, codec: str) -> None:
    (tmp_path / "whole.csv").write_bytes(ordered(text_of(100)))
    whole, name, rng = encode(codec, ordered(text_of(700, 2))), f"in.{ENDINGS[codec]}", random.Random(3)
    blames = 0
    for _ in range(FLIPS):
        data = bytearray(whole)
        data[rng.randrange(len(data) // 4, len(data))] ^= 1 << rng.randrange(8)
        is_taken, plain = reference(codec, bytes(data), tmp_path)
        blames += any(row.count(b",") != 2 for row in plain.splitlines())
        (tmp_path / name).write_bytes(data)
        done = sort(ecosort, tmp_path, "--merge", "whole.csv", name, "-o", "out", command="csv")
        told = done.stderr.decode()
        if not is_taken:
            assert (done.returncode, name in told) == (3 if "memory" not in told else 2, True), told
        assert (tmp_path / "out").exists() == (done.returncode == 0), told
        (tmp_path / "out").unlink(missing_ok=True)
    assert blames > 0 or codec in ("bzip2", "xz", "zstd"), "some damage looks like a row that is not whole"


@pytest.mark.parametrize("mode", ["sort", "--merge", "--check"])
def test_no_header_is_blamed_for_damage(ecosort: Path, tmp_path: Path, mode: str) -> None:
    """The data is stored as it is, so that the header is read before anything shows that it is another one."""
    data = gzip.compress(b"number,place,words\n" + ordered(text_of(60_000)), 0)
    (tmp_path / "in.gz").write_bytes(data.replace(b"number,", b"nummer,", 1))
    output = {"sort": ["-o", "out"], "--merge": ["--merge", "-o", "out"], "--check": ["--check"]}[mode]
    code, _, error = run_csv(ecosort, ["--by", "number", "in.gz", *output], tmp_path)
    assert (code, "in.gz: is damaged at byte " in error) == (3, True), error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("mode", ["sort", "--merge", "--check"])
@pytest.mark.parametrize("codec", ENDINGS)
def test_what_is_no_member_behind_the_data_is_damage(ecosort: Path, tmp_path: Path, codec: str, mode: str) -> None:
    """gzip(1) and bzip2(1) pass it over, and with it all rows of a member whose first byte has changed."""
    first, second = encode(codec, ordered(text_of(100))), bytearray(encode(codec, ordered(text_of(100, 2))))
    second[0] ^= 0x10
    name = f"in.{ENDINGS[codec]}"
    output = {"sort": ["-o", "out"], "--merge": ["--merge", "-o", "out"], "--check": ["--check"]}[mode]
    for rest in (b"garbage", b"!", bytes(second)):
        (tmp_path / name).write_bytes(first + rest)
        code, _, error = run_csv(ecosort, ["--no-header", "--by", "1", name, *output], tmp_path)
        assert code == 3, error
        assert f"is damaged at byte {len(first)} of the compressed file" in error
        assert not (tmp_path / "out").exists()
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[: len(first)])  # as the message says
    assert run_csv(ecosort, ["--no-header", "--by", "1", name, *output], tmp_path)[0] == 0


def test_lzma_is_read(ecosort: Path, tmp_path: Path) -> None:
    """The older format of xz has no magic number, and is known by what its header may hold."""
    text = text_of(9_000)
    alone = lzma.compress(text, lzma.FORMAT_ALONE)
    known_size = alone[:5] + len(text).to_bytes(8, "little") + alone[13:]
    for name, data in (
        ("in.lzma", alone),
        ("no ending", alone),
        ("known", known_size),
        ("xz's", encode("xz", text, "--format=lzma")),
    ):
        (tmp_path / name).write_bytes(data)
        assert sorted_by(ecosort, tmp_path, name) == ordered(text)
        assert sorted_by(ecosort, tmp_path, data=data) == ordered(text)
    (tmp_path / "in.lzma").write_bytes(alone[: len(alone) // 2])
    done = sort(ecosort, tmp_path, "in.lzma")
    assert (done.returncode, b"is truncated" in done.stderr) == (2, True)
    (tmp_path / "in.lzma").write_bytes(alone + b"rest")
    done = sort(ecosort, tmp_path, "in.lzma")
    assert (done.returncode, b"no xz data" in done.stderr) == (2, True)


def skippable(size: int) -> bytes:
    return b"\x53\x2a\x4d\x18" + size.to_bytes(4, "little") + random.Random(size).randbytes(size)


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
@pytest.mark.parametrize("sizes", [[0], [4], [40, 3, 70], [300_000, 100_000]], ids=str)
def test_frames_to_skip_come_first(ecosort: Path, tmp_path: Path, codec: str, sizes: list[int]) -> None:
    """pzstd and others write them; no name says what follows them, nor do the bytes that are looked at first."""
    text = text_of(3_000)
    data = b"".join(map(skippable, sizes)) + encode(codec, text)
    (tmp_path / "in").write_bytes(data)
    for words in (["in"], []):
        given = None if words else data
        assert sorted_by(ecosort, tmp_path, *words, data=given) == ordered(text)
        assert sorted_by(ecosort, tmp_path, "-m", *words, data=given) == sorted_by(ecosort, tmp_path, "-m", data=text)
    done = sort(ecosort, tmp_path, "in", "-o", "out", command="csv")
    assert (done.returncode, (tmp_path / "out").read_bytes()) == (0, ordered(text))
    (tmp_path / "in").write_bytes(data[: len(data) - 9])
    assert b"is truncated" in sort(ecosort, tmp_path, "in").stderr
    (tmp_path / "in").write_bytes(skippable(9) + b"rows\n" * 9)
    assert b"is damaged" in sort(ecosort, tmp_path, "in").stderr


def test_a_dictionary_of_zstd_is_asked_for(ecosort: Path, tmp_path: Path) -> None:
    header = b"\x28\xb5\x2f\xfd\x22\x39\x30\x02"  # one segment of 2 bytes, made with dictionary 12345
    (tmp_path / "in.zst").write_bytes(header + b"\x11\0\0a\n")
    told = b"is compressed by zstd with a dictionary (ID 12345); decompress it first: zstd -dc -D DICTIONARY\n"
    for words in (["in.zst"], ["-m", "in.zst"], ["-c", "in.zst"]):
        done = sort(ecosort, tmp_path, *words)
        assert (done.returncode, done.stderr) == (2, b"ecosort lines: in.zst: " + told)
    done = sort(ecosort, tmp_path, "in.zst", "-o", "out", command="csv")
    assert (done.returncode, done.stderr) == (2, b"ecosort: in.zst: " + told)


@pytest.mark.parametrize("codec", ENDINGS)
def test_each_member_gives_its_memory_back(ecosort: Path, tmp_path: Path, codec: str) -> None:
    """Sixty members at once would not fit."""
    (tmp_path / f"in.{ENDINGS[codec]}").write_bytes(encode(codec, b"a\n") * 60)
    assert sorted_by(ecosort, tmp_path, "-S", "40M", f"in.{ENDINGS[codec]}") == b"a\n" * 60


def test_zeros_behind_the_data(ecosort: Path, tmp_path: Path) -> None:
    text = text_of(100)
    (tmp_path / "zeros.gz").write_bytes(gzip.compress(text) + bytes(1000))
    (tmp_path / "zeros.bz2").write_bytes(bz2.compress(text) + bytes(1001))
    (tmp_path / "zeros.xz").write_bytes(lzma.compress(text) + bytes(1000))
    assert sorted_by(ecosort, tmp_path, "zeros.gz", "zeros.bz2", "zeros.xz") == ordered(text * 3)
    (tmp_path / "zeros.xz").write_bytes(lzma.compress(text) + bytes(1001))
    assert b"padding" in sort(ecosort, tmp_path, "zeros.xz").stderr


def test_a_name_that_says_what_the_file_is_not(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in.zst").write_bytes(bz2.compress(b"b\na\n"))  # the first bytes decide
    assert sorted_by(ecosort, tmp_path, "in.zst") == b"a\nb\n"
    (tmp_path / "plain.gz").write_bytes(b"b\na\n" * 9)
    done = sort(ecosort, tmp_path, "plain.gz")
    assert done.returncode == 2
    assert b"does not begin as gzip data" in done.stderr
    plain = subprocess.run([ecosort, "lines", "plain.gz"], cwd=tmp_path, capture_output=True, check=True)
    assert plain.stdout == b"a\n" * 9 + b"b\n" * 9


@pytest.mark.parametrize("codec", ENDINGS)
def test_streams(ecosort: Path, tmp_path: Path, codec: str) -> None:
    text = text_of(3_000)
    os.mkfifo(tmp_path / "fifo")
    data = encode(codec, text)
    feed = "for i in 1 2 3 4 5; do dd bs=$i count=1 status=none; done; cat"  # the first bytes come a few at a time
    command = f"({feed}) < data > fifo & exec '{ecosort}' lines --decompress=auto fifo"
    (tmp_path / "data").write_bytes(data)
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, timeout=60, check=True)
    assert done.stdout == ordered(text)
    for plain in (b"", b"\n", b"b\na", text, b"\x1f\x8b"):
        expected = ordered(plain if plain.endswith(b"\n") or not plain else plain + b"\n")
        assert sorted_by(ecosort, tmp_path, data=plain) == expected
    done = sort(ecosort, tmp_path, data=data[:-1])
    assert done.returncode == 2
    assert f"is truncated at byte {len(data) - 1}" in done.stderr.decode()


def test_check_and_merge(ecosort: Path, tmp_path: Path) -> None:
    text = ordered(text_of(5_000))
    for codec in ENDINGS:
        (tmp_path / codec).write_bytes(encode(codec, text))
        assert sort(ecosort, tmp_path, "-c", codec).returncode == 0
        (tmp_path / "wrong").write_bytes(encode(codec, text + b"0\n"))
        done = sort(ecosort, tmp_path, "-c", "wrong")
        assert done.returncode == 1
        assert b"wrong:5001: disorder: 0" in done.stderr
        (tmp_path / "short").write_bytes((tmp_path / codec).read_bytes()[:-3])
        assert b"is truncated" in sort(ecosort, tmp_path, "-c", "short").stderr
    (tmp_path / "plain").write_bytes(text)
    inputs = [*ENDINGS, "plain"]
    assert sorted_by(ecosort, tmp_path, "-m", *inputs) == ordered(text * 6)
    assert sorted_by(ecosort, tmp_path, "-m", "--batch-size=2", *inputs, "-S", "64M") == ordered(text * 6)
    sorted_by(ecosort, tmp_path, "-m", "-u", *inputs, "-o", "out", "--compress-output=xz")
    assert lzma.decompress((tmp_path / "out").read_bytes()) == text
    done = sort(ecosort, tmp_path, "-m", "short", "plain", "-o", "new")
    assert done.returncode == 2
    assert not (tmp_path / "new").exists()


def test_many_small_decoders_merge_in_little_memory(ecosort: Path, tmp_path: Path) -> None:
    """One of gzip takes less than 100 KiB, whatever follows."""
    texts = [ordered(text_of(500, seed)) for seed in range(40)]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.gz").write_bytes(encode("gzip", text))
    names = [f"{number}.gz" for number in range(40)]
    assert sorted_by(ecosort, tmp_path, "-m", "-S", "11M", *names) == ordered(b"".join(texts))
    done = sort(ecosort, tmp_path, "-m", "-S", "2M", *names)
    assert done.returncode == 2
    assert b"to decompress 40 files at a time takes" in done.stderr


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_a_later_member_may_take_more_memory_than_the_first(ecosort: Path, tmp_path: Path, codec: str) -> None:
    text = text_of(200_000)
    (tmp_path / "in").write_bytes(encode(codec, b"") + encode(codec, text))
    assert sorted_by(ecosort, tmp_path, "-S", "64M", "in") == ordered(text)


WINDOWS = {  # as large as those of the highest levels, and made as quickly as those of the lowest
    "xz": ["--lzma2=preset=0,dict=64MiB"],
    "zstd": ["-1", "--long=27"],
}


@functools.cache
def many_rows() -> bytes:
    """More plain bytes than a window of 8 MiB has, the largest of the usual levels."""
    return b"".join(b"%07d,place,words of a row\n" % number for number in range(300_000))


@functools.cache
def large_window(codec: str, header: bytes) -> bytes:
    return encode(codec, header + many_rows(), *WINDOWS[codec])


@pytest.mark.parametrize(
    ("codec", "place", "memory"), pairs(list(WINDOWS), ["pipe", "file", "later member", "--check"], ["8MiB", "256MiB"])
)
def test_windows_of_any_size_take_the_memory_that_is_told(
    ecosort: Path, tmp_path: Path, codec: str, place: str, memory: str
) -> None:
    header = b"number,place,words\n"
    if place == "later member":
        header += b"0000000,place,first\n"
        data = encode(codec, header) + large_window(codec, b"")
    else:
        data = large_window(codec, header)
    (tmp_path / f"in.{ENDINGS[codec]}").write_bytes(data)
    given = {"input": data} if place == "pipe" else {}
    inputs = ["-"] if place == "pipe" else [f"in.{ENDINGS[codec]}"]
    output = ["--check"] if place == "--check" else ["-o", "out"]
    most = 2 if place == "later member" else 1  # once for what comes first, once for what comes later
    for attempt in range(3):
        words = [ecosort, "csv", "--by", "number", "--memory", memory, *inputs, *output]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False, **given)
        told = done.stderr.decode()
        if done.returncode == 0:
            break
        assert done.returncode == 2, told
        assert attempt < most, told
        memory = told.split("try --memory ")[1].split()[0]
    assert place == "--check" or (tmp_path / "out").read_bytes() == header + many_rows()


def feed_slowly(fifo: Path, data: bytes, first_bytes: int = 100) -> None:
    """Writes the rest when the first bytes have been read."""
    with fifo.open("wb", buffering=0) as file:
        file.write(data[:first_bytes])
        wait_until(lambda: struct.unpack("i", fcntl.ioctl(file, termios.FIONREAD, bytes(4))) == (0,), what="the first read")
        file.write(data[first_bytes:])


STREAMS = {  # what writes them, and memory that is enough where they are files
    "xz -9": (["xz", "-9", "-c"], "162MiB"),
    "xz -0": (["xz", "-0", "-c"], "4MiB"),
    "zstd --long=27": (["zstd", "--long=27", "-c"], "325MiB"),
    "plain": (["cat"], "1MiB"),
}


@functools.cache
def written_by(kind: str) -> bytes:
    text = b"number,place,words\n" + text_of(9_000)
    return subprocess.run(STREAMS[kind][0], input=text, capture_output=True, check=True).stdout


@pytest.mark.parametrize("place", ["file", "redirected", "pipe", "fifo", "slow fifo"])
@pytest.mark.parametrize("kind", STREAMS)
def test_a_stream_takes_the_memory_of_a_file(ecosort: Path, tmp_path: Path, kind: str, place: str) -> None:
    data, memory = written_by(kind), STREAMS[kind][1]
    (tmp_path / "data").write_bytes(data)
    os.mkfifo(tmp_path / "fifo")
    feed = {
        "file": "exec {} data",
        "redirected": "exec {} - < data",
        "pipe": "cat data | {} -",
        "fifo": "cat data > fifo & exec {} fifo",
        "slow fifo": "exec {} fifo",
    }[place]
    command = feed.format(f"'{ecosort}' csv --by number --memory {memory} --stats stats.json -o out")
    with subprocess.Popen(["sh", "-c", command], cwd=tmp_path, stderr=subprocess.PIPE) as done:
        if place == "slow fifo":
            feed_slowly(tmp_path / "fifo", data)
        assert done.communicate(timeout=60) == (None, b"")
    assert done.returncode == 0
    assert (tmp_path / "out").read_bytes() == b"number,place,words\n" + ordered(text_of(9_000))
    stats = json.loads((tmp_path / "stats.json").read_text())
    assert stats["bytes_read"] >= len(data)
    assert stats["peak_counted_memory_bytes"] <= stats["memory_limit_bytes"]


@pytest.mark.parametrize("text", [b"", b"a", b"\n", b"b\na", b"\x1f", b"BZ", b"\xfd7zX", b"x" * 63, b"x" * 64, b"x" * 65])
def test_streams_of_few_bytes(ecosort: Path, tmp_path: Path, text: bytes) -> None:
    expected = ordered(text if not text or text.endswith(b"\n") else text + b"\n")
    (tmp_path / "in").write_bytes(text)
    for words in (["--decompress=auto"], ["--decompress=never"]):
        for source in ("in", "-"):
            done = sort(ecosort, tmp_path, *words, source, "-o", "-", command="csv", data=text)
            assert (done.returncode, done.stdout) == (0, expected), done.stderr
            assert sorted_by(ecosort, tmp_path, *words, source, data=text) == expected


def test_a_compressed_stream_is_left_alone_where_that_is_asked_for(ecosort: Path, tmp_path: Path) -> None:
    data = encode("xz", text_of(900), "-9")
    lines = b"".join(line + b"\n" for line in sorted(data.split(b"\n")))
    assert sort(ecosort, tmp_path, "--decompress=never", "-S", "1M", data=data).stdout == lines
    done = sort(ecosort, tmp_path, "--decompress=never", "--memory", "1MiB", "-", "-o", "out", command="csv", data=data)
    assert (done.returncode, b"standard input: is xz data where rows should be" in done.stderr) == (2, True), done.stderr


def test_who_waits_for_a_stream_says_first_what_is_wrong_and_can_be_stopped(ecosort: Path, tmp_path: Path) -> None:
    base = [ecosort, "csv", "--by", "number", "-", "-o", "out"]
    with subprocess.Popen(
        [*base, "--stats", "nowhere/stats"], cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as done:
        assert done.wait(timeout=60) == 2  # nothing was written to it by then
        assert done.stderr is not None
        assert b"nowhere" in done.stderr.read()
    with subprocess.Popen([*base, "--events", "events"], cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as waits:
        while not (tmp_path / "events").exists() or b"total" not in (tmp_path / "events").read_bytes():
            assert waits.poll() is None
            time.sleep(0.01)
        waits.terminate()
        assert waits.wait(timeout=60) == 128 + signal.SIGTERM
    assert names_in(tmp_path) == ["events"]


def test_streams_that_are_written_one_after_the_other(ecosort: Path, tmp_path: Path) -> None:
    """The writer of the second one waits until the first one is read."""
    text = text_of(50_000)
    data = encode("gzip", text)
    assert len(data) > 64 << 10, "more than a pipe holds"
    for name in ("one", "two"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "data").write_bytes(data)
    feed = "(exec 3> one 4> two; cat data >&3; exec 3>&-; cat data >&4) &"
    command = f"{feed} exec '{ecosort}' csv --no-header --by 1 one two -o out"
    subprocess.run(["sh", "-c", command], cwd=tmp_path, timeout=60, check=True)
    rows = (text * 2).splitlines(keepends=True)
    assert (tmp_path / "out").read_bytes() == b"".join(sorted(rows, key=lambda row: row.split(b",")[0]))


def test_a_merge_of_streams_takes_the_memory_of_files(ecosort: Path, tmp_path: Path) -> None:
    text = ordered(text_of(900))
    for name in ("one", "two"):
        (tmp_path / f"{name}.xz").write_bytes(encode("xz", text, "-9"))
        os.mkfifo(tmp_path / name)
    words = f"'{ecosort}' csv --no-header --by 1 --merge --memory 320MiB -o out"
    subprocess.run(["sh", "-c", f"{words} one.xz two.xz"], cwd=tmp_path, timeout=60, check=True)
    with subprocess.Popen(["sh", "-c", f"cat two.xz > two & exec {words} one two"], cwd=tmp_path) as merge:
        feed_slowly(tmp_path / "one", (tmp_path / "one.xz").read_bytes())
        assert merge.wait(timeout=60) == 0
    assert (tmp_path / "out").read_bytes() == ordered(text * 2)


def test_csv_reads_and_writes_compressed_files_by_itself(ecosort: Path, tmp_path: Path) -> None:
    rows = text_of(3_000)
    head = b"\xef\xbb\xbfnumber,place,words\n"
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress(head + rows))
    (tmp_path / "in.csv").write_bytes(head + rows)
    base = [str(ecosort), "csv", "--by", "number:integer", "--quiet"]
    for name in ("in.csv.gz", "in.csv"):
        subprocess.run([*base, name, "-o", "out.csv.zst"], cwd=tmp_path, check=True)
        assert decode("zstd", (tmp_path / "out.csv.zst").read_bytes()) == head + ordered(rows)
    assert subprocess.run([*base, "--check", "out.csv.zst"], cwd=tmp_path, check=False).returncode == 0
    assert subprocess.run([*base, "--check", "in.csv.gz"], cwd=tmp_path, capture_output=True, check=False).returncode == 1
    subprocess.run([*base, "in.csv.gz", "-o", "out.csv.zst", "--compress-output=none"], cwd=tmp_path, check=True)
    assert (tmp_path / "out.csv.zst").read_bytes() == head + ordered(rows)
    done = subprocess.run([*base, "in.csv.gz", "-o", "o", "--decompress=never"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 2


def test_lines_without_the_options_is_sort(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in.gz").write_bytes(gzip.compress(text_of(300)))
    words = ["in.gz", "-o"]
    subprocess.run([ecosort, "lines", "--quiet", *words, "own.gz"], cwd=tmp_path, check=True)
    subprocess.run(["sort", *words, "theirs.gz"], cwd=tmp_path, check=True, env={**os.environ, "LC_ALL": "C"})
    assert (tmp_path / "own.gz").read_bytes() == (tmp_path / "theirs.gz").read_bytes()


def test_what_does_not_go_together_is_refused(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in.gz").write_bytes(gzip.compress(b"a\n"))
    for words, says in (
        (["--resumable", "in.gz", "-o", "out"], "in.gz is compressed, which a job that outlives a crash does not read"),
        (["--decompress=never", "--resumable", "--compress-output=xz", "in.gz", "-o", "out"], "compress the output afterwards"),
        (["--level=3", "in.gz"], "a level is for a compressed output"),
        (["--compress-output=zip", "in.gz"], "'zip' is none of"),
        (["--decompress=maybe", "in.gz"], "neither auto nor never"),
        (["--level=x", "--compress-output=xz", "in.gz"], "'x' is no number"),
        (["--debug", "--compress-output=xz", "in.gz"], "--debug cannot be combined with"),
    ):
        done = sort(ecosort, tmp_path, *words)
        assert done.returncode == 2, words
        assert says in done.stderr.decode()
    assert names_in(tmp_path) == ["in.gz"]


def test_json_lines_read_and_write_compressed_files_by_themselves(ecosort: Path, tmp_path: Path) -> None:
    rows = [b'{"a": %d}\n' % i for i in (3, 1, 2)]
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(b"".join(rows)))
    words = ["--by", "a:integer", "in.jsonl.gz", "-o", "out.jsonl.zst"]
    subprocess.run([ecosort, "jsonl", *words], cwd=tmp_path, check=True)
    assert decode("zstd", (tmp_path / "out.jsonl.zst").read_bytes()) == b"".join(sorted(rows))
