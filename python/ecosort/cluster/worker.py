"""`python -P .../ecosort/cluster/worker.py PID`: tasks, one a line on standard input; each answer is a line on standard output.

It ends when the process PID that started it does, and takes the program it runs along. It runs as a file, not as a module: the
packages that the module is in would load all of EcoSort, which takes longer than the modules that tasks need. In an archive
there is no such file, and it runs as a module.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from pathlib import Path
from types import ModuleType

_PR_SET_PDEATHSIG = 1


def _end_with(parent: int) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # stops the program on the way out
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it ended before that
        sys.exit(1)


def _with_empty_packages() -> None:
    """Has the modules of both packages found without what is in the packages themselves."""
    own = Path(__file__).parent
    for name, place in (("ecosort", own.parent), ("ecosort.cluster", own)):
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [str(place)]


def main() -> None:
    _end_with(int(sys.argv[1]))
    if "ecosort" not in sys.modules:
        _with_empty_packages()
    from ecosort.cluster.tasks import run_task

    for line in sys.stdin:
        print(json.dumps(run_task(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
