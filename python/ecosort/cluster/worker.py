"""`python -m ecosort.cluster.worker PID`: one task, told on standard input; its answer goes to standard output.

It ends when the process PID that started it does, and takes the program it runs along.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys

from ecosort.cluster.tasks import run_task

_PR_SET_PDEATHSIG = 1


def _end_with(parent: int) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # stops the program on the way out
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it ended before that
        sys.exit(1)


def main() -> None:
    _end_with(int(sys.argv[1]))
    json.dump(run_task(json.load(sys.stdin)), sys.stdout)


if __name__ == "__main__":
    main()
