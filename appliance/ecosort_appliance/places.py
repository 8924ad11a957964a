"""Knows where the queue lies, and which drives a path needs."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ecosort_power.user_directory import user_directory

from ecosort_appliance.errors import QueueError, QueueUnreadable

SYSTEM_QUEUE = Path("/var/lib/ecosort")


def queue_directory() -> Path:
    """Returns root's of the system; anyone else's is his own. ECOSORT_QUEUE names another."""
    if named := os.environ.get("ECOSORT_QUEUE"):
        return Path(named).absolute()
    if os.geteuid() == 0:
        return SYSTEM_QUEUE
    base = user_directory("XDG_STATE_HOME", "~/.local/state")
    if base is None:
        raise QueueError("~/.local/state cannot be found: this user has no home directory; set ECOSORT_QUEUE, or HOME")
    return base / "ecosort"


def make_queue_directory(directory: Path) -> None:
    """No one but the queue's owner may change it; other users reach their own job's directory through it (mode 711)."""
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        _make(directory)
        status = directory.stat()
        if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise QueueError(f"'{directory}' is not yours alone; name another directory with ECOSORT_QUEUE")
        for name in ("jobs", "locks"):
            _make(directory / name)
    except OSError as error:
        raise QueueUnreadable(f"the queue '{directory}' cannot be made: {error.strerror}") from None


def _make(directory: Path) -> None:
    """With its mode, whatever the umask says."""
    try:
        directory.mkdir()
    except FileExistsError:
        return
    directory.chmod(0o711)


def real_path(path: str, directory: str) -> str:
    """Returns where a path that was written in that directory leads; it need not exist."""
    return os.path.realpath(os.path.join(directory, path))  # noqa: PTH118 pathlib refuses what is not UTF-8 nowhere, but drops `.`


def lies_in(path: str, directory: str) -> bool:
    """Compares real paths: the directory itself lies in it, too."""
    return f"{path}/".startswith(f"{directory.rstrip('/')}/")


def is_in_memory(path: str, mounts: Path = Path("/proc/self/mountinfo")) -> bool:
    """Nothing there outlives a power cut, so that no sort there can be resumed."""
    try:
        device = os.stat(path).st_dev  # noqa: PTH116
        lines = mounts.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    return any(line.split()[2] == number and line.split(" - ")[1].split()[0] in ("tmpfs", "ramfs") for line in lines)


def drive_of(path: str) -> int:
    """The device number of the drive that holds the path, or would: of a partition the whole drive's."""
    while True:
        try:
            device = os.stat(path).st_dev  # noqa: PTH116
            break
        except OSError:
            parent = os.path.dirname(path)  # noqa: PTH120
            if parent == path:
                raise
            path = parent
    node = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if (node / "partition").exists():
        major, minor = (node.resolve().parent / "dev").read_text().split(":")
        return os.makedev(int(major), int(minor))
    return device
