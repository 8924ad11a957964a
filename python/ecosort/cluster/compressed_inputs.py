"""Inputs that are compressed: rows of text that a node decodes into a file of its own before they are cut.

Python has gzip, bzip2 and xz; zstd and lz4 are decoded by the programs of these names.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import IO, Any

from ecosort.errors import BadInput, EcoSortError, IoFailed

BEGIN_BYTES = 14
_PIECE = 1 << 20
_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b\x08"),
    "bzip2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\0"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),  # a frame, or one that is skipped
    "lz4": re.compile(rb"\x04\x22\x4d\x18|\x02\x21\x4c\x18"),  # also the older one, of lz4 -l
}
_MODULES = {"gzip": "gzip", "bzip2": "bz2", "xz": "lzma", "lzma": "lzma"}
_LZMA_PROPERTIES, _ALL_BITS = 9 * 5 * 5, (1 << 64) - 1
_PROGRAMS = {"zstd": ("zstd", "-dcq", "--memory=1024MB"), "lz4": ("lz4", "-dcq")}


def codec_of(begin: bytes) -> str:
    """Returns the codec of what begins with these bytes; it is empty where that is not compressed."""
    return next((codec for codec, magic in _MAGIC.items() if magic.match(begin)), "lzma" if _is_lzma(begin) else "")


def _is_lzma(begin: bytes) -> bool:
    """The older format of xz has no magic number: properties, the size of a dictionary, which is 2^n or 2^n + 2^(n-1), that of
    the data, if it is known, and a zero."""
    if len(begin) < BEGIN_BYTES or begin[0] >= _LZMA_PROPERTIES or begin[13]:
        return False
    dictionary, size = (int.from_bytes(begin[at:to], "little") for at, to in ((1, 5), (5, 13)))
    bits = bin(dictionary).count("1")
    is_size = dictionary == _ALL_BITS >> 32 or bits == 1 or (bits == 2 and bool(dictionary & dictionary << 1))
    return is_size and (size == _ALL_BITS or size < 1 << 38)


def decoded(codec: str, url: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Decodes the pieces. Raises IoFailed for damage, BadInput where a program is missing, and what `pieces` raises."""
    yield from _by_program(codec, url, pieces) if codec in _PROGRAMS else _by_python(codec, url, pieces)


def _by_python(codec: str, url: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
    with import_module(_MODULES[codec]).open(io.BufferedReader(_Pieces(pieces), _PIECE)) as file:
        while True:
            try:
                piece = file.read(_PIECE)
            except EcoSortError:  # where the pieces come from
                raise
            except Exception as error:  # each module has its own
                raise _damaged(codec, url, str(error)) from None
            if not piece:
                return
            yield piece


class _Pieces(io.RawIOBase):
    """Makes a file of pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__()
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        taken = self._rest[: len(target)]
        target[: len(taken)] = taken
        self._rest = self._rest[len(taken) :]
        return len(taken)


def _by_program(codec: str, url: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
    name, *options = _PROGRAMS[codec]
    if not shutil.which(name):
        raise BadInput(f"'{url}' is compressed by {codec}: install the program {name} on all nodes, or decompress it first")
    with subprocess.Popen([name, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdin
        assert program.stdout
        assert program.stderr
        failed: list[BaseException] = []
        feeding = Thread(target=_feed, args=(program.stdin, pieces, failed))
        feeding.start()
        try:
            while piece := program.stdout.read(_PIECE):
                yield piece
        finally:
            program.stdout.close()  # ends the program, if its output is not wanted any more
            feeding.join()
            said = program.stderr.read().decode(errors="replace").strip().rpartition("\n")[2]
    if failed:
        raise failed[0]
    if program.returncode:
        raise _damaged(codec, url, said)


def _feed(target: IO[bytes], pieces: Iterator[bytes], failed: list[BaseException]) -> None:
    try:
        for piece in pieces:
            target.write(piece)
    except BrokenPipeError:  # it has ended, and its exit code says why
        pass
    except BaseException as error:  # is raised where the rows are wanted
        failed.append(error)
    with contextlib.suppress(BrokenPipeError):
        target.close()


def _damaged(codec: str, url: str, why: str) -> IoFailed:
    return IoFailed(f"'{url}' is damaged or cut off: it does not decode as {codec} ({why})")


def pieces_of(path: str) -> Iterator[bytes]:
    """Reads the pieces of a file."""
    with Path(path).open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece
