"""Inputs behind http(s), and objects of S3, by range requests of one version. remote.py continues where one breaks off."""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from ecosort.cluster import s3_requests
from ecosort.cluster.remote import PASSING, PIECE, TIMEOUT_S, Passing, Version, changed, is_bucket
from ecosort.errors import BadInput, IoFailed

_IN_ADDRESSES = "%/:=&?~#+!$,;'@()*[]"  # what stays as it is
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)$")


def version(url: str) -> Version:
    """Asks for the first byte: HEAD does not say what a range would be."""
    with _opened(url, {"Range": "bytes=0-0"}) as answer:
        if answer.status == 206:
            return Version(_told_range(url, answer)[2], _tag(answer))
        size = answer.headers.get("Content-Length", "")
        if answer.status == 200 and size == "0":
            return Version(0, _tag(answer))
    raise BadInput(f"'{url}': the server does not answer range requests; fetch the file first")


def pieces(url: str, wanted: Version, begin: int, end: int) -> Iterator[bytes]:
    condition = "If-Match" if is_bucket(url) else "If-Range"
    headers = {"Range": f"bytes={begin}-{end - 1}"} | ({condition: wanted.tag} if wanted.tag else {})
    with _opened(url, headers) as answer:
        if answer.status != 206:
            changed(url)
        first, last, size = _told_range(url, answer)
        if size != wanted.size or (wanted.tag and _tag(answer) not in ("", wanted.tag)):
            changed(url)
        if (first, last) != (begin, end - 1):
            raise IoFailed(f"'{url}': asked for the bytes {begin} to {end - 1}, the server sent {first} to {last}")
        try:
            while piece := answer.read(PIECE):
                yield piece
        except (OSError, http.client.HTTPException) as error:
            raise Passing(str(error) or type(error).__name__) from None


def _opened(url: str, headers: dict[str, str]) -> Any:
    """Opens it as it is stored: without compression on the way."""
    request = _request(url, "GET", {"Accept-Encoding": "identity", **headers})
    try:
        return urllib.request.urlopen(request, timeout=TIMEOUT_S)  # is_remote() knows the schemes
    except urllib.error.HTTPError as error:
        if error.code in (412, 416):
            error.close()
            if headers.get("Range") == "bytes=0-0" and error.code == 416:  # an empty file has no first byte
                return _empty(url)
            changed(url)
        if is_bucket(url):
            raise s3_requests.refusal(url, error, "s3:GetObject") from None
        error.close()
        if error.code in PASSING:
            raise Passing(f"HTTP status {error.code}") from None
        raise BadInput(f"'{url}': the server answers with status {error.code} ({error.reason})") from None
    except (OSError, http.client.HTTPException) as error:
        raise Passing(str(getattr(error, "reason", error)) or type(error).__name__) from None


def _empty(url: str) -> Any:
    return urllib.request.urlopen(_request(url, "HEAD", {}), timeout=TIMEOUT_S)


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
