"""Reads inputs behind http(s) and s3: how large they are, whether they are still the same, and ranges of their bytes.

All bytes are of one version of the object: its tag (ETag, else the time of its last change) is sent with each request, and a
server that has another version by now answers otherwise. If a server sends no tag, the size must be the same.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from ecosort.errors import IoFailed
from ecosort.remote.addresses import Attempts, Passing, Version, patiently


def version_of(url: str) -> Version:
    """The present one. Raises BadInput where there is nothing that ranges can be read of, IoFailed where no one answers."""
    from ecosort.remote import http_inputs

    return patiently(url, lambda: http_inputs.version(url))


def read_range(url: str, version: Version, begin: int, end: int) -> Iterator[bytes]:
    """The bytes [begin, end) of that version, piece by piece. Continues after a connection broke.

    Raises BadInput where the input is another one by now, IoFailed where it cannot be read.
    """
    attempts = Attempts()
    while begin < end:
        try:
            for piece in _pieces(url, version, begin, end):
                begin += len(piece)
                attempts.begin_anew()
                yield piece
        except Passing as error:
            attempts.wait(f"'{url}' cannot be read from byte {begin} on", error)


def _pieces(url: str, version: Version, begin: int, end: int) -> Iterator[bytes]:
    """Raises Passing where it breaks off."""
    from ecosort.remote import http_inputs  # its modules take longer to load than all others of a worker

    got = 0
    for piece in http_inputs.pieces(url, version, begin, end):
        got += len(piece)
        if got > end - begin:
            raise IoFailed(f"'{url}': the server sent more than the bytes {begin} to {end} that it was asked for")
        yield piece
    if got < end - begin:
        raise Passing(f"{got} of {end - begin} bytes came")


def begin_of(url: str, version: Version, size: int) -> bytes:
    """The first bytes of it, so many at most."""
    return b"".join(read_range(url, version, 0, min(size, version.size)))


class RemoteFile(io.RawIOBase):
    """A file for readers that seek, of the version that was there when it was opened. Each read is a request."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self._version = version_of(url)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._version.size}[whence]
        return self._at

    def readinto(self, target: Any) -> int:
        view = memoryview(target).cast("B")
        end = min(self._at + len(view), self._version.size)
        begin = self._at
        for piece in read_range(self._url, self._version, begin, end):
            view[self._at - begin : self._at - begin + len(piece)] = piece
            self._at += len(piece)
        return self._at - begin
