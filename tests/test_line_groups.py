"""Rows of several lines, in the order of lines: against `sort -z`, to which a row is a line with newlines in it."""

import gzip
import os
import random
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from inplace.support import kill_at_sync
from sort_support import Run, read_json

C = {**os.environ, "LC_ALL": "C"}


def fastq(count: int, seed: int = 1) -> list[bytes]:
    rng = random.Random(seed)
    return [
        b"@r%d x%d\n%s\n+\n%s" % (rng.randrange(count), i, bytes(rng.choices(b"ACGT", k=n)), b"@" * n)
        for i, n in enumerate(rng.choices(range(1, 9), k=count))
    ]


def paragraphs(count: int, seed: int = 1) -> list[bytes]:
    rng = random.Random(seed)
    return [b"".join(b"%d: %d\n" % (rng.randrange(30), i) for _ in range(rng.randrange(1, 5))) for i in range(count)]


def fasta(count: int, seed: int = 1) -> list[bytes]:
    rng = random.Random(seed)
    rows = [b">r%d x%d" % (rng.randrange(count), i) for i in range(count)]
    return [row + b"".join(b"\nA%d>" % rng.randrange(99) for _ in range(rng.randrange(4))) for row in rows]


FORMS: dict[str, tuple[list[str], Callable[..., list[bytes]]]] = {
    "lines": (["--record-lines", "4"], fastq),
    "paragraphs": (["--paragraphs"], paragraphs),
    "start": (["--record-start", ">"], fasta),
}


def reference(rows: list[bytes], *words: str) -> list[bytes]:
    """Returns what GNU sort makes of rows, each of which is one of its lines."""
    text = b"".join(row + b"\0" for row in rows)
    out = subprocess.run(["sort", "-z", *words], input=text, env=C, capture_output=True, check=True).stdout
    return out.split(b"\0")[:-1]


def text_of(rows: list[bytes]) -> bytes:
    return b"".join(row + b"\n" for row in rows)


def sort(ecosort: Path, directory: Path, data: bytes, *words: str) -> bytes:
    (directory / "in").write_bytes(data)
    done = subprocess.run([ecosort, "lines", "in", *words], cwd=directory, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "words",
    [
        [],
        ["-r"],
        ["-k2"],
        ["-t\n", "-k2,2", "-k1,1r"],
        ["-t\n", "-k2,2", "-s"],
        ["-k2,2n", "-u"],
        ["-n"],
        ["-V"],
        ["-t\n", "-k1.3,1.3nr", "-k2f"],
    ],
    ids=" ".join,
)
def test_as_sort_orders_them(ecosort: Path, tmp_path: Path, form: str, words: list[str]) -> None:
    own, make = FORMS[form]
    rows = make(300)
    assert sort(ecosort, tmp_path, text_of(rows), *own, *words) == text_of(reference(rows, *words))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("words", [["-t\n", "-k2,2"], ["-r"]], ids=" ".join)
def test_several_runs(ecosort: Path, tmp_path: Path, form: str, words: list[str]) -> None:
    """Rows lie across blocks of runs, and the merge is done in parts, which begin where a row does."""
    own, make = FORMS[form]
    rows = make(60_000)
    out = sort(
        ecosort, tmp_path, text_of(rows), *own, *words, "-S1M", "-oout", "--verify=reread", "--stats=stats", "--parallel=2"
    )
    assert out == b""
    assert (tmp_path / "out").read_bytes() == text_of(reference(rows, *words))
    assert read_json(tmp_path / "stats")["runs"] > 1


@pytest.mark.parametrize("form", FORMS)
def test_whole_rows_are_counted_limited_checked_and_merged(ecosort: Path, tmp_path: Path, form: str) -> None:
    own, make = FORMS[form]
    rows = make(200)
    ordered = reference(rows)
    twice = text_of(rows + rows)
    assert sort(ecosort, tmp_path, twice, *own, "-u") == text_of(ordered)
    assert sort(ecosort, tmp_path, twice, *own, "--count") == b"".join(b"%7d %s\n" % (2, row) for row in ordered)
    assert sort(ecosort, tmp_path, twice, *own, "-u", "--limit=7") == text_of(ordered[:7])
    assert sort(ecosort, tmp_path, text_of(ordered), *own, "-c") == b""
    (tmp_path / "a").write_bytes(text_of(reference(make(100, 5))))
    assert sort(ecosort, tmp_path, text_of(ordered), *own, "-m", "a") == text_of(reference(rows + make(100, 5)))
    (tmp_path / "in").write_bytes(text_of(ordered[:5] + ordered[3:]))
    done = subprocess.run([ecosort, "lines", *own, "-c", "in"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"disorder" in done.stderr


def test_the_last_row_lacks_its_end(ecosort: Path, tmp_path: Path) -> None:
    assert sort(ecosort, tmp_path, b"b\n2\na\n1", "--record-lines=2") == b"a\n1\nb\n2\n"
    assert sort(ecosort, tmp_path, b">b\n2\n>a\n1", "--record-start=>") == b">a\n1\n>b\n2\n"
    assert sort(ecosort, tmp_path, b"\n\nb: 1\n\n\n\na: 1", "--paragraphs") == b"a: 1\n\nb: 1\n\n"


def test_rows_that_are_not_whole_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("a\nb\nc\nd\ne\nf\n")
    done = run("lines", "--record-lines=4", "in", "-o", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert "in: line 5, byte 8: the last record has 2 lines instead of 4" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "word"),
    [
        *product(["--record-lines=2", "--record-start=a"], ["--header", "-z", "--inplace", "--debug", "--paragraphs"]),
        ("--record-lines=2", "--resumable"),
        ("--paragraphs", "--resumable"),
    ],
)
def test_what_they_cannot_be_combined_with(run: Run, tmp_path: Path, option: str, word: str) -> None:
    """The message names the two options that were given, not all that are refused alike."""
    (tmp_path / "in").write_text("a\nb\n")
    done = run("lines", option, word, "in", "-o", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert option.partition("=")[0] in done.stderr or "-o" in done.stderr
    assert ",--" not in done.stderr


# A long text: at most borders of blocks it has begun, or seems to have.
START = "From " * 40


def mail(count: int, seed: int) -> list[bytes]:
    rng = random.Random(seed)
    nearly = [START[: rng.randrange(1, len(START))] + "-" for _ in range(50)]
    return [
        "\n".join([START + str(rng.randrange(count)), *rng.choices(nearly, k=rng.randrange(3)), ""]).encode()
        for _ in range(count)
    ]


@pytest.mark.parametrize("way", ["stream", "gzip", "merge", "check", "shuffle", "resume"])
def test_a_start_may_lie_across_blocks(ecosort: Path, run: Run, tmp_path: Path, way: str) -> None:
    rows = mail(4_000, 3)
    ordered = reference(rows)
    own = ["--record-start", START]
    (tmp_path / "in").write_bytes(text_of(rows))
    (tmp_path / "sorted").write_bytes(text_of(ordered))
    if way == "stream":
        done = subprocess.run([ecosort, "lines", *own, "-S1M"], input=text_of(rows), capture_output=True, check=True)
        assert done.stdout == text_of(ordered)
    elif way == "gzip":
        (tmp_path / "in.gz").write_bytes(gzip.compress(text_of(rows), 1))
        words = ["--decompress=auto", "--compress-output=auto", "-S4M", "-o", "out.gz"]
        assert run("lines", *own, *words, "in.gz", cwd=tmp_path).returncode == 0
        assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == text_of(ordered)
    elif way == "merge":
        others = mail(3_000, 4)
        (tmp_path / "others").write_bytes(text_of(reference(others)))
        for words in (["--split=rows=5000", "-o", "out-{}"], ["--verify=reread", "-o", "out"]):
            assert run("lines", *own, "-m", "-S2M", *words, "sorted", "others", cwd=tmp_path).returncode == 0
        files = [(tmp_path / f"out-0000{i}").read_bytes() for i in (1, 2)]
        both = reference(rows + others)
        assert files == [text_of(both[:5000]), text_of(both[5000:])]
        assert (tmp_path / "out").read_bytes() == text_of(both)
    elif way == "check":
        assert run("lines", *own, "-c", "sorted", cwd=tmp_path).returncode == 0
        assert run("lines", *own, "-c", "in", cwd=tmp_path).returncode == 1
    elif way == "resume":
        words = ["lines", "--resumable", "-S1M", *own, tmp_path / "in", "-o", tmp_path / "out"]
        assert kill_at_sync(ecosort, tmp_path, 10, *words)  # some runs are complete
        assert run("merge", "--runs", "--append-rest", "out.ecosort", "-o", "merged", cwd=tmp_path).returncode == 0
        (tmp_path / "again").mkdir()
        assert sort(ecosort, tmp_path / "again", (tmp_path / "merged").read_bytes(), *own) == text_of(ordered)
        while kill_at_sync(ecosort, tmp_path, 6, "resume", tmp_path / "out"):
            pass
        assert (tmp_path / "out").read_bytes() == text_of(ordered)
    else:
        words = ["--seed=1", "--memory=1MiB", "--verify=reread", "-o", "out"]
        assert run("shuffle", *own, *words, "in", cwd=tmp_path).returncode == 0
        out = (tmp_path / "out").read_bytes()
        assert out != text_of(rows)
        assert sort(ecosort, tmp_path, out, *own) == text_of(ordered)


@pytest.mark.parametrize("words", [["lines"], ["lines", "-m"], ["lines", "-c"], ["shuffle", "-o-"]], ids=" ".join)
def test_what_holds_no_such_records_is_refused(run: Run, tmp_path: Path, words: list[str]) -> None:
    own = [*words, "--record-start=>", "in"]
    (tmp_path / "in").write_bytes(b"; note\n>a\nA\n")
    done = run(*own, cwd=tmp_path)
    assert done.returncode == 2
    assert "in: byte 0: the first line does not begin with '>'" in done.stderr
    (tmp_path / "in").write_bytes(b">a\nA\0\n")
    done = run(*own, cwd=tmp_path)
    assert done.returncode == 2
    assert "in: byte 4: a NUL byte" in done.stderr
    (tmp_path / "in").write_bytes(b"")
    assert run(*own, cwd=tmp_path).returncode == 0


def test_shuffle_keeps_them_together(ecosort: Path, run: Run, tmp_path: Path) -> None:
    rows = fastq(500)
    (tmp_path / "in").write_bytes(text_of(rows))
    assert run("shuffle", "--record-lines=4", "--seed=1", "in", "-o", "out", cwd=tmp_path).returncode == 0
    out = (tmp_path / "out").read_bytes()
    assert out != text_of(rows)
    assert sort(ecosort, tmp_path, out, "--record-lines=4") == text_of(reference(rows))
