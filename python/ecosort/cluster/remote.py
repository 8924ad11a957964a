"""Reads inputs behind http(s) and s3: how large they are, whether they are still the same, and ranges of their bytes.

What is read is of one version of the object: its tag (ETag, else the time of its last change) is sent with each request, and a
server that has another version by now answers otherwise. Where a server sends no tag, the size must be the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from ecosort.errors import BadInput, IoFailed

PIECE = 1 << 20
_ATTEMPTS = 6  # to continue a range; the waits between them are 0.2, 0.4 ... 3.2 s
_FIRST_WAIT_S = 0.2
TIMEOUT_S = 60.0
PASSING = (408, 425, 429, 500, 502, 503, 504)

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Version:
    """Identifies a remote input. `tag` is empty where the server sends none."""

    size: int
    tag: str


class Passing(Exception):  # noqa: N818  # it says what it is
    """Something that another attempt may not meet."""


def is_remote(path: str) -> bool:
    return path.startswith(("http://", "https://", "s3://"))


def is_bucket(path: str) -> bool:
    return path.startswith("s3://")


def version_of(url: str) -> Version:
    """The present one. Raises BadInput where there is nothing that ranges can be read of, IoFailed where no one answers."""
    from ecosort.cluster import http_inputs

    return patiently(url, lambda: http_inputs.version(url))


def read_range(url: str, version: Version, begin: int, end: int) -> Iterator[bytes]:
    """The bytes [begin, end) of that version, piece by piece. Continues after a connection broke.

    Raises BadInput where the input is another one by now, IoFailed where it cannot be read.
    """
    failures = 0
    while begin < end:
        try:
            for piece in _pieces(url, version, begin, end):
                begin += len(piece)
                failures = 0
                yield piece
        except Passing as error:
            failures += 1
            if failures >= _ATTEMPTS:
                raise IoFailed(f"'{url}' cannot be read from byte {begin} on: {error}") from None
            time.sleep(_FIRST_WAIT_S * 2 ** (failures - 1))


def patiently(url: str, ask: Callable[[], Answer]) -> Answer:
    """Again where another attempt may succeed. Raises IoFailed after some."""
    failures = 0
    while True:
        try:
            return ask()
        except Passing as error:
            failures += 1
            if failures >= _ATTEMPTS:
                raise IoFailed(f"'{url}' does not answer: {error}") from None
            time.sleep(_FIRST_WAIT_S * 2 ** (failures - 1))


def _pieces(url: str, version: Version, begin: int, end: int) -> Iterator[bytes]:
    """Raises Passing where it breaks off."""
    got = 0
    for piece in _sent(url, version, begin, end):
        got += len(piece)
        if got > end - begin:
            raise IoFailed(f"'{url}': the server sent more than the bytes {begin} to {end} that it was asked for")
        yield piece
    if got < end - begin:
        raise Passing(f"{got} of {end - begin} bytes came")


def begin_of(url: str, version: Version, size: int) -> bytes:
    """The first bytes of it, so many at most."""
    return b"".join(read_range(url, version, 0, min(size, version.size)))


def _sent(url: str, version: Version, begin: int, end: int) -> Iterator[bytes]:
    from ecosort.cluster import http_inputs  # its modules take longer to load than all others of a worker

    return http_inputs.pieces(url, version, begin, end)


def changed(url: str) -> NoReturn:
    raise BadInput(f"'{url}' has changed since the job began; give the job up (--abandon), unless it is gone, and begin again")
