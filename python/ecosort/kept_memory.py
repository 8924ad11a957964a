"""Memory that Arrow's allocator keeps for later."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa

_STATM = Path("/proc/self/statm")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class KeptMemory:
    """Lets the allocator keep what it got, because fresh pages cost more than what is done with them, up to a bound.

    The process may grow by `most_bytes` from now on; then what is not in use goes back to the system. Any thread.
    """

    def __init__(self, most_bytes: int) -> None:
        self._limit = _resident_bytes() + most_bytes

    def check(self) -> None:
        """To be called whenever much was given up."""
        if _resident_bytes() > self._limit:
            pa.default_memory_pool().release_unused()


def _resident_bytes() -> int:
    return int(_STATM.read_bytes().split()[1]) * _PAGE_BYTES
