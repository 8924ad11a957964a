"""Files and names that a power cut does not take away."""

from __future__ import annotations

import os
from pathlib import Path


def sync_directory(directory: Path | str) -> None:
    """Returns when the names in a directory are on stable storage. Raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_durably(path: Path, data: bytes) -> None:
    """Replaces a file: a reader, or a crash, sees the old one or the new one, complete. Raises OSError."""
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync_directory(path.parent)
