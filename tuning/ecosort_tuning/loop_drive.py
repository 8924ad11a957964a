"""A small file system in a file, mounted where no one else sees it: it is gone with this process, however that ends."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from ecosort_tuning.errors import UsageError

_CLONE_NEWNS = 0x00020000
_UNMOUNT_TRIES = 30


def _call(*words: str | Path) -> None:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise UsageError(
            f"a file system in a file cannot be had here: {words[0]}: {done.stderr.strip()[-200:] or done.returncode}"
        )


def _enter_own_mount_namespace() -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWNS) != 0:
        why = os.strerror(ctypes.get_errno())
        raise UsageError(f"a file system in a file cannot be mounted here ({why}): it takes root")
    _call("mount", "--make-rprivate", "/")


@contextlib.contextmanager
def loop_drive(directory: Path, size_bytes: int) -> Iterator[Path]:
    """An empty ext4 of that size below the directory. Its image has no name once it is mounted."""
    _enter_own_mount_namespace()
    image, mount_point = directory / "image", directory / "mnt"
    mount_point.mkdir()
    with image.open("wb") as file:
        file.truncate(size_bytes)
    try:
        _call("mkfs.ext4", "-q", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", image)
        _call("mount", "-o", "loop", image, mount_point)
    finally:
        image.unlink()
    try:
        yield mount_point
    finally:
        for _ in range(_UNMOUNT_TRIES):  # the kernel may hold a file for a moment after its process has ended
            done = subprocess.run(["umount", str(mount_point)], capture_output=True, stdin=subprocess.DEVNULL, check=False)
            if done.returncode == 0:
                break
            time.sleep(0.1)
        else:
            _call("umount", "-l", mount_point)
        mount_point.rmdir()


def fill(directory: Path, degree: float) -> None:
    """Takes space (without writing) until so much of the file system is used; gives back what is too much."""
    ballast = directory / "ballast"
    ballast.unlink(missing_ok=True)
    facts = os.statvfs(directory)
    wanted = int(facts.f_blocks * degree) - (facts.f_blocks - facts.f_bfree)
    if wanted <= 0:
        raise UsageError(f"the data alone fill the drive to more than {100 * degree:.1f} %")
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, wanted * facts.f_frsize)
