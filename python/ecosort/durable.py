"""Files and names that a power cut does not take away."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def sync_directory(directory: Path | str) -> None:
    """Returns when the names in a directory are on stable storage. Raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replaceable(path: Path | str) -> Path:
    """Returns the file that a name leads to, there or not yet. Raises OSError for a device, a pipe or a directory: a new file in
    its place would take it away from everybody."""
    found = Path(os.path.realpath(path))
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113  # of a name with NUL they are false
        raise OSError(errno.EINVAL, "it is no regular file, and is not replaced", str(path))
    return found


_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def link_as(path: Path, name: Path) -> None:
    """Gives a file another name, which no file has. Raises FileExistsError where one has it, and OSError.

    The file keeps its first name, unless the file system has no hard links.
    """
    try:
        os.link(path, name)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(name)) from None
        path.rename(name)


def create_durably(path: Path, data: bytes) -> None:
    """Makes a new file, which is complete when it appears. Raises FileExistsError where one is there, and OSError."""
    new = path.with_name(f"{path.name}.new.{os.urandom(4).hex()}")  # another process may do the same now
    try:
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        link_as(new, path)
    finally:
        new.unlink(missing_ok=True)
    sync_directory(path.parent)


def write_durably(path: Path, data: bytes) -> None:
    """Replaces a file: a reader, or a crash, sees the old one or the new one, complete. Raises OSError."""
    path = replaceable(path)
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync_directory(path.parent)
