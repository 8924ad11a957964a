"""Jobs that outlive a crash on mounts with rules of their own: FUSE keeps removed files while they are open; some mounts decide
about owner and mode of all files."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from capabilities import require
from sort_support import Run, listing, make_records, refused, succeeded

from .support import SMALL, job_directory, signal_at_sync, with_faults


@contextmanager
def bound(directory: Path, *words: str) -> Iterator[Path]:
    """The directory once more, by FUSE."""
    require("bindfs")
    source, mount = directory / "source", directory / "mount"
    source.mkdir()
    mount.mkdir()
    subprocess.run(["bindfs", *words, source, mount], check=True)
    try:
        yield mount
    finally:
        subprocess.run(["umount", mount], check=True)


@pytest.fixture
def records(ecosort: Path) -> bytes:
    return make_records(ecosort, "ascii", 100_000)


def test_nothing_is_left_where_removed_files_stay_while_they_are_open(run: Run, tmp_path: Path, records: bytes) -> None:
    with bound(tmp_path) as mount:
        (mount / "in").write_bytes(records)
        succeeded(run("sort", "--resumable", "-q", *SMALL, mount / "in", "-o", mount / "out"))
        succeeded(run("lines", "--resumable", "--quiet", "-S", "4M", mount / "in", "-o", mount / "lines"))
        assert listing(mount) == [str(mount / name) for name in ("in", "lines", "out")]


def test_a_mount_with_fixed_permissions_is_no_dead_end(ecosort: Path, run: Run, tmp_path: Path, records: bytes) -> None:
    """vfat, exFAT and NTFS behave so: everybody may write, and no chmod changes that."""
    with bound(tmp_path, "-o", "chmod-ignore,perms=0777") as mount:
        (mount / "in").write_bytes(records)
        out = mount / "out"
        words = ("sort", "--resumable", "-q", *SMALL, mount / "in", "-o", out)
        done = signal_at_sync(ecosort, tmp_path, 4, signal.SIGTERM, *words)
        assert f"continue with: ecosort resume --trust-owner root {out}" in done.stderr
        told = refused(run("resume", out), 2, "can be written by others", "umask=077", f"ecosort resume --trust-owner root {out}")
        assert "chmod" not in told
        succeeded(run("resume", "-q", "--trust-owner", "root", out))
        assert not job_directory(out).exists()
        assert run("check", "-q", out).returncode == 0


def test_a_mount_on_which_no_mode_can_be_set_takes_outputs(run: Run, tmp_path: Path, records: bytes) -> None:
    """So it is for a plain user on a stick with vfat or exFAT that root mounted: what is replaced has the same mode and owner."""
    with bound(tmp_path, "-o", "perms=0777,chmod-deny,chown-deny,chgrp-deny") as mount:
        (mount / "in").write_bytes(records)
        for words in (("sort",), ("sort",), ("sort", "--resumable"), ("lines", "--split", "files=2")):
            out = mount / ("part-{}" if words[0] == "lines" else "out")
            done = run(*words, *(SMALL if words[0] == "sort" else ()), mount / "in", "-o", out)
            assert done.returncode == 0, done
            assert "could not keep" not in done.stderr
        assert run("check", "-q", mount / "out").returncode == 0


def test_a_mode_that_a_mount_does_not_keep_is_named(ecosort: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("b\na\n")
    (tmp_path / "out").touch(0o640)
    done = with_faults(ecosort, tmp_path, "fchmod:error=EPERM", "lines", tmp_path / "in", "-o", tmp_path / "out")
    assert (done.returncode, (tmp_path / "out").read_text()) == (0, "a\nb\n")
    assert "could not keep of the replaced" in done.stderr
    assert "the mode (Operation not permitted)" in done.stderr
