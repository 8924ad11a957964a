"""Recognizes an interrupted sort by the journal in its job directory: another sort to that output may have left one since."""

from __future__ import annotations

import os
import stat

_HEAD_BYTES = 64  # checksum of the header, which holds the random number of the sort and never changes


def journal_in(job_directory: str) -> str | None:
    """Identifies the sort that the directory is of. Empty where nothing was begun, or where its journal cannot be read: then the
    program does not continue with it either. None: there is no such directory."""
    if not os.path.lexists(job_directory):
        return None
    try:
        descriptor = os.open(f"{job_directory}/journal", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        head = os.read(descriptor, _HEAD_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return head.hex() if any(head) else ""
