"""Looks at a watched directory: which files are there, and whether someone still writes them.

Names of files are chosen by patterns of a shell. Names that programs give to what they have not finished are left out, unless a
pattern looks like such a name itself.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import stat
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from fnmatch import fnmatchcase

from ecosort_appliance.errors import QueueError
from ecosort_appliance.users import call_as

# Browsers, clients of FTP and SFTP, tools that download or write what they name at the end, Hadoop, editors.
_PARTIAL = (
    *("*.part", "*.partial", "*.crdownload", "*.download", "*.opdownload", "*.filepart", "*.tmp", "*.temp", "*.aria2"),
    *("*.incomplete", "*.uploading", "*.upload", "*.inprogress", "*.in-progress", "*._copying_", "*.gstmp", "*.fdmdownload"),
    *("*.xltd", "*.ytdl", "*.!ut", "*.!qb", "*.bc!", "*.sw[op]", "*~", "~*", "#*#"),
)
# A number that some put behind such a name. Behind `.part` it is that of a piece, which is whole.
_OF_A_PROCESS = re.compile(r"(?<!\.part)[.-](\d+|(?=[a-f]*\d)[0-9a-f]{4,})$")


@dataclass(frozen=True)
class Found:
    """A regular file. `identity` changes when it is written or replaced; `changed_s`: when anything of it changed last, by the
    drive's clock, which no one can set."""

    path: str
    identity: str
    is_written: bool
    changed_s: float


def check_pattern(pattern: str) -> None:
    """QueueError for a --match that no file would have."""
    if not pattern or "/" in pattern:
        raise QueueError(f"--match {pattern!r} is a pattern for names of files in the directory, such as '*.csv'")
    if pattern.startswith("."):
        raise QueueError(f"--match {pattern!r}: hidden files are left out; give them a name without a leading dot")
    if re.search(r"\{.*,.*\}", pattern):
        raise QueueError(f"--match {pattern!r}: braces have no meaning here; give --match once for each pattern")


def is_wanted(name: str, patterns: Sequence[str]) -> bool:
    """Without patterns it wants every name but those of unfinished files."""
    matching = [pattern for pattern in patterns or ["*"] if fnmatchcase(name, pattern)]
    return any(not _is_partial(name) or _is_partial(pattern) for pattern in matching)


def _is_partial(name: str) -> bool:
    plain = _OF_A_PROCESS.sub("", name.lower())
    return any(fnmatchcase(plain, pattern) for pattern in _PARTIAL)


def may_share_names(first: Sequence[str], second: Sequence[str]) -> bool:
    """False where the literal beginnings or ends of the patterns show that no name matches both."""
    return any(_may_overlap(one, other) for one in first or ["*"] for other in second or ["*"])


def _may_overlap(one: str, other: str) -> bool:
    heads = [re.split(r"[*?[]", pattern)[0] for pattern in (one, other)]
    tails = [re.split(r"[*?\]]", pattern)[-1] for pattern in (one, other)]
    is_one_head = heads[0].startswith(heads[1]) or heads[1].startswith(heads[0])
    return is_one_head and (tails[0].endswith(tails[1]) or tails[1].endswith(tails[0]))


def look(directory: str, patterns: Sequence[str] = ()) -> list[Found]:
    """Regular files that are wanted and not hidden; OSError when it cannot be read."""
    found = []
    for entry in sorted(os.scandir(directory), key=lambda e: e.name):
        if entry.name.startswith(".") or not is_wanted(entry.name, patterns) or not entry.is_file(follow_symlinks=False):
            continue
        if file := _look_at(entry.path):
            found.append(file)
    return found


def _look_at(path: str) -> Found | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # gone, or not to be read
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        identity = f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"
        return Found(path, identity, _is_open_for_writing(descriptor), status.st_ctime)
    finally:
        os.close(descriptor)


def _is_open_for_writing(descriptor: int) -> bool:
    """A lease for reading is refused while anyone has the file open for writing; of others' files always (EACCES).

    A process that opens it for writing while the lease is held breaks it, and a signal reports that: one that ends no one.
    """
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def look_as(uid: int, directory: str, patterns: Sequence[str]) -> list[Found]:
    """Looks with the rights of that user. OSError."""
    found = call_as(
        uid, "ecosort_appliance.watch", [directory, [*patterns]], lambda: [astuple(f) for f in look(directory, patterns)]
    )
    if found is None:
        raise OSError(f"'{directory}' cannot be read")
    return [Found(*fields) for fields in found]


if __name__ == "__main__":
    json.dump([astuple(file) for file in look(*json.load(sys.stdin))], sys.stdout)
