"""Looks at files for the page, with the rights of one user: what is in a directory, and the first rows of a file.

Only what lies in one of the allowed directories is looked at, by its real path.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Sequence
from typing import Any

from ecosort_appliance.errors import QueueError
from ecosort_appliance.places import lies_in
from ecosort_appliance.users import call_as

_MOST_ENTRIES = 1000
_MOST_PREVIEW_BYTES = 1 << 16
_ROWS = 10


def look(roots: Sequence[str], path: str) -> dict[str, Any]:
    """Returns {"path", "entries"} of a directory, or {"path", "size", "rows"} of a file. OSError; PermissionError outside of the
    roots."""
    real = os.path.realpath(path)
    if not any(lies_in(real, os.path.realpath(root)) for root in roots):
        raise PermissionError(f"{path!r} is in none of the directories of --files")
    return {"path": real, "entries": _entries(real)} if os.path.isdir(real) else _preview(real)  # noqa: PTH112


def _entries(directory: str) -> list[dict[str, Any]]:
    """Directories first; no hidden files, no special ones."""
    found = []
    for entry in os.scandir(directory):
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir():
            found.append({"name": entry.name, "is_directory": True, "size": 0})
        elif entry.is_file():
            found.append({"name": entry.name, "is_directory": False, "size": entry.stat().st_size})
    found.sort(key=lambda entry: (not entry["is_directory"], entry["name"]))
    return found[:_MOST_ENTRIES]


def _preview(path: str) -> dict[str, Any]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(f"{path!r} is no regular file")
        head = file.read(_MOST_PREVIEW_BYTES)
    is_text = b"\0" not in head
    rows = [row.decode(errors="surrogateescape") for row in head.split(b"\n")[:_ROWS]] if is_text else []
    return {"path": path, "size": status.st_size, "rows": rows}


def look_as(uid: int, roots: Sequence[str], path: str) -> dict[str, Any]:
    """Looks with the rights of that user. QueueError, which says what cannot be looked at."""
    found = call_as(uid, "ecosort_appliance.browse", [list(roots), path], lambda: answer(roots, path))
    if "error" in found:
        raise QueueError(found["error"])
    return dict(found)


def answer(roots: Sequence[str], path: str) -> dict[str, Any]:
    """Returns what look() does, or {"error"}."""
    try:
        return look(roots, path)
    except OSError as error:
        return {"error": f"{path!r}: {error.strerror}" if error.strerror else str(error)}
    except ValueError:  # a NUL in a name
        return {"error": f"{path!r} is no name of a file"}


if __name__ == "__main__":
    json.dump(answer(*json.load(sys.stdin)), sys.stdout)
