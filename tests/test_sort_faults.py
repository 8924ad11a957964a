"""System calls that fail, disks that fill up, drives that break, inputs that change: exit code 3, one line, nothing left.

Faults come from outside: a preloaded library makes calls of the real program fail, small loop-mounted file systems really run
full, and a loop device whose backing file is cut off really returns EIO.
"""

import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from capabilities import SOAK
from pairs import pairs, turns
from sort_support import (
    BACKENDS,
    KIB,
    MIB,
    Events,
    FileSystem,
    Require,
    Run,
    expected,
    faults,
    listing,
    make_records,
    mounted,
    read_json,
    refused,
    sanitizers,
    succeeded,
    wait_until,
)

# Every record holds this, so that a test finds run blocks on a drive.
MARKER = b"<-this is a record->"


@pytest.fixture(scope="session")
def data(ecosort: Path) -> bytes:
    data = make_records(ecosort, "ascii", 40_000)
    return b"".join(data[i : i + 60] + MARKER + data[i + 80 : i + 100] for i in range(0, len(data), 100))


@pytest.fixture
def place(tmp_path: Path, data: bytes) -> Path:
    """A directory with the input and nothing else, beside one for the calls that were made."""
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / "in").write_bytes(data)
    return tmp_path / "place"


# The format is given, so that nothing but the sort reads the input.
WORDS = ("sort", "--record-size", "100", "--key", "0:10", "in", "-o", "out", "--memory", "2MiB")


@pytest.fixture
def faulty(ecosort: Path, tmp_path: Path, place: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`faulty("pwrite64:error=EIO:when=3")`: a sort in `place` in which these calls fail."""

    def run_with_faults(rule: str, words: tuple[str, ...] = ("--io", "pool")) -> subprocess.CompletedProcess[str]:
        command = [*faults(tmp_path, rule), str(ecosort), *WORDS, *words]
        return subprocess.run(
            command, cwd=place, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False
        )

    return run_with_faults


def untouched(place: Path, data: bytes) -> None:
    assert listing(place) == [str(place / "in")]
    assert (place / "in").read_bytes() == data


# --- calls that fail -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "when", "says"),
    [
        ("pread64", "EIO", "1", ["run formation", "cannot read 'in'", "Input/output error"]),
        ("pread64", "EIO", "5+", ["cannot read", "Input/output error"]),
        ("pwrite64", "EIO", "1", ["run formation", "cannot write", "Input/output error"]),
        ("pwrite64", "EIO", "9+", ["cannot write", "Input/output error"]),
        ("pwrite64", "ENOSPC", "1", ["run formation", "cannot write", "No space left", "make room there"]),
        ("pwrite64", "ENOSPC", "7+", ["cannot write", "No space left", "make room there"]),
        ("pwrite64", "EDQUOT", "2", ["cannot write", "quota", "make room there"]),
        ("pwrite64", "EFBIG", "2", ["cannot write", "File too large"]),
        ("fallocate", "ENOSPC", "1", ["run formation", "cannot reserve", "No space left", "make room there"]),
        ("fallocate", "EDQUOT", "3", ["run formation", "cannot reserve", "quota"]),
        ("fallocate", "EIO", "2", ["cannot reserve", "Input/output error"]),
        ("ftruncate", "EIO", "1", ["cannot set the size", "Input/output error"]),
        ("fsync", "EIO", "1", ["sync", "Input/output error"]),
        ("fsync", "ENOSPC", "1", ["sync", "No space left"]),
        ("fdatasync", "EIO", "1", ["sync", "Input/output error"]),
        ("linkat", "EIO", "1", ["sync", "cannot name the output", "Input/output error"]),
        ("linkat", "ENOSPC", "1", ["cannot name the output", "No space left"]),
        ("fchmod", "EIO", "1", ["sync", "Input/output error"]),
    ],
)
def test_a_failing_call(
    faulty: Callable[..., subprocess.CompletedProcess[str]],
    place: Path,
    data: bytes,
    call: str,
    error: str,
    when: str,
    says: list[str],
) -> None:
    refused(faulty(f"{call}:error={error}:when={when}"), 3, *says)
    untouched(place, data)


def test_a_failed_rename_leaves_the_output_that_was_there(
    faulty: Callable[..., subprocess.CompletedProcess[str]], place: Path
) -> None:
    (place / "out").write_bytes(b"old")
    refused(faulty("renameat:error=EIO:when=1"), 3, "sync", "cannot rename the output", "Input/output error")
    assert (place / "out").read_bytes() == b"old"
    assert listing(place) == [str(place / "in"), str(place / "out")]


@pytest.mark.parametrize("call", ["fsync", "fdatasync"])
def test_a_failed_sync_is_final(
    faulty: Callable[..., subprocess.CompletedProcess[str]], place: Path, tmp_path: Path, data: bytes, call: str
) -> None:
    """A second fsync may say yes with a third of the blocks lost."""
    refused(faulty(f"{call}:error=EIO:when=1"), 3, "Input/output error")
    failed = [line for line in (tmp_path / "trace").read_text().splitlines() if "EIO" in line]
    assert len(failed) == 1
    number = re.search(rf"{call}\((\d+)", failed[0])
    assert number
    later = (tmp_path / "trace").read_text().split(failed[0])[1]
    assert f"{call}({number.group(1)})" not in later
    untouched(place, data)


def test_a_failed_sync_of_the_directory(
    faulty: Callable[..., subprocess.CompletedProcess[str]], place: Path, data: bytes
) -> None:
    """The last step: a new output is taken back; a replaced one is complete, which the message says."""
    refused(faulty("fsync:error=EIO:when=2"), 3, "sync the directory", "Input/output error")
    untouched(place, data)
    (place / "out").write_bytes(b"old")
    refused(faulty("fsync:error=EIO:when=2"), 3, "sync the directory", "is complete, but may not survive a power cut")
    assert (place / "out").read_bytes() == expected(data)


@pytest.mark.parametrize("call", ["pread64", "pwrite64", "fallocate", "ftruncate", "fdatasync", "fsync", "linkat", "renameat"])
def test_an_older_output_survives_a_failure(
    faulty: Callable[..., subprocess.CompletedProcess[str]], place: Path, data: bytes, call: str
) -> None:
    (place / "out").write_bytes(b"an older output")
    refused(faulty(f"{call}:error=EIO:when=1"), 3, "Input/output error")
    assert listing(place) == [str(place / "in"), str(place / "out")]
    assert (place / "out").read_bytes() == b"an older output"
    assert (place / "in").read_bytes() == data


@pytest.mark.parametrize(
    "injection",
    [
        "pwrite64:error=EINTR:when=1+2",
        "pwrite64:error=EAGAIN:when=2+3",
        "pread64:error=EINTR:when=1+2",
        "pread64:error=EAGAIN:when=3+3",
        "fallocate:error=EINTR:when=1+2",
        "ftruncate:error=EINTR:when=1+2",
        "fallocate:error=EOPNOTSUPP",
        "fallocate:error=ENOSYS",
    ],
)
def test_what_a_system_may_say_without_meaning_failure(
    faulty: Callable[..., subprocess.CompletedProcess[str]], place: Path, tmp_path: Path, data: bytes, injection: str
) -> None:
    succeeded(faulty(injection))
    assert "INJECTED" in (tmp_path / "trace").read_text()
    assert (place / "out").read_bytes() == expected(data)


def test_a_system_that_never_gets_anything_done(
    faulty: Callable[..., subprocess.CompletedProcess[str]], place: Path, data: bytes
) -> None:
    """Patience has an end: no endless loop."""
    for error in ("EAGAIN", "EINTR"):
        refused(faulty(f"pwrite64:error={error}"), 3, "cannot write")
        untouched(place, data)


def test_writes_that_never_reached_a_run(
    faulty: Callable[..., subprocess.CompletedProcess[str]], place: Path, data: bytes
) -> None:
    """A drive that says "written" and did not: the checksum of the run block notices."""
    refused(faulty("pwrite64:retval=16384:when=2"), 3, "merge", "is damaged at byte")
    untouched(place, data)


# --- io_uring ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", ["EPERM", "ENOSYS"])
def test_a_kernel_that_refuses_io_uring(
    faulty: Callable[..., subprocess.CompletedProcess[str]], place: Path, tmp_path: Path, data: bytes, error: str
) -> None:
    """The kernel refuses io_uring as in most containers: a pool of threads serves, with one notice."""
    injection = f"io_uring_setup:error={error}"
    done = faulty(injection, words=("--stats", str(tmp_path / "stats")))
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "io_uring is not available" in done.stderr
    assert "pool of threads" in done.stderr
    assert (place / "out").read_bytes() == expected(data)
    assert read_json(tmp_path / "stats")["io_backend"] == "pool"
    succeeded(faulty(injection, words=("--quiet",)))
    (place / "out").unlink()
    refused(faulty(injection, words=("--io", "uring")), 2, "io_uring is not available", "--io pool")
    untouched(place, data)


@pytest.mark.parametrize(
    "injection", ["error=EINTR:when=1+2", "error=EBUSY:when=2+3", "error=EAGAIN:when=1+3", "error=EINTR:when=5"]
)
def test_io_uring_that_is_interrupted_or_busy(
    require: Require,
    faulty: Callable[..., subprocess.CompletedProcess[str]],
    place: Path,
    tmp_path: Path,
    data: bytes,
    injection: str,
) -> None:
    require("io_uring")
    words = ("--io", "uring", "--stats", str(tmp_path / "stats"))
    succeeded(faulty(f"io_uring_enter:{injection}", words=words))
    assert "INJECTED" in (tmp_path / "trace").read_text()
    assert (place / "out").read_bytes() == expected(data)
    assert read_json(tmp_path / "stats")["io_backend"] == "uring"


@pytest.mark.parametrize("when", ["1+", "4+", "40+", "100+"])
def test_io_uring_that_breaks(
    require: Require, faulty: Callable[..., subprocess.CompletedProcess[str]], place: Path, data: bytes, when: str
) -> None:
    """Requests are in flight and cannot be awaited any more: the program ends without touching what they use."""
    require("io_uring")
    done = faulty(f"io_uring_enter:error=EBADF:when={when}", words=("--io", "uring"))
    refused(done, 3, "io_uring", "Bad file descriptor")
    untouched(place, data)


# --- every call, one after the other -------------------------------------------------------------------------------------

SWEPT = (
    "pread64",
    "pwrite64",
    "fallocate",
    "ftruncate",
    "fdatasync",
    "fsync",
    "linkat",
    "renameat",
    "newfstatat",
    "fcntl",
)


@pytest.mark.skipif(not SOAK, reason="takes minutes: ECOSORT_SOAK=1")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("call", SWEPT)
def test_every_call_fails_once(
    faulty: Callable[..., subprocess.CompletedProcess[str]], place: Path, tmp_path: Path, data: bytes, call: str
) -> None:
    wanted, out = expected(data), place / "out"
    for when in range(1, 400):
        if call == "renameat":  # of what takes the place of another output
            out.write_bytes(b"old")
        done = faulty(f"{call}:error=EIO:when={when}")
        if "INJECTED" not in (tmp_path / "trace").read_text():
            assert when > 1
            break
        if done.returncode == 0:
            assert out.read_bytes() == wanted
            out.unlink()
        else:
            assert done.returncode in (2, 3), done
            assert done.stderr.count("\n") == 1, done
            if call == "renameat":
                assert out.read_bytes() == b"old"
                out.unlink()
        untouched(place, data)


# --- disks that fill up --------------------------------------------------------------------------------------------------


@contextmanager
def stopped_at(ecosort: Path, directory: Path, words: list[str | Path], phase: str) -> Iterator[subprocess.Popen[str]]:
    """A sort that was stopped when it began `phase`; it continues with SIGCONT."""
    events = Events(directory / "events")
    command = [str(word) for word in (ecosort, "sort", *words, "--events", events.path)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        events.wait_for("begin", phase)
        process.send_signal(signal.SIGSTOP)
        yield process
    finally:
        process.kill()
        assert process.stderr
        process.stderr.close()
        process.wait()
        events.close()


def ended(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    process.send_signal(signal.SIGCONT)
    assert process.stderr
    text = process.stderr.read()
    return subprocess.CompletedProcess(process.args, process.wait(timeout=60), "", text)


@pytest.fixture
def drive(require: Require, tmp_path: Path) -> Iterator[FileSystem]:
    require("loop_mount")
    with mounted(tmp_path, "ext4", 96 * MIB) as drive:
        yield drive


@pytest.fixture(scope="module")
def more_data(ecosort: Path) -> bytes:
    return make_records(ecosort, "ascii", 400_000)


def taken_back(drive: FileSystem, free_before: int) -> None:
    assert listing(drive.root) == []
    wait_until(lambda: drive.free_bytes() == free_before, what="the space")


def test_a_disk_that_is_full_before_a_pipe_ends(
    ecosort: Path, require: Require, tmp_path: Path, more_data: bytes, backend: str
) -> None:
    """No one knew how much would come."""
    require("loop_mount")
    with mounted(tmp_path, "ext4", 24 * MIB) as drive:
        free = drive.free_bytes()
        command = [ecosort, "sort", "-", "-o", "out", "--memory", "2MiB", "--io", backend]
        done = subprocess.run(command, cwd=drive.root, input=more_data, capture_output=True, timeout=60, check=False)
        assert done.returncode == 3
        assert done.stderr.count(b"\n") == 1
        for word in (b"run formation", b"No space left", b"--temp"):
            assert word in done.stderr, done.stderr
        taken_back(drive, free)


def test_a_disk_that_somebody_else_fills_during_the_merge(
    ecosort: Path, tmp_path: Path, drive: FileSystem, more_data: bytes
) -> None:
    """The output grows into the space that the runs give back, unless somebody else takes it first."""
    (tmp_path / "in").write_bytes(more_data)
    free = drive.free_bytes()
    words = [tmp_path / "in", "-o", drive.root / "out", "--memory", "4MiB"]
    with stopped_at(ecosort, tmp_path, words, "merge") as process:
        stop, is_full = threading.Event(), threading.Event()
        filler = os.open(drive.root, os.O_TMPFILE | os.O_RDWR)

        def fill() -> None:
            size = 0
            while not stop.is_set():
                status = os.statvfs(drive.root)
                try:
                    os.posix_fallocate(filler, size, status.f_bfree * status.f_frsize + 4096)
                    size += status.f_bfree * status.f_frsize + 4096
                except OSError:
                    size = os.fstat(filler).st_size
                    is_full.set()

        thread = threading.Thread(target=fill)
        thread.start()
        assert is_full.wait(timeout=60)
        done = ended(process)
        stop.set()
        thread.join()
        os.close(filler)
        refused(done, 3, "merge", "No space left", "make room there")
    taken_back(drive, free)


def test_reserved_space_cannot_be_taken(ecosort: Path, tmp_path: Path, drive: FileSystem, more_data: bytes) -> None:
    """The runs and an output elsewhere have what they need from the beginning: a disk filled later does not matter."""
    (tmp_path / "in").write_bytes(more_data)
    words = [tmp_path / "in", "-o", tmp_path / "out", "--temp", drive.root, "--memory", "4MiB"]
    with stopped_at(ecosort, tmp_path, words, "merge") as process:
        filler = drive.fill_until(0)
        succeeded(ended(process))
    filler.unlink()
    assert (tmp_path / "out").read_bytes() == expected(more_data)
    (tmp_path / "out").unlink()
    words = [tmp_path / "in", "-o", drive.root / "out", "--temp", tmp_path, "--memory", "4MiB"]
    with stopped_at(ecosort, tmp_path, words, "merge") as process:
        filler = drive.fill_until(0)
        succeeded(ended(process))
    filler.unlink()
    assert (drive.root / "out").read_bytes() == expected(more_data)


def test_a_limit_of_the_file_size(run: Run, place: Path, data: bytes) -> None:
    """`ulimit -f`: an error, not death by SIGXFSZ."""
    import resource

    for limit in (65_536, 1_000_000):
        for memory in ("2MiB", "64MiB"):
            done = run(
                *WORDS[:-1],
                memory,
                cwd=place,
                preexec_fn=lambda size=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
            )
            refused(done, 3, "File too large", "ulimit -f")
            untouched(place, data)


# --- drives that break ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("backend", "memory"), turns(BACKENDS, ["2MiB", "64MiB"]), indirect=["backend"])
def test_input_on_a_drive_that_breaks(
    run: Run, require: Require, tmp_path: Path, more_data: bytes, backend: str, memory: str
) -> None:
    require("loop_mount")
    with mounted(tmp_path, "ext4", 64 * MIB) as drive:
        (drive.root / "in").write_bytes(more_data)
        os.sync()
        subprocess.run(["mount", "-o", "remount,ro", drive.root], check=True)  # so that only the reads fail
        assert drive.image
        os.truncate(drive.image, 32 * MIB)
        words = ("sort", drive.root / "in", "-o", tmp_path / "out", "--memory", memory, "--io", backend)
        refused(run(*words), 3, "run formation", "cannot read", str(drive.root / "in"), "Input/output error")
        assert not (tmp_path / "out").exists()


def damage_runs(drive: FileSystem) -> int:
    """Flips a bit in every block of the drive that holds records."""
    assert drive.image
    os.sync()
    image = bytearray(drive.image.read_bytes())
    flipped = 0
    at = image.find(MARKER)
    while at >= 0:
        with drive.image.open("r+b") as file:
            os.pwrite(file.fileno(), bytes([image[at] ^ 4]), at)
        flipped += 1
        at = image.find(MARKER, (at // 16384 + 1) * 16384)
    return flipped


def test_a_flipped_bit_in_a_run(ecosort: Path, tmp_path: Path, drive: FileSystem, data: bytes, backend: str) -> None:
    """It ends the run; it never becomes output."""
    data = data * 10
    (tmp_path / "in").write_bytes(data)
    words = [tmp_path / "in", "-o", tmp_path / "out", "--temp", drive.root, "--memory", "4MiB", "--io", backend]
    with stopped_at(ecosort, tmp_path, words, "merge") as process:
        assert damage_runs(drive) > 100
        refused(ended(process), 3, "merge", "is damaged at byte", f"'{drive.root}'", "check the drive")
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "in").read_bytes() == data


def test_a_stale_block_in_a_run(ecosort: Path, tmp_path: Path, drive: FileSystem, data: bytes) -> None:
    """A block that is intact, but not the one that was written there: from another place of the same run."""
    data = data * 10
    (tmp_path / "in").write_bytes(data)
    words = [tmp_path / "in", "-o", tmp_path / "out", "--temp", drive.root, "--memory", "4MiB"]
    with stopped_at(ecosort, tmp_path, words, "merge") as process:
        os.sync()
        assert drive.image
        image = drive.image.read_bytes()
        blocks = [at for at in range(0, len(image), 4096) if MARKER in image[at : at + 4096]]
        half = len(blocks) // 2
        with drive.image.open("r+b") as file:
            for a, b in zip(blocks[:half], blocks[half:], strict=False):
                os.pwrite(file.fileno(), image[b : b + 4096], a)
        refused(ended(process), 3, "merge", "is damaged at byte", "check the drive")
    assert not (tmp_path / "out").exists()


# --- inputs that change --------------------------------------------------------------------------------------------------


def shrink(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 200 * 100)


def grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(bytes(100))


def touch(path: Path) -> None:
    os.utime(path)


def overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"different!")


@pytest.mark.parametrize(
    ("change", "memory", "backend"), pairs([shrink, grow, touch, overwrite], ["4MiB", "256MiB"], BACKENDS), indirect=["backend"]
)
def test_an_input_that_changes_while_it_is_read(
    ecosort: Path, tmp_path: Path, more_data: bytes, change: Callable[[Path], None], memory: str, backend: str
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / "in").write_bytes(more_data)
    words: list[str | Path] = [place / "in", "-o", place / "out", "--memory", memory, "--io", backend]
    first_phase = "read_and_sort" if memory == "256MiB" else "run_formation"
    with stopped_at(ecosort, tmp_path, words, first_phase) as process:
        change(place / "in")
        refused(ended(process), 3, "run formation", str(place / "in"), "changed while it was read")
    assert listing(place) == [str(place / "in")]


def test_an_input_that_is_replaced_while_it_is_read(ecosort: Path, tmp_path: Path, more_data: bytes) -> None:
    """The sort continues with the file it opened; so does every reader."""
    (tmp_path / "in").write_bytes(more_data)
    words: list[str | Path] = [tmp_path / "in", "-o", tmp_path / "out", "--memory", "4MiB"]
    with stopped_at(ecosort, tmp_path, words, "run_formation") as process:
        (tmp_path / "new").write_bytes(b"something else")
        (tmp_path / "new").rename(tmp_path / "in")
        succeeded(ended(process))
    assert (tmp_path / "out").read_bytes() == expected(more_data)


# --- reports that cannot be written ----------------------------------------------------------------------------------------


def test_a_directory_that_goes_away_is_no_wrong_word(ecosort: Path, tmp_path: Path, drive: FileSystem, more_data: bytes) -> None:
    """A directory that was there when the sort began is gone when a run is to be created: the user's argument was not wrong."""
    (drive.root / "temp").mkdir()
    (drive.root / "in").write_bytes(more_data)
    events = Events(tmp_path / "events")
    words = ["--memory", "2MiB", "--temp", drive.root / "temp", "--events", events.path]
    command = [ecosort, "sort", "-", "-o", drive.root / "out", *words]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=False)
    assert process.stdin
    process.stdin.write(more_data[: 4 * KIB])
    process.stdin.flush()
    events.wait_for("begin", "run_formation")
    (drive.root / "temp").rmdir()
    _, line = process.communicate(more_data[4 * KIB :])
    events.close()
    assert process.returncode == 3, line
    assert b"run formation: cannot create a file in" in line
    assert not (drive.root / "out").exists()


def test_statistics_that_cannot_be_written_do_not_take_back_the_output(run: Run, place: Path, data: bytes) -> None:
    refused(run(*WORDS, "--stats", "/dev/full", cwd=place), 3, "/dev/full", "No space left", "sorted output is complete")
    assert (place / "out").read_bytes() == expected(data)


def test_events_that_cannot_be_written(run: Run, place: Path, data: bytes) -> None:
    """Events report the work; that no one takes them does not end it."""
    refused(run(*WORDS, "--events", "/dev/full", cwd=place), 3, "/dev/full", "No space left", "sorted output is complete")
    assert (place / "out").read_bytes() == expected(data)


@pytest.mark.skipif(bool(sanitizers()), reason="sanitizers take memory of their own")
def test_more_memory_than_the_system_gives(run: Run, place: Path, data: bytes) -> None:
    """A limit that no default and no check knows: the system has the last word."""
    import resource

    limit = 300 * MIB
    (place / "in").write_bytes(data)
    os.truncate(place / "in", 100 * len(data))
    done = run(*WORDS[:-1], "1GiB", cwd=place, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
    refused(done, 3, "cannot get", "of memory", "--memory")
    os.truncate(place / "in", len(data))
    untouched(place, data)
