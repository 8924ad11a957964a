"""The process beside a job: runs the program, keeps what it says, and writes down how it ended. It outlives the service.

Started by the service as the job's user, in a session of its own, with the job's lock among its descriptors; what to do comes as
JSON on standard input. When the service dies before it has said that, nothing is run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

from ecosort.durable import sync_directory
from ecosort.memory_file import memory_file

from ecosort_appliance.jobdir import MOST_LOG_BYTES
from ecosort_appliance.journals import journal_in
from ecosort_appliance.processes import start_ticks

_PROGRESS_PERIOD_S = 0.5
_RESERVED_BYTES = 4096  # of the record of the end, which must find room on a drive that the job has filled


class Keeper:
    """One attempt at one job."""

    def __init__(self, directory: Path, spec: dict[str, Any], lock: int) -> None:
        self._directory = directory
        self._spec = spec
        self._lock = lock
        self._error: dict[str, Any] | None = None
        self._progress_s = 0.0
        self._own: dict[str, Any] = {}
        self._begin_s: float | None = None  # of the program's work, on the monotonic clock
        self._log = (directory / "log").open("ab", buffering=0)

    def run(self) -> None:
        self._reserve_end()
        pid = os.getpid()
        self._own = {"pid": pid, "start_ticks": start_ticks(pid), "attempt": self._spec["attempt"]}
        self._replace("keeper.json", self._own)
        for note in self._spec["notes"]:
            self._say(note)
        code = self._work()
        end_s = time.monotonic()
        begin_s = end_s if self._begin_s is None else self._begin_s
        times = {"work_s": end_s - begin_s, "begin_s": begin_s, "end_s": end_s}
        self._write_end({"code": code, **times, "error": self._error, "journal": journal_in(self._spec["job_directory"])})

    def _work(self) -> int:
        begin_s = time.monotonic()
        request = self._spec["request"]
        try:
            child = subprocess.Popen(
                self._spec["command"],
                cwd=self._spec["directory"],
                stdin=subprocess.DEVNULL if request is None else memory_file(request),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(self._lock,),
            )
        except OSError as error:
            self._say(f"ecosort: cannot be started in {self._spec['directory']!r}: {error.strerror}")
            return 127
        self._begin_s = begin_s
        signal.signal(signal.SIGTERM, lambda *_: child.send_signal(signal.SIGTERM))
        self._replace("keeper.json", self._own | {"begin_s": begin_s})
        assert child.stderr
        self._listen(child.stderr)
        return child.wait()

    def _listen(self, pipe: IO[bytes]) -> None:
        while line := pipe.readline(1 << 16):
            text = line.decode(errors="replace").rstrip("\n")
            if not text.startswith('{"schema":"ecosort.'):
                self._say(text)
                continue
            told = json.loads(text)
            if told["schema"] == "ecosort.error/1":
                self._error = told
            elif time.monotonic() - self._progress_s >= _PROGRESS_PERIOD_S or told["phase"] == "done":
                self._progress_s = time.monotonic()
                self._replace("progress.json", told)

    def _say(self, text: str) -> None:
        stamp = time.strftime("%Y-%m-%d %H:%M:%S ", time.localtime())
        try:
            if self._log.tell() > MOST_LOG_BYTES - (1 << 16):
                (self._directory / "log").replace(self._directory / "log.1")
                self._log.close()
                self._log = (self._directory / "log").open("ab", buffering=0)
            self._log.write((stamp + text + "\n").encode(errors="surrogateescape"))
        except OSError:  # a full drive must not end the job
            return

    def _replace(self, name: str, value: dict[str, Any]) -> None:
        try:
            new = self._directory / f"{name}.new"
            new.write_text(json.dumps(value))
            new.replace(self._directory / name)
        except OSError:
            return

    def _end_path(self) -> Path:
        return self._directory / f"exit-{self._spec['attempt']}.new"

    def _reserve_end(self) -> None:
        with self._end_path().open("wb") as file:
            file.write(b" " * _RESERVED_BYTES)
            os.fsync(file.fileno())

    def _write_end(self, end: dict[str, Any]) -> None:
        """On stable storage before the lock is given up."""
        text = json.dumps(end)
        if len(text) > _RESERVED_BYTES:
            text = json.dumps(end | {"error": None})
        path = self._end_path()
        with path.open("r+b") as file:
            file.write(text.ljust(_RESERVED_BYTES).encode())
            os.fsync(file.fileno())
        path.replace(path.with_suffix(".json"))
        sync_directory(self._directory)


def main() -> None:
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    text = sys.stdin.buffer.read()
    if not text.endswith(b"\n"):  # the service is gone
        return
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    Keeper(Path(sys.argv[1]), json.loads(text), int(sys.argv[2])).run()


if __name__ == "__main__":
    main()
