"""Inputs that are compressed: rows of text that a node decodes into a file of its own before they are cut.

Python has gzip, bzip2 and xz; zstd and lz4 are decoded by the programs of these names.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
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
_SLICE = 8 << 10  # size of what a decoder gets at once, and copies where a member ends in it
_XZ_PADDING = 4
_DECODERS: dict[str, Callable[[], Any]] = {
    "bzip2": bz2.BZ2Decompressor,
    "xz": lzma.LZMADecompressor,
    "lzma": lzma.LZMADecompressor,
}
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
    source: io.BufferedReader = io.BufferedReader(_Pieces(pieces), _PIECE)
    try:
        yield from _by_gzip(source) if codec == "gzip" else _Members(codec, source).decoded()
    except EcoSortError:  # where the pieces come from
        raise
    except Exception as error:  # each module has its own
        raise _damaged(codec, url, str(error)) from None


def _by_gzip(source: io.BufferedReader) -> Iterator[bytes]:
    """Raises an error for anything but zeros and members behind a member."""
    with gzip.open(source) as file:
        while piece := file.read(_PIECE):
            yield piece


class _Members:
    """Decodes the members of a file of bzip2 or xz as the program does.

    BZ2File and LZMAFile cannot: they take any error at the beginning of a further member for the end of the data.
    """

    def __init__(self, codec: str, source: io.BufferedReader) -> None:
        self._codec = codec
        self._source = source
        self._rest = b""  # was read, and is not decoded yet
        self._read = 0

    def decoded(self) -> Iterator[bytes]:
        """Raises ValueError, or an error of the decoder, unless all of the file is members, with zeros behind them."""
        while self._has_member():
            decoder = _DECODERS[self._codec]()
            while not decoder.eof:
                if piece := decoder.decompress(self._taken() if decoder.needs_input else b"", _PIECE):
                    yield piece
            self._rest = decoder.unused_data
            self._pass_zeros()

    def _has_member(self) -> bool:
        """Returns whether a member follows; False at the end of the file."""
        self._fill(BEGIN_BYTES)
        if self._rest and _DECODERS.get(codec_of(self._rest)) is not _DECODERS[self._codec]:
            raise ValueError(f"what follows its first {self._read - len(self._rest)} bytes is no {self._codec} data")
        return bool(self._rest)

    def _fill(self, size: int) -> None:
        """Reads on until the rest has that many bytes, or the file ends."""
        while len(self._rest) < size and (more := self._source.read(_SLICE)):
            self._rest += more
            self._read += len(more)

    def _taken(self) -> bytes:
        self._fill(1)
        if not self._rest:
            raise ValueError("it ends in the middle of a member")
        taken, self._rest = self._rest, b""
        return taken

    def _pass_zeros(self) -> None:
        """Passes the zeros behind a member: padding, which has whole fours of them in xz."""
        zeros = 0
        self._fill(1)
        while self._rest.startswith(b"\0"):
            left = self._rest.lstrip(b"\0")
            zeros += len(self._rest) - len(left)
            self._rest = left
            self._fill(1)
        if self._codec != "bzip2" and zeros % _XZ_PADDING:
            raise ValueError("the padding behind the xz data has the wrong size")


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
        raise _damaged(codec, url, said or f"{name} ends with exit code {program.returncode}")


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
