"""Before a run: the old output gone, the input out of the page cache, the drives at rest."""

from __future__ import annotations

import ctypes
import mmap
import os
from dataclasses import dataclass
from pathlib import Path

from ecosort_power.clock import REAL, STEP_S, Clock
from ecosort_power.errors import RunError
from ecosort_power.monitor import disk_activity

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
_MAP_FAILED = ctypes.c_void_p(-1).value
_CHUNK_BYTES = 1 << 30

# An input that is called cold may have so much in the cache.
MAX_CACHED_SHARE = 0.001
# Drives are at rest when they move less than this for REST_S.
REST_BYTES_PER_S = 1 << 20
REST_S = 2.0
_SECTOR_BYTES = 512


def cached_share(path: Path) -> float:
    """Share of a file's pages that are in the page cache."""
    size = path.stat().st_size
    pages = cached = 0
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for offset in range(0, size, _CHUNK_BYTES):
            length = min(_CHUNK_BYTES, size - offset)
            vector = _resident(fd, offset, length)
            pages += len(vector)
            cached += sum(1 for b in vector if b & 1) if any(vector) else 0
    finally:
        os.close(fd)
    return cached / pages if pages else 0.0


def _resident(fd: int, offset: int, length: int) -> bytes:
    address = _libc.mmap(None, length, mmap.PROT_READ, mmap.MAP_SHARED, fd, offset)
    if address == _MAP_FAILED:
        raise RunError(f"mmap failed: {os.strerror(ctypes.get_errno())}")
    try:
        vector = ctypes.create_string_buffer((length + mmap.PAGESIZE - 1) // mmap.PAGESIZE)
        if _libc.mincore(address, length, vector) != 0:
            raise RunError(f"mincore failed: {os.strerror(ctypes.get_errno())}")
        return vector.raw
    finally:
        _libc.munmap(address, length)


@dataclass(frozen=True, slots=True)
class ColdState:
    """Says how the cache was emptied and what was left of the input in it."""

    method: str
    cached_share: float | None


def drop_caches() -> bool:
    """Writes back what is dirty and empties the whole page cache; False where that is not permitted (only root may)."""
    os.sync()
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3\n", encoding="ascii")
    except OSError:
        return False
    return True


def make_cold(path: Path | None) -> ColdState:
    """Empties the whole page cache as root, else asks the kernel to forget the input. RunError if it is still cached."""
    method = "drop_caches"
    if not drop_caches():
        if path is None:
            raise RunError("--cold: /proc/sys/vm/drop_caches may not be written; run as root, or give --input") from None
        method = "fadvise"
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(fd)
    if path is None:
        return ColdState(method, None)
    share = cached_share(path)
    if share > MAX_CACHED_SHARE:
        raise RunError(
            f"--cold: {share:.1%} of {path} is still in the page cache after {method}; "
            "does another program read it? As root all caches are dropped"
        )
    return ColdState(method, share)


@dataclass(frozen=True, slots=True)
class SettleState:
    settled: bool
    waited_s: float


def settle(patience_s: float, root: Path = Path("/"), clock: Clock = REAL) -> SettleState:
    """Waits until the drives have been at rest for REST_S, at most `patience_s`."""
    begin = clock.now()
    moved, _ = disk_activity(root)
    rest_since = last = begin
    while True:
        clock.sleep(STEP_S)
        now = clock.now()
        before, (moved, flying) = moved, disk_activity(root)
        rate = (moved - before) * _SECTOR_BYTES / (now - last)
        last = now
        if rate > REST_BYTES_PER_S or flying:
            rest_since = now
        if now - rest_since >= REST_S:
            return SettleState(True, now - begin)
        if now - begin >= patience_s:
            return SettleState(False, now - begin)
