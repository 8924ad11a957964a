"""In-place sorting refuses these before anything is changed, and the file is then untouched."""

import gzip
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from capabilities import require
from sort_support import (
    MIB,
    NOBODY,
    Run,
    as_plain_user,
    copy_program,
    directory_for_everyone,
    listing,
    mounted,
    refused,
    succeeded,
)

from .support import (
    SMALL,
    drive_of,
    untouched,
)


def test_what_is_no_plain_file_of_its_own_is_refused(run: Run, file4: Path, data: bytes) -> None:
    link = file4.with_name("link")
    link.symlink_to(file4)
    refused(run("inplace", link), 2, "symbolic link")
    link.unlink()
    link.hardlink_to(file4)
    refused(run("inplace", file4), 2, "2 hard links")
    link.unlink()
    os.mkfifo(link)
    refused(run("inplace", link), 2, "not a regular file")
    refused(run("inplace", file4.parent), 2, "directory")
    refused(run("inplace", file4.with_name("missing")), 2, "No such file")
    link.unlink()
    untouched(file4, data)


def test_holes_and_partial_records_are_refused(run: Run, file: Path) -> None:
    os.truncate(file, file.stat().st_size + 50 * 100)
    refused(run("inplace", file), 2, "sparse", "cp --sparse=never")
    os.truncate(file, 1_050)
    refused(run("inplace", file), 2, "50 bytes are left over")
    assert listing(file.parent) == [str(file)]


@pytest.mark.parametrize("size", [100, 40])
def test_a_container_whose_size_fits_is_refused(run: Run, file: Path, size: int) -> None:
    packed = gzip.compress(bytes(range(256)) * 4000)
    packed += bytes(-len(packed) % 400)
    file.write_bytes(packed)
    words = ("--record-size", str(size), "--key", "0:8")
    for command in (["inplace"], ["plan", "inplace"]):
        refused(run(*command, *words, file), 2, "is compressed by gzip", "cannot be sorted in place", "gzip -dc", "--as-is")
    assert file.read_bytes() == packed
    records = sorted(packed[at : at + size] for at in range(0, len(packed), size))
    succeeded(run("inplace", "--as-is", *words[:2], "--key", f"0:{size}", file))
    assert file.read_bytes() == b"".join(records)


def test_shared_blocks_are_refused(run: Run, tmp_path: Path, data: bytes) -> None:
    with drive_of("xfs", tmp_path) as drive:
        path = drive.root / "data"
        path.write_bytes(data)
        copy = subprocess.run(["cp", "--reflink=always", path, drive.root / "copy"], check=False, capture_output=True)
        if copy.returncode != 0:
            pytest.skip("this XFS has no reflinks")
        refused(run("inplace", path), 2, "shares blocks", "--reflink=never")
        untouched(path, data)


def test_a_file_that_someone_writes_is_refused(run: Run, file: Path, data: bytes) -> None:
    with file.open("r+b"):
        refused(run("inplace", file), 2, "open for writing")
    with file.open("rb"):
        untouched(file, data)
    succeeded(run("inplace", file, *SMALL))


def test_what_may_not_be_written_is_refused(ecosort: Path, data: bytes) -> None:
    require("setpriv")
    with directory_for_everyone() as directory, drive_of("ext4", directory) as drive:
        path = drive.root / "data"
        path.write_bytes(data)
        program = copy_program(ecosort, directory)

        def run_plain(*words: str | Path) -> subprocess.CompletedProcess[str]:
            command = as_plain_user(program, *words)
            return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)

        path.chmod(0o644)
        refused(run_plain("inplace", path), 2, "ermission denied")
        path.chmod(0o666)
        drive.root.chmod(0o755)
        refused(run_plain("inplace", path), 2, f"its directory '{drive.root}' is not writable")
        drive.root.chmod(0o1777)
        refused(run_plain("inplace", path), 2, "sticky")
        drive.root.chmod(0o777)
        subprocess.run(["chattr", "+i", path], check=True)
        refused(run_plain("inplace", path), 2, "immutable")
        subprocess.run(["chattr", "-i", path], check=True)
        untouched(path, data)


@pytest.mark.parametrize("kind", ["tmpfs", "btrfs", "ext2", "ext4 without a journal"])
def test_other_file_systems_are_refused(run: Run, tmp_path: Path, data: bytes, kind: str) -> None:
    require("loop_mount")
    if kind in ("tmpfs", "btrfs"):
        if kind == "btrfs":
            require("btrfs")
        with mounted(tmp_path, kind, 128 * MIB) as drive:
            path = drive.root / "data"
            path.write_bytes(data)
            refused(run("inplace", path), 2, f"its file system is {kind}, and must be ext4 or XFS")
            untouched(path, data)
        return
    image, root = tmp_path / "image", tmp_path / "mnt"
    root.mkdir()
    with image.open("wb") as file:
        file.truncate(64 * MIB)
    make = ["mkfs.ext2", "-q"] if kind == "ext2" else ["mkfs.ext4", "-q", "-O", "^has_journal"]
    subprocess.run([*make, image], check=True)
    with mounted(tmp_path, "tmpfs", MIB):  # enters a mount namespace of our own
        subprocess.run(["mount", "-o", "loop", image, root], check=True)
    try:
        path = root / "data"
        path.write_bytes(data)
        refused(run("inplace", path), 2, "journal" if kind != "ext2" else "ext")
        untouched(path, data)
    finally:
        subprocess.run(["umount", root], check=True)


def test_unique_and_options_that_mean_nothing_are_refused(run: Run, file4: Path, data: bytes) -> None:
    refused(run("inplace", "--unique", file4), 2, "--unique is not available in place", "ecosort sort --unique")
    refused(run("plan", "inplace", file4, "-o", "x"), 2, "--output means nothing in place")
    refused(run("inplace", file4, file4), 2, "name one file")
    refused(run("inplace", "--memory", "64kiB", file4), 2, "--memory")
    refused(run("inplace", "--key", "95:10", file4), 2)
    untouched(file4, data)


@contextmanager
def drive_with_quotas(directory: Path, option: str) -> Iterator[Path]:
    require("xfs")
    image, root = directory / "image", directory / "mnt"
    root.mkdir()
    with image.open("wb") as file:
        file.truncate(320 * MIB)
    subprocess.run(["mkfs.xfs", "-q", image], check=True)
    with mounted(directory, "tmpfs", MIB):
        mount = subprocess.run(["mount", "-o", f"loop,{option}", image, root], check=False, capture_output=True)
    if mount.returncode != 0:
        pytest.skip(f"no XFS quotas here: {mount.stderr.decode()}")
    try:
        yield root
    finally:
        subprocess.run(["umount", root], check=True)


def xfs_quota(root: Path, command: str) -> None:
    subprocess.run(["xfs_quota", "-x", "-c", command, str(root)], check=True, capture_output=True)


def test_a_project_quota_that_is_too_small_is_refused(run: Run, tmp_path: Path, data: bytes) -> None:
    with drive_with_quotas(tmp_path, "pquota") as root:
        project = root / "project"
        project.mkdir()
        xfs_quota(root, f"project -s -p {project} 7")
        xfs_quota(root, f"limit -p bhard={len(data) // 1024 + 64}k 7")
        path = project / "data"
        path.write_bytes(data)
        refused(run("inplace", path), 2, "quota of project 7")
        untouched(path, data)


def test_a_quota_that_is_too_small_is_refused(ecosort: Path, tmp_path: Path, data: bytes) -> None:
    require("setpriv")
    with drive_with_quotas(tmp_path, "uquota") as root:
        root.chmod(0o777)
        path = root / "data"
        path.write_bytes(data)
        os.chown(path, NOBODY, NOBODY)
        xfs_quota(root, f"limit -u bhard={len(data) // 1024 + 64}k {NOBODY}")
        program = copy_program(ecosort, root)
        done = subprocess.run(
            as_plain_user(program, "inplace", path), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
        refused(done, 2, f"quota of user {NOBODY}")
        untouched(path, data)


def test_buffered_drives_are_refused(run: Run, tmp_path: Path, data: bytes) -> None:
    """With data=journal all goes through the page cache, from which a later run would read what the drive never got."""
    with drive_of("ext4", tmp_path) as drive:
        subprocess.run(["umount", drive.root], check=True)
        assert drive.image
        subprocess.run(["mount", "-o", "loop,data=journal", drive.image, drive.root], check=True)
        path = drive.root / "data"
        path.write_bytes(data)
        refused(run("inplace", path), 2, "no direct I/O", "use ecosort sort")
        untouched(path, data)


def test_a_limit_of_file_sizes_is_noticed_before(ecosort: Path, run: Run, file4: Path, data: bytes) -> None:
    limit = ["prlimit", f"--fsize={len(data) // 2}", ecosort, "inplace", file4]
    done = subprocess.run(limit, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    refused(done, 2, "ulimit -f")
    untouched(file4, data)


def test_set_id_bits_are_refused(run: Run, file4: Path, data: bytes) -> None:
    file4.chmod(0o4755)
    refused(run("inplace", file4), 2, "set-id bits", "chmod ug-s")
    untouched(file4, data)


def test_a_job_of_a_cluster_is_left_alone(run: Run, tmp_path: Path) -> None:
    """Its directory has the same kind of name."""
    directory = tmp_path / "out.ecosort"
    directory.mkdir()
    journal = directory / "journal"
    journal.write_text('ba58f45b {"event":"plan","schema":"ecosort.cluster-journal/1"}\n')
    before = journal.read_bytes()
    for words in (["resume"], ["resume", "--abandon"], ["resume", "--status"]):
        refused(run(*words, tmp_path / "out"), 2, f"continues with: ecosort cluster resume {tmp_path}/out")
    refused(run("merge", "--runs", directory, "-o", tmp_path / "merged"), 2, "holds a job of a cluster")
    assert [path.name for path in tmp_path.iterdir()] == ["out.ecosort"]
    assert journal.read_bytes() == before
