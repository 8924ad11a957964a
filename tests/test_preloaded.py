"""The library that makes calls fail, end or stop a program: what it promises, with Python as the program."""

import signal
import subprocess
import sys
from pathlib import Path

from sort_support import faults, stops

# The threads make 20 calls.
READER = """
import os, sys, threading
got = []
def read():
    for _ in range(20 // {threads}):
        try: got.append(os.pread(file, 4, 0))
        except OSError as error: got.append(error.errno)
file = os.open(sys.argv[1], os.O_RDONLY)
threads = [threading.Thread(target=read) for _ in range({threads})]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(sorted(map(str, got)))
"""


def start(tmp_path: Path, *rules: str, threads: int = 2) -> subprocess.Popen[str]:
    source = tmp_path / "source"
    source.write_text("abcd")
    command = [*faults(tmp_path, *rules), sys.executable, "-S", "-c", READER.format(threads=threads), source]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_calls_of_all_threads_count(tmp_path: Path) -> None:
    """Every third from the second on is the 2nd, 5th ... 20th of both threads together, not of each."""
    out, _ = start(tmp_path, "pread64:error=EIO:when=2+3").communicate()
    assert out == f"{['5'] * 7 + [str(b'abcd')] * 13}\n"
    calls = (tmp_path / "trace").read_text().splitlines()
    assert len(calls) == 20
    assert sum(call.endswith("= -1 EIO (INJECTED)") for call in calls) == 7
    assert sum(call.endswith(") = 4") for call in calls) == 13


def test_a_kill_comes_before_the_call_and_a_stop_after_it(tmp_path: Path) -> None:
    """One thread makes the calls: of two, one may be between its call and the line about it."""
    process = start(tmp_path, "pread64:signal=STOP:when=3", "pread64:signal=KILL:when=18", threads=1)
    assert stops(process)
    assert (tmp_path / "trace").read_text().count("= 4\n") == 3
    process.send_signal(signal.SIGCONT)
    assert process.wait() == -signal.SIGKILL
    assert (tmp_path / "trace").read_text().count("= 4\n") == 17


def test_a_rule_that_cannot_be_understood_ends_the_program(tmp_path: Path) -> None:
    for rule in ("read64", "pread64:error=EWHAT", "pread64:signal=STOPPED", "pread64:when=0", "pread64:kill=now", "pread64:kill"):
        process = start(tmp_path, rule)
        out, error = process.communicate()
        assert (process.returncode, out, error.startswith("faults: ")) == (99, "", True), rule
