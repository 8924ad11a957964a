"""Finds where an array is in its file, and makes files that get their names when they are complete."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import pathlib
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ecosort import checks
from ecosort.descriptors import write_all
from ecosort.durable import replaceable, sync_directory
from ecosort.errors import BadInput, IoFailed
from ecosort.file_attributes import take_attributes
from ecosort.pipe import PIECE_BYTES
from ecosort.words import Path, output, path_word

_CLAIM_ENDING, _CLAIM_SCHEMA = ".claim.json", "ecosort.claim/1"


@dataclass(frozen=True)
class ArrayFile:
    """A one-dimensional array of `dtype` that fills the file `path` from the byte `offset` to its end."""

    path: str
    dtype: Any
    offset: int

    is_writable: bool

    def check_can_be_in_place(self) -> None:
        """Raises BadInput unless there is nothing before the array, and no one who could write to it meanwhile."""
        if self.is_writable:
            raise BadInput(f"the memmap can write to '{self.path}'; to sort it in place flush it, and open it with mode 'r'")
        if self.offset:
            raise BadInput(
                f"'{self.path}' has {self.offset} bytes (a header) before the array, so it cannot be sorted in place; give dst"
            )

    def copy_header(self, target: int) -> None:
        """Writes what is in front of the array to a descriptor. Raises IoFailed."""
        rest = self.offset
        try:
            with pathlib.Path(self.path).open("rb") as file:
                while rest and (piece := file.read(min(rest, PIECE_BYTES))):
                    write_all(target, piece)
                    rest -= len(piece)
        except OSError as error:
            raise IoFailed(f"cannot copy what is before the array in '{self.path}': {error.strerror}", error.errno) from None
        if rest:
            raise IoFailed(f"'{self.path}' changed while it was read; sort it when nothing writes to it")

    @contextmanager
    def at_its_records(self) -> Iterator[int]:
        """Opens a descriptor at the first record."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.lseek(descriptor, self.offset, os.SEEK_SET)
            yield descriptor
        finally:
            os.close(descriptor)


def array_file(array: Any) -> ArrayFile:
    """Makes one of an np.memmap, or of the path of an .npy file. Raises BadInput."""
    if not hasattr(array, "dtype"):
        array = _open_npy(array)
    filename = getattr(array, "filename", None)
    if filename is None:
        raise BadInput("the array is no np.memmap of a named file; sort_records() sorts arrays in memory")
    if not isinstance(array.base, mmap.mmap):  # its offset would be that of another
        raise BadInput(f"this is a view of the memmap of '{filename}'; give the memmap itself, or a copy to sort_records()")
    if array.ndim != 1:
        raise BadInput(f"an array of {array.ndim} dimensions has no records; give one of one dimension")
    if array.dtype.hasobject:
        raise BadInput(f"an array of {array.dtype} holds references to objects, which no other process understands")
    if array.mode == "c":
        raise BadInput("a memmap of mode 'c' keeps its changes to itself; open it with mode 'r' or 'r+'")
    if array.mode != "r":
        array.flush()
    path = path_word(filename)
    behind = pathlib.Path(path).stat().st_size - array.offset - array.nbytes
    if behind:
        raise BadInput(
            f"'{path}' continues for {behind} bytes behind the array; sort a copy of the array, or sort_file() all of it"
        )
    return ArrayFile(path, array.dtype, array.offset, array.mode != "r")


def _open_npy(path: Path) -> Any:
    name = checks.path(path, "array")
    try:
        import numpy
    except ModuleNotFoundError:
        raise BadInput("an .npy file needs NumPy; run: pip install numpy") from None
    try:
        return numpy.lib.format.open_memmap(name, mode="r")
    except (ValueError, OSError) as error:
        raise BadInput(f"'{name}' cannot be opened as an .npy file: {error}") from None


@contextmanager
def new_file(path: Path, overwrite: bool, notices: list[str]) -> Iterator[int]:
    """A descriptor of an unnamed file, which gets the name `path` when the block ends without an error, and is gone otherwise.

    It takes owner, mode, ACL and attributes of the file that it replaces; `notices` gets a line on what could not be kept.
    Then file and name are on stable storage. Raises BadInput, OutputExists, IoFailed.
    """
    output(path, overwrite)
    given = path_word(path)
    try:
        name = str(replaceable(given))
    except OSError as error:
        raise BadInput(f"'{given}' cannot be the output: {error.strerror}") from None
    _demand_no_job(name)
    directory = str(pathlib.Path(name).parent)
    try:
        descriptor = os.open(directory, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(f"'{given}' cannot be the output: there is no directory '{directory}'; create it first") from None
    except OSError as error:
        raise IoFailed(f"cannot create a file in '{directory}': {error.strerror}", error.errno) from None
    try:
        yield descriptor
        notices += _publish(descriptor, name, directory, overwrite, {given, name})
    finally:
        os.close(descriptor)


def _demand_no_job(name: str) -> None:
    """A job that is continued would replace the file; while it waits, the records of a sort in place have no other."""
    if os.path.lexists(f"{name}.ecosort/journal"):
        again = f"continue with: ecosort resume {name}, or give it up with: ecosort resume --abandon {name}"
        raise BadInput(f"'{name}.ecosort' holds a job that was interrupted; {again}")


def _publish(descriptor: int, name: str, directory: str, overwrite: bool, claimed: Iterable[str]) -> list[str]:
    """Returns notices. The file is complete and has its attributes before it gets a name."""
    _demand_no_job(name)
    try:
        notice = take_attributes(descriptor, name)
        os.fsync(descriptor)
        for one in claimed:
            _take_claim_away(f"{one}{_CLAIM_ENDING}")
        if not overwrite:
            _link(descriptor, name)
        else:
            _replace(descriptor, name, directory)
        sync_directory(directory)
    except OSError as error:
        raise IoFailed(f"cannot complete the output '{name}': {error.strerror}", error.errno) from None
    return [notice] if notice else []


def _take_claim_away(claim: str) -> None:
    """`merge` would believe that the claim of an earlier file is that of the new one."""
    with contextlib.suppress(FileNotFoundError, IsADirectoryError, ValueError, RecursionError):  # it is no claim
        told = json.loads(pathlib.Path(claim).read_bytes())
        if isinstance(told, dict) and told.get("schema") == _CLAIM_SCHEMA:
            pathlib.Path(claim).unlink()
            sync_directory(pathlib.Path(claim).parent)


def _replace(descriptor: int, name: str, directory: str) -> None:
    """Goes through another name, which is taken away where the file cannot have the one that it shall have."""
    passing = pathlib.Path(directory, f".ecosort-{secrets.token_hex(8)}.tmp")
    _link(descriptor, str(passing))
    try:
        passing.replace(name)
    except BaseException:
        passing.unlink(missing_ok=True)
        raise


def _link(descriptor: int, name: str) -> None:
    # The directory of a whole path counts for nothing, but makes this a call that follows the link.
    os.link(f"/proc/self/fd/{descriptor}", name, src_dir_fd=descriptor, follow_symlinks=True)
