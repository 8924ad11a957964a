"""`ecosort jsonl`: the order that Python gives the values that its json module reads, and lines of the same bytes as before."""

import functools
import gzip
import json
import lzma
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from capabilities import SOAK
from csv_support import READERS, TYPE_NAMES, ordered, sizes_up_to
from jsonl_support import BLOCK, LEAST, MAKERS, Key, random_lines, random_text, run_jsonl, written
from pairs import turns

ALL_TYPES = tuple(MAKERS)
assert tuple(READERS) == ALL_TYPES


def in_order(lines: Sequence[bytes], keys: Sequence[Key], nulls_first: bool = False, unique: bool = False) -> list[bytes]:
    """The lines as a stable sort by the keys leaves them."""
    return ordered([([key.value(raw) for key in keys], raw) for raw in lines], keys, nulls_first, unique)


def assert_sorted(
    ecosort: Path,
    directory: Path,
    lines: Sequence[bytes],
    keys: Sequence[Key],
    words: Sequence[str] = (),
    as_stream: bool = False,
    expected: bytes | None = None,
    **order: bool,
) -> None:
    """`as_stream`: a small sort has its computing threads all the same. `expected`: the sorted lines, where they are known."""
    data = b"".join(lines)
    (directory / "in.jsonl").write_bytes(data)
    by = [word for key in keys for word in ("--by", key.words())]
    name, given = ("-", data) if as_stream else ("in.jsonl", None)
    code, _, error = run_jsonl(ecosort, ["-q", *by, *words, name, "-o", "out.jsonl"], directory, given)
    assert (code, error) == (0, "")
    if expected is None:
        expected = b"".join(in_order(lines, keys, **order))
    assert (directory / "out.jsonl").read_bytes() == expected


@functools.lru_cache(maxsize=1)
def lines_of_a_type(number: int) -> tuple[list[bytes], list[tuple[list[object], bytes]]]:
    """Lines with values of three types, of which that one is the second, and its values with their lines."""
    types = [ALL_TYPES[(number + shift) % len(ALL_TYPES)] for shift in (-1, 0, 1)]
    lines = random_lines(random.Random(number), 1500, types)
    key = Key(("values", 1, "v"), ALL_TYPES[number])
    return lines, [([key.value(raw)], raw) for raw in lines]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("number", range(len(ALL_TYPES)), ids=ALL_TYPES)
def test_lines_are_in_the_order_of_each_type(ecosort: Path, tmp_path: Path, number: int, descending: bool) -> None:
    lines, read = lines_of_a_type(number)
    keys = [Key(("values", 1, "v"), ALL_TYPES[number], descending)]
    for words, nulls_first in (((), False), (("--nulls", "first"), True)):
        expected = b"".join(ordered(read, keys, nulls_first, unique=False))
        assert_sorted(ecosort, tmp_path, lines, keys, words, expected=expected)


@pytest.mark.parametrize("seed", range(8))
def test_later_keys_decide_among_equal_lines(ecosort: Path, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    lines = random_lines(rng, 600, ALL_TYPES)
    chosen = rng.sample(range(len(ALL_TYPES)), 3)
    keys = [Key(("values", number, "v"), ALL_TYPES[number], rng.random() < 0.5) for number in chosen]
    assert_sorted(ecosort, tmp_path, lines, keys)
    assert_sorted(ecosort, tmp_path, lines, keys, ["--unique"], unique=True)


FIRST = ("values", 0, "v")


@functools.cache
def more_than_the_memory_holds(type_: str) -> tuple[list[bytes], bytes, bytes]:
    """Lines, what a sort by the first value makes of them, and what one with --unique does."""
    lines = random_lines(random.Random(7), 14_000, [type_, "text"])
    key = Key(FIRST, type_)
    read = [([key.value(raw)], raw) for raw in lines]
    sorted_lines, first_lines = (b"".join(ordered(read, [key], False, unique)) for unique in (False, True))
    return lines, sorted_lines, first_lines


@pytest.mark.parametrize(("type_", "threads"), turns(["text", "number", "date"], ["1", "3"]))
def test_more_than_the_memory_holds_comes_out_in_the_same_order(ecosort: Path, tmp_path: Path, type_: str, threads: str) -> None:
    lines, sorted_lines, first_lines = more_than_the_memory_holds(type_)
    keys = [Key(FIRST, type_)]
    words = [*LEAST, "--threads", threads, "--stats", "stats.json"]
    assert_sorted(ecosort, tmp_path, lines, keys, words, as_stream=True, expected=sorted_lines)
    stats = json.loads((tmp_path / "stats.json").read_text())
    assert stats["runs"] > 1
    assert stats["rows"] == len(lines)
    assert stats["peak_counted_memory_bytes"] <= 1 << 20
    assert_sorted(ecosort, tmp_path, lines, keys, [*words, "--unique"], expected=first_lines)


def test_the_last_merge_works_in_parts(ecosort: Path, tmp_path: Path) -> None:
    rng = random.Random(3)
    numbers = [rng.randrange(10**6) for _ in range(60_000)]
    lines = [b'{"a":%d,"n":%d,"text":"%s"}\n' % (number, i, b"abc" * rng.randrange(9)) for i, number in enumerate(numbers)]
    expected = b"".join(lines[i] for i in sorted(range(len(lines)), key=numbers.__getitem__))
    words = ["--memory", "2MiB", "--threads", "2", "--stats", "stats.json"]
    assert_sorted(ecosort, tmp_path, lines, [Key(("a",), "integer")], words, as_stream=True, expected=expected)
    assert json.loads((tmp_path / "stats.json").read_text())["merge_parts"] == 2


@functools.cache
def files_of_any_size() -> list[tuple[list[bytes], list[bytes]]]:
    """Lines of files, and what a sort by a number makes of them."""
    rng = random.Random(11)
    numbers = [rng.randrange(1000) for _ in range(2_000)]
    read = [([a], written(rng, {"t": random_text(rng, 60), "a": a, "n": i})) for i, a in enumerate(numbers)]
    files = []
    for size in sizes_up_to(4 * BLOCK, BLOCK):
        some: list[tuple[list[object], bytes]] = []
        left = size
        at = rng.randrange(len(read) // 2)
        while left > 500:
            some.append(read[at + len(some)])
            left -= len(some[-1][1])
        number = rng.randrange(1000)
        room = left - len(b'{"a":%d,"t":""}\n' % number)
        if room >= 0:
            some.append(([number], b'{"a":%d,"t":"%b"}\n' % (number, b"x" * room)))
        lines = [raw for _, raw in some]
        assert size < 500 or sum(map(len, lines)) == size
        files.append((lines, ordered(some, [Key(("a",))], False, False)))
    return files


@pytest.mark.timeout(1800 if SOAK else 300)
@pytest.mark.parametrize("end", [b"\n", b""])
def test_files_of_any_size_keep_all_lines(ecosort: Path, tmp_path: Path, end: bytes) -> None:
    """From nothing to four blocks, with the last line's end and without it."""
    for lines, in_their_order in files_of_any_size():
        data, expected = b"".join(lines), list(in_their_order)
        (tmp_path / "in.jsonl").write_bytes(data[: len(data) - 1] + end if data else b"")
        done = run_jsonl(ecosort, ["-q", *LEAST, "--by", "a:integer", "in.jsonl", "-o", "-"], tmp_path)
        if end == b"" and len(lines) > 1 and lines[-2].endswith(b"\r\n") and not lines[-1].endswith(b"\r\n"):
            expected[expected.index(lines[-1])] = lines[-1][:-1] + b"\r\n"  # the end of the line before it
        assert done == (0, b"".join(expected), "")


@pytest.mark.parametrize("what", ['"', "\\", "\\u20ac", "\u20ac", "\\ud83d\\ude00", "  ", "[{},[]]", "-1.5e+10"])
def test_anything_may_lie_at_a_border_of_blocks(ecosort: Path, tmp_path: Path, what: str) -> None:
    value = f'"{what}"' if what[0] in "\\\u20ac" and what != "\\" else f'"\\{what}"' if what in '"\\' else what.strip() or '  ""'
    for shift in range(-9, 10):
        first = f'{{"pad":"{"x" * (BLOCK - 20 + shift)}","a":{value},"k":9}}\n'.encode()
        lines = [first, f'{{"a":{value},"k":1}}\n'.encode(), f'{{"k":5,"a":{value}}}\n'.encode()]
        assert_sorted(ecosort, tmp_path, lines, [Key(("k",), "integer")], LEAST)


def test_long_lines_pass_over_many_blocks(ecosort: Path, tmp_path: Path) -> None:
    rng = random.Random(2)
    texts = ['line\n"quoted"\u20ac, ' * rng.choice([0, 1, 10, 100, 1000, 3000]) for _ in range(200)]
    lines = [written(rng, {"text": text, "n": [rng.randrange(100)], "i": i}) for i, text in enumerate(texts)]
    assert_sorted(ecosort, tmp_path, lines, [Key(("n", 0), "integer")], LEAST)
    assert_sorted(ecosort, tmp_path, lines, [Key(("text",))], LEAST)


def test_names_with_other_signs_are_quoted(ecosort: Path, tmp_path: Path) -> None:
    lines = [written(random.Random(i), {"a.b": {'q"\\': i * 7 % 10}, ":number": [i]}) for i in range(10)]
    assert_sorted(ecosort, tmp_path, lines, [Key(("a.b", 'q"\\'), "integer")])
    data = b'{"x:y":2}\n{"x:y":1}\n'
    assert run_jsonl(ecosort, ["--by", "x:y", "-", "-o", "-"], tmp_path, data)[1] == b'{"x:y":1}\n{"x:y":2}\n'


def test_a_path_may_begin_with_a_place(ecosort: Path, tmp_path: Path) -> None:
    data = b'["x",{"a":2}]\n["y",{"a":1}]\n'
    for words in (["--by", "[1].a:number"], ["--by=[1].a"], ["--by", "[0]:text:desc"]):
        assert run_jsonl(ecosort, [*words, "-", "-o", "-"], tmp_path, data) == (0, b'["y",{"a":1}]\n["x",{"a":2}]\n', "")


def test_values_of_all_types_are_compared_by_their_texts(ecosort: Path, tmp_path: Path) -> None:
    order = [b'""', b'"\\u0001"', b"10", b'"2"', b"2.0", b'"A"', b"[0]", b"false", b'"t"', b"true", b'{"x":1}', b'"}"']
    lines = [b'{"a":' + value + b"}\n" for value in order]
    done = run_jsonl(ecosort, ["--by", "a", "-", "-o", "-"], tmp_path, b"".join(reversed(lines)))
    assert done == (0, b"".join(lines), "")


REPEATED = [b'{"a":9,"a":1}\n', b'{"a":0,"\\u0061":2}\n', b'{"a":3}\n', b'{"a":{"b":1},"b":1,"b":2,"a":4}\n']


@pytest.mark.parametrize("words", [[], ["--merge"]])
def test_of_equal_names_the_last_one_counts(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    """It does to Python's json, jq, and all other readers; a sort by the first one orders by values that nobody sees."""
    lines = REPEATED if words else list(reversed(REPEATED))
    by = ["--by", "a:integer", "--by", "c", "--allow-missing", "--stats", "s.json", "-", "-o", "-"]
    code, out, error = run_jsonl(ecosort, [*words, *by], tmp_path, b"".join(lines))
    assert (code, out) == (0, b"".join(REPEATED))
    assert "--by a:integer: a name on this path repeats within an object in 3 rows; the last one counts\n" in error
    assert [key["repeated_names"] for key in json.loads((tmp_path / "s.json").read_text())["keys"]] == [3, 0]


@pytest.mark.parametrize("words", [[], ["--merge"], ["--check"]])
def test_strict_refuses_names_that_repeat(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    data = b'{"b":1,"b":2,"a":{"x":1}}\n{"a":{"x":1,"x":2}}\n'
    output = [] if words == ["--check"] else ["-o", "-"]
    done = run_jsonl(ecosort, ["--strict", *words, "--by", "a.x:number", "-", *output], tmp_path, data)
    assert done == (2, b"", "ecosort: standard input: line 2, byte 38: path 'a.x': an object has this name twice\n")


def test_names_that_repeat_late_are_seen_in_runs_formed_before(ecosort: Path, tmp_path: Path) -> None:
    """A merge looks on behind the first name as soon as one row needs it, whatever run that is in; also in kept runs."""
    rng = random.Random(8)
    numbers = [rng.randrange(10**6) for _ in range(60_100)]
    lines = [b'{"a":%d,"n":%d}\n' % (number, i) for i, number in enumerate(numbers[:60_000])]
    lines += [b'{"a":%d,"n":%d,"a":%d}\n' % (rng.randrange(10**6), i, numbers[i]) for i in range(60_000, 60_100)]
    expected = b"".join(lines[i] for i in sorted(range(len(lines)), key=numbers.__getitem__))
    key = Key(("a",), "integer")
    assert_sorted(ecosort, tmp_path, lines, [key], LEAST, expected=expected)
    (tmp_path / "out.jsonl").unlink()
    assert_sorted(ecosort, tmp_path, lines, [key], [*LEAST, "--resumable"], expected=expected)


def test_numbers_are_exact(ecosort: Path, tmp_path: Path) -> None:
    big = "1" + "0" * 300
    order = ["-1e99999", f"-{big}1", f"-{big}", "-0.00000000000000000001", "0e5", "1e-99999", "2e-99999", "0.1",
             "0.10000000000000000001", "1e0", f"{big}", f"{big}.0000001", "1e99999"]  # fmt: skip
    data = "".join(f'{{"n":{value}}}\n' * 20 for value in random.Random(1).sample(order, len(order)))
    done = run_jsonl(ecosort, ["--by", "n:number", "-", "-o", "-"], tmp_path, data.encode())
    assert done == (0, "".join(f'{{"n":{value}}}\n' * 20 for value in order).encode(), "")


def test_nesting_is_bounded(ecosort: Path, tmp_path: Path) -> None:
    deep = b"[" * 1024 + b"]" * 1024 + b"\n"
    assert run_jsonl(ecosort, ["-q", "--allow-missing", "--by", "a", "-", "-o", "-"], tmp_path, deep) == (0, deep, "")
    done = run_jsonl(ecosort, ["-q", "--by", "a", "-", "-o", "-"], tmp_path, b"1\n" + b"[" * 10**6)
    assert done == (2, b"", "ecosort: standard input: line 2, byte 1026: objects and arrays are nested deeper than 1024\n")


@pytest.mark.parametrize("words", [[], ["--merge"], LEAST])
def test_blank_lines_are_left_out_and_counted(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    data = b"\n \r\n1\n\n\t\n2\r\n   "
    done = run_jsonl(ecosort, [*words, "--allow-missing", "--by", "a", "--stats", "s.json", "-", "-o", "-"], tmp_path, data)
    assert done[:2] == (0, b"1\n2\r\n")
    assert "ecosort: blank lines are left out: there were 5\n" in done[2]
    stats = json.loads((tmp_path / "s.json").read_text())
    assert (stats["rows"], stats["rows_dropped"], stats["blank_lines"]) == (2, 0, 5)
    assert (
        run_jsonl(ecosort, ["-q", *words, "--allow-missing", "--by", "a", "--unique", "-", "-o", "-"], tmp_path, data)[1]
        == b"1\n"
    )


def test_more_blank_lines_than_the_memory_holds(ecosort: Path, tmp_path: Path) -> None:
    data = b'{"a":2}\n' + b"  \t \n" * 500_000 + b'{"a":1}\n' + b"\n" * 2_000_000 + b'{"a":3}\n'
    for words in ([], ["--unique"]):
        done = run_jsonl(ecosort, ["-q", *words, *LEAST, "--by", "a", "-", "-o", "-"], tmp_path, data)
        assert done == (0, b'{"a":1}\n{"a":2}\n{"a":3}\n', "")
    (tmp_path / "in").write_bytes(data)
    assert run_jsonl(ecosort, [*LEAST, "--check", "--by", "a", "in"], tmp_path) == (
        1, b"", 'ecosort: in: line 500002 is out of order: {"a":1}\n')  # fmt: skip


@pytest.mark.parametrize(("data", "expected"), [
    (b'{"a":2}\r\n{"a":1}', b'{"a":1}\r\n{"a":2}\r\n'),
    (b'{"a":2}\n{"a":1}', b'{"a":1}\n{"a":2}\n'),
    (b'{"a":2}\r\n{"a":1}\r', b'{"a":1}\r\n{"a":2}\r\n'),
    (b"1", b"1\n"),
    (b"", b""),
])  # fmt: skip
@pytest.mark.parametrize("words", [[], ["--merge"]])
def test_a_last_line_without_its_end_gets_that_of_the_line_before(
    ecosort: Path, tmp_path: Path, data: bytes, expected: bytes, words: list[str]
) -> None:
    if words and data.count(b"\n") == 1:
        data = data.replace(b"2", b"0")  # what is merged must be in order
        expected = data.rstrip(b"\r") + (b"\r\n" if b"\r\n" in data else b"\n")
    assert run_jsonl(ecosort, ["-q", *words, "--allow-missing", "--by", "a", "-", "-o", "-"], tmp_path, data) == (0, expected, "")


def test_a_byte_order_mark_stays_in_front(ecosort: Path, tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    (tmp_path / "1").write_bytes(mark + b'{"a":1}\n{"a":3}\n')
    (tmp_path / "2").write_bytes(mark + b'{"a":2}\n')
    for words in ([], ["--merge"]):
        done = run_jsonl(ecosort, [*words, "--by", "a", "1", "2", "-o", "-"], tmp_path)
        assert done == (0, mark + b'{"a":1}\n{"a":2}\n{"a":3}\n', "")


@pytest.mark.parametrize("files", [2, 60])
@pytest.mark.parametrize("words", [[], LEAST])
def test_sorted_files_are_merged(ecosort: Path, tmp_path: Path, files: int, words: list[str]) -> None:
    rng = random.Random(files)
    key = Key(("values", 0, "v"), "number")
    every: list[bytes] = []
    names = []
    for i in range(files):
        lines = in_order(random_lines(rng, rng.randrange(3000 // files), ["number", "text"]), [key])
        every += lines
        names.append(f"{i}.jsonl")
        (tmp_path / names[-1]).write_bytes(b"\n".join(lines))
    by = ["-q", "--merge", *words, "--by", key.words(), *names, "-o", "-"]
    assert run_jsonl(ecosort, by, tmp_path) == (0, b"".join(in_order(every, [key])), "")
    assert run_jsonl(ecosort, ["--unique", *by], tmp_path)[1] == b"".join(in_order(every, [key], unique=True))


def test_values_without_an_order_are_counted(ecosort: Path, tmp_path: Path) -> None:
    data = b'{"a":1,"b":null}\n{"a":""}\n{"a":"x","b":2.5}\n{"b":"7"}\n[3]\n{"a":true,"b":[1]}\n'
    for words in ([], ["--merge"]):
        by = ["--by", "a:number", "--by", "b:integer:desc", "--stats", "stats.json", "-", "-o", "-"]
        code, data, error = run_jsonl(ecosort, [*words, *by], tmp_path, data)
        assert code == 0
        assert "--by a:number: 2 missing or null and 3 unparsable values come behind all others" in error
        assert "--by b:integer:desc: 3 missing or null and 2 unparsable values" in error
        stats = json.loads((tmp_path / "stats.json").read_text())
        assert stats["schema"] == "ecosort.jsonl-stats/1"
        assert stats["keys"] == [
            {"by": "a:number", "missing_values": 2, "unparsable_values": 3, "repeated_names": 0},
            {"by": "b:integer:desc", "missing_values": 3, "unparsable_values": 2, "repeated_names": 0},
        ]


def test_strict_refuses_a_value(ecosort: Path, tmp_path: Path) -> None:
    data = b'{"a":1}\n{"b":{}}\n{"a":"x\\ny"}\n'
    for words in ([], ["--merge"], ["--check"]):
        output = [] if words == ["--check"] else ["-o", "-"]
        done = run_jsonl(ecosort, ["--strict", *words, "--by", "a:number", "-", *output], tmp_path, data)
        assert done == (2, b"", "ecosort: standard input: line 3, byte 22: path 'a': 'x?y' is no number\n")


@pytest.mark.parametrize("words", [[], ["--merge"], ["--check"], LEAST])
@pytest.mark.parametrize(("rest", "at", "why"), [
    (b'{"a":1,}\n', 7, "a name in double quotes is wanted here"),
    (b'{"a":1\n{"a":2}\n', 6, "a comma, or a brace that closes the object, is wanted here"),
    (b'{"a":1} {"a":2}\n', 8, "something follows the value; a line holds one"),
    (b'{"a":"\x80"}\n', 6, "this is not UTF-8"),
    (b'{"a":"x', 5, "a string is not closed"),
    (b"{'a':1}", 1, "a name in double quotes is wanted here"),
    (b"NaN\n", 0, "this is no value of JSON"),
    (b'{"a":01}\n', 5, "a number begins with a zero too many"),
])  # fmt: skip
def test_lines_that_are_no_json_are_told_with_their_place(
    ecosort: Path, tmp_path: Path, rest: bytes, at: int, why: str, words: list[str]
) -> None:
    before = b'{"a":0}\n\n{"a":1}\n'
    (tmp_path / "in").write_bytes(before + rest)
    (tmp_path / "out").write_text("old")
    output = [] if words == ["--check"] else ["-o", "out"]
    done = run_jsonl(ecosort, [*words, "--by", "a", "in", *output], tmp_path)
    assert done == (2, b"", f"ecosort: in: line 4, byte {len(before) + at}: {why}\n")
    assert (tmp_path / "out").read_text() == "old"


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_first_of_many_wrong_lines_is_told(ecosort: Path, tmp_path: Path, threads: str) -> None:
    lines = [b'{"a":%d,"text":"some text, for it"}\n' % i for i in range(30_000)]
    rng = random.Random(9)
    for _ in range(10):
        places = sorted(rng.sample(range(len(lines)), 3))
        wrong = list(lines)
        for place in places:
            wrong[place] = rng.choice([b"{\n", b'{"a":"}\n', b"1 2\n", b"tru\n"])
        code, _, error = run_jsonl(ecosort, ["--by", "a", "--threads", threads, "-", "-o", "out"], tmp_path, b"".join(wrong))
        assert code == 2
        assert error.startswith(f"ecosort: standard input: line {places[0] + 1}, byte "), error


@pytest.mark.parametrize("type_", ["text", "nocase", "version", "number"])
def test_values_that_share_a_long_beginning(ecosort: Path, tmp_path: Path, type_: str) -> None:
    common = (b"7" if type_ == "number" else b"a") * (1 << 20)
    lines = [b'{"k":"%s%d"}\n' % (common, 100 + i) for i in random.Random(1).sample(range(9), 9)]
    code, output, error = run_jsonl(ecosort, ["--by", f"k:{type_}", "-", "-o", "-"], tmp_path, b"".join(lines))
    assert (code, output, error) == (0, b"".join(sorted(lines)), "")


def test_what_python_reads_is_read_and_what_it_refuses_is_refused(ecosort: Path, tmp_path: Path) -> None:
    """Lines with a byte changed, taken out or put in."""
    rng = random.Random(5)
    lines = random_lines(rng, 150, ["text", "number"])
    read = refused = 0
    for line in lines:
        raw = bytearray(line[:-1])
        at = rng.randrange(len(raw))
        raw[at : at + rng.randrange(2)] = rng.choice(
            [b"", b'"', b"{", b"}", b"]", b",", b":", b"\\", b"0", b"-", b" ", b"\x01", b"\xc3"]
        )
        try:
            json.loads(bytes(raw), parse_constant=lambda word: json.loads(f"<{word}>"))
            is_json = bytes(raw).decode("utf-8") is not None
        except ValueError:
            is_json = False
        code, output, _ = run_jsonl(ecosort, ["-q", "--allow-missing", "--by", "n", "-", "-o", "-"], tmp_path, bytes(raw))
        assert (code, output.rstrip(b"\r\n")) == ((0, bytes(raw).rstrip(b"\r")) if is_json else (2, b"")), bytes(raw)
        read, refused = read + is_json, refused + (not is_json)
    assert min(read, refused) > 20


@pytest.mark.parametrize(("words", "message"), [
    (["--by", "a[x]"], "key 'a[x]': a bracket wants a number, as in [0]; a path is names with dots between them and [N] for "
        "arrays, and a name with other signs is put in double quotes"),
    (["--by", ":number"], "key ':number' names nothing; give NAME[:TYPE][:desc]"),
    (["--by", "a", "--nulls", "middle"], "--nulls: 'middle' is neither 'first' nor 'last'"),
    ([], "jsonl: no key; name a value with --by PATH[:TYPE][:desc]"),
    ([f"--by=k{i}" for i in range(33)], "33 keys are more than 32"),
])  # fmt: skip
def test_what_cannot_be_sorted_is_told_in_one_line(ecosort: Path, tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "in").write_text("{}\n")
    assert run_jsonl(ecosort, [*words, "in", "-o", "out"], tmp_path) == (2, b"", f"ecosort: {message}\n")
    assert not (tmp_path / "out").exists()


def test_sorted_lines_pass_the_check(ecosort: Path, tmp_path: Path) -> None:
    lines = random_lines(random.Random(6), 4000, ALL_TYPES)
    lines[2000:2000] = [b"\n", b" \n"]
    (tmp_path / "in").write_bytes(b"".join(lines))
    for i, type_ in enumerate(ALL_TYPES):
        by = ["-q", "--by", Key(("values", i, "v"), type_, i % 2 == 0).words()]
        assert run_jsonl(ecosort, [*by, "in", "-o", "out"], tmp_path) == (0, b"", "")
        assert run_jsonl(ecosort, [*by, "--check", "out"], tmp_path) == (0, b"", "")


def test_a_line_longer_than_the_memory_is_told(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b'1\n"' + b"y" * 3_000_000 + b'"\n')
    code, _, error = run_jsonl(ecosort, [*LEAST, "--by", "a", "in", "-o", "out"], tmp_path)
    assert code == 2
    assert "in: line 2, at byte 2, is too long for the memory" in error
    assert error.endswith("; try --memory 21675KiB\n")  # 6 times the row, and 4 MiB
    assert run_jsonl(ecosort, ["--memory", "21675KiB", "--by", "[0]", "--allow-missing", "in", "-o", "out"], tmp_path)[0] == 0


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ('{"a": 1}\n'.encode("utf-16"), "text in UTF-16; convert it first: iconv -f UTF-16 -t UTF-8"),
        ('{"a": 1}\n'.encode("utf-16-le"), "text in UTF-16; convert it first: iconv -f UTF-16LE -t UTF-8"),
        ('{"a": 1}\n'.encode("utf-16-be"), "text in UTF-16; convert it first: iconv -f UTF-16BE -t UTF-8"),
        (b"PK\x03\x04\x14\0\0\0{}\n", "an archive (zip, xlsx, ods); unpack it, or export its tables as CSV"),
        (
            lzma.compress(gzip.compress(b'{"a": 1}\n')),
            "gzip data where rows should be: compressed twice, or not to be decompressed; decompress it first: gzip -dc",
        ),
    ],
    ids=["utf-16", "utf-16-le", "utf-16-be", "zip", "twice"],
)
@pytest.mark.parametrize("mode", ["sort", "--merge", "--check"])
def test_what_is_no_json_is_told_as_what_it_is(ecosort: Path, tmp_path: Path, data: bytes, words: str, mode: str) -> None:
    (tmp_path / "in").write_bytes(data)
    output = {"sort": ["-o", "out"], "--merge": ["--merge", "-o", "out"], "--check": ["--check"]}[mode]
    is_text = "iconv" in words
    told = f"ecosort: in: {'line 1, byte 0: this ' if is_text else ''}is {words}\n"
    assert run_jsonl(ecosort, ["--by", "a", "in", *output], tmp_path) == (2, b"", told)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", [[], ["--merge"], ["--check"]])
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'[{"a":1},\n{"a":2}]\n', "line 1, byte 9: the line ends where a value is wanted; every line holds one whole value: "
            "where the file is one array, jq -c '.[]' makes lines of it"),
        (b'{\r\n  "a": 1\r\n}\r\n', "line 1, byte 2: a name in double quotes is wanted here; every line holds one whole "
            "value: jq -c . makes one line of each"),
    ],
)  # fmt: skip
def test_values_over_several_lines_are_told_as_such(
    ecosort: Path, tmp_path: Path, data: bytes, says: str, words: list[str]
) -> None:
    (tmp_path / "in").write_bytes(data)
    output = [] if words == ["--check"] else ["-o", "out"]
    assert run_jsonl(ecosort, [*words, "--by", "a", "in", *output], tmp_path) == (2, b"", f"ecosort: in: {says}\n")


PATH_TYPES = f"A key is NAME[:TYPE][:desc], its type one of {', '.join(TYPE_NAMES)}"
ALL_THE_SAME = " (--allow-missing sorts all the same)"


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("$.a:number", "; '$' is taken for a name: a path begins without it, as in a"),
        ("$[0].a", "; '$' is taken for a name: a path begins without it, as in [0].a"),
        ("a:int:desc", f"; 'int' is no type; did you mean 'integer'? {PATH_TYPES}"),
        ("a:double", f"; 'double' is no type; did you mean 'float'? {PATH_TYPES}"),
        ("usr.name", "; did you mean 'user.name'? There are: a, user.name, user.tags[0], user.tags[1].\"x.y\""),
        ("user[0]", "; there are: a, user.name, user.tags[0], user.tags[1].\"x.y\""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("words", [[], ["--merge"], [*LEAST], ["--unique"]])
def test_a_path_that_no_row_has_is_an_error_with_what_was_meant(
    ecosort: Path, tmp_path: Path, key: str, says: str, words: list[str]
) -> None:
    """Nothing is written, whether a run was stored before that shows or not."""
    data = b'{"a":2,"user":{"name":"\\u0062","tags":["x",{"x.y":null}]}}\n' * (30_000 if words == LEAST else 2)
    name = key.split(":")[0] if "is no type" not in says else key.removesuffix(":desc")
    told = f"ecosort: no row has '{name}'{says}{ALL_THE_SAME}\n"
    for output in ("out", "-"):
        if output == "-" and words == ["--merge"]:
            continue  # what was merged had gone out
        assert run_jsonl(ecosort, [*words, "--by", "a", "--by", key, "-", "-o", output], tmp_path, data) == (2, b"", told)
    assert not (tmp_path / "out").exists()
    code, output, error = run_jsonl(ecosort, [*words, "--allow-missing", "--by", key, "-", "-o", "-"], tmp_path, data)
    assert (code, output) == (0, data.splitlines(keepends=True)[0] if words == ["--unique"] else data)
    assert f"--by {key}: {data.count(10)} missing or null" in error


@pytest.mark.parametrize("check", [["jsonl", "--check"], ["check", "jsonl"]])
def test_a_check_by_a_path_that_no_row_has_is_an_error(ecosort: Path, tmp_path: Path, check: list[str]) -> None:
    """Rows without it are equal, and would be said to be in order."""
    (tmp_path / "in").write_bytes(b'{"a":2}\n{"a":1}\n')
    done = subprocess.run([ecosort, *check, "--by", "b", "in"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"ecosort: no row has 'b'; there are: a{ALL_THE_SAME}\n")
    done = subprocess.run([ecosort, *check, "--by", "b", "--allow-missing", "in"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize(
    "data",
    [b'{"a":1}\n{"b":1}\n', b'{"a":1}\n{"b":null}\n', b'{"a":1}\n\n{"b":[]}\n', b"", b"\n", b'{"a":1}\n{"b:c":1,"b":2}\n'],
)
def test_a_path_that_one_row_has_is_no_error(ecosort: Path, tmp_path: Path, data: bytes) -> None:
    code, _, error = run_jsonl(ecosort, ["--by", "b", "-", "-o", "-"], tmp_path, data)
    assert code == 0, error


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b' [{"a":1},{"a":2}]\n', "the input is one array in one line: jq -c '.[]' makes lines of it"),
        (b'["x"]\n["y"]\n', "the rows are arrays, into which a path leads by a place, as in [0]"),
        (b"1\n2\n", "the rows are texts or numbers by themselves, into which no path leads"),
    ],
)
def test_rows_that_are_no_objects_are_told_as_such(ecosort: Path, tmp_path: Path, data: bytes, says: str) -> None:
    done = run_jsonl(ecosort, ["--by", "a", "-", "-o", "-"], tmp_path, data)
    assert done == (2, b"", f"ecosort: no row has 'a'; {says}{ALL_THE_SAME}\n")


def test_a_long_row_does_not_hide_which_paths_there_are(ecosort: Path, tmp_path: Path) -> None:
    """A part of it is looked at, wherever it ends."""
    for size in range(65_500, 65_545):
        row = b'{"abc":1,"t":"' + b"x" * (size - 20) + b'\\u00e9\\n","rest":{"y":2}}\n'
        code, _, error = run_jsonl(ecosort, ["--by", "abd", "-", "-o", "-"], tmp_path, row)
        assert (code, error.split(" There")[0]) == (2, "ecosort: no row has 'abd'; did you mean 'abc'?")
