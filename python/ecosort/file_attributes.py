"""Owner, mode, ACL and extended attributes of a new output (promise P2), as ecosort/io/file_attributes.cpp gives them."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

_ACL = "system.posix_acl_access"
_OF_THE_MOUNT = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP)  # a mount that decides about modes itself


def take_attributes(descriptor: int, name: str) -> str:
    """Gives the open file, which has no name and the mode 0600, what the file `name` has that it will replace; where there is
    none, the mode of any new file. Returns a notice of what could not be kept, or an empty text. Raises OSError.
    """
    if not os.path.lexists(name):
        _set_mode(descriptor, _mode_of_a_new_file(Path(name).parent), [])
        return ""
    losses = _adopt(descriptor, name)
    return f"could not keep of the replaced '{name}': {', '.join(losses)}" if losses else ""


def _mode_of_a_new_file(directory: Path) -> int:
    """Asks the system, which knows the umask and the directory's default ACL."""
    probe = os.open(directory, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    try:
        return stat.S_IMODE(os.fstat(probe).st_mode)
    finally:
        os.close(probe)


def _adopt(descriptor: int, replaced: str) -> list[str]:
    """Returns what could not be kept, and why."""
    losses: list[str] = []
    wanted = os.lstat(replaced)
    if wanted.st_nlink > 1:
        links = "1 hard link" if wanted.st_nlink == 2 else f"{wanted.st_nlink - 1} hard links"
        losses.append(f"its other names ({links}), where the old contents stay")
    mode, is_acl_safe = _keep_owner(descriptor, wanted, losses)
    with contextlib.suppress(OSError):  # the directory may have given it an ACL
        os.removexattr(descriptor, _ACL)
    _set_mode(descriptor, mode, losses)  # before the ACL, whose mask it would overwrite
    for name in _attribute_names(replaced, losses):
        if name == _ACL and not is_acl_safe:
            losses.append(_loss("the ACL", errno.EPERM))
        else:
            _copy_attribute(descriptor, replaced, name, losses)
    return losses


def _keep_owner(descriptor: int, wanted: os.stat_result, losses: list[str]) -> tuple[int, bool]:
    """Returns the mode that is safe under the owner and the group that the file has now, and whether an ACL is."""
    mode = stat.S_IMODE(wanted.st_mode)
    try:
        os.fchown(descriptor, wanted.st_uid, wanted.st_gid)
    except OSError as error:
        now = os.fstat(descriptor)
        if (now.st_uid, now.st_gid) == (wanted.st_uid, wanted.st_gid):
            return mode, True
        losses.append(_loss("the owner", error.errno))
    else:
        return mode, True
    mode &= ~(stat.S_ISUID | stat.S_ISGID)
    try:
        os.fchown(descriptor, -1, wanted.st_gid)
    except OSError as error:
        losses.append(_loss("the group", error.errno))
        return mode & ~(stat.S_IRWXG & ~((mode & stat.S_IRWXO) << 3)), False  # a foreign group gets what all others have
    return mode, True


def _set_mode(descriptor: int, mode: int, losses: list[str]) -> None:
    try:
        os.fchmod(descriptor, mode)
    except OSError as error:
        if error.errno not in _OF_THE_MOUNT:
            raise
        if stat.S_IMODE(os.fstat(descriptor).st_mode) != mode:
            losses.append(_loss("the mode", error.errno))


def _attribute_names(path: str, losses: list[str]) -> list[str]:
    try:
        return os.listxattr(path, follow_symlinks=False)
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            losses.append(_loss("the extended attributes", error.errno))
        return []


def _copy_attribute(descriptor: int, replaced: str, name: str, losses: list[str]) -> None:
    try:
        value = os.getxattr(replaced, name, follow_symlinks=False)
        os.setxattr(descriptor, name, value)
    except OSError as error:
        if error.errno != errno.ENODATA:  # it was removed meanwhile
            losses.append(_loss("the ACL" if name == _ACL else f"the attribute {name}", error.errno))


def _loss(what: str, number: int | None) -> str:
    return f"{what} ({os.strerror(number or 0)})"
