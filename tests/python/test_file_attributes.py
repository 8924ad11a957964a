"""A file that takes the place of another one has its owner, mode, ACL and attributes, or a notice says what it has not."""

import errno
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ecosort.array_files import new_file
from sort_support import NOBODY, listing

from ecosort import IoFailed, Report, sort

GROUP = 12346
ACL = "system.posix_acl_access"


def mode(path: str) -> int:
    return Path(path).stat().st_mode & 0o7777


def replace(name: str) -> list[str]:
    notices: list[str] = []
    with new_file(name, True, notices) as descriptor:
        os.write(descriptor, b"new")
    return notices


def sort_over(name: str) -> Report:
    np.save("in.npy", np.arange(3)[::-1].copy())
    report = sort("in.npy", name, overwrite=True)
    assert np.load(name).tolist() == [0, 1, 2]
    assert isinstance(report, Report)
    return report


def acl_of(user_bits: int, mask_bits: int) -> bytes:
    """Gives NOBODY the bits, under a mask. Version 2; entries of tag, bits, id."""
    entries = [(1, 6, -1), (2, user_bits, NOBODY), (4, 4, -1), (0x10, mask_bits, -1), (0x20, 0, -1)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


def set_acl(path: str, name: str, acl: bytes) -> None:
    try:
        os.setxattr(path, name, acl)
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise
        pytest.skip("the file system has no ACLs")


@contextmanager
def umask(bits: int) -> Iterator[None]:
    before = os.umask(bits)
    try:
        yield
    finally:
        os.umask(before)


def test_a_sorted_array_keeps_what_the_replaced_file_had(here: Path) -> None:
    """All could read what was private: it had the mode of a new file."""
    Path("out.npy").write_bytes(b"private")
    Path("out.npy").chmod(0o600)
    os.setxattr("out.npy", "user.project", b"alpha")
    inode = Path("out.npy").stat().st_ino
    report = sort_over("out.npy")
    assert mode("out.npy") == 0o600
    assert os.getxattr("out.npy", "user.project") == b"alpha"
    assert Path("out.npy").stat().st_ino != inode
    assert not any("could not keep" in notice for notice in report.notices)


def test_other_names_keep_the_old_contents_which_the_report_says(here: Path) -> None:
    Path("out.npy").write_bytes(b"old")
    Path("other").hardlink_to("out.npy")
    notice = "its other names (1 hard link), where the old contents stay"
    assert sort_over("out.npy").notices[-1] == f"could not keep of the replaced '{here}/out.npy': {notice}"
    assert Path("other").read_bytes() == b"old"


@pytest.mark.parametrize("old", [0o600, 0o640, 0o444])
def test_the_new_file_is_never_more_open_than_the_old_one(here: Path, monkeypatch: pytest.MonkeyPatch, old: int) -> None:
    """Not even before it has a name, nor with the one that it has for a moment; and it is durable with its mode."""
    seen: list[tuple[str, int]] = []

    def noting(what: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def noted(target: Any, *words: Any, **more: Any) -> Any:
            seen.append((what, mode(target if isinstance(target, str) else f"/proc/self/fd/{target}")))
            return call(target, *words, **more)

        return noted

    Path("out").write_bytes(b"old")
    Path("out").chmod(old)
    monkeypatch.setattr(os, "link", noting("link", os.link))
    with umask(0), new_file("out", True, []) as descriptor:
        assert mode(f"/proc/self/fd/{descriptor}") == 0o600
        monkeypatch.setattr(os, "fsync", noting("sync", os.fsync))
    assert seen[:2] == [("sync", old), ("link", old)]
    assert mode("out") == old


@pytest.mark.parametrize(("mask", "wanted"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_name_has_the_mode_of_any_new_file(here: Path, mask: int, wanted: int) -> None:
    with umask(mask):
        assert replace("out") == []
    assert mode("out") == wanted


def test_a_new_name_takes_the_default_acl_of_its_directory(here: Path) -> None:
    """As a file does that is created there: same mode, same ACL."""
    set_acl(".", "system.posix_acl_default", acl_of(6, 6))
    Path("usual").touch(0o666)
    replace("out")
    assert mode("out") == mode("usual")
    assert os.getxattr("out", ACL) == os.getxattr("usual", ACL)


def test_the_acl_is_that_of_the_replaced_file(here: Path) -> None:
    """One that the directory gives to new files is not mixed into it."""
    Path("plain").write_bytes(b"old")
    Path("plain").chmod(0o640)
    Path("with").write_bytes(b"old")
    set_acl("with", ACL, acl_of(4, 4))
    set_acl(".", "system.posix_acl_default", acl_of(6, 6))
    assert replace("plain") == replace("with") == []
    assert mode("plain") == 0o640
    assert ACL not in os.listxattr("plain")
    assert os.getxattr("with", ACL) == acl_of(4, 4)


def test_the_owner_is_kept_and_bits_that_a_change_of_owner_clears(here: Path, require: Callable[[str], None]) -> None:
    require("root")
    Path("out").write_bytes(b"old")
    os.chown("out", NOBODY, GROUP)
    Path("out").chmod(0o4750)
    assert replace("out") == []
    assert (Path("out").stat().st_uid, Path("out").stat().st_gid, mode("out")) == (NOBODY, GROUP, 0o4750)


@pytest.mark.parametrize(("is_group_kept", "wanted"), [(True, 0o775), (False, 0o755)])
def test_without_its_owner_a_file_has_no_set_id_bits(
    here: Path, require: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, is_group_kept: bool, wanted: int
) -> None:
    """It would run for another user, or open the file to another group. An ACL for the old owner and group is left out, too."""
    require("root")
    Path("out").write_bytes(b"old")
    os.setxattr("out", "user.project", b"alpha")
    os.chown("out", NOBODY, GROUP)
    Path("out").chmod(0o6775)
    change = os.fchown

    def refused(descriptor: int, owner: int, group: int) -> None:
        if owner != -1 or not is_group_kept:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        change(descriptor, owner, group)

    monkeypatch.setattr(os, "fchown", refused)
    lost = "the owner (Operation not permitted)" + ("" if is_group_kept else ", the group (Operation not permitted)")
    assert replace("out") == [f"could not keep of the replaced '{here}/out': {lost}"]
    assert mode("out") == wanted
    assert os.getxattr("out", "user.project") == b"alpha"
    Path("out").unlink()
    Path("out").write_bytes(b"old")
    set_acl("out", ACL, acl_of(6, 6))
    os.chown("out", NOBODY, GROUP)
    assert any("the ACL" in notice for notice in replace("out")) != is_group_kept
    assert (ACL in os.listxattr("out")) == is_group_kept


def test_a_sync_that_fails_leaves_the_old_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is one of the package's."""
    Path("out").write_bytes(b"old")

    def failing(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(IoFailed, match=f"^cannot complete the output '{here}/out': Input/output error$"):
        replace("out")
    assert Path("out").read_bytes() == b"old"
    assert listing(here) == [str(here / "out")]


def test_a_file_that_cannot_be_replaced_leaves_no_other_name(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a directory like /tmp nobody replaces the files of others: the whole output stayed there under a name of its own."""
    Path("out").write_bytes(b"old")

    def refused(self: Path, target: str) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(IoFailed, match="Operation not permitted"):
        replace("out")
    assert listing(here) == [str(here / "out")]
