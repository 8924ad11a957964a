"""The queue as its user sees it: what is accepted, when it is done, what a request does."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pty
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import forked
import pytest
from conftest import ROOT
from ecosort_appliance import jobs, times
from ecosort_appliance.cgroups import make_group
from ecosort_appliance.database import open_database
from ecosort_appliance.errors import QueueError
from ecosort_appliance.jobdir import JobDirectory
from ecosort_appliance.jobs import Job
from ecosort_appliance.processes import LOCK_NAME, try_lock
from ecosort_appliance.program import gently, yield_as_session
from ecosort_appliance.scheduler import refuse_second
from ecosort_appliance.space import shortage_in, shortage_told
from ecosort_appliance.standing import Standing
from ecosort_appliance.tasks import made, typed
from ecosort_appliance.watch import look
from sort_support import Require, as_plain_user, directory_for_everyone, faults, mounted

from .support import COMMAND, Queue, copy_packages, wait_for

RECORDS = ("--record-size", "16", "--key", "0:4")
SORT = ("sort", *RECORDS, "in.dat", "-o", "out.dat")

# --- words


@pytest.mark.parametrize(
    ("words", "output", "inputs", "can_resume"),
    [
        ("sort a b -o c", "c", ("a", "b"), True),
        ("sort -o=c a", "=c", ("a",), True),
        ("sort --output=c --key 0:4 --resumable a", "c", ("a",), True),
        ("sort --compress=zstd --assume-ratio 2 a -o b", "b", ("a",), True),
        ("sort --unique a -o b", "b", ("a",), False),
        ("lines -t, -k2,2n --header=3 x -oy", "y", ("x",), True),
        ("lines x --outp y", "y", ("x",), True),
        ("lines --compress lz4 a -o b", "b", ("a",), True),
        ("lines --compress-program=gzip a -o b", "b", ("a",), False),
        ("lines --compress-output=zstd a -o b", "b", ("a",), False),
        ("lines --inpl a", "a", ("a",), True),
        ("merge --lines -t, -k2 a b -o c", "c", ("a", "b"), False),
        ("csv --by name:text:desc a.csv -o b.csv", "b.csv", ("a.csv",), True),
        ("csv --by n --compress=lz4 a -o b", "b", ("a",), True),
        ("csv --by n a.gz -o b", "b", ("a.gz",), False),
        ("jsonl --by n --assume-ratio=2 --compress=auto a -o b.zst", "b.zst", ("a",), False),
        ("shuffle --seed 1 a -o b", "b", ("a",), False),
        ("inplace --memory 1GiB big", "big", ("big",), True),
    ],
)
def test_what_words_mean(
    ecosort: Path, monkeypatch: pytest.MonkeyPatch, words: str, output: str, inputs: tuple[str, ...], can_resume: bool
) -> None:
    monkeypatch.setenv("ECOSORT_PROGRAM", str(ecosort))
    job = Job(words=words.split(), directory="/", uid=os.geteuid())
    found = typed(job)
    task = made(replace(job, resumable=found.resumable), found)
    assert (task.output, task.inputs, task.kind != "file") == (output, inputs, can_resume)


@pytest.mark.parametrize(
    "words",
    [
        *("", "gen 1 x", "sort a", "sort -o b", "sort - -o b", "sort a -o -", "lines -c a -o b", "csv --check a -o b"),
        *("sort --stats s a -o b", "sort --progress=json a -o b", "lines --files0-from f -o b", "sort --no-such a -o b"),
        *("inplace a b", "merge --resumable a -o b", "sort --help"),
    ],
)
def test_what_no_queue_can_do_is_refused(queue: Queue, words: str) -> None:
    done = queue.run("add", "--", *words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("options", "words", "why"),
    [
        ("", "sort absent -o x", "cannot open 'absent': No such file"),
        ("", "csv --by n absent -o x", "cannot open 'absent': No such file"),
        ("", "inplace absent", "cannot open 'absent': No such file"),
        ("", "sort in.dat -o in.dat", "is the input"),
        ("", "merge in.dat -o ./in.dat", "is the input"),
        ("--at 2100-01-01", "sort in.dat -o nowhere/x", "create it first"),
        ("--watch .", "sort {} -o ../nowhere/{name}", "create it first"),
        ("", "sort --memory 4MX in.dat -o x", "'4MX' is not a size; write a whole number and a unit"),
        ("--every daily", "csv --memory 4MX --by n in.dat -o x", "'4MX' is not a size"),
        ("--memory 4mix", "sort in.dat -o x", "--memory: '4mix' is no size such as 512MiB"),
        ("--memory 1GiB", "sort --memory 4MiB in.dat -o x", "two memories"),
        ("--settle 5", "sort in.dat -o x", "--settle goes with --watch"),
        ("--memory 1GiB", "lines -S 1G in.dat -o x", "two memories"),
        ("", "sort --memori 3 in.dat -o x", "sort: no such option: '--memori'; did you mean '--memory'? (see"),
        ("", "csv --zzzz in.dat -o x", "csv: no such option: '--zzzz' (see ecosort csv --help)"),
        ("", "csv in.dat -o", "csv: --output: needs a value (see ecosort csv --help)"),
        ("", "sort --key 0:zz in.dat -o x", "zz"),
        ("", "merge --record-size 16 --key 0:zz in.dat -o x", "key '0:zz'"),
        ("", "merge --record-size 16 --key 0:4 in.dat . -o x", "'.' is a directory"),
        ("", "merge --record-size 7 --key 0:4 in.dat -o x", "no multiple of the record size 7"),
        ("", "sort fifo -o x", "input 'fifo' is no file, but a pipe, a socket or a device"),
        ("--at 2100-01-01", "lines in.dat fifo -o x", "input 'fifo' is no file"),
        ("", "merge --lines -k 0 in.dat -o x", "field number is zero"),
        ("--not-resumable", "lines -k 0 in.dat -o x", "field number is zero"),
        ("", "lines --level 77 --compress-output zstd in.dat -o x", "zstd has levels"),
        ("--every daily", "csv in.dat -o x", "name a column with --by"),
        ("--at 2100-01-01", "jsonl --by a[ absent -o x", "a bracket wants a number"),
        ("--at 2100-01-01", "inplace --key 0:zz absent", "key '0:zz'"),
        ("--watch .", "sort --key zz {} -o /{name}", "key 'zz': no length"),
        ("--watch .", "lines --header=x -k1 {} -o /{name}", "--header"),
        ("--watch .", "merge --lines -k 0 {} -o /{name}", "field number is zero"),
        ("--watch .", "sort --resumable --unique {} -o /{name}", "--unique cannot be combined with --resumable"),
    ],
)
def test_what_would_fail_at_night_is_refused_at_once(queue: Queue, records: Path, options: str, words: str, why: str) -> None:
    os.mkfifo(queue.place / "fifo")
    done = queue.run("add", *options.split(), "--", *words.split())
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
    assert why in done.stderr


@contextlib.contextmanager
def queue_for_everyone(ecosort: Path) -> Iterator[Queue]:
    """In a directory where any user may run the program and the packages."""
    with directory_for_everyone() as base:
        shutil.copy(ecosort, base / "ecosort")
        copy_packages(base / "packages")
        queue = Queue(base / "queue", base / "ecosort")
        queue.environment["PYTHONPATH"] = str(base / "packages")
        yield queue


def test_an_input_that_may_not_be_reached_is_told_as_such(ecosort: Path, require: Require) -> None:
    require("setpriv")
    with queue_for_everyone(ecosort) as queue:
        base = queue.place.parent
        (base / "closed").mkdir(mode=0o700)
        (base / "closed" / "in.dat").touch()
        queue.place.chmod(0o777)
        command = as_plain_user(*COMMAND, "queue", "add", "--", "sort", *RECORDS, str(base / "closed" / "in.dat"), "-o", "x")
        done = subprocess.run(command, cwd=queue.place, env=queue.environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
    assert "Permission denied" in done.stderr


def test_an_input_may_come_later(queue: Queue, records: Path) -> None:
    """It is warned of; no word about one that a job before it makes."""
    later = queue.run("add", "--at", "2100-01-01", "--", "sort", *RECORDS, "absent", "-o", "x")
    assert (later.returncode, later.stdout) == (0, "1\n")
    assert later.stderr == "ecosort: there is no 'absent' yet; it must be there when the job begins\n"
    queue.add(*SORT)
    chained = queue.run("add", "--", "sort", *RECORDS, "out.dat", "-o", "again.dat")
    assert (chained.returncode, chained.stderr) == (0, "")
    queue.ok("run")
    assert queue.job(3)["state"] == "done"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("", "merge --lines -k1,1 -t, in.dat -o x"),
        ("", "merge --record-size 16 --key 0:4 --memory 4MiB in.dat in.dat -o x"),
        ("--at 2100-01-01", "sort --record-size 16 --key 0:4 --temp absent in.dat -o x"),
        ("--at 2100-01-01", "sort --record-size 16 --key 0:4 --memory 900TB in.dat -o x"),
        ("--watch .", "lines --header=2 -k1,1 -T absent {} -o /{name}"),
        ("--watch .", "csv --by no-one-knows {} -o /{name}"),
        ("--watch .", "merge --runs {} -o /{name}"),
    ],
)
def test_what_may_yet_be_is_queued(queue: Queue, records: Path, options: str, words: str) -> None:
    done = queue.run("add", *options.split(), "--", *words.split())
    assert (done.returncode, done.stdout) == (0, "1\n"), done


def test_a_merge_in_memory_is_queued(queue: Queue, records: Path) -> None:
    """A sort of files so large would store runs, and refuse to."""
    with (queue.place / "large").open("wb") as file:
        file.truncate(1 << 40)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        words = ("--record-size", "1024", "--key", "0:4", "large", "-o", f"{directory}/out")
        assert "memory" in queue.run("add", "--not-resumable", "--", "sort", *words).stderr
        assert queue.run("add", "--", "merge", *words).stderr == ""
        assert queue.run("add", "--", "merge", "--expect-hash", "0" * 32, *words[:-1], f"{directory}/other").stderr == ""


@pytest.mark.parametrize("command", [("sort", *RECORDS), ("lines",)])
def test_an_output_in_memory_is_sorted_without_resumable(queue: Queue, records: Path, command: tuple[str, ...]) -> None:
    """Nothing there outlives a power cut. The user never typed --resumable."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        number = queue.add(*command, "in.dat", "-o", f"{directory}/out")
        assert not queue.job(number)["resumable"]
        queue.ok("run")
        assert queue.job(number)["state"] == "done", queue.log(number)
        done = queue.run("add", "--", *command, "--resumable", "in.dat", "-o", f"{directory}/out")
        assert done.returncode == 2
        assert "is kept in memory" in done.stderr


def test_jobs_that_an_older_program_queued_are_done(queue: Queue, records: Path) -> None:
    """It stored their words alone, and did not write of a sort in place that it can be resumed."""
    first = queue.add(*SORT, options=("--memory", "4MiB"))
    second = queue.add("inplace", *RECORDS, "later.dat", options=("--at", "2100-01-01"))
    with contextlib.closing(sqlite3.connect(queue.directory / "queue.sqlite")) as connection:
        connection.executescript(
            "ALTER TABLE jobs DROP COLUMN journal; ALTER TABLE jobs DROP COLUMN request;"
            f"UPDATE jobs SET resumable = 0 WHERE id = {second}; PRAGMA user_version=5;"
        )
    assert queue.job(second)["resumable"]
    queue.ok("run")
    assert (queue.job(first)["state"], (queue.place / "out.dat").stat().st_size) == ("done", records.stat().st_size)


# --- one writer


def test_two_jobs_never_write_one_file(queue: Queue, records: Path) -> None:
    """By whatever name, until the first one has ended."""
    (queue.place / "link").symlink_to("out.dat")
    (queue.place / "dir").symlink_to(".")
    first = queue.add(*SORT)
    for other in ("out.dat", "./out.dat", "link", "dir/out.dat", str(queue.place / "out.dat")):
        done = queue.run("add", "--", *SORT[:-1], other)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"job {first} writes" in done.stderr
    assert queue.run("add", "--", "inplace", "out.dat").returncode == 2
    queue.ok("run")
    queue.add(*SORT)


def test_a_link_that_turned_round_meanwhile(queue: Queue, records: Path) -> None:
    """It is looked at again when the job starts."""
    (queue.place / "link").symlink_to("a.dat")
    first = queue.add(*SORT[:-1], "out.dat", options=("--at", "2100-01-01"))
    second = queue.add(*SORT[:-1], "link")
    (queue.place / "link").unlink()
    (queue.place / "link").symlink_to("out.dat")
    service = queue.start()
    wait_for(lambda: f"job {first} writes" in queue.job(second)["reason"])
    assert service.wait(60) == 0
    assert not (queue.place / "out.dat").exists()
    assert queue.job(second)["state"] == "queued"


@pytest.mark.parametrize(
    "words",
    [
        "sort --record-size 16 --key 0:4 in.dat -o {queue}/queue.sqlite",
        "sort --record-size 16 --key 0:4 in.dat -o link/new",
        "sort --record-size 16 --key 0:4 in.dat --temp link -o x",
        "sort --record-size 16 --key 0:4 in.dat --events {queue}/queue.sqlite -o x",
        "sort --record-size 16 --key 0:4 in.dat --trace={queue}/jobs/trace -o x",
        "inplace {queue}/queue.sqlite",
    ],
)
def test_nothing_is_written_among_the_queues_own_files(queue: Queue, records: Path, words: str) -> None:
    queue.ok("list")
    (queue.place / "link").symlink_to(queue.directory)
    done = queue.run("add", "--", *words.format(queue=queue.directory).split())
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "where the queue keeps its own files; name another place" in done.stderr
    (queue.place / "outside").mkdir()
    number = queue.add(*SORT[:-1], "outside/queue.sqlite")
    (queue.place / "outside").rmdir()
    (queue.place / "outside").symlink_to(queue.directory)  # it is looked at again when the job starts
    service = queue.start()
    wait_for(lambda: "keeps its own files" in queue.job(number)["reason"])
    assert service.wait(60) == 0


def test_a_failed_job_tells_how_its_output_gets_free(queue: Queue) -> None:
    """A failed job names the job directory that it left. Where it left none, nothing is in the way."""
    (queue.place / "in.csv").write_text("n\n1\nx\n")
    words = ("csv", "--strict", "--by", "n:number", "in.csv", "-o", "out.csv")
    number = queue.add(*words)
    assert queue.run("run").returncode == 1
    (queue.place / "in.csv").write_text("n\n2\n1\n")
    left = queue.place / "out.csv.ecosort"
    if left.exists():
        done = queue.run("add", "--", *words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert f"job {number} failed and left '{left}': remove that with `ecosort queue cancel {number}`" in done.stderr
        queue.ok("cancel", str(number))
        assert f"job {number} still has to remove what it left" in queue.run("add", "--", *words).stderr
        queue.ok("run")
    second = queue.add(*words)
    assert f"or `ecosort queue cancel {second}` first" in queue.run("add", "--", *words).stderr
    queue.ok("run")
    assert (queue.place / "out.csv").read_text() == "n\n1\n2\n"


def test_an_interrupted_sort_of_the_user_is_left_alone(queue: Queue, records: Path, ecosort: Path, tmp_path: Path) -> None:
    """A job that had failed before it made its job directory took what a user's own sort had left there: it finished that, and
    was done, or its cancellation removed that."""
    number = queue.add(*SORT)
    records.rename(tmp_path / "in.dat")
    queue.run("run")
    assert queue.job(number)["state"] == "failed"
    (tmp_path / "in.dat").rename(records)
    shutil.copy(records, queue.place / "own.dat")
    killed = (*faults(tmp_path, "fdatasync,fsync:signal=KILL:when=4"), ecosort)
    own = (*killed, "sort", *RECORDS, "--resumable", "own.dat", "-o", "out.dat")
    assert subprocess.run(own, cwd=queue.place, check=False).returncode == -signal.SIGKILL
    journal = (queue.place / "out.dat.ecosort/journal").read_bytes()
    queue.ok("retry", str(number))
    queue.run("run")
    assert queue.job(number)["state"] == "failed"
    assert "is of another sort to that output, which has not ended" in queue.job(number)["reason"]
    assert queue.ok("cancel", str(number)).endswith("is cancelled\n")
    queue.ok("run")
    assert (queue.place / "out.dat.ecosort/journal").read_bytes() == journal
    subprocess.run([ecosort, "resume", "-q", "out.dat"], cwd=queue.place, check=True)
    queue.ok("retry", str(number))
    queue.ok("run")
    assert queue.job(number)["state"] == "done"


# --- requests


def slow(queue: Queue) -> int:
    (queue.place / "in.dat").write_bytes(random.Random(1).randbytes(16 * 1_000_000))
    return queue.add(*SORT, options=("--memory", "4MiB"))


def test_pause_and_resume_go_on_from_there(queue: Queue) -> None:
    number = slow(queue)
    service = queue.start("serve", "--no-page", "--tick", "0.02")
    with queue.held(number, queue.place / "out.dat.ecosort"):
        queue.ok("pause", str(number))
    wait_for(lambda: queue.job(number)["state"] == "paused")
    assert (queue.place / "out.dat.ecosort").exists()
    queue.ok("resume", str(number))
    wait_for(lambda: queue.job(number)["state"] == "done")
    assert "/ecosort resume " in queue.log(number)
    service.terminate()
    assert service.wait(60) == 0


def test_cancel_leaves_nothing_and_retry_begins_anew(queue: Queue) -> None:
    number = slow(queue)
    service = queue.start("serve", "--no-page", "--tick", "0.02")
    with queue.held(number, queue.place / "out.dat.ecosort"):
        queue.ok("cancel", str(number))
    wait_for(lambda: queue.job(number)["state"] == "cancelled")
    assert {path.name for path in queue.place.iterdir()} == {"in.dat"}
    queue.ok("retry", str(number))
    wait_for(lambda: queue.job(number)["state"] == "done")
    service.terminate()
    assert service.wait(60) == 0
    assert queue.run("cancel", str(number)).returncode == 2


def test_a_paused_queue_begins_nothing(queue: Queue, records: Path) -> None:
    number = queue.add(*SORT)
    queue.ok("pause")
    queue.ok("run")
    assert queue.job(number)["state"] == "queued"
    queue.ok("resume")
    queue.ok("run")
    assert queue.job(number)["state"] == "done"


def test_a_service_that_is_asked_to_ends_its_jobs_and_the_next_one_goes_on(queue: Queue) -> None:
    number = slow(queue)
    service = queue.start("serve", "--no-page", "--end-jobs", "--tick", "0.02")
    with queue.held(number, queue.place / "out.dat.ecosort"):
        service.terminate()
        assert service.wait(60) == 0
    wait_for(lambda: list((queue.directory / "jobs" / str(number)).glob("exit-1.json")))
    second = queue.start("serve", "--no-page", "--tick", "0.02")
    wait_for(lambda: "was interrupted by signal 15" in queue.job(number)["reason"])
    queue.ok("retry", str(number))  # not to wait
    wait_for(lambda: queue.job(number)["state"] == "done")
    second.terminate()
    assert second.wait(60) == 0


def test_a_file_in_place_that_is_cancelled_gets_its_records_back(queue: Queue, tmp_path: Path, require: Require) -> None:
    require("loop_mount")
    with mounted(tmp_path, "ext4", 128 << 20) as system:
        data = random.Random(1).randbytes(16 * 1_000_000)
        (system.root / "big").write_bytes(data)
        words = ("inplace", *RECORDS, "--memory", "4MiB", "big")
        number = int(queue.ok("add", "--", *words, cwd=system.root))
        service = queue.start("serve", "--no-page", "--tick", "0.02")
        with queue.held(number, system.root / "big.ecosort"):
            queue.ok("cancel", str(number))
        wait_for(lambda: queue.job(number)["state"] == "cancelled")
        assert sorted_records((system.root / "big").read_bytes()) == sorted_records(data)
        assert not (system.root / "big.ecosort").exists()
        queue.ok("retry", str(number))
        wait_for(lambda: queue.job(number)["state"] == "done")
        assert (system.root / "big").read_bytes()[:4] == min(data[i : i + 4] for i in range(0, len(data), 16))
        service.terminate()
        assert service.wait(60) == 0


def sorted_records(data: bytes) -> list[bytes]:
    return sorted(data[i : i + 16] for i in range(0, len(data), 16))


@pytest.mark.parametrize("wish", ["show", "log", "cancel", "retry", "pause", "resume"])
@pytest.mark.parametrize("number", ["1", "0", "9223372036854775808", "9" * 5000])
def test_numbers_of_no_job(queue: Queue, wish: str, number: str) -> None:
    done = queue.run(wish, number)
    assert (done.returncode, done.stderr) == (
        2,
        f"ecosort: there is no job {number[:20]}; `ecosort queue list --all` lists them\n",
    )


def said_on_a_terminal(queue: Queue, *words: str) -> str:
    """On standard error."""
    reader, terminal = pty.openpty()
    try:
        command = [*COMMAND, "queue", *words]
        subprocess.run(command, cwd=queue.place, env=queue.environment, stdout=subprocess.DEVNULL, stderr=terminal, check=True)
        os.set_blocking(reader, False)
        return os.read(reader, 4096).decode()
    finally:
        os.close(terminal)
        os.close(reader)


def test_a_queue_that_no_one_works_on_says_so(queue: Queue, records: Path) -> None:
    hint = "no service works on this queue"
    assert hint not in queue.ok("list")
    number = queue.add(*SORT, options=("--at", "2100-01-01"))
    assert queue.ok("list").splitlines()[-1].startswith(hint)
    assert hint not in queue.ok("list", "--json")
    assert hint in said_on_a_terminal(queue, "add", "--", *SORT[:-1], "other")
    service = queue.start("serve", "--no-page", "--tick", "0.02")
    wait_for(lambda: hint not in queue.ok("list"))
    service.terminate()
    assert service.wait(60) == 0
    for job in (number, number + 1):
        queue.run("cancel", str(job))
    assert hint not in queue.ok("list")


def test_a_service_begins_while_others_ask_whether_there_is_one(queue: Queue) -> None:
    queue.ok("list")
    lock = try_lock(queue.directory / LOCK_NAME)
    assert lock is not None
    threading.Timer(0.1, os.close, [lock]).start()
    refuse_second(queue.directory)


# --- order, memory, log


def test_the_log_of_a_job_that_has_not_begun(queue: Queue, records: Path) -> None:
    number = queue.add(*SORT)
    standing = queue.add(*SORT[:-1], "other", options=("--every", "daily", "--at", "01:30"))
    done = queue.run("log", str(number))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"ecosort: job {number} has not begun, so that there is no log (queued)\n"
    assert "makes other jobs" in queue.run("log", str(standing)).stderr
    queue.ok("run")
    assert queue.run("log", str(number)).stderr == ""


def test_larger_priorities_first_and_one_at_a_time(queue: Queue, records: Path) -> None:
    numbers = [queue.add(*SORT[:-1], f"out{n}", options=("--priority", str(n))) for n in (0, 5, -5)]
    queue.ok("run")
    found = queue.jobs()
    order = sorted(numbers, key=lambda n: found[n]["started_s"])
    assert order == [numbers[1], numbers[0], numbers[2]]
    spans = [(found[n]["started_s"], found[n]["ended_s"]) for n in order]
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))


def test_jobs_on_two_drives_work_at_the_same_time(queue: Queue, tmp_path: Path, require: Require) -> None:
    """A third one, on the drive of the first, waits for that."""
    require("loop_mount")
    with mounted(tmp_path, "ext4", 64 << 20) as one, mounted(tmp_path, "ext4", 64 << 20) as other:
        for system in (one, other):
            (system.root / "in.dat").write_bytes(random.Random(1).randbytes(16 * 1_000_000))
        words = ("add", "--memory", "4MiB", "--", *SORT[:-1])
        first = int(queue.ok(*words, "out.dat", cwd=one.root))
        third = int(queue.ok(*words, "third.dat", cwd=one.root))
        second = int(queue.ok(*words, "out.dat", cwd=other.root))
        service = queue.start("serve", "--no-page", "--tick", "0.02")
        with queue.held(first, one.root / "out.dat.ecosort"):
            wait_for(lambda: queue.job(second)["state"] == "done")
            assert (queue.job(first)["state"], queue.job(third)["state"]) == ("running", "queued")
        wait_for(lambda: queue.job(third)["state"] == "done")
        service.terminate()
        assert service.wait(60) == 0


def test_memory_is_given_to_the_program_and_its_control_group(queue: Queue, records: Path, require: Require) -> None:
    require("memory_cgroup")
    number = queue.add(*SORT, options=("--memory", "3MiB"))
    queue.ok("run")
    stats = json.loads((queue.directory / "jobs" / str(number) / "stats-1.json").read_text())
    assert stats["memory_limit_bytes"] == 3 << 20
    assert "no control group" not in queue.log(number)
    assert not list(Path("/sys/fs/cgroup/memory").rglob(f"ecosort-job-{(queue.directory / 'locks').stat().st_ino:x}-*"))


def test_the_files_of_control_groups_of_version_2(tmp_path: Path) -> None:
    """The tree that a kernel with version 2 shows: weights and the bound are written there, and what is refused is reported."""
    (tmp_path / "cgroup.controllers").write_text("memory cpu io")
    base = tmp_path / "system.slice" / "ecosort.service"
    for directory in (base / "service", base / "ecosort-job-1"):
        directory.mkdir(parents=True)
    own = tmp_path / "own"
    own.write_text("0::/system.slice/ecosort.service/service\n")
    group = make_group("ecosort-job-1", 1 << 30, tmp_path, own)
    assert group.directories == (base / "ecosort-job-1",)
    assert group.notes == []
    assert (base / "ecosort-job-1" / "memory.max").read_text() == str((1 << 30) + (64 << 20))
    assert (base / "ecosort-job-1" / "cpu.weight").read_text() == "50"
    own.write_text("0::/nowhere\n")
    assert "no control group" in make_group("x", None, tmp_path, own).notes[0]


def test_a_job_yields_drives_whatever_its_group_does() -> None:
    """A weight of a control group means nothing to most schedulers of drives; a priority does."""
    names = [[Path(word).name for word in gently(["sort"], yields)] for yields in (True, False)]
    assert names == [["ionice", "-c2", "-n7", "sort"], ["nice", "-n10", "ionice", "-c2", "-n7", "sort"]]


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this kernel does not weigh sessions")
def test_a_job_yields_processors_to_other_sessions() -> None:
    """A job is a session of its own, within which nice alone would order its processes."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, start_new_session=True) as child:
        try:
            yield_as_session(child.pid)
            assert Path(f"/proc/{child.pid}/autogroup").read_text().endswith(" nice 10\n")
        finally:
            child.kill()


def test_a_log_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    directory = JobDirectory(tmp_path, 1, os.geteuid())
    directory.make()
    (directory.path / "log").write_bytes(b"x" * 10_000_000)
    assert len(directory.log()) <= 512 << 10
    (directory.path / "log").unlink()
    (directory.path / "log").symlink_to("/etc/passwd")
    os.mkfifo(directory.path / "progress.json")
    assert directory.log() == b""
    assert directory.progress() is None


# --- space


def test_a_job_that_does_not_fit_waits_and_says_for_what(queue: Queue, tmp_path: Path, require: Require) -> None:
    require("loop_mount")
    with mounted(tmp_path, "ext4", 32 << 20) as system:
        (system.root / "in.dat").write_bytes(random.Random(1).randbytes(16 * 600_000))
        (system.root / "fill").write_bytes(bytes(8 << 20))
        added = queue.run("add", "--", "sort", *RECORDS, "--memory", "4MiB", "in.dat", "-o", "out.dat", cwd=system.root)
        number = int(added.stdout)
        queue.ok("run")
        job = queue.job(number)
        assert (job["state"], job["attempts"]) == ("queued", 0)
        place = re.escape(str(system.root))
        assert re.match(rf"waits for space: {place}\S*: [\d,]+ bytes are needed, [\d,]+ are free", job["reason"])
        assert added.stderr == f"ecosort: as things are now, the job {job['reason']}\n"
        assert not (system.root / "out.dat.ecosort").exists()
        (system.root / "fill").unlink()
        queue.ok("retry", str(number))
        queue.ok("run")
        assert queue.job(number)["state"] == "done"


def test_the_plans_numbers() -> None:
    short = {"here": {"space": [{"directories": ["/a", "."], "needed_bytes": 10, "free_bytes": 9}]}}
    assert shortage_in(short, "/where").startswith("waits for space: /a, /where: ")
    assert shortage_in({"here": {"space": [{"directories": ["/a"], "needed_bytes": 10, "free_bytes": 10}]}}, "/") == ""
    assert "/where/x.ecosort" in shortage_in({"job_directory": "x.ecosort", "needed_bytes": 2, "free_bytes": 1}, "/where")


def test_a_job_that_is_not_resumable_waits_before_it_begins(queue: Queue, tmp_path: Path, require: Require) -> None:
    require("loop_mount")
    with mounted(tmp_path, "ext4", 32 << 20) as system:
        (tmp_path / "in.dat").write_bytes(random.Random(1).randbytes(16 * 3_000_000))
        output = system.root / "out.dat"
        words = ("sort", *RECORDS, "--memory", "4MiB", "--temp", ".", "in.dat", "-o", str(output))
        number = int(queue.ok("add", "--", *words, cwd=tmp_path))
        queue.ok("run")
        job = queue.job(number)
    assert job["state"] == "queued"
    assert re.match(rf"waits for space: {re.escape(str(system.root))}: [\d,]+ bytes are needed, [\d,]+ are free", job["reason"])
    assert job["started_s"] is None
    assert shortage_told({"kind": "not enough memory"}, "/") == ""


# --- times


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def seconds(text: str) -> float:
    """Reads a time of UTC."""
    from datetime import UTC, datetime

    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.usefixtures("berlin")
def test_every_day_at_a_time_that_the_clock_skips_or_shows_twice() -> None:
    """In 2027 summer time begins on 28 March at 01:00 UTC and ends on 31 October at 01:00 UTC."""
    due = times.first("daily", "02:30", seconds("2027-03-26T12:00"))
    found = []
    for _ in range(3):
        found.append(due)
        due = times.following("daily", due, due, (2, 30))
    assert found == [seconds("2027-03-27T01:30"), seconds("2027-03-28T01:30"), seconds("2027-03-29T00:30")]
    due = times.following("daily", seconds("2027-10-30T00:30"), seconds("2027-10-30T00:30"), (2, 30))
    assert due == seconds("2027-10-31T00:30")
    assert times.following("daily", due, due, (2, 30)) == seconds("2027-11-01T01:30")


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize("at", [None, "2027-03-27T02:30", "2027-03-27T01:30+00:00"])
def test_a_time_of_day_that_the_clock_skips_once_is_the_same_afterwards(queue: Queue, records: Path, at: str | None) -> None:
    """Also where it is not written as a time of day."""
    number = queue.add(*SORT, options=("--every", "daily", *(("--at", at) if at else ())))
    with contextlib.closing(open_database(queue.directory)) as connection:
        skipped, queued = seconds("2027-03-28T01:30"), seconds("2027-03-27T01:30")
        connection.execute("UPDATE jobs SET not_before_s = ?, queued_s = ?", (skipped, queued))
        Standing(connection).tick(skipped)
        assert jobs.get(connection, number).not_before_s == seconds("2027-03-29T00:30")


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("rule", "at", "due", "expected"),
    [
        ("daily", "02:30", "2027-03-28T01:30", "2027-03-28T01:30"),  # a day of 25 hours before it
        ("daily", "02:30", "2031-05-01T00:30", "2027-03-28T01:30"),
        ("weekly", "02:30", "2031-05-01T00:30", "2027-04-01T00:30"),  # a Thursday
        ("hourly", None, "2031-05-01T00:10", "2027-03-27T12:10"),
        ("daily", "2031-05-01T02:30", "2031-05-01T00:30", "2031-05-01T00:30"),  # as it was asked for
        ("daily", "2030-05-01T02:30", "2031-05-01T00:30", "2030-05-01T00:30"),
    ],
)
def test_a_rule_where_the_clock_was_set_back(rule: str, at: str | None, due: str, expected: str) -> None:
    now = seconds("2027-03-27T12:00")
    assert times.unless_set_back(rule, seconds(due), now, at, (2, 30)) == seconds(expected)


@pytest.mark.usefixtures("berlin")
def test_what_was_missed_is_done_once() -> None:
    due = seconds("2027-01-01T01:30")
    now = seconds("2031-07-01T12:00")
    assert times.following("daily", due, now, (2, 30)) == seconds("2031-07-02T00:30")
    assert times.following("weekly", due, now, (2, 30)) > now
    assert (times.following("weekly", due, now, (2, 30)) - now) < 8 * 86400
    assert 0 < times.following("hourly", due, now, (2, 30)) - now <= 3600


@pytest.mark.parametrize("at", ["25:00", "2:60", "tomorrow", "2001-01-01", "12:30:10:5", "9" * 50])
def test_times_that_are_none(at: str) -> None:
    with pytest.raises(QueueError):
        times.moment(at, time.time())


def test_every_makes_a_job_and_not_another_before_that_has_ended(queue: Queue, records: Path) -> None:
    standing = queue.add(*SORT, options=("--every", "daily"))
    queue.ok("run")
    children = [job for job in queue.jobs().values() if job["parent"] == standing]
    assert [job["state"] for job in children] == ["done"]
    assert queue.job(standing)["not_before_s"] - time.time() > 22 * 3600
    with sqlite3.connect(queue.directory / "queue.sqlite") as connection:
        connection.execute("UPDATE jobs SET not_before_s = ? WHERE id = ?", (time.time() - 5 * 86400, standing))
    connection.close()
    queue.ok("run")
    assert len([job for job in queue.jobs().values() if job["parent"] == standing]) == 2
    queue.ok("cancel", str(standing))


def test_a_watched_file_is_waited_for_until_it_is_whole(queue: Queue, records: Path) -> None:
    (queue.place / "new").mkdir()
    (queue.place / "done").mkdir()
    data = records.read_bytes()
    words = ("sort", *RECORDS, "{}", "-o", "done/{name}")
    standing = queue.add(*words, options=("--watch", "new", "--settle", "0.4"))
    service = queue.start("serve", "--no-page", "--tick", "0.05")
    name = "half 'written'\n<b>"
    with (queue.place / "new" / name).open("wb", buffering=0) as file:
        file.write(data[:160])
        time.sleep(1.2)  # it rests, but someone has it open
        assert set(queue.jobs()) == {standing}
        file.write(data[160:])
    wait_for((queue.place / "done" / name).exists)
    assert (queue.place / "done" / name).stat().st_size == len(data)
    wait_for(lambda: queue.job(standing + 1)["state"] == "done")
    time.sleep(0.8)
    assert set(queue.jobs()) == {standing, standing + 1}
    (queue.place / "new" / name).write_bytes(data[:320])  # once more
    wait_for(lambda: (queue.place / "done" / name).stat().st_size == 320)
    service.terminate()
    assert service.wait(60) == 0


@dataclass(frozen=True)
class StandingTime:
    """Stands for the module `time`, at one moment."""

    now_s: float

    def time(self) -> float:
        return self.now_s

    def monotonic(self) -> float:
        return self.now_s


def jobs_made_at(now_s: float, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Looks as `queue run` does at that moment; returns the names of the files that have jobs by then."""
    monkeypatch.setattr("ecosort_appliance.standing.time", StandingTime(now_s))
    with contextlib.closing(open_database(queue.directory)) as connection:
        looks = Standing(connection)
        looks.believes_changes = True
        looks.tick(now_s)
    return sorted(Path(job["output"]).name for job in queue.jobs().values() if job["parent"] is not None)


def test_queue_run_does_the_watched_files_that_have_rested(queue: Queue, records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By their last change, whatever time was set for them; each once, and none that is still open."""
    new = queue.place / "new"
    new.mkdir()
    (queue.place / "done").mkdir()
    queue.add("sort", *RECORDS, "{}", "-o", "done/{name}", options=("--watch", "new", "--settle", "1000"))
    shutil.copy(records, new / "old")
    rested_s = (new / "old").stat().st_ctime + 1000
    with (new / "open").open("wb", buffering=0) as file:
        file.write(records.read_bytes())
        wait_for(lambda: Path(shutil.copy(records, new / "fresh")).stat().st_ctime > (new / "old").stat().st_ctime + 1e-3)
        os.utime(new / "fresh", (0, 0))
        assert jobs_made_at(rested_s - 1, queue, monkeypatch) == []
        for _ in range(2):
            assert jobs_made_at(rested_s, queue, monkeypatch) == ["old"]
        latest_s = max(path.stat().st_ctime for path in new.iterdir())
        assert jobs_made_at(latest_s + 1000, queue, monkeypatch) == ["fresh", "old"]
    assert jobs_made_at(latest_s + 1000, queue, monkeypatch) == ["fresh", "old", "open"]
    queue.ok("run")
    assert {path.name for path in (queue.place / "done").iterdir()} == {"old", "open", "fresh"}


def test_a_look_at_a_file_ends_nobody_who_opens_it_meanwhile(tmp_path: Path) -> None:
    """The lease of the look is broken many times; that neither ends the looking process nor fails the writer."""
    write = "import sys\nfor i in range(5000): open(sys.argv[1], 'a').write('x')"
    (tmp_path / "f").touch()
    with subprocess.Popen([sys.executable, "-c", write, tmp_path / "f"]) as writer:
        seen = set()
        while writer.poll() is None:
            seen.add(look(str(tmp_path))[0].is_written)
        assert writer.returncode == 0
    assert seen == {False, True}
    assert (tmp_path / "f").stat().st_size == 5000


@pytest.mark.parametrize(
    "words",
    [
        ("sort", "in", "-o", "x"),
        ("sort", "in", "-o", "outd/{name}"),
        ("sort", "{}", "-o", "x"),
        ("sort", "{}", "-o", "new/{name}.s"),
        ("sort", "{}", "-o", "outd/{name}", "--events", "new/{name}.e"),
        ("inplace", "{}"),
    ],
)
def test_watches_that_would_go_in_circles(queue: Queue, words: tuple[str, ...]) -> None:
    for name in ("new", "outd"):
        (queue.place / name).mkdir()
    assert queue.run("add", "--watch", "new", "--", *words).returncode == 2


def test_standing_jobs_that_write_one_output_are_refused(queue: Queue, records: Path) -> None:
    for name in ("new", "outd"):
        (queue.place / name).mkdir()
    daily = ("add", "--every", "daily", "--", *SORT)
    watching = ("add", "--watch", "new", "--", "sort", *RECORDS, "{}", "-o", "outd/{name}")
    for number, words in enumerate((daily, watching), 1):
        assert queue.ok(*words) == f"{number}\n"
        done = queue.run(*words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert f"job {number} writes" in done.stderr
        queue.ok("cancel", str(number))
    queue.ok(*daily)
    queue.ok(*daily[:-1], "another.dat")


def test_a_standing_job_and_a_queued_one_never_write_one_output(queue: Queue, records: Path) -> None:
    first = queue.add(*SORT, options=("--at", "2100-01-01"))
    daily = ("add", "--every", "daily", "--", *SORT)
    done = queue.run(*daily)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"job {first} writes" in done.stderr
    queue.ok("cancel", str(first))
    standing = int(queue.ok(*daily))
    for words in (("add", "--", *SORT), ("retry", str(first))):
        done = queue.run(*words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert f"job {standing} writes daily to" in done.stderr
    queue.ok("run")
    made = max(queue.jobs())
    assert queue.job(made)["state"] == "done"
    queue.ok("cancel", str(standing))
    queue.ok("retry", str(standing))


@pytest.mark.parametrize("count", [2, 3])
def test_watches_that_feed_each_other_are_refused(queue: Queue, count: int) -> None:
    """However many are in the circle; by whatever name. A chain that leads nowhere back is one."""
    for n in range(count + 1):
        (queue.place / f"d{n}").mkdir()
    (queue.place / "link").symlink_to("d0")

    def add(watched: str, written: str) -> subprocess.CompletedProcess[str]:
        return queue.run("add", "--watch", watched, "--", "sort", *RECORDS, "{}", "-o", f"{written}/{{name}}")

    for n in range(count - 1):
        assert add(f"d{n}", f"d{n + 1}").returncode == 0
    assert add(f"d{count - 1}", f"d{count}").returncode == 0
    done = add(f"d{count - 1}", "link")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    by = " and ".join(f"job {n}" for n in range(1, count))
    assert f"by {by} what this one writes would come back to '{queue.place}/d{count - 1}', without end" in done.stderr
    queue.ok("cancel", "1")
    assert add(f"d{count - 1}", "link").returncode == 0
    assert "without end" in queue.run("retry", "1").stderr


def test_a_command_without_the_dashes_before_it(queue: Queue) -> None:
    done = queue.run("add", "sort", "in", "-o", "out")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert re.match(r"ecosort: queue add: no such option:? '?-o'?; put -- before the command: ecosort queue add ", done.stderr)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("queue add --every monthly -- sort", "queue add: invalid value for '--every': 'monthly' is not one of 'hourly', "),
        (
            "queue add --priority high -- sort",
            "queue add: invalid value for '--priority': 'high' is not a valid whole number; see",
        ),
        ("queue add --settle nan -- sort", "queue add: invalid value for '--settle': 'nan' is not a valid number; see"),
        (
            "queue add --evry daily sort",
            "queue add: no such option '--evry'. (Did you mean one of: '--every', '--memory', '--user'?); put --",
        ),
        (
            "queue add --evry daily -- sort",
            "queue add: no such option '--evry'. (Did you mean one of: '--every', '--memory', '--user'?); see",
        ),
        ("queue add --name", "queue add: option '--name' requires an argument; see ecosort queue add --help"),
        ("queue show", "queue show: missing argument 'ID'; see ecosort queue show --help"),
        ("queue nothing", "queue: no such command 'nothing'; see ecosort queue --help"),
        ("serve foo", "serve: got unexpected extra argument (foo); see ecosort serve --help"),
        ("serve --keep-days x", "serve: invalid value for '--keep-days': 'x' is not a valid number; see ecosort serve --help"),
        ("--nothing", "no such option"),
    ],
)
def test_wrong_words_are_told_in_one_line(queue: Queue, words: str, why: str) -> None:
    done = forked.run(COMMAND[-1], words.split(), cwd=queue.place, env=queue.environment)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"ecosort: {why}")


def test_what_show_and_list_say_of_a_job_that_makes_others(queue: Queue, records: Path) -> None:
    for name in ("new", "outd"):
        (queue.place / name).mkdir()
    queue.add(*SORT, options=("--every", "daily", "--at", "01:30", "--on-end", "true"))
    queue.add("sort", *RECORDS, "{}", "-o", "outd/{name}", options=("--watch", "new", "--settle", "2.5"))
    assert queue.run("retry", "1").stderr.startswith("ecosort: job 1 makes a job daily; only what failed")
    queue.ok("pause", "1")
    assert re.search(r"1  paused: daily, next \d{4}-\d\d-\d\d 01:30  ", queue.ok("list"))
    first, second = queue.ok("show", "1"), queue.ok("show", "2")
    assert "every      daily at 01:30\n" in first
    assert "on end     true\n" in first
    assert re.search(r"not before \d{4}-\d\d-\d\d 01:30\n", first)
    assert "/new, for files that rest for 2.5 s\n" in second


# --- the end is reported


def test_a_command_at_the_end_gets_the_facts_and_no_shell(queue: Queue, records: Path) -> None:
    number = queue.add(*SORT, options=("--on-end", "tee 'told; touch oops' copy"))
    queue.ok("run")
    wait_for((queue.place / "copy").exists)
    told = json.loads((queue.place / "told; touch oops").read_text())
    assert (told["id"], told["state"], told["exit_code"], told["records"]) == (number, "done", 0, 4_000)
    assert not (queue.place / "oops").exists()


def test_a_webhook_at_the_end(queue: Queue, records: Path) -> None:
    bodies: list[dict[str, object]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        queue.add(*SORT, options=("--on-end", f"http://127.0.0.1:{server.server_port}/"))
        (queue.place / "gone.dat").write_bytes(bytes(16))
        queue.add("sort", *RECORDS, "gone.dat", "-o", "x", options=("--on-end", f"http://127.0.0.1:{server.server_port}/"))
        (queue.place / "gone.dat").unlink()
        queue.run("run")
        wait_for(lambda: len(bodies) == 2)
        server.shutdown()
    assert {body["state"] for body in bodies} == {"done", "failed"}


@pytest.mark.parametrize(
    ("on_end", "why"),
    [
        ("nosuchcommand me", "'nosuchcommand': No such file"),
        ("sh -c 'echo what is wrong >&2; exit 3'", "exit code 3: what is wrong"),
        ("http://127.0.0.1:1/x", "Connection refused"),
    ],
)
def test_a_notification_that_fails_is_told_and_tried_again(queue: Queue, records: Path, on_end: str, why: str) -> None:
    """Four times, with a pause between, which the test leaves out."""
    number = queue.add(*SORT, options=("--on-end", on_end))
    tried = 4 if "nosuch" in on_end else 1
    for tries in range(1, tried + 1):
        done = queue.run("run")
        assert f"job {number}: --on-end failed, try {tries} of 4: " in done.stderr
        assert why in done.stderr
        with sqlite3.connect(queue.directory / "queue.sqlite") as connection:
            connection.execute("UPDATE jobs SET tell_again_s = 0")
        connection.close()
    assert tried == 1 or queue.run("run").stderr == ""
    assert "told       no: " in queue.ok("show", str(number))
    assert why in queue.ok("show", str(number))
    assert queue.log(number).count("--on-end failed") == tried
    assert (queue.job(number)["state"], queue.job(number)["on_end_tries"]) == ("done", tried)


def test_a_webhook_that_answers_with_an_error_is_asked_again(queue: Queue, records: Path) -> None:
    answers = iter((500, 204))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(next(answers))
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        number = queue.add(*SORT, options=("--on-end", f"http://127.0.0.1:{server.server_port}/"))
        assert "answered 500" in queue.run("run").stderr
        assert "; again at 2" in queue.ok("show", str(number))
        with sqlite3.connect(queue.directory / "queue.sqlite") as connection:
            connection.execute("UPDATE jobs SET tell_again_s = 0")
        connection.close()
        assert queue.run("run").stderr == ""
        server.shutdown()
    assert "told       yes" in queue.ok("show", str(number))


@pytest.mark.parametrize("on_end", ["ftp://x", "mailto://me", "http://", "http://host:99999/", "'", " "])
def test_addresses_that_cannot_be_told_are_refused(queue: Queue, on_end: str) -> None:
    done = queue.run("add", "--on-end", on_end, "--", *SORT)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--on-end" in done.stderr


def test_json_names_its_schema_and_tells_no_internals(queue: Queue) -> None:
    number = queue.add("sort", "in", "-o", b"out\xff", options=("--at", "2100-01-01"))
    listed = json.loads(queue.ok("list", "--json"))
    job = json.loads(queue.ok("show", str(number), "--json"))
    assert (listed["schema"], listed["paused"], job["schema"]) == ("ecosort.jobs/1", False, "ecosort.job/1")
    assert listed["jobs"] == [{name: value for name, value in job.items() if name != "progress"}]
    assert not {"environment", "output_before", "notified", "has_begun", "uid"} & set(job)
    assert job["words"][-1] == "out\ufffd"


# --- users, names, files


def test_roots_service_works_as_the_jobs_user(ecosort: Path, require: Require) -> None:
    """The user's job may not read what the user may not; what it makes is the user's."""
    require("setpriv")
    with queue_for_everyone(ecosort) as queue:
        queue.place.chmod(0o777)
        (queue.place / "in.dat").write_bytes(random.Random(1).randbytes(16_000))
        (queue.place / "secret.dat").write_bytes(bytes(1600))
        mine = queue.add(*SORT, options=("--user", "nobody"))
        secret = queue.add(*SORT[:-3], "secret.dat", "-o", "x", options=("--user", "nobody"))
        (queue.place / "secret.dat").chmod(0o600)
        refused = queue.run("add", "--user", "nobody", "--", *SORT[:-3], "secret.dat", "-o", "y")
        assert (refused.returncode, "Permission denied" in refused.stderr) == (2, True)
        assert queue.run("run").returncode == 1
        assert queue.job(mine)["state"] == "done", queue.log(mine)
        assert (queue.place / "out.dat").owner() == "nobody"
        assert queue.job(secret)["state"] == "failed"
        assert "Permission denied" in queue.job(secret)["reason"]


def test_names_of_any_bytes_through_the_command_line(queue: Queue, records: Path) -> None:
    name = b"a'b\"c\n<script>\xff\xfe\x1b[2J"
    (Path(os.fsdecode(os.fsencode(queue.place) + b"/" + name))).write_bytes(records.read_bytes())
    number = queue.add(b"sort", b"--record-size", b"16", b"--key", b"0:4", name, b"-o", b"out" + name)
    queue.ok("run")
    assert queue.job(number)["state"] == "done", queue.log(number)
    assert os.path.exists(os.fsencode(queue.place) + b"/out" + name)  # noqa: PTH110
    for said in (queue.ok("list", "--all"), queue.ok("show", str(number)), queue.log(number)):
        assert said.replace("\n", "").isprintable()
        assert "\x1b" not in said


def test_a_watched_directory_a_name_and_a_command_of_any_bytes(queue: Queue, records: Path) -> None:
    watched = Path(os.fsdecode(os.fsencode(queue.place) + b"/in\xff"))
    watched.mkdir()
    records.rename(watched / "a.dat")
    sh = queue.place / os.fsdecode(b"tell\xff")
    sh.write_text("#!/bin/sh\necho told >> told\n")
    sh.chmod(0o755)
    options = (b"--watch", b"in\xff", b"--settle", b"0.1", b"--name", b"caf\xe9", b"--on-end", b"./tell\xff")
    number = int(queue.ok("add", *options, "--", "sort", *RECORDS, "{}", "-o", b"out\xff-{name}"))
    wait_for(lambda: time.time() - (watched / "a.dat").stat().st_ctime > 0.2)
    queue.ok("run")
    assert queue.job(number + 1)["state"] == "done", queue.log(number + 1)
    assert (queue.place / os.fsdecode(b"out\xff-a.dat")).exists()
    assert (queue.place / "told").read_text() == "told\n"
    for said in (queue.ok("list", "--all"), queue.ok("show", str(number))):
        assert r"caf\xe9" in said
    assert r"/in\xff" in queue.ok("show", str(number))


def test_the_source_of_a_value_may_have_a_name_of_any_bytes(queue: Queue, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"price\xff")
    path.write_text("0.25")
    queue.ok("value", "price", os.fsencode(f"file:{path}"))
    assert queue.ok("value") == f"price  0.25  file:{tmp_path}/price\\xff\n"
    queue.ok("value", "--remove", "price")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((b"value", b"n", b"https://h/\xff#value=a"), "write them in the address as %FC"),
        ((b"value", b"n\xff", b"file:/x"), "is no name of a value"),
        ((b"value", b"--remove", b"n\xff"), "there is no value"),
        ((b"add", b"--on-end", b"https://h/\xff", b"--", b"sort", b"in", b"-o", b"x"), "is no address"),
        ((b"add", b"--when", b"p\xff<1", b"--", b"sort", b"in", b"-o", b"x"), "is no condition"),
        ((b"add", b"--at", b"\xff", b"--", b"sort", b"in", b"-o", b"x"), "time"),
        ((b"add", b"--memory", b"1\xff", b"--", b"sort", b"in.dat", b"-o", b"x"), "is no size"),
    ],
)
def test_bytes_that_can_be_nothing_there_are_told_in_one_line(
    queue: Queue, records: Path, words: tuple[bytes, ...], why: str
) -> None:
    done = queue.run(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
    assert why in done.stderr


def test_a_reason_may_name_a_file_of_any_bytes(tmp_path: Path) -> None:
    with contextlib.closing(open_database(tmp_path)) as connection:
        number = jobs.insert(connection, Job(uid=0, words=["sort"], directory="/"))
        jobs.update(connection, number, reason="waits for space: /a\udcff\ud800: none")
        assert jobs.get(connection, number).reason == r"waits for space: /a\xff\ud800: none"


def test_names_that_an_older_program_stored_are_read(queue: Queue) -> None:
    queue.ok("value", "p", "file:/p")
    options = ("--watch", ".", "--on-end", "mail")
    number = queue.add("sort", *RECORDS, "{}", "-o", "/tmp/{name}", options=options)
    with contextlib.closing(sqlite3.connect(queue.directory / "queue.sqlite")) as connection:
        connection.executescript(
            "UPDATE jobs SET watch = '/a \"b', on_end = 'mail'; UPDATE sources SET source = 'file:/p';"
            "ALTER TABLE jobs DROP COLUMN journal; PRAGMA user_version=6;"
        )
    found = queue.job(number)
    assert (found["watch"], found["on_end"]) == ('/a "b', "mail")
    assert queue.ok("value").endswith("  file:/p\n")


def test_retention(queue: Queue, records: Path) -> None:
    for n in range(3):
        queue.add(*SORT[:-1], f"out{n}")
    queue.ok("run")
    service = queue.start("serve", "--no-page", "--keep-jobs", "1", "--tick", "0.05")
    wait_for(lambda: len(queue.jobs()) == 1)
    assert [path.name for path in (queue.directory / "jobs").iterdir()] == [str(next(iter(queue.jobs())))]
    service.terminate()
    assert service.wait(60) == 0


def test_a_queue_of_a_newer_program_or_of_others_is_left_alone(queue: Queue) -> None:
    queue.ok("list")
    with sqlite3.connect(queue.directory / "queue.sqlite") as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    done = queue.run("list")
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert "newer ecosort" in done.stderr
    queue.directory.chmod(0o777)
    assert "not yours alone" in queue.run("list").stderr


def test_the_program_becomes_the_queue(ecosort: Path, queue: Queue) -> None:
    done = subprocess.run([ecosort, "queue", "list"], env=queue.environment, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("the queue is empty"), done
    assert COMMAND[0] == sys.executable


def test_the_readme_names_the_options_that_there_are() -> None:
    """All of them, in its tables."""
    text = (ROOT / "appliance" / "README.md").read_text()
    for words in (["queue", "add"], ["serve"]):
        done = subprocess.run([*COMMAND, *words, "--help"], capture_output=True, text=True, check=True)
        options = set(re.findall(r"^  (?:-h, )?(--[a-z-]+)", done.stdout, re.MULTILINE)) - {"--help"}
        assert {option for option in options if f"`{option}" not in text} == set()
