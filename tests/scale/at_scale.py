"""Sorts of a terabyte on a small machine: `make scale-test SIZE=100GB` (root; fuse3, xfsprogs).

A drive that keeps the benchmark's records by their numbers (record_drive.cpp) carries XFS through a loop device. On it: gen,
inplace with two kills, check; sort from an input that takes no space, check; a resumable sort that is killed when its runs are
there, and `merge --runs` of them, a tenth of the size. One table, held against the plans; exit 1 where a promise was not kept.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RECORD_BYTES = 100
OVERHEAD_BYTES = 32 << 20  # promise P8
MOST_SECONDS = 6 * 3600  # that one step may take
PARTS = ["inplace", "sort", "merge"]
UNITS = {"GB": 10**9, "TB": 10**12, "MiB": 1 << 20, "GiB": 1 << 30}


def parse_size(text: str) -> int:
    found = re.fullmatch(r"(\d+)(GB|TB|MiB|GiB)", text)
    if not found:
        sys.exit(f"scale-test: '{text}' is no size; say 100GB, 1TB")
    return int(found[1]) * UNITS[found[2]]


@dataclass
class Row:
    """A step of the table: of all processes that it took."""

    step: str
    size: int
    wall_s: float = 0.0
    cpu_s: float = 0.0
    memory_bytes: int = 0
    extra_bytes: int = 0
    journal_bytes: int = 0
    restarts_s: list[float] = field(default_factory=list)  # from a resumption's start until it moves on, without the recheck
    rechecks_s: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def demand(self, is_kept: bool, what: str) -> None:
        if not is_kept:
            self.faults.append(what)


def used_by_file_system(place: Path) -> int:
    state = os.statvfs(place)
    return (state.f_blocks - state.f_bfree) * state.f_frsize


def used_by_files(place: Path) -> int:
    """Adds up all files with a name: XFS frees blocks late."""
    used = 0
    for entry in os.scandir(place):
        with contextlib.suppress(FileNotFoundError):
            used += used_by_files(Path(entry)) if entry.is_dir() else entry.stat().st_blocks * 512
    return used


class Space:
    """The most that is in use while this runs, more than at its beginning."""

    def __init__(self, used: Callable[[], int]) -> None:
        self._used, self._stop = used, threading.Event()
        self._before = self._most = used()
        self._thread = threading.Thread(target=self._watch)

    def more(self) -> int:
        return self._most - self._before

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            with contextlib.suppress(FileNotFoundError):
                self._most = max(self._most, self._used())

    def __enter__(self) -> "Space":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


@dataclass
class Attempt:
    """One process of the program."""

    code: int
    progress: list[tuple[float, dict[str, object]]]  # seconds since its start, and what it told
    told: str


class Program:
    def __init__(self, path: Path, row: Row) -> None:
        self._path, self._row = path, row

    def run(self, *words: str | Path, kill_at: Callable[[dict[str, object]], bool] | None = None) -> Attempt:
        """Is killed where `kill_at` says so of a line of progress."""
        command = [str(self._path), *map(str, words)]
        if words[0] in ("sort", "inplace", "resume", "merge"):
            command.append("--progress=json")
        begin = time.monotonic()
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        progress: list[tuple[float, dict[str, object]]] = []
        told = []
        assert process.stderr
        for line in process.stderr:
            if not line.startswith('{"schema":"ecosort.progress/1"'):
                told.append(line)
                continue
            progress.append((time.monotonic() - begin, json.loads(line)))
            if kill_at and kill_at(progress[-1][1]):
                process.send_signal(signal.SIGKILL)
                kill_at = None
        process.stderr.close()
        self._account(begin, process)
        return Attempt(process.returncode, progress, "".join(told))

    def kill_when_merging(self, events: Path, *words: str | Path) -> None:
        """Kills as soon as all runs are there, however short that takes."""
        events.touch()
        command = [str(self._path), *map(str, words), "--quiet", "--events", str(events)]
        process = subprocess.Popen(command, text=True)
        begin = time.monotonic()
        while '"begin","phase":"merge"' not in events.read_text() and time.monotonic() - begin < MOST_SECONDS:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        self._account(begin, process)

    def _account(self, begin: float, process: "subprocess.Popen[str]") -> None:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        row = self._row
        row.wall_s += time.monotonic() - begin
        row.cpu_s += usage.ru_utime + usage.ru_stime
        row.memory_bytes = max(row.memory_bytes, usage.ru_maxrss * 1024)

    def must(self, *words: str | Path) -> Attempt:
        attempt = self.run(*words)
        if attempt.code != 0:
            sys.exit(f"scale-test: ecosort {' '.join(map(str, words))}: exit {attempt.code}\n{attempt.told}")
        return attempt


def at(phase: str, percent: float) -> Callable[[dict[str, object]], bool]:
    def is_there(told: dict[str, object]) -> bool:
        return told["phase"] == phase and isinstance(told["percent"], float) and told["percent"] >= percent

    return is_there


def note_restart(row: Row, attempt: Attempt) -> None:
    """Notes how long it rechecked, and how long it took besides until something was moved."""
    rechecks = [seconds for seconds, told in attempt.progress if told["phase"] == "recheck"]
    recheck = rechecks[-1] - rechecks[0] if rechecks else 0.0
    moves = [s for s, told in attempt.progress if told["phase"] in ("run formation", "merge") and told["bytes"]]
    row.rechecks_s.append(recheck)
    row.restarts_s.append((moves[0] if moves else attempt.progress[-1][0]) - recheck)


def call(*words: str | Path) -> str:
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def detach(loop: str, file: Path) -> None:
    """The kernel lets go of the file a little later; by then the device may be somebody else's."""
    call("losetup", "-d", loop)
    backing = Path(f"/sys/block/{loop.removeprefix('/dev/')}/loop/backing_file")
    with contextlib.suppress(OSError):
        while backing.read_text().strip() == str(file):
            time.sleep(0.02)


@contextlib.contextmanager
def drive(build: Path, place: Path, disk_bytes: int, records: int) -> Iterator[tuple[Path, Path]]:
    """XFS on the drive, and the file of records that takes no space."""
    back, mount, disk = place / "back", place / "drive", place / "disk"
    for directory in (back, mount, disk):
        directory.mkdir()
    with contextlib.ExitStack() as at_end:
        program = str(build / "tests" / "scale" / "record_drive")
        process = subprocess.Popen([program, str(back), str(mount), str(disk_bytes), str(records)])
        at_end.callback(process.wait)
        while not (mount / "disk").exists():
            if process.poll() is not None:
                sys.exit("scale-test: the drive does not start")
            time.sleep(0.02)
        at_end.callback(call, "umount", mount)
        loop = call("losetup", "--direct-io=on", "--sector-size", "4096", "--show", "-f", mount / "disk")
        at_end.callback(detach, loop, mount / "disk")
        Path(f"/sys/block/{loop.removeprefix('/dev/')}/queue/max_sectors_kb").write_text("1024")
        call("mkfs.xfs", "-q", "-K", "-d", "su=64k,sw=1", loop)
        call("mount", "-o", "noatime,discard", loop, disk)
        at_end.callback(call, "umount", disk)
        yield disk, mount / "records"


class ScaleTest:
    def __init__(self, program: Path, disk: Path, source: Path, size: int, memory: int) -> None:
        self._program, self._disk, self._source, self._memory = program, disk, source, memory
        self._records = size // RECORD_BYTES
        self.rows: list[Row] = []

    def run(self, parts: list[str]) -> None:
        checksum = self._generate()
        if "inplace" in parts:
            self._sort_in_place(checksum)
        else:
            (self._disk / "big.dat").unlink()
        if "sort" in parts:
            self._sort(checksum)
        if "merge" in parts:
            self._merge_runs()

    def _row(self, step: str, records: int) -> tuple[Row, Program]:
        row = Row(step, records * RECORD_BYTES)
        self.rows.append(row)
        return row, Program(self._program, row)

    def _options(self) -> list[str]:
        return ["--memory", f"{self._memory}"]

    def _generate(self) -> str:
        _, program = self._row("gen", self._records)
        return program.must("gen", "-a", "-c", str(self._records), self._disk / "big.dat").told.strip()

    def _check(self, path: Path, records: int, checksum: str) -> None:
        row, program = self._row(f"check of {path.name}", records)
        told = program.must("check", f"{path},dir").told
        row.demand(f"Records: {records}\n" in told, "not all records are there")
        row.demand(checksum in told, "the checksum is another one")
        path.unlink()

    def _plan(self, *words: str | Path) -> dict[str, Any]:
        done = subprocess.run([self._program, "plan", *words, "--json"], check=True, stdout=subprocess.PIPE)
        plan: dict[str, Any] = json.loads(done.stdout)
        return plan

    def _hold_memory(self, row: Row) -> None:
        row.demand(row.memory_bytes <= self._memory + OVERHEAD_BYTES, f"memory {row.memory_bytes} of {self._memory}")

    def _sort_in_place(self, checksum: str) -> None:
        path = self._disk / "big.dat"
        plan = self._plan("inplace", path, *self._options())
        row, program = self._row("inplace", self._records)
        with Space(lambda: used_by_files(self._disk)) as space:
            first = program.run("inplace", path, *self._options(), kill_at=at("run formation", 30))
            journal = Path(f"{path}.ecosort") / "journal"
            row.journal_bytes = journal.stat().st_size
            second = program.run("resume", path, kill_at=at("merge", 60))
            note_restart(row, second)
            last = program.must("resume", path)
        note_restart(row, last)
        kills = [first.code, second.code].count(-signal.SIGKILL)  # a small job ends before
        row.step += f", {kills} kills"
        row.extra_bytes = space.more()
        planned = plan["plan"]["need_bytes"]
        row.demand(row.extra_bytes <= planned, f"extra space {row.extra_bytes}, planned {planned}")
        self._hold_memory(row)
        self._check(path, self._records, checksum)

    def _sort(self, checksum: str) -> None:
        path = self._disk / "sorted"
        row, program = self._row("sort", self._records)
        with Space(lambda: used_by_file_system(self._disk)) as space:
            program.must("sort", self._source, "-o", path, *self._options())
        row.extra_bytes = max(space.more() - self._records * RECORD_BYTES, 0)
        self._hold_memory(row)
        self._check(path, self._records, checksum)

    def _merge_runs(self) -> None:
        """The disk has no room for all runs and all of the output."""
        records = self._records // 10
        part, output, merged = self._disk / "part", self._disk / "out", self._disk / "merged"
        _, program = self._row("gen of a tenth", records)
        checksum = program.must("gen", "-a", "-c", str(records), part).told.strip()
        row, program = self._row("sort --resumable, killed", records)
        program.kill_when_merging(self._disk / "events", "sort", "--resumable", part, "-o", output, *self._options())
        part.unlink()
        row, program = self._row("merge --runs", records)
        runs = sorted(Path(f"{output}.ecosort").glob("run-*"))
        program.must("merge", "--runs", *runs, "-o", merged, *self._options())
        self._hold_memory(row)
        shutil.rmtree(f"{output}.ecosort")
        self._check(merged, records, checksum)


def mib(size: int) -> str:
    return f"{size / (1 << 20):,.1f}" if size else ""


def print_table(rows: list[Row]) -> None:
    print("| step | wall s | CPU s/GB | memory MiB | extra space MiB | journal MiB | recheck s | restart s | |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        seconds = [", ".join(f"{s:.1f}" for s in list_) for list_ in (row.rechecks_s, row.restarts_s)]
        figures = [f"{row.wall_s:.1f}", f"{row.cpu_s / row.size * 1e9:.2f}", mib(row.memory_bytes), mib(row.extra_bytes)]
        print("|", " | ".join([row.step, *figures, mib(row.journal_bytes), *seconds, "; ".join(row.faults)]), "|", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--dir", type=Path, default=Path("/var/tmp"), help="a real drive with 6 %% of the size free")
    parser.add_argument("--size", default="100GB")
    parser.add_argument("--memory", default="1GiB")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what is run; a terabyte takes hours")
    words = parser.parse_args()
    size, memory = parse_size(words.size), parse_size(words.memory)
    disk_bytes = size + size // 12 + (2 << 30)
    need, free = disk_bytes // 100 * 6, shutil.disk_usage(words.dir).free
    print(f"scale-test: {words.size} with {words.memory} of memory")
    print(f"scale-test: takes {need / 1e9:.1f} GB of '{words.dir}', where {free / 1e9:.1f} GB are free")
    if free < need:
        sys.exit("scale-test: too little is free; name a directory on another drive: --dir, or SCALE_DIR= of make")
    if os.geteuid() != 0:
        sys.exit("scale-test: only root mounts the drive")
    with (
        tempfile.TemporaryDirectory(prefix="ecosort-scale-", dir=words.dir) as place,
        drive(words.build, Path(place), disk_bytes, size // RECORD_BYTES) as (disk, source),
    ):
        test = ScaleTest(words.build / "ecosort", disk, source, size, memory)
        try:
            test.run(words.parts)
        finally:
            print_table(test.rows)
    return 1 if any(row.faults for row in test.rows) else 0


if __name__ == "__main__":
    sys.exit(main())
