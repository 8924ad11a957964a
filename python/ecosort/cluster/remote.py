"""Inputs behind http(s) and s3: how large they are, whether they are still the same, and ranges of their bytes.

What is read is of one version of the object: its tag (ETag, else the time of its last change) is sent with each request, and a
server that has another version by now answers otherwise. Where a server tells no tag, the size must be the same.
"""

from __future__ import annotations

import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

from ecosort.errors import BadInput, IoFailed

PIECE = 1 << 20
_ATTEMPTS = 6  # to go on with a range; the waits between them are 0.2, 0.4 ... 3.2 s
_FIRST_WAIT_S = 0.2
_TIMEOUT_S = 60.0
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)$")
_PASSING = (408, 425, 429, 500, 502, 503, 504)


@dataclass(frozen=True)
class Version:
    """Of a remote input. `tag` is empty where the server tells none."""

    size: int
    tag: str


class _Passing(Exception):  # noqa: N818  # it says what it is
    """Something that another attempt may not meet."""


def is_remote(path: str) -> bool:
    return path.startswith(("http://", "https://", "s3://"))


def version_of(url: str) -> Version:
    """The present one. Raises BadInput where there is nothing that ranges can be read of, IoFailed where no one answers."""
    return _patiently(url, lambda: _s3_version(url) if url.startswith("s3://") else _http_version(url))


def read_range(url: str, version: Version, begin: int, end: int) -> Iterator[bytes]:
    """The bytes [begin, end) of that version, piece by piece. Goes on after a connection broke.

    Raises BadInput where the input is another one by now, IoFailed where it cannot be read.
    """
    failures = 0
    while begin < end:
        try:
            for piece in _pieces(url, version, begin, end):
                begin += len(piece)
                failures = 0
                yield piece
        except _Passing as error:
            failures += 1
            if failures >= _ATTEMPTS:
                raise IoFailed(f"'{url}' cannot be read from byte {begin} on: {error}") from None
            time.sleep(_FIRST_WAIT_S * 2 ** (failures - 1))


def _patiently(url: str, ask: Callable[[], Version]) -> Version:
    failures = 0
    while True:
        try:
            return ask()
        except _Passing as error:
            failures += 1
            if failures >= _ATTEMPTS:
                raise IoFailed(f"'{url}' does not answer: {error}") from None
            time.sleep(_FIRST_WAIT_S * 2 ** (failures - 1))


def _pieces(url: str, version: Version, begin: int, end: int) -> Iterator[bytes]:
    """Raises _Passing where it breaks off."""
    pieces = _s3_pieces(url, version, begin, end) if url.startswith("s3://") else _http_pieces(url, version, begin, end)
    got = 0
    for piece in pieces:
        got += len(piece)
        if got > end - begin:
            raise IoFailed(f"'{url}': the server sent more than the bytes {begin} to {end} that it was asked for")
        yield piece
    if got < end - begin:
        raise _Passing(f"{got} of {end - begin} bytes came")


def _changed(url: str) -> NoReturn:
    raise BadInput(f"'{url}' has changed since the job began; remove the job and begin again")


# http


def _http_version(url: str) -> Version:
    """By asking for the first byte: HEAD is not told what a range would be."""
    with _opened(url, {"Range": "bytes=0-0"}) as answer:
        if answer.status == 206:
            return Version(_told_range(url, answer)[2], _tag(answer))
        size = answer.headers.get("Content-Length", "")
        if answer.status == 200 and size == "0":
            return Version(0, _tag(answer))
    raise BadInput(f"'{url}': the server does not answer range requests; fetch the file first")


def _http_pieces(url: str, version: Version, begin: int, end: int) -> Iterator[bytes]:
    headers = {"Range": f"bytes={begin}-{end - 1}"} | ({"If-Range": version.tag} if version.tag else {})
    with _opened(url, headers) as answer:
        if answer.status != 206:
            _changed(url)
        first, last, size = _told_range(url, answer)
        if size != version.size or (version.tag and _tag(answer) not in ("", version.tag)):
            _changed(url)
        if (first, last) != (begin, end - 1):
            raise IoFailed(f"'{url}': asked for the bytes {begin} to {end - 1}, the server sent {first} to {last}")
        try:
            while piece := answer.read(PIECE):
                yield piece
        except (OSError, http.client.HTTPException) as error:
            raise _Passing(str(error) or type(error).__name__) from None


def _opened(url: str, headers: dict[str, str]) -> Any:
    """As it is stored: without compression on the way."""
    request = urllib.request.Request(url, headers={"Accept-Encoding": "identity", "User-Agent": "ecosort"} | headers)
    try:
        return urllib.request.urlopen(request, timeout=_TIMEOUT_S)  # is_remote() knows the schemes
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in (412, 416):
            if headers.get("Range") == "bytes=0-0" and error.code == 416:  # an empty file has no first byte
                return _empty(url)
            _changed(url)
        if error.code in _PASSING:
            raise _Passing(f"HTTP status {error.code}") from None
        raise BadInput(f"'{url}': the server answers with status {error.code} ({error.reason})") from None
    except (OSError, http.client.HTTPException) as error:
        raise _Passing(str(getattr(error, "reason", error)) or type(error).__name__) from None


def _empty(url: str) -> Any:
    request = urllib.request.Request(url, method="HEAD", headers={"User-Agent": "ecosort"})
    return urllib.request.urlopen(request, timeout=_TIMEOUT_S)


def _tag(answer: Any) -> str:
    """A weak ETag does not promise the same bytes: If-Range takes a strong one, or the time of the last change."""
    etag, changed = (str(answer.headers.get(name, "")) for name in ("ETag", "Last-Modified"))
    return etag if etag and not etag.startswith("W/") else changed


def _told_range(url: str, answer: Any) -> tuple[int, int, int]:
    told = _CONTENT_RANGE.match(answer.headers.get("Content-Range", ""))
    if not told:
        raise BadInput(f"'{url}': the server does not say which range it sends; fetch the file first")
    first, last, size = (int(number) for number in told.groups())
    return first, last, size


# s3


def _store(url: str) -> tuple[Any, str]:
    """The bucket, and the key in it. Who may read it, and where it is, AWS_* variables of the environment say."""
    try:
        from obstore.store import S3Store
    except ImportError:
        raise BadInput(
            "the Python package obstore is not installed, which s3:// needs; run: pip install 'ecosort[cluster]'"
        ) from None
    bucket, _, key = url.removeprefix("s3://").partition("/")
    if not bucket or not key:
        raise BadInput(f"'{url}' names no object: s3://BUCKET/KEY")
    return S3Store(bucket, client_options={"timeout": f"{_TIMEOUT_S:.0f}s", "allow_http": True}), key


def _s3_version(url: str) -> Version:
    store, key = _store(url)
    with _s3_errors(url):
        told = store.head(key)
    return Version(told["size"], told["e_tag"] or "")


def _s3_pieces(url: str, version: Version, begin: int, end: int) -> Iterator[bytes]:
    store, key = _store(url)
    options: dict[str, Any] = {"range": (begin, end)} | ({"if_match": version.tag} if version.tag else {})
    with _s3_errors(url):
        answer = store.get(key, options=options)
        if answer.meta["size"] != version.size:
            _changed(url)
        for piece in answer.stream(min_chunk_size=PIECE):
            yield bytes(piece)


@contextmanager
def _s3_errors(url: str) -> Iterator[None]:
    """Turns what obstore raises into errors of ours."""
    from obstore import exceptions

    try:
        yield
    except exceptions.PreconditionError:
        _changed(url)
    except FileNotFoundError:
        raise BadInput(f"'{url}' is not there") from None
    except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError):
        raise BadInput(f"'{url}' may not be read: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY") from None
    except (exceptions.BaseError, OSError) as error:
        raise _Passing(str(error).splitlines()[0]) from None
