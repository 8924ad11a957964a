"""Files of CSV and JSON lines as people have them: rows that are none, blank lines, comments, lines in front of the header.

The oracle reads a file byte by byte, as docs/recipes.md says what is a row; the program reads it in batches and parts.
"""

import json
import random
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from csv_support import LEAST, run_csv
from sort_support import faults, listing, wait_until

HEADER = b"key,text,end\n"
COLUMNS = 3


@dataclass
class Found:
    rows: list[bytes] = field(default_factory=list)
    bad: list[bytes] = field(default_factory=list)
    bad_lines: list[int] = field(default_factory=list)
    blank: int = 0
    comments: int = 0


def row_at(data: bytes, at: int) -> tuple[int, int]:
    """Returns where the row that begins there ends, behind its newline, and its fields; or where a quote is wrong, and 0."""
    fields = 0
    while True:
        fields += 1
        if data[at : at + 1] == b'"':
            at += 1
            opened = at
            while (close := data.find(b'"', at)) >= 0 and data[close + 1 : close + 2] == b'"':
                at = close + 2
            if close < 0:
                return opened - 1, 0
            at = close + 1
        else:
            while data[at : at + 1] not in (b",", b"\n", b'"'):
                at += 1
            if data[at : at + 1] == b'"':
                return at, 0
        if data[at : at + 2] == b"\r\n":
            at += 1
        if data[at : at + 1] == b"\n":
            return at + 1, fields
        if data[at : at + 1] != b",":
            return at, 0
        at += 1


def found_in(data: bytes, comment: bytes = b"") -> Found:
    """Returns what a file has behind its header."""
    found, at, line = Found(), 0, 2
    data += b"" if data.endswith(b"\n") else b"\n"
    while at < len(data):
        line_end = data.index(b"\n", at) + 1
        end, fields = row_at(data, at)
        begin = at
        if comment and data.startswith(comment, at):
            at = line_end
            found.comments += 1
        elif data[at:line_end] in (b"\n", b"\r\n"):
            at = line_end
            found.blank += 1
        elif fields == COLUMNS:
            at = end
            found.rows.append(data[begin:at])
        else:
            at = end if fields else line_end
            found.bad.append(data[begin:at])
            found.bad_lines.append(line + (0 if fields else data.count(b"\n", begin, end)))
        line += data.count(b"\n", begin, at)
    return found


def rough_file(rng: random.Random, rows: int, wrong: float) -> bytes:
    parts = []
    for i in range(rows):
        key = b"%d" % rng.randrange(1000)
        if rng.random() >= wrong:
            parts.append(key + rng.choice([b",text,%d\n", b',"a ""b"", c",%d\n', b',"two\nlines",%d\r\n', b",,%d\n"]) % i)
            continue
        parts.append(
            rng.choice(
                [
                    key + b",too,many,fields\n",
                    key + b"\n",
                    b"\n",
                    b"\r\n",
                    key + b',5 "ft,%d\n' % i,
                    key + b',"open,%d\n' % i,
                    key + b',"x"y,%d\n' % i,
                    b"# a comment\n",
                    b"# it's \"odd\n",
                    b"#,with,fields\n",
                    key + b',"two\nlines",and,more\n',
                ]
            )
        )
    return b"".join(parts)


def in_order(rows: Sequence[bytes]) -> bytes:
    """Rows whose key is no number come last."""
    keys = [row.split(b",")[0] for row in rows]
    ranks = [(not key.isdigit(), int(key) if key.isdigit() else 0) for key in keys]
    return b"".join(rows[i] for i in sorted(range(len(rows)), key=ranks.__getitem__))


WAYS = [("1MiB", "1"), ("1MiB", "3"), ("64MiB", "2")]


@pytest.mark.parametrize("wrong", [0.02, 0.5])
@pytest.mark.parametrize("comment", [b"", b"#"])
def test_bad_rows_are_set_aside_byte_for_byte(ecosort: Path, tmp_path: Path, wrong: float, comment: bytes) -> None:
    """Memory and threads make no difference: only the lines before it decide what a line is."""
    data = rough_file(random.Random(f"{wrong} {comment!r}"), 20_000, wrong)
    found = found_in(data, comment)
    assert found.bad
    (tmp_path / "in.csv").write_bytes(HEADER + data)
    words = ["--by", "key:integer", "--bad-rows", "bad.csv", "--stats", "stats.json", "in.csv", "-o", "out.csv"]
    if comment:
        words += ["--comment", comment.decode()]
    for memory, threads in WAYS:
        code, _, error = run_csv(ecosort, [*words, "--memory", memory, "--threads", threads], tmp_path)
        assert code == 0, error
        assert (tmp_path / "bad.csv").read_bytes() == b"".join(found.bad)
        assert (tmp_path / "out.csv").read_bytes() == HEADER + in_order(found.rows)
        stats = json.loads((tmp_path / "stats.json").read_text())
        counted = (stats["rows"], stats["bad_rows"], stats["blank_lines"], stats["comments"], stats["rows_dropped"])
        assert counted == (len(found.rows) + len(found.bad), len(found.bad), found.blank, found.comments, 0)
        assert stats["set_aside"]["bytes"] == len(b"".join(found.bad))
        for i, line in enumerate(found.bad_lines[:10]):
            assert f"ecosort: in.csv: line {line}, byte " in error, (i, error)
        assert error.count(": line ") == min(10, len(found.bad))

    code, _, error = run_csv(ecosort, [*["skip" if word == "bad.csv" else word for word in words], *LEAST], tmp_path)
    assert code == 0
    assert (tmp_path / "out.csv").read_bytes() == HEADER + in_order(found.rows)
    assert json.loads((tmp_path / "stats.json").read_text())["set_aside"] is None


def test_short_rows_do_not_make_a_row_together(ecosort: Path, tmp_path: Path) -> None:
    """They have as many borders as a row that has all of its fields."""
    (tmp_path / "in.csv").write_text("a,b,c\n2,x,y\n1\n2\n3\n4,z\n5\n\n\n\n1,p,q\n")
    words = ["-q", "--bad-rows", "bad", "--by", "a", "in.csv", "-o", "-"]
    assert run_csv(ecosort, words, tmp_path) == (0, b"a,b,c\n1,p,q\n2,x,y\n", "")
    assert (tmp_path / "bad").read_text() == "1\n2\n3\n4,z\n5\n"


def test_strict_sets_rows_aside_whose_values_cannot_be_read(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("n,t\n3,a\nx,b\nn,t\n1,c\n,d\n")
    words = ["--strict", "--bad-rows", "bad", "--by", "n:number", "--stats", "stats.json", "in.csv", "-o", "-"]
    code, out, _ = run_csv(ecosort, words, tmp_path)
    assert (code, out) == (0, b"n,t\n1,c\n3,a\n,d\n")
    assert (tmp_path / "bad").read_text() == "x,b\nn,t\n"
    keys = json.loads((tmp_path / "stats.json").read_text())["keys"]
    assert keys == [{"by": "n:number", "empty_values": 1, "unparsable_values": 0}]


def test_json_lines_that_are_none_are_set_aside(ecosort: Path, tmp_path: Path) -> None:
    rng = random.Random(5)
    good = [b'{"n": %d, "i": %d}\n' % (rng.randrange(100), i) for i in range(30_000)]
    bad = [b'{"n": 1\n', b"no json\n", b'{"n": 01}\n']
    lines = [(line, True) for line in good] + [(rng.choice(bad), False) for _ in range(5000)]
    rng.shuffle(lines)
    (tmp_path / "in.jsonl").write_bytes(b"".join(line for line, _ in lines))
    words = ["jsonl", "--by", "n:integer", *LEAST, "--bad-rows", "bad", "--stats", "stats.json", "in.jsonl", "-o", "out"]
    done = subprocess.run([ecosort, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "bad").read_bytes() == b"".join(line for line, is_good in lines if not is_good)
    kept = [line for line, is_good in lines if is_good]
    assert (tmp_path / "out").read_bytes() == b"".join(sorted(kept, key=lambda line: json.loads(line)["n"]))
    assert json.loads((tmp_path / "stats.json").read_text())["bad_rows"] == 5000


@pytest.mark.parametrize("end", ["\n", "\n\n\n", "\r\n\r\n", "\n\r", "\n\n" * 40_000])
@pytest.mark.parametrize("mode", [[], ["--merge"], ["--check"], ["--memory", "1MiB"]])
def test_blank_lines_at_the_end_are_no_rows(ecosort: Path, tmp_path: Path, end: str, mode: list[str]) -> None:
    (tmp_path / "in.csv").write_text("a,b\n1,x\n2,y\n" + end, newline="")
    output = [] if mode == ["--check"] else ["-o", "-"]
    code, out, error = run_csv(ecosort, [*mode, "--by", "a", "in.csv", *output], tmp_path)
    assert (code, out) == (0, b"" if mode == ["--check"] else b"a,b\n1,x\n2,y\n"), error


@pytest.mark.parametrize("mode", [[], ["--merge"], ["--check"]])
@pytest.mark.parametrize("blank", ["\n", "\r\n", "\n" * 100_000])
def test_a_blank_line_among_rows_is_refused(ecosort: Path, tmp_path: Path, mode: list[str], blank: str) -> None:
    (tmp_path / "in.csv").write_text("a,b\n1,x\n" + blank + "2,y\n", newline="")
    output = [] if mode == ["--check"] else ["-o", "-"]
    code, _, error = run_csv(ecosort, [*mode, "--by", "a", "in.csv", *output], tmp_path)
    assert (code, error[:40]) == (2, "ecosort: in.csv: line 3, byte 8: the line"[:40])


def test_a_header_is_no_row_that_is_left_out(ecosort: Path, tmp_path: Path) -> None:
    """It ends with an escape, and the input ends with it: nothing more comes."""
    (tmp_path / "in.csv").write_bytes(b"a,b\\")
    words = ["--by", "a", "--escape", "\\", "--bad-rows", "skip", "in.csv", "-o", "-"]
    code, _, error = run_csv(ecosort, words, tmp_path)
    assert (code, error[:58]) == (2, "ecosort: in.csv: line 1, byte 3: the row ends with an esca")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("wanted", [("3,z\\", False), ("3,z\\\\", True)])
def test_a_last_row_that_ends_with_an_escape_is_none(ecosort: Path, tmp_path: Path, end: str, wanted: tuple[str, bool]) -> None:
    """The end that it gets would be a part of its value. Behind an escape that is escaped it is one."""
    last, is_row = wanted
    top = f"a,b{end}2,x{end}1,y{end}"
    (tmp_path / "in.csv").write_text(top + last, newline="")
    words = ["-q", "--escape", "\\", "--bad-rows", "bad", "--by", "a", "in.csv", "-o", "-"]
    rows = f"a,b{end}1,y{end}2,x{end}" + (last + end if is_row else "")
    assert run_csv(ecosort, words, tmp_path) == (0, rows.encode(), "")
    assert (tmp_path / "bad").read_text() == ("" if is_row else f"{last}\n")


@pytest.mark.parametrize(("later", "is_bad"), [("", True), ('7,"q"\n', True), ('7,x ""\n', True), ('7,x",y\n', False)])
def test_a_quote_that_no_one_closes_costs_one_line_whatever_the_memory(
    ecosort: Path, tmp_path: Path, later: str, is_bad: bool
) -> None:
    """The quote that decides may lie far behind what the memory holds; a value that is closed well is a part of a row."""
    rows = [f"{i * 7919 % 100_000},{'x' * (i % 40)}\n" for i in range(60_000)]
    data = ["a,b\n", *rows[:100], '5,"never closed\n', *rows[100:], later]
    (tmp_path / "in.csv").write_text("".join(data))
    words = ["--by", "a:integer", "--bad-rows", "bad", "in.csv", "-o", "out.csv", "--memory"]
    made = []
    for memory in ("1MiB", "32MiB"):
        (tmp_path / "bad").unlink(missing_ok=True)
        code, _, error = run_csv(ecosort, [*words, memory], tmp_path)
        made.append((code, code or (tmp_path / "out.csv").read_bytes(), code or (tmp_path / "bad").read_bytes()))
        assert code or "cannot be sorted and " in error
    assert made[1][0] == 0
    if is_bad:
        assert made[0] == made[1]
        assert made[0][2].startswith(b'5,"never closed\n')
    else:
        assert made[0][0] == 2, "the row is longer than the memory"


def test_a_signal_ends_the_search_for_a_closing_quote(ecosort: Path, tmp_path: Path) -> None:
    with (tmp_path / "in").open("wb") as file:
        file.write(b'k,v\n1,"open\n')
        file.truncate(2 << 30)
    words = [ecosort, "csv", "-q", "--by", "k", "--bad-rows", "skip", *LEAST, "in", "-o", "out"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        read = Path(f"/proc/{process.pid}/io")
        wait_until(lambda: int(read.read_text().split()[1]) > 50 << 20)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[1].startswith("ecosort: interrupted by signal 2")
    assert process.returncode == 128 + signal.SIGINT


def test_a_blank_line_of_a_table_with_one_column_is_a_row(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a\n2\n\n1\n\n")
    assert run_csv(ecosort, ["-q", "--by", "a:integer", "in.csv", "-o", "-"], tmp_path) == (0, b"a\n1\n2\n\n\n", "")


def test_lines_in_front_of_the_header_stay_there(ecosort: Path, tmp_path: Path) -> None:
    """Comments of the first input stay, with any quotes."""
    (tmp_path / "a.csv").write_text('Report "of May\nby us\n# a note\na,b\n2,x\n# odd "\n1,"y\n# no comment"\n')
    (tmp_path / "b.csv").write_text("Report of June\nby them\na,b\n0,z\n")
    words = ["--skip", "2", "--comment", "#", "--by", "a:integer", "--stats", "stats.json"]
    code, out, error = run_csv(ecosort, [*words, "a.csv", "b.csv", "-o", "-"], tmp_path)
    rows = b'0,z\n1,"y\n# no comment"\n2,x\n'
    assert (code, out) == (0, b'Report "of May\nby us\n# a note\na,b\n' + rows)
    assert error == "ecosort: comments and skipped lines are left out: there were 3\n"
    stats = json.loads((tmp_path / "stats.json").read_text())
    assert (stats["rows"], stats["comments"]) == (3, 3)

    (tmp_path / "out.csv").write_bytes(out)
    assert run_csv(ecosort, [*words[:6], "--check", "out.csv"], tmp_path)[0] == 0
    code, _, error = run_csv(ecosort, [*words[:6], "--check", "a.csv"], tmp_path)
    assert (code, error.startswith("ecosort: a.csv: line 6, byte 38: a comment is among the rows")) == (2, True), error


def test_the_lines_of_a_first_input_without_rows_stay_alone(ecosort: Path, tmp_path: Path) -> None:
    for name, rows in (("a", ""), ("b", "2\n"), ("c", "1\n")):
        (tmp_path / f"{name}.csv").write_text(f"of {name}\n# {name}\n{rows}")
    words = ["--no-header", "--skip", "1", "--comment", "#", "--by", "1", "a.csv", "b.csv", "c.csv", "-o", "-"]
    said = "ecosort: comments and skipped lines are left out: there were 4\n"
    assert run_csv(ecosort, words, tmp_path) == (0, b"of a\n# a\n1\n2\n", said)


def test_a_file_whose_last_line_is_a_comment_without_an_end(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text('a,b\n2,x\n1,y\n# "end')
    words = ["-q", "--comment", "#", "--by", "a", "in.csv", "-o", "-"]
    assert run_csv(ecosort, words, tmp_path) == (0, b"a,b\n1,y\n2,x\n", "")


@pytest.mark.parametrize("delimiter", ["\\x01", "\\t", "tab"])
def test_delimiters_that_are_hard_to_type(ecosort: Path, tmp_path: Path, delimiter: str) -> None:
    byte = "\x01" if delimiter == "\\x01" else "\t"
    (tmp_path / "in.csv").write_text(f"a{byte}b\n2{byte}x\n1{byte}y\n")
    done = run_csv(ecosort, ["--delimiter", delimiter, "--by", "a", "in.csv", "-o", "-"], tmp_path)
    assert done == (0, f"a{byte}b\n1{byte}y\n2{byte}x\n".encode(), "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--bad-rows", "in.csv"], "in.csv: is an input; set bad rows aside in another file"),
        (["--bad-rows", "out.csv"], "out.csv: is the output; set bad rows aside in another file"),
        (["--bad-rows", "bad.gz"], "bad.gz: rows that are set aside are not compressed; name a file without that ending"),
        (["--bad-rows", "-"], "bad rows cannot go to standard output; name a file"),
        (["--bad-rows", "none/bad"], "none/bad: directory"),
        (["--bad-rows", "skip", "--merge"], "--bad-rows cannot be combined with --merge: sort the files"),
        (["--bad-rows", "skip", "--resumable"], "--bad-rows cannot be combined with --resumable"),
        (["--comment", "#", "--merge"], "--comment cannot be combined with --merge: sort the files"),
        (["--comment", '"'], "a comment cannot begin with the quote or the delimiter"),
        (["--comment", "a\nb"], "--comment: give what such lines begin with, in one line"),
        (["--skip", "x"], "--skip: 'x' is not a whole number"),
        (
            ["--delimiter", "\\xg1"],
            "--delimiter: in '\\xg1' a backslash is not followed by t, two hexadecimal digits as in \\x01, or another one",
        ),
    ],
)
def test_what_cannot_be_left_out_is_told(ecosort: Path, tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "in.csv").write_text("a,b\n1,x\n")
    code, _, error = run_csv(ecosort, [*words, "--by", "a", "in.csv", "-o", "out.csv"], tmp_path)
    assert (code, error[: len("ecosort: " + message)]) == (2, "ecosort: " + message)
    assert listing(tmp_path) == [str(tmp_path / "in.csv")]


@pytest.mark.parametrize(
    ("words", "other"),
    [
        (["-o", "out", "{option}", "./out"], "the output"),
        (["-o", "out", "{option}", "link"], "the output"),
        (["-o", "out", "--claim", "{option}", "out.claim.json"], "the claim of the output"),
        (["-o", "o-{{}}.csv", "--split", "rows=1", "{option}", "o-00001.csv"], "a file of the split"),
        (["-o", "o-{{}}.csv", "--split", "rows=1", "{option}", "o-manifest.json"], "a file of the split"),
    ],
)
@pytest.mark.parametrize("option", ["--bad-rows", "--stats", "--events", "--trace"])
def test_files_of_a_sort_do_not_take_the_place_of_each_other(
    ecosort: Path, tmp_path: Path, words: list[str], other: str, option: str
) -> None:
    """The bad rows were lost, or a file of a split was a report, by names that are not those that were given."""
    (tmp_path / "in.csv").write_text("a,b\n1,x\n1\n")
    (tmp_path / "link").symlink_to("out")
    code, _, error = run_csv(ecosort, ["--by", "a", "in.csv", *(word.format(option=option) for word in words)], tmp_path)
    assert code == 2
    assert f"{words[-1]}: is {other};" in error or f"{option} '{words[-1]}' is {other};" in error
    assert listing(tmp_path) == [str(tmp_path / "in.csv"), str(tmp_path / "link")]


@pytest.mark.parametrize("fault", ["pwrite64:error=ENOSPC", "fsync,fdatasync:error=EIO:when=1", "linkat:error=EACCES:when=1"])
def test_what_fails_leaves_no_rows_aside(ecosort: Path, tmp_path: Path, fault: str) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / "in.csv").write_text("a,b\n1,x\n1\n")
    words = ["csv", "--io", "pool", "--bad-rows", "bad", "--by", "a", "in.csv", "-o", "out.csv"]
    done = subprocess.run([*faults(tmp_path, fault), str(ecosort), *words], cwd=place, capture_output=True, check=False)
    assert done.returncode == 3, done.stderr
    assert listing(place) == [str(place / "in.csv")]
