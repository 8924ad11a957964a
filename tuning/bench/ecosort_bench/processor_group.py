"""The processor time of a command with everything that it starts, also of daemons that no one waits for: by a control group."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ecosort_power.errors import RunError

_JOIN = 'echo $$ > "$0" && exec "$@"'
_MOST_WAIT_S = 20
# Version 1 and version 2 of control groups; each shows the time in a file of its own.
_ROOTS = (Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup"))


class ProcessorGroup:
    """One group. Made by processor_group(); a member may have another object of the same group."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @property
    def directory(self) -> Path:
        """Returns the directory, of which a member makes its own object."""
        return self._directory

    def joined(self, command: Sequence[str]) -> list[str]:
        """The command, which becomes a member before it begins."""
        return ["sh", "-c", _JOIN, str(self._directory / "cgroup.procs"), *command]

    def cpu_s(self) -> float:
        """Returns the time of all members, also of those that have ended."""
        if (usage := self._directory / "cpuacct.usage").exists():
            return int(usage.read_text()) / 1e9
        stat = dict(line.split() for line in (self._directory / "cpu.stat").read_text().splitlines())
        return int(stat["usage_usec"]) / 1e6

    def wait_until_empty(self) -> None:
        """RunError where a process stays."""
        until = time.monotonic() + _MOST_WAIT_S
        while (self._directory / "cgroup.procs").read_text():
            if time.monotonic() > until:
                raise RunError("a process of the measured command did not end")
            time.sleep(0.05)


@contextmanager
def processor_group() -> Iterator[ProcessorGroup]:
    """RunError where none can be made: that needs root."""
    root = next((root for root in _ROOTS if (root / "cgroup.procs").exists()), None)
    if root is None or not os.access(root, os.W_OK):
        raise RunError("the processor time of all processes is measured with a control group: run as root, with /sys/fs/cgroup")
    directory = Path(tempfile.mkdtemp(prefix="ecosort-bench-", dir=root))
    try:
        yield ProcessorGroup(directory)
    finally:
        directory.rmdir()
