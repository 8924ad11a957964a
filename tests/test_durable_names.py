"""Exit 0 means that a power cut loses nothing: images of a drive right after a sort, checked as a starting machine does."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from capabilities import SOAK, require
from pairs import turns
from sort_support import MIB, Run, expected, make_records, mounted, notice_of, refused, succeeded

IMAGES = 60 if SOAK else 6


@contextmanager
def ext4_with(features: str, tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """An ext4 with these features, and its image, which can be copied in a moment because it lies on XFS."""
    require("loop_mount")
    require("xfs")
    root = tmp_path / "root"
    root.mkdir()
    with mounted(tmp_path, "xfs", 512 * MIB) as host:
        image = host.root / "image"
        with image.open("wb") as file:
            file.truncate(96 * MIB)
        made = subprocess.run(["mkfs.ext4", "-q", "-O", features, image], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            pytest.skip(f"mkfs.ext4 knows no {features}: {made.stderr}")
        subprocess.run(["mount", "-o", "loop", image, root], check=True)
        try:
            yield root, image
        finally:
            subprocess.run(["umount", root], check=True)


def after_power_cut(image: Path, tmp_path: Path, name: str) -> bytes | None:
    """Returns what has the name when the machine has started again: e2fsck first, then the mount."""
    copy, root = image.with_name("copy"), tmp_path / "after"
    root.mkdir(exist_ok=True)
    copied = subprocess.run(["cp", "--reflink=always", image, copy], capture_output=True, text=True, check=False)
    if copied.returncode != 0:
        pytest.skip(f"no copies in a moment here: {copied.stderr}")
    checked = subprocess.run(["e2fsck", "-fy", copy], capture_output=True, text=True, check=False)
    assert checked.returncode in (0, 1), checked
    subprocess.run(["mount", "-o", "loop", copy, root], check=True)
    try:
        path = root / name
        return path.read_bytes() if path.exists() else None
    finally:
        subprocess.run(["umount", root], check=True)
        copy.unlink()


SORTS = [("sort", 20_000), ("lines", 20_000), ("lines", 300)]


@pytest.mark.parametrize(
    ("command", "count", "features"),
    [(*sort, features) for sort, features in turns(SORTS, ["has_journal,^fast_commit", "fast_commit", "^has_journal"], rounds=2)],
)
def test_a_finished_sort_outlives_a_power_cut(
    ecosort: Path, run: Run, tmp_path: Path, features: str, command: str, count: int
) -> None:
    """A small output goes through the page cache, and is synced only once."""
    data = make_records(ecosort, "ascii", count)
    wanted = expected(data) if command == "sort" else b"".join(sorted(data.splitlines(keepends=True)))
    with ext4_with(features, tmp_path) as (root, image):
        (root / "in").write_bytes(data)
        subprocess.run(["sync", "-f", root], check=True)
        for number in range(IMAGES):
            out = root / f"out{number % 3}"  # new names, then replaced ones
            (root / "other").write_bytes(data[: number * 1000])
            done = run(command, root / "in", "-o", out)
            after = after_power_cut(image, tmp_path, out.name)
            assert done.returncode == 0, done
            assert done.stderr == "", done
            assert after is not None, f"image {number}: the name is gone"
            assert after == wanted, f"image {number}"
            if number >= 3:
                out.unlink()


def test_jobs_that_must_outlive_a_crash_are_refused_where_they_might_not(ecosort: Path, run: Run, tmp_path: Path) -> None:
    data = make_records(ecosort, "ascii", 20_000)
    with ext4_with("fast_commit", tmp_path) as (root, _):
        (root / "in").write_bytes(data)
        refused(run("inplace", root / "in"), 2, "tune2fs -O ^fast_commit")
        refused(run("sort", "--resumable", root / "in", "-o", root / "out"), 2, "tune2fs -O ^fast_commit")
        assert sorted(path.name for path in root.iterdir()) == ["in", "lost+found"]
    with mounted(tmp_path, "ext4", 64 * MIB) as drive:
        (drive.root / "in").write_bytes(data)
        succeeded(run("sort", "--resumable", "-q", drive.root / "in", "-o", drive.root / "out"))
        succeeded(run("inplace", drive.root / "in"))


def test_a_resumable_sort_without_a_journal_says_so(ecosort: Path, run: Run, tmp_path: Path) -> None:
    data = make_records(ecosort, "ascii", 20_000)
    with ext4_with("^has_journal", tmp_path) as (root, _):
        (root / "in").write_bytes(data)
        done = run("sort", "--resumable", root / "in", "-o", root / "out")
        assert done.returncode == 0, done
        assert "on ext4 without a journal: after a power cut" in done.stderr
        refused(run("inplace", root / "in"), 2, "has no journal")


def test_memory_is_told_apart(ecosort: Path, run: Run, tmp_path: Path) -> None:
    require("loop_mount")
    with mounted(tmp_path, "tmpfs", 16 * MIB) as drive:
        (drive.root / "in").write_bytes(make_records(ecosort, "ascii", 1_000))
        for command in ("sort", "lines"):
            succeeded(
                run(command, drive.root / "in", "-o", drive.root / "out"),
                notice_of("tmpfs", drive.root, "ecosort" if command == "sort" else "ecosort lines"),
            )
            succeeded(run(command, "--quiet", drive.root / "in", "-o", drive.root / "out"))
