"""Measures how long each test takes: every run writes build/test-durations.tsv; `python tests/durations.py FILE [CORES]` reports
it.

A row is one phase of one test: its node id, "setup", "call" or "teardown", wall seconds, processor seconds (of the test and of
the children it waited for), the worker, and the second of the run at which the phase began. Work that a test leaves to a thread
of its worker is counted for the test that runs when it is done.
"""

import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import forked
import pytest

LONGEST = 50


class Duration(NamedTuple):
    test: str
    phase: str
    wall_s: float
    cpu_s: float
    worker: str
    begin_s: float

    @property
    def file(self) -> str:
        return self.test.partition("::")[0]


def read(path: Path) -> list[Duration]:
    """Reads what a run wrote; nothing where none has written."""
    if not path.exists():
        return []
    return [of_line(line) for line in path.read_text().splitlines()[1:]]


def of_line(line: str) -> Duration:
    test, phase, wall_s, cpu_s, worker, begin_s = line.split("\t")
    return Duration(test, phase, float(wall_s), float(cpu_s), worker, float(begin_s))


def processor_s() -> float:
    """Adds up the time of this process, of the children it has waited for, and of the programs that were forked for it."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used) + forked.processor_s()


class Durations:
    """The plugin. A worker puts what it measures into its reports; the process that collects them writes the file at the end."""

    def __init__(self, config: pytest.Config, path: Path) -> None:
        self._writes = not hasattr(config, "workerinput") and os.access(path.parent, os.W_OK)
        self._path, self._begin_s, self._rows = path, time.time(), [Duration._fields]
        self._cpu_s = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self._cpu_s = processor_s()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        report = yield
        now = processor_s()
        report.measured = (now - self._cpu_s, os.environ.get("PYTEST_XDIST_WORKER", "alone"), call.start)
        self._cpu_s = now
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        if self._writes and hasattr(report, "measured"):
            cpu_s, worker, start = report.measured
            row = (report.nodeid, report.when, f"{report.duration:.3f}", f"{cpu_s:.3f}", worker, f"{start - self._begin_s:.2f}")
            self._rows.append(row)

    def pytest_sessionfinish(self) -> None:
        if self._writes and len(self._rows) > 1:
            written = self._path.with_suffix(".tmp")
            written.write_text("".join("\t".join(row) + "\n" for row in self._rows))
            written.replace(self._path)


def sums(rows: Iterable[Duration], key: str) -> list[tuple[str, float, float]]:
    """(name, wall s, processor s) of all that have the same `key`, most wall time first."""
    wall, cpu = Counter[str](), Counter[str]()
    for row in rows:
        wall[getattr(row, key)] += row.wall_s
        cpu[getattr(row, key)] += row.cpu_s
    return [(name, wall_s, cpu[name]) for name, wall_s in wall.most_common()]


def report(rows: list[Duration], cores: int) -> str:
    wall_s = max(row.begin_s + row.wall_s for row in rows) - min(row.begin_s for row in rows)
    cpu_s = sum(row.cpu_s for row in rows)
    lines = [
        f"{len({row.test for row in rows})} tests in {wall_s:.0f} s on {cores} cores: {cpu_s:.0f} processor seconds, "
        f"cores busy {cpu_s / wall_s / cores:.0%}"
    ]
    for title, key, most in (("file", "file", None), (f"the {LONGEST} slowest tests", "test", LONGEST)):
        lines += ["", f"{'wall s':>8} {'cpu s':>8}  {title}"]
        lines += [f"{wall:8.1f} {cpu:8.1f}  {name}" for name, wall, cpu in sums(rows, key)[:most]]
    return "\n".join(lines)


if __name__ == "__main__":
    found = read(Path(sys.argv[1]))
    if not found:
        sys.exit(f"{sys.argv[1]}: no durations; run make test first")
    print(report(found, int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count() or 1))
