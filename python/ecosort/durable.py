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
