"""Compressed inputs of rows, wherever they are, and the names of inputs in errors."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ecosort.cluster import PhaseState, resume, sort
from ecosort.cluster.compressed_inputs import codec_of, decoded
from ecosort.remote import addresses

from ecosort import BadInput, EcoSortError, IoFailed

from .s3_peer import Bucket, serving
from .support import joined, only_inputs_and_output_are_left

LINES: dict[str, Any] = {"format": "lines", "memory": "4MiB", "parts": 3}


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch, here: Path) -> Iterator[Bucket]:
    monkeypatch.setattr(addresses, "_FIRST_WAIT_S", 0.001)
    held = Bucket()
    with serving(held) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
        yield held


def by_program(*words: str) -> Callable[[bytes], bytes]:
    return lambda data: subprocess.run(words, input=data, capture_output=True, check=True).stdout


CODECS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    "zstd": by_program("zstd", "-qc"),
    "lz4": by_program("lz4", "-qc"),
    "lz4 -l": by_program("lz4", "-lqc"),
}


@pytest.mark.parametrize("codec", CODECS)
def test_compressed_inputs_are_those_that_they_decode_to(
    bucket: Bucket, nodes: list[Path], codec: str, require: Callable[[str], None]
) -> None:
    """Inputs are in a bucket and in files, beside one that is not compressed, of two members; a table has its header in each."""
    if codec.startswith(("zstd", "lz4")):
        require(codec.partition(" ")[0])
    compress = CODECS[codec]
    rows = [b"%d,x\n" % (k * 7919 % 10_007) for k in range(10_007)]
    bucket.objects["dir/a"] = compress(b"n,x\n" + b"".join(rows[:2000])) + compress(b"".join(rows[2000:4000]))
    Path("b").write_bytes(compress(b"n,x\n" + b"".join(rows[4000:6000])))
    Path("c").write_bytes(b"n,x\n" + b"".join(rows[6000:]))
    inputs = ["s3://bucket/dir/", "b", "c"]
    report = sort(inputs, "out", format="csv", by="n:integer", single=True, nodes_temp=nodes, memory="4MiB", parts=2)
    assert report.rows == 10_007
    assert Path("out").read_bytes() == b"n,x\n" + b"".join(sorted(rows, key=lambda row: int(row[:-3])))
    only_inputs_and_output_are_left(Path(), *nodes)


def test_what_only_looks_compressed_is_not() -> None:
    assert codec_of(b"BZhello, world") == ""
    assert codec_of(b"\x1f\x8b is no gzip") == ""
    assert codec_of(b"]\0\0\x80\0, but what follows has no size") == ""
    assert codec_of(bz2.compress(b"")[:10]) == "bzip2"


@pytest.mark.parametrize("codec", CODECS)
def test_a_damaged_compressed_input_is_named(bucket: Bucket, codec: str, require: Callable[[str], None]) -> None:
    if codec.startswith(("zstd", "lz4")):
        require(codec.partition(" ")[0])
    whole = CODECS[codec](b"".join(b"%d\n" % k for k in range(5000)))
    bucket.objects["a"] = whole[: len(whole) // 2]
    with pytest.raises(EcoSortError, match="'s3://bucket/a' is damaged or cut off: it does not decode as") as raised:
        sort(["s3://bucket/a"], "out", **LINES)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("codec", CODECS)
def test_no_damage_behind_a_member_passes_for_the_end(codec: str, require: Callable[[str], None]) -> None:
    """Python's files of bzip2 and xz end without an error where the header of a further member is damaged: its rows were lost."""
    if codec.startswith(("zstd", "lz4")):
        require(codec.partition(" ")[0])
    first, second = CODECS[codec](b"1\n" * 5000), bytearray(CODECS[codec](b"2\n" * 5000))
    second[0] ^= 0xF0
    for rest in (b"!", b"more than a few bytes of garbage", bytes(second), CODECS[codec](b"3\n")[:5]):
        with pytest.raises(IoFailed, match=r"^'in' is damaged or cut off: it does not decode as [a-z0-9]+ \(.+\)$"):
            list(decoded(codec.partition(" ")[0], "in", iter([first + rest])))


@pytest.mark.parametrize("codec", ["gzip", "bzip2", "xz", "lzma"])
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_zeros_behind_a_member_are_padding(codec: str, size: int) -> None:
    """The padding between streams of xz ended the data: the rows behind it were lost. The size is that of the pieces."""
    first, second = CODECS[codec](b"1\n" * 5000), CODECS[codec](b"2\n" * 5000)
    for zeros in (0, 4, 20_000):
        file = first + bytes(zeros) + second + bytes(zeros)
        pieces = (file[at : at + size] for at in range(0, len(file), size))
        assert b"".join(decoded(codec, "in", pieces)) == b"1\n" * 5000 + b"2\n" * 5000


def test_padding_of_xz_has_whole_fours_of_zeros() -> None:
    for file in (lzma.compress(b"1\n") + bytes(5), lzma.compress(b"1\n") + bytes(5) + lzma.compress(b"2\n")):
        with pytest.raises(IoFailed, match=r"'in' is damaged or cut off: .*padding behind the xz data has the wrong size"):
            list(decoded("xz", "in", iter([file])))


def test_many_members_of_a_piece_are_decoded_in_time() -> None:
    """Each member would copy all of the piece that is behind it."""
    assert b"".join(decoded("bzip2", "in", iter([bz2.compress(b"1\n") * 20_000]))) == b"1\n" * 20_000


def test_a_program_that_decodes_and_is_missing_is_named(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket.objects["a"] = b"\x28\xb5\x2f\xfd" + bytes(20)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BadInput, match="'s3://bucket/a' is compressed by zstd: install the program zstd on all nodes"):
        sort(["s3://bucket/a"], "out", **LINES)


def test_a_job_with_compressed_inputs_continues(here: Path, nodes: list[Path]) -> None:
    """Decoded data is gone with a node, and is decoded again."""
    rows = [b"%d\n" % (k * 7919 % 10_007) for k in range(10_007)]
    Path("in").write_bytes(gzip.compress(b"".join(rows)))

    def stop(state: PhaseState) -> None:
        if state.phase == "sample" and state.done == state.tasks:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sort("in", "out", nodes_temp=nodes, progress=stop, **LINES)
    for fetched in [path for node in nodes for path in node.rglob("input-*")]:
        fetched.unlink()
    assert resume("out").rows == 10_007
    assert joined(Path("out")) == b"".join(sorted(rows))


# --- names


CSV: dict[str, Any] = {"format": "csv", "by": "n:integer", "memory": "4MiB", "options": ["--strict"]}


def test_inputs_are_named_as_the_user_named_them(bucket: Bucket) -> None:
    """A task may have made anything of them: a path of its own, or a file that was fetched."""
    Path("deep").mkdir()
    for name in ("in.csv", "in.csv.more", "deep/in"):
        Path(name).write_bytes(b"n\n1\nx\n")
    bucket.objects["in"] = b"n\n1\nx\n"
    for name in ("in.csv", "./in.csv", "in.csv.more", "deep/../deep/in", str(Path("in.csv").absolute()), "s3://bucket/in"):
        with pytest.raises(BadInput) as raised:
            sort([name], "out", **CSV)
        line = str(raised.value)
        assert name in line
        assert str(Path.cwd()) not in line.replace(name, "")
    for name in ("absent", "deep", "node0:/absent"):
        with pytest.raises(BadInput, match=f"'{name.removeprefix('node0:')}' is no regular file"):
            sort([name], "out", **CSV)


def test_a_changed_input_is_named_as_the_user_named_it(here: Path) -> None:
    Path("in").write_bytes(b"2\n1\n")

    def stop(state: PhaseState) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sort("in", "out", progress=stop, **LINES)
    Path("in").write_bytes(b"3\n2\n1\n")
    with pytest.raises(IoFailed, match=r"^'in' has changed since the job began"):
        resume("out")
