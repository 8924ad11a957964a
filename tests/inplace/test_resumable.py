"""`sort --resumable`: the result, what is refused, and how an interrupted sort continues from its last run or checkpoint."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import require
from sort_support import (
    MIB,
    FileSystem,
    Run,
    expected,
    faults,
    listing,
    mounted,
    read_json,
    refused,
    succeeded,
    wait_until,
)

from .support import (
    calls_of,
    ended,
    job_directory,
    kill_at_sync,
    signal_at_sync,
    stopped_after,
    syncs_of,
    take_all_space,
)

SMALL = ("--memory", "2MiB")


@pytest.fixture
def out(drive: FileSystem) -> Iterator[Path]:
    """The output, on a drive of its own; afterwards that is empty again."""
    yield drive.root / "out"
    subprocess.run(["rm", "-rf", *drive.root.iterdir()], check=True)


@pytest.fixture
def source(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "in"
    path.write_bytes(data)
    return path


def plan_of(run: Run, source: Path, out: Path, *words: str) -> dict[str, int]:
    done = run("plan", "sort", "--resumable", "--json", source, "-o", out, *words)
    assert done.returncode == 0, done
    plan = json.loads(done.stdout)
    assert isinstance(plan, dict)
    return plan


def words_for(source: Path, out: Path) -> tuple[str | Path, ...]:
    return ("sort", "--resumable", source, "-o", out, *SMALL)


def with_little_space(run: Run, source: Path, out: Path) -> None:
    """Many runs and checkpoints."""
    FileSystem("", out.parent, None).fill_until(plan_of(run, source, out, *SMALL)["needed_bytes"] + MIB)


def remove(run: Run, source: Path, out: Path) -> None:
    """XFS gives back the space of a removed file a moment later."""
    out.unlink(missing_ok=True)
    wait_until(lambda: run("plan", *words_for(source, out)).returncode == 0, what="the space of the output")


def phase_of(run: Run, out: Path) -> str:
    status = run("resume", "--status", out)
    assert status.returncode == 0, status
    return str(status.stdout.splitlines()[0].split(": ")[1])


# --- the result --------------------------------------------------------------------------------------------------------


def test_the_output_is_sorted_and_nothing_else_is_left(run: Run, source: Path, out: Path, data: bytes, wanted: bytes) -> None:
    done = run(*words_for(source, out))
    succeeded(done, f"ecosort: runs and journal are in '{out}.ecosort'; after an interruption: ecosort resume {out}\n")
    assert out.read_bytes() == wanted
    assert source.read_bytes() == data
    assert listing(out.parent) == [str(out)]


@pytest.mark.parametrize("backend", ["uring", "pool", "stxxl"])
def test_every_backend_sorts(run: Run, source: Path, out: Path, wanted: bytes, backend: str) -> None:
    if backend == "uring":
        require("io_uring")
    succeeded(run(*words_for(source, out), "--io", backend, "-q"))
    assert out.read_bytes() == wanted


@pytest.mark.parametrize(("size", "keys"), [(7, ["2:3"]), (101, ["90:11:desc", "0:4"]), (4_096, ["4000:16"])])
def test_several_inputs_of_other_records(run: Run, tmp_path: Path, data: bytes, size: int, keys: list[str]) -> None:
    parts = [data[: 1_001 * size], b"", data[1_001 * size : len(data) // size // 4 * size]]
    paths = [tmp_path / f"in{i}" for i in range(3)]
    for path, part in zip(paths, parts, strict=True):
        path.write_bytes(part)
    words = [word for key in keys for word in ("--key", key)]
    out = tmp_path / "out"
    succeeded(run("sort", "--resumable", *paths, "-o", out, "--record-size", str(size), *words, *SMALL, "-q"))
    assert out.read_bytes() == expected(b"".join(parts), size, keys)


def test_nothing_to_sort_needs_no_job(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"")
    succeeded(run("sort", "--resumable", tmp_path / "in", "-o", tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == b""
    assert listing(tmp_path) == [str(tmp_path / "in"), str(tmp_path / "out")]


def test_modes_are_those_of_an_ordinary_sort(run: Run, source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    succeeded(run(*words_for(source, out), "-q", umask=0o027))
    assert out.stat().st_mode & 0o7777 == 0o640
    out.chmod(0o604)
    succeeded(run(*words_for(source, out), "-q"))
    assert out.stat().st_mode & 0o7777 == 0o604


def test_stats_and_events_tell_the_phases(run: Run, source: Path, tmp_path: Path, data: bytes) -> None:
    words = ("--stats", tmp_path / "stats", "--events", tmp_path / "events", "--verify=reread", "-q")
    succeeded(run(*words_for(source, tmp_path / "out"), *words))
    stats = read_json(tmp_path / "stats")
    assert stats["schema"] == "ecosort.stats/1"
    assert stats["records"] == len(data) // 100
    assert [phase["name"] for phase in stats["phases"]] == ["prepare", "run_formation", "merge", "reread", "sync", "publish"]
    assert len(data) * 3 <= stats["bytes_read"] <= len(data) * 3.1
    assert len(data) * 2 <= stats["bytes_written"] <= len(data) * 2.1
    assert stats["peak_counted_memory_bytes"] <= 2 * MIB
    assert '"phase":"merge"' in (tmp_path / "events").read_text()


# --- the plan and its space --------------------------------------------------------------------------------------------


def test_exactly_the_space_of_the_plan_is_enough(run: Run, drive: FileSystem, source: Path, out: Path, wanted: bytes) -> None:
    need = plan_of(run, source, out, *SMALL)["needed_bytes"]
    drive.fill_until(need)
    block = os.statvfs(drive.root).f_frsize
    for _ in range(8):  # what the file system holds back changes with what is written
        if drive.settled_free_bytes() < need:
            break
        drive.fill_until(drive.settled_free_bytes() - block)
    refused(run(*words_for(source, out)), 2, f"({need} bytes) needed", "free")
    assert not job_directory(out).exists()
    drive.fill_until(need)
    succeeded(run(*words_for(source, out), "-q"))
    assert out.read_bytes() == wanted


def test_the_plan_names_the_directory_and_writes_nothing(run: Run, source: Path, out: Path) -> None:
    done = run("plan", *words_for(source, out))
    assert done.returncode == 0, done
    assert f"{out}.ecosort; runs give their space to the output" in done.stdout
    assert re.search(r"free space needed +[\d.]+ [KM]iB \(\d+ bytes\)", done.stdout)
    assert listing(out.parent) == []


def test_runs_keep_their_space_where_a_crash_could_mix_up_blocks(
    ecosort: Path, run: Run, source: Path, tmp_path: Path, wanted: bytes
) -> None:
    require("btrfs")
    with mounted(tmp_path, "btrfs", 192 * MIB) as drive:
        out = drive.root / "out"
        assert "keep their space" in run("plan", *words_for(source, out)).stdout
        syncs = syncs_of(ecosort, tmp_path, *words_for(source, out))
        out.unlink()
        assert kill_at_sync(ecosort, tmp_path, syncs * 2 // 3, *words_for(source, out), "-q")
        succeeded(run("resume", out))
        assert out.read_bytes() == wanted


# --- refusals ----------------------------------------------------------------------------------------------------------


def test_what_cannot_be_resumed_is_refused(run: Run, source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    refused(run("sort", "--resumable", "-", "-o", out), 2, "standard input cannot be read again")
    refused(run("sort", "--resumable", source, "-o", "-"), 2, "-o FILE")
    refused(run(*words_for(source, out), "--temp", tmp_path), 2, "--temp")
    refused(run(*words_for(source, out), "--unique"), 2, "--unique cannot be combined with --resumable")
    refused(run(*words_for(source, out), "--trace", tmp_path / "trace"), 2, "--trace")
    refused(run("sort", "--resumable", source, "-o", source), 2, "is the input")
    refused(run("sort", "--resumable", "/dev/null", "-o", out), 2, "'/dev/null' is not a regular file")
    refused(run("plan", "inplace", "--resumable", source), 2, "--resumable means nothing in place")
    assert listing(tmp_path) == [str(source)]


def test_memory_that_cannot_merge_all_runs_at_once_is_refused_with_one_that_can(run: Run, tmp_path: Path) -> None:
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate(40_000_000_000)  # sparse: nothing of it is read
    words = ("plan", "sort", "--resumable", "--record-size", "100", "--key", "0:10", big, "-o", tmp_path / "out")
    told = refused(run(*words, *SMALL), 2, "merges all runs at once")
    enough = re.search(r"try --memory (\d+KiB)", told)
    assert enough, told
    again = run(*words, "--memory", enough.group(1))
    assert again.returncode == 0 or "not enough space" in again.stderr, again


def test_a_tmpfs_is_refused(run: Run, source: Path, tmp_path: Path) -> None:
    with mounted(tmp_path, "tmpfs", 64 * MIB) as drive:
        refused(run(*words_for(source, drive.root / "out")), 2, "tmpfs")


# --- interruptions -----------------------------------------------------------------------------------------------------


def test_a_killed_sort_is_resumed_from_every_step(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, data: bytes, wanted: bytes
) -> None:
    with_little_space(run, source, out)
    words = words_for(source, out)
    syncs = syncs_of(ecosort, tmp_path, *words)
    assert syncs > 15
    phases = set()
    for nth in [1, 2, 3, *range(4, syncs, max(1, syncs // 8)), syncs]:
        remove(run, source, out)
        if not kill_at_sync(ecosort, tmp_path, nth, *words, "-q"):
            assert out.read_bytes() == wanted
            continue
        if not job_directory(out).exists():
            assert not out.exists() or out.read_bytes() == wanted
            run("resume", out)
            continue
        refused(run(*words), 2, f"continue with: ecosort resume {out}")
        phases.add(phase_of(run, out))
        done = run("resume", job_directory(out) if nth % 2 else out, "-q")
        if done.returncode == 5:  # nothing had been written
            assert "start the sort again" in done.stderr
            assert not job_directory(out).exists()
            continue
        succeeded(done)
        assert out.read_bytes() == wanted
        succeeded(run("resume", "-q", out))  # whenever it ended
    assert phases >= {"run formation", "merge"}
    assert source.read_bytes() == data
    assert {Path(name).name for name in listing(out.parent)} <= {"out", "filler"}


def test_what_was_done_is_not_done_again(ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, data: bytes) -> None:
    with_little_space(run, source, out)
    words = words_for(source, out)
    syncs = syncs_of(ecosort, tmp_path, *words)
    moved = []
    for nth in (syncs // 3, syncs * 2 // 3, syncs * 5 // 6):
        remove(run, source, out)
        assert kill_at_sync(ecosort, tmp_path, nth, *words, "-q")
        succeeded(run("resume", out, "--stats", tmp_path / "stats"))
        moved.append(read_json(tmp_path / "stats")["bytes_read"])
    # In the merge each byte is read once: of the output again, or of the runs. The forecast reads nothing besides.
    assert 1.9 * len(data) > moved[0] > max(moved[1:]), moved
    assert max(moved[1:]) < 1.06 * len(data), (moved, len(data))


def test_ctrl_c_stops_at_a_checkpoint_and_says_how_to_go_on(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, wanted: bytes
) -> None:
    with_little_space(run, source, out)
    syncs = syncs_of(ecosort, tmp_path, *words_for(source, out))
    for nth, phase in ((3, "run formation"), (syncs * 2 // 3, "merge")):
        remove(run, source, out)
        done = signal_at_sync(ecosort, tmp_path, nth, signal.SIGINT, *words_for(source, out))
        assert done.returncode == 128 + signal.SIGINT, done
        assert phase_of(run, out) == phase
        assert f"'{out}.ecosort'" in done.stderr
        assert f"continue with: ecosort resume {out}" in done.stderr
        assert not out.exists()
        succeeded(run("resume", out))
        assert out.read_bytes() == wanted


def test_a_killed_sort_can_be_given_up_in_every_phase(ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path) -> None:
    with_little_space(run, source, out)
    words = words_for(source, out)
    syncs = syncs_of(ecosort, tmp_path, *words)
    out.write_bytes(b"what was there before")
    before = listing(out.parent)
    for nth in range(2, syncs * 5 // 6, max(1, syncs // 5)):
        assert kill_at_sync(ecosort, tmp_path, nth, *words, "-q")
        done = run("resume", "--abandon", out)
        assert done.returncode == 0, done
        assert listing(out.parent) == before
        assert out.read_bytes() == b"what was there before"


def kill_in_the_middle(ecosort: Path, run: Run, tmp_path: Path, source: Path, out: Path, share: float) -> None:
    """Leaves a job that was killed when it had done this share of its syncs."""
    with_little_space(run, source, out)
    words = words_for(source, out)
    syncs = syncs_of(ecosort, tmp_path, *words)
    remove(run, source, out)
    assert kill_at_sync(ecosort, tmp_path, int(syncs * share), *words, "-q")


def test_a_pipe_that_took_the_name_of_the_output_meanwhile_stays(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, wanted: bytes
) -> None:
    """A job knows its output from its journal, and gives it its name by a call that replaces what is there."""
    kill_in_the_middle(ecosort, run, tmp_path, source, out, 5 / 6)
    os.mkfifo(out)
    node = os.lstat(out)
    refused(run("resume", out), 3, f"'{out}' is not a regular file", "move it away")
    assert os.lstat(out) == node
    out.unlink()
    succeeded(run("resume", out))
    assert out.read_bytes() == wanted


def test_an_input_that_changed_is_refused(ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, data: bytes) -> None:
    with_little_space(run, source, out)
    words = words_for(source, out)
    syncs = syncs_of(ecosort, tmp_path, *words)
    for nth in (5, syncs * 5 // 6):
        source.write_bytes(data)
        remove(run, source, out)
        assert kill_at_sync(ecosort, tmp_path, nth, *words, "-q")
        with source.open("r+b") as file:
            file.write(data[100:200])
        refused(run("resume", out), 3, "is not what it was", f"ecosort resume --abandon {out}")
        assert not out.exists()
        succeeded(run("resume", "--abandon", out))


def test_a_disk_that_someone_fills_stops_the_sort_until_there_is_room(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, wanted: bytes
) -> None:
    with_little_space(run, source, out)
    words = words_for(source, out)
    cuts = calls_of(ecosort, tmp_path, "ftruncate", *words)
    remove(run, source, out)
    with stopped_after(ecosort, tmp_path, "ftruncate", cuts // 2, *words) as process:
        greedy = take_all_space(out.parent)
    code, text = ended(process)
    assert code == 3, text
    assert "No space left on device" in text
    assert f"ecosort resume {out}" in text
    greedy.unlink()
    succeeded(run("resume", out))
    assert out.read_bytes() == wanted


def test_a_flipped_bit_in_a_run_ends_the_sort(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, wanted: bytes
) -> None:
    kill_in_the_middle(ecosort, run, tmp_path, source, out, 1 / 2)
    victim = max(job_directory(out).glob("run-*"), key=lambda path: (path.name <= "run-000003", path.stat().st_size))
    at = victim.stat().st_size // 2
    with victim.open("r+b") as broken:
        byte = os.pread(broken.fileno(), 1, at)
        os.pwrite(broken.fileno(), bytes([byte[0] ^ 8]), at)
    os.sync()
    refused(run("resume", out), 3, "damaged")
    assert not out.exists()
    with victim.open("r+b") as broken:
        os.pwrite(broken.fileno(), byte, at)
    os.sync()
    succeeded(run("resume", out))
    assert out.read_bytes() == wanted


def test_two_processes_cannot_work_on_one_job(ecosort: Path, run: Run, source: Path, tmp_path: Path, wanted: bytes) -> None:
    out = tmp_path / "out"
    with stopped_after(ecosort, tmp_path, "ftruncate", 1, *words_for(source, out)) as process:
        refused(run("resume", out), 2, "another process")
        refused(run("resume", "--abandon", out), 2, "another process")
    assert ended(process)[0] == 0
    assert out.read_bytes() == wanted


def test_io_uring_that_breaks_costs_nothing_that_was_done(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, wanted: bytes
) -> None:
    require("io_uring")
    broken = faults(tmp_path, "io_uring_enter:error=EBADF:when=60+")
    words = [*broken, ecosort, *words_for(source, out), "--io", "uring", "-q"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done
    assert f"ecosort resume {out}" in done.stderr
    succeeded(run("resume", out))
    assert out.read_bytes() == wanted
