"""Ends uploads to a bucket that no one finishes any more: they are no objects, but what they sent is kept, and paid for."""

from __future__ import annotations

import contextlib

from ecosort.cluster.journal import RESUME
from ecosort.errors import IoFailed
from ecosort.remote.s3_requests import NotThere, asked, parsed, split_url

_ROUNDS = 100  # of at most 1000 uploads each
_LIST = "s3:ListBucketMultipartUploads"
_ABORT = "s3:AbortMultipartUpload"


def end_uploads(url: str) -> int:
    """All that are under way below the prefix. How many there were. Raises BadInput where the bucket is not there or denied."""
    bucket, prefix = split_url(f"{url.rstrip('/')}/")
    ended = 0
    for _ in range(_ROUNDS):
        found = _listed(bucket, prefix)
        if not found:
            return ended
        for key, upload in found:
            _end(f"s3://{bucket}/{key}", upload)
        ended += len(found)
    raise IoFailed(f"uploads to '{url}' do not end; end what writes there, then {RESUME}")


def _listed(bucket: str, prefix: str) -> list[tuple[str, str]]:
    """Keys and names of uploads, the first 1000."""
    url = f"s3://{bucket}/"
    found = []
    for upload in parsed(url, asked("GET", url, _LIST, query={"prefix": prefix, "uploads": ""})).iterfind("{*}Upload"):
        key, name = upload.findtext("{*}Key"), upload.findtext("{*}UploadId")
        if key and name and key.startswith(prefix):
            found.append((key, name))
    return found


def _end(url: str, upload: str) -> None:
    """One that is over is none any more."""
    with contextlib.suppress(NotThere):
        asked("DELETE", url, _ABORT, query={"uploadId": upload})
