"""Looks at a watched directory: which files are there, and whether someone still writes them."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
from dataclasses import astuple, dataclass

from ecosort_appliance.users import environment_of, popen_user

_LOOK_S = 60.0


@dataclass(frozen=True)
class Found:
    """A regular file. `identity` changes when it is written or replaced; `changed_s`: when anything of it changed last, by the
    drive's clock, which no one can set."""

    path: str
    identity: str
    is_written: bool
    changed_s: float


def look(directory: str) -> list[Found]:
    """Regular files that are not hidden; OSError when it cannot be read."""
    found = []
    for entry in sorted(os.scandir(directory), key=lambda e: e.name):
        if entry.name.startswith(".") or not entry.is_file(follow_symlinks=False):
            continue
        if file := _look_at(entry.path):
            found.append(file)
    return found


def _look_at(path: str) -> Found | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # gone, or not to be read
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        identity = f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"
        return Found(path, identity, _is_open_for_writing(descriptor), status.st_ctime)
    finally:
        os.close(descriptor)


def _is_open_for_writing(descriptor: int) -> bool:
    """A lease for reading is refused while anyone has the file open for writing; of others' files always (EACCES).

    Who opens it for writing while the lease is held breaks it, which is told by a signal: by one that ends no one.
    """
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def look_as(uid: int, directory: str) -> list[Found]:
    """The same with the rights of that user."""
    if os.geteuid() == uid:
        return look(directory)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ecosort_appliance.watch"],
        input=json.dumps(directory).encode(),
        cwd="/",
        env=environment_of(uid, {}),
        capture_output=True,
        timeout=_LOOK_S,
        check=False,
        **popen_user(uid),
    )
    if done.returncode != 0:
        raise OSError(f"'{directory}' cannot be read")
    return [Found(*fields) for fields in json.loads(done.stdout)]


if __name__ == "__main__":
    json.dump([astuple(file) for file in look(json.load(sys.stdin))], sys.stdout)
