"""`ecosort lines` says once what sorting these bytes as they are may not give; output and exit code stay those of GNU sort."""

import bz2
import gzip
import json
import lzma
import sqlite3
import subprocess
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest
from lines_support import SORT, run

COMPRESSED = {
    "gzip": gzip.compress(b"b\na\n", mtime=0),
    "zstd": b"\x28\xb5\x2f\xfd\x04\x20\x21\x00\x00b\na\n",
    "xz": lzma.compress(b"b\na\n"),
    "bzip2": bz2.compress(b"b\na\n"),
    "lz4": b"\x04\x22\x4d\x18\x64\x40\xa7\x04\x00\x00\x80b\na\n",
}
CSV = b'name,town\nDoe,"Ulm, Donau"\nRoe,"Bonn"\n'


def told(ecosort: Path, directory: Path, words: list[str], data: bytes | None = None) -> list[str]:
    """The lines on standard error; the output and the exit code are those of GNU sort."""
    code, output, error = run([str(ecosort), "lines"], words, directory, data)
    assert (code, output) == run([SORT], words, directory, data)[:2]
    quiet = run([str(ecosort), "lines", "--quiet"], words, directory, data)
    assert quiet[:2] == (code, output)
    assert quiet[2] in ("", *[line + "\n" for line in error.splitlines() if "disorder" in line])
    return error.splitlines()


@pytest.mark.parametrize("program", COMPRESSED)
def test_compressed_input(ecosort: Path, tmp_path: Path, program: str) -> None:
    (tmp_path / "a b").write_bytes(COMPRESSED[program])
    (tmp_path / "plain").write_bytes(b"a\nb\n")
    named = f"sort: 'a b' ({program}): is compressed, and read as it is; for what is in it, give --decompress=auto"
    assert told(ecosort, tmp_path, ["a b", "plain", "a b"]) == [named]
    assert told(ecosort, tmp_path, ["-m", "plain", "a b"]) == [named]
    assert named in told(ecosort, tmp_path, ["-c", "a b"])
    for words in ([], ["-"], ["-m", "-"]):
        [line] = told(ecosort, tmp_path, words, COMPRESSED[program])
        assert line.startswith(f"sort: standard input ({program}): is compressed")
        assert line.endswith("--decompress=auto")


def archived(kind: str, directory: Path) -> bytes:
    path = directory / "archive"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("n", "b\na\n")
    elif kind == "tar":
        (directory / "n").write_bytes(b"b\na\n")
        with tarfile.open(path, "w") as tar:
            tar.add(directory / "n", "n")
    elif kind == "SQLite":
        with sqlite3.connect(path) as database:
            database.execute("create table t (a)")
    else:
        others = {"Parquet": b"PAR1\x15\x04\x15\x08", "lzip": b"LZIP\x01\x0c\0", "BAM": b"BAM\x01\x04\0\0\0@HD\n"}
        return {**others, "zlib": zlib.compress(b"b\na\n" * 99)}[kind]
    return path.read_bytes()


@pytest.mark.parametrize(
    ("kind", "is_what", "advice"),
    [
        ("zip", "an archive (zip, xlsx, ods)", "unpack it, or export its tables as CSV"),
        ("tar", "an archive (tar)", "unpack it first: tar -xf"),
        ("SQLite", "a database (SQLite)", "export its tables first: sqlite3 -csv"),
        ("Parquet", "Parquet", "ecosort parquet sorts it"),
        ("lzip", "compressed by lzip", "decompress it first: lzip -dc"),
        ("zlib", "zlib data", "decompress it first: pigz -dc"),
        ("BAM", "alignments (BAM)", "samtools sort orders them; lines: samtools view -h"),
    ],
)
def test_what_is_no_text(ecosort: Path, tmp_path: Path, kind: str, is_what: str, advice: str) -> None:
    """Sorted as it is with a notice; where inputs are decompressed, refused as what it is, also within what is compressed."""
    data = archived(kind, tmp_path)
    (tmp_path / "in").write_bytes(data)
    assert told(ecosort, tmp_path, ["in", "in"]) == [f"sort: in: is {is_what}, and read as it is; {advice}"]
    assert told(ecosort, tmp_path, ["-"], data)[0].startswith(f"sort: standard input: is {is_what}")
    assert run([str(ecosort), "lines", "--decompress=never"], ["in"], tmp_path)[2] == ""
    (tmp_path / "packed").write_bytes(gzip.compress(data))
    for name in ("in", "packed"):
        for words in ([name], ["-m", name], ["-c", name], ["-o", "out", name], ["-"]):
            given = (tmp_path / name).read_bytes() if words == ["-"] else None
            shown = "standard input" if words == ["-"] else name
            code, output, error = run([str(ecosort), "lines", "--decompress=auto"], words, tmp_path, given)
            assert (code, output, error) == (2, b"", f"sort: {shown}: is {is_what}; {advice}\n"), words
    assert not (tmp_path / "out").exists()


def test_binary_data_that_is_unpacked_is_not_sorted_as_lines_silently(ecosort: Path, tmp_path: Path) -> None:
    """The members of BGZF hold anything; of a kind that no magic number shows, NUL bytes do."""
    data = b"\1\2 rows\n\0b\na\n"
    (tmp_path / "in.gz").write_bytes(gzip.compress(data[:5]) + gzip.compress(data[5:]))
    unpack = [str(ecosort), "lines", "--decompress=auto"]
    said = "sort: in.gz: has a NUL byte at byte 8 of its data, as text has none; it is read as lines all the same\n"
    expected = b"".join(sorted(data.splitlines(keepends=True)))
    for words in ([], ["-m"]):
        assert run(unpack, [*words, "in.gz"], tmp_path)[0::2] == (0, said) or words
    assert run(unpack, ["in.gz", "in.gz"], tmp_path)[2] == said
    assert run(unpack, ["in.gz"], tmp_path)[1] == expected
    assert run(unpack, ["-z", "in.gz"], tmp_path)[2] == ""
    assert run([str(ecosort), "lines"], ["-"], tmp_path, data)[2] == ""


def test_who_says_what_is_wanted_is_told_nothing(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(COMPRESSED["gzip"])
    for words in (["in"], ["-m", "in"], ["-c", "in"], ["-"]):
        data = COMPRESSED["gzip"] if words == ["-"] else None
        error = run([str(ecosort), "lines", "--decompress=never"], words, tmp_path, data)[2]
        assert "compressed" not in error


def test_an_output_whose_name_says_that_it_is_compressed(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"b\na\n")
    [line] = told(ecosort, tmp_path, ["in", "-o", "out.zst"])
    run([str(ecosort), "lines", "--quiet"], ["in", "-o", "out.zst", "--stats", "stats"], tmp_path)
    assert json.loads((tmp_path / "stats").read_text())["notices"] == [line.removeprefix("sort: ")]
    assert line == "sort: out.zst: is written as it is, and not compressed; to write zstd, give --compress-output=auto"
    assert run([str(ecosort), "lines", "--compress-output=none"], ["in", "-o", "out.zst"], tmp_path)[2] == ""


def test_compressed_inputs_are_named_in_one_line(ecosort: Path, tmp_path: Path) -> None:
    names = [f"{i}.{program}" for i, program in enumerate(COMPRESSED)]
    for name, data in zip(names, COMPRESSED.values(), strict=True):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "plain").write_bytes(b"a\nb\n")
    [line] = told(ecosort, tmp_path, [names[0], "plain", names[1]])
    assert line.startswith("sort: 0.gzip (gzip), 1.zstd (zstd): are compressed, and read as they are")
    [line] = told(ecosort, tmp_path, [*names, "plain"])
    assert line.startswith("sort: 0.gzip (gzip), 1.zstd (zstd), 2.xz (xz) and 2 more: are compressed")


def test_a_byte_order_mark(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"\xef\xbb\xbfb\na\n")
    [checked, _] = told(ecosort, tmp_path, ["-c", "in"])
    [line] = told(ecosort, tmp_path, ["in"])
    assert "byte order mark, which counts as a part of its first line" in line
    assert checked == line  # a check sorts nothing
    advice = line[line.index("tail ") :].replace("sort -", f"'{ecosort}' lines -")
    done = subprocess.run(advice, shell=True, cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout == b"a\nb\n"


def test_quoted_fields(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(CSV)
    (tmp_path / "first").write_bytes(b'"Doe, John",1\n')
    for words in (["-t,", "-k2", "in"], ["-t,", "-k2,2n", "in", "in"], ["-t,", "-n", "first"], ["-c", "-t,", "-k1,1", "first"]):
        [line] = told(ecosort, tmp_path, words)
        assert "quoted fields are split inside the quotes" in line
    assert "double quotes" in told(ecosort, tmp_path, ["-t,", "-k2"], CSV)[0]
    tabs = CSV.replace(b",", b"\t")
    assert len(told(ecosort, tmp_path, ["-t", "\t", "-k2"], tabs)) == 1


@pytest.mark.parametrize(
    ("words", "data"),
    [
        (["-t,"], CSV),  # whole lines
        (["-k2"], CSV),  # no separator
        (["-t;", "-k2"], CSV),
        (["-t,", "-k2"], b'5" nail,3\nx"y,4\n'),
        (["-t", '"', "-k2"], CSV),
        ([], b"BZh is how this line begins\n"),
        ([], b"BZh9"),
        ([], b"\x1f\x8b"),
        ([], b"a\xef\xbb\xbfb\n"),
        ([], b""),
    ],
)
def test_nothing_is_told_of_other_contents(ecosort: Path, tmp_path: Path, words: list[str], data: bytes) -> None:
    assert told(ecosort, tmp_path, words, data) == []
