"""The space of an in-place sort: exactly what the plan prints is enough, and one block less is refused."""

import os
import subprocess
from pathlib import Path

import pytest
from capabilities import SOAK
from pairs import turns
from sort_support import KIB, MIB, Run, expected, make_records, mounted, refused, succeeded

from .support import KINDS, drive_of, job_directory, plan_of

# Bytes of the file, memory, record size.
MATRIX = [
    (10_000_000, "4MiB", 100),
    (30_000_000, "2MiB", 100),
    (5_000_400, "16MiB", 101),
    (40_000_000, "64MiB", 16),
    (20_000_000, "8MiB", 5_000),
]


@pytest.mark.parametrize(("size", "memory", "record_size", "kind"), [(*row, kind) for row, kind in turns(MATRIX, KINDS)])
def test_exactly_the_space_of_the_plan_is_enough(
    ecosort: Path, run: Run, tmp_path: Path, kind: str, size: int, memory: str, record_size: int
) -> None:
    size = size // record_size * record_size
    data = make_records(ecosort, "binary", size // 100 + 1)[:size]
    with drive_of(kind, tmp_path) as drive:
        path = drive.root / "data"
        path.write_bytes(data)
        words = ("--memory", memory, "--record-size", str(record_size))
        need = plan_of(run, path, *words)["needed_bytes"]
        block = os.statvfs(drive.root).f_frsize
        drive.fill_until(need)
        # The file system holds back more or less with what is written, so the size of the last step is its own affair.
        free = drive.settled_free_bytes()
        assert need <= free < need + 4 * block
        for _ in range(8):
            if drive.settled_free_bytes() < need:
                break
            drive.fill_until(drive.settled_free_bytes() - block)
        assert need - 4 * block <= drive.settled_free_bytes() < need
        refused(run("inplace", path, *words), 2, f"({need} bytes) needed", "free")
        assert path.read_bytes() == data
        assert not job_directory(path).exists()
        drive.fill_until(need)
        done = run("inplace", path, *words)
        assert done.returncode == 0, done
        assert path.read_bytes() == expected(data, record_size)


def test_blocks_larger_than_a_page_count_as_what_they_are(ecosort: Path, run: Run, tmp_path: Path) -> None:
    """A cut in the middle of a block gives nothing back."""
    data = make_records(ecosort, "binary", 100_000)
    block = 16 * KIB
    try:
        drives = drive_of("xfs", tmp_path, block_bytes=block)
        drive = drives.__enter__()
    except AssertionError as error:
        pytest.skip(f"no blocks of {block} bytes here: {error}")
    try:
        path = drive.root / "data"
        path.write_bytes(data)
        drive.fill_until(plan_of(run, path, "--memory", "4MiB")["needed_bytes"] + block // 2)  # some whole blocks
        succeeded(run("inplace", path, "--memory", "4MiB"))
        assert path.read_bytes() == expected(data)
    finally:
        drives.__exit__(None, None, None)


def test_clusters_are_refused(run: Run, tmp_path: Path, ecosort: Path) -> None:
    image, root = tmp_path / "image", tmp_path / "mnt"
    root.mkdir()
    with image.open("wb") as file:
        file.truncate(64 * MIB)
    made = subprocess.run(["mkfs.ext4", "-q", "-O", "bigalloc", "-C", "65536", image], check=False, capture_output=True)
    with mounted(tmp_path, "tmpfs", MIB):  # enters a mount namespace of our own
        mount = subprocess.run(["mount", "-o", "loop", image, root], check=False, capture_output=True)
    if made.returncode != 0 or mount.returncode != 0:
        pytest.skip(f"no clusters here: {made.stderr.decode()} {mount.stderr.decode()}")
    try:
        path = root / "data"
        path.write_bytes(make_records(ecosort, "ascii", 10_000))
        refused(run("inplace", path, "--memory", "4MiB"), 2, "more space than is asked for", "ecosort sort")
        assert not job_directory(path).exists()
    finally:
        subprocess.run(["umount", root], check=True)


@pytest.mark.parametrize(("kind", "memory"), turns(KINDS, ["64MiB", "16MiB"]))
def test_a_file_is_sorted_in_two_point_four_percent(ecosort: Path, run: Run, tmp_path: Path, kind: str, memory: str) -> None:
    size = 1_000_000_000 if SOAK else 200_000_000
    spare = size * 24 // 1000
    with drive_of(kind, tmp_path, size + 400 * MIB) as drive:
        path = drive.root / "data"
        subprocess.run([ecosort, "gen", "-a", str(size // 100), path], check=True)
        checked = subprocess.run([ecosort, "check", path], capture_output=True, text=True, check=False)
        drive.fill_until(spare)
        assert drive.settled_free_bytes() <= spare + 64 * KIB
        succeeded(run("inplace", path, "--memory", memory, timeout_s=600))
        done = subprocess.run([ecosort, "check", path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done
        checksum = [line for line in checked.stderr.splitlines() if "hecksum" in line]
        assert checksum
        assert checksum == [line for line in done.stderr.splitlines() if "hecksum" in line]
