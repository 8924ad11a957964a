"""A queue in a directory of its own, driven by its command line as a user would."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import forked
from ecosort_appliance import jobs
from ecosort_appliance.database import open_database
from ecosort_appliance.facts import job_facts

COMMAND = [sys.executable, "-P", "-m", "ecosort_appliance"]


class Queue:
    """`program`: the ecosort that jobs run."""

    def __init__(self, directory: Path, program: Path) -> None:
        self.directory = directory
        self.place = directory.parent / "place"
        self.place.mkdir()
        self._started: list[forked.Process] = []
        self.environment = os.environ | {"ECOSORT_QUEUE": str(directory), "ECOSORT_PROGRAM": str(program)}

    def run(self, *words: str | bytes | Path, cwd: Path | None = None, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        quickly = ["--tick", "0.05"] if words[0] == "run" else []
        called = ["queue", *words, *quickly]
        how: Any = {"cwd": cwd or self.place, "env": self.environment, "timeout": timeout, "errors": "surrogateescape"}
        return forked.run(COMMAND[-1], called, **how)

    def ok(self, *words: str | bytes | Path, **options: Any) -> str:
        done = self.run(*words, **options)
        assert done.returncode == 0, (words, done)
        return done.stdout

    def add(self, *words: str | bytes | Path, options: tuple[str, ...] = ()) -> int:
        return int(self.ok("add", *options, "--", *words))

    def job(self, number: int) -> Mapping[str, Any]:
        """As `queue show --json` says it, but without a process: some tests ask until something has happened."""
        with contextlib.closing(open_database(self.directory)) as connection:
            return job_facts(jobs.get(connection, number))

    def jobs(self) -> dict[int, Mapping[str, Any]]:
        with contextlib.closing(open_database(self.directory)) as connection:
            return {job.id: job_facts(job) for job in jobs.select(connection, "true")}

    def start(self, *words: str, stderr: int | None = None) -> forked.Process:
        """`queue run`, or `serve` with its options, in the background."""
        called = words or ("queue", "run", "--tick", "0.05")
        process = forked.Process(COMMAND[-1], called, cwd=self.place, env=self.environment, stderr=stderr)
        self._started.append(process)
        return process

    def close(self) -> None:
        """Ends what a failed test has left."""
        for process in self._started:
            process.kill()
            process.wait()

    @contextlib.contextmanager
    def held(self, number: int, until: Path) -> Iterator[None]:
        """Holds all processes of the job as soon as that path is there, which a fast sort may soon remove again."""
        wait_for(until.exists, step_s=0.0005)
        session = json.loads((self.directory / "jobs" / str(number) / "keeper.json").read_text())["pid"]
        os.killpg(session, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(session, signal.SIGCONT)

    def log(self, number: int) -> str:
        return self.ok("log", str(number))


def wait_for(condition: Callable[[], object], timeout_s: float = 60.0, step_s: float = 0.02) -> None:
    end_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end_s, "it did not happen in time"
        time.sleep(step_s)


def copy_packages(directory: Path) -> None:
    """Copies what a job's guard imports: the environment of the tests may be out of the user's reach."""
    import ecosort_appliance
    import ecosort_power

    import ecosort as package

    for module in (package, ecosort_appliance, ecosort_power):
        source = Path(str(module.__file__)).parent
        shutil.copytree(source, directory / source.name, ignore=shutil.ignore_patterns("__pycache__"))
