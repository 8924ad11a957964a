"""Tables with escapes and with delimiters of several bytes, as MySQL, Hive and others write them.

The oracle writes each row from its values, and so never reads one: rows must come out byte for byte, in the order of the values.
"""

import itertools
import json
import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from csv_support import LEAST, run_csv
from partition_support import slices
from sort_support import listing

LETTERS = {0: b"0", 8: b"b", 9: b"t", 10: b"n", 13: b"r", 26: b"Z"}


@dataclass(frozen=True)
class Dialect:
    delimiter: bytes
    quote: bytes = b'"'
    escape: bytes = b""

    def words(self) -> list[str]:
        delimiter = "".join(f"\\x{byte:02x}" for byte in self.delimiter)
        escape = ["--escape", self.escape.decode()] if self.escape else []
        return ["--delimiter", delimiter, "--quote", self.quote.decode() or "none", *escape]

    def value(self, rng: random.Random) -> bytes:
        """Returns bytes most of which mean something."""
        special = [*(bytes([byte]) for byte in self.delimiter + b"\n\r\0\x1a\t"), self.delimiter, self.quote, self.escape]
        text = b"".join(rng.choice([*special, b"a", b"N", b"n", b"xyz "]) for _ in range(rng.choice([0, 1, 2, 5, 9])))
        if self.quote or self.escape:
            return text
        return text.replace(self.delimiter[:1], b"").replace(b"\n", b"")

    def field(self, value: bytes, rng: random.Random) -> bytes:
        """Writes the value in one of the ways there are, with as many escapes as are needed, or more."""
        if self.quote and (not self.escape or rng.random() < 0.4):
            is_needed = any(mark in value for mark in (self.delimiter[:1], self.quote, b"\n", b"\r"))
            if not (is_needed or self.escape or rng.random() < 0.2):
                return value
            escaped = value.replace(self.escape, self.escape * 2) if self.escape else value
            mark = rng.choice([self.quote, self.escape]) or self.quote
            return self.quote + escaped.replace(self.quote, mark + self.quote) + self.quote
        if not self.escape:
            return value
        if not value and rng.random() < 0.3:
            return self.escape + b"N"
        return b"".join(self.escaped(byte, rng) for byte in value)

    def escaped(self, byte: int, rng: random.Random) -> bytes:
        raw = bytes([byte])
        if byte in LETTERS and rng.random() < 0.5:
            return self.escape + LETTERS[byte]
        must = raw in self.delimiter + self.quote + self.escape + b"\n\r"
        return self.escape + raw if must or (rng.random() < 0.1 and not raw.isalnum()) else raw

    def row(self, values: Sequence[bytes], rng: random.Random, end: bytes = b"\n") -> bytes:
        return self.delimiter.join(self.field(value, rng) for value in values) + end


DIALECTS = {
    "two bars": Dialect(b"||"),
    "two bars, no quotes": Dialect(b"||", quote=b""),
    "eight bytes": Dialect(b"<-sep->."),
    "overlapping": Dialect(b"aba", quote=b"'"),
    "escapes and quotes": Dialect(b",", escape=b"\\"),
    "MySQL": Dialect(b"\t", quote=b"", escape=b"\\"),
    "Hive": Dialect(b"\x01", quote=b"", escape=b"\\"),
    "both": Dialect(b"||", quote=b"'", escape=b"\\"),
    "another escape": Dialect(b"::", quote=b"", escape=b"^"),
}
Row = tuple[list[bytes], bytes]
HEADER = [b"key", b"n", b"text"]


def table(dialect: Dialect, rng: random.Random, rows: int, end: bytes = b"\n") -> list[Row]:
    """Makes some rows with long values, so that borders of blocks lie anywhere in them."""
    result = []
    for i in range(rows):
        text = dialect.value(rng) * (rng.choice([1] * 40 + [60] * 9 + [1500]) if rows > 100 else 1)
        if not (dialect.quote or dialect.escape):
            text = text.rstrip(b"\r")
        values = [dialect.value(rng), b"%d" % i, text]
        result.append((values, dialect.row(values, rng, end)))
    return result


def in_order(rows: Sequence[Row]) -> list[bytes]:
    """Empty keys come last."""
    return [raw for _, raw in sorted(rows, key=lambda row: (not row[0][0], row[0][0]))]


WAYS = [("1MiB", "1"), ("1MiB", "3"), ("64MiB", "2")]


@pytest.mark.parametrize(("name", "end"), [*((name, b"\n") for name in DIALECTS), ("MySQL", b"\r\n"), ("both", b"\r\n")])
def test_rows_come_out_as_they_are_in_the_order_of_their_values(ecosort: Path, tmp_path: Path, name: str, end: bytes) -> None:
    """Memory and threads make no difference; bad rows go to a file."""
    dialect, rng = DIALECTS[name], random.Random(f"{name} {end!r}")
    header = dialect.delimiter.join(HEADER) + end
    rows = table(dialect, rng, 4000, end)
    bad = [dialect.delimiter.join([b"x"] * count) + end for count in (1, 2, 4, 5)]
    if dialect.quote:
        bad.append(dialect.delimiter.join([b"x", b'y"z'.replace(b'"', dialect.quote), b"z"]) + end)
    raw = [row for _, row in rows]
    (tmp_path / "good").write_bytes(header + b"".join(raw))
    aside = [rng.choice(bad) for _ in range(200)]
    for row in aside:
        raw.insert(rng.randrange(len(raw)), row)
    (tmp_path / "in").write_bytes(header + b"".join(raw))
    wanted = header + b"".join(in_order(rows))
    words = [*dialect.words(), "--by", "key"]
    for memory, threads in WAYS:
        more = ["--memory", memory, "--threads", threads, "-o", "out"]
        assert run_csv(ecosort, ["-q", *words, *more, "good"], tmp_path) == (0, b"", "")
        assert (tmp_path / "out").read_bytes() == wanted
        code, _, error = run_csv(ecosort, [*words, *more, "in", "--bad-rows", "bad", "--stats", "stats"], tmp_path)
        assert code == 0, error
        assert (tmp_path / "out").read_bytes() == wanted
        assert sorted((tmp_path / "bad").read_bytes().splitlines(keepends=True)) == sorted(aside)
        assert json.loads((tmp_path / "stats").read_text())["bad_rows"] == len(aside)


@pytest.mark.parametrize("name", DIALECTS)
def test_ways_of_sorting_read_the_same_rows(ecosort: Path, tmp_path: Path, name: str) -> None:
    dialect, rng = DIALECTS[name], random.Random(name)
    header = dialect.delimiter.join(HEADER) + b"\n"
    rows = table(dialect, rng, 2000)
    wanted = in_order(rows)
    (tmp_path / "in").write_bytes(header + b"".join(raw for _, raw in rows))
    words = ["-q", *dialect.words(), "--by", "key"]
    by_number = ["-q", *dialect.words(), "--by", "#2:integer"]

    for i, some in enumerate((rows[:500], rows[500:])):
        (tmp_path / f"part{i}").write_bytes(header + b"".join(in_order(some)))
    merged = run_csv(ecosort, [*words, "--merge", "part0", "part1", "-o", "merged"], tmp_path)
    assert (merged[0], (tmp_path / "merged").read_bytes()) == (0, header + b"".join(wanted)), merged
    assert run_csv(ecosort, [*words, "--check", "merged"], tmp_path) == (0, b"", "")
    assert run_csv(ecosort, [*words, "--check", "in"], tmp_path)[0] == 1

    resumable = run_csv(ecosort, [*words, *LEAST, "--resumable", "in", "-o", "kept"], tmp_path)
    assert (resumable[0], (tmp_path / "kept").read_bytes()) == (0, header + b"".join(wanted)), resumable
    again = run_csv(ecosort, [*by_number, "--verify", "reread", *LEAST, "kept", "-o", "again"], tmp_path)
    assert (again[0], (tmp_path / "again").read_bytes()) == (0, (tmp_path / "in").read_bytes()), again

    split = run_csv(ecosort, [*words, *LEAST, "--split", "rows=300", "in", "-o", "part-{}.csv"], tmp_path)
    assert split[0] == 0, split
    files = sorted(tmp_path.glob("part-*.csv"))
    parts = [b"".join(wanted[at : at + 300]) for at in range(0, len(wanted), 300)]
    assert [file.read_bytes() for file in files] == [header + part for part in parts]

    shuffle = [ecosort, "shuffle", "-q", "--csv", *dialect.words(), *LEAST, "--seed", "1", "in", "-o", "shuffled"]
    subprocess.run(shuffle, cwd=tmp_path, check=True)
    assert (tmp_path / "shuffled").read_bytes() != (tmp_path / "in").read_bytes()
    back = run_csv(ecosort, [*by_number, "shuffled", "-o", "back"], tmp_path)
    assert (back[0], (tmp_path / "back").read_bytes()) == (0, (tmp_path / "in").read_bytes()), back


@pytest.mark.parametrize("name", ["two bars", "escapes and quotes", "MySQL", "both"])
def test_ranges_of_a_file_have_the_rows_that_begin_in_them(ecosort: Path, tmp_path: Path, name: str) -> None:
    """A cluster reads them so; whatever byte a range begins with, even one behind an escape."""
    dialect, rng = DIALECTS[name], random.Random(name)
    header = dialect.delimiter.join(HEADER) + b"\n"
    rows = table(dialect, rng, 40)
    data = header + b"".join(raw for _, raw in rows)
    (tmp_path / "in").write_bytes(data)
    (tmp_path / "splitters").write_bytes(b"")
    words = ["partition", "csv", *dialect.words(), "--by", "key", "--memory", "8MiB", "--splitters", "splitters"]
    begins = set(itertools.accumulate((len(raw) for _, raw in rows), initial=len(header)))
    for cut in rng.sample(range(len(header), len(data)), 20):
        halves = []
        for bound in ("--to", "--from"):
            more = [bound, str(cut), "--report", "report", "-o", ".", "--overwrite", "in"]
            subprocess.run([ecosort, *words, *more], cwd=tmp_path, check=True)
            halves.append(slices(tmp_path)[0].removeprefix(header))
        assert b"".join(halves) == data.removeprefix(header), cut
        assert len(header) + len(halves[0]) == min(begin for begin in begins if begin >= cut), cut


@pytest.mark.parametrize("threads", ["1", "3"])
def test_an_escape_may_lie_at_any_border(ecosort: Path, tmp_path: Path, threads: str) -> None:
    """Borders are those of 64 bytes, of 8 KiB, of blocks and of parts: runs of escapes are in front of a newline."""
    rng = random.Random(3)
    rows = []
    for i in range(4000):
        value = b"%04d" % rng.randrange(10_000) + b"\\\\" * rng.randrange(70) + b"\\\n" * rng.randrange(3) + b"\\,end"
        rows.append((value.replace(b"\\\\", b"\0").replace(b"\\", b"").replace(b"\0", b"\\"), value + b",%d\n" % i))
    header = b"key,i\n"
    (tmp_path / "in").write_bytes(header + b"".join(raw for _, raw in rows))
    words = ["-q", "--escape", "\\", "--by", "key", *LEAST, "--threads", threads, "in", "-o", "out"]
    assert run_csv(ecosort, words, tmp_path) == (0, b"", "")
    assert (tmp_path / "out").read_bytes() == header + b"".join(raw for _, raw in sorted(rows, key=lambda row: row[0]))


ESCAPE_ENDS = "the row ends with an escape"


@pytest.mark.parametrize(("data", "words", "out"), [
    (b"a,b\n2,x\n1,y\\\n", [], b'a,b\n1,y\\\n\n2,x\n'),  # a newline is the end of the value, and its row lacks one
    (b"a\n2\n1\n# it\\\n", ["--comment", "#"], b"a\n1\n2\n"),
    (b"a,b\n2,x\n# it\\\n1,y\n# \\", ["--comment", "#"], b"a,b\n1,y\n2,x\n"),
    (b"a,b\n2,x\n1,y\\", ["--bad-rows", "skip"], b"a,b\n2,x\n"),
    (b'a,b\n2,x\n1,y"\\\n0,z\n', ["--bad-rows", "skip"], b"a,b\n0,z\n2,x\n"),
    (b"n,c\n3,x\n3,y\n1,z\n", ["--count", "--count-name", "a,\\b"], b"a\\,\\\\b,n,c\n1,1,z\n2,3,x\n"),
])  # fmt: skip
def test_ends_of_files_with_escapes(ecosort: Path, tmp_path: Path, data: bytes, words: list[str], out: bytes) -> None:
    for more in ([], ["--threads", "3"]):
        done = run_csv(ecosort, ["-q", "--escape", "\\", "--by", "#1", *words, *more, "-", "-o", "-"], tmp_path, data)
        assert done == (0, out, "")


@pytest.mark.parametrize(("data", "words", "message"), [
    ("a;b\n", ["--by", "a"], "1.csv: no column 'a'; there are: a;b; did you mean --delimiter ';'?"),
    ("a b\n", ["--by", "a"], "1.csv: no column 'a'; there are: a b"),
    ("x,a||b\n", ["--by", "b"], "1.csv: no column 'b'; there are: x, a||b; did you mean --delimiter '||'?"),
    ("x,1\tb\n", ["--by", "b"], "1.csv: no column 'b'; there are: x, 1\\tb; did you mean --delimiter tab?"),
    ("y\x01b\n", ["--by", "b"], "1.csv: no column 'b'; there are: y\\x01b; did you mean --delimiter '\\x01'?"),
    ("a;b;c\n1;2,5;3\n", ["--by", "#1"],
     "1.csv: line 2, byte 6: the row has 2 fields, and the header has 1 column; did you mean --delimiter ';'?"),
    ("a,b\n1,2,3\n", ["--by", "a"], "1.csv: line 2, byte 4: the row has 3 fields, and the header has 2 columns"),
    ("1|2\n", ["--no-header", "--by", "2"], "key '2': the first row has 1 column; did you mean --delimiter '|'?"),
    ("a;b;c\n", ["--by", "#2"], "1.csv: no column '#2'; the header has 1 column; did you mean --delimiter ';'?"),
    ("a,b\n1,2\\", ["--by", "a", "--escape", "\\"], f"1.csv: line 2, byte 7: {ESCAPE_ENDS}"),
    ("a,b\n", ["--by", "a", "--escape", ","], "the escape cannot be in the delimiter"),
    ("a,b\n", ["--by", "a", "--escape", '"'], "the escape and the quote must differ"),
    ("a,b\n", ["--by", "a", "--escape", "n"], "the escape cannot be a letter or a digit"),
    ("a,b\n", ["--by", "a", "--delimiter", '|"|'], "the quote cannot be in the delimiter"),
    ("a,b\n", ["--by", "a", "--delimiter", "123456789"], "the delimiter '123456789' has 9 bytes; it may have 1 to 8"),
    ("a,b\n", ["--by", "a", "--delimiter", "comma"], "--delimiter: 'comma' is a word; give the delimiter as it is in the file"),
    ("a,b\n", ["--by", "a", "--delimiter", "\\|"], "--delimiter: in '\\|' a backslash is not followed by t, "),
    ("a,b\n", ["--by", "a", "--delimiter", "\r\n"], "neither the delimiter nor the quote can be a byte that ends rows"),
    ("sep=;\na;b\n", ["--by", "a", "--delimiter", "||"], "1.csv: its first line names ';' as the delimiter, and you name '||'"),
    ("sep=#\na#b\n#1\n", ["--by", "b", "--comment", "#"],
     "1.csv: its first line names '#' as the delimiter, with which comments begin as well; take that line off the file"),
    ("a\nb\n", ["--by", "a", "--count", "--count-name", "#n", "--comment", "#"],
     "a header that begins with '#n' would be read as a comment; choose another name"),
])  # fmt: skip
def test_what_a_table_lacks_is_told_with_the_delimiter_that_may_be_meant(
    ecosort: Path, tmp_path: Path, data: str, words: list[str], message: str
) -> None:
    (tmp_path / "1.csv").write_text(data, newline="")
    code, out, error = run_csv(ecosort, [*words, "1.csv", "-o", "out"], tmp_path)
    assert (code, out, error[: len("ecosort: " + message)]) == (2, b"", "ecosort: " + message)
    assert ("did you mean" in error) == ("did you mean" in message), error
    assert listing(tmp_path) == [str(tmp_path / "1.csv")]
