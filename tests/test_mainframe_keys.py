"""Keys of mainframe files: packed and zoned numbers, texts of EBCDIC; against Python's reading of them, and GnuCOBOL's SORT."""

import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import capabilities
import pytest
from partition_support import write_splitters
from sort_support import Require, Run, read_json, succeeded

# --- oracle ------------------------------------------------------------------------------------------------------------

MINUS, PLUS = "BD", "ACEF"


def packed(value: int, length: int, sign: str) -> bytes:
    return bytes.fromhex(f"{abs(value):0{2 * length - 1}d}{sign}")


def zoned(value: int, length: int, sign: str) -> bytes:
    digits = f"{abs(value):0{length}d}"
    return bytes.fromhex("".join(f"F{digit}" for digit in digits[:-1]) + sign + digits[-1])


def ascii_zoned(value: int, length: int, sign: str) -> bytes:
    digits = f"{abs(value):0{length}d}"
    last = {"A": "0123456789", "C": "{ABCDEFGHI", "E": "0123456789", "F": "{ABCDEFGHI", "B": "}JKLMNOPQR", "D": "pqrstuvwxy"}
    return (digits[:-1] + last[sign][int(digits[-1])]).encode()


def text_of(page: str) -> Callable[[bytes], Any]:
    if page != "cp1047":
        return lambda field: field.decode(page)
    other = bytes.maketrans(bytes.fromhex("5FADB0BABBBD"), bytes.fromhex("B0BA5FADBDBB"))  # Python has no 1047
    return lambda field: field.translate(other).decode("cp037")


NUMBERS = {"packed": packed, "zoned": zoned, "ascii": ascii_zoned}


def sort(run: Run, directory: Path, data: bytes, size: int, *words: str) -> bytes:
    (directory / "in").write_bytes(data)
    succeeded(run("sort", "in", "-o", "out", "--record-size", str(size), *words, cwd=directory))
    return (directory / "out").read_bytes()


# --- order -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("length", [1, 2, 8, 9, 16])
def test_numbers(run: Run, tmp_path: Path, kind: str, length: int) -> None:
    """All signs; -0 is 0, so that records keep their order; also beyond the 12 bytes that are compared first."""
    rng = random.Random(length)
    digits = 2 * length - 1 if kind == "packed" else length
    values = [
        0,
        0,
        *(int(rng.choice("19") * rng.randint(1, digits)) for _ in range(40)),
        *(rng.randrange(10**digits) for _ in range(200)),
    ]
    signed = [(-value if sign in MINUS else value, sign) for value in values for sign in rng.sample(MINUS + PLUS, 3)]
    rng.shuffle(signed)
    records = [(value, b"%04d" % i + NUMBERS[kind](value, length, sign)) for i, (value, sign) in enumerate(signed)]
    type_ = "packed" if kind == "packed" else "zoned"
    for words, reverse in (([], False), ([":desc"], True)):
        out = sort(run, tmp_path, b"".join(r for _, r in records), 4 + length, "--key", f"4:{length}:{type_}{''.join(words)}")
        expected = sorted(records, key=lambda pair: -pair[0] if reverse else pair[0])
        assert out == b"".join(record for _, record in expected), "each record with its own bytes, signs, too"


@pytest.mark.parametrize("page", ["cp037", "cp500", "cp1047", "cp1140"])
def test_texts(run: Run, tmp_path: Path, page: str) -> None:
    every = [bytes([a, (7 * a) % 256, 0xC1]) for a in range(256)] + [b"\xc1\xc2" + bytes([a]) for a in range(256)]
    random.Random(1).shuffle(every)
    out = sort(run, tmp_path, b"".join(every), 3, "--key", f"0:3:{page}")
    assert out == b"".join(sorted(every, key=text_of(page)))


def test_several_fields_in_several_passes(run: Run, tmp_path: Path) -> None:
    """The keys of stored runs and of the merge, and fields of which none can be loaded as a word."""
    rng = random.Random(3)
    rows = [(rng.choice(("AB", "Ab", "09", "a ")), rng.randrange(-50, 50), i) for i in range(50_000)]
    data = b"".join(text.encode("cp037") + packed(n, 3, "D" if n < 0 else "C") + b"%07d" % i for text, n, i in rows)
    words = ("--key", "0:2:cp037:desc", "--key", "2:3:packed", "--memory", "2MiB", "--stats", str(tmp_path / "stats"))
    out = sort(run, tmp_path, data, 12, *words)
    assert read_json(tmp_path / "stats")["plan"]["keys"] == ["0:2:cp037:desc", "2:3:packed"]
    assert read_json(tmp_path / "stats")["plan"]["shape"] != "one pass"
    rows.sort(key=lambda row: row[1])
    rows.sort(key=lambda row: row[0], reverse=True)
    assert [int(out[i + 5 : i + 12]) for i in range(0, len(out), 12)] == [row[2] for row in rows]


# --- what is no number -------------------------------------------------------------------------------------------------

WRONG = {
    "packed": ["123451", "1A345C", "12F45C", "404040", "000000"],
    "zoned": ["404040", "F1C2C3", "31F2C3", "313220", "F1F2CA", "31327A", "31325A", "3132C3"],
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_no_number_is_refused(run: Run, tmp_path: Path, kind: str) -> None:
    good = b"".join((packed if kind == "packed" else zoned)(n, 3, "C") for n in range(200))
    (tmp_path / "a").write_bytes(good)
    for field in map(bytes.fromhex, WRONG[kind]):
        (tmp_path / "b").write_bytes(good[:9] + field + good)
        done = run("sort", "a", "b", "-o", "out", "--record-size", "3", "--key", f"0:3:{kind}", cwd=tmp_path)
        assert done.returncode == 2, field
        assert "'b': record 3 (counted from 0) cannot be ordered" in done.stderr
        assert f"its key 0:3:{kind} holds {field.hex().upper()}, which is no number" in done.stderr
        assert not (tmp_path / "out").exists()


def test_every_command_refuses_it(run: Run, tmp_path: Path) -> None:
    """They read records on other ways: a stream, sorted files, a check, slices."""
    good = b"".join(packed(n, 2, "C") for n in range(100))
    (tmp_path / "bad").write_bytes(good + b"\x99\x99")
    (tmp_path / "good").write_bytes(good)
    record = ("--record-size", "2", "--key", "0:2:packed")
    (tmp_path / "slices").mkdir()
    write_splitters(tmp_path / "splitters", [(packed(50, 2, "C"), 0, 0)])
    for words in (
        ("merge", "good", "bad", "-o", "out", *record),
        ("partition", "records", "bad", "--splitters", "splitters", "--report", "report", "-o", "slices", *record),
        ("check", "records", "bad", *record),
    ):
        done = run(*words, cwd=tmp_path)
        assert done.returncode == 2, words
        assert "record 100 (counted from 0) cannot be ordered: its key 0:2:packed holds 9999" in done.stderr
        assert not (tmp_path / "out").exists()
    with (tmp_path / "bad").open("rb") as stream:
        done = run("sort", "-", "-o", "out", *record, cwd=tmp_path, stdin=stream)
    assert done.returncode == 2
    assert "record 100 (counted from 0)" in done.stderr


def test_in_place_takes_no_key_that_may_be_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(packed(1, 2, "C") * 4)
    done = run("inplace", "a", "--record-size", "2", "--key", "0:2:packed", cwd=tmp_path)
    assert done.returncode == 2
    assert "packed and zoned are not available in place" in done.stderr


# --- GnuCOBOL ----------------------------------------------------------------------------------------------------------

PROGRAM = """
       IDENTIFICATION DIVISION.
       PROGRAM-ID. SORTIT.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F-IN ASSIGN TO "in" ORGANIZATION IS SEQUENTIAL.
           SELECT F-OUT ASSIGN TO "cobol" ORGANIZATION IS SEQUENTIAL.
           SELECT F-MADE ASSIGN TO "made" ORGANIZATION IS SEQUENTIAL.
           SELECT W ASSIGN TO "work".
       DATA DIVISION.
       FILE SECTION.
       FD F-IN.
       01 R-IN PIC X(13).
       FD F-OUT.
       01 R-OUT PIC X(13).
       FD F-MADE.
       01 R-MADE.
         05 M-PACKED PIC S9(5) COMP-3.
         05 M-ZONED PIC S9(6).
         05 M-REST PIC 9(4).
       SD W.
       01 R-W.
         05 W-PACKED PIC S9(5) COMP-3.
         05 W-ZONED PIC S9(6).
         05 W-REST PIC X(4).
       WORKING-STORAGE SECTION.
       01 I PIC 9(4).
       PROCEDURE DIVISION.
           OPEN OUTPUT F-MADE.
           PERFORM VARYING I FROM 1 BY 1 UNTIL I > 300
             COMPUTE M-PACKED = FUNCTION MOD(I * 7919, 19) - 9
             COMPUTE M-ZONED = FUNCTION MOD(I * 104729, 199999) - 99999
             MOVE I TO M-REST
             WRITE R-MADE
           END-PERFORM.
           CLOSE F-MADE.
           CALL "SYSTEM" USING "cp made in".
           SORT W ON ASCENDING KEY W-PACKED DESCENDING KEY W-ZONED
             USING F-IN GIVING F-OUT.
           STOP RUN.
"""


@capabilities.only_in_soak  # the compiler takes a second
def test_as_gnucobol_sorts(run: Run, tmp_path: Path, require: Require) -> None:
    """Its arithmetic writes the numbers, and its SORT orders them."""
    require("cobc")
    (tmp_path / "sortit.cob").write_text(PROGRAM)
    subprocess.run(["cobc", "-x", "sortit.cob"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run(["./sortit"], cwd=tmp_path, check=True, capture_output=True)
    data = (tmp_path / "in").read_bytes()
    assert len(data) == 13 * 300
    out = sort(run, tmp_path, data, 13, "--key", "0:3:packed", "--key", "3:6:zoned:desc")
    assert out == (tmp_path / "cobol").read_bytes()
