"""Kills every process of a session when the session's main process is gone, however it went.

Runs as a script of its own: `python -I -S guard.py`, with the session's mark on the first line of its standard input. The other
end of that pipe is held by the main process alone; when it closes (exit, crash, SIGKILL), every process whose
environment carries the mark is killed. Children inherit the environment, so daemons that left their process group and
their parent are found, too.
"""

import os
import signal
import sys
import time
from pathlib import Path

MARK = "ECOSORT_POWER_SESSION"


_LOOKS = 20  # a millisecond apart


def _environment(process: Path) -> bytes:
    """A process that starts a program has none for a moment. Kernel threads, and what has ended, have no program either."""
    for _ in range(_LOOKS):
        if environment := (process / "environ").read_bytes():
            return environment
        (process / "exe").readlink()  # OSError: there is no program
        time.sleep(0.001)
    return b""


def marked(mark: str) -> list[int]:
    """Processes of this user whose environment carries the mark."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for path in Path("/proc").iterdir():
        if not path.name.isdigit() or int(path.name) == os.getpid():
            continue
        try:
            if wanted in _environment(path).split(b"\0"):
                found.append(int(path.name))
        except OSError:
            continue  # ended meanwhile, or another user's
    return found


def kill_marked(mark: str) -> None:
    quiet = 0
    for _ in range(200):  # a process may fork while we look: only two empty scans are an end
        victims = marked(mark)
        quiet = 0 if victims else quiet + 1
        if quiet == 2:
            return
        for pid in victims:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        time.sleep(0.01)


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    mark = sys.stdin.readline().strip()
    sys.stdin.read()
    if mark:
        kill_marked(mark)


if __name__ == "__main__":
    main()
