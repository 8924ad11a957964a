"""A sort raises these. Each error is one line for people; the numbers are attributes, in bytes."""

from __future__ import annotations

import contextlib
import errno
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class EcoSortError(Exception):
    """Base of all errors of this package; raised itself only for a bug in the program (its exit code 4).

    `exit_code` is that of the program, None where it was not run.
    """

    exit_code: int | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross processes, as those of a pool do, with their line and their numbers."""
        return _made_again, (type(self), str(self), vars(self))


def _made_again(kind: type[EcoSortError], line: str, members: Mapping[str, Any]) -> EcoSortError:
    error = kind.__new__(kind, line)
    error.args = (line,)
    vars(error).update(members)
    return error


class BadInput(EcoSortError, ValueError):
    """A wrong argument, an input that does not fit it, or a plan that cannot work. Nothing was changed."""


class OutputExists(BadInput):
    """`path` exists, and `overwrite` was not asked for."""

    def __init__(self, path: str, why: str = "exists; name another file, or say overwrite=True") -> None:
        super().__init__(f"'{path}' {why}")
        self.path = path


class NotEnoughMemory(EcoSortError):
    """`have_bytes` of memory do not suffice; `need_bytes` would (None: how much is not known)."""

    def __init__(self, line: str, have_bytes: int, need_bytes: int | None) -> None:
        super().__init__(line)
        self.have_bytes = have_bytes
        self.need_bytes = need_bytes


class NotEnoughSpace(EcoSortError):
    """The directories `places` have `have_bytes` free, and `need_bytes` are needed.

    All is known where a sort is refused before it begins. Where a drive filled up in the middle (`exit_code` 3), `places` are
    those where that may have been, `have_bytes` what is free there without the sort, and `need_bytes` is None. Either way there
    is no output.
    """

    def __init__(
        self, line: str, places: Sequence[str] = (), have_bytes: int | None = None, need_bytes: int | None = None
    ) -> None:
        super().__init__(line)
        self.places = tuple(places)
        self.have_bytes = have_bytes
        self.need_bytes = need_bytes


class VerificationFailed(EcoSortError):
    """The output is not the input in order: memory or a drive is broken. There is no output."""


class FalseClaim(EcoSortError):
    """The file `path` claims an order, which row `row` is out of (from 0 on; the message counts from 1)."""

    def __init__(self, path: str, row: int, by: str) -> None:
        super().__init__(
            f"'{path}' claims to be sorted by {by}, and its row {row + 1} comes before the one above it; sort it again"
        )
        self.path = path
        self.row = row


class IoFailed(EcoSortError):
    """A call on a file failed, a run was damaged, or the input changed while it was read. `errno`: the system's, or None."""

    def __init__(self, line: str, number: int | None = None) -> None:
        super().__init__(line)
        self.errno = number


class Cancelled(EcoSortError):
    """The event that was given as `cancel` was set. Nothing is left behind, but of a sort in place its job directory."""


class ProgramNotFound(EcoSortError):
    """There is no program `ecosort` where this package looks, or it is of another version."""


_UNLIKELY = " does not look like records of the Sort Benchmark"

# Ends a line that the program wrote for a user who types its options, and the line for a caller of a function.
_ADVICE = {
    "; make room there, or name another place with --temp or -o": "",  # drive_full() has its own
    "; make room there, or name another place with -T or -o": "",
    "; give less with --memory": "; give less memory",
    "; try --io pool": "",
    _UNLIKELY: f"{_UNLIKELY}; give record_size and by, such as record_size=100, by='0:10', or format='lines' for text",
}


def from_program(
    exit_code: int, said: str, told: Mapping[str, Any] | None, places: Mapping[str, str] | None = None
) -> EcoSortError:
    """The error of a program that ended with `exit_code`, said `said`, and `told` the same as JSON (None: it could not).

    `places` that it writes to, and which argument names each of them. A code below 0 or above 128 is a signal.
    """
    if exit_code < 0 or exit_code > 128:
        number = -exit_code if exit_code < 0 else exit_code - 128
        killed = EcoSortError(f"the program was ended by signal {number}" + (f": {said}" if said else ""))
        killed.exit_code = exit_code
        return killed
    said = said or f"the program ended with exit code {exit_code} and said nothing"
    for typed, called in _ADVICE.items():
        if said.endswith(typed):
            said = said.removesuffix(typed) + called
    error = _from_json(said, told, places or {}) if told else None
    if error is None:
        error = {1: VerificationFailed, 2: BadInput, 3: IoFailed, 5: BadInput}.get(exit_code, EcoSortError)(said)
    if error.exit_code is None:
        error.exit_code = exit_code
    return error


def drive_full(said: str, places: Mapping[str, str]) -> NotEnoughSpace:
    """A drive filled up in the middle, in one of `places`, which arguments name."""
    wanted = " or ".join(dict.fromkeys(filter(None, places.values())))
    advice = f"make room there, or name another place with {wanted}" if wanted else "make room there"
    free = None
    with contextlib.suppress(OSError):  # a place may be gone
        by_drive = {Path(place).stat().st_dev: shutil.disk_usage(place).free for place in places}
        free = sum(by_drive.values()) if by_drive else None
    error = NotEnoughSpace(f"{said}; {advice}", tuple(places), free)
    error.exit_code = 3
    return error


def _from_json(said: str, told: Mapping[str, Any], places: Mapping[str, str]) -> EcoSortError | None:
    kind = told["kind"]
    if kind == "not enough memory":
        return NotEnoughMemory(said, told["have_bytes"], told["need_bytes"])
    if kind == "not enough space":
        return NotEnoughSpace(said, told["places"], told["have_bytes"], told["need_bytes"])
    if kind == "io" and told["errno"] in (errno.ENOSPC, errno.EDQUOT):
        return drive_full(said, places)
    if kind == "io":
        return IoFailed(said, told["errno"])
    if kind == "usage":
        return BadInput(said)
    return VerificationFailed(said) if kind == "verification" else None
