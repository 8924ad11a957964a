"""A text that a program reads from a descriptor."""

from __future__ import annotations

import os


def memory_file(text: str) -> int:
    """Returns a descriptor that reads the text."""
    descriptor = os.memfd_create("ecosort-request", os.MFD_CLOEXEC)
    with open(descriptor, "w", encoding="utf-8", closefd=False) as file:
        file.write(text)
        file.seek(0)
    return descriptor
