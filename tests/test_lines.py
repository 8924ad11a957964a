"""`ecosort lines` writes what `LC_ALL=C sort` writes: random options and inputs, nasty inputs, and the words of its grammar."""

import os
import random
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sort_support import read_json

SORT = "sort"
SMALL = ["-S", "1M"]  # the least memory: a few MB make many runs and several passes


def run(program: list[str], words: list[str], directory: Path, data: bytes | None = None) -> tuple[int, bytes, str]:
    """Exit code, standard output, and the first line of standard error."""
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        [*program, *words], cwd=directory, input=data, capture_output=True, env=environment, timeout=120, check=False
    )
    return done.returncode, done.stdout, done.stderr.decode(errors="replace").partition("\n")[0]


def assert_same(ecosort: Path, directory: Path, words: list[str], data: bytes | None = None) -> None:
    expected_code, expected_output, _ = run([SORT], words, directory, data)
    code, output, error = run([str(ecosort), "lines"], words, directory, data)
    assert (code, error if code != expected_code else "") == (expected_code, ""), words
    assert output == expected_output, words


def random_line(rng: random.Random) -> bytes:
    kind = rng.randrange(6)
    if kind == 0:
        # sort 9.1 passes over byte 0x80 within numbers, other bytes end them
        return bytes(rng.randrange(256) for _ in range(rng.randrange(20))).replace(b"\n", b"").replace(b"\x80", b"")
    if kind == 1:
        number = rng.choice([str(rng.randrange(10)), str(rng.randrange(10**18)), f"{rng.uniform(-9, 9):.6f}", "-0", "1e3", ".5"])
        return (rng.choice(["", " ", "-"]) + number + rng.choice(["", "K", "M", "k", "Gi", ","])).encode()
    if kind == 2:
        return f"{rng.choice(['jan', 'FEB', 'Mar', 'xyz', ''])} {rng.randrange(30)}".encode()
    if kind == 3:
        version = f"{rng.randrange(12)}.{rng.randrange(12)}"
        return f"{rng.choice(['', '.', 'lib-', 'v'])}{version}{rng.choice(['', '.tar.gz', '~'])}".encode()
    if kind == 4:
        return b"common prefix of many bytes " * rng.randrange(3) + bytes([rng.choice(b"aAbB\0\x01 \t")]) * rng.randrange(4)
    return bytes(rng.choice(b"aAbB.,- \t019~_\0") for _ in range(rng.randrange(16)))


def random_lines(rng: random.Random, count: int) -> bytes:
    lines = [random_line(rng) for _ in range(count)]
    repeated = [rng.choice(lines) for _ in range(count // 4)]
    text = b"\n".join(rng.sample(lines + repeated, len(lines) + len(repeated)))
    return text + rng.choice([b"", b"\n"])


def random_key(rng: random.Random) -> str:
    letters = ["", "b", "d", "f", "g", "h", "i", "M", "n", "r", "V", "bn", "nr", "df", "fi", "Vr", "bf"]
    first = f"{rng.randrange(1, 4)}{rng.choice(['', '', f'.{rng.randrange(1, 6)}'])}{rng.choice(letters)}"
    if rng.random() < 0.4:
        return first
    return f"{first},{rng.randrange(1, 5)}{rng.choice(['', '', f'.{rng.randrange(6)}'])}{rng.choice(['', '', 'b'])}"


def random_words(rng: random.Random) -> list[str]:
    words = rng.sample(["-r", "-s", "-u", "-b", "-f", "-z"], rng.choice([0, 0, 1, 1, 2]))
    if rng.random() < 0.5:
        words.append(rng.choice(["-n", "-g", "-h", "-M", "-V", "-d", "-i", "-di"]))
    if rng.random() < 0.3:
        words.append(rng.choice(["-t,", "-t ", "-t.", "-t\\0"]))
    for _ in range(rng.choice([0, 1, 1, 2])):
        words.append(f"-k{random_key(rng)}")
    return words


@pytest.mark.parametrize("seed", range(60))
def test_random_options_in_memory(ecosort: Path, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    (tmp_path / "in").write_bytes(random_lines(rng, rng.choice([1, 20, 3000])))
    for _ in range(6):
        assert_same(ecosort, tmp_path, [*random_words(rng), "in"])


@pytest.mark.parametrize("seed", range(12))
def test_random_options_with_many_runs(ecosort: Path, tmp_path: Path, seed: int) -> None:
    rng = random.Random(1000 + seed)
    (tmp_path / "in").write_bytes(random_lines(rng, 120_000))
    words = random_words(rng)
    assert_same(ecosort, tmp_path, [*words, *SMALL, "in"])
    done = run([str(ecosort), "lines"], [*words, *SMALL, "--stats", "stats", "-o", "out", "in"], tmp_path)
    assert done[0] == 0, done
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


def test_keys_with_long_common_beginnings(ecosort: Path, tmp_path: Path) -> None:
    rng = random.Random(7)
    lines = [
        f"https://example.org/a/long/common/path?id={rng.randrange(10**6):07}&page={rng.randrange(9)}" for _ in range(60_000)
    ]
    (tmp_path / "in").write_text("\n".join(lines))
    assert_same(ecosort, tmp_path, ["in"])
    assert_same(ecosort, tmp_path, [*SMALL, "-t&", "-k2", "in"])


@pytest.mark.parametrize("memory", [[], SMALL])
def test_the_first_of_equal_lines_is_kept(ecosort: Path, tmp_path: Path, memory: list[str]) -> None:
    rng = random.Random(12)
    lines = [f"{rng.randrange(300)},{'x' * rng.randrange(90)}" for _ in range(20_000)] + [f"{i},y" for i in range(60_000)]
    chosen = rng.choices(lines, k=150_000)
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


def test_disorder_is_found_and_reported(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "up").write_bytes(b"a\nb\nb\nc")
    (tmp_path / "down").write_bytes(b"a\nc\nb\n")
    for words in (["-c", "up"], ["-cu", "up"], ["-C", "down"], ["-c", "down"], ["-cr", "down"], ["-c", "--check=silent", "x"]):
        expected = run([SORT], words, tmp_path)
        code, output, error = run([str(ecosort), "lines"], words, tmp_path)
        assert (code, output, error.replace("ecosort lines: ", "sort: ")) == expected


@pytest.mark.parametrize(
    "words",
    [
        ["-k", "0"],
        ["-k", "1.0"],
        ["-k", "x"],
        ["-k", "1,0"],
        ["-k", "1x"],
        ["-k", "1,"],
        ["-t", "ab"],
        ["-t", ""],
        ["-t", "a", "-t", "b"],
        ["-n", "-g"],
        ["-k1ng"],
        ["-k1,2dMV"],
        ["-c", "a", "b"],
        ["-c", "-o", "x"],
        ["-cC"],
        ["-o", "a", "-o", "b"],
        ["-Q"],
        ["-k"],
        ["nofile"],
        ["."],
        ["-S", "12q"],
        ["--files0-from=nofile"],
        ["--parallel=0"],
        ["--sort=foo"],
        ["--check=foo"],
        ["-R", "--random-source=nofile"],
    ],
    ids=" ".join,
)
def test_wrong_words_are_told_as_sort_tells_them(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "a").write_text("b\na\n")
    expected_code, _, expected_error = run([SORT], words, tmp_path, b"")
    code, output, error = run([str(ecosort), "lines"], words, tmp_path, b"")
    assert (code, output) == (expected_code, b"")
    assert error == expected_error.replace("sort: ", "ecosort lines: ", 1)


@pytest.mark.parametrize("words", [["--debug"], ["--compress-program=gzip"], ["-yX"]])
def test_what_is_not_supported_is_refused(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    code, output, error = run([str(ecosort), "lines"], words, tmp_path, b"a\n")
    assert (code, output) == (2, b"")
    assert "is not supported" in error


def test_obsolescent_keys(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(random_lines(random.Random(11), 3000))
    for words in (["+1"], ["+1", "-2"], ["+0", "-0"], ["+1.2", "-2.3"], ["+1n", "-2", "+0r"], ["+1.1b", "-3.1b"]):
        assert_same(ecosort, tmp_path, [*words, "in"])


def test_names_from_a_file(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("2\n")
    (tmp_path / "b").write_text("1")
    (tmp_path / "names").write_bytes(b"a\0b\0")
    assert_same(ecosort, tmp_path, ["--files0-from=names"])
    assert_same(ecosort, tmp_path, ["--files0-from=-"], b"a\0b")
    (tmp_path / "bad").write_bytes(b"a\0\0b\0")
    assert_same(ecosort, tmp_path, ["--files0-from=bad"])


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
    code, output, error = run([str(ecosort), "lines"], ["huge", "-T", "."], tmp_path)
    assert (code, output) == (2, b"")
    assert "not enough temporary space" in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["huge"]


def test_lines_of_100_mb(ecosort: Path, tmp_path: Path) -> None:
    long = b"x" * 100_000_000
    with (tmp_path / "in").open("wb") as file:
        for end in (b"3\n", b"1\n", b"short\n", b"2\n"):
            file.write(b"s\n" if end == b"short\n" else long + end)
    words = ["-S", "402M", "--stats", "stats", "-o", "out", "in"]
    assert run([str(ecosort), "lines"], words, tmp_path) == (0, b"", "")
    stats = read_json(tmp_path / "stats")
    assert stats["peak_counted_memory_bytes"] <= 402 << 20
    assert stats["longest_line_bytes"] == 100_000_002
    with (tmp_path / "out").open("rb") as file:
        assert file.readline() == b"s\n"
        for end in (b"1\n", b"2\n", b"3\n"):
            assert file.readline() == long + end
        assert file.read() == b""


@pytest.mark.parametrize("words", [[], ["-u"], ["-t,", "-k2n"]])
def test_the_planned_bounds_hold(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    rng = random.Random(13)
    (tmp_path / "in").write_bytes(random_lines(rng, 150_000))
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
    text = b"\n".join(texts).replace(b"\x80", b"") + (b"\n" if is_ended else b"")
    assert_same(ecosort, tmp_path, [*words, *separator], text)


def test_the_output_may_be_an_input(ecosort: Path, tmp_path: Path) -> None:
    lines = [str(i * 7919 % 50_000) for i in range(50_000)]
    (tmp_path / "file").write_text("\n".join(lines))
    assert run([str(ecosort), "lines"], ["file", "-o", "file", *SMALL], tmp_path)[0] == 0
    assert (tmp_path / "file").read_text() == "\n".join(sorted(lines)) + "\n"


def test_a_header_stays_on_top(ecosort: Path, tmp_path: Path) -> None:
    body = [f"{i * 7919 % 50_000},x" for i in range(50_000)]
    (tmp_path / "file").write_text("\n".join(["zz", "aa", *body]))
    for words in ([], SMALL, ["-u"]):
        code, output, error = run([str(ecosort), "lines"], ["--header=2", *words, "file"], tmp_path)
        assert (code, error) == (0, "")
        assert output.decode().split("\n") == ["zz", "aa", *sorted(body), ""]
    assert run([str(ecosort), "lines"], ["--header", "-"], tmp_path, b"9\n3\n1\n")[1] == b"9\n1\n3\n"


def test_a_line_that_does_not_fit_is_told_with_its_place(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"short\n" + b"x" * 2_000_000 + b"\n")
    code, output, error = run([str(ecosort), "lines"], [*SMALL, "file"], tmp_path)
    assert (code, output) == (2, b"")
    assert "line 2, at byte 6," in error


def test_another_collation_is_told_about_once(ecosort: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "LANG": "de_DE.UTF-8"}
    for name in ("LC_ALL", "LC_COLLATE"):
        environment.pop(name, None)
    words = [str(ecosort), "lines"]
    told = subprocess.run(words, input=b"b\na\n", capture_output=True, env=environment, cwd=tmp_path, check=True)
    assert told.stdout == b"a\nb\n"
    assert told.stderr.count(b"C locale") == 1
    quiet = subprocess.run([*words, "--quiet"], input=b"b\na\n", capture_output=True, env=environment, cwd=tmp_path, check=True)
    assert quiet.stderr == b""


@pytest.mark.parametrize("word", ["-m", "-c", "-C"])
def test_a_header_is_refused_where_nothing_is_sorted(ecosort: Path, tmp_path: Path, word: str) -> None:
    code, output, error = run([str(ecosort), "lines"], ["--header", word], tmp_path, b"b\na\n")
    assert (code, output) == (2, b"")
    assert "--header does not go with" in error


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
    assert "no\\nsuch: No such file" in error  # whose line would end before the name did
