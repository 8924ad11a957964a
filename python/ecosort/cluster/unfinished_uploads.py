"""Ends uploads to a bucket that no one finishes any more: they are no objects, but what they sent is kept, and paid for.

obstore neither lists nor ends them, so these two requests are made here, signed by version 4 of AWS's scheme
(docs.aws.amazon.com, "Signature Version 4 for API requests"), for the access key of AWS_* variables. Paths of requests have the
bucket in them, which all servers understand.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import os
import urllib.error
import urllib.request
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit

from ecosort.cluster.journal import RESUME
from ecosort.cluster.remote import PASSING, TIMEOUT_S, Passing, patiently
from ecosort.errors import BadInput, IoFailed

_NO_BODY = hashlib.sha256(b"").hexdigest()
_ROUNDS = 100  # of at most 1000 uploads each


def demand_key(url: str) -> None:
    """Raises BadInput where the environment has no access key for what is written at `url`."""
    if not (os.environ.get("AWS_ACCESS_KEY_ID") and os.environ.get("AWS_SECRET_ACCESS_KEY")):
        raise BadInput(f"'{url}' wants an access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")


def end_uploads(bucket: str, prefix: str) -> int:
    """All that are under way below the prefix. How many there were. Raises BadInput where the bucket is not there or denied."""
    ended = 0
    for _ in range(_ROUNDS):
        found = _listed(bucket, prefix)
        if not found:
            return ended
        for key, upload in found:
            _request("DELETE", bucket, key, {"uploadId": upload})
        ended += len(found)
    raise IoFailed(f"uploads to 's3://{bucket}/{prefix}' do not end; end what writes there, then {RESUME}")


def _listed(bucket: str, prefix: str) -> list[tuple[str, str]]:
    """Keys and names of uploads, the first 1000."""
    answer = ElementTree.fromstring(_request("GET", bucket, "", {"prefix": prefix, "uploads": ""}))
    found = []
    for upload in answer.iterfind("{*}Upload"):
        key, name = upload.findtext("{*}Key"), upload.findtext("{*}UploadId")
        if key and name and key.startswith(prefix):
            found.append((key, name))
    return found


def _request(method: str, bucket: str, key: str, query: Mapping[str, str]) -> bytes:
    url = f"s3://{bucket}/{key}"
    return patiently(url, lambda: _asked(method, url, f"/{bucket}/{quote(key)}".removesuffix("/"), query))


def _asked(method: str, url: str, path: str, query: Mapping[str, str]) -> bytes:
    endpoint = urlsplit(_endpoint())
    place = endpoint.path.rstrip("/") + path
    asked = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in sorted(query.items()))
    request = urllib.request.Request(
        f"{endpoint.scheme}://{endpoint.netloc}{place}?{asked}",
        method=method,
        headers=signed_headers(method, endpoint.netloc, place, asked, datetime.now(UTC)),
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            body: bytes = answer.read()
            return body
    except urllib.error.HTTPError as error:
        return _refused(method, url, error)
    except (OSError, http.client.HTTPException) as error:
        raise Passing(str(getattr(error, "reason", error)) or type(error).__name__) from None


def _refused(method: str, url: str, error: urllib.error.HTTPError) -> bytes:
    """An upload that is over is none any more."""
    error.close()
    if error.code == 404 and method == "DELETE":
        return b""
    if error.code == 404:
        raise BadInput(f"the bucket of '{url}' is not there; make it first")
    if error.code in (401, 403):
        raise BadInput(f"'{url}' is denied to this access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    if error.code in PASSING:
        raise Passing(f"HTTP status {error.code}")
    raise IoFailed(f"'{url}': the server answers with status {error.code} ({error.reason})")


def _region() -> str:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"


def _endpoint() -> str:
    named = os.environ.get("AWS_ENDPOINT_URL") or os.environ.get("AWS_ENDPOINT")
    return named or f"https://s3.{_region()}.amazonaws.com"


def signed_headers(method: str, host: str, path: str, query: str, now: datetime) -> dict[str, str]:
    """Of a request without body, by the access key of the environment."""
    moment = now.strftime("%Y%m%dT%H%M%SZ")
    headers = {"host": host, "x-amz-content-sha256": _NO_BODY, "x-amz-date": moment}
    if token := os.environ.get("AWS_SESSION_TOKEN"):
        headers["x-amz-security-token"] = token
    names = ";".join(headers)  # in their order already
    told = "".join(f"{name}:{value}\n" for name, value in headers.items())
    canonical = "\n".join((method, path, query, told, names, _NO_BODY))
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
