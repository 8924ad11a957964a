"""A sort by ten nodes of this machine, each with a tenth of the records; its driver is killed when half of the tasks are done."""

import contextlib
import json
import os
import re
import shutil
import threading
import time
from pathlib import Path

from scale_ground import RECORD_BYTES, Ground
from scale_table import Row, Space, used_by_file_system

NODES = 10
MOST_OF_MEAN = 1.1
MOST_RESTART_S = 60
TICKS = os.sysconf("SC_CLK_TCK")


class Watch:
    """Looks at a driver and its journal while a block runs: those are the children of ours that run the package."""

    def __init__(self, journal: Path) -> None:
        self._journal, self._stop = journal, threading.Event()
        self.journal_bytes = self.memory_bytes = 0
        self.restart_s = 0.0  # until the journal grew again
        self._restart: tuple[float, int] | None = None
        self._cpu_s: dict[int, float] = {}
        self._thread = threading.Thread(target=self._watch)

    @property
    def cpu_s(self) -> float:
        return sum(self._cpu_s.values())

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            with contextlib.suppress(OSError):
                self._look_at_journal(self._journal.stat().st_size)
            for driver in self._drivers():
                with contextlib.suppress(OSError):
                    self._look_at(driver)

    def _look_at_journal(self, size: int) -> None:
        self.journal_bytes = max(self.journal_bytes, size)
        if self._restart and size > self._restart[1]:
            self.restart_s = time.monotonic() - self._restart[0]
            self._restart = None

    def begin_of_restart(self) -> None:
        self._restart = (time.monotonic(), self._journal.stat().st_size)

    def _drivers(self) -> list[int]:
        mine = Path(f"/proc/{os.getpid()}/task").glob("*/children")
        found = []
        for children in mine:
            with contextlib.suppress(OSError):
                found += [int(pid) for pid in children.read_text().split() if self._is_driver(pid)]
        return found

    def _is_driver(self, pid: str) -> bool:
        with contextlib.suppress(OSError):
            return b"ecosort.cluster" in Path(f"/proc/{pid}/cmdline").read_bytes()
        return False

    def _look_at(self, pid: int) -> None:
        times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        self._cpu_s[pid] = (int(times[11]) + int(times[12])) / TICKS
        peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        self.memory_bytes = max(self.memory_bytes, int(peak[1]) * 1024 if peak else 0)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


class TasksDone:
    """Counts those that move all rows, in a journal that grows by megabytes: what was read is not read again."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._read = self._count = 0

    def count(self) -> int:
        with contextlib.suppress(FileNotFoundError), self._journal.open("rb") as file:
            file.seek(self._read)
            lines = file.read()
            whole = lines[: lines.rfind(b"\n") + 1]
            self._read += len(whole)
            self._count += sum(whole.count(b'"event":"done","task":"' + phase) for phase in (b"partition", b"reduce"))
        return self._count


def cluster(ground: Ground) -> None:
    checksum = ground.checksum
    output, journal = ground.disk / "parts", ground.disk / "parts.ecosort" / "journal"
    temps = [ground.disk / f"n{number}" for number in range(NODES)]
    inputs = [f"node{number}:{ground.drive}/records.{number}" for number in range(NODES)]
    order = ["--format", "records", "--record-size", f"{RECORD_BYTES}", "--key", "0:10", *ground.options]
    words: list[str | Path] = [
        "sort",
        *order,
        *(word for temp in temps for word in ("--nodes-temp", str(temp))),
        *inputs,
        "-o",
        output,
    ]
    row, _ = ground.row("cluster of ten nodes, driver killed", ground.size)
    program = ground.python(row, "ecosort.cluster")
    plan = json.loads(program.output_of(*words, "--plan=json", "--no-profile"))
    half = (plan["ranges"] + plan["parts"]) // 2
    with Watch(journal) as driver, Space(lambda: used_by_file_system(ground.disk)) as space:
        done = TasksDone(journal)
        was_killed = program.kill_when(lambda: done.count() >= half, *words)
        row.demand(was_killed, "the driver ended before half of its tasks were done")
        driver.begin_of_restart()
        told = program.must("resume", output).told
    cpu_s = re.search(r"([\d.]+) CPU-s", told)  # of all tasks, also of those that the first driver began
    row.cpu_s = float(cpu_s[1]) if cpu_s else 0.0
    row.memory_bytes, row.journal_bytes = driver.memory_bytes, driver.journal_bytes
    row.extra_bytes = max(space.more() - ground.size, 0)
    row.restarts_s.append(driver.restart_s)
    row.demand(driver.restart_s <= MOST_RESTART_S, f"the driver took {driver.restart_s:.1f} s to continue")
    row.notes.append(f"driver {driver.cpu_s:.1f} CPU-s; {plan['ranges']} ranges, {plan['parts']} parts")
    check(ground, row, output, checksum)


def check(ground: Ground, row: Row, output: Path, checksum: str) -> None:
    manifest = output / "MANIFEST.json"
    sizes = [part["bytes"] for part in json.loads(manifest.read_text())["parts"]]
    balance = max(sizes) * len(sizes) / sum(sizes)
    row.demand(balance <= MOST_OF_MEAN, f"a part has {balance:.3f} of the mean")
    row.notes.append(f"largest part {balance:.3f} of the mean; manifest {manifest.stat().st_size / 1024:.0f} KiB")
    checked, program = ground.row("check of parts", ground.size)
    ground.python(checked, "ecosort.cluster").must("check", output)
    told = program.must("check", "-s", *sorted(output.glob("part-*.sum"))).told
    checked.demand(f"Records: {ground.records}\n" in told, "not all records are there")
    checked.demand(checksum in told, "the checksum is another one")
    shutil.rmtree(output)
