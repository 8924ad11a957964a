"""Says what goes wrong in the queue: one line for people, and the exit code."""

from __future__ import annotations

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_IO = 3


class QueueError(Exception):
    """A user can mend it. The text says how."""

    exit_code = EXIT_USAGE


class QueueUnreadable(QueueError):  # noqa: N818
    """The queue's own files cannot be read or written."""

    exit_code = EXIT_IO


class NoSuchJob(QueueError):  # noqa: N818
    """By that number."""
