"""`sort` refuses these: one line on standard error says what is wrong, exit code 2, and nothing is created."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from capabilities import require
from sort_support import (
    KIB,
    MIB,
    Require,
    Run,
    as_plain_user,
    copy_program,
    directory_for_everyone,
    expected,
    listing,
    make_records,
    mounted,
    refused,
    succeeded,
)


@pytest.fixture(scope="session")
def records(ecosort: Path) -> bytes:
    return make_records(ecosort, "ascii", 1000)


@pytest.fixture
def place(tmp_path: Path, records: bytes) -> Path:
    """A directory that holds the input `in` and an older output `old`."""
    (tmp_path / "in").write_bytes(records)
    (tmp_path / "old").write_bytes(b"an older output")
    return tmp_path


@pytest.fixture
def refuse(run: Run, place: Path) -> Callable[..., str]:
    """`refuse("sort", ..., says=["word"])`: run in `place`, where nothing may change."""

    def refuse_words(*words: str | Path, says: tuple[str, ...] = (), code: int = 2, **options: object) -> str:
        before = {name: Path(name).read_bytes() for name in listing(place) if Path(name).is_file()}
        names = listing(place)
        line = refused(run(*words, cwd=place, **options), code, *says)
        assert listing(place) == names
        assert {name: Path(name).read_bytes() for name in before} == before
        return line

    return refuse_words


# --- words -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], ["--help"]),
        (["sorted"], ["no such command", "'sorted'", "--help"]),
        (["srot"], ["no such command", "'srot'; did you mean 'sort'?"]),
        (["sort", "in", "-o", "out", "--memroy", "1GiB"], ["no such option: '--memroy'; did you mean '--memory'?"]),
        (["sort", "in", "-o", "out", "--uniqe"], ["'--uniqe'; did you mean '--unique'?", "ecosort sort --help"]),
        (["inplace", "in", "--spce=1GB"], ["'--spce=1GB'; did you mean '--space'?"]),
        (["plan", "sort", "in", "--jsn"], ["plan sort: no such option: '--jsn'; did you mean '--json'?"]),
        (["manual", "man", "lnes"], ["'lnes'; did you mean 'lines'?"]),
        (["--nonsense"], ["no such command", "--help"]),
        (["--versoin"], ["'--versoin'; did you mean '--version'?"]),
        (["in", "-o", "out"], ["no such command: 'in'; it is a file: name the command first"]),
        ([".", "-o", "out"], ["no such command: '.' (see ecosort --help)"]),
        (
            ["sort", "in", "-k", "2", "-o", "out"],
            ["'-k'; a key is bytes of a record: --key OFFSET:LENGTH; text has ecosort lines"],
        ),
        (["merge", "in", "--by", "a"], ["'--by'; tables are merged by ecosort csv --merge"]),
        (["run", "none"], ["cannot open 'none': No such file or directory"]),
        (["sort"], ["no input"]),
        (["sort", "in"], ["no output", "-o"]),
        (["sort", "-o", "out"], ["no input"]),
        (["sort", "in", "-o"], ["--output"]),
        (["sort", "in", "-o", ""], ["--output", "needs a value"]),
        (["sort", "in", "-o", "out", "--frobnicate"], ["--frobnicate", "ecosort sort --help"]),
        (["sort", "in", "-o", "out", "-o", "old"], ["--output"]),
        (["sort", "in", "-o", "out", "--memory", "1GiB", "--memory", "2GiB"], ["--memory"]),
        (["sort", "in", "-o", "out", "--record-size", "0"], ["record size 0", "1 to 1048576"]),
        (["sort", "in", "-o", "out", "--record-size", "1048577"], ["record size 1048577", "1 to 1048576"]),
        (["sort", "in", "-o", "out", "--record-size", "-100"], ["--record-size"]),
        (["sort", "in", "-o", "out", "--record-size", "ten"], ["--record-size", "ten"]),
        (["sort", "in", "-o", "out", "--record-size", "100.0"], ["--record-size", "'100.0' is not a whole number"]),
        (["sort", "in", "-o", "out", "--record-size", "0x64"], ["--record-size", "'0x64' is not a whole number"]),
        (["sort", "in", "-o", "out", "--record-size", "1e2"], ["--record-size", "'1e2' is not a whole number"]),
        (["sort", "in", "-o", "out", "--record-size", "99999999999999999999"], ["--record-size", "99999999999999999999"]),
        (["sort", "in", "-o", "out", "--key", "0"], ["key '0'", "OFFSET:LENGTH"]),
        (["sort", "in", "-o", "out", "--key", ""], ["--key", "needs a value"]),
        (["sort", "in", "-o", "out", "--key", "0:0"], ["key '0:0'", "length is 0"]),
        (["sort", "in", "-o", "out", "--key", "0:x"], ["key '0:x'", "'x' is no type"]),
        (["sort", "in", "-o", "out", "--key", "-1:4"], ["-1:4"]),
        (["sort", "in", "-o", "out", "--key", "0:4:up"], ["key '0:4:up'", "'up'"]),
        (["sort", "in", "-o", "out", "--key", "0:4:desc:desc"], ["'desc'"]),
        (["sort", "in", "-o", "out", "--key", "0:99999999999"], ["too large"]),
        (["sort", "in", "-o", "out", "--key", "95:10"], ["95:10", "105", "beyond", "100 bytes"]),
        (["sort", "in", "-o", "out", "--key", "0:4", "--key", "100:1"], ["100:1", "beyond"]),
        (["sort", "in", "-o", "out", "--memory", "1000000x"], ["--memory", "'1000000x'", "unit", "512MiB"]),
        (["sort", "in", "-o", "out", "--memory", "1.5GiB"], ["--memory", "'1.5GiB'"]),
        (["sort", "in", "-o", "out", "--memory", "lots"], ["--memory", "'lots'"]),
        (["sort", "in", "-o", "out", "--memory", "99999999999TiB"], ["--memory", "99999999999TiB"]),
        (["sort", "in", "-o", "out", "--memory", "-1GiB"], ["--memory"]),
        (["sort", "in", "-o", "out", "--memory", ""], ["--memory"]),
        (["sort", "in", "-o", "out", "--threads", "0"], ["--threads", "1 to 512"]),
        (["sort", "in", "-o", "out", "--threads", "513"], ["--threads", "1 to 512"]),
        (["sort", "in", "-o", "out", "--threads", "-2"], ["--threads"]),
        (["sort", "in", "-o", "out", "--threads", "two"], ["--threads", "two"]),
        (["sort", "in", "-o", "out", "--io", "aio"], ["'aio'", "uring", "pool", "stxxl"]),
        (["sort", "in", "-o", "out", "--io", ""], ["--io", "needs a value"]),
        (["sort", "in", "-o", "out", "--progress", "yes"], ["--progress", "'yes'", "json"]),
        (["sort", "in", "-o", "out", "--verify", "never"], ["--verify", "'never'"]),
        (["plan"], ["plan sort"]),
        (["plan", "words"], ["plan sort"]),
        (["plan", "sort"], ["no input"]),
        (["plan", "sort", "in", "-o", "out", "--frobnicate"], ["--frobnicate", "ecosort plan sort --help"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_words(refuse: Callable[..., str], words: list[str], says: list[str]) -> None:
    refuse(*words, says=tuple(says))


def test_a_name_of_two_lines_makes_one_line(refuse: Callable[..., str]) -> None:
    refuse("sort", "no\nsuch\x1b[31mfile", "-o", "out", says=(r"'no\nsuch\x1b[31mfile'", "No such file"))


def test_no_threads_to_be_had(ecosort: Path, require: Require, records: bytes) -> None:
    """Told before the work begins, by the limit that is in the way."""
    require("setpriv")
    with directory_for_everyone() as directory:
        (directory / "in").write_bytes(records * (5_000_000 // len(records)))  # a small sort needs none
        program = copy_program(ecosort, directory)
        words = (program, "sort", directory / "in", "-o", directory / "out", "--threads", "4", "--io", "pool")
        command = ["prlimit", "--nproc=2:2", *as_plain_user(*words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        refused(done, 2, "of 5 threads can be started", "ulimit -u", "--threads")
        assert not (directory / "out").exists()


# --- inputs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["sort"], ["plan", "sort"]], ids=" ".join)
class TestBadInput:
    def test_missing(self, refuse: Callable[..., str], command: list[str]) -> None:
        refuse(*command, "nowhere", "-o", "out", says=("'nowhere'", "No such file"))

    def test_one_of_several_missing(self, refuse: Callable[..., str], command: list[str]) -> None:
        refuse(*command, "in", "nowhere", "in", "-o", "out", says=("'nowhere'", "No such file"))

    def test_directory(self, refuse: Callable[..., str], place: Path, command: list[str]) -> None:
        (place / "folder").mkdir()
        refuse(*command, "folder", "-o", "out", says=("'folder'", "is a directory"))

    def test_size_that_is_no_multiple_of_the_record(
        self, refuse: Callable[..., str], place: Path, records: bytes, command: list[str]
    ) -> None:
        (place / "cut").write_bytes(records[:1042])
        refuse(*command, "cut", "-o", "out", says=("'cut'", "1042 bytes", "record size 100", "42 bytes are left over"))

    def test_the_wrong_file_of_several_is_named(
        self, refuse: Callable[..., str], place: Path, records: bytes, command: list[str]
    ) -> None:
        (place / "cut").write_bytes(records[:101])
        refuse(*command, "in", "cut", "-o", "out", says=("'cut'", "1 byte is left over"))

    def test_memory_below_the_minimum(self, refuse: Callable[..., str], command: list[str]) -> None:
        refuse(
            *command,
            "in",
            "-o",
            "out",
            "--memory",
            "1MiB",
            says=("1 MiB of memory is too little", "at least 2 MiB", "--memory 2048KiB"),
        )

    def test_a_file_that_hides_its_size(self, refuse: Callable[..., str], command: list[str]) -> None:
        refuse(*command, "/proc/self/status", "-o", "out", says=("/proc/self/status", "pipe them into standard input"))

    def test_standard_input_twice(self, refuse: Callable[..., str], command: list[str]) -> None:
        refuse(*command, "-", "-", "-o", "out", says=("standard input", "more than once"))

    def test_pipe_beside_files(self, refuse: Callable[..., str], place: Path, command: list[str]) -> None:
        refuse(*command, "in", "-", "-o", "out", stdin=subprocess.PIPE, says=("pipe", "pipe all of them into standard input"))


def test_the_stated_minimum_of_memory_works(run: Run, tmp_path: Path) -> None:
    """The minimum depends on the input: long records need more."""
    size = 900_000
    data = b"".join(os.urandom(size) for _ in range(12))
    (tmp_path / "in").write_bytes(data)
    words = ("sort", "in", "-o", "out", "--record-size", str(size), "--memory")
    line = refused(run(*words, "2MiB", cwd=tmp_path), 2, "2 MiB of memory is too little", "at least")
    stated = line.rsplit("--memory ", 1)[1].strip()
    assert stated.endswith("KiB")
    succeeded(run(*words, stated, cwd=tmp_path))
    assert (tmp_path / "out").read_bytes() == expected(data, size)
    (tmp_path / "out").unlink()
    less = f"{int(stated.removesuffix('KiB')) - 512}KiB"
    refused(run(*words, less, cwd=tmp_path), 2, f"--memory {stated}")
    assert listing(tmp_path) == [str(tmp_path / "in")]


def test_an_empty_file_sorts_to_an_empty_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").touch()
    succeeded(run("sort", "in", "-o", "out", "--stats", "stats", cwd=tmp_path))
    assert (tmp_path / "out").read_bytes() == b""
    assert '"shape": "empty"' in (tmp_path / "stats").read_text()


def test_empty_files_among_others(run: Run, place: Path, records: bytes) -> None:
    (place / "none").touch()
    succeeded(run("sort", "none", "in", "none", "-o", "out", cwd=place))
    assert (place / "out").read_bytes() == expected(records)


@pytest.mark.parametrize(
    "name", ["a b", "[in]", "[a,b]", "{}", "[]", "%%", "a,b", "-dash", "--memory", "naïve-ü", "in;rm", "'", '"x"']
)
def test_unusual_file_names(run: Run, place: Path, records: bytes, name: str) -> None:
    (place / name).write_bytes(records)
    succeeded(run("sort", "-o", "out-" + name, "--", name, cwd=place))
    assert (place / ("out-" + name)).read_bytes() == expected(records)


# --- outputs -----------------------------------------------------------------------------------------------------------


def test_output_directory_missing(refuse: Callable[..., str]) -> None:
    refuse("sort", "in", "-o", "nowhere/out", says=("output directory 'nowhere'", "No such file", "create it first"))


def test_output_below_a_file(refuse: Callable[..., str]) -> None:
    refuse("sort", "in", "-o", "old/out", says=("old", "Not a directory"))


def test_output_is_a_directory(refuse: Callable[..., str], place: Path) -> None:
    (place / "folder").mkdir()
    refuse("sort", "in", "-o", "folder", says=("'folder'", "is a directory"))
    refuse("sort", "in", "-o", "folder/", says=("folder/", "is a directory"))


@pytest.mark.parametrize("how", ["same name", "other spelling", "symbolic link", "hard link", "input is a link", "second input"])
def test_output_is_the_input(refuse: Callable[..., str], place: Path, records: bytes, how: str) -> None:
    source, output, inputs = place / "in", "in", ["in"]
    if how == "other spelling":
        output = f"../{place.name}/./in"
    elif how == "symbolic link":
        (place / "link").symlink_to("in")
        output = "link"
    elif how == "hard link":
        os.link(source, place / "link")
        output = "link"
    elif how == "input is a link":
        (place / "link").symlink_to(source)
        inputs = ["link"]
    elif how == "second input":
        inputs = ["old", "in"]
        (place / "old").write_bytes(records[:100])
    refuse("sort", *inputs, "-o", output, says=(f"'{output}' is the input",))


def test_standard_output_is_the_input(place: Path, records: bytes, ecosort: Path) -> None:
    """`sort in -o - >>in` must not feed on its own output."""
    with (place / "in").open("ab") as output:
        done = subprocess.run(
            [ecosort, "sort", place / "in", "-o", "-"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"standard output is the input" in done.stderr
    assert (place / "in").read_bytes() == records


@pytest.mark.parametrize("option", ["--stats", "--events"])
class TestReportFiles:
    """A wrong place for the report is found before the sort, not after it."""

    def test_directory_missing(self, refuse: Callable[..., str], option: str) -> None:
        refuse("sort", "in", "-o", "out", option, "nowhere/report", says=(option, "'nowhere'", "No such file"))

    def test_directory(self, refuse: Callable[..., str], place: Path, option: str) -> None:
        refuse("sort", "in", "-o", "out", option, place, says=(option, "is a directory"))

    def test_input(self, refuse: Callable[..., str], place: Path, option: str) -> None:
        (place / "link").symlink_to("in")
        for name in ("in", "link"):
            refuse("sort", "in", "-o", "out", option, name, says=(option, f"'{name}'", "is an input"))

    def test_output(self, refuse: Callable[..., str], place: Path, option: str) -> None:
        for name in ("out", f"../{place.name}/out"):
            refuse("sort", "in", "-o", "out", option, name, says=(option, f"'{name}'", "is the output"))


def test_both_reports_in_one_file(refuse: Callable[..., str]) -> None:
    refuse("sort", "in", "-o", "out", "--stats", "x", "--events", "./x", says=("--stats and --events",))


def test_temporary_directory_missing(refuse: Callable[..., str]) -> None:
    refuse("sort", "in", "-o", "out", "--temp", ".", "--temp", "nowhere", says=("temporary directory 'nowhere'", "No such file"))


def test_temporary_directory_is_a_file(refuse: Callable[..., str]) -> None:
    refuse("sort", "in", "-o", "out", "--temp", "old", says=("temporary directory 'old'", "not a directory"))


# --- closed standard streams -------------------------------------------------------------------------------------------


def test_closed_standard_streams_are_not_mistaken_for_files(place: Path, records: bytes, ecosort: Path) -> None:
    """Otherwise the first file opened would be number 0, 1 or 2."""
    command = [ecosort, "sort", place / "in", "-o", place / "out", "--progress", "json"]
    words = ["bash", "-c", '"$@" <&- >&- 2>&-', "closed", *map(str, command)]
    assert subprocess.run(words, check=False).returncode == 0
    assert (place / "out").read_bytes() == expected(records)
    assert (place / "in").read_bytes() == records


@pytest.mark.parametrize(
    ("redirection", "words", "says"),
    [("<&-", ["-", "-o", "out"], "standard input"), (">&-", ["in", "-o", "-"], "standard output is not open for writing")],
)
def test_closed_stream_that_was_named(place: Path, ecosort: Path, redirection: str, words: list[str], says: str) -> None:
    before = listing(place)
    script = ["bash", "-c", f'"$@" {redirection}', "closed", str(ecosort), "sort", *words]
    done = subprocess.run(script, cwd=place, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2, done
    assert done.stderr.count("\n") == 1
    assert says in done.stderr
    assert listing(place) == before


# --- permissions (root may do everything, so these run as a plain user) --------------------------------------------------


@pytest.fixture
def as_user(require: Require, ecosort: Path) -> Iterator[tuple[Path, Callable[..., subprocess.CompletedProcess[str]]]]:
    """A directory with an input, and `run` as a plain user in it."""
    require("setpriv")
    with directory_for_everyone() as directory:
        program = copy_program(ecosort, directory)

        def run_as_user(*words: str | Path) -> subprocess.CompletedProcess[str]:
            command = as_plain_user(program, *words)
            return subprocess.run(
                command, cwd=directory, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False
            )

        (directory / "in").write_bytes(make_records(ecosort, "ascii", 1000))
        yield directory, run_as_user


def test_unreadable_input(as_user: tuple[Path, Run]) -> None:
    directory, run = as_user
    (directory / "in").chmod(0o200)
    before = listing(directory)
    refused(run("sort", "in", "-o", "out"), 2, "'in'", "Permission denied")
    assert listing(directory) == before


def test_unwritable_directories(as_user: tuple[Path, Run]) -> None:
    directory, run = as_user
    (directory / "locked").mkdir(mode=0o755)
    before = listing(directory)
    refused(run("sort", "in", "-o", "locked/out"), 2, "output directory 'locked'", "not writable", "Permission denied")
    refused(run("sort", "in", "-o", "out", "--temp", "locked"), 2, "temporary directory 'locked'", "Permission denied")
    refused(run("sort", "in", "-o", "out", "--stats", "locked/stats"), 2, "--stats", "'locked'", "Permission denied")
    assert listing(directory) == before


WRITERS = [
    ("sort", "in", "-o"),
    ("sort", "--resumable", "in", "-o"),
    ("lines", "in", "-o"),
    ("lines", "--resumable", "in", "-o"),
    ("csv", "--no-header", "--by", "1", "in", "-o"),
    ("jsonl", "--allow-missing", "--by", "n", "in", "-o"),
    ("merge", "--lines", "in", "-o"),
    ("sample", "records", "in", "--count", "10", "-o"),
    ("sort", "in", "-o", "out", "--stats"),
    ("lines", "in", "-o", "out", "--events"),
    ("gen", "-a", "10"),
]


@pytest.mark.parametrize("words", WRITERS, ids=" ".join)
def test_every_command_names_the_directory_that_denies(as_user: tuple[Path, Run], words: tuple[str, ...]) -> None:
    """One that may not be written, and one that may not even be entered."""
    directory, run = as_user
    (directory / "locked").mkdir(mode=0o755)
    (directory / "closed").mkdir(mode=0o700)
    for place in ("locked", "closed"):
        done = run(*words, f"{place}/file")
        assert done.returncode in (1, 2), done
        assert len(done.stderr.splitlines()) == 1
        assert f"'{place}'" in done.stderr
        assert "Permission denied" in done.stderr


@pytest.mark.parametrize("words", [("sort",), ("lines",), ("check",), ("resume",), ("inplace",)], ids=" ".join)
def test_a_directory_that_hides_the_input_is_named(as_user: tuple[Path, Run], words: tuple[str, ...]) -> None:
    directory, run = as_user
    (directory / "closed").mkdir(mode=0o700)
    (directory / "closed" / "in").write_bytes((directory / "in").read_bytes())
    done = run(*words, "closed/in", *(("-o", "out") if words[0] in ("sort", "lines") else ()))
    assert done.returncode in (1, 2), done
    assert "(the directory 'closed' may not be entered)" in done.stderr


@pytest.mark.parametrize("words", WRITERS, ids=" ".join)
def test_a_mount_that_is_read_only_is_told(ecosort: Path, run: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    require("loop_mount")
    (tmp_path / "in").write_bytes(make_records(ecosort, "ascii", 100))
    (tmp_path / "mount").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=1m", "tmpfs", tmp_path / "mount"], check=True)
    try:
        done = run(*words, "mount/file", cwd=tmp_path)
    finally:
        subprocess.run(["umount", tmp_path / "mount"], check=True)
    assert done.returncode in (1, 2), done
    assert "'mount'" in done.stderr
    assert "Read-only file system" in done.stderr


def test_an_output_directory_that_cannot_be_synced(as_user: tuple[Path, Run]) -> None:
    directory, run = as_user
    (directory / "drop").mkdir()
    (directory / "drop").chmod(0o333)
    refused(run("sort", "in", "-o", "drop/out"), 2, "output directory", "drop", "cannot be opened", "Permission denied")
    assert list((directory / "drop").iterdir()) == []


def test_unwritable_report(as_user: tuple[Path, Run]) -> None:
    directory, run = as_user
    (directory / "stats").write_text("precious")
    (directory / "stats").chmod(0o444)
    refused(run("sort", "in", "-o", "out", "--stats", "stats"), 2, "--stats 'stats'", "Permission denied")
    assert (directory / "stats").read_text() == "precious"


def test_file_of_another_user_in_a_sticky_directory(as_user: tuple[Path, Run]) -> None:
    """Known before the sort, although only the rename at its end would fail."""
    directory, run = as_user
    shared = directory / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "out").write_text("of root")
    (shared / "out").chmod(0o666)
    refused(run("sort", "in", "-o", "shared/out"), 2, "'shared/out' cannot be replaced", "another user")
    assert (shared / "out").read_text() == "of root"
    succeeded(run("sort", "in", "-o", "shared/mine"))
    succeeded(run("sort", "in", "-o", "shared/mine"))


@pytest.mark.parametrize("flag", ["i", "a"])
def test_output_that_is_immutable(require: Require, run: Run, tmp_path: Path, records: bytes, flag: str) -> None:
    require("loop_mount")
    with mounted(tmp_path, "ext4", 16 * MIB) as drive:
        (drive.root / "in").write_bytes(records)
        (drive.root / "out").write_text("keep me")
        subprocess.run(["chattr", f"+{flag}", drive.root / "out"], check=True)
        try:
            refused(run("sort", "in", "-o", "out", cwd=drive.root), 2, "'out' cannot be replaced", "lsattr")
        finally:
            subprocess.run(["chattr", f"-{flag}", drive.root / "out"], check=True)
        assert (drive.root / "out").read_text() == "keep me"


def test_read_only_file_system(require: Require, run: Run, tmp_path: Path, records: bytes) -> None:
    require("loop_mount")
    (tmp_path / "in").write_bytes(records)
    with mounted(tmp_path, "ext4", 16 * MIB) as drive:
        subprocess.run(["mount", "-o", "remount,ro", drive.root], check=True)
        refused(run("sort", "in", "-o", drive.root / "out", cwd=tmp_path), 2, "not writable", "Read-only file system")
        refused(run("sort", "in", "-o", "out", "--temp", drive.root, cwd=tmp_path), 2, "not writable", "Read-only file system")
    assert listing(tmp_path) == [str(tmp_path / "in")]


# --- space -------------------------------------------------------------------------------------------------------------

EXTERNAL = ("--memory", "2MiB")  # makes 4 MB an external sort


def test_too_little_temporary_space(require: Require, run: Run, tmp_path: Path, ecosort: Path) -> None:
    require("loop_mount")
    (tmp_path / "in").write_bytes(make_records(ecosort, "ascii", 200_000))
    with mounted(tmp_path, "ext4", 16 * MIB) as drive:
        before = listing(tmp_path)
        line = refused(
            run("sort", "in", "-o", "out", "--temp", drive.root, *EXTERNAL, cwd=tmp_path),
            2,
            "not enough temporary space",
            f"'{drive.root}'",
            "needed",
            "free",
            "--temp",
        )
        assert " MiB (" in line
        assert listing(tmp_path) == before


def test_too_little_space_for_the_output(require: Require, run: Run, tmp_path: Path, ecosort: Path) -> None:
    require("loop_mount")
    (tmp_path / "in").write_bytes(make_records(ecosort, "ascii", 200_000))
    with mounted(tmp_path, "ext4", 16 * MIB) as drive:
        before = listing(tmp_path)
        for memory in (["--memory", "64MiB"], [*EXTERNAL, "--temp", "."]):
            refused(
                run("sort", "in", "-o", drive.root / "out", *memory, cwd=tmp_path),
                2,
                "not enough space for the output",
                f"'{drive.root}'",
                "19.14 MiB (20070400 bytes) needed",  # whole blocks, and 64 KiB for the file system's own
            )
        assert listing(tmp_path) == before


def test_space_on_another_drive_does_not_make_room_for_the_output(
    require: Require, run: Run, tmp_path: Path, ecosort: Path
) -> None:
    """Runs may lie on two drives; the output lies on one of them."""
    require("loop_mount")
    (tmp_path / "in").write_bytes(make_records(ecosort, "ascii", 200_000))
    with mounted(tmp_path, "ext4", 16 * MIB) as drive:
        words = ("sort", "in", "-o", drive.root / "out", "--temp", drive.root, "--temp", ".", *EXTERNAL)
        refused(run(*words, cwd=tmp_path), 2, "not enough space for the output", f"'{drive.root}'")


def test_tmpfs_is_used_only_when_named(require: Require, run: Run, tmp_path: Path, ecosort: Path) -> None:
    require("root")
    data = make_records(ecosort, "ascii", 40_000)
    with mounted(tmp_path, "tmpfs", 32 * MIB) as memory:
        (memory.root / "in").write_bytes(data)
        before = listing(tmp_path)
        words = ("sort", "in", "-o", "out", *EXTERNAL)
        refused(run(*words, cwd=memory.root), 2, "tmpfs", "--temp")
        assert listing(tmp_path) == before
        notice = "ecosort: '.' is kept in memory (tmpfs): nothing there outlives a power cut\n"
        succeeded(run(*words, "--temp", ".", cwd=memory.root), notice)
        assert (memory.root / "out").read_bytes() == expected(data)
        (memory.root / "out").unlink()
        (tmp_path / "runs").mkdir()
        succeeded(run(*words, "--temp", tmp_path / "runs", cwd=memory.root), notice)
        assert (memory.root / "out").read_bytes() == expected(data)
        (memory.root / "out").unlink()
        # Without runs there is nothing to refuse.
        succeeded(run("sort", "in", "-o", "out", "--memory", f"{64 * MIB // KIB}KiB", cwd=memory.root), notice)
        assert (memory.root / "out").read_bytes() == expected(data)
