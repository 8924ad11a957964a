"""`lines --resumable`: the result, what is refused, and how an interrupted sort continues from its last run or checkpoint."""

import itertools
import json
import os
import random
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import SOAK, only_in_soak, require
from lines_support import numbered_lines, random_lines, random_words, sorted_by_sort
from sort_support import MIB, NOBODY, FileSystem, Run, listing, mounted, no_plan, read_json, refused, succeeded

from .support import (
    FIRST_AFTER_THE_RUNS,
    calls_of,
    ended,
    job_directory,
    kill_at_sync,
    killed_at_call,
    killed_in_merge,
    signal_at_call,
    stopped_after,
    syncs_of,
    take_all_space,
)

SMALL = ("-S", "1M")
LINES = 70_000  # 2 MB: dozens of runs, a merge before the last one, some checkpoints


@pytest.fixture(scope="session")
def text() -> bytes:
    return numbered_lines(LINES)


@pytest.fixture(scope="session")
def wanted(text: bytes) -> bytes:
    return sorted_by_sort(text)


@pytest.fixture
def source(tmp_path: Path, text: bytes) -> Path:
    path = tmp_path / "in"
    path.write_bytes(text)
    return path


@pytest.fixture
def out(drive: FileSystem) -> Iterator[Path]:
    """The output, on a drive of its own; afterwards that is empty again."""
    yield drive.root / "out"
    subprocess.run(["rm", "-rf", *drive.root.iterdir()], check=True)


def words_for(source: Path, out: Path, *more: str) -> tuple[str | Path, ...]:
    return ("lines", "--resumable", *SMALL, *more, source, "-o", out)


def refused_by_lines(done: subprocess.CompletedProcess[str], *words: str) -> str:
    """One line in the manner of sort, and its exit code."""
    assert done.stderr.startswith("ecosort lines: "), done
    return refused(
        subprocess.CompletedProcess([], done.returncode, done.stdout, done.stderr.replace(" lines:", ":", 1)), 2, *words
    )


def phase_of(run: Run, out: Path) -> str:
    status = run("resume", "--status", out)
    assert status.returncode == 0, status
    return str(status.stdout.splitlines()[0].split(": ")[1])


def interrupted_in_merge(ecosort: Path, source: Path, out: Path, directory: Path, *more: str) -> bytes:
    """A job that was killed at the end of its merge, after some checkpoints; the bytes in its output are returned."""
    killed_in_merge(ecosort, directory, out, *words_for(source, out, "--quiet", *more))
    return (job_directory(out) / "output").read_bytes()


# --- the result --------------------------------------------------------------------------------------------------------


def test_the_output_is_sorted_and_nothing_else_is_left(run: Run, source: Path, out: Path, text: bytes, wanted: bytes) -> None:
    done = run(*words_for(source, out))
    succeeded(done, f"ecosort lines: runs and journal are in '{out}.ecosort'; after an interruption: ecosort resume {out}\n")
    assert out.read_bytes() == wanted
    assert source.read_bytes() == text
    assert listing(out.parent) == [str(out)]


@pytest.mark.parametrize("backend", ["uring", "pool", "stxxl"])
def test_every_backend_sorts(run: Run, source: Path, out: Path, wanted: bytes, backend: str) -> None:
    if backend == "uring":
        require("io_uring")
    succeeded(run(*words_for(source, out, "--io", backend, "--quiet")))
    assert out.read_bytes() == wanted


def test_any_options_give_the_bytes_of_an_ordinary_sort(run: Run, tmp_path: Path) -> None:
    rng = random.Random(7)
    out, plain = tmp_path / "out", tmp_path / "plain"
    for _ in range(12 if SOAK else 6):
        paths = [tmp_path / f"in{i}" for i in range(rng.randrange(1, 4))]
        words = [*random_words(rng), *rng.choice([[], ["--header=1"], ["--header=40"], ["--batch-size", "3"]]), *SMALL, *paths]
        header_lines = next((int(word.removeprefix("--header=")) for word in map(str, words) if word.startswith("--header=")), 0)
        top = b"".join(b"%d" % line + (b"\0" if "-z" in words else b"\n") for line in range(header_lines))
        for path in paths:
            path.write_bytes(top + random_lines(rng, rng.choice([0, 3, 60_000])))
        if not any(path.stat().st_size for path in paths):
            continue
        succeeded(run("lines", "--quiet", *words, "-o", plain))
        succeeded(run("lines", "--resumable", "--quiet", *words, "-o", out))
        assert out.read_bytes() == plain.read_bytes(), words
        assert not job_directory(out).exists()


def test_lines_longer_than_a_block_and_inputs_without_a_last_end(run: Run, tmp_path: Path) -> None:
    rng = random.Random(8)
    data = [b"%d " % rng.randrange(1000) + b"x" * rng.randrange(60_000) for _ in range(120)]
    (tmp_path / "a").write_bytes(b"\n".join(data[:50]))
    (tmp_path / "b").write_bytes(b"")
    (tmp_path / "c").write_bytes(b"\n".join(data[50:]))
    succeeded(run("lines", "--resumable", "--quiet", *SMALL, *(tmp_path / name for name in "abc"), "-o", tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == sorted_by_sort(b"\n".join(data))


def test_nothing_to_sort_needs_no_job(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"")
    succeeded(run("lines", "--resumable", tmp_path / "in", "-o", tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == b""
    assert listing(tmp_path) == [str(tmp_path / "in"), str(tmp_path / "out")]


def test_an_output_may_replace_its_input(run: Run, source: Path, wanted: bytes) -> None:
    succeeded(run(*words_for(source, source, "--quiet")))
    assert source.read_bytes() == wanted


def test_stats_and_events_tell_the_phases(run: Run, source: Path, tmp_path: Path, text: bytes) -> None:
    succeeded(
        run(*words_for(source, tmp_path / "out", "--stats", str(tmp_path / "stats"), "--events", str(tmp_path / "ev"), "--quiet"))
    )
    stats = read_json(tmp_path / "stats")
    assert stats["schema"] == "ecosort.lines-stats/1"
    assert (stats["lines"], stats["input_bytes"], stats["output_bytes"]) == (LINES, len(text), len(text))
    names = [phase["name"] for phase in stats["phases"]]
    assert [name for name in names if name != "intermediate_merge"] == ["prepare", "run_formation", "merge", "sync", "publish"]
    assert stats["intermediate_merges"] == names.count("intermediate_merge")
    assert stats["peak_counted_memory_bytes"] <= MIB
    assert stats["resumed"] is None
    assert '"phase":"merge"' in (tmp_path / "ev").read_text()


# --- the plan and its space --------------------------------------------------------------------------------------------


def plan_of(run: Run, source: Path, out: Path) -> dict[str, int]:
    done = run("plan", *words_for(source, out, "--json"))
    assert done.returncode == 0, done
    plan = json.loads(done.stdout)
    assert isinstance(plan, dict)
    return plan


def test_exactly_the_space_of_the_plan_is_enough(run: Run, drive: FileSystem, source: Path, out: Path, wanted: bytes) -> None:
    need = plan_of(run, source, out)["needed_bytes"]
    drive.fill_until(need)
    block = os.statvfs(drive.root).f_frsize
    for _ in range(8):  # what the file system holds back changes with what is written
        if drive.settled_free_bytes() < need:
            break
        drive.fill_until(drive.settled_free_bytes() - block)
    refused_by_lines(run(*words_for(source, out)), f"({need} bytes) needed", "free")
    assert not job_directory(out).exists()
    drive.fill_until(need)
    succeeded(run(*words_for(source, out, "--quiet")))
    assert out.read_bytes() == wanted


def test_the_plan_names_directory_and_space_and_writes_nothing(run: Run, source: Path, out: Path, text: bytes) -> None:
    done = run("plan", *words_for(source, out))
    assert done.returncode == 0, done
    assert f"{out}.ecosort; runs keep their space until the output is complete" in done.stdout
    assert re.search(r"free space needed +[\d.]+ [KM]iB \(\d+ bytes\): runs ", done.stdout)
    plan = plan_of(run, source, out)
    assert plan["needed_bytes"] == sum(plan[f"{part}_bytes"] for part in ("run", "output", "journal", "metadata", "held"))
    assert plan["run_bytes"] > len(text)
    assert plan["output_bytes"] >= len(text)
    assert listing(out.parent) == []


def test_no_sort_makes_more_runs_than_its_plan_says(run: Run, tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    for size in (16, 17, 40, 300, 20_000):
        source.write_bytes((b"x" * (size - 1) + b"\n") * (3_000_000 // size))
        plan = plan_of(run, source, out)
        succeeded(run(*words_for(source, out, "--quiet", "--stats", str(tmp_path / "stats"))))
        assert read_json(tmp_path / "stats")["runs"] <= plan["runs"], size


@only_in_soak  # tens of millions of lines
def test_short_rows_are_merged_once_also_by_a_job_that_was_killed(
    ecosort: Path, run: Run, tmp_path: Path, source: Path, out: Path
) -> None:
    source.write_bytes(b"".join(b"%d\n\n\n\n\n\n" % (number % 7) for number in range(6_000_000)))
    words = ("lines", "--resumable", "-S", "32M", "--quiet", source, "-o", out)
    killed_in_merge(ecosort, tmp_path, out, *words)
    done = run("resume", out, "--stats", str(tmp_path / "stats"))
    succeeded(done)
    stats = read_json(tmp_path / "stats")
    assert (stats["intermediate_merges"], stats["runs"] > 115) == (0, True), "of usual blocks 115 runs fit a merge"
    assert out.read_bytes() == sorted_by_sort(source.read_bytes())


# --- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["-m"], "-m cannot be combined with --resumable"),
        (["-c"], "-c and -C sort nothing"),
        (["--compress-program", "gzip"], "--compress-program cannot be combined with --resumable"),
        (["-T", "/tmp"], "leave -T out"),
        (["--temp", "/tmp"], "leave -T out"),
        (["-"], "standard input cannot be read again"),
    ],
)
def test_what_cannot_be_resumed_is_refused(run: Run, source: Path, more: list[str], reason: str) -> None:
    out = source.with_name("out")
    words = ["lines", "--resumable", source, *more, *([] if more == ["-c"] else ["-o", out])]
    refused_by_lines(run(*words), reason)
    assert listing(source.parent) == [str(source)]


def test_an_output_without_a_name_and_inputs_that_are_no_files_are_refused(run: Run, source: Path) -> None:
    refused_by_lines(run("lines", "--resumable", source), "-o FILE")
    assert "--debug cannot be combined with --resumable" in run("lines", "--resumable", "--debug", source).stderr
    refused_by_lines(run("lines", "--resumable", "/dev/null", "-o", source.with_name("out")), "'/dev/null' is not a regular file")
    no_plan(run("plan", "lines", "--json", source), "--json is for --resumable")
    refused(run("plan", "lines", "--resumable", "--assume-size", "1TB", "-o", source.with_name("out")), 2, "--assume-size")


def test_a_tmpfs_is_refused(run: Run, source: Path, tmp_path: Path) -> None:
    with mounted(tmp_path, "tmpfs", 64 * MIB) as drive:
        refused_by_lines(run(*words_for(source, drive.root / "out")), "tmpfs")


def test_a_line_that_is_too_long_is_sorted_by_a_resumption_with_more_memory(run: Run, tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    data = numbered_lines(30_000) + b"a" * 900_000 + b"\n" + numbered_lines(30_000, seed=2)
    source.write_bytes(data)
    done = run(*words_for(source, out, "--quiet"))
    refused_by_lines(done, "is too long for the memory", f"ecosort resume --memory 9370KiB {out}")  # 6 times the line, and 4 MiB
    refused(run("resume", out), 2, "is too long for the memory")
    succeeded(run("resume", "--memory", "9370KiB", out))
    assert out.read_bytes() == sorted_by_sort(data)


# --- interruptions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first_event", "more"),
    [(2, ()), (3, ("-u", "-t,", "-k1,1n")), (4, ("--header=3", "-r", "--batch-size=4"))],
    ids=["plain", "unique", "header"],
)
def test_a_killed_sort_is_resumed_from_every_step(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, text: bytes, first_event: int, more: tuple[str, ...]
) -> None:
    keys = [word for word in more if not word.startswith("--")]
    wanted = sorted_by_sort(text, *keys, header_lines=3 if "--header=3" in more else 0)
    words = words_for(source, out, "--quiet", *more)
    syncs = syncs_of(ecosort, tmp_path, *words)
    assert syncs > 15
    phases = set()
    moments = [("fdatasync", nth) for nth in (*range(1, syncs, 1 if SOAK else syncs // 2), syncs)]
    moments += [("write", event) for event in range(first_event, 16, 1 if SOAK else 3)]
    for call, nth in [*moments, ("in the merge", 0)]:
        out.unlink(missing_ok=True)
        if nth == 0:
            killed_in_merge(ecosort, tmp_path, out, *words)
        elif not killed_at_call(ecosort, tmp_path, call, nth, *words, "--events", tmp_path / "events"):
            assert out.read_bytes() == wanted
            continue
        if not job_directory(out).exists():
            assert not out.exists() or out.read_bytes() == wanted
            run("resume", out)
            continue
        refused_by_lines(run(*words), f"continue with: ecosort resume {out}")
        if nth == 0:
            refused(run("resume", out, "--events", source), 2, "is an input and would be overwritten")
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
    assert source.read_bytes() == text
    assert listing(out.parent) in ([], [str(out)])


def test_what_was_done_is_not_done_again(ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, text: bytes) -> None:
    words = words_for(source, out, "--quiet")
    syncs = syncs_of(ecosort, tmp_path, *words)
    moved = []
    for nth in (syncs // 2, syncs * 3 // 4, None):
        out.unlink()
        if nth is None:
            killed_in_merge(ecosort, tmp_path, out, *words)
        else:
            assert kill_at_sync(ecosort, tmp_path, nth, *words)
        succeeded(run("resume", out, "--trust-drive", "--stats", tmp_path / "stats", "-q"))
        moved.append(read_json(tmp_path / "stats")["bytes_read"])
    assert 2.2 * len(text) > moved[0] > moved[1] > moved[2], moved


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_at_a_checkpoint_and_says_how_to_go_on(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, wanted: bytes, number: signal.Signals
) -> None:
    words = words_for(source, out, "-S", "4M", "--events", tmp_path / "events")  # for one merge
    for call, nth, phase in (("fdatasync", 5, "run formation"), ("write", FIRST_AFTER_THE_RUNS, "merge")):
        out.unlink(missing_ok=True)
        done = signal_at_call(ecosort, tmp_path, call, nth, number, *words)
        assert done.returncode == 128 + number, done
        assert phase_of(run, out) == phase
        assert "stopped at a checkpoint; no line is lost" in done.stderr
        assert f"continue with: ecosort resume {out}" in done.stderr
        assert not out.exists()
        succeeded(run("resume", out))
        assert out.read_bytes() == wanted


def test_the_status_tells_lines_bytes_and_memory(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, text: bytes
) -> None:
    held = interrupted_in_merge(ecosort, source, out, tmp_path)
    status = run("resume", "--status", out)
    assert status.returncode == 0, status
    assert status.stdout.startswith(f"{out}: merge\n  job                            resumable sort of the lines of '{source}'\n")
    assert f"bytes of the inputs in runs    {len(text)} of {len(text)} (100.0 %), {LINES} lines\n" in status.stdout
    in_output = re.search(r"bytes in the output +(\d+) \(([\d.]+) %\), (\d+) lines\n", status.stdout)
    assert in_output, status
    assert 0 < int(in_output[1]) < len(held)
    assert held[: int(in_output[1])].count(b"\n") == int(in_output[3])
    assert "memory it was planned with     1 MiB\n" in status.stdout


def test_a_killed_sort_can_be_given_up_in_every_phase(ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path) -> None:
    words = words_for(source, out, "--quiet")
    out.write_bytes(b"what was there before")
    before = listing(out.parent)
    for nth in (2, 20, None):
        if nth is None:
            killed_in_merge(ecosort, tmp_path, out, *words)
        else:
            assert kill_at_sync(ecosort, tmp_path, nth, *words)
        done = run("resume", "--abandon", out)
        assert done.returncode == 0, done
        assert listing(out.parent) == before
        assert out.read_bytes() == b"what was there before"


def test_an_input_that_changed_is_refused(ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, text: bytes) -> None:
    words = words_for(source, out, "--quiet")
    for nth, change in ((7, "written"), (7, "grown"), (None, "written")):
        source.write_bytes(text)
        if nth is None:
            killed_in_merge(ecosort, tmp_path, out, *words)
        else:
            assert kill_at_sync(ecosort, tmp_path, nth, *words)
        with source.open("r+b") as file:
            file.seek(0, os.SEEK_END if change == "grown" else os.SEEK_SET)
            file.write(b"another line\n")
        refused(run("resume", out), 3, "is not what it was", f"ecosort resume --abandon {out}")
        assert not out.exists()
        succeeded(run("resume", "--abandon", out))


def test_an_input_that_changes_while_it_is_read_ends_the_sort(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path
) -> None:
    words = words_for(source, out)
    with stopped_after(ecosort, tmp_path / "trace", "fsync", 4, *words) as process, source.open("ab") as file:
        file.write(b"one more line\n")
    code, told = ended(process)
    assert (code, told.count("is not what it was when the sort began")) == (2, 1), told
    succeeded(run("resume", "--abandon", out))


def test_a_disk_that_someone_fills_stops_the_sort_until_there_is_room(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, wanted: bytes
) -> None:
    words = words_for(source, out, "--quiet")
    names = calls_of(ecosort, tmp_path, "fsync", *words)  # one for each run
    out.unlink()
    FileSystem("", out.parent, None).fill_until(plan_of(run, source, out)["needed_bytes"] + MIB)
    with stopped_after(ecosort, tmp_path, "fsync", names // 3, *words) as process:
        greedy = take_all_space(out.parent)
    code, text = ended(process)
    assert code == 2, text
    assert "No space left on device" in text
    assert f"make room there; no line is lost; continue with: ecosort resume {out}" in text
    refused(run("resume", out), 3, "No space left on device")
    greedy.unlink()
    succeeded(run("resume", out))
    assert out.read_bytes() == wanted


def flip(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        byte = os.pread(file.fileno(), 1, at)
        os.pwrite(file.fileno(), bytes([byte[0] ^ 8]), at)
    os.sync()


def test_a_flipped_bit_in_a_run_ends_the_sort(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, wanted: bytes
) -> None:
    interrupted_in_merge(ecosort, source, out, tmp_path)
    victim = max(job_directory(out).glob("run-*"), key=lambda path: path.stat().st_size)
    at = victim.stat().st_size - 5000
    flip(victim, at)
    refused(run("resume", out), 3, "damaged")
    assert not out.exists()
    flip(victim, at)
    succeeded(run("resume", out))
    assert out.read_bytes() == wanted


def test_a_flipped_bit_in_the_output_ends_it_unless_the_drive_is_trusted(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, wanted: bytes
) -> None:
    interrupted_in_merge(ecosort, source, out, tmp_path)
    output = job_directory(out) / "output"
    place = re.search(r"bytes in the output +(\d+) ", run("resume", "--status", out).stdout)
    assert place is not None
    behind = int(place[1])  # in the unit that the checkpoint lies in: durable, and compared with what comes
    flip(output, behind)
    refused(run("resume", "-q", "--trust-drive", out), 3, "is not what was written to it: the lines at byte")
    flip(output, behind)
    flip(output, 3)
    refused(run("resume", out), 3, "is not what was written to it", f"ecosort resume --abandon {out}")
    assert not out.exists()
    done = run("resume", "--trust-drive", "--stats", tmp_path / "stats", out)
    assert done.returncode == 0, done
    assert "--trust-drive: the " in done.stderr
    assert read_json(tmp_path / "stats")["resumed"]["output_read_again"] is False
    assert out.read_bytes() != wanted
    assert len(out.read_bytes()) == len(wanted)


def test_memory_and_threads_may_be_others(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, wanted: bytes
) -> None:
    words = words_for(source, out, "--quiet")
    for nth in (9, None):
        out.unlink(missing_ok=True)
        if nth is None:
            killed_in_merge(ecosort, tmp_path, out, *words)
        else:
            assert kill_at_sync(ecosort, tmp_path, nth, *words)
        succeeded(run("resume", "--memory", "8MiB", "--threads", "1", "-q", out))
        assert out.read_bytes() == wanted


def test_less_memory_than_a_merge_needs_is_refused_with_what_suffices(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, wanted: bytes
) -> None:
    interrupted_in_merge(ecosort, source, out, tmp_path, "-S", "16M")
    told = refused(run("resume", "--memory", "1MiB", out), 2, "too little", "try --memory ")
    enough = re.search(r"try --memory (\d+KiB)", told)
    assert enough, told
    succeeded(run("resume", "--memory", enough[1], out))
    assert out.read_bytes() == wanted


def test_a_random_order_stays_the_same_when_it_is_resumed(
    ecosort: Path, run: Run, source: Path, out: Path, tmp_path: Path, text: bytes
) -> None:
    """The keys of -R are random: a resumption with others would merge what is not in order."""
    interrupted_in_merge(ecosort, source, out, tmp_path, "-t,", "-k2,2R")
    succeeded(run("resume", "-q", out))
    lines = out.read_bytes().splitlines()
    assert sorted(lines) == sorted(text.splitlines())
    groups = [line.split(b",")[1] for line in lines]
    assert sum(a != b for a, b in itertools.pairwise(groups)) == len(set(groups)) - 1


def test_the_environment_of_a_resumption_does_not_change_the_words(
    ecosort: Path, run: Run, source: Path, tmp_path: Path, text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With POSIXLY_CORRECT, options behind a file would be files."""
    out = tmp_path / "out"
    words = ("lines", "--resumable", source, "-o", out, *SMALL, "-t,", "-k2,2n", "-r", "-u")
    assert kill_at_sync(ecosort, tmp_path, 6, *words)
    monkeypatch.setenv("POSIXLY_CORRECT", "1")
    succeeded(run("resume", "-q", out))
    assert out.read_bytes() == sorted_by_sort(text, "-t,", "-k2,2n", "-r", "-u")


def test_two_processes_cannot_work_on_one_job(ecosort: Path, run: Run, source: Path, tmp_path: Path, wanted: bytes) -> None:
    out = tmp_path / "out"
    with stopped_after(ecosort, tmp_path / "trace", "fsync", 5, *words_for(source, out)) as process:
        refused(run("resume", out), 2, "another process is working on the job")
        status = run("resume", "--status", out)
        assert "another process is working on it" in status.stdout
    code, text = ended(process)
    assert code == 0, text
    assert out.read_bytes() == wanted


# --- whose job it is ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "journal", "output", "run-000000"])
def test_a_job_of_somebody_else_is_left_alone(
    ecosort: Path, run: Run, source: Path, tmp_path: Path, wanted: bytes, name: str
) -> None:
    out = tmp_path / "out"
    assert kill_at_sync(ecosort, tmp_path, 12, *words_for(source, out, "--quiet", "--batch-size=1000"))
    path = job_directory(out) / name if name else job_directory(out)
    os.chown(path, NOBODY, NOBODY)
    for option in ((), ("--status",), ("--abandon",)):
        refused(run("resume", *option, out), 2, f"'{path}' belongs to user", "--trust-owner")
    os.chown(path, 0, 0)
    if name:
        target = tmp_path / "target"
        path.rename(target)
        path.symlink_to(target)
        for option in ((), ("--status",), ("--abandon",)):
            refused(run("resume", *option, out), 2, f"'{path}' is a symbolic link")
        path.unlink()
        target.rename(path)
    succeeded(run("resume", out))
    assert out.read_bytes() == wanted


def test_a_journal_that_was_changed_is_noticed(ecosort: Path, run: Run, source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert kill_at_sync(ecosort, tmp_path, 12, *words_for(source, out, "--quiet"))
    journal = job_directory(out) / "journal"
    whole = journal.read_bytes()
    magic = whole[8:16]
    records = [at for at in range(4096, len(whole), 4096) if whole[at + 8 : at + 16] == magic]
    flip(journal, records[0] + 60)  # the record of the first run, behind which there are others
    refused(run("resume", out), 3, "is damaged at run 0")
    flip(journal, records[0] + 60)
    succeeded(run("resume", out))
