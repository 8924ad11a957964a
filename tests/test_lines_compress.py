"""`ecosort lines --compress-program`: the bytes of `sort` whatever the program does, and nothing left when it fails."""

import functools
import os
import random
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from capabilities import only_in_soak
from lines_support import SMALL, SORT, assert_all_same, assert_same, random_lines, run
from pairs import turns
from sort_support import MIB, listing, mounted, read_json, wait_until

MARK = "ECOSORT_TESTS_OF_COMPRESSION"  # in the environment of all that a test starts
# Takes no part of its input for granted and keeps all of it back.
SPONGE = "import sys\nassert sys.argv[1:] in ([], ['-d'])\ndata = sys.stdin.buffer.read()\nsys.stdout.buffer.write(data[::-1])\n"


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARK, str(tmp_path))
    (tmp_path / "runs").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "runs"))


def started_processes(tmp_path: Path) -> list[str]:
    """The command lines of all processes that this test started and that still run."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={tmp_path}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def assert_nothing_left(tmp_path: Path) -> None:
    wait_until(lambda: started_processes(tmp_path) == [], what=f"the end of {started_processes(tmp_path)}")
    assert listing(tmp_path / "runs") == []
    assert not (tmp_path / "out").exists()


def program(tmp_path: Path, text: str, shebang: str = "#!/bin/sh") -> str:
    path = tmp_path / "program"
    path.write_text(f"{shebang}\n{text}")
    path.chmod(0o755)
    return f"--compress-program={path}"


def shell_program(tmp_path: Path, compress: str, decompress: str) -> str:
    return program(tmp_path, f'if [ "$1" = -d ]; then\n{decompress}\nelse\n{compress}\nfi\n')


def programs(tmp_path: Path, kind: str) -> str:
    if kind == "copies":
        return shell_program(tmp_path, "exec cat", "exec cat")
    if kind == "keeps all back":
        return program(tmp_path, SPONGE, f"#!{sys.executable} -IS")
    return f"--compress-program={kind}"


@functools.cache
def some_text() -> bytes:
    return random_lines(random.Random(21), 30_000)


@pytest.fixture
def text(tmp_path: Path) -> bytes:
    (tmp_path / "in").write_bytes(some_text())
    return some_text()


# The program sees bytes, whatever the order is: in `make test` each meets an order or two.
ORDERS: dict[str, list[list[str]]] = {
    "copies": [[], ["-u"], ["-z"], ["-r"], ["-n", "-s"], ["-k2,2n"], ["--batch-size=2"]],
    "gzip": [[], ["--batch-size=2"]],
    "keeps all back": [["-u"], ["--batch-size=2"]],
}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        pytest.param(kind, words, marks=() if words in few else only_in_soak)
        for kind, few in ORDERS.items()
        for words in ORDERS["copies"]
    ],
)
@pytest.mark.usefixtures("text")
def test_the_output_is_that_of_sort(ecosort: Path, tmp_path: Path, kind: str, words: list[str]) -> None:
    expected = run([SORT], [*words, "in"], tmp_path)[1]
    compress = [*SMALL, programs(tmp_path, kind)]
    assert run([str(ecosort), "lines"], [*words, *compress, "--stats", "stats", "in"], tmp_path) == (0, expected, "")
    assert run([str(ecosort), "lines"], [*words, *compress, "in", "-o", "out"], tmp_path) == (0, b"", "")
    assert (tmp_path / "out").read_bytes() == expected
    stats = read_json(tmp_path / "stats")
    assert stats["peak_counted_memory_bytes"] <= 1 << 20
    if "-z" not in words:
        assert stats["runs"] > 2
    (tmp_path / "out").unlink()
    assert_nothing_left(tmp_path)


@pytest.mark.usefixtures("text")
def test_every_backend_compresses(ecosort: Path, tmp_path: Path, backend: str) -> None:
    assert run([str(ecosort), "lines"], ["--io", backend, *SMALL, "--compress-program=gzip", "in", "-o", "out"], tmp_path)[0] == 0
    assert (tmp_path / "out").read_bytes() == run([SORT], ["in"], tmp_path)[1]


def test_temporary_space_is_what_the_program_makes_of_it(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("\n".join(f"line {i * 7919 % 50_000:09} of this very file" for i in range(150_000)))
    peaks = []
    for words in ([], ["--compress-program=gzip"]):
        assert run([str(ecosort), "lines"], [*words, *SMALL, "--stats", "stats", "in", "-o", "out"], tmp_path)[0] == 0
        peaks.append(read_json(tmp_path / "stats")["peak_temp_bytes"])
    assert 0 < 2 * peaks[1] < peaks[0]


# Each counts itself among those that run, and says how many there are.
COUNTING = 'touch "$TMPDIR/active.$$"; ls "$TMPDIR" | wc -l >>counts; {work}; code=$?; rm "$TMPDIR/active.$$"; exit $code'


@pytest.mark.parametrize(("words", "most", "texts"), [([], 16, 8), (["--batch-size=3"], 3, 2), (["--batch-size=20"], 20, 10)])
def test_programs_at_a_time_are_bounded(ecosort: Path, tmp_path: Path, words: list[str], most: int, texts: int) -> None:
    (tmp_path / "in").write_bytes((some_text() + b"\n") * texts)
    compress = shell_program(tmp_path, "exec cat", COUNTING.format(work="cat"))
    words = [*words, *SMALL, compress, "--stats", "stats", "in", "-o", "out"]
    assert run([str(ecosort), "lines"], words, tmp_path) == (0, b"", "")
    stats = read_json(tmp_path / "stats")
    assert stats["runs"] > most
    assert stats["intermediate_merges"] > 0
    assert 2 <= max(int(count) for count in (tmp_path / "counts").read_text().split()) <= most
    assert (tmp_path / "out").read_bytes() == run([SORT], ["in"], tmp_path)[1]


@pytest.mark.parametrize("words", [[], ["-u"], ["-r"], ["-z"]])
def test_merged_files_go_through_the_program_where_they_are_many(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    rng = random.Random(23)
    names = [f"part{i}" for i in range(9)]
    for name in names:
        (tmp_path / "raw").write_bytes(random_lines(rng, rng.choice([0, 5, 8000])))
        run([SORT], [*words, "raw", "-o", name], tmp_path)
    compress = shell_program(tmp_path, "echo >>calls; exec gzip", "exec gzip -d")
    assert_same(ecosort, tmp_path, ["-m", "--batch-size=2", *words, compress, *names])
    calls = (tmp_path / "calls").stat().st_size
    # All at once need no temporaries; then the program is not even looked for.
    expected = run([SORT], ["-m", *words, *names], tmp_path)
    words = ["-m", *words, "--compress-program=no-such-program", *names]
    assert run([str(ecosort), "lines"], words, tmp_path) == expected
    assert (tmp_path / "calls").stat().st_size == calls > 0


def test_the_program_is_not_looked_for_where_nothing_is_stored(ecosort: Path, tmp_path: Path) -> None:
    for words in ([], ["-c"], ["-C"], ["-u"]):
        assert_same(ecosort, tmp_path, [*words, "--compress-program=no-such-program"], b"b\na\n")


def test_words_about_the_program_are_those_of_sort(ecosort: Path, tmp_path: Path) -> None:
    assert_all_same(ecosort, tmp_path, ["--compress-program=gzip", "--compress-program=cat"], b"a\n")
    assert_all_same(ecosort, tmp_path, ["--compress-program=gzip", "--compress-program=gzip"], b"b\na\n")
    assert_all_same(ecosort, tmp_path, ["--compress-program"], b"a\n")
    code, output, error = run([str(ecosort), "lines"], ["--compress-program="], tmp_path, b"a\n")
    assert (code, output, error) == (2, b"", "sort: --compress-program: the name of the program is empty\n")


FAILURES = {
    "fails at once": ("exit 3", "exec cat", "ended with exit status 3"),
    "fails at the end": ("cat; exit 3", "exec cat", "ended with exit status 3"),
    "is killed": ("kill -9 $$", "exec cat", "was ended by signal 9 (Killed)"),
    "stores nothing": ("exec cat >/dev/null", "exec cat", "program -d' gave back less than was compressed"),
    "fails to decompress": ("exec cat", "exit 4", "program -d' ended with exit status 4"),
    "fails after decompressing": ("exec cat", "cat; exit 5", "program -d' ended with exit status 5"),
    "is killed while it decompresses": ("exec cat", "head -c 9999; kill -9 $$", "program -d' was ended by signal 9 (Killed)"),
    "gives back less": ("exec cat", "exec head -c 9999", "program -d' gave back less than was compressed"),
    "gives back more": ("exec cat", "cat; echo more", "program -d' gave back more than was compressed"),
    "gives back something else": (
        "exec cat",
        "exec tr '\\n' x",
        "is damaged at byte 0: what was read is not what was written (check the drive, the memory and the compress program",
    ),
}


@pytest.mark.usefixtures("text")
@pytest.mark.parametrize(("failure", "backend"), turns(list(FAILURES), ["auto", "pool"]))
def test_a_program_that_fails_ends_the_sort(ecosort: Path, tmp_path: Path, failure: str, backend: str) -> None:
    compress, decompress, message = FAILURES[failure]
    words = ["--io", backend, *SMALL, shell_program(tmp_path, compress, decompress), "in", "-o", "out"]
    code, output, error = run([str(ecosort), "lines"], words, tmp_path)
    assert (code, output) == (2, b"")
    assert error.startswith("sort: ")
    assert error.count("\n") == 1
    assert message in error
    assert_nothing_left(tmp_path)


@pytest.mark.usefixtures("text")
@pytest.mark.parametrize("failure", ["fails at the end", "fails to decompress", "fails after decompressing"])
def test_a_program_that_fails_has_the_exit_code_of_sort(ecosort: Path, tmp_path: Path, failure: str) -> None:
    words = [*SMALL, shell_program(tmp_path, *FAILURES[failure][:2]), "in", "-o", "out"]
    assert run([SORT], words, tmp_path)[0] == run([str(ecosort), "lines"], words, tmp_path)[0] == 2


@pytest.mark.usefixtures("text")
def test_a_program_that_cannot_be_run_ends_the_sort(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("text")
    for name, reason in (("no-such-program", "No such file or directory"), ("./plain", "Permission denied"), ("/", "Permission")):
        words = [*SMALL, f"--compress-program={name}", "in", "-o", "out"]
        code, output, error = run([str(ecosort), "lines"], words, tmp_path)
        assert (code, output) == (2, b"")
        assert error.startswith(f"sort: cannot run the compress program '{name}': {reason}")
        assert error.count("\n") == 1
        assert_nothing_left(tmp_path)


def test_a_program_that_stops_reading_is_no_sudden_death(ecosort: Path, tmp_path: Path, text: bytes, backend: str) -> None:
    """A run is larger than what the pipe takes, so that writing to it fails."""
    (tmp_path / "in").write_bytes(text * 2)
    words = ["--io", backend, "-S", "4M", shell_program(tmp_path, "exec head -c 10", "exec cat"), "in", "-o", "out"]
    code, output, error = run([str(ecosort), "lines"], words, tmp_path)
    assert (code, output) == (2, b"")
    assert "program' ended before it had read all that it was given" in error
    assert error.count("\n") == 1
    assert_nothing_left(tmp_path)


@pytest.mark.usefixtures("text")
def test_the_program_gets_three_descriptors_and_the_usual_signals(ecosort: Path, tmp_path: Path) -> None:
    look = "echo $(ls /proc/self/fd) >>fds; grep -E 'Sig(Blk|Ign)' /proc/self/status >>signals"
    words = [*SMALL, shell_program(tmp_path, f"{look}; exec cat", f"{look}; exec cat"), "in", "-o", "out"]
    assert run([str(ecosort), "lines"], words, tmp_path)[0] == 0
    assert set((tmp_path / "fds").read_text().split("\n")) == {"0 1 2 3", ""}  # 3: the directory that ls reads
    masks = {line.split()[0]: int(line.split()[1], 16) for line in (tmp_path / "signals").read_text().splitlines()}
    assert masks["SigBlk:"] == 0
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT):
        assert masks["SigIgn:"] & (1 << (number - 1)) == 0


def start(ecosort: Path, tmp_path: Path, words: list[str]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "LC_ALL": "C"}
    command = [str(ecosort), "lines", *SMALL, *words]
    return subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


SLEEPERS = {
    "compressing": ("touch started; sleep 1000; exec cat", "exec cat"),
    "ending": ("cat; touch started; exec >&- <&-; sleep 1000", "exec cat"),
    "decompressing": ("exec cat", "touch started; sleep 1000; exec cat"),
    "deaf": ("exec cat", "trap '' TERM; touch started; while true; do sleep 0.05; done"),
}


@pytest.mark.usefixtures("text")
@pytest.mark.parametrize(("sleeper", "number"), turns(list(SLEEPERS), [signal.SIGTERM, signal.SIGINT]))
def test_a_signal_ends_the_programs_too(ecosort: Path, tmp_path: Path, sleeper: str, number: signal.Signals) -> None:
    with start(ecosort, tmp_path, [shell_program(tmp_path, *SLEEPERS[sleeper]), "in", "-o", "out"]) as process:
        wait_until(lambda: (tmp_path / "started").exists(), what="the program")
        process.send_signal(number)
        output, error = process.communicate(timeout=60)
    assert (process.returncode, output) == (128 + number, b"")
    assert error.decode() == f"ecosort: interrupted by signal {int(number)} ({signal.strsignal(number)})\n"
    assert_nothing_left(tmp_path)


def children_of(process: subprocess.Popen[bytes]) -> int:
    """Counts them, with zombies."""
    count = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            count += status.read_text().rsplit(")", 1)[1].split()[1] == str(process.pid)
        except OSError:
            continue
    return count


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_programs_end_with_a_merge_that_nobody_reads(ecosort: Path, tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "in").write_bytes((some_text() + b"\n") * 6)
    with start(ecosort, tmp_path, ["--compress-program=gzip", "in"]) as process:
        assert process.stdout
        assert select.select([process.stdout], [], [], 30)[0], "the last merge began to write"
        assert any("gzip -d" in command for command in started_processes(tmp_path))
        assert children_of(process) <= 17  # those that compressed dozens of runs were reaped
        process.send_signal(number)
        process.communicate(timeout=60)
    assert process.returncode == (128 + number if number == signal.SIGTERM else -number)
    assert_nothing_left(tmp_path)


def test_a_reader_that_goes_away_ends_all_programs(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes((some_text() + b"\n") * 4)
    with start(ecosort, tmp_path, ["--compress-program=gzip", "in"]) as process:
        assert process.stdout
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr
        assert process.stderr.read() == b""
    assert process.returncode == -signal.SIGPIPE
    assert_nothing_left(tmp_path)


def test_a_drive_that_only_compressed_runs_fit_on(ecosort: Path, tmp_path: Path, require: Callable[[str], None]) -> None:
    require("loop_mount")
    with mounted(tmp_path, "ext4", 8 * MIB) as drive:
        (tmp_path / "in").write_text("\n".join(f"line {i * 7919 % 250_000:09} of this very file" for i in range(300_000)))
        words = [*SMALL, "-T", str(drive.root), "in", "-o", "out"]
        code, _, error = run([str(ecosort), "lines"], words, tmp_path)
        assert code == 2
        assert "not enough temporary space" in error
        assert run([str(ecosort), "lines"], ["--compress-program=gzip", *words], tmp_path) == (0, b"", "")
        assert (tmp_path / "out").read_bytes() == run([SORT], ["in"], tmp_path)[1]
        (tmp_path / "out").unlink()
        # And what compression does not make fit ends with the program's own complaint, and with ours.
        code, _, error = run([str(ecosort), "lines"], ["--compress-program=gzip", *words, "random"], tmp_path)
        assert (code, "cannot read" in error) == (2, True)
        (tmp_path / "random").write_bytes(random.Random(26).randbytes(10 * MIB))
        code, _, error = run([str(ecosort), "lines"], ["--compress-program=gzip", *words, "random"], tmp_path)
        assert code == 2
        assert "No space left on device" in error
        assert "sort: compress program 'gzip' ended with exit status 1: " in error
        assert listing(drive.root) == []
        assert_nothing_left(tmp_path)


def test_the_plan_tells_what_goes_through_the_program(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes((some_text() + b"\n") * 2)
    words = ["plan", "lines", *SMALL, "--compress-program=gzip", "in", "-o", "out"]
    done = subprocess.run([str(ecosort), *words], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "temporary space       what 'gzip' makes of at most " in done.stdout
    assert "up to 16 runs" in done.stdout
