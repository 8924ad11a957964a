"""The tests of `sort` and `plan` share these: an oracle of their own, inputs, file systems made for a test, and watchers."""

import ctypes
import fcntl
import functools
import json
import operator
import os
import platform
import select
import shutil
import stat
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import preloaded
from capabilities import require

Run = Callable[..., subprocess.CompletedProcess[str]]
Require = Callable[[str], None]

KIB = 1 << 10
MIB = 1 << 20
OVERHEAD_BYTES = 32 * MIB  # of the process beyond --memory, as `ecosort plan` states it
BACKENDS = ("uring", "pool", "stxxl")
# The levels of instructions that ECOSORT_CPU may name here.
CPU_LEVELS = ("baseline", "neon") if platform.machine() == "aarch64" else ("baseline", "avx2", "avx512")

# --- oracle ------------------------------------------------------------------------------------------------------------

INVERTED = bytes(255 - i for i in range(256))


def fields_of(record_size: int, keys: Sequence[str]) -> list[tuple[int, int, bool]]:
    """Begin and end of each field of a key, and whether it descends; from texts such as "8:4", "8:4:desc"."""
    fields = []
    for text in keys or (f"0:{min(10, record_size)}",):
        offset, length, *rest = text.split(":")
        fields.append((int(offset), int(offset) + int(length), "desc" in rest))
    return fields


def key_function(record_size: int, keys: Sequence[str] = ()) -> Callable[[bytes], Any]:
    """Makes the key of a record from such texts: bytes compare as unsigned numbers."""
    fields = fields_of(record_size, keys)
    if not any(down for _, _, down in fields):
        return operator.itemgetter(*(slice(a, b) for a, b, _ in fields))

    def key(record: bytes) -> tuple[bytes, ...]:
        return tuple(record[a:b].translate(INVERTED) if down else record[a:b] for a, b, down in fields)

    return key


def expected(data: bytes, record_size: int = 100, keys: Sequence[str] = (), unique: bool = False) -> bytes:
    """Returns what a stable sort must make of `data`, by Python's."""
    return _expected(data, record_size, tuple(keys), unique)


@functools.lru_cache(maxsize=8)  # many tests sort the data of their module
def _expected(data: bytes, record_size: int, keys: tuple[str, ...], unique: bool) -> bytes:
    fields = fields_of(record_size, keys)
    records = np.frombuffer(data, np.uint8).reshape(-1, record_size)
    key = np.concatenate([255 - records[:, a:b] if down else records[:, a:b] for a, b, down in fields], axis=1)
    numbers = np.pad(key, ((0, 0), (0, -key.shape[1] % 8))).view(">u8").astype(np.uint64)
    order = np.lexsort(numbers.T[::-1])
    if unique:
        ordered = numbers[order]
        order = order[np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))[: len(order)]]
    return records[order].tobytes()


# --- inputs ------------------------------------------------------------------------------------------------------------

DISTRIBUTIONS = ("ascii", "binary", "skewed", "skewed ascii", "sorted", "reverse", "all equal")
_GEN_FLAGS = {"ascii": ["-a"], "binary": [], "skewed": ["-s"], "skewed ascii": ["-a", "-s"]}


def make_records(program: Path, kind: str, count: int) -> bytes:
    """`count` records of 100 bytes. Equal keys keep different payloads, so that an unstable sort shows."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "records")
        subprocess.run([program, "gen", *_GEN_FLAGS.get(kind, ["-a"]), str(count), path], check=True, stdin=subprocess.DEVNULL)
        data = path.read_bytes()
    if kind == "sorted":
        return expected(data)
    if kind == "reverse":
        return expected(data, keys=["0:10:desc"])
    if kind == "all equal":
        return b"".join(b"same key!!" + data[i + 10 : i + 100] for i in range(0, len(data), 100))
    return data


def special_files(directory: Path) -> dict[str, os.stat_result]:
    """Makes a pipe, and for root devices that take everything and nothing, and returns what they are by their names."""
    os.mkfifo(directory / "pipe")
    for name, minor in (("null", 3), ("full", 7)) if os.geteuid() == 0 else ():
        os.mknod(directory / name, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
    return {name: os.lstat(directory / name) for name in ("pipe", "null", "full") if os.path.lexists(directory / name)}


# --- what a run said ---------------------------------------------------------------------------------------------------


def refused(done: subprocess.CompletedProcess[str], code: int, *words: str) -> str:
    """Asserts the exit code and exactly one line on standard error that holds these words; nothing on standard output."""
    assert done.returncode == code, done
    assert done.stdout == "", done
    assert done.stderr.startswith("ecosort: "), done.stderr
    assert done.stderr.endswith("\n"), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    absent = [word for word in words if word not in done.stderr]
    assert not absent, done.stderr
    return done.stderr


def no_plan(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Asserts that a plan as JSON is refused: the reason is a document on standard output, and the line for people."""
    error = json.loads(done.stdout)
    assert error["schema"] == "ecosort.error/1"
    assert error["message"] in done.stderr
    done.stdout = ""
    refused(done, 2, *words)


def succeeded(done: subprocess.CompletedProcess[str], stderr: str = "") -> None:
    assert (done.returncode, done.stderr) == (0, stderr), done


def read_json(path: Path) -> dict[str, Any]:
    loaded = json.loads(path.read_text())
    assert isinstance(loaded, dict)
    return loaded


def listing(*directories: Path) -> list[str]:
    """Every name below the directories, to see that nothing was created or left behind."""
    return sorted(str(path) for directory in directories for path in directory.rglob("*"))


# --- file systems ------------------------------------------------------------------------------------------------------

_CLONE_NEWNS = 0x00020000


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, call: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), call)


@functools.cache
def enter_own_mount_namespace() -> None:
    """From here on this process's mounts are its own: they end with it, even if it is killed."""
    _checked(_libc().unshare(_CLONE_NEWNS), "unshare")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True, stdin=subprocess.DEVNULL)


_MKFS = {
    "ext4": ["mkfs.ext4", "-q", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    "ext2": ["mkfs.ext2", "-q", "-m", "0"],
    "xfs": ["mkfs.xfs", "-q"],
    "btrfs": ["mkfs.btrfs", "-q"],
}


def _call(*words: str | Path) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, f"{words}: {done.stderr}"


@dataclass(frozen=True)
class FileSystem:
    kind: str
    root: Path
    image: Path | None  # what the loop device shows; None: tmpfs

    def free_bytes(self) -> int:
        """Returns what an unprivileged writer may still take, after what was freed has really been given back."""
        directory = os.open(self.root, os.O_RDONLY)
        try:
            _checked(_libc().syncfs(directory), "syncfs")
        finally:
            os.close(directory)
        status = os.statvfs(self.root)
        return status.f_bavail * status.f_frsize

    def settled_free_bytes(self) -> int:
        """Returns the free bytes when they no longer change: XFS gives back the space of a deleted file a moment later."""
        free = self.free_bytes()
        for _ in range(100):
            time.sleep(0.005)
            status = os.statvfs(self.root)
            before, free = free, status.f_bavail * status.f_frsize
            if free == before:
                break
        return free

    def fill_until(self, free_bytes: int) -> Path:
        """Takes space, or gives back what it took before, until exactly so many bytes (rounded to blocks) are free."""
        filler = self.root / "filler"
        with filler.open("ab") as file:
            size = os.fstat(file.fileno()).st_size
            for _ in range(20):  # the filler's own metadata takes space too
                surplus = self.settled_free_bytes() - free_bytes
                if 0 <= surplus < os.statvfs(self.root).f_frsize:
                    break
                try:
                    if surplus > 0:
                        os.posix_fallocate(file.fileno(), size, surplus)
                    size = max(size + surplus, 0)
                except OSError:  # no room for the metadata of the last bytes: what was taken so far counts
                    size = os.fstat(file.fileno()).st_size
                    if surplus < 64 * KIB:
                        break
                file.truncate(size)
        return filler


def notice_of(kind: str, directory: Path | str = ".", program: str = "ecosort") -> str:
    """Returns what a sort to a file system of this kind says on standard error when all goes well."""
    if kind == "tmpfs":
        return f"{program}: '{directory}' is kept in memory (tmpfs): nothing there outlives a power cut\n"
    return ""


@contextmanager
def mounted(directory: Path, kind: str, size_bytes: int, block_bytes: int = 0) -> Iterator[FileSystem]:
    """A fresh file system of that kind and size; unmounted at the end, whatever happens."""
    enter_own_mount_namespace()
    number = len(list(directory.glob("fs*")))
    root = directory / f"fs{number}"
    root.mkdir()
    image: Path | None = None
    if kind == "tmpfs":
        _call("mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", root)
    else:
        image = directory / f"image{number}"
        with image.open("wb") as file:
            file.truncate(size_bytes)
        size = f"size={block_bytes}" if kind == "xfs" else str(block_bytes)
        _call(*_MKFS[kind], *(["-b", size] if block_bytes else []), image)
        _call("mount", "-o", "loop", image, root)
    try:
        if (root / "lost+found").exists():
            (root / "lost+found").rmdir()
        root.chmod(0o777)
        yield FileSystem(kind, root, image)
    finally:
        for _attempt in range(20):  # the kernel may hold a file for a moment after its process has ended
            if subprocess.run(["umount", root], capture_output=True, stdin=subprocess.DEVNULL, check=False).returncode == 0:
                break
            time.sleep(0.1)
        else:
            _call("umount", "-l", root)
        if image:
            image.unlink()
        root.rmdir()


# --- other users, watchers ---------------------------------------------------------------------------------------------

# Each worker has its own: what is limited for a user, such as the number of processes, is not shared.
NOBODY = 65534 - int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


def as_plain_user(*command: str | Path) -> list[str]:
    """The command as a user without privileges, who may lock 64 KiB of memory."""
    return [
        *("prlimit", "--memlock=65536:65536", "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
        *map(str, command),
    ]


def spread_over_the_drive(directory: Path) -> None:
    """ext4 puts what is made in a directory near it; the directories in this one get places of their own (chattr +T)."""
    get_flags, set_flags, top_of_hierarchy = 0x80086601, 0x40086602, 0x20000
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        (flags,) = struct.unpack("i", fcntl.ioctl(descriptor, get_flags, bytes(4)))
        fcntl.ioctl(descriptor, set_flags, struct.pack("i", flags | top_of_hierarchy))
    except OSError:
        pass  # another file system
    finally:
        os.close(descriptor)


@contextmanager
def directory_for_everyone() -> Iterator[Path]:
    """A directory that other users reach, which pytest's own is not."""
    with tempfile.TemporaryDirectory(prefix="ecosort-tests-") as name:
        path = Path(name)
        path.chmod(0o777)
        yield path


def copy_program(program: Path, directory: Path) -> Path:
    """The program, and the module that it loads for --io stxxl, where every user can reach them."""
    module = program.with_name("ecosort_stxxl.so")
    if module.exists():
        shutil.copy(module, directory)
    return Path(shutil.copy(program, directory / "ecosort"))


_SLOWED = """#!/bin/sh
if [ "$1" = sort ]; then
  for word; do [ -f "$word" ] && bytes=$(stat -c %s "$word"); done
  sleep "$(echo "$bytes" | awk '{{ print {seconds} + {seconds_per_mb} * $1 / 1000000 }}')"
fi
exec "{program}" "$@"
"""


def slowed(program: Path, directory: Path, seconds: float, seconds_per_mb: float = 0.0) -> Path:
    """A stand-in for the program whose sorts take at least so long on any machine: as long as a meter needs."""
    path = directory / "slowed" / "ecosort"
    path.parent.mkdir(exist_ok=True)
    path.write_text(_SLOWED.format(program=program, seconds=seconds, seconds_per_mb=seconds_per_mb))
    path.chmod(0o755)
    return path


def wait_until(condition: Callable[[], bool], timeout_s: float = 60, what: str = "the condition") -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, f"{what} did not come about in {timeout_s} s"
        time.sleep(0.005)


_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def comes_to_rest(pid: int, span_s: float = 0.2) -> None:
    """Waits until the process has hardly used a processor for that long, whatever it did before. One that spins never rests."""

    def used_s() -> float:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S

    def rested() -> bool:
        before_s = used_s()
        time.sleep(span_s)
        return used_s() - before_s < span_s / 10

    wait_until(rested, 60, f"rest of process {pid}")


def stops(process: subprocess.Popen[Any]) -> bool:
    """Waits until SIGSTOP has stopped all of its threads. False: it ended before."""
    seen = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    return seen is not None and seen.si_code == os.CLD_STOPPED


# The calls that change what is on a drive, or hand such changes to the kernel: a kill between two of them finds what one at the
# next of them finds. STXXL writes with write().
CHANGES = "io_uring_enter,pwrite64,write,fdatasync,fsync,fallocate,ftruncate,linkat,renameat,renameat2,unlinkat,mkdir,rmdir"


def changes_of(directory: Path, *command: str | Path) -> int:
    """Counts the changes that a run of the command makes, to its end."""
    subprocess.run([*faults(directory, CHANGES), *command], stdin=subprocess.DEVNULL, check=True)
    return (directory / "trace").read_text().count("\n")


class Events:
    """The events of a run, which come through a pipe as they happen."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        self.path, self._text = path, ""
        self._pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def wait_for(self, kind: str, phase: str) -> None:
        wanted = f'"event":"{kind}","phase":"{phase}"'
        while wanted not in self._text:
            assert select.select([self._pipe], [], [], 60)[0], self._text
            more = os.read(self._pipe, 4096)
            assert more, f"it ended before: {self._text}"
            self._text += more.decode()

    def close(self) -> None:
        """Comes not before the run has ended: it would learn that nobody reads."""
        os.close(self._pipe)


def faults(directory: Path, *rules: str) -> list[str]:
    """The words in front of a command whose calls fail, end it or stop it; directory/trace gets the calls that the rules name."""
    require("faults")
    return preloaded.faults(directory / "trace", *rules)


def sanitizers() -> str:
    return os.environ.get("ECOSORT_SAN", "")
