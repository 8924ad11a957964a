"""`ecosort lines` reads words as `sort` does, and says the same about them: options, messages, exit codes, -c and --debug."""

import os
import random
import subprocess
from pathlib import Path

import pytest
from lines_support import SMALL, SORT, assert_all_same, assert_same, random_lines, random_words, run
from sort_support import Require, as_plain_user, copy_program, directory_for_everyone, read_json


def test_disorder_is_found_and_reported(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "up").write_bytes(b"a\nb\nb\nc")
    (tmp_path / "down").write_bytes(b"a\nc\nb\n")
    (tmp_path / "nul").write_bytes(b"a\nc\0b\0")
    for words in (
        ["-c", "up"],
        ["-cu", "up"],
        ["-C", "down"],
        ["-c", "down"],
        ["-cr", "down"],
        ["-cz", "nul"],
        ["-c", "--check=silent", "up"],
        ["--check=diagnose", "down"],
        ["--check=s", "down"],
        ["-c", "nofile"],
        ["-C", "nofile"],
        ["-c", "."],
    ):
        assert_all_same(ecosort, tmp_path, words)
    for data in (b"b\na", b"a\nb", b"", b"\n\n", b"a\n\n"):
        assert_all_same(ecosort, tmp_path, ["-c"], data)
        assert_all_same(ecosort, tmp_path, ["-cu", "-"], data)


WRONG_WORDS = [
    "-k 0",
    "-k 1.0",
    "-k x",
    "-k 1,0",
    "-k 1x",
    "-k 1,",
    "-k 1.",
    "-k 1.x",
    "-k 1,x",
    "-k 1,2.x",
    "-k -1",
    "-t ab",
    "-t ",
    "-t a -t b",
    "-n -g",
    "-n -r -d",
    "-k1ng",
    "-k1,2dMV",
    "-c a b",
    "-c -o x",
    "-cC",
    "-o a -o b",
    "-R --random-source=a --random-source=b",
    "-Q",
    "-n --stable -rQ",
    "-k",
    "--key",
    "--ke",
    "--foo",
    "--foo=bar",
    "--rever=1",
    "--version=3",
    "--debug=x",
    "--ve=2",
    "nofile",
    "a nofile",
    ".",
    "-m nofile",
    "-m a .",
    "-S 12q",
    "-S x",
    "-S -1",
    "-S 5%x",
    "-S 99999999999999999999E",
    "--files0-from=nofile",
    "--files0-from=/dev/null",
    "--files0-from=. ",
    "--files0-from=a x",
    "--parallel=0",
    "--parallel=x",
    "--batch-size=1",
    "--batch-size=x",
    "--batch-size=-3",
    "--sort=foo",
    "--sort=",
    "--check=foo",
    "--check=",
    "-R --random-source=nofile",
    "-R --random-source=a",
    "-o nodir/x",
    "-o a/x",
    "a/x",
    "-c a/x",
    "-T a a/x",
    "-o .",
    "--debug -c a",
    "--debug -C a",
    "--debug -o x a",
    "a +1.x",
    "+1 -x",
    "+1 -2x",
    "+1 -2.x",
    "-S 1Y",
    "-S 1e",
    "-S %",
    "-t a'\\\x01",
    "-k 1\n2",
    "--sort=a\tb",
    "no\nfile",
    "no'file",
    "-o nodir/a=b",
    "--files0-from=.",
    "--parallel=1k",
    "--parallel=-1",
]


@pytest.mark.parametrize("line", WRONG_WORDS)
def test_wrong_words_are_told_as_sort_tells_them(ecosort: Path, tmp_path: Path, line: str) -> None:
    (tmp_path / "a").write_text("b\na\n")
    words = line.split(" ")
    assert run([SORT], words, tmp_path, b"")[0] in (1, 2)
    assert_all_same(ecosort, tmp_path, words, b"")


@pytest.mark.parametrize(
    "line",
    [
        "-S 0",
        "-S 0%",
        "-S 200%",
        "-S 9b",
        "-S 1k",
        "-S +1m",
        "-S K",
        "-S 1P",
        "-k 1,99999999999999999999",
    ],
)
def test_numbers_out_of_range_become_the_nearest(ecosort: Path, tmp_path: Path, line: str) -> None:
    assert_all_same(ecosort, tmp_path, line.split(" "), b"b\na\n")


# The long options of GNU sort 9.1, with a value that shows, where one is due.
GNU_OPTIONS = {
    "ignore-leading-blanks": "",
    "check": "",
    "compress-program": "=gzip",
    "debug": "",
    "dictionary-order": "",
    "ignore-case": "",
    "files0-from": "=names",
    "general-numeric-sort": "",
    "ignore-nonprinting": "",
    "key": "=2",
    "merge": "",
    "month-sort": "",
    "numeric-sort": "",
    "human-numeric-sort": "",
    "version-sort": "",
    "random-sort": "",
    "random-source": "=names",
    "sort": "=numeric",
    "output": "=out",
    "reverse": "",
    "stable": "",
    "batch-size": "=2",
    "buffer-size": "=1M",
    "field-separator": "=,",
    "temporary-directory": "=.",
    "unique": "",
    "zero-terminated": "",
    "parallel": "=1",
    "help": "",
    "version": "",
}
OWN_OPTIONS = {
    "header": "",
    "memory": "=4MiB",
    "temp": "=.",
    "io": "=pool",
    "stats": "=stats",
    "events": "=events",
    "progress": "=none",
    "quiet": "",
}
TWINS = {"progress": "profile", "header": "header-mark"}  # options of ours that begin alike


@pytest.mark.parametrize("name", GNU_OPTIONS)
def test_every_beginning_of_an_option_means_what_it_means_to_sort(ecosort: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "names").write_bytes(b"in\0")
    (tmp_path / "in").write_bytes(b"b 10,2\n a 9,1\nB 2K,x\n\x01A,JAN\nb 10,2\n1.10\n1.9,FEB\n")
    for length in range(1, len(name) + 1):
        told = []
        for program in ([SORT], [str(ecosort), "lines"]):
            words = [f"--{name[:length]}{GNU_OPTIONS[name]}", *([] if name == "files0-from" else ["in"])]
            told.append(run(program, words, tmp_path, b""))
            written = tmp_path / "out"
            told[-1] = (*told[-1], written.read_bytes() if written.exists() else b"")
            written.unlink(missing_ok=True)
        ours, theirs = told[1], told[0]
        own = theirs[1].startswith((b"sort (GNU", b"Usage: ")) or name == "random-sort"  # each has its own text or order
        if own and "possibilities" not in theirs[2]:
            assert (ours[0], bool(ours[1]), ours[2]) == (theirs[0], bool(theirs[1]), theirs[2]), name[:length]
        else:
            assert ours == theirs, name[:length]


@pytest.mark.parametrize("name", OWN_OPTIONS)
def test_beginnings_that_sort_does_not_know_are_our_own_options(ecosort: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "in").write_bytes(b"b\na\n")
    for length in range(1, len(name) + 1):
        words = [f"--{name[:length]}{OWN_OPTIONS[name]}", "in"]
        theirs, ours = run([SORT], words, tmp_path, b""), run([str(ecosort), "lines"], words, tmp_path, b"")
        twin = TWINS.get(name, "")
        if "unrecognized" in theirs[2] and length < len(name) and twin.startswith(name[:length]):
            assert (ours[0], f"possibilities: '--{name}' '--{twin}'" in ours[2]) == (2, True), ours
        elif "unrecognized" in theirs[2]:
            assert ours == (0, b"b\na\n" if name == "header" else b"a\nb\n", ""), name[:length]
        else:
            assert ours[0] == theirs[0], name[:length]
            if theirs[0] != 0:
                assert ours[2] == theirs[2]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("--revrese", "reverse"), ("--memroy=1G", "memory"), ("--uniq-ue", "unique"), ("--progres-s=json", "progress")],
)
def test_a_word_that_is_nearly_an_option(ecosort: Path, tmp_path: Path, typed: str, meant: str) -> None:
    code, output, error = run([str(ecosort), "lines"], [typed], tmp_path, b"")
    theirs = run([SORT], [typed], tmp_path, b"")
    assert (code, output) == theirs[:2]
    assert error == f"{theirs[2]}sort: did you mean '--{meant}'?\n"


def test_the_keys_of_tables_are_no_beginning_of_another_option(ecosort: Path, tmp_path: Path) -> None:
    code, _, error = run([str(ecosort), "lines"], ["--by", "price"], tmp_path, b"")
    assert (code, "--by-group" in error, "keys are fields here, as in -k2,2" in error) == (2, False, True), error


@pytest.mark.parametrize("words", [["-", "-"], ["in", "-", "-m", "-"], ["-"]])
def test_standard_input_is_read_once(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    """Also a file: sort reads its lines once, however often it is named."""
    (tmp_path / "in").write_bytes(b"a\nb\n")
    outputs = []
    for program in (SORT, f"{ecosort} lines"):
        with (tmp_path / "in").open("rb") as file:
            outputs.append(subprocess.run([*program.split(), *words], cwd=tmp_path, stdin=file, capture_output=True, check=True))
    assert outputs[0].stdout == outputs[1].stdout


def random_debug_words(rng: random.Random) -> list[str]:
    words = random_words(rng)
    words = [word for word in words if word != "-R"]
    words += rng.sample(
        ["-t-", "-t+", "-t0", "-bs", "-rs", "-ru", "+1", "+1.2n", "-M", "-k2,1", "-k2,2bi"], rng.choice([0, 1, 1, 2])
    )
    if words and words[-1].startswith("+") and rng.random() < 0.7:
        words.append(rng.choice(["-1", "-2", "-0.2", "-3.1b"]))
    return words


@pytest.mark.parametrize("seed", range(12))
def test_debug_underlines_and_warns_as_sort_does(ecosort: Path, tmp_path: Path, seed: int) -> None:
    rng = random.Random(2000 + seed)
    (tmp_path / "in").write_bytes(random_lines(rng, rng.choice([1, 20, 200])))
    for _ in range(12):
        assert_all_same(ecosort, tmp_path, ["--debug", *random_debug_words(rng), "in"])


def random_place(rng: random.Random, most_field: int) -> str:
    return f"{rng.randrange(1, most_field)}{rng.choice(['', '', f'.{rng.randrange(1, 5)}'])}{rng.choice(['', 'b', 'b'])}"


def random_debug_key(rng: random.Random) -> str:
    end = rng.choice(["", f",{random_place(rng, 5)}", f",{rng.randrange(1, 4)}.0{rng.choice(['', 'b'])}"])
    return f"-k{random_place(rng, 4)}{end}{rng.choice(['', '', 'd', 'n', 'g', 'M', 'V', 'h'])}"


@pytest.mark.parametrize("seed", range(8))
def test_debug_marks_keys_among_blanks_of_several_files(ecosort: Path, tmp_path: Path, seed: int) -> None:
    rng = random.Random(4000 + seed)
    for name in "ab":
        lines = ("".join(rng.choices(["  ", " ", "\t", "b", "12", "-3.5K", "jan", ","], k=rng.randrange(9))) for _ in range(30))
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    keys = [["-k1b,2", "-k2d", "-k5,3.1"]] + [[random_debug_key(rng) for _ in range(rng.randrange(1, 4))] for _ in range(12)]
    for words in keys:
        separator = rng.choice([[], ["-t "], ["-t "], ["-t,"], ["-t\t"], ["-b"]])
        assert_all_same(ecosort, tmp_path, ["--debug", *separator, *words, "a", "b"])


def test_debug_of_sorted_files_and_of_nothing(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\tb\nb\x01c\n")
    for words in (["-m", "in"], ["-m", "-k2", "in", "-"], ["-u"], ["-nr", "/dev/null"]):
        assert_all_same(ecosort, tmp_path, ["--debug", *words], b"\n\n")
    code, output, error = run([str(ecosort), "lines"], ["--debug", "--header", "--quiet", "-n"], tmp_path, b"name\n12\n9 x\n")
    assert (code, output, error) == (0, b"name\n9 x\n_\n___\n12\n__\n__\n", "")


def test_debug_tells_about_output_that_cannot_be_written(ecosort: Path, tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        words = [str(ecosort), "lines", "--debug", "--quiet"]
        done = subprocess.run(words, input="b\na\n", stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr


@pytest.mark.parametrize("words", [["-yX"], ["-y", "5"]])
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
    for content in (b"a\0b\0", b"a\0b", b"a\0\0b\0", b"\0a\0", b"a\0-\0", b"", b"a\0nofile\0", b"a\n\0", b"a\0.\0"):
        (tmp_path / "names").write_bytes(content)
        for words in (["--files0-from=names"], ["-c", "--files0-from=names"], ["--files0-from", "names", "-m"]):
            assert_all_same(ecosort, tmp_path, words, b"3\n")
        assert_all_same(ecosort, tmp_path, ["--files0-from=-"], content)


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


def test_a_header_counts_on_a_share_of_the_memory(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"head\n" * 13_000 + b"2\n1\n" + b"3\n" * 800_000)
    words = ["--header=13000", *SMALL, "--stats", "stats", "in"]
    code, output, error = run([str(ecosort), "lines"], words, tmp_path)
    assert (code, error) == (0, "")
    assert output == b"head\n" * 13_000 + b"1\n2\n" + b"3\n" * 800_000
    stats = read_json(tmp_path / "stats")
    assert stats["peak_counted_memory_bytes"] <= stats["memory_limit_bytes"] == 1 << 20
    code, output, error = run([str(ecosort), "lines"], ["--header=14000", *SMALL, "in"], tmp_path)
    assert (code, output) == (2, b"")
    assert error == "sort: the header's lines are longer than 64 KiB in all, a 16th of the memory; give more with -S\n"


@pytest.mark.parametrize("name", ["müll", "a bü", "日本", "\x80\u0085", "it's", "a\nü", "\udcc3(", "\udcff"])
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_names_are_shown_as_the_environment_reads_them(ecosort: Path, tmp_path: Path, name: str, locale: str) -> None:
    shown = []
    for program in ([SORT], [str(ecosort), "lines"]):
        environment = {**os.environ, "LC_ALL": locale}
        done = subprocess.run([*program, os.fsencode(name)], cwd=tmp_path, capture_output=True, env=environment, check=False)
        shown.append(done.stderr.replace(b"ecosort lines: ", b"sort: "))
    assert shown[0] == shown[1]


def test_memory_is_a_wish_with_s_and_a_promise_with_its_own_option(ecosort: Path, tmp_path: Path) -> None:
    for words in (["-S", "1E"], ["-S", "1b"], ["--memory", "1MiB"]):
        assert run([str(ecosort), "lines"], words, tmp_path, b"b\na\n") == (0, b"a\nb\n", "")
    for size, complaint in (
        ("1000KiB", "1000 KiB of memory is too little: at least 1 MiB is needed; try -S 1024K"),
        ("1000TiB", "1000 TiB of memory are more than the"),
    ):
        code, output, error = run([str(ecosort), "lines"], ["--memory", size], tmp_path, b"b\na\n")
        assert (code, output) == (2, b"")
        assert error.startswith(f"sort: {complaint}")


@pytest.mark.parametrize("variable", ["TMPDIR", None])
def test_a_missing_temporary_directory_matters_only_where_it_is_needed(
    ecosort: Path, tmp_path: Path, variable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [] if variable else ["-T", "missing"]
    if variable:
        monkeypatch.setenv(variable, "missing")
    assert_all_same(ecosort, tmp_path, words, b"b\na\n")
    (tmp_path / "in").write_bytes(b"some line\n" * 300_000)
    for inputs, data in ((["in"], None), ([], (tmp_path / "in").read_bytes())):
        code, output, error = run([str(ecosort), "lines"], [*words, *SMALL, *inputs], tmp_path, data)
        assert (code, output) == (2, b"")
        assert "missing" in error
        assert "No such file or directory" in error


def test_the_environment_may_forbid_obsolescent_keys(ecosort: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").write_bytes(b"a 2\nb 1\n")
    for variable, value in (("POSIXLY_CORRECT", "1"), ("_POSIX2_VERSION", "200112"), ("_POSIX2_VERSION", "199209")):
        monkeypatch.setenv(variable, value)
        for words in (["+1", "in"], ["+1", "-2", "in"], ["in", "+1"], ["in", "-r"], ["-r", "in"]):
            assert_all_same(ecosort, tmp_path, words, b"")


def test_a_directory_that_cannot_be_written_is_named(ecosort: Path, require: Require) -> None:
    """The file in it may well be writable: it is the directory that denies the new file its name."""
    require("setpriv")
    with directory_for_everyone() as directory:
        program = copy_program(ecosort, directory)
        (directory / "locked").mkdir(mode=0o755)
        (directory / "locked" / "file").write_bytes(b"b\na\n")
        (directory / "locked" / "file").chmod(0o666)
        command = as_plain_user(program, "lines", "locked/file", "-o", "locked/file")
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "ecosort lines: open failed: locked/file: Permission denied (in the directory 'locked')\n"
