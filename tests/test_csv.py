"""`ecosort csv`: the order that Python gives the rows that its csv module reads, and rows that are the same bytes as before."""

import functools
import gzip
import itertools
import json
import lzma
import random
import subprocess
import zlib
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path

import pytest
from capabilities import SOAK
from csv_support import (
    LEAST,
    MAKERS,
    READERS,
    TYPE_NAMES,
    Dialect,
    Key,
    field,
    in_order,
    ordered,
    random_rows,
    row,
    run_csv,
    sizes_up_to,
    values_of,
)
from pairs import turns

ALL_TYPES = tuple(READERS)
NAMES = [*(f"{name} column" for name in ALL_TYPES), "number"]
HEADER = row(NAMES)
RFC = Dialect()
BLOCK = 8 * 1024  # of the least memory


def assert_sorted(
    ecosort: Path,
    directory: Path,
    rows: Sequence[bytes],
    keys: Sequence[Key],
    words: Sequence[str] = (),
    header: bytes = HEADER,
    dialect: Dialect = RFC,
    as_stream: bool = False,
    expected: bytes | None = None,
    **order: bool,
) -> None:
    """`as_stream`: a small sort has its computing threads all the same. `expected`: the sorted rows, where they are known."""
    names = values_of(header, dialect) if header else None
    data = header + b"".join(rows)
    (directory / "in.csv").write_bytes(data)
    by = [word for key in keys for word in ("--by", key.words(names))]
    name, given = ("-", data) if as_stream else ("in.csv", None)
    code, _, error = run_csv(ecosort, ["-q", *by, *words, name, "-o", "out.csv"], directory, given)
    assert (code, error) == (0, "")
    if expected is None:
        expected = b"".join(in_order(rows, keys, dialect, **order))
    assert (directory / "out.csv").read_bytes() == header + expected


@functools.lru_cache(maxsize=1)
def rows_of_a_type(column: int) -> tuple[list[bytes], list[tuple[list[object], bytes]]]:
    """Rows of all types, of which that column has other values in each, and the values of that column with their rows."""
    rng, type_ = random.Random(column), ALL_TYPES[column]
    some = [[MAKERS[name](rng) for name in ALL_TYPES] for _ in range(100)]
    values = [MAKERS[type_](rng) for _ in range(2000)]
    rows = [
        row([*others[:column], value, *others[column + 1 :], str(i)], quoted=rng.random() < 0.2)
        for i, (value, others) in enumerate(zip(values, itertools.cycle(some), strict=False))
    ]
    return rows, [([READERS[type_](value)], raw) for value, raw in zip(values, rows, strict=True)]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("column", range(len(ALL_TYPES)), ids=ALL_TYPES)
def test_rows_are_in_the_order_of_each_type(ecosort: Path, tmp_path: Path, column: int, descending: bool) -> None:
    rows, read = rows_of_a_type(column)
    keys = [Key(column, ALL_TYPES[column], descending)]
    for words, nulls_first in (((), False), (("--nulls", "first"), True)):
        expected = b"".join(ordered(read, keys, nulls_first, unique=False))
        assert_sorted(ecosort, tmp_path, rows, keys, words, expected=expected)


@pytest.mark.parametrize("seed", range(12))
def test_later_keys_decide_among_equal_rows(ecosort: Path, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    rows = random_rows(rng, 800, ALL_TYPES)
    keys = [Key(column, ALL_TYPES[column], rng.random() < 0.5) for column in rng.sample(range(len(ALL_TYPES)), 3)]
    assert_sorted(ecosort, tmp_path, rows, keys)
    assert_sorted(ecosort, tmp_path, rows, keys, ["--unique"], unique=True)


@pytest.mark.parametrize("descending", [False, True])
def test_windows_of_all_keys_decide_where_runs_are_merged(ecosort: Path, tmp_path: Path, descending: bool) -> None:
    """Rows of many runs tie in the first windows, in a text of any length, at the border of two keys, and in all keys."""
    rng = random.Random(descending)
    beginnings = ["", "a", "north\0", "harbour town ", "a street with a name of more than two windows ", "x" * 31 + "\xff"]
    texts = [rng.choice(beginnings) + rng.choice(["", "a", "A", "b", "\xff", "\x00", "bc" * 6]) for _ in range(60)]
    dates = ["2024-05-01", "2024-05-01T00:00:00.5", "2024-05-01T00:00:00.50001", "2024-05-02", "", "none"]
    pools = [texts, dates, texts, ["1.5", "1.50", "-7" + "3" * 30, "-7" + "3" * 31, ""]]
    rows = [row([*(rng.choice(pool) for pool in pools), str(i)]) for i in range(25_000)]
    keys = [Key(0, "text", descending), Key(1, "date"), Key(2, "nocase", not descending), Key(3, "number", descending)]
    names = row(["text", "date", "name", "size", "number"])
    assert_sorted(ecosort, tmp_path, rows, keys, [*LEAST, "--stats", "stats.json"], header=names)
    assert json.loads((tmp_path / "stats.json").read_text())["runs"] > 1


@functools.cache
def more_than_the_memory_holds(type_: str) -> tuple[list[bytes], bytes, bytes]:
    """Rows, what a sort by the first column makes of them, and what one with --unique does."""
    rng = random.Random(7)
    values = [MAKERS[type_](rng) for _ in range(4_000)]
    some = [([READERS[type_](value)], row([value, MAKERS["text"](rng)], quoted=rng.random() < 0.2)[:-1]) for value in values]
    read = [(key, b"%b,%d\n" % (raw, i)) for i, (key, raw) in enumerate(rng.choices(some, k=35_000))]
    rows = [raw for _, raw in read]
    sorted_rows, first_rows = (b"".join(ordered(read, [Key(0, type_)], False, unique)) for unique in (False, True))
    return rows, sorted_rows, first_rows


@pytest.mark.parametrize(("type_", "threads"), turns(["text", "number", "date"], ["1", "2", "4"]))
def test_more_than_the_memory_holds_comes_out_in_the_same_order(ecosort: Path, tmp_path: Path, type_: str, threads: str) -> None:
    rows, sorted_rows, first_rows = more_than_the_memory_holds(type_)
    keys, names = [Key(0, type_)], row(["key", "rest", "number"])
    words = [*LEAST, "--threads", threads, "--stats", "stats.json"]
    assert_sorted(ecosort, tmp_path, rows, keys, words, header=names, as_stream=True, expected=sorted_rows)
    stats = json.loads((tmp_path / "stats.json").read_text())
    assert stats["runs"] > 1
    assert stats["rows"] == len(rows)
    assert stats["peak_counted_memory_bytes"] <= 1 << 20
    assert_sorted(ecosort, tmp_path, rows, keys, words, header=names, expected=sorted_rows)
    assert_sorted(ecosort, tmp_path, rows, keys, [*words, "--unique"], header=names, as_stream=True, expected=first_rows)


def test_a_carriage_return_is_no_part_of_the_last_column_where_runs_are_merged(ecosort: Path, tmp_path: Path) -> None:
    rng = random.Random(5)
    keys = [rng.randrange(1000) for _ in range(30_000)]
    rows = [(key, b"%07d" % i * 8 + b",%d" % key + (b"\r\n" if i % 2 else b"\n")) for i, key in enumerate(keys)]
    data, wanted = (b"".join(text for _, text in order) for order in (rows, sorted(rows, key=itemgetter(0))))
    words = [*LEAST, "--no-header", "--by", "2:integer", "--stats", "stats.json", "-", "-o", "-"]
    assert run_csv(ecosort, words, tmp_path, data) == (0, wanted, "")
    assert json.loads((tmp_path / "stats.json").read_text())["runs"] > 1


@pytest.mark.parametrize("quoted", [False, True])
def test_the_last_merge_works_in_parts(ecosort: Path, tmp_path: Path, quoted: bool) -> None:
    rng = random.Random(3)
    text = 'a "b",\nc' if quoted else "abc"
    texts = [field(text * count) for count in range(9)]
    numbers = [rng.randrange(10**6) for _ in range(70_000 if quoted else 110_000)]
    rows = [b"%d,%b,%d\n" % (number, rng.choice(texts), i) for i, number in enumerate(numbers)]
    expected = b"".join(rows[i] for i in sorted(range(len(rows)), key=numbers.__getitem__))
    words = ["--memory", "2MiB", "--threads", "2", "--stats", "stats.json"]
    names = row(["a", "b", "c"])
    assert_sorted(ecosort, tmp_path, rows, [Key(0, "integer")], words, header=names, as_stream=True, expected=expected)
    stats = json.loads((tmp_path / "stats.json").read_text())
    assert stats["merge_parts"] == 2


@functools.cache
def files_of_any_size() -> list[tuple[bytes, bytes]]:
    """Files, and what a sort by their first column makes of them."""
    rng = random.Random(11)
    values = [[str(rng.randrange(1000)), 'q"\n,' * rng.randrange(5), str(i)] for i in range(5_000)]
    read = [([int(value[0])], row(value)) for value in values]
    names = row(["a", "b", "c"])
    files = []
    for size in sizes_up_to(4 * BLOCK, BLOCK):
        some: list[tuple[list[object], bytes]] = []
        left = size
        at = rng.randrange(len(read) // 2)
        while left > 100:
            some.append(read[at + len(some)])
            left -= len(some[-1][1])
        number = rng.randrange(1000)
        room = left - len(b"%d,,\n" % number)
        if room >= 0:
            some.append(([number], b"%d,%b,\n" % (number, b"x" * room)))
        data = b"".join(raw for _, raw in some)
        assert size < 100 or len(data) == size
        files.append((names + data, names + b"".join(ordered(some, [Key(0)], False, False))))
    return files


@pytest.mark.timeout(1800 if SOAK else 300)
@pytest.mark.parametrize("end", [b"\n", b""])
def test_files_of_any_size_keep_all_rows(ecosort: Path, tmp_path: Path, end: bytes) -> None:
    """From nothing to four blocks, with the last line's end and without it."""
    for data, ordered_data in files_of_any_size():
        (tmp_path / "in.csv").write_bytes(data[: len(data) - 1] + end)
        done = run_csv(ecosort, ["-q", *LEAST, "--by", "a:integer", "in.csv", "-o", "-"], tmp_path)
        assert done == (0, ordered_data, "")


@pytest.mark.parametrize("what", ['""', '"\n', '\n"', '",', '"\r\n', '"""', '""\n""'])
def test_quotes_and_newlines_may_lie_at_any_border_of_blocks(ecosort: Path, tmp_path: Path, what: str) -> None:
    header = row(["a", "b"])
    value = what.replace('"', "")
    for shift in range(-6, 7):
        first = row(["9", "x" * (BLOCK - len(header) - 5 + shift) + value + '"'], quoted=True)
        rows = [first, row(["1", '"' + value], quoted=True), row(["5", value + "," + value], quoted=True)]
        assert_sorted(ecosort, tmp_path, rows, [Key(0)], LEAST, header=header)


def test_big_fields_pass_over_many_blocks(ecosort: Path, tmp_path: Path) -> None:
    rng = random.Random(2)
    rows = []
    for i in range(400):
        text = 'line\n"quoted", ' * rng.choice([0, 1, 10, 100, 1000, 3000])
        rows.append(row([str(rng.randrange(100)), text, str(i)]))
    assert_sorted(ecosort, tmp_path, rows, [Key(0, "integer")], LEAST, header=row(["a", "b", "c"]))
    assert_sorted(ecosort, tmp_path, rows, [Key(1)], LEAST, header=row(["a", "b", "c"]))


def test_quotes_may_begin_late_in_a_long_row(ecosort: Path, tmp_path: Path) -> None:
    rng = random.Random(12)
    rows = [row([str(rng.randrange(100)), "y" * rng.randrange(9000, 20_000), "a\nb", str(i)]) for i in range(40)]
    assert_sorted(ecosort, tmp_path, rows, [Key(0, "integer")], header=row(["a", "b", "c", "d"]))
    assert_sorted(ecosort, tmp_path, rows[:9], [Key(0, "integer")], header=row(["a", "b", "c", "d"]))
    assert_sorted(ecosort, tmp_path, rows, [Key(0, "integer")], LEAST, header=row(["a", "b", "c", "d"]))


def test_nothing_may_be_there_to_sort(ecosort: Path, tmp_path: Path) -> None:
    for words in ([], ["--merge"], ["--unique"]):
        assert run_csv(ecosort, [*words, "--no-header", "--by", "1", "-", "-o", "-"], tmp_path, b"") == (0, b"", "")
        assert run_csv(ecosort, [*words, "--by", "a", "-", "-o", "-"], tmp_path, b"a\n") == (0, b"a\n", "")
        assert run_csv(ecosort, [*words, "--by", "a", "-", "-o", "-"], tmp_path, b"a") == (0, b"a\n", "")


def test_lines_may_end_with_both_bytes_or_with_one(ecosort: Path, tmp_path: Path) -> None:
    crlf, lf = Dialect(end=b"\r\n"), Dialect()
    rows = [row([value, str(i)], crlf if i % 2 else lf) for i, value in enumerate(["b", "a", "b\r\nc", "b", "", "a"])]
    assert_sorted(ecosort, tmp_path, rows, [Key(0)], header=row(["x", "y"], crlf))
    assert_sorted(ecosort, tmp_path, rows, [Key(1, "integer", True)], header=row(["x", "y"], crlf))


@pytest.mark.parametrize(("data", "expected"), [
    (b"a,b\r\n2,x\r\n1,y", b"a,b\r\n1,y\r\n2,x\r\n"),
    (b"a,b\n2,x\n1,y", b"a,b\n1,y\n2,x\n"),
    (b"a,b\r\n2,x\n1,y", b"a,b\r\n1,y\n2,x\n"),
    (b"a,b\r\n2,x\r\n1,y\r", b"a,b\r\n1,y\r\n2,x\r\n"),
    (b"a,b", b"a,b\n"),
    (b"a,b\r\n1,\"y\"", b"a,b\r\n1,\"y\"\r\n"),
])  # fmt: skip
def test_a_last_line_without_its_end_gets_that_of_the_line_before(
    ecosort: Path, tmp_path: Path, data: bytes, expected: bytes
) -> None:
    assert run_csv(ecosort, ["--by", "a", "-", "-o", "-"], tmp_path, data) == (0, expected, "")


@pytest.mark.parametrize("words", [[], ["--merge"]])
def test_a_byte_order_mark_stays_in_front(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    mark = b"\xef\xbb\xbf"
    (tmp_path / "1.csv").write_bytes(mark + b'"a",b\n1,x\n3,y\n')
    (tmp_path / "2.csv").write_bytes(mark + b"a,b\n2,z\n")
    done = run_csv(ecosort, [*words, "--by", "a", "1.csv", "2.csv", "-o", "-"], tmp_path)
    assert done == (0, mark + b'"a",b\n1,x\n2,z\n3,y\n', "")
    (tmp_path / "1.csv").write_bytes(mark + b"1,x\n3,y\n")
    (tmp_path / "2.csv").write_bytes(mark + b"2,z\n")
    done = run_csv(ecosort, [*words, "--no-header", "--by", "1", "1.csv", "2.csv", "-o", "-"], tmp_path)
    assert done == (0, mark + b"1,x\n2,z\n3,y\n", "")


def test_the_header_of_several_files_comes_out_once(ecosort: Path, tmp_path: Path) -> None:
    rng = random.Random(4)
    rows = random_rows(rng, 9000, ["integer", "text"])
    header = row(["key", "text", "number"])
    for i in range(3):
        (tmp_path / f"{i}.csv").write_bytes(header + b"".join(rows[3000 * i : 3000 * (i + 1)]))
    for words in ([], LEAST):
        code, output, _ = run_csv(ecosort, [*words, "-q", "--by", "key:integer", "0.csv", "1.csv", "2.csv", "-o", "-"], tmp_path)
        assert code == 0
        assert output == header + b"".join(in_order(rows, [Key(0, "integer")]))


@pytest.mark.parametrize("files", [2, 5, 200])
@pytest.mark.parametrize("words", [[], LEAST])
def test_sorted_files_are_merged(ecosort: Path, tmp_path: Path, files: int, words: list[str]) -> None:
    rng = random.Random(files)
    header = row(["key", "text", "number"])
    key = Key(0, "number")
    every: list[bytes] = []
    names = []
    for i in range(files):
        rows = in_order(random_rows(rng, rng.randrange(4000 // files), ["number", "text"]), [key])
        every += rows
        names.append(f"{i}.csv")
        (tmp_path / names[-1]).write_bytes(header + b"".join(rows))
    code, output, error = run_csv(ecosort, ["-q", "--merge", *words, "--by", "key:number", *names, "-o", "-"], tmp_path)
    assert (code, error) == (0, "")
    assert output == header + b"".join(in_order(every, [key]))
    code, output, _ = run_csv(ecosort, ["-q", "--merge", "--unique", *words, "--by", "key:number", *names, "-o", "-"], tmp_path)
    assert output == header + b"".join(in_order(every, [key], unique=True))


@pytest.mark.parametrize("words", [[], LEAST])
def test_a_merge_refuses_a_file_that_is_not_in_order(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    for i in range(100):
        (tmp_path / f"{i}.csv").write_bytes(b"n,t\n" + b"".join(b'%d,"a\nb"\n' % k for k in range(i, i + 50)))
    (tmp_path / "7.csv").write_bytes(b'n,t\n1,a\n5,"b\nb"\n4,c\n6,d\n')
    names = [f"{i}.csv" for i in range(100)]
    told = "ecosort: 7.csv: line 5 is not in order: this row comes before the one in front of it: 4,c"
    code, _, error = run_csv(ecosort, ["-q", "--merge", *words, "--by", "n:number", *names, "-o", "out.csv"], tmp_path)
    assert (code, error.splitlines()[0]) == (1, told)
    assert not (tmp_path / "out.csv").exists()
    assert run_csv(ecosort, ["-q", "--merge", *words, "--by", "t", *names[:7], "-o", "out.csv"], tmp_path)[0] == 0, (
        "by another key"
    )


def test_a_column_may_be_named_by_its_place(ecosort: Path, tmp_path: Path) -> None:
    """The only way to one whose name is empty or not the only one; a column that is really called #1 goes before."""
    for header, key, order in (
        (b",v", "#1:number", "213"),
        (b"v,v", "#2:desc", "321"),
        (b"#2,#1", "#1:desc", "321"),
        (b"#9,v", "#2", "123"),
    ):
        (tmp_path / "in").write_bytes(header + b"\n10,1\n1,2\n20,3\n")
        command = [ecosort, "csv", "--by", key, "in", "-o", "-"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert [line[-1] for line in done.stdout.splitlines()[1:]] == list(order)


def test_columns_have_numbers_without_a_header(ecosort: Path, tmp_path: Path) -> None:
    rows = random_rows(random.Random(1), 500, ["text", "integer"])
    assert_sorted(ecosort, tmp_path, rows, [Key(1, "integer", True)], ["--no-header"], header=b"")


@pytest.mark.parametrize(("dialect", "words"), [
    (Dialect(delimiter="\t"), ["--delimiter", "tab"]),
    (Dialect(delimiter=";", quote="'"), ["--delimiter", ";", "--quote", "'"]),
    (Dialect(delimiter="|"), ["--delimiter", "|"]),
])  # fmt: skip
def test_other_delimiters_and_quotes(ecosort: Path, tmp_path: Path, dialect: Dialect, words: list[str]) -> None:
    rows = random_rows(random.Random(8), 1000, ["text", "number"], dialect)
    header = row(["a'b", 'c"d', "e|f"], dialect)
    assert_sorted(ecosort, tmp_path, rows, [Key(0), Key(1, "number")], words, header=header, dialect=dialect)


def test_quotes_may_mean_nothing(ecosort: Path, tmp_path: Path) -> None:
    data = b'a,b\n"2,x"\n"1",y\n"1,z"\n'
    assert run_csv(ecosort, ["--quote", "none", "--by", "a", "-", "-o", "-"], tmp_path, data) == (
        0, b'a,b\n"1,z"\n"1",y\n"2,x"\n', "")  # fmt: skip


def test_tsv_files_have_tabs(ecosort: Path, tmp_path: Path) -> None:
    for name in ("in.tsv", "IN.Tsv.GZ"):
        rows = b"a\tb\n2\tx,y\n1\tz\n"
        (tmp_path / name).write_bytes(gzip.compress(rows) if name.endswith("GZ") else rows)
        assert run_csv(ecosort, ["--by", "a", name, "-o", "-"], tmp_path) == (0, b"a\tb\n1\tz\n2\tx,y\n", "")
    assert run_csv(ecosort, ["--by", "a", "in.tsv", "-o", "out.tsv.Zst"], tmp_path)[0] == 0
    assert (tmp_path / "out.tsv.Zst").read_bytes()[:4] == bytes.fromhex("28b52ffd")
    (tmp_path / "in.csv").write_bytes(b"a,b\n")
    code, _, error = run_csv(ecosort, ["--by", "a", "in.tsv", "in.csv", "-o", "-"], tmp_path)
    assert (code, error) == (2, "ecosort: in.tsv and in.csv have different delimiters by their names; name one\n")


@pytest.mark.parametrize(("format_", "dates"), [
    ("%d.%m.%Y", ["31.12.1999", "1.1.2000", "29.02.2024", "01.03.2024"]),
    ("%d %b %Y, %I:%M %p", ["1 jan 2020, 12:05 AM", "1 January 2020, 01:00 am", "1 Jan 2020, 12:00 PM", "2 Feb 2020, 3:00 PM"]),
    ("%Y%j", ["1999365", "2000001", "2000366", "2001001"]),
    ("%d/%b/%Y:%T %z", ["01/May/2024:23:00:00 +0500", "01/May/2024:20:00:00 +0100", "01/May/2024:20:00:00 -0100"]),
    ("%s.%f", ["-2.0", "-1.75", "-1.5", "-1.0", "-0.125", "-0.12", "-0.0", "0.5", "0.51", "1.0", "1700000000.25"]),
    ("%s.%f", [f"-1.{'0' * 20}{digit}{rest}" for digit, rest in (("2", ""), ("1", "9"), ("1", "")) ] + ["-1.0", "0.9"]),
    ("%D %R", ["12/31/69 23:59", "01/01/70 00:00", "12/31/68 00:00"]),
])  # fmt: skip
def test_dates_of_other_formats(ecosort: Path, tmp_path: Path, format_: str, dates: list[str]) -> None:
    header = row(["when", "number"])
    rows = [row([date, str(i)]) for i, date in enumerate(dates)]
    data = header + b"".join(reversed(rows)) + row(["nonsense", "9"])
    code, output, _ = run_csv(ecosort, ["-q", "--by", "when:date", "--date-format", format_, "-", "-o", "-"], tmp_path, data)
    assert code == 0
    assert output == header + b"".join(rows) + row(["nonsense", "9"])


def test_days_that_do_not_exist_are_no_dates(ecosort: Path, tmp_path: Path) -> None:
    wrong = [
        "2023-02-29",
        "2024-13-01",
        "2024-00-10",
        "2024-04-31",
        "2024-01-01T24:01",
        "2024-01-01T10:60",
        "2024-1-1",
        "24-01-01",
    ]
    right = ["1900-02-28", "2000-02-29", "2024-02-29", "20240301", "2024-03-01T24:00", "2024-03-02T00:00:01,5", "2024-03-02T0001"]
    data = row(["when"]) + b"".join(row([value]) for value in [*wrong, *reversed(right)])
    code, output, error = run_csv(ecosort, ["--by", "when:date", "-", "-o", "-"], tmp_path, data)
    assert (code, output.decode().replace('"', "").splitlines()[1:]) == (0, [*right, *wrong]), error
    assert f"--by when:date: 0 empty and {len(wrong)} unparsable values come behind all others" in error


def test_what_unique_drops_is_told(ecosort: Path, tmp_path: Path) -> None:
    data = b"a,b\n1,1\nx,2\n1,3\n,4\ny,5\n"
    words = ["--unique", "--by", "a:number", "-", "-o", "-", "--stats", "stats"]
    code, output, error = run_csv(ecosort, words, tmp_path, data)
    assert (code, output) == (0, b"a,b\n1,1\nx,2\n")
    assert error.endswith("1 empty and 2 unparsable values come behind all others; they count as equal for --unique\n")
    assert json.loads((tmp_path / "stats").read_text())["rows_dropped"] == 3


def test_values_without_an_order_are_counted(ecosort: Path, tmp_path: Path) -> None:
    data = b'a,b\n1,\n"",x\nx,2\n,\n3,"4"\n'
    for words in ([], ["--merge"]):
        code, data, error = run_csv(
            ecosort,
            [*words, "--by", "a:number", "--by", "b:integer:desc", "--stats", "stats.json", "-", "-o", "-"],
            tmp_path,
            data,
        )
        assert code == 0
        assert "--by a:number: 2 empty and 1 unparsable values come behind all others" in error
        assert "--by b:integer:desc: 2 empty and 1 unparsable values" in error
        stats = json.loads((tmp_path / "stats.json").read_text())
        assert stats["schema"] == "ecosort.csv-stats/1"
        assert stats["rows"] == 5
        assert stats["keys"] == [
            {"by": "a:number", "empty_values": 2, "unparsable_values": 1},
            {"by": "b:integer:desc", "empty_values": 2, "unparsable_values": 1},
        ]


def test_numbers_are_exact(ecosort: Path, tmp_path: Path) -> None:
    big = "1" + "0" * 300
    order = ["-1e99999", f"-{big}1", f"-{big}", "-0.00000000000000000001", "0e5", "1e-99999", "2e-99999", "0.1",
             "0.10000000000000000001",
             "1e0", f"{big}", f"{big}.0000001", "1e99999"]  # fmt: skip
    shuffled = random.Random(1).sample(order, len(order)) * 20
    data = row(["n"]) + b"".join(row([value]) for value in shuffled)
    code, output, error = run_csv(ecosort, ["--by", "n:number", "-", "-o", "-"], tmp_path, data)
    assert (code, error) == (0, "")
    assert output == row(["n"]) + b"".join(row([value]) * 20 for value in order)


QUOTE_NONE = "; with --quote none quotes are bytes like others"


@pytest.mark.parametrize("words", [[], ["--merge"], ["--check"]])
@pytest.mark.parametrize(("rest", "at", "why"), [
    ("2,y,z\n", 0, "the row has 3 fields, and the header has 2 columns"),
    ("2\n", 0, "the row has 1 field, and the header has 2 columns"),
    ("\n2,y\n", 0, "the line is empty, and the header has 2 columns"),
    ('2,y"z\n3,x\n', 3, f"a quote is within a value that does not begin with one{QUOTE_NONE}"),
    ('2,"y"z\n', 5, f"something follows the quote that closes a value; a quote within a value is doubled{QUOTE_NONE}"),
    ('2,"y" \n', 5, f"something follows the quote that closes a value; a quote within a value is doubled{QUOTE_NONE}"),
    ('2,"y\n3,x\n', 2, f"a quote is opened and not closed{QUOTE_NONE}"),
    ('2,"y""', 2, f"a quote is opened and not closed{QUOTE_NONE}"),
])  # fmt: skip
def test_rows_that_are_none_are_told_with_their_place(
    ecosort: Path, tmp_path: Path, rest: str, at: int, why: str, words: list[str]
) -> None:
    before = 'a,b\n0,"x\ny"\n1,x\n'
    (tmp_path / "in.csv").write_text(before + rest)
    (tmp_path / "out.csv").write_text("old")
    output = [] if words == ["--check"] else ["-o", "out.csv"]
    done = run_csv(ecosort, [*words, "--by", "a", "in.csv", *output], tmp_path)
    assert done == (2, b"", f"ecosort: in.csv: line 5, byte {len(before) + at}: {why}\n")
    assert (tmp_path / "out.csv").read_text() == "old"


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_first_of_many_wrong_rows_is_told(ecosort: Path, tmp_path: Path, threads: str) -> None:
    """Wherever a batch is cut into parts."""
    header = row(["a", "b"])
    rows = [row([str(i), "some text, for it"]) for i in range(40_000)]
    rng = random.Random(9)
    for _ in range(20):
        places = sorted(rng.sample(range(len(rows)), 3))
        wrong = list(rows)
        for place in places:
            wrong[place] = rng.choice([b"1,2,3\n", b'1,x"\n', b'1,"x" \n', b"1\n"])

        code, _, error = run_csv(
            ecosort, ["--by", "a", "--threads", threads, "-", "-o", "out.csv"], tmp_path, header + b"".join(wrong)
        )
        assert code == 2
        assert error.startswith(f"ecosort: standard input: line {places[0] + 2}, byte "), error
    assert len(b"".join(rows)) > 1 << 19


def test_strict_refuses_a_value(ecosort: Path, tmp_path: Path) -> None:
    data = 'a,b\n1,2\n3,"x\n"\n'
    for words in ([], ["--merge"], ["--check"]):
        output = [] if words == ["--check"] else ["-o", "-"]
        code, _, error = run_csv(
            ecosort, ["--strict", *words, "--by", "a:number", "--by", "b:number", "-", *output], tmp_path, data.encode()
        )
        assert (code, error) == (2, "ecosort: standard input: line 3, byte 10: column 'b': 'x?' is no number\n")
    code, output_bytes, error = run_csv(ecosort, ["--strict", "--by", "a:number", "-", "-o", "-"], tmp_path, b"a\n\n1\n")
    assert (code, output_bytes) == (0, b"a\n1\n\n"), error


KEY_WORDS = f"key is NAME[:TYPE][:desc], its type one of {', '.join(TYPE_NAMES)}"


@pytest.mark.parametrize(("words", "files", "message"), [
    (["--by", "c"], ["a,b\n"], "1.csv: no column 'c'; there are: a, b"),
    (["--by", "prise"], ["price,b\n"], "1.csv: no column 'prise'; did you mean 'price'? There are: price, b"),
    (["--by", "PRICE"], ["price,b\n"], "1.csv: no column 'PRICE'; did you mean 'price'? There are: price, b"),
    (["--by", "2"], ["a,b\n"], "1.csv: no column '2'; did you mean '#2', the column with that number? There are: a, b"),
    (["--by", "3"], ["a,b\n"], "1.csv: no column '3'; there are: a, b"),
    (["--by", "a:number,b"], ["a,b\n"], "1.csv: no column 'a:number,b': each name is a key of its own; there are: a, b"),
    (["--by", "a:number:dsc"], ["a,b\n"], f"key 'a:number:dsc': 'dsc' is no type; did you mean 'desc'? A {KEY_WORDS}"),
    (["--by", "a:desc:number"], ["a,b\n"], "key 'a:desc': 'desc' comes last, behind the type: NAME:TYPE:desc"),
    (["--by", "a:Number"], ["a,b\n"], f"key 'a:Number': 'Number' is no type; did you mean 'number'? A {KEY_WORDS}"),
    (["--by", "a"], ["a;b\n"], "1.csv: no column 'a'; there are: a;b; did you mean --delimiter ';'?"),
    (["--by", "a", "--delimiter", "|"], ["a\tb\n"], "1.csv: no column 'a'; there are: a\\tb; did you mean --delimiter tab?"),
    (["--by", "a"], ["a,b,a\n"], "1.csv: two columns are named 'a'; name the one that is meant by its place, '#1' or '#3'"),
    (["--by", "#4"], ["a,b,a\n"], "1.csv: no column '#4'; the header has 3 columns"),
    (["--by", "pric:number"], [",city,price\n"],
        "1.csv: no column 'pric'; did you mean 'price'? There are: #1 (without a name), city, price"),
    (["--by", "a"], [""], "1.csv: is empty, and a header is wanted; with --no-header columns have numbers, as in --by 3"),
    (["--by", "a"], ["a,b\n", "b,a\n"], "2.csv: column 1 is 'b', and in 1.csv it is 'a'; "
        "all files need the same columns in the same order"),
    (["--by", "a"], ["a,b\n", "a,b,c\n"], "2.csv: the header has 3 columns, and that of 1.csv has 2"),
    (["--by", "a"], ["a,b\n", ""],
     "2.csv: is empty, and a header is wanted; with --no-header columns have numbers, as in --by 3"),
    (["--by", "a"], ["a\n1\n", "a\n1\n2,3\n"], "2.csv: line 3, byte 4: the row has 2 fields, and the header has 1 column"),
    (["--by", "a"], ["a,b\r1,2\r"], "1.csv: line 1: a carriage return ends no row; rows end with a line feed, or with both"),
    (["--no-header", "--by", "3"], ["1,2\n"], "key '3': the first row has 2 columns"),
    (["--no-header", "--by", "0"], ["1,2\n"], "key '0': without a header a column is named by its number, from 1 on"),
    (["--no-header", "--by", "name"], ["1,2\n"], "key 'name': without a header a column is named by its number, from 1 on"),
    (["--by", ":number"], ["a\n"], "key ':number' names nothing; give NAME[:TYPE][:desc]"),
    (["--by", "a:text@"], ["a\n"], "key 'a:text@' lacks what comes behind ':text@'"),
    (["-by", "a"], ["a\n"], "csv: no such option: '-by'; did you mean '--by'? (see ecosort csv --help)"),
    (["--by", "a:nubmer"], ["a,b\n"], f"key 'a:nubmer': 'nubmer' is no type; did you mean 'number'? A {KEY_WORDS}"),
    (["--no-header", "--by", "2:numb"], ["a,b\n"], f"key '2:numb': 'numb' is no type; did you mean 'number'? A {KEY_WORDS}"),
    (["--by", "a", "--delimiter", "xy"], ["a\n"],
        "--delimiter: 'xy' is a word; give the delimiter as it is in the file, such as ';' or '||', or `tab`"),
    (["--by", "a", "--delimiter", '"'], ["a\n"], "the delimiter and the quote must differ"),
    (["--by", "a", "--nulls", "middle"], ["a\n"], "--nulls: 'middle' is neither 'first' nor 'last'"),
    (["--by", "a", "--date-format", "%Q"], ["a\n"], "date format '%Q': "
        "% is followed by one of the letters YymdebBjaAHIpMSfzZsFTDR or by %"),
    (["--by", "a:date", "--date-format", "YYYY-MM-DD"], ["a\n"],
        "date format 'YYYY-MM-DD' has no field, so that no date matches it; write %Y-%m-%d for 2024-05-01 and "
        "%d.%m.%Y for 01.05.2024 (see ecosort csv --help)"),
    (["--by", "a:date", "--date-format", "100%%"], ["a\n"],
        "date format '100%%' has no field, so that no date matches it; write %Y-%m-%d for 2024-05-01 and "
        "%d.%m.%Y for 01.05.2024 (see ecosort csv --help)"),
    (["--by", "[a]"], ["a\n"], "1.csv: no column '[a]'; there are: a"),
    (["--by", "a"], ['a,"b\n'], f"1.csv: line 1, byte 2: a quote is opened and not closed{QUOTE_NONE}"),
    (["--by", "a:double"], ["a\n"], f"key 'a:double': 'double' is no type; did you mean 'float'? A {KEY_WORDS}"),
    (["--by", "a:descending"], ["a\n"], f"key 'a:descending': 'descending' is no type; did you mean 'desc'? A {KEY_WORDS}"),
    (["--by", "a", "-r"], ["a\n"],
        "csv: no such option: '-r'; the direction belongs to a key: --by NAME:desc (see ecosort csv --help)"),
    (["-u", "--by", "a"], ["a\n"],
        "csv: no such option: '-u'; one row of those with equal keys is kept with --unique (see ecosort csv --help)"),
    (["-k2,2n"], ["a\n"], "csv: no such option: '-k2,2n'; keys are named: --by NAME (see ecosort csv --help)"),
    (["--numeric-sort"], ["a\n"],
        "csv: no such option: '--numeric-sort'; numbers are a type of a key: --by NAME:number (see ecosort csv --help)"),
    (["-x", "--by", "a"], ["a\n"], "csv: no such option: '-x' (see ecosort csv --help)"),
    (["--by", "a", "--delimiter="], ["a\n"], "csv: --delimiter: needs a value (see ecosort csv --help)"),
    (["--by", "a", "--temp="], ["a\n"], "csv: --temp: needs a value (see ecosort csv --help)"),
    ([], ["a\n"], "csv: no key; name a column with --by NAME[:TYPE][:desc]"),
])  # fmt: skip
@pytest.mark.parametrize("mode", [[], ["--merge"]])
def test_what_cannot_be_sorted_is_told_in_one_line(
    ecosort: Path, tmp_path: Path, words: list[str], files: list[str], message: str, mode: list[str]
) -> None:
    names = []
    for i, text in enumerate(files, 1):
        names.append(f"{i}.csv")
        (tmp_path / names[-1]).write_text(text, newline="")
    assert run_csv(ecosort, [*mode, *words, *names, "-o", "out.csv"], tmp_path) == (2, b"", f"ecosort: {message}\n")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("words", [["csv", "--by", "a"], ["jsonl", "--by", "a"], ["shuffle"]], ids=lambda words: words[0])
def test_standard_input_is_named_once(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    """The rows of a file that is standard input went out twice."""
    (tmp_path / "in").write_text("a\n1\n")
    with (tmp_path / "in").open() as file:
        done = subprocess.run([ecosort, *words, "-", "-", "-o", "-"], stdin=file, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "ecosort: standard input (-) is named more than once\n"


TWICE = "gzip data where rows should be: compressed twice, or not to be decompressed; decompress it first: gzip -dc"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("a,b\n2,1\n".encode("utf-16"), "text in UTF-16; convert it first: iconv -f UTF-16 -t UTF-8"),
        (b"\xfe\xff" + "a,b\n2,1\n".encode("utf-16-be"), "text in UTF-16; convert it first: iconv -f UTF-16 -t UTF-8"),
        ("a,b\n2,1\n".encode("utf-16-le"), "text in UTF-16; convert it first: iconv -f UTF-16LE -t UTF-8"),
        ("a,b\n2,1\n".encode("utf-16-be"), "text in UTF-16; convert it first: iconv -f UTF-16BE -t UTF-8"),
        ("a,b\n2,1\n".encode("utf-32"), "text in UTF-32; convert it first: iconv -f UTF-32 -t UTF-8"),
        (lzma.compress(gzip.compress(b"a,b\n2,1\n")), TWICE),
        (b"PK\x03\x04\x14\0\0\0a,b\n", "an archive (zip, xlsx, ods); unpack it, or export its tables as CSV"),
        (b"\x1f\x9d\x90abc", "compressed by compress; decompress it first: zcat"),
        (b"\x02\x21\x4c\x18\x08\0\0\0\x70a,b\n2,1", "compressed by lz4 -l; decompress it first: lz4 -dc"),
        (zlib.compress(b"a,b\n2,1\n" * 50), "zlib data; decompress it first: pigz -dc"),
        (b"PAR1\x15\x04\x15", "Parquet; ecosort parquet sorts it"),
    ],
    ids=["utf-16", "utf-16 be", "utf-16-le", "utf-16-be", "utf-32", "twice", "zip", "compress", "lz4 -l", "zlib", "Parquet"],
)
@pytest.mark.parametrize("mode", ["sort", "--merge", "--check"])
def test_what_is_no_csv_is_told_as_what_it_is(ecosort: Path, tmp_path: Path, data: bytes, words: str, mode: str) -> None:
    (tmp_path / "in.csv").write_bytes(data)
    output = {"sort": ["-o", "out"], "--merge": ["--merge", "-o", "out"], "--check": ["--check"]}[mode]
    assert run_csv(ecosort, ["--by", "a", "in.csv", *output], tmp_path) == (2, b"", f"ecosort: in.csv: is {words}\n")
    assert not (tmp_path / "out").exists()


def test_blanks_around_numbers_mean_nothing(ecosort: Path, tmp_path: Path) -> None:
    rows = [b" +1", b"2 ", b"\t3\t", b'" 4 "', b"5"]
    data = b"n\n" + b"\n".join([b"- 6", *reversed(rows), b"1 000", b'"1,5"', b""])
    for kind in ("number", "integer"):
        done = run_csv(ecosort, ["--by", f"n:{kind}", "-", "-o", "-"], tmp_path, data)
        assert done[1] == b"n\n" + b"\n".join([*rows, b"- 6", b"1 000", b'"1,5"', b""])
        assert "3 unparsable values" in done[2]
    done = run_csv(ecosort, ["--by", "d:date", "-", "-o", "-"], tmp_path, b"d\n 2024-05-01\n2025\n2023 \n")
    assert done[1] == b"d\n2025\n 2024-05-01\n2023 \n"


def test_a_colon_may_belong_to_a_name(ecosort: Path, tmp_path: Path) -> None:
    data = b"a:b,c:number\n10,2\n9,1\n"
    assert run_csv(ecosort, ["--by", "a:b", "-", "-o", "-"], tmp_path, data)[1] == data
    assert run_csv(ecosort, ["--by", "c:number:text", "-", "-o", "-"], tmp_path, data)[1] == b"a:b,c:number\n9,1\n10,2\n"


def test_check_tells_the_first_row_out_of_order(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b'a,b\n1,"x\ny"\n2,"x\ny"\n10,z\n10,z\n3,w\n')
    assert run_csv(ecosort, ["--check", "--by", "a", "in.csv"], tmp_path) == (
        1, b"", "ecosort: in.csv: line 6 is out of order: 10,z\n")  # fmt: skip
    assert run_csv(ecosort, ["--check", "--by", "a:integer", "in.csv"], tmp_path) == (
        1, b"", "ecosort: in.csv: line 8 is out of order: 3,w\n")  # fmt: skip
    assert run_csv(ecosort, ["--check", "--unique", "--by", "a:integer", "in.csv"], tmp_path)[2].startswith(
        "ecosort: in.csv: line 7 is out of order"
    )
    assert run_csv(ecosort, ["--check", "--by", "a:integer:desc", "-"], tmp_path, b"a\n3\n2\n2\n\n") == (0, b"", "")


def test_sorted_rows_pass_the_check(ecosort: Path, tmp_path: Path) -> None:
    rows = random_rows(random.Random(6), 5_000, ALL_TYPES)
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(rows))
    for key in (Key(i, type_, i % 2 == 0) for i, type_ in enumerate(ALL_TYPES)):
        by = ["-q", "--by", key.words(NAMES)]
        assert run_csv(ecosort, [*by, "in.csv", "-o", "out.csv"], tmp_path) == (0, b"", "")
        assert run_csv(ecosort, [*by, "--check", "out.csv"], tmp_path) == (0, b"", "")


@pytest.mark.parametrize("type_", ["text", "nocase", "version", "number", "number:desc", "text:desc"])
def test_values_that_share_a_long_beginning(ecosort: Path, tmp_path: Path, type_: str) -> None:
    """Values of a megabyte cost what their bytes cost, and no stack."""
    number = type_.startswith("number")
    common = (b"7" if number else b"a") * (1 << 20)
    rows = [common + b"%d\n" % (100 + i) for i in random.Random(1).sample(range(9), 9)]
    words = ["--no-header", "--by", f"1:{type_}", "-", "-o", "-"]
    code, output, error = run_csv(ecosort, words, tmp_path, b"".join(rows))
    assert (code, error) == (0, "")
    assert output == b"".join(sorted(rows, reverse=type_.endswith("desc")))


def test_an_output_may_be_its_input(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"a\n2\n1\n")
    assert run_csv(ecosort, ["--by", "a", "a.csv", "-o", "a.csv"], tmp_path) == (0, b"", "")
    assert (tmp_path / "a.csv").read_bytes() == b"a\n1\n2\n"


def test_a_row_longer_than_the_memory_is_told(ecosort: Path, tmp_path: Path) -> None:
    data = b"a,b\n1,x\n2," + field("y" * 3_000_000, quoted=True) + b"\n"
    (tmp_path / "in.csv").write_bytes(data)
    code, _, error = run_csv(ecosort, [*LEAST, "--by", "a", "in.csv", "-o", "out.csv"], tmp_path)
    assert code == 2
    assert "in.csv: line 3, at byte 8, is too long for the memory" in error
    assert error.endswith("; try --memory 21675KiB\n")  # 6 times the row, and 4 MiB
    for words in ([], ["--merge"], ["--unique"], ["--compress=lz4"]):
        assert run_csv(ecosort, [*words, "--memory=21675KiB", "--by", "a", "in.csv", "-o", "out.csv"], tmp_path)[0] == 0


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("again", ['"a;\n",b', '"a;\n","b"'])
@pytest.mark.parametrize("by", ["b", "#1:number"])
def test_a_row_that_equals_the_header_is_told(ecosort: Path, tmp_path: Path, end: str, again: str, by: str) -> None:
    header = f'"a;\n",b{end}'
    rows = [header, f"1,x{end}", f"b,b{end}", f"2,b{end}", f"{again}{end}", f",b{end}", f"{again}{end}"]
    (tmp_path / "in.csv").write_text("".join(rows), newline="")
    told = (
        "ecosort: in.csv: line 6 equals the header and was sorted as a row (2 rows do so); "
        "where files were joined, name each of them as an input instead\n"
    )
    strict = (
        f"ecosort: in.csv: line 6, byte {len(''.join(rows[:4]))}: the row equals the header; "
        "name files that were joined as inputs of their own\n"
    )
    by_text = by == "b"
    for words in ([], ["--merge"], ["--unique"]) if by_text else ([],):
        (tmp_path / "in.csv").write_text("".join(rows if "--merge" not in words else [*rows[:1], *rows[2:]]), newline="")
        code, _, error = run_csv(ecosort, [*words, "--by", by, "in.csv", "-o", "out.csv"], tmp_path)
        assert (code, error.splitlines(keepends=True)[0]) == (0, told if "--merge" not in words else told.replace("6", "5"))
    (tmp_path / "in.csv").write_text("".join(rows), newline="")
    if by_text:
        assert run_csv(ecosort, ["--strict", "--by", by, "in.csv", "-o", "out"], tmp_path) == (2, b"", strict)
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", [[], LEAST, ["--resumable"], ["--resumable", *LEAST]])
def test_the_first_of_many_headers_is_told(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    """The place is right wherever a batch is cut into parts, and a run ends."""
    for name, count in (("a", 10), ("b", 90_000)):
        rows = [b"%d,%s\n" % (i, b"x" * (i % 20)) for i in range(count)]
        for place in (80_000, 50_000):
            if place < count:
                rows.insert(place, b"n,t\n")
        (tmp_path / name).write_bytes(b"n,t\n" + b"".join(rows))
    code, _, error = run_csv(ecosort, [*words, "--by", "n", "a", "b", "-o", "out"], tmp_path)
    assert code == 0
    assert [line for line in error.splitlines() if "equals" in line] == [
        "ecosort: b: line 50002 equals the header and was sorted as a row (2 rows do so); "
        "where files were joined, name each of them as an input instead"
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(("line", "delimiter"), [("sep=;", ";"), ("SEP=\t", "\t"), ('"sep=|"', "|"), ("sep=,", ",")])
def test_a_first_line_may_name_the_delimiter(
    ecosort: Path, tmp_path: Path, line: str, delimiter: str, mark: str, end: str
) -> None:
    """A line as spreadsheets write it stays on top, and files that have it can be checked, merged and resumed."""
    top = f"{mark}{line}{end}"
    header, rows = f"a{delimiter}b{end}", [f"1{delimiter}y{end}", f"2{delimiter}x{end}"]
    (tmp_path / "in").write_text(top + header + "".join(rows), newline="")
    (tmp_path / "more").write_text(header + f"3{delimiter}w{end}", newline="")
    expected = (top + header + rows[1] + rows[0]).encode()
    by = ["--by", "b"]
    for words in ([], ["--resumable", "-q"], [f"--delimiter={delimiter}"], LEAST):
        assert run_csv(ecosort, [*words, *by, "in", "-o", "out"], tmp_path) == (0, b"", "")
        assert (tmp_path / "out").read_bytes() == expected
    assert run_csv(ecosort, [*by, "--check", "out"], tmp_path) == (0, b"", "")
    code, output, error = run_csv(ecosort, [*by, "--merge", "out", "more", "out", "-o", "-"], tmp_path)
    assert (code, output) == (0, (top + header + f"3{delimiter}w{end}" + 2 * rows[1] + 2 * rows[0]).encode()), error
    assert run_csv(ecosort, [*by, "more", "in", "-o", "-"], tmp_path)[0] == (0 if delimiter == "," else 2)
    code, output, error = run_csv(ecosort, ["--no-header", "--by", "2", "in", "-o", "-"], tmp_path)
    assert (code, output) == (0, (top + header + rows[1] + rows[0]).encode()), error
    assert run_csv(ecosort, [*by, "in", "-o", "out", "--stats", "stats"], tmp_path)[0] == 0
    assert json.loads((tmp_path / "stats").read_text())["rows"] == 2


@pytest.mark.parametrize("words", [[], ["--merge"], ["--resumable", "-q"]])
def test_files_without_rows_name_the_delimiter_once(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    for name, text in (("0", ""), ("1", "sep=;\n"), ("2", "sep=;\r\n"), ("3", "2;y\n3;x\n"), ("4", "sep=;\n1;z\n")):
        (tmp_path / name).write_text(text, newline="")
    for files in ("1234", "0134"):
        done = run_csv(ecosort, [*words, "--no-header", "--by", "1", *files, "-o", "out"], tmp_path)
        assert done == (0, b"", "")
        assert (tmp_path / "out").read_bytes() == b"sep=;\n1;z\n2;y\n3;x\n"
    planned = [ecosort, "plan", "csv", "--no-header", "--by", "2", "1", "3", "-o", "planned"]
    assert subprocess.run(planned, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    assert run_csv(ecosort, ["--no-header", "--by", "1", "--check", "1"], tmp_path) == (0, b"", "")


@pytest.mark.parametrize(
    ("words", "files", "message"),
    [
        (["--delimiter=,"], ["sep=;\na;b\n"], "1: its first line names ';' as the delimiter, and you name ','; leave yours out, "
            "or take that line off the file"),
        ([], ["sep=;\na;b\n", "sep=|\na|b\n"], "2: its first line names '|' as the delimiter, and that of "
            "the file before is ';'"),
        ([], ["sep=;\na;b\n", "a,b\n"], "2: column 1 is 'a,b', and in 1 it is 'a'; all files need the same columns in the "
            "same order"),
        ([], ["sep=;\na;\"b\n"], f"1: line 2, byte 8: a quote is opened and not closed{QUOTE_NONE}"),
        ([], ['sep=;\na;b"\n'], f"1: line 2, byte 9: a quote is within a value that does not begin with one{QUOTE_NONE}"),
        ([], ["sep=;\na;b\n1\n"], "1: line 3, byte 10: the row has 1 field, and the header has 2 columns"),
        ([], ["sep=;\n"], "1: is empty, and a header is wanted; with --no-header columns have numbers, as in --by 3"),
        ([], ["sep=x\n"], "1: no column 'a'; there are: sep=x"),
        ([], ["a;b\nsep=;\n"], "1: no column 'a'; there are: a;b; did you mean --delimiter ';'?"),
    ],
)  # fmt: skip
def test_delimiters_that_differ_are_told(ecosort: Path, tmp_path: Path, words: list[str], files: list[str], message: str) -> None:
    names = [str(i) for i in range(1, len(files) + 1)]
    for name, text in zip(names, files, strict=True):
        (tmp_path / name).write_text(text)
    assert run_csv(ecosort, [*words, "--by", "a", *names, "-o", "out"], tmp_path) == (2, b"", f"ecosort: {message}\n")
    assert not (tmp_path / "out").exists()


def test_a_stray_quote_is_told_and_not_a_long_row(ecosort: Path, tmp_path: Path) -> None:
    """It makes of all that follows one value."""
    (tmp_path / "in.csv").write_bytes(b'a,b\n1,5" disk\n' + b"2,some more text\n" * 200_000)
    code, _, error = run_csv(ecosort, [*LEAST, "--by", "a", "in.csv", "-o", "out.csv"], tmp_path)
    assert code == 2
    assert error.startswith("ecosort: in.csv: line 2, byte 7: a quote is within a value")


def test_two_hundred_keys_decide_in_their_order(ecosort: Path, tmp_path: Path) -> None:
    """The last one decides here, of records, lines and rows (docs/promises.md)."""
    names = [f"c{i}" for i in range(200)]
    header, rows = ",".join(names) + "\n", [",".join([*["7"] * 199, str(last)]) + "\n" for last in (9, 10, 8)]
    by = [word for name in names for word in ("--by", f"{name}:number")]
    done = run_csv(ecosort, [*by, "-", "-o", "-"], tmp_path, "".join([header, *rows]).encode())
    assert done == (0, "".join([header, rows[2], rows[0], rows[1]]).encode(), "")
    lines = [f"-k{i},{i}n" for i in range(1, 201)]
    words = ["lines", "--quiet", "-s", "-t,", *lines]
    sort = subprocess.run([ecosort, *words], input="".join(rows), capture_output=True, text=True, check=True)
    assert sort.stdout == "".join([rows[2], rows[0], rows[1]])
    (tmp_path / "in.dat").write_bytes(b"".join(b"\x07" * 199 + bytes([last]) for last in (9, 10, 8)))
    keys = [word for i in range(200) for word in ("--key", f"{i}:1")]
    subprocess.run([ecosort, "sort", "-q", "--record-size=200", *keys, "in.dat", "-o", "out.dat"], cwd=tmp_path, check=True)
    assert (tmp_path / "out.dat").read_bytes()[199::200] == bytes([8, 9, 10])
