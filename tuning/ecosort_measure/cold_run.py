"""One cold run of a program, from its start to the point where its output is on stable storage."""

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ecosort_power.cold import drop_caches
from ecosort_power.errors import RunError
from ecosort_power.transports.process import reap

_KEPT_BYTES = 100_000
_MOST_SETTLED_BEYOND = 3 << 30
# In large pages, as the sort asks for them: the system keeps these and small ones apart.
_TOUCH = """
import mmap, sys
with mmap.mmap(-1, int(sys.argv[1]), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
    memory.madvise(mmap.MADV_HUGEPAGE)
    for at in range(0, len(memory), mmap.PAGESIZE):
        memory[at] = 0
"""


@dataclass(frozen=True)
class Measured:
    """wall_s ends after the file system is synced; exit_s when the program ended. CPU and memory are the program's own."""

    wall_s: float
    exit_s: float
    cpu_user_s: float
    cpu_system_s: float
    peak_rss_bytes: int
    bytes_read: int | None  # of the block layer, by /proc/PID/io; None where it is not readable
    bytes_written: int | None
    is_cold: bool
    stdout: str
    stderr: str

    @property
    def cpu_s(self) -> float:
        return self.cpu_user_s + self.cpu_system_s


def sync_file_system(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor) != 0:
            raise OSError(ctypes.get_errno(), "syncfs failed", str(directory))
    finally:
        os.close(descriptor)


def _moved(pid: int) -> tuple[int | None, int | None]:
    """Bytes that a process, ended but not yet reaped, read from and wrote to drives."""
    try:
        fields = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
    except OSError:
        return None, None
    return int(fields["read_bytes"]), int(fields["write_bytes"])


def bytes_to_settle(memory_bytes: int) -> int:
    """Several times what is wanted, where there is plenty: which of the free pages a program gets is the system's choice.

    Eight sorts of 1 GB with 512 MiB took 0.14 to 0.66 s of system time after once as much, 0.16 to 0.21 s after four times.
    """
    plenty = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return max(memory_bytes, min(4 * memory_bytes, memory_bytes + _MOST_SETTLED_BEYOND, plenty))


def settle_memory(size: int) -> None:
    """Touches and frees so many bytes, so that what runs next finds them at hand, whatever ran before.

    The host of a virtual machine takes free memory back, and to get it again may take seconds of processor time for a GiB.
    Another process does it: what this one had at its peak would count as that of the programs it starts.
    """
    subprocess.run([sys.executable, "-c", _TOUCH, str(size)], check=True)


def run_cold(command: Sequence[str], directory: Path, environment: Mapping[str, str], memory_bytes: int) -> Measured:
    """Runs the command; `directory` is on the file system that it writes to. RunError if it fails.

    `memory_bytes`: what the command may take; it is settled before.
    """
    is_cold = drop_caches()
    settle_memory(bytes_to_settle(memory_bytes))
    return _run(command, directory, environment, directory / "stdout.txt", is_cold)


def run_warm(command: Sequence[str], directory: Path, environment: Mapping[str, str], output: Path) -> Measured:
    """Runs it with what the caches hold; what the command prints goes to `output`, and its end is that of the measurement."""
    measured = _run(command, directory, environment, output, False)
    return replace(measured, wall_s=measured.exit_s, stdout="")


def _run(command: Sequence[str], directory: Path, environment: Mapping[str, str], out_path: Path, is_cold: bool) -> Measured:
    """Without the guard of ecosort_power's children, whose start takes longer than a small sort: this child is killed here."""
    err_path = directory / "stderr.txt"
    with out_path.open("w") as out, err_path.open("w") as err:
        begin = time.monotonic()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env={**os.environ, **environment}, cwd=directory
        )
        try:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        except BaseException:
            process.kill()
            process.wait()
            raise
        exit_s = time.monotonic() - begin
        bytes_read, bytes_written = _moved(process.pid)
        usage = reap(process)
        assert usage is not None
        sync_file_system(directory)
        wall_s = time.monotonic() - begin
    stdout, stderr = out_path.read_bytes()[:_KEPT_BYTES].decode(errors="replace"), err_path.read_text(errors="replace")
    if process.returncode != 0:
        raise RunError(f"{' '.join(command)}: exit code {process.returncode}: {stderr.strip()[-1000:]}")
    return Measured(
        wall_s, exit_s, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * 1024, bytes_read, bytes_written, is_cold, stdout, stderr
    )
