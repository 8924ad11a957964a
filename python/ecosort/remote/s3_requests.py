"""Requests to a server that speaks S3, signed by version 4 of AWS's scheme for the access key of AWS_* variables.

docs.aws.amazon.com, "Signature Version 4 for API requests". Without a key requests go unsigned, as public buckets take them.
Paths have the bucket in them, which all servers understand.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import os
import re
import urllib.error
import urllib.request
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlsplit

from ecosort.errors import BadInput, IoFailed
from ecosort.remote.addresses import PASSING, TIMEOUT_S, Passing, patiently

_S3 = "s3://"
_CODE = re.compile(rb"<Code>\s*(\w+)\s*</Code>")
_OF_THE_KEY = ("InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired")
_CONFLICTS = (409, 412)  # of a conditional write
_NO_CONDITIONS = (400, 405, 501)
_BINARY = {"Content-Type": "application/octet-stream"}  # urllib would call a body a form
_READ = "s3:GetObject"
_LIST = "s3:ListBucket"


def split_url(url: str) -> tuple[str, str]:
    """The bucket and the key, which may be empty."""
    bucket, _, key = url.removeprefix(_S3).partition("/")
    if not bucket:
        raise BadInput(f"'{url}' names no bucket: s3://BUCKET/KEY")
    return bucket, key


def has_key() -> bool:
    return bool(os.environ.get("AWS_ACCESS_KEY_ID") and os.environ.get("AWS_SECRET_ACCESS_KEY"))


def request_of(
    method: str, url: str, *, query: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> urllib.request.Request:
    """Makes a request for the object at s3://BUCKET/KEY, or for the bucket."""
    bucket, key = split_url(url)
    endpoint = urlsplit(_endpoint())
    place = endpoint.path.rstrip("/") + f"/{bucket}" + (f"/{quote(key, errors='surrogateescape')}" if key else "")
    asked = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in sorted((query or {}).items()))
    signed = signed_headers(method, endpoint.netloc, place, asked, datetime.now(UTC), body) if has_key() else {}
    return urllib.request.Request(
        f"{endpoint.scheme}://{endpoint.netloc}{place}" + (f"?{asked}" if asked else ""),
        data=body if method == "PUT" else None,
        method=method,
        headers={**signed, **(headers or {}), **(_BINARY if method == "PUT" else {})},
    )


def asked(
    method: str,
    url: str,
    permission: str,
    *,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> bytes:
    """Returns what the server answers; asks again where that may succeed. Raises what refusal() gives, and IoFailed."""

    def ask() -> bytes:
        request = request_of(method, url, query=query, headers=headers, body=body)
        with answered(request, lambda error: refusal(url, error, permission)) as answer:
            told: bytes = answer.read()
            return told

    return patiently(url, ask)


@contextmanager
def answered(request: urllib.request.Request, refused: Callable[[urllib.error.HTTPError], Exception]) -> Iterator[Any]:
    """Opens the answer of a server. Raises what `refused` makes of a status that is an error, and Passing where none comes."""
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            yield answer
    except urllib.error.HTTPError as error:
        raise refused(error) from None
    except (OSError, http.client.HTTPException) as error:
        raise Passing(str(getattr(error, "reason", error)) or type(error).__name__) from None


class Refused(IoFailed):
    """The status of the answer refuses the request; other errors say more."""

    def __init__(self, url: str, status: int, why: str) -> None:
        super().__init__(f"'{url}': the server answers with status {status} ({why})")
        self.status = status


def refusal(url: str, error: urllib.error.HTTPError, permission: str) -> Exception:
    """Says what a status means for a request that needs this permission."""
    with error:
        found = _CODE.search(error.read(4096))
    code = found[1].decode() if found else error.reason
    region = error.headers.get("x-amz-bucket-region")
    if error.code == 404:
        return _missing(url, code)
    if region and region != _region() and error.code in (301, 307, 400):
        return BadInput(f"the bucket of '{url}' is in the region {region}: set AWS_REGION")
    if error.code in (401, 403):
        return _denied(url, code, permission)
    return Passing(f"HTTP status {error.code}") if error.code in PASSING else Refused(url, error.code, code)


def _missing(url: str, code: str) -> BadInput:
    _, key = split_url(url)
    if code == "NoSuchBucket" or not key:
        return BadInput(f"the bucket of '{url}' is not there; make it first")
    return NotThere(f"'{url}' is not there" + ("" if key.endswith("/") else f"; all objects below it are '{url}/'"))


class NotThere(BadInput):
    """An object."""


def _denied(url: str, code: str, permission: str) -> BadInput:
    if not has_key():
        return BadInput(f"'{url}' is not public: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    if code in _OF_THE_KEY:
        return BadInput(
            f"'{url}' is denied ({code}): correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or unset them for a public bucket"
        )
    return BadInput(f"'{url}' is denied to this access key, which needs the permission {permission} (docs/cluster.md lists all)")


def size_of(url: str) -> int | None:
    """Returns the size of an object; None where there is none."""

    def ask() -> int:
        with answered(request_of("HEAD", url), lambda error: refusal(url, error, _READ)) as answer:
            return int(answer.headers["Content-Length"])

    try:
        return patiently(url, ask)
    except NotThere:
        return None


def put(url: str, data: bytes) -> None:
    """Stores the data as an object, in one request."""
    asked("PUT", url, "s3:PutObject", body=data)


def put_if_absent(url: str, data: bytes) -> bool:
    """False: there is an object of that name, which stays. Raises NoConditions where the server does not know such a request."""
    try:
        asked("PUT", url, "s3:PutObject", headers={"If-None-Match": "*"}, body=data)
    except Refused as error:
        if error.status in _CONFLICTS:
            return False
        if error.status in _NO_CONDITIONS:
            raise NoConditions(str(error)) from None
        raise
    return True


class NoConditions(BadInput):
    """The server knows no conditional writes."""


def delete(url: str) -> None:
    """Deletes the object; it does nothing where there is none."""
    asked("DELETE", url, "s3:DeleteObject")


def listed(url: str) -> Iterator[tuple[str, int]]:
    """Keys that begin as the URL says, in order, with their sizes. Raises BadInput where the bucket is not there or denied."""
    bucket, prefix = split_url(url)
    last = ""
    while True:
        query = {"list-type": "2", "prefix": prefix} | ({"start-after": last, "marker": last} if last else {})
        page = parsed(url, asked("GET", f"{_S3}{bucket}/", _LIST, query=query))
        found = [(one.findtext("{*}Key") or "", int(one.findtext("{*}Size") or 0)) for one in page.iterfind("{*}Contents")]
        yield from found
        if page.findtext("{*}IsTruncated") != "true" or not found:
            return
        last = found[-1][0]


def parsed(url: str, answer: bytes) -> ElementTree.Element:
    """A document of the server's."""
    try:
        return ElementTree.fromstring(answer)
    except ElementTree.ParseError:
        raise IoFailed(f"'{url}': what the server answers is not that of S3; look at AWS_ENDPOINT_URL") from None


def _region() -> str:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"


def _endpoint() -> str:
    named = os.environ.get("AWS_ENDPOINT_URL") or os.environ.get("AWS_ENDPOINT")
    return named or f"https://s3.{_region()}.amazonaws.com"


def signed_headers(method: str, host: str, path: str, query: str, now: datetime, body: bytes = b"") -> dict[str, str]:
    """Signs a request by the access key of the environment."""
    moment = now.strftime("%Y%m%dT%H%M%SZ")
    of_body = hashlib.sha256(body).hexdigest()
    headers = {"host": host, "x-amz-content-sha256": of_body, "x-amz-date": moment}
    if token := os.environ.get("AWS_SESSION_TOKEN"):
        headers["x-amz-security-token"] = token
    names = ";".join(headers)  # in their order already
    told = "".join(f"{name}:{value}\n" for name, value in headers.items())
    canonical = "\n".join((method, path, query, told, names, of_body))
    scope = f"{moment[:8]}/{_region()}/s3/aws4_request"
    to_sign = "\n".join(("AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    signature = hmac.new(_signing_key(scope), to_sign.encode(), "sha256").hexdigest()
    key = os.environ.get("AWS_ACCESS_KEY_ID", "")
    headers["authorization"] = f"AWS4-HMAC-SHA256 Credential={key}/{scope},SignedHeaders={names},Signature={signature}"
    return headers


def _signing_key(scope: str) -> bytes:
    key = b"AWS4" + os.environ.get("AWS_SECRET_ACCESS_KEY", "").encode()
    for word in scope.split("/"):
        key = hmac.new(key, word.encode(), "sha256").digest()
    return key
