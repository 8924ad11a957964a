"""`ecosort lines` writes what `LC_ALL=C sort` writes: random options and inputs, nasty inputs, and the words of its grammar."""

import functools
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from capabilities import SOAK
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lines_support import SMALL, SORT, assert_same, random_lines, random_words, run
from pairs import pairs
from sort_support import comes_to_rest, read_json, wait_until


@pytest.mark.parametrize("seed", range(60))
def test_random_options_in_memory(ecosort: Path, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    (tmp_path / "in").write_bytes(random_lines(rng, rng.choice([1, 20, 3000])))
    for _ in range(6):
        assert_same(ecosort, tmp_path, [*random_words(rng), "in"])


@functools.lru_cache(maxsize=2)
def much_text(seed: int) -> bytes:
    return random_lines(random.Random(seed), 60_000)


@pytest.mark.parametrize("seed", range(12))
def test_random_options_with_many_runs(ecosort: Path, tmp_path: Path, seed: int) -> None:
    (tmp_path / "in").write_bytes(much_text(1000 + seed // 6))
    words = random_words(random.Random(1000 + seed))
    assert_same(ecosort, tmp_path, [*words, *SMALL, "in"], more=["--stats", "stats"])
    stats = read_json(tmp_path / "stats")
    assert stats["peak_counted_memory_bytes"] <= 1 << 20
    if "-z" not in words:
        assert stats["runs"] > 2


@pytest.mark.parametrize("memory", [[], SMALL])
@pytest.mark.parametrize(
    "parts",
    [
        [b""],
        [b"\n"],
        [b"b\na", b"d\nc"],
        [b"b", b"", b"a\n", b"a"],
        [b"x\r\ny\r\n", b"\0\n\0\0\n\xff\xfe\n"],
        [b"\n" * 300_000],
        [b"a" * 8191 + b"\n" + b"b" * 8191 + b"\n", b"c" * 8192],
        [b"q\n" * 40_000 + b"p" * 70_000 + b"\n" + b"r\n" * 40_000],
        [b"long" * 60_000 + b"\n", b"lone" * 60_000],
    ],
    ids=[
        "empty",
        "one empty line",
        "no final newline",
        "empty among others",
        "binary",
        "empty lines",
        "block borders",
        "one long",
        "two long",
    ],
)
def test_nasty_inputs(ecosort: Path, tmp_path: Path, parts: list[bytes], memory: list[str]) -> None:
    names = []
    for i, part in enumerate(parts):
        (tmp_path / f"in{i}").write_bytes(part)
        names.append(f"in{i}")
    for words in ([], ["-u"], ["-r"], ["-k1.2"]):
        assert_same(ecosort, tmp_path, [*words, *memory, *names])
    assert_same(ecosort, tmp_path, memory, b"".join(parts))


@pytest.mark.parametrize("words", [["-k1r"], ["-t.", "-k1r"], ["-i", "-k1r"], ["-k1", "-k1r"], ["-r", "-k1"]])
def test_a_key_that_is_the_whole_line_in_another_direction_than_the_last_resort(
    ecosort: Path, tmp_path: Path, words: list[str]
) -> None:
    """Equal lines that are short come before lines that agree for long, and after them."""
    short, long = ["lib-0.9", "lib-0.9"], [f"common beginning of many bytes {rest}" for rest in ("  ", "a", "\t\t", "b")]
    for lines in (short + long, long + short, [*(["zz"] * 3), *long, *short]):
        (tmp_path / "in").write_text("".join(f"{line}\n" for line in lines))
        assert_same(ecosort, tmp_path, [*words, "in"])


def test_keys_with_long_common_beginnings(ecosort: Path, tmp_path: Path) -> None:
    rng = random.Random(7)
    lines = [
        f"https://example.org/a/long/common/path?id={rng.randrange(10**6):07}&page={rng.randrange(9)}" for _ in range(60_000)
    ]
    (tmp_path / "in").write_text("\n".join(lines))
    assert_same(ecosort, tmp_path, ["in"])
    assert_same(ecosort, tmp_path, [*SMALL, "-t&", "-k2", "in"])


def rows_with_beginnings(rng: random.Random, lengths: list[int], count: int) -> bytes:
    """Rows that begin as others do, for any number of bytes: some equal, some empty, some the beginning of others, some with
    bytes below that of the newline."""
    source = bytes(rng.choice(b"ab./0\0\x01\t\xff") for _ in range(max(lengths)))
    ends = [b"", b"a", b"\0", b"\0\0", b"\t1", b"10", b"9", b"zz"]
    rows = [b""]
    for _ in range(count):
        beginning = source[: rng.choice(lengths)]
        rest = str(rng.randrange(1000)).encode() if rng.random() < 0.5 else b""
        rows += [beginning + rest + rng.choice(ends)] * rng.choice([1, 1, 1, 2])
    rng.shuffle(rows)
    return b"\n".join(rows) + b"\n"


@pytest.mark.parametrize("words", [[], ["-r"], ["-u"], ["-s", "-f"], ["-t.", "-k2,2"], ["-t/", "-k1,1n", "-k2,2r"]])
def test_rows_may_begin_alike_for_any_number_of_bytes(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    rng = random.Random(len(words))
    (tmp_path / "short").write_bytes(
        rows_with_beginnings(rng, [0, 1, 7, 8, 10, 11, 12, 22, 23, 100, 1000, 2804, 2805, 2816], 2000)
    )
    (tmp_path / "long").write_bytes(rows_with_beginnings(rng, [0, 5, 1 << 20], 5))
    assert_same(ecosort, tmp_path, [*words, *SMALL, "short"])
    assert_same(ecosort, tmp_path, [*words, "short", "long"])


@pytest.mark.parametrize(
    "words",
    [
        ["-t.", "-k1,1n", "-k2,2n", "-k3,3n", "-k4,4n"],
        ["-t.", "-k4,4nr", "-k2,2n", "-k1,1"],
        ["-t.", "-s", "-k2,2n", "-k1,1nr"],
        ["-t.", "-k1,1r", "-k2,2n", "-u"],
        ["-t.", "-k2,2n", "-k3,3f", "-k1,1n"],
        ["-t1", "-k1,1n", "-k2,2n", "-r"],
    ],
)
@pytest.mark.parametrize("memory", [[], SMALL])
def test_later_keys_decide_where_the_first_ones_do_not(
    ecosort: Path, tmp_path: Path, words: list[str], memory: list[str]
) -> None:
    rng = random.Random(11)
    fields = [
        "0",
        "1",
        "7",
        "10",
        "99",
        "100",
        "255",
        "-3",
        "007",
        " 5",
        "",
        "x",
        "1e3",
        "70000",
        "12345678",
        "9" * 30,
        "1" * 140,
    ]
    weights = [9] * 7 + [1] * (len(fields) - 7)
    lines = [".".join(rng.choices(fields, weights, k=rng.choice([4, 4, 4, 2, 7]))) for _ in range(5_000)]
    (tmp_path / "in").write_text("\n".join(lines))
    assert_same(ecosort, tmp_path, [*words, *memory, "in"])


def test_nans_that_hold_a_number_have_the_order_of_their_bytes(ecosort: Path, tmp_path: Path) -> None:
    nans = [f"{sign}nan({number})".encode() for sign in ("", "-") for number in (1, 5, 255, 256, 257, 65536, 1 << 40)]
    lines = [*nans, b"nan", b"-nan", b"", b"x", b"-inf", b"1"]
    rng = random.Random(7)
    for words in (["-g"], ["-gr"], ["-g", "-s"], ["-k2g"], [*SMALL, "-g"]):
        rng.shuffle(lines)
        assert_same(ecosort, tmp_path, words, b"\n".join(b"a " + line if "-k2g" in words else line for line in lines))


def random_general(rng: random.Random) -> bytes:  # without NaN, whose order sort leaves to chance
    digits = "".join(rng.choices("0123456789", k=rng.randrange(1, 22)))
    point = rng.randrange(len(digits) + 1)
    number = rng.choice(["", "-", "+", " ", "\t-"]) + rng.choice([digits, f"{digits[:point]}.{digits[point:]}", "1", "1e19"])
    number += rng.choice(["", "", f"e{rng.randrange(-30, 30)}", f"E{rng.randrange(-5000, 5000)}", "e", "x", "e+"])
    return rng.choice([number, number, number, "-inf", "0x1p3", "", "x1", f"{rng.randrange(9)}e{rng.randrange(3)}"]).encode()


def random_version(rng: random.Random) -> bytes:
    parts = [
        "1",
        "0",
        "007",
        "151",
        "65536",
        "18446744073709551616",
        ".",
        "~",
        "-",
        "a",
        "lib",
        "\x01",
        "é",
        ".tar.gz",
        ".~",
        "_",
    ]
    begin = rng.choice(["", "", ".", "linux-image-6.1.0-", "0.00."])
    return (begin + "".join(rng.choices(parts, k=rng.randrange(6)))).encode("latin-1")


@functools.lru_cache(maxsize=4)
def numbers_or_versions(kind: str, count: int) -> bytes:
    rng = random.Random(f"{kind} {count}")
    make = {"-g": random_general, "-V": random_version}[kind]
    few = [make(rng) for _ in range(50)]
    lines = [rng.choice([make(rng), rng.choice(few)]) + b"," + rng.choice([make(rng), rng.choice(few)]) for _ in range(count)]
    return b"".join((line if rng.random() < 0.5 else line.split(b",")[0]) + b"\n" for line in lines)


ORDERS_OF_NUMBERS = [[], ["-r", "-s"], ["-u"], ["-t,", "-k2,2"], ["-t,", "-k1,1", "-k2,2r"]]


@pytest.mark.parametrize(("kind", "memory", "words"), pairs(["-g", "-V"], [[], SMALL], ORDERS_OF_NUMBERS))
def test_numbers_and_versions_of_every_form(
    ecosort: Path, tmp_path: Path, kind: str, memory: list[str], words: list[str]
) -> None:
    (tmp_path / "in").write_bytes(numbers_or_versions(kind, 20_000 if memory else 6_000))
    assert_same(ecosort, tmp_path, [kind, *words, *memory, "in"])


@pytest.mark.parametrize("memory", [[], SMALL])
def test_the_first_of_equal_lines_is_kept(ecosort: Path, tmp_path: Path, memory: list[str]) -> None:
    rng = random.Random(12)
    lines = [f"{rng.randrange(300)},{'x' * rng.randrange(90)}" for _ in range(10_000)] + [f"{i},y" for i in range(30_000)]
    chosen = rng.choices(lines, k=45_000)
    (tmp_path / "in").write_text("\n".join(chosen))
    for words in (["-u"], ["-ur"], ["-ut,", "-k1,1n"], ["-uf"], ["-uV"]):
        assert_same(ecosort, tmp_path, [*words, *memory, "in"])
    code, output, _ = run([str(ecosort), "lines"], ["-u", "--header", *memory, "in"], tmp_path)
    assert (code, output.decode().split("\n")) == (0, [chosen[0], *sorted(set(chosen[1:])), ""])


def test_random_order_follows_the_random_source(ecosort: Path, tmp_path: Path) -> None:
    rng = random.Random(8)
    (tmp_path / "in").write_bytes(random_lines(rng, 4000))
    (tmp_path / "source").write_bytes(bytes(range(16)))
    for words in (["-R"], ["-Rf"], ["-k1,1R"], ["-Rr", "-u"]):
        assert_same(ecosort, tmp_path, [*words, "--random-source=source", "in"])
    first = run([str(ecosort), "lines"], ["-R", "in"], tmp_path)[1]
    second = run([str(ecosort), "lines"], ["-R", "in"], tmp_path)[1]
    assert first != second
    assert sorted(first.split(b"\n")) == sorted(second.split(b"\n"))


@pytest.mark.parametrize("words", [[], ["-u"], ["-r"], ["-n"], ["--batch-size=2"], ["-S", "2M"]])
def test_sorted_files_are_merged(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    rng = random.Random(9)
    names = []
    order = [word for word in words if word in ("-u", "-r", "-n")]
    for i in range(7):
        (tmp_path / "raw").write_bytes(random_lines(rng, rng.choice([0, 5, 8000])))
        names.append(f"part{i}")
        run([SORT], [*order, "raw", "-o", names[-1]], tmp_path)
    assert_same(ecosort, tmp_path, ["-m", *words, *names])
    assert_same(ecosort, tmp_path, ["-m", *words, "-", *names], (tmp_path / names[2]).read_bytes())


@pytest.mark.parametrize("words", [[], ["-u"], ["-r"], ["--batch-size=2"]])
def test_long_lines_of_sorted_files_are_merged(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    rng = random.Random(10)
    names = [f"part{i}" for i in range(70)]
    order = [word for word in words if word in ("-u", "-r")]
    for i, name in enumerate(names):
        lines = [b"%d" % rng.randrange(500) * rng.randrange(1, 400) for _ in range(60)]
        if i % 20 == 3:
            lines += [b"5" * 1_000_000 + b"%d" % (i // 20), b"7" * 300_000, b"7" * 300_000]
        (tmp_path / "raw").write_bytes(b"\n".join(lines))
        run([SORT], [*order, "raw", "-o", name], tmp_path)
    memory = ["-S", "8M"]
    assert_same(ecosort, tmp_path, ["-m", *words, *memory, *names])
    assert_same(ecosort, tmp_path, ["-m", *words, *memory, "-", *names[:5]], (tmp_path / names[3]).read_bytes())
    assert run([str(ecosort), "lines"], ["-m", *words, *memory, "--stats", "stats", *names, "-o", "out"], tmp_path)[0] == 0
    assert read_json(tmp_path / "stats")["peak_counted_memory_bytes"] <= 8 << 20


def test_sorted_lines_beyond_a_quarter_of_the_memory_are_refused(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\n" + b"b" * 1_100_000 + b"\nc\n")
    code, output, error = run([str(ecosort), "lines"], ["-m", "-S", "4M", "in", "-o", "out"], tmp_path)
    assert (code, output) == (2, b"")
    assert "in: a line is longer than 1 MiB, a quarter of the memory; try -S 10542K" in error  # 6 times the line, and 4 MiB
    assert not (tmp_path / "out").exists()
    code, output, error = run([str(ecosort), "lines"], ["-c", "-S", "2M", "in"], tmp_path)
    assert "in: a line is longer than 512 KiB; try -S 10542K" in error
    for words in (["-m"], ["-c"], []):  # as the advice says it
        assert run([str(ecosort), "lines"], [*words, "-S", "10542K", "in"], tmp_path)[0] == 0
    error = run([str(ecosort), "lines"], ["-m", "-S", "4M", "-"], tmp_path, (tmp_path / "in").read_bytes())[2]
    assert "a quarter of the memory; give more with -S" in error  # no one knows how long it is


@pytest.mark.parametrize("words", [[], ["-m"], ["-u"]])
def test_there_may_be_more_files_than_may_be_open(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    names = [f"part{i:03}" for i in range(200)]
    for i, name in enumerate(names):
        (tmp_path / name).write_text(f"{i * 7919 % 200}\n{900 + i}")
    expected = run([SORT], [*words, *names], tmp_path)
    few = ["bash", "-c", 'ulimit -n 64; exec "$0" "$@"', str(ecosort), "lines"]
    assert run(few, [*words, *names], tmp_path) == expected
    assert run(few, [*words, *names, "-o", "out"], tmp_path) == (0, b"", "")
    assert (tmp_path / "out").read_bytes() == expected[1]


def test_what_cannot_fit_is_refused_before_the_work(ecosort: Path, tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 42)
    code, output, error = run([str(ecosort), "lines"], ["huge", "-o", "out"], tmp_path)
    assert (code, output) == (2, b"")
    assert "not enough space for the output" in error
    with (tmp_path / "large").open("wb") as file:
        file.truncate(shutil.disk_usage(tmp_path).free * 3 // 2)
    for words in (["huge", "-T", "."], ["large", "-T", ".", "-T", "./"]):  # of two directories the drive's space counts once
        code, output, error = run([str(ecosort), "lines"], words, tmp_path)
        assert (code, output) == (2, b"")
        assert "not enough temporary space" in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["huge", "large"]


def test_long_lines_take_four_times_their_length(ecosort: Path, tmp_path: Path) -> None:
    """20 MB each; 100 MB with ECOSORT_SOAK."""
    length = 100_000_000 if SOAK else 20_000_000
    long = b"x" * length
    with (tmp_path / "in").open("wb") as file:
        for end in (b"3\n", b"1\n", b"short\n", b"2\n"):
            file.write(b"s\n" if end == b"short\n" else long + end)
    memory_mib = 402 if SOAK else 82
    words = ["-S", f"{memory_mib}M", "--stats", "stats", "-o", "out", "in"]
    assert run([str(ecosort), "lines"], words, tmp_path) == (0, b"", "")
    stats = read_json(tmp_path / "stats")
    assert stats["peak_counted_memory_bytes"] <= memory_mib << 20
    assert stats["longest_line_bytes"] == length + 2
    with (tmp_path / "out").open("rb") as file:
        assert file.readline() == b"s\n"
        for end in (b"1\n", b"2\n", b"3\n"):
            assert file.readline() == long + end
        assert file.read() == b""


@pytest.mark.parametrize("words", [[], ["-u"], ["-t,", "-k2n"]])
def test_the_planned_bounds_hold(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "in").write_bytes(much_text(13))
    done = subprocess.run(
        [str(ecosort), "plan", "lines", *words, *SMALL, "in", "-o", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not (tmp_path / "out").exists()
    found = re.search(r"^  runs +(\d+) to (\d+):", done.stdout, re.MULTILINE)
    space = re.search(r"^  temporary space .*\((\d+) bytes\)$", done.stdout, re.MULTILINE)
    assert found, done.stdout
    assert space, done.stdout
    assert run([str(ecosort), "lines"], [*words, *SMALL, "--stats", "stats", "in", "-o", "out"], tmp_path)[0] == 0
    stats = read_json(tmp_path / "stats")
    assert int(found[1]) <= stats["runs"] <= int(found[2])
    assert stats["peak_temp_bytes"] <= int(space[1])


TEXTS = st.lists(
    st.one_of(st.binary(max_size=12), st.from_regex(rb"[ -]?[0-9]{0,3}[.,aK]?[0-9]{0,2}", fullmatch=True)), max_size=30
)
LETTERS = st.sampled_from(["", "b", "d", "f", "g", "h", "i", "M", "n", "r", "V", "nr", "fd", "bV"])
KEYS = st.builds(
    lambda first, letters, last: f"-k{first}{letters}{last}",
    st.sampled_from(["1", "2", "1.2", "2.3"]),
    LETTERS,
    st.sampled_from(["", ",1", ",2", ",2.1", ",3b"]),
)
WORDS = st.lists(st.one_of(KEYS, st.sampled_from(["-r", "-s", "-u", "-z", "-f", "-b"])), max_size=3)


@settings(derandomize=True, max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts=TEXTS, words=WORDS, separator=st.sampled_from([[], ["-t,"], ["-t "]]), is_ended=st.booleans())
def test_any_text_with_any_keys(
    ecosort: Path, tmp_path: Path, texts: list[bytes], words: list[str], separator: list[str], is_ended: bool
) -> None:
    text = b"\n".join(texts) + (b"\n" if is_ended else b"")
    assert_same(ecosort, tmp_path, [*words, *separator], text)


@pytest.mark.parametrize("length", [20, 100, 700])
def test_lines_are_spread_over_as_many_runs_as_the_merge_tree_has_leaves(ecosort: Path, tmp_path: Path, length: int) -> None:
    memory, index_bytes = 4 << 20, 32
    rng = random.Random(length)
    lines = [rng.randbytes(rng.randrange(1, length)).hex().encode() for _ in range(9_000_000 // length)]
    data = b"\n".join(lines) + b"\n"
    (tmp_path / "in").write_bytes(data)
    words = ["-S", f"{memory}b", "--parallel=2", "--stats", "stats", "-o", "out", "in"]
    assert run([str(ecosort), "lines"], words, tmp_path) == (0, b"", "")
    assert (tmp_path / "out").read_bytes() == b"\n".join([*sorted(lines), b""])
    runs = read_json(tmp_path / "stats")["runs"]
    leaves = 1 << (runs - 1).bit_length()
    assert 0.8 * leaves < runs <= leaves  # a run ends with a block, of which these small ones have a few
    line_bytes = len(data) / len(lines)
    most_bytes = memory / 3 * line_bytes / (line_bytes + index_bytes)  # of a run that fills its buffer
    assert most_bytes / 2 < len(data) / runs < most_bytes


def test_small_files_share_runs(ecosort: Path, tmp_path: Path) -> None:
    rng = random.Random(2)
    names = [f"{i:04}" for i in range(900)]
    lines = []
    for name in names:
        some = [rng.randbytes(50).hex().encode() for _ in range(50)]
        (tmp_path / name).write_bytes(b"\n".join(some) + b"\n")
        lines += some
    words = ["-S", "4M", "--parallel=2", "--stats", "stats", "-o", "out", *names]
    assert run([str(ecosort), "lines"], words, tmp_path) == (0, b"", "")
    assert (tmp_path / "out").read_bytes() == b"\n".join([*sorted(lines), b""])
    assert read_json(tmp_path / "stats")["runs"] <= 8


def test_a_long_line_may_take_more_than_its_share_of_the_runs(ecosort: Path, tmp_path: Path) -> None:
    rng = random.Random(1)
    short = [rng.randbytes(rng.randrange(1, 50)).hex().encode() for _ in range(80_000)]
    lines = [*short[:40_000], b"x" * 1_250_000, *short[40_000:], b"y" * 1_200_000, b"z" * 1_250_000]
    (tmp_path / "in").write_bytes(b"\n".join(lines) + b"\n")
    words = ["-S", "4M", "--parallel=2", "--stats", "stats", "-o", "out", "in"]
    assert run([str(ecosort), "lines"], words, tmp_path) == (0, b"", "")
    assert (tmp_path / "out").read_bytes() == b"\n".join([*sorted(lines), b""])
    assert read_json(tmp_path / "stats")["peak_counted_memory_bytes"] <= 4 << 20


def test_the_output_may_be_an_input(ecosort: Path, tmp_path: Path) -> None:
    lines = [str(i * 7919 % 50_000) for i in range(50_000)]
    (tmp_path / "file").write_text("\n".join(lines))
    assert run([str(ecosort), "lines"], ["file", "-o", "file", *SMALL], tmp_path)[0] == 0
    assert (tmp_path / "file").read_text() == "\n".join(sorted(lines)) + "\n"


@pytest.mark.parametrize("size", [20, 3_000_000])
def test_standard_input_may_begin_anywhere_in_a_file_or_behind_it(ecosort: Path, tmp_path: Path, size: int) -> None:
    lines = [f"{i * 7919 % size:07}" for i in range(size // 8)]
    (tmp_path / "in").write_text("\n".join(lines))
    for place in (0, 3, size // 2, size - 1, size, 10 * size):
        for words in ([], SMALL, ["-m"], ["-c"]):
            shown = []
            for program in ([SORT], [str(ecosort), "lines"]):
                with (tmp_path / "in").open("rb", buffering=0) as file:
                    file.seek(place)
                    shown.append(subprocess.run([*program, *words], stdin=file, capture_output=True, check=False, timeout=60))
            assert shown[0].returncode == shown[1].returncode, (place, words, shown[1].stderr)
            assert shown[0].stdout == shown[1].stdout, (place, words)


def has_open(process: subprocess.Popen[bytes], path: Path) -> bool:
    return any(entry.resolve() == path for entry in Path(f"/proc/{process.pid}/fd").iterdir())


@pytest.mark.parametrize("size", [3_000, 3_000_000])
@pytest.mark.parametrize("change", ["grows", "is written to"])
def test_a_log_may_grow_while_it_is_sorted(ecosort: Path, tmp_path: Path, change: str, size: int) -> None:
    lines = [f"{i * 7919 % size:07}" for i in range(size // 8)]
    log = (tmp_path / "log").resolve()
    log.write_text("\n".join(lines) + "\n")
    command = [str(ecosort), "lines", str(log), "-"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        wait_until(lambda: has_open(process, log))
        comes_to_rest(process.pid)  # it is opened twice if it is not small, and then the pipe is waited for
        with log.open("r+b") as file:
            if change == "grows":
                file.seek(0, os.SEEK_END)
            file.write(b"new line, torn")
        output, error = process.communicate(b"last\n", timeout=60)
    if change == "grows":
        assert process.returncode == 0, error
        assert output.decode().split("\n") == [*sorted(lines), "last", ""]
        assert error.decode() == f"ecosort lines: {log} grew meanwhile: what was added is not in the output\n"
    else:
        assert (process.returncode, output) == (2, b"")
        assert b"changed while it was read" in error


def test_a_header_stays_on_top(ecosort: Path, tmp_path: Path) -> None:
    body = [f"{i * 7919 % 50_000},x" for i in range(50_000)]
    (tmp_path / "file").write_text("\n".join(["zz", "aa", *body]))
    for words in ([], SMALL, ["-u"]):
        code, output, error = run([str(ecosort), "lines"], ["--header=2", *words, "file"], tmp_path)
        assert (code, error) == (0, "")
        assert output.decode().split("\n") == ["zz", "aa", *sorted(body), ""]
    assert run([str(ecosort), "lines"], ["--header", "-"], tmp_path, b"9\n3\n1\n")[1] == b"9\n1\n3\n"


@pytest.mark.parametrize("words", [[], SMALL, ["-u"], ["-m"], ["-m", "--batch-size=2"]])
def test_the_headers_of_all_files_are_alike_and_one_goes_out(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    top = b"name;x\n\n"
    bodies = [b"".join(b"%06d\n" % i for i in range(start, 60_000, 3)) for start in (2, 0, 1)]
    for i, body in enumerate(bodies):
        (tmp_path / str(i)).write_bytes(top + body.removesuffix(b"\n"))
    (tmp_path / "only").write_bytes(top)
    code, output, error = run([str(ecosort), "lines"], ["--header=2", *words, "only", "0", "1", "-"], tmp_path, top + bodies[2])
    assert (code, error) == (0, "")
    assert output == top + b"".join(b"%06d\n" % i for i in range(60_000))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([b"a\nb\n", b"a\nc\n"], "2: 'c' is in the header, where 1 has 'b'"),
        ([b"a\nb\n1\n", b"a\n"], "2: ends where the header of 1 has 'b'"),
        ([b"a\nb\n1\n", b""], "2: ends where the header of 1 has 'a'"),
        ([b"a\n", b"a\nb\n1\n"], "2: 'b' is in the header, and 1 has no such line"),
        ([b"", b"a\n"], "2: 'a' is in the header, and 1 has no such line"),
        ([b"a\nb\n", b"a\nb\r\n"], "2: 'b?' is in the header, where 1 has 'b'"),
        ([b"a\nb\n", b"a\nb\n", b"a\nbb"], "3: 'bb' is in the header, where 1 has 'b'"),
    ],
)
@pytest.mark.parametrize("words", [[], ["-m"]])
def test_headers_that_differ_are_refused(
    ecosort: Path, tmp_path: Path, files: list[bytes], message: str, words: list[str]
) -> None:
    names = [str(i) for i in range(1, len(files) + 1)]
    for name, data in zip(names, files, strict=True):
        (tmp_path / name).write_bytes(data)
    done = run([str(ecosort), "lines"], [*words, "--header=2", *names, "-o", "out"], tmp_path)
    assert done == (2, b"", f"sort: {message}; the headers of all files must be alike\n")
    assert not (tmp_path / "out").exists()


def test_files_without_the_whole_header_are_alike_where_all_lack_the_same(ecosort: Path, tmp_path: Path) -> None:
    for name, data in (("empty", b""), ("short", b"z\na\n"), ("shorter", b"z\na")):
        (tmp_path / name).write_bytes(data)
    for names, output in ((["empty", "empty"], b""), (["short", "shorter"], b"z\na\n")):
        assert run([str(ecosort), "lines"], ["--header=3", *names], tmp_path) == (0, output, "")


@pytest.mark.parametrize(
    ("mark", "top", "rows", "keys"),
    [
        ("#", ["##fileformat=VCFv4.2", "#CHROM\tPOS\tID"], ["c2\t9\ta", "c2\t10\tb", "c10\t1\tc"], ["-k1,1V", "-k2,2n"]),
        ("track", ["track name=zz"], ["c1\t5\t6", "c1\t40\t41", "c2\t1\t2"], ["-k1,1", "-k2,2n"]),
        ("#", ["##gff-version 3", "##sequence-region c1 1 99"], ["c1\ts\tgene\t2", "c1\ts\tgene\t30"], ["-k1,1", "-k4,4n"]),
        ("@", ["@HD\tVN:1.6", "@SQ\tSN:c1\tLN:99"], ["r2\t0\tc1\t7", "r1\t0\tc1\t60"], ["-k3,3", "-k4,4n"]),
    ],
    ids=["VCF", "BED", "GFF", "SAM"],
)
def test_marked_lines_stay_on_top(
    ecosort: Path, tmp_path: Path, mark: str, top: list[str], rows: list[str], keys: list[str]
) -> None:
    """All files have the same ones, and they go out once; a merge and a check leave them where they are."""
    own = ["--header-mark", mark, "-t\t", *keys]
    twice = "\n".join([*top, *(row for row in rows for _ in "ab"), ""])
    (tmp_path / "in").write_text("\n".join([*top, *reversed(rows), ""]))
    assert run([str(ecosort), "lines"], [*own, "in", "in", "-o", "out"], tmp_path) == (0, b"", "")
    assert (tmp_path / "out").read_text() == twice
    assert run([str(ecosort), "lines"], [*own, "-c", "out"], tmp_path) == (0, b"", "")
    assert run([str(ecosort), "lines"], [*own, "-c", "in"], tmp_path)[0] == 1
    assert run([str(ecosort), "lines"], [*own, "-m", "-u", "out", "out"], tmp_path)[1].decode() == "\n".join([*top, *rows, ""])


def test_what_has_a_header_can_be_checked_and_merged_in_order(ecosort: Path, tmp_path: Path) -> None:
    keys = ["--header", "-t,", "-k1,1n"]
    (tmp_path / "in").write_bytes(b"id,v\n10,c\n9,a\n")
    assert run([str(ecosort), "lines"], [*keys, "in", "-o", "sorted"], tmp_path) == (0, b"", "")
    assert run([str(ecosort), "lines"], [*keys, "-c", "sorted"], tmp_path) == (0, b"", "")
    assert run([str(ecosort), "lines"], [*keys, "-c", "in"], tmp_path) == (1, b"", "sort: in:3: disorder: 9,a\n")
    assert run([str(ecosort), "lines"], [*keys, "-C", "in"], tmp_path) == (1, b"", "")
    assert run([str(ecosort), "lines"], ["--header=5", "-c", "in"], tmp_path) == (0, b"", "")
    merge = [str(ecosort), "merge", "--lines"]
    assert run(merge, [*keys, "sorted", "-"], tmp_path, b"id,v\n9,b\n") == (0, b"id,v\n9,a\n9,b\n10,c\n", "")
    code, output, error = run(merge, [*keys, "in", "sorted", "-o", "out"], tmp_path)
    assert (code, output) == (1, b"")
    assert error.startswith("sort: in is not in order: this row comes before the one in front of it: 9,a;")


def test_a_line_that_does_not_fit_is_told_with_its_place(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"short\n" + b"x" * 2_000_000 + b"\n")
    code, output, error = run([str(ecosort), "lines"], [*SMALL, "file"], tmp_path)
    assert (code, output) == (2, b"")
    assert "line 2, at byte 6," in error
    assert error.endswith("; try -S 15815K\n")  # 6 times the line, and 4 MiB
    for words in ([], ["--header"], ["--compress=zstd"], ["-u"], ["--compress-output=zstd"]):
        assert run([str(ecosort), "lines"], [*words, "-S", "15815K", "file"], tmp_path)[0] == 0


@pytest.mark.parametrize("words", [["lines"], ["csv", "--no-header", "--by", "1"], ["jsonl", "--by", "[0]"]])
def test_a_device_that_takes_nothing_is_named(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "in").write_text("[2]\n[1]\n")
    for to in (["-o", "/dev/full"], ["-o", "-"]):
        with Path("/dev/full").open("wb") as full:
            command = [ecosort, *words, "in", *(to if to[1] != "-" or words[0] != "lines" else [])]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False)
        assert done.returncode in (2, 3)
        assert "cannot write '(standard output, /dev/full)'" in done.stderr


def test_a_full_drive_leaves_no_output(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("b\na\n")
    with Path("/dev/full").open("wb") as full:
        words = [str(ecosort), "lines", str(tmp_path / "file")]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr


@pytest.mark.parametrize("option", ["--stats", "--events"])
def test_a_report_that_cannot_be_written_does_not_take_back_the_output(ecosort: Path, tmp_path: Path, option: str) -> None:
    code, _, error = run([str(ecosort), "lines"], [option, "/dev/full", "-o", "out"], tmp_path, b"b\na\n")
    assert (code, (tmp_path / "out").read_bytes()) == (2, b"a\nb\n")
    assert "/dev/full" in error
    assert "the sorted output is complete" in error


def test_a_message_stays_one_line(ecosort: Path, tmp_path: Path) -> None:
    code, _, error = run([str(ecosort), "lines"], ["no\nsuch"], tmp_path)
    assert code == 2
    assert error == "sort: cannot read: 'no'$'\\n''such': No such file or directory\n"
