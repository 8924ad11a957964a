"""Tests of several modules share these."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from conftest import ROOT

import ecosort


def records(count: int, size: int, seed: int = 1) -> list[bytes]:
    generator = random.Random(seed)
    return [generator.randbytes(size) for _ in range(count)]


def write_records(path: Path, count: int, size: int, seed: int = 1) -> list[bytes]:
    made = records(count, size, seed)
    path.write_bytes(b"".join(made))
    return made


def read_records(path: Path, size: int) -> list[bytes]:
    data = path.read_bytes()
    return [data[at : at + size] for at in range(0, len(data), size)]


def child_pids() -> list[int]:
    """Lists the children of this process: sorts that still run. Other tests' helpers may run beside them."""
    children: list[str] = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has ended meanwhile
            children += (task / "children").read_text().split()
    return [int(pid) for pid in children if is_sort(Path("/proc", pid))]


def is_sort(process: Path) -> bool:
    try:
        return (process / "comm").read_text().strip() == "ecosort"
    except FileNotFoundError:
        return False


def works_in(process: Path, directory: Path) -> bool:
    try:
        return (process / "cwd").readlink() == directory
    except OSError:
        return False


def start_python(script: str, directory: Path) -> subprocess.Popen[str]:
    """A Python program that uses the package."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    words = [sys.executable, "-c", script]
    return subprocess.Popen(
        words, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL
    )


def interrupt_when_told(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Ctrl-C, as only that process gets it, when it has said a line; then what else it said, and on standard error."""
    assert process.stdout
    process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=60)


__all__ = ["child_pids", "ecosort", "interrupt_when_told", "read_records", "records", "start_python", "write_records"]
