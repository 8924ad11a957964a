"""Random options of `lines`, `csv`, `jsonl` and `sort` in any combination, against GNU sort and Python.

Each case is made of its number alone. A few hundred are tried, in a soak 10,000 of lines and 3,000 each of the others.
"""

import itertools
import os
import random
import struct
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

import csv_support
import jsonl_support
import pytest
from capabilities import SOAK
from csv_support import READERS, ordered, row
from lines_support import SORT, random_key, random_lines, random_words
from test_dialects import DIALECTS

AT_ONCE = 20  # cases of a test
MOST_PARTS = 4
LINES, TABLES, RECORDS = (10_000, 3_000, 3_000) if SOAK else (100, 100, 100)
FEW_FILES = ["bash", "-c", 'ulimit -n 32; exec "$0" "$@"']
Groups = list[list[bytes]]


def cases(count: int) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("first", range(0, count, AT_ONCE))


@dataclass
class Case:
    """Holds what is sorted, and what becomes of it."""

    command: str
    words: list[str]
    parts: list[bytes]  # files, in their order
    expected: bytes
    may_stop: bool = True  # and continue: --resumable takes the options
    more: list[str] = field(default_factory=list)  # how it is done


def with_means(case: Case, rng: random.Random, size: int) -> None:
    """Memory and threads, which change nothing."""
    packs = rng.random() < 0.2 and case.command != "merge"
    if packs:
        case.more.append(f"--compress={rng.choice(['auto' if case.command == 'sort' else 'prefix', 'lz4', 'zstd'])}")
    if size > 100_000 or rng.random() < 0.3:
        case.more.append(f"--memory={2 if packs or case.command in ('sort', 'merge') else 1}MiB")
    if rng.random() < 0.5:
        case.more.append(f"--{'parallel' if case.command == 'lines' else 'threads'}={rng.choice([1, 2, 3])}")


def check(ecosort: Path, directory: Path, case: Case, rng: random.Random) -> None:
    with_means(case, rng, sum(map(len, case.parts)))
    names = [f"part{number}" for number in range(len(case.parts))]
    for name, part in zip(names, case.parts, strict=True):
        (directory / name).write_bytes(part)
    is_stream = len(names) == 1 and "--skip-bytes" not in case.words and rng.random() < 0.3
    to_file = rng.random() < 0.5
    if case.may_stop and to_file and not is_stream and rng.random() < 0.1:
        case.more.append("--resumable")
    output = ["-o", "out"] if to_file else [] if case.command == "lines" else ["-o", "-"]
    words = [case.command, *case.words, *case.more, "--quiet", *output, *(["-"] if is_stream else names)]
    few = FEW_FILES if rng.random() < 0.05 else []
    done = subprocess.run(
        [*few, ecosort, *words],
        cwd=directory,
        input=case.parts[0] if is_stream else b"",
        capture_output=True,
        env={**os.environ, "LC_ALL": "C"},
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr.decode(errors="replace")) == (0, ""), words
    output_bytes = (directory / "out").read_bytes() if to_file else done.stdout
    assert output_bytes == case.expected, words


def kept(groups: Iterable[Sequence[bytes]], words: Sequence[str]) -> list[tuple[int, bytes]]:
    """Returns the row of each group that goes out, with the number of rows that it stands for."""
    rows = []
    for group in groups:
        if ("--repeated" in words and len(group) == 1) or ("--singles" in words and len(group) > 1):
            continue
        rows.append((len(group), group[-1 if "--keep=last" in words else 0]))
    return rows


def random_policy(rng: random.Random) -> list[str]:
    """Options about groups of equal rows, or about the first rows; often none."""
    if rng.random() < 0.5:
        return []
    policy = rng.choice([["--unique"], ["--count"], ["--repeated"], ["--singles"], ["--count", "--repeated"], ["--limit"]])
    if policy == ["--limit"]:
        return [*rng.choice([[], ["--unique"]]), f"--limit={rng.choice([0, 1, 3, 50, 5000])}"]
    return [*policy, *(["--keep=last"] if "--singles" not in policy and rng.random() < 0.3 else [])]


def limit_of(words: Sequence[str]) -> int | None:
    return next((int(word.partition("=")[2]) for word in words if word.startswith("--limit=")), None)


# --- lines ---------------------------------------------------------------------------------------------------------------


def by_sort(words: Sequence[str], parts: Sequence[bytes], directory: Path) -> bytes:
    names = [f"sorted{number}" for number in range(len(parts))]
    for name, part in zip(names, parts, strict=True):
        (directory / name).write_bytes(part)
    done = subprocess.run(
        [SORT, *words, *names], cwd=directory, capture_output=True, env={**os.environ, "LC_ALL": "C"}, timeout=120, check=True
    )
    return done.stdout


def groups_by_sort(words: Sequence[str], parts: Sequence[bytes], directory: Path, end: bytes) -> Groups:
    """The lines that sort leaves with -u are the first ones of the groups; no line of a group equals the first one of another."""
    firsts = by_sort([*words, "-u"], parts, directory).split(end)[:-1]
    groups: Groups = []
    for line in by_sort([*words, "-s"], parts, directory).split(end)[:-1]:
        if len(groups) < len(firsts) and line == firsts[len(groups)]:
            groups.append([])
        groups[-1].append(line)
    return groups


def random_case_of_lines(rng: random.Random, directory: Path) -> Case:
    words = random_words(rng)
    if rng.random() < 0.2:
        words += [f"-k{random_key(rng)}" for _ in range(2)]
    end = b"\0" if "-z" in words else b"\n"
    count = rng.choice([0, 1, 5, 20, 20, 20, 200, 1000] * 6 + [50_000])
    parts = [random_lines(rng, count) for _ in range(rng.choice([1, 1, 1, 2, 5]))]
    if end == b"\0":  # else there would be few ends, and long lines
        parts = [part.translate(bytes.maketrans(b"\n\0", b"\0\n")) for part in parts]
    policy = [] if "-u" in words else ["-u" if word == "--unique" else word for word in random_policy(rng)]
    is_merge = rng.random() < 0.15
    if is_merge:
        parts = [by_sort(words, [part], directory) for part in parts]
    header = b"a header,7" + end if not is_merge and rng.random() < 0.15 else b""
    if any(word in policy for word in ("--count", "--repeated", "--singles", "--keep=last")):
        rows = kept(groups_by_sort(words, parts, directory, end), policy)
        expected = b"".join((b"%7d " % number if "--count" in policy else b"") + line + end for number, line in rows)
    else:
        expected = by_sort([*words, *(word for word in policy if word == "-u"), *(["-m"] if is_merge else [])], parts, directory)
    if (limit := limit_of(policy)) is not None:
        expected = b"".join(line + end for line in expected.split(end)[:-1][:limit])
    ours = [*words, *policy, *(["-m"] if is_merge else []), *(["--header"] if header else [])]
    may_stop = not (is_merge or policy)
    return Case("lines", ours, [header + part for part in parts], header + expected, may_stop)


@cases(LINES)
def test_lines_as_sort_has_them(ecosort: Path, tmp_path: Path, first: int) -> None:
    for number in range(first, first + AT_ONCE):
        rng = random.Random(f"lines {number}")
        check(ecosort, tmp_path, random_case_of_lines(rng, tmp_path), rng)


# --- tables --------------------------------------------------------------------------------------------------------------

Read = list[tuple[list[Any], bytes]]  # the values of the keys, and the row


@dataclass(frozen=True)
class ByKey:
    words: str
    descending: bool


@dataclass
class Table:
    """Rows that can be sorted, and what else is in their files."""

    command: str
    words: list[str]
    keys: list[ByKey]
    rows: Read
    counted: Callable[[int, bytes], bytes]  # the row with its count in front
    header: bytes = b""
    bad: list[bytes] = field(default_factory=list)
    has_columns: bool = False  # by its first row
    key_option: str = "--by"
    can_stop: bool = True


def groups_of(table: Table, nulls_first: bool, by: str) -> Groups:
    read = sorted(table.rows, key=itemgetter(1)) if by == "--unique-rows" else table.rows
    order = ordered([(values, (values, raw)) for values, raw in read], table.keys, nulls_first, unique=False)
    of_group: dict[str, Callable[[tuple[list[Any], bytes]], object]] = {
        "": itemgetter(0),
        "--unique-by": lambda one: one[0][0],
        "--unique-rows": lambda one: one,
    }
    return [[raw for _, raw in group] for _, group in itertools.groupby(order, of_group[by])]


def parts_of(table: Table, rng: random.Random, nulls_first: bool, is_merge: bool) -> list[bytes]:
    count = rng.choice([1, 1, 1, 2, MOST_PARTS])
    files: list[bytes] = []
    for number in range(count):
        read = table.rows[number * len(table.rows) // count : (number + 1) * len(table.rows) // count]
        raw = ordered(read, table.keys, nulls_first, unique=False) if is_merge else [raw for _, raw in read]
        for bad in table.bad:
            raw.insert(rng.randrange(int(table.has_columns), len(raw) + 1), bad)
        files.append(table.header + b"".join(raw))
    return files


def case_of(table: Table, rng: random.Random) -> Case:
    are_records = table.command == "sort"
    nulls_first, policy = not are_records and rng.random() < 0.3, random_policy(rng)
    sorts_only = are_records and limit_of(policy) is not None
    is_merge = not table.bad and not sorts_only and rng.random() < 0.15
    by = rng.choice(["", "", "--unique-by", "--unique-rows"]) if policy and limit_of(policy) is None and not is_merge else ""
    groups = groups_of(table, nulls_first, by)
    if policy in ([], [policy[-1] if limit_of(policy) is not None else ""]):  # all rows, or the first ones of them
        out = [raw for group in groups for raw in group]
    else:
        out = [table.counted(number, raw) if "--count" in policy else raw for number, raw in kept(groups, policy)]
    has_count = bool(table.header) and "--count" in policy and not are_records
    header = table.counted(0, table.header).replace(b"0", b"count", 1) if has_count else table.header
    words = [*table.words, *(word for key in table.keys for word in (table.key_option, key.words)), *policy]
    words += ["--nulls=first"] if nulls_first else []
    words += ["--merge"] if is_merge and not are_records else ["--bad-rows=skip"] if table.bad else []
    words += [by] if by == "--unique-rows" else [by, table.keys[0].words] if by else []
    parts, may_stop = parts_of(table, rng, nulls_first, is_merge), table.can_stop and not (is_merge or policy or table.bad)
    command = "merge" if is_merge and are_records else table.command
    return Case(command, words, parts, header + b"".join(out[: limit_of(policy)]), may_stop)


def random_count(rng: random.Random) -> int:
    return rng.choice([0, 1, 3, 10, 10, 40, 300] * 5 + [9_000])


def plain_table(rng: random.Random) -> Table:
    """Values of all types in CSV as most have it."""
    types = [rng.choice(list(READERS)) for _ in range(rng.choice([1, 1, 2, 3]))]
    dialect = csv_support.Dialect(
        rng.choice([",", ",", ";", "\t", "|"]), rng.choice(['"', '"', "'"]), rng.choice([b"\n", b"\r\n"])
    )
    few = [[csv_support.MAKERS[type_](rng) for type_ in types] for _ in range(30)]
    rows: Read = []
    for number in range(random_count(rng)):
        texts = rng.choice(few) if rng.random() < 0.3 else [csv_support.MAKERS[type_](rng) for type_ in types]
        last = rng.choice(["x", "y" * rng.randrange(200), str(number)])
        raw = row([*texts, last], dialect, quoted=rng.random() < 0.2)
        rows.append(([READERS[type_](text) for type_, text in zip(types, texts, strict=True)], raw))
    names = [f"column {number}" for number in range(len(types))]
    has_header = rng.random() < 0.7
    keys = []
    for number, type_ in enumerate(types):
        descending, name = rng.random() < 0.4, rng.choice([names[number], f"#{number + 1}"])
        keys.append(ByKey(f"{name if has_header else number + 1}:{type_}{':desc' if descending else ''}", descending))
    mark, end = dialect.delimiter.encode(), dialect.end
    bad = [mark * rng.choice([len(types) - 1, len(types) + 1]) + b"x" + end] if rng.random() < 0.2 else []
    return Table(
        "csv",
        ["--delimiter", dialect.delimiter, "--quote", dialect.quote, *([] if has_header else ["--no-header"])],
        keys,
        rows,
        lambda count, raw: b"%d" % count + mark + raw,
        row([*names, "last"], dialect) if has_header else b"",
        bad if has_header or len(rows) > MOST_PARTS else [],
        has_columns=not has_header,
    )


def odd_table(rng: random.Random) -> Table:
    """Delimiters of several bytes, and escapes."""
    dialect, type_ = rng.choice(list(DIALECTS.values())), rng.choice(["text", "nocase", "text"])
    few = [dialect.value(rng) for _ in range(20)]
    rows: Read = []
    for number in range(random_count(rng)):
        values = [rng.choice([rng.choice(few), dialect.value(rng)]), dialect.value(rng), b"%d" % number]
        rows.append(([READERS[type_](value.decode("latin-1")) for value in values[:2]], dialect.row(values, rng)))
    directions = [rng.random() < 0.4 for _ in range(2)]
    keys = [ByKey(f"{name}:{type_}{':desc' if desc else ''}", desc) for name, desc in zip("ab", directions, strict=True)]
    bad = [dialect.delimiter.join([b"x"] * count) + b"\n" for count in (2, 4)] if rng.random() < 0.3 else []
    return Table(
        "csv",
        dialect.words(),
        keys,
        rows,
        lambda count, raw: b"%d" % count + dialect.delimiter + raw,
        dialect.delimiter.join([b"a", b"b", b"n"]) + b"\n",
        bad,
    )


@cases(TABLES)
def test_tables_as_python_has_them(ecosort: Path, tmp_path: Path, first: int) -> None:
    for number in range(first, first + AT_ONCE):
        rng = random.Random(f"csv {number}")
        table = odd_table(rng) if rng.random() < 0.3 else plain_table(rng)
        check(ecosort, tmp_path, case_of(table, rng), rng)


def json_table(rng: random.Random) -> Table:
    types = [rng.choice(list(jsonl_support.MAKERS)) for _ in range(rng.choice([1, 1, 2, 3]))]
    keys = [jsonl_support.Key(("values", at, "v"), type_, rng.random() < 0.4) for at, type_ in enumerate(types)]
    lines = jsonl_support.random_lines(rng, min(random_count(rng), 4_000), types)
    lines = [rng.choice(lines) if rng.random() < 0.3 else line for line in lines]
    return Table(
        "jsonl",
        ["--allow-missing"],
        [ByKey(key.words(), key.descending) for key in keys],
        [([key.value(line) for key in keys], line) for line in lines],
        lambda count, raw: raw.replace(b"{", b'{"count":%d,' % count, 1),
        bad=[b'{"n": 1\n', b"no json\n", b'{"values": 01}\n'] if rng.random() < 0.2 else [],
    )


@cases(TABLES)
def test_json_lines_as_python_has_them(ecosort: Path, tmp_path: Path, first: int) -> None:
    for number in range(first, first + AT_ONCE):
        rng = random.Random(f"jsonl {number}")
        check(ecosort, tmp_path, case_of(json_table(rng), rng), rng)


# --- records -------------------------------------------------------------------------------------------------------------

LETTERS = bytes.maketrans(bytes(range(256)), bytes(b"aAbB\0\xff"[byte % 6] for byte in range(256)))
NUMBERS = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "f32": "f", "f64": "d"}


def value_of(kind: str, order: str, raw: bytes) -> Any:
    """Floats go by their bits, so that -0 comes before +0 and all NaN are one."""
    if kind == "bytes":
        return raw
    if kind == "nocase":
        return raw.upper()
    [number] = struct.unpack(order + NUMBERS[kind], raw)
    if kind[0] != "f":
        return number
    return (1, 0.0) if number != number else (0, number, struct.pack(">d", number)[0] < 0x80)


def random_field(kind: str, size: int, rng: random.Random) -> bytes:
    if kind in ("bytes", "nocase"):
        return rng.randbytes(size).translate(LETTERS)
    if kind[0] == "f" and rng.random() < 0.6:
        number = rng.choice([0.0, -0.0, float("nan"), -float("nan"), float("inf"), -float("inf"), 1.5, rng.uniform(-9, 9)])
        return struct.pack("<" + NUMBERS[kind], number)
    return rng.choice([rng.randbytes(size), bytes([rng.choice([0, 1, 0x80, 0xFF])]) * size])


def record_table(rng: random.Random) -> Table:
    """Keys of all types of numbers and bytes, one behind the other with gaps; what is behind them is a number or nothing."""
    fields, at = [], 0
    for _ in range(rng.choice([1, 1, 2, 3])):
        kind = rng.choice([*NUMBERS, "bytes", "nocase", "bytes"])
        size = struct.calcsize(NUMBERS[kind]) if kind in NUMBERS else rng.choice([1, 2, 3, 7, 8, 9, 20])
        at += rng.choice([0, 0, 1, 5])
        fields.append((kind, at, size, rng.choice(["<", ">"]), rng.random() < 0.4))
        at += size
    record_size = at + rng.choice([0, 1, 4, 30, 90])
    rng.shuffle(fields)
    few = [rng.randbytes(record_size) for _ in range(20)]
    rows: Read = []
    for number in range(random_count(rng)):
        raw = bytearray(rng.choice(few) if rng.random() < 0.3 else b"\0" * record_size)
        for kind, offset, size, _, _ in fields:
            if rng.random() < 0.8:
                raw[offset : offset + size] = random_field(kind, size, rng)
        if record_size - at >= 4 and rng.random() < 0.8:
            raw[-4:] = struct.pack("<I", number)
        record = bytes(raw)
        rows.append(([value_of(kind, order, record[o : o + size]) for kind, o, size, order, _ in fields], record))
    keys = []
    for kind, offset, size, order, descending in fields:
        end = "be" if order == ">" and kind[1:] in ("16", "32", "64") else ""
        keys.append(ByKey(f"{offset}:{size}:{kind}{end}{':desc' if descending else ''}", descending))
    top = rng.randbytes(rng.choice([1, 100, 5000])) if rng.random() < 0.2 else b""
    return Table(
        "sort",
        ["--record-size", str(record_size), *(["--skip-bytes", str(len(top))] if top else [])],
        keys,
        rows,
        lambda count, raw: struct.pack("<Q", count) + raw,
        top,
        key_option="--key",
        can_stop=not top,
    )


@cases(RECORDS)
def test_records_as_python_has_them(ecosort: Path, tmp_path: Path, first: int) -> None:
    for number in range(first, first + AT_ONCE):
        rng = random.Random(f"records {number}")
        check(ecosort, tmp_path, case_of(record_table(rng), rng), rng)
