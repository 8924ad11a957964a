"""Groups of equal rows: which row of each goes out, and their number, as itertools.groupby and uniq have it.

The groups are spread over the input, so that those of a sort in little memory lie in many runs.
"""

import functools
import itertools
import json
import os
import random
import struct
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

import pytest
from capabilities import SOAK, only_in_soak
from sort_support import Run

Key = tuple[bytes, int]  # `id` ascends, `when` descends


@dataclass(frozen=True)
class Form:
    """A format: how its rows are made, sorted by their two keys, grouped by the first one, and counted."""

    name: str
    row: Callable[[bytes, int, bytes], bytes]
    end: bytes
    words: tuple[str, ...]
    first_key: str
    counted: Callable[[int, bytes], bytes]
    header: bytes = b""
    counted_header: bytes = b""
    least: tuple[str, ...] = ("--memory", "1MiB", "--threads", "2")

    def file(self, rows: Sequence[bytes], is_counted: bool = False) -> bytes:
        return (self.counted_header if is_counted else self.header) + b"".join(row + self.end for row in rows)


FORMS = {
    form.name: form
    for form in (
        Form(
            "lines",
            lambda id_, when, text: b"%b %04d %b" % (id_, when, text),
            b"\n",
            ("lines", "-k1,1", "-k2,2r"),
            "1,1",
            lambda count, row: b"%7d " % count + row,
            least=("-S", "1M", "--parallel", "2"),
        ),
        Form(
            "csv",
            lambda id_, when, text: b'%b,%04d,"%b"' % (id_, when, text.replace(b"x", b',"",\n')),
            b"\r\n",
            ("csv", "--by", "id", "--by", "when:integer:desc"),
            "id",
            lambda count, row: b"%d," % count + row,
            header=b"id,when,text\r\n",
            counted_header=b"count,id,when,text\r\n",
        ),
        Form(
            "jsonl",
            lambda id_, when, text: b' {"id": "%b","when":%d,"text":"%b"}' % (id_, when, text),
            b"\n",
            ("jsonl", "--by", "id", "--by", "when:integer:desc"),
            "id",
            lambda count, row: row.replace(b"{", b'{"count":%d,' % count, 1),
        ),
        Form(
            "records",
            lambda id_, when, text: struct.pack("<8sI36s", id_, when, text),
            b"",
            ("sort", "--record-size", "48", "--key", "0:8", "--key", "8:u32:desc"),
            "0:8",
            lambda count, row: struct.pack("<Q", count) + row,
            least=("--memory", "2MiB", "--threads", "2", "--run-records", "4000"),
        ),
    )
}


@functools.cache
def some_rows(form: Form, count: int = 30_000) -> list[tuple[Key, bytes]]:
    """Rows with their keys: one large group, many small ones, and single rows; a third of the rows repeat another one."""
    rng = random.Random(5)
    rows: list[tuple[Key, bytes]] = []
    for number in range(count):
        kind = rng.randrange(8)
        id_ = b"many" if kind == 0 else b"%05d" % (rng.randrange(count // 20) if kind < 6 else 10_000 + number)
        when = rng.randrange(4 if kind < 3 else 1000)
        text = b"%05d%b" % (rng.randrange(3), rng.choice([b"", b"x", b"abc"]) * rng.randrange(8))
        rows.append(((id_, -when), form.row(id_, when, text)))
        if kind in (3, 6):
            rows[-1] = rng.choice(rows)
    return rows


GROUPINGS = ("keys", "first_key", "rows")
POLICIES = (
    ("--unique",), ("--unique", "--keep", "last"), ("--count",), ("--count", "--keep", "last"), ("--repeated",),
    ("--repeated", "--keep", "last"), ("--singles",), ("--count", "--repeated"), ("--count", "--singles"),
)  # fmt: skip


@functools.cache
def groups_of(form: Form, grouping: str, count: int) -> list[list[bytes]]:
    """The groups of some_rows() in their order."""
    by_all = grouping == "rows"
    ordered = sorted(some_rows(form, count), key=(lambda row: row) if by_all else (lambda row: row[0]))
    of_group: Callable[[tuple[Key, bytes]], object] = {
        "keys": lambda row: row[0],
        "first_key": lambda row: row[0][0],
        "rows": lambda row: row,
    }[grouping]
    return [[row for _, row in group] for _, group in itertools.groupby(ordered, of_group)]


def expected(form: Form, policy: Sequence[str], groups: Sequence[Sequence[bytes]]) -> tuple[bytes, int]:
    """The output, and the number of rows in its groups."""
    out, in_groups = [], 0
    for members in groups:
        if ("--repeated" in policy and len(members) == 1) or ("--singles" in policy and len(members) > 1):
            continue
        row = members[-1 if "last" in policy else 0]
        out.append(form.counted(len(members), row) if "--count" in policy else row)
        in_groups += len(members)
    return form.file(out, "--count" in policy), in_groups


def grouping_words(form: Form, grouping: str) -> tuple[str, ...]:
    return {"keys": (), "first_key": ("--unique-by", form.first_key), "rows": ("--unique-rows",)}[grouping]


def sorted_by(ecosort: Path, directory: Path, words: Sequence[str]) -> bytes:
    done = subprocess.run([ecosort, *words, "-o", "out"], cwd=directory, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), words
    return (directory / "out").read_bytes()


@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("name", FORMS)
def test_one_row_of_each_group_goes_out(ecosort: Path, tmp_path: Path, name: str, grouping: str) -> None:
    """Spilled to runs, or in memory: each two of policy, grouping and form meet in both ways. The report adds up."""
    form = FORMS[name]
    rows = some_rows(form)
    (tmp_path / "in").write_bytes(form.file([row for _, row in rows]))
    sizes = sizes_of_groups(grouping, rows)
    first_turn = GROUPINGS.index(grouping) + list(FORMS).index(name)
    for turn, policy in enumerate(POLICIES, first_turn):
        if not SOAK and turn % 3 == 2:
            continue
        output, in_groups = expected(form, policy, groups_of(form, grouping, len(rows)))
        words = [*form.words, *policy, *grouping_words(form, grouping), "in", "--quiet", "--stats", "stats"]
        if SOAK or turn % 3 == 0:
            assert sorted_by(ecosort, tmp_path, words) == output, policy
        if not SOAK and turn % 3 != 1:
            continue
        assert sorted_by(ecosort, tmp_path, [*words, *form.least]) == output, policy
        stats = json.loads((tmp_path / "stats").read_text())
        unit = "rows" if name in ("csv", "jsonl") else name
        assert stats["runs"] > 3
        counted_rows = in_groups if "--count" in policy else 0
        assert (stats[unit], stats[f"{unit}_counted"]) == (len(rows), counted_rows), policy
        went_out = len(rows) - stats[f"{unit}_dropped"]
        assert stats["output_bytes"] == len(output)
        least, most = (2 if "--repeated" in policy else 1), (1 if "--singles" in policy else len(rows))
        assert went_out == sum(least <= size <= most for size in sizes)


def sizes_of_groups(grouping: str, rows: Sequence[tuple[Key, bytes]]) -> list[int]:
    of_group = {"keys": itemgetter(0), "first_key": lambda row: row[0][0], "rows": lambda row: row}[grouping]
    return list(Counter(map(of_group, rows)).values())


@pytest.mark.parametrize("name", FORMS)
def test_sorted_files_are_merged_in_groups(ecosort: Path, tmp_path: Path, name: str) -> None:
    """More files than a merge in little memory takes at a time: what the end of a group decides, only the last merge may do."""
    form = FORMS[name]
    rows = some_rows(form, 6000)
    files = [f"part{number:02}" for number in range(40)]
    for number, file in enumerate(files):
        part = sorted(rows[number * len(rows) // 40 : (number + 1) * len(rows) // 40], key=lambda row: row[0])
        (tmp_path / file).write_bytes(form.file([row for _, row in part]))
    merge = ["merge", *form.words[1:]] if name == "records" else [*form.words, "--merge"]
    few = ["--batch-size", "7"] if name == "lines" else ["--memory", "1MiB"]
    for turn, policy in enumerate(POLICIES, list(FORMS).index(name)):
        for grouping in ("keys", "first_key") if SOAK else ("keys", "first_key")[turn % 2 :][:1]:
            output, _ = expected(form, policy, groups_of(form, grouping, len(rows)))
            words = [*merge, *few, *policy, *grouping_words(form, grouping), "--quiet", *files]
            assert sorted_by(ecosort, tmp_path, words) == output, (policy, grouping)


COMPRESSIONS = ("none", "prefix", "zstd")


@pytest.mark.parametrize("compress", COMPRESSIONS)
def test_lines_come_as_uniq_has_them(ecosort: Path, tmp_path: Path, compress: str) -> None:
    """Runs without what rows share with the row before them have no row at rest: the one that stays is copied."""
    rng = random.Random(6)
    lines = [b"/a/long/common/path/%d/%b\n" % (rng.randrange(3000), b"x" * rng.randrange(3)) for _ in range(60_000)]
    (tmp_path / "in").write_bytes(b"".join(lines) + b"\n\n/a")
    environment = {**os.environ, "LC_ALL": "C"}
    subprocess.run(["sort", "in", "-o", "sorted"], cwd=tmp_path, env=environment, check=True)
    policies = (("-c", ["--count"]), ("-d", ["--repeated"]), ("-u", ["--singles"]), ("-cd", ["--count", "--repeated"]))
    memories = (["-S", "1M"], ["-S", "1M", "--batch-size", "3"], [])
    for turn, (option, words) in enumerate(policies, COMPRESSIONS.index(compress)):
        uniq = subprocess.run(["uniq", option, "sorted"], cwd=tmp_path, env=environment, capture_output=True, check=True)
        for more in memories if SOAK else (memories[turn % 3],):
            assert sorted_by(ecosort, tmp_path, ["lines", f"--compress={compress}", *words, *more, "in"]) == uniq.stdout


def test_rows_longer_than_blocks_are_counted(ecosort: Path, tmp_path: Path) -> None:
    """A count, its row and the row's end may each lie in two blocks of the output."""
    rng = random.Random(7)
    lines = sorted(b"%d" % rng.randrange(9) * rng.choice([1, 8000, 8183, 8184, 8192, 20_000]) + b"\n" for _ in range(400))
    (tmp_path / "in").write_bytes(b"".join(rng.sample(lines, len(lines))))
    output = b"".join(b"%7d " % len(list(group)) + line for line, group in itertools.groupby(lines))
    for words in (["-S", "1M"], ["-S", "1M", "-u"], ["-S", "64M"]):
        assert sorted_by(ecosort, tmp_path, ["lines", "--count", *words, "in"]) == output


def test_large_records_are_counted(ecosort: Path, tmp_path: Path) -> None:
    """A block of the output holds a record and its count even where both just fit."""
    for size in (4096, 65_536, 1 << 20):
        records = [bytes([number % 3]) * size for number in range(12)]
        (tmp_path / "in").write_bytes(b"".join(records))
        output = b"".join(struct.pack("<Q", 4) + record for record in records[:3])
        for memory in ("24MiB", "64MiB"):
            words = ["sort", "--record-size", str(size), "--key", "0:1", "--count", "--memory", memory, "--quiet", "in"]
            assert sorted_by(ecosort, tmp_path, words) == output


@pytest.mark.parametrize("rows", [300_000, pytest.param(10_000_000, marks=only_in_soak)])
@pytest.mark.parametrize("name", FORMS)
def test_one_huge_group_takes_no_more_memory(ecosort: Path, tmp_path: Path, name: str, rows: int) -> None:
    form = FORMS[name]
    row = form.row(b"one", 1, b"")
    with (tmp_path / "in").open("wb") as file:
        file.write(form.header)
        for _ in range(10):
            file.write((row + form.end) * (rows // 10))
    words = [*form.words, *form.least, "--count", "in", "--quiet", "--stats", "stats"]
    assert sorted_by(ecosort, tmp_path, words) == form.file([form.counted(rows, row)], is_counted=True)
    stats = json.loads((tmp_path / "stats").read_text())
    assert stats["peak_counted_memory_bytes"] <= 2 << 20


# ---- What is refused, each in one line that says what to do.


REFUSED = [
    (("csv", "--by", "a", "--by", "b", "--unique-by", "b"), "write 'a' in place of 'b', or sort by that first"),
    (("csv", "--by", "a", "--unique-by", "a", "--unique-by", "b"), "only, which has 1: leave 'b' out, or sort by it, too"),
    (("csv", "--by", "a:number:desc", "--unique-by", "a:text:desc"), "write 'a:number:desc' in place of 'a:text:desc'"),
    (("csv", "--by", "a", "--unique-by", "a", "--unique-rows"), "by some keys or as a whole: leave one of them out"),
    (("csv", "--by", "a", "--keep", "last"), "ask for unique rows, too"),
    (("csv", "--by", "a", "--count-name", "n"), "a name for the count needs a count"),
    (("csv", "--by", "a", "--repeated", "--singles"), "nothing would stay"),
    (("csv", "--by", "a", "--singles", "--keep", "last"), "what stays has no equal"),
    (("csv", "--by", "a", "--count", "--resumable"), "--resumable cannot be combined with --unique-by"),
    (("csv", "--by", "a", "--count", "--verify", "reread"), "cannot be verified by reading it again"),
    (("csv", "--by", "a", "--check", "--count"), "writes nothing: leave --count"),
    (("csv", "--by", "a", "--count", "--count-name", "b"), "has a column 'b' already: choose another name"),
    (("csv", "--by", "a", "--count", "--count-name", "a,", "--quote", "none"), "where there are no quotes"),
    (("jsonl", "--by", "a", "--count", "--count-name", "b"), "line 1, byte 11: the object has a member 'b' already"),
    (("jsonl", "--by", "a", "--allow-missing", "--count", "--count-name", "c"), "line 2, byte 14: this is no object"),
    (("lines", "--unique-by", "1,1"), "which has none: leave '1,1' out"),
    (("lines", "-k1,1n", "--unique-by", "1,1", "--count", "--inplace"), "--inplace keeps every line"),
    (("lines", "-k1,1", "-s", "--unique-rows"), "cannot be combined with a stable order"),
    (("sort", "--record-size", "4", "--key", "0:1", "--unique-by", "0:2"), "write '0:1' in place of '0:2'"),
    (("sort", "--record-size", "4", "--key", "0:1", "--count", "--resumable"), "--resumable cannot be combined with --unique-by"),
    (("merge", "--runs", "--count"), "merge --runs"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "why"), REFUSED)
def test_what_cannot_be_is_refused(ecosort: Path, tmp_path: Path, words: tuple[str, ...], why: str) -> None:
    (tmp_path / "in").write_bytes(b'{"a":1,"b":2}\n[3]' + b"\n" if words[0] == "jsonl" else b"a,b\n1,2\n")
    output = () if "--inplace" in words or "--check" in words else ("-o", "out")
    done = subprocess.run([ecosort, *words, *output, "in"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert why in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_counts_have_a_place_in_every_table(ecosort: Path, tmp_path: Path) -> None:
    """Behind a byte order mark, lines in front of the header and one that names the delimiter; in empty objects; with a name that
    wants quotes.
    """
    (tmp_path / "in").write_bytes(b"\xef\xbb\xbfsep=;\na;b\n1;2\n1;3\n")
    words = ["csv", "--by", "a", "--count", "--count-name", 'n;"', "-q", "in"]
    assert sorted_by(ecosort, tmp_path, words) == b'\xef\xbb\xbfsep=;\n"n;""";a;b\n2;1;2\n'
    (tmp_path / "in").write_bytes(b"1,2\n1,3\n")
    assert sorted_by(ecosort, tmp_path, ["csv", "--no-header", "--by", "1", "--count", "-q", "in"]) == b"2,1,2\n"
    (tmp_path / "in").write_bytes(b'Title, "odd\n# made by us\na,b\n1,2\n1,3\n')
    for memory in ("1MiB", "64MiB"):
        words = ["csv", "--skip", "1", "--comment", "#", "--by", "a", "--count", "--memory", memory, "-q", "in"]
        assert sorted_by(ecosort, tmp_path, words) == b'Title, "odd\n# made by us\ncount,a,b\n2,1,2\n'
    (tmp_path / "in").write_bytes(b'{}\n\n { }\n{"a":1}\n')
    words = ["jsonl", "--by", "a", "--count", "--count-name", 'n"', "-q", "in"]
    assert sorted_by(ecosort, tmp_path, words) == b'{"n\\"":1,"a":1}\n{"n\\"":2}\n'


def test_a_request_has_groups(run: Run, tmp_path: Path) -> None:
    """C and other programs write it so."""
    (tmp_path / "in").write_bytes(b"a,b\n2,x\n1,x\n1,y\n2,y\n2,z\n")
    request = {
        "schema": "ecosort.request/1",
        "inputs": ["in"],
        "csv": {"keys": ["a", "b:text:desc"]},
        "groups": {"by": ["a"], "only": "repeated", "keep": "last", "count": True, "count_name": "n"},
        "place": {"output": "out"},
    }
    (tmp_path / "request").write_text(json.dumps(request))
    done = run("run", "request", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out").read_text() == "n,a,b\n2,1,x\n3,2,x\n"


def test_a_check_knows_groups(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a,b\n1,2\n1,3\n")
    for words, code in (((), 0), (("--unique",), 0), (("--unique-rows",), 0), (("--unique-by", "a"), 1)):
        check = [ecosort, "csv", "--check", "--by", "a", "--by", "b", *words, "in"]
        assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode == code, words
