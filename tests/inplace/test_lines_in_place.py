"""`lines --inplace`: the result, its space, what is refused, and that no line is lost whatever interrupts it."""

import itertools
import json
import os
import random
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from capabilities import SOAK, require
from lines_support import numbered_lines, random_lines, random_words, sorted_by_sort
from pairs import turns
from sort_support import MIB, FileSystem, Run, expected, listing, mounted, read_json, refused, succeeded

from .support import (
    KINDS,
    PHASES,
    Attempts,
    Kills,
    begun_phases,
    drive_of,
    ended,
    ended_by_power_cut,
    job_directory,
    kill_at_sync,
    killed_at_call,
    signal_at_sync,
    stopped_after,
    syncs_of,
    take_all_space,
    untouched,
)
from .test_resumable_lines import flip, phase_of, refused_by_lines

LINES = 250_000  # 8 MB
SMALL = ("-S", "16M")  # several runs, some checkpoints


@pytest.fixture(scope="session")
def text() -> bytes:
    return numbered_lines(LINES)


@pytest.fixture(scope="session")
def wanted(text: bytes) -> bytes:
    return sorted_by_sort(text)


@pytest.fixture
def lines(drive: FileSystem, text: bytes) -> Iterator[Path]:
    """A file to sort; afterwards the drive is empty again."""
    yield from fresh(drive, text)


@pytest.fixture
def lines4(ext4: FileSystem, text: bytes) -> Iterator[Path]:
    """The same on ext4 only, where the kind of drive does not matter."""
    yield from fresh(ext4, text)


def fresh(drive: FileSystem, text: bytes) -> Iterator[Path]:
    path = drive.root / "log"
    path.write_bytes(text)
    yield path
    subprocess.run(["rm", "-rf", *drive.root.iterdir()], check=True)


def words_for(path: Path, *more: str) -> tuple[str | Path, ...]:
    return ("lines", "--inplace", *SMALL, *more, path)


def plan_of(run: Run, path: Path, *more: str) -> dict[str, Any]:
    done = run("plan", "lines", "--json", *words_for(path, *more)[1:])
    assert done.returncode == 0, done
    plan = json.loads(done.stdout)
    assert isinstance(plan, dict)
    return plan


def renew(path: Path, text: bytes) -> None:
    assert not job_directory(path).exists()
    path.write_bytes(text)


def stopped_in_merge(ecosort: Path, run: Run, path: Path, directory: Path, text: bytes) -> None:
    """A job that was killed after its first checkpoints."""
    syncs = syncs_of(ecosort, directory, *words_for(path))
    for nth in range(syncs, 2, -1):
        renew(path, text)
        if kill_at_sync(ecosort, directory, nth, *words_for(path, "--quiet")):
            found = re.search(r"bytes in the output +(\d+) ", run("resume", "--status", path).stdout)
            if not path.exists() and found and int(found[1]) < len(text):
                assert int(found[1]) > 0, "it was killed before the first checkpoint"
                return
            run("resume", "-q", path)
    raise AssertionError("the sort was always faster")


# --- the result --------------------------------------------------------------------------------------------------------


def test_the_file_is_sorted_and_nothing_else_is_left(run: Run, lines: Path, wanted: bytes) -> None:
    lines.chmod(0o640)
    os.setxattr(lines, "user.kept", b"yes")
    succeeded(
        run(*words_for(lines)),
        f"ecosort lines: the lines are in '{lines}.ecosort' until they are sorted; "
        f"after an interruption: ecosort resume {lines}\n",
    )
    assert lines.read_bytes() == wanted
    assert listing(lines.parent) == [str(lines)]
    assert lines.stat().st_mode & 0o777 == 0o640
    assert os.getxattr(lines, "user.kept") == b"yes"


@pytest.mark.parametrize("backend", ["uring", "pool", "stxxl"])
def test_every_backend_sorts(run: Run, lines4: Path, wanted: bytes, backend: str) -> None:
    if backend == "uring":
        require("io_uring")
    succeeded(run(*words_for(lines4, "--io", backend, "--quiet", "--verify=reread")))
    assert lines4.read_bytes() == wanted


def test_any_options_give_the_bytes_of_an_ordinary_sort(run: Run, lines4: Path, tmp_path: Path) -> None:
    rng = random.Random(17)
    sorts = 0
    while sorts < 10:
        words = [*random_words(rng), *SMALL]
        if any(word.startswith(("-u", "--unique")) for word in words):
            continue
        lines4.write_bytes(random_lines(rng, rng.choice([1, 3, 1_000, 60_000])))
        if lines4.stat().st_size == 0:
            continue
        succeeded(run("lines", "--quiet", *words, lines4, "-o", tmp_path / "plain"))
        succeeded(run("lines", "--inplace", "--as-is", "--quiet", *words, lines4))  # some lines hold NUL bytes
        assert lines4.read_bytes() == (tmp_path / "plain").read_bytes(), words
        assert listing(lines4.parent) == [str(lines4)]
        sorts += 1


@pytest.mark.parametrize("data", [b"", b"\n", b"x", b"b\na", b"b\na\n", b"\0\n" * 3, b"\n" * 100_000])
def test_small_files_and_empty_lines(run: Run, lines4: Path, data: bytes) -> None:
    lines4.write_bytes(data)
    succeeded(run(*words_for(lines4, "--quiet", "--as-is")))
    assert lines4.read_bytes() == sorted_by_sort(data)
    assert listing(lines4.parent) == [str(lines4)]


def test_lines_longer_than_blocks(run: Run, lines4: Path) -> None:
    rng = random.Random(8)
    data = b"\n".join(b"%d " % rng.randrange(1000) + b"x" * rng.randrange(200_000) for _ in range(120))
    lines4.write_bytes(data)
    succeeded(run("lines", "--inplace", "--quiet", "-S", "16M", lines4))
    assert lines4.read_bytes() == sorted_by_sort(data)


def test_a_line_that_is_too_long_wants_more_memory_and_loses_nothing(run: Run, lines4: Path, text: bytes) -> None:
    data = text + b"y" * (2 * MIB) + b"\nlast"
    lines4.write_bytes(data)
    told = refused_by_lines(run(*words_for(lines4, "--quiet")), "no line is lost", "ecosort resume --memory SIZE")
    assert "byte" in told
    assert not lines4.exists()
    refused(run("resume", "-q", lines4), 2, "no line is lost", "ecosort resume --memory SIZE")
    succeeded(run("resume", "-q", "--memory", "96MiB", lines4))
    assert lines4.read_bytes() == sorted_by_sort(data)


# --- the space ---------------------------------------------------------------------------------------------------------


SHAPES = {
    "numbered": lambda: numbered_lines(250_000),
    "empty": lambda: b"\n" * 2_000_000,
    "long": lambda: b"".join(b"%d " % (i * 7919 % 1000) + b"z" * (i * 131 % 90_000) + b"\n" for i in range(400)),
    "mixed": lambda: b"\n" * 900_000 + (b"w" * 60_000 + b"\n") * 150,
}


@pytest.mark.parametrize(
    ("shape", "memory", "kind"),
    [(*row, kind) for row, kind in turns([("numbered", "16M"), ("empty", "16M"), ("long", "24M"), ("mixed", "24M")], KINDS)],
)
def test_exactly_the_space_of_the_plan_is_enough(run: Run, tmp_path: Path, kind: str, shape: str, memory: str) -> None:
    data = SHAPES[shape]()
    with drive_of(kind, tmp_path) as drive:
        path = drive.root / "log"
        path.write_bytes(data)
        need = plan_of(run, path, "-S", memory)["needed_bytes"]
        block = os.statvfs(drive.root).f_frsize
        drive.fill_until(need)
        free = drive.settled_free_bytes()
        assert need <= free < need + 4 * block
        for _ in range(8):
            if drive.settled_free_bytes() < need:
                break
            drive.fill_until(drive.settled_free_bytes() - block)
        refused_by_lines(run(*words_for(path, "-S", memory)), f"({need} bytes) needed", "free")
        untouched(path, data)
        drive.fill_until(need)
        succeeded(run(*words_for(path, "-S", memory, "--quiet")))
        assert path.read_bytes() == sorted_by_sort(data)


def test_less_space_is_used_with_less_memory(run: Run, lines: Path, wanted: bytes) -> None:
    plan = plan_of(run, lines, "-S", "64M")
    assert plan["least"]["need_bytes"] < plan["plan"]["need_bytes"]
    drive = FileSystem("", lines.parent, None)
    drive.fill_until(plan["needed_bytes"] + MIB)
    less = plan_of(run, lines, "-S", "64M")["plan"]
    assert less["memory_limit_bytes"] < 64 * MIB
    assert less["need_bytes"] <= plan["needed_bytes"] + MIB
    succeeded(run(*words_for(lines, "-S", "64M", "--quiet")))
    assert lines.read_bytes() == wanted


def test_someone_who_takes_all_other_space_does_not_stop_it(
    ecosort: Path, run: Run, lines: Path, tmp_path: Path, wanted: bytes
) -> None:
    """All that the job needs is reserved before lines leave the file. (What is given back another can get hold of first.)"""
    FileSystem("", lines.parent, None).fill_until(plan_of(run, lines)["needed_bytes"] + MIB)
    with stopped_after(ecosort, tmp_path / "trace", "renameat2", 1, *words_for(lines)) as process:
        greedy = take_all_space(lines.parent)
    code, told = ended(process)
    assert code in (0, 2), told
    if code == 2:
        assert f"no line is lost; continue with: ecosort resume {lines}" in told
        greedy.unlink()
        succeeded(run("resume", "-q", lines))
    assert lines.read_bytes() == wanted


def test_the_plan_tells_what_it_takes(run: Run, lines4: Path, text: bytes) -> None:
    plan = plan_of(run, lines4)
    assert plan["schema"] == "ecosort.lines-inplace-plan/1"
    assert plan["input_bytes"] == len(text)
    assert plan["needed_bytes"] <= plan["plan"]["need_bytes"] <= plan["free_bytes"]
    told = run("plan", *words_for(lines4))
    assert told.returncode == 0, told
    assert told.stdout.startswith("Plan: lines in place\n")
    assert f"({plan['needed_bytes']} bytes), perhaps with less memory\n" in told.stdout
    untouched(lines4, text)


# --- interruptions -----------------------------------------------------------------------------------------------------


@pytest.mark.timeout(1800 if SOAK else 300)
def test_killed_at_any_sync_it_continues(
    ecosort: Path, run: Run, lines: Path, tmp_path: Path, text: bytes, wanted: bytes
) -> None:
    syncs = syncs_of(ecosort, tmp_path, *words_for(lines))
    assert lines.read_bytes() == wanted
    kills = 0
    for nth in range(1, syncs + 1, 1 if SOAK else max(1, syncs // 7)):
        renew(lines, text)
        kills += kill_at_sync(ecosort, tmp_path, nth, *words_for(lines, "--quiet"))
        if job_directory(lines).exists():
            done = run("resume", "-q", lines)
            assert done.returncode == 0 or "is whole" in done.stderr, done
        assert lines.read_bytes() in (wanted, text)
        if lines.read_bytes() == text:
            succeeded(run(*words_for(lines, "--quiet")))
        assert lines.read_bytes() == wanted, nth
    assert kills >= 5


@pytest.mark.timeout(1800 if SOAK else 300)
@pytest.mark.parametrize("call", ["fallocate", "ftruncate", "unlinkat", "renameat2", "fsync"])
def test_killed_at_any_call_that_gives_up_or_takes_space_it_continues(
    ecosort: Path, run: Run, lines4: Path, tmp_path: Path, text: bytes, wanted: bytes, call: str
) -> None:
    kills = 0
    for nth in itertools.count(1) if SOAK else (1, 2, 4, 7, 11):
        renew(lines4, text)
        if not killed_at_call(ecosort, tmp_path, call, nth, *words_for(lines4, "--quiet")):
            assert lines4.read_bytes() == wanted
            break
        kills += 1
        if job_directory(lines4).exists() or lines4.with_name(f"{lines4.name}.ecosort-done").exists():
            done = run("resume", "-q", lines4)
            assert done.returncode == 0 or "is whole" in done.stderr, done
        if lines4.read_bytes() == text:
            succeeded(run(*words_for(lines4, "--quiet")))
        assert lines4.read_bytes() == wanted, nth
        assert listing(lines4.parent) == [str(lines4)]
    assert kills >= 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_at_a_checkpoint(
    ecosort: Path, run: Run, lines4: Path, tmp_path: Path, wanted: bytes, number: signal.Signals
) -> None:
    done = signal_at_sync(ecosort, tmp_path, 4, number, *words_for(lines4))
    assert done.returncode == 128 + number, done
    assert "stopped at a checkpoint; no line is lost" in done.stderr
    assert phase_of(run, lines4) == "run formation"
    succeeded(run("resume", "-q", lines4))
    assert lines4.read_bytes() == wanted


def test_the_status_tells_how_far_it_is(
    ecosort: Path, run: Run, lines4: Path, tmp_path: Path, text: bytes, wanted: bytes
) -> None:
    stopped_in_merge(ecosort, run, lines4, tmp_path, text)
    told = run("resume", "--status", lines4).stdout
    assert told.startswith(f"{lines4}: merge\n  job                            sort in place of the lines of '{lines4}'\n")
    assert f"bytes of the inputs in runs    {len(text)} of {len(text)} (100.0 %), {LINES} lines\n" in told
    before = listing(lines4.parent)
    refused(
        run("merge", "--runs", job_directory(lines4), "-o", tmp_path / "x"),
        2,
        "given up parts of them already",
        f"ecosort resume --abandon {lines4}",
    )
    assert listing(lines4.parent) == before
    lines4.write_bytes(b"another file\n")
    refused(run("resume", lines4), 2, "exists beside the job", "move it away")
    lines4.unlink()
    refused(run("resume", "--memory", "2MiB", lines4), 2, "which was laid out for 16 MiB; try --memory 16384KiB")
    succeeded(run("resume", "-q", lines4))
    assert lines4.read_bytes() == wanted


@pytest.mark.parametrize("phase", ["run_formation", "merge"])
def test_given_up_at_any_time_it_gives_back_all_lines_in_as_many_bytes(
    ecosort: Path, run: Run, lines4: Path, tmp_path: Path, text: bytes, phase: str
) -> None:
    """The last line has no end; the space is that of the job, and not more."""
    text = text[:-1]
    lines4.write_bytes(text)
    lines4.chmod(0o640)
    plan = plan_of(run, lines4)
    FileSystem("", lines4.parent, None).fill_until(plan["needed_bytes"] + MIB)
    if phase == "merge":
        stopped_in_merge(ecosort, run, lines4, tmp_path, text)
    else:
        assert kill_at_sync(ecosort, tmp_path, 6, *words_for(lines4, "--quiet"))
    assert phase_of(run, lines4) == phase.replace("_", " ")
    with stopped_after(ecosort, tmp_path / "abandon", "fdatasync", 5, "resume", "--abandon", lines4) as process:
        process.kill()
        process.wait()
    assert run("resume", "--status", lines4).stdout.startswith(f"{lines4}: being abandoned\n")
    succeeded(run("resume", "--abandon", "-q", lines4))
    given = lines4.read_bytes()
    assert len(given) == len(text)
    assert sorted(given.split(b"\n")) == sorted(text.split(b"\n"))
    assert lines4.stat().st_mode & 0o777 == 0o640
    assert not job_directory(lines4).exists()


@pytest.mark.parametrize("command", ["lines", "inplace"])
def test_blocks_beyond_the_end_are_given_back(run: Run, tmp_path: Path, wanted: bytes, text: bytes, command: str) -> None:
    """XFS puts as much aside behind a file that grows as it has; a full drive has no room but that. Records, too."""
    with drive_of("xfs", tmp_path) as drive:
        path = drive.root / "log"
        words = words_for(path)
        if command == "inplace":
            text = text[: len(text) // 16 * 16]
            wanted = expected(text, 16)
            words = ("inplace", "--record-size", "16", "--memory", "16MiB", path)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.write(fd, text)
        os.fsync(fd)
        subprocess.run(["xfs_io", "-c", f"falloc -k {len(text)} {32 * MIB}", path], check=True)
        os.close(fd)
        modified = path.stat().st_mtime_ns
        beyond = path.stat().st_blocks * 512 - len(text)
        assert beyond > 16 * MIB
        drive.fill_until(MIB)
        plan = json.loads(run("plan", words[0], "--json", *words[1:]).stdout)
        assert plan["fits"]
        assert plan["free_bytes"] > beyond
        assert path.stat().st_mtime_ns == modified
        done = run(*words)
        assert done.returncode == 0, done
        assert f"'{path}' gives back " in done.stderr
        assert path.read_bytes() == wanted


def test_it_can_be_given_up_before_a_line_has_left_the_file(
    ecosort: Path, run: Run, lines4: Path, tmp_path: Path, text: bytes
) -> None:
    with stopped_after(ecosort, tmp_path / "trace", "renameat2", 1, *words_for(lines4)) as process:
        assert not lines4.exists()
        process.kill()
        process.wait()
    succeeded(run("resume", "--abandon", "-q", lines4))
    untouched(lines4, text)


def test_an_input_that_changed_is_refused(ecosort: Path, run: Run, lines4: Path, tmp_path: Path, wanted: bytes) -> None:
    assert kill_at_sync(ecosort, tmp_path, 5, *words_for(lines4, "--quiet"))
    taken = job_directory(lines4) / "input"
    with taken.open("ab") as file:
        file.write(b"another line\n")
    refused(run("resume", lines4), 3, "which no step of this job leaves", f"ecosort resume --abandon {lines4}")
    os.truncate(taken, taken.stat().st_size - len(b"another line\n"))
    succeeded(run("resume", "-q", lines4))
    assert lines4.read_bytes() == wanted


@pytest.mark.parametrize("harm", ["removed", "cut"])
def test_a_run_that_is_lost_costs_no_line_of_another(
    ecosort: Path, run: Run, lines4: Path, tmp_path: Path, text: bytes, harm: str
) -> None:
    assert kill_at_sync(ecosort, tmp_path, 9, *words_for(lines4, "--quiet"))
    victim = job_directory(lines4) / "run-000001"
    had = victim.stat().st_size
    if harm == "removed":
        victim.unlink()
    else:
        os.truncate(victim, had // 2)
    for words in ((), ("--abandon",)):
        refused(run("resume", *words, lines4), 3, "run-000001", f"ecosort resume --abandon {lines4}", "with --trust-drive")
    done = run("resume", "--abandon", "--trust-drive", lines4)
    assert done.returncode == 0, done
    assert "zeros are in place of the rest" in done.stderr
    given = lines4.read_bytes()
    missing = Counter(text.split(b"\n")) - Counter(given.split(b"\n"))
    assert len(given) == len(text)
    assert 0 < sum(len(line) + 1 for line in missing.elements()) <= had


def test_an_input_that_somebody_cut_is_not_given_back_in_silence(ecosort: Path, run: Run, lines4: Path, tmp_path: Path) -> None:
    assert kill_at_sync(ecosort, tmp_path, 2, *words_for(lines4, "--quiet"))
    os.truncate(job_directory(lines4) / "input", 0)
    done = run("resume", "--abandon", lines4)
    assert done.returncode == 0, done
    assert "bytes when the job began and has 0 now" in done.stderr


def test_space_that_was_kept_in_vain_is_kept_anew(ecosort: Path, run: Run, lines4: Path, tmp_path: Path, wanted: bytes) -> None:
    assert kill_at_sync(ecosort, tmp_path, 9, *words_for(lines4, "--quiet"))
    (job_directory(lines4) / "spare").unlink()
    succeeded(run("resume", "-q", lines4))
    assert lines4.read_bytes() == wanted


def test_a_flipped_bit_ends_it_before_anything_more_is_given_up(
    ecosort: Path, run: Run, lines4: Path, tmp_path: Path, text: bytes, wanted: bytes
) -> None:
    stopped_in_merge(ecosort, run, lines4, tmp_path, text)
    victim = max(job_directory(lines4).glob("run-*"), key=lambda path: path.stat().st_size)
    at = victim.stat().st_size - 5000
    flip(victim, at)
    refused(run("resume", lines4), 3, "damaged", "restore the file from a copy")
    flip(victim, at)
    output = job_directory(lines4) / "output"
    flip(output, 3)
    refused(run("resume", lines4), 3, "is not what was written to it", "ecosort resume --trust-drive")
    flip(output, 3)
    succeeded(run("resume", "-q", lines4))
    assert lines4.read_bytes() == wanted


class Job(Attempts):
    """One file that is sorted, whatever gets in the way."""

    def __init__(self, ecosort: Path, drive: FileSystem, text: bytes, directory: Path) -> None:
        super().__init__(ecosort, directory)
        self.text, self.path = text, drive.root / "log"

    def is_under_way(self) -> bool:
        return not self.path.exists()

    def next_words(self) -> list[str | Path]:
        return ["resume", self.path] if self.is_under_way() else list(words_for(self.path))

    def renew(self) -> None:
        """A new file: one that is written again may keep space behind its end on XFS for a while."""
        self.path.unlink(missing_ok=True)
        self.path.write_bytes(self.text)


def tidy_up(run: Run, path: Path) -> None:
    """Tidies up after a job that was stopped before it began, or when all was done but the last removal."""
    if job_directory(path).exists():
        done = run("resume", path)
        assert done.returncode == 0 or "is whole" in done.stderr, done
    assert not job_directory(path).exists()


def make_job(ecosort: Path, run: Run, drive: FileSystem, text: bytes, directory: Path) -> Job:
    job = Job(ecosort, drive, text, directory)
    job.renew()
    drive.fill_until(plan_of(run, job.path)["needed_bytes"] + 4 * MIB)
    job.count()
    job.renew()
    return job


@pytest.mark.timeout(1800 if SOAK else 300)
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_random_moments(ecosort: Path, run: Run, tmp_path: Path, text: bytes, wanted: bytes, kind: str) -> None:
    kills = Kills(60 if SOAK else 8, random.Random(kind))
    with drive_of(kind, tmp_path) as drive:
        job = make_job(ecosort, run, drive, text, tmp_path)
        while not kills.are_enough():
            is_resumption = job.is_under_way()
            code, told = kills.strike(job)
            assert code in (0, -signal.SIGKILL), told
            if job.is_under_way():
                continue
            tidy_up(run, job.path)
            assert job.path.read_bytes() in ((wanted,) if is_resumption else (wanted, text))
            job.renew()
        if job.is_under_way():
            assert run("resume", job.path).returncode == 0
            assert job.path.read_bytes() == wanted
    kills.check(f"lines in place on {kind}")


@pytest.mark.timeout(1800 if SOAK else 300)
@pytest.mark.parametrize("kind", KINDS)
def test_power_cut_at_random_moments(ecosort: Path, run: Run, tmp_path: Path, text: bytes, wanted: bytes, kind: str) -> None:
    rng = random.Random(f"cut {kind}")
    cuts = 0
    with drive_of(kind, tmp_path) as drive:
        job = make_job(ecosort, run, drive, text, tmp_path)
        while cuts < (16 if SOAK else 4):
            subprocess.run(["sync", "-f", drive.root], check=True)
            is_resumption = job.is_under_way()
            code, _ = ended_by_power_cut(job, drive, job.moment(rng, rng.choice(PHASES)))
            cuts += code != 0
            if job.is_under_way():
                continue  # the next one is a resumption
            tidy_up(run, job.path)
            assert job.path.read_bytes() in ((wanted,) if is_resumption else (wanted, text))
            job.renew()
        if job.is_under_way():
            assert run("resume", job.path).returncode == 0
            assert job.path.read_bytes() == wanted


# --- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("-u",), "-u is not available in place"),
        (("--header",), "--header cannot be combined with --inplace"),
        (("-c",), "-c and -C sort nothing"),
        (("-m",), "-m cannot be combined with --inplace"),
        (("-T", "/tmp"), "-T means nothing in place"),
        (("-o", "x"), "-o means nothing in place"),
        (("--resumable",), "leave --resumable out"),
        (("--debug",), "--debug cannot be combined with"),
        (("--batch-size", "9"), "all runs are merged at once"),
        (("--trace", "t"), "--trace cannot be combined with"),
        (("--compress=lz4",), "uncompressed"),
        (("--compress-program", "gzip"), "uncompressed"),
        (("--compress-output=gz",), "--compress-output cannot be combined with"),
        (("another",), "name one file"),
    ],
)
def test_what_cannot_be_had_in_place_is_refused(run: Run, lines4: Path, text: bytes, more: tuple[str, ...], told: str) -> None:
    refused_by_lines(run("lines", "--inplace", "--quiet", *more, lines4), told)
    refused(run("plan", "lines", "--inplace", *more, lines4), 2, told)
    untouched(lines4, text)


def test_streams_directories_links_and_compressed_files_are_refused(run: Run, lines4: Path, text: bytes) -> None:
    refused_by_lines(run("lines", "--inplace", "--quiet"), "name one file")
    refused_by_lines(run("lines", "--inplace", "--quiet", "-"), "name one file")
    refused_by_lines(run("lines", "--inplace", "--quiet", lines4.parent), "directory")
    refused_by_lines(run("lines", "--inplace", "--quiet", lines4.with_name("missing")), "No such file")
    link = lines4.with_name("link")
    link.symlink_to(lines4)
    refused_by_lines(run("lines", "--inplace", "--quiet", link), "symbolic link")
    link.unlink()
    untouched(lines4, text)
    subprocess.run(["gzip", "-k", lines4], check=True)
    packed = lines4.with_name("log.gz")
    for words in ([], ["--decompress=auto"], ["--decompress=never"]):
        refused_by_lines(run("lines", "--inplace", "--quiet", *words, packed), "decompress it first")


@pytest.mark.parametrize(
    ("begins", "told"),
    [
        (b"]\0\0\x80\0" + b"\xff" * 8 + b"\0", "xz -dc"),
        (b"\x02\x21\x4c\x18", "lz4 -dc"),
        (b"\x50\x2a\x4d\x18\x04\0\0\0abcd\x28\xb5\x2f\xfd", "zstd -dc"),
        (b"\x1f\x9d\x90", "zcat"),
        (b"LZIP\x01", "lzip -dc"),
        (b"PK\x03\x04", "unpack it"),
        (b"SQLite format 3\0", "sqlite3 -csv"),
        (b"PAR1\x15\x04", "ecosort parquet"),
        (b"n.txt" + bytes(252) + b"ustar", "tar -xf"),
    ],
    ids=["lzma", "lz4 -l", "pzstd", "compress", "lzip", "zip", "SQLite", "Parquet", "tar"],
)
def test_what_holds_no_lines_is_refused(run: Run, lines4: Path, text: bytes, begins: bytes, told: str) -> None:
    """In the space of the file its bytes would be rearranged for good."""
    text = text[: text.index(b"\n", 100_000) + 1]
    lines4.write_bytes(begins + text)
    for words in ((), ("-z",)):
        refused_by_lines(run("lines", "--inplace", "--quiet", *words, lines4), "cannot be sorted in place", told, "--as-is")
    refused(run("plan", "lines", "--inplace", lines4), 2, told)
    untouched(lines4, begins + text)
    succeeded(run("lines", "--inplace", "--quiet", "--as-is", lines4))
    assert lines4.read_bytes() == sorted_by_sort(begins + text)


@pytest.mark.parametrize("place", [0, 300_001, -2])
def test_nul_bytes_are_refused_where_they_end_no_lines(run: Run, lines4: Path, text: bytes, place: int) -> None:
    text = text[: text.index(b"\n", 600_000) + 1]
    held = bytearray(text)
    held[place] = 0
    lines4.write_bytes(held)
    refused_by_lines(run("lines", "--inplace", "--quiet", lines4), f"NUL byte at byte {place % len(text)}", "-z", "--as-is")
    untouched(lines4, bytes(held))
    succeeded(run("lines", "--inplace", "--quiet", "-z", lines4))
    assert lines4.read_bytes() == b"".join(line + b"\0" for line in sorted(bytes(held).split(b"\0")))
    lines4.write_bytes(held)
    succeeded(run("lines", "--inplace", "--quiet", "--as-is", lines4))
    assert lines4.read_bytes() == sorted_by_sort(bytes(held))


def test_as_is_goes_with_inplace_alone(run: Run, lines4: Path, text: bytes) -> None:
    refused_by_lines(run("lines", "--as-is", lines4), "--as-is goes with --inplace")
    refused(run("plan", "lines", "--as-is", lines4), 2, "--as-is goes with --inplace")
    untouched(lines4, text)


@pytest.mark.parametrize("kind", ["tmpfs", "btrfs"])
def test_other_file_systems_are_refused(run: Run, tmp_path: Path, kind: str) -> None:
    require("loop_mount")
    if kind == "btrfs":
        require("btrfs")
    with mounted(tmp_path, kind, 128 * MIB) as drive:
        path = drive.root / "log"
        path.write_bytes(b"b\na\n")
        refused_by_lines(
            run("lines", "--inplace", path), f"its file system is {kind}, and must be ext4 or XFS", "ecosort lines -o"
        )
        untouched(path, b"b\na\n")


def test_too_little_memory_says_what_suffices(run: Run, lines4: Path, text: bytes, wanted: bytes) -> None:
    told = refused_by_lines(run("lines", "--inplace", "--quiet", "--memory", "1MiB", lines4), "too little", "try -S ")
    enough = re.search(r"try (-S) (\d+K)\n", told)
    assert enough, told
    untouched(lines4, text)
    succeeded(run("lines", "--inplace", "--quiet", *enough.groups(), lines4))
    assert lines4.read_bytes() == wanted


def test_statistics_and_events_are_those_of_lines(run: Run, lines4: Path, tmp_path: Path, text: bytes) -> None:
    words = words_for(lines4, "--stats", str(tmp_path / "stats"), "--events", str(tmp_path / "events"), "--quiet")
    succeeded(run(*words))
    stats = read_json(tmp_path / "stats")
    assert stats["schema"] == "ecosort.lines-stats/1"
    assert stats["peak_temp_bytes"] < 2 * len(text)
    assert begun_phases(tmp_path / "events")[:4] == ["total", "prepare", "run_formation", "merge"]
    assert stats["bytes_written"] >= 2 * len(text)
