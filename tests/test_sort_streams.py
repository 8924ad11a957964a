"""Standard input and output: pipes of unknown length, redirected files, readers that go away, writers that are slow."""

import fcntl
import functools
import os
import random
import resource
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from capabilities import SOAK
from pairs import pairs, turns
from sort_support import BACKENDS, MIB, Require, Run, comes_to_rest, expected, listing, make_records, mounted, read_json


@pytest.fixture(scope="session")
def data(ecosort: Path) -> bytes:
    return make_records(ecosort, "skewed", 40_000)


Done = subprocess.CompletedProcess[bytes]


@pytest.fixture
def pipe(ecosort: Path, tmp_path: Path) -> Callable[..., Done]:
    """`pipe(data, "-", "-o", "-")`: a sort whose standard input is a pipe that brings `data`."""

    def run_with_pipe(data: bytes, *words: str | Path, **options: Any) -> Done:
        command = [ecosort, "sort", *words]
        return subprocess.run(command, input=data, capture_output=True, cwd=tmp_path, timeout=120, check=False, **options)

    return run_with_pipe


def failed(done: Done, code: int, *words: str) -> None:
    text = done.stderr.decode()
    assert (done.returncode, text.count("\n")) == (code, 1), done
    assert [word for word in words if word not in text] == [], text


# --- standard input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("memory", "shape"), [("64MiB", "one pass"), ("2MiB", "two passes")])
def test_pipe(pipe: Callable[..., Done], tmp_path: Path, data: bytes, backend: str, memory: str, shape: str) -> None:
    done = pipe(data, "-", "-o", "out", "--memory", memory, "--io", backend, "--stats", "stats")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (tmp_path / "out").read_bytes() == expected(data)
    stats = read_json(tmp_path / "stats")
    assert (stats["io_backend"], stats["plan"]["shape"], stats["records"]) == (backend, shape, 40_000)
    assert stats["runs"] == stats["plan"]["runs"]


def test_long_pipe_with_little_memory(pipe: Callable[..., Done], tmp_path: Path, ecosort: Path) -> None:
    """More runs than one merge takes: how many passes shows only when the input ends."""
    data = make_records(ecosort, "ascii", 500_000)
    done = pipe(data, "-", "-o", "out", "--memory", "2MiB", "--stats", "stats")
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "out").read_bytes() == expected(data)
    assert read_json(tmp_path / "stats")["merge_passes"] >= 2


@pytest.mark.parametrize(("runs", "memory", "works"), [(4_000, "2MiB", True), (4_200, "2MiB", False), (4_200, "4MiB", True)])
def test_pipe_that_makes_thousands_of_runs(
    pipe: Callable[..., Done], tmp_path: Path, ecosort: Path, runs: int, memory: str, works: bool
) -> None:
    data = make_records(ecosort, "ascii", 3 * runs)
    # In memory, for ext4 takes seconds to make so many files.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as temp:
        done = pipe(data, "-", "-o", "out", "--memory", memory, "--run-records", "3", "--temp", temp)
        assert listing(Path(temp)) == []
    if works:
        assert (done.returncode, done.stderr) == (0, b"")
        assert (tmp_path / "out").read_bytes() == expected(data)
    else:
        failed(done, 2, "too long for 2 MiB of memory", "--memory 16384KiB")
        assert listing(tmp_path) == []


@pytest.mark.parametrize("count", [0, 1, 2, 999, 5_461, 5_462, 10_922])
@pytest.mark.parametrize("memory", ["64MiB", "2MiB"])
def test_pipes_of_any_length(pipe: Callable[..., Done], data: bytes, count: int, memory: str) -> None:
    done = pipe(data[: count * 100], "-", "-o", "-", "--memory", memory)
    assert (done.returncode, done.stdout, done.stderr) == (0, expected(data[: count * 100]), b"")


def test_runs_that_do_not_fit_say_how_many_records_would(pipe: Callable[..., Done], data: bytes) -> None:
    def sort(records: int) -> Done:
        return pipe(data, "-", "-o", "-", "--memory", "3MiB", "--run-records", str(records))

    refused = sort(40_000)
    failed(refused, 2, "where the size of the input is not known: give at most ")
    most = int(refused.stderr.split()[-1])
    assert sort(most).stdout == expected(data)
    failed(sort(most + 1), 2, f"give at most {most}")


def test_unique_from_a_pipe(pipe: Callable[..., Done], data: bytes) -> None:
    for memory in ("64MiB", "2MiB"):
        done = pipe(data, "-", "-o", "-", "--unique", "--memory", memory)
        assert (done.returncode, done.stdout) == (0, expected(data, unique=True))


@pytest.mark.parametrize(("whole", "backend"), turns([0, 7, 39_000], BACKENDS), indirect=["backend"])
def test_pipe_that_ends_inside_a_record(pipe: Callable[..., Done], tmp_path: Path, data: bytes, backend: str, whole: int) -> None:
    done = pipe(data[: whole * 100 + 42], "-", "-o", "out", "--memory", "2MiB", "--io", backend)
    failed(done, 2, "standard input", "42 bytes are left over", "100-byte records")
    assert listing(tmp_path) == []


def test_standard_input_from_a_file(ecosort: Path, tmp_path: Path, data: bytes, backend: str) -> None:
    """It is read from its position, which need not be its beginning, nor fit any block."""
    (tmp_path / "in").write_bytes(b"a header of 33 bytes ............" + data)
    for turn, skip in enumerate((33, 33 + 100, 33 + 4096 * 100, 33 + len(data)), BACKENDS.index(backend)):
        for memory in ("64MiB", "2MiB") if SOAK else (("64MiB", "2MiB")[turn % 2],):
            with (tmp_path / "in").open("rb", buffering=0) as file:
                file.seek(skip)
                command = [ecosort, "sort", "-", "-o", "out", "--io", backend, "--memory", memory]
                done = subprocess.run(command, stdin=file, cwd=tmp_path, capture_output=True, timeout=60, check=False)
            assert (done.returncode, done.stderr) == (0, b"")
            assert (tmp_path / "out").read_bytes() == expected(data[skip - 33 :])


def test_standard_input_from_a_file_at_a_wrong_place(ecosort: Path, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "in").write_bytes(data)
    with (tmp_path / "in").open("rb", buffering=0) as file:
        file.seek(33)
        done = subprocess.run(
            [ecosort, "sort", "--key", "0:10", "-", "-o", "out"], stdin=file, cwd=tmp_path, capture_output=True, check=False
        )
    failed(done, 2, "standard input", "67 bytes are left over")
    assert listing(tmp_path) == [str(tmp_path / "in")]


def test_standard_input_beside_files(ecosort: Path, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a").write_bytes(data[:1_000_000])
    (tmp_path / "b").write_bytes(data[1_000_000:])
    with (tmp_path / "b").open("rb") as file:
        command = [ecosort, "sort", "a", "-", "-o", "out", "--memory", "2MiB"]
        assert subprocess.run(command, stdin=file, cwd=tmp_path, timeout=60, check=False).returncode == 0
    assert (tmp_path / "out").read_bytes() == expected(data)


def test_named_pipe_and_socket(ecosort: Path, tmp_path: Path, data: bytes, backend: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    writer = threading.Thread(target=(tmp_path / "fifo").write_bytes, args=(data,))
    writer.start()
    command = [ecosort, "sort", "--io", backend, "--memory", "2MiB"]
    assert subprocess.run([*command, "fifo", "-o", "out"], cwd=tmp_path, timeout=60, check=False).returncode == 0
    writer.join()
    assert (tmp_path / "out").read_bytes() == expected(data)

    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen([*command, "-", "-o", "out2"], cwd=tmp_path, stdin=theirs)
        theirs.close()
        ours.sendall(data)
        ours.shutdown(socket.SHUT_WR)
        assert process.wait(timeout=60) == 0
    assert (tmp_path / "out2").read_bytes() == expected(data)


def test_pieces_of_any_size(ecosort: Path, tmp_path: Path, data: bytes, backend: str) -> None:
    """A pipe that no one made blocking, and that brings what it likes."""
    rng = random.Random(5)
    command = [ecosort, "sort", "-", "-o", "out", "--io", backend, "--memory", "2MiB"]
    process = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, bufsize=0)
    assert process.stdin
    flags = fcntl.fcntl(process.stdin, fcntl.F_GETFL)
    fcntl.fcntl(process.stdin, fcntl.F_SETFL, flags)
    position = 0
    while position < 1_000_000:
        position += process.stdin.write(data[position : position + rng.choice([1, 3, 99, 100, 101, 4096, 50_000])])
    while position < len(data):
        position += process.stdin.write(data[position:])
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    assert (tmp_path / "out").read_bytes() == expected(data)


def test_non_blocking_streams(ecosort: Path, tmp_path: Path, data: bytes, backend: str) -> None:
    """Somebody else made both pipes non-blocking: neither is an error, nor a reason to spin."""
    in_read, in_write = os.pipe()
    out_read, out_write = os.pipe()
    for end in (in_read, out_write):
        os.set_blocking(end, False)
    command = [ecosort, "sort", "-", "-o", "-", "--io", backend]
    process = subprocess.Popen(command, cwd=tmp_path, stdin=in_read, stdout=out_write)
    os.close(in_read)
    os.close(out_write)
    got: list[bytes] = []
    with os.fdopen(in_write, "wb") as source, os.fdopen(out_read, "rb") as sink:
        reader = threading.Thread(target=lambda: got.append(sink.read()))
        comes_to_rest(process.pid)
        source.write(data)
        source.close()
        comes_to_rest(process.pid)
        reader.start()
        assert process.wait(timeout=60) == 0
        reader.join()
    assert got[0] == expected(data)


# --- standard output ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("memory", "name", "backend"), pairs(["2MiB", "64MiB"], ["-", "/dev/stdout"], BACKENDS), indirect=["backend"]
)
def test_output_into_a_pipe(ecosort: Path, tmp_path: Path, data: bytes, backend: str, memory: str, name: str) -> None:
    (tmp_path / "in").write_bytes(data)
    command = [ecosort, "sort", "in", "-o", name, "--io", backend, "--memory", memory]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, expected(data), b"")
    assert listing(tmp_path) == [str(tmp_path / "in")]


@pytest.mark.parametrize("options", [("--memory", "2MiB", "--request-depth", "2"), ("--memory", "64MiB", "--threads", "8")])
def test_output_into_a_pipe_with_more_blocks_than_requests(
    pipe: Callable[..., Done], tmp_path: Path, ecosort: Path, backend: str, options: tuple[str, ...]
) -> None:
    """Blocks that wait for their turn must not overtake each other; which of them wait is a matter of moments."""
    data = make_records(ecosort, "ascii", 100_000)
    (tmp_path / "in").write_bytes(data)
    result = expected(data)
    for _ in range(30 if SOAK else 4):
        done = pipe(b"", "in", "-o", "-", "--io", backend, *options)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout == result


def test_output_redirected_and_appended(ecosort: Path, tmp_path: Path, data: bytes, backend: str) -> None:
    """A redirected file belongs to the shell: what is in it before stays."""
    (tmp_path / "in").write_bytes(data)
    (tmp_path / "log").write_bytes(b"before\n")
    for mode in ("ab", "r+b"):
        with (tmp_path / "log").open(mode) as log:
            log.seek(0, os.SEEK_END)
            command = [ecosort, "sort", "in", "-o", "-", "--io", backend]
            assert subprocess.run(command, cwd=tmp_path, stdout=log, timeout=60, check=False).returncode == 0
    assert (tmp_path / "log").read_bytes() == b"before\n" + 2 * expected(data)


@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize("words", [("sort", "in", "-o", "-"), ("lines", "in"), ("lines", "--debug", "in")])
def test_a_reader_that_goes_away_ends_the_program_as_it_ends_sort(
    ecosort: Path, tmp_path: Path, data: bytes, words: tuple[str, ...], ignored: bool
) -> None:
    """`ecosort ... | head`: silently by SIGPIPE. Who ignores that signal gets an error instead. Nothing is left in both cases."""
    (tmp_path / "in").write_bytes(data)
    command = [ecosort, *words]
    start = functools.partial(signal.signal, signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL)
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=start)
    assert process.stdout
    assert process.stderr
    process.stdout.read(10)
    process.stdout.close()
    stderr = process.stderr.read()
    stderr = stderr.removeprefix(b"ecosort lines: text ordering performed using simple byte comparison\n")  # of --debug
    if ignored:
        assert process.wait(timeout=60) in (2, 3)
        assert b"standard output" in stderr
        assert b"Broken pipe" in stderr
        assert stderr.count(b"\n") == 1
    else:
        assert (process.wait(timeout=60), stderr) == (-signal.SIGPIPE, b"")
    assert listing(tmp_path) == [str(tmp_path / "in")]


ROWS_TO_STDOUT = [
    ["csv", "--no-header", "--by", "1", "-q", "in", "-o", "-"],
    ["csv", "--merge", "--no-header", "--by", "1", "-q", "in", "in", "-o", "-"],
    ["jsonl", "--by", "n", "--allow-missing", "-q", "in", "-o", "-"],
    ["lines", "-m", "in", "in"],
    ["merge", "--lines", "in"],
    ["merge", "--record-size", "8", "-q", "in", "-o", "-"],
    ["sort", "--record-size", "8", "--unique", "-q", "in", "-o", "-"],
    ["shuffle", "--seed", "1", "-q", "in", "-o", "-"],
]


@pytest.mark.parametrize("words", ROWS_TO_STDOUT, ids=" ".join)
def test_so_do_other_commands_end(ecosort: Path, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "in").write_text("".join(f"{number}\n" for number in range(1_000_000, 1_050_000)))
    with subprocess.Popen([ecosort, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(10)
        process.stdout.close()
        assert (process.wait(timeout=60), process.stderr.read()) == (-signal.SIGPIPE, b"")


def test_output_onto_a_full_device(ecosort: Path, tmp_path: Path, data: bytes, backend: str) -> None:
    (tmp_path / "in").write_bytes(data)
    with Path("/dev/full").open("wb") as full:
        command = [ecosort, "sort", "in", "-o", "-", "--io", backend]
        done = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    failed(done, 3, "merge", "standard output", "No space left")


def test_redirected_output_that_may_not_grow(ecosort: Path, tmp_path: Path, data: bytes, backend: str) -> None:
    """The write that does not fit is taken in part: an error, and what is in the file is the beginning of the result."""
    (tmp_path / "in").write_bytes(data)
    limit = 3_000_001
    with (tmp_path / "out").open("wb") as out:
        command = [ecosort, "sort", "in", "-o", "-", "--io", backend, "--memory", "2MiB", "--temp", "."]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            stdout=out,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
    failed(done, 3, "merge", "standard output", "File too large")
    assert (tmp_path / "out").read_bytes() == expected(data)[:limit]


def test_room_that_comes_back_while_the_output_is_written(
    ecosort: Path, require: Require, tmp_path: Path, data: bytes, backend: str
) -> None:
    """It is a matter of luck whether a write still meets the full drive; what it leaves is the result or the beginning of it."""
    require("loop_mount")
    (tmp_path / "in").write_bytes(data)
    command = [ecosort, "sort", tmp_path / "in", "-o", "-", "--io", backend, "--memory", "2MiB", "--temp", tmp_path]
    codes: list[int] = []
    with mounted(tmp_path, "tmpfs", 5 * MIB) as drive:
        for turn in range(12):
            if turn >= 3 and 3 in codes and not SOAK:
                break
            (drive.root / "out").write_bytes(b"")
            (drive.root / "filler").write_bytes(bytes(2 * MIB))
            with (drive.root / "out").open("wb") as out:
                process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE)
                while process.poll() is None:
                    if os.statvfs(drive.root).f_bavail == 0:
                        (drive.root / "filler").unlink(missing_ok=True)
                _, text = process.communicate()
            codes.append(process.returncode)
            written = (drive.root / "out").read_bytes()
            if process.returncode == 0:
                assert (written == expected(data), text) == (True, b"")
            else:
                failed(subprocess.CompletedProcess(command, process.returncode, b"", text), 3, "standard output", "No space left")
                assert expected(data).startswith(written)
    assert 3 in codes


def test_help_and_plan_onto_a_full_device(ecosort: Path, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "in").write_bytes(data)
    for words in (["--help"], ["--version"], ["sort", "--help"], ["plan", "sort", "in", "-o", "out"]):
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run([ecosort, *words], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
        failed(done, 3, "standard output", "No space left")


# --- waiting -----------------------------------------------------------------------------------------------------------


def test_a_slow_pipe_leaves_the_cores_asleep(ecosort: Path, tmp_path: Path, data: bytes, backend: str) -> None:
    """No thread spins, neither before the first run is full nor after it."""
    command = [ecosort, "sort", "-", "-o", "out", "--memory", "2MiB", "--io", backend]
    process = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE)
    assert process.stdin
    for begin, end in pairwise((0, 100_000, 3_000_050, len(data))):
        process.stdin.write(data[begin:end])
        process.stdin.flush()
        comes_to_rest(process.pid)
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    assert (tmp_path / "out").read_bytes() == expected(data)


def test_a_slow_reader_leaves_the_cores_asleep(ecosort: Path, tmp_path: Path, data: bytes, backend: str) -> None:
    (tmp_path / "in").write_bytes(data)
    command = [ecosort, "sort", "in", "-o", "-", "--io", backend]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE)
    assert process.stdout
    got = process.stdout.read(65_536)
    comes_to_rest(process.pid)
    got += process.stdout.read(300_000)
    comes_to_rest(process.pid)
    got += process.stdout.read()
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert got == expected(data)


@pytest.mark.parametrize(
    ("number", "backend"), turns([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], BACKENDS), indirect=["backend"]
)
def test_a_signal_ends_the_wait_for_a_silent_pipe(ecosort: Path, tmp_path: Path, data: bytes, backend: str, number: int) -> None:
    command = [ecosort, "sort", "-", "-o", "out", "--memory", "2MiB", "--io", backend]
    process = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin
    assert process.stderr
    process.stdin.write(data[:3_000_050])  # into the third run or so, and then nothing more
    process.stdin.flush()
    comes_to_rest(process.pid)
    process.send_signal(number)
    assert process.wait(timeout=60) == 128 + number
    failed(subprocess.CompletedProcess(command, process.returncode, b"", process.stderr.read()), 128 + number, "interrupted")
    process.stdin.close()
    process.stderr.close()
    assert listing(tmp_path) == []


def test_a_signal_ends_the_wait_for_a_sleeping_reader(ecosort: Path, tmp_path: Path, data: bytes, backend: str) -> None:
    (tmp_path / "in").write_bytes(data)
    command = [ecosort, "sort", "in", "-o", "-", "--io", backend]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout
    comes_to_rest(process.pid)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    process.stdout.close()


def test_a_full_disk_ends_the_wait_for_a_silent_pipe(ecosort: Path, tmp_path: Path, data: bytes, backend: str) -> None:
    """An error elsewhere must not wait for the other end of the pipe either: here a run may not grow."""
    command = ["prlimit", "--fsize=65536", ecosort, "sort", "-", "-o", "out", "--memory", "2MiB", "--io", backend]
    process = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stderr
    assert process.stdin
    with suppress(BrokenPipeError):
        process.stdin.write(data[: 3 * MIB])
        process.stdin.flush()
    assert process.wait(timeout=60) == 3
    failed(subprocess.CompletedProcess(command, 3, b"", process.stderr.read()), 3, "File too large", "ulimit -f")
    with suppress(BrokenPipeError):
        process.stdin.close()
    process.stderr.close()


def test_plan_of_a_pipe(run: Run, tmp_path: Path) -> None:
    done = run("plan", "sort", "-", "-o", "out", "--memory", "4MiB", cwd=tmp_path, stdin=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "unknown until the input ends" in done.stdout
    assert listing(tmp_path) == []


@pytest.mark.parametrize("output", ["out", "-"])
@pytest.mark.parametrize("told", [b"", b"."], ids=["killed", "done"])
def test_a_second_pipe_says_that_the_input_is_complete(ecosort: Path, tmp_path: Path, output: str, told: bytes) -> None:
    """The end of the first one is the same for a writer that has finished and for one that was killed."""
    read, write = os.pipe()
    os.write(write, told)
    os.close(write)
    command = [ecosort, "shuffle", "--seed", "1", "-", "-o", output]
    environment = {**os.environ, "ECOSORT_INPUT_COMPLETE": str(read)}
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, input=b"b\n", capture_output=True, pass_fds=(read,), timeout=30, check=False
    )
    os.close(read)
    assert (done.returncode, done.stderr.count(b"ended before it had written everything")) == ((0, 0) if told else (3, 1))
    assert (tmp_path / "out").exists() == (output == "out" and told != b"")


def test_the_second_pipe_is_not_waited_for_without_need(ecosort: Path, tmp_path: Path) -> None:
    """A merge with a limit leaves input unread, so that its writer never comes to its byte; files have no such writer."""
    (tmp_path / "in").write_bytes(b"b\na\n")
    read, write = os.pipe()
    environment = {**os.environ, "ECOSORT_INPUT_COMPLETE": str(read)}
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        for words in ("lines -m --limit 1 - -o first", "lines in -o sorted"):
            command = [ecosort, *words.split()]
            subprocess.run(command, env=environment, cwd=tmp_path, stdin=endless.stdout, pass_fds=(read,), timeout=30, check=True)
        endless.kill()
    os.close(read)
    os.close(write)
    assert [(tmp_path / name).read_bytes() for name in ("first", "sorted")] == [b"y\n", b"a\nb\n"]


@pytest.mark.parametrize("number", ["x", "-1", "99", "1.5"])
def test_the_second_pipe_must_be_one(ecosort: Path, tmp_path: Path, number: str) -> None:
    environment = {**os.environ, "ECOSORT_INPUT_COMPLETE": number}
    done = subprocess.run(
        [ecosort, "lines"], env=environment, cwd=tmp_path, input=b"", capture_output=True, timeout=30, check=False
    )
    line = f"ECOSORT_INPUT_COMPLETE: '{number}' is not the number of an open pipe\n".encode()
    assert (done.returncode, done.stderr.endswith(line)) == (2, True)
