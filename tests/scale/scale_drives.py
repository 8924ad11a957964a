"""The file systems of a scale test, which keep more than the real drive has room for."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path


def call(*words: str | Path) -> str:
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def detach(loop: str, file: Path) -> None:
    """The kernel lets go of the file a little later; by then the device may be somebody else's."""
    call("losetup", "-d", loop)
    backing = Path(f"/sys/block/{loop.removeprefix('/dev/')}/loop/backing_file")
    with contextlib.suppress(OSError):
        while backing.read_text().strip() == str(file):
            time.sleep(0.02)


def unmount(place: Path, most_s: float = 120) -> None:
    """Waits while a process that was killed closes its files."""
    end = time.monotonic() + most_s
    while subprocess.run(["umount", str(place)], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        if time.monotonic() > end:
            call("umount", place)
        time.sleep(0.1)


def attach(at_end: contextlib.ExitStack, file: Path, *words: str) -> str:
    loop = call("losetup", *words, "--sector-size", "4096", "--show", "-f", file)
    at_end.callback(detach, loop, file)
    return loop


@contextlib.contextmanager
def drive(build: Path, place: Path, disk_bytes: int, records: int) -> Iterator[tuple[Path, Path]]:
    """XFS on the drive that knows records, and the directory of the files that take no space."""
    back, mount, disk = place / "back", place / "drive", place / "disk"
    for directory in (back, mount, disk):
        directory.mkdir()
    with contextlib.ExitStack() as at_end:
        program = str(build / "tests" / "scale" / "record_drive")
        process = subprocess.Popen([program, str(back), str(mount), str(disk_bytes), str(records)])
        at_end.callback(process.wait)
        while not (mount / "disk").exists():
            if process.poll() is not None:
                sys.exit("scale-test: the drive does not start")
            time.sleep(0.02)
        at_end.callback(unmount, mount)
        loop = attach(at_end, mount / "disk", "--direct-io=on")
        Path(f"/sys/block/{loop.removeprefix('/dev/')}/queue/max_sectors_kb").write_text("1024")
        call("mkfs.xfs", "-q", "-K", "-d", "su=64k,sw=1", loop)
        call("mount", "-o", "noatime,discard", loop, disk)
        at_end.callback(unmount, disk)
        yield disk, mount


def hole(file: Path, size: int) -> Path:
    with file.open("w") as made:
        made.truncate(size >> 20 << 20)
    return file


@contextlib.contextmanager
def packed_drive(place: Path, disk_bytes: int) -> Iterator[tuple[Path, Path]]:
    """XFS on a file of a btrfs that compresses, and the file that the btrfs lies in."""
    image, packed, disk = place / "packed.image", place / "packed", place / "lines"
    packed.mkdir()
    disk.mkdir()
    with contextlib.ExitStack() as at_end:
        at_end.callback(image.unlink)
        loop = attach(at_end, hole(image, disk_bytes), "--direct-io=on")
        call("mkfs.btrfs", "-q", "-f", "-K", "-m", "single", loop)
        call("mount", "-o", "noatime,discard=async,compress-force=zstd:1", loop, packed)
        at_end.callback(unmount, packed)
        # A btrfs never compresses a file in which space was allocated beforehand, as mkfs.xfs does it. So the image is a copy.
        made, file = hole(packed / "made", disk_bytes // 100 * 98), packed / "image"
        call("mkfs.xfs", "-q", "-f", "-K", "-s", "size=4096", made)
        call("cp", "--sparse=always", made, file)
        made.unlink()
        loop = attach(at_end, file, "--direct-io=off")  # likewise what is written directly
        call("mount", "-o", "noatime,discard", loop, disk)
        at_end.callback(unmount, disk)
        yield disk, image
