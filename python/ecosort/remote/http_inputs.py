"""Inputs behind http(s), and objects of S3, by range requests of one version. remote.py continues where one breaks off."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import quote

from ecosort.errors import BadInput, IoFailed
from ecosort.remote import s3_requests
from ecosort.remote.addresses import PASSING, PIECE, Passing, Version, changed, is_bucket

_IN_ADDRESSES = "%/:=&?~#+!$,;'@()*[]"  # what stays as it is
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)$")


class _NoSuchRange(Exception):  # noqa: N818  # it says what it is
    """The input has no such bytes, or is another version by now."""


def version(url: str) -> Version:
    """Asks for the first byte: HEAD does not say what a range would be. An empty file has none."""
    try:
        with _answered(url, "GET", {"Range": "bytes=0-0"}) as answer:
            if answer.status == 206:
                return Version(_told_range(url, answer)[2], _tag(answer))
            return _empty(url, answer)
    except _NoSuchRange:
        with _answered(url, "HEAD", {}) as answer:
            return _empty(url, answer)


def _empty(url: str, answer: Any) -> Version:
    if answer.status != 200 or answer.headers.get("Content-Length", "") != "0":
        raise BadInput(f"'{url}': the server does not answer range requests; fetch the file first")
    return Version(0, _tag(answer))


def pieces(url: str, wanted: Version, begin: int, end: int) -> Iterator[bytes]:
    """Yields the bytes [begin, end) of this version. Raises Passing where the connection breaks, BadInput for another version."""
    condition = "If-Match" if is_bucket(url) else "If-Range"
    headers = {"Range": f"bytes={begin}-{end - 1}"} | ({condition: wanted.tag} if wanted.tag else {})
    try:
        with _answered(url, "GET", headers) as answer:
            if answer.status != 206:
                changed(url)
            first, last, size = _told_range(url, answer)
            if size != wanted.size or (wanted.tag and _tag(answer) not in ("", wanted.tag)):
                changed(url)
            if (first, last) != (begin, end - 1):
                raise IoFailed(f"'{url}': asked for the bytes {begin} to {end - 1}, the server sent {first} to {last}")
            while piece := answer.read(PIECE):
                yield piece
    except _NoSuchRange:
        changed(url)


def _answered(url: str, method: str, headers: dict[str, str]) -> AbstractContextManager[Any]:
    """Opens it as it is stored: without compression on the way."""

    def refused(error: urllib.error.HTTPError) -> Exception:
        if is_bucket(url) and error.code not in (412, 416):
            return s3_requests.refusal(url, error, "s3:GetObject")
        error.close()
        if error.code in (412, 416):
            return _NoSuchRange()
        if error.code in PASSING:
            return Passing(f"HTTP status {error.code}")
        return BadInput(f"'{url}': the server answers with status {error.code} ({error.reason})")

    headers = {"Accept-Encoding": "identity", **headers} if method == "GET" else headers
    return s3_requests.answered(_request(url, method, headers), refused)


def _request(url: str, method: str, headers: dict[str, str]) -> urllib.request.Request:
    headers = {"User-Agent": "ecosort"} | headers
    if is_bucket(url):
        return s3_requests.request_of(method, url, headers=headers)
    return urllib.request.Request(quote(url, safe=_IN_ADDRESSES, errors="surrogateescape"), method=method, headers=headers)


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
