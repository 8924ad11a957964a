"""Descriptors, which take less at a time than they are given: Linux writes at most 0x7ffff000 bytes by one call."""

from __future__ import annotations

import os


def write_all(descriptor: int, data: bytes) -> None:
    """Returns when all of the data was written. Raises OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
