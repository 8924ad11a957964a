"""Keys of every type, against an oracle of Python's own: struct and Decimal, sorted with a key function."""

import functools
import math
import random
import re
import struct
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inplace.support import drive_of
from pairs import pairs, turns
from sort_support import BACKENDS, MIB, Run, read_json, succeeded

# --- oracle ------------------------------------------------------------------------------------------------------------

NUMBERS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "f32": "f", "f64": "d"}
NUMBER_TYPES = [name + order for name in NUMBERS for order in (("",) if name.endswith("8") else ("le", "be"))]
TYPES = ["bytes", "nocase", "dec", *NUMBER_TYPES]
DECIMAL = re.compile(rb"[ \t\r\n\0]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))[ \t\r\n\0]*")


def code_of(kind: str) -> str:
    order = ">" if kind.endswith("be") else "<"
    return order + NUMBERS[kind.removesuffix("le").removesuffix("be")]


@functools.cache  # the same records come with other keys
def decimal_of(field: bytes) -> tuple[int, Decimal]:
    match = DECIMAL.fullmatch(field)
    return (0, Decimal(0)) if match is None else (1, Decimal(match[1].decode()))


def value_of(kind: str, field: bytes) -> Any:
    """Something that Python orders as the type says."""
    if kind == "bytes":
        return field
    if kind == "nocase":
        return field.upper()  # of bytes: ASCII letters only
    if kind == "dec":
        return decimal_of(field)
    (value,) = struct.unpack(code_of(kind), field)
    if isinstance(value, float):
        return (1, 0.0, 0) if math.isnan(value) else (0, value, -1 if math.copysign(1, value) < 0 else 0)
    return value


def parse_key(text: str) -> tuple[int, int, str, bool]:
    offset, *rest = text.split(":")
    down = rest[-1] == "desc"
    words = rest[:-1] if down else rest
    if not words[0].isdigit():
        return int(offset), struct.calcsize(code_of(words[0])), words[0], down
    return int(offset), int(words[0]), words[1] if len(words) > 1 else "bytes", down


def ranks_of(kind: str, fields: Iterable[bytes], down: bool) -> dict[bytes, int]:
    """Ranks the values of a field: fields of equal value have the same rank; each value is made and compared once."""
    values = sorted(((value_of(kind, field), field) for field in set(fields)), key=lambda pair: pair[0], reverse=down)
    ranks: dict[bytes, int] = {}
    for number, (value, field) in enumerate(values):
        is_tie = number > 0 and values[number - 1][0] == value
        ranks[field] = ranks[values[number - 1][1]] if is_tie else number
    return ranks


def oracle(data: bytes, size: int, texts: Sequence[str], reverse: bool = False, unique: bool = False) -> bytes:
    columns = []
    for offset, length, kind, down in map(parse_key, texts):
        fields = [data[i + offset : i + offset + length] for i in range(0, len(data), size)]
        ranks = ranks_of(kind, fields, down != reverse)
        columns.append(np.array([ranks[field] for field in fields]))
    order = np.lexsort(columns[::-1])  # it is stable, and its last column decides first
    if unique:
        keys = np.stack(columns, axis=1)[order]
        order = order[np.append(True, (keys[1:] != keys[:-1]).any(axis=1))[: len(order)]]
    return np.frombuffer(data, np.uint8).reshape(-1, size)[order].tobytes()


# --- values ------------------------------------------------------------------------------------------------------------

FLOATS = [0.0, -0.0, 1.0, -1.0, 1.5, 2.0**-126, -(2.0**-126), 2.0**-149, -(2.0**-149), 3.0e38, -3.0e38, math.inf, -math.inf]
DOUBLES = [*FLOATS, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308, 0.1, math.pi]
TEXTS = [
    *("0", "-0", "+0", "00", "0.0", "-0.00", "1", "+1", "1.", "1.0", "001", "-1", "-1.0", "-01.", ".5", "-.5", "0.5", "00.50"),
    *(
        "9",
        "10",
        "99",
        "100",
        "-9",
        "-10",
        "1e3",
        "0x10",
        "",
        "-",
        "+",
        ".",
        "-.",
        "+-1",
        "1-",
        "1 2",
        "1.2.3",
        "12a",
        "a",
        "--1",
    ),
    *("0.001", "0.0001", "0.00010", "-0.001", "123456789012", "-123456789012", "0.1234567890", "99999999999.9", "99999999999.8"),
    *(" 7", "7 ", "\t7\t", "7\n", "7\r\n", "7\0\0", "\0" + "7", "\xa07", "\u00b2", "1,000", "1_000", "inf", "nan", "NaN"),
]


def decimal_field(rng: random.Random, length: int) -> bytes:
    if rng.random() < 0.4:
        text = rng.choice(TEXTS)
    else:
        digits = "".join(rng.choices("0123456789" if rng.random() < 0.7 else "09", k=rng.randrange(length)))
        point = rng.randrange(len(digits) + 1)
        text = rng.choice(["", "", "-", "+"]) + digits[:point] + rng.choice(["", "."]) + digits[point:]
    field = text.encode("latin-1")[:length]
    return field.rjust(length, b" ") if rng.random() < 0.5 else field.ljust(length, rng.choice([b" ", b"\0"]))


def number_field(rng: random.Random, kind: str) -> bytes:
    code = code_of(kind)
    size = struct.calcsize(code)
    choice = rng.random()
    if choice < 0.3:  # any bits: among floating-point numbers NaNs, of both signs
        return rng.choice([rng.randbytes(size), b"\0" * size, b"\xff" * size])
    if code[1] in "fd":
        if choice < 0.4:
            bits = rng.choice([0x7F800001, 0x7FC00000, 0xFF800001, 0xFFFFFFFF, 0x7FFFFFFF])
            wide = rng.choice([0x7FF0000000000001, 0x7FF8 << 48, 0xFFF0000000000001, 2**64 - 1, 2**63 - 1])
            return struct.pack(code[0] + ("I" if size == 4 else "Q"), bits if size == 4 else wide)
        return struct.pack(code, rng.choice(FLOATS if size == 4 else DOUBLES) if choice < 0.7 else rng.gauss(0, 1))
    low, high = (0, 2 ** (8 * size) - 1) if code[1].isupper() else (-(2 ** (8 * size - 1)), 2 ** (8 * size - 1) - 1)
    extremes = [low, low + 1, high, high - 1, 0, 1, max(low, -1), high // 2, high // 2 + 1]
    return struct.pack(code, rng.choice(extremes) if choice < 0.6 else rng.randint(low, high))


def field_of(rng: random.Random, kind: str, length: int) -> bytes:
    if kind == "bytes":
        return bytes(rng.choices((0, 1, 127, 128, 255), k=length))
    if kind == "nocase":
        return bytes(rng.choices(b"aAzZ@[`{_\x00\xe1\xc1", k=length))
    return decimal_field(rng, length) if kind == "dec" else number_field(rng, kind)


def table_of(count: int, seed: int, *columns: Sequence[bytes]) -> bytes:
    """Records with a field from each column. Where there are more records than fields, these come again and again."""
    rng = np.random.default_rng(seed)
    fields = [rng.permutation(np.resize(np.frombuffer(b"".join(c), np.uint8), (count, len(c[0])))) for c in columns]
    return np.concatenate(fields, axis=1).tobytes()


def records_of(kind: str, length: int, offset: int, size: int, count: int, seed: int = 1) -> bytes:
    """Random around the field, so that the order of equal keys shows."""
    rng = random.Random(seed)
    few = [field_of(rng, kind, length) for _ in range(50)]
    fields = [rng.choice(few) if rng.random() < 0.3 else field_of(rng, kind, length) for _ in range(min(count, 6_000))]
    records = np.random.default_rng(seed).integers(0, 256, (count, size), np.uint8)
    records[:, offset : offset + length] = np.frombuffer(table_of(count, seed, fields), np.uint8).reshape(count, length)
    return records.tobytes()


def length_of(kind: str) -> int:
    return struct.calcsize(code_of(kind)) if kind in NUMBER_TYPES else 13


def key_words(keys: Sequence[str]) -> list[str]:
    return [word for key in keys for word in ("--key", key)]


def sort(run: Run, directory: Path, data: bytes, size: int, *words: str) -> tuple[bytes, dict[str, Any]]:
    (directory / "in").write_bytes(data)
    succeeded(run("sort", "in", "-o", "out", "--record-size", str(size), "--stats", "stats", *words, cwd=directory))
    return (directory / "out").read_bytes(), read_json(directory / "stats")


# --- every type, every shape of plan -----------------------------------------------------------------------------------

# Record size, records, memory: large records make passes, because a merge then takes a few runs at a time.
SHAPES = {
    "one pass": (24, 6_000, "64MiB"),
    "two passes": (24, 50_000, "2MiB"),
    "more than two passes": (20_000, 350, "2MiB"),
}


@functools.cache
def sample(kind: str, shape: str) -> tuple[bytes, bytes]:
    size, count, _ = SHAPES[shape]
    length = length_of(kind)
    data = records_of(kind, length, 5, size, count)
    return data, oracle(data, size, [f"5:{length}:{kind}"])


@pytest.mark.parametrize(("kind", "shape", "backend"), pairs(TYPES, list(SHAPES), BACKENDS), indirect=["backend"])
def test_types(run: Run, tmp_path: Path, kind: str, shape: str, backend: str) -> None:
    size, _, memory = SHAPES[shape]
    data, ordered = sample(kind, shape)
    key = f"5:{length_of(kind)}:{kind}"
    out, stats = sort(run, tmp_path, data, size, "--key", key, "--memory", memory, "--io", backend)
    assert out == ordered
    assert stats["plan"]["shape"] == shape
    assert stats["plan"]["keys"] == [key if kind != "bytes" else "5:13"]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17])
def test_numbers_anywhere_in_small_records(run: Run, tmp_path: Path, size: int) -> None:
    """A field that ends with the record must be read without the bytes behind it."""
    for kind in NUMBER_TYPES:
        length = length_of(kind)
        for offset in sorted({0, (size - length) // 2, size - length}) if length <= size else ():
            data = records_of(kind, length, offset, size, 300, seed=offset)
            key = f"{offset}:{kind}{':desc' if offset % 2 else ''}"
            assert sort(run, tmp_path, data, size, "--key", key)[0] == oracle(data, size, [key]), key


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 17, 100, 4095, 4097, 65_536, MIB])
def test_record_sizes(run: Run, tmp_path: Path, size: int) -> None:
    """Three keys that overlap, the last of them at the end of the record; two passes or more."""
    count = 4 * MIB // (size + 16) + 12
    rng = random.Random(size)
    data = rng.randbytes(count * size).translate(bytes(i % 5 * 60 for i in range(256)))
    keys = [f"0:{min(size, 2)}:nocase:desc", f"{size - 1}:u8", f"{size // 2}:1:bytes:desc"]
    if size >= 4:
        keys.append(f"{size - 4}:i32be")
    memory = "3MiB" if size < MIB else "16MiB"
    out, stats = sort(run, tmp_path, data, size, *key_words(keys), "--memory", memory)
    assert out == oracle(data, size, keys)
    if size < MIB:
        assert stats["plan"]["shape"] != "one pass"


# --- several keys, directions ------------------------------------------------------------------------------------------

KEYS = [
    ["8:u64"],
    ["0:f64:desc", "8:i64"],
    ["8:i64:desc", "0:f64:desc"],
    ["4:8:u64be", "0:8:nocase:desc", "2:i16"],
    ["0:16", "16:16:dec:desc"],
    ["16:16:dec", "0:u8:desc"],
    ["16:3:dec:desc", "19:13:dec"],
    ["31:1", "30:2:u16be:desc", "0:32"],
    ["0:f32", "0:f32:desc"],
    ["1:f32be:desc", "3:f32"],
    ["0:1", "1:u16:desc", "3:3:nocase", "6:i8", "7:i8:desc", "8:u32be", "12:f32"],
    ["16:16:nocase", "0:16:nocase:desc"],
]


ORDERS: list[list[str]] = [[], ["--reverse"], ["--unique"], ["--reverse", "--unique"]]


@functools.cache
def mixed_records(count: int, seed: int = 3) -> bytes:
    rng = random.Random(seed)
    few = [field_of(rng, "dec", 16) for _ in range(40)]
    numbers = [[number_field(rng, kind) for _ in range(6_000)] for kind in ("f64le", "i64le")]
    decimals = [rng.choice(few) if rng.random() < 0.5 else decimal_field(rng, 16) for _ in range(6_000)]
    return table_of(count, seed, *numbers, decimals)


@pytest.mark.parametrize(
    ("keys", "how"),
    turns(KEYS, list(product(ORDERS, ["one pass", "two passes"])), rounds=2),
    ids=str,
)
def test_several_keys(run: Run, tmp_path: Path, keys: list[str], how: tuple[list[str], str]) -> None:
    words, shape = how
    data, memory = (mixed_records(6_000), "64MiB") if shape == "one pass" else (mixed_records(40_000), "2MiB")
    ordered = oracle(data, 32, keys, "--reverse" in words, "--unique" in words)
    out, stats = sort(run, tmp_path, data, 32, *key_words(keys), *words, "--memory", memory)
    assert out == ordered
    assert stats["plan"]["shape"] == shape
    assert stats["records_dropped"] == len(data) // 32 - len(ordered) // 32


def test_random_keys(run: Run, tmp_path: Path) -> None:
    """Any keys in any order, one to four of them, with every direction; the seed is the number of the round."""
    for seed in range(30):
        rng = random.Random(seed)
        size = rng.choice([1, 2, 5, 8, 11, 16, 24, 33])
        keys = []
        for _ in range(rng.randint(1, 4)):
            kind = rng.choice(TYPES)
            length = length_of(kind) if kind in NUMBER_TYPES else rng.randint(1, size)
            if length > size:
                continue
            direction = rng.choice(["", ":desc"])
            keys.append(f"{rng.randint(0, size - length)}:{length}:{kind}{direction}")
        if not keys:
            continue
        data = rng.randbytes(size * 1_000).translate(bytes(b" -.0159aA\0\xff\x7f\x80"[i % 13] for i in range(256)))
        words = ["--reverse"] if rng.random() < 0.3 else []
        unique = rng.random() < 0.3
        out, _ = sort(run, tmp_path, data, size, *key_words(keys), *words, *(["--unique"] if unique else []))
        assert out == oracle(data, size, keys, bool(words), unique), (seed, size, keys, words, unique)


@pytest.mark.parametrize("memory", ["2MiB", "64MiB"])
def test_reverse_keeps_the_input_order_of_equal_keys(run: Run, tmp_path: Path, memory: str) -> None:
    rng = random.Random(5)
    data = b"".join(bytes([rng.randrange(3)]) + struct.pack(">Q", i) + b"." * 41 for i in range(60_000))
    out, _ = sort(run, tmp_path, data, 50, "--key", "0:1", "--reverse", "--memory", memory)
    assert out == oracle(data, 50, ["0:1:desc"])
    numbers = [struct.unpack(">Q", out[i + 1 : i + 9])[0] for i in range(0, len(out), 50)]
    falls = sum(a > b for a, b in pairwise(numbers))
    assert falls == 2, "input order within each of the three keys"


def test_in_place(run: Run, tmp_path: Path) -> None:
    """The journal holds types and directions."""
    data = mixed_records(40_000)
    keys = ["16:16:dec:desc", "0:f64"]
    with drive_of("ext4", tmp_path) as drive:
        path = drive.root / "file"
        path.write_bytes(data)
        succeeded(run("inplace", path, "--record-size", "32", *key_words(keys), "--reverse", "--memory", "2MiB"))
        assert path.read_bytes() == oracle(data, 32, keys, reverse=True)


# --- decimal numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 2, 3, 8, 14, 22, 23, 63, 64, 200])
def test_decimal_fields_of_any_length(run: Run, tmp_path: Path, length: int) -> None:
    rng = random.Random(length)
    data = b"".join(decimal_field(rng, length) + rng.randbytes(3) for _ in range(3_000))
    for key in (f"0:{length}:dec", f"0:{length}:dec:desc"):
        assert sort(run, tmp_path, data, length + 3, "--key", key)[0] == oracle(data, length + 3, [key])


def test_decimal_numbers_are_exact(run: Run, tmp_path: Path) -> None:
    """Numbers of 30 digits that a double cannot tell apart."""
    rng = random.Random(9)
    base = "12345678901234567890.123456"
    lines = [f"{rng.choice(['', '-'])}{base}{rng.randrange(10_000):04d}".rjust(40).encode() for _ in range(20_000)]
    data = b"".join(lines)
    out, _ = sort(run, tmp_path, data, 40, "--key", "0:40:dec", "--memory", "2MiB")
    assert [out[i : i + 40] for i in range(0, len(out), 40)] == sorted(lines, key=lambda line: Decimal(line.decode().strip()))


# --- long common prefixes ----------------------------------------------------------------------------------------------


def urls(rng: random.Random, count: int) -> Callable[[int], bytes]:
    del count
    return lambda _: b"https://www.example.org/catalogue/items/%012d/index.html" % rng.randrange(10**12)


def times(rng: random.Random, count: int) -> Callable[[int], bytes]:
    """Ascending but for some disorder: the runs have more in common than all of them together."""
    return lambda i: (
        b"2024-%02d-%02dT%02d:%02d:%02d.%06dZ"
        % (
            1 + 12 * i // count,
            1 + 336 * i // count % 28,
            rng.randrange(24),
            rng.randrange(60),
            rng.randrange(60),
            rng.randrange(10**6),
        )
    )


def shrinking(rng: random.Random, count: int) -> Callable[[int], bytes]:
    """The first runs have something in common that the last one has not."""
    return lambda i: (
        b"a" * (30 if i < count // 3 else 13 if i < count // 2 else 11 if i < count - 5 else 2) + b"%08x" % rng.getrandbits(32)
    )


def equal(rng: random.Random, count: int) -> Callable[[int], bytes]:
    del rng, count
    return lambda _: b"the same long key everywhere"


def shops(rng: random.Random, count: int) -> Callable[[int], bytes]:
    """All differ early, and then a third of them agrees for longer than a forecast holds."""
    del count
    return lambda _: (
        b"https://www.%s.example.com/catalogue/%016x" % (rng.choice([b"books", b"shoes", b"toys"]), rng.getrandbits(64))
    )


def few(rng: random.Random, count: int) -> Callable[[int], bytes]:
    """Few different keys, none decided by what a forecast holds; each fills many blocks of every run."""
    del count
    return lambda _: b"%d, and on and on and on and on %d" % (rng.randrange(2), rng.randrange(4))


@functools.cache
def records_with(make: Callable[[random.Random, int], Callable[[int], bytes]]) -> bytes:
    count = 50_000
    rng = random.Random(4)
    text = make(rng, count)
    return b"".join(text(i).ljust(64, b".") + rng.randbytes(36) for i in range(count))


@pytest.mark.parametrize(
    ("make", "key", "piped"),
    turns([urls, times, shrinking, equal, shops, few], ["0:64", "0:64:desc", "0:64:nocase"], [False, True], rounds=2),
)
def test_long_common_prefixes(
    run: Run, tmp_path: Path, make: Callable[[random.Random, int], Callable[[int], bytes]], key: str, piped: bool
) -> None:
    """Hardly a run has to be waited for although no key is decided by its first twelve bytes."""
    data = records_with(make)
    (tmp_path / "in").write_bytes(data)
    words = ["--record-size", "100", "--key", key, "--memory", "2MiB", "--stats", "stats", "-o", "out"]
    with (tmp_path / "in").open("rb") as file:
        succeeded(run("sort", "-" if piped else "in", *words, cwd=tmp_path, stdin=file))
    assert (tmp_path / "out").read_bytes() == oracle(data, 100, [key])
    stats = read_json(tmp_path / "stats")
    assert stats["merge_passes"] >= 1
    if make is few:  # equal forecasts: every run has to show its first block
        assert stats["demand_reads"] <= stats["runs"]
    elif make is not shrinking:
        assert stats["demand_reads"] == 0


def test_long_keys_in_more_passes(run: Run, tmp_path: Path) -> None:
    """Merged runs predict like those they are made of."""
    text = shops(random.Random(5), 0)
    data = table_of(300_000, 5, [text(i).ljust(64, b".") for i in range(100_000)], [bytes(64)])
    (tmp_path / "in").write_bytes(data)
    words = ["--record-size", "128", "--key", "0:64", "--memory", "2MiB", "--stats", "stats", "-o", "out"]
    succeeded(run("sort", "in", *words, cwd=tmp_path))
    assert (tmp_path / "out").read_bytes() == np.sort(np.frombuffer(data, "S128")).tobytes()
    stats = read_json(tmp_path / "stats")
    assert stats["merge_passes"] > 1
    assert stats["demand_reads"] == 0


# --- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("0:4:u64", ["'0:4:u64'", "u64 has the length 8, not 4"]),
        ("0:8:u32le", ["u32le has the length 4, not 8"]),
        ("0:4:u128", ["'u128' is no type", "bytes, nocase, u8", "f64", "le or be"]),
        ("0:1:u8le", ["'u8le' is no type"]),
        ("0:4:desc:u32", ["'u32' is not understood here"]),
        ("0:dec", ["the length is not a whole number"]),
        ("0:u63", ["'u63' is no type; there are "]),
        ("95:u64", ["key 95:8:u64le ends at byte 103, beyond the record of 100 bytes"]),
        ("0:u64:u64", ["'u64' is not understood here"]),
        ("0:0:dec", ["the length is 0"]),
    ],
)
def test_bad_keys(run: Run, tmp_path: Path, key: str, says: list[str]) -> None:
    (tmp_path / "in").write_bytes(b"x" * 100)
    for command in (["sort"], ["plan", "sort"]):
        done = run(*command, "in", "-o", "out", "--key", key, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert all(text in done.stderr for text in says), done.stderr


def test_the_plan_shows_the_keys_as_they_were_understood(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"x" * 3200)
    words = ["plan", "sort", "in", "-o", "out", "--record-size", "32", "--key", "8:u64", "--key", "16:16:dec:desc", "--reverse"]
    text = run(*words, cwd=tmp_path).stdout
    assert "key                 8:8:u64le:desc (unsigned integer, little-endian, largest first)\n" in text
    assert "then                16:16:dec (decimal number, smallest first)\n" in text
